//! The answers about an absent class: a JVM runs each kind of instruction and constant that resolves a class, against a
//! class that was deleted, and ajar must predict the NoClassDefFoundError, and list the class as missing.

mod predicted;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ide::{Throws, WorldKind};
use test_utils::asm::{Assembled, assemble};
use test_utils::generate::Structure;
use test_utils::jdk;
use test_utils::jvm::{self, Case, Outcome};

use predicted::{solved, throws};

/// What an absent class may do where an instruction resolves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    /// Code of the class may run, so the exceptions are open in the open world.
    Runs,
    /// The class is only resolved.
    Resolved,
}

use Effect::{Resolved, Runs};

/// Bodies of methods without parameters and results that resolve the absent class `X`, each with a name. `C` is the
/// class of the method.
const CELLS: &[(&str, Effect, &str)] = &[
    ("ldc class", Resolved, "ldc class X\n pop"),
    ("ldc array", Resolved, "ldc class [LX;\n pop"),
    ("ldc methodtype parameter", Resolved, "ldc methodtype (LX;)V\n pop"),
    ("ldc methodtype result", Resolved, "ldc methodtype ()[LX;\n pop"),
    ("instanceof", Resolved, "NEW\n instanceof X\n pop"),
    ("instanceof array", Resolved, "NEW\n instanceof [LX;\n pop"),
    ("checkcast", Resolved, "NEW\n checkcast X\n pop"),
    ("checkcast array", Resolved, "NEW\n checkcast [[LX;\n pop"),
    ("anewarray", Resolved, "iconst_1\n anewarray X\n pop"),
    ("multianewarray", Resolved, "iconst_1\n iconst_1\n multianewarray [[LX; 2\n pop"),
    (
        "invokevirtual of an array",
        Resolved,
        "aconst_null\n invokevirtual [LX;.clone()Ljava/lang/Object;\n pop",
    ),
    ("new", Runs, "new X\n dup\n invokespecial X.<init>()V\n pop"),
    ("new dropped", Runs, "new X\n pop"),
    ("new stored", Runs, "new X\n astore_0\n aload_0\n invokespecial X.<init>()V"),
    (
        "new with arguments",
        Runs,
        "new X\n dup\n iconst_1\n iconst_0\n idiv\n invokespecial X.<init>(I)V\n pop",
    ),
    ("getfield", Resolved, "aconst_null\n getfield X.f I\n pop"),
    ("putfield", Resolved, "aconst_null\n iconst_1\n putfield X.f I"),
    ("getstatic", Runs, "getstatic X.f I\n pop"),
    ("putstatic", Runs, "iconst_1\n putstatic X.f I"),
    ("invokevirtual", Runs, "aconst_null\n invokevirtual X.m()V"),
    ("invokeinterface", Runs, "aconst_null\n invokeinterface X.m()V"),
    ("invokestatic", Runs, "invokestatic X.m()V"),
    ("invokestatic interface", Runs, "invokestatic interface X.m()V"),
    ("ldc handle getfield", Resolved, "ldc handle getfield X.f I\n pop"),
    ("ldc handle putfield", Resolved, "ldc handle putfield X.f I\n pop"),
    ("ldc handle getstatic", Resolved, "ldc handle getstatic X.f I\n pop"),
    ("ldc handle putstatic", Resolved, "ldc handle putstatic X.f I\n pop"),
    ("ldc handle invokevirtual", Resolved, "ldc handle invokevirtual X.m()V\n pop"),
    ("ldc handle invokestatic", Resolved, "ldc handle invokestatic X.m()V\n pop"),
    ("ldc handle invokestatic interface", Resolved, "ldc handle invokestatic interface X.m()V\n pop"),
    ("ldc handle invokespecial", Resolved, "ldc handle invokespecial X.m()V\n pop"),
    ("ldc handle newinvokespecial", Resolved, "ldc handle newinvokespecial X.<init>()V\n pop"),
    ("ldc handle invokeinterface", Resolved, "ldc handle invokeinterface X.m()V\n pop"),
    ("ldc handle array", Resolved, "ldc handle invokevirtual [LX;.clone()Ljava/lang/Object;\n pop"),
    ("ldc handle field type", Resolved, "ldc handle getstatic p/Here.x LX;\n pop"),
    ("ldc handle parameter", Resolved, "ldc handle invokestatic p/Here.x(LX;)V\n pop"),
    ("ldc handle result", Resolved, "ldc handle invokestatic p/Here.x()[LX;\n pop"),
    (
        "invokespecial",
        Runs,
        "new C\n dup\n invokespecial C.<init>()V\n invokevirtual C.n()V\n return\n.end\n\
        .method public <init>()V\n aload_0\n invokespecial java/lang/Object.<init>()V\n return\n.end\n\
        .method public n()V\n aload_0\n invokespecial X.g()V",
    ),
    ("catch", Resolved, ".catch X from A to B using C\n A: THROW\n B: nop\n C: pop"),
    (
        "catch around nothing but a field",
        Resolved,
        ".catch X from A to B using C\n A: getstatic p/Here.f I\n pop\n \
        B: return\n C: pop",
    ),
    (
        "catch around nothing but a class",
        Resolved,
        ".catch X from A to B using C\n A: ldc class p/Here\n pop\n \
        B: return\n C: pop",
    ),
    ("catch around nothing", Resolved, ".catch X from A to B using C\n A: nop\n B: return\n C: pop"),
];

