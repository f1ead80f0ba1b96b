//! Programs that write objects to streams and read them: random hierarchies of classes with the methods that object
//! streams call by name, and variants of these methods that they do not call.
//!
//! Most classes exist twice: a copy whose name ends in `w` is written, and the bytes are edited so that the copy whose
//! name ends in `r` is read. No code of the program names the second copy.

use test_utils::rng::Rng;

use crate::world::Program;

/// A random class of a hierarchy.
struct Shape {
    name: String,
    serial: Serial,
    is_abstract: bool,
    text: String,
    /// The access of the constructor without parameters.
    bare: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Serial {
    No,
    Yes,
    External,
}

const ACCESS: [&str; 4] = ["private ", "", "protected ", "public "];

/// The generator of one program.
struct Maker<'a> {
    rng: &'a mut Rng,
    program: Program,
    /// Whether the program may make proxies, after which any interface call may run a handler.
    proxies: bool,
    n: usize,
}

/// Makes a program.
pub(crate) fn program(package: String, rng: &mut Rng, proxies: bool) -> Program {
    let program = Program { package, ..Program::default() };
    let mut it = Maker { rng, program, proxies, n: 0 };
    it.helpers();
    for _ in 0..it.rng.range(1, 3) {
        it.hierarchy();
    }
    for _ in 0..it.rng.range(3, 6) {
        match it.rng.below(if it.proxies { 12 } else { 11 }) {
            0 | 1 => it.record(),
            2 => it.enumeration(),
            3 | 4 => it.function(),
            5 | 6 => it.keys(),
            7 => it.own_streams(),
            8 => it.exception(),
            9 => it.class_object(),
            10 => it.inner(),
            _ => it.proxy(),
        }
    }
    it.program
}

