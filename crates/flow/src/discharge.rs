//! The facts that prove that an assertion always holds.

use bir::body::InstrId;

/// The fact that proves that an assertion never fails.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Proof {
    /// The checked value is the receiver of the method, which is not null.
    This,
    /// This instruction allocated the checked object; if the assertion checks an array access, the object is the
    /// array.
    Allocated(InstrId),
    /// This earlier instruction, an assertion or a branch, tested the same values; its success implies that the
    /// assertion holds.
    Tested(InstrId),
    /// The values of constants show that the assertion never fails.
    Constant,
    /// The checked value is the exception that this `catch` instruction caught.
    Caught(InstrId),
    /// The checked value is the length of an array, which is not negative.
    Length,
    /// Every possible value of the checked expression has the type that the assertion requires.
    Type,
    /// The assertion holds on every path that leads to it, but different facts prove it on different paths.
    EveryPath,
}
