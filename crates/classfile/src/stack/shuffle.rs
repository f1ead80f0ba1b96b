//! The instructions that only move operand-stack entries.

use crate::error::Fault;
use crate::insn::StackOp;

/// Returns how `pop`, `dup`, `swap` etc. move entries (JVMS §6.5): the number of affected entries at the top of the
/// stack, and the order in which they are pushed back, as indices from the bottom of these entries.
///
/// `wide(k)` returns whether the entry at depth `k` takes two words, which determines the form of the instruction.
///
/// # Errors
/// Fails if an operand is missing or would be split.
pub fn rearrangement(
    op: StackOp,
    depth: usize,
    wide: impl Fn(usize) -> bool,
) -> Result<(usize, &'static [u8]), Fault> {
    let wide = |k: usize| {
        if k < depth {
            Ok(wide(k))
        } else {
            Err(Fault::Other("an operand of the instruction is missing from the stack"))
        }
    };
    let found: (usize, &[u8]) = match op {
        StackOp::Pop if !wide(0)? => (1, &[]),
        StackOp::Pop2 if wide(0)? => (1, &[]),
        StackOp::Pop2 if !wide(1)? => (2, &[]),
        StackOp::Dup if !wide(0)? => (1, &[0, 0]),
        StackOp::DupX1 if !wide(0)? && !wide(1)? => (2, &[1, 0, 1]),
        StackOp::DupX2 if !wide(0)? && wide(1)? => (2, &[1, 0, 1]),
        StackOp::DupX2 if !wide(0)? && !wide(1)? && !wide(2)? => (3, &[2, 0, 1, 2]),
        StackOp::Dup2 if wide(0)? => (1, &[0, 0]),
        StackOp::Dup2 if !wide(1)? => (2, &[0, 1, 0, 1]),
        StackOp::Dup2X1 if wide(0)? && !wide(1)? => (2, &[1, 0, 1]),
        StackOp::Dup2X1 if !wide(0)? && !wide(1)? && !wide(2)? => (3, &[1, 2, 0, 1, 2]),
        StackOp::Dup2X2 if wide(0)? && wide(1)? => (2, &[1, 0, 1]),
        StackOp::Dup2X2 if wide(0)? && !wide(1)? && !wide(2)? => (3, &[2, 0, 1, 2]),
        StackOp::Dup2X2 if !wide(0)? && !wide(1)? && wide(2)? => (3, &[1, 2, 0, 1, 2]),
        StackOp::Dup2X2 if !wide(0)? && !wide(1)? && !wide(2)? && !wide(3)? => (4, &[2, 3, 0, 1, 2, 3]),
        StackOp::Swap if !wide(0)? && !wide(1)? => (2, &[1, 0]),
        _ => return Err(Fault::Other("the stack instruction would split a long or double")),
    };
    Ok(found)
}
