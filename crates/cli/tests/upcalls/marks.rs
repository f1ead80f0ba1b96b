//! Programs that name classes and members by strings that are no constants: a call that finds them must be open, also
//! in a closed world.

use test_utils::rng::Rng;

use crate::world::Program;

/// How the class `K` is used: `name()` is its name and `c()` its class object.
const USES: [&str; 31] = [
    "Class.forName(name()).hashCode();",
    "Class.forName(name(), true, Main.class.getClassLoader());",
    "go(c().newInstance());",
    "go(c().getDeclaredConstructor().newInstance());",
    "c().getDeclaredMethod(\"hit\").invoke(null);",
    "c().getDeclaredMethod(\"own\").invoke(c().newInstance());",
    "c().getDeclaredField(\"seen\").getInt(null);",
    "c().getDeclaredField(\"seen\").get(null);",
    "c().getDeclaredField(\"seen\").setInt(null, 2);",
    "MethodHandles.lookup().ensureInitialized(c());",
    "MethodHandles.lookup().findStatic(c(), \"hit\", MethodType.methodType(void.class)).invoke();",
    "MethodHandles.lookup().findStatic(c(), \"hit\", MethodType.methodType(void.class)).invokeExact();",
    "MethodHandles.lookup().findStatic(c(), \"hit\", MethodType.methodType(void.class)).invokeWithArguments();",
    "MethodHandles.lookup().findStatic(c(), \"hit\", MethodType.methodType(void.class)).invokeWithArguments(List.of());",
    "go(MethodHandles.lookup().findConstructor(c(), MethodType.methodType(void.class)).invokeWithArguments());",
    "MethodHandles.lookup().findStaticVarHandle(c(), \"seen\", int.class).get();",
    "MethodHandles.lookup().findStaticGetter(c(), \"seen\", int.class).invoke();",
    "MethodHandles.lookup().unreflect(c().getDeclaredMethod(\"hit\")).invoke();",
    "MethodHandles.lookup().unreflectVarHandle(c().getDeclaredField(\"seen\"));",
    "MethodHandles.lookup().findClass(name()).newInstance();",
    "MethodHandles.lookup().accessClass(c()).newInstance();",
    "unsafe().allocateInstance(c());",
    "Main.class.getClassLoader().loadClass(name()).newInstance();",
    "new java.net.URLClassLoader(new java.net.URL[0], Main.class.getClassLoader()).loadClass(name()).newInstance();",
    "Thread it = new Thread((Runnable) c().newInstance()); it.start(); it.join();",
    "new TreeSet<Object>((Comparator<Object>) c().newInstance()).add(1);",
    "String.valueOf(c().newInstance());",
    "((Runnable) LambdaMetafactory.metafactory(MethodHandles.lookup(), \"run\", MethodType.methodType(Runnable.class), MethodType.methodType(void.class), MethodHandles.lookup().findStatic(c(), \"hit\", MethodType.methodType(void.class)), MethodType.methodType(void.class)).getTarget().invoke()).run();",
    "ForkJoinPool.commonPool().submit((Runnable) c().newInstance()).get();",
    "java.security.AccessController.doPrivileged((java.security.PrivilegedAction<Object>) () -> made(name()));",
    "Optional.of(name()).map(it -> made(it)).get();",
];

/// How the class `K` is used if it is an enum.
const OF_ENUMS: [&str; 6] = [
    "go(Enum.valueOf((Class) c(), args[1]));",
    "for (Object it : EnumSet.allOf((Class) c())) go(it);",
    "go(c().getEnumConstants()[1]);",
    "new EnumMap<>((Class) c()).put((Enum) c().getEnumConstants()[0], 1);",
    "go(c().getDeclaredField(args[1]).get(null));",
    "go(c().getMethod(\"valueOf\", String.class).invoke(null, args[1]));",
];

