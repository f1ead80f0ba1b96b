import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;

/** Signature-polymorphic methods: any name and descriptor goes, and the code is whatever the handle holds. */
class Polymorphic {
    int field;
    static int named(int x) { return x; }
    static int exact(MethodHandle it) throws Throwable { return (int) it.invokeExact(1); } // open | not Polymorphic.named(I)I
    static int generic(MethodHandle it) throws Throwable { return (int) it.invoke(1); } // open | not Polymorphic.named(I)I
    static Object array(MethodHandle it) throws Throwable { return it.invokeWithArguments(1); } // open
    static int get(VarHandle it, Polymorphic of) { return (int) it.get(of); } // open
    static void set(VarHandle it, Polymorphic of) { it.setVolatile(of, 2); } // open
    static boolean swap(VarHandle it, Polymorphic of) { return it.compareAndSet(of, 1, 2); } // open
    static int found() throws Throwable {
        MethodHandle it = MethodHandles.lookup().findStatic(Polymorphic.class, "named", MethodType.methodType(int.class, int.class)); // open
        return (int) it.invokeExact(3); // -> Polymorphic.named(I)I | closed
    }
    static int direct() { return named(4); } // -> Polymorphic.named(I)I | closed
}
