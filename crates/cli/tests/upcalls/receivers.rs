//! Programs with objects that the JDK makes by reflection or by names from files, and on which calls then go through
//! interfaces and superclasses.

use test_utils::rng::Rng;

use crate::world::Program;

/// The generator of one program.
struct Maker {
    rng: Rng,
    program: Program,
    n: usize,
}

type Kind = fn(&mut Maker);

const KINDS: [Kind; 17] = [
    Maker::enum_set,
    Maker::enum_value,
    Maker::new_instance,
    Maker::annotation,
    Maker::annotation,
    Maker::service,
    Maker::charset,
    Maker::provider,
    Maker::thread,
    Maker::finalizer,
    Maker::collections,
    Maker::bundle,
    Maker::for_name,
    Maker::handle,
    Maker::callback,
    Maker::derived_class,
    Maker::file_system,
];

/// Makes a program; with `proxies` one that makes proxies only, after which any interface call may run a handler.
pub(crate) fn program(package: String, rng: &mut Rng, proxies: bool) -> Program {
    let mut it = Maker { rng: rng.clone(), program: Program { package, ..Program::default() }, n: 0 };
    for _ in 0..it.rng.range(4, 7) {
        if proxies {
            it.proxy();
        } else {
            let kind = *it.rng.pick(&KINDS).unwrap();
            kind(&mut it);
        }
    }
    it.program
}

impl Maker {
    fn add(&mut self, text: &str) {
        self.program.body.push_str(text);
        self.program.body.push('\n');
    }

    /// Adds a member of `Main` unless it is there.
    fn helper(&mut self, text: &str) {
        if !self.program.body.contains(text) {
            self.add(text);
        }
    }

    fn item(&mut self, kind: &'static str, body: &str) {
        let name = format!("s{}", self.program.items.len());
        self.add(&format!("    static void {name}() throws Throwable {{ {body} }}"));
        self.program.items.push((name, kind));
    }

    fn name(&mut self, letter: &str) -> String {
        self.n += 1;
        format!("{letter}{}", self.n)
    }

    /// The name of a nested class as a string of the program has it.
    fn binary(&self, name: &str) -> String {
        format!("{}.Main${name}", self.program.package)
    }

