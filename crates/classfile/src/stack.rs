//! The typed walk over the operand stack that lowering to BIR and the class writer share.
//!
//! It finds the instructions that control can reach, the blocks that they form and what lies on the
//! operand stack where each block begins, by following control from the entry (JVMS §4.10 without the
//! assignability of class types: references are all of one kind here). On the way it refuses code whose
//! operands are missing or of the wrong kind, whose branches lead nowhere, or that runs off its end.
//!
//! *Subroutines* (`jsr`, `ret`) are followed per chain of calls: the code of a subroutine appears once
//! for each [`Context`] that it runs in, so that each `ret` has one place to return to. Over a limit the
//! walk is done again with every subroutine once; a `ret` then returns to every site that calls it
//! ([`Walk::inlined`] is false).
//!
//! *New objects*: an entry that `new` pushed stays told apart until its constructor is called, as far
//! as it is only moved about on the stack. A `new` whose object goes elsewhere before that is in
//! [`Walk::apart`].

use rustc_hash::FxHashMap;

use crate::code::Code;
use crate::descriptor::{Kind, MethodType};
use crate::error::{Fault, Malformed, Result};
use crate::insn::{Insn, InvokeOp, Pc, StackOp};
use crate::names::ClassName;
use crate::pool::{Entry, Pool};

/// What one operand-stack entry holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A value of this kind.
    Value(Kind),
    /// The object that the `new` with this ordinal made and that no constructor has been called on.
    New(u32),
    /// A return address: a [`Context`] when subroutines are inlined, else the ordinal at which the
    /// subroutine begins.
    Return(u32),
}

impl Shape {
    /// Words that the entry takes.
    pub fn words(self) -> u16 {
        match self {
            Shape::Value(kind) => kind.words(),
            _ => 1,
        }
    }
}

/// A chain of subroutine calls, by number; 0 is the method itself.
pub type Context = u32;

/// A row of the exception table in ordinals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// First instruction covered.
    pub start: u32,
    /// First instruction behind the range.
    pub end: u32,
    /// First instruction of the handler.
    pub handler: u32,
    /// The class caught; `None` catches everything.
    pub catch_type: Option<ClassName>,
}

/// A run of instructions that is entered at its first only, in one context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Ordinal of the first instruction.
    pub first: u32,
    /// Ordinal behind the last.
    pub end: u32,
    /// The chain of calls that it runs in.
    pub context: Context,
    /// Whether a branch leads here.
    pub is_target: bool,
    /// Whether the instruction before can fall through to here.
    pub is_fallen_into: bool,
    /// Whether it is a handler of a range with a reachable instruction.
    pub is_handler: bool,
    /// Where a `ret` at its end returns to: a context or an ordinal, as in [`Shape::Return`]; `None` if
    /// there is no `ret` or nothing is known of it.
    pub returns: Option<u32>,
    stack: (u32, u32),
}

/// What the walk found in one body.
pub struct Walk<'a> {
    /// All instructions with their pcs; an instruction's index is its *ordinal*.
    pub insns: Vec<(Pc, Insn<'a>)>,
    /// The exception table.
    pub ranges: Vec<Range>,
    /// The reachable blocks, ordered by context and ordinal.
    pub blocks: Vec<Block>,
    /// Ordinals of the `new` instructions whose allocation and constructor call must stay apart,
    /// ascending.
    pub apart: Vec<u32>,
    /// Whether each context stands for one chain of subroutine calls.
    pub inlined: bool,
    ordinals: Vec<u32>,
    shapes: Vec<Shape>,
    contexts: Vec<Call>,
    children: FxHashMap<(Context, u32), Context>,
    index: FxHashMap<(Context, u32), u32>,
    /// Block of each leader in context 0, which is the only one of most methods.
    main_index: Vec<u32>,
}

/// How a context came to be.
#[derive(Clone, Copy)]
struct Call {
    parent: Context,
    site: u32,
}

const NONE: u32 = u32::MAX;

impl<'a> Walk<'a> {
    /// What lies on the operand stack where the block begins, bottom first.
    pub fn entry_stack(&self, block: &Block) -> &[Shape] {
        &self.shapes[block.stack.0 as usize..block.stack.1 as usize]
    }

    /// The ordinal of the instruction at `pc`.
    pub fn ordinal(&self, pc: Pc) -> Option<u32> {
        self.ordinals.get(pc.0 as usize).copied().filter(|&it| it != NONE)
    }

    /// The pc of the instruction with this ordinal; behind the last one the length of the code.
    pub fn pc(&self, ordinal: u32) -> Pc {
        let end = Pc((self.ordinals.len() - 1) as u32);
        self.insns.get(ordinal as usize).map_or(end, |it| it.0)
    }

