//! Answers about a whole program, as far as it is there: where calls go, what methods let out, and why.
//!
//! [`read_class`] takes one class apart, for as many workers as there are; [`Whole::new`] joins what they made.

use analysis::fault::Fault;
use analysis::parts::{MethodCode, Scratch};
use analysis::whole::answers::{Call, Throws};
use analysis::whole::explain::{Bodies, Way, ways, ways_at};
use analysis::whole::graph::Graph;
use analysis::whole::lattice::Exceptions;
use analysis::whole::method;
use analysis::whole::missing::{Missing, missing_classes};
use analysis::whole::reachable::EntryPoint;
use analysis::whole::receivers::{Receiver, Selector, selecting};
use analysis::whole::record::{Packages, class_record, record_of_functions};
use analysis::whole::resolved::resolved;
use analysis::whole::sets::{Sets, Texts};
use analysis::whole::solve::solved;
use analysis::whole::solved::SolvedProgram;
use analysis::whole::tables::{CallTable, ClassTable, WholeOptions};
use bir::body::InstrId;
use program::hierarchy::{Hierarchy, Problem, ProblemKind};
use program::input::Role;
use program::names::{MethodName, Text};

pub use analysis::whole::record::ClassRecord;

use crate::entries::EntryRequest;
use crate::pattern::NoMatch;

/// Takes one class apart. `scratch` is memory that one class leaves for the next.
///
/// # Errors
/// When the structure of the file cannot be read: the class is then outside.
pub fn read_class(bytes: &[u8], scratch: &mut Scratch) -> Result<ClassRecord, Fault> {
    class_record(bytes, scratch).map_err(Fault::from)
}

/// Like [`read_class`], for a class of which only the call targets are needed: most bodies are not read, so the
/// exceptions of its methods are unknown.
///
/// # Errors
/// The errors of [`read_class`].
pub fn read_functions(bytes: &[u8], scratch: &mut Scratch) -> Result<ClassRecord, Fault> {
    record_of_functions(bytes, scratch).map_err(Fault::from)
}

/// A whole program.
pub struct Whole {
    state: State,
}

/// How far a program is analysed.
enum State {
    /// It is known where its calls go.
    Resolved(Box<CallTable>),
    /// It is known what its methods let out, too.
    Solved(Box<SolvedProgram>, Box<Exceptions>),
}

/// What a whole program is made with.
pub struct Setup<'a> {
    /// What its answers rest on.
    pub options: WholeOptions,
    /// What is known of packages besides what the JDK image says.
    pub packages: &'a Packages,
    /// Where it starts, if calls go only to receivers that code makes which is reached from there.
    pub entries: Option<&'a EntryRequest>,
    /// Whether it is asked what methods let out.
    pub solve: bool,
}

impl Setup<'_> {
    /// The entry points that are asked for, if any are.
    pub(crate) fn points(&self, classes: &ClassTable) -> Result<Option<Vec<EntryPoint>>, NoMatch> {
        let Some(request) = self.entries else { return Ok(None) };
        match request.unmatched(classes) {
            None => Ok(Some(request.points(classes, &self.options))),
            Some(it) => Err(it),
        }
    }
}

/// A fault of a class's supertypes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HierarchyFault {
    /// The class: `p/C`.
    pub class: String,
    /// What is wrong.
    pub kind: ProblemKind,
    /// The supertype concerned; the class itself where there is no other.
    pub other: String,
}

/// What a worker keeps from question to question: the sets of exceptions that it meets on its way. There are none if
/// nobody asked what methods let out.
pub struct WorkerSets(Option<Sets>);

impl Whole {
    /// Joins the classes, in class-path order, and solves the program. Of two classes with one name the first counts.
    pub fn new(records: Vec<(ClassRecord, Role)>, options: WholeOptions) -> Self {
        let classes = ClassTable::with_packages(records, &options, &Packages::default());
        Whole::solved(classes, options, None)
    }

    fn solved(classes: ClassTable, options: WholeOptions, entries: Option<Vec<EntryPoint>>) -> Self {
        let (program, sets) = solved(classes, options, entries);
        Whole { state: State::Solved(Box::new(program), Box::new(sets)) }
    }

    /// Joins the classes, in class-path order, and analyses the program as `setup` says.
    ///
    /// # Errors
    /// When a pattern of the entry points selects nothing.
    pub fn joined(records: Vec<(ClassRecord, Role)>, setup: &Setup<'_>) -> Result<Self, NoMatch> {
        let classes = ClassTable::with_packages(records, &setup.options, setup.packages);
        let entries = setup.points(&classes)?;
        if setup.solve {
            return Ok(Whole::solved(classes, setup.options, entries));
        }
        Ok(Whole { state: State::Resolved(Box::new(resolved(classes, setup.options, entries))) })
    }

    /// The program with where its calls go.
    pub(crate) fn calls_table(&self) -> &CallTable {
        match &self.state {
            State::Resolved(it) => it,
            State::Solved(it, _) => &it.calls,
        }
    }

