//! The typed walk over the operand stack that lowering to BIR and the class writer share.
//!
//! The walk follows control from the entry (as in JVMS §4.10, but without assignability of class types: all
//! references have one kind here). It finds the reachable instructions, the blocks that they form, and the content of
//! the operand stack at the beginning of each block. It refuses code whose operands are missing or of the wrong kind,
//! whose branches have invalid targets, or that runs off its end.
//!
//! *Subroutines* (`jsr`, `ret`) are followed per chain of calls: the code of a subroutine is visited once for each
//! [`Context`] that it runs in, so that each `ret` has one return site. If inlining exceeds a limit, the walk is
//! repeated with each subroutine visited once; a `ret` then returns to every call site ([`Walk::inlined`] is false).
//!
//! *New objects*: a stack entry pushed by `new` remains distinguished until its constructor is called, as long as
//! it is only moved about on the stack. A `new` whose object is used in another way before the constructor call is
//! listed in [`Walk::apart`].

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

/// The content of one operand-stack entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A value of this kind.
    Value(Kind),
    /// The object created by the `new` with this ordinal, before its constructor is called.
    New(u32),
    /// A return address: the [`Context`] of the called subroutine if subroutines are inlined, otherwise the ordinal
    /// of the first instruction of the subroutine.
    Return(u32),
}

impl Shape {
    /// Returns the number of words that the stack entry takes.
    pub fn words(self) -> u16 {
        match self {
            Shape::Value(kind) => kind.words(),
            _ => 1,
        }
    }
}

/// The number of a chain of nested `jsr` calls; the code of a subroutine is visited once for each chain that leads to
/// it. Context 0 is the code of the method outside of subroutines.
pub type Context = u32;

/// A row of the exception table, with ordinals instead of pcs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The ordinal of the first covered instruction.
    pub start: u32,
    /// The ordinal of the first instruction after the covered range.
    pub end: u32,
    /// The ordinal of the first instruction of the handler.
    pub handler: u32,
    /// The class of the exceptions that the row catches; `None` catches everything.
    pub catch_type: Option<ClassName>,
}

/// A sequence of instructions that control enters only at the first one, in one [`Context`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// The ordinal of the first instruction.
    pub first: u32,
    /// The ordinal of the first instruction after the block.
    pub end: u32,
    /// The chain of subroutine calls in which the block runs.
    pub context: Context,
    /// The target of the `ret` at the end of the block: a context or an ordinal, as in [`Shape::Return`]. `None` if
    /// the block does not end with `ret`, or the target of the `ret` is unknown.
    pub returns: Option<u32>,
    flags: u8,
    queued: bool,
    stack: (u32, u32),
}

impl Block {
    /// Returns whether a branch or the return from a subroutine leads to the block.
    pub fn is_target(&self) -> bool {
        self.flags & leaders::TARGET != 0
    }

    /// Returns whether the preceding instruction can fall through to the block.
    pub fn is_fallen_into(&self) -> bool {
        self.flags & leaders::FALLEN_INTO != 0
    }

    /// Returns whether the block is the handler of an exception-table row that covers a reachable instruction.
    pub fn is_handler(&self) -> bool {
        self.flags & leaders::HANDLER != 0
    }
}

/// The result of following the control flow of one body: its instructions, its reachable blocks, and the operand
/// stack at the beginning of each block. [`Walk::run`] computes the result, and reuses the memory of the previous
/// result.
#[derive(Default)]
pub struct Walk {
    /// All instructions with their pcs; the index of an instruction is its *ordinal*.
    pub insns: Vec<(Pc, Insn)>,
    /// The exception table.
    pub ranges: Vec<Range>,
    /// The reachable blocks, ordered by context and ordinal.
    pub blocks: Vec<Block>,
    /// The ordinals of the `new` instructions whose allocation and constructor call cannot be combined, ascending.
    pub apart: Vec<u32>,
    /// Whether each [`Context`] represents one chain of subroutine calls. If not, all code has context 0, and a `ret`
    /// may return to every call of its subroutine.
    pub inlined: bool,
    has_jsr: bool,
    ordinals: Vec<u32>,
    leaders: Vec<u8>,
    /// The ordinals of the branch instructions.
    branches: Vec<u32>,
    shapes: Vec<Shape>,
    contexts: Vec<Call>,
    children: FxHashMap<(Context, u32), Context>,
    index: FxHashMap<(Context, u32), u32>,
    /// For each ordinal, the index of the block that begins there in context 0, the only context of most methods.
    main_index: Vec<u32>,
    work: Vec<u32>,
    sorted: Vec<Block>,
    frame: effect::Frame,
}

