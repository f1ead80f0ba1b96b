//! Entry points of programs: the types of requests and answers.

pub use analysis::whole::reach::entries::Declared;
pub use analysis::whole::reach::request::EntryRequest;
pub use analysis::whole::reachable::EntryReason;

use crate::MethodName;

/// An entry point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The method.
    pub method: MethodName,
    /// The reason why it is an entry point.
    pub why: EntryReason,
}

/// The place where a path to a method starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// An entry point.
    Entry(EntryReason),
    /// The VM, which calls the first method by itself.
    Vm,
    /// Missing code, which may call the first method.
    Outside,
}

/// The start of a path to a method, and the methods on the path with that method last; `None` if the method is not
/// reached.
pub type WayTo = Option<(Start, Vec<MethodName>)>;
