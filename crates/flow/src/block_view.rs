//! The basic-block view of a control-flow graph, for display.

use bir::body::{Body, instr_id};

use crate::blocks::Blocks;
use crate::cfg::{Cfg, EdgeKind, NodeId, NodeKind, normal_node};
use crate::exceptions::ExceptionSet;

/// One basic block of the basic-block view, with the blocks that control may enter next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The ordinals of the block's instructions.
    pub instrs: std::ops::Range<u32>,
    /// The blocks that control enters from the last instruction without an exception, each with the kind of the edge.
    pub successors: Vec<(u32, EdgeKind)>,
    /// The handler blocks that exceptions raised in this block may enter, each with the kind of the edge; no pair
    /// occurs twice.
    pub handlers: Vec<(u32, EdgeKind)>,
    /// The exception sets that instructions of this block raise and that may leave the method, each once.
    pub lets_out: Vec<ExceptionSet>,
}

/// Returns the basic-block view of `cfg`, which must be the graph of `body`.
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
