//! One pass over the shown classes: worker threads make the output for each class, which is written in class order.

use std::io;
use std::ops::ControlFlow;
use std::time::Instant;

use driver::container::{ClassEntry, LoadedContainer, Scratch};
use driver::parallel::map_ordered;
use export::frame::{FailedClass, FailedMethod, Trailer};
use export::stats::Stats;
use ide::answer::{ClassAnswer, Question, class_answer, declared_methods};
use ide::{MethodName, Role, Text};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::known::Known;
use crate::progress::Progress;
use crate::refused::Refusal;
use crate::report::{Outcome, count};
use crate::run::{Run, ShownClass};

/// Makes the output of a command. The result of a run consists of pieces, one for each class.
pub(crate) trait Maker: Sync {
    /// Whether the command needs the graph of each method.
    const GRAPHS: bool;
    /// Whether the command needs the time of each stage and the number of instructions.
    const FIGURES: bool;

    /// Appends the piece of the result for a class. `place` is the path of the class file as shown to people,
    /// `number` the index of the class among the shown classes.
    fn make(&self, place: &str, number: usize, class: &ClassAnswer, out: &mut Vec<u8>);

    /// Returns notes about the class, to be reported after the result.
    fn notes(&self, _class: &ClassAnswer) -> Vec<String> {
        Vec::new()
    }

    /// Returns the lines that end text output, after the pieces of all classes are made.
    fn summary(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Adds to the trailer the facts that are known only after the pieces of all classes are made.
    fn finish(&self, _trailer: &mut Trailer) {}
}

/// The results of a pass over all shown classes, except for the pieces of output, which were written during the pass.
pub(crate) struct Summary {
    pub(crate) trailer: Trailer,
    pub(crate) stats: Stats,
    pub(crate) outcome: Outcome,
}

/// The piece of the result for one class, with its problems and figures.
#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    failed_class: Option<FailedClass>,
    failed_methods: Vec<FailedMethod>,
    notes: Vec<(String, String)>,
    stats: Stats,
    /// The number of selected methods that are left out because they are not reached from the entry points.
    unreached: usize,
    /// For each pattern, whether it selects a method of this class.
    matched: Vec<bool>,
}

/// Whether a method is selected.
pub(crate) type Selects<'a> = dyn Fn(&MethodName) -> bool + 'a;

/// The methods that patterns select.
pub(crate) struct Selected {
    /// The methods of the program in class-path order, then those of libraries and of the JDK.
    pub(crate) methods: Vec<MethodName>,
    roles: FxHashMap<MethodName, Role>,
}

impl Selected {
    /// Returns the text that follows the name of a method in the output; empty for a method of the program.
    pub(crate) fn about(&self, method: MethodName) -> &'static str {
        match self.roles.get(&method) {
            Some(Role::Jdk) => "  (a method of the JDK)",
            Some(Role::Lib) => "  (a method of a library)",
            Some(Role::App) | None => "",
        }
    }
}

/// Buffers that a worker reuses for each class.
#[derive(Default)]
struct PassScratch {
    read: Scratch,
    lower: ide::Scratch,
}

/// A pass over the shown classes of a run, which makes the output for each of them.
pub(crate) struct Pass<'a> {
    run: &'a Run<'a>,
    known: &'a Known,
    /// The classes that are known to be unreadable, by the index of the class among the shown classes.
    failed: FxHashMap<usize, &'a FailedClass>,
}

impl<'a> Pass<'a> {
    /// Returns a pass over the classes of `run` that reuses the facts in `known`.
    pub(crate) fn new(run: &'a Run<'a>, known: &'a Known) -> Self {
        let failed = known.unread.iter().filter_map(|it| Some((it.number?, &it.class))).collect();
        Pass { run, known, failed }
    }

