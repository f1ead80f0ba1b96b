package po; public class X implements Runnable { public void run() { } }
