//! The symbolic operand stack, which holds expressions instead of values.
//!
//! Each entry records whether its expression reads the heap and which variables it contains, to decide which entries
//! must be saved to temporaries before an effect or a store.

use classfile::descriptor::Kind;
use classfile::stack::Shape;

use crate::body::{Expr, ExprId, Place, Var, from_index};
use crate::build::Builder;

/// The maximum depth of an expression during lowering; deeper ones are saved to a temporary (`semantics.md` §2.10).
pub(super) const MAX_DEPTH: u8 = 200;

/// The content of a stack entry during lowering.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Content {
    /// A value, given by an expression.
    Value(ExprId),
    /// The object created by the `new` with this ordinal, before its constructor call.
    New(u32),
    /// A return address. If subroutines are not inlined, the expression is the number of the return site; otherwise
    /// `None`.
    Return(Option<ExprId>),
}

/// One entry of the symbolic stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) item: Content,
    pub(super) kind: Kind,
    /// Whether the expression reads the heap.
    pub(super) heap: bool,
    /// Whether the expression resolves a class when it is evaluated, which may raise an error (JVMS §5.4.3.1).
    pub(super) resolves: bool,
    /// Whether the expression contains a variable of the operand stack ([`crate::body::Place::Stack`]).
    pub(super) stack_vars: bool,
    /// Whether the expression is a constant or a variable, which can be copied at no cost.
    pub(super) trivial: bool,
    /// The height of the expression tree.
    pub(super) depth: u8,
    /// The local slots that the expression contains, each as bit `slot mod 64`.
    pub(super) locals: u64,
}

impl Slot {
    /// Returns the stack entry for a constant.
    pub(super) fn constant(e: ExprId, kind: Kind) -> Self {
        Slot {
            item: Content::Value(e),
            kind,
            heap: false,
            resolves: false,
            stack_vars: false,
            trivial: true,
            depth: 1,
            locals: 0,
        }
    }

    /// Returns the stack entry for a variable.
    pub(super) fn var(e: ExprId, var: Var) -> Self {
        let (stack_vars, locals) = match var.place() {
            Place::Local(slot) => (false, local_bits(slot, var.kind())),
            Place::Stack(_) => (true, 0),
            Place::Temp(_) => (false, 0),
        };
        Slot { stack_vars, locals, ..Slot::constant(e, var.kind()) }
    }

    /// Returns a stack entry for a new object or a return address. These have no expression in BIR.
    fn other(item: Content) -> Self {
        let none = from_index(0);
        Slot { item, trivial: true, ..Slot::constant(none, Kind::Ref) }
    }

    /// Returns the stack entry for the object created by the `new` with this ordinal.
    pub(super) fn new_object(ordinal: u32) -> Self {
        Slot::other(Content::New(ordinal))
    }

    /// Returns the stack entry for a return address; `site` is the number of the return site, `None` if subroutines
    /// are inlined.
    pub(super) fn return_address(site: Option<ExprId>) -> Self {
        Slot::other(Content::Return(site))
    }

    /// Returns the stack entry for `e`, an expression that applies an operator to the value of `self`.
    pub(super) fn under(self, e: ExprId, kind: Kind) -> Self {
        Slot { item: Content::Value(e), kind, trivial: false, depth: self.depth.saturating_add(1), ..self }
    }

    /// Returns the stack entry for `e`, an expression that applies an operator to the values of `self` and `other`.
    pub(super) fn join(self, other: Slot, e: ExprId, kind: Kind) -> Self {
        Slot {
            item: Content::Value(e),
            kind,
            heap: self.heap | other.heap,
            resolves: self.resolves | other.resolves,
            stack_vars: self.stack_vars | other.stack_vars,
            trivial: false,
            depth: self.depth.max(other.depth).saturating_add(1),
            locals: self.locals | other.locals,
        }
    }
}

/// Returns the bits of [`Slot::locals`] for a value of this kind in the local variable `slot`.
pub(super) fn local_bits(slot: u16, kind: Kind) -> u64 {
    let bit = |slot: u16| 1u64 << (slot % 64);
    if kind.words() == 2 { bit(slot) | bit(slot.wrapping_add(1)) } else { bit(slot) }
}

/// Returns the variable for the stack entry with this index, counted from the bottom.
pub(super) fn stack_var(index: usize, kind: Kind) -> Var {
    // max_stack is 16 bits wide, and every entry takes at least one word.
    Var::new(Place::Stack(index as u16), kind)
}

/// The entries of the operand stack, bottom first.
#[derive(Default)]
pub(super) struct Stack {
    pub(super) slots: Vec<Slot>,
}

impl Stack {
    /// Initialises the stack at the beginning of a block from `shapes`, bottom first.
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

/// Returns whether the expression tree `id` contains a variable for which `f` holds.
pub(super) fn mentions(b: &Builder, id: ExprId, f: &impl Fn(Var) -> bool) -> bool {
    let expr = b.get(id);
    if let Expr::Var(var) = expr {
        return f(var);
    }
    let mut found = false;
    expr.operands(|it| found = found || mentions(b, it, f));
    found
}

/// Returns whether a store of this kind to local `slot` changes the value of `var`. Longs and doubles overlap the
/// next slot (JVMS §2.6.1).
pub(super) fn overlaps(var: Var, slot: u16, kind: Kind) -> bool {
    let Place::Local(at) = var.place() else { return false };
    let (a, b) = (u32::from(at), u32::from(slot));
    a < b + u32::from(kind.words()) && b < a + u32::from(var.kind().words())
}
