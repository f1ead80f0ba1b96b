//! Sets of exceptions as seen within one method, and the sets that each instruction raises.

use std::fmt;

use bir::body::{Body, Instr, InstrId};
use classfile::names::ClassName;

use crate::facts::{MethodFacts, contains};
use crate::throwables::{Answer, Subtypes, well_known};

/// A set of exception types: one class, alone or with all its known and unknown subclasses. If the set is open, only
/// some of these types may occur: those that its cause (such as a called method) throws, which are not known.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExceptionSet {
    /// The class that is the only one in the set, or the superclass of all other classes in the set.
    pub class: ClassName,
    /// Whether the set consists of `class` alone, without its subclasses.
    pub exact: bool,
    /// For an open set, the kind of code that throws the exceptions; `None` if the set is not open.
    pub open: Option<Cause>,
}

/// The cause of an open exception set: the kind of code that throws exceptions whose types are not known from the
/// method alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// A called method throws the exceptions.
    Call,
    /// A class initialiser throws the exceptions.
    Initializer,
    /// A bootstrap method throws the exceptions.
    Bootstrap,
}

impl ExceptionSet {
    /// Returns the set that consists of this class alone, without its subclasses.
    pub fn exact(class: ClassName) -> Self {
        ExceptionSet { class, exact: true, open: None }
    }

    /// Returns the set of this class and all its subclasses.
    pub fn cone(class: ClassName) -> Self {
        ExceptionSet { class, exact: false, open: None }
    }

    /// Returns the open set of the types of the exceptions that `cause` throws; each is `class` or a subclass of it.
    pub fn open(class: ClassName, cause: Cause) -> Self {
        ExceptionSet { class, exact: false, open: Some(cause) }
    }
}

impl fmt::Display for ExceptionSet {
    /// Writes the set in the form `p/E` for a single class, `p/E+` for a class with its subclasses, or for example
    /// `call: p/E+` for an open set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.open {
            Some(Cause::Call) => write!(f, "call: ")?,
            Some(Cause::Initializer) => write!(f, "initializer: ")?,
            Some(Cause::Bootstrap) => write!(f, "bootstrap: ")?,
            None => {}
        }
        write!(f, "{}{}", self.class, if self.exact { "" } else { "+" })
    }
}

impl fmt::Debug for ExceptionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The part of an exception set that a row of the exception table catches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Catch {
    /// The row catches no exception of the set.
    None,
    /// It is not certain that the row catches exceptions of the set: at most this subset of the set arrives at the
    /// handler, and possibly nothing. Any exception of the whole set may still reach the next row.
    May(ExceptionSet),
    /// The row catches every exception of the set.
    All,
}

/// Returns the part of the exception set that a row of the exception table with this catch type catches (JVMS §2.10;
/// `semantics.md` §3.3). A row with the catch type `None` catches everything.
pub fn caught_by(set: ExceptionSet, catch_type: Option<ClassName>, subtypes: &dyn Subtypes) -> Catch {
    let Some(catch_type) = catch_type else {
        return Catch::All;
    };
    let below = subtypes.is_subtype(set.class, catch_type);
    if below == Answer::Yes {
        return Catch::All;
    }
    if set.exact {
        return if below == Answer::No { Catch::None } else { Catch::May(set) };
    }
    // Classes form a tree: two cones intersect exactly when the root of one is below the root of the other.
    match (below, subtypes.is_subtype(catch_type, set.class)) {
        (Answer::No, Answer::No) => Catch::None,
        (_, Answer::Yes) => Catch::May(ExceptionSet { class: catch_type, ..set }),
        _ => Catch::May(set),
    }
}

/// Calls `f` with each exception set that the instruction raises, in the order of the JVM's checks. For a `throw`
/// instruction, `f` is not called, because the exceptions that it throws may depend on what handlers caught. If
/// `keep_proved` is set, assertions raise their exceptions even if they are proved never to fail. VM errors of the
/// group `init` are included; VM errors of the groups `link` and `async` are not (`semantics.md` §3.6).
#[inline]
pub fn raised(
    body: &Body,
    facts: &MethodFacts,
    id: InstrId,
    keep_proved: bool,
    mut f: impl FnMut(ExceptionSet),
) {
    let names = well_known;
    match body.instrs[id] {
        Instr::Assert(check) => {
            if keep_proved || facts.proof(id).is_none() {
                f(ExceptionSet::exact(names().raised_by(check)));
            }
        }
        Instr::MayInit(_) => f(if facts.runs_no_initializer(id) {
            ExceptionSet::exact(names().no_class_def)
        } else {
            ExceptionSet::open(names().error, Cause::Initializer)
        }),
        Instr::New(..) | Instr::Call(..) => f(ExceptionSet::open(names().throwable, Cause::Call)),
        Instr::CallDynamic(..) => {
            f(ExceptionSet::open(names().error, Cause::Bootstrap));
            f(ExceptionSet::open(names().throwable, Cause::Call));
        }
        Instr::ConstDynamic(..) => f(ExceptionSet::open(names().error, Cause::Bootstrap)),
        Instr::MonitorExit(_) | Instr::Return(_) => {
            if contains(&facts.locks.at, id) {
                f(ExceptionSet::exact(names().monitor_state));
            }
        }
        Instr::Assign(..)
        | Instr::SetField(..)
        | Instr::SetStatic(..)
        | Instr::SetElem(..)
        | Instr::Alloc(..)
        | Instr::NewArray(..)
        | Instr::MultiNewArray(..)
        | Instr::MonitorEnter(_)
        | Instr::Throw(_)
        | Instr::Goto(_)
        | Instr::If(..)
        | Instr::Switch(..)
        | Instr::Ret(..)
        | Instr::Catch(_) => {}
    }
}