impl Maker<'_> {
    fn add(&mut self, text: &str) {
        self.program.body.push_str(text);
        self.program.body.push('\n');
    }

    /// Adds both copies of the classes in a text, in which `@` stands for the last letter of the names.
    fn both(&mut self, text: &str) {
        self.add(&text.replace('@', "w"));
        self.add(&text.replace('@', "r"));
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

    fn never(&mut self, class: &str, method: &str) {
        for copy in ["w", "r"] {
            let class = class.replace('@', copy);
            self.program.never.push(format!("{}/Main${class}.{method}", self.program.package));
        }
    }

    fn number(&mut self) -> usize {
        self.n += 1;
        self.n
    }

    fn helpers(&mut self) {
        self.add(
            "    static byte[] written(Object it) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) { out.writeObject(it); }
        return bytes.toByteArray();
    }
    static Object read(byte[] bytes) throws Exception {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) { return in.readObject(); }
    }
    static byte[] edited(byte[] bytes) {
        for (int i = 1; i + 1 < bytes.length; i++) {
            if (bytes[i] >= '0' && bytes[i] <= '9' && bytes[i + 1] == 'w') {
                int from = i;
                while (from > 0 && bytes[from] >= '0' && bytes[from] <= '9') from--;
                if (from > 0 && bytes[from - 1] == '$') bytes[i + 1] = 'r';
            }
        }
        return bytes;
    }",
        );
    }

    /// A class initialiser, or none.
    fn initializer(&mut self) -> &'static str {
        self.rng.one(["", " static int seen; static { seen = 1; }"])
    }

    /// The method by this name that object streams call, or a variant that they do not call. `is_leaf` allows variants
    /// that no subclass can override.
    fn hook(&mut self, class: &str, name: &str, is_leaf: bool, floor: &mut [usize; 2]) -> String {
        let replaces = matches!(name, "readResolve" | "writeReplace");
        let rare = self.rng.chance(35);
        let (parameters, descriptor, body) = match name {
            "readObject" => (
                "ObjectInputStream in",
                "(Ljava/io/ObjectInputStream;)",
                self.rng.one([
                    "in.defaultReadObject();",
                    "in.defaultReadObject(); hook();",
                    "in.readFields();",
                ]),
            ),
            "writeObject" => (
                "ObjectOutputStream out",
                "(Ljava/io/ObjectOutputStream;)",
                self.rng.one(["out.defaultWriteObject();", "out.defaultWriteObject(); hook();"]),
            ),
            "readObjectNoData" => ("", "()", self.rng.one(["", "hook();"])),
            _ => ("", "()", "return this;"),
        };
        if replaces {
            let slot = usize::from(name == "writeReplace");
            let least = floor[slot];
            if rare && is_leaf {
                return match self.rng.below(3) {
                    0 if least == 0 => {
                        self.never(class, &format!("{name}()Ljava/lang/Object;"));
                        format!("private static Object {name}() {{ return null; }}")
                    }
                    // A covariant result: the JVM calls the bridge, if there is one.
                    1 => format!("{}{class} {name}() {{ return this; }}", ACCESS[least.max(1)]),
                    _ => {
                        self.never(class, &format!("{name}(I)Ljava/lang/Object;"));
                        format!("private Object {name}(int x) {{ return this; }}")
                    }
                };
            }
            let access = (least + self.rng.below(4) as usize).min(3);
            floor[slot] = floor[slot].max(access);
            let body =
                if name == "readResolve" && self.rng.chance(30) { "return new Other();" } else { body };
            return format!("{}Object {name}() throws ObjectStreamException {{ {body} }}", ACCESS[access]);
        }
        if rare {
            let (text, descriptor) = match self.rng.below(4) {
                0 => (format!("private static void {name}({parameters}) {{ }}"), format!("{descriptor}V")),
                1 if is_leaf => {
                    let access = self.rng.one(["", "protected ", "public "]);
                    (format!("{access}void {name}({parameters}) {{ }}"), format!("{descriptor}V"))
                }
                2 => (
                    format!("private Object {name}({parameters}) {{ return null; }}"),
                    format!("{descriptor}Ljava/lang/Object;"),
                ),
                _ => (format!("private void {name}(int x) {{ }}"), "(I)V".to_owned()),
            };
            self.never(class, &format!("{name}{descriptor}"));
            return text;
        }
        format!("private void {name}({parameters}) throws IOException, ClassNotFoundException {{ {body} }}")
    }

    /// A chain of classes, and items that write and read objects of those that are not abstract.
    fn hierarchy(&mut self) {
        let depth = self.rng.range(1, 4) as usize;
        let first = self.rng.below(depth as u32) as usize;
        let external = self.rng.chance(25);
        let (mut shapes, mut floor) = (Vec::<Shape>::new(), [0, 0]);
        for at in 0..depth {
            let name = format!("X{}@", self.number());
            let starts = at == first || (at > first && self.rng.chance(15));
            let above = shapes.last().map_or(Serial::No, |it| it.serial);
            let serial = match (starts, external) {
                (true, true) => Serial::External,
                (true, false) if above == Serial::No => Serial::Yes,
                _ => above,
            };
            let shape = self.shape(name, (at, depth), serial, (starts, &shapes), &mut floor);
            shapes.push(shape);
        }
        if !self.program.body.contains("class P9w") {
            self.both("    static class W9@ { W9@() { } } static class P9@ extends W9@ implements Serializable { private static final long serialVersionUID = 5L; P9@() { } private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException { in.defaultReadObject(); } }");
        }
        if !self.program.body.contains("class Other ") {
            self.add("    static class Other implements Act, Serializable { public void act() { } }");
        }
        shapes.iter().for_each(|it| self.both(&it.text));
        let made = shapes
            .iter()
            .filter(|it| !it.is_abstract && (it.serial != Serial::No || it.bare == "none"))
            .map(|it| it.name.clone())
            .collect::<Vec<_>>();
        for it in &made {
            let one = it.replace('@', "w");
            let what = match self.rng.below(4) {
                0 => format!("new {one}[] {{ new {one}(1) }}"),
                1 => format!("new ArrayList<Object>(Arrays.asList(new {one}(1), 7))"),
                _ => format!("new {one}(1)"),
            };
            let how = self.rng.one(["read(edited(written(IT)))", "read(written(IT))"]);
            let read = how.replace("IT", &what);
            self.item("hierarchy", &format!("Object o = {read}; go(o); if (o instanceof Object[]) go(((Object[]) o)[0]); if (o instanceof List) go(((List<?>) o).get(0));"));
        }
        // An object of a class that lacks, in the stream, the superclasses that it has when it is read.
        let mut above = shapes.iter().filter(|it| it.serial == Serial::Yes).map(|it| it.name.clone());
        if let Some(above) = above.next_back() {
            let name = format!("N{}", self.number());
            let above = above.replace('@', "r");
            self.add(&format!("    static class {name}w implements Serializable {{ private static final long serialVersionUID = 5L; }}"));
            let initializer = self.initializer();
            self.add(&format!("    static class {name}r extends {above} {{ private static final long serialVersionUID = 5L; {name}r() {{ super(1); }} public void act() {{ super.act(); }}{initializer} }}"));
            self.item("no data", &format!("go(read(edited(written(new {name}w()))));"));
        }
    }

    fn shape(
        &mut self,
        name: String,
        (at, depth): (usize, usize),
        serial: Serial,
        (starts, above): (bool, &[Shape]),
        floor: &mut [usize; 2],
    ) -> Shape {
        let parent = above.len().checked_sub(1);
        let is_leaf = at + 1 == depth;
        let is_abstract = !is_leaf && self.rng.chance(40);
        let bare = self.rng.one([
            "",
            "",
            "protected ",
            "protected ",
            "public ",
            "public ",
            "public ",
            "private ",
            "none",
        ]);
        let bare =
            if serial == Serial::External { self.rng.one(["public ", "public ", "", "none"]) } else { bare };
        let mut members = Vec::new();
        if serial != Serial::No {
            let value = self.rng.one(["7L", "Long.parseLong(\"7\")"]);
            members.push(format!("private static final long serialVersionUID = {value};"));
        }
        members.push(self.initializer().to_owned());
        let (up, hook) = match parent {
            Some(_) => ("super(1); ", "hook();"),
            None => ("", "hook();"),
        };
        if bare != "none" {
            let hook = self.rng.one(["", hook]);
            members.push(format!("{bare}{name}() {{ {up}{hook} }}"));
        }
        members.push(format!("{name}(int x) {{ {up}}}"));
        members.push("int field = 1;".to_owned());
        if self.rng.chance(30) && self.program.body.contains("class P9w") {
            members.push("Object part = new P9@();".to_owned());
        }
        if at == 0 {
            members.push("void hook() { } public void act() { hook(); }".to_owned());
        } else if self.rng.chance(50) {
            members.push("void hook() { }".to_owned());
        }
        for it in ["readObject", "writeObject", "readObjectNoData", "readResolve", "writeReplace"] {
            if self.rng.chance(if it.ends_with("Replace") { 20 } else { 45 }) {
                let text = self.hook(&name, it, is_leaf, floor);
                members.push(text);
            }
        }
        let mut interfaces = vec!["Act"];
        if starts {
            interfaces.push(if serial == Serial::External { "Externalizable" } else { "Serializable" });
        }
        if serial == Serial::External && (starts || self.rng.chance(40)) {
            members.push("public void readExternal(ObjectInput in) throws IOException, ClassNotFoundException { field = in.readInt(); }".to_owned());
            members.push(
                "public void writeExternal(ObjectOutput out) throws IOException { out.writeInt(field); }"
                    .to_owned(),
            );
        }
        if serial == Serial::Yes
            && self.rng.chance(20)
            && !members.iter().any(|it| it.contains(" readObject("))
        {
            interfaces.push("ObjectInputValidation");
            members.push("public void validateObject() { hook(); } private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException { in.registerValidation(this, 0); in.defaultReadObject(); }".to_owned());
        }
        let word = if is_abstract { "abstract " } else { "" };
        let extends = parent.map_or(String::new(), |it| format!("extends {} ", above[it].name));
        let access = if serial == Serial::External { "public " } else { self.rng.one(["", "public "]) };
        let text = format!(
            "    {access}static {word}class {name} {extends}implements {} {{ {} }}",
            interfaces.join(", "),
            members.join(" ")
        );
        Shape { name, serial, is_abstract, text, bare }
    }

    fn record(&mut self) {
        let name = format!("R{}@", self.number());
        let mut members = Vec::new();
        match self.rng.below(3) {
            0 => members.push(format!("public {name} {{ seen++; }}")),
            1 => members.push(format!("public {name}(int a, Object b) {{ this.a = a; this.b = b; }}")),
            _ => {}
        }
        members.push(format!("{name}(int a) {{ this(a, null); }}"));
        members.push("static int seen; static { seen = 1; }".to_owned());
        if self.rng.chance(40) {
            let access = self.rng.one(ACCESS);
            members.push(format!("{access}Object readResolve() {{ return this; }}"));
        }
        if self.rng.chance(30) {
            let access = self.rng.one(ACCESS);
            members.push(format!("{access}Object writeReplace() {{ return this; }}"));
        }
        if self.rng.chance(50) {
            self.never(&name, "readObject(Ljava/io/ObjectInputStream;)V");
            members.push("private void readObject(ObjectInputStream in) { }".to_owned());
            self.never(&name, "writeObject(Ljava/io/ObjectOutputStream;)V");
            members.push("private void writeObject(ObjectOutputStream out) { }".to_owned());
        }
        self.both(&format!(
            "    record {name}(int a, Object b) implements Act, Serializable {{ public void act() {{ }} {} }}",
            members.join(" ")
        ));
        let one = name.replace('@', "w");
        let use_ = self.rng.one(["go(o);", "go(o); o.hashCode();", "go(o); o.equals(o); o.toString();"]);
        let what = format!("new {one}(1, new {one}(2))");
        self.item("record", &format!("Object o = read(edited(written({what}))); {use_}"));
    }

    fn enumeration(&mut self) {
        let name = format!("E{}@", self.number());
        let body = self.rng.one(["", " { public void act() { } }"]);
        self.never(&name, "readResolve()Ljava/lang/Object;");
        self.both(&format!(
            "    enum {name} implements Act {{ A, B{body}; {name}() {{ }} public void act() {{ }} private Object readResolve() {{ return this; }} }}"
        ));
        let one = name.replace('@', "w");
        let what = self.rng.one([
            "IT.B",
            "new Object[] { IT.A, IT.B }",
            "EnumSet.of(IT.A)",
            "new EnumMap<IT, String>(Map.of(IT.B, \"x\"))",
        ]);
        let what = what.replace("IT", &one);
        self.item("enum", &format!("Object o = read(edited(written({what}))); go(o); if (o instanceof Object[]) go(((Object[]) o)[1]); if (o instanceof EnumSet) for (Object it : (EnumSet<?>) o) go(it); if (o instanceof Map) for (Object it : ((Map<?, ?>) o).keySet()) go(it);"));
    }

    /// Function objects that can be serialized. The stream names the class whose code makes them.
    fn function(&mut self) {
        let name = format!("L{}", self.number());
        let one = self.rng.one([
            "(Act & Serializable) () -> hit()",
            "(Act & Serializable) NAME::hit",
            "(Act & Serializable) new NAME()::own",
            "(Act & Serializable) () -> of.own()",
            "(Act & Serializable) NAME::new",
        ]);
        let one = one.replace("NAME", &name);
        let initializer = self.initializer();
        self.add(&format!("    static class {name} implements Serializable {{ {name}() {{ }} static void hit() {{ }} void own() {{ }} static Object make({name} of) {{ return {one}; }}{initializer} }}"));
        self.item("function", &format!("go(read(written({name}.make(new {name}()))));"));
    }

    /// Keys and comparators, which collections call when they are read.
    fn keys(&mut self) {
        let name = format!("V{}@", self.number());
        let comparator = format!("C{}@", self.number());
        self.both(&format!("    static class {name} implements Act, Serializable, Comparable<{name}> {{ private static final long serialVersionUID = 3L; final int x; {name}(int x) {{ this.x = x; }} public int hashCode() {{ return x; }} public boolean equals(Object o) {{ return o instanceof {name} && ((({name}) o).x == x); }} public int compareTo({name} o) {{ return x - o.x; }} public void act() {{ }} public String toString() {{ return \"v\"; }} }}"));
        self.both(&format!("    static class {comparator} implements Serializable, Comparator<{name}> {{ private static final long serialVersionUID = 3L; public int compare({name} a, {name} b) {{ return a.x - b.x; }} }}"));
        let made = self.rng.one([
            "new HashSet<>(List.of(A, B))",
            "new LinkedHashSet<>(List.of(A, B))",
            "new TreeSet<>(List.of(A, B))",
            "sorted(new TreeSet<V>(new C()), A, B)",
            "sorted(new PriorityQueue<V>(new C()), A, B)",
            "new PriorityQueue<>(List.of(A, B))",
            "new ArrayDeque<>(List.of(A, B))",
            "List.of(A, B)",
            "Set.of(A, B)",
            "Collections.unmodifiableSet(new HashSet<>(List.of(A, B)))",
            "Collections.synchronizedList(new ArrayList<>(List.of(A, B)))",
            "new CopyOnWriteArrayList<>(List.of(A, B))",
            "new ConcurrentSkipListSet<>(List.of(A, B))",
            "new HashMap<>(Map.of(A, 1, B, 2))",
            "new Hashtable<>(Map.of(A, 1, B, 2))",
            "new ConcurrentHashMap<>(Map.of(A, 1, B, 2))",
            "new TreeMap<>(Map.of(A, 1, B, 2))",
            "new IdentityHashMap<>(Map.of(A, 1, B, 2))",
            "Map.of(A, 1, B, 2)",
        ]);
        let (v, c) = (name.replace('@', "w"), comparator.replace('@', "w"));
        let made = made.replace("<V>", &format!("<{v}>")).replace("new C()", &format!("new {c}()"));
        let made = made.replace("(A", &format!("(new {v}(1)")).replace(" A,", &format!(" new {v}(1),"));
        let made = made.replace(" B", &format!(" new {v}(2)"));
        self.helper("    @SafeVarargs static <T> Object sorted(Collection<T> to, T... from) { to.addAll(Arrays.asList(from)); return to; }");
        self.item("keys", &format!("Object o = read(edited(written({made}))); if (o instanceof Map) o = ((Map<?, ?>) o).keySet(); if (o instanceof Iterable) for (Object it : (Iterable<?>) o) go(it); String.valueOf(o);"));
    }

    /// Streams of the program's own classes.
    fn own_streams(&mut self) {
        let (n, v) = (self.number(), self.number());
        let input = [
            "protected Class<?> resolveClass(ObjectStreamClass c) throws IOException, ClassNotFoundException { return super.resolveClass(c); }",
            "protected Object resolveObject(Object o) { return o; }",
            "protected ObjectStreamClass readClassDescriptor() throws IOException, ClassNotFoundException { return super.readClassDescriptor(); }",
            "protected void readStreamHeader() throws IOException { super.readStreamHeader(); }",
        ];
        let output = [
            "protected void annotateClass(Class<?> c) { }",
            "protected Object replaceObject(Object o) { return o; }",
            "protected void writeClassDescriptor(ObjectStreamClass c) throws IOException { super.writeClassDescriptor(c); }",
            "protected void writeStreamHeader() throws IOException { super.writeStreamHeader(); }",
        ];
        let input: Vec<&str> = input.into_iter().filter(|_| self.rng.chance(60)).collect();
        let output: Vec<&str> = output.into_iter().filter(|_| self.rng.chance(60)).collect();
        self.add(&format!("    static class I{n} extends ObjectInputStream {{ I{n}(InputStream in) throws IOException {{ super(in); enableResolveObject(true); }} {} }}", input.join(" ")));
        self.add(&format!("    static class O{n} extends ObjectOutputStream {{ O{n}(OutputStream out) throws IOException {{ super(out); enableReplaceObject(true); }} {} }}", output.join(" ")));
        self.both(&format!("    static class Y{v}@ implements Act, Serializable {{ private static final long serialVersionUID = 3L; Y{v}@() {{ }} public void act() {{ }} private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {{ in.defaultReadObject(); }} }}"));
        let filter =
            self.rng.one(["", " in.setObjectInputFilter(it -> ObjectInputFilter.Status.UNDECIDED);"]);
        let read = self.rng.one(["in.readObject()", "in.readUnshared()"]);
        let write = self.rng.one(["out.writeObject", "out.writeUnshared"]);
        self.item("own streams", &format!("ByteArrayOutputStream bytes = new ByteArrayOutputStream(); try (ObjectOutputStream out = new O{n}(bytes)) {{ {write}(new Y{v}w()); }} try (ObjectInputStream in = new I{n}(new ByteArrayInputStream(edited(bytes.toByteArray())))) {{{filter} go({read}); }}"));
    }

    fn exception(&mut self) {
        let name = format!("T{}@", self.number());
        let resolve = self.rng.one(["", "Object readResolve() { return this; }"]);
        self.both(&format!("    static class {name} extends Exception implements Act {{ private static final long serialVersionUID = 3L; {name}(Throwable it) {{ super(it); }} public String getMessage() {{ return \"m\"; }} public void act() {{ }} private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {{ in.defaultReadObject(); }} {resolve} }}"));
        let one = name.replace('@', "w");
        self.item("exception", &format!("Object o = read(edited(written(new {one}(new {one}(null))))); go(o); go(((Throwable) o).getCause()); try {{ throw (Exception) o; }} catch (Exception e) {{ e.toString(); }}"));
    }

    /// A class object in the stream: its descriptor reads static fields, which initialises the class.
    fn class_object(&mut self) {
        let name = format!("K{}@", self.number());
        let word = self.rng.one(["abstract static class", "static class"]);
        let value = self.rng.one(["9L", "Long.parseLong(\"9\")"]);
        self.both(&format!("    {word} {name} implements Serializable {{ private static final long serialVersionUID = {value}; static int seen; static {{ seen = 1; }} }}"));
        let one = name.replace('@', "w");
        self.item("class object", &format!("Object o = read(edited(written({one}.class))); go(o);"));
    }

    fn inner(&mut self) {
        let (name, of) = (format!("A{}@", self.number()), format!("Q{}@", self.number()));
        self.both(&format!("    static class {name} implements Act, Serializable {{ private static final long serialVersionUID = 3L; public void act() {{ }} Object inner() {{ return new {of}(); }} class {of} implements Act, Serializable {{ private static final long serialVersionUID = 3L; public void act() {{ {name}.this.act(); }} private Object readResolve() {{ return this; }} }} }}"));
        let one = name.replace('@', "w");
        self.item("inner", &format!("go(read(edited(written(new {one}().inner()))));"));
    }

    fn proxy(&mut self) {
        let name = format!("H{}@", self.number());
        self.both(&format!("    static class {name} implements InvocationHandler, Serializable {{ private static final long serialVersionUID = 3L; public Object invoke(Object it, Method method, Object[] args) {{ return null; }} private Object readResolve() {{ return this; }} }}"));
        let one = name.replace('@', "w");
        self.item("proxy", &format!("go(read(edited(written(Proxy.newProxyInstance(Main.class.getClassLoader(), new Class<?>[] {{ Act.class }}, new {one}())))));"));
    }
}
