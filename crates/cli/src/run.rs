//! One pass over the classes of the program: workers make pieces of the result, the sink writes them in order.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::bail;
use driver::config::Settings;
use driver::container::{ClassEntry, LoadedContainer, Scratch};
use driver::packages::{Closing, settle};
use driver::parallel::map_ordered;
use driver::problem::{Problem, Severity};
use driver::shown::shown;
use driver::world::{LoadedWorld, WorldSpec, load};
use export::frame::{FailedClass, FailedMethod, Header, Trailer};
use export::stats::Stats;
use ide::answer::{ClassAnswer, Question, class_answer, declared_methods};
use ide::pattern::{MethodPattern, Nearest, NoMatch};
use ide::{MethodName, Text};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::args::{Global, InputArgs, SelectArgs};
use crate::progress::Progress;
use crate::refused::Refusal;
use crate::report::{self, Outcome, count};

/// What the settings and inputs ask to be opened.
pub(crate) fn spec(settings: &Settings, input: &InputArgs) -> WorldSpec {
    WorldSpec {
        inputs: input.inputs.clone(),
        class_path: settings.class_path.value.clone(),
        module_path: settings.module_path.value.clone(),
        jdk: settings.jdk.value.clone(),
        release: settings.release.value,
    }
}

/// What all commands do the same way.
pub(crate) struct Run<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) global: &'a Global,
    spec: WorldSpec,
    world: LoadedWorld,
    /// Which packages are closed, and what was assumed for it.
    pub(crate) closing: Closing,
    patterns: Vec<MethodPattern>,
    /// Answers that were made when the whole program was read, by the number of the class.
    kept: Vec<Option<ClassAnswer>>,
    /// The methods that the result is about, if not all that are selected.
    reached: Option<FxHashSet<MethodName>>,
    /// Why classes are not shown after all, by their numbers.
    passed_over: FxHashMap<usize, String>,
    /// All definitions that another one stands before, by container and entry.
    lost: FxHashSet<(usize, usize)>,
    /// What could not be taken apart when the whole program was read, in class-path order.
    unread: Vec<Unread>,
    /// Those of them that are shown, by the numbers of the classes.
    unread_shown: FxHashMap<usize, usize>,
    /// How the reading of the whole program ended.
    outcome: Outcome,
    /// How long opening and listing took.
    opening: Duration,
}

/// What a command makes of each class.
pub(crate) trait Maker: Sync {
    /// Whether it needs graphs.
    const GRAPHS: bool;
    /// Whether it needs to know what took how long, and how many instructions there are.
    const FIGURES: bool;

    /// Appends the piece of the result for a class, which is the `number`th of the run.
    fn make(&self, place: &str, number: usize, class: &ClassAnswer, out: &mut Vec<u8>);

    /// What is to be said of the class besides.
    fn notes(&self, _class: &ClassAnswer) -> Vec<String> {
        Vec::new()
    }

    /// Adds what is known when all pieces are made.
    fn finish(&self, _trailer: &mut Trailer) {}
}

/// What a run comes to besides the result.
pub(crate) struct Summary {
    pub(crate) trailer: Trailer,
    pub(crate) stats: Stats,
    pub(crate) outcome: Outcome,
}

/// What is kept when the whole program was read. Numbers are those of the classes that are shown.
#[derive(Default)]
pub(crate) struct Kept {
    /// The answers that were made on the way.
    pub(crate) answers: Vec<Option<ClassAnswer>>,
    /// The classes that are not shown after all, and why.
    pub(crate) passed_over: FxHashMap<usize, String>,
    /// All definitions that another one stands before, by container and entry.
    pub(crate) lost: FxHashSet<(usize, usize)>,
    /// What is wrong with the supertypes of classes.
    pub(crate) problems: Vec<Problem>,
    /// What could not be taken apart, in class-path order.
    pub(crate) unread: Vec<Unread>,
    /// Whether something panicked.
    pub(crate) outcome: Outcome,
}

/// A class that could not be taken apart when the whole program was read.
pub(crate) struct Unread {
    /// Its number, if the result shows it.
    pub(crate) number: Option<usize>,
    /// What is said of it.
    pub(crate) class: FailedClass,
}

