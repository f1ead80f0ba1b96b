//! One host through edits, ghosts that are added and removed, and changed settings: whatever the questions and their
//! order, its answers equal those of a one-shot command for the same classes.

use std::collections::BTreeMap;
use std::sync::Arc;

use ide::answer::{Question, class_answer};
use ide::change::{Change, ContainerId, ContainerListing, Listing};
use ide::entries::{Entry, EntryRequest, Receivers};
use ide::explain::{Explanation, Scope, Sources, Spot};
use ide::explained::Places;
use ide::host::{Analysis, AnalysisHost, Definition};
use ide::profile::{ProfileAnswers, paper_record_and_answer};
use ide::whole::{ClassRecord, Setup, Whole, read_class};
use ide::{
    ClassSource, Contents, EntryIdentity, FileId, MethodName, Packages, PlacedCode, Profile, Role, Scratch,
    Settings, Text, WorldKind,
};
use rustc_hash::FxHashMap;
use test_utils::generate::{Mode, program};
use test_utils::ghosts::with_ghosts;
use test_utils::rng::Rng;
use test_utils::tier;
use vfs::file::Vfs;

/// A class: its name, and its current and original bytes.
#[derive(Clone)]
struct Class {
    name: String,
    bytes: Vec<u8>,
    original: Vec<u8>,
}

/// The places where the classes of a case are defined.
struct Definitions(FxHashMap<Vec<u8>, (Vec<u8>, Definition)>);

impl Definitions {
    /// If a class has two definitions, the first one is used, but code always replaces a ghost.
    fn new(case: &Case, files: &[FileId]) -> Definitions {
        let app = case.app.iter().zip(files).map(|(it, &file)| (it, Definition::File(file)));
        let library = |it| Definition::Library(ContainerId(1), it);
        let all = app.chain(case.lib.iter().zip(0..).map(|(it, entry)| (it, library(entry))));
        let records = all.filter_map(|it| Some((read(&it.0.bytes)?, it.0, it.1)));
        let is_ghost = |it: &ClassRecord| {
            it.outline().ghost.is_some() || it.outline().methods.iter().any(|it| it.ghost.is_some())
        };
        let (ghosts, code): (Vec<_>, Vec<_>) = records.partition(|it| is_ghost(&it.0));
        // The last one inserted stays.
        let all = ghosts.into_iter().rev().chain(code.into_iter().rev());
        let of = |it: (ClassRecord, &Class, Definition)| {
            (it.0.class().bytes().to_vec(), (it.1.bytes.clone(), it.2))
        };
        Definitions(all.map(of).collect())
    }
}

impl Sources for Definitions {
    fn code(&mut self, method: MethodName) -> Option<PlacedCode> {
        let question = Question { select: &|it| *it == method, graphs: false, clock: None };
        let bytes = &self.0.get(method.class.0)?.0;
        let answer = class_answer(bytes, &question, &mut Scratch::default()).ok()?.methods.pop()?;
        Some(PlacedCode { code: answer.code, positions: answer.positions })
    }

    fn place(&self, method: MethodName) -> Option<String> {
        Named.place(self.0.get(method.class.0)?.1)
    }
}

/// Gives definitions paths made of their numbers.
struct Named;

impl Places for Named {
    fn place(&self, definition: Definition) -> Option<String> {
        Some(format!("{definition:?}"))
    }
}

/// A random question about one method.
fn scope(method: MethodName, rng: &mut Rng) -> Scope<'static> {
    let any: &dyn Fn(&MethodName) -> bool = &|_| true;
    let some: &dyn Fn(&MethodName) -> bool = &|it| it.name.0.len() % 2 == 0;
    let exceptions: [&[u8]; 3] = [b"java/lang/RuntimeException", b"java/lang/Error", b"p/Nothing"];
    let (exception, target) = match rng.below(8) {
        0 => (None, Some(any)),
        1 => (None, Some(some)),
        2 => (Some(Text(rng.one(exceptions))), None),
        _ => (None, None),
    };
    let pc = rng.chance(30).then(|| rng.below(12) as u16);
    Scope { method, pc, exception, target, receivers: 3 }
}

fn goes_through_library(all: &[Explanation]) -> bool {
    let is_there = |it: &Spot| it.pc.is_some() && it.place.as_ref().is_some_and(|it| it.contains("Library"));
    all.iter().any(|it| match it {
        Explanation::Exception(it) => it.chain.iter().any(|it| it.spot.as_ref().is_some_and(is_there)),
        Explanation::Call(_) | Explanation::Unreached(_) | Explanation::Silent(_) => false,
    })
}

