//! A method body in BIR: instructions over expression trees, and the exception table.
//!
//! Evaluation order: an instruction evaluates its operands from left to right, each tree from left to right, and
//! then has its effect. Every heap read of the bytecode occurs exactly once, in bytecode order (`semantics.md`
//! §2.1).
//!
//! Each variant of [`Instr`] lists the exceptions that it may raise, in the JVM's order. An exception that is
//! excluded by a preceding *assertion* is not raised by the instruction itself.

use std::fmt;
use std::num::NonZeroU32;

use classfile::bootstrap::{Dynamic, MethodHandle};
use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, FieldRef, MethodRef, Name};
use la_arena::{Arena, Idx};

use crate::ops::{BinaryOp, Cond, Elem, Kind, UnOp};

/// The id of an expression in one body.
pub type ExprId = Idx<Expr>;
/// The id of an instruction in one body: the ordinal of the instruction. Branches use the id of their target as the
/// label.
pub type InstrId = Idx<Instr>;

/// The body of one method.
///
/// Bodies are built by [`crate::build::Builder`], which numbers expressions in evaluation order and drops unused
/// ones, so that two bodies with the same text are equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Body {
    /// The method, named by the class that declares it.
    pub method: MethodRef,
    /// The access flags of the method.
    pub flags: Flags,
    /// The number of local variable slots (`max_locals`).
    pub locals: u16,
    /// The expressions in evaluation order. Several instructions or expressions may use the same variable, int or
    /// null; every other expression is used exactly once.
    pub exprs: Arena<Expr>,
    /// The instructions. Control enters at the first one and never runs off the end.
    pub instrs: Arena<Instr>,
    /// The operand lists of calls, concatenated.
    pub operands: Box<[ExprId]>,
    /// The targets of switches and of `ret`.
    pub switches: Box<[SwitchTable]>,
    /// The call sites and dynamic constants.
    pub dynamics: Box<[Dynamic]>,
    /// The method-handle constants.
    pub handles: Box<[MethodHandle]>,
    /// The exception table: an exception goes to the handler of the first row that covers the instruction and whose
    /// class matches.
    pub rows: Box<[Row]>,
    /// The bytecode instructions that control never reaches, as half-open ranges of ordinals, ascending. These
    /// instructions have no BIR and are not analysed.
    pub unreachable: Box<[(u32, u32)]>,
    /// Whether lowering found something that the JVM's verifier would reject, or could not inline a subroutine. Such
    /// a body is analysed nevertheless.
    pub unverified: bool,
}

/// A variable of a body.
///
/// A slot may hold values of several kinds in turn, so a variable is named by its place and the kind of its value:
/// `i1` and `a1` share a slot, but never a value.
///
/// A variable is packed into four bytes, because bodies consist mostly of variables:
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
    /// Returns the variable of this kind at this place.
    ///
    /// # Panics
    /// Panics if the number of a temporary is above [`MAX_TEMP`]; lowering rejects a method before that.
    pub fn new(place: Place, kind: Kind) -> Self {
        let (tag, number) = match place {
            Place::Local(it) => (1, u32::from(it)),
            Place::Stack(it) => (2, u32::from(it)),
            Place::Temp(it) => (3, it),
        };
        assert!(number <= MAX_TEMP, "the number {number} of a temporary is above the limit {MAX_TEMP}");
        let bits = tag << (VAR_BITS + 3) | (kind as u32) << VAR_BITS | number;
        Var(NonZeroU32::new(bits).unwrap_or(NonZeroU32::MIN))
    }

    /// Returns the variable of this kind in a local variable slot.
    pub fn local(slot: u16, kind: Kind) -> Self {
        Var::new(Place::Local(slot), kind)
    }

    /// Returns the packed form, which is different for each pair of place and kind.
    pub(crate) fn bits(self) -> u32 {
        self.0.get()
    }

    /// Returns the place of the variable.
    pub fn place(self) -> Place {
        let number = self.0.get() & MAX_TEMP;
        match self.0.get() >> (VAR_BITS + 3) {
            1 => Place::Local(number as u16),
            2 => Place::Stack(number as u16),
            _ => Place::Temp(number),
        }
    }

    /// Returns the kind of the variable's value.
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

