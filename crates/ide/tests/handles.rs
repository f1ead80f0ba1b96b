//! The link errors of method-handle and method-type constants: JVMs resolve constants of each kind (JVMS §5.4.3.5),
//! once with `ldc` and once as the argument of a bootstrap method, against each kind of class and member, and ajar must
//! predict exactly the errors that the JVMs throw.

mod predicted;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ide::WorldKind;
use test_utils::asm::{Assembled, assemble};
use test_utils::generate::Structure;
use test_utils::jdk;
use test_utils::jvm::{self, Case, Outcome};

use predicted::{solved, throws};

/// The class-file versions of the programs. Handles to methods of interfaces need version 52; since version 53, code
/// stores to final fields only in initialisers.
const VERSIONS: [u16; 2] = [52, 61];

/// The flags of the members besides `static`, each a part of the member's name.
const FLAGS: [(&str, &str); 6] = [
    ("public", " public"),
    ("package", ""),
    ("protected", " protected"),
    ("private", " private"),
    ("public_final", " public final"),
    ("private_final", " private final"),
];

/// The access flags of the constructors, each with its descriptor.
const CONSTRUCTORS: [(&str, &str); 4] =
    [(" public", "(I)V"), ("", "(J)V"), (" protected", "(F)V"), (" private", "(D)V")];

/// The classes that the constants name: name, flags, superclass and interface.
const TARGETS: [(&str, &str, &str, &str); 10] = [
    ("p/Near", "public super", "", ""),
    ("p/Abstract", "public super abstract", "", ""),
    ("p/Itf", "public interface abstract", "", ""),
    ("q/Shown", "public super", "", ""),
    ("q/Hidden", "super", "", ""),
    ("q/ShownItf", "public interface abstract", "", ""),
    ("q/HiddenItf", "interface abstract", "", ""),
    ("q/Base", "public super", "", ""),
    ("q/Below", "public super", "q/Base", ""),
    ("p/Inherits", "public super", "q/Shown", "q/ShownItf"),
];

/// The kinds of classes that have constants: name, superclass and interface, and those classes of `TARGETS` that the
/// constants name besides the class itself; the empty list stands for all.
const CALLERS: [(&str, &str, &str, &[&str]); 5] = [
    ("p/Plain", "", "", &[]),
    ("p/OfBase", "q/Base", "", &["q/Base", "q/Below"]),
    ("p/OfBelow", "q/Below", "p/Itf", &["q/Base", "q/Below", "p/Itf"]),
    ("p/OfItf", "", "q/ShownItf", &["q/ShownItf"]),
    ("p/OfAbstract", "p/Abstract", "", &["p/Abstract"]),
];

/// The bootstrap method whose argument is a constant.
const BOOTSTRAP: &str = "p/B.make(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;\
    Ljava/lang/invoke/MethodType;Ljava/lang/Object;)Ljava/lang/invoke/CallSite;";

/// The method that implements the abstract method of the interfaces.
const ABSTRACT: &str = ".method public a_public()V\n return\n.end\n";

/// A platform with two methods of Object: a public and a protected one.
fn platform() -> Vec<Assembled> {
    let mut acc = Structure::platform().unwrap();
    acc.retain(|it| it.name != "java/lang/Object");
    let object = ".class public super java/lang/Object\n.super none\n.method public <init>()V\n return\n.end\n\
        .method public toString()Ljava/lang/String;\n aconst_null\n areturn\n.end\n\
        .method protected native clone()Ljava/lang/Object;\n.end\n";
    acc.extend(assemble(object).unwrap());
    acc
}

/// Members of targets, with the kinds of references that name them.
fn members(is_interface: bool, has_own: bool) -> String {
    let mut out = String::new();
    if !has_own {
        return out;
    }
    if is_interface {
        out += ".field public static final s_public I\n\
            .method public abstract a_public()V\n.end\n.method public i_public()V\n return\n.end\n\
            .method private i_private()V\n return\n.end\n.method public static s_public()V\n return\n.end\n\
            .method private static s_private()V\n return\n.end\n";
        return out;
    }
    for (name, flags) in FLAGS {
        let _ = writeln!(out, ".field{flags} i_{name} I\n.field{flags} static s_{name} I");
        let _ = writeln!(out, ".method{flags} i_{name}()V\n return\n.end");
        let _ = writeln!(out, ".method{flags} static s_{name}()V\n return\n.end");
    }
    out += ".field public i_hidden Lq/Hidden;\n.field public static s_hidden [Lq/Hidden;\n\
        .method public i_hidden(Lq/Hidden;)V\n return\n.end\n\
        .method public static s_hidden()Lq/Hidden;\n aconst_null\n areturn\n.end\n";
    out
}