    /// The index of the block that begins at this ordinal in this context.
    pub fn block_at(&self, context: Context, ordinal: u32) -> Option<usize> {
        let found = if context == 0 {
            self.main_index.get(ordinal as usize).copied().filter(|&it| it != NONE)
        } else {
            self.index.get(&(context, ordinal)).copied()
        };
        found.map(|it| it as usize)
    }

    /// The context in which the subroutine runs that the `jsr` at this ordinal calls.
    pub fn called(&self, context: Context, jsr: u32) -> Context {
        self.children.get(&(context, jsr)).copied().unwrap_or(0)
    }

    /// Context and ordinal at which control goes on when the subroutine of this context returns.
    pub fn return_site(&self, context: Context) -> (Context, u32) {
        let call = self.contexts[context as usize];
        (call.parent, call.site + 1)
    }

    /// Ordinals of the `jsr` instructions, ascending: the return sites of a body that is not inlined.
    pub fn jsr_sites(&self) -> impl Iterator<Item = (u32, Pc)> + '_ {
        self.insns.iter().enumerate().filter_map(|(i, (_, insn))| match insn {
            Insn::Jsr(to) => Some((i as u32, *to)),
            _ => None,
        })
    }

    /// The ordinals that no context reaches, as ascending half-open ranges.
    pub fn unreachable(&self) -> Vec<(u32, u32)> {
        let mut reached = vec![false; self.insns.len()];
        for block in &self.blocks {
            reached[block.first as usize..block.end as usize].fill(true);
        }
        let mut out: Vec<(u32, u32)> = Vec::new();
        for i in (0..reached.len()).filter(|&i| !reached[i]) {
            match out.last_mut() {
                Some(last) if last.1 == i as u32 => last.1 += 1,
                _ => out.push((i as u32, i as u32 + 1)),
            }
        }
        out
    }
}

/// Walks the body. `major` is the version of its class file: subroutines ended with 50 (JVMS §4.9.1).
///
/// # Errors
/// When the body breaks a rule that the walk needs; the offset is that of the instruction.
pub fn walk<'a>(code: &Code<'_, 'a>, major: u16) -> Result<Walk<'a>> {
    let decoded = decode(code, major)?;
    if !decoded.has_jsr {
        return run(code, decoded, true);
    }
    match run(code, decoded, true) {
        Ok(walk) => Ok(walk),
        Err(it) if it.fault == OVER_LIMIT => run(code, decode(code, major)?, false),
        Err(it) => Err(it),
    }
}

/// Says that inlining subroutines took too many steps or lost track of a return address.
const OVER_LIMIT: Fault = Fault::Other("subroutines cannot be inlined");

/// How many instructions inlining may make of one.
const COPIES: usize = 16;

/// How many stack entries the walk keeps in all, so that a deep stack under many branches costs a
/// method and not the machine.
const MAX_SHAPES: usize = 1 << 21;

const LEADER: u8 = 1;
const TARGET: u8 = 2;
const HANDLER: u8 = 4;
const FALLEN_INTO: u8 = 8;

struct Decoded<'a> {
    insns: Vec<(Pc, Insn<'a>)>,
    ordinals: Vec<u32>,
    ranges: Vec<Range>,
    leaders: Vec<u8>,
    has_jsr: bool,
}

/// Decodes all instructions and finds the leaders: what the JVMS asks of every instruction, reachable
/// or not (§4.9.1).
fn decode<'a>(code: &Code<'_, 'a>, major: u16) -> Result<Decoded<'a>> {
    let mut ordinals = vec![NONE; code.bytes.len() + 1];
    let mut insns = Vec::with_capacity(code.bytes.len() / 2);
    let mut has_jsr = false;
    for it in code.instructions() {
        let (pc, insn) = it?;
        ordinals[pc.0 as usize] = insns.len() as u32;
        has_jsr |= matches!(insn, Insn::Jsr(_) | Insn::Ret(_));
        insns.push((pc, insn));
    }
    let n = insns.len();
    if has_jsr && major > 50 {
        let at = insns.iter().find(|it| matches!(it.1, Insn::Jsr(_) | Insn::Ret(_))).map_or(0, |it| it.0.0);
        let fault = Fault::OtherAt("jsr or ret in a class file of major version", major.into());
        return Err(Malformed::new(code.offset + at as usize, "4.9.1", fault));
    }
    let mut leaders = vec![0; n + 1];
    leaders[0] = LEADER;
    let at = |pc: Pc| ordinals.get(pc.0 as usize).copied().filter(|&it| (it as usize) < n);
    for (i, (pc, insn)) in insns.iter().enumerate() {
        let mut bad = None;
        let mut to = |target: Pc| match at(target) {
            Some(it) => leaders[it as usize] |= LEADER | TARGET,
            None => bad = Some(target),
        };
        let ends = match *insn {
            Insn::If(_, t) | Insn::IfInts(_, t) | Insn::IfRefs(_, t) | Insn::IfNull(_, t) => {
                to(t);
                true
            }
            Insn::Goto(t) | Insn::Jsr(t) => {
                to(t);
                true
            }
            Insn::Switch(switch) => {
                to(switch.default);
                switch.cases().for_each(|it| to(it.1));
                true
            }
            Insn::Return(_) | Insn::Throw | Insn::Ret(_) => true,
            _ => false,
        };
        if let Some(target) = bad {
            let fault = Fault::OtherAt("branch to a place that is no instruction:", target.0 as i32 as i64);
            return Err(Malformed::new(code.offset + pc.0 as usize, "4.9.1", fault));
        }
        if ends {
            leaders[i + 1] |= LEADER;
        }
        if matches!(insn, Insn::Jsr(_)) {
            // `ret` comes back behind it.
            leaders[i + 1] |= TARGET;
        }
    }
    let ranges = ranges(code, &ordinals, n)?;
    for it in &ranges {
        leaders[it.handler as usize] |= LEADER | HANDLER;
    }
    Ok(Decoded { insns, ordinals, ranges, leaders, has_jsr })
}

