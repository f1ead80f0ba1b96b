//! A method body under construction: instructions with labels, exception rows, debug tables.
//!
//! The builder keeps instructions as data and names; `encode_code` turns them into bytes. Branches must fit their
//! form (`goto` is never widened silently), while locals above 255 get `wide` and `ldc` becomes `ldc_w` by need.

use super::attribute::Attribute;
use super::opcodes as op;
use super::pool::{Const, Member, Text};

/// A place in the code of one `CodeBuilder`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(pub(super) u32);

/// A place in an exception row or a variable range: a label, or a raw offset (possibly wrong on purpose).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pos {
    /// Where the label is bound.
    At(Label),
    /// This offset, whatever stands there.
    Raw(u16),
}

impl From<Label> for Pos {
    fn from(label: Label) -> Pos {
        Pos::At(label)
    }
}

/// One instruction or mark.
#[derive(Clone, Debug)]
pub enum Insn {
    /// An instruction without operands.
    Plain(u8),
    /// `bipush`, `sipush` or `newarray`.
    Number(u8, i32),
    /// An instruction that names a local; `true` forces the `wide` form.
    Local(u8, u16, bool),
    /// `iinc`; `true` forces the `wide` form.
    Iinc(u16, i16, bool),
    /// A branch, 16 or 32 bit by its opcode.
    Jump(u8, Label),
    /// `ldc`, `ldc_w` or `ldc2_w`.
    Ldc(u8, Const),
    /// A field instruction.
    Field(u8, Member),
    /// A call other than `invokedynamic`.
    Call(u8, Member),
    /// `invokedynamic`: index of a bootstrap method, name, descriptor.
    Dynamic(u16, Text, Text),
    /// `new`, `anewarray`, `checkcast` or `instanceof`.
    Type(u8, Text),
    /// `multianewarray`.
    MultiArray(Text, u8),
    /// `tableswitch`: lowest key, targets, default.
    Table(i32, Vec<Label>, Label),
    /// `lookupswitch`: pairs as written (the format wants them sorted), default.
    Lookup(Vec<(i32, Label)>, Label),
    /// Bytes copied as they are.
    Raw(Vec<u8>),
    /// Binds a label here.
    Bind(Label),
    /// Gives the following instructions a source line.
    Line(u16),
}

/// One row of the exception table.
#[derive(Clone, Debug)]
pub struct Row {
    /// First covered offset.
    pub start: Pos,
    /// First offset behind the covered range.
    pub end: Pos,
    /// Where the handler starts.
    pub handler: Pos,
    /// The class that is caught; `None` catches everything.
    pub class: Option<Text>,
}

/// One row of the table of local variables.
#[derive(Clone, Debug)]
pub struct Var {
    /// The slot.
    pub slot: u16,
    /// The source name.
    pub name: Text,
    /// The descriptor.
    pub descriptor: Text,
    /// First offset of its range.
    pub start: Pos,
    /// First offset behind its range.
    pub end: Pos,
}

/// A method body under construction.
#[derive(Clone, Debug, Default)]
pub struct CodeBuilder {
    /// The instructions so far.
    pub insns: Vec<Insn>,
    /// The exception rows, in the order in which they will be searched.
    pub rows: Vec<Row>,
    /// Variables for a `LocalVariableTable`; none, no table.
    pub vars: Vec<Var>,
    /// `max_stack`; computed when absent.
    pub max_stack: Option<u16>,
    /// `max_locals`; computed when absent.
    pub max_locals: Option<u16>,
    /// Further attributes of `Code`.
    pub attributes: Vec<Attribute>,
    n_labels: u32,
}

impl CodeBuilder {
    /// An empty body.
    pub fn new() -> CodeBuilder {
        CodeBuilder::default()
    }

    /// A new label, not bound yet.
    pub fn label(&mut self) -> Label {
        self.n_labels += 1;
        Label(self.n_labels - 1)
    }

    /// Binds `label` here.
    pub fn bind(&mut self, label: Label) -> &mut Self {
        self.push(Insn::Bind(label))
    }

    /// A new label, bound here.
    pub fn here(&mut self) -> Label {
        let label = self.label();
        self.bind(label);
        label
    }

    /// Appends any instruction.
    pub fn push(&mut self, insn: Insn) -> &mut Self {
        self.insns.push(insn);
        self
    }

    /// Appends an instruction without operands.
    pub fn op(&mut self, opcode: u8) -> &mut Self {
        self.push(Insn::Plain(opcode))
    }

    /// Appends a load, store or `ret` of `slot` in its general form.
    pub fn local(&mut self, opcode: u8, slot: u16) -> &mut Self {
        self.push(Insn::Local(opcode, slot, false))
    }

    /// Appends a branch.
    pub fn jump(&mut self, opcode: u8, target: Label) -> &mut Self {
        self.push(Insn::Jump(opcode, target))
    }

    /// Appends the load of a constant: `ldc2_w` for longs and doubles, else `ldc`.
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

    /// Appends a call; an `invokeinterface` names an interface, the others a class.
    pub fn call(&mut self, opcode: u8, owner: &str, name: &str, descriptor: &str) -> &mut Self {
        let interface = opcode == op::INVOKEINTERFACE;
        self.push(Insn::Call(opcode, member(owner, name, descriptor, interface)))
    }

    /// Appends `new`, `anewarray`, `checkcast` or `instanceof`.
    pub fn ty(&mut self, opcode: u8, class: &str) -> &mut Self {
        self.push(Insn::Type(opcode, class.into()))
    }

    /// Adds an exception row behind those already there.
    pub fn catch(&mut self, start: Label, end: Label, handler: Label, class: Option<&str>) -> &mut Self {
        let class = class.map(Text::from);
        self.rows.push(Row { start: start.into(), end: end.into(), handler: handler.into(), class });
        self
    }
}

fn member(owner: &str, name: &str, descriptor: &str, interface: bool) -> Member {
    Member { owner: owner.into(), name: name.into(), descriptor: descriptor.into(), interface }
}
