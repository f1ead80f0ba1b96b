//! Where IllegalMonitorStateException can come from.

use bir::body::InstrId;

/// Where the monitors of a method are not proved to be balanced. Both lists are empty for a method
/// that is balanced on every path.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Locks {
    /// `monitorexit` and `return` instructions that may raise the exception themselves, ascending.
    pub at: Box<[InstrId]>,
    /// Instructions at which an exception that leaves the method may be replaced by it, ascending.
    pub leaving: Box<[InstrId]>,
}
