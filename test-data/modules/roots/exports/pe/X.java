package pe; public class X implements Runnable { public void run() { } }