/// The handles to the members of a class, in the notation of the assembler.
fn handles(class: &str) -> Vec<String> {
    let mut out = Vec::new();
    for kind in ["getfield", "putfield", "getstatic", "putstatic"] {
        let is_store = kind.starts_with("put");
        let flags = FLAGS.iter().map(|it| it.0).filter(|it| is_store || !it.ends_with("final"));
        for name in flags.chain(["hidden", "gone"]) {
            for prefix in ["i", "s"] {
                let descriptor = match (name, prefix) {
                    ("hidden", "i") => "Lq/Hidden;",
                    ("hidden", _) => "[Lq/Hidden;",
                    _ => "I",
                };
                out.push(format!("{kind} {class}.{prefix}_{name} {descriptor}"));
            }
        }
        // A field of another type is another field.
        out.push(format!("{kind} {class}.i_public J"));
    }
    for kind in [
        "invokevirtual",
        "invokestatic",
        "invokespecial",
        "invokeinterface",
        "invokestatic interface",
        "invokespecial interface",
    ] {
        for name in ["public", "package", "protected", "private", "hidden", "gone"] {
            for prefix in ["i", "s", "a"] {
                let descriptor = match (name, prefix) {
                    ("hidden", "i") => "(Lq/Hidden;)V",
                    ("hidden", "s") => "()Lq/Hidden;",
                    _ => "()V",
                };
                if prefix != "a" || name == "public" {
                    out.push(format!("{kind} {class}.{prefix}_{name}{descriptor}"));
                }
            }
        }
        out.push(format!("{kind} {class}.toString()Ljava/lang/String;"));
        out.push(format!("{kind} {class}.clone()Ljava/lang/Object;"));
    }
    for (_, descriptor) in CONSTRUCTORS {
        out.push(format!("newinvokespecial {class}.<init>{descriptor}"));
    }
    out.push(format!("newinvokespecial {class}.<init>(Z)V"));
    out
}

/// The method types that name a class.
fn types(class: &str) -> Vec<String> {
    ["(LX;)V", "()LX;", "(I[LX;)V", "()[[LX;"]
        .map(|it| format!("methodtype {}", it.replace('X', class)))
        .into()
}

/// Returns the text of a program of one version, and its methods, each with the constant that it resolves.
fn program(version: u16) -> (String, BTreeMap<(String, String), String>) {
    let root = format!("v{version}");
    let mut out = String::new();
    let full = |text: &str| text.replace("p/", &format!("{root}/p/")).replace("q/", &format!("{root}/q/"));
    let constructors = |above: &str| {
        let above = if above.is_empty() { "java/lang/Object" } else { above };
        let descriptor = if above == "java/lang/Object" { "()V" } else { "(F)V" };
        let mut out = String::new();
        for (flags, of) in CONSTRUCTORS {
            let push = if descriptor == "()V" { "" } else { " fconst_0\n" };
            let _ = writeln!(
                out,
                ".method{flags} <init>{of}\n aload_0\n{push} invokespecial {above}.<init>{descriptor}\n return\n.end"
            );
        }
        out
    };
    let head = |name: &str, flags: &str, above: &str, interface: &str| {
        let mut out = format!(".class {flags} {name}\n.version {version}.0\n");
        if !above.is_empty() {
            let _ = writeln!(out, ".super {above}");
        }
        if !interface.is_empty() {
            let _ = writeln!(out, ".implements {interface}");
        }
        out
    };
    for (name, flags, above, interface) in TARGETS {
        let is_interface = flags.contains("interface");
        let has_own = !matches!(name, "q/Below" | "p/Inherits");
        let mut text = head(name, flags, above, interface) + &members(is_interface, has_own);
        if name == "p/Abstract" {
            text += ".method public abstract a_public()V\n.end\n";
        }
        if !is_interface {
            text += &constructors(above);
        }
        if !interface.is_empty() {
            text += ABSTRACT;
        }
        out += &full(&text);
    }
    let bootstrap = head("p/B", "public super", "", "");
    let make = BOOTSTRAP.trim_start_matches("p/B.");
    out += &full(&format!("{bootstrap}.method public static {make}\n aconst_null\n areturn\n.end\n"));
    let mut cells = BTreeMap::new();
    for (caller, above, interface, named) in CALLERS {
        let targets = TARGETS.iter().map(|it| it.0).filter(|it| named.is_empty() || named.contains(it));
        for (k, target) in targets.map(Some).chain([None]).enumerate() {
            let caller = format!("{caller}{k}");
            let target = target.unwrap_or(&caller);
            let (mut bootstraps, mut methods) = (String::new(), String::new());
            let constants = handles(target).into_iter().map(|it| format!("handle {it}"));
            for (n, constant) in constants.chain(types(target)).enumerate() {
                let mut add = |name: &str, body: &str| {
                    let name = format!("{name}{n}");
                    let _ = writeln!(methods, ".method public static {name}()V\n {body}\n return\n.end");
                    cells.insert((full(&caller), name), constant.clone());
                };
                add("ldc", &format!("ldc {constant}\n pop"));
                if named.is_empty() {
                    let _ = writeln!(bootstraps, ".bootstrap b{n} invokestatic {BOOTSTRAP} {constant}");
                    add("arg", &format!("invokedynamic b{n} run()V"));
                }
            }
            let own = members(false, named.is_empty()) + &constructors(above);
            let implemented = if interface.is_empty() && above != "p/Abstract" { "" } else { ABSTRACT };
            let head = head(&caller, "public super", above, interface);
            out += &full(&[&*head, &bootstraps, &own, implemented, &methods].concat());
        }
    }
    (out, cells)
}