/// A class to look at.
pub(crate) struct Item<'a> {
    pub(crate) number: usize,
    pub(crate) container: &'a LoadedContainer,
    pub(crate) entry: &'a ClassEntry,
}

/// What a worker makes of a class.
#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    failed_class: Option<FailedClass>,
    failed_methods: Vec<FailedMethod>,
    notes: Vec<(String, String)>,
    stats: Stats,
    /// How many selected methods are left out because they are not reached.
    unreached: usize,
    /// For each pattern, whether it selected something here.
    matched: Vec<bool>,
}

/// What a worker keeps from class to class.
#[derive(Default)]
struct Worker {
    read: Scratch,
    lower: ide::Scratch,
}

impl<'a> Run<'a> {
    /// Reads the patterns and opens the inputs.
    pub(crate) fn open(
        settings: &'a Settings,
        global: &'a Global,
        input: &InputArgs,
        select: &SelectArgs,
    ) -> anyhow::Result<Self> {
        let begin = Instant::now();
        let spec = spec(settings, input);
        // Before anything is opened: a pattern that cannot be read needs no world.
        let patterns = patterns(&select.methods)?;
        let mut world = load(&spec)?;
        let closing = settle(&mut world, settings);
        let run = Run {
            settings,
            global,
            spec,
            world,
            closing,
            patterns,
            kept: Vec::new(),
            reached: None,
            passed_over: FxHashMap::default(),
            lost: FxHashSet::default(),
            unread: Vec::new(),
            unread_shown: FxHashMap::default(),
            outcome: Outcome::Fine,
            opening: begin.elapsed(),
        };
        if global.verbose {
            run.print_containers();
        }
        Ok(run)
    }

    /// What could not be opened, listed or taken apart, for results that do not pass over classes.
    pub(crate) fn trailer(&self) -> Trailer {
        self.trailer_with(|_| true)
    }

    /// The same, but of what could not be taken apart only some.
    fn trailer_with(&self, wanted: impl Fn(&Unread) -> bool) -> Trailer {
        let mut trailer = Trailer::default();
        for it in &self.world.problems {
            self.problem(&mut trailer, it);
        }
        let unread = self.unread.iter().filter(|it| wanted(it));
        trailer.failed_classes.extend(unread.map(|it| it.class.clone()));
        trailer
    }

    /// How the reading of the whole program ended.
    pub(crate) fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Whether it was said already that what is at the place cannot be read.
    pub(crate) fn is_told(&self, place: &str) -> bool {
        self.world.problems.iter().any(|it| it.severity == Severity::Error && it.place == place)
    }

    /// What was asked to be opened.
    pub(crate) fn spec(&self) -> &WorldSpec {
        &self.spec
    }

    /// The world that was opened.
    pub(crate) fn world(&self) -> &LoadedWorld {
        &self.world
    }

    /// What the answers rest on.
    pub(crate) fn header(&self, command: &'static str, assumptions: &[&str]) -> Header {
        header(&self.world, command, assumptions)
    }

    fn print_containers(&self) {
        for it in &self.world.containers {
            let n = it.classes.len();
            eprintln!("{:>4} {:>7} {}", it.role.name(), n, it.name);
        }
    }

