//! A method body in BIR: instructions over expression trees, and the exception table.
//!
//! Order of evaluation: an instruction evaluates its operands from left to right, each tree from left
//! to right, and then has its effect. Every heap read of the bytecode occurs exactly once, in the order
//! in which the bytecode makes it (`semantics.md` §2.1).
//!
//! Which instruction may raise what, in the JVM's order, is said at each variant of [`Instr`]. What an
//! *assertion* excludes, the instruction behind it can no longer raise.

use std::fmt;
use std::num::NonZeroU32;

use classfile::bootstrap::{Dynamic, MethodHandle};
use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, FieldRef, MethodRef, Name};
use la_arena::{Arena, Idx};

use crate::ops::{BinaryOp, Cond, Elem, Kind, UnOp};

/// An expression of one body.
pub type ExprId = Idx<Expr>;
/// An instruction of one body: its ordinal. Also the label that branches name.
pub type InstrId = Idx<Instr>;

/// The body of one method.
///
/// Built by [`crate::build::Builder`], which numbers expressions in the order of evaluation and drops
/// those that nobody uses, so that two bodies with the same text are equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Body {
    /// The method whose body this is, by its own class.
    pub method: MethodRef,
    /// Access flags of the method.
    pub flags: Flags,
    /// Number of local variable slots (`max_locals`).
    pub locals: u16,
    /// Expressions in the order of evaluation. Variables, ints and null may be used several times, every
    /// other expression by one instruction or one other expression.
    pub exprs: Arena<Expr>,
    /// Instructions; control enters at the first and never runs off the end.
    pub instrs: Arena<Instr>,
    /// Operand lists of calls, one after the other.
    pub operands: Box<[ExprId]>,
    /// Targets of switches and of `ret`.
    pub switches: Box<[SwitchTable]>,
    /// Call sites and dynamic constants.
    pub dynamics: Box<[Dynamic]>,
    /// Method-handle constants.
    pub handles: Box<[MethodHandle]>,
    /// The exception table: the first row that covers the instruction and whose class fits wins.
    pub rows: Box<[Row]>,
    /// Bytecode instructions that control never reaches, as half-open ranges of ordinals, ascending.
    /// They have no BIR and are not analysed.
    pub unreachable: Box<[(u32, u32)]>,
    /// Whether something was noticed that the JVM's verifier would refuse, or a subroutine was not
    /// inlined: the code is analysed all the same.
    pub unverified: bool,
}

/// A variable of a body.
///
/// The same slot may hold values of several kinds in turn, so variables are named with the kind of
/// their value: `i1` and `a1` are the same slot, but never the same value.
///
/// Packed into four bytes: bodies consist of little else.
///
/// ```text
///  31      29 28   26 25                    0
/// [ place + 1 | kind  | slot, entry or number ]
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(NonZeroU32);

const VAR_BITS: u32 = 26;
/// The largest number of a temporary.
pub const MAX_TEMP: u32 = (1 << VAR_BITS) - 1;

impl Var {
    /// The variable of this kind at this place.
    ///
    /// # Panics
    /// When the number of a temporary is above [`MAX_TEMP`]; lowering gives a method up before that.
    pub fn new(place: Place, kind: Kind) -> Self {
        let (tag, number) = match place {
            Place::Local(it) => (1, u32::from(it)),
            Place::Stack(it) => (2, u32::from(it)),
            Place::Temp(it) => (3, it),
        };
        assert!(number <= MAX_TEMP, "temporary {number} is out of range");
        let bits = tag << (VAR_BITS + 3) | (kind as u32) << VAR_BITS | number;
        Var(NonZeroU32::new(bits).unwrap_or(NonZeroU32::MIN))
    }

    /// The local variable slot, holding this kind.
    pub fn local(slot: u16, kind: Kind) -> Self {
        Var::new(Place::Local(slot), kind)
    }

    /// The packed form: a function of place and kind.
    pub(crate) fn bits(self) -> u32 {
        self.0.get()
    }

