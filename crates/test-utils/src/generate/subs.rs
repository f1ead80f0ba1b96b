//! Writes subroutines by `jsr` and `ret`: nested, called from several places, with several exits or none.

use crate::asm::{Insn, Label, opcodes as op};

use super::body::{Body, Sub};
use super::types::{Ref, Ty};

impl Body<'_> {
    /// Writes a call of a subroutine that leaves no value on the stack. Writes nothing if no call is possible at the
    /// current position.
    pub(super) fn call_sub(&mut self) {
        self.jsr(None);
    }

    /// Writes a call of a subroutine that leaves a value of type `ty` on the stack. If no call is possible at the
    /// current position, writes code that pushes a simple value instead.
    pub(super) fn sub_expr(&mut self, ty: Ty) {
        if self.early || !matches!(ty, Ty::Int | Ty::Long) || !self.jsr(Some(ty)) {
            self.leaf(ty);
        }
    }

    fn jsr(&mut self, leaves: Option<Ty>) -> bool {
        // The old verifier merges the stacks of all calls, so all calls are made with an empty stack.
        if self.live != 0 || self.early {
            return false;
        }
        let fits = |it: &&Sub| it.leaves == leaves && it.caller == self.sub && self.affords(it.cost);
        let found: Vec<Sub> = self.subs.iter().filter(fits).copied().collect();
        let known = self.rng.pick(&found).copied().filter(|_| self.rng.chance(60));
        let sub = match known {
            Some(it) => it,
            None if self.subs.len() < 6 && !self.is_full() => self.new_sub(leaves),
            None => return false,
        };
        let opcode = if self.rng.chance(10) { op::JSR_W } else { op::JSR };
        self.code.jump(opcode, sub.label);
        self.spend(sub.cost);
        true
    }

    /// Writes a new subroutine, to be placed after the body. `leaves` is the type of the value that the subroutine
    /// leaves on the stack; `None` if it leaves none. The subroutine may call the subroutines written before it.
    fn new_sub(&mut self, leaves: Option<Ty>) -> Sub {
        let label = self.code.label();
        let insns = std::mem::take(&mut self.code.insns);
        let (mult, cost, budget) = (self.mult, self.cost, self.budget);
        let (caller, nest, depth) = (self.sub, self.nest, self.depth);
        let loops = std::mem::take(&mut self.loops);
        (self.mult, self.cost, self.sub) = (1, 0, Some(label));
        self.budget = budget.saturating_sub(cost) / mult.max(1);
        self.sub_body(label, leaves);
        let sub = Sub { label, leaves, cost: self.cost, caller };
        (self.mult, self.cost, self.budget) = (mult, cost, budget);
        (self.sub, self.nest, self.depth) = (caller, nest, depth);
        self.loops = loops;
        let written = std::mem::replace(&mut self.code.insns, insns);
        self.tail.extend(written);
        self.subs.push(sub);
        sub
    }

    fn sub_body(&mut self, label: Label, leaves: Option<Ty>) {
        self.code.bind(label);
        let slot = self.next_slot;
        self.next_slot += 1;
        self.store(Ty::Ref(Ref::Object), slot);
        self.block();
        // HotSpot's old verifier requires one `ret` for each subroutine, so several exits join there.
        let exit = self.code.label();
        match self.rng.below(10) {
            0..2 => {
                self.branch(exit);
                self.block();
            }
            2 => {
                let other = self.code.label();
                self.branch(other);
                self.leave();
                self.code.bind(other);
            }
            3 if leaves.is_none() && self.rng.chance(30) => return self.leave(),
            _ => {}
        }
        self.code.bind(exit);
        if let Some(ty) = leaves {
            self.expr(ty);
        }
        let wide = self.rng.chance(10);
        self.code.push(Insn::Local(op::RET, slot, wide));
    }
}
