//! A body under construction: its locals, the number of values on the stack, and the budget that limits the running
//! time of the body.
//!
//! Loops are counted, and only methods that are already written are called, so the cost of a finished body (an
//! estimate of the executed expressions) is known. A call is written only if its cost fits the caller's budget.

use crate::asm::{CodeBuilder, Const, Insn, Label, opcodes as op};
use crate::rng::Rng;

use super::types::{Decl, Ref, Ty};
use super::world::World;

/// The class with the trace methods, which record values during a run.
pub(super) const TRACE: &str = "ajar/T";

/// The language features that bodies may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// Whether bodies may use subroutines (`jsr` and `ret`).
    pub(super) subroutines: bool,
    /// Whether finished bodies get random exception-table rows, which no compiler would write.
    pub(super) odd_rows: bool,
    /// Whether bodies may use `ldc` of classes.
    pub(super) class_constants: bool,
}

impl Style {
    /// Whether all locals must be initialised at the beginning of a body, because control may reach any code of the
    /// body from a subroutine or through a random exception-table row.
    pub(super) fn fixed_slots(self) -> bool {
        self.subroutines || self.odd_rows
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Local {
    pub(super) slot: u16,
    pub(super) ty: Ty,
    /// Whether statements may assign the local. Loop counters are not assignable.
    pub(super) assignable: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    pub(super) next: Label,
    pub(super) end: Label,
    pub(super) live: u32,
    pub(super) n_monitors: usize,
}

/// A position between statements, at which the range of a random exception-table row may begin or end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) label: Label,
    /// Whether jumps to the position are allowed. They are allowed if the stack is empty there.
    pub(super) enterable: bool,
}

/// A subroutine that is already written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sub {
    pub(super) label: Label,
    pub(super) leaves: Option<Ty>,
    pub(super) cost: u32,
    /// The label of the subroutine that calls this one; `None` if the body itself calls it. All calls must have the
    /// same caller, because HotSpot's old verifier requires that a subroutine is always nested in the same way.
    pub(super) caller: Option<Label>,
}

pub(super) struct Body<'w> {
    pub(super) world: &'w World,
    pub(super) rng: &'w mut Rng,
    pub(super) style: Style,
    pub(super) code: CodeBuilder,
    pub(super) locals: Vec<Local>,
    pub(super) next_slot: u16,
    /// The number of values on the stack below the expression that is being written.
    pub(super) live: u32,
    /// The nesting depth of the expression that is being written.
    pub(super) depth: u32,
    /// The nesting depth of the statement that is being written.
    pub(super) nest: u32,
    /// The maximum number of times that the code being written runs during one call of the method.
    pub(super) mult: u32,
    pub(super) cost: u32,
    pub(super) budget: u32,
    pub(super) ret: Option<Decl>,
    /// The index of the class of `this`; `None` in static methods and before the constructor call of the superclass.
    pub(super) this: Option<usize>,
    /// The index of the class that contains the method.
    pub(super) owner: usize,
    /// Whether the code being written precedes the constructor call of the superclass. No statements are written
    /// there.
    pub(super) early: bool,
    pub(super) monitors: Vec<u16>,
    pub(super) loops: Vec<Loop>,
    pub(super) prologue: Vec<Insn>,
    pub(super) points: Vec<Point>,
    pub(super) handlers: Vec<Label>,
    pub(super) subs: Vec<Sub>,
    pub(super) tail: Vec<Insn>,
    /// The label of the subroutine that is being written; `None` while the body itself is being written.
    pub(super) sub: Option<Label>,
    /// The number of locals that subroutines may use, from the first one on.
    pub(super) n_base: usize,
}