/// The `jsr` for which a context was created (`site`, an ordinal), and the context that contains this `jsr`
/// (`parent`).
#[derive(Clone, Copy)]
struct Call {
    parent: Context,
    site: u32,
}

const NONE: u32 = u32::MAX;

impl Walk {
    /// Finds the reachable blocks of the body and the operand stack at the beginning of each, and stores them in
    /// `self`. `major` is the major version of the class file: above 50, subroutines are not allowed (JVMS §4.9.1).
    ///
    /// # Errors
    /// Fails if the body violates a rule that the walk depends on; the offset is that of the violating instruction.
    pub fn run(&mut self, code: &Code<'_, '_>, major: u16) -> Result<()> {
        leaders::decode(self, code, major)?;
        match walker::run(self, code, true) {
            Err(it) if it.fault == walker::OVER_LIMIT => walker::run(self, code, false),
            it => it,
        }
    }

    /// Returns the content of the operand stack at the beginning of the block, bottom first.
    pub fn entry_stack(&self, block: &Block) -> &[Shape] {
        &self.shapes[block.stack.0 as usize..block.stack.1 as usize]
    }

    /// Returns the ordinal of the instruction at `pc`; `None` if no instruction begins there.
    #[inline]
    pub fn ordinal(&self, pc: Pc) -> Option<u32> {
        self.ordinals.get(pc.index()).copied().filter(|&it| it != NONE)
    }

    /// Returns the pc of the instruction with this ordinal. For the ordinal after the last instruction, returns the
    /// length of the code.
    #[inline]
    pub fn pc(&self, ordinal: u32) -> Pc {
        let end = Pc::from_index(self.ordinals.len() - 1);
        self.insns.get(ordinal as usize).map_or(end, |it| it.0)
    }

    /// Returns the index of the block that begins at this ordinal in this context; `None` if there is no such block.
    #[inline]
    pub fn block_at(&self, context: Context, ordinal: u32) -> Option<usize> {
        let found = if context == 0 {
            self.main_index.get(ordinal as usize).copied().filter(|&it| it != NONE)
        } else {
            self.index.get(&(context, ordinal)).copied()
        };
        found.map(|it| it as usize)
    }

    /// Returns the context that is entered when the `jsr` instruction with the ordinal `jsr` is executed in
    /// `context`. Returns context 0 if subroutines are not inlined.
    pub fn called(&self, context: Context, jsr: u32) -> Context {
        self.children.get(&(context, jsr)).copied().unwrap_or(0)
    }

    /// Returns the context and ordinal at which control continues when the subroutine of this context returns.
    pub fn return_site(&self, context: Context) -> (Context, u32) {
        self.contexts.get(context as usize).map_or((0, NONE), |it| (it.parent, it.site + 1))
    }

    /// Returns the ordinal and target of each `jsr` instruction, ascending by ordinal. If subroutines are not
    /// inlined, each `ret` may return to the instruction after any of these `jsr` instructions.
    pub fn jsr_sites(&self) -> impl Iterator<Item = (u32, Pc)> + '_ {
        self.insns.iter().enumerate().filter_map(|(i, (_, insn))| match insn {
            Insn::Jsr(to) => Some((i as u32, *to)),
            _ => None,
        })
    }

    /// Returns the instructions that control never reaches, as ascending half-open ranges of ordinals.
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

    /// Removes the blocks, stacks and contexts that a walk found, but not the decoded instructions.
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

    /// Sorts the blocks by context and ordinal.
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
