//! Answers about a whole program, as far as it is there: where calls go, what methods let out, and why.
//!
//! [`read_class`] takes one class apart, for as many workers as there are; [`Whole::new`] joins what they made.

use analysis::fault::Fault;
use analysis::names::{MethodId, Text};
use analysis::parts::MethodCode;
use analysis::parts::Scratch;
use analysis::whole::answers::{Call, Throws};
use analysis::whole::explain::{Bodies, Receiver, Selector, Way};
use analysis::whole::graph::{Graph, Texts};
use analysis::whole::lattice::Exceptions;
use analysis::whole::missing::Missing;
use analysis::whole::program::{Options, Program, WholeProgram};
use analysis::whole::reachable::EntryPoint;
use analysis::whole::record::{Packages, class_record, record_of_functions};
use analysis::whole::solved::{looked_up, solved};
use bir::body::InstrId;
use program::hierarchy::{Hierarchy, Problem, ProblemKind};
use program::input::Role;

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

/// As [`read_class`], for a class of which it is only asked where calls go: most bodies are not read, and what its
/// methods let out is not known.
///
/// # Errors
/// See [`read_class`].
pub fn read_functions(bytes: &[u8], scratch: &mut Scratch) -> Result<ClassRecord, Fault> {
    record_of_functions(bytes, scratch).map_err(Fault::from)
}

/// A whole program.
pub struct Whole {
    program: WholeProgram,
}

/// What a whole program is made with.
pub struct Setup<'a> {
    /// What its answers rest on.
    pub options: Options,
    /// What is known of packages besides what the JDK image says.
    pub packages: &'a Packages,
    /// Where it starts, if calls go only to receivers that code makes which is reached from there.
    pub entries: Option<&'a EntryRequest>,
    /// Whether it is asked what methods let out; if not, everything seems to let nothing out.
    pub solve: bool,
}

impl Setup<'_> {
    /// The entry points that are asked for, if any are.
    pub(crate) fn points(&self, program: &Program) -> Result<Option<Vec<EntryPoint>>, NoMatch> {
        let Some(request) = self.entries else { return Ok(None) };
        match request.unmatched(program) {
            None => Ok(Some(request.points(program, &self.options))),
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

/// What a worker keeps from question to question: the sets that it meets on its way.
pub struct Work {
    exceptions: Exceptions,
    texts: Texts,
}

impl Whole {
    /// Joins the classes, in class-path order. Of two with one name the first counts.
    pub fn new(records: Vec<(ClassRecord, Role)>, options: Options) -> Self {
        let program = Program::with_packages(records, &options, &Packages::default());
        Whole { program: solved(program, options, None) }
    }

    /// As [`Whole::new`], with more that may be said.
    ///
    /// # Errors
    /// When a pattern of the entry points selects nothing.
    pub fn joined(records: Vec<(ClassRecord, Role)>, setup: &Setup<'_>) -> Result<Self, NoMatch> {
        let program = Program::with_packages(records, &setup.options, setup.packages);
        let entries = setup.points(&program)?;
        let program = if setup.solve {
            solved(program, setup.options, entries)
        } else {
            looked_up(program, setup.options, entries)
        };
        Ok(Whole { program })
    }

    /// The records that another one of the same class stands before: their number, and the number of that one.
    pub fn passed_over(&self) -> &[(usize, usize)] {
        &self.program.program.passed_over
    }

    /// The faults of supertypes outside the JDK, by text.
    pub fn hierarchy_faults(&self) -> Vec<HierarchyFault> {
        faults(&self.program.program.hierarchy)
    }

    /// Where the calls of a method go, by instruction; none of a method that is not in the program.
    pub fn calls(&self, method: MethodId, code: &MethodCode) -> Vec<Call> {
        self.program.named(method).map_or_else(Vec::new, |it| self.program.calls(it, code))
    }

    /// What a method calls whose code is not in its class file, or cannot be read.
    pub fn unseen_calls(&self, method: MethodId) -> Vec<Call> {
        self.program.named(method).map_or_else(Vec::new, |it| self.program.unseen_calls(it))
    }

    /// Whether a method is a ghost: its code is not written yet, and what its class file has is not it.
    pub fn is_ghost(&self, method: MethodId) -> bool {
        self.program.named(method).is_some_and(|it| self.program.program.ghost(it).is_some())
    }

    /// What a method lets out; `None` if it is not in the program.
    pub fn throws(&self, work: &mut Work, method: MethodId) -> Option<Throws> {
        let id = self.program.named(method)?;
        Some(self.program.throws(&mut work.exceptions, id))
    }

    /// The final graph of a method, with where its calls go if that is wanted; empty for one that is not in the program.
    pub fn graph(&self, work: &mut Work, method: MethodId, code: &MethodCode, calls: bool) -> Graph {
        let Some(id) = self.program.named(method).filter(|&it| self.program.program.ghost(it).is_none())
        else {
            return Graph::default();
        };
        let mut graph = self.program.graph(&mut work.exceptions, &mut work.texts, id, code);
        if calls {
            graph.calls = self.program.calls(id, code);
        }
        graph
    }

    /// Why a method lets out what it does, or what is below the class `only`; `None` if it is not in the program.
    pub fn ways(
        &self,
        work: &mut Work,
        bodies: &mut dyn Bodies,
        method: MethodId,
        only: Option<Text>,
    ) -> Option<Vec<Way>> {
        let id = self.program.named(method)?;
        Some(self.program.ways(&mut work.exceptions, bodies, id, only))
    }

    /// Why some instructions of a method raise what they do, before the handlers around them.
    pub fn ways_at(
        &self,
        work: &mut Work,
        bodies: &mut dyn Bodies,
        method: MethodId,
        instrs: &[InstrId],
        only: Option<Text>,
    ) -> Option<Vec<Way>> {
        let id = self.program.named(method)?;
        Some(self.program.ways_at(&mut work.exceptions, bodies, id, instrs, only))
    }

    /// The classes whose objects select a target of a call of `caller`, each with its chain of supertypes; at most `limit`.
    pub fn selecting(
        &self,
        caller: MethodId,
        selector: Selector,
        target: MethodId,
        limit: usize,
    ) -> Vec<Receiver> {
        match (self.program.named(caller), self.program.named(target)) {
            (Some(caller), Some(target)) => self.program.selecting(caller, selector, target, limit),
            (None, _) | (_, None) => Vec::new(),
        }
    }

    /// The classes that the program names and that are not there, by text.
    pub fn missing(&self) -> Vec<Missing> {
        self.program.missing()
    }

    /// What a worker needs to ask.
    pub fn work(&self) -> Work {
        Work { exceptions: self.program.exceptions.clone(), texts: Texts::default() }
    }

    /// The program behind the answers.
    pub fn program(&self) -> &WholeProgram {
        &self.program
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
