//! The predicted exceptions of calls are those of a JVM: a call throws nothing else, and where all runs are known,
//! each predicted exception is thrown in one of them.

mod predicted;

use std::collections::{BTreeMap, BTreeSet};

use ide::{Part, Throws, WorldKind};
use test_utils::asm::{Assembled, assemble};
use test_utils::generate::{RunGroup, Structure};
use test_utils::jdk;
use test_utils::jvm::{self, Case, Outcome};

use predicted::{solved, throws};

/// The superclasses of throwable classes.
struct Chains(BTreeMap<String, String>);

impl Chains {
    fn new(structure: &Structure) -> Self {
        let platform = [
            ("java/lang/Error", "java/lang/Throwable"),
            ("java/lang/Exception", "java/lang/Throwable"),
            ("java/lang/RuntimeException", "java/lang/Exception"),
            ("java/lang/LinkageError", "java/lang/Error"),
            ("java/lang/ExceptionInInitializerError", "java/lang/LinkageError"),
            ("java/lang/IncompatibleClassChangeError", "java/lang/LinkageError"),
            ("java/lang/BootstrapMethodError", "java/lang/LinkageError"),
            ("java/lang/IllegalAccessError", "java/lang/IncompatibleClassChangeError"),
            ("java/lang/AbstractMethodError", "java/lang/IncompatibleClassChangeError"),
            ("java/lang/NoSuchMethodError", "java/lang/IncompatibleClassChangeError"),
        ];
        let platform = platform.map(|(sub, sup)| (sub.to_owned(), sup.to_owned()));
        Chains(structure.thrown_classes().into_iter().chain(platform).collect())
    }

    fn has(&self, parts: &[Part], class: &str) -> bool {
        let above: Vec<&str> =
            std::iter::successors(Some(class), |it| self.0.get(*it).map(String::as_str)).collect();
        parts.iter().any(|it| {
            let name = it.class.to_string();
            if it.cone {
                name == "java/lang/Throwable" || above.contains(&name.as_str())
            } else {
                name == class
            }
        })
    }

    fn covers(&self, throws: &Throws, class: &str) -> bool {
        let is_open = throws
            .open
            .as_ref()
            .is_some_and(|it| self.has(&it.within, class) && !self.has(&it.except, class));
        is_open || self.has(&throws.known, class)
    }
}

/// Collects the exceptions that runs throw although they are not predicted, and those that are predicted although no
/// run throws them.
fn differences(
    structure: &Structure,
    groups: &[RunGroup],
    seen: &mut dyn Iterator<Item = Outcome>,
    acc: &mut Counts,
) {
    let classes = structure.classes().unwrap();
    let platform = Structure::platform().unwrap();
    let worlds = [WorldKind::Open, WorldKind::Closed]
        .map(|it| throws(&solved(&classes, &platform, it, true, 17), &classes));
    let chains = Chains::new(structure);
    for group in groups {
        let mut of_methods = BTreeSet::new();
        for run in &group.runs {
            let Outcome::Throw(thrown) = seen.next().expect("an answer") else { continue };
            let class = thrown.split(' ').next().unwrap_or_default();
            acc.n_thrown += 1;
            for throws in &worlds {
                let throws = &throws[&run.method];
                if chains.covers(throws, class) {
                    continue;
                }
                acc.lost.push(format!("{} lets out {thrown}: {throws:?}", run.method));
            }
            let is_own = class.starts_with("g/") && !structure.is_failure(class);
            if run.failing.is_none() && is_own {
                of_methods.insert(class.to_owned());
            }
        }
        let said = &worlds[1][&group.caller];
        if group.is_complete && said.open.is_none() {
            // In a closed world, a cone stands for the known subclasses.
            let thrown = structure.thrown_classes().into_iter().map(|it| it.0);
            let known: BTreeSet<String> = thrown.filter(|it| chains.has(&said.known, it)).collect();
            acc.n_exact += usize::from(!known.is_empty());
            if known != of_methods {
                acc.more.push(format!("{}: said {known:?}, seen {of_methods:?}", group.caller));
            }
        }
    }
}

#[derive(Default)]
struct Counts {
    n_thrown: usize,
    n_exact: usize,
    lost: Vec<String>,
    more: Vec<String>,
}

#[test]
fn the_jvm_throws_what_is_predicted() {
    let Some(jdk) = jdk::at_least(17) else { return };
    let seeds = std::env::var("AJAR_STRUCTURES").ok().and_then(|it| it.parse().ok()).unwrap_or(40);
    let all: Vec<Structure> = (0..seeds).map(Structure::new).collect();
    let classes: Vec<Assembled> = all.iter().flat_map(|it| it.classes().unwrap()).collect();
    let groups: Vec<Vec<RunGroup>> = all.iter().map(Structure::runs).collect();
    let cases: Vec<Case> =
        groups.iter().flatten().flat_map(|it| &it.runs).map(|it| it.case.clone()).collect();
    if let Some(root) = std::env::var_os("AJAR_STRUCTURES_DUMP") {
        jvm::write_classes(root.as_ref(), &classes).expect("the folder can be written");
    }
    let answers = jvm::run(&jdk, &classes, &cases).expect("the harness runs");
    let mut seen = answers.into_iter().map(|it| it.outcome);
    let mut acc = Counts::default();
    for (structure, groups) in all.iter().zip(&groups) {
        differences(structure, groups, &mut seen, &mut acc);
    }
    let Counts { n_thrown, n_exact, lost, more } = acc;
    println!("{n_thrown} thrown, {n_exact} calls known exactly");
    assert!(lost.is_empty(), "{}: {:#?}", lost.len(), &lost[..lost.len().min(10)]);
    assert!(more.is_empty(), "{}: {:#?}", more.len(), &more[..more.len().min(10)]);
    assert!(n_thrown > 10 * seeds as usize && n_exact > seeds as usize, "{n_thrown} {n_exact}");
}

