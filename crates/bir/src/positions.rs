//! The origin of the instructions of a body: pcs, copies of inlined subroutines, source lines.
//!
//! Positions are kept apart from the body, so that a change of line numbers invalidates no fact about the code.

use crate::body::{InstrId, index};

/// The side table of one body: the pc and the subroutine copy of each BIR instruction, and the source lines of the
/// pcs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Positions {
    /// For each BIR instruction, the pc of the bytecode instruction that it was lowered from.
    pub pcs: Box<[u16]>,
    /// For each BIR instruction, the number of the inlined subroutine copy that contains it, or 0 outside of
    /// subroutines. Empty if the method has no subroutine.
    pub copies: Box<[u16]>,
    /// Pairs of start pc and source line, ascending by pc (JVMS §4.7.12).
    pub lines: Box<[(u16, u16)]>,
    /// Unreachable bytecode as half-open ranges of pcs, in the order of [`crate::body::Body::unreachable`].
    pub unreachable: Box<[(u16, u32)]>,
}

impl Positions {
    /// Returns the pc of the bytecode instruction from which the BIR instruction was lowered; `None` if it is
    /// unknown.
    pub fn pc(&self, instr: InstrId) -> Option<u16> {
        self.pcs.get(index(instr)).copied()
    }

    /// Returns the number of the inlined subroutine copy that contains the BIR instruction; 0 outside of subroutines.
    pub fn copy(&self, instr: InstrId) -> u16 {
        self.copies.get(index(instr)).copied().unwrap_or(0)
    }

    /// Returns the source line of a pc; `None` if it is unknown.
    pub fn line_of(&self, pc: u16) -> Option<u16> {
        let behind = self.lines.partition_point(|it| it.0 <= pc);
        Some(self.lines.get(behind.checked_sub(1)?)?.1)
    }

    /// Returns the source line of the BIR instruction; `None` if it is unknown.
    pub fn line(&self, instr: InstrId) -> Option<u16> {
        self.line_of(self.pc(instr)?)
    }
}
