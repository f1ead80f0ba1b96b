//! The basic-block view of a control-flow graph, for display.

use bir::body::{Body, instr_id};

use crate::blocks::Blocks;
use crate::cfg::{Cfg, EdgeKind, NodeId, NodeKind, normal_node};
use crate::exceptions::ExceptionSet;

/// A basic block for display, with the blocks that control may enter next and the exceptions that may leave the
/// method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The range of the ordinals of the block's instructions.
    pub instrs: std::ops::Range<u32>,
    /// The blocks that control may enter when the block's last instruction completes without an exception: the number
    /// of each block, and the kind of the edge that leads there.
    pub successors: Vec<(u32, EdgeKind)>,
    /// The handler blocks that exceptions raised in this block may enter: the number of each block, and the kind of
    /// the edge that leads there; without duplicates.
    pub handlers: Vec<(u32, EdgeKind)>,
    /// The sets of exceptions that instructions of this block raise and that may leave the method, without
    /// duplicates.
    pub lets_out: Vec<ExceptionSet>,
}

/// Returns the basic blocks of `body` with the edges of `cfg` between them; `cfg` must be the graph of `body`.
pub fn blocks(body: &Body, cfg: &Cfg) -> Vec<Block> {
    let blocks = Blocks::new(body);
    let of = |node: NodeId| blocks.of(instr_id(node.0)).unwrap_or_default();
    (0..blocks.len() as u32)
        .map(|block| {
            let instrs = blocks.range(block);
            let mut acc =
                Block { instrs: instrs.clone(), successors: vec![], handlers: vec![], lets_out: vec![] };
            for at in instrs.clone() {
                for edge in cfg.successors(normal_node(instr_id(at))) {
                    let Some(to) = cfg.nodes.get(edge.to.index()) else { continue };
                    match to.kind {
                        NodeKind::Normal if at + 1 == instrs.end => {
                            acc.successors.push((of(edge.to), edge.kind));
                        }
                        NodeKind::Normal | NodeKind::Return => {}
                        NodeKind::Exceptional(_) => {
                            let edges = cfg.successors(edge.to).iter();
                            push_new(&mut acc.handlers, edges.map(|it| (of(it.to), it.kind)));
                        }
                        NodeKind::ExceptionalReturn(set) => push_new(&mut acc.lets_out, [set]),
                    }
                }
            }
            acc
        })
        .collect()
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, items: impl IntoIterator<Item = T>) {
    for it in items {
        if !list.contains(&it) {
            list.push(it);
        }
    }
}
