//! Basic blocks: the graph of a method in the form that people read.
//!
//! A block is a sequence of instructions that control enters only at the first and leaves normally only at the last,
//! and that all have the same handlers. Exceptions may leave a block from any instruction. They are listed with the
//! block: exceptions with the same set and the same destination are one entry.

use std::fmt::Write;
use std::hash::Hash;

use bir::body::{Body, Instr, InstrId, instr_id, ordinal};
use flow::blocks::Blocks;
use flow::cfg::{Cfg, EdgeKind, NodeKind};
use rustc_hash::FxHashMap;

/// The number of a block in its graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BlockId(pub u32);

/// A basic block; `S` is the type of sets of exceptions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block<S> {
    /// The first instruction of the block.
    pub first: InstrId,
    /// The last instruction of the block.
    pub last: InstrId,
    /// The normal successors of the last instruction, in the order of the graph's edges.
    pub leads: Vec<Lead>,
    /// The sets of exceptions that the block's instructions raise, ordered by the first instruction that raises each
    /// set.
    pub raises: Vec<Raise<S>>,
}

/// A normal edge out of a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lead {
    /// The kind of the edge.
    pub kind: EdgeKind,
    /// The block that the edge leads to; `None` if the method returns.
    pub to: Option<BlockId>,
}

/// A set of exceptions that leaves a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Raise<S> {
    /// The set of exceptions.
    pub set: S,
    /// The destination of the exceptions: a handler, or the caller of the method.
    pub fate: Fate,
    /// The instructions that raise exceptions of the set, in ascending order.
    pub instrs: Vec<InstrId>,
}

/// The destination of exceptions that leave a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fate {
    /// A handler of the method catches the exceptions.
    Caught {
        /// The block that starts with the handler.
        by: BlockId,
        /// The index of the handler's row in the exception table.
        row: u32,
        /// Whether it is uncertain that the handler catches all of the exceptions: it may catch only some, or none.
        may: bool,
    },
    /// The exceptions leave the method and go to its caller.
    Leaves,
}

impl<S> Block<S> {
    /// The instructions of the block, in order.
    pub fn instrs(&self) -> impl Iterator<Item = InstrId> + use<S> {
        (ordinal(self.first)..=ordinal(self.last)).map(instr_id)
    }
}

/// The blocks of a graph, in the order of their first instructions. The first block is the entry.
pub fn blocks<S: Copy + Eq + Hash>(body: &Body, graph: &Cfg<S>) -> Vec<Block<S>> {
    let runs = Blocks::new(body);
    let block_of = |instr: InstrId| BlockId(runs.of(instr).unwrap_or_default());
    let ranges = (0..runs.len() as u32).map(|it| runs.range(it));
    let mut blocks: Vec<Block<S>> = ranges
        .map(|it| Block {
            first: instr_id(it.start),
            last: instr_id(it.end.saturating_sub(1)),
            leads: Vec::new(),
            raises: Vec::new(),
        })
        .collect();
    let mut known: FxHashMap<(BlockId, S, Fate), usize> = FxHashMap::default();
    for edge in &graph.edges {
        let (Some(from), Some(to)) = (graph.nodes.get(edge.from.index()), graph.nodes.get(edge.to.index()))
        else {
            continue;
        };
        let at = block_of(from.instr);
        let Some(block) = blocks.get_mut(at.0 as usize) else { continue };
        let (set, fate) = match (from.kind, to.kind, edge.kind) {
            (NodeKind::Normal, NodeKind::Normal, kind) => {
                if from.instr == block.last {
                    block.leads.push(Lead { kind, to: Some(block_of(to.instr)) });
                }
                continue;
            }
            (NodeKind::Normal, NodeKind::Return, kind) => {
                block.leads.push(Lead { kind, to: None });
                continue;
            }
            (NodeKind::Normal, NodeKind::ExceptionalReturn(set), _) => (set, Fate::Leaves),
            (NodeKind::Exceptional(set), _, EdgeKind::Handler(row)) => {
                (set, Fate::Caught { by: block_of(to.instr), row, may: false })
            }
            (NodeKind::Exceptional(set), _, EdgeKind::MayHandler(row)) => {
                (set, Fate::Caught { by: block_of(to.instr), row, may: true })
            }
            // An edge from a normal to an exceptional node: the edges from that node have the information.
            _ => continue,
        };
        let index = *known.entry((at, set, fate)).or_insert_with(|| {
            block.raises.push(Raise { set, fate, instrs: Vec::new() });
            block.raises.len() - 1
        });
        if let Some(raise) = block.raises.get_mut(index) {
            raise.instrs.push(from.instr);
        }
    }
    for block in &mut blocks {
        block.raises.sort_by_key(|it| it.instrs.first().map(|&it| ordinal(it)));
    }
    blocks
}

/// The block that contains the instruction.
pub fn block_of<S>(blocks: &[Block<S>], instr: InstrId) -> BlockId {
    let behind = blocks.partition_point(|it| ordinal(it.first) <= ordinal(instr));
    BlockId((behind as u32).saturating_sub(1))
}

/// Appends the text of an instruction as part of its block. A jump names the block that it leads to; the targets of a
/// switch are omitted, because the block's edges show them.
pub fn push_instr_text<S>(out: &mut String, body: &Body, blocks: &[Block<S>], id: InstrId) {
    let start = out.len();
    let instr = &body.instrs[id];
    // Writing to a string cannot fail.
    let _ = bir::print::write_instr(out, body, instr);
    match *instr {
        Instr::Goto(to) | Instr::If(_, _, _, to) => {
            let label = format!("goto {}", ordinal(to));
            if out.ends_with(&label) {
                out.truncate(out.len() - label.len());
            }
            let _ = write!(out, "goto B{}", block_of(blocks, to).0);
        }
        Instr::Switch(..) | Instr::Ret(..) => {
            if let Some(at) = out.get(start..).and_then(|it| it.rfind(" {")) {
                out.truncate(start + at);
            }
        }
        _ => {}
    }
}