    /// Where it lives.
    pub fn place(self) -> Place {
        let number = self.0.get() & MAX_TEMP;
        match self.0.get() >> (VAR_BITS + 3) {
            1 => Place::Local(number as u16),
            2 => Place::Stack(number as u16),
            _ => Place::Temp(number),
        }
    }

    /// What it holds.
    pub fn kind(self) -> Kind {
        const KINDS: [Kind; 5] = [Kind::Int, Kind::Long, Kind::Float, Kind::Double, Kind::Ref];
        KINDS[(self.0.get() >> VAR_BITS & 7) as usize % 5]
    }
}

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = self.kind().letter();
        match self.place() {
            Place::Local(it) => write!(f, "{letter}{it}"),
            Place::Stack(it) => write!(f, "%{letter}{it}"),
            Place::Temp(it) => write!(f, "${letter}{it}"),
        }
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Where a variable lives. Two variables are the same storage exactly when their places are equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Place {
    /// A local variable slot of the bytecode; at entry the parameters are in the first ones, the
    /// receiver in slot 0, longs and doubles taking two. Printed `i0`.
    Local(u16),
    /// The operand-stack entry of this index (bottom is 0), where control flow joins with values on
    /// the stack and where handlers find what they caught. Printed `%i0`.
    Stack(u16),
    /// A temporary; each is assigned by one instruction only. Printed `$i0`.
    Temp(u32),
}

/// An expression without effect. Only [`Expr::Field`], [`Expr::Static`] and [`Expr::Elem`] read the
/// heap; none can raise, as assertions stand before the instruction that holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expr {
    /// An `int`.
    Int(i32),
    /// A `long`, as high and low half.
    Long(Wide),
    /// A `float`, as bits.
    Float(u32),
    /// A `double`, as high and low half of its bits.
    Double(Wide),
    /// Null.
    Null,
    /// A string constant: always the same interned object.
    Str(Name),
    /// A class constant. Does not initialise the class.
    Class(ClassName),
    /// A method type constant.
    MethodType(Descriptor),
    /// A method handle constant, by its index in [`Body::handles`].
    MethodHandle(u32),
    /// The value of a variable.
    Var(Var),
    /// An operator with one operand.
    Unary(UnOp, ExprId),
    /// An operator with two.
    Binary(BinaryOp, ExprId, ExprId),
    /// The operand, known to be null or of this class (an assertion said so before).
    Cast(ClassName, ExprId),
    /// 1 if the operand is not null and of this class, else 0.
    InstanceOf(ClassName, ExprId),
    /// An instance field; reads the heap.
    Field(ExprId, FieldRef),
    /// A static field; reads the heap.
    Static(FieldRef),
    /// An array element; reads the heap.
    Elem(Elem, ExprId, ExprId),
}

/// A 64-bit number in two halves, so that expressions need no 8-byte alignment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Wide {
    hi: u32,
    lo: u32,
}

impl From<u64> for Wide {
    fn from(it: u64) -> Self {
        Wide { hi: (it >> 32) as u32, lo: it as u32 }
    }
}

impl From<Wide> for u64 {
    fn from(it: Wide) -> Self {
        u64::from(it.hi) << 32 | u64::from(it.lo)
    }
}

/// Operands of one instruction: a run of [`Body::operands`]. A call has at most 255 (JVMS §4.3.3), so
/// start and length share four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operands(u32);

/// How many operands one body can list.
pub const MAX_OPERANDS: usize = 1 << 24;

impl Operands {
    /// The run of `len` operands from `start` on.
    ///
    /// # Panics
    /// When `start` is not below [`MAX_OPERANDS`]; lowering gives a method up before that.
    pub fn new(start: usize, len: u8) -> Self {
        assert!(start < MAX_OPERANDS, "operand {start} is out of range");
        Operands((start as u32) << 8 | u32::from(len))
    }

    /// Index of the first.
    pub fn start(self) -> usize {
        (self.0 >> 8) as usize
    }