/// Call sites and dynamic constants that name the absent class `X`, each with the argument of its bootstrap method `b`.
const SITES: &[(&str, &str, &str)] = &[
    ("invokedynamic type", "int 1", "aconst_null\n invokedynamic b run(LX;)V"),
    ("invokedynamic class", "class X", "invokedynamic b run()V"),
    ("invokedynamic methodtype", "methodtype ()LX;", "invokedynamic b run()V"),
    ("invokedynamic handle", "handle invokestatic X.m()V", "invokedynamic b run()V"),
    ("invokedynamic handle type", "handle getstatic p/Here.x LX;", "invokedynamic b run()V"),
    ("ldc dynamic type", "int 1", "ldc dynamic b c LX;\n pop"),
    ("ldc dynamic class", "class X", "ldc dynamic b c Ljava/lang/Object;\n pop"),
    ("ldc dynamic handle", "handle putfield X.f I", "ldc dynamic b c Ljava/lang/Object;\n pop"),
];

/// Bodies of methods that name a present class whose supertype `X` is absent; `Y` is that class, and `Z` an interface.
const BELOW: &[(&str, Effect, &str)] = &[
    ("ldc class", Resolved, "ldc class Y\n pop"),
    ("ldc methodtype", Resolved, "ldc methodtype (LY;)V\n pop"),
    ("ldc handle", Resolved, "ldc handle invokestatic Y.m()V\n pop"),
    ("ldc handle field type", Resolved, "ldc handle getstatic p/Here.y LY;\n pop"),
    ("instanceof", Resolved, "NEW\n instanceof Y\n pop"),
    ("checkcast", Resolved, "NEW\n checkcast Y\n pop"),
    ("anewarray", Resolved, "iconst_1\n anewarray Y\n pop"),
    ("new dropped", Runs, "new Y\n pop"),
    ("invokevirtual", Resolved, "aconst_null\n invokevirtual Y.n()V"),
    ("invokeinterface", Resolved, "aconst_null\n invokeinterface Z.n()V"),
    (
        "invokevirtual of an array",
        Resolved,
        "aconst_null\n invokevirtual [LY;.clone()Ljava/lang/Object;\n pop",
    ),
    ("ldc interface", Resolved, "ldc class Z\n pop"),
    ("catch", Resolved, ".catch Y from A to B using C\n A: THROW\n B: nop\n C: pop"),
    ("getfield", Resolved, "aconst_null\n getfield Y.i I\n pop"),
    ("getstatic", Runs, "getstatic Y.s I\n pop"),
    ("invokestatic", Runs, "invokestatic Y.m()V"),
];

/// The instructions that have a constant as operand (JVMS §6.5), except those that load numbers and strings.
const INSTRUCTIONS: [&str; 15] = [
    "ldc",
    "getstatic",
    "putstatic",
    "getfield",
    "putfield",
    "invokevirtual",
    "invokespecial",
    "invokestatic",
    "invokeinterface",
    "invokedynamic",
    "new",
    "anewarray",
    "checkcast",
    "instanceof",
    "multianewarray",
];

const MAKE: &str = "make(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Object;\
    Ljava/lang/Object;)Ljava/lang/Object;";