fn ranges(code: &Code<'_, '_>, ordinals: &[u32], n: usize) -> Result<Vec<Range>> {
    let mut out = Vec::with_capacity(code.handler_count());
    for row in code.handlers() {
        let row = row?;
        let at = |pc: Pc| ordinals.get(pc.0 as usize).copied().filter(|&it| it != NONE);
        let behind = ordinals.len() as u32 - 1;
        let end = if row.end.0 == behind { Some(n as u32) } else { at(row.end) };
        let (Some(start), Some(end), Some(handler)) = (at(row.start), end, at(row.handler)) else {
            let fault =
                Fault::OtherAt("exception table names a place that is no instruction: row", out.len() as i64);
            return Err(Malformed::new(code.offset + code.bytes.len(), "4.7.3", fault));
        };
        if row.start > row.end {
            let fault = Fault::OtherAt("exception table row ends before it starts: row", out.len() as i64);
            return Err(Malformed::new(code.offset + code.bytes.len(), "4.7.3", fault));
        }
        out.push(Range { start, end, handler, catch_type: row.catch_type });
    }
    Ok(out)
}

fn run<'a>(code: &Code<'_, 'a>, decoded: Decoded<'a>, inline: bool) -> Result<Walk<'a>> {
    let n = decoded.insns.len();
    let mut walker = Walker {
        code,
        pool: code.pool(),
        d: decoded,
        inline,
        states: Vec::new(),
        main_index: vec![NONE; n + 1],
        index: FxHashMap::default(),
        contexts: vec![Call { parent: 0, site: 0 }],
        children: FxHashMap::default(),
        work: Vec::new(),
        pending: Vec::new(),
        apart: Vec::new(),
        steps: 0,
        kept: 0,
    };
    loop {
        let known = walker.apart.len();
        walker.all()?;
        walker.apart.sort_unstable();
        walker.apart.dedup();
        if walker.apart.len() == known {
            break;
        }
        // A `new` was found to be apart: what was assumed of its entries must go.
        walker.reset();
    }
    Ok(walker.finish())
}

/// A block that has been reached: what is known at its entry.
struct State {
    context: Context,
    first: u32,
    stack: Vec<Shape>,
    /// Locals that hold a return address, by slot.
    locals: Vec<(u16, u32)>,
    flags: u8,
    queued: bool,
    end: u32,
    returns: Option<u32>,
}

struct Walker<'c, 'a> {
    code: &'c Code<'c, 'a>,
    pool: &'c Pool<'a>,
    d: Decoded<'a>,
    inline: bool,
    states: Vec<State>,
    main_index: Vec<u32>,
    index: FxHashMap<(Context, u32), u32>,
    contexts: Vec<Call>,
    children: FxHashMap<(Context, u32), Context>,
    work: Vec<u32>,
    /// Rows whose handler is not reached yet, per context.
    pending: Vec<Vec<u32>>,
    apart: Vec<u32>,
    steps: usize,
    /// Stack entries kept at the entries of blocks.
    kept: usize,
}

type Step<T> = std::result::Result<T, Fault>;