impl<'w> Body<'w> {
    pub(super) fn new(
        world: &'w World,
        rng: &'w mut Rng,
        style: Style,
        owner: usize,
        budget: u32,
    ) -> Body<'w> {
        let mut code = CodeBuilder::new();
        let handlers =
            if style.odd_rows { (0..rng.range(1, 3)).map(|_| code.label()).collect() } else { vec![] };
        Body {
            world,
            rng,
            style,
            code,
            locals: Vec::new(),
            next_slot: 0,
            live: 0,
            depth: 0,
            nest: 0,
            mult: 1,
            cost: 0,
            budget,
            ret: None,
            this: None,
            owner,
            early: false,
            monitors: Vec::new(),
            loops: Vec::new(),
            prologue: Vec::new(),
            points: Vec::new(),
            handlers,
            subs: Vec::new(),
            tail: Vec::new(),
            sub: None,
            n_base: 0,
        }
    }

    /// Whether the body has reached its limit of size or its budget (the limit of its cost). From then on, only
    /// simple values and statements should be written.
    pub(super) fn is_full(&self) -> bool {
        self.code.insns.len() > 1000 || self.tail.len() > 1000 || self.cost >= self.budget
    }

    /// Adds the cost of code that is being written to the cost of the body. `cost` is that of running the code once;
    /// it is multiplied by the number of times that the code may run during one call of the method.
    pub(super) fn spend(&mut self, cost: u32) {
        self.cost = self.cost.saturating_add(self.mult.saturating_mul(cost));
    }

    /// Whether code can be written at the current position without exceeding the budget of the body, if running it
    /// once costs `cost`.
    pub(super) fn affords(&self, cost: u32) -> bool {
        self.cost.saturating_add(self.mult.saturating_mul(cost)) <= self.budget
    }

    /// Runs `write`, which writes code. While that code is executed, `n` further values are on the stack below its
    /// own.
    pub(super) fn under<R>(&mut self, n: u32, write: impl FnOnce(&mut Self) -> R) -> R {
        self.live += n;
        let out = write(self);
        self.live -= n;
        out
    }

    /// Reserves a local variable of this type that statements do not use, and returns its slot.
    pub(super) fn hidden_slot(&mut self, ty: Ty) -> u16 {
        let slot = self.next_slot;
        self.next_slot += ty.width();
        if self.style.fixed_slots() {
            // Wherever control comes from, it must find a value of the right type.
            let zero = match ty {
                Ty::Int => op::ICONST_0,
                Ty::Long => op::LCONST_0,
                Ty::Float => op::FCONST_0,
                Ty::Double => op::DCONST_0,
                Ty::Ref(_) => op::ACONST_NULL,
            };
            self.prologue.push(Insn::Plain(zero));
            self.prologue.push(Insn::Local(op::ISTORE + ty.family(), slot, false));
        }
        slot
    }

    /// Creates a local that statements may use. The caller must initialise the local.
    pub(super) fn new_local(&mut self, ty: Ty) -> Local {
        let local = Local { slot: self.hidden_slot(ty), ty, assignable: true };
        self.locals.push(local);
        local
    }

    /// Runs `write`, and drops the locals that `write` created. Their slots are reused, also for other types, unless
    /// the style requires that each slot keeps its type ([`Style::fixed_slots`]).
    pub(super) fn scope(&mut self, write: impl FnOnce(&mut Self)) {
        let (n_locals, next_slot) = (self.locals.len(), self.next_slot);
        write(self);
        self.locals.truncate(n_locals);
        if !self.style.fixed_slots() {
            self.next_slot = next_slot;
        }
    }

    pub(super) fn readable(&mut self, ty: Ty) -> Option<Local> {
        let n = if self.sub.is_some() { self.n_base } else { self.locals.len() };
        let found: Vec<Local> =
            self.locals.iter().take(n).filter(|it| self.world.is_sub(it.ty, ty)).copied().collect();
        self.rng.pick(&found).copied()
    }

    pub(super) fn writable(&mut self, ty: Option<Ty>) -> Option<Local> {
        let n = if self.sub.is_some() { self.n_base } else { self.locals.len() };
        let fits = |it: &&Local| it.assignable && ty.is_none_or(|ty| self.world.is_sub(ty, it.ty));
        let found: Vec<Local> = self.locals.iter().take(n).filter(fits).copied().collect();
        self.rng.pick(&found).copied()
    }

    pub(super) fn load(&mut self, ty: Ty, slot: u16) {
        self.access(op::ILOAD, op::ILOAD_0, ty, slot);
    }

    pub(super) fn store(&mut self, ty: Ty, slot: u16) {
        self.access(op::ISTORE, op::ISTORE_0, ty, slot);
    }

    /// Writes a load or store of `slot`, in its general, short or `wide` form.
    fn access(&mut self, general: u8, short: u8, ty: Ty, slot: u16) {
        let family = ty.family();
        match u8::try_from(slot) {
            Ok(slot @ 0..=3) if self.rng.chance(80) => self.code.op(short + 4 * family + slot),
            _ => {
                let wide = self.rng.chance(4);
                self.code.push(Insn::Local(general + family, slot, wide))
            }
        };
    }

    pub(super) fn pop(&mut self, ty: Ty) {
        self.code.op(if ty.width() == 2 { op::POP2 } else { op::POP });
    }

    pub(super) fn dup(&mut self, ty: Ty) {
        self.code.op(if ty.width() == 2 { op::DUP2 } else { op::DUP });
    }

    pub(super) fn goto(&mut self, label: Label) {
        let opcode = if self.rng.chance(4) { op::GOTO_W } else { op::GOTO };
        self.code.jump(opcode, label);
    }

    /// Writes a call of a trace method that records the value on the stack; the value stays on the stack. A reference
    /// whose type is narrower than `Object` is duplicated before the call, because the trace method returns an
    /// `Object`.
    pub(super) fn trace(&mut self, ty: Ty) {
        let letter = match ty {
            Ty::Int => "I",
            Ty::Long => "J",
            Ty::Float => "F",
            Ty::Double => "D",
            Ty::Ref(_) => "Ljava/lang/Object;",
        };
        let plain = matches!(ty, Ty::Ref(it) if it != Ref::Object);
        if plain {
            self.code.op(op::DUP);
        }
        self.code.call(op::INVOKESTATIC, TRACE, "t", &format!("({letter}){letter}"));
        if plain {
            self.code.op(op::POP);
        }
        self.spend(2);
    }

    /// Writes code that pushes a constant of type `ty`: a number, a string, or `null` for other reference types.
    pub(super) fn constant(&mut self, ty: Ty) {
        match ty {
            Ty::Int => {
                let it = self.int_value();
                self.code.int(it);
            }
            Ty::Long => self.long_constant(),
            Ty::Float => self.float_constant(),
            Ty::Double => self.double_constant(),
            Ty::Ref(Ref::Str) if self.rng.chance(90) => {
                let text = self.rng.one(["", "a", "ab", "x\u{0}y", "h\u{e9}\u{20ac}", "\"q\"\n"]);
                self.code.ldc(Const::Str(text.into()));
            }
            Ty::Ref(_) => {
                self.code.op(op::ACONST_NULL);
            }
        }
    }

    pub(super) fn int_value(&mut self) -> i32 {
        match self.rng.below(10) {
            0..6 => self.rng.range(-2, 6),
            6 => self.rng.range(-200, 200),
            7 => self.rng.range(-40_000, 40_000),
            8 => self.rng.one([i32::MIN, i32::MAX, -1, 31, 32, 33, 65_535, 128]),
            _ => self.rng.bits() as i32,
        }
    }

    fn long_constant(&mut self) {
        let it = match self.rng.below(4) {
            it @ 0..2 => {
                self.code.op(op::LCONST_0 + it as u8);
                return;
            }
            2 => self.rng.one([i64::MIN, i64::MAX, -1, 63, 64, 1 << 32, -3]),
            _ => self.rng.bits() as i64,
        };
        self.code.ldc(Const::Long(it));
    }

    fn float_constant(&mut self) {
        let special =
            [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, f32::MIN_POSITIVE, f32::MAX, 1e10, 0.1];
        let it = match self.rng.below(6) {
            it @ 0..3 => {
                self.code.op(op::FCONST_0 + it as u8);
                return;
            }
            3 => self.rng.one(special).to_bits(),
            4 => (self.rng.range(-100, 100) as f32 / 4.0).to_bits(),
            _ => self.rng.bits() as u32,
        };
        self.code.ldc(Const::Float(it));
    }

    fn double_constant(&mut self) {
        let special =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MIN_POSITIVE, f64::MAX, 1e20, 0.1];
        let it = match self.rng.below(6) {
            it @ 0..2 => {
                self.code.op(op::DCONST_0 + it as u8);
                return;
            }
            2 | 3 => self.rng.one(special).to_bits(),
            4 => (f64::from(self.rng.range(-100, 100)) / 4.0).to_bits(),
            _ => self.rng.bits(),
        };
        self.code.ldc(Const::Double(it));
    }

    /// Writes code that leaves the method: it unlocks all monitors, then returns, with a value if the method has a
    /// result.
    pub(super) fn leave(&mut self) {
        let ret = self.ret.map(Decl::ty);
        if let Some(ty) = ret {
            self.leaf(ty);
        }
        for slot in self.monitors.clone().into_iter().rev() {
            self.load(Ty::Ref(Ref::Object), slot);
            self.code.op(op::MONITOREXIT);
        }
        self.code.op(ret.map_or(op::RETURN, |it| op::IRETURN + it.family()));
    }
}
