//! Lowering of each bytecode instruction. Assertions are emitted in the JVM's order of checks: after the evaluation
//! of the operands and before the effect of the instruction.

use classfile::bootstrap::{Bootstraps, Dynamic, Loadable};
use classfile::code::Code;
use classfile::descriptor::{CallShape, FieldType};
use classfile::insn::{BinOp, Cond, Insn, InvokeOp, Pc, Switch};
use classfile::names::{ClassName, Descriptor, MemberRef, Name, is_class_name};
use classfile::pool::{Entry, PoolIndex};

use super::lean;
use super::machine::{Step, SymbolicMachine, fault, save_dropped};
use super::symbolic::{Content, Slot};
use crate::body::{CallKind, Check, Expr, ExprId, Instr, InstrId, SwitchTable, Var, from_index};
use crate::ops::{BinaryOp, Elem, Kind, UnOp};

/// Lowers the bytecode of a method, instruction by instruction.
pub(super) struct Lowerer<'l, 'c, 'a> {
    /// The state of the symbolic execution: the operand stack and the emitted body.
    pub(super) m: SymbolicMachine<'l>,
    /// The code of the method.
    pub(super) code: &'l Code<'c, 'a>,
    /// The bootstrap methods of the class.
    pub(super) boots: &'l Bootstraps<'c, 'a>,
    /// The kind of the method's result; `None` for `void`.
    pub(super) returns: Option<Kind>,
    /// The number of static arguments of all call sites and dynamic constants lowered so far.
    pub(super) dynamic_args: usize,
    /// Whether string constants keep their texts. Otherwise all become the empty string.
    pub(super) texts: bool,
    /// A cache: the class last used as an element class, and the class of its arrays.
    pub(super) last_array: Option<(ClassName, ClassName)>,
}

