//! Writes statements: stores, branches, loops, switches, calls, early exits.

use crate::asm::{Insn, Label, opcodes as op};

use super::body::{Body, Loop, Point, TRACE};
use super::types::{Ref, Ty};
use super::world::Method;

impl Body<'_> {
    /// Writes one to three statements.
    pub(super) fn block(&mut self) {
        if self.live == 0 && self.nest < 3 && !self.early && self.rng.chance(10) {
            return self.guarded(|it| it.stmt());
        }
        for _ in 0..self.rng.range(1, 3) {
            self.stmt();
        }
    }

    // long match: one arm for each kind of statement.
    pub(super) fn stmt(&mut self) {
        self.point();
        self.spend(1);
        if self.is_full() || self.nest >= 4 {
            return self.simple();
        }
        self.nest += 1;
        match self.rng.below(100) {
            0..15 => self.assign_local(),
            15..22 => {
                self.write_field(None, false);
            }
            22..28 => {
                let elem = self.world.elem(self.rng);
                self.write_element(elem, false);
            }
            28..34 => self.any_call(),
            34..42 => self.if_stmt(),
            42..49 => self.loop_stmt(),
            49..54 => self.switch_stmt(),
            54..62 => self.try_stmt(),
            62..65 => self.finally_stmt(),
            65..69 if !self.style.odd_rows && !self.style.subroutines => self.synchronized_stmt(),
            69..71 => self.unlikely(|it| it.throw()),
            71..73 => self.unlikely(|it| it.leave()),
            73..76 => self.leave_loop(),
            76..79 => self.shuffle(None),
            79..82 => self.discarded(),
            82..90 if self.style.subroutines => self.call_sub(),
            82..88 if self.style.odd_rows => self.enter_handler(),
            90..92 => self.scope(|it| {
                let ty = it.world.ty(it.rng);
                it.expr(ty);
                let local = it.new_local(ty);
                it.store(ty, local.slot);
                it.block();
            }),
            _ => self.simple(),
        }
        self.nest -= 1;
    }

    /// Randomly decides whether to record the current position between statements, so that the range of a random
    /// exception-table row may begin or end there.
    fn point(&mut self) {
        if self.style.odd_rows && self.rng.chance(50) {
            let label = self.code.here();
            // No two positions have the same offset, so no range is empty; HotSpot rejects empty ranges.
            self.code.op(op::NOP);
            self.points.push(Point { label, enterable: self.live == 0 });
        }
    }

    fn simple(&mut self) {
        match self.rng.below(6) {
            0 => {
                let ty = self.rng.one([Ty::Int, Ty::Long, Ty::Float, Ty::Double, Ty::Ref(Ref::Object)]);
                self.leaf(ty);
                self.trace(ty);
                self.pop(ty);
            }
            1 => {
                self.leaf(Ty::Ref(Ref::Str));
                self.code.call(op::INVOKESTATIC, TRACE, "say", "(Ljava/lang/String;)V");
            }
            2 => match self.writable(Some(Ty::Int)).filter(|it| it.ty == Ty::Int) {
                Some(local) => {
                    let by = self.rng.range(-3, 200) as i16;
                    self.code.push(Insn::Iinc(local.slot, by, false));
                }
                None => {
                    self.code.op(op::NOP);
                }
            },
            _ => self.assign_local(),
        }
    }

    fn assign_local(&mut self) {
        match self.writable(None) {
            Some(local) => {
                self.expr(local.ty);
                self.store(local.ty, local.slot);
            }
            None => self.discarded(),
        }
    }

    /// Writes code that computes one value, or two values of one slot each, and drops what it computed by a single
    /// `pop` or `pop2`.
    fn discarded(&mut self) {
        if self.rng.chance(50) {
            let ty = self.world.ty(self.rng);
            self.expr(ty);
            self.pop(ty);
        } else {
            self.pair(Ty::Int, Ty::Ref(Ref::Object));
            self.code.op(op::POP2);
        }
    }

    fn any_call(&mut self) {
        let void = |it: &Method| it.ret.is_none();
        if self.rng.chance(50) && self.call_some(void) {
            return;
        }
        let ty = self.world.ty(self.rng);
        self.call_for(ty);
        self.pop(ty);
    }

    fn if_stmt(&mut self) {
        let (other, end) = (self.code.label(), self.code.label());
        self.branch(other);
        self.block();
        if self.rng.chance(60) {
            self.goto(end);
            self.code.bind(other);
            self.block();
        } else {
            self.code.bind(other);
        }
        self.code.bind(end);
    }

    /// Writes code that runs only if a random condition holds. `write` writes the code.
    fn unlikely(&mut self, write: impl FnOnce(&mut Self)) {
        if self.early || (self.sub.is_some() && self.rng.chance(50)) {
            return self.simple();
        }
        let skip = self.code.label();
        self.branch(skip);
        write(self);
        self.code.bind(skip);
    }

    fn throw(&mut self) {
        if self.rng.chance(40) {
            let number = self.rng.range(-1, 9);
            self.code.int(number).call(op::INVOKESTATIC, TRACE, "boom", "(I)V");
        } else {
            self.expr(Ty::Ref(Ref::Throwable));
            self.code.op(op::ATHROW);
        }
    }

    fn loop_stmt(&mut self) {
        let end = self.code.label();
        self.counted(|it| {
            let next = it.code.label();
            it.loops.push(Loop { next, end, live: it.live, n_monitors: it.monitors.len() });
            it.block();
            it.loops.pop();
            it.code.bind(next);
        });
        self.code.bind(end);
    }

    /// Writes `break` or `continue`, possibly of an outer loop.
    fn leave_loop(&mut self) {
        let fits = |it: &&Loop| it.live == self.live && it.n_monitors == self.monitors.len();
        let found: Vec<Loop> = self.loops.iter().filter(fits).copied().collect();
        match self.rng.pick(&found).copied() {
            Some(target) => self.unlikely(|it| {
                let label = if it.rng.chance(50) { target.next } else { target.end };
                it.goto(label);
            }),
            None => self.simple(),
        }
    }

    fn switch_stmt(&mut self) {
        let end = self.code.label();
        let arms = self.switch(end);
        for label in arms {
            self.code.bind(label);
            self.block();
            // Sometimes fall through to the next arm.
            if self.rng.chance(70) {
                self.goto(end);
            }
        }
        self.code.bind(end);
    }

    /// Writes a switch with its operand, and returns the labels of the arms, which the caller must bind. `fallback`
    /// may be the default target.
    fn switch(&mut self, fallback: Label) -> Vec<Label> {
        let arms: Vec<Label> = (0..self.rng.range(1, 4)).map(|_| self.code.label()).collect();
        self.expr(Ty::Int);
        let default = if self.rng.chance(50) { fallback } else { self.arm(&arms, fallback) };
        if self.rng.chance(50) {
            self.code.op(op::ICONST_3).op(op::IAND);
            let targets = (0..self.rng.range(1, 5)).map(|_| self.arm(&arms, fallback)).collect();
            let low = self.rng.range(-2, 2);
            self.code.push(Insn::Table(low, targets, default));
        } else {
            let mut keys: Vec<i32> = (0..self.rng.below(5)).map(|_| self.int_value()).collect();
            keys.sort_unstable();
            keys.dedup();
            let pairs = keys.into_iter().map(|key| (key, self.arm(&arms, fallback))).collect();
            self.code.push(Insn::Lookup(pairs, default));
        }
        arms
    }

    fn arm(&mut self, arms: &[Label], fallback: Label) -> Label {
        self.rng.pick(arms).copied().unwrap_or(fallback)
    }

    pub(super) fn switch_expr(&mut self, ty: Ty) {
        let (end, fallback) = (self.code.label(), self.code.label());
        let arms = self.switch(fallback);
        for label in arms {
            self.code.bind(label);
            self.expr(ty);
            self.goto(end);
        }
        self.code.bind(fallback);
        self.expr(ty);
        self.code.bind(end);
    }
}
