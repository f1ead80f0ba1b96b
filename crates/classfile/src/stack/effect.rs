//! The effect of one instruction on the operand stack.

use super::shuffle::rearrangement;
use super::{Context, Shape};
use crate::descriptor::{CallShape, Kind, MethodType};
use crate::error::Fault;
use crate::insn::{BinOp, Insn, InvokeOp, Pc, StackOp};
use crate::names::{ClassName, Descriptor};
use crate::pool::{Entry, Pool, PoolIndex};

/// The result of applying one instruction. The fault carries no offset; the caller, which knows the instruction, adds
/// the offset. The fault is boxed, so that results are returned in registers.
pub(super) type Step<T> = std::result::Result<T, Box<Fault>>;

const EMPTY: Fault = Fault::Other("an operand of the instruction is missing from the stack");
const WRONG_KIND: Fault = Fault::Other("an operand of the instruction is of the wrong kind");

/// The operand stack, and the locals that hold return addresses, at one point of a block.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) stack: Vec<Shape>,
    /// The locals that hold return addresses: pairs of slot and return address, ascending by slot. An address is the
    /// number that [`Shape::Return`] contains.
    pub(super) locals: Vec<(u16, u32)>,
}

impl Frame {
    #[inline]
    fn push(&mut self, kind: Kind) {
        self.stack.push(Shape::Value(kind));
    }
}

/// The facts about a body that the effects of its instructions depend on.
pub(super) struct Effects<'e, 'c, 'a> {
    pub(super) pool: &'c Pool<'a>,
    pub(super) max_locals: u16,
    pub(super) insns: &'e [(Pc, Insn)],
    /// The ordinals of the `new` instructions that cannot be combined with their constructor calls
    /// ([`super::Walk::apart`]). The first `known_apart` of them were found by previous passes over the body, and are
    /// sorted; the others were found by this pass.
    pub(super) apart: &'e mut Vec<u32>,
    pub(super) known_apart: usize,
}

