//! A session keeps one answer current: the client reports a change, and the session returns what changed in the
//! answer.
//!
//! A [`Session`] owns the host and the last answer. [`Session::job`] returns work that any number of threads can do:
//! first they analyse the classes of [`Job::edited`], then [`Job::update`] finds the classes whose answer is stale,
//! and [`Job::class`] recomputes only those. A change that arrives meanwhile cancels the work
//! ([`Cancelled`](crate::host::Cancelled)); the differences are then reported together with those of the next change.

use std::collections::BTreeMap;
use std::sync::Arc;

use analysis::answers::Calls;
use analysis::facts::{ClassFacts, ClassPositions, Code, MethodFact};
use analysis::fault::Fault;
use analysis::parts::MethodCode;
use analysis::pattern::MethodPattern;
use analysis::stamps::Kind;
use analysis::whole::answers::Throws;
use analysis::whole::graph::Graph;
use analysis::whole::missing::Missing;
use bir::positions::Positions;
use program::names::{MethodName, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use vfs::file::FileId;

use crate::Counts;
use crate::change::{Change, Listing};
use crate::difference::{
    Changed, MethodAnswer, MethodState, difference, entry_difference, missing_difference,
};
use crate::entries::Entry;
use crate::explain::Scope;
use crate::explained::Places;
use crate::host::{Analysis, AnalysisHost, Cancellable, Definition, ProgramState};

/// The kind of answer that a session keeps current.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// The edges of final graphs.
    Graphs,
    /// The targets of calls.
    Calls,
    /// The exceptions that leave methods.
    Throws,
    /// The stackless form of methods.
    Bodies,
    /// The missing classes.
    Missing,
    /// The entry points.
    Entries,
    /// The reasons for the exceptions that leave methods and for the targets of calls.
    Explanations(Explained),
}

/// The parts of each method that are explained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Explained {
    /// If given, only the instructions at this pc are explained.
    pub pc: Option<u16>,
    /// If given, only exceptions of this class and its subclasses are explained.
    pub exception: Option<Text>,
    /// The maximum number of receivers listed for a target.
    pub receivers: usize,
}

/// The question that a session answers.
#[derive(Clone, Debug)]
pub struct Question {
    /// The kind of answer.
    pub subject: Subject,
    /// Patterns for the methods to show; if there are none, all methods are shown.
    pub shown: Vec<MethodPattern>,
    /// Patterns for targets: only calls that may run a matching method are shown; if there are none, all calls are
    /// shown.
    pub to: Vec<MethodPattern>,
}

/// The answer about one class.
#[derive(Clone, Debug, Default)]
pub struct ClassState {
    /// The name of the class; `None` if the file cannot be read.
    pub class: Option<Text>,
    /// The answers about the methods of the class.
    pub methods: Vec<MethodState>,
    /// A note about irregularities of the class file, if there are any.
    pub note: Option<String>,
    /// The reason why the file cannot be read; `None` if it can be read.
    pub failed: Option<Fault>,
    /// The shown methods whose code cannot be read, each with the reason.
    pub failed_methods: Vec<(MethodName, Fault)>,
    /// The class definition that shadows the definition in this file, if there is one.
    pub shadowed: Option<Definition>,
    /// For each pattern in [`Question::shown`], whether it selects a method of this class.
    pub matched: Vec<bool>,
    /// The number of methods of the class.
    pub n_methods: usize,
    /// The number of shown methods with code that are not reached; 0 if reachability was not computed.
    pub n_unreached: usize,
}

/// The part of the answer that is about the program as a whole.
#[derive(Clone, Debug, Default)]
pub struct WholeState {
    /// The generation of the program, its hierarchy faults, and the errors of its entry points.
    pub program: ProgramState,
    missing: Arc<[Missing]>,
    entries: Vec<Entry>,
}

