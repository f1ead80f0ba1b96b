//! Instructions (JVMS §6.5), decoded one at a time to a small value.

use crate::bytes::{u2, u4};
use crate::descriptor::{Elem, Kind};
use crate::error::{Fault, Malformed, Result};
use crate::pool::PoolIndex;

/// A byte offset within the code of one method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pc(pub u32);

impl Pc {
    /// Returns the pc as an index into the bytes of the code.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the pc at this offset in the code.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        Pc(index as u32)
    }
}

/// An instruction. Branch targets are absolute pcs; they are not checked to be starts of instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Insn {
    /// `nop`.
    Nop,
    /// `aconst_null`.
    Null,
    /// `iconst_*`, `bipush`, `sipush`.
    Int(i32),
    /// `lconst_*`, with the constant as an `int`.
    Long(i32),
    /// `fconst_*`, with the bits of the constant.
    Float(u32),
    /// `dconst_*`, with the constant as an `int`.
    Double(i32),
    /// `ldc`, `ldc_w`.
    Ldc(PoolIndex),
    /// `ldc2_w`.
    Ldc2(PoolIndex),
    /// `iload` etc.: the kind of the value and the slot.
    Load(Kind, u16),
    /// `istore` etc.: the kind of the value and the slot; `astore` also stores return addresses.
    Store(Kind, u16),
    /// `iaload` etc., with the element type of the array.
    ArrayLoad(Elem),
    /// `iastore` etc., with the element type of the array.
    ArrayStore(Elem),
    /// `pop`, `dup`, `swap` etc.
    Stack(StackOp),
    /// An operation on two operands of one kind, with a result of that kind (for shifts, the second operand is an
    /// int).
    Binary(BinOp, Kind),
    /// `ineg` etc., with the kind of the operand.
    Neg(Kind),
    /// `iinc`: slot and increment.
    Iinc(u16, i16),
    /// `i2l` etc.: a conversion of a number to another kind.
    Convert(Conv),
    /// `lcmp`, `fcmpl` etc.: a comparison that pushes -1, 0 or 1.
    Compare(CmpOp),
    /// `ifeq` etc.: branches to the pc if the condition holds between an int and zero.
    If(Cond, Pc),
    /// `if_icmpeq` etc.: branches to the pc if the condition holds between two ints.
    IfInts(Cond, Pc),
    /// `if_acmpeq` (`Eq`) or `if_acmpne` (`Ne`), with the target.
    IfRefs(Cond, Pc),
    /// `ifnull` (`Eq`) or `ifnonnull` (`Ne`), with the target.
    IfNull(Cond, Pc),
    /// `goto`, `goto_w`.
    Goto(Pc),
    /// `jsr`, `jsr_w`.
    Jsr(Pc),
    /// `ret`: the slot of the local variable that holds the return address.
    Ret(u16),
    /// `tableswitch` (true) or `lookupswitch` (false); [`Switch::read`] reads the operands.
    Switch(bool),
    /// `return`, `ireturn` etc.
    Return(Option<Kind>),
    /// `getstatic`.
    GetStatic(PoolIndex),
    /// `putstatic`.
    PutStatic(PoolIndex),
    /// `getfield`.
    GetField(PoolIndex),
    /// `putfield`.
    PutField(PoolIndex),
    /// `invokevirtual` etc., but not `invokedynamic`.
    Invoke(InvokeOp, PoolIndex),
    /// `invokedynamic`.
    InvokeDynamic(PoolIndex),
    /// `new`.
    New(PoolIndex),
    /// `newarray`: the descriptor letter of the element type.
    NewArray(u8),
    /// `anewarray`: the element class.
    ANewArray(PoolIndex),
    /// `multianewarray`: the array class and the number of dimensions to allocate.
    MultiANewArray(PoolIndex, u8),
    /// `arraylength`.
    ArrayLength,
    /// `athrow`.
    Throw,
    /// `checkcast`.
    CheckCast(PoolIndex),
    /// `instanceof`.
    InstanceOf(PoolIndex),
    /// `monitorenter`.
    MonitorEnter,
    /// `monitorexit`.
    MonitorExit,
}

/// The instructions that rearrange the operand stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // These are the mnemonics.
pub enum StackOp {
    Pop,
    Pop2,
    Dup,
    DupX1,
    DupX2,
    Dup2,
    Dup2X1,
    Dup2X2,
    Swap,
}