/// The class files of a library.
struct Bytes(Vec<Vec<u8>>);

impl ClassSource for Bytes {
    fn with_bytes(&self, entry: u32, read: &mut dyn FnMut(&[u8])) {
        self.0.get(entry as usize).into_iter().for_each(|it| read(it));
    }
}

/// The inputs of the host.
struct Case {
    app: Vec<Class>,
    lib: Vec<Class>,
    gone: Vec<Class>,
    settings: Settings,
    vfs: Vfs,
    host: AnalysisHost,
    /// The library as last reported to the host, with the class files that it was made from.
    told: Option<(Vec<Vec<u8>>, Arc<Contents>)>,
    /// The number of explanations that led through code of the library.
    n_through_library: usize,
}

fn read(bytes: &[u8]) -> Option<ClassRecord> {
    read_class(bytes, &mut Scratch::default()).ok()
}

impl Case {
    fn new(seed: u64) -> Case {
        let mode = [Mode::Plain, Mode::OddRows, Mode::Dynamic][seed as usize % 3];
        let (mut app, mut lib) = (Vec::new(), Vec::new());
        for (i, it) in program(seed, mode).unwrap().classes.into_iter().enumerate() {
            let class = Class { name: it.name, bytes: it.bytes.clone(), original: it.bytes };
            if i % (2 + seed as usize % 3) == 1 { lib.push(class) } else { app.push(class) }
        }
        let (settings, host) = (Settings::new(WorldKind::Open, 17), AnalysisHost::new());
        let (gone, vfs, told) = (Vec::new(), Vfs::default(), None);
        Case { app, lib, gone, settings, vfs, host, told, n_through_library: 0 }
    }

    /// Makes one random edit.
    fn edit(&mut self, rng: &mut Rng) {
        let lib = rng.chance(20);
        let classes = if lib { &mut self.lib } else { &mut self.app };
        if classes.is_empty() {
            let back = self.gone.pop();
            classes.extend(back);
            return;
        }
        let at = rng.below(classes.len() as u32) as usize;
        match rng.below(14) {
            0 => self.gone.push(classes.remove(at)),
            1 => {
                let back = self.gone.pop().filter(|back| classes.iter().all(|it| it.name != back.name));
                classes.extend(back);
            }
            // A class becomes a ghost, or a ghost becomes code.
            2 | 3 => {
                let class = &mut classes[at];
                class.bytes = class.original.clone();
                let methods = ide::answer::declared_methods(&class.original);
                let never = ["any", "NullPointerException", "java.lang.Error", "p.Nothing"];
                let mut ghosts: BTreeMap<String, Vec<String>> = BTreeMap::new();
                for it in methods {
                    if rng.chance(50) {
                        let handlers = vec![(*rng.pick(&never).unwrap()).to_owned()];
                        ghosts.insert(format!("{}.{}{}", it.class, it.name, it.descriptor), handlers);
                    }
                }
                class.bytes = with_ghosts(&class.bytes, &ghosts);
            }
            // Put a class into both containers, so that one definition shadows the other.
            4 => {
                let class = classes[at].clone();
                let others = if lib { &mut self.app } else { &mut self.lib };
                if others.iter().all(|it| it.name != class.name) {
                    others.push(class);
                }
            }
            5 => classes.swap(0, at),
            _ => {
                let class = &mut classes[at];
                class.bytes = class.original.clone();
                let i = rng.range(10, class.bytes.len() as i32 - 1) as usize;
                class.bytes[i] ^= 1 << rng.below(5);
            }
        }
    }

    /// Changes one random setting.
    fn set(&mut self, rng: &mut Rng) {
        let it = &mut self.settings;
        match rng.below(8) {
            0 => it.options.assume_contract ^= true,
            1 => it.options.link_errors ^= true,
            2 => it.options.async_errors ^= true,
            3 => {
                it.receivers = rng.one([None, Some(Receivers::Any), Some(Receivers::Created)]);
                let request = EntryRequest { library: true, app: true, ..EntryRequest::default() };
                it.entries = it.receivers.map(|_| request);
            }
            4 => it.profile = if it.profile == Profile::Jvm { Profile::Paper } else { Profile::Jvm },
            5 => it.options.release = Some(if it.options.release == Some(17) { 8 } else { 17 }),
            _ => it.options.world = rng.one([WorldKind::Open, WorldKind::Declared, WorldKind::Closed]),
        }
    }

