//! Entry points of programs: the types of requests and answers.

pub use analysis::whole::reach::entries::Declared;
pub use analysis::whole::reach::request::EntryRequest;
pub use analysis::whole::reachable::{EntryReason, Receivers};

use crate::MethodName;

/// An entry point of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The name of the method.
    pub method: MethodName,
    /// The reason why the method is an entry point.
    pub why: EntryReason,
}

/// The place where a path of calls to a method starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// The path starts at an entry point, for this reason.
    Entry(EntryReason),
    /// The path starts in the VM, which calls the first method by itself.
    Vm,
    /// The path starts in missing code, which may call the first method.
    Outside,
}

/// The path of calls to a method: its start, and the methods on it, of which the last is the method itself; `None` if
/// the method is not reached.
pub type WayTo = Option<(Start, Vec<MethodName>)>;
