//! Tests Theorem 2 of *Sound Control Flow Graph Extraction from Incomplete Java Bytecode Programs* as a property: the
//! answers about a part of a program cover those about the whole (`semantics.md` §1 and §7). Classes are removed at
//! random; nothing that the whole program does may be lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use driver::container::Scratch as Read;
use driver::jdk::JdkChoice;
use driver::world::{WorldSpec, load};
use ide::answer::{MethodAnswer, Question, class_answer};
use ide::whole::{ClassRecord, Whole, WorkerSets, read_class};
use ide::{
    Bodies, Call, CallWord, MethodCode, MethodName, Part, Role, Scratch, Selector, Step, Text, Throws,
    WholeOptions, Why, WorldKind,
};
use test_utils::generate::Structure;
use test_utils::jvm;
use test_utils::rng::Rng;
use test_utils::tier;

/// A class of a tested program.
struct Class {
    name: String,
    record: ClassRecord,
    methods: Vec<MethodAnswer>,
}

fn options(world: WorldKind, link_errors: bool) -> WholeOptions {
    WholeOptions {
        world,
        release: None,
        assume_contract: false,
        link_errors,
        async_errors: false,
        system_assertions: false,
    }
}

/// The classes of a folder or jar.
fn classes(input: &Path) -> Vec<Class> {
    let input = camino::Utf8PathBuf::from_path_buf(input.to_path_buf()).unwrap();
    let spec = WorldSpec {
        inputs: vec![input],
        class_path: Vec::new(),
        module_path: Vec::new(),
        jdk: JdkChoice::None,
        release: Some(25),
    };
    let world = load(&spec).unwrap();
    let (mut read, mut scratch) = (Read::default(), Scratch::default());
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for (container, entry) in world.classes() {
        let bytes = world.bytes(container, entry, &mut read).unwrap().bytes.to_vec();
        let question = Question { select: &|_| true, graphs: false, clock: None };
        let Ok(answer) = class_answer(&bytes, &question, &mut scratch) else { continue };
        if seen.insert(answer.class.to_string()) {
            all.push(Class {
                name: answer.class.to_string(),
                record: read_class(&bytes, &mut scratch).unwrap(),
                methods: answer.methods,
            });
        }
    }
    all
}

/// The answers about the methods of the classes with the given numbers, which form the whole program.
struct Answers {
    throws: BTreeMap<MethodName, Throws>,
    calls: BTreeMap<MethodName, Vec<Call>>,
    codes: BTreeMap<MethodName, Arc<MethodCode>>,
}

fn ask(classes: &[Class], present: &[usize], options: WholeOptions) -> (Answers, Whole) {
    let records = present.iter().map(|&it| (classes[it].record.clone(), Role::App)).collect();
    let whole = Whole::new(records, options);
    let mut work: WorkerSets = whole.work();
    let mut acc = Answers { throws: BTreeMap::new(), calls: BTreeMap::new(), codes: BTreeMap::new() };
    for it in present.iter().flat_map(|&it| &classes[it].methods) {
        acc.throws.insert(it.method, whole.throws(&mut work, it.method).unwrap());
        acc.calls.insert(it.method, whole.calls(it.method, &it.code));
        acc.codes.insert(it.method, Arc::clone(&it.code));
    }
    (acc, whole)
}

/// The superclasses of the classes of the full program, and their direct supertypes of both kinds, by name.
struct Chains(BTreeMap<String, String>, BTreeMap<String, Vec<String>>);