/// The operators of the arithmetic instructions that take two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // These are the mnemonics without their kind.
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    Ushr,
    And,
    Or,
    Xor,
}

/// The comparisons of two longs, floats or doubles, which push -1, 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // These are the mnemonics; the flavour says what NaN gives (l: -1, g: 1).
pub enum CmpOp {
    Lcmp,
    Fcmpl,
    Fcmpg,
    Dcmpl,
    Dcmpg,
}

/// The conversions of a number to another numeric type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // These are the mnemonics.
pub enum Conv {
    I2l,
    I2f,
    I2d,
    L2i,
    L2f,
    L2d,
    F2i,
    F2l,
    F2d,
    D2i,
    D2l,
    D2f,
    I2b,
    I2c,
    I2s,
}

impl Conv {
    /// Returns the kind of the operand and the kind of the result.
    pub fn kinds(self) -> (Kind, Kind) {
        use Kind::{Double as D, Float as F, Int as I, Long as L};
        match self {
            Conv::I2l => (I, L),
            Conv::I2f => (I, F),
            Conv::I2d => (I, D),
            Conv::L2i => (L, I),
            Conv::L2f => (L, F),
            Conv::L2d => (L, D),
            Conv::F2i => (F, I),
            Conv::F2l => (F, L),
            Conv::F2d => (F, D),
            Conv::D2i => (D, I),
            Conv::D2l => (D, L),
            Conv::D2f => (D, F),
            Conv::I2b | Conv::I2c | Conv::I2s => (I, I),
        }
    }
}

impl CmpOp {
    /// Returns the kind of both operands.
    pub fn kind(self) -> Kind {
        match self {
            CmpOp::Lcmp => Kind::Long,
            CmpOp::Fcmpl | CmpOp::Fcmpg => Kind::Float,
            CmpOp::Dcmpl | CmpOp::Dcmpg => Kind::Double,
        }
    }
}

/// The condition of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // These are the mnemonics.
pub enum Cond {
    Eq,
    Ne,
    Lt,
    Ge,
    Gt,
    Le,
}

/// The opcode of an invoke instruction other than `invokedynamic`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InvokeOp {
    /// `invokevirtual`.
    Virtual,
    /// `invokespecial`.
    Special,
    /// `invokestatic`.
    Static,
    /// `invokeinterface`.
    Interface,
}

/// The operands of a switch, decoded lazily.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Switch<'a> {
    pc: Pc,
    /// The target if no key matches.
    pub default: Pc,
    /// The lowest key of a `tableswitch`, whose keys are consecutive; `None` for `lookupswitch`.
    low: Option<i32>,
    rows: &'a [u8],
}

impl<'a> Switch<'a> {
    /// Reads the operands of the switch at `pc`.
    ///
    /// # Errors
    /// Fails if the operands run past the end of the code or contradict each other, which cannot happen after a
    /// successful [`decode`].
    pub fn read(code: &'a [u8], pc: Pc, table: bool) -> std::result::Result<Self, Fault> {
        read_switch(code, pc, table).map(|it| it.0)
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.rows.len() / if self.low.is_some() { 4 } else { 8 }
    }

    /// Returns whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the keys in ascending order, each with its branch target.
    pub fn cases(&self) -> impl ExactSizeIterator<Item = (i32, Pc)> + use<'a> {
        let Switch { pc, low, rows, .. } = *self;
        let n4 = move |at: usize| u4(rows, at).unwrap_or_default();
        (0..self.len()).map(move |i| match low {
            Some(low) => (low.wrapping_add(i as i32), jump(pc, n4(4 * i) as i32)),
            None => (n4(8 * i) as i32, jump(pc, n4(8 * i + 4) as i32)),
        })
    }
}

/// Returns the target of the branch at `pc` with offset `by`. If the target is before the start of the code, returns
/// `u32::MAX`, which is no valid pc.
fn jump(pc: Pc, by: i32) -> Pc {
    Pc(u32::try_from(i64::from(pc.0) + i64::from(by)).unwrap_or(u32::MAX))
}