    /// Makes the result: `write` gets the pieces in class-path order, then directory order.
    ///
    /// # Errors
    /// Those of `write`, and a pattern that selects nothing.
    pub(crate) fn classes<M: Maker>(
        &self,
        maker: &M,
        result_on_terminal: bool,
        mut write: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> anyhow::Result<Summary> {
        // Classes that are shown come up below.
        let mut trailer = self.trailer_with(|it| it.number.is_none());
        let items = self.items(&mut trailer);
        let mut stats = Stats::default();
        stats.cpu.read = self.opening;
        let mut matched = vec![false; self.patterns.len()];
        let mut outcome = self.outcome;
        let mut progress = Progress::new(items.len(), self.global.quiet, result_on_terminal);
        let mut index = 0;
        let work = |worker: &mut Worker, item: &Item<'_>| self.piece(maker, worker, item);
        let mut unreached = 0;
        let done = map_ordered(&items, self.settings.threads.value, Worker::default, work, |piece| {
            progress.step();
            let item = &items[index];
            index += 1;
            let piece = piece.unwrap_or_else(|panicked| {
                outcome = Outcome::Bug;
                let failed = Refusal::Panic(panicked).failed(item.container.display(item.entry));
                Piece { failed_class: Some(failed), ..Piece::default() }
            });
            trailer.failed_classes.extend(piece.failed_class);
            trailer.failed_methods.extend(piece.failed_methods);
            trailer.notes.extend(piece.notes);
            unreached += piece.unreached;
            stats.add(&piece.stats);
            matched.iter_mut().zip(&piece.matched).for_each(|(all, &here)| *all |= here);
            match write(&piece.bytes) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error),
            }
        })?;
        progress.finish();
        if let ControlFlow::Break(error) = done {
            return Err(error.into());
        }
        self.check_patterns(&matched, &items, &trailer)?;
        if unreached > 0 {
            let what = format!("{} not reached from the entry points; left out", are(unreached));
            trailer.notes.push(("--rta".to_owned(), what));
        }
        Ok(Summary { trailer, stats, outcome })
    }

    /// The selected methods of the program, in order.
    ///
    /// # Errors
    /// A pattern that selects nothing.
    pub(crate) fn selected(&self) -> anyhow::Result<Vec<MethodName>> {
        let items = self.items(&mut Trailer::default());
        let mut matched = vec![false; self.patterns.len()];
        let mut scratch = Scratch::default();
        let mut acc = Vec::new();
        for item in items.iter().filter(|it| !self.passed_over.contains_key(&it.number)) {
            if let Ok(class) = item.container.bytes(item.entry, &mut scratch) {
                let methods = declared_methods(class.bytes);
                acc.extend(methods.into_iter().filter(|it| self.selects(it, &mut matched)));
            }
        }
        self.check_patterns(&matched, &items, &self.trailer())?;
        Ok(acc)
    }

    /// The classes of the program in order, without those that the JVM would not find.
    pub(crate) fn items(&self, trailer: &mut Trailer) -> Vec<Item<'_>> {
        let shown = shown(&self.world);
        trailer.notes.extend(shown.left_out);
        let item = |(number, (container, entry)): (usize, (usize, usize))| {
            let container = &*self.world.containers[container];
            Item { number, container, entry: &container.classes[entry] }
        };
        shown.classes.into_iter().enumerate().map(item).collect()
    }

    /// The classes that are shown and that no path leads to: class files that are inputs themselves, and what lies where the JVM
    /// does not look for it.
    pub(crate) fn elsewhere(&self) -> Vec<(Text, &LoadedContainer, &ClassEntry)> {
        let items = self.items(&mut Trailer::default());
        let items = items.iter().filter(|it| !self.passed_over.contains_key(&it.number));
        let mut scratch = Scratch::default();
        let elsewhere = items.filter_map(|it| {
            let class = match self.kept.get(it.number) {
                Some(Some(answer)) => answer.class,
                _ => declared_methods(it.container.bytes(it.entry, &mut scratch).ok()?.bytes).first()?.class,
            };
            let is_there = it.entry.path().strip_suffix(".class") == Some(class.to_string().as_str());
            (!is_there).then_some((class, it.container, it.entry))
        });
        elsewhere.collect()
    }

    /// Whether the entry of the container is not the one that defines its class, as far as that was found out.
    pub(crate) fn is_lost(&self, place: (usize, usize)) -> bool {
        self.lost.contains(&place)
    }

    fn problem(&self, trailer: &mut Trailer, it: &Problem) {
        match it.severity {
            Severity::Note => trailer.notes.push((it.place.clone(), it.what.clone())),
            Severity::Error => trailer.failed_classes.push(FailedClass {
                place: it.place.clone(),
                reason: it.what.clone(),
                offset: None,
                jvms: None,
            }),
        }
    }

    /// The work on one class.
    fn piece<M: Maker>(&self, maker: &M, worker: &mut Worker, item: &Item<'_>) -> Piece {
        let place = item.container.display(item.entry);
        let mut piece = Piece { matched: vec![false; self.patterns.len()], ..Piece::default() };
        if let Some(why) = self.passed_over.get(&item.number) {
            piece.notes.push((place, why.clone()));
            return piece;
        }
        if let Some(Some(answer)) = self.kept.get(item.number) {
            let methods = answer.methods.iter().map(|it| it.method);
            let others = answer.failed.iter().map(|it| it.method);
            let others = others.chain(answer.without_code.iter().map(|it| it.0));
            for it in methods.chain(others) {
                self.selects(&it, &mut piece.matched);
            }
            self.finish(maker, item, place, answer, &mut piece);
            return piece;
        }
        if let Some(it) = self.unread_shown.get(&item.number) {
            piece.failed_class = self.unread.get(*it).map(|it| it.class.clone());
            return piece;
        }
        let begin = Instant::now();
        let clock = || begin.elapsed();
        let class = match item.container.bytes(item.entry, &mut worker.read) {
            Ok(it) => it,
            Err(it) => {
                piece.failed_class = Some(Refusal::Bytes(it).failed(place));
                return piece;
            }
        };
        piece.notes.extend(class.note.map(|it| (it.place, it.what)));
        piece.stats.cpu.read = begin.elapsed();
        let matched = std::cell::RefCell::new(&mut piece.matched);
        let select = |method: &MethodName| self.selects(method, &mut matched.borrow_mut());
        let question = Question {
            select: &select,
            graphs: M::GRAPHS,
            clock: M::FIGURES.then_some(&clock as &dyn Fn() -> _),
        };
        let answer = match class_answer(class.bytes, &question, &mut worker.lower) {
            Ok(it) => it,
            Err(it) => {
                piece.failed_class = Some(Refusal::Class(it).failed(place));
                return piece;
            }
        };
        figures(&mut piece.stats, &answer, class.bytes, M::FIGURES);
        self.finish(maker, item, place, &answer, &mut piece);
        piece
    }

    /// What is made of the answer about a class.
    fn finish<M: Maker>(
        &self,
        maker: &M,
        item: &Item<'_>,
        place: String,
        answer: &ClassAnswer,
        piece: &mut Piece,
    ) {
        let notes = [misplaced(item, answer), answer.note.clone()];
        piece.notes.extend(notes.into_iter().flatten().map(|it| (place.clone(), it)));
        let reached = self.reached.as_ref().map(|it| only(answer, it));
        let answer = match &reached {
            Some((answer, left_out)) => {
                piece.unreached = *left_out;
                answer
            }
            None => answer,
        };
        piece.notes.extend(maker.notes(answer).into_iter().map(|it| (place.clone(), it)));
        maker.make(&place, item.number, answer, &mut piece.bytes);
        let failed = answer.failed.iter();
        piece.failed_methods = failed
            .map(|it| FailedMethod { place: place.clone(), method: it.method, fault: it.fault.clone() })
            .collect();
    }

    /// Keeps answers that were made on the way, by the numbers of their classes.
    /// Classes that another definition stands before are not shown: what is known of the whole is not about them.
    pub(crate) fn keep(&mut self, kept: Kept) {
        (self.kept, self.passed_over, self.lost) = (kept.answers, kept.passed_over, kept.lost);
        (self.unread, self.outcome) = (kept.unread, kept.outcome);
        let unread = self.unread.iter().enumerate();
        self.unread_shown = unread.filter_map(|(i, it)| Some((it.number?, i))).collect();
        self.world.problems.extend(kept.problems);
    }

    /// From now on the result is about these methods only.
    pub(crate) fn keep_reached(&mut self, methods: Vec<MethodName>) {
        self.reached = Some(methods.into_iter().collect());
    }

    /// Whether some pattern selects the method, or there is none.
    pub(crate) fn selected_by_any(&self, method: &MethodName) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|it| it.selects(method))
    }

    fn selects(&self, method: &MethodName, matched: &mut [bool]) -> bool {
        let mut any = self.patterns.is_empty();
        for (pattern, matched) in self.patterns.iter().zip(matched) {
            if pattern.selects(method) {
                *matched = true;
                any = true;
            }
        }
        any
    }

    /// A pattern that selects nothing is an error that names the nearest method. What could not be read is said before:
    /// the method may be there.
    fn check_patterns(&self, matched: &[bool], items: &[Item<'_>], trailer: &Trailer) -> anyhow::Result<()> {
        let unmatched = self.patterns.iter().zip(matched).find(|it| !it.1).map(|it| it.0);
        let Some(pattern) = unmatched else { return Ok(()) };
        report::print(trailer, self.global);
        let mut nearest = Nearest::default();
        let mut scratch = Scratch::default();
        for item in items {
            if let Ok(class) = item.container.bytes(item.entry, &mut scratch) {
                declared_methods(class.bytes).iter().for_each(|it| nearest.offer(pattern, it));
            }
        }
        if items.is_empty() {
            bail!("no method matches `{}`: the inputs hold no class", pattern.written);
        }
        Err(NoMatch { pattern: pattern.written.clone(), nearest: nearest.method() }.into())
    }
}

