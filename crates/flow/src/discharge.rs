//! Reasons why an assertion always holds.

use bir::body::InstrId;

/// The fact that proves an assertion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Proof {
    /// The value is the receiver, which local 0 held at entry.
    This,
    /// This instruction allocated the value (for `bound` and `store`, the array).
    Allocated(InstrId),
    /// This earlier assertion or branch tested the same values and was passed.
    Tested(InstrId),
    /// The assertion follows from constants.
    Constant,
    /// The value was caught by this handler.
    Caught(InstrId),
    /// The value is the length of an array.
    Length,
    /// Every possible value has the type asked for.
    Type,
    /// The assertion holds on every path to it, by different facts.
    EveryPath,
}
