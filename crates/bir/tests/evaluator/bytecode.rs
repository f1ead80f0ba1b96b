//! A direct interpreter of bytecode, following JVMS §6.5: the second opinion on the order of reads and effects.
//!
//! It is independent of BIR. It shares the heap, the library and the log with [`crate::instructions`].

use bir::body::CallKind;
use bir::ops::{BinOp, BinaryOp, Cond, UnOp};
use classfile::bootstrap::Loadable;
use classfile::insn::{Insn, InvokeOp, Pc, StackOp};
use classfile::names::{ClassName, MemberRef};
use rustc_hash::FxHashMap;

use crate::machine::{Event, Machine};
use crate::numeric;
use crate::raw::{Operand, Raw};
use crate::state::{Step, Stop, abort};
use crate::value::{NULL, ObjId, Value};

/// The content of a stack entry or local variable: a value, or the return address of a subroutine.
#[derive(Clone, Copy)]
enum Cell {
    Value(Value),
    Return(usize),
}

impl Cell {
    fn is_wide(self) -> bool {
        matches!(self, Cell::Value(it) if it.kind().words() == 2)
    }
}

#[derive(Default)]
struct Frame {
    stack: Vec<Cell>,
    locals: FxHashMap<u16, Cell>,
    monitors: Vec<ObjId>,
}

impl Frame {
    fn cell(&mut self) -> Step<Cell> {
        self.stack.pop().map_or_else(|| abort("empty stack"), Ok)
    }

    fn pop(&mut self) -> Step<Value> {
        match self.cell()? {
            Cell::Value(it) => Ok(it),
            Cell::Return(_) => abort("a return address is used"),
        }
    }

    fn int(&mut self) -> Step<i32> {
        match self.pop()? {
            Value::Int(it) => Ok(it),
            _ => abort("no int"),
        }
    }

    fn reference(&mut self) -> Step<Option<ObjId>> {
        match self.pop()? {
            Value::Ref(it) => Ok(it),
            _ => abort("no reference"),
        }
    }

    fn push(&mut self, it: Value) {
        self.stack.push(Cell::Value(it));
    }

    /// Copies the top `words` words and inserts the copy `below` words further down the stack.
    fn dup(&mut self, words: usize, below: usize) -> Step<()> {
        let mut take = |mut n: usize| {
            let mut out = Vec::new();
            while n > 0 {
                let it = self.cell()?;
                n = n.wrapping_sub(if it.is_wide() { 2 } else { 1 });
                out.push(it);
            }
            out.reverse();
            Ok(out)
        };
        let top = take(words)?;
        let under = take(below)?;
        self.stack.extend(top.iter().chain(&under).chain(&top));
        Ok(())
    }
}

enum Next {
    On,
    To(usize),
    Return(Option<Value>),
}

const NULL_POINTER: &[u8] = b"java/lang/NullPointerException";
const BOUNDS: &[u8] = b"java/lang/ArrayIndexOutOfBoundsException";