/// A question and its current answer, with the host that computes it.
pub struct Session {
    host: AnalysisHost,
    question: Arc<Question>,
    /// The files whose classes are shown, in order.
    shown: Arc<[FileId]>,
    places: Arc<FxHashMap<FileId, usize>>,
    /// The shown files with classes that have no computed answer yet.
    unasked: Arc<FxHashSet<FileId>>,
    /// The files whose classes changed since the last answer.
    edited: FxHashSet<FileId>,
    /// The classes whose analysis panicked, each with the panic message. They are left out of the program.
    broken: FxHashMap<FileId, String>,
    /// The containers as last reported by the client, including the classes whose analysis panicked; `None` before
    /// the first report.
    listings: Option<Vec<Listing>>,
    /// The answer about each shown class.
    states: FxHashMap<FileId, ClassState>,
    /// For each class name in the answer, the shown files that define a class of this name.
    files: Arc<FxHashMap<Text, Vec<FileId>>>,
    /// The shown files whose classes have methods that the question's patterns select.
    selected: Arc<FxHashSet<FileId>>,
    /// The number of readable classes and the number of methods that the answer covers.
    n: (usize, usize),
    whole: WholeState,
}

/// The work that recomputes the answer after a change: a snapshot that any number of threads can share.
#[derive(Clone)]
pub struct Job {
    analysis: Analysis,
    question: Arc<Question>,
    shown: Arc<[FileId]>,
    places: Arc<FxHashMap<FileId, usize>>,
    unasked: Arc<FxHashSet<FileId>>,
    edited: Arc<FxHashSet<FileId>>,
    /// For each class name in the answer, the shown files that define a class of this name.
    known: Arc<FxHashMap<Text, Vec<FileId>>>,
    /// The shown files whose classes have methods that the question's patterns select.
    selected: Arc<FxHashSet<FileId>>,
    /// Maps class files to paths for people.
    display: Arc<dyn Places>,
    generation: Option<u64>,
}

/// The result of [`Job::update`]: what must be recomputed, and the answer about the whole program.
pub struct Update {
    /// The files of the classes about which the answer must be recomputed.
    pub stale: Vec<FileId>,
    /// The answer about the program as a whole.
    pub whole: WholeState,
}

impl Session {
    /// Creates a session without any class.
    pub fn new(question: Question) -> Self {
        Session {
            host: AnalysisHost::new(),
            question: Arc::new(question),
            shown: Arc::default(),
            places: Arc::default(),
            unasked: Arc::default(),
            edited: FxHashSet::default(),
            broken: FxHashMap::default(),
            listings: None,
            states: FxHashMap::default(),
            files: Arc::default(),
            selected: Arc::default(),
            n: (0, 0),
            whole: WholeState::default(),
        }
    }

    /// Applies a change. `shown` are the files whose classes are shown, in order, or `None` if that list did not
    /// change. Cancels running jobs, and waits until they end.
    pub fn apply(&mut self, mut change: Change, shown: Option<Vec<FileId>>) {
        let n_broken = self.broken.len();
        change.classes.iter().for_each(|it| _ = self.broken.remove(&it.0));
        if let Some(it) = change.containers.take() {
            change.containers = Some(self.without_broken(&it));
            self.listings = Some(it);
        } else if self.broken.len() < n_broken {
            // A class that was left out has changed and is part of the program again.
            change.containers = self.listings.as_ref().map(|it| self.without_broken(it));
        }
        self.edited.extend(self.host.apply_change(change));
        if let Some(it) = shown {
            self.places = Arc::new(it.iter().copied().zip(0..).collect());
            self.unasked = Arc::new(it.iter().copied().filter(|it| !self.states.contains_key(it)).collect());
            self.shown = it.into();
        }
    }

    /// Leaves these classes, whose analysis panicked with the given messages, out of the program until they change.
    pub fn leave_out(&mut self, classes: Vec<(FileId, String)>) {
        self.broken.extend(classes);
        if let Some(it) = &self.listings {
            let containers = Some(self.without_broken(it));
            self.host.apply_change(Change { containers, ..Change::default() });
        }
    }

