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

mod effect;
mod leaders;
mod rows;
mod shuffle;
mod walker;

use rustc_hash::FxHashMap;

use crate::code::Code;
use crate::descriptor::Kind;
use crate::error::Result;
use crate::insn::{Insn, Pc};
use crate::names::ClassName;

pub use shuffle::rearrangement;

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
    /// Where a `ret` at its end returns to: a context or an ordinal, as in [`Shape::Return`]; `None` if
    /// there is no `ret` or nothing is known of it.
    pub returns: Option<u32>,
    flags: u8,
    queued: bool,
    stack: (u32, u32),
}

impl Block {
    /// Whether a branch leads here.
    pub fn is_target(&self) -> bool {
        self.flags & leaders::TARGET != 0
    }

    /// Whether the instruction before can fall through to here.
    pub fn is_fallen_into(&self) -> bool {
        self.flags & leaders::FALLEN_INTO != 0
    }

    /// Whether it is a handler of a range with a reachable instruction.
    pub fn is_handler(&self) -> bool {
        self.flags & leaders::HANDLER != 0
    }
}

/// What the walk found in one body. Walking the next body uses its memory again.
#[derive(Default)]
pub struct Walk {
    /// All instructions with their pcs; an instruction's index is its *ordinal*.
    pub insns: Vec<(Pc, Insn)>,
    /// The exception table.
    pub ranges: Vec<Range>,
    /// The reachable blocks, ordered by context and ordinal.
    pub blocks: Vec<Block>,
    /// Ordinals of the `new` instructions whose allocation and constructor call must stay apart,
    /// ascending.
    pub apart: Vec<u32>,
    /// Whether each context stands for one chain of subroutine calls.
    pub inlined: bool,
    has_jsr: bool,
    ordinals: Vec<u32>,
    leaders: Vec<u8>,
    /// Ordinals of the instructions that branch.
    branches: Vec<u32>,
    shapes: Vec<Shape>,
    contexts: Vec<Call>,
    children: FxHashMap<(Context, u32), Context>,
    index: FxHashMap<(Context, u32), u32>,
    /// Block of each leader in context 0, which is the only one of most methods.
    main_index: Vec<u32>,
    work: Vec<u32>,
    sorted: Vec<Block>,
    frame: effect::Frame,
}

/// How a context came to be.
#[derive(Clone, Copy)]
struct Call {
    parent: Context,
    site: u32,
}

const NONE: u32 = u32::MAX;

impl Walk {
    /// Walks the body. `major` is the version of its class file: subroutines ended with 50 (JVMS
    /// §4.9.1).
    ///
    /// # Errors
    /// When the body breaks a rule that the walk needs; the offset is that of the instruction.
    pub fn run(&mut self, code: &Code<'_, '_>, major: u16) -> Result<()> {
        leaders::decode(self, code, major)?;
        match walker::run(self, code, true) {
            Err(it) if it.fault == walker::OVER_LIMIT => walker::run(self, code, false),
            it => it,
        }
    }

    /// What lies on the operand stack where the block begins, bottom first.
    pub fn entry_stack(&self, block: &Block) -> &[Shape] {
        &self.shapes[block.stack.0 as usize..block.stack.1 as usize]
    }

    /// The ordinal of the instruction at `pc`.
    #[inline]
    pub fn ordinal(&self, pc: Pc) -> Option<u32> {
        self.ordinals.get(pc.0 as usize).copied().filter(|&it| it != NONE)
    }

    /// The pc of the instruction with this ordinal; behind the last one the length of the code.
    #[inline]
    pub fn pc(&self, ordinal: u32) -> Pc {
        let end = Pc((self.ordinals.len() - 1) as u32);
        self.insns.get(ordinal as usize).map_or(end, |it| it.0)
    }

    /// The index of the block that begins at this ordinal in this context.
    #[inline]
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
        self.contexts.get(context as usize).map_or((0, NONE), |it| (it.parent, it.site + 1))
    }

    /// Ordinals and targets of the `jsr` instructions, ascending: the return sites of a body that is not
    /// inlined lie behind them.
    pub fn jsr_sites(&self) -> impl Iterator<Item = (u32, Pc)> + '_ {
        self.insns.iter().enumerate().filter_map(|(i, (_, insn))| match insn {
            Insn::Jsr(to) => Some((i as u32, *to)),
            _ => None,
        })
    }

    /// The ordinals that no context reaches, as ascending half-open ranges.
    pub fn unreachable(&self) -> Vec<(u32, u32)> {
        let n = self.insns.len() as u32;
        let mut out: Vec<(u32, u32)> = Vec::new();
        let mut main = 0;
        if self.contexts.len() > 1 {
            let mut reached = vec![false; n as usize];
            for block in &self.blocks {
                reached[block.first as usize..block.end as usize].fill(true);
            }
            for i in (0..n).filter(|&i| !reached[i as usize]) {
                match out.last_mut() {
                    Some(last) if last.1 == i => last.1 += 1,
                    _ => out.push((i, i + 1)),
                }
            }
            return out;
        }
        for block in &self.blocks {
            if block.first > main {
                out.push((main, block.first));
            }
            main = block.end;
        }
        if main < n {
            out.push((main, n));
        }
        out
    }

    /// Forgets what was reached, but not what was decoded.
    fn reset(&mut self) {
        self.blocks.clear();
        self.shapes.clear();
        self.contexts.clear();
        self.contexts.push(Call { parent: 0, site: NONE });
        self.children.clear();
        self.index.clear();
        self.main_index.clear();
        self.main_index.resize(self.insns.len() + 1, NONE);
    }

    /// Puts the blocks into their final order.
    fn order(&mut self) {
        if self.blocks.len() == 1 {
            return;
        }
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.clear();
        for slot in self.main_index.iter_mut().filter(|it| **it != NONE) {
            sorted.push(self.blocks[*slot as usize]);
            *slot = (sorted.len() - 1) as u32;
        }
        let main = sorted.len();
        sorted.extend(self.blocks.iter().filter(|it| it.context != 0));
        sorted[main..].sort_unstable_by_key(|it| (it.context, it.first));
        for (i, it) in sorted.iter().enumerate().skip(main) {
            self.index.insert((it.context, it.first), i as u32);
        }
        self.sorted = std::mem::replace(&mut self.blocks, sorted);
    }
}
