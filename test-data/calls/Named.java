import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;

/** Reflection whose classes and members are named by constants, however these are put together. */
class Named {
    static final String PACKAGE = "Na";

    static class Loud {
        static int n = Integer.parseInt("1");

        Loud() { }

        Loud(int i, String[] more) { }

        public void say() { }

        public void say(String it, int[] more) { }

        private static void hidden(long it) { }

        static void mixed() { }

        private void mixed(int it) { }
    }

    static class Below extends Loud {
        @Override
        public void say() { }
    }

    static void initialises() throws Exception {
        Class.forName("Named$Loud"); // -> Named$Loud.<clinit>()V
    }

    static void concatenates(boolean which) throws Exception {
        Class.forName(PACKAGE + "med$" + (which ? "Loud" : "Below")); // -> Named$Loud.<clinit>()V
    }

    static void builds() throws Exception {
        StringBuilder name = new StringBuilder("Na");
        name.append("med");
        name.append("$Lo").append("ud");
        Class.forName(name.toString()); // -> Named$Loud.<clinit>()V
    }

    static void branches(boolean which) throws Exception {
        StringBuilder name = new StringBuilder("Named$");
        for (int i = 0; which && i < 3; i++) {
            name.append("No");
        }
        if (which) {
            name.append("Be").append("low");
        } else {
            name.append("Loud");
        }
        Class.forName(name.toString()); // -> Named$Loud.<clinit>()V
    }

    static void either(int n) throws Exception {
        StringBuilder name = new StringBuilder("Named$");
        if (n % 2 == 0) {
            name.append("Loud");
        } else {
            name.append("Below");
        }
        Class.forName(name.toString()); // -> Named$Loud.<clinit>()V
    }

    static void nests() throws Exception {
        Class.forName(Named.class.getName() + "$Loud"); // -> Named$Loud.<clinit>()V
    }

    static Object creates() throws Exception {
        return Class.forName("Named$Loud").newInstance(); // -> Named$Loud.<init>()V Named$Loud.<clinit>()V | not Named$Loud.<init>(I[Ljava/lang/String;)V | reflect | resolved
    }

    static Object constructs() throws Exception {
        return Loud.class.getDeclaredConstructor(int.class, String[].class)
            .newInstance(1, null); // -> Named$Loud.<init>(I[Ljava/lang/String;)V Named$Loud.<clinit>()V | not Named$Loud.<init>()V | resolved
    }

    static void invokes(Object on) throws Exception {
        Method it = Loud.class.getMethod("say");
        it.invoke(on); // -> Named$Loud.say()V Named$Below.say()V | not Named$Loud.say(Ljava/lang/String;[I)V | open
        Loud.class.getMethod("say", String.class, int[].class).invoke(on, "", null); // -> Named$Loud.say(Ljava/lang/String;[I)V | not Named$Loud.say()V | open
    }

    static void invokesBelow(Object on) throws Exception {
        Below.class.getMethod("say", (Class<?>[]) null).invoke(on); // -> Named$Below.say()V | not Named$Loud.say()V
    }

    /** The parameter types are not known, so any method of the name may run. */
    static void invokesAny(Object on, Class<?>[] types) throws Exception {
        Loud.class.getMethod("say", types).invoke(on); // -> Named$Loud.say()V Named$Loud.say(Ljava/lang/String;[I)V
    }

    /** One of the methods is static, so its class may be initialised. */
    static void invokesMixed(Object on, Class<?>[] types) throws Exception {
        Loud.class.getDeclaredMethod("mixed", types).invoke(on); // -> Named$Loud.mixed()V Named$Loud.mixed(I)V Named$Loud.<clinit>()V
    }

    static void either(Object on, boolean which) throws Exception {
        Method it;
        if (which) {
            it = Loud.class.getMethod("say");
        } else {
            it = Loud.class.getDeclaredMethod("hidden", long.class);
        }
        it.invoke(on); // -> Named$Loud.say()V Named$Loud.hidden(J)V Named$Loud.<clinit>()V
    }

    static void handles(Loud on) throws Throwable {
        MethodHandle it = MethodHandles.lookup().findVirtual(Loud.class, "say", MethodType.methodType(void.class));
        it.invokeExact(on); // -> Named$Loud.say()V Named$Below.say()V | open
        MethodType type = MethodType.methodType(void.class, String.class, int[].class);
        MethodHandles.lookup().findVirtual(Loud.class, "say", type).bindTo(on).invoke("", null); // -> Named$Loud.say(Ljava/lang/String;[I)V
    }

    static void handlesOfStatics() throws Throwable {
        MethodHandles.lookup().findStatic(Loud.class, "hidden", MethodType.methodType(void.class, long.class)).invoke(1L); // -> Named$Loud.hidden(J)V Named$Loud.<clinit>()V
        MethodHandles.lookup().findConstructor(Loud.class, MethodType.methodType(void.class)).invoke(); // -> Named$Loud.<init>()V
    }

    static Object ofObject(Loud it) throws Exception {
        return new Below().getClass().newInstance(); // -> Named$Below.<init>()V
    }

    /** Nothing is named here. */
    static Object unknown(String name) throws Exception {
        return Class.forName(name).newInstance(); // open | not Named$Loud.<init>()V
    }
}