impl Chains {
    fn new(classes: &[Class]) -> Self {
        let mut chains: BTreeMap<String, String> = BTreeMap::new();
        for (sub, sup) in [
            ("java/lang/Error", "java/lang/Throwable"),
            ("java/lang/Exception", "java/lang/Throwable"),
            ("java/lang/RuntimeException", "java/lang/Exception"),
            ("java/lang/LinkageError", "java/lang/Error"),
            ("java/lang/ExceptionInInitializerError", "java/lang/LinkageError"),
            ("java/lang/NoClassDefFoundError", "java/lang/LinkageError"),
            ("java/lang/BootstrapMethodError", "java/lang/LinkageError"),
            ("java/lang/InternalError", "java/lang/VirtualMachineError"),
            ("java/lang/VirtualMachineError", "java/lang/Error"),
            ("java/lang/IncompatibleClassChangeError", "java/lang/LinkageError"),
            ("java/lang/IllegalAccessError", "java/lang/IncompatibleClassChangeError"),
        ] {
            chains.insert(sub.to_owned(), sup.to_owned());
        }
        let mut above: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for outline in classes.iter().map(|it| it.record.outline()) {
            if let Some(above) = outline.super_class {
                chains.insert(outline.class.to_string(), above.to_string());
            }
            let supers = outline.super_class.iter().chain(outline.interfaces.iter());
            above.insert(outline.class.to_string(), supers.map(|it| it.to_string()).collect());
        }
        Chains(chains, above)
    }

    /// Whether a chain of present classes leads from one class up to another.
    fn reaches(&self, low: &str, high: &str, present: &BTreeSet<&str>) -> bool {
        let (mut seen, mut pending) = (BTreeSet::new(), vec![low]);
        while let Some(at) = pending.pop().filter(|_| !seen.contains(high)) {
            if present.contains(at) && seen.insert(at) {
                pending.extend(self.1.get(at).into_iter().flatten().map(String::as_str));
            }
        }
        seen.contains(high)
    }

    fn is_below(&self, sub: &str, sup: &str) -> bool {
        let mut at = Some(sub);
        for _ in 0..1000 {
            match at {
                Some(it) if it == sup => return true,
                Some(it) => at = self.0.get(it).map(String::as_str),
                // A thrown class is below Throwable, even if part of its chain is unknown.
                None => return sup == "java/lang/Throwable",
            }
        }
        false
    }

    /// Whether the parts contain a class, or with `cone` the class and all its subclasses.
    fn has(&self, parts: &[Part], class: &str, cone: bool) -> bool {
        parts.iter().any(|it| {
            let name = it.class.to_string();
            if it.cone { self.is_below(class, &name) } else { !cone && name == class }
        })
    }

    /// Whether an answer covers a known part of another answer.
    fn covers(&self, answer: &Throws, part: &Part) -> bool {
        self.covers_class(answer, &part.class.to_string(), part.cone)
    }

    fn covers_class(&self, answer: &Throws, class: &str, cone: bool) -> bool {
        if self.has(&answer.known, class, cone) {
            return true;
        }
        let open = |class: &str| match &answer.open {
            None => false,
            Some(open) => self.has(&open.within, class, false) && !self.has(&open.except, class, false),
        };
        if !cone {
            return open(class);
        }
        // Check each known subclass, and the class itself for unknown subclasses.
        let below = self.0.keys().filter(|it| self.is_below(it, class));
        open(class) && below.into_iter().all(|it| open(it) || self.has(&answer.known, it, false))
    }
}

/// Whether the instruction itself names the call.
fn is_own(kind: CallWord) -> bool {
    matches!(kind, CallWord::Virtual | CallWord::Interface | CallWord::Special | CallWord::Static)
}

/// Whether the open call `own` at an instruction also covers `call`, another call at the same instruction.
///
/// Callbacks that the platform makes when it is called are listed beside the call from a table. It only adds names;
/// no answer depends on it (`flow::callbacks`). If even the called class is unknown, the method may belong to the
/// platform or not, and the open call covers whatever unseen code does. If only overriding methods are unknown, the
/// called method is known, and so is its row in the table. The finalizer of a missing class is that class's own code,
/// like its initialiser, which `new` calls at the same place.
fn stands_for(own: &Call, call: &Call) -> bool {
    let unresolved = matches!(own.open, Some(Why::Outside(_)));
    let uninitialized = matches!(own.open, Some(Why::Initializer(_)));
    let may_be = match call.kind {
        CallWord::Thread
        | CallWord::Callback
        | CallWord::Privileged
        | CallWord::Reflect
        | CallWord::Serialization => is_own(own.kind),
        // A load without a name is done by the instruction itself.
        CallWord::Load => is_own(own.kind) && call.declared.is_some(),
        CallWord::Finalizer => own.kind == CallWord::Clinit,
        _ => false,
    };
    let is_open = unresolved || call.kind == CallWord::Finalizer && uninitialized;
    own.instr == call.instr && is_open && may_be
}

