//! The basic-block view of a control-flow graph, for display.

use bir::body::{Body, instr_id};

use crate::blocks::Blocks;
use crate::cfg::{Cfg, EdgeKind, NodeId, NodeKind, normal_node};
use crate::exceptions::ExceptionSet;

/// One basic block of the view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Ordinals of the block's instructions.
    pub instrs: std::ops::Range<u32>,
    /// The blocks to which control goes on from the last instruction, each with the kind of the edge.
    pub successors: Vec<(u32, EdgeKind)>,
    /// The handler blocks that exceptions raised in this block enter, each pair of block and edge kind once.
    pub handlers: Vec<(u32, EdgeKind)>,
    /// The exception sets that leave the method from this block, each once.
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