/// `B` has no method for `J.m`. The interface `I` brings one to its subclass `C`, so no present receiver selects as
/// `B` does. `D` (below) does.
const CHOOSING: &str = r"
.class public interface abstract p/J
.method public abstract m()V
.end

.class public interface abstract p/I
.version 52.0
.implements p/J
.method public m()V
  return
.end

.class public abstract p/B
.implements p/J
.method public <init>()V
  aload_0
  invokespecial java/lang/Object.<init>()V
  return
.end

.class public p/C
.super p/B
.implements p/I
.method public <init>()V
  aload_0
  invokespecial p/B.<init>()V
  return
.end

.class public p/Main
.method public static m(Lp/J;)V
  aload_0
  invokeinterface p/J.m()V
  return
.end
.method public static c()V
  new p/C
  dup
  invokespecial p/C.<init>()V
  invokestatic p/Main.m(Lp/J;)V
  return
.end
";

/// A receiver that selects as `B` does, and a method that creates it.
const INHERITING: &str = r"
.class public p/D
.super p/B
.method public <init>()V
  aload_0
  invokespecial p/B.<init>()V
  return
.end

.class public p/Other
.method public static d()V
  new p/D
  dup
  invokespecial p/D.<init>()V
  invokestatic p/Main.m(Lp/J;)V
  return
.end
";

#[test]
fn a_class_with_a_new_default_does_not_select_like_its_superclass() {
    let error = "java/lang/AbstractMethodError";
    let case = |class: &str, method: &str| Case {
        class: class.to_owned(),
        method: method.to_owned(),
        descriptor: "()V".to_owned(),
        args: Vec::new(),
    };
    for (text, case, raises) in [
        (CHOOSING.to_owned(), case("p/Main", "c"), false),
        (format!("{CHOOSING}{INHERITING}"), case("p/Other", "d"), true),
    ] {
        let classes = assemble(&text).unwrap();
        let said = &throws(
            &solved(&classes, &Structure::platform().unwrap(), WorldKind::Closed, true, 17),
            &classes,
        )["p/Main.m(Lp/J;)V"];
        assert_eq!(said.known.iter().any(|it| it.class.to_string() == error), raises, "{said:?}");
        let Some(jdk) = jdk::at_least(17) else { continue };
        let seen = jvm::run(&jdk, &classes, &[case]).expect("the harness runs").remove(0).outcome;
        let expected =
            if raises { Outcome::Throw(error.to_owned()) } else { Outcome::Result("V".to_owned()) };
        assert_eq!(seen, expected);
    }
}

/// `B.m` is abstract, and takes precedence over the method that `I` brings to `C`. `A` may be missing.
const WITHOUT_CODE: [&str; 2] = [
    r"
.class public p/A
.method public <init>()V
  aload_0
  invokespecial java/lang/Object.<init>()V
  return
.end
.method public m()V
  return
.end
",
    r"
.class public interface abstract p/I
.version 52.0
.method public m()V
  return
.end

.class public abstract p/B
.super p/A
.method public <init>()V
  aload_0
  invokespecial p/A.<init>()V
  return
.end
.method public abstract m()V
.end

.class public p/C
.super p/B
.implements p/I
.method public <init>()V
  aload_0
  invokespecial p/B.<init>()V
  return
.end

.class public p/Main
.method public static m(Lp/A;)V
  aload_0
  invokevirtual p/A.m()V
  return
.end
.method public static c()V
  new p/C
  dup
  invokespecial p/C.<init>()V
  invokestatic p/Main.m(Lp/A;)V
  return
.end
",
];

#[test]
fn an_abstract_method_takes_precedence_over_a_default_method() {
    let error = "java/lang/AbstractMethodError";
    let all = assemble(&WITHOUT_CODE.concat()).unwrap();
    for (classes, world) in [
        (&all[..], WorldKind::Closed),
        (&all[..], WorldKind::Open),
        // Without the class `A`.
        (&all[1..], WorldKind::Open),
    ] {
        let said = &throws(&solved(classes, &Structure::platform().unwrap(), world, true, 17), classes)["p/Main.m(Lp/A;)V"];
        assert!(said.known.iter().any(|it| it.class.to_string() == error), "{world:?}: {said:?}");
    }
    let Some(jdk) = jdk::at_least(17) else { return };
    let case = Case {
        class: "p/Main".to_owned(),
        method: "c".to_owned(),
        descriptor: "()V".to_owned(),
        args: Vec::new(),
    };
    let seen = jvm::run(&jdk, &all, &[case]).expect("the harness runs").remove(0).outcome;
    assert!(matches!(&seen, Outcome::Throw(it) if it == error), "{seen:?}");
}
