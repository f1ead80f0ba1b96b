//! The final control-flow graph of a method (CONFLEX, Definition 1), over sets of exceptions, as plain data.

use std::sync::Arc;

use flow::cfg::Cfg;
use flow::universe::Part;
use program::names::MethodName;

use super::answers::{Call, Why};

/// The index of a set of exceptions in [`Graph::sets`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetRef(pub u32);

impl SetRef {
    /// The index that this id stands for.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The id of an index, which must fit into 32 bits.
    pub(crate) fn from_index(index: usize) -> Self {
        SetRef(index as u32)
    }
}

/// The final graph of a method.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// The nodes and edges.
    pub cfg: Cfg<SetRef>,
    /// The distinct sets of exceptions at the nodes.
    pub sets: Vec<RaisedSet>,
    /// The calls in the order of instructions; empty if the caller did not request them.
    pub calls: Vec<Call>,
    /// In profile `paper`, the labels of each edge, with `None` for ε: where the paper has one edge for each label,
    /// the graph has one edge with several labels. Empty in profile `jvm`, where an edge has one label, the method
    /// that the instruction names.
    pub labels: Vec<Box<[Option<MethodName>]>>,
    /// The exceptions that the method may let out: the method's part of the interface of the graphs.
    pub throws: Propagates,
}

/// The exceptions that a method may let out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Propagates {
    /// The classes and cones that are known to be let out, by name.
    pub known: Arc<[Part]>,
    /// The bounds of the open part (exceptions that may also be let out); `None` if there is no open part.
    pub open: Option<Within>,
}

/// A set of exceptions at a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaisedSet {
    /// The classes and cones that make up the set, by name. `Throwable` in an open set means that it may contain
    /// everything except [`RaisedSet::except`].
    pub parts: Arc<[Part]>,
    /// The reason why the set is open; `None` for a set that is known.
    pub open: Option<Why>,
    /// The classes and cones that cannot be in an open set; empty if `parts` alone describes it.
    pub except: Arc<[Part]>,
}

impl Graph {
    /// Returns the set of exceptions with this index.
    pub fn set(&self, it: SetRef) -> &RaisedSet {
        &self.sets[it.index()]
    }
}

/// The bounds of an open set: the classes and cones that contain the set, and those that cannot be in the set.
pub type Within = (Arc<[Part]>, Arc<[Part]>);
