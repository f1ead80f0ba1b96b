import java.lang.invoke.MethodHandle;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;

/** What goes to code that nobody sees: method handles, reflection, class loading, proxies, natives. */
class Handles {
    static Object handle(MethodHandle it) throws Throwable { return it.invokeExact(); } // open
    static Object method(Method it) throws Exception { return it.invoke(null); } // open
    static Object constructor(Constructor<?> it) throws Exception { return it.newInstance(); } // open
    static Object name() throws Exception { return Class.forName("Handles"); } // resolved
    static Object loader(ClassLoader it) throws Exception { return it.loadClass("Handles"); } // open
    static native int nat();
    static int callsNative() { return nat(); } // -> Handles.nat()I | closed
    static Object proxy(java.lang.reflect.InvocationHandler h) {
        return java.lang.reflect.Proxy.newProxyInstance(null, new Class<?>[0], h); // open
    }
    static void thread(Runnable it) { new Thread(it).start(); } // open
    static Object read(java.io.ObjectInputStream in) throws Exception { return in.readObject(); } // open
}
