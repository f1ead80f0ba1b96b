//! The facts that prove that an assertion always holds.

use bir::body::InstrId;

/// The fact that proves an assertion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Proof {
    /// The value is the receiver of the method, which is not null.
    This,
    /// This instruction allocated the checked value, or for `bound` and `store` the array.
    Allocated(InstrId),
    /// This earlier assertion or branch tested the same values, and the test succeeded.
    Tested(InstrId),
    /// The assertion follows from the values of constants.
    Constant,
    /// The value is the exception that this `catch` instruction caught.
    Caught(InstrId),
    /// The value is the length of an array, which is not negative.
    Length,
    /// Every possible value has the type that the assertion requires.
    Type,
    /// The assertion holds on every path that leads to it, but different facts prove it on different paths.
    EveryPath,
}
