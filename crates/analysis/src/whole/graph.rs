//! The final control-flow graph of a method (CONFLEX, Definition 1), over sets of exceptions, as plain data.

use std::sync::Arc;

use flow::cfg::Cfg;
use flow::universe::Part;
use program::names::MethodName;

use super::answers::{Call, Why};

/// A reference to a set of exceptions: the index of the set in [`Graph::sets`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetRef(pub u32);

impl SetRef {
    /// Returns the index of the set in [`Graph::sets`].
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Creates a reference to the set with this index in [`Graph::sets`]. The index must fit into 32 bits.
    pub(crate) fn from_index(index: usize) -> Self {
        SetRef(index as u32)
    }
}

/// The final control-flow graph of a method, with the exceptions at its nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// The nodes and edges of the graph. Nodes refer to sets of exceptions in `sets`.
    pub cfg: Cfg<SetRef>,
    /// The distinct sets of exceptions to which the nodes refer.
    pub sets: Vec<RaisedSet>,
    /// The calls in the code of the method, in the order of instructions; empty if calls were not requested with the
    /// graph.
    pub calls: Vec<Call>,
    /// In profile `paper`, the labels of each edge, with `None` for the label ε. Where the paper has several edges
    /// that differ only in their labels, the graph has one edge with several labels. Empty in profile `jvm`, where
    /// each edge has one label: the method that the instruction names.
    pub labels: Vec<Box<[Option<MethodName>]>>,
    /// The exceptions that the method may let out, as the interface of the graphs lists them.
    pub throws: Propagates,
}

/// The exceptions that a method may let out: a known and an open part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Propagates {
    /// The classes and cones of the exceptions that are known to be let out, sorted by name.
    pub known: Arc<[Part]>,
    /// The bounds of the open part, that is, of the exceptions that unknown code may let out in addition; `None` if
    /// there is no open part.
    pub open: Option<Within>,
}

/// A set of exceptions at a node of a control-flow graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaisedSet {
    /// The classes and cones that make up the set, sorted by name. In an open set, `Throwable` stands for every
    /// exception except those of [`RaisedSet::except`].
    pub parts: Arc<[Part]>,
    /// The reason why the set is open; `None` if its exceptions are known.
    pub open: Option<Why>,
    /// The classes and cones whose exceptions cannot be in an open set; empty if `parts` alone describes the set.
    pub except: Arc<[Part]>,
}

impl Graph {
    /// Returns the set of exceptions to which `it` refers.
    pub fn set(&self, it: SetRef) -> &RaisedSet {
        &self.sets[it.index()]
    }
}

/// The bounds of an open set: first the classes and cones that contain the set, then those whose exceptions cannot be
/// in it.
pub type Within = (Arc<[Part]>, Arc<[Part]>);