impl Lowerer<'_, '_, '_> {
    /// Lowers one instruction. `block` is the index of the block that contains the instruction.
    // long match: one arm per kind of instruction
    pub(super) fn insn(&mut self, block: usize, insn: Insn) -> Step<()> {
        match insn {
            Insn::Nop => {}
            Insn::Null => self.m.constant(Expr::Null, Kind::Ref),
            Insn::Int(it) => self.m.constant(Expr::Int(it), Kind::Int),
            Insn::Long(it) => self.m.constant(Expr::Long((i64::from(it) as u64).into()), Kind::Long),
            Insn::Float(it) => self.m.constant(Expr::Float(it), Kind::Float),
            Insn::Double(it) => self.m.constant(Expr::Double(f64::from(it).to_bits().into()), Kind::Double),
            Insn::Ldc(index) | Insn::Ldc2(index) => self.load_constant(index)?,
            Insn::Load(kind, slot) => self.m.push_var(Var::local(slot, kind)),
            Insn::Store(kind, slot) => self.m.store(kind, slot)?,
            Insn::Iinc(slot, by) => self.m.increment(slot, by)?,
            Insn::ArrayLoad(elem) => {
                let [array, index] = self.array_access()?;
                self.m.pop::<2>()?;
                let e = self.m.b.expr(Expr::Elem(elem, array.0, index.0));
                self.m.push(Slot { heap: true, ..array.1.join(index.1, e, elem.kind()) })?;
            }
            Insn::ArrayStore(elem) => self.array_store(elem)?,
            Insn::Stack(op) => self.m.shuffle(op)?,
            Insn::Binary(op, kind) => self.binary(op, kind)?,
            Insn::Neg(kind) => self.m.unary(UnOp::Neg(kind))?,
            Insn::Convert(conv) => self.m.unary(UnOp::Conv(conv))?,
            Insn::Compare(op) => self.m.operator(BinaryOp::Compare(op))?,
            Insn::ArrayLength => {
                self.m.operand(0)?;
                self.m.assert_not_null(0)?;
                self.m.unary(UnOp::Length)?;
            }
            Insn::If(cond, to) => self.branch(cond, to, Some(Expr::Int(0)))?,
            Insn::IfNull(cond, to) => self.branch(cond, to, Some(Expr::Null))?,
            Insn::IfInts(cond, to) | Insn::IfRefs(cond, to) => self.branch(cond, to, None)?,
            Insn::Goto(to) => {
                self.m.flush(0)?;
                let to = self.label(to)?;
                self.m.emit(Instr::Goto(to));
            }
            Insn::Jsr(to) => self.jsr(to)?,
            Insn::Ret(slot) => self.ret(block, slot)?,
            Insn::Switch(table) => self.switch(table)?,
            Insn::Return(kind) => {
                if kind != self.returns {
                    return Err(fault("the return instruction does not fit the result type of the method"));
                }
                let value = if kind.is_some() { Some(self.m.pop::<1>()?[0].0) } else { None };
                save_dropped(&mut self.m)?;
                self.m.emit(Instr::Return(value));
            }
            Insn::Throw => {
                self.m.operand(0)?;
                self.m.assert_not_null(0)?;
                let [value] = self.m.pop::<1>()?;
                save_dropped(&mut self.m)?;
                self.m.emit(Instr::Throw(value.0));
            }
            Insn::GetStatic(index) => {
                let (field, kind) = self.code.pool().field_ref(index)?;
                self.may_init(field.class())?;
                let e = self.m.b.expr(Expr::Static(field));
                self.m.push(Slot { heap: true, trivial: false, ..Slot::constant(e, kind) })?;
            }
            Insn::PutStatic(index) => {
                let (field, _) = self.code.pool().field_ref(index)?;
                self.may_init(field.class())?;
                let [value] = self.m.pop::<1>()?;
                self.m.emit(Instr::SetStatic(field, value.0));
            }
            Insn::GetField(index) => {
                let (field, kind) = self.code.pool().field_ref(index)?;
                self.m.operand(0)?;
                self.m.assert_not_null(0)?;
                let [object] = self.m.pop::<1>()?;
                let e = self.m.b.expr(Expr::Field(object.0, field));
                self.m.push(Slot { heap: true, ..object.1.under(e, kind) })?;
            }
            Insn::PutField(index) => {
                let (field, _) = self.code.pool().field_ref(index)?;
                self.m.operand(1)?;
                self.m.assert_not_null(1)?;
                let [object, value] = self.m.pop::<2>()?;
                self.m.save_heap(self.m.stack.slots.len())?;
                self.m.emit(Instr::SetField(object.0, field, value.0));
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
                self.m.operand(0)?;
                let value = self.m.value(0)?;
                self.m.emit(Instr::Assert(Check::Cast(class, value)));
                let [value] = self.m.pop::<1>()?;
                let e = self.m.b.expr(Expr::Cast(class, value.0));
                self.m.push(value.1.under(e, Kind::Ref))?;
            }
            Insn::InstanceOf(index) => {
                let class = self.code.pool().class_name(index)?;
                let [value] = self.m.pop::<1>()?;
                let e = self.m.b.expr(Expr::InstanceOf(class, value.0));
                self.m.push(Slot { resolves: true, ..value.1.under(e, Kind::Int) })?;
            }
            Insn::MonitorEnter | Insn::MonitorExit => {
                self.m.operand(0)?;
                self.m.assert_not_null(0)?;
                let [value] = self.m.pop::<1>()?;
                self.m.save_heap(self.m.stack.slots.len())?;
                let enters = matches!(insn, Insn::MonitorEnter);
                self.m.emit(if enters { Instr::MonitorEnter(value.0) } else { Instr::MonitorExit(value.0) });
            }
        }
        Ok(())
    }

    // ---- operators ----

    fn binary(&mut self, op: BinOp, kind: Kind) -> Step<()> {
        if matches!(op, BinOp::Div | BinOp::Rem) && matches!(kind, Kind::Int | Kind::Long) {
            self.m.operand(0)?;
            let divisor = self.m.value(0)?;
            let is_constant = matches!(self.m.b.get(divisor), Expr::Int(it) if it != 0);
            if self.m.lean.is_none() || !is_constant {
                self.m.emit(Instr::Assert(Check::NotZero(kind, divisor)));
            }
        }
        self.m.operator(BinaryOp::Arith(op, kind))
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
                Loadable::MethodHandle(it) => (Expr::MethodHandle(self.m.b.handle(it)), Kind::Ref),
                Loadable::Dynamic(it) => {
                    // The bootstrap method may have any effect, once.
                    let kind = FieldType(it.descriptor.bytes()).kind();
                    self.m.save_heap(self.m.stack.slots.len())?;
                    let site = self.dynamic(*it)?;
                    let var = self.m.temp(kind)?;
                    self.m.emit(Instr::ConstDynamic(var, site));
                    self.m.push_result(Some(var));
                    return Ok(());
                }
                _ => return Err(fault("ldc2_w or ldc loads a constant of the wrong kind")),
            },
        };
        let e = self.m.b.expr(expr);
        let resolves = matches!(expr, Expr::Class(_) | Expr::MethodType(_) | Expr::MethodHandle(_));
        self.m.push(Slot { resolves, ..Slot::constant(e, kind) })
    }

    /// Returns the text of a string constant; the empty string if texts are not needed.
    fn text(&self, index: PoolIndex) -> Step<Name> {
        if self.texts {
            return Ok(self.code.pool().name(index)?);
        }
        let pool = self.code.pool();
        pool.check_name(index)?;
        // A class may be found by the name that a text holds.
        if pool.utf8(index).is_ok_and(is_class_name) { Ok(pool.name(index)?) } else { Ok(lean::no_text()) }
    }

    // ---- arrays ----

    /// Emits the assertions for an access to an array element; the array and the index are on top of the stack.
    /// Returns the array and the index, without popping them.
    fn array_access(&mut self) -> Step<[(ExprId, Slot); 2]> {
        self.m.operand(1)?;
        self.m.operand(0)?;
        self.m.assert_not_null(1)?;
        let (array, index) = (self.m.value(1)?, self.m.value(0)?);
        self.m.emit(Instr::Assert(Check::Bound(array, index)));
        let top = self.m.stack.slots.len();
        Ok([(array, self.m.stack.slots[top - 2]), (index, self.m.stack.slots[top - 1])])
    }

    fn array_store(&mut self, elem: Elem) -> Step<()> {
        if self.stores_surely(elem) {
            self.m.pop::<3>()?;
            return self.m.save_heap(self.m.stack.slots.len());
        }
        self.m.operand(2)?;
        self.m.operand(1)?;
        if elem == Elem::Ref {
            self.m.operand(0)?;
        }
        self.m.assert_not_null(2)?;
        let (array, index) = (self.m.value(2)?, self.m.value(1)?);
        self.m.emit(Instr::Assert(Check::Bound(array, index)));
        if elem == Elem::Ref {
            let value = self.m.value(0)?;
            self.m.emit(Instr::Assert(Check::Store(array, value)));
        }
        let [array, index, value] = self.m.pop::<3>()?;
        self.m.save_heap(self.m.stack.slots.len())?;
        self.m.emit(Instr::SetElem(elem, array.0, index.0, value.0));
        Ok(())
    }

    /// Returns whether lean lowering ([`super::lower_lean`]) omits the array store whose operands are on top of the
    /// stack, because it surely raises nothing.
    fn stores_surely(&self, elem: Elem) -> bool {
        let (Some(lean), [.., array, index, value]) = (&self.m.lean, &*self.m.stack.slots) else {
            return false;
        };
        let expr = |it: &Slot| match it.item {
            Content::Value(e) if it.trivial => Some(self.m.b.get(e)),
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
        self.m.operand(0)?;
        let len = self.m.value(0)?;
        let constant = match self.m.b.get(len) {
            Expr::Int(it) if it >= 0 => Some(it),
            _ => None,
        };
        if self.m.lean.is_none() || constant.is_none() {
            self.m.emit(Instr::Assert(Check::NotNegative(len)));
        }
        let [len] = self.m.pop::<1>()?;
        let var = self.m.temp(Kind::Ref)?;
        if let (Some(lean), Some(len)) = (&mut self.m.lean, constant) {
            lean.array(var, ty, len);
        }
        self.m.emit(Instr::NewArray(var, ty, len.0));
        self.m.push_result(Some(var));
        Ok(())
    }

    fn multi_new_array(&mut self, index: PoolIndex, dims: u8) -> Step<()> {
        let ty = self.code.pool().class_name(index)?;
        let dims = usize::from(dims);
        for below in (0..dims).rev() {
            self.m.operand(below)?;
        }
        for below in (0..dims).rev() {
            let len = self.m.value(below)?;
            self.m.emit(Instr::Assert(Check::NotNegative(len)));
        }
        self.m.arguments(dims)?;
        let lens = self.m.listed()?;
        let var = self.m.temp(Kind::Ref)?;
        self.m.emit(Instr::MultiNewArray(var, ty, lens));
        self.m.push_result(Some(var));
        Ok(())
    }

    // ---- classes, objects, calls ----

    fn may_init(&mut self, class: ClassName) -> Step<()> {
        self.m.save_heap(self.m.stack.slots.len())?;
        self.m.emit(Instr::MayInit(class));
        Ok(())
    }

    fn new_object(&mut self, index: PoolIndex) -> Step<()> {
        let class = self.code.pool().class_name(index)?;
        if class.is_array() {
            return Err(fault("new must not name an array class"));
        }
        self.may_init(class)?;
        if self.m.walk.apart.binary_search(&self.m.at).is_ok() {
            let var = self.m.temp(Kind::Ref)?;
            self.m.emit(Instr::Alloc(var, class));
            self.m.push_result(Some(var));
        } else {
            self.m.stack.slots.push(Slot::new_object(self.m.at));
        }
        Ok(())
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
            if let Content::New(ordinal) = self.m.stack.slots[self.m.index(n)?].item {
                return self.construct(ordinal, method, n);
            }
            self.m.operand(n)?;
            self.m.assert_not_null(n)?;
        } else {
            self.may_init(method.class())?;
        }
        self.m.arguments(n + usize::from(kind.has_receiver()))?;
        self.m.save_heap(self.m.stack.slots.len())?;
        let args = self.m.listed()?;
        let var = self.m.result_var(shape)?;
        self.m.emit(Instr::Call(var, kind, method, args));
        self.m.push_result(var);
        Ok(())
    }

    /// Lowers the constructor call of an object whose references have only been moved on the stack since its `new`.
    /// Allocation and call become one instruction; the remaining stack entries for the object are replaced by the
    /// variable that holds the object.
    fn construct(&mut self, ordinal: u32, method: MemberRef, params: usize) -> Step<()> {
        self.m.arguments(params)?;
        self.m.stack.slots.pop();
        self.m.save_heap(self.m.stack.slots.len())?;
        let args = self.m.listed()?;
        let var = self.m.temp(Kind::Ref)?;
        self.m.emit(Instr::New(var, method, args));
        let mut copies = 0;
        for i in 0..self.m.stack.slots.len() {
            if self.m.stack.slots[i].item == Content::New(ordinal) {
                let e = self.m.b.expr(Expr::Var(var));
                self.m.stack.slots[i] = Slot::var(e, var);
                copies += 1;
            }
        }
        if copies > 0 {
            self.m.fresh = Some(self.m.at);
        }
        Ok(())
    }

    fn invoke_dynamic(&mut self, index: PoolIndex) -> Step<()> {
        let site = self.boots.call_site(index)?;
        let (descriptor, shape) = self.code.pool().call_site_type(index)?;
        self.m.arguments(params(shape, || descriptor))?;
        self.m.save_heap(self.m.stack.slots.len())?;
        let args = self.m.listed()?;
        let var = self.m.result_var(shape)?;
        let site = self.dynamic(site)?;
        self.m.emit(Instr::CallDynamic(var, site, args));
        self.m.push_result(var);
        Ok(())
    }

    /// Adds a call site or dynamic constant with its own copy of the static arguments. The number of arguments of all
    /// copies is limited, because in a class file many call sites can share one list of arguments.
    fn dynamic(&mut self, it: Dynamic) -> Step<u32> {
        self.dynamic_args += args_in_all(&it);
        if self.dynamic_args > MAX_DYNAMIC_ARGS {
            return Err(fault("the call sites and dynamic constants of the method have too many arguments"));
        }
        Ok(self.m.b.dynamic(it))
    }

    // ---- control ----

    /// Returns the label of the block with the index `block` in `Walk::blocks`.
    pub(super) fn block_label(&self, block: usize) -> InstrId {
        from_index(block)
    }

    /// Returns the label of the `catch` that precedes the handler block with the index `block` in `Walk::blocks`.
    pub(super) fn catch_label(&self, block: usize) -> InstrId {
        from_index(self.m.walk.blocks.len() + block)
    }

    fn label(&self, to: Pc) -> Step<InstrId> {
        let ordinal = self
            .m
            .walk
            .ordinal(to)
            .ok_or_else(|| fault("a branch leads to a pc that is not the start of an instruction"))?;
        self.label_at(self.m.context, ordinal)
    }

    fn label_at(&self, context: u32, ordinal: u32) -> Step<InstrId> {
        match self.m.walk.block_at(context, ordinal) {
            Some(block) => Ok(self.block_label(block)),
            None => Err(fault("a branch leads to code that control cannot reach")),
        }
    }

    fn branch(&mut self, cond: Cond, to: Pc, zero: Option<Expr>) -> Step<()> {
        let operands = if zero.is_some() { 1 } else { 2 };
        self.m.flush(operands)?;
        let to = self.label(to)?;
        let (a, b) = match zero {
            Some(zero) => {
                let [a] = self.m.pop::<1>()?;
                (a.0, self.m.b.expr(zero))
            }
            None => {
                let [a, b] = self.m.pop::<2>()?;
                (a.0, b.0)
            }
        };
        self.m.emit(Instr::If(cond, a, b, to));
        Ok(())
    }

    fn switch(&mut self, table: bool) -> Step<()> {
        let switch = Switch::read(self.code.bytes, self.m.walk.pc(self.m.at), table)
            .map_err(|it| classfile::error::Malformed::new(0, "6.5", it))?;
        self.m.flush(1)?;
        let [key] = self.m.pop::<1>()?;
        let mut cases = Vec::with_capacity(switch.len());
        for (key, to) in switch.cases() {
            cases.push((key, self.label(to)?));
        }
        let default = Some(self.label(switch.default)?);
        let table = self.m.b.switch(SwitchTable { cases: cases.into(), default });
        self.m.emit(Instr::Switch(key.0, table));
        Ok(())
    }

    fn jsr(&mut self, to: Pc) -> Step<()> {
        let to = self
            .m
            .walk
            .ordinal(to)
            .ok_or_else(|| fault("a branch leads to a pc that is not the start of an instruction"))?;
        let inside = if self.m.walk.inlined {
            self.m.stack.slots.push(Slot::return_address(None));
            self.m.walk.called(self.m.context, self.m.at)
        } else {
            let site = self.m.walk.jsr_sites().position(|it| it.0 == self.m.at).unwrap_or(0);
            let site = self.m.b.expr(Expr::Int(site as i32));
            self.m.stack.slots.push(Slot::return_address(Some(site)));
            self.m.context
        };
        self.m.flush(0)?;
        let to = self.label_at(inside, to)?;
        self.m.emit(Instr::Goto(to));
        Ok(())
    }

    fn ret(&mut self, block: usize, slot: u16) -> Step<()> {
        self.m.flush(0)?;
        let walk = self.m.walk;
        let known = walk.blocks[block].returns;
        if walk.inlined {
            let (context, ordinal) =
                walk.return_site(known.ok_or_else(|| fault("a ret has no jsr to return to"))?);
            let to = self.label_at(context, ordinal)?;
            self.m.emit(Instr::Goto(to));
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
        let table = self.m.b.switch(SwitchTable { cases: cases.into(), default: None });
        let site = self.m.b.expr(Expr::Var(Var::local(slot, Kind::Int)));
        self.m.emit(Instr::Ret(site, table));
        Ok(())
    }
}

/// The maximum number of arguments of all call sites and dynamic constants of one method.
const MAX_DYNAMIC_ARGS: usize = 1 << 17;

/// Returns the number of static arguments of a dynamic constant, including those of nested constants.
fn args_in_all(it: &Dynamic) -> usize {
    let inner = |it: &Loadable| if let Loadable::Dynamic(it) = it { args_in_all(it) } else { 0 };
    it.args.len() + it.args.iter().map(inner).sum::<usize>()
}

/// Returns the number of parameters of a call. `descriptor` is called only if there are more parameters than `shape`
/// stores.
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
