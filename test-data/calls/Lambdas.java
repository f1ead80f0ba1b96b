import java.util.function.Function;
import java.util.function.Supplier;

/** Function objects of every kind of handle, with interfaces of our own and of a JDK that is not there. */
class Lambdas {
    interface Op { int run(int x); default int twice(int x) { return run(run(x)); } } // -> Lambdas.lambda$own$0(I)I Lambdas.half(I)I Lambdas.plus(I)I | open
    static int half(int x) { return x / 2; }
    int plus(int x) { return x + 1; }
    Lambdas() { }
    Lambdas(String s) { }
    static int use(Op op) { return op.run(1); } // -> Lambdas.lambda$own$0(I)I Lambdas.half(I)I Lambdas.plus(I)I | open
    static int useDefault(Op op) { return op.twice(1); } // -> Lambdas$Op.twice(I)I | open
    static int own() { return use(x -> x * 3) + use(Lambdas::half) + use(new Lambdas()::plus); } // -> Lambdas.use(LLambdas$Op;)I Lambdas.<init>()V | not Lambdas.half(I)I
    static Object supply(Supplier<Object> it) { return it.get(); } // -> Lambdas.<init>()V Lambdas.lambda$outside$0()Ljava/lang/Object; | open
    static Object outside() { supply(Lambdas::new); return supply(() -> "x"); } // -> Lambdas.supply(Ljava/util/function/Supplier;)Ljava/lang/Object; | closed
    static Object apply(Function<String, Object> it) { return it.apply("s"); } // -> Lambdas.<init>(Ljava/lang/String;)V | open
    static Object constructor() { return apply(Lambdas::new); }
    void m2() { }
    void m1() { Runnable r = this::m2; r.run(); } // -> Lambdas.m2()V | open
}
