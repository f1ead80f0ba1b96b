//! The symbolic machine: operand stack and local variables during lowering, and the BIR that is emitted. The machine
//! knows neither opcodes nor the constant pool.

use classfile::descriptor::{CallShape, Kind};
use classfile::error::{Fault, Malformed};
use classfile::insn::{BinOp, StackOp};
use classfile::stack::{Block, Context, Walk, rearrangement};

use super::lean::Lean;
use super::symbolic::{Content, MAX_DEPTH, Slot, Stack, local_bits, mentions, overlaps, stack_var};
use crate::body::{Check, Expr, ExprId, Instr, MAX_TEMP, Operands, Place, Var, from_index};
use crate::build::{BuildError, Builder};
use crate::ops::{BinaryOp, UnOp};

/// The result of lowering a part of a method. The caller, which knows the instruction, sets the offset of the fault.
/// The error is boxed, so that results are returned in registers.
pub(super) type Step<T> = std::result::Result<T, Box<Malformed>>;

/// Creates a fault of the current instruction, described by `what`.
#[cold]
pub(super) fn fault(what: &'static str) -> Box<Malformed> {
    Box::new(Malformed::new(0, "4.9", Fault::Other(what)))
}

/// Creates the fault that reports why a body cannot be built.
#[cold]
pub(super) fn build_fault(it: BuildError) -> Box<Malformed> {
    fault(match it {
        BuildError::TooLarge => "the method is too large to be lowered",
        BuildError::Label(_) => "a branch leads to code that control cannot reach",
    })
}

/// Creates the fault of an instruction that finds too few operands.
#[cold]
pub(super) fn missing() -> Box<Malformed> {
    fault("an operand of the instruction is missing from the stack")
}

/// Creates the fault of an instruction that uses a new object or a return address as a value.
#[cold]
pub(super) fn no_value() -> Box<Malformed> {
    fault("the instruction uses a return address or an uninitialised object as a value")
}

/// The state of the symbolic execution of one method.
pub(super) struct SymbolicMachine<'l> {
    /// The decoded instructions of the method, and its reachable blocks.
    pub(super) walk: &'l Walk,
    /// The builder with the BIR emitted so far.
    pub(super) b: &'l mut Builder,
    /// The operand stack.
    pub(super) stack: &'l mut Stack,
    /// The operands of the current instruction, reused for each instruction.
    pub(super) args: &'l mut Vec<ExprId>,
    /// The pc of each emitted BIR instruction.
    pub(super) pcs: &'l mut Vec<u16>,
    /// For each emitted BIR instruction, the [`Context`] in which it runs (its chain of subroutine calls); empty as
    /// long as all instructions have context 0.
    pub(super) copies: Vec<u16>,
    /// The number of temporaries created so far.
    pub(super) temps: u32,
    /// The ordinal of the bytecode instruction whose result was emitted last; `None` if there is no such result. A
    /// store directly after that instruction can assign the result to the local variable.
    pub(super) fresh: Option<u32>,
    /// The ordinal of the current bytecode instruction.
    pub(super) at: u32,
    /// The context of the current bytecode instruction: the chain of subroutine calls in which it runs.
    pub(super) context: Context,
    /// The facts for lean lowering ([`super::lower_lean`]); `None` if no instruction may be omitted.
    pub(super) lean: Option<Lean>,
}

