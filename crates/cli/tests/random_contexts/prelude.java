static int x, fuel;
static Object last;
static void begin(int number) { x = number; fuel = 30; }
static boolean b(int bit) { return (x >>> bit & 1) == 0; }
static boolean more() { return fuel-- > 0; }
static void may() throws Throwable {}
static <T> T id(T it) { return it; }
static Object lock(Object it) { return it == null ? Main.class : it; }
static void show(Object it) { last = it == null ? "" : it.toString(); }
static void start(Runnable it) { it.run(); }
static void go(Act it, int d) throws Throwable { it.act(d); }
static void raise(RuntimeException e) { throw e; }
static void raiseAny(Throwable e) throws Throwable { throw e; }
static void rethrow(Throwable e) throws Throwable {
    if (e instanceof RuntimeException r) throw r;
    if (e instanceof Error r) throw r;
    throw e;
}
static <T extends Throwable> RuntimeException sneak(Throwable e) throws T { throw (T) e; }
static class Checked extends RuntimeException {}
interface Act {
    void act(int d) throws Throwable;
    default void checked(int d) throws Throwable { if (b(d)) throw new Checked(); act(d); }
    default void again(int d) throws Throwable { if (more()) act(d); }
    default Act then(Act other) { return d -> { act(d); other.act(d); }; }
}
interface Fn<A, B> { B ap(A a) throws Throwable; }
static abstract class Template implements Act {
    Template() { init(); }
    void init() {}
    abstract void step(int d) throws Throwable;
    final void run(int d) throws Throwable { step(d); }
    public void act(int d) throws Throwable { run(d); }
}
sealed interface Shape extends Act permits Square, Circle {
    default String describe() { return "a " + this; }
}
record Square(Act part) implements Shape { public void act(int d) throws Throwable { part.act(d); } }
static final class Circle implements Shape {
    final Object part;
    Circle(Object part) { this.part = part; }
    public void act(int d) { part.toString(); }
    public String toString() { return "" + part.hashCode(); }
}
static final class Wrapping implements Fn<Act, Act> { public Act ap(Act it) { return d -> it.act(d); } }
static final class Opt<T> implements Supplier<T> {
    final T it;
    Opt(T it) { this.it = it; }
    public T get() { return it; }
}
static class Lst<T> implements Iterable<T> {
    T head;
    Lst<T> tail;
    Lst<T> add(T it) {
        if (head == null) { head = it; return this; }
        Lst<T> all = new Lst<>();
        all.head = it;
        all.tail = this;
        return all;
    }
    T first() { return head; }
    void each(Each<? super T> f) throws Throwable { for (T it : this) f.use(it); }
    <U> Lst<U> map(Fn<? super T, ? extends U> f) throws Throwable {
        Lst<U> all = new Lst<>();
        all.head = f.ap(head);
        return all;
    }
    public Iterator<T> iterator() {
        return new Iterator<T>() {
            Lst<T> at = Lst.this;
            public boolean hasNext() { return at != null && at.head != null; }
            public T next() { T it = at.head; at = at.tail; return it; }
        };
    }
}
interface Each<T> { void use(T it) throws Throwable; }