    fn without_broken(&self, listings: &[Listing]) -> Vec<Listing> {
        let mut listings = listings.to_vec();
        for it in &mut listings {
            match it {
                Listing::Classes(it) => it.classes.retain(|it| !self.broken.contains_key(it)),
                Listing::Library { .. } => {}
            }
        }
        listings
    }

    /// Returns the job that computes the answer for the current inputs. `display` maps class files to paths for
    /// people.
    pub fn job(&self, display: Arc<dyn Places>) -> Job {
        Job {
            analysis: self.host.analysis(),
            question: Arc::clone(&self.question),
            shown: Arc::clone(&self.shown),
            places: Arc::clone(&self.places),
            unasked: Arc::clone(&self.unasked),
            edited: Arc::new(self.edited.clone()),
            known: Arc::clone(&self.files),
            selected: Arc::clone(&self.selected),
            display,
            generation: self.whole.program.generation,
        }
    }

    /// Stores the results of a job: the answer about the program, and the answer about each stale class. Returns the
    /// facts that these answers add or remove compared with the previous ones. The caller must drop the job before
    /// this call.
    pub fn take(&mut self, update: Update, classes: Vec<(FileId, ClassState)>) -> Vec<Changed> {
        self.edited.clear();
        let asked: FxHashMap<FileId, usize> = classes.iter().enumerate().map(|(i, it)| (it.0, i)).collect();
        let mut old: Vec<(FileId, ClassState)> = Vec::new();
        // All shown files have an answer now. If there are more answers than shown files, some files are no longer
        // shown.
        let n_new = classes.iter().filter(|it| !self.states.contains_key(&it.0)).count();
        let has_gone = self.states.len() + n_new > self.shown.len();
        let gone = self.states.keys().copied().filter(|it| has_gone && !self.places.contains_key(it));
        let gone: Vec<FileId> = gone.collect();
        for file in gone.into_iter().chain(classes.iter().map(|it| it.0)) {
            if let Some(it) = self.states.remove(&file) {
                self.forget(file, &it);
                old.push((file, it));
            }
        }
        // Report what was removed in the order of the new answer if the file is still shown, else in the order of
        // file numbers.
        old.sort_by_key(|it| (asked.get(&it.0).copied().unwrap_or(usize::MAX), it.0.index()));
        let before: Vec<MethodState> = old.into_iter().flat_map(|it| it.1.methods).collect();
        let now: Vec<MethodState> = classes.iter().flat_map(|it| it.1.methods.iter().cloned()).collect();
        let mut changes = difference(&before, &now);
        for (file, state) in classes {
            if let Some(class) = state.class {
                Arc::make_mut(&mut self.files).entry(class).or_default().push(file);
            }
            if state.matched.contains(&true) {
                Arc::make_mut(&mut self.selected).insert(file);
            }
            let counts = usize::from(state.failed.is_none());
            self.n = (self.n.0 + counts, self.n.1 + state.n_methods);
            if self.unasked.contains(&file) {
                Arc::make_mut(&mut self.unasked).remove(&file);
            }
            self.states.insert(file, state);
        }
        changes.extend(missing_difference(&self.whole.missing, &update.whole.missing));
        changes.extend(entry_difference(&self.whole.entries, &update.whole.entries));
        self.whole = update.whole;
        changes
    }

    fn forget(&mut self, file: FileId, state: &ClassState) {
        let counts = usize::from(state.failed.is_none());
        self.n = (self.n.0 - counts, self.n.1 - state.n_methods);
        if self.selected.contains(&file) {
            Arc::make_mut(&mut self.selected).remove(&file);
        }
        let Some(class) = state.class else { return };
        let files = Arc::make_mut(&mut self.files);
        if let Some(all) = files.get_mut(&class) {
            all.retain(|it| *it != file);
            if all.is_empty() {
                files.remove(&class);
            }
        }
    }

    /// The number of readable classes and the number of methods that the answer covers.
    pub fn n_classes_and_methods(&self) -> (usize, usize) {
        self.n
    }

