//! Writes expressions that are hard to convert to a stackless form: joins and loops with a nonempty stack, variables
//! that are overwritten while their old value is on the stack, stack shuffles.

use crate::asm::{Insn, opcodes as op};

use super::body::Body;
use super::types::Ty;

impl Body<'_> {
    /// Writes a loop with a random number of iterations, from 1 to 4. `write` writes the body of the loop, which must
    /// leave the types on the stack unchanged.
    pub(super) fn counted(&mut self, write: impl FnOnce(&mut Self)) {
        let rounds = self.rng.range(1, 4);
        let slot = self.hidden_slot(Ty::Int);
        self.code.op(op::ICONST_0);
        self.store(Ty::Int, slot);
        let old = self.mult;
        self.mult = self.mult.saturating_mul(rounds as u32);
        let (head, test) = (self.code.label(), self.code.label());
        let tested_first = self.rng.chance(40);
        if tested_first {
            self.goto(test);
        }
        self.code.bind(head);
        let wide = self.rng.chance(5);
        self.code.push(Insn::Iinc(slot, 1, wide));
        write(self);
        self.code.bind(test);
        self.load(Ty::Int, slot);
        self.code.int(rounds).jump(op::IF_ICMPLT, head);
        self.mult = old;
    }

    /// Writes code that pushes a value, and changes this value in each iteration of a loop while it stays on the
    /// stack.
    pub(super) fn loop_expr(&mut self, ty: Ty) {
        self.expr(ty);
        self.counted(|it| {
            if matches!(ty, Ty::Ref(_)) || it.rng.chance(30) {
                it.pop(ty);
                it.expr(ty);
            } else {
                it.under(1, |it| it.expr(ty));
                let opcode = it.rng.one([op::IADD, op::ISUB, op::IMUL]);
                it.code.op(opcode + ty.family());
            }
        });
    }

    /// Writes code that pushes two values, swapped on one of two paths that join, and combines them to one.
    pub(super) fn parallel_join(&mut self, ty: Ty) {
        let (other, end) = (self.code.label(), self.code.label());
        let slots = self.two_values(ty);
        self.branch(other);
        self.load(ty, slots.0);
        self.load(ty, slots.1);
        self.goto(end);
        self.code.bind(other);
        self.load(ty, slots.1);
        self.load(ty, slots.0);
        self.code.bind(end);
        self.keep_one(ty);
    }

    /// Writes code that pushes two values, swaps them in each iteration of a loop, and combines them to one.
    pub(super) fn parallel_loop(&mut self, ty: Ty) {
        self.pair(ty, ty);
        self.counted(|it| {
            if ty.width() == 2 {
                it.code.op(op::DUP2_X2).op(op::POP2);
            } else {
                it.code.op(op::SWAP);
            }
        });
        self.keep_one(ty);
    }

    fn two_values(&mut self, ty: Ty) -> (u16, u16) {
        let slots = (self.hidden_slot(ty), self.hidden_slot(ty));
        for slot in [slots.0, slots.1] {
            self.expr(ty);
            self.store(ty, slot);
        }
        slots
    }

    /// Writes code that combines the two values on top of the stack to one.
    fn keep_one(&mut self, ty: Ty) {
        if matches!(ty, Ty::Ref(_)) {
            if self.rng.chance(50) {
                self.code.op(op::SWAP);
            }
            self.code.op(op::POP);
        } else {
            self.code.op(op::ISUB + ty.family());
        }
    }

    pub(super) fn statement_then(&mut self, ty: Ty) {
        if self.early || self.nest >= 3 {
            return self.leaf(ty);
        }
        // The statement runs while a value waits on the stack.
        self.expr(ty);
        self.under(1, |it| it.stmt());
    }

    /// Writes code that reads a local, overwrites it, reads it again while the old value is on the stack, and
    /// combines the two values.
    pub(super) fn overwritten_local(&mut self, ty: Ty) {
        let Some(local) = self.writable(Some(ty)).filter(|it| it.ty == ty) else { return self.leaf(ty) };
        self.load(ty, local.slot);
        if ty == Ty::Int && self.rng.chance(60) {
            let by = self.rng.range(-300, 300) as i16;
            self.code.push(Insn::Iinc(local.slot, by, false));
        } else {
            self.under(1, |it| it.expr(ty));
            self.store(ty, local.slot);
        }
        self.load(ty, local.slot);
        self.keep_one(ty);
    }

    /// Writes code that pushes several values, shuffles them by `pop`, `swap` and instructions of the `dup` family,
    /// and consumes them. One value of type `want` stays on the stack; none if `want` is `None`.
    pub(super) fn shuffle(&mut self, want: Option<Ty>) {
        let mut stack = Vec::new();
        for _ in 0..self.rng.range(2, 5) {
            let ty = if self.rng.chance(50) {
                self.rng.one([Ty::Int, Ty::Long, Ty::Float, Ty::Double])
            } else {
                self.world.ty(self.rng)
            };
            self.under(stack.len() as u32, |it| it.expr(ty));
            stack.push(ty);
        }
        for _ in 0..self.rng.range(1, 6) {
            let opcode = op::POP + self.rng.below(9) as u8;
            if let Some(after) = shuffled(opcode, &stack).filter(|it| !it.is_empty() && it.len() < 12) {
                self.code.op(opcode);
                stack = after;
            }
        }
        while stack.len() > 1 {
            self.use_up(&mut stack);
        }
        let Some(last) = stack.pop() else { return };
        match want {
            Some(want) if self.world.is_sub(last, want) => {}
            Some(want) if last.family() < 4 && want.family() < 4 => self.convert(last, want),
            Some(want) => {
                self.pop(last);
                self.leaf(want);
            }
            None => {
                self.trace(last);
                self.pop(last);
            }
        }
    }

    /// Writes code that consumes the top of the stack, or combines the two top values. `stack` holds the types of the
    /// values.
    fn use_up(&mut self, stack: &mut Vec<Ty>) {
        let Some(top) = stack.pop() else { return };
        match self.rng.below(4) {
            0 if stack.last() == Some(&top) && top.family() < 4 => {
                self.code.op(op::ISUB + top.family());
            }
            1 => match self.writable(Some(top)) {
                Some(local) => self.store(local.ty, local.slot),
                None => self.pop(top),
            },
            2 => {
                self.trace(top);
                self.pop(top);
            }
            _ => self.pop(top),
        }
    }
}

