package pp; public class X implements Runnable { public void run() { } }
