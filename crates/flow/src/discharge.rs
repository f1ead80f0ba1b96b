//! Why an assertion always holds.

use bir::body::InstrId;

/// The fact that proves an assertion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Proof {
    /// The value is the receiver: what local 0 held at entry.
    This,
    /// The value (of `bound` and `store`, the array) was made by this instruction.
    Allocated(InstrId),
    /// This earlier assertion or branch was passed with the same values.
    Tested(InstrId),
    /// It follows from constants.
    Constant,
    /// The value was caught by this handler.
    Caught(InstrId),
    /// The value is the length of an array.
    Length,
    /// Every value is of the type asked for.
    Type,
    /// It holds on every path to here, by different facts.
    EveryPath,
}
