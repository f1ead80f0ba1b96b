//! Which assertions are proved, and by which fact.

use bir::body::InstrId;

/// Why an assertion always holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Proof {
    /// The value is the receiver.
    This,
    /// The value was made by this instruction.
    Allocated(InstrId),
    /// This earlier assertion or test was passed with the same values.
    Tested(InstrId),
    /// It follows from a constant.
    Constant,
    /// The value was caught by this handler.
    Caught(InstrId),
    /// The value is the length of an array.
    Length,
    /// Every value has the type asked for.
    Type,
}
