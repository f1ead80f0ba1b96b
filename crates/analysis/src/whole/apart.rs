//! Answers that set apart what calls on unknown objects let out: step 2 of contexts and anchors (`semantics.md` §3.10).
//!
//! Most methods call methods of objects that are not known to them: `Iterator.next()`, `Object.toString()`. All that
//! any receiver of such a call may let out is no useful answer. Here an answer has the exceptions that do not come by way
//! of such calls, and *anchors*, which name the calls (anchored exceptions: van Dooren and Steegmans, "Combining the
//! robustness of checked exceptions with the flexibility of unchecked exceptions using anchored exception declarations",
//! OOPSLA 2005). An anchor consists of a node of the system of inclusions that is *cut* and a transfer function: the
//! handlers between the call and the method filter what the call lets out.

use std::sync::Arc;

use flow::solver::{FunctionId, NodeId, Solution, System};

use super::lattice::Value;
use super::nearness::Nearness;

/// The answers about a program that set cut nodes apart.
pub(super) struct Apart {
    /// The system of inclusions without the inclusions of cut nodes.
    pub(super) system: System<Value>,
    pub(super) solution: Solution<Value>,
    pub(super) anchors: Solution<AnchorsId>,
    /// The sets of anchors, by [`AnchorsId`].
    pub(super) sets: Vec<Anchors>,
    /// Whether the anchors of a node were found, by node id.
    pub(super) has_anchors: Vec<bool>,
    /// The distances in the smaller system to the places where exceptions arise.
    pub(super) nearness: Nearness,
}

/// A set of anchors: cut nodes in ascending order, each once, with the transfer function for what it lets out.
pub(super) type Anchors = Arc<[(NodeId, FunctionId)]>;

/// The number of a set of anchors. Equal sets have the same number; the empty set has number 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct AnchorsId(pub(super) u32);

/// The empty set of anchors.
pub(super) const NO_ANCHORS: AnchorsId = AnchorsId(0);

impl Apart {
    /// Returns the exceptions that a node lets out, without those that come by way of its anchors.
    pub(super) fn value(&self, node: NodeId) -> Value {
        self.solution.value(node)
    }

    /// Returns the anchors of a node, in ascending order of the cut nodes: each cut node with the transfer function for
    /// what it lets out. Returns `None` if the anchors of the node were not searched for.
    pub(super) fn anchors(&self, node: NodeId) -> Option<&[(NodeId, FunctionId)]> {
        let is_found = self.has_anchors.get(node.index()).is_some_and(|it| *it);
        is_found.then(|| &*self.sets[self.anchors.value(node).0 as usize])
    }

    /// Returns the inclusions of a node that are not cut, like those of the whole system.
    pub(super) fn inclusions(&self, node: NodeId) -> (Value, &[(NodeId, FunctionId)]) {
        (self.system.values[node.index()], self.system.edges_of(node))
    }
}
