//! Follows control through a body from its entry, block by block, up to a fixed point.

use super::effect::{Effects, Frame, Step, ends_block};
use super::leaders::{FALLEN_INTO, HANDLER, LEADER, TARGET};
use super::rows::Rows;
use super::{Block, Call, Context, NONE, Shape, Walk};
use crate::code::Code;
use crate::descriptor::Kind;
use crate::error::{Fault, Malformed, Result};
use crate::insn::{Insn, Pc, Switch};
use crate::pool::Pool;

/// The fault of a body whose subroutines cannot be inlined: inlining takes too many steps, or the target of a `ret`
/// is unknown.
pub(super) const OVER_LIMIT: Fault = Fault::Other("the subroutines of the method cannot be inlined");

/// The maximum number of copies of one instruction that inlining may make.
const COPIES: usize = 16;

/// The maximum number of items that the walk stores in all for a body with `n` instructions: entries of stacks and
/// locals at the beginnings of blocks, exception-table rows of each context, call sites of each `ret`. A body with a
/// deep stack at many branch targets is refused instead of exhausting memory.
const fn room(n: usize) -> usize {
    (1 << 16) + 8 * n
}

/// The maximum number of steps for a body with `n` instructions. A step visits an instruction, an entry of a frame or
/// a row of the exception table. Compiled code takes fewer than two steps per instruction.
const fn patience(n: usize) -> usize {
    (1 << 21) + 64 * n
}

const TOO_MANY_STEPS: Fault = Fault::Other("following the control flow of the method takes too many steps");

pub(super) struct Walker<'w, 'c, 'a> {
    w: &'w mut Walk,
    pool: &'c Pool<'a>,
    /// The number of entries of [`Walk::apart`] that previous passes over the body found; these entries are sorted.
    known_apart: usize,
    code: &'c Code<'c, 'a>,
    inline: bool,
    /// The number of instructions visited so far.
    steps: usize,
    /// The number of steps that are left, see [`patience`].
    patience: usize,
    /// The number of entries stored in [`Walker::locals`], plus the number of call sites to which `ret` instructions
    /// return; limited by [`room`].
    kept: usize,
    /// The blocks that have to be visited.
    work: Vec<u32>,
    /// The rows of the exception table. In a method without subroutines, a row is removed when its handler is
    /// reached, because its handler always begins with the same state.
    rows: Rows,
    /// For each block, the locals that hold a return address at its entry; empty in a method without subroutines.
    locals: Vec<Vec<(u16, u32)>>,
}

/// Finds the reachable blocks of the decoded body and their operand stacks, and stores them in `w`. Subroutines are
/// inlined if `inline` is set.
pub(super) fn run(w: &mut Walk, code: &Code<'_, '_>, inline: bool) -> Result<()> {
    w.inlined = inline;
    w.apart.clear();
    let mut left = patience(w.insns.len());
    loop {
        w.reset();
        let known_apart = w.apart.len();
        let mut walker = Walker {
            pool: code.pool(),
            known_apart,
            code,
            inline,
            steps: 0,
            patience: left,
            kept: 0,
            work: std::mem::take(&mut w.work),
            rows: Rows::of(&w.ranges),
            locals: Vec::new(),
            w,
        };
        let done = walker.all();
        left = walker.patience;
        let mut work = std::mem::take(&mut walker.work);
        work.clear();
        w.work = work;
        done?;
        w.apart.sort_unstable();
        w.apart.dedup();
        if w.apart.len() == known_apart {
            break;
        }
        // A `new` turned out to be apart: the assumptions about its stack entries are invalid.
    }
    w.order();
    Ok(())
}

