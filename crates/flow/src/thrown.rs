//! What the `throw` instructions of a method throw.

use bir::body::InstrId;
use classfile::names::ClassName;

/// A part of what a `throw` throws.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Term {
    /// An object of exactly this class.
    Exact(ClassName),
    /// An object of this class or of a subclass.
    Cone(ClassName),
    /// What arrived at the handler that begins with this instruction.
    Caught(InstrId),
}
