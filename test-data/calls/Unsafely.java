import sun.misc.Unsafe;

/** Unsafe: it makes objects without constructors, and initialises their classes. */
class Unsafely {
    static class Target { Target() { } static { seen++; } int f; }
    static int seen;
    static Object allocate(Unsafe it) throws Exception { return it.allocateInstance(Target.class); } // open | not Unsafely$Target.<init>()V
    static void put(Unsafe it, Target of) { it.putInt(of, 0L, 1); } // open
    static boolean swap(Unsafe it, Target of) { return it.compareAndSwapInt(of, 0L, 1, 2); } // open
    static void raise(Unsafe it) { it.throwException(new Error()); } // open
    static Target make() { return new Target(); } // -> Unsafely$Target.<init>()V Unsafely$Target.<clinit>()V
}
