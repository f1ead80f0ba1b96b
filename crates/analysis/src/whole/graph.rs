//! The final control-flow graph of a method, as data: CONFLEX, Definition 1, over sets of exceptions.

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
    /// The sets of exceptions at the nodes, each once.
    pub sets: Vec<RaisedSet>,
    /// The calls in the order of instructions; empty if they were not requested.
    pub calls: Vec<Call>,
    /// In profile `paper`, the labels of each edge, with `None` for ε: the definition has one edge for each label.
    /// Empty in other profiles, where an edge has one label, the method as the instruction names it.
    pub labels: Vec<Box<[Option<MethodName>]>>,
    /// The exceptions that the method may let out: its part of the interface.
    pub throws: Propagates,
}

/// The exceptions that a method may let out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Propagates {
    /// The classes and cones that are known to come out, by name.
    pub known: Arc<[Part]>,
    /// The bounds of the open part: exceptions that may also come out.
    pub open: Option<Within>,
}

/// A set of exceptions at a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaisedSet {
    /// The classes and cones that make up the set, by name; `Throwable` for an open set that may be anything except
    /// [`RaisedSet::except`].
    pub parts: Arc<[Part]>,
    /// For an open set, why it is open.
    pub open: Option<Why>,
    /// For an open set, the classes and cones that cannot be in it.
    pub except: Arc<[Part]>,
}

impl Graph {
    /// Returns a set of the graph.
    pub fn set(&self, it: SetRef) -> &RaisedSet {
        &self.sets[it.index()]
    }
}

/// The bounds of an open set: the classes and cones that contain it, and those that cannot be in it.
pub type Within = (Arc<[Part]>, Arc<[Part]>);
