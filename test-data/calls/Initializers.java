/** When static initialisers run: JVMS §5.5. */
class Initializers {
    static int seen;
    static class Super { static { seen++; } }
    static class Sub extends Super { static int x = seen; static int f() { return x; } }
    static class Constant { static final int K = 3; static { seen++; } }
    interface Quiet { int Q = hash(); static int hash() { return 5; } }
    interface Loud { int L = Quiet.hash(); default void m() { } }
    static class Impl implements Quiet, Loud { static int y = 1; }
    static Object object() { return new Sub(); } // -> Initializers$Sub.<clinit>()V Initializers$Super.<clinit>()V Initializers$Sub.<init>()V
    static int method() { return Sub.f(); } // -> Initializers$Sub.<clinit>()V Initializers$Super.<clinit>()V Initializers$Sub.f()I
    static int field() { return Sub.x; } // -> Initializers$Sub.<clinit>()V Initializers$Super.<clinit>()V
    static int constant() { return Constant.K; } // nothing
    static int inherited() { return Impl.Q; } // -> Initializers$Quiet.<clinit>()V | not Initializers$Impl.<clinit>()V Initializers$Loud.<clinit>()V
    static int own() { return Impl.y; } // -> Initializers$Impl.<clinit>()V Initializers$Loud.<clinit>()V | not Initializers$Quiet.<clinit>()V
}