    /// The answer about the class in a file; `None` if the file is not shown or no answer was computed yet.
    pub fn state(&self, file: FileId) -> Option<&ClassState> {
        self.states.get(&file)
    }

    /// The classes that are left out because their analysis panicked, with the panic messages.
    pub fn broken(&self) -> impl Iterator<Item = (FileId, &str)> {
        self.broken.iter().map(|it| (*it.0, it.1.as_str()))
    }

    /// The answer about the program as a whole.
    pub fn whole(&self) -> &WholeState {
        &self.whole
    }

    /// Whether the class in the file changed since the last answer.
    pub fn is_edited(&self, file: FileId) -> bool {
        self.edited.contains(&file)
    }

    /// Works on the program ahead of the next change, so that the answer to that change takes less time. Call this
    /// when there is nothing else to do. Stops early when `cancelled` returns true.
    pub fn keep_current(&mut self, cancelled: &mut dyn FnMut() -> bool) {
        self.host.keep_current(cancelled);
    }

    /// Returns how often the program was rebuilt, how often it was updated in place, and how many exception sets
    /// these updates changed.
    pub fn counts(&self) -> Counts {
        self.host.counts()
    }
}

impl Job {
    /// Returns the files whose classes changed. Any number of threads can analyse these classes before the update, by
    /// [`Job::prepare`].
    pub fn edited(&self) -> Vec<FileId> {
        self.edited.iter().copied().collect()
    }

    /// The files whose classes are shown, in order.
    pub fn shown(&self) -> Vec<FileId> {
        self.shown.to_vec()
    }

    /// The methods that the class in a file declares, in file order; empty if the class cannot be read.
    ///
    /// # Errors
    /// When a change cancels the job.
    pub fn declared(&self, file: FileId) -> Cancellable<Vec<MethodName>> {
        let parsed = self.analysis.parsed(file)?;
        let facts = parsed.and_then(Result::ok);
        Ok(facts.iter().flat_map(|it| &it.0.methods).map(|it| MethodName::of(it.method)).collect())
    }

    /// Analyses a class by itself.
    ///
    /// # Errors
    /// When a change cancels the job.
    pub fn prepare(&self, file: FileId) -> Cancellable<()> {
        self.analysis.prepare(file)
    }

    /// Brings the program up to date, and finds the classes about which the answer is stale.
    ///
    /// # Errors
    /// When a change cancels the job.
    pub fn update(&self) -> Cancellable<Update> {
        let mut whole = WholeState::default();
        let kind = match self.question.subject {
            Subject::Graphs => Some(Kind::Graphs),
            Subject::Calls => Some(Kind::Calls),
            Subject::Throws => Some(Kind::Throws),
            // If it changes which definitions are used, all classes are stale for any kind of answer.
            Subject::Explanations(_) => Some(Kind::Throws),
            Subject::Bodies | Subject::Missing | Subject::Entries => None,
        };
        if self.question.subject != Subject::Bodies {
            whole.program = self.analysis.program()?;
        }
        match self.question.subject {
            Subject::Missing => whole.missing = self.analysis.missing()?,
            Subject::Entries => {
                let entries = self.analysis.entries()?;
                whole.entries = entries.iter().map(|it| Entry { method: it.0, why: it.1 }).collect();
            }
            Subject::Graphs
            | Subject::Calls
            | Subject::Throws
            | Subject::Bodies
            | Subject::Explanations(_) => {}
        }
        let stale = match (kind, self.generation) {
            (Some(kind), Some(generation)) if whole.program.generation.is_some() => {
                self.analysis.stale_since(generation, kind)?
            }
            (None, _) => Some(Vec::new()),
            _ => None,
        };
        let stale = match stale {
            None => self.shown.to_vec(),
            Some(classes) => {
                let files = classes.iter().filter_map(|it| self.known.get(it)).flatten();
                // Reasons can lead through the code of any class, so all selected classes are asked about. The
                // queries know which reasons are still valid.
                let selected = match self.question.subject {
                    Subject::Explanations(_) => Some(self.selected.iter()),
                    Subject::Graphs
                    | Subject::Calls
                    | Subject::Throws
                    | Subject::Bodies
                    | Subject::Missing
                    | Subject::Entries => None,
                };
                let selected = selected.into_iter().flatten();
                let stale = files.chain(&*self.edited).chain(&*self.unasked).chain(selected);
                let place = |it: &FileId| Some((*self.places.get(it)?, *it));
                let stale: BTreeMap<usize, FileId> = stale.filter_map(place).collect();
                stale.into_values().collect()
            }
        };
        Ok(Update { stale, whole })
    }