/// The classes of the program, and its cells. Each cell has a class with a static method `m`, which a method of `p/Main` with
/// the name of that class calls: linking the class may need the absent class, too.
fn classes() -> (Vec<Assembled>, Vec<(&'static str, Effect)>) {
    let mut out = format!(
        ".class public super p/Here\n.version 55.0\n.field public static f I\n\
        .field public static x Lp/Gone;\n.field public static y Lp/Below;\n\
        .method public static x(Lp/Gone;)V\n return\n.end\n\
        .method public static x()[Lp/Gone;\n aconst_null\n areturn\n.end\n\
        .class public super p/Below\n.super p/Gone\n.version 55.0\n.field public i I\n.field public static s I\n\
        .method public static m()V\n return\n.end\n.method public n()V\n return\n.end\n\
        .class public interface abstract p/BelowItf\n.implements p/Gone\n.version 55.0\n\
        .method public abstract n()V\n.end\n\
        .class public super p/B\n.version 55.0\n\
        .method public static {MAKE}\n aconst_null\n areturn\n.end\n"
    );
    let sites = SITES.iter().map(|&(name, argument, body)| (name, Effect::Runs, argument, body));
    let plain = CELLS.iter().chain(BELOW).map(|&(name, effect, body)| (name, effect, "", body));
    let mut main = ".class public super p/Main\n.version 55.0\n".to_owned();
    let mut cells = Vec::new();
    for (name, effect, argument, body) in plain.chain(sites) {
        let class = format!("C{}", cells.len());
        let mut text = format!(".class public super p/{class}\n.version 55.0\n");
        if !argument.is_empty() {
            let _ = writeln!(text, ".bootstrap b invokestatic p/B.{MAKE} {argument}");
        }
        let _ = writeln!(text, ".method public static m()V\n {body}\n return\n.end");
        for (placeholder, by) in [
            ("NEW", "new java/lang/Object\n dup\n invokespecial java/lang/Object.<init>()V"),
            (
                "THROW",
                "new java/lang/RuntimeException\n dup\n invokespecial java/lang/RuntimeException.<init>()V\n athrow",
            ),
            (" X", " p/Gone"),
            ("LX;", "Lp/Gone;"),
            (" Y", " p/Below"),
            (" Z", " p/BelowItf"),
            ("LY;", "Lp/Below;"),
            (" C.", &format!(" p/{class}.")),
            ("new C\n", &format!("new p/{class}\n")),
        ] {
            text = text.replace(placeholder, by);
        }
        out += &text;
        let _ =
            writeln!(main, ".method public static {class}()V\n invokestatic p/{class}.m()V\n return\n.end");
        cells.push((name, effect));
    }
    (assemble(&(out + &main)).unwrap(), cells)
}

fn lets_out(throws: &Throws, class: &str) -> bool {
    throws.known.iter().any(|it| it.class.bytes() == class.as_bytes())
}

#[test]
fn each_instruction_that_resolves_an_absent_class_may_fail() {
    const ERROR: &str = "java/lang/NoClassDefFoundError";
    let used: BTreeSet<&str> = CELLS
        .iter()
        .map(|it| it.2)
        .chain(SITES.iter().map(|it| it.2))
        .flat_map(|it| it.lines().map(|line| line.trim().split(' ').next().unwrap_or_default()))
        .collect();
    assert!(INSTRUCTIONS.iter().all(|it| used.contains(it)), "{used:?}");
    let (classes, cells) = classes();
    let mut jdks = jdk::all();
    jdks.retain(|it| it.version >= 17);
    assert!(!jdks.is_empty() || jdk::at_least(17).is_none());
    let mut wrong = Vec::new();
    let case = |n: usize| Case {
        class: "p/Main".to_owned(),
        method: format!("C{n}"),
        descriptor: "()V".to_owned(),
        args: Vec::new(),
    };
    let cases: Vec<Case> = (0..cells.len()).map(case).collect();
    for jdk in &jdks {
        let answers = jvm::run(jdk, &classes, &cases).expect("the harness runs");
        for ((name, _), answer) in cells.iter().zip(answers) {
            if !matches!(&answer.outcome, Outcome::Throw(it) if it == ERROR) {
                wrong.push(format!("{name}: Java {}: {:?}", jdk.version, answer.outcome));
            }
        }
    }
    let platform = Structure::platform().unwrap();
    for (world, link_errors) in [
        (WorldKind::Open, false),
        (WorldKind::Open, true),
        (WorldKind::Declared, false),
        (WorldKind::Declared, true),
        (WorldKind::Closed, false),
        (WorldKind::Closed, true),
    ] {
        let whole = solved(&classes, &platform, world, link_errors, 17);
        let predicted = throws(&whole, &classes);
        let missing = whole.missing();
        let gone = missing.iter().find(|it| it.class.to_string() == "p/Gone").unwrap();
        for (n, (name, effect)) in cells.iter().enumerate() {
            let throws = &predicted[&format!("p/Main.C{n}()V")];
            if lets_out(throws, ERROR) != link_errors {
                wrong.push(format!("{name}: {world:?}, link errors {link_errors}: {throws:?}"));
            }
            if world == WorldKind::Open && *effect == Effect::Runs && throws.open.is_none() {
                wrong.push(format!("{name}: nothing is open: {throws:?}"));
            }
            let class = format!("p/C{n}");
            let is_below = n >= CELLS.len() && n < CELLS.len() + BELOW.len();
            if !is_below && gone.used_by.iter().all(|it| it.class.to_string() != class) {
                wrong.push(format!("{name}: not used by {class}"));
            }
        }
        assert!(gone.supertype_of.iter().any(|it| it.to_string() == "p/Below"));
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}
