import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Reflection, old and new, and proxies: what is found by name may be anything. */
class Reflecting {
    static class Target { Target() { } static { seen++; } public void run() { } private void hidden() { } }
    static class Handler implements InvocationHandler {
        public Object invoke(Object proxy, Method method, Object[] args) { return null; }
    }
    interface Greeter { String hello(); }
    sealed interface Answer permits Yes { String text(); }
    record Yes() implements Answer { public String text() { return "y"; } }
    static int seen;
    static Object load() throws Exception { return Class.forName("Reflecting$Target"); } // load | resolved
    @SuppressWarnings("deprecation")
    static Object make(Class<?> it) throws Exception { return it.newInstance(); } // reflect | open | not Reflecting$Target.<init>()V
    static Object construct(Constructor<?> it) throws Exception { return it.newInstance(); } // reflect | open | not Reflecting$Target.<init>()V
    static Object invoke(Method it) throws Exception { return it.invoke(new Object()); } // reflect | open | not Reflecting$Target.run()V
    static Object chained() throws Exception { return Class.forName("Reflecting$Target").getMethod("run").invoke(new Target()); } // reflect | load | open | -> Reflecting$Target.<init>()V Reflecting$Target.<clinit>()V
    static int field(Field it) throws Exception { return it.getInt(null); } // open
    static Object find() throws Exception { return MethodHandles.lookup().findVarHandle(Reflecting.class, "seen", int.class); } // open
    static Object proxy() { return Proxy.newProxyInstance(null, new Class<?>[] {Greeter.class}, new Handler()); } // open | not Reflecting$Handler.invoke(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;
    static String greet(Greeter it) { return it.hello(); } // open
    /** No class, a proxy's neither, implements a sealed interface that does not permit it. */
    static String answer(Answer it) { return it.text(); } // -> Reflecting$Yes.text()Ljava/lang/String; | closed
    static void direct(Target it) { it.hidden(); } // -> Reflecting$Target.hidden()V | closed | not Reflecting$Target.run()V
}