/// Describes what the answer about a part of a program lost. `whole` is the full program.
fn lost(
    (full, whole): (&Answers, &Whole),
    part: &Answers,
    chains: &Chains,
    present: &BTreeSet<&str>,
) -> Vec<String> {
    let mut lost = Vec::new();
    for (method, throws) in &part.throws {
        let all = &full.throws[method];
        for it in all.known.iter().filter(|it| !chains.covers(throws, it)) {
            lost.push(format!("{method} may throw {}{}", it.class, if it.cone { "+" } else { "" }));
        }
        if all.open.is_some() && throws.open.is_none() {
            lost.push(format!("{method} has no open part any more"));
        }
    }
    for (method, calls) in &part.calls {
        let same = |a: &Call, b: &Call| a.instr == b.instr && a.kind == b.kind && a.declared == b.declared;
        for call in &full.calls[method] {
            let found: Vec<&Call> = calls.iter().filter(|it| same(it, call)).collect();
            let open =
                found.iter().any(|it| it.open.is_some()) || calls.iter().any(|it| stands_for(it, call));
            for target in &call.targets {
                let named =
                    found.iter().any(|it| it.targets.contains(target) || it.possible.contains(target));
                if !named && !open {
                    lost.push(format!("{method} calls {target}"));
                }
                // A target that a present object inherits through present classes alone is named, even where the call
                // is open: only the link from the object to the called class may be unknown.
                let selects = |it: &MethodName| it.name == target.name && it.descriptor == target.descriptor;
                let is_virtual = matches!(call.kind, CallWord::Virtual | CallWord::Interface);
                let selector = call.declared.filter(|it| is_virtual && !named && selects(it));
                let receivers = selector
                    .map(Selector::Receivers)
                    .into_iter()
                    .flat_map(|it| whole.selecting(*method, it, *target, 100));
                for it in receivers {
                    if chains.reaches(&it.class.to_string(), &target.class.to_string(), present) {
                        lost.push(format!("{method} calls {target} on {}, by name", it.class));
                    }
                }
            }
            if call.open.is_some() && !open {
                lost.push(format!("{method} calls anything at {:?}", call.declared));
            }
        }
    }
    lost
}

/// The bodies of a program, by method.
struct Code(BTreeMap<MethodName, Arc<MethodCode>>);

impl Bodies for Code {
    fn code(&mut self, method: MethodName) -> Option<Arc<MethodCode>> {
        self.0.get(&method).cloned()
    }
}

/// Whether a reason names the class.
fn names(why: Why, class: &str) -> bool {
    matches!(why, Why::Outside(it) | Why::Initializer(it) if it.to_string() == class)
}

