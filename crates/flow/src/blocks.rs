//! Basic blocks: sequences of instructions that control enters at the first instruction only.
//!
//! A block also ends where a row of the exception table begins or ends, so all instructions of a block have the same
//! handlers.

use bir::body::{Body, Instr, InstrId, ordinal};

use crate::coverage::Coverage;
use crate::throwables::well_known;

/// The basic blocks of one body, in the order of its instructions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Blocks {
    /// The ordinal of the first instruction of each block; the last entry is the number of instructions.
    starts: Vec<u32>,
    /// For each instruction, the number of its block.
    of: Vec<u32>,
}

impl Blocks {
    /// Computes the basic blocks of a body.
    pub fn new(body: &Body) -> Self {
        let mut acc = Blocks::default();
        acc.fill(body);
        acc
    }

    /// Recomputes the basic blocks for another body, and reuses the memory.
    pub(crate) fn fill(&mut self, body: &Body) {
        let n = body.instrs.len();
        let Blocks { starts, of } = self;
        starts.clear();
        // Each entry is first a mark (1 at the start of a block) and then the number of the block.
        of.clear();
        of.resize(n, 0u32);
        let mut mark = |i: u32| {
            if let Some(it) = of.get_mut(i as usize) {
                *it = 1;
            }
        };
        for (id, instr) in body.instrs.iter() {
            match instr {
                Instr::Goto(_) | Instr::If(..) | Instr::Switch(..) | Instr::Ret(..) => {
                    body.jumps(instr, |to| mark(ordinal(to)));
                    mark(ordinal(id) + 1);
                }
                Instr::Return(_) | Instr::Throw(_) => mark(ordinal(id) + 1),
                Instr::Catch(_) => mark(ordinal(id)),
                _ => {}
            }
        }
        for row in &body.rows {
            mark(ordinal(row.start));
            mark(row.end);
        }
        for (at, it) in (0u32..).zip(of) {
            if *it == 1 || at == 0 {
                starts.push(at);
            }
            *it = starts.len() as u32 - 1;
        }
        starts.push(n as u32);
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns whether the body has no instruction.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the ordinals of the block's instructions; empty if there is no block with this number.
    pub fn range(&self, block: u32) -> std::ops::Range<u32> {
        match (self.starts.get(block as usize), self.starts.get(block as usize + 1)) {
            (Some(&start), Some(&end)) => start..end,
            _ => 0..0,
        }
    }

    /// Returns the number of the block that contains the instruction; `None` if the body has no such instruction.
    pub fn of(&self, instr: InstrId) -> Option<u32> {
        self.of.get(ordinal(instr) as usize).copied()
    }
}

/// For each basic block, the handler blocks that an exception raised in the block may enter.
#[derive(Default)]
pub struct Handlers {
    /// For each block, the range of its handler blocks in `handlers`.
    parts: Vec<Part>,
    handlers: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Part {
    start: u32,
    end: u32,
    takes_all: bool,
}

/// The maximum number of handler blocks that [`Handlers`] stores for one method; a method with more has no
/// [`Handlers`].
const MAX_HANDLERS: usize = 1 << 20;

impl Handlers {
    /// Computes the handler blocks of each block, up to the first row that catches everything. Returns `None` if
    /// there are more than `MAX_HANDLERS` in all.
    pub fn new(body: &Body, blocks: &Blocks) -> Option<Self> {
        let mut acc = Handlers::default();
        acc.fill(body, blocks)?;
        Some(acc)
    }

    /// Recomputes the handler blocks for another body, and reuses the memory. Returns `None` if there are more than
    /// `MAX_HANDLERS` in all.
    pub(crate) fn fill(&mut self, body: &Body, blocks: &Blocks) -> Option<()> {
        let acc = self;
        acc.parts.clear();
        acc.handlers.clear();
        if body.rows.is_empty() {
            return Some(());
        }
        acc.parts.resize(blocks.len(), Part::default());
        let throwable = well_known().throwable;
        let mut coverage = Coverage::new(body);
        let mut last: (Vec<u32>, Part) = Default::default();
        for block in 0..blocks.len() as u32 {
            let rows = coverage.at(blocks.range(block).start);
            if last.0 != rows {
                let start = acc.handlers.len();
                let mut takes_all = false;
                for &row in rows {
                    let row = &body.rows[row as usize];
                    let handler = blocks.of(row.handler)?;
                    if acc.handlers[start..].last() != Some(&handler) {
                        acc.handlers.push(handler);
                    }
                    takes_all = row.catch_type.is_none_or(|it| it == throwable);
                    if takes_all {
                        break;
                    }
                }
                if acc.handlers.len() > MAX_HANDLERS {
                    return None;
                }
                let part = Part { start: start as u32, end: acc.handlers.len() as u32, takes_all };
                last = (rows.to_vec(), part);
            }
            acc.parts[block as usize] = last.1;
        }
        Some(())
    }

    /// Returns the handler blocks of a block, in the order of the rows of the exception table.
    pub fn of(&self, block: u32) -> &[u32] {
        let part = self.parts.get(block as usize).copied().unwrap_or_default();
        &self.handlers[part.start as usize..part.end as usize]
    }

    /// Returns whether the method certainly catches every exception raised in the block.
    pub fn takes_all(&self, block: u32) -> bool {
        self.parts.get(block as usize).is_some_and(|it| it.takes_all)
    }
}
