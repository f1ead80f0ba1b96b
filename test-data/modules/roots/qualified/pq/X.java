package pq; public class X implements Runnable { public void run() { } }
