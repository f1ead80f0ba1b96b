//! Sets of exceptions as seen within one method, and what each instruction raises.

use std::fmt;

use bir::body::{Body, Instr, InstrId};
use classfile::names::ClassName;

use crate::facts::{MethodFacts, contains};
use crate::throwables::{Answer, Subtypes, well_known};

/// A set of exception types: one class, alone or with all its subclasses, known and unknown. An open set stands for
/// whatever its cause throws within these types.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExceptionSet {
    /// The class, or the root of the cone.
    pub class: ClassName,
    /// Whether the set is this class without its subclasses.
    pub exact: bool,
    /// For an open set, why the exceptions are not known more precisely; `None` for a closed set.
    pub open: Option<Cause>,
}

/// Why a set is open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// A call of a method.
    Call,
    /// A class initialiser.
    Initializer,
    /// A bootstrap method.
    Bootstrap,
}

impl ExceptionSet {
    /// The set of objects of exactly this class.
    pub fn exact(class: ClassName) -> Self {
        ExceptionSet { class, exact: true, open: None }
    }

    /// The set of objects of this class and of its subclasses.
    pub fn cone(class: ClassName) -> Self {
        ExceptionSet { class, exact: false, open: None }
    }

    /// The open set of what the cause throws, within the cone of `class`.
    pub fn open(class: ClassName, cause: Cause) -> Self {
        ExceptionSet { class, exact: false, open: Some(cause) }
    }
}

impl fmt::Display for ExceptionSet {
    /// Writes `p/E`, `p/E+` with subclasses, or `call: p/E+` for an open set.
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

/// How much of a set a row of the exception table catches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Catch {
    /// Nothing.
    None,
    /// Some, or possibly some: at most this set arrives at the handler, and all of the original set may go on as
    /// well.
    May(ExceptionSet),
    /// Everything.
    All,
}

/// Returns how much of the set a row with this catch type catches (JVMS §2.10; `semantics.md` §3.3); `None` is the
/// type of a row that catches everything.
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

/// Calls `f` with each set that the instruction itself raises, in the JVM's order; not for `throw`, whose terms
/// depend on the handlers. VM errors of group `init` are included, those of `link` and `async` are not
/// (`semantics.md` §3.6).
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