impl<'c, 'a> Walker<'_, 'c, 'a> {
    fn all(&mut self) -> Result<()> {
        let mut frame = std::mem::take(&mut self.w.frame);
        frame.stack.clear();
        frame.locals.clear();
        self.reach(0, 0, &frame, 0).map_err(|fault| self.error(0, fault))?;
        while let Some(id) = self.work.pop() {
            let block = &mut self.w.blocks[id as usize];
            block.queued = false;
            let (from, to) = block.stack;
            frame.stack.clear();
            frame.stack.extend_from_slice(&self.w.shapes[from as usize..to as usize]);
            frame.locals.clear();
            if self.w.has_jsr {
                frame.locals.extend_from_slice(&self.locals[id as usize]);
            }
            self.block(id, &mut frame)?;
        }
        self.w.frame = frame;
        Ok(())
    }

    #[inline]
    fn effects(&mut self) -> Effects<'_, 'c, 'a> {
        let Walk { insns, apart, .. } = &mut *self.w;
        let (pool, max_locals, known_apart) = (self.pool, self.code.max_locals, self.known_apart);
        Effects { pool, max_locals, insns, apart, known_apart }
    }

    #[cold]
    fn error(&self, ordinal: u32, fault: impl Into<Box<Fault>>) -> Malformed {
        Malformed::new(self.code.offset + self.w.pc(ordinal).index(), "4.9", *fault.into())
    }

    #[inline]
    fn spend(&mut self, steps: usize) -> Step<()> {
        match self.patience.checked_sub(steps) {
            Some(left) => {
                self.patience = left;
                Ok(())
            }
            None => Err(self.too_much(TOO_MANY_STEPS)),
        }
    }

    /// Returns the fault for exceeding a limit. While subroutines are inlined, this is [`OVER_LIMIT`], after which
    /// the walk is repeated without inlining; otherwise it is `fault`.
    #[cold]
    fn too_much(&self, fault: Fault) -> Box<Fault> {
        if self.w.has_jsr && self.inline { OVER_LIMIT.into() } else { fault.into() }
    }

    fn block(&mut self, id: u32, frame: &mut Frame) -> Result<()> {
        let (context, first) = (self.w.blocks[id as usize].context, self.w.blocks[id as usize].first);
        let n = self.w.insns.len() as u32;
        let mut i = first;
        loop {
            if i >= n {
                return Err(self.error(n, RUNS_OFF));
            }
            if i > first && self.w.leaders[i as usize] & LEADER != 0 {
                self.handlers(id, i, frame)?;
                return self.reach(context, i, frame, FALLEN_INTO).map_err(|it| self.error(i, it));
            }
            self.steps += 1;
            self.spend(1 + frame.locals.len()).map_err(|it| self.error(i, it))?;
            let insn = self.w.insns[i as usize].1;
            self.effects().step(context, i, insn, frame).map_err(|it| self.error(i, it))?;
            // This counts entries, not words, which suffices to bound the stack by the declared size.
            if frame.stack.len() > usize::from(self.code.max_stack) {
                return Err(self.error(i, Fault::Other("the operand stack grows deeper than max_stack")));
            }
            i += 1;
            if self.w.has_jsr && matches!(insn, Insn::Store(..)) {
                // A handler of this block may observe the locals at this point.
                self.handlers(id, i, frame)?;
            }
            if ends_block(insn) {
                self.handlers(id, i, frame)?;
                return self.leave(id, i - 1, insn, frame).map_err(|it| self.error(i - 1, it));
            }
        }
    }

    /// Ends the block `id` at the ordinal `end`, and follows control to the handlers of the exception-table rows that
    /// cover an instruction of the block. `frame` is the state before the instruction at `end`.
    fn handlers(&mut self, id: u32, end: u32, frame: &Frame) -> Result<()> {
        let block = &mut self.w.blocks[id as usize];
        block.end = end;
        let (context, first) = (block.context, block.first);
        if self.w.ranges.is_empty() {
            return Ok(());
        }
        if !self.w.has_jsr {
            return self.tell(context, first, end, &[]);
        }
        // Return addresses in locals may differ each time, so handlers are visited each time: with the locals at
        // the entry of the block, and with those after a store, if the range covers the next instruction.
        let entry = self.locals[id as usize].clone();
        self.tell(context, first, first + 1, &entry)?;
        match self.w.leaders.get(end as usize) {
            Some(it) if it & LEADER == 0 => self.tell(context, end, end + 1, &frame.locals),
            _ => Ok(()),
        }
    }

    /// Follows control to the handlers of the exception-table rows that cover an instruction in `first..end`.
    /// `locals` are the return addresses in local variables at these instructions.
    fn tell(&mut self, context: Context, first: u32, end: u32, locals: &[(u16, u32)]) -> Result<()> {
        let Some(mut place) = self.rows.next(0, first, end) else { return Ok(()) };
        let frame = Frame { stack: vec![Shape::Value(Kind::Ref)], locals: locals.to_vec() };
        loop {
            let handler = self.w.ranges[self.rows.row(place)].handler;
            self.reach(context, handler, &frame, HANDLER).map_err(|fault| self.error(handler, fault))?;
            if !self.w.has_jsr {
                self.rows.remove(place);
            }
            match self.rows.next(place + 1, first, end) {
                Some(next) => place = next,
                None => return Ok(()),
            }
        }
    }

    /// Merges `frame`, the state with which control reaches the block at the ordinal `first` in `context`, into the
    /// state at the block's beginning. Schedules the block for a visit if it is new or that state changed. `flags`
    /// tell how control reaches the block ([`TARGET`], [`HANDLER`] or [`FALLEN_INTO`]).
    fn reach(&mut self, context: Context, first: u32, frame: &Frame, flags: u8) -> Step<()> {
        self.spend(1 + frame.stack.len() + frame.locals.len())?;
        let Some(known) = self.w.block_at(context, first) else {
            return self.first_reach(context, first, frame, flags);
        };
        let block = &mut self.w.blocks[known];
        block.flags |= flags;
        let (from, to) = block.stack;
        if (to - from) as usize != frame.stack.len() {
            return Err(Fault::Other("paths join with operand stacks of different depth").into());
        }
        let mut changed = false;
        for (i, &new) in (from as usize..).zip(&frame.stack) {
            let old = self.w.shapes[i];
            if old == new {
                continue;
            }
            let merged = self.merge(old, new)?;
            changed |= old != merged;
            self.w.shapes[i] = merged;
        }
        if self.w.has_jsr {
            let before = self.locals[known].len();
            self.locals[known].retain(|it| frame.locals.binary_search(it).is_ok());
            changed |= self.locals[known].len() != before;
        }
        let block = &mut self.w.blocks[known];
        if changed && !block.queued {
            block.queued = true;
            self.work.push(known as u32);
        }
        Ok(())
    }

    fn first_reach(&mut self, context: Context, first: u32, frame: &Frame, flags: u8) -> Step<()> {
        if self.w.has_jsr && self.inline && self.steps > COPIES * self.w.insns.len() + 256 {
            return Err(OVER_LIMIT.into());
        }
        self.kept += frame.locals.len();
        if self.w.shapes.len() + frame.stack.len() + self.kept > room(self.w.insns.len()) {
            return Err(
                self.too_much(Fault::Other("the operand stacks are too deep at too many branch targets"))
            );
        }
        let id = self.w.blocks.len() as u32;
        if context == 0 {
            self.w.main_index[first as usize] = id;
        } else {
            self.w.index.insert((context, first), id);
        }
        let from = self.w.shapes.len() as u32;
        self.w.shapes.extend_from_slice(&frame.stack);
        let stack = (from, self.w.shapes.len() as u32);
        self.w.blocks.push(Block { first, end: first, context, flags, queued: true, returns: None, stack });
        if self.w.has_jsr {
            self.locals.push(frame.locals.clone());
        }
        self.work.push(id);
        Ok(())
    }

    #[cold]
    fn merge(&mut self, old: Shape, new: Shape) -> Step<Shape> {
        match (old, new) {
            (Shape::New(a), Shape::New(b)) => {
                self.w.apart.extend([a, b]);
                Ok(Shape::Value(Kind::Ref))
            }
            (Shape::New(a), Shape::Value(Kind::Ref)) | (Shape::Value(Kind::Ref), Shape::New(a)) => {
                self.w.apart.push(a);
                Ok(Shape::Value(Kind::Ref))
            }
            (Shape::Return(_), Shape::Return(_)) if self.inline => Err(OVER_LIMIT.into()),
            _ => Err(Fault::Other("paths join with different kinds of values on the operand stack").into()),
        }
    }

    /// Follows control from `insn`, the last instruction of the block `id`, to all its successors. `i` is the ordinal
    /// of `insn`.
    fn leave(&mut self, id: u32, i: u32, insn: Insn, frame: &mut Frame) -> Step<()> {
        let context = self.w.blocks[id as usize].context;
        match insn {
            Insn::If(_, to) | Insn::IfInts(_, to) | Insn::IfRefs(_, to) | Insn::IfNull(_, to) => {
                self.jump(context, to, frame)?;
                self.go_on(context, i + 1, frame, FALLEN_INTO)
            }
            Insn::Goto(to) => self.jump(context, to, frame),
            Insn::Switch(table) => {
                let switch = Switch::read(self.code.bytes, self.w.pc(i), table)?;
                self.jump(context, switch.default, frame)?;
                switch.cases().try_for_each(|(_, to)| self.jump(context, to, frame))
            }
            Insn::Jsr(to) => {
                let inside = if self.inline { self.child(context, i)? } else { context };
                let token = if self.inline { inside } else { self.w.ordinal(to).unwrap_or(NONE) };
                frame.stack.push(Shape::Return(token));
                self.jump(inside, to, frame)
            }
            Insn::Ret(slot) => self.ret(id, slot, frame),
            _ => Ok(()),
        }
    }

    fn jump(&mut self, context: Context, to: Pc, frame: &Frame) -> Step<()> {
        match self.w.ordinal(to) {
            Some(to) => self.reach(context, to, frame, TARGET),
            None => {
                Err(Fault::Other("a branch leads to a pc that is not the start of an instruction").into())
            }
        }
    }

    fn go_on(&mut self, context: Context, next: u32, frame: &Frame, flags: u8) -> Step<()> {
        if next as usize >= self.w.insns.len() {
            return Err(RUNS_OFF.into());
        }
        self.reach(context, next, frame, flags)
    }

    fn child(&mut self, context: Context, jsr: u32) -> Step<Context> {
        if let Some(&it) = self.w.children.get(&(context, jsr)) {
            return Ok(it);
        }
        let n = self.w.insns.len();
        // Each row may occur once for each context.
        if self.w.contexts.len() > COPIES * n || self.w.contexts.len() * self.w.ranges.len() > room(n) {
            return Err(OVER_LIMIT.into());
        }
        let it = self.w.contexts.len() as Context;
        self.w.contexts.push(Call { parent: context, site: jsr });
        self.w.children.insert((context, jsr), it);
        Ok(it)
    }

    fn ret(&mut self, id: u32, slot: u16, frame: &Frame) -> Step<()> {
        let known = frame.locals.iter().find(|it| it.0 == slot).map(|it| it.1);
        self.w.blocks[id as usize].returns = known;
        if self.inline {
            let (context, next) = self.w.return_site(known.ok_or(OVER_LIMIT)?);
            return self.go_on(context, next, frame, TARGET);
        }
        let n = self.w.insns.len();
        self.spend(n)?;
        let called = |it: Pc| known.is_none_or(|known| self.w.ordinal(it) == Some(known));
        let sites: Vec<u32> = self.w.jsr_sites().filter(|it| called(it.1)).map(|it| it.0 + 1).collect();
        if sites.is_empty() {
            return Err(Fault::Other("a ret has no jsr to return to").into());
        }
        self.kept += sites.len();
        if self.kept > room(n) {
            return Err(Fault::Other("the subroutines of the method return to too many call sites").into());
        }
        sites.into_iter().try_for_each(|next| self.go_on(0, next, frame, TARGET))
    }
}

const RUNS_OFF: Fault = Fault::Other("control runs off the end of the code");
