//! The classes of the random programs that `update.rs` edits: throwable types, code that throws and catches them,
//! class loaders, ghosts, and stubs of absent classes.

pub(crate) mod kept;

use test_utils::rng::Rng;

/// The throwable class `p/E{i}`. Its variants differ in what other classes see: a method, whether subclasses are
/// allowed, and the superclass, which is unknown in one of them.
pub(crate) fn exception(i: usize, parent: usize, variant: usize) -> Vec<u8> {
    let name = |it: usize| match it {
        0 => "java/lang/Exception".to_owned(),
        1 => "java/lang/RuntimeException".to_owned(),
        it => format!("p/E{}", it - 2),
    };
    let parent = match variant {
        3 => name(1),
        4 => "ext/Lost".to_owned(),
        _ => name(parent),
    };
    let flags = if variant == 2 { "public super final" } else { "public super" };
    let mut text = format!(".class {flags} p/E{i}\n.super {parent}\n");
    if variant == 5 {
        // Sealed: whether unknown subclasses are possible depends on whether the permitted class is present.
        text += &format!(".version 61.0\n.permits p/E{}\n", i + 1);
    }
    text +=
        &format!(".method public <init>()V\n aload_0\n invokespecial {parent}.<init>()V\n return\n.end\n");
    if variant == 1 {
        text += ".method public getMessage()Ljava/lang/String;\n aconst_null\n areturn\n.end\n";
    }
    test_utils::asm::assemble(&text).unwrap().remove(0).bytes
}

/// The options for the code of random programs.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    /// The number of exception classes that the code may name.
    pub(crate) n_named: usize,
    /// An additional class that the code throws and catches.
    pub(crate) lost: &'a str,
    /// A method that the code calls.
    pub(crate) callee: &'a str,
    /// Whether some methods are ghosts.
    pub(crate) has_ghosts: bool,
    /// Whether the program may have class loaders.
    pub(crate) has_loaders: bool,
    /// Whether the code calls methods that unknown classes may override, and methods with unseen code.
    pub(crate) has_unseen: bool,
}

/// The class `p/C{i}`, whose methods throw, catch, and call unseen code.
pub(crate) fn thrower(i: usize, rng: &mut Rng, words: &Words<'_>) -> Vec<u8> {
    let mut text = format!(
        ".class public super p/C{i}\n.version 52.0\n\
         .bootstrap b0 invokestatic ext/Boot.b(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;\
         Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;\n"
    );
    if words.has_ghosts && rng.chance(15) {
        text += &promise(rng, words);
    }
    if words.has_unseen {
        text += &unseen(rng, words);
    }
    // Let an initialiser fail.
    let first = if rng.chance(40) { 0 } else { 1 };
    for m in first..4 {
        let mut any = || match rng.below(8) {
            0 => "java/lang/Exception".to_owned(),
            1 => "java/lang/RuntimeException".to_owned(),
            2 => "java/lang/Error".to_owned(),
            3 => words.lost.to_owned(),
            // Some of the classes are never named.
            _ => format!("p/E{}", rng.below(words.n_named as u32)),
        };
        let (thrown, caught, also) = (any(), any(), any());
        // If a row surely catches a class, nothing is left for a later row of the same class.
        let behind = if rng.chance(40) { caught.clone() } else { also.clone() };
        let callee = match rng.below(6) {
            0 | 1 => format!("invokestatic {}()V", words.callee),
            2 => "invokedynamic b0 run()V".to_owned(),
            3 if words.has_unseen => {
                let method = ["n", "x"][rng.below(2) as usize];
                format!("invokestatic p/C{}.{method}()V", rng.below(4))
            }
            4 if words.has_unseen => {
                let class = rng.below(4);
                format!("getstatic p/C{i}.f{class} Lp/C{class};\n invokevirtual p/C{class}.v()V")
            }
            _ => format!("invokestatic p/C{}.m{}()V", rng.below(4), 1 + rng.below(3)),
        };
        let throws = if rng.chance(30) { format!(" .throws {also}\n") } else { String::new() };
        let [again, too] = [(); 2].map(|()| if rng.chance(50) { "athrow" } else { "pop\n return" });
        let body = if rng.chance(40) {
            format!(" new {thrown}\n dup\n invokespecial {thrown}.<init>()V\n athrow\n")
        } else {
            format!(
                " A: {callee}\n B: return\n H: {again}\n I: {too}\n .catch {caught} from A to B using H\n \
                 .catch {behind} from A to B using I\n"
            )
        };
        let name = if m == 0 { "<clinit>".to_owned() } else { format!("m{m}") };
        let ghost = if words.has_ghosts && rng.chance(35) { promise(rng, words) } else { String::new() };
        text += &format!(".method public static {name}()V\n{throws}{ghost}{body}.end\n");
    }
    assembled_with_promises(&text)
}

