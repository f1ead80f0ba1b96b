//! Answers about a whole program, some classes of which may be missing: call targets, exceptions, and explanations.
//!
//! [`read_class`] reads one class; any number of workers can do that. [`Whole::new`] joins the records of all
//! classes.

use analysis::described::Described;
use analysis::fault::Fault;
use analysis::parts::{MethodCode, Scratch};
use analysis::whole::anchors;
use analysis::whole::answers::{Call, Throws};
use analysis::whole::explain::{Bodies, Way, ways, ways_at};
use analysis::whole::graph::Graph;
use analysis::whole::lattice::Exceptions;
use analysis::whole::method;
use analysis::whole::missing::{Missing, missing_classes};
use analysis::whole::reachable::{EntryPoint, Receivers, Roots};
use analysis::whole::receivers::{Receiver, Selector, selecting};
use analysis::whole::record::{Packages, class_record, record_of_functions};
use analysis::whole::resolved::resolved;
use analysis::whole::sets::{Sets, Texts};
use analysis::whole::solve::solved;
use analysis::whole::solved::SolvedProgram;
use analysis::whole::tables::{CallTable, ClassTable, WholeOptions};
use bir::body::InstrId;
use flow::universe::Universe;
use program::hierarchy::{Hierarchy, Problem, ProblemKind};
use program::input::Role;
use program::members::declared::declared;
use program::names::{MethodName, Text};

pub use analysis::whole::record::ClassRecord;

use crate::entries::EntryRequest;
use crate::pattern::NoMatch;

/// Reads a class into the record that [`Whole`] needs. `scratch` holds buffers that are reused from class to class.
///
/// # Errors
/// When the structure of the file cannot be read. The class then counts as missing.
pub fn read_class(bytes: &[u8], scratch: &mut Scratch) -> Result<ClassRecord, Fault> {
    class_record(bytes, scratch).map_err(Fault::from)
}

/// Returns a reduced record of a class, for programs whose exceptions are not computed. Only bodies that may create
/// function objects are read, because call targets depend on these. The exceptions of the other methods are unknown.
///
/// # Errors
/// The errors of [`read_class`].
pub fn read_functions(bytes: &[u8], scratch: &mut Scratch) -> Result<ClassRecord, Fault> {
    record_of_functions(bytes, scratch).map_err(Fault::from)
}

/// A whole program, and the answers about it.
pub struct Whole {
    state: State,
}

/// How far a program has been analysed.
enum State {
    /// The targets of all calls are known.
    Resolved(Box<CallTable>),
    /// The targets of all calls and the exceptions that leave each method are known.
    Solved(Box<SolvedProgram>, Box<Exceptions>),
}

/// The settings with which a whole program is analysed.
pub struct Setup<'a> {
    /// The assumptions of the answers.
    pub options: WholeOptions,
    /// Facts about packages in addition to those that the modules of the JDK image state, for example from the
    /// modules of the program.
    pub packages: &'a Packages,
    /// The entry points from which reached code is searched for. `None` if all code counts as reached.
    pub entries: Option<&'a EntryRequest>,
    /// The classes whose objects count as receivers in the search for reached code.
    pub receivers: Receivers,
    /// Whether to compute the exceptions that leave the methods.
    pub solve: bool,
}

impl Setup<'_> {
    /// Returns the requested entry points; `None` if the field `entries` is `None`.
    pub(crate) fn points(&self, classes: &ClassTable) -> Result<Option<Vec<EntryPoint>>, NoMatch> {
        let Some(request) = self.entries else { return Ok(None) };
        match request.unmatched(classes) {
            None => Ok(Some(request.points(classes, &self.options))),
            Some(it) => Err(it),
        }
    }
}

/// A fault in the supertypes of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HierarchyFault {
    /// The name of the class, such as `p/C`.
    pub class: String,
    /// The kind of the fault.
    pub kind: ProblemKind,
    /// The name of the supertype with which the fault occurs; that of the class itself if no other class is involved.
    pub other: String,
}

/// The sets of exceptions that a worker has used, kept from question to question. `None` if the program was joined
/// without solving for exceptions.
pub struct WorkerSets(Option<Sets>);

impl WorkerSets {
    /// Returns the exception types and sets; `None` if the program was joined without solving for exceptions.
    pub(crate) fn universe(&mut self) -> Option<&mut Universe> {
        self.0.as_mut().map(|it| &mut it.exceptions.universe)
    }
}

/// Makes answers about exceptions set apart what calls on objects of unknown classes let out. Has no effect if the program
/// was joined without solving for exceptions.
pub(crate) fn set_apart(whole: &mut Whole) {
    match &mut whole.state {
        State::Resolved(_) => {}
        State::Solved(program, sets) => anchors::set_apart(program, sets),
    }
}