impl SymbolicMachine<'_> {
    // ---- the body ----

    /// Emits an instruction, and returns its index.
    // Assembled in place: copying a value that was just written would stall.
    #[inline(always)]
    pub(super) fn emit(&mut self, instr: Instr) -> u32 {
        self.pcs.push(self.walk.insns[self.at as usize].0.0 as u16);
        if self.context != 0 || !self.copies.is_empty() {
            self.copies.resize(self.b.len() as usize, 0);
            self.copies.push(self.context.min(u32::from(u16::MAX)) as u16);
        }
        self.b.push(instr)
    }

    /// Initialises the stack at the beginning of a block where control joins.
    pub(super) fn enter(&mut self, block: &Block) {
        let walk = self.walk;
        self.stack.enter(self.b, walk.entry_stack(block), walk.inlined);
    }

    // ---- the stack ----

    /// Pushes a constant of this kind.
    #[inline]
    pub(super) fn constant(&mut self, expr: Expr, kind: Kind) {
        let e = self.b.expr(expr);
        self.stack.slots.push(Slot::constant(e, kind));
    }

    /// Pushes the value of a variable.
    pub(super) fn push_var(&mut self, var: Var) {
        let e = self.b.expr(Expr::Var(var));
        self.stack.slots.push(Slot::var(e, var));
    }

    /// Pushes an expression. If the expression is deeper than [`MAX_DEPTH`], it is saved to a temporary, which
    /// replaces it on the stack.
    #[inline]
    pub(super) fn push(&mut self, slot: Slot) -> Step<()> {
        self.stack.slots.push(slot);
        if slot.depth > MAX_DEPTH {
            self.save(self.stack.slots.len() - 1)?;
        }
        Ok(())
    }

    /// Pushes the variable to which the last emitted instruction assigns its result; nothing if there is no result.
    pub(super) fn push_result(&mut self, var: Option<Var>) {
        if let Some(var) = var {
            self.push_var(var);
            self.fresh = Some(self.at);
        }
    }

    /// Pops the top `N` values, and returns them with the deepest first.
    #[inline]
    pub(super) fn pop<const N: usize>(&mut self) -> Step<[(ExprId, Slot); N]> {
        let Some(base) = self.stack.slots.len().checked_sub(N) else { return Err(missing()) };
        let mut out = [(from_index(0), Slot::new_object(0)); N];
        for (to, &slot) in out.iter_mut().zip(&self.stack.slots[base..]) {
            let Content::Value(e) = slot.item else { return Err(no_value()) };
            *to = (e, slot);
        }
        self.stack.slots.truncate(base);
        Ok(out)
    }

    /// Returns the index of the stack entry at depth `below`; the top has depth 0.
    pub(super) fn index(&self, below: usize) -> Step<usize> {
        self.stack.slots.len().checked_sub(below + 1).ok_or_else(missing)
    }

    /// Returns the value of the stack entry at depth `below`, without popping it; the top has depth 0.
    pub(super) fn value(&self, below: usize) -> Step<ExprId> {
        match self.stack.slots[self.index(below)?].item {
            Content::Value(e) => Ok(e),
            _ => Err(no_value()),
        }
    }

    /// Pops `n` values into the operand list of the current instruction.
    pub(super) fn arguments(&mut self, n: usize) -> Step<()> {
        let Some(base) = self.stack.slots.len().checked_sub(n) else { return Err(missing()) };
        self.args.clear();
        for slot in &self.stack.slots[base..] {
            let Content::Value(e) = slot.item else { return Err(no_value()) };
            self.args.push(e);
        }
        self.stack.slots.truncate(base);
        Ok(())
    }

    /// Adds the operand list of the current instruction to the body, and returns the range of this list in the
    /// operands of the body.
    pub(super) fn listed(&mut self) -> Step<Operands> {
        self.b.operands(self.args).map_err(build_fault)
    }

    /// Returns a new temporary of this kind.
    pub(super) fn temp(&mut self, kind: Kind) -> Step<Var> {
        if self.temps >= MAX_TEMP {
            return Err(fault("the method is too large to be lowered"));
        }
        self.temps += 1;
        Ok(Var::new(Place::Temp(self.temps - 1), kind))
    }

    /// Returns a new temporary for the result of a call; `None` if the call has no result.
    pub(super) fn result_var(&mut self, shape: CallShape) -> Step<Option<Var>> {
        shape.ret().map(|kind| self.temp(kind)).transpose()
    }

    /// Saves the value of the stack entry with index `i` to a temporary. If the value reads the heap, the entries
    /// below it that read the heap are saved first, so that heap reads keep their order.
    pub(super) fn save(&mut self, i: usize) -> Step<()> {
        if self.stack.slots[i].heap {
            self.save_heap(i)?;
        }
        let Slot { item: Content::Value(e), kind, .. } = self.stack.slots[i] else { return Ok(()) };
        let var = self.temp(kind)?;
        self.emit(Instr::Assign(var, e));
        let e = self.b.expr(Expr::Var(var));
        self.stack.slots[i] = Slot::var(e, var);
        Ok(())
    }

    /// Saves the stack entries below index `end` that read the heap to temporaries, before an effect or a later heap
    /// read.
    pub(super) fn save_heap(&mut self, end: usize) -> Step<()> {
        save_entries(self, end, |it| it.heap)
    }

    /// Saves the stack entry at depth `below` to a temporary unless it is a constant or a variable, so that both an
    /// assertion and the following instruction can use it.
    pub(super) fn operand(&mut self, below: usize) -> Step<()> {
        let i = self.index(below)?;
        if !self.stack.slots[i].trivial {
            self.save(i)?;
        }
        Ok(())
    }

    /// Emits the assertion that the stack entry at depth `below` is not null. Lean lowering ([`super::lower_lean`])
    /// omits the assertion if the entry is surely `this`.
    pub(super) fn assert_not_null(&mut self, below: usize) -> Step<()> {
        let value = self.value(below)?;
        if !self.lean.as_ref().is_some_and(|it| it.is_this(self.b.get(value))) {
            self.emit(Instr::Assert(Check::NotNull(value)));
        }
        Ok(())
    }

    /// Assigns the values on the stack to the stack variables in which the next block expects them. The topmost
    /// `operands` entries are not assigned, because the current instruction consumes them.
    pub(super) fn flush(&mut self, operands: usize) -> Step<()> {
        let len = self.stack.slots.len();
        let Some(n) = len.checked_sub(operands) else { return Err(missing()) };
        if n == 0 {
            return Ok(());
        }
        // The assignments are parallel: entries that contain another entry's variable are saved first.
        for i in 0..len {
            let slot = self.stack.slots[i];
            if let (true, Content::Value(e)) = (slot.stack_vars, slot.item) {
                let other = |var: Var| match var.place() {
                    Place::Stack(it) => i >= n || usize::from(it) != i,
                    _ => false,
                };
                if mentions(self.b, e, &other) {
                    self.save(i)?;
                }
            }
        }
        for i in 0..n {
            let slot = self.stack.slots[i];
            let (e, kind) = match slot.item {
                Content::Value(e) => (e, slot.kind),
                Content::Return(Some(e)) => (e, Kind::Int),
                _ => continue,
            };
            let var = stack_var(i, kind);
            if self.b.get(e) == Expr::Var(var) {
                continue;
            }
            self.emit(Instr::Assign(var, e));
            let e = self.b.expr(Expr::Var(var));
            self.stack.slots[i] = match slot.item {
                Content::Return(_) => Slot { stack_vars: true, ..Slot::return_address(Some(e)) },
                _ => Slot::var(e, var),
            };
        }
        Ok(())
    }

    /// Moves the entries at the top of the stack as the instruction `op` does.
    pub(super) fn shuffle(&mut self, op: StackOp) -> Step<()> {
        let slots = &self.stack.slots;
        let depth = slots.len();
        let (taken, order) = rearrangement(op, depth, |k| slots[depth - 1 - k].kind.words() == 2)
            .map_err(|it| Malformed::new(0, "6.5", it))?;
        let base = depth - taken;
        // A heap read happens once and in its place, so it is not dropped, copied or moved past another; an expression
        // that resolves a class is not dropped, because it may raise an error; and a tree is saved to a variable before
        // it is copied, else trees would double in size.
        let moves = !matches!(op, StackOp::Pop | StackOp::Pop2);
        for i in base..depth {
            let slot = self.stack.slots[i];
            if slot.heap || !moves && slot.resolves || moves && op != StackOp::Swap && !slot.trivial {
                self.save(i)?;
            }
        }
        let mut top = [Slot::new_object(0); 4];
        top[..taken].copy_from_slice(&self.stack.slots[base..]);
        self.stack.slots.truncate(base);
        self.stack.slots.extend(order.iter().map(|&it| top[it as usize]));
        Ok(())
    }

    // ---- locals ----

    /// Saves the stack entries that contain the local variable to temporaries, before the variable is overwritten.
    fn save_local(&mut self, slot: u16, kind: Kind) -> Step<()> {
        let bits = local_bits(slot, kind);
        for i in 0..self.stack.slots.len() {
            let it = self.stack.slots[i];
            if let (true, Content::Value(e)) = (it.locals & bits != 0, it.item)
                && mentions(self.b, e, &|var| overlaps(var, slot, kind))
            {
                self.save(i)?;
            }
        }
        Ok(())
    }

    /// Pops a value and assigns it to a local variable.
    pub(super) fn store(&mut self, kind: Kind, slot: u16) -> Step<()> {
        let Some(&top) = self.stack.slots.last() else { return Err(missing()) };
        match top.item {
            Content::Return(None) => {
                self.stack.slots.pop();
                return Ok(());
            }
            Content::Return(Some(site)) => {
                self.stack.slots.pop();
                self.save_local(slot, Kind::Int)?;
                self.emit(Instr::Assign(Var::local(slot, Kind::Int), site));
                return Ok(());
            }
            Content::New(_) => return Err(no_value()),
            Content::Value(_) => {}
        }
        let var = Var::local(slot, kind);
        if self.fresh == Some(self.at.wrapping_sub(1)) && self.take_result(var) {
            return Ok(());
        }
        let [value] = self.pop::<1>()?;
        if value.1.heap {
            self.save_heap(self.stack.slots.len())?;
        }
        self.save_local(slot, kind)?;
        self.emit(Instr::Assign(var, value.0));
        Ok(())
    }

    /// Changes the last emitted instruction so that it assigns its result directly to the local variable `var`,
    /// unless a stack entry contains the result or the old value of `var`. Returns whether the instruction was
    /// changed.
    fn take_result(&mut self, var: Var) -> bool {
        let Place::Local(slot) = var.place() else { return false };
        let Some((top, below)) = self.stack.slots.split_last() else { return false };
        let Content::Value(e) = top.item else { return false };
        let Expr::Var(result) = self.b.get(e) else { return false };
        let seen = |it: &Slot| match it.item {
            Content::Value(e) => mentions(self.b, e, &|v| v == result || overlaps(v, slot, var.kind())),
            _ => false,
        };
        if result.kind() != var.kind() || below.iter().any(seen) {
            return false;
        }
        match self.b.last_mut() {
            Some(
                Instr::New(dst, ..)
                | Instr::Alloc(dst, _)
                | Instr::NewArray(dst, ..)
                | Instr::MultiNewArray(dst, ..)
                | Instr::ConstDynamic(dst, _)
                | Instr::Call(Some(dst), ..)
                | Instr::CallDynamic(Some(dst), ..)
                | Instr::Catch(dst),
            ) if *dst == result => *dst = var,
            _ => return false,
        }
        if result.place() == Place::Temp(self.temps.wrapping_sub(1)) {
            self.temps -= 1;
        }
        self.stack.slots.pop();
        true
    }

    /// Adds a constant to a local variable of type int.
    pub(super) fn increment(&mut self, slot: u16, by: i16) -> Step<()> {
        self.save_local(slot, Kind::Int)?;
        let var = Var::local(slot, Kind::Int);
        let (old, by) = (self.b.expr(Expr::Var(var)), self.b.expr(Expr::Int(by.into())));
        let sum = self.b.expr(Expr::Binary(BinaryOp::Arith(BinOp::Add, Kind::Int), old, by));
        self.emit(Instr::Assign(var, sum));
        Ok(())
    }

    // ---- operators ----

    /// Replaces the top of the stack by the result of an operator with one operand.
    pub(super) fn unary(&mut self, op: UnOp) -> Step<()> {
        let [value] = self.pop::<1>()?;
        let e = self.b.expr(Expr::Unary(op, value.0));
        self.push(value.1.under(e, op.kinds().1))
    }

    /// Replaces the two top values by the result of an operator with two operands.
    pub(super) fn operator(&mut self, op: BinaryOp) -> Step<()> {
        let [a, b] = self.pop::<2>()?;
        let e = self.b.expr(Expr::Binary(op, a.0, b.0));
        self.push(a.1.join(b.1, e, op.kinds().2))
    }
}

