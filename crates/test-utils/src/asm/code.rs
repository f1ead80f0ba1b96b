//! A method body under construction: instructions with labels, exception rows, debug tables.
//!
//! The builder stores instructions as data; the module `encode_code` encodes them as bytes. A branch offset must fit
//! the form of its instruction: `goto` is never replaced by `goto_w`. Locals above 255 get `wide`, and `ldc` becomes
//! `ldc_w` where necessary.

use super::attribute::Attribute;
use super::opcodes as op;
use super::pool::{Const, Member, Text};

/// A position in the code of one `CodeBuilder`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(pub(super) u32);

/// A position in an exception row or a variable range: a label, or a raw offset, which may be wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pos {
    /// The position where the label is bound.
    At(Label),
    /// The position at this offset in bytes, which need not be the start of an instruction.
    Raw(u16),
}

impl From<Label> for Pos {
    fn from(label: Label) -> Pos {
        Pos::At(label)
    }
}

/// An instruction, or a mark between instructions (a label or a line).
#[derive(Clone, Debug)]
pub enum Insn {
    /// An instruction without operands.
    Plain(u8),
    /// `bipush`, `sipush` or `newarray`: the opcode and the operand.
    Number(u8, i32),
    /// An instruction with a local variable as operand: the opcode, the slot, and whether the `wide` form is forced.
    Local(u8, u16, bool),
    /// `iinc`: the slot, the increment, and whether the `wide` form is forced.
    Iinc(u16, i16, bool),
    /// A branch: the opcode, which determines whether the offset has 16 or 32 bits, and the target.
    Jump(u8, Label),
    /// `ldc`, `ldc_w` or `ldc2_w`: the opcode and the constant.
    Ldc(u8, Const),
    /// A field instruction: the opcode and the field.
    Field(u8, Member),
    /// A call other than `invokedynamic`: the opcode and the method.
    Call(u8, Member),
    /// `invokedynamic`: the index of a bootstrap method, a name and a descriptor.
    Dynamic(u16, Text, Text),
    /// `new`, `anewarray`, `checkcast` or `instanceof`: the opcode and the class.
    Type(u8, Text),
    /// `multianewarray`: the array class and the number of dimensions to allocate.
    MultiArray(Text, u8),
    /// `tableswitch`: the lowest key, the targets, and the default target.
    Table(i32, Vec<Label>, Label),
    /// `lookupswitch`: pairs of key and target, which are written in this order (the format requires sorted keys),
    /// and the default target.
    Lookup(Vec<(i32, Label)>, Label),
    /// Bytes that are copied unchanged.
    Raw(Vec<u8>),
    /// Binds a label at this position.
    Bind(Label),
    /// Sets the source line of the following instructions.
    Line(u16),
}

/// One row of the exception table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The first covered offset.
    pub start: Pos,
    /// The first offset after the covered range.
    pub end: Pos,
    /// The start of the handler.
    pub handler: Pos,
    /// The internal name of the caught class; `None` catches everything.
    pub class: Option<Text>,
}

/// One row of the `LocalVariableTable`.
#[derive(Clone, Debug)]
pub struct Var {
    /// The slot of the variable.
    pub slot: u16,
    /// The source name of the variable.
    pub name: Text,
    /// The descriptor of the variable.
    pub descriptor: Text,
    /// The first offset of the variable's range.
    pub start: Pos,
    /// The first offset after the variable's range.
    pub end: Pos,
}

/// A method body under construction.
#[derive(Clone, Debug, Default)]
pub struct CodeBuilder {
    /// The instructions added so far.
    pub insns: Vec<Insn>,
    /// The exception rows, in the order in which the JVM searches them.
    pub rows: Vec<Row>,
    /// The rows of the `LocalVariableTable`; if there are none, the attribute is not written.
    pub vars: Vec<Var>,
    /// The value of `max_stack`; `None` if the assembler computes the value from the code.
    pub max_stack: Option<u16>,
    /// The value of `max_locals`; `None` if the assembler computes the value from the code.
    pub max_locals: Option<u16>,
    /// The attributes of `Code` besides the debug tables that the builder writes.
    pub attributes: Vec<Attribute>,
    n_labels: u32,
}