/// Decodes the instruction at `pc`; returns it with the pc of the next one.
///
/// # Errors
/// Fails if the opcode does not exist or its operands run past the end of the code. The error is boxed, so that
/// results are returned in registers.
// long match: one arm per opcode
#[inline]
pub fn decode(code: &[u8], pc: Pc) -> std::result::Result<(Insn, Pc), Box<Fault>> {
    use BinOp::*;
    use Kind::{Double as D, Float as F, Int as I, Long as L, Ref as A};
    let at = pc.index();
    let have = code.len().saturating_sub(at) as u64;
    let Some(&op) = code.get(at) else { return Err(Fault::Truncated { need: 1, have: 0 }.into()) };
    let n1 = || code.get(at + 1).copied().ok_or(Fault::Truncated { need: 2, have });
    let n2 = || u2(code, at + 1).ok_or(Fault::Truncated { need: 3, have });
    let slot = || n1().map(u16::from);
    let index = || n2().map(PoolIndex);
    let target = || n2().map(|it| jump(pc, i32::from(it as i16)));
    let target4 = || u4(code, at + 1).map(|it| jump(pc, it as i32)).ok_or(Fault::Truncated { need: 5, have });
    const KINDS: [Kind; 5] = [I, L, F, D, A];
    const ELEMS: [Elem; 8] =
        [Elem::Int, Elem::Long, Elem::Float, Elem::Double, Elem::Ref, Elem::Byte, Elem::Char, Elem::Short];
    const ARITH: [BinOp; 5] = [Add, Sub, Mul, Div, Rem];
    const CONVS: [Conv; 15] = [
        Conv::I2l,
        Conv::I2f,
        Conv::I2d,
        Conv::L2i,
        Conv::L2f,
        Conv::L2d,
        Conv::F2i,
        Conv::F2l,
        Conv::F2d,
        Conv::D2i,
        Conv::D2l,
        Conv::D2f,
        Conv::I2b,
        Conv::I2c,
        Conv::I2s,
    ];
    const CONDS: [Cond; 6] = [Cond::Eq, Cond::Ne, Cond::Lt, Cond::Ge, Cond::Gt, Cond::Le];
    let (insn, len) = match op {
        0x00 => (Insn::Nop, 1),
        0x01 => (Insn::Null, 1),
        0x02..=0x08 => (Insn::Int(i32::from(op) - 3), 1),
        0x09..=0x0a => (Insn::Long(i32::from(op) - 9), 1),
        0x0b..=0x0d => (Insn::Float(f32::from(op - 0x0b).to_bits()), 1),
        0x0e..=0x0f => (Insn::Double(i32::from(op) - 0x0e), 1),
        0x10 => (Insn::Int(i32::from(n1()? as i8)), 2),
        0x11 => (Insn::Int(i32::from(n2()? as i16)), 3),
        0x12 => (Insn::Ldc(PoolIndex(slot()?)), 2),
        0x13 => (Insn::Ldc(index()?), 3),
        0x14 => (Insn::Ldc2(index()?), 3),
        0x15..=0x19 => (Insn::Load(KINDS[(op - 0x15) as usize], slot()?), 2),
        0x1a..=0x2d => (Insn::Load(KINDS[((op - 0x1a) / 4) as usize], u16::from((op - 0x1a) % 4)), 1),
        0x2e..=0x35 => (Insn::ArrayLoad(ELEMS[(op - 0x2e) as usize]), 1),
        0x36..=0x3a => (Insn::Store(KINDS[(op - 0x36) as usize], slot()?), 2),
        0x3b..=0x4e => (Insn::Store(KINDS[((op - 0x3b) / 4) as usize], u16::from((op - 0x3b) % 4)), 1),
        0x4f..=0x56 => (Insn::ArrayStore(ELEMS[(op - 0x4f) as usize]), 1),
        0x57 => (Insn::Stack(StackOp::Pop), 1),
        0x58 => (Insn::Stack(StackOp::Pop2), 1),
        0x59 => (Insn::Stack(StackOp::Dup), 1),
        0x5a => (Insn::Stack(StackOp::DupX1), 1),
        0x5b => (Insn::Stack(StackOp::DupX2), 1),
        0x5c => (Insn::Stack(StackOp::Dup2), 1),
        0x5d => (Insn::Stack(StackOp::Dup2X1), 1),
        0x5e => (Insn::Stack(StackOp::Dup2X2), 1),
        0x5f => (Insn::Stack(StackOp::Swap), 1),
        0x60..=0x73 => {
            let n = op - 0x60;
            (Insn::Binary(ARITH[(n / 4) as usize], KINDS[(n % 4) as usize]), 1)
        }
        0x74..=0x77 => (Insn::Neg(KINDS[(op - 0x74) as usize]), 1),
        0x78 => (Insn::Binary(Shl, I), 1),
        0x79 => (Insn::Binary(Shl, L), 1),
        0x7a => (Insn::Binary(Shr, I), 1),
        0x7b => (Insn::Binary(Shr, L), 1),
        0x7c => (Insn::Binary(Ushr, I), 1),
        0x7d => (Insn::Binary(Ushr, L), 1),
        0x7e => (Insn::Binary(And, I), 1),
        0x7f => (Insn::Binary(And, L), 1),
        0x80 => (Insn::Binary(Or, I), 1),
        0x81 => (Insn::Binary(Or, L), 1),
        0x82 => (Insn::Binary(Xor, I), 1),
        0x83 => (Insn::Binary(Xor, L), 1),
        0x84 => {
            let n = n2()?;
            (Insn::Iinc(n >> 8, i16::from(n as u8 as i8)), 3)
        }
        0x85..=0x93 => (Insn::Convert(CONVS[(op - 0x85) as usize]), 1),
        0x94 => (Insn::Compare(CmpOp::Lcmp), 1),
        0x95 => (Insn::Compare(CmpOp::Fcmpl), 1),
        0x96 => (Insn::Compare(CmpOp::Fcmpg), 1),
        0x97 => (Insn::Compare(CmpOp::Dcmpl), 1),
        0x98 => (Insn::Compare(CmpOp::Dcmpg), 1),
        0x99..=0x9e => (Insn::If(CONDS[(op - 0x99) as usize], target()?), 3),
        0x9f..=0xa4 => (Insn::IfInts(CONDS[(op - 0x9f) as usize], target()?), 3),
        0xa5 => (Insn::IfRefs(Cond::Eq, target()?), 3),
        0xa6 => (Insn::IfRefs(Cond::Ne, target()?), 3),
        0xa7 => (Insn::Goto(target()?), 3),
        0xa8 => (Insn::Jsr(target()?), 3),
        0xa9 => (Insn::Ret(slot()?), 2),
        0xaa | 0xab => {
            let (_, len) = read_switch(code, pc, op == 0xaa)?;
            (Insn::Switch(op == 0xaa), len)
        }
        0xac..=0xb0 => (Insn::Return(Some(KINDS[(op - 0xac) as usize])), 1),
        0xb1 => (Insn::Return(None), 1),
        0xb2 => (Insn::GetStatic(index()?), 3),
        0xb3 => (Insn::PutStatic(index()?), 3),
        0xb4 => (Insn::GetField(index()?), 3),
        0xb5 => (Insn::PutField(index()?), 3),
        0xb6 => (Insn::Invoke(InvokeOp::Virtual, index()?), 3),
        0xb7 => (Insn::Invoke(InvokeOp::Special, index()?), 3),
        0xb8 => (Insn::Invoke(InvokeOp::Static, index()?), 3),
        0xb9 if have >= 5 => (Insn::Invoke(InvokeOp::Interface, index()?), 5),
        0xba if have >= 5 => (Insn::InvokeDynamic(index()?), 5),
        0xb9 | 0xba => return Err(Fault::Truncated { need: 5, have }.into()),
        0xbb => (Insn::New(index()?), 3),
        0xbc => match n1()? {
            n @ 4..=11 => (Insn::NewArray(b"ZCFDBSIJ"[(n - 4) as usize]), 2),
            n => return Err(Fault::OtherAt("newarray has an unknown element type:", n.into()).into()),
        },
        0xbd => (Insn::ANewArray(index()?), 3),
        0xbe => (Insn::ArrayLength, 1),
        0xbf => (Insn::Throw, 1),
        0xc0 => (Insn::CheckCast(index()?), 3),
        0xc1 => (Insn::InstanceOf(index()?), 3),
        0xc2 => (Insn::MonitorEnter, 1),
        0xc3 => (Insn::MonitorExit, 1),
        0xc4 => decode_wide(code, at)?,
        0xc5 => {
            let dims = code.get(at + 3).copied().ok_or(Fault::Truncated { need: 4, have })?;
            if dims == 0 {
                return Err(Fault::Other("multianewarray has zero dimensions").into());
            }
            (Insn::MultiANewArray(index()?, dims), 4)
        }
        0xc6 => (Insn::IfNull(Cond::Eq, target()?), 3),
        0xc7 => (Insn::IfNull(Cond::Ne, target()?), 3),
        0xc8 => (Insn::Goto(target4()?), 5),
        0xc9 => (Insn::Jsr(target4()?), 5),
        _ => return Err(Fault::Opcode(op).into()),
    };
    Ok((insn, Pc(pc.0 + len)))
}