    /// The answer about the class in a file.
    ///
    /// # Errors
    /// When a change cancels the job.
    pub fn class(&self, file: FileId) -> Cancellable<ClassState> {
        let (facts, positions) = match self.analysis.parsed(file)? {
            None => return Ok(ClassState::default()),
            Some(Err(fault)) => return Ok(ClassState { failed: Some(fault), ..ClassState::default() }),
            Some(Ok(it)) => it,
        };
        if self.question.subject != Subject::Bodies
            && let Some(fault) = self.analysis.fault(file)?
        {
            return Ok(ClassState { failed: Some(fault), ..ClassState::default() });
        }
        let mut state = ClassState {
            class: Some(Text(facts.head.class.bytes())),
            note: facts.note.clone(),
            n_methods: facts.methods.len(),
            ..ClassState::default()
        };
        state.shadowed = match self.question.subject {
            Subject::Bodies => None,
            Subject::Graphs
            | Subject::Calls
            | Subject::Throws
            | Subject::Missing
            | Subject::Entries
            | Subject::Explanations(_) => self.analysis.shadowed(file)?,
        };
        if state.shadowed.is_some() {
            return Ok(state);
        }
        state.matched = vec![false; self.question.shown.len()];
        for (method, place) in facts.methods.iter().zip(&positions.methods) {
            let name = MethodName::of(method.method);
            let patterns = self.question.shown.iter().zip(&mut state.matched);
            patterns.for_each(|(it, matched)| *matched |= it.selects(&name));
            if let Some(Err(why)) = place
                && self.is_shown(&name)
            {
                state.failed_methods.push((name, why.clone().into()));
            }
        }
        self.methods(file, (&facts, &positions), &mut state)?;
        Ok(state)
    }

    fn is_shown(&self, method: &MethodName) -> bool {
        let patterns = &self.question.shown;
        patterns.is_empty() || patterns.iter().any(|it| it.selects(method))
    }

    /// Adds to `state` the answers about the methods of a class: first methods with code, in file order, then methods
    /// whose code cannot be read, then methods without code.
    fn methods(
        &self,
        file: FileId,
        (facts, positions): (&ClassFacts, &ClassPositions),
        state: &mut ClassState,
    ) -> Cancellable<()> {
        let answers = match self.question.subject {
            Subject::Throws => MethodAnswers::Throws(self.analysis.throws(file)?.unwrap_or_default()),
            Subject::Calls => MethodAnswers::Calls(self.analysis.calls(file)?.unwrap_or_default()),
            Subject::Graphs => {
                let ghosts = self.analysis.ghosts(file)?.unwrap_or_default();
                MethodAnswers::Graphs(self.analysis.graphs(file)?.unwrap_or_default(), ghosts)
            }
            Subject::Bodies => MethodAnswers::Bodies,
            Subject::Missing | Subject::Entries => return Ok(()),
            Subject::Explanations(it) => return self.explained(file, it, (facts, positions), state),
        };
        let reached = self.analysis.reached(file)?;
        let group = |it: &MethodFact| match it.code {
            Code::Known(_) => 0,
            Code::Failed => 1,
            Code::None => 2,
        };
        let mut order: Vec<(usize, &MethodFact)> = facts.methods.iter().enumerate().collect();
        order.sort_by_key(|it| group(it.1));
        for (index, fact) in order {
            let method = MethodName::of(fact.method);
            if !self.is_shown(&method) {
                continue;
            }
            if reached.as_ref().is_some_and(|it| !it.get(index).copied().unwrap_or(true)) {
                state.n_unreached += usize::from(!matches!(fact.code, Code::None));
                continue;
            }
            let code = code(fact, positions, index);
            let answer = answers.of(method, index, code.is_some());
            let answer = answer.map(|it| self.narrowed(it));
            state.methods.extend(answer.map(|answer| MethodState { method, code, answer }));
        }
        Ok(())
    }

