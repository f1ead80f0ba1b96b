//! The symbolic operand stack: expressions in place of values.
//!
//! An entry remembers whether it reads the heap and which variables it mentions, so that an effect or
//! a store knows which entries must first be saved to temporaries.

use classfile::descriptor::Kind;
use classfile::stack::Shape;

use crate::body::{Expr, ExprId, Place, Var};
use crate::build::Builder;

/// Expressions deeper than this are cut by a temporary (`semantics.md` §2.10).
pub(super) const MAX_DEPTH: u8 = 200;

/// What an entry stands for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Item {
    /// A value.
    Value(ExprId),
    /// The object that the `new` with this ordinal made, its constructor not yet called.
    New(u32),
    /// A return address; when subroutines are not inlined, the number of the site.
    Return(Option<ExprId>),
}

/// One entry of the symbolic stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) item: Item,
    pub(super) kind: Kind,
    /// Whether the expression reads the heap.
    pub(super) heap: bool,
    /// Whether it mentions a stack variable.
    pub(super) stack_vars: bool,
    /// Whether it is a constant or a variable: copying it costs nothing.
    pub(super) trivial: bool,
    /// Height of the tree.
    pub(super) depth: u8,
    /// The local slots that it mentions, each at bit `slot mod 64`.
    pub(super) locals: u64,
}

impl Slot {
    /// A constant.
    pub(super) fn constant(e: ExprId, kind: Kind) -> Self {
        Slot {
            item: Item::Value(e),
            kind,
            heap: false,
            stack_vars: false,
            trivial: true,
            depth: 1,
            locals: 0,
        }
    }

    /// A variable.
    pub(super) fn var(e: ExprId, var: Var) -> Self {
        let (stack_vars, locals) = match var.place() {
            Place::Local(slot) => (false, local_bits(slot, var.kind())),
            Place::Stack(_) => (true, 0),
            Place::Temp(_) => (false, 0),
        };
        Slot { stack_vars, locals, ..Slot::constant(e, var.kind()) }
    }

    /// An entry without a value that BIR could name.
    fn other(item: Item) -> Self {
        let none = ExprId::from_raw(0.into());
        Slot { item, trivial: true, ..Slot::constant(none, Kind::Ref) }
    }

    /// The new object of this `new`.
    pub(super) fn new_object(ordinal: u32) -> Self {
        Slot::other(Item::New(ordinal))
    }

    /// A return address.
    pub(super) fn return_address(site: Option<ExprId>) -> Self {
        Slot::other(Item::Return(site))
    }

    /// What the operator `e` over this operand gives.
    pub(super) fn under(self, e: ExprId, kind: Kind) -> Self {
        Slot { item: Item::Value(e), kind, trivial: false, depth: self.depth.saturating_add(1), ..self }
    }

    /// What the operator `e` over these operands gives.
    pub(super) fn join(self, other: Slot, e: ExprId, kind: Kind) -> Self {
        Slot {
            item: Item::Value(e),
            kind,
            heap: self.heap | other.heap,
            stack_vars: self.stack_vars | other.stack_vars,
            trivial: false,
            depth: self.depth.max(other.depth).saturating_add(1),
            locals: self.locals | other.locals,
        }
    }
}

/// The bits of [`Slot::locals`] for a value of this kind in this slot.
pub(super) fn local_bits(slot: u16, kind: Kind) -> u64 {
    let bit = |slot: u16| 1u64 << (slot % 64);
    if kind.words() == 2 { bit(slot) | bit(slot.wrapping_add(1)) } else { bit(slot) }
}

/// The variable of the stack entry with this index.
pub(super) fn stack_var(index: usize, kind: Kind) -> Var {
    // max_stack is 16 bits wide, and every entry takes a word at least.
    Var::new(Place::Stack(index as u16), kind)
}

/// The entries, bottom first.
#[derive(Default)]
pub(super) struct Stack {
    pub(super) slots: Vec<Slot>,
}

impl Stack {
    /// Makes the stack that a block begins with.
    pub(super) fn enter(&mut self, b: &mut Builder, shapes: &[Shape], inlined: bool) {
        self.slots.clear();
        for (i, shape) in shapes.iter().enumerate() {
            let slot = match *shape {
                Shape::Value(kind) => {
                    let var = stack_var(i, kind);
                    Slot::var(b.expr(Expr::Var(var)), var)
                }
                Shape::New(ordinal) => Slot::new_object(ordinal),
                Shape::Return(_) if inlined => Slot::return_address(None),
                Shape::Return(_) => {
                    let var = stack_var(i, Kind::Int);
                    let site = b.expr(Expr::Var(var));
                    Slot { stack_vars: true, ..Slot::return_address(Some(site)) }
                }
            };
            self.slots.push(slot);
        }
    }
}

/// Whether the tree under `id` has a variable for which `f` holds.
pub(super) fn mentions(b: &Builder, id: ExprId, f: &impl Fn(Var) -> bool) -> bool {
    let expr = b.get(id);
    if let Expr::Var(var) = expr {
        return f(var);
    }
    let mut found = false;
    expr.operands(|it| found = found || mentions(b, it, f));
    found
}

/// Whether a store of this kind to local `slot` changes what `var` holds: slots overlap (JVMS §2.6.1).
pub(super) fn overlaps(var: Var, slot: u16, kind: Kind) -> bool {
    let Place::Local(at) = var.place() else { return false };
    let (a, b) = (u32::from(at), u32::from(slot));
    a < b + u32::from(kind.words()) && b < a + u32::from(var.kind().words())
}