impl<'a> Walker<'_, 'a> {
    fn reset(&mut self) {
        self.states.clear();
        self.main_index.fill(NONE);
        self.index.clear();
        self.contexts.truncate(1);
        self.children.clear();
        self.pending.clear();
        self.steps = 0;
        self.kept = 0;
    }

    fn all(&mut self) -> Result<()> {
        self.pending = vec![(0..self.d.ranges.len() as u32).collect()];
        self.reach(0, 0, &[], &[], 0).map_err(|fault| self.error(0, fault))?;
        let mut stack = Vec::new();
        let mut locals = Vec::new();
        while let Some(id) = self.work.pop() {
            let state = &mut self.states[id as usize];
            state.queued = false;
            stack.clear();
            stack.extend_from_slice(&state.stack);
            locals.clear();
            locals.extend_from_slice(&state.locals);
            self.block(id, &mut stack, &mut locals)?;
        }
        Ok(())
    }

    #[cold]
    fn error(&self, ordinal: u32, fault: Fault) -> Malformed {
        let pc = self.d.insns.get(ordinal as usize).map_or(self.code.bytes.len(), |it| it.0.0 as usize);
        Malformed::new(self.code.offset + pc, "4.9", fault)
    }

    fn block(&mut self, id: u32, stack: &mut Vec<Shape>, locals: &mut Vec<(u16, u32)>) -> Result<()> {
        let (context, first) = (self.states[id as usize].context, self.states[id as usize].first);
        let n = self.d.insns.len() as u32;
        let mut i = first;
        loop {
            if i >= n {
                return Err(self.error(n, Fault::Other("control runs off the end of the code")));
            }
            if i > first && self.d.leaders[i as usize] & LEADER != 0 {
                self.handlers(id, first, i, locals)?;
                return self.reach(context, i, stack, locals, FALLEN_INTO).map_err(|it| self.error(i, it));
            }
            self.steps += 1;
            let insn = self.d.insns[i as usize].1;
            let before = locals.len();
            if let Err(fault) = self.step(context, i, insn, stack, locals) {
                return Err(self.error(i, fault));
            }
            // Entries, not words: enough to bound the stack by what the file declares.
            if stack.len() > usize::from(self.code.max_stack) {
                return Err(self.error(i, Fault::Other("operand stack grows deeper than max_stack")));
            }
            if locals.len() != before || matches!(insn, Insn::Store(..)) && self.d.has_jsr {
                // A handler of this block may see the locals as they are in between.
                self.handlers(id, first, i + 1, locals)?;
            }
            i += 1;
            if ends_block(&insn) {
                self.handlers(id, first, i, locals)?;
                return self.leave(id, i - 1, insn, stack, locals).map_err(|it| self.error(i - 1, it));
            }
        }
    }

    /// Reaches the handlers of the ranges that cover an instruction of the block up to `end`.
    fn handlers(&mut self, id: u32, first: u32, end: u32, locals: &[(u16, u32)]) -> Result<()> {
        let state = &mut self.states[id as usize];
        state.end = end;
        let context = state.context;
        if self.d.ranges.is_empty() {
            return Ok(());
        }
        if self.d.has_jsr {
            // Return addresses in locals may differ each time, so handlers are told each time.
            let entry = self.states[id as usize].locals.clone();
            for r in 0..self.d.ranges.len() {
                let it = self.d.ranges[r];
                if it.start < end && first < it.end && it.start < it.end {
                    for locals in [&entry[..], locals] {
                        self.reach(context, it.handler, &[Shape::Value(Kind::Ref)], locals, HANDLER)
                            .map_err(|fault| self.error(it.handler, fault))?;
                    }
                }
            }
            return Ok(());
        }
        let mut pending = std::mem::take(&mut self.pending[0]);
        let mut failed = None;
        pending.retain(|&r| {
            let it = self.d.ranges[r as usize];
            let covers = it.start < end && first < it.end && it.start < it.end;
            if covers && failed.is_none() {
                let reached = self.reach(context, it.handler, &[Shape::Value(Kind::Ref)], &[], HANDLER);
                failed = reached.err().map(|fault| (it.handler, fault));
            }
            !covers
        });
        self.pending[0] = pending;
        failed.map_or(Ok(()), |(at, fault)| Err(self.error(at, fault)))
    }

    /// Control reaches the block at `first` in `context` with this stack.
    fn reach(
        &mut self,
        context: Context,
        first: u32,
        stack: &[Shape],
        locals: &[(u16, u32)],
        flags: u8,
    ) -> Step<()> {
        let known = if context == 0 {
            self.main_index[first as usize]
        } else {
            self.index.get(&(context, first)).copied().unwrap_or(NONE)
        };
        if known == NONE {
            if self.d.has_jsr && self.inline && self.steps > COPIES * self.d.insns.len() + 256 {
                return Err(OVER_LIMIT);
            }
            self.kept += stack.len();
            if self.kept > MAX_SHAPES {
                return Err(Fault::Other("operand stacks are too deep at too many branches"));
            }
            let id = self.states.len() as u32;
            if context == 0 {
                self.main_index[first as usize] = id;
            } else {
                self.index.insert((context, first), id);
            }
            self.states.push(State {
                context,
                first,
                stack: stack.to_vec(),
                locals: locals.to_vec(),
                flags,
                queued: true,
                end: first,
                returns: None,
            });
            self.work.push(id);
            return Ok(());
        }
        let state = &mut self.states[known as usize];
        state.flags |= flags;
        if state.stack.len() != stack.len() {
            return Err(Fault::Other("paths join with stacks of different depth"));
        }
        let mut changed = false;
        for (old, &new) in state.stack.iter_mut().zip(stack) {
            if *old == new {
                continue;
            }
            let merged = match (*old, new) {
                (Shape::New(a), Shape::New(b)) => {
                    self.apart.extend([a, b]);
                    Shape::Value(Kind::Ref)
                }
                (Shape::New(a), Shape::Value(Kind::Ref)) | (Shape::Value(Kind::Ref), Shape::New(a)) => {
                    self.apart.push(a);
                    Shape::Value(Kind::Ref)
                }
                (Shape::Return(_), Shape::Return(_)) if self.inline => return Err(OVER_LIMIT),
                _ => return Err(Fault::Other("paths join with different kinds of values on the stack")),
            };
            if *old != merged {
                *old = merged;
                changed = true;
            }
        }
        let before = state.locals.len();
        state.locals.retain(|it| locals.contains(it));
        changed |= state.locals.len() != before;
        if changed && !state.queued {
            state.queued = true;
            self.work.push(known);
        }
        Ok(())
    }

    /// Control leaves the block through its last instruction.
    fn leave(&mut self, id: u32, i: u32, insn: Insn<'a>, stack: &[Shape], locals: &[(u16, u32)]) -> Step<()> {
        let context = self.states[id as usize].context;
        // Targets were checked when the instructions were decoded.
        let at = |this: &Self, pc: Pc| this.d.ordinals[pc.0 as usize];
        match insn {
            Insn::If(_, to) | Insn::IfInts(_, to) | Insn::IfRefs(_, to) | Insn::IfNull(_, to) => {
                let to = at(self, to);
                self.reach(context, to, stack, locals, TARGET)?;
                self.fall(context, i + 1, stack, locals)
            }
            Insn::Goto(to) => {
                let to = at(self, to);
                self.reach(context, to, stack, locals, TARGET)
            }
            Insn::Switch(switch) => {
                let to = at(self, switch.default);
                self.reach(context, to, stack, locals, TARGET)?;
                for (_, to) in switch.cases() {
                    let to = at(self, to);
                    self.reach(context, to, stack, locals, TARGET)?;
                }
                Ok(())
            }
            Insn::Jsr(to) => {
                let to = at(self, to);
                let inside = if self.inline { self.child(context, i)? } else { context };
                let mut stack = stack.to_vec();
                stack.push(Shape::Return(if self.inline { inside } else { to }));
                self.reach(inside, to, &stack, locals, TARGET)
            }
            Insn::Ret(slot) => self.ret(id, slot, stack, locals),
            _ => Ok(()),
        }
    }

    fn fall(&mut self, context: Context, next: u32, stack: &[Shape], locals: &[(u16, u32)]) -> Step<()> {
        if next as usize >= self.d.insns.len() {
            return Err(Fault::Other("control runs off the end of the code"));
        }
        self.reach(context, next, stack, locals, FALLEN_INTO)
    }

    fn child(&mut self, context: Context, jsr: u32) -> Step<Context> {
        if let Some(&it) = self.children.get(&(context, jsr)) {
            return Ok(it);
        }
        if self.contexts.len() > COPIES * self.d.insns.len() {
            return Err(OVER_LIMIT);
        }
        let it = self.contexts.len() as Context;
        self.contexts.push(Call { parent: context, site: jsr });
        self.children.insert((context, jsr), it);
        Ok(it)
    }

    fn ret(&mut self, id: u32, slot: u16, stack: &[Shape], locals: &[(u16, u32)]) -> Step<()> {
        let known = locals.iter().find(|it| it.0 == slot).map(|it| it.1);
        self.states[id as usize].returns = known;
        let sites: Vec<(Context, u32)> = if self.inline {
            let call = self.contexts[known.ok_or(OVER_LIMIT)? as usize];
            vec![(call.parent, call.site + 1)]
        } else {
            let jsr = |it: (usize, &(Pc, Insn<'a>))| match it.1.1 {
                Insn::Jsr(to) if known.is_none_or(|it| it == self.d.ordinals[to.0 as usize]) => {
                    Some((0, it.0 as u32 + 1))
                }
                _ => None,
            };
            self.d.insns.iter().enumerate().filter_map(jsr).collect()
        };
        if sites.is_empty() {
            return Err(Fault::Other("ret without a jsr"));
        }
        for (context, next) in sites {
            if next as usize >= self.d.insns.len() {
                return Err(Fault::Other("control runs off the end of the code"));
            }
            self.reach(context, next, stack, locals, TARGET)?;
        }
        Ok(())
    }

    fn local(&self, slot: u16, kind: Kind) -> Step<()> {
        if u32::from(slot) + u32::from(kind.words()) > u32::from(self.code.max_locals) {
            return Err(Fault::OtherAt("local variable outside max_locals:", slot.into()));
        }
        Ok(())
    }

    fn step(
        &mut self,
        context: Context,
        i: u32,
        insn: Insn<'a>,
        stack: &mut Vec<Shape>,
        locals: &mut Vec<(u16, u32)>,
    ) -> Step<()> {
        match insn {
            Insn::Load(kind, slot) => {
                self.local(slot, kind)?;
                push(stack, kind);
            }
            Insn::Iinc(slot, _) => self.local(slot, Kind::Int)?,
            Insn::Ret(slot) => self.local(slot, Kind::Ref)?,
            Insn::Store(kind, slot) => {
                self.local(slot, kind)?;
                if self.d.has_jsr {
                    locals.retain(|it| it.0 != slot && (kind.words() == 1 || it.0 != slot + 1));
                }
                match stack.last() {
                    Some(&Shape::Return(token)) if kind == Kind::Ref => {
                        stack.pop();
                        locals.push((slot, token));
                        locals.sort_unstable();
                    }
                    _ => self.pop(stack, kind)?,
                }
            }
            Insn::New(_) => {
                // In a loop the entry of the last round may still be there; in a subroutine it may
                // come from another copy.
                if stack.contains(&Shape::New(i)) || context != 0 {
                    self.apart.push(i);
                }
                let is_apart = self.apart.binary_search(&i).is_ok();
                stack.push(if is_apart { Shape::Value(Kind::Ref) } else { Shape::New(i) });
            }
            Insn::Stack(op) => shuffle(stack, op)?,
            Insn::Invoke(op, index) => {
                let (method, _) = self.pool.method_ref(index).map_err(|it| it.fault)?;
                let ty = MethodType::parse(method.descriptor().bytes())
                    .ok_or(Fault::Grammar("method descriptor"))?;
                self.pop_params(stack, ty)?;
                if op != InvokeOp::Static {
                    self.receiver(
                        stack,
                        op == InvokeOp::Special && method.name().bytes() == b"<init>",
                        method.class(),
                    )?;
                }
                if let Some(it) = ty.ret() {
                    push(stack, it.kind());
                }
            }
            Insn::InvokeDynamic(index) => {
                let Entry::InvokeDynamic(_, name_and_type) = self.pool.entry(index).map_err(|it| it.fault)?
                else {
                    return Err(Fault::PoolKind { index: index.0, want: "CONSTANT_InvokeDynamic" });
                };
                let (_, ty) = self.pool.name_and_type(name_and_type).map_err(|it| it.fault)?;
                let ty = MethodType::parse(ty.bytes()).ok_or(Fault::Grammar("method descriptor"))?;
                self.pop_params(stack, ty)?;
                if let Some(it) = ty.ret() {
                    push(stack, it.kind());
                }
            }
            _ => self.simple(insn, stack)?,
        }
        Ok(())
    }

    // long match: one arm a kind of instruction
    fn simple(&mut self, insn: Insn<'a>, stack: &mut Vec<Shape>) -> Step<()> {
        use Kind::{Double, Float, Int, Long, Ref};
        match insn {
            Insn::Null => push(stack, Ref),
            Insn::Int(_) => push(stack, Int),
            Insn::Long(_) => push(stack, Long),
            Insn::Float(_) => push(stack, Float),
            Insn::Double(_) => push(stack, Double),
            Insn::Ldc(index) | Insn::Ldc2(index) => {
                let kind = match self.pool.entry(index).map_err(|it| it.fault)? {
                    Entry::Integer(_) => Int,
                    Entry::Float(_) => Float,
                    Entry::Long(_) => Long,
                    Entry::Double(_) => Double,
                    Entry::String(_) | Entry::Class(_) | Entry::MethodType(_) | Entry::MethodHandle(..) => {
                        Ref
                    }
                    Entry::Dynamic(_, it) => {
                        let (_, ty) = self.pool.name_and_type(it).map_err(|it| it.fault)?;
                        ty.field_type().ok_or(Fault::Grammar("field descriptor"))?.kind()
                    }
                    _ => return Err(Fault::PoolKind { index: index.0, want: "loadable constant" }),
                };
                if (kind.words() == 2) != matches!(insn, Insn::Ldc2(_)) {
                    return Err(Fault::PoolKind { index: index.0, want: "constant of this width" });
                }
                push(stack, kind);
            }
            Insn::ArrayLoad(elem) => {
                self.pop(stack, Int)?;
                self.pop(stack, Ref)?;
                push(stack, elem.kind());
            }
            Insn::ArrayStore(elem) => {
                self.pop(stack, elem.kind())?;
                self.pop(stack, Int)?;
                self.pop(stack, Ref)?;
            }
            Insn::Binary(op, kind) => {
                use crate::insn::BinOp::{Shl, Shr, Ushr};
                self.pop(stack, if matches!(op, Shl | Shr | Ushr) { Int } else { kind })?;
                self.pop(stack, kind)?;
                push(stack, kind);
            }
            Insn::Neg(kind) => {
                self.pop(stack, kind)?;
                push(stack, kind);
            }
            Insn::Convert(conv) => {
                let (from, to) = conv.kinds();
                self.pop(stack, from)?;
                push(stack, to);
            }
            Insn::Compare(op) => {
                self.pop(stack, op.kind())?;
                self.pop(stack, op.kind())?;
                push(stack, Int);
            }
            Insn::If(..) | Insn::Switch(_) => self.pop(stack, Int)?,
            Insn::IfInts(..) => {
                self.pop(stack, Int)?;
                self.pop(stack, Int)?;
            }
            Insn::IfRefs(..) => {
                self.pop(stack, Ref)?;
                self.pop(stack, Ref)?;
            }
            Insn::IfNull(..) | Insn::Throw | Insn::MonitorEnter | Insn::MonitorExit => {
                self.pop(stack, Ref)?
            }
            Insn::Return(Some(kind)) => self.pop(stack, kind)?,
            Insn::GetStatic(index) => push(stack, self.field_kind(index)?),
            Insn::PutStatic(index) => {
                let kind = self.field_kind(index)?;
                self.pop(stack, kind)?;
            }
            Insn::GetField(index) => {
                self.pop(stack, Ref)?;
                push(stack, self.field_kind(index)?);
            }
            Insn::PutField(index) => {
                let kind = self.field_kind(index)?;
                self.pop(stack, kind)?;
                self.pop(stack, Ref)?;
            }
            Insn::NewArray(_) => {
                self.pop(stack, Int)?;
                push(stack, Ref);
            }
            Insn::ANewArray(index) => {
                self.pool.class_name(index).map_err(|it| it.fault)?;
                self.pop(stack, Int)?;
                push(stack, Ref);
            }
            Insn::MultiANewArray(index, dims) => {
                let class = self.pool.class_name(index).map_err(|it| it.fault)?;
                let depth = class.bytes().iter().take_while(|&&b| b == b'[').count();
                if depth < usize::from(dims) {
                    return Err(Fault::Other("multianewarray of more dimensions than its class has"));
                }
                for _ in 0..dims {
                    self.pop(stack, Int)?;
                }
                push(stack, Ref);
            }
            Insn::ArrayLength => {
                self.pop(stack, Ref)?;
                push(stack, Int);
            }
            Insn::CheckCast(index) => {
                self.pool.class_name(index).map_err(|it| it.fault)?;
                self.pop(stack, Ref)?;
                push(stack, Ref);
            }
            Insn::InstanceOf(index) => {
                self.pool.class_name(index).map_err(|it| it.fault)?;
                self.pop(stack, Ref)?;
                push(stack, Int);
            }
            Insn::Nop | Insn::Goto(_) | Insn::Jsr(_) | Insn::Return(None) => {}
            Insn::Load(..)
            | Insn::Store(..)
            | Insn::Iinc(..)
            | Insn::Ret(_)
            | Insn::New(_)
            | Insn::Stack(_)
            | Insn::Invoke(..)
            | Insn::InvokeDynamic(_) => {} // `step` has them.
        }
        Ok(())
    }

    fn field_kind(&self, index: crate::pool::PoolIndex) -> Step<Kind> {
        let field = self.pool.field_ref(index).map_err(|it| it.fault)?;
        Ok(crate::descriptor::FieldType(field.descriptor().bytes()).kind())
    }

    fn pop_params(&mut self, stack: &mut Vec<Shape>, ty: MethodType<'_>) -> Step<()> {
        // The last parameter is on top; descriptors read forwards, so find where the first one lies.
        let n = ty.params().count();
        let Some(base) = stack.len().checked_sub(n) else { return Err(EMPTY) };
        for (i, param) in ty.params().enumerate() {
            self.check(stack[base + i], param.kind())?;
        }
        stack.truncate(base);
        Ok(())
    }

    /// Pops a receiver. A constructor call turns all copies of a new object into plain references.
    fn receiver(&mut self, stack: &mut Vec<Shape>, is_init: bool, class: ClassName) -> Step<()> {
        match stack.last() {
            Some(&Shape::New(new)) if is_init => {
                stack.pop();
                let made = match self.d.insns[new as usize].1 {
                    Insn::New(index) => self.pool.class_name(index).map_err(|it| it.fault)?,
                    _ => class,
                };
                if made != class {
                    self.apart.push(new);
                }
                for it in stack.iter_mut().filter(|it| **it == Shape::New(new)) {
                    *it = Shape::Value(Kind::Ref);
                }
                Ok(())
            }
            _ => self.pop(stack, Kind::Ref),
        }
    }

    #[inline]
    fn pop(&mut self, stack: &mut Vec<Shape>, kind: Kind) -> Step<()> {
        let Some(top) = stack.pop() else { return Err(EMPTY) };
        self.check(top, kind)
    }

    #[inline]
    fn check(&mut self, shape: Shape, kind: Kind) -> Step<()> {
        match shape {
            Shape::Value(it) if it == kind => Ok(()),
            Shape::New(new) if kind == Kind::Ref => {
                // Used before its constructor call: it must be a value of its own.
                self.apart.push(new);
                Ok(())
            }
            _ => Err(WRONG_KIND),
        }
    }

    fn finish(self) -> Walk<'a> {
        let mut order: Vec<u32> = (0..self.states.len() as u32).collect();
        order.sort_unstable_by_key(|&it| {
            let state = &self.states[it as usize];
            (state.context, state.first)
        });
        let mut walk = Walk {
            insns: self.d.insns,
            ranges: self.d.ranges,
            blocks: Vec::with_capacity(order.len()),
            apart: self.apart,
            inlined: self.inline,
            ordinals: self.d.ordinals,
            shapes: Vec::new(),
            contexts: self.contexts,
            children: self.children,
            index: self.index,
            main_index: self.main_index,
        };
        for (i, &id) in order.iter().enumerate() {
            let state = &self.states[id as usize];
            let start = walk.shapes.len() as u32;
            walk.shapes.extend_from_slice(&state.stack);
            if state.context == 0 {
                walk.main_index[state.first as usize] = i as u32;
            } else {
                walk.index.insert((state.context, state.first), i as u32);
            }
            walk.blocks.push(Block {
                first: state.first,
                end: state.end,
                context: state.context,
                is_target: state.flags & TARGET != 0,
                is_fallen_into: state.flags & FALLEN_INTO != 0,
                is_handler: state.flags & HANDLER != 0,
                returns: state.returns,
                stack: (start, walk.shapes.len() as u32),
            });
        }
        walk
    }
}