    /// How many.
    pub fn len(self) -> usize {
        (self.0 & 0xff) as usize
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// One instruction.
///
/// *link errors* below are those of resolution (JVMS §5.4.3); *initialiser* stands for whatever the
/// class initialiser lets out, wrapped in ExceptionInInitializerError unless it is an Error, and
/// NoClassDefFoundError when it failed before. OutOfMemoryError, StackOverflowError and their kind can
/// come anywhere and are not listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instr {
    /// `x := e`. Raises nothing. (The link errors of a field read, class constant, cast or
    /// `instanceof` in `e` come where the bytecode has the read.)
    Assign(Var, ExprId),
    /// `e.f := e'`. Raises link errors (§6.5.putfield).
    SetField(ExprId, FieldRef, ExprId),
    /// `C.f := e`. Raises link errors (§6.5.putstatic).
    SetStatic(FieldRef, ExprId),
    /// `e[i] := e'`. Raises nothing (§6.5.iastore and its kin).
    SetElem(Elem, ExprId, ExprId, ExprId),
    /// Runs the initialiser of the class unless it ran (§5.5). Raises: initialiser.
    MayInit(ClassName),
    /// Raises the exception of the check when it does not hold.
    Assert(Check),
    /// `x := new C(args)`: allocation folded with its constructor call; the class is the
    /// constructor's. Raises link errors, then what the constructor lets out (§6.5.new,
    /// §6.5.invokespecial). The new object cannot be null.
    New(Var, MethodRef, Operands),
    /// `x := alloc C`: allocation whose constructor call is somewhere else. Raises link errors
    /// (§6.5.new).
    Alloc(Var, ClassName),
    /// `x := newarray T (len)`; `T` is the array's own type. Raises link errors of the element class
    /// (§6.5.anewarray).
    NewArray(Var, ClassName, ExprId),
    /// `x := multinewarray T (lens)`. Raises link errors (§6.5.multianewarray).
    MultiNewArray(Var, ClassName, Operands),
    /// A call; the receiver, if any, is the first operand. Raises link errors, then (abstract or
    /// conflicting selection) AbstractMethodError or IncompatibleClassChangeError, then what the
    /// callee lets out (§6.5.invokevirtual and its kin). The variable is assigned only when the call
    /// returns.
    Call(Option<Var>, CallKind, MethodRef, Operands),
    /// `invokedynamic` on the site with this index in [`Body::dynamics`]. Raises what its bootstrap
    /// method lets out, wrapped in BootstrapMethodError unless it is an Error, then what the target
    /// lets out (§6.5.invokedynamic).
    CallDynamic(Option<Var>, u32, Operands),
    /// `x :=` the dynamic constant with this index in [`Body::dynamics`]. Raises what its bootstrap
    /// method lets out, wrapped in BootstrapMethodError unless it is an Error (§5.4.3.6).
    ConstDynamic(Var, u32),
    /// Raises nothing once the assertion before it holds (§6.5.monitorenter).
    MonitorEnter(ExprId),
    /// Raises IllegalMonitorStateException when the thread does not hold the monitor
    /// (§6.5.monitorexit).
    MonitorExit(ExprId),
    /// Throws the value (§6.5.athrow). IllegalMonitorStateException instead, when monitors entered in
    /// the method are still held as the exception leaves it (§2.11.10).
    Throw(ExprId),
    /// Returns. Raises IllegalMonitorStateException when monitors are not as at entry (§2.11.10).
    Return(Option<ExprId>),
    /// Goes on at the label. Raises nothing.
    Goto(InstrId),
    /// Goes on at the label if the comparison holds. Ints or references. Raises nothing.
    If(Cond, ExprId, ExprId, InstrId),
    /// Goes on at the target for the int's value, by index in [`Body::switches`]. Raises nothing.
    Switch(ExprId, u32),
    /// `ret` of a subroutine that was not inlined: goes on at one of the targets, by index in
    /// [`Body::switches`]; the operand is the number of the return site as the `jsr` pushed it, and
    /// the switch maps it to its label. Raises nothing.
    Ret(ExprId, u32),
    /// First instruction of a handler: the variable gets the exception. Raises nothing.
    Catch(Var),
}

/// Which call instruction, and whether it named its method by an interface method constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallKind {
    /// `invokevirtual`.
    Virtual,
    /// `invokeinterface`.
    Interface,
    /// `invokespecial` of a class's method.
    Special,
    /// `invokespecial` of an interface's method.
    SpecialInterface,
    /// `invokestatic` of a class's method.
    Static,
    /// `invokestatic` of an interface's method.
    StaticInterface,
}

