//! Lowering of each bytecode instruction. Assertions are emitted in the JVM's order of checks, after the operands
//! have been evaluated and before the effect.

use classfile::bootstrap::{Dynamic, Loadable};
use classfile::descriptor::{CallShape, FieldType};
use classfile::insn::{BinOp, Cond, Insn, InvokeOp, Pc, StackOp, Switch};
use classfile::names::{ClassName, Descriptor, MemberRef, Name};
use classfile::pool::{Entry, PoolIndex};
use classfile::stack::rearrangement;

use super::lean;
use super::symbolic::{Item, MAX_DEPTH, Slot, local_bits, mentions, overlaps, stack_var};
use super::{Lowerer, Step, build_fault, fault};
use crate::body::{
    CallKind, Check, Expr, ExprId, Instr, MAX_TEMP, Operands, Place, SwitchTable, Var, from_index,
};
use crate::ops::{BinaryOp, Elem, Kind, UnOp};

impl Lowerer<'_, '_, '_> {
    /// Lowers one instruction of the block with index `block`.
    // long match: one arm per kind of instruction
    pub(super) fn insn(&mut self, block: usize, insn: Insn) -> Step<()> {
        match insn {
            Insn::Nop => {}
            Insn::Null => self.constant(Expr::Null, Kind::Ref),
            Insn::Int(it) => self.constant(Expr::Int(it), Kind::Int),
            Insn::Long(it) => self.constant(Expr::Long((i64::from(it) as u64).into()), Kind::Long),
            Insn::Float(it) => self.constant(Expr::Float(it), Kind::Float),
            Insn::Double(it) => self.constant(Expr::Double(f64::from(it).to_bits().into()), Kind::Double),
            Insn::Ldc(index) | Insn::Ldc2(index) => self.load_constant(index)?,
            Insn::Load(kind, slot) => self.push_var(Var::local(slot, kind)),
            Insn::Store(kind, slot) => self.store(kind, slot)?,
            Insn::Iinc(slot, by) => self.increment(slot, by)?,
            Insn::ArrayLoad(elem) => {
                let [array, index] = self.array_access()?;
                self.pop::<2>()?;
                let e = self.b.expr(Expr::Elem(elem, array.0, index.0));
                self.push(Slot { heap: true, ..array.1.join(index.1, e, elem.kind()) })?;
            }
            Insn::ArrayStore(elem) => self.array_store(elem)?,
            Insn::Stack(op) => self.shuffle(op)?,
            Insn::Binary(op, kind) => self.binary(op, kind)?,
            Insn::Neg(kind) => self.unary(UnOp::Neg(kind))?,
            Insn::Convert(conv) => self.unary(UnOp::Conv(conv))?,
            Insn::Compare(op) => self.operator(BinaryOp::Compare(op))?,
            Insn::ArrayLength => {
                self.operand(0)?;
                self.assert_not_null(0)?;
                self.unary(UnOp::Length)?;
            }
            Insn::If(cond, to) => self.branch(cond, to, Some(Expr::Int(0)))?,
            Insn::IfNull(cond, to) => self.branch(cond, to, Some(Expr::Null))?,
            Insn::IfInts(cond, to) | Insn::IfRefs(cond, to) => self.branch(cond, to, None)?,
            Insn::Goto(to) => {
                self.flush(0)?;
                let to = self.label(to)?;
                self.emit(Instr::Goto(to));
            }
            Insn::Jsr(to) => self.jsr(to)?,
            Insn::Ret(slot) => self.ret(block, slot)?,
            Insn::Switch(table) => self.switch(table)?,
            Insn::Return(kind) => {
                if kind != self.returns {
                    return Err(fault("return of a kind other than the descriptor's"));
                }
                let value = if kind.is_some() { Some(self.pop::<1>()?[0].0) } else { None };
                self.save_heap(self.stack.slots.len())?;
                self.emit(Instr::Return(value));
            }
            Insn::Throw => {
                self.operand(0)?;
                self.assert_not_null(0)?;
                let [value] = self.pop::<1>()?;
                self.save_heap(self.stack.slots.len())?;
                self.emit(Instr::Throw(value.0));
            }
            Insn::GetStatic(index) => {
                let (field, kind) = self.code.pool().field_ref(index)?;
                self.may_init(field.class())?;
                let e = self.b.expr(Expr::Static(field));
                self.push(Slot { heap: true, trivial: false, ..Slot::constant(e, kind) })?;
            }
            Insn::PutStatic(index) => {
                let (field, _) = self.code.pool().field_ref(index)?;
                self.may_init(field.class())?;
                let [value] = self.pop::<1>()?;
                self.emit(Instr::SetStatic(field, value.0));
            }
            Insn::GetField(index) => {
                let (field, kind) = self.code.pool().field_ref(index)?;
                self.operand(0)?;
                self.assert_not_null(0)?;
                let [object] = self.pop::<1>()?;
                let e = self.b.expr(Expr::Field(object.0, field));
                self.push(Slot { heap: true, ..object.1.under(e, kind) })?;
            }
            Insn::PutField(index) => {
                let (field, _) = self.code.pool().field_ref(index)?;
                self.operand(1)?;
                self.assert_not_null(1)?;
                let [object, value] = self.pop::<2>()?;
                self.save_heap(self.stack.slots.len())?;
                self.emit(Instr::SetField(object.0, field, value.0));
            }
            Insn::Invoke(op, index) => self.invoke(op, index)?,
            Insn::InvokeDynamic(index) => self.invoke_dynamic(index)?,
            Insn::New(index) => self.new_object(index)?,
            Insn::NewArray(letter) => self.new_array(ClassName::new(&[b'[', letter]))?,
            Insn::ANewArray(index) => {
                let elem = self.code.pool().class_name(index)?;
                let ty = match self.last_array {
                    Some((of, ty)) if of == elem => ty,
                    _ => array_of(elem),
                };
                self.last_array = Some((elem, ty));
                self.new_array(ty)?;
            }
            Insn::MultiANewArray(index, dims) => self.multi_new_array(index, dims)?,
            Insn::CheckCast(index) => {
                let class = self.code.pool().class_name(index)?;
                self.operand(0)?;
                let value = self.value(0)?;
                self.emit(Instr::Assert(Check::Cast(class, value)));
                let [value] = self.pop::<1>()?;
                let e = self.b.expr(Expr::Cast(class, value.0));
                self.push(value.1.under(e, Kind::Ref))?;
            }
            Insn::InstanceOf(index) => {
                let class = self.code.pool().class_name(index)?;
                let [value] = self.pop::<1>()?;
                let e = self.b.expr(Expr::InstanceOf(class, value.0));
                self.push(value.1.under(e, Kind::Int))?;
            }
            Insn::MonitorEnter | Insn::MonitorExit => {
                self.operand(0)?;
                self.assert_not_null(0)?;
                let [value] = self.pop::<1>()?;
                self.save_heap(self.stack.slots.len())?;
                let enters = matches!(insn, Insn::MonitorEnter);
                self.emit(if enters { Instr::MonitorEnter(value.0) } else { Instr::MonitorExit(value.0) });
            }
        }
        Ok(())
    }

    // ---- the stack ----

    #[inline]
    fn constant(&mut self, expr: Expr, kind: Kind) {
        let e = self.b.expr(expr);
        self.stack.slots.push(Slot::constant(e, kind));
    }

    fn push_var(&mut self, var: Var) {
        let e = self.b.expr(Expr::Var(var));
        self.stack.slots.push(Slot::var(e, var));
    }

    /// Pushes an expression, and saves it to a temporary if it has become too deep.
    #[inline]
    fn push(&mut self, slot: Slot) -> Step<()> {
        self.stack.slots.push(slot);
        if slot.depth > MAX_DEPTH {
            self.save(self.stack.slots.len() - 1)?;
        }
        Ok(())
    }

    /// Pops the top `N` values, the deepest first.
    #[inline]
    fn pop<const N: usize>(&mut self) -> Step<[(ExprId, Slot); N]> {
        let Some(base) = self.stack.slots.len().checked_sub(N) else { return Err(missing()) };
        let mut out = [(from_index(0), Slot::new_object(0)); N];
        for (to, &slot) in out.iter_mut().zip(&self.stack.slots[base..]) {
            let Item::Value(e) = slot.item else { return Err(no_value()) };
            *to = (e, slot);
        }
        self.stack.slots.truncate(base);
        Ok(out)
    }

    /// Returns the index of the entry at depth `below` from the top.
    fn index(&self, below: usize) -> Step<usize> {
        self.stack.slots.len().checked_sub(below + 1).ok_or_else(missing)
    }

    /// Returns the value of the entry at depth `below`, without popping it.
    fn value(&self, below: usize) -> Step<ExprId> {
        match self.stack.slots[self.index(below)?].item {
            Item::Value(e) => Ok(e),
            _ => Err(no_value()),
        }
    }

    fn temp(&mut self, kind: Kind) -> Step<Var> {
        if self.temps >= MAX_TEMP {
            return Err(fault("method is too large for its BIR"));
        }
        self.temps += 1;
        Ok(Var::new(Place::Temp(self.temps - 1), kind))
    }

    /// Saves the value of an entry to a temporary. Heap reads of entries below it happen first.
    fn save(&mut self, i: usize) -> Step<()> {
        if self.stack.slots[i].heap {
            self.save_heap(i)?;
        }
        let Slot { item: Item::Value(e), kind, .. } = self.stack.slots[i] else { return Ok(()) };
        let var = self.temp(kind)?;
        self.emit(Instr::Assign(var, e));
        let e = self.b.expr(Expr::Var(var));
        self.stack.slots[i] = Slot::var(e, var);
        Ok(())
    }

    /// Saves the heap reads of the entries below index `end` to temporaries, before an effect or a later read.
    pub(super) fn save_heap(&mut self, end: usize) -> Step<()> {
        for i in 0..end {
            if self.stack.slots[i].heap {
                let Slot { item: Item::Value(e), kind, .. } = self.stack.slots[i] else { continue };
                let var = self.temp(kind)?;
                self.emit(Instr::Assign(var, e));
                let e = self.b.expr(Expr::Var(var));
                self.stack.slots[i] = Slot::var(e, var);
            }
        }
        Ok(())
    }

    /// Makes the entry at depth `below` a constant or a variable, so that it can be used both by an assertion and
    /// by the instruction after it.
    fn operand(&mut self, below: usize) -> Step<()> {
        let i = self.index(below)?;
        if !self.stack.slots[i].trivial {
            self.save(i)?;
        }
        Ok(())
    }

    fn assert_not_null(&mut self, below: usize) -> Step<()> {
        let value = self.value(below)?;
        if !self.lean.as_ref().is_some_and(|it| it.is_this(self.b.get(value))) {
            self.emit(Instr::Assert(Check::NotNull(value)));
        }
        Ok(())
    }

    /// Assigns the values on the stack to the variables in which the next block expects them, except for the
    /// topmost `operands` entries.
    pub(super) fn flush(&mut self, operands: usize) -> Step<()> {
        let len = self.stack.slots.len();
        let Some(n) = len.checked_sub(operands) else { return Err(missing()) };
        if n == 0 {
            return Ok(());
        }
        // The assignments are parallel: entries that contain another entry's variable are saved first.
        for i in 0..len {
            let slot = self.stack.slots[i];
            if let (true, Item::Value(e)) = (slot.stack_vars, slot.item) {
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
                Item::Value(e) => (e, slot.kind),
                Item::Return(Some(e)) => (e, Kind::Int),
                _ => continue,
            };
            let var = stack_var(i, kind);
            if self.b.get(e) == Expr::Var(var) {
                continue;
            }
            self.emit(Instr::Assign(var, e));
            let e = self.b.expr(Expr::Var(var));
            self.stack.slots[i] = match slot.item {
                Item::Return(_) => Slot { stack_vars: true, ..Slot::return_address(Some(e)) },
                _ => Slot::var(e, var),
            };
        }
        Ok(())
    }

    fn shuffle(&mut self, op: StackOp) -> Step<()> {
        let slots = &self.stack.slots;
        let depth = slots.len();
        let (taken, order) = rearrangement(op, depth, |k| slots[depth - 1 - k].kind.words() == 2)
            .map_err(|it| classfile::error::Malformed::new(0, "6.5", it))?;
        let base = depth - taken;
        // A heap read happens once and in its place, so it is not dropped, copied or moved past another; and a tree
        // is saved to a variable before it is copied, else trees would double in size.
        let moves = !matches!(op, StackOp::Pop | StackOp::Pop2);
        for i in base..depth {
            let slot = self.stack.slots[i];
            if slot.heap || moves && op != StackOp::Swap && !slot.trivial {
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

    /// Saves the entries that contain the old value of the local.
    fn save_local(&mut self, slot: u16, kind: Kind) -> Step<()> {
        let bits = local_bits(slot, kind);
        for i in 0..self.stack.slots.len() {
            let it = self.stack.slots[i];
            if let (true, Item::Value(e)) = (it.locals & bits != 0, it.item)
                && mentions(self.b, e, &|var| overlaps(var, slot, kind))
            {
                self.save(i)?;
            }
        }
        Ok(())
    }

    fn store(&mut self, kind: Kind, slot: u16) -> Step<()> {
        let Some(&top) = self.stack.slots.last() else { return Err(missing()) };
        match top.item {
            Item::Return(None) => {
                self.stack.slots.pop();
                return Ok(());
            }
            Item::Return(Some(site)) => {
                self.stack.slots.pop();
                self.save_local(slot, Kind::Int)?;
                self.emit(Instr::Assign(Var::local(slot, Kind::Int), site));
                return Ok(());
            }
            Item::New(_) => return Err(no_value()),
            Item::Value(_) => {}
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

    /// Makes the instruction emitted last assign its result directly to the local, if no stack entry depends on the
    /// old value. Returns whether it did.
    fn take_result(&mut self, var: Var) -> bool {
        let Place::Local(slot) = var.place() else { return false };
        let Some((top, below)) = self.stack.slots.split_last() else { return false };
        let Item::Value(e) = top.item else { return false };
        let Expr::Var(result) = self.b.get(e) else { return false };
        let seen = |it: &Slot| match it.item {
            Item::Value(e) => mentions(self.b, e, &|v| v == result || overlaps(v, slot, var.kind())),
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

    fn increment(&mut self, slot: u16, by: i16) -> Step<()> {
        self.save_local(slot, Kind::Int)?;
        let var = Var::local(slot, Kind::Int);
        let (old, by) = (self.b.expr(Expr::Var(var)), self.b.expr(Expr::Int(by.into())));
        let sum = self.b.expr(Expr::Binary(BinaryOp::Arith(BinOp::Add, Kind::Int), old, by));
        self.emit(Instr::Assign(var, sum));
        Ok(())
    }

    // ---- operators ----

    fn unary(&mut self, op: UnOp) -> Step<()> {
        let [value] = self.pop::<1>()?;
        let e = self.b.expr(Expr::Unary(op, value.0));
        self.push(value.1.under(e, op.kinds().1))
    }

    fn operator(&mut self, op: BinaryOp) -> Step<()> {
        let [a, b] = self.pop::<2>()?;
        let e = self.b.expr(Expr::Binary(op, a.0, b.0));
        self.push(a.1.join(b.1, e, op.kinds().2))
    }

    fn binary(&mut self, op: BinOp, kind: Kind) -> Step<()> {
        if matches!(op, BinOp::Div | BinOp::Rem) && matches!(kind, Kind::Int | Kind::Long) {
            self.operand(0)?;
            let divisor = self.value(0)?;
            let is_constant = matches!(self.b.get(divisor), Expr::Int(it) if it != 0);
            if self.lean.is_none() || !is_constant {
                self.emit(Instr::Assert(Check::NotZero(kind, divisor)));
            }
        }
        self.operator(BinaryOp::Arith(op, kind))
    }

    fn load_constant(&mut self, index: PoolIndex) -> Step<()> {
        let (expr, kind) = match self.code.pool().entry(index)? {
            Entry::Integer(it) => (Expr::Int(it), Kind::Int),
            Entry::Float(it) => (Expr::Float(it), Kind::Float),
            Entry::Long(it) => (Expr::Long((it as u64).into()), Kind::Long),
            Entry::Double(it) => (Expr::Double(it.into()), Kind::Double),
            Entry::String(it) => (Expr::Str(self.text(it)?), Kind::Ref),
            Entry::Class(_) => (Expr::Class(self.code.pool().class_name(index)?), Kind::Ref),
            _ => match self.boots.loadable(index)? {
                Loadable::MethodType(it) => (Expr::MethodType(it), Kind::Ref),
                Loadable::MethodHandle(it) => (Expr::MethodHandle(self.b.handle(it)), Kind::Ref),
                Loadable::Dynamic(it) => {
                    // The bootstrap method may have any effect, once.
                    let kind = FieldType(it.descriptor.bytes()).kind();
                    self.save_heap(self.stack.slots.len())?;
                    let site = self.dynamic(*it)?;
                    let var = self.temp(kind)?;
                    self.emit(Instr::ConstDynamic(var, site));
                    self.push_result(Some(var));
                    return Ok(());
                }
                _ => return Err(fault("constant of the wrong kind")),
            },
        };
        self.constant(expr, kind);
        Ok(())
    }

    /// Returns the text of a string constant.
    fn text(&self, index: PoolIndex) -> Step<Name> {
        if self.texts {
            return Ok(self.code.pool().name(index)?);
        }
        self.code.pool().check_name(index)?;
        Ok(lean::no_text())
    }

    // ---- arrays ----

    /// Asserts the conditions of an access to the array and index on top of the stack, without popping them.
    fn array_access(&mut self) -> Step<[(ExprId, Slot); 2]> {
        self.operand(1)?;
        self.operand(0)?;
        self.assert_not_null(1)?;
        let (array, index) = (self.value(1)?, self.value(0)?);
        self.emit(Instr::Assert(Check::Bound(array, index)));
        let top = self.stack.slots.len();
        Ok([(array, self.stack.slots[top - 2]), (index, self.stack.slots[top - 1])])
    }

    fn array_store(&mut self, elem: Elem) -> Step<()> {
        if self.stores_surely(elem) {
            self.pop::<3>()?;
            return self.save_heap(self.stack.slots.len());
        }
        self.operand(2)?;
        self.operand(1)?;
        if elem == Elem::Ref {
            self.operand(0)?;
        }
        self.assert_not_null(2)?;
        let (array, index) = (self.value(2)?, self.value(1)?);
        self.emit(Instr::Assert(Check::Bound(array, index)));
        if elem == Elem::Ref {
            let value = self.value(0)?;
            self.emit(Instr::Assert(Check::Store(array, value)));
        }
        let [array, index, value] = self.pop::<3>()?;
        self.save_heap(self.stack.slots.len())?;
        self.emit(Instr::SetElem(elem, array.0, index.0, value.0));
        Ok(())
    }

    /// Returns whether lean lowering omits an array store.
    fn stores_surely(&self, elem: Elem) -> bool {
        let (Some(lean), [.., array, index, value]) = (&self.lean, &*self.stack.slots) else { return false };
        let expr = |it: &Slot| match it.item {
            Item::Value(e) if it.trivial => Some(self.b.get(e)),
            _ => None,
        };
        match (expr(array), expr(index), expr(value)) {
            (Some(Expr::Var(array)), Some(Expr::Int(index)), Some(value)) => {
                lean.stores_surely(elem, array, index, value)
            }
            _ => false,
        }
    }

    fn new_array(&mut self, ty: ClassName) -> Step<()> {
        self.operand(0)?;
        let len = self.value(0)?;
        let constant = match self.b.get(len) {
            Expr::Int(it) if it >= 0 => Some(it),
            _ => None,
        };
        if self.lean.is_none() || constant.is_none() {
            self.emit(Instr::Assert(Check::NotNegative(len)));
        }
        let [len] = self.pop::<1>()?;
        let var = self.temp(Kind::Ref)?;
        if let (Some(lean), Some(len)) = (&mut self.lean, constant) {
            lean.array(var, ty, len);
        }
        self.emit(Instr::NewArray(var, ty, len.0));
        self.push_result(Some(var));
        Ok(())
    }

    fn multi_new_array(&mut self, index: PoolIndex, dims: u8) -> Step<()> {
        let ty = self.code.pool().class_name(index)?;
        let dims = usize::from(dims);
        for below in (0..dims).rev() {
            self.operand(below)?;
        }
        for below in (0..dims).rev() {
            let len = self.value(below)?;
            self.emit(Instr::Assert(Check::NotNegative(len)));
        }
        self.arguments(dims)?;
        let lens = self.listed()?;
        let var = self.temp(Kind::Ref)?;
        self.emit(Instr::MultiNewArray(var, ty, lens));
        self.push_result(Some(var));
        Ok(())
    }

    // ---- classes, objects, calls ----

    fn may_init(&mut self, class: ClassName) -> Step<()> {
        self.save_heap(self.stack.slots.len())?;
        self.emit(Instr::MayInit(class));
        Ok(())
    }

    fn new_object(&mut self, index: PoolIndex) -> Step<()> {
        let class = self.code.pool().class_name(index)?;
        if class.is_array() {
            return Err(fault("new of an array class"));
        }
        self.may_init(class)?;
        if self.walk.apart.binary_search(&self.at).is_ok() {
            let var = self.temp(Kind::Ref)?;
            self.emit(Instr::Alloc(var, class));
            self.push_result(Some(var));
        } else {
            self.stack.slots.push(Slot::new_object(self.at));
        }
        Ok(())
    }

    /// Pushes the variable that the instruction emitted last assigns.
    fn push_result(&mut self, var: Option<Var>) {
        if let Some(var) = var {
            self.push_var(var);
            self.fresh = Some(self.at);
        }
    }

    /// Pops `n` values into the operand list.
    fn arguments(&mut self, n: usize) -> Step<()> {
        let Some(base) = self.stack.slots.len().checked_sub(n) else { return Err(missing()) };
        self.args.clear();
        for slot in &self.stack.slots[base..] {
            let Item::Value(e) = slot.item else { return Err(no_value()) };
            self.args.push(e);
        }
        self.stack.slots.truncate(base);
        Ok(())
    }

    /// Adds the operand list to the body.
    fn listed(&mut self) -> Step<Operands> {
        self.b.operands(self.args).map_err(build_fault)
    }

    fn invoke(&mut self, op: InvokeOp, index: PoolIndex) -> Step<()> {
        let (method, interface, shape) = self.code.pool().method_ref(index)?;
        let n = params(shape, || method.descriptor());
        let kind = match (op, interface) {
            (InvokeOp::Virtual, _) => CallKind::Virtual,
            (InvokeOp::Interface, _) => CallKind::Interface,
            (InvokeOp::Special, false) => CallKind::Special,
            (InvokeOp::Special, true) => CallKind::SpecialInterface,
            (InvokeOp::Static, false) => CallKind::Static,
            (InvokeOp::Static, true) => CallKind::StaticInterface,
        };
        if kind.has_receiver() {
            if let Item::New(ordinal) = self.stack.slots[self.index(n)?].item {
                return self.construct(ordinal, method, n);
            }
            self.operand(n)?;
            self.assert_not_null(n)?;
        } else {
            self.may_init(method.class())?;
        }
        self.arguments(n + usize::from(kind.has_receiver()))?;
        self.save_heap(self.stack.slots.len())?;
        let args = self.listed()?;
        let var = self.result_var(shape)?;
        self.emit(Instr::Call(var, kind, method, args));
        self.push_result(var);
        Ok(())
    }

    fn result_var(&mut self, shape: CallShape) -> Step<Option<Var>> {
        shape.ret().map(|kind| self.temp(kind)).transpose()
    }

    /// Lowers the constructor call of an object that has only been on the stack: allocation and call become one
    /// instruction, and the other entries for the object become its variable.
    fn construct(&mut self, ordinal: u32, method: MemberRef, params: usize) -> Step<()> {
        self.arguments(params)?;
        self.stack.slots.pop();
        self.save_heap(self.stack.slots.len())?;
        let args = self.listed()?;
        let var = self.temp(Kind::Ref)?;
        self.emit(Instr::New(var, method, args));
        let mut copies = 0;
        for i in 0..self.stack.slots.len() {
            if self.stack.slots[i].item == Item::New(ordinal) {
                let e = self.b.expr(Expr::Var(var));
                self.stack.slots[i] = Slot::var(e, var);
                copies += 1;
            }
        }
        if copies > 0 {
            self.fresh = Some(self.at);
        }
        Ok(())
    }

    fn invoke_dynamic(&mut self, index: PoolIndex) -> Step<()> {
        let site = self.boots.call_site(index)?;
        let (descriptor, shape) = self.code.pool().call_site_type(index)?;
        self.arguments(params(shape, || descriptor))?;
        self.save_heap(self.stack.slots.len())?;
        let args = self.listed()?;
        let var = self.result_var(shape)?;
        let site = self.dynamic(site)?;
        self.emit(Instr::CallDynamic(var, site, args));
        self.push_result(var);
        Ok(())
    }

    /// Adds a call site or dynamic constant with its own copy of the arguments. A class file stores shared
    /// arguments only once, so the total number of copies is limited.
    fn dynamic(&mut self, it: Dynamic) -> Step<u32> {
        self.dynamic_args += args_in_all(&it);
        if self.dynamic_args > MAX_DYNAMIC_ARGS {
            return Err(fault("its call sites and dynamic constants have too many arguments in all"));
        }
        Ok(self.b.dynamic(it))
    }

    // ---- control ----

    fn label(&self, to: Pc) -> Step<crate::body::InstrId> {
        let ordinal = self
            .walk
            .ordinal(to)
            .ok_or_else(|| fault("branch to a pc that is not the start of an instruction"))?;
        self.label_at(self.context, ordinal)
    }

    fn label_at(&self, context: u32, ordinal: u32) -> Step<crate::body::InstrId> {
        match self.walk.block_at(context, ordinal) {
            Some(block) => Ok(self.block_label(block)),
            None => Err(fault("branch to code that control cannot reach")),
        }
    }

    fn branch(&mut self, cond: Cond, to: Pc, zero: Option<Expr>) -> Step<()> {
        let operands = if zero.is_some() { 1 } else { 2 };
        self.flush(operands)?;
        let to = self.label(to)?;
        let (a, b) = match zero {
            Some(zero) => {
                let [a] = self.pop::<1>()?;
                (a.0, self.b.expr(zero))
            }
            None => {
                let [a, b] = self.pop::<2>()?;
                (a.0, b.0)
            }
        };
        self.emit(Instr::If(cond, a, b, to));
        Ok(())
    }

    fn switch(&mut self, table: bool) -> Step<()> {
        let switch = Switch::read(self.code.bytes, self.walk.pc(self.at), table)
            .map_err(|it| classfile::error::Malformed::new(0, "6.5", it))?;
        self.flush(1)?;
        let [key] = self.pop::<1>()?;
        let mut cases = Vec::with_capacity(switch.len());
        for (key, to) in switch.cases() {
            cases.push((key, self.label(to)?));
        }
        let default = Some(self.label(switch.default)?);
        let table = self.b.switch(SwitchTable { cases: cases.into(), default });
        self.emit(Instr::Switch(key.0, table));
        Ok(())
    }

    fn jsr(&mut self, to: Pc) -> Step<()> {
        let to = self
            .walk
            .ordinal(to)
            .ok_or_else(|| fault("branch to a pc that is not the start of an instruction"))?;
        let inside = if self.walk.inlined {
            self.stack.slots.push(Slot::return_address(None));
            self.walk.called(self.context, self.at)
        } else {
            let site = self.walk.jsr_sites().position(|it| it.0 == self.at).unwrap_or(0);
            let site = self.b.expr(Expr::Int(site as i32));
            self.stack.slots.push(Slot::return_address(Some(site)));
            self.context
        };
        self.flush(0)?;
        let to = self.label_at(inside, to)?;
        self.emit(Instr::Goto(to));
        Ok(())
    }

    fn ret(&mut self, block: usize, slot: u16) -> Step<()> {
        self.flush(0)?;
        let walk = self.walk;
        let known = walk.blocks[block].returns;
        if walk.inlined {
            let (context, ordinal) = walk.return_site(known.ok_or_else(|| fault("ret without a jsr"))?);
            let to = self.label_at(context, ordinal)?;
            self.emit(Instr::Goto(to));
            return Ok(());
        }
        let mut cases = Vec::new();
        for (site, (ordinal, to)) in walk.jsr_sites().enumerate() {
            if known.is_none_or(|it| Some(it) == walk.ordinal(to))
                && let Ok(to) = self.label_at(0, ordinal + 1)
            {
                cases.push((site as i32, to));
            }
        }
        let table = self.b.switch(SwitchTable { cases: cases.into(), default: None });
        let site = self.b.expr(Expr::Var(Var::local(slot, Kind::Int)));
        self.emit(Instr::Ret(site, table));
        Ok(())
    }
}

/// The maximum number of arguments of all call sites and dynamic constants of one method.
const MAX_DYNAMIC_ARGS: usize = 1 << 17;

/// Returns the number of arguments of a dynamic constant, including those of nested ones.
fn args_in_all(it: &Dynamic) -> usize {
    let inner = |it: &Loadable| if let Loadable::Dynamic(it) = it { args_in_all(it) } else { 0 };
    it.args.len() + it.args.iter().map(inner).sum::<usize>()
}

/// Returns the number of parameters of a call.
fn params(shape: CallShape, descriptor: impl FnOnce() -> Descriptor) -> usize {
    let count = || descriptor().method_type().map_or(0, |it| it.params().count());
    shape.params_from_last().map_or_else(count, |it| it.len())
}

/// Returns the class of arrays of this class: `[Lp/C;` for `p/C`, `[[I` for `[I`.
fn array_of(elem: ClassName) -> ClassName {
    let name = elem.bytes();
    let mut text = Vec::with_capacity(name.len() + 3);
    text.push(b'[');
    if elem.is_array() {
        text.extend_from_slice(name);
    } else {
        text.push(b'L');
        text.extend_from_slice(name);
        text.push(b';');
    }
    ClassName::new(&text)
}

#[cold]
fn missing() -> Box<classfile::error::Malformed> {
    fault("operand missing from the stack")
}

#[cold]
fn no_value() -> Box<classfile::error::Malformed> {
    fault("return address or new object used as a value")
}
