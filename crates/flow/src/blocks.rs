//! Basic blocks: sequences of instructions that control enters at the first instruction only.
//!
//! A block also ends where a row of the exception table begins or ends, so all instructions of a block have the same
//! handlers.

use bir::body::{Body, Instr, InstrId, ordinal};

use crate::coverage::Coverage;
use crate::throwables::well_known;

/// The division of a body's instructions into basic blocks, which are numbered in the order of the instructions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Blocks {
    /// The ordinal of the first instruction of each block, and as an additional last entry the number of
    /// instructions.
    starts: Vec<u32>,
    /// For each instruction, the number of the block that contains the instruction.
    of: Vec<u32>,
}

impl Blocks {
    /// Computes the basic blocks of a body.
    pub fn new(body: &Body) -> Self {
        let mut acc = Blocks::default();
        acc.fill(body);
        acc
    }

    /// Replaces the contents with the basic blocks of `body`, and reuses the allocated memory.
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

    /// Returns whether there is no block, because the body has no instruction.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the range of the ordinals of the instructions of the block with the number `block`; the range is empty
    /// if there is no such block.
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

/// A table of the handler blocks that an exception raised in a basic block may enter. A handler block is a block that
/// begins with a handler of the exception table.
#[derive(Default)]
pub struct Handlers {
    /// For each block, the range of `handlers` that lists its handler blocks, and whether these catch every
    /// exception.
    parts: Vec<Part>,
    handlers: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Part {
    start: u32,
    end: u32,
    takes_all: bool,
}

/// The maximum total length of the lists of handler blocks of one method. For a method with longer lists, no
/// [`Handlers`] are computed.
const MAX_HANDLERS: usize = 1 << 20;

impl Handlers {
    /// Computes the list of handler blocks of each block; the list ends at the first row that catches every
    /// exception. Returns `None` if the total length of the lists exceeds `MAX_HANDLERS`.
    pub fn new(body: &Body, blocks: &Blocks) -> Option<Self> {
        let mut acc = Handlers::default();
        acc.fill(body, blocks)?;
        Some(acc)
    }

    /// Replaces the contents with the lists of handler blocks of the blocks of `body`, and reuses the allocated
    /// memory. Returns `None` if the total length of the lists exceeds `MAX_HANDLERS`.
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

    /// Returns the numbers of the handler blocks that an exception raised in the block may enter, in the order of the
    /// rows of the exception table.
    pub fn of(&self, block: u32) -> &[u32] {
        let part = self.parts.get(block as usize).copied().unwrap_or_default();
        &self.handlers[part.start as usize..part.end as usize]
    }

    /// Returns whether the method certainly catches every exception raised in the block, because some row that covers
    /// the block catches everything.
    pub fn takes_all(&self, block: u32) -> bool {
        self.parts.get(block as usize).is_some_and(|it| it.takes_all)
    }
}
