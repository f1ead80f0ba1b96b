import java.lang.ref.Cleaner;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.security.PrivilegedExceptionAction;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;

/** What the VM and its threads run: threads, hooks, handlers of what nobody caught, finalizers, cleaners, privileges. */
@SuppressWarnings({"removal", "deprecation"})
class Upcalls {
    static class Worker extends Thread { @Override public void run() { } }
    static class Lazy extends Thread { @Override public void start() { } @Override public void run() { } }
    static class Job implements Runnable { public void run() { } }
    static class Task implements Callable<String> { public String call() { return "t"; } }
    static class Later extends TimerTask { public void run() { } }
    static class Unrelated { public void run() { } public void finalize() { } }
    static class Last implements Thread.UncaughtExceptionHandler { public void uncaughtException(Thread t, Throwable e) { } }
    static class Finalized { int x; @Override protected void finalize() { } }
    static class Below extends Finalized { }
    static class Action implements PrivilegedAction<String> { public String run() { return "p"; } }
    static class Daring implements PrivilegedExceptionAction<String> { public String run() { return "q"; } }
    static void start(Worker it) { it.start(); } // thread | -> Upcalls$Worker.run()V Upcalls$Job.run()V | open | not Upcalls$Unrelated.run()V Upcalls$Action.run()Ljava/lang/Object;
    static void runnable(Job it) { new Thread(it).start(); } // thread | -> Upcalls$Job.run()V | open | not Upcalls$Unrelated.run()V
    static void lambda() { new Thread(() -> { }).start(); } // thread | -> Upcalls.lambda$lambda$0()V | open
    /** A method of the program hides it. */
    static void lazy(Lazy it) { it.start(); } // -> Upcalls$Lazy.start()V | not Upcalls$Lazy.run()V Upcalls$Job.run()V
    static void hook(Worker it) { Runtime.getRuntime().addShutdownHook(it); } // thread | -> Upcalls$Worker.run()V | open
    static void uncaught(Thread it) { it.setUncaughtExceptionHandler(new Last()); } // thread | -> Upcalls$Last.uncaughtException(Ljava/lang/Thread;Ljava/lang/Throwable;)V | open
    static void clean(Cleaner it, Object o) { it.register(o, new Job()); } // thread | -> Upcalls$Job.run()V | open
    static void submit(ExecutorService it) { it.submit(new Task()); } // thread | -> Upcalls$Task.call()Ljava/lang/Object; | open | not Upcalls$Job.run()V
    static void timer(java.util.Timer it) { it.schedule(new Later(), 5); } // thread | -> Upcalls$Later.run()V | open | not Upcalls$Job.run()V
    static Object finalized() { return new Finalized(); } // finalizer | -> Upcalls$Finalized.<init>()V Upcalls$Finalized.finalize()V | not Upcalls$Unrelated.finalize()V
    static Object below() { return new Below(); } // finalizer | -> Upcalls$Below.<init>()V Upcalls$Finalized.finalize()V
    static Object array() { return new Finalized[3]; } // nothing
    static String privileged() { return AccessController.doPrivileged(new Action()); } // privileged | -> Upcalls$Action.run()Ljava/lang/Object; | open | not Upcalls$Daring.run()Ljava/lang/Object;
    static String daring() throws Exception { return AccessController.doPrivileged(new Daring()); } // privileged | -> Upcalls$Daring.run()Ljava/lang/Object; | open | not Upcalls$Action.run()Ljava/lang/Object;
}