const EMPTY: Fault = Fault::Other("operand missing from the stack");
const WRONG_KIND: Fault = Fault::Other("operand of the wrong kind on the stack");

#[inline]
fn push(stack: &mut Vec<Shape>, kind: Kind) {
    stack.push(Shape::Value(kind));
}

/// Whether control never simply goes on behind the instruction, or may also go elsewhere.
fn ends_block(insn: &Insn<'_>) -> bool {
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

/// How `pop`, `dup`, `swap` and their kin move entries (JVMS §6.5): the number of entries that lie on
/// top and the order in which they are put back, as indices from the bottom of those entries.
///
/// `wide(k)` says whether the entry `k` below the top takes two words; the forms of the instruction go
/// by that.
///
/// # Errors
/// When an operand is missing or would be split.
pub fn rearrangement(
    op: StackOp,
    depth: usize,
    wide: impl Fn(usize) -> bool,
) -> Step<(usize, &'static [u8])> {
    let wide = |k: usize| if k < depth { Ok(wide(k)) } else { Err(EMPTY) };
    let found: (usize, &[u8]) = match op {
        StackOp::Pop if !wide(0)? => (1, &[]),
        StackOp::Pop2 if wide(0)? => (1, &[]),
        StackOp::Pop2 if !wide(1)? => (2, &[]),
        StackOp::Dup if !wide(0)? => (1, &[0, 0]),
        StackOp::DupX1 if !wide(0)? && !wide(1)? => (2, &[1, 0, 1]),
        StackOp::DupX2 if !wide(0)? && wide(1)? => (2, &[1, 0, 1]),
        StackOp::DupX2 if !wide(0)? && !wide(1)? && !wide(2)? => (3, &[2, 0, 1, 2]),
        StackOp::Dup2 if wide(0)? => (1, &[0, 0]),
        StackOp::Dup2 if !wide(1)? => (2, &[0, 1, 0, 1]),
        StackOp::Dup2X1 if wide(0)? && !wide(1)? => (2, &[1, 0, 1]),
        StackOp::Dup2X1 if !wide(0)? && !wide(1)? && !wide(2)? => (3, &[1, 2, 0, 1, 2]),
        StackOp::Dup2X2 if wide(0)? && wide(1)? => (2, &[1, 0, 1]),
        StackOp::Dup2X2 if wide(0)? && !wide(1)? && !wide(2)? => (3, &[2, 0, 1, 2]),
        StackOp::Dup2X2 if !wide(0)? && !wide(1)? && wide(2)? => (3, &[1, 2, 0, 1, 2]),
        StackOp::Dup2X2 if !wide(0)? && !wide(1)? && !wide(2)? && !wide(3)? => (4, &[2, 3, 0, 1, 2, 3]),
        StackOp::Swap if !wide(0)? && !wide(1)? => (2, &[1, 0]),
        _ => return Err(Fault::Other("stack instruction would split a long or double")),
    };
    Ok(found)
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