/// The errors that the resolution of these constants raises.
const ERRORS: [&str; 5] = [
    "java/lang/AbstractMethodError",
    "java/lang/IllegalAccessError",
    "java/lang/IncompatibleClassChangeError",
    "java/lang/NoSuchFieldError",
    "java/lang/NoSuchMethodError",
];

#[test]
fn the_link_errors_of_handles_are_those_of_the_jvms() {
    if jdk::at_least(17).is_none() {
        return;
    }
    let mut jdks = jdk::all();
    jdks.retain(|it| it.version >= 17);
    jdks.dedup_by_key(|it| it.version);
    let platform = platform();
    let mut wrong = Vec::new();
    let mut n_errors: BTreeMap<&str, usize> = BTreeMap::new();
    for (jdk, version) in jdks.iter().flat_map(|it| VERSIONS.map(|version| (it, version))) {
        let (text, cells) = program(version);
        let classes = assemble(&text).unwrap();
        let case = |(class, method): &(String, String)| Case {
            class: class.clone(),
            method: method.clone(),
            descriptor: "()V".to_owned(),
            args: Vec::new(),
        };
        let cases: Vec<Case> = cells.keys().map(case).collect();
        let answers = jvm::run(jdk, &classes, &cases).expect("the harness runs");
        let predicted =
            throws(&solved(&classes, &platform, WorldKind::Closed, false, jdk.version as u16), &classes);
        for (((class, method), constant), answer) in cells.iter().zip(&answers) {
            let seen = match &answer.outcome {
                Outcome::Throw(it) => it.split(' ').next(),
                Outcome::Result(_) | Outcome::Timeout => None,
            };
            let seen = seen.and_then(|it| ERRORS.into_iter().find(|error| *error == it));
            seen.into_iter().for_each(|it| *n_errors.entry(it).or_default() += 1);
            let known = &predicted[&format!("{class}.{method}()V")].known;
            let known: Vec<String> = known.iter().map(|it| it.class.to_string()).collect();
            let known: Vec<&str> =
                known.iter().map(String::as_str).filter(|it| ERRORS.contains(it)).collect();
            if known != Vec::from_iter(seen) {
                let outcome = &answer.outcome;
                wrong.push(format!("{class}.{method} {constant}: predicted {known:?}, Java: {outcome:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    let least = ERRORS.iter().map(|it| n_errors.get(it).copied().unwrap_or_default()).min();
    assert!(least >= Some(20), "{n_errors:?}");
}

#[test]
fn a_reference_to_a_constructor_of_an_abstract_class_fails_when_it_is_called() {
    let text = ".class public super abstract p/Abstract\n.method public <init>()V\n aload_0\n \
        invokespecial java/lang/Object.<init>()V\n return\n.end\n\
        .class public interface abstract p/Run\n.method public abstract run()V\n.end\n\
        .class public super p/Main\n.version 55.0\n\
        .bootstrap b invokestatic java/lang/invoke/LambdaMetafactory.metafactory(\
        Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;\
        Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodHandle;Ljava/lang/invoke/MethodType;)\
        Ljava/lang/invoke/CallSite; methodtype ()V handle newinvokespecial p/Abstract.<init>()V methodtype ()V\n\
        .method public static make()V\n invokedynamic b run()Lp/Run;\n pop\n return\n.end\n\
        .method public static call()V\n invokedynamic b run()Lp/Run;\n invokeinterface p/Run.run()V\n return\n.end\n";
    let classes = assemble(text).unwrap();
    let predicted = throws(&solved(&classes, &platform(), WorldKind::Closed, false, 17), &classes);
    let mut jdks = jdk::all();
    jdks.retain(|it| it.version >= 17);
    for (method, error) in [("make", None), ("call", Some("java/lang/InstantiationError"))] {
        let known = &predicted[&format!("p/Main.{method}()V")].known;
        let mut known: Vec<String> = known.iter().map(|it| it.class.to_string()).collect();
        // The analysis does not know that the result of a call site is no null.
        known.retain(|it| it != "java/lang/NullPointerException");
        assert_eq!(known, Vec::from_iter(error), "{method}");
        for jdk in &jdks {
            let case = Case {
                class: "p/Main".to_owned(),
                method: method.to_owned(),
                descriptor: "()V".to_owned(),
                args: Vec::new(),
            };
            let answers = jvm::run(jdk, &classes, &[case]).expect("the harness runs");
            let seen = match &answers[0].outcome {
                Outcome::Throw(it) => it.split(' ').next(),
                Outcome::Result(_) | Outcome::Timeout => None,
            };
            assert_eq!(seen, error, "Java {}, {method}: {:?}", jdk.version, answers[0].outcome);
        }
    }
}