    fn initializer(&mut self) -> &'static str {
        self.rng.one(["", " static int seen; static { seen = 1; }"])
    }

    /// A class below `Act`, directly or by superclasses; its constructor has this access.
    fn actor(&mut self, access: &str, parameters: &str) -> String {
        let name = self.name("U");
        let initializer = self.initializer();
        let access_of_class = self.rng.one(["", "public "]);
        let own = self.rng.one(["public void act() { }", "public void act() { }", ""]);
        let above = if own.is_empty() || self.rng.chance(30) {
            let above = self.name("U");
            let word = self.rng.one(["abstract ", ""]);
            let initializer = self.initializer();
            self.add(&format!("    static {word}class {above} implements Act {{ public void act() {{ hook(); }} void hook() {{ }}{initializer} }}"));
            format!("extends {above}")
        } else {
            "implements Act".to_owned()
        };
        let hook = if above.starts_with('e') { self.rng.one(["", "void hook() { }"]) } else { "" };
        self.add(&format!("    {access_of_class}static class {name} {above} {{ {access}{name}({parameters}) {{ }} {own} {hook} public String toString() {{ return \"u\"; }}{initializer} }}"));
        name
    }

    fn enumeration(&mut self) -> String {
        let name = self.name("E");
        let body = self.rng.one(["", " { public void act() { } }", " { void hook() { } }"]);
        let initializer = self.initializer();
        self.add(&format!("    enum {name} implements Act {{ A, B{body}; {name}() {{ }} public void act() {{ hook(); }} void hook() {{ }}{initializer} }}"));
        name
    }

    fn enum_set(&mut self) {
        let e = self.enumeration();
        let made = self.rng.one([
            "EnumSet.allOf(E.class)",
            "EnumSet.complementOf(EnumSet.noneOf(E.class))",
            "filled(new EnumMap<E, String>(E.class)).keySet()",
            "Arrays.asList(E.class.getEnumConstants())",
            "all(E.class)",
        ]);
        if made.starts_with("all") {
            self.helper(
                "    static <T extends Enum<T>> Set<T> all(Class<T> of) { return EnumSet.allOf(of); }",
            );
        }
        let filled = format!(
            "EnumMap<{e}, String> m = new EnumMap<>({e}.class); m.put(Enum.valueOf({e}.class, \"B\"), \"x\");"
        );
        let (before, made) = match made.starts_with("filled") {
            true => (filled, "m.keySet()".to_owned()),
            false => (String::new(), made.replace('E', &e).replace(&format!("{e}num"), "Enum")),
        };
        self.item("enum set", &format!("{before} for (Object it : {made}) go(it);"));
    }

    fn enum_value(&mut self) {
        let e = self.enumeration();
        let made = self.rng.one([
            "Enum.valueOf(E.class, \"B\")",
            "value(E.class, \"B\")",
            "value((Class) Class.forName(\"NAME\"), \"A\")",
        ]);
        if made.starts_with("value") {
            self.helper("    static <T extends Enum<T>> T value(Class<T> of, String it) { return Enum.valueOf(of, it); }");
        }
        let binary = self.binary(&e);
        let made = made.replace("(E.", &format!("({e}.")).replace("NAME", &binary);
        self.item("enum value", &format!("go({made});"));
    }

    fn new_instance(&mut self) {
        let access = self.rng.one(["", "private ", "public "]);
        let int = self.rng.chance(30);
        let c = self.actor(access, if int { "int x" } else { "" });
        let (types, values) = if int { ("int.class", "1") } else { ("", "") };
        let get = format!("C.class.getDeclaredConstructor({types})");
        let made = match self.rng.below(if int { 4 } else { 6 }) {
            0 => format!("{get}.newInstance({values})"),
            1 => format!("made({get}, new Object[] {{ {values} }})"),
            2 => format!("C.class.getDeclaredConstructors()[0].newInstance({values})"),
            3 => format!("made(List.of({get}).iterator().next(), new Object[] {{ {values} }})"),
            4 => "C.class.newInstance()".to_owned(),
            _ => "simple(C.class)".to_owned(),
        };
        if made.starts_with("made") {
            self.helper("    static Object made(Constructor<?> it, Object[] values) throws Exception { return it.newInstance(values); }");
        }
        if made.starts_with("simple") {
            self.helper(
                "    static Object simple(Class<?> it) throws Exception { return it.newInstance(); }",
            );
        }
        let made = made.replace("C.class", &format!("{c}.class"));
        let then = self.rng.one(["go(o);", "go(o); String.valueOf(o);"]);
        self.item("new instance", &format!("Object o = {made}; {then}"));
    }

    /// Annotations, whose values the JDK makes when code asks for an annotation.
    fn annotation(&mut self) {
        let e = self.enumeration();
        let c = self.actor("", "");
        let (a, h, nested) = (self.name("An"), self.name("U"), self.name("An"));
        self.add(&format!(
            "    @Retention(RetentionPolicy.RUNTIME) @interface {nested} {{ {e} kind() default {e}.A; }}"
        ));
        self.add(&format!("    @Retention(RetentionPolicy.RUNTIME) @interface {a} {{ {e} kind() default {e}.B; {e}[] all() default {{ {e}.A }}; Class<?> type() default Object.class; {nested} nested() default @{nested}; int x() default 3; }}"));
        let values = self.rng.one([
            "",
            "(kind = E.A)",
            "(all = { E.A, E.B })",
            "(type = C.class)",
            "(kind = E.B, nested = @N(kind = E.B))",
        ]);
        let values = values
            .replace("E.", &format!("{e}."))
            .replace("C.c", &format!("{c}.c"))
            .replace("@N", &format!("@{nested}"));
        let use_ = format!("@{a}{values}");
        self.add(&format!(
            "    {use_} static class {h} {{ {use_} int field; {use_} void method({use_} int x) {{ }} }}"
        ));
        let get = self.rng.one([
            "H.class.getAnnotation(A.class)",
            "(A) H.class.getAnnotations()[0]",
            "H.class.getDeclaredField(\"field\").getAnnotation(A.class)",
            "(A) H.class.getDeclaredMethod(\"method\", int.class).getParameterAnnotations()[0][0]",
            "(A) H.class.getDeclaredMethod(\"method\", int.class).getParameters()[0].getAnnotations()[0]",
            "R.class.getRecordComponents()[0].getAnnotation(A.class)",
            "H.class.getAnnotatedSuperclass().getAnnotation(T.class).value()",
            "H.class.getAnnotationsByType(A.class)[0]",
        ]);
        if get.starts_with('R') {
            self.add(&format!("    record R{h}({use_} int x) {{ }}"));
        }
        if get.starts_with("H.class.getAnnotatedS") {
            self.add(&format!("    @Retention(RetentionPolicy.RUNTIME) @Target(ElementType.TYPE_USE) @interface T{h} {{ {a} value(); }}"));
            self.add(&format!("    static class X{h} extends @T{h}({use_}) Object {{ }}"));
        }
        let get = get
            .replace("R.c", &format!("R{h}.c"))
            .replace("T.c", &format!("T{h}.c"))
            .replace("H.class.getAnnotatedS", &format!("X{h}.class.getAnnotatedS"))
            .replace("H.", &format!("{h}."))
            .replace("A.c", &format!("{a}.c"))
            .replace("(A)", &format!("({a})"));
        let then = self.rng.one([
            "go(it.kind());",
            "for (Object o : it.all()) go(o);",
            "if (it.type() != Object.class) go(it.type().getDeclaredConstructor().newInstance());",
            "go(it.nested().kind());",
            "it.hashCode(); it.toString(); it.equals(it); go(it.kind());",
            "",
        ]);
        self.item("annotation", &format!("{a} it = {get}; {then}"));
    }

    fn service(&mut self) {
        let service = self.name("S");
        let word = self.rng.one(["public interface NAME extends Act { }", "public abstract static class NAME implements Act { public void act() { hook(); } abstract void hook(); }"]);
        self.add(&format!("    {}", word.replace("NAME", &service)));
        let is_class = word.contains("class");
        for _ in 0..self.rng.range(1, 2) {
            let name = self.name("U");
            let initializer = self.initializer();
            let (above, own) = if is_class {
                (format!("extends {service}"), "void hook() { }")
            } else {
                (format!("implements {service}"), "public void act() { }")
            };
            self.add(&format!("    public static class {name} {above} {{ public {name}() {{ }} {own} public static {service} provider() {{ return null; }}{initializer} }}"));
            let class = self.binary(&name);
            let service: &'static str = Box::leak(self.binary(&service).into_boxed_str());
            self.program.services.push((service, class));
            let never = format!(
                "{}/Main${name}.provider()L{}/Main${service};",
                self.program.package, self.program.package
            );
            self.program.never.push(never);
        }
        let load = self.rng.one([
            "ServiceLoader.load(S.class)",
            "ServiceLoader.load(S.class, Main.class.getClassLoader())",
            "loaded(S.class)",
            "ServiceLoader.load(of).stream().map(ServiceLoader.Provider::get).toList()",
            "ServiceLoader.load((Class<?>) held.get(0))",
        ]);
        if load.starts_with("loaded") {
            self.helper("    static <T> Iterable<T> loaded(Class<T> it) { return ServiceLoader.load(it); }");
        }
        let before = match load {
            it if it.contains("(of)") => format!("Class<{service}> of = {service}.class; "),
            it if it.contains("held") => format!("List<Class<?>> held = List.of({service}.class); "),
            _ => String::new(),
        };
        let load = load.replace("S.c", &format!("{service}.c"));
        self.item("service", &format!("{before}for (Object it : {load}) go(it);"));
    }

    fn charset(&mut self) {
        let (p, c) = (self.name("U"), self.name("U"));
        let word = format!("x-{}-{}", self.program.package, self.n);
        self.add(&format!("    public static class {p} extends java.nio.charset.spi.CharsetProvider {{ public {p}() {{ }} public Iterator<Charset> charsets() {{ return List.<Charset>of().iterator(); }} public Charset charsetForName(String it) {{ return it.equals(\"{word}\") ? new {c}() : null; }} }}"));
        self.add(&format!("    static class {c} extends Charset implements Act {{ {c}() {{ super(\"{word}\", null); }} public boolean contains(Charset it) {{ return false; }} public CharsetEncoder newEncoder() {{ return StandardCharsets.UTF_8.newEncoder(); }} public CharsetDecoder newDecoder() {{ return StandardCharsets.UTF_8.newDecoder(); }} public void act() {{ }} }}"));
        let class = self.binary(&p);
        self.program.services.push(("java.nio.charset.spi.CharsetProvider", class));
        let then = self.rng.one([
            "go(Charset.forName(\"W\"));",
            "new String(new byte[] { 65 }, \"W\");",
            "\"x\".getBytes(\"W\");",
            "Charset.isSupported(\"W\");",
            "Charset.availableCharsets();",
        ]);
        self.item("charset", &then.replace("\"W\"", &format!("\"{word}\"")));
    }

    /// Providers of security and of tools.
    fn provider(&mut self) {
        let n = self.name("U");
        let algorithm = format!("G{}{n}", self.program.package);
        match self.rng.below(4) {
            0 | 1 => {
                let p = self.name("U");
                let word = self.binary(&n);
                self.add(&format!("    public static class {n} extends java.security.MessageDigestSpi {{ public {n}() {{ }} protected void engineUpdate(byte it) {{ }} protected void engineUpdate(byte[] it, int a, int b) {{ }} protected byte[] engineDigest() {{ return new byte[0]; }} protected void engineReset() {{ }} }}"));
                let put = self.rng.one([
                    "put(\"MessageDigest.W\", \"NAME\");",
                    "putService(new Service(this, \"MessageDigest\", \"W\", \"NAME\", null, null));",
                ]);
                let put = put
                    .replace("\"NAME\"", &format!("\"{word}\""))
                    .replace(".W\"", &format!(".{algorithm}\""))
                    .replace("\"W\"", &format!("\"{algorithm}\""));
                self.add(&format!("    static class {p} extends java.security.Provider {{ {p}() {{ super(\"{algorithm}\", \"1\", \"\"); {put} }} }}"));
                self.item("provider", &format!("java.security.MessageDigest it = java.security.MessageDigest.getInstance(\"{algorithm}\", new {p}()); it.update((byte) 1); it.digest(); it.reset();"));
            }
            2 => {
                self.add(&format!("    public static class {n} implements java.util.spi.ToolProvider {{ public {n}() {{ }} public String name() {{ return \"{algorithm}\"; }} public int run(PrintWriter a, PrintWriter b, String... args) {{ return 0; }} }}"));
                let class = self.binary(&n);
                self.program.services.push(("java.util.spi.ToolProvider", class));
                self.item("provider", &format!("java.util.spi.ToolProvider it = java.util.spi.ToolProvider.findFirst(\"{algorithm}\").get(); it.run(System.out, System.out);"));
            }
            _ => {
                let protocol = algorithm.to_lowercase();
                self.add(&format!("    public static class {n} extends java.net.spi.URLStreamHandlerProvider {{ public {n}() {{ }} public java.net.URLStreamHandler createURLStreamHandler(String it) {{ return it.equals(\"{protocol}\") ? new H{n}() : null; }} }}"));
                self.add(&format!("    static class H{n} extends java.net.URLStreamHandler {{ protected java.net.URLConnection openConnection(java.net.URL it) {{ return null; }} protected int getDefaultPort() {{ return 3; }} }}"));
                let class = self.binary(&n);
                self.program.services.push(("java.net.spi.URLStreamHandlerProvider", class));
                self.item("provider", &format!("java.net.URL it = new java.net.URL(\"{protocol}://x/y\"); it.getDefaultPort(); it.openConnection(); it.hashCode();"));
            }
        }
    }

    fn file_system(&mut self) {
        let n = self.name("U");
        match self.rng.below(3) {
            0 => {
                self.add(&format!("    public static class {n} extends java.util.ListResourceBundle implements Act {{ public {n}() {{ }} protected Object[][] getContents() {{ return new Object[][] {{ {{ \"k\", \"v\" }} }}; }} public void act() {{ }} }}"));
                let word = self.binary(&n);
                self.item("bundle by name", &format!("ResourceBundle it = ResourceBundle.getBundle(\"{word}\", Locale.ROOT, new ResourceBundle.Control() {{ public List<String> getFormats(String name) {{ return FORMAT_CLASS; }} }}); it.getString(\"k\"); go(it);"));
            }
            1 => {
                self.add(&format!("    public static class {n} implements java.sql.Driver {{ static int seen; static {{ seen = 1; }} public {n}() {{ }} public java.sql.Connection connect(String url, Properties it) {{ return null; }} public boolean acceptsURL(String url) {{ return false; }} public java.sql.DriverPropertyInfo[] getPropertyInfo(String url, Properties it) {{ return null; }} public int getMajorVersion() {{ return 1; }} public int getMinorVersion() {{ return 1; }} public boolean jdbcCompliant() {{ return false; }} public java.util.logging.Logger getParentLogger() {{ return null; }} }}"));
                let class = self.binary(&n);
                self.program.services.push(("java.sql.Driver", class));
                self.item("driver", "java.sql.DriverManager.drivers().forEach(it -> it.getMajorVersion());");
            }
            _ => {
                self.add(&format!("    public static class {n} extends java.util.logging.Handler {{ public {n}() {{ }} public void publish(java.util.logging.LogRecord it) {{ }} public void flush() {{ }} public void close() {{ }} }}"));
                self.item("logging", &format!("java.util.logging.Logger it = java.util.logging.Logger.getLogger(\"{n}\"); it.setUseParentHandlers(false); it.addHandler({n}.class.getDeclaredConstructor().newInstance()); it.severe(\"x\");"));
            }
        }
    }

    fn thread(&mut self) {
        let n = self.name("U");
        let (text, body) = match self.rng.below(8) {
            0 => (
                "static class N extends Thread { public void run() { own(); } void own() { } }",
                "Thread it = new N(); it.start(); it.join();",
            ),
            1 => (
                "static class N implements Runnable { public void run() { } }",
                "Thread it = new Thread(N.class.getDeclaredConstructor().newInstance()); it.start(); it.join();",
            ),
            2 => (
                "static class N implements Callable<String> { public String call() { return \"x\"; } }",
                "ExecutorService it = Executors.newSingleThreadExecutor(); it.submit(new N()).get(); it.shutdown();",
            ),
            3 => (
                "static class N extends RecursiveTask<Integer> { protected Integer compute() { return 1; } }",
                "ForkJoinPool.commonPool().invoke(new N());",
            ),
            4 => (
                "static class N extends TimerTask { public void run() { done.countDown(); } final CountDownLatch done = new CountDownLatch(1); }",
                "N task = new N(); Timer it = new Timer(true); it.schedule(task, 1); task.done.await(2, TimeUnit.SECONDS); it.cancel();",
            ),
            5 => (
                "static class N implements Thread.UncaughtExceptionHandler { public void uncaughtException(Thread t, Throwable e) { } }",
                "Thread it = new Thread(() -> { throw new IllegalStateException(); }); it.setUncaughtExceptionHandler(new N()); it.start(); it.join();",
            ),
            6 => (
                "static class N extends ThreadLocal<String> { protected String initialValue() { return \"x\"; } }",
                "new N().get();",
            ),
            _ => (
                "static class N implements Supplier<String> { public String get() { return \"x\"; } }",
                "CompletableFuture.supplyAsync(new N()).thenApply(x -> x + 1).get();",
            ),
        };
        self.add(&format!("    {}", text.replace(" N ", &format!(" {n} "))));
        self.item(
            "thread",
            &body
                .replace("N()", &format!("{n}()"))
                .replace("N.c", &format!("{n}.c"))
                .replace("N task", &format!("{n} task")),
        );
    }

    fn finalizer(&mut self) {
        let n = self.name("U");
        let (text, body) = match self.rng.below(3) {
            0 => (
                "static class N { protected void finalize() { own(); } void own() { } }",
                "new N(); System.gc(); System.runFinalization();",
            ),
            1 => (
                "static class N { public void finalize() { } }",
                "N.class.getDeclaredConstructor().newInstance(); System.gc(); System.runFinalization();",
            ),
            _ => (
                "static class N implements Runnable { public void run() { } }",
                "java.lang.ref.Cleaner.create().register(new Object(), new N()).clean();",
            ),
        };
        self.add(&format!("    {}", text.replace(" N ", &format!(" {n} "))));
        self.item("finalizer", &body.replace("N()", &format!("{n}()")).replace("N.c", &format!("{n}.c")));
    }

    fn collections(&mut self) {
        let (r, k) = (self.name("R"), self.name("U"));
        self.add(&format!("    static class {k} implements Comparable<{k}>, Formattable {{ public int hashCode() {{ return 1; }} public boolean equals(Object o) {{ return o instanceof {k}; }} public int compareTo({k} o) {{ return 0; }} public String toString() {{ return \"k\"; }} public void formatTo(Formatter f, int a, int b, int c) {{ }} }}"));
        self.add(&format!("    record {r}({k} k, int x) implements Comparable<{r}>, Act {{ public int compareTo({r} o) {{ return k.compareTo(o.k); }} public void act() {{ }} }}"));
        let one = format!("new {r}(new {k}(), 1)");
        let body = self.rng.one([
            "R[] all = { ONE, ONE }; Arrays.sort(all); for (Object it : all) go(it);",
            "new HashSet<Object>(List.of(ONE)).contains(ONE);",
            "new TreeSet<Object>(Arrays.asList(ONE, ONE)).first();",
            "List.of(ONE, ONE).toString();",
            "String.format(\"%s %s\", ONE, new K());",
            "Objects.hash(ONE); String.valueOf(new Object[] { ONE }); Arrays.deepToString(new Object[] { ONE });",
            "java.util.stream.Stream.of(ONE, ONE).sorted().distinct().forEach(it -> go(it));",
            "java.util.stream.Stream.of(ONE, ONE).collect(java.util.stream.Collectors.groupingBy(it -> it.k()));",
            "new ConcurrentSkipListMap<Object, String>(Map.of(ONE, \"x\")).firstKey();",
            "Object o = Array.newInstance(R.class, 1); Array.set(o, 0, ONE); go(Array.get(o, 0)); \"\".concat(\"\" + ONE);",
            "ONE.equals(ONE); ONE.hashCode(); ONE.toString();",
            "new PriorityQueue<Object>(List.of(ONE, ONE)).poll(); Collections.sort(new ArrayList<>(List.of(ONE, ONE)));",
        ]);
        let body = body
            .replace("ONE", &one)
            .replace("new K()", &format!("new {k}()"))
            .replace("R[]", &format!("{r}[]"))
            .replace("R.c", &format!("{r}.c"));
        self.item("collections", &body);
    }

    fn bundle(&mut self) {
        let n = self.name("Bundle");
        for suffix in ["", "_de", "_de_CH"] {
            if suffix.is_empty() || self.rng.chance(60) {
                let above = self.rng.one(["java.util.ListResourceBundle", "java.util.ResourceBundle"]);
                let own = if above.contains("List") {
                    "protected Object[][] getContents() { return new Object[][] { { \"k\", \"v\" } }; }"
                } else {
                    "protected Object handleGetObject(String it) { return null; } public java.util.Enumeration<String> getKeys() { return Collections.emptyEnumeration(); }"
                };
                self.add(&format!("    public static class {n}{suffix} extends {above} implements Act {{ public {n}{suffix}() {{ }} {own} public void act() {{ }} }}"));
            }
        }
        let word = self.binary(&n);
        let get = self.rng.one([
            "ResourceBundle.getBundle(\"W\")",
            "ResourceBundle.getBundle(\"W\", Locale.GERMAN)",
            "ResourceBundle.getBundle(\"W\", new Locale(\"de\", \"CH\"))",
            "ResourceBundle.getBundle(\"W\", Locale.GERMAN, Main.class.getClassLoader())",
        ]);
        let get = get.replace('W', &word);
        self.item("bundle", &format!("ResourceBundle it = {get}; it.keySet(); go(it); it.getObject(\"k\");"));
    }

    fn for_name(&mut self) {
        let c = self.actor("", "");
        let word = self.binary(&c);
        let (front, back) = word.split_at(word.len() - c.len());
        let name = match self.rng.below(5) {
            0 => format!("\"{word}\""),
            1 => format!("\"{front}\".concat(\"{back}\")"),
            2 => format!("new StringBuilder(\"{front}\").append(\"{back}\").toString()"),
            3 => {
                self.add(&format!("    static final String NAME{c} = \"{word}\";"));
                format!("NAME{c}")
            }
            _ => format!("Main.class.getName() + \"${c}\""),
        };
        let get = self.rng.one([
            "Class.forName(W)",
            "Class.forName(W, true, Main.class.getClassLoader())",
            "Class.forName(W, false, Main.class.getClassLoader())",
            "Main.class.getClassLoader().loadClass(W)",
            "Thread.currentThread().getContextClassLoader().loadClass(W)",
            "MethodHandles.lookup().findClass(W)",
        ]);
        let get = get.replace('W', &name);
        let then = self.rng.one([
            "IT.getDeclaredConstructor().newInstance()",
            "IT.newInstance()",
            "((Class<? extends Act>) IT.asSubclass(Act.class)).getDeclaredConstructor().newInstance()",
        ]);
        self.item("for name", &format!("go({});", then.replace("IT", &get)));
    }

    fn handle(&mut self) {
        let c = self.actor("", "");
        let h = self.name("U");
        self.add(&format!("    static class {h} {{ static int seen; static {{ seen = 1; }} static void hit() {{ }} void own(int x) {{ }} }}"));
        let body = self.rng.one([
            "go(MethodHandles.lookup().findConstructor(C.class, MethodType.methodType(void.class)).invoke());",
            "MethodHandles.lookup().findStatic(H.class, \"hit\", MethodType.methodType(void.class)).invokeExact();",
            "MethodHandles.lookup().findVirtual(H.class, \"own\", MethodType.methodType(void.class, int.class)).invoke(new H(), 1);",
            "MethodHandles.lookup().ensureInitialized(H.class);",
            "H.class.getDeclaredMethod(\"hit\").invoke(null);",
            "H.class.getDeclaredMethod(\"own\", int.class).invoke(H.class.getDeclaredConstructor().newInstance(), 1);",
            "H.class.getDeclaredField(\"seen\").getInt(null);",
            "MethodHandles.lookup().findStaticVarHandle(H.class, \"seen\", int.class).get();",
            "MethodHandles.lookup().findStaticGetter(H.class, \"seen\", int.class).invoke();",
        ]);
        self.item(
            "handle",
            &body
                .replace("C.c", &format!("{c}.c"))
                .replace("H.c", &format!("{h}.c"))
                .replace("H()", &format!("{h}()")),
        );
    }

    /// Classes whose methods the JDK calls on objects that reached code makes.
    fn callback(&mut self) {
        let n = self.name("U");
        let (text, body) = self.rng.one([
            ("static class N extends ClassValue<String> { protected String computeValue(Class<?> it) { return \"x\"; } }", "new N().get(String.class);"),
            ("static class N extends LinkedHashMap<String, String> { protected boolean removeEldestEntry(Map.Entry<String, String> it) { return false; } }", "new N().put(\"a\", \"b\");"),
            ("static class N extends AbstractList<String> { public String get(int i) { return \"x\"; } public int size() { return 2; } }", "new N().toString(); new N().hashCode(); Collections.max(new N());"),
            ("static class N extends InputStream { public int read() { return -1; } }", "new Scanner(new N()).hasNext(); new InputStreamReader(new N()).read();"),
            ("static class N extends OutputStream { public void write(int b) { } }", "new PrintStream(new N(), true).println(\"x\");"),
            ("static class N implements java.security.PrivilegedAction<String> { public String run() { return \"x\"; } }", "java.security.AccessController.doPrivileged(new N());"),
            ("static class N implements Comparator<String> { public int compare(String a, String b) { return 0; } }", "new ArrayList<>(List.of(\"a\", \"b\")).sort(new N().reversed()); Arrays.sort(new String[] { \"a\", \"b\" }, new N());"),
            ("static class N implements AutoCloseable { public void close() { } }", "try (N it = new N()) { it.hashCode(); }"),
            ("static class N implements Function<String, String> { public String apply(String it) { return it; } }", "new HashMap<String, String>().computeIfAbsent(\"a\", new N()); java.util.stream.Stream.of(\"a\").map(new N()).count(); Optional.of(\"a\").map(new N().andThen(x -> x));"),
            ("static class N extends Observable implements Observer { void fire() { addObserver(this); setChanged(); notifyObservers(); } public void update(Observable o, Object x) { } }", "new N().fire();"),
            ("static class N implements java.beans.PropertyChangeListener { public void propertyChange(java.beans.PropertyChangeEvent e) { } }", "java.beans.PropertyChangeSupport it = new java.beans.PropertyChangeSupport(\"x\"); it.addPropertyChangeListener(new N()); it.firePropertyChange(\"p\", 1, 2);"),
            ("static class N extends java.util.logging.Formatter { public String format(java.util.logging.LogRecord it) { return \"\"; } }", "java.util.logging.StreamHandler it = new java.util.logging.StreamHandler(new ByteArrayOutputStream(), new N()); it.publish(new java.util.logging.LogRecord(java.util.logging.Level.INFO, \"x\"));"),
        ]);
        self.add(&format!("    {}", text.replace(" N ", &format!(" {n} "))));
        self.item("callback", &body.replace("N()", &format!("{n}()")).replace("(N it", &format!("({n} it")));
    }

    /// Class objects that code computes from other class objects.
    fn derived_class(&mut self) {
        let c = self.actor("", "");
        let e = self.enumeration();
        let body = self.rng.one([
            "go(C[].class.getComponentType().getDeclaredConstructor().newInstance());",
            "go(new C[0].getClass().getComponentType().newInstance());",
            "go(new C[1][2].getClass().getComponentType().componentType().newInstance());",
            "go(componentOf(new C[0]).getDeclaredConstructor().newInstance());",
            "go(MethodType.methodType(void.class, C.class).parameterList().get(0).newInstance());",
            "for (Object it : EnumSet.range(E.A, E.B)) go(it);",
            "EnumMap<E, String> m = new EnumMap<>(Map.of(E.B, \"x\")); for (Object it : m.keySet()) go(it);",
            "go(E[].class.getComponentType().getEnumConstants()[1]);",
            "go(EnumSet.allOf((Class) E[].class.getComponentType()).iterator().next());",
            "go(EnumSet.allOf(E.A.getDeclaringClass()).iterator().next());",
            "for (Object it : EnumSet.complementOf(EnumSet.of(E.A))) go(it);",
            "go(holder(C.class).get(0).newInstance());",
            "go(MethodType.methodType(C.class).returnType().newInstance());",
        ]);
        if body.contains("holder") {
            self.helper("    static List<Class<?>> holder(Class<?>... all) { return Arrays.asList(all); }");
        }
        if body.contains("componentOf") {
            self.helper(
                "    static Class<?> componentOf(Object it) { return it.getClass().getComponentType(); }",
            );
        }
        let body = body
            .replace("E,", &format!("{e},"))
            .replace("E.B", &format!("{e}.B"))
            .replace("C[", &format!("{c}["))
            .replace("C.c", &format!("{c}.c"))
            .replace("E[", &format!("{e}["))
            .replace("E.A", &format!("{e}.A"));
        self.item("derived class", &body);
    }

    fn proxy(&mut self) {
        let (h, i) = (self.name("U"), self.name("I"));
        self.add(&format!(
            "    public interface {i} {{ Object run(); default Object other() {{ return run(); }} }}"
        ));
        let own = self.rng.one(["return null;", "return method.isDefault() ? InvocationHandler.invokeDefault(it, method, args) : null;", "return method.getName().equals(\"hashCode\") ? (Object) 1 : method.getName().equals(\"toString\") ? \"p\" : method.getName().equals(\"equals\") ? (Object) true : null;"]);
        self.add(&format!("    static class {h} implements InvocationHandler {{ public Object invoke(Object it, Method method, Object[] args) throws Throwable {{ {own} }} }}"));
        let handler = self.rng.one([
            "new H()",
            "(it, method, args) -> new H().invoke(it, method, args)",
            "H.class.getDeclaredConstructor().newInstance()",
        ]);
        let handler = handler.replace("H()", &format!("{h}()")).replace("H.c", &format!("{h}.c"));
        let then = self.rng.one([
            "x.run();",
            "x.other();",
            "String.valueOf(x);",
            "new HashSet<Object>(Arrays.asList(x)).contains(x);",
            "x.run(); x.other(); x.equals(x);",
        ]);
        self.item("proxy", &format!("{i} x = ({i}) Proxy.newProxyInstance(Main.class.getClassLoader(), new Class<?>[] {{ {i}.class }}, {handler}); {then}"));
    }
}