    /// Applies the current state to the host. Returns the files of the application.
    fn tell(&mut self) -> Vec<FileId> {
        let mut change = Change { settings: Some(self.settings.clone()), ..Change::default() };
        let mut files = Vec::new();
        for it in &self.app {
            let file = self.vfs.file(&it.name);
            change.classes.push((file, EntryIdentity::of_bytes(&it.bytes), it.bytes.as_slice().into()));
            files.push(file);
        }
        let lib: Vec<Vec<u8>> = self.lib.iter().map(|it| it.bytes.clone()).collect();
        let same = self.told.as_ref().filter(|it| it.0 == lib).map(|it| Arc::clone(&it.1));
        let contents = same.unwrap_or_else(|| {
            let read = lib.iter().zip(0..).filter_map(|(it, entry)| Some(((None, read(it)?), entry)));
            let (records, entries): (Vec<_>, Vec<u32>) = read.unzip();
            let source = Arc::new(Bytes(lib.clone()));
            Arc::new(Contents { records: records.into(), entries: entries.into(), source })
        });
        self.told = Some((lib, Arc::clone(&contents)));
        let app = ContainerListing { id: ContainerId(0), role: Role::App, classes: files.clone() };
        let library = Listing::Library { id: ContainerId(1), role: Role::Lib, contents };
        change.containers = Some(vec![Listing::Classes(app), library]);
        self.host.apply_change(change);
        files
    }

    fn classes(&self) -> impl Iterator<Item = (&Class, Role)> {
        self.app.iter().map(|it| (it, Role::App)).chain(self.lib.iter().map(|it| (it, Role::Lib)))
    }

    /// The answers of a one-shot command for the same classes.
    fn once(&self) -> ProfileAnswers {
        if self.settings.profile == Profile::Paper {
            let record = |bytes: &[u8]| paper_record_and_answer(bytes, &|_| true, &mut Scratch::default());
            let records = self.classes().filter_map(|it| Some((record(&it.0.bytes).ok()?.0, false)));
            return ProfileAnswers::paper(records.collect());
        }
        ProfileAnswers::Jvm(Arc::new(self.whole(&Packages::default())))
    }

    fn records(&self) -> Vec<(ClassRecord, Role)> {
        self.classes().filter_map(|it| Some((read(&it.0.bytes)?, it.1))).collect()
    }

    fn whole(&self, packages: &Packages) -> Whole {
        let receivers = self.settings.receivers.unwrap_or(Receivers::Created);
        let entries = self.settings.entries.as_ref().filter(|_| self.settings.receivers.is_some());
        let setup = Setup { options: self.settings.options, packages, entries, receivers, solve: true };
        Whole::joined(self.records(), &setup).unwrap()
    }

