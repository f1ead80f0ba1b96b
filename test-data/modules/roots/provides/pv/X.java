package pv; public class X implements Runnable { public void run() { } }