/// The place of a variable. Two variables share storage exactly if their places are equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Place {
    /// A local variable slot of the bytecode. At entry, the parameters are in the first slots, the receiver in slot
    /// 0, and longs and doubles take two slots. Printed as `i0`.
    Local(u16),
    /// An operand-stack entry, counted from the bottom (0). Such a variable is used where paths join while values are
    /// on the stack, and for the exception at the start of a handler. Printed as `%i0`.
    Stack(u16),
    /// A temporary, assigned by exactly one instruction. Printed as `$i0`.
    Temp(u32),
}

/// An expression without effects. Only [`Expr::Field`], [`Expr::Static`] and [`Expr::Elem`] read the heap. No
/// expression raises an exception, because assertions before the instruction check the conditions.
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
    /// The null reference.
    Null,
    /// A string constant; all evaluations yield the same interned object.
    Str(Name),
    /// A class constant. Its evaluation does not initialise the class.
    Class(ClassName),
    /// A method type constant.
    MethodType(Descriptor),
    /// A method handle constant, as index into [`Body::handles`].
    MethodHandle(u32),
    /// The value of a variable.
    Var(Var),
    /// An operator with one operand.
    Unary(UnOp, ExprId),
    /// An operator with two operands.
    Binary(BinaryOp, ExprId, ExprId),
    /// A `checkcast`: the value of the operand, which a preceding assertion has checked to be null or of this class.
    Cast(ClassName, ExprId),
    /// `instanceof`: 1 if the operand is not null and of this class, else 0.
    InstanceOf(ClassName, ExprId),
    /// The value of an instance field; reads the heap.
    Field(ExprId, FieldRef),
    /// The value of a static field; reads the heap.
    Static(FieldRef),
    /// The value of an array element; reads the heap.
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

/// The operands of one instruction: a range of [`Body::operands`]. Start and length are packed into four bytes,
/// because a call has at most 255 operands (JVMS §4.3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operands(u32);

/// The maximum number of operands that one body can list.
pub const MAX_OPERANDS: usize = 1 << 24;

impl Operands {
    /// Returns the range of `len` operands from `start` on.
    ///
    /// # Panics
    /// Panics if `start` is not below [`MAX_OPERANDS`]; lowering rejects a method before that.
    pub fn new(start: usize, len: u8) -> Self {
        assert!(start < MAX_OPERANDS, "the operand index {start} is not below the limit {MAX_OPERANDS}");
        Operands((start as u32) << 8 | u32::from(len))
    }

    /// Returns the index of the first operand.
    pub fn start(self) -> usize {
        (self.0 >> 8) as usize
    }

    /// Returns the number of operands.
    pub fn len(self) -> usize {
        (self.0 & 0xff) as usize
    }

