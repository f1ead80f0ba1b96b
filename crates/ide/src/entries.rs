//! Where programs start: what is asked for, and what is found.

pub use analysis::whole::reach::entries::Declared;
pub use analysis::whole::reach::request::EntryRequest;
pub use analysis::whole::reachable::WhyEntry as EntryReason;

use crate::MethodId;

/// An entry point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The method.
    pub method: MethodId,
    /// Why it is one.
    pub why: EntryReason,
}

/// Where a way to a method starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// At an entry point.
    Entry(EntryReason),
    /// The VM calls the first method by itself.
    Vm,
    /// Code that is not present may call the first method.
    Outside,
}

/// Where the way to a method starts, and the methods on it, itself last; `None` when it is not reached.
pub type WayTo = Option<(Start, Vec<MethodId>)>;