impl Effects<'_, '_, '_> {
    /// Applies the instruction with ordinal `i` to the frame: pops its operands and pushes its result.
    // long match: one arm per kind of instruction
    #[inline]
    pub(super) fn step(&mut self, context: Context, i: u32, insn: Insn, f: &mut Frame) -> Step<()> {
        use Kind::{Double, Float, Int, Long, Ref};
        match insn {
            Insn::Nop | Insn::Goto(_) | Insn::Jsr(_) | Insn::Return(None) => {}
            Insn::Null => f.push(Ref),
            Insn::Int(_) => f.push(Int),
            Insn::Long(_) => f.push(Long),
            Insn::Float(_) => f.push(Float),
            Insn::Double(_) => f.push(Double),
            Insn::Ldc(index) => f.push(self.constant_kind(index, false)?),
            Insn::Ldc2(index) => f.push(self.constant_kind(index, true)?),
            Insn::Load(kind, slot) => {
                self.local(slot, kind)?;
                f.push(kind);
            }
            Insn::Store(kind, slot) => self.store(kind, slot, f)?,
            Insn::Iinc(slot, _) => self.local(slot, Int)?,
            Insn::Ret(slot) => self.local(slot, Ref)?,
            Insn::ArrayLoad(elem) => {
                self.pop(f, Int)?;
                self.pop(f, Ref)?;
                f.push(elem.kind());
            }
            Insn::ArrayStore(elem) => {
                self.pop(f, elem.kind())?;
                self.pop(f, Int)?;
                self.pop(f, Ref)?;
            }
            Insn::Stack(op) => shuffle(&mut f.stack, op)?,
            Insn::Binary(op, kind) => {
                let shift = matches!(op, BinOp::Shl | BinOp::Shr | BinOp::Ushr);
                self.pop(f, if shift { Int } else { kind })?;
                self.pop(f, kind)?;
                f.push(kind);
            }
            Insn::Neg(kind) => {
                self.pop(f, kind)?;
                f.push(kind);
            }
            Insn::Convert(conv) => {
                let (from, to) = conv.kinds();
                self.pop(f, from)?;
                f.push(to);
            }
            Insn::Compare(op) => {
                self.pop(f, op.kind())?;
                self.pop(f, op.kind())?;
                f.push(Int);
            }
            Insn::If(..) | Insn::Switch(_) => self.pop(f, Int)?,
            Insn::IfInts(..) => {
                self.pop(f, Int)?;
                self.pop(f, Int)?;
            }
            Insn::IfRefs(..) => {
                self.pop(f, Ref)?;
                self.pop(f, Ref)?;
            }
            Insn::IfNull(..) | Insn::Throw | Insn::MonitorEnter | Insn::MonitorExit => self.pop(f, Ref)?,
            Insn::Return(Some(kind)) => self.pop(f, kind)?,
            Insn::GetStatic(index) => f.push(self.field_kind(index)?),
            Insn::PutStatic(index) => {
                let kind = self.field_kind(index)?;
                self.pop(f, kind)?;
            }
            Insn::GetField(index) => {
                self.pop(f, Ref)?;
                f.push(self.field_kind(index)?);
            }
            Insn::PutField(index) => {
                let kind = self.field_kind(index)?;
                self.pop(f, kind)?;
                self.pop(f, Ref)?;
            }
            Insn::Invoke(op, index) => self.invoke(op, index, f)?,
            Insn::InvokeDynamic(index) => {
                let (descriptor, shape) = self.pool.call_site_type(index).map_err(|it| it.fault)?;
                self.pop_params(f, shape, || descriptor)?;
                if let Some(kind) = shape.ret() {
                    f.push(kind);
                }
            }
            Insn::New(_) => self.new_object(context, i, f),
            Insn::NewArray(_) => {
                self.pop(f, Int)?;
                f.push(Ref);
            }
            Insn::ANewArray(index) => {
                self.class(index)?;
                self.pop(f, Int)?;
                f.push(Ref);
            }
            Insn::MultiANewArray(index, dims) => {
                let depth = self.class(index)?.bytes().iter().take_while(|&&b| b == b'[').count();
                if depth < usize::from(dims) {
                    return Err(
                        Fault::Other("multianewarray has more dimensions than its array class").into()
                    );
                }
                for _ in 0..dims {
                    self.pop(f, Int)?;
                }
                f.push(Ref);
            }
            Insn::ArrayLength => {
                self.pop(f, Ref)?;
                f.push(Int);
            }
            Insn::CheckCast(index) => {
                self.class(index)?;
                self.pop(f, Ref)?;
                f.push(Ref);
            }
            Insn::InstanceOf(index) => {
                self.class(index)?;
                self.pop(f, Ref)?;
                f.push(Int);
            }
        }
        Ok(())
    }

    fn class(&self, index: PoolIndex) -> Step<ClassName> {
        self.pool.class_name(index).map_err(|it| it.fault.into())
    }

    fn field_kind(&self, index: PoolIndex) -> Step<Kind> {
        self.pool.field_ref(index).map(|it| it.1).map_err(|it| it.fault.into())
    }

    fn constant_kind(&self, index: PoolIndex, wide: bool) -> Step<Kind> {
        let kind = match self.pool.entry(index).map_err(|it| it.fault)? {
            Entry::Integer(_) => Kind::Int,
            Entry::Float(_) => Kind::Float,
            Entry::Long(_) => Kind::Long,
            Entry::Double(_) => Kind::Double,
            Entry::String(_) | Entry::Class(_) | Entry::MethodType(_) | Entry::MethodHandle(..) => Kind::Ref,
            Entry::Dynamic(_, it) => {
                let (_, ty) = self.pool.name_and_type(it).map_err(|it| it.fault)?;
                ty.field_type().ok_or(Fault::Grammar("field descriptor"))?.kind()
            }
            _ => return Err(Fault::PoolKind { index: index.0, want: "loadable constant" }.into()),
        };
        if (kind.words() == 2) != wide {
            return Err(Fault::PoolKind {
                index: index.0,
                want: "constant of the width that the instruction loads",
            }
            .into());
        }
        Ok(kind)
    }

    #[inline]
    fn local(&self, slot: u16, kind: Kind) -> Step<()> {
        if u32::from(slot) + u32::from(kind.words()) > u32::from(self.max_locals) {
            return Err(Fault::OtherAt(
                "max_locals is too small for the local variable of the instruction: slot",
                slot.into(),
            )
            .into());
        }
        Ok(())
    }

    fn store(&mut self, kind: Kind, slot: u16, f: &mut Frame) -> Step<()> {
        self.local(slot, kind)?;
        if !f.locals.is_empty() {
            f.locals.retain(|it| it.0 != slot && (kind.words() == 1 || it.0 != slot + 1));
        }
        match f.stack.last() {
            Some(&Shape::Return(token)) if kind == Kind::Ref => {
                f.stack.pop();
                let at = f.locals.partition_point(|it| it.0 < slot);
                f.locals.insert(at, (slot, token));
                Ok(())
            }
            _ => self.pop(f, kind),
        }
    }

    fn new_object(&mut self, context: Context, i: u32, f: &mut Frame) {
        // In a loop, the entry of the previous iteration may still be on the stack; in a subroutine, it may come
        // from another copy.
        if f.stack.contains(&Shape::New(i)) || context != 0 {
            self.apart.push(i);
        }
        let is_apart = self.apart[..self.known_apart].binary_search(&i).is_ok();
        f.stack.push(if is_apart { Shape::Value(Kind::Ref) } else { Shape::New(i) });
    }

    fn invoke(&mut self, op: InvokeOp, index: PoolIndex, f: &mut Frame) -> Step<()> {
        let (method, _, shape) = self.pool.method_ref(index).map_err(|it| it.fault)?;
        self.pop_params(f, shape, || method.descriptor())?;
        match f.stack.last() {
            _ if op == InvokeOp::Static => {}
            Some(&Shape::New(new)) if op == InvokeOp::Special && method.name().bytes() == b"<init>" => {
                self.construct(new, method.class(), f)?;
            }
            _ => self.pop(f, Kind::Ref)?,
        }
        if let Some(kind) = shape.ret() {
            f.push(kind);
        }
        Ok(())
    }

    /// Replaces all stack entries for the object created by the `new` with this ordinal by plain references, because
    /// its constructor is called.
    fn construct(&mut self, new: u32, class: ClassName, f: &mut Frame) -> Step<()> {
        f.stack.pop();
        if let Some((_, Insn::New(index))) = self.insns.get(new as usize)
            && self.class(*index)? != class
        {
            self.apart.push(new);
        }
        for it in f.stack.iter_mut().filter(|it| **it == Shape::New(new)) {
            *it = Shape::Value(Kind::Ref);
        }
        Ok(())
    }

    #[inline]
    fn pop_params(
        &mut self,
        f: &mut Frame,
        shape: CallShape,
        descriptor: impl FnOnce() -> Descriptor,
    ) -> Step<()> {
        if let Some(params) = shape.params_from_last() {
            for kind in params {
                self.pop(f, kind)?;
            }
            return Ok(());
        }
        let ty = MethodType::parse(descriptor().bytes()).ok_or(Fault::Grammar("method descriptor"))?;
        let kinds: Vec<Kind> = ty.params().map(|it| it.kind()).collect();
        kinds.into_iter().rev().try_for_each(|kind| self.pop(f, kind))
    }

    #[inline]
    fn pop(&mut self, f: &mut Frame, kind: Kind) -> Step<()> {
        match f.stack.pop() {
            Some(Shape::Value(it)) if it == kind => Ok(()),
            Some(Shape::New(new)) if kind == Kind::Ref => {
                // The object is used before its constructor call, so it must be a value of its own.
                self.apart.push(new);
                Ok(())
            }
            Some(_) => Err(WRONG_KIND.into()),
            None => Err(EMPTY.into()),
        }
    }
}

/// Returns whether the instruction is the last of its block: it branches, returns or throws.
#[inline]
pub(super) fn ends_block(insn: Insn) -> bool {
    matches!(
        insn,
        Insn::If(..)
            | Insn::IfInts(..)
            | Insn::IfRefs(..)
            | Insn::IfNull(..)
            | Insn::Goto(_)
            | Insn::Jsr(_)
            | Insn::Ret(_)
            | Insn::Switch(_)
            | Insn::Return(_)
            | Insn::Throw
    )
}

fn shuffle(stack: &mut Vec<Shape>, op: StackOp) -> Step<()> {
    let depth = stack.len();
    let (taken, order) = rearrangement(op, depth, |k| stack[depth - 1 - k].words() == 2)?;
    let base = depth - taken;
    let mut top = [Shape::Value(Kind::Int); 4];
    top[..taken].copy_from_slice(&stack[base..]);
    stack.truncate(base);
    stack.extend(order.iter().map(|&it| top[it as usize]));
    Ok(())
}