/// Saves all stack entries that read the heap or resolve a class to temporaries, before the code leaves the method and
/// thereby drops the stack.
pub(super) fn save_dropped(m: &mut SymbolicMachine<'_>) -> Step<()> {
    save_entries(m, m.stack.slots.len(), |it| it.heap || it.resolves)
}

/// Saves the stack entries that resolve a class to temporaries. Where the range of a row begins or ends, this lets a link
/// error meet the rows that cover the bytecode.
pub(super) fn save_resolving(m: &mut SymbolicMachine<'_>) -> Step<()> {
    save_entries(m, m.stack.slots.len(), |it| it.resolves)
}

/// Saves the stack entries below index `end` for which `is_saved` returns `true` to temporaries.
fn save_entries(m: &mut SymbolicMachine<'_>, end: usize, is_saved: impl Fn(&Slot) -> bool) -> Step<()> {
    for i in 0..end {
        if is_saved(&m.stack.slots[i]) {
            let Slot { item: Content::Value(e), kind, .. } = m.stack.slots[i] else { continue };
            let var = m.temp(kind)?;
            m.emit(Instr::Assign(var, e));
            let e = m.b.expr(Expr::Var(var));
            m.stack.slots[i] = Slot::var(e, var);
        }
    }
    Ok(())
}