/// The answers that are wider without a class than with the class, although the explanation does not name the class;
/// and the number of all wider answers.
fn unexplained(
    full: &Answers,
    part: &Answers,
    whole: &Whole,
    gone: &str,
    chains: &Chains,
) -> (Vec<String>, usize) {
    let (mut acc, mut wider) = (Vec::new(), 0);
    let mut check = |is_explained: bool, text: &dyn Fn() -> String| {
        wider += 1;
        if !is_explained {
            acc.push(format!("without {gone}: {}", text()));
        }
    };
    for (method, calls) in &part.calls {
        for call in calls {
            let same =
                |it: &&Call| it.instr == call.instr && it.kind == call.kind && it.declared == call.declared;
            let old = full.calls[method].iter().find(same);
            let by_call = call.open.is_some_and(|it| names(it, gone));
            if call.open.is_some() && old.is_none_or(|it| it.open.is_none()) {
                check(by_call, &|| format!("{method} calls {:?}: {:?}", call.declared, call.open));
            }
            for &target in call.targets.iter().chain(&call.possible) {
                if old.is_some_and(|it| it.targets.contains(&target) || it.possible.contains(&target)) {
                    continue;
                }
                // Either a receiver may be below the removed class, or the call may go anywhere.
                let selector = call.declared.map(Selector::Receivers).into_iter();
                let mut receivers = selector.flat_map(|it| whole.selecting(*method, it, target, 100));
                let by_receiver = receivers.any(|it| it.chain.iter().any(|it| it.to_string() == gone));
                check(by_call || by_receiver, &|| format!("{method} calls {target}"));
            }
        }
    }
    let mut work = whole.work();
    let mut code = Code(part.codes.clone());
    for (method, throws) in &part.throws {
        let old = &full.throws[method];
        for it in throws.known.iter().filter(|it| !chains.covers(old, it)) {
            // The removal of a class adds no known exception, unless the exception's own chain leads to that class.
            check(chains.is_below(&it.class.to_string(), gone), &|| {
                format!("{method} may throw {}", it.class)
            });
        }
        let Some(open) = &throws.open else { continue };
        for class in chains.0.keys() {
            let opens = chains.has(&open.within, class, false) && !chains.has(&open.except, class, false);
            if !opens || chains.covers_class(old, class, false) {
                continue;
            }
            let text = Text(Box::leak(class.clone().into_boxed_str()).as_bytes());
            let ways = whole.ways(&mut work, &mut code, *method, Some(text)).unwrap();
            let end =
                ways.iter().find(|it| it.what.is_none()).and_then(|it| it.steps.last()).map(|it| it.step);
            let by_end = matches!(end, Some(Step::Open(why)) if names(why, gone));
            check(by_end, &|| format!("{method} may let out {class}: {end:?}"));
        }
    }
    (acc, wider)
}

/// Removes classes one at a time, every `every`th of them. Returns the number of answers that became wider.
fn check_explanations(input: &Path, every: usize) -> usize {
    let classes = classes(input);
    let chains = Chains::new(&classes);
    let open = options(WorldKind::Open, false);
    let full = ask(&classes, &Vec::from_iter(0..classes.len()), open).0;
    let mut wider = 0;
    for gone in (0..classes.len()).step_by(every) {
        let present: Vec<usize> = (0..classes.len()).filter(|it| *it != gone).collect();
        let (part, whole) = ask(&classes, &present, open);
        let (found, n) = unexplained(&full, &part, &whole, &classes[gone].name, &chains);
        assert!(found.is_empty(), "{}: {found:#?}", input.display());
        wider += n;
    }
    wider
}