/// Fields for receivers, and methods that have unseen code or that calls need not reach.
fn unseen(rng: &mut Rng, words: &Words<'_>) -> String {
    let fields = (0..4).map(|it| format!(".field public static f{it} Lp/C{it};\n"));
    let mut throws = || match rng.below(4) {
        0 => String::new(),
        1 => format!(" .throws {}\n", words.lost),
        _ => format!(" .throws p/E{}\n", rng.below(words.n_named as u32)),
    };
    let methods = [
        ("public <init>", " return\n", String::new()),
        ("public v", " return\n", throws()),
        ("public static native n", "", throws()),
        ("public static x", " .bytes 0xff\n", throws()),
    ];
    let methods =
        methods.iter().map(|(name, body, throws)| format!(".method {name}()V\n{throws}{body}.end\n"));
    fields.chain(methods).collect()
}

/// The class `p/L{i}`, a class loader that may be abstract, or inherit how classes are loaded.
pub(crate) fn loader(i: usize, rng: &mut Rng, words: &Words<'_>) -> Vec<u8> {
    let parent = if i > 0 && rng.chance(40) { "p/L0" } else { "java/lang/ClassLoader" };
    let flags = if rng.chance(20) { "public super abstract" } else { "public super" };
    let mut text = format!(
        ".class {flags} p/L{i}\n.super {parent}\n\
         .method public <init>()V\n aload_0\n invokespecial {parent}.<init>()V\n return\n.end\n"
    );
    if rng.chance(70) {
        let throws = if rng.chance(50) { ".throws java/lang/ClassNotFoundException\n" } else { "" };
        let class = match rng.below(5) {
            0 => "java/lang/ClassNotFoundException".to_owned(),
            1 => words.lost.to_owned(),
            _ => format!("p/E{}", rng.below(words.n_named as u32)),
        };
        let body = match rng.below(3) {
            0 => format!("invokestatic p/C{}.m1()V\n aconst_null\n areturn\n", rng.below(4)),
            1 => "aconst_null\n areturn\n".to_owned(),
            _ => format!("new {class}\n dup\n invokespecial {class}.<init>()V\n athrow\n"),
        };
        text +=
            &format!(".method public loadClass(Ljava/lang/String;)Ljava/lang/Class;\n{throws} {body}.end\n");
    }
    test_utils::asm::assemble(&text).unwrap().remove(0).bytes
}

/// The annotation line that makes a ghost, with the exceptions that it promises never to throw in source notation.
fn promise(rng: &mut Rng, words: &Words<'_>) -> String {
    let name = |rng: &mut Rng| match rng.below(12) {
        0 => "any".to_owned(),
        1 => "Exception".to_owned(),
        2 => "java.lang.RuntimeException".to_owned(),
        3 => "E1".to_owned(),
        4 => words.lost.replace('/', "."),
        5 => format!("p/E{}", rng.below(EXCEPTIONS as u32)),
        _ => format!("p.E{}", rng.below(EXCEPTIONS as u32)),
    };
    let names: Vec<String> = (0..rng.below(3)).map(|_| name(rng)).collect();
    format!(".promise {}\n", names.join(" "))
}