/// What answers about a world rest on.
pub(crate) fn header(world: &LoadedWorld, command: &'static str, assumptions: &[&str]) -> Header {
    Header {
        command,
        version: env!("CARGO_PKG_VERSION"),
        jdk: world.jdk.as_ref().map(driver::jdk::JdkInfo::description),
        release: world.release,
        profile: "jvm",
        world: "open",
        names: None,
        vm_error_groups: vec!["init"],
        assumptions: assumptions.iter().map(|it| (*it).to_owned()).collect(),
        containers: world.containers.iter().map(|it| (it.name.clone(), it.role.name())).collect(),
    }
}

pub(crate) fn are(n: usize) -> String {
    format!("{} {}", count(n, "method", "methods"), if n == 1 { "is" } else { "are" })
}

/// The answer without the methods that are not among these, and how many those are.
fn only(answer: &ClassAnswer, methods: &FxHashSet<MethodName>) -> (ClassAnswer, usize) {
    let mut answer = answer.clone();
    let mut left_out = 0;
    let mut keep = |it: &MethodName| {
        let keep = methods.contains(it);
        left_out += usize::from(!keep);
        keep
    };
    answer.methods.retain(|it| keep(&it.method));
    answer.failed.retain(|it| keep(&it.method));
    // Abstract methods are reached by nobody.
    answer.without_code.retain(|it| methods.contains(&it.0));
    (answer, left_out)
}