impl CodeBuilder {
    /// Creates an empty body.
    pub fn new() -> CodeBuilder {
        CodeBuilder::default()
    }

    /// Creates a label that is not bound yet.
    pub fn label(&mut self) -> Label {
        self.n_labels += 1;
        Label(self.n_labels - 1)
    }

    /// Binds `label` at the current position.
    pub fn bind(&mut self, label: Label) -> &mut Self {
        self.push(Insn::Bind(label))
    }

    /// Creates a label that is bound at the current position.
    pub fn here(&mut self) -> Label {
        let label = self.label();
        self.bind(label);
        label
    }

    /// Appends `insn`: an instruction, or a mark between instructions.
    pub fn push(&mut self, insn: Insn) -> &mut Self {
        self.insns.push(insn);
        self
    }

    /// Appends an instruction without operands.
    pub fn op(&mut self, opcode: u8) -> &mut Self {
        self.push(Insn::Plain(opcode))
    }

    /// Appends a load or store of `slot`, or a `ret`. `opcode` is the general form, such as `iload`.
    pub fn local(&mut self, opcode: u8, slot: u16) -> &mut Self {
        self.push(Insn::Local(opcode, slot, false))
    }

    /// Appends a branch.
    pub fn jump(&mut self, opcode: u8, target: Label) -> &mut Self {
        self.push(Insn::Jump(opcode, target))
    }

    /// Appends an instruction that loads a constant: `ldc2_w` for longs and doubles, else `ldc`.
    pub fn ldc(&mut self, constant: Const) -> &mut Self {
        let opcode = if constant.is_wide() { op::LDC2_W } else { op::LDC };
        self.push(Insn::Ldc(opcode, constant))
    }

    /// Appends the shortest instruction that pushes `value`.
    pub fn int(&mut self, value: i32) -> &mut Self {
        match value {
            -1..=5 => self.op((i32::from(op::ICONST_0) + value) as u8),
            -128..=127 => self.push(Insn::Number(op::BIPUSH, value)),
            -32768..=32767 => self.push(Insn::Number(op::SIPUSH, value)),
            _ => self.ldc(Const::Int(value)),
        }
    }

    /// Appends a field instruction.
    pub fn field(&mut self, opcode: u8, owner: &str, name: &str, descriptor: &str) -> &mut Self {
        self.push(Insn::Field(opcode, member(owner, name, descriptor, false)))
    }

    /// Appends a call other than `invokedynamic`. The constant-pool entry is an `InterfaceMethodref` for
    /// `invokeinterface`, and a `Methodref` for all other opcodes.
    pub fn call(&mut self, opcode: u8, owner: &str, name: &str, descriptor: &str) -> &mut Self {
        let interface = opcode == op::INVOKEINTERFACE;
        self.push(Insn::Call(opcode, member(owner, name, descriptor, interface)))
    }

    /// Appends `new`, `anewarray`, `checkcast` or `instanceof`.
    pub fn ty(&mut self, opcode: u8, class: &str) -> &mut Self {
        self.push(Insn::Type(opcode, class.into()))
    }

    /// Appends an exception row for the range from `start` to `end` (exclusive). `class` is the caught class; `None`
    /// catches everything.
    pub fn catch(&mut self, start: Label, end: Label, handler: Label, class: Option<&str>) -> &mut Self {
        let class = class.map(Text::from);
        self.rows.push(Row { start: start.into(), end: end.into(), handler: handler.into(), class });
        self
    }
}

fn member(owner: &str, name: &str, descriptor: &str, interface: bool) -> Member {
    Member { owner: owner.into(), name: name.into(), descriptor: descriptor.into(), interface }
}