#[test]
fn a_finalizer_of_an_absent_superclass_is_not_lost() {
    let text = "
.class public p/D
.method protected finalize()V
  return
.end
.class public p/C
.super p/D
.method public <init>()V
  return
.end
.class public p/Main
.method public static main()V
  new p/C
  invokespecial p/C.<init>()V
  return
.end
";
    let folder = test_utils::jvm::TempDir::new().unwrap();
    let all = test_utils::asm::assemble(text).unwrap();
    test_utils::jvm::write_classes(folder.path(), &all).unwrap();
    let classes = classes(folder.path());
    let open = options(WorldKind::Open, false);
    let (full, whole) = ask(&classes, &[0, 1, 2], open);
    let finalizer = |it: &Call| it.kind == CallWord::Finalizer && !it.targets.is_empty();
    assert!(full.calls.values().flatten().any(finalizer));
    let present: Vec<usize> = (0..3).filter(|&it| classes[it].name != "p/D").collect();
    let part = ask(&classes, &present, open).0;
    let found = lost((&full, &whole), &part, &Chains::new(&classes), &BTreeSet::from(["p/C", "p/Main"]));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn wider_answers_without_a_class_name_it() {
    for folder in ["observed", "programs", "calls", "loaders"] {
        let wider = check_explanations(&test_data(folder), tier::rounds(4, 1));
        assert!(wider > tier::rounds(20, 300), "{folder}: {wider}");
    }
}

#[test]
fn wider_answers_in_a_real_program_name_the_removed_class() {
    jars().iter().for_each(|it| assert!(check_explanations(it, 20) > 0));
}

/// Removes classes in `rounds` different ways. Returns in how many of them some answer became wider.
fn check(input: &Path, rounds: u64, link_errors: bool) -> usize {
    let (open, closed) = (options(WorldKind::Open, link_errors), options(WorldKind::Closed, link_errors));
    let classes = classes(input);
    assert!(classes.len() > 5, "{}", input.display());
    let chains = Chains::new(&classes);
    let everything: Vec<usize> = (0..classes.len()).collect();
    let names =
        |present: &[usize]| present.iter().map(|&it| classes[it].name.as_str()).collect::<BTreeSet<_>>();
    let (full, full_whole) = ask(&classes, &everything, open);
    let (closed, closed_whole) = ask(&classes, &everything, closed);
    let n_calls: usize = full.calls.values().map(Vec::len).sum();
    assert!(full.throws.len() > 20 && n_calls > 20, "{}: nothing was asked", input.display());
    let found = lost((&closed, &closed_whole), &full, &chains, &names(&everything));
    assert!(found.is_empty(), "{}: open does not cover closed: {found:#?}", input.display());
    let mut widened = 0;
    for seed in 0..rounds {
        let mut rng = Rng::new(seed + 1);
        let one_of = 2 + rng.below(9);
        let present: Vec<usize> = everything.iter().copied().filter(|_| rng.below(one_of) != 0).collect();
        if present.is_empty() || present.len() == classes.len() {
            continue;
        }
        let part = ask(&classes, &present, open).0;
        // The present classes may be all that exist, or only a part of the program.
        for (what, whole) in [("open", (&full, &full_whole)), ("closed", (&closed, &closed_whole))] {
            let found = lost(whole, &part, &chains, &names(&present));
            let absent = everything.iter().filter(|it| !present.contains(it)).map(|&it| &classes[it].name);
            let absent: Vec<&String> = absent.collect();
            assert!(found.is_empty(), "{}, {what} without {absent:?}: {found:#?}", input.display());
        }
        widened += usize::from(part.throws.iter().any(|(it, throws)| *throws != full.throws[it]));
    }
    widened
}

fn test_data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data").join(folder)
}

#[test]
fn a_part_of_a_program_loses_nothing_that_the_whole_does() {
    for folder in ["observed", "programs", "calls", "loaders"] {
        for link_errors in [false, true] {
            let (rounds, least) = tier::rounds((20, 6), (60, 20));
            assert!(check(&test_data(folder), rounds, link_errors) > least);
        }
    }
}

#[test]
fn a_part_of_a_program_of_every_shape_loses_nothing() {
    let platform = Structure::platform().unwrap();
    for seed in 0..tier::rounds(400, 100) {
        let folder = tempfile::Builder::new().disable_cleanup(true).tempdir().unwrap();
        jvm::write_classes(folder.path(), &platform).unwrap();
        jvm::write_classes(folder.path(), &Structure::new(seed).classes().unwrap()).unwrap();
        assert!(check(folder.path(), 20, seed % 2 == 0) > 5);
    }
}

/// The jars of the small corpus, only some of them in the fast tier; none if the corpus is missing.
fn jars() -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/small");
    let Ok(manifest) = std::fs::read_to_string(corpus.join("manifest.tsv")) else {
        assert!(std::env::var_os("CI").is_none_or(|it| it != "true"), "CI has no corpus/small");
        eprintln!("skipped: no corpus/small; `cargo xtask corpus small` fetches it");
        return Vec::new();
    };
    let jars = manifest.lines().filter_map(|it| it.split('\t').nth(5)).filter(|it| it.ends_with(".jar"));
    jars.map(|it| corpus.join(it)).take(tier::at_most(2)).collect()
}

#[test]
fn a_part_of_a_real_program_loses_nothing_either() {
    for jar in jars() {
        check(&jar, 8, false);
        check(&jar, 4, true);
    }
}