    /// Asks some questions in random order and compares the answers. Returns the number of answers that were not
    /// empty.
    fn ask(&mut self, rng: &mut Rng, what: &str) -> usize {
        let files = self.tell();
        let once = self.once();
        let (analysis, mut work) = (self.host.analysis(), once.work());
        let (mut n, mut through_library) = (0, 0);
        for _ in 0..rng.range(1, 12) {
            let at = rng.below(files.len().max(1) as u32) as usize;
            let (Some(&file), Some(class)) = (files.get(at), self.app.get(at)) else { continue };
            let question = Question { select: &|_| true, graphs: false, clock: None };
            let alone = class_answer(&class.bytes, &question, &mut Scratch::default()).ok();
            let Some(alone) = alone.filter(|_| read(&class.bytes).is_some()) else {
                assert!(analysis.fault(file).unwrap().is_some(), "{what}: {} is outside", class.name);
                assert!(analysis.throws(file).unwrap().unwrap().is_empty());
                continue;
            };
            if analysis.shadowed(file).unwrap().is_some() {
                assert!(
                    analysis.calls(file).unwrap().unwrap().is_empty(),
                    "{what}: it is not in the program"
                );
                continue;
            }
            let (parsed, _) = analysis.parsed(file).unwrap().unwrap().unwrap();
            let index = |method| parsed.index_of(&method).unwrap();
            match rng.below(6) {
                0 => {
                    for it in analysis.throws(file).unwrap().unwrap().iter() {
                        let now = once.throws(&mut work, it.method);
                        assert_eq!(
                            Some(it),
                            now.as_ref(),
                            "{what}: what it lets out; a command says the second"
                        );
                        n += usize::from(!it.known.is_empty() || it.open.is_some());
                    }
                }
                1 => {
                    let all = analysis.calls(file).unwrap().unwrap();
                    for it in &alone.methods {
                        let now = once.calls(it.method, &it.code);
                        let calls = all.get(index(it.method)).map(|it| it.to_vec()).unwrap_or_default();
                        assert_eq!(calls, now, "{what}: calls of {}: host, one-shot command", it.method);
                        n += usize::from(!now.is_empty());
                    }
                }
                2 => {
                    let all = analysis.graphs(file).unwrap().unwrap();
                    for it in &alone.methods {
                        let now = once.graph(&mut work, it.method, &it.code, false);
                        let graph = all.get(index(it.method)).map(|it| (**it).clone()).unwrap_or_default();
                        assert_eq!(
                            graph, now,
                            "{what}: the graph of {}; a command says the second",
                            it.method
                        );
                        n += usize::from(!now.cfg.edges.is_empty());
                    }
                }
                3 => {
                    let reached = analysis.reached(file).unwrap();
                    for (index, it) in parsed.methods.iter().enumerate() {
                        let method = MethodName::of(it.method);
                        let is_reached = reached.as_ref().is_none_or(|all| all[index]);
                        let now = match &once {
                            ProfileAnswers::Jvm(it) => it.is_reached(method),
                            ProfileAnswers::Paper(_) => true,
                        };
                        assert_eq!(is_reached, now, "{what}: whether {method} is reached");
                    }
                    n += usize::from(reached.is_some());
                }
                4 => {
                    let mut sources = Definitions::new(self, &files);
                    for method in ide::answer::declared_methods(&class.bytes) {
                        let scope = scope(method, rng);
                        let counts =
                            sources.0.get(method.class.0).is_some_and(|it| it.1 == Definition::File(file));
                        let mut now = once.explanations(&mut work, &mut sources, &scope);
                        now.retain(|_| counts);
                        let said = analysis.explanations(file, &scope, &Named).unwrap().unwrap();
                        assert_eq!(said, now, "{what}: explanation of {method}: host, one-shot command");
                        n += usize::from(!now.is_empty());
                        through_library += usize::from(goes_through_library(&now));
                    }
                }
                _ => self.ask_whole(&analysis, &once, what),
            }
        }
        self.n_through_library += through_library;
        n
    }

    fn ask_whole(&self, analysis: &Analysis, once: &ProfileAnswers, what: &str) {
        let ProfileAnswers::Jvm(whole) = once else { return };
        assert_eq!(analysis.missing().unwrap().to_vec(), whole.missing(), "{what}: missing classes");
        assert_eq!(analysis.program().unwrap().faults, whole.hierarchy_faults(), "{what}");
        if let Some(request) = &self.settings.entries {
            let (packages, options) = (Packages::default(), self.settings.options);
            let setup = Setup {
                options,
                packages: &packages,
                entries: Some(request),
                receivers: Receivers::Any,
                solve: false,
            };
            let now = ide::reached::entries(self.records(), &setup).unwrap();
            let entries = analysis.entries().unwrap();
            let entries: Vec<Entry> = entries.iter().map(|it| Entry { method: it.0, why: it.1 }).collect();
            assert_eq!(entries, now, "{what}: entry points");
            assert_eq!(analysis.program().unwrap().no_entry, !whole.has_entries());
        }
    }
}

/// Runs a host through `n` steps. Returns the number of answers that were not empty, the number of explanations that
/// led through code of a library, and the number of updates in place.
fn run(seed: u64, n: usize) -> (usize, usize, u64) {
    let (mut case, mut rng) = (Case::new(seed), Rng::new(seed ^ 0x5eed));
    let mut said = 0;
    for step in 0..n {
        for _ in 0..rng.range(0, 2) {
            case.edit(&mut rng);
        }
        if rng.chance(25) {
            case.set(&mut rng);
        }
        if rng.chance(30) {
            case.host.keep_current(&mut || false);
        }
        said += case.ask(&mut rng, &format!("seed {seed}, step {step}"));
    }
    (said, case.n_through_library, case.host.counts().updated)
}

#[test]
fn all_answers_are_those_of_a_fresh_host() {
    let asked = std::env::var("AJAR_QUESTION_SEEDS").ok().and_then(|it| it.parse().ok());
    let seeds = asked.unwrap_or(tier::rounds(3, 12));
    let (mut said, mut through_library, mut updated) = (0, 0, 0);
    for seed in 0..seeds {
        let (answers, led, taken_in) = run(seed, 60);
        (said, through_library, updated) = (said + answers, through_library + led, updated + taken_in);
    }
    println!("{said} answers, {through_library} through a library, {updated} updates in place");
    assert!(said > 200 * seeds as usize && updated > 2 * seeds, "{said} {updated}");
    assert!(through_library > seeds as usize, "{through_library}");
}
