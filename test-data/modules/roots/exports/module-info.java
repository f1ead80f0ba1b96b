module exports { exports pe; requires required; uses Runnable; }