/// The types on the stack after one of the opcodes from `pop` to `swap`; `None` if the opcode does not fit the top
/// values, because it would split a long or double.
fn shuffled(opcode: u8, stack: &[Ty]) -> Option<Vec<Ty>> {
    let mut stack = stack.to_vec();
    match opcode {
        op::POP => take(&mut stack, 1).map(drop)?,
        op::POP2 => take(&mut stack, 2).map(drop)?,
        op::SWAP => {
            let top = take(&mut stack, 1)?;
            let below = take(&mut stack, 1)?;
            stack.extend(top);
            stack.extend(below);
        }
        _ => {
            let form = opcode.checked_sub(op::DUP)?;
            let top = take(&mut stack, if form < 3 { 1 } else { 2 })?;
            let below = take(&mut stack, u16::from(form % 3))?;
            stack.extend(top.iter().copied());
            stack.extend(below);
            stack.extend(top);
        }
    }
    Some(stack)
}

/// Removes values of exactly `slots` slots in all from the top, and returns them in stack order; `None` if a long or
/// double would be split.
fn take(stack: &mut Vec<Ty>, slots: u16) -> Option<Vec<Ty>> {
    let mut taken = Vec::new();
    let mut left = slots;
    while left > 0 {
        let ty = stack.pop()?;
        left = left.checked_sub(ty.width())?;
        taken.insert(0, ty);
    }
    Some(taken)
}