impl Whole {
    /// Joins the classes, in class-path order, and solves the program. Of several classes with one name, the first is
    /// used; but a ghost yields to a class that is not a ghost.
    pub fn new(records: Vec<(ClassRecord, Role)>, options: WholeOptions) -> Self {
        let classes = ClassTable::with_packages(records, &options, &Packages::default());
        Whole::solved(classes, options, None)
    }

    fn solved(classes: ClassTable, options: WholeOptions, roots: Option<Roots>) -> Self {
        let (program, sets) = solved(classes, options, roots);
        Whole { state: State::Solved(Box::new(program), Box::new(sets)) }
    }

    /// Joins the classes, in class-path order, and analyses the program with these settings.
    ///
    /// # Errors
    /// When a pattern of the entry points selects no method.
    pub fn joined(records: Vec<(ClassRecord, Role)>, setup: &Setup<'_>) -> Result<Self, NoMatch> {
        let classes = ClassTable::with_packages(records, &setup.options, setup.packages);
        let roots = setup.points(&classes)?.map(|entries| Roots { entries, receivers: setup.receivers });
        if setup.solve {
            return Ok(Whole::solved(classes, setup.options, roots));
        }
        Ok(Whole { state: State::Resolved(Box::new(resolved(classes, setup.options, roots))) })
    }

    /// Returns the table of the program's calls and their targets.
    pub(crate) fn calls_table(&self) -> &CallTable {
        match &self.state {
            State::Resolved(it) => it,
            State::Solved(it, _) => &it.calls,
        }
    }

    /// Returns the solved program and its sets of exceptions; `None` if the program was joined without solving for
    /// exceptions.
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
    /// and the number of the shadowing one.
    pub fn passed_over(&self) -> &[(usize, usize)] {
        &self.classes().passed_over
    }

    /// The faults in the supertypes of classes outside the JDK, sorted by text.
    pub fn hierarchy_faults(&self) -> Vec<HierarchyFault> {
        faults(&self.classes().hierarchy)
    }

    /// The targets of a method's calls, by instruction; empty if the method is not in the program.
    pub fn calls(&self, method: MethodName, code: &MethodCode) -> Vec<Call> {
        let calls = self.calls_table();
        calls.classes.named(method).map_or_else(Vec::new, |it| method::calls(calls, it, Some(code)))
    }

    /// The calls that a method may make although its class file has no code for it, or code that cannot be read.
    pub fn unseen_calls(&self, method: MethodName) -> Vec<Call> {
        let calls = self.calls_table();
        calls.classes.named(method).map_or_else(Vec::new, |it| method::calls(calls, it, None))
    }

    /// Whether a method is a ghost: its code is not written yet, and the code in its class file is a stub.
    pub fn is_ghost(&self, method: MethodName) -> bool {
        self.classes().named(method).is_some_and(|it| self.classes().ghost(it).is_some())
    }

    /// The exceptions that leave a method; `None` if the method is not in the program, or if the program was joined
    /// without solving for exceptions.
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

    /// The chains of facts that explain the exceptions leaving a method; with `only`, the exceptions of this class
    /// and its subclasses. `None` if the method is not in the program, or exceptions were not solved for.
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

    /// The chains of facts that explain the exceptions raised by instructions of a method, before any handler catches
    /// them; with `only`, the exceptions of this class and its subclasses. `None` if the method is not in the
    /// program, or exceptions were not solved for.
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

    /// Returns classes of receivers that select `target` in the calls of `caller` with this selector; at most `limit`
    /// of them.
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

    /// The missing classes that the program names, sorted by text.
    pub fn missing(&self) -> Vec<Missing> {
        missing_classes(self.calls_table())
    }

    /// Creates the state of a worker.
    pub fn work(&self) -> WorkerSets {
        let sets = |it: &Exceptions| Sets { exceptions: it.clone(), texts: Texts::default() };
        WorkerSets(self.solution().map(|it| sets(it.1)))
    }
}

/// Whether a method of the program is native.
pub(crate) fn is_native(whole: &Whole, method: MethodName) -> bool {
    let classes = whole.classes();
    classes.named(method).is_some_and(|it| declared(&classes.hierarchy, it).flags.is_native())
}

/// Returns a short description of the known exceptions that leave a method; `None` if the method is not in the
/// program, or if the program was joined without solving for exceptions.
pub(crate) fn known(
    whole: &Whole,
    work: &mut WorkerSets,
    method: MethodName,
    limit: usize,
) -> Option<Described> {
    let id = whole.classes().named(method)?;
    Some(method::known(whole.solution()?.0, work.0.as_mut()?, id, limit))
}

/// Returns the faults in the supertypes of classes outside the JDK, sorted by text.
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