impl CallKind {
    /// Whether the first operand is a receiver.
    pub fn has_receiver(self) -> bool {
        !matches!(self, CallKind::Static | CallKind::StaticInterface)
    }
}

/// What an assertion checks. Operands never read the heap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// Not null; else NullPointerException.
    NotNull(ExprId),
    /// The index (second) is within the array (first, not null); else ArrayIndexOutOfBoundsException.
    Bound(ExprId, ExprId),
    /// The value (second) may be stored into the array of references (first, not null); else
    /// ArrayStoreException.
    Store(ExprId, ExprId),
    /// The int or long divisor is not zero; else ArithmeticException.
    NotZero(Kind, ExprId),
    /// The array length is not negative; else NegativeArraySizeException.
    NotNegative(ExprId),
    /// Null or of the class; else ClassCastException.
    Cast(ClassName, ExprId),
}

impl Check {
    /// Internal name of the exception raised when the check does not hold.
    pub fn exception(self) -> &'static [u8] {
        match self {
            Check::NotNull(_) => b"java/lang/NullPointerException",
            Check::Bound(..) => b"java/lang/ArrayIndexOutOfBoundsException",
            Check::Store(..) => b"java/lang/ArrayStoreException",
            Check::NotZero(..) => b"java/lang/ArithmeticException",
            Check::NotNegative(_) => b"java/lang/NegativeArraySizeException",
            Check::Cast(..) => b"java/lang/ClassCastException",
        }
    }
}

/// Keys and labels of a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchTable {
    /// Keys in ascending order, each with its label.
    pub cases: Box<[(i32, InstrId)]>,
    /// Label for every other value; none for `ret`, whose operand is always one of the keys.
    pub default: Option<InstrId>,
}

/// A row of the exception table.
///
/// One bytecode row may become several rows here when subroutines are inlined; they keep their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// First instruction covered.
    pub start: InstrId,
    /// Ordinal of the first instruction behind the range: it may be the number of instructions.
    pub end: u32,
    /// The class caught; `None` catches everything.
    pub catch_type: Option<ClassName>,
    /// The handler's [`Instr::Catch`].
    pub handler: InstrId,
    /// Number of the row in the exception table of the bytecode.
    pub source: u16,
}

impl Row {
    /// Whether the row covers the instruction.
    pub fn covers(&self, instr: InstrId) -> bool {
        self.start.into_raw().into_u32() <= instr.into_raw().into_u32()
            && instr.into_raw().into_u32() < self.end
    }
}

/// The number of an instruction, from 0.
pub fn ordinal(id: InstrId) -> u32 {
    id.into_raw().into_u32()
}

/// The instruction with this number; meaningful only in a body that has as many.
pub fn instr_id(ordinal: u32) -> InstrId {
    InstrId::from_raw(ordinal.into())
}

impl Body {
    /// The operands of a call.
    pub fn operands(&self, it: Operands) -> &[ExprId] {
        self.operands.get(it.start()..it.start() + it.len()).unwrap_or_default()
    }

