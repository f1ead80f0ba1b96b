//! The operators of BIR expressions, and the kinds of their operands.

pub use classfile::descriptor::{Elem, Kind};
pub use classfile::insn::{BinOp, CmpOp, Cond, Conv};

/// An operator with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnOp {
    /// Negation in this kind (`ineg`, `lneg` etc.). For floats and doubles, negation flips the sign bit.
    Neg(Kind),
    /// A numeric conversion.
    Conv(Conv),
    /// The length of an array. Array lengths never change, so reading one is not a heap read.
    Length,
}

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// Arithmetic in this kind; the right operand of a shift is an int.
    Arith(BinOp, Kind),
    /// A comparison (`lcmp`, `fcmpl` etc.) that yields -1, 0 or 1.
    Compare(CmpOp),
}

impl UnOp {
    /// Returns the kind of the operand and the kind of the result.
    pub fn kinds(self) -> (Kind, Kind) {
        match self {
            UnOp::Neg(kind) => (kind, kind),
            UnOp::Conv(conv) => conv.kinds(),
            UnOp::Length => (Kind::Ref, Kind::Int),
        }
    }
}

impl BinaryOp {
    /// Returns the kind of the left operand, of the right operand, and of the result.
    pub fn kinds(self) -> (Kind, Kind, Kind) {
        match self {
            BinaryOp::Arith(BinOp::Shl | BinOp::Shr | BinOp::Ushr, kind) => (kind, Kind::Int, kind),
            BinaryOp::Arith(_, kind) => (kind, kind, kind),
            BinaryOp::Compare(op) => (op.kind(), op.kind(), Kind::Int),
        }
    }
}
