import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteOrder;

/** Reflection whose constants come from other methods and fields of the class, and calls that run nothing else. */
class Constants {
    static class Target {
        static int n = Integer.parseInt("1");
        static int m = Integer.parseInt("2");
        int field;

        Target() { }

        static void plain() { }

        final void own(String it) { }

        static void over(String it) { }

        static void over(Object it) { }

        void open() { }
    }

    static class Below extends Target {
        @Override
        void open() { }
    }

    static final class Last {
        void open() { }
    }

    private static final String NAME = name();
    private static final Method FOUND;
    private static final MethodHandle PLAIN;
    private static final VarHandle FIELD;
    private static final VarHandle STATIC;
    private static final VarHandle ARRAY = MethodHandles.arrayElementVarHandle(int[].class);
    private static final VarHandle BYTES =
        MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static VarHandle changed;
    private Constructor<?> kept;
    private final String given;

    static {
        try {
            FOUND = Target.class.getDeclaredMethod("plain");
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            PLAIN = lookup.findStatic(Target.class, "plain", MethodType.methodType(void.class));
            FIELD = lookup.findVarHandle(Target.class, "field", int.class);
            STATIC = lookup.findStaticVarHandle(Target.class, "n", int.class);
            changed = lookup.findStaticVarHandle(Target.class, "m", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    Constants(String given) throws Exception {
        this.given = given;
        kept = Target.class.getDeclaredConstructor();
    }

    static String name() {
        return "Constants$Target";
    }

    static Constants make() throws Exception {
        return new Constants("Constants$Target");
    }

    static void ofField() throws Exception {
        Class.forName(NAME); // -> Constants$Target.<clinit>()V | resolved
    }

    /** Code of other classes may pass other names. */
    static Object ofParameter(String name) throws Exception {
        return Class.forName(name).newInstance(); // -> Constants$Target.<clinit>()V Constants$Target.<init>()V | open
    }

    static Object passes() throws Exception {
        return ofParameter("Constants$" + "Target");
    }

    /** Only the constructor of this class stores the field, but other classes may call it. */
    void ofConstructor() throws Exception {
        Class.forName(given); // -> Constants$Target.<clinit>()V | open
    }

    Object ofKept() throws Exception {
        return kept.newInstance(); // -> Constants$Target.<init>()V Constants$Target.<clinit>()V | open
    }

    static void ofFound() throws Exception {
        FOUND.invoke(null); // -> Constants$Target.plain()V Constants$Target.<clinit>()V | resolved
    }

    static void ofHandle() throws Throwable {
        PLAIN.invokeExact(); // -> Constants$Target.plain()V Constants$Target.<clinit>()V | resolved
        PLAIN.asType(MethodType.methodType(Object.class)).invoke(); // -> Constants$Target.plain()V | resolved
    }

    /** A filter is another method that runs. */
    static void ofFilter(MethodHandle filter) throws Throwable {
        MethodHandles.foldArguments(PLAIN, filter).invoke(); // -> Constants$Target.plain()V | open
    }

    static void ofClass() throws Exception {
        Class.forName("Constants$Target"); // -> Constants$Target.<clinit>()V | resolved
        Class.forName("absent.Missing"); // open
        Target.class.newInstance(); // -> Constants$Target.<init>()V Constants$Target.<clinit>()V | resolved
    }

    /** What another loader finds may be another class. */
    static void ofLoader(ClassLoader loader) throws Exception {
        Class.forName("Constants$Target", true, loader); // -> Constants$Target.<clinit>()V | open
    }

    static void ofFinal(Object on) throws Exception {
        Target.class.getDeclaredMethod("own", String.class).invoke(on, ""); // -> Constants$Target.own(Ljava/lang/String;)V | resolved
        Last.class.getDeclaredMethod("open").invoke(on); // -> Constants$Last.open()V | resolved
        Target.class.getDeclaredMethod("open").invoke(on); // -> Constants$Target.open()V Constants$Below.open()V | open
    }

    /** The array of parameter types may be changed by the method to which it is passed. */
    static void ofTypes(Object on) throws Exception {
        Class<?>[] types = {String.class};
        change(types);
        Target.class.getDeclaredMethod("own", types).invoke(on, ""); // -> Constants$Target.own(Ljava/lang/String;)V | open
    }

    static void change(Class<?>[] types) { }

    /** Either class may be in the array. */
    static void ofStores(Object on, boolean which) throws Exception {
        Class<?>[] types = new Class<?>[1];
        types[0] = String.class;
        if (which) {
            types[0] = Object.class;
        }
        Target.class.getDeclaredMethod("over", types).invoke(on, ""); // -> Constants$Target.over(Ljava/lang/String;)V Constants$Target.over(Ljava/lang/Object;)V
    }

    /** Null becomes a part of the name, and there is no class of that name. */
    static void ofNull(boolean which) throws Exception {
        String end = which ? null : "Target";
        Class.forName("Constants$" + end); // -> Constants$Target.<clinit>()V | open
    }

    /** Runs the method of the superclass, which no receiver selects. */
    static class Special extends Base {
        @Override
        void run() { }

        void ofSpecial() throws Throwable {
            MethodHandles.lookup().findSpecial(Base.class, "run", MethodType.methodType(void.class), Special.class)
                .invoke(this); // open
        }
    }

    abstract static class Base {
        void run() { }
    }


    static void ofBuilder(StringBuilder other) throws Exception {
        StringBuilder name = new StringBuilder("Constants$Target");
        other.append(name);
        Class.forName(name.toString()); // -> Constants$Target.<clinit>()V | open
    }

    static void ofVariables(Target it, int[] array, byte[] bytes) {
        FIELD.compareAndSet(it, 1, 2); // -> java/lang/invoke/VarHandle.compareAndSet([Ljava/lang/Object;)Z | closed
        ARRAY.setVolatile(array, 0, 1); // -> java/lang/invoke/VarHandle.setVolatile([Ljava/lang/Object;)V | closed
        int seen = (int) BYTES.get(bytes, 0); // -> java/lang/invoke/VarHandle.get([Ljava/lang/Object;)Ljava/lang/Object; | closed
        STATIC.set(1); // -> java/lang/invoke/VarHandle.set([Ljava/lang/Object;)V Constants$Target.<clinit>()V | closed
    }

    /** Other classes of the package may store other handles in the field that is not final. */
    static void ofChanged() {
        changed.set(1); // open
    }

    static void ofParameter(VarHandle it) {
        it.set(1); // open
    }
}