    /// The solved program and its sets; `None` if nobody asked what methods let out.
    pub(crate) fn solution(&self) -> Option<(&SolvedProgram, &Exceptions)> {
        match &self.state {
            State::Resolved(_) => None,
            State::Solved(it, sets) => Some((it, sets)),
        }
    }

    fn classes(&self) -> &ClassTable {
        &self.calls_table().classes
    }

    /// The records that are shadowed by another record of the same class: pairs of the number of the shadowed record
    /// and of the one that shadows it.
    pub fn passed_over(&self) -> &[(usize, usize)] {
        &self.classes().passed_over
    }

    /// The faults of supertypes outside the JDK, by text.
    pub fn hierarchy_faults(&self) -> Vec<HierarchyFault> {
        faults(&self.classes().hierarchy)
    }

    /// Where the calls of a method go, by instruction; none of a method that is not in the program.
    pub fn calls(&self, method: MethodName, code: &MethodCode) -> Vec<Call> {
        let calls = self.calls_table();
        calls.classes.named(method).map_or_else(Vec::new, |it| method::calls(calls, it, Some(code)))
    }

    /// What a method calls whose code is not in its class file, or cannot be read.
    pub fn unseen_calls(&self, method: MethodName) -> Vec<Call> {
        let calls = self.calls_table();
        calls.classes.named(method).map_or_else(Vec::new, |it| method::calls(calls, it, None))
    }

    /// Whether a method is a ghost: its code is not written yet, and the code in its class file is a stub.
    pub fn is_ghost(&self, method: MethodName) -> bool {
        self.classes().named(method).is_some_and(|it| self.classes().ghost(it).is_some())
    }

    /// What a method lets out; `None` if it is not in the program, or if nobody asked what methods let out.
    pub fn throws(&self, work: &mut WorkerSets, method: MethodName) -> Option<Throws> {
        let id = self.classes().named(method)?;
        Some(method::throws(self.solution()?.0, work.0.as_mut()?, id))
    }

    /// Returns the final graph of a method, with the targets of its calls if `calls` is set. The graph is empty if
    /// the method is not in the program, or if the program was joined without solving for exceptions.
    pub fn graph(&self, work: &mut WorkerSets, method: MethodName, code: &MethodCode, calls: bool) -> Graph {
        let Some(id) = self.classes().named(method) else { return Graph::default() };
        let Some(((program, _), sets)) = self.solution().zip(work.0.as_mut()) else {
            return Graph::default();
        };
        let mut graph = method::graph(program, sets, id, Some(code));
        if calls && self.classes().ghost(id).is_none() {
            graph.calls = method::calls(&program.calls, id, Some(code));
        }
        graph
    }

    /// Why a method lets out what it does, or what is below the class `only`; `None` if it is not in the program.
    pub fn ways(
        &self,
        work: &mut WorkerSets,
        bodies: &mut dyn Bodies,
        method: MethodName,
        only: Option<Text>,
    ) -> Option<Vec<Way>> {
        let id = self.classes().named(method)?;
        Some(ways(self.solution()?.0, &mut work.0.as_mut()?.exceptions, bodies, id, only))
    }

    /// Why some instructions of a method raise what they do, before the handlers around them; `None` if the method is
    /// not in the program.
    pub fn ways_at(
        &self,
        work: &mut WorkerSets,
        bodies: &mut dyn Bodies,
        method: MethodName,
        instrs: &[InstrId],
        only: Option<Text>,
    ) -> Option<Vec<Way>> {
        let id = self.classes().named(method)?;
        Some(ways_at(self.solution()?.0, &mut work.0.as_mut()?.exceptions, bodies, id, instrs, only))
    }

    /// The classes whose objects select a target of a call of `caller`, each with its chain of supertypes; at most
    /// `limit`.
    pub fn selecting(
        &self,
        caller: MethodName,
        selector: Selector,
        target: MethodName,
        limit: usize,
    ) -> Vec<Receiver> {
        match (self.classes().named(caller), self.classes().named(target)) {
            (Some(caller), Some(target)) => selecting(self.calls_table(), caller, selector, target, limit),
            (None, _) | (_, None) => Vec::new(),
        }
    }

    /// The absent classes that the program names, by text.
    pub fn missing(&self) -> Vec<Missing> {
        missing_classes(self.calls_table())
    }

    /// What a worker needs to ask.
    pub fn work(&self) -> WorkerSets {
        let sets = |it: &Exceptions| Sets { exceptions: it.clone(), texts: Texts::default() };
        WorkerSets(self.solution().map(|it| sets(it.1)))
    }
}

/// The faults of supertypes outside the JDK, by text.
pub(crate) fn faults(hierarchy: &Hierarchy) -> Vec<HierarchyFault> {
    let is_ours = |it: &&Problem| hierarchy.class(it.class).is_some_and(|it| hierarchy.role(it) != Role::Jdk);
    let faults = hierarchy.problems().iter().filter(is_ours);
    let fault = |it: &Problem| HierarchyFault {
        class: it.class.to_string(),
        kind: it.kind,
        other: it.other.to_string(),
    };
    faults.map(fault).collect()
}