/// Other finders of classes: the text of the class `K`, and the use. Those that make proxies are among the last three, so
/// that they are in one part of the programs.
const OTHERS: [(&str, &str); 6] = [
    (
        "public static class K extends java.util.ListResourceBundle implements Act { public K() { } protected Object[][] getContents() { return new Object[0][]; } public void act() { } }",
        "ResourceBundle it = ResourceBundle.getBundle(name()); it.keySet(); go(it);",
    ),
    (
        "@K.Note(type = K.E.B) static class K { enum E { A, B; E() { } } @Retention(RetentionPolicy.RUNTIME) @interface Note { E type(); } }",
        "for (Object it : c().getAnnotations()) it.hashCode();",
    ),
    (
        "public interface K extends Act { class P implements K { public P() { } public void act() { } } }",
        "for (Object it : ServiceLoader.load(c())) go(it);",
    ),
    (
        "interface K { int X = Integer.parseInt(\"1\"); void own(); }",
        "Object it = Proxy.newProxyInstance(Main.class.getClassLoader(), new Class<?>[] { c() }, (a, b, d) -> null); c().getField(\"X\").get(null);",
    ),
    (
        "static class K { static int seen; static { seen = 1; } static void hit() { } }",
        "((Runnable) MethodHandleProxies.asInterfaceInstance(Runnable.class, MethodHandles.lookup().findStatic(c(), \"hit\", MethodType.methodType(void.class)))).run();",
    ),
    (
        "public static class K extends java.security.MessageDigestSpi { public K() { } protected void engineUpdate(byte it) { } protected void engineUpdate(byte[] it, int a, int b) { } protected byte[] engineDigest() { return new byte[0]; } protected void engineReset() { } }",
        "java.security.Provider p = new java.security.Provider(\"x\", \"1\", \"\") { { put(\"MessageDigest.X\", name()); } }; java.security.MessageDigest.getInstance(\"X\", p).digest();",
    ),
];

/// Makes a program, with the use of the class `K` that has this number. The argument of the program is the name of
/// `K`, which no constant of the program is.
pub(crate) fn program(package: String, rng: &mut Rng, which: u64) -> Program {
    let mut it = Program { package, ..Program::default() };
    it.args = vec![format!("{}.Main$K", it.package), "B".to_owned()];
    let helpers = "    static String name() { return args[0]; }
    static Class<?> c() throws ClassNotFoundException { return Class.forName(name(), false, Main.class.getClassLoader()); }
    static Object made(Object it) { try { return it instanceof Class ? ((Class<?>) it).newInstance() : made(Class.forName((String) it)); } catch (ReflectiveOperationException e) { return null; } }
    static sun.misc.Unsafe unsafe() throws Exception { Field it = sun.misc.Unsafe.class.getDeclaredField(\"theUnsafe\"); it.setAccessible(true); return (sun.misc.Unsafe) it.get(null); }
";
    it.body.push_str(helpers);
    let which = which as usize % (USES.len() + OF_ENUMS.len() + OTHERS.len());
    let (kind, class, body) = if let Some(&body) = USES.get(which) {
        let initializer = rng.one(["seen = 1;", "hit();", "new K().own();"]);
        let above = rng.one(["", "extends KAbove "]);
        let class = format!(
            "static class KAbove {{ static int x; static {{ x = 1; }} KAbove() {{ }} }} public static class K {above}implements Act, Runnable, Comparator<Object> {{ static int seen; static {{ {initializer} }} public K() {{ }} static void hit() {{ }} void own() {{ }} public void act() {{ own(); }} public void run() {{ }} public int compare(Object a, Object b) {{ return 0; }} public String toString() {{ return \"k\"; }} }}"
        );
        (if body.contains("LambdaMetafactory") { "metafactory" } else { "names" }, class, body)
    } else if let Some(&body) = OF_ENUMS.get(which - USES.len()) {
        let constant = rng.one(["", " { public void act() { } }"]);
        let class = format!("enum K implements Act {{ A, B{constant}; K() {{ }} public void act() {{ }} }}");
        ("enums", class, body)
    } else {
        let (class, body) = OTHERS[which - USES.len() - OF_ENUMS.len()];
        ("other finders", class.to_owned(), body)
    };
    it.body.push_str(&format!("    {class}\n    static void s0() throws Throwable {{ {body} }}\n"));
    if class.contains("P implements K") {
        let service: &'static str = Box::leak(it.args[0].clone().into_boxed_str());
        it.services.push((service, format!("{}.Main$K$P", it.package)));
    }
    it.items.push(("s0".to_owned(), kind));
    it
}