impl Machine<'_> {
    /// Runs a body; returns its result and the monitors still held.
    pub(crate) fn bytecode(
        &mut self,
        method: MemberRef,
        raw: &Raw,
        args: Vec<Value>,
    ) -> (Step<Option<Value>>, Vec<ObjId>) {
        let mut frame = Frame::default();
        let mut slot = 0;
        for it in args {
            frame.locals.insert(slot, Cell::Value(it));
            slot += it.kind().words();
        }
        let out = self.steps(method, raw, &mut frame);
        (out, frame.monitors)
    }

    fn steps(&mut self, method: MemberRef, raw: &Raw, frame: &mut Frame) -> Step<Option<Value>> {
        let mut at = 0;
        loop {
            self.spend()?;
            let Some((pc, insn, operand)) = raw.insns.get(at) else { return abort("runs off the end") };
            match self.step(method, raw, frame, at, *insn, operand) {
                Ok(Next::On) => at += 1,
                Ok(Next::To(to)) => at = to,
                Ok(Next::Return(it)) => return Ok(it),
                Err(Stop::Abort(why)) => return abort(format!("{why}\n  in {method} at pc {pc}: {insn:?}")),
                Err(Stop::Throw(id)) => {
                    let row = raw.handlers.iter().find(|it| {
                        it.start.0 <= *pc
                            && *pc < it.end.0
                            && it.catch_type.is_none_or(|it| self.state.is_instance(id, it))
                    });
                    let Some(row) = row else { return Err(Stop::Throw(id)) };
                    frame.stack.clear();
                    frame.push(Value::Ref(Some(id)));
                    at = raw.at[&row.handler.0];
                }
            }
        }
    }

    // long match: one arm per instruction
    fn step(
        &mut self,
        method: MemberRef,
        raw: &Raw,
        f: &mut Frame,
        at: usize,
        insn: Insn,
        operand: &Operand,
    ) -> Step<Next> {
        let jump = |taken: bool, to: Pc| Ok(if taken { Next::To(raw.at[&to.0]) } else { Next::On });
        match (insn, operand) {
            (Insn::Nop, _) => {}
            (Insn::Null, _) => f.push(NULL),
            (Insn::Int(it), _) => f.push(Value::Int(it)),
            (Insn::Long(it), _) => f.push(Value::Long(it.into())),
            (Insn::Float(it), _) => f.push(Value::Float(f32::from_bits(it))),
            (Insn::Double(it), _) => f.push(Value::Double(it.into())),
            (Insn::Ldc(_) | Insn::Ldc2(_), Operand::Constant(it)) => {
                let value = self.constant(method, it)?;
                f.push(value);
            }
            (Insn::Load(_, slot), _) => match f.locals.get(&slot) {
                Some(&it) => f.stack.push(it),
                None => return abort("a local without a value"),
            },
            (Insn::Store(_, slot), _) => {
                let it = f.cell()?;
                f.locals.insert(slot, it);
            }
            (Insn::ArrayLoad(elem), _) => {
                let index = f.int()?;
                let id = self.non_null(f)?;
                self.in_bounds(id, index)?;
                let value = self.element(elem, Value::Ref(Some(id)), Value::Int(index))?;
                f.push(value);
            }
            (Insn::ArrayStore(elem), _) => {
                let value = f.pop()?;
                let index = f.int()?;
                let id = self.non_null(f)?;
                self.in_bounds(id, index)?;
                if matches!(value, Value::Ref(_)) && !self.fits(id, value)? {
                    return self.raise(b"java/lang/ArrayStoreException");
                }
                self.set_element(elem, Value::Ref(Some(id)), Value::Int(index), value)?;
            }
            (Insn::Stack(op), _) => shuffle(f, op)?,
            (Insn::Binary(op, kind), _) => {
                let b = f.pop()?;
                let a = f.pop()?;
                if matches!(op, BinOp::Div | BinOp::Rem) && matches!(b, Value::Int(0) | Value::Long(0)) {
                    return self.raise(b"java/lang/ArithmeticException");
                }
                f.push(numeric::binary(BinaryOp::Arith(op, kind), a, b).map_err(Stop::Abort)?);
            }
            (Insn::Neg(kind), _) => {
                let a = f.pop()?;
                f.push(numeric::unary(UnOp::Neg(kind), a).map_err(Stop::Abort)?);
            }
            (Insn::Convert(conv), _) => {
                let a = f.pop()?;
                f.push(numeric::unary(UnOp::Conv(conv), a).map_err(Stop::Abort)?);
            }
            (Insn::Compare(op), _) => {
                let b = f.pop()?;
                let a = f.pop()?;
                f.push(numeric::binary(BinaryOp::Compare(op), a, b).map_err(Stop::Abort)?);
            }
            (Insn::Iinc(slot, by), _) => match f.locals.get_mut(&slot) {
                Some(Cell::Value(Value::Int(it))) => *it = it.wrapping_add(by.into()),
                _ => return abort("iinc of a value that is not an int"),
            },
            (Insn::If(cond, to), _) => {
                let a = f.pop()?;
                return jump(numeric::holds(cond, a, Value::Int(0)).map_err(Stop::Abort)?, to);
            }
            (Insn::IfInts(cond, to) | Insn::IfRefs(cond, to), _) => {
                let b = f.pop()?;
                let a = f.pop()?;
                return jump(numeric::holds(cond, a, b).map_err(Stop::Abort)?, to);
            }
            (Insn::IfNull(cond, to), _) => {
                let a = f.pop()?;
                let is_null = numeric::holds(Cond::Eq, a, NULL).map_err(Stop::Abort)?;
                return jump(is_null == (cond == Cond::Eq), to);
            }
            (Insn::Goto(to), _) => return jump(true, to),
            (Insn::Jsr(to), _) => {
                f.stack.push(Cell::Return(at + 1));
                return jump(true, to);
            }
            (Insn::Ret(slot), _) => match f.locals.get(&slot) {
                Some(Cell::Return(it)) => return Ok(Next::To(*it)),
                _ => return abort("ret of a value that is not a return address"),
            },
            (Insn::Switch(_), Operand::Table(cases, default)) => {
                let key = f.int()?;
                let to = cases.iter().find(|it| it.0 == key).map_or(*default, |it| it.1);
                return jump(true, Pc(to));
            }
            (Insn::Return(None), _) => return Ok(Next::Return(None)),
            (Insn::Return(Some(_)), _) => {
                let value = f.pop()?;
                let text = method.descriptor().bytes();
                let ret = text.iter().position(|&b| b == b')').map_or(&b""[..], |i| &text[i + 1..]);
                return Ok(Next::Return(Some(value.narrowed(ret))));
            }
            (Insn::GetStatic(_), &Operand::Member(field)) => {
                self.initialise(self.declaring_field(field))?;
                let value = self.read_static(field)?;
                f.push(value);
            }
            (Insn::PutStatic(_), &Operand::Member(field)) => {
                let value = f.pop()?;
                self.initialise(self.declaring_field(field))?;
                self.write_static(field, value)?;
            }
            (Insn::GetField(_), &Operand::Member(field)) => {
                let id = self.non_null(f)?;
                let value = self.read_field(field, id)?;
                f.push(value);
            }
            (Insn::PutField(_), &Operand::Member(field)) => {
                let value = f.pop()?;
                let id = self.non_null(f)?;
                self.write_field(field, id, value)?;
            }
            (Insn::Invoke(op, _), &Operand::Member(callee)) => {
                let result = self.invoke_insn(method, f, op, callee)?;
                result.into_iter().for_each(|it| f.push(it));
            }
            (Insn::InvokeDynamic(_), Operand::Site(site)) => {
                let n = site.descriptor.method_type().map_or(0, |it| it.params().count());
                let args = pops(f, n)?;
                let value = self.call_site(site, args)?;
                value.into_iter().for_each(|it| f.push(it));
            }
            (Insn::New(_), &Operand::Class(class)) => {
                self.initialise(class)?;
                let id = self.allocate(class)?;
                f.push(Value::Ref(Some(id)));
            }
            (Insn::NewArray(letter), _) => {
                let value = self.new_array(&[letter], &[f.pop()?])?;
                f.push(value);
            }
            (Insn::ANewArray(_), Operand::Class(class)) => {
                let elem = class.bytes();
                let elem = if elem.starts_with(b"[") { elem.to_vec() } else { [b"L", elem, b";"].concat() };
                let value = self.new_array(&elem, &[f.pop()?])?;
                f.push(value);
            }
            (Insn::MultiANewArray(_, n), Operand::Class(class)) => {
                let lengths = pops(f, n.into())?;
                let value = self.new_array(&class.bytes()[1..], &lengths)?;
                f.push(value);
            }
            (Insn::ArrayLength, _) => {
                let id = self.non_null(f)?;
                match self.state.heap.array(id) {
                    Some(it) => f.push(Value::Int(it.len() as i32)),
                    None => return abort("length of a value that is not an array"),
                }
            }
            (Insn::Throw, _) => return Err(Stop::Throw(self.non_null(f)?)),
            (Insn::CheckCast(_), &Operand::Class(class)) => {
                let value = f.pop()?;
                if !self.casts(class, value)? {
                    return self.raise(b"java/lang/ClassCastException");
                }
                f.push(value);
            }
            (Insn::InstanceOf(_), &Operand::Class(class)) => {
                let value = f.pop()?;
                let is = !matches!(value, Value::Ref(None)) && self.casts(class, value)?;
                f.push(Value::Int(is.into()));
            }
            (Insn::MonitorEnter, _) => {
                let id = self.non_null(f)?;
                self.log(Event::Enter);
                self.state.heap.get_mut(id).locks += 1;
                f.monitors.push(id);
            }
            (Insn::MonitorExit, _) => {
                let id = self.non_null(f)?;
                self.log(Event::Exit);
                let Some(i) = f.monitors.iter().rposition(|it| *it == id) else {
                    return self.raise(b"java/lang/IllegalMonitorStateException");
                };
                f.monitors.remove(i);
                self.state.heap.get_mut(id).locks -= 1;
            }
            _ => return abort("an instruction without its constant"),
        }
        Ok(Next::On)
    }

    fn non_null(&mut self, f: &mut Frame) -> Step<ObjId> {
        match f.reference()? {
            Some(it) => Ok(it),
            None => self.raise(NULL_POINTER),
        }
    }

    fn in_bounds(&mut self, id: ObjId, index: i32) -> Step<()> {
        let n = self.state.heap.array(id).map_or(0, <[Value]>::len);
        if usize::try_from(index).is_ok_and(|it| it < n) { Ok(()) } else { self.raise(BOUNDS) }
    }

    fn new_array(&mut self, elem: &[u8], lengths: &[Value]) -> Step<Value> {
        if lengths.iter().any(|it| matches!(it, Value::Int(..0))) {
            return self.raise(b"java/lang/NegativeArraySizeException");
        }
        self.array(ClassName::new(&[b"[", elem].concat()), lengths)
    }

    fn constant(&mut self, method: MemberRef, it: &Loadable) -> Step<Value> {
        Ok(match it {
            Loadable::Int(it) => Value::Int(*it),
            Loadable::Long(it) => Value::Long(*it),
            Loadable::Float(it) => Value::Float(f32::from_bits(*it)),
            Loadable::Double(it) => Value::Double(f64::from_bits(*it)),
            Loadable::Str(it) => self.state.string(*it),
            Loadable::Class(it) => Value::Ref(Some(self.state.class_object(*it))),
            Loadable::Dynamic(it) => return self.dynamic_constant(method.class(), it),
            Loadable::MethodType(_) | Loadable::MethodHandle(_) => {
                return abort("method handles are not evaluated");
            }
        })
    }

    fn invoke_insn(
        &mut self,
        method: MemberRef,
        f: &mut Frame,
        op: InvokeOp,
        callee: MemberRef,
    ) -> Step<Option<Value>> {
        let kind = match op {
            InvokeOp::Virtual => CallKind::Virtual,
            InvokeOp::Special => CallKind::Special,
            InvokeOp::Static => CallKind::Static,
            InvokeOp::Interface => CallKind::Interface,
        };
        let n = callee.descriptor().method_type().map_or(0, |it| it.params().count());
        let args = pops(f, n + usize::from(kind.has_receiver()))?;
        if kind.has_receiver() && matches!(args.first(), Some(Value::Ref(None))) {
            return self.raise(NULL_POINTER);
        }
        if kind == CallKind::Static
            && let Some((found, _)) = self.world().method(callee)
        {
            self.initialise(found.class())?;
        }
        self.call(kind, callee, args, Some(method.class()))
    }
}

fn pops(f: &mut Frame, n: usize) -> Step<Vec<Value>> {
    let mut out = (0..n).map(|_| f.pop()).collect::<Step<Vec<Value>>>()?;
    out.reverse();
    Ok(out)
}

/// The forms of `dup`, counted in words, which covers the cases by category in the JVMS.
fn shuffle(f: &mut Frame, op: StackOp) -> Step<()> {
    match op {
        StackOp::Pop => f.cell().map(drop),
        StackOp::Pop2 => {
            if !f.cell()?.is_wide() {
                f.cell()?;
            }
            Ok(())
        }
        StackOp::Swap => {
            let b = f.cell()?;
            let a = f.cell()?;
            f.stack.extend([b, a]);
            Ok(())
        }
        StackOp::Dup => f.dup(1, 0),
        StackOp::DupX1 => f.dup(1, 1),
        StackOp::DupX2 => f.dup(1, 2),
        StackOp::Dup2 => f.dup(2, 0),
        StackOp::Dup2X1 => f.dup(2, 1),
        StackOp::Dup2X2 => f.dup(2, 2),
    }
}
