package pi; public class X implements Runnable { public void run() { } }