    /// Returns whether there are no operands.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// An instruction.
///
/// In the variants, *link errors* are the errors of resolution (JVMS §5.4.3). OutOfMemoryError, StackOverflowError
/// and similar errors can occur anywhere and are not listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instr {
    /// `x := e`. Raises nothing. The link errors of a field read, class constant, cast or `instanceof` in `e` occur
    /// where the bytecode has that instruction, which may be before the assignment.
    Assign(Var, ExprId),
    /// `e.f := e'`. Raises link errors (§6.5.putfield).
    SetField(ExprId, FieldRef, ExprId),
    /// `C.f := e`. Raises link errors (§6.5.putstatic).
    SetStatic(FieldRef, ExprId),
    /// `e[i] := e'`. Raises nothing (§6.5.iastore etc.).
    SetElem(Elem, ExprId, ExprId, ExprId),
    /// Runs the initialiser of the class unless that initialiser has run already (§5.5). Raises the exceptions of the
    /// initialiser, wrapped in ExceptionInInitializerError unless they are Errors, or NoClassDefFoundError if an
    /// earlier run of the initialiser failed.
    MayInit(ClassName),
    /// Raises the exception of the check if the condition of the check does not hold.
    Assert(Check),
    /// `x := new C(args)`: an allocation combined with its constructor call. `C` is the class that the reference to
    /// the constructor names. Raises link errors, then the exceptions of the constructor (§6.5.new,
    /// §6.5.invokespecial). The new object cannot be null.
    New(Var, MethodRef, Operands),
    /// `x := alloc C`: an allocation that is separate from its constructor call. Raises link errors (§6.5.new).
    Alloc(Var, ClassName),
    /// `x := newarray T (len)`; `T` is the array type itself. Raises link errors of the element class
    /// (§6.5.anewarray).
    NewArray(Var, ClassName, ExprId),
    /// `x := multinewarray T (lens)`. Raises link errors (§6.5.multianewarray).
    MultiNewArray(Var, ClassName, Operands),
    /// A call; the receiver, if any, is the first operand. Raises link errors; then, if selection finds an abstract
    /// method or conflicting ones, AbstractMethodError or IncompatibleClassChangeError; then the exceptions of the
    /// callee (§6.5.invokevirtual etc.). The variable is assigned only if the call returns.
    Call(Option<Var>, CallKind, MethodRef, Operands),
    /// `invokedynamic` on the call site with this index in [`Body::dynamics`]. Raises the exceptions of its
    /// bootstrap method, wrapped in BootstrapMethodError unless they are Errors, then those of the target
    /// (§6.5.invokedynamic).
    CallDynamic(Option<Var>, u32, Operands),
    /// `x :=` the dynamic constant with this index in [`Body::dynamics`]. Raises the exceptions of its bootstrap
    /// method, wrapped in BootstrapMethodError unless they are Errors (§5.4.3.6).
    ConstDynamic(Var, u32),
    /// Enters a monitor. Raises nothing, because a preceding assertion excludes null (§6.5.monitorenter).
    MonitorEnter(ExprId),
    /// Exits a monitor. Raises IllegalMonitorStateException if the thread does not hold the monitor
    /// (§6.5.monitorexit).
    MonitorExit(ExprId),
    /// Throws the value (§6.5.athrow). If the exception leaves the method while monitors entered in the method are
    /// still held, raises IllegalMonitorStateException instead (§2.11.10).
    Throw(ExprId),
    /// Returns the value; `None` in a `void` method. Raises IllegalMonitorStateException if the held monitors are not
    /// those held at entry (§2.11.10).
    Return(Option<ExprId>),
    /// Jumps to the label. Raises nothing.
    Goto(InstrId),
    /// Jumps to the label if the comparison of two ints or two references holds. Raises nothing.
    If(Cond, ExprId, ExprId, InstrId),
    /// Jumps to the target for the value of the int operand. The number is the index of the switch's table in
    /// [`Body::switches`]. Raises nothing.
    Switch(ExprId, u32),
    /// The `ret` of a subroutine that was not inlined. The operand is the number of the return site, as pushed by the
    /// `jsr`; the jump goes to the label for that number in the table, which is given by its index in
    /// [`Body::switches`]. Raises nothing.
    Ret(ExprId, u32),
    /// The first instruction of a handler: assigns the exception to the variable. Raises nothing.
    Catch(Var),
}

/// The call instruction, and whether its constant is an interface method.
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
    /// Returns whether the first operand is a receiver.
    pub fn has_receiver(self) -> bool {
        !matches!(self, CallKind::Static | CallKind::StaticInterface)
    }
}