/// Reads patterns.
pub(crate) fn patterns(texts: &[String]) -> anyhow::Result<Vec<MethodPattern>> {
    texts.iter().map(|it| MethodPattern::parse(it)).collect::<Result<_, _>>().map_err(anyhow::Error::msg)
}

/// Whether the JVM looks for the class elsewhere.
fn misplaced(item: &Item<'_>, class: &ClassAnswer) -> Option<String> {
    if item.container.has_paths { defines_elsewhere(item.entry.path(), class.class) } else { None }
}

/// Whether the JVM looks for a class elsewhere than at this path.
pub(crate) fn defines_elsewhere(path: &str, class: Text) -> Option<String> {
    let path = path.strip_suffix(".class")?;
    let name = class.to_string();
    (path != name).then(|| format!("defines the class {name}, which the JVM does not look for here"))
}

fn figures(stats: &mut Stats, class: &ClassAnswer, bytes: &[u8], all: bool) {
    stats.classes = 1;
    stats.methods = class.selected as u64;
    if !all {
        return;
    }
    stats.bytes = bytes.len() as u64;
    stats.cpu.decode = class.times.decode;
    stats.cpu.lower = class.times.lower;
    stats.cpu.flow = class.times.flow;
    stats.instructions = class.times.instructions;
    for it in &class.methods {
        stats.bir_instructions += it.code.body.instrs.len() as u64;
        stats.nodes += it.graph.nodes.len() as u64;
        stats.edges += it.graph.edges.len() as u64;
    }
}
