module qualified { exports pq to java.base; opens pr; }