/// The condition of an assertion. Its operands never read the heap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// Holds if the operand is not null; raises NullPointerException otherwise.
    NotNull(ExprId),
    /// Holds if the index (second) is within the bounds of the non-null array (first); raises
    /// ArrayIndexOutOfBoundsException otherwise.
    Bound(ExprId, ExprId),
    /// Holds if the value (second) may be stored into the non-null array of references (first); raises
    /// ArrayStoreException otherwise.
    Store(ExprId, ExprId),
    /// Holds if the int or long divisor is not zero; raises ArithmeticException otherwise.
    NotZero(Kind, ExprId),
    /// Holds if the array length is not negative; raises NegativeArraySizeException otherwise.
    NotNegative(ExprId),
    /// Holds if the operand is null or of the class; raises ClassCastException otherwise.
    Cast(ClassName, ExprId),
}

impl Check {
    /// Returns the internal name of the exception that is raised if the check fails.
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

/// The keys and labels of a `switch` or a `ret`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchTable {
    /// The keys in ascending order, each with its label.
    pub cases: Box<[(i32, InstrId)]>,
    /// The label for every other value; `None` in the table of a `ret`, whose operand is always one of the keys.
    pub default: Option<InstrId>,
}

/// A row of the exception table.
///
/// Inlining of subroutines may turn one bytecode row into several rows, which keep their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The first covered instruction.
    pub start: InstrId,
    /// The ordinal of the first instruction after the covered range; may equal the number of instructions.
    pub end: u32,
    /// The class of the exceptions that the row catches; `None` catches everything.
    pub catch_type: Option<ClassName>,
    /// The [`Instr::Catch`] at which the handler begins.
    pub handler: InstrId,
    /// The index of the row in the exception table of the bytecode.
    pub source: u16,
}

impl Row {
    /// Returns whether the row covers the instruction.
    pub fn covers(&self, instr: InstrId) -> bool {
        (ordinal(self.start)..self.end).contains(&ordinal(instr))
    }
}

/// Returns the index of an expression or instruction in its arena.
pub(crate) fn index<T>(id: Idx<T>) -> usize {
    id.into_raw().into_u32() as usize
}

/// Returns the id of the expression or instruction with this index in its arena.
pub(crate) fn from_index<T>(index: usize) -> Idx<T> {
    Idx::from_raw((index as u32).into())
}

/// Returns the ordinal of an instruction, counted from 0.
pub fn ordinal(id: InstrId) -> u32 {
    id.into_raw().into_u32()
}

/// Returns the id of the instruction with this ordinal. The id is valid only in a body that has enough instructions.
pub fn instr_id(ordinal: u32) -> InstrId {
    InstrId::from_raw(ordinal.into())
}

impl Body {
    /// Returns the operands in the range `it`, in order.
    pub fn operands(&self, it: Operands) -> &[ExprId] {
        self.operands.get(it.start()..it.start() + it.len()).unwrap_or_default()
    }

    /// Calls `f` for each expression that the instruction evaluates as an operand, in order of evaluation.
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

    /// Calls `f` for each label that the instruction may jump to. The next instruction, if control falls through, is
    /// not among these.
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
    /// Returns the variable that the instruction assigns if it completes normally; `None` if it assigns none.
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

    /// Returns whether control can continue at the next instruction.
    pub fn falls_through(&self) -> bool {
        !matches!(
            self,
            Instr::Throw(_) | Instr::Return(_) | Instr::Goto(_) | Instr::Switch(..) | Instr::Ret(..)
        )
    }
}

impl Expr {
    /// Calls `f` for each direct operand of the expression, left to right.
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

    /// Returns whether several instructions or expressions may use this expression.
    pub fn is_shareable(&self) -> bool {
        matches!(self, Expr::Var(_) | Expr::Int(_) | Expr::Null)
    }

    /// Returns whether the topmost operator of the expression reads the heap. Operands are not considered.
    pub fn reads_heap(&self) -> bool {
        matches!(self, Expr::Field(..) | Expr::Static(_) | Expr::Elem(..))
    }

    /// Returns the kind of the expression's value.
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
