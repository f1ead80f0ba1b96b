package ps; public class X implements Runnable { public void run() { } }