    /// Adds to `state` the explanations of the methods of a class, in file order.
    fn explained(
        &self,
        file: FileId,
        asked: Explained,
        (facts, positions): (&ClassFacts, &ClassPositions),
        state: &mut ClassState,
    ) -> Cancellable<()> {
        let wants = |it: &MethodName| self.question.to.iter().any(|pattern| pattern.selects(it));
        for (index, fact) in facts.methods.iter().enumerate() {
            let method = MethodName::of(fact.method);
            if !self.is_shown(&method) {
                continue;
            }
            let scope = Scope {
                method,
                pc: asked.pc,
                exception: asked.exception,
                target: if self.question.to.is_empty() { None } else { Some(&wants) },
                receivers: asked.receivers,
            };
            let explanations = self.analysis.explanations(file, &scope, &*self.display)?;
            let answer = MethodAnswer::Explained(explanations.unwrap_or_default());
            state.methods.push(MethodState { method, code: code(fact, positions, index), answer });
        }
        Ok(())
    }

    /// Restricts an answer about calls to the calls with a target that the question selects. Other answers stay as
    /// they are.
    fn narrowed(&self, answer: MethodAnswer) -> MethodAnswer {
        let to = &self.question.to;
        match answer {
            MethodAnswer::Calls(mut calls) if !to.is_empty() => {
                let goes_to = |it: &MethodName| to.iter().any(|pattern| pattern.selects(it));
                calls.retain(|it| it.targets.iter().chain(&it.possible).any(goes_to));
                MethodAnswer::Calls(calls)
            }
            it => it,
        }
    }
}

/// The code of the method with this index, if it can be read.
fn code(
    fact: &MethodFact,
    positions: &ClassPositions,
    index: usize,
) -> Option<(Arc<MethodCode>, Arc<Positions>)> {
    match (&fact.code, positions.methods.get(index)) {
        (Code::Known(code), Some(Some(Ok(it)))) => Some((Arc::clone(code), Arc::clone(it))),
        (Code::Known(_) | Code::Failed | Code::None, _) => None,
    }
}

/// The answers about the methods of a class, in file order.
enum MethodAnswers {
    Throws(Arc<[Throws]>),
    Calls(Arc<[Calls]>),
    /// The final graph of each method, and whether each method is a ghost.
    Graphs(Arc<[Arc<Graph>]>, Vec<bool>),
    Bodies,
}

impl MethodAnswers {
    /// Returns the answer about the method with this index; `None` if there is no such answer, as for a method
    /// without code.
    fn of(&self, method: MethodName, index: usize, has_code: bool) -> Option<MethodAnswer> {
        match self {
            // If another definition shadows the class, the answer is about the methods of that definition.
            MethodAnswers::Throws(all) => {
                let own = all.get(index).filter(|it| it.method == method);
                let it = own.or_else(|| all.iter().find(|it| it.method == method))?;
                Some(MethodAnswer::Throws(it.clone()))
            }
            MethodAnswers::Calls(all) => all.get(index).map(|it| MethodAnswer::Calls(it.to_vec())),
            MethodAnswers::Graphs(all, ghosts) => {
                let has_graph = has_code && !ghosts.get(index).copied().unwrap_or(false);
                let graph = all.get(index).filter(|_| has_graph)?;
                Some(MethodAnswer::Graph(Arc::clone(graph)))
            }
            MethodAnswers::Bodies => has_code.then_some(MethodAnswer::Body),
        }
    }
}