    /// The expressions that the instruction evaluates, in order.
    pub fn instr_exprs(&self, instr: &Instr, mut f: impl FnMut(ExprId)) {
        match *instr {
            Instr::Assign(_, e)
            | Instr::SetStatic(_, e)
            | Instr::NewArray(_, _, e)
            | Instr::MonitorEnter(e)
            | Instr::MonitorExit(e)
            | Instr::Throw(e)
            | Instr::Switch(e, _)
            | Instr::Ret(e, _) => f(e),
            Instr::SetField(a, _, b) | Instr::If(_, a, b, _) => {
                f(a);
                f(b);
            }
            Instr::SetElem(_, a, i, v) => {
                f(a);
                f(i);
                f(v);
            }
            Instr::Assert(check) => match check {
                Check::NotNull(e) | Check::NotZero(_, e) | Check::NotNegative(e) | Check::Cast(_, e) => f(e),
                Check::Bound(a, b) | Check::Store(a, b) => {
                    f(a);
                    f(b);
                }
            },
            Instr::New(_, _, it)
            | Instr::MultiNewArray(_, _, it)
            | Instr::Call(_, _, _, it)
            | Instr::CallDynamic(_, _, it) => self.operands(it).iter().for_each(|&e| f(e)),
            Instr::Return(e) => {
                if let Some(e) = e {
                    f(e);
                }
            }
            Instr::MayInit(_)
            | Instr::Alloc(..)
            | Instr::ConstDynamic(..)
            | Instr::Goto(_)
            | Instr::Catch(_) => {}
        }
    }

    /// The labels that the instruction may jump to; falling through is not among them.
    pub fn jumps(&self, instr: &Instr, mut f: impl FnMut(InstrId)) {
        match *instr {
            Instr::Goto(to) | Instr::If(_, _, _, to) => f(to),
            Instr::Switch(_, table) | Instr::Ret(_, table) => {
                if let Some(table) = self.switches.get(table as usize) {
                    table.cases.iter().for_each(|it| f(it.1));
                    if let Some(it) = table.default {
                        f(it);
                    }
                }
            }
            _ => {}
        }
    }
}

impl Instr {
    /// The variable that the instruction assigns on its normal way out.
    pub fn assigned(&self) -> Option<Var> {
        match *self {
            Instr::Assign(var, _)
            | Instr::New(var, ..)
            | Instr::Alloc(var, _)
            | Instr::NewArray(var, ..)
            | Instr::MultiNewArray(var, ..)
            | Instr::ConstDynamic(var, _)
            | Instr::Catch(var) => Some(var),
            Instr::Call(var, ..) | Instr::CallDynamic(var, ..) => var,
            _ => None,
        }
    }

    /// Whether control can go on at the next instruction.
    pub fn falls_through(&self) -> bool {
        !matches!(
            self,
            Instr::Throw(_) | Instr::Return(_) | Instr::Goto(_) | Instr::Switch(..) | Instr::Ret(..)
        )
    }
}

impl Expr {
    /// The direct operands, left to right.
    pub fn operands(&self, mut f: impl FnMut(ExprId)) {
        match *self {
            Expr::Unary(_, e) | Expr::Cast(_, e) | Expr::InstanceOf(_, e) | Expr::Field(e, _) => f(e),
            Expr::Binary(_, a, b) | Expr::Elem(_, a, b) => {
                f(a);
                f(b);
            }
            _ => {}
        }
    }

    /// Whether several uses may share this expression.
    pub fn is_shareable(&self) -> bool {
        matches!(self, Expr::Var(_) | Expr::Int(_) | Expr::Null)
    }

    /// Whether this node itself reads the heap.
    pub fn reads_heap(&self) -> bool {
        matches!(self, Expr::Field(..) | Expr::Static(_) | Expr::Elem(..))
    }

    /// The kind of its value.
    pub fn kind(&self) -> Kind {
        match *self {
            Expr::Int(_) | Expr::InstanceOf(..) => Kind::Int,
            Expr::Long(_) => Kind::Long,
            Expr::Float(_) => Kind::Float,
            Expr::Double(_) => Kind::Double,
            Expr::Null
            | Expr::Str(_)
            | Expr::Class(_)
            | Expr::MethodType(_)
            | Expr::MethodHandle(_)
            | Expr::Cast(..) => Kind::Ref,
            Expr::Var(var) => var.kind(),
            Expr::Unary(op, _) => op.kinds().1,
            Expr::Binary(op, ..) => op.kinds().2,
            Expr::Field(_, field) | Expr::Static(field) => {
                field.descriptor().field_type().map_or(Kind::Int, |it| it.kind())
            }
            Expr::Elem(elem, ..) => elem.kind(),
        }
    }
}

const _: () = assert!(size_of::<Expr>() == 12);
const _: () = assert!(size_of::<Instr>() == 16);