/// Assembles a class in which lines `.promise p.E any` stand for annotations `GhostComponent` with these handlers.
fn assembled_with_promises(text: &str) -> Vec<u8> {
    // The assembler has no annotations. The strings that they need get into the constant pool as names of attributes.
    let names: Vec<&str> = text
        .lines()
        .filter_map(|it| it.strip_prefix(".promise"))
        .flat_map(str::split_whitespace)
        .chain(["LGhostComponent;", "handlers"])
        .collect();
    let (class, rest) = text.split_once('\n').unwrap();
    let in_pool: String = names.iter().map(|it| format!(".attribute {it} 0x\n")).collect();
    let with = |index: &dyn Fn(&str) -> usize| {
        let lines = rest.lines().map(|line| match line.strip_prefix(".promise") {
            None => format!("{line}\n"),
            Some(handlers) => {
                let handlers: Vec<&str> = handlers.split_whitespace().collect();
                let mut hex = format!("0001{:04x}0001{:04x}5b", index("LGhostComponent;"), index("handlers"));
                hex += &format!("{:04x}", handlers.len());
                handlers.iter().for_each(|it| hex += &format!("73{:04x}", index(it)));
                format!(".attribute RuntimeInvisibleAnnotations 0x{hex}\n")
            }
        });
        let text = format!("{class}\n{in_pool}{}", lines.collect::<String>());
        test_utils::asm::assemble(&text).unwrap().remove(0).bytes
    };
    let bytes = with(&|_| 0);
    with(&|name| pool_index(&bytes, name))
}

/// The index of a string in the constant pool of a class file.
fn pool_index(bytes: &[u8], text: &str) -> usize {
    let two = |at: usize| usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1]);
    let (mut at, mut index) = (10, 1);
    while index < two(8) {
        let len = match bytes[at] {
            1 if bytes[at + 3..].starts_with(text.as_bytes()) && two(at + 1) == text.len() => return index,
            1 => 3 + two(at + 1),
            3 | 4 | 9..=12 | 17 | 18 => 5,
            5 | 6 => 9,
            15 => 4,
            _ => 3,
        };
        index += if matches!(bytes[at], 5 | 6) { 2 } else { 1 };
        at += len;
    }
    panic!("{text} is not in the constant pool");
}

/// A stub for an absent class that has only a constructor.
pub(crate) fn stub(class: &str) -> Vec<u8> {
    let parent = match class {
        "java/lang/Object" => "none",
        "java/lang/RuntimeException" => "java/lang/Exception",
        "java/lang/Exception" | "java/lang/Error" => "java/lang/Throwable",
        _ if class.ends_with("Exception") => "java/lang/RuntimeException",
        _ if class.ends_with("Error") => "java/lang/Error",
        _ => "java/lang/Object",
    };
    let text =
        format!(".class public super {class}\n.super {parent}\n.method public <init>()V\n return\n.end\n");
    test_utils::asm::assemble(&text).unwrap().remove(0).bytes
}

/// The class `p/M`, which creates proxies, objects around method handles, both, or neither.
pub(crate) fn maker(proxies: bool, around_handles: bool) -> Vec<u8> {
    let proxy = "aconst_null\n aconst_null\n aconst_null\n \
        invokestatic java/lang/reflect/Proxy.newProxyInstance(Ljava/lang/ClassLoader;[Ljava/lang/Class;\
        Ljava/lang/reflect/InvocationHandler;)Ljava/lang/Object;\n pop\n";
    let around = "aconst_null\n aconst_null\n \
        invokestatic java/lang/invoke/MethodHandleProxies.asInterfaceInstance(Ljava/lang/Class;\
        Ljava/lang/invoke/MethodHandle;)Ljava/lang/Object;\n pop\n";
    let text = format!(
        ".class public super p/M\n.method public static m()V\n {} {} return\n.end\n",
        if proxies { proxy } else { "" },
        if around_handles { around } else { "" }
    );
    test_utils::asm::assemble(&text).unwrap().remove(0).bytes
}

/// The name of a type that is always absent.
pub(crate) const LOST: &str = "ext/Lost";

/// The options of one program. In half of the programs, all types are known as long as all are present.
pub(crate) fn words(seed: u64) -> Words<'static> {
    let lost = if seed.is_multiple_of(2) { LOST } else { "java/lang/Error" };
    Words {
        n_named: 5,
        lost,
        callee: "ext/Absent.f",
        has_ghosts: false,
        has_loaders: false,
        has_unseen: false,
    }
}

/// The number of throwable types.
pub(crate) const EXCEPTIONS: usize = 8;
