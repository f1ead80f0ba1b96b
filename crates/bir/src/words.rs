//! The keywords of BIR text: one table for each kind of operator, shared by printer and parser.

use crate::body::CallKind;
use crate::ops::{BinOp, CmpOp, Cond, Conv, Elem, Kind};

/// The arithmetic operators, with their symbols in BIR text. If a symbol is a prefix of another, the longer one comes
/// first, because the parser tries the symbols in this order.
pub(crate) const ARITH: [(BinOp, &str); 11] = [
    (BinOp::Ushr, ">>>"),
    (BinOp::Shr, ">>"),
    (BinOp::Shl, "<<"),
    (BinOp::Add, "+"),
    (BinOp::Sub, "-"),
    (BinOp::Mul, "*"),
    (BinOp::Div, "/"),
    (BinOp::Rem, "%"),
    (BinOp::And, "&"),
    (BinOp::Or, "|"),
    (BinOp::Xor, "^"),
];

/// The comparisons that yield -1, 0 or 1, with their keywords in BIR text.
pub(crate) const COMPARE: [(CmpOp, &str); 5] = [
    (CmpOp::Lcmp, "lcmp"),
    (CmpOp::Fcmpl, "fcmpl"),
    (CmpOp::Fcmpg, "fcmpg"),
    (CmpOp::Dcmpl, "dcmpl"),
    (CmpOp::Dcmpg, "dcmpg"),
];

/// The conditions of branches, with their symbols in BIR text. If a symbol is a prefix of another, the longer one
/// comes first, because the parser tries the symbols in this order.
pub(crate) const COND: [(Cond, &str); 6] = [
    (Cond::Eq, "=="),
    (Cond::Ne, "!="),
    (Cond::Ge, ">="),
    (Cond::Le, "<="),
    (Cond::Lt, "<"),
    (Cond::Gt, ">"),
];

/// The numeric conversions, with their keywords in BIR text.
pub(crate) const CONV: [(Conv, &str); 15] = [
    (Conv::I2l, "i2l"),
    (Conv::I2f, "i2f"),
    (Conv::I2d, "i2d"),
    (Conv::L2i, "l2i"),
    (Conv::L2f, "l2f"),
    (Conv::L2d, "l2d"),
    (Conv::F2i, "f2i"),
    (Conv::F2l, "f2l"),
    (Conv::F2d, "f2d"),
    (Conv::D2i, "d2i"),
    (Conv::D2l, "d2l"),
    (Conv::D2f, "d2f"),
    (Conv::I2b, "i2b"),
    (Conv::I2c, "i2c"),
    (Conv::I2s, "i2s"),
];

/// The call instructions, with their keywords in BIR text.
pub(crate) const CALL: [(CallKind, &str); 6] = [
    (CallKind::Virtual, "invokevirtual"),
    (CallKind::Interface, "invokeinterface"),
    (CallKind::Special, "invokespecial"),
    (CallKind::SpecialInterface, "invokespecial-interface"),
    (CallKind::Static, "invokestatic"),
    (CallKind::StaticInterface, "invokestatic-interface"),
];

/// The element types. [`Elem::word`] returns the keyword of each.
pub(crate) const ELEMS: [Elem; 8] =
    [Elem::Byte, Elem::Char, Elem::Short, Elem::Int, Elem::Long, Elem::Float, Elem::Double, Elem::Ref];

/// The access flags of methods (JVMS §4.6-A) that have a keyword; other bits are written in hexadecimal.
pub(crate) const FLAGS: [(u16, &str); 12] = [
    (0x0001, "public"),
    (0x0002, "private"),
    (0x0004, "protected"),
    (0x0008, "static"),
    (0x0010, "final"),
    (0x0020, "synchronized"),
    (0x0040, "bridge"),
    (0x0080, "varargs"),
    (0x0100, "native"),
    (0x0400, "abstract"),
    (0x0800, "strict"),
    (0x1000, "synthetic"),
];

/// The kinds, each with the suffix by which an operator in BIR text names the kind of its operands. The suffix of int
/// is empty.
pub(crate) const KINDS: [(Kind, &str); 5] =
    [(Kind::Long, "L"), (Kind::Float, "F"), (Kind::Double, "D"), (Kind::Ref, "A"), (Kind::Int, "")];

/// Returns the keyword of `key` in `table`, which contains every key.
pub(crate) fn word<K: Copy + PartialEq>(table: &[(K, &'static str)], key: K) -> &'static str {
    table.iter().find(|it| it.0 == key).map_or("", |it| it.1)
}

/// Returns the key whose keyword in `table` is `text`; `None` if there is none.
pub(crate) fn meaning<K: Copy>(table: &[(K, &'static str)], text: &str) -> Option<K> {
    table.iter().find(|it| it.1 == text).map(|it| it.0)
}

/// Returns whether a name can be written unquoted: none of its characters has another meaning in BIR text.
pub(crate) fn is_bare(text: &[u8], is_safe: fn(u8) -> bool) -> bool {
    !text.is_empty()
        && text.iter().all(|&b| is_safe(b))
        // `->` must end a name, as in `a0->p/C.f:Lp/D;->p/D.g:I`, and so must a comment.
        && !text.windows(2).any(|it| it == b"->" || it == b"//")
        && !text.ends_with(b"-")
        && !text.starts_with(b"/")
}

/// Returns whether the character may occur in an unquoted member name.
pub(crate) fn in_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'<' | b'>' | b'-')
}

/// Returns whether the character may occur in an unquoted class name or field descriptor.
pub(crate) fn in_class(b: u8) -> bool {
    in_name(b) || matches!(b, b'/' | b';' | b'[')
}