    /// Makes the result. Calls `write` with the pieces of output in class-path order; the pieces of one container are
    /// in directory order.
    ///
    /// # Errors
    /// An error of `write`, or a pattern that selects no method.
    pub(crate) fn classes<M: Maker>(
        &self,
        maker: &M,
        result_on_terminal: bool,
        mut write: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> anyhow::Result<Summary> {
        // Unreadable classes that are shown are reported when the pass reaches them.
        let mut trailer = self.known.trailer_with(self.run, |it| it.number.is_none());
        let items = self.run.shown(&mut trailer);
        let mut stats = Stats::default();
        stats.cpu.read = self.run.opening;
        let mut matched = vec![false; self.run.n_patterns()];
        let mut outcome = self.known.outcome;
        let mut progress = Progress::new(items.len(), self.run.global.quiet, result_on_terminal);
        let mut index = 0;
        let work = |worker: &mut PassScratch, item: &ShownClass<'_>| self.piece(maker, worker, item);
        let mut unreached = 0;
        let done =
            map_ordered(&items, self.run.settings.threads.value, PassScratch::default, work, |piece| {
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
        self.run.check_patterns(&matched, &items, &trailer)?;
        if unreached > 0 {
            let what = unreached_text(unreached);
            trailer.notes.push((self.known.reaching_flag.to_owned(), what));
        }
        Ok(Summary { trailer, stats, outcome })
    }

    /// Returns the selected methods of the program in class-path order, then the methods of libraries and of the JDK
    /// that are selected by patterns which select no method of the program. `library` returns the methods of libraries
    /// and of the JDK that its argument accepts.
    ///
    /// # Errors
    /// A pattern that selects no method.
    pub(crate) fn selected(
        &self,
        library: impl Fn(&Selects<'_>) -> Vec<(MethodName, Role)>,
    ) -> anyhow::Result<Selected> {
        let items = self.run.shown(&mut Trailer::default());
        let mut matched = vec![false; self.run.n_patterns()];
        let mut scratch = Scratch::default();
        let mut acc = Vec::new();
        for item in items.iter().filter(|it| !self.known.left_out.contains_key(&it.number)) {
            if let Ok(class) = item.container.bytes(item.entry, &mut scratch)
                && item.container.misplaced(item.entry, class.bytes).is_none()
            {
                let methods = declared_methods(class.bytes);
                acc.extend(methods.into_iter().filter(|it| self.run.selects_noting(it, &mut matched)));
            }
        }
        let mut roles = FxHashMap::default();
        for (pattern, matched) in self.run.patterns().iter().zip(&mut matched).filter(|it| !*it.1) {
            let found = library(&|it| pattern.selects(it));
            *matched = !found.is_empty();
            acc.extend(found.iter().map(|it| it.0).filter(|it| !roles.contains_key(it)));
            roles.extend(found);
        }
        self.run.check_patterns(&matched, &items, &self.known.trailer(self.run))?;
        Ok(Selected { methods: acc, roles })
    }

    /// Returns the shown classes whose path does not match their name: class files that are inputs themselves or in
    /// folders of loose class files.
    pub(crate) fn elsewhere(&self) -> Vec<(Text, &'a LoadedContainer, &'a ClassEntry)> {
        let items = self.run.shown(&mut Trailer::default());
        let items = items.iter().filter(|it| !self.known.left_out.contains_key(&it.number));
        let mut scratch = Scratch::default();
        let elsewhere = items.filter_map(|it| {
            let class = match self.known.answers.get(it.number) {
                Some(Some(answer)) => answer.class,
                _ => declared_methods(it.container.bytes(it.entry, &mut scratch).ok()?.bytes).first()?.class,
            };
            let is_there = it.entry.path().strip_suffix(".class") == Some(class.to_string().as_str());
            (!is_there).then_some((class, it.container, it.entry))
        });
        elsewhere.collect()
    }

    /// Returns the piece of the result for one class.
    fn piece<M: Maker>(&self, maker: &M, worker: &mut PassScratch, item: &ShownClass<'_>) -> Piece {
        let place = item.container.display(item.entry);
        let mut piece = Piece { matched: vec![false; self.run.n_patterns()], ..Piece::default() };
        if let Some(why) = self.known.left_out.get(&item.number) {
            piece.notes.push((place, why.clone()));
            return piece;
        }
        if let Some(Some(answer)) = self.known.answers.get(item.number) {
            let methods = answer.methods.iter().map(|it| it.method);
            let others = answer.failed.iter().map(|it| it.method);
            let others = others.chain(answer.without_code.iter().map(|it| it.0));
            for it in methods.chain(others) {
                self.run.selects_noting(&it, &mut piece.matched);
            }
            self.finish(maker, item, place, answer, &mut piece);
            return piece;
        }
        if let Some(it) = self.failed.get(&item.number) {
            piece.failed_class = Some((*it).clone());
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
        if let Some(why) = item.container.misplaced(item.entry, class.bytes) {
            piece.notes.push((place, why));
            return piece;
        }
        piece.stats.cpu.read = begin.elapsed();
        let matched = std::cell::RefCell::new(&mut piece.matched);
        let select = |method: &MethodName| self.run.selects_noting(method, &mut matched.borrow_mut());
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

    /// Completes `piece`, the piece of the result for a class, from the answer about the class.
    fn finish<M: Maker>(
        &self,
        maker: &M,
        item: &ShownClass<'_>,
        place: String,
        answer: &ClassAnswer,
        piece: &mut Piece,
    ) {
        piece.notes.extend(answer.note.clone().map(|it| (place.clone(), it)));
        let reached = self.known.reached.as_ref().map(|it| only(answer, it));
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
}

/// Returns the note that `n` methods are not in the result, because they are not reached.
pub(crate) fn unreached_text(n: usize) -> String {
    let methods_are = count(n, "method is", "methods are");
    format!("{methods_are} not reached from the entry points, and therefore not in the result")
}

/// Returns the answer restricted to the methods in `methods`, and the number of methods with code that were removed
/// from it.
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
    // Methods without code are not counted: abstract methods are never reached.
    answer.without_code.retain(|it| methods.contains(&it.0));
    (answer, left_out)
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