/// Decodes `wide` and the instruction that it modifies (JVMS §6.5.wide).
fn decode_wide(code: &[u8], at: usize) -> std::result::Result<(Insn, u32), Fault> {
    use Kind::{Double as D, Float as F, Int as I, Long as L, Ref as A};
    const KINDS: [Kind; 5] = [I, L, F, D, A];
    let have = (code.len() - at) as u64;
    let Some(&op) = code.get(at + 1) else { return Err(Fault::Truncated { need: 4, have }) };
    let slot = u2(code, at + 2).ok_or(Fault::Truncated { need: 4, have })?;
    Ok(match op {
        0x15..=0x19 => (Insn::Load(KINDS[(op - 0x15) as usize], slot), 4),
        0x36..=0x3a => (Insn::Store(KINDS[(op - 0x36) as usize], slot), 4),
        0x84 => {
            let by = u2(code, at + 4).ok_or(Fault::Truncated { need: 6, have })?;
            (Insn::Iinc(slot, by as i16), 6)
        }
        0xa9 => (Insn::Ret(slot), 4),
        _ => return Err(Fault::OtherAt("the prefix wide must not precede the opcode", op.into())),
    })
}

/// Reads the operands of the switch at `pc`, aligned to four bytes from the start of the code; `table` is true for
/// `tableswitch`, false for `lookupswitch`. Also returns the length of the instruction in bytes.
fn read_switch(code: &[u8], pc: Pc, table: bool) -> std::result::Result<(Switch<'_>, u32), Fault> {
    let at = pc.index();
    let have = (code.len() - at) as u64;
    let start = (at + 4) & !3;
    let n4 = |k: usize| {
        u4(code, start + k)
            .map(|it| it as i32)
            .ok_or(Fault::Truncated { need: (start + k + 4 - at) as u64, have })
    };
    let default = jump(pc, n4(0)?);
    let (low, first, len) = if table {
        let (low, high) = (n4(4)?, n4(8)?);
        if high < low {
            return Err(Fault::Other("the highest key of tableswitch is below its lowest key"));
        }
        (Some(low), start + 12, 4 * (i64::from(high) - i64::from(low) + 1))
    } else {
        let n = n4(4)?;
        if n < 0 {
            return Err(Fault::OtherAt("lookupswitch has a negative size:", n.into()));
        }
        (None, start + 8, 8 * i64::from(n))
    };
    let rows = usize::try_from(len).ok().and_then(|len| code.get(first..first.checked_add(len)?));
    let rows = rows.ok_or(Fault::Truncated { need: (first - at) as u64 + len as u64, have })?;
    let switch = Switch { pc, default, low, rows };
    if !table && !switch.cases().zip(switch.cases().skip(1)).all(|(a, b)| a.0 < b.0) {
        return Err(Fault::Other("the keys of lookupswitch are not sorted"));
    }
    Ok((switch, (first + rows.len() - at) as u32))
}

/// An iterator over the instructions of a body, in order.
#[derive(Clone)]
pub struct Instructions<'a> {
    code: &'a [u8],
    pc: Pc,
    /// The offset of the code in the class file, for error messages.
    base: usize,
}

impl<'a> Instructions<'a> {
    pub(crate) fn new(code: &'a [u8], base: usize) -> Self {
        Instructions { code, pc: Pc(0), base }
    }

    /// Returns the pc of the next instruction.
    pub fn pc(&self) -> Pc {
        self.pc
    }
}

impl Iterator for Instructions<'_> {
    type Item = Result<(Pc, Insn)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.pc.index() >= self.code.len() {
            return None;
        }
        let pc = self.pc;
        match decode(self.code, pc) {
            Ok((insn, next)) => {
                self.pc = next;
                Some(Ok((pc, insn)))
            }
            Err(fault) => {
                self.pc = Pc::from_index(self.code.len());
                Some(Err(Malformed::new(self.base + pc.index(), "6.5", *fault)))
            }
        }
    }
}

const _: () = assert!(size_of::<Insn>() == 8);
