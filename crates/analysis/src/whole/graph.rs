//! The final control-flow graph of a method, as data: CONFLEX, Definition 1, over sets of exceptions.

use std::sync::Arc;

use flow::cfg::Cfg;
use flow::universe::Part;
use program::names::MethodName;

use super::answers::{Call, Why};

/// A set of exceptions in one graph: index in [`Graph::sets`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetRef(pub u32);

/// The final graph of a method.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// Nodes and edges.
    pub cfg: Cfg<SetRef>,
    /// The sets that nodes stand for, each once.
    pub sets: Vec<RaisedSet>,
    /// Where its calls go, by instruction; empty when that was not asked.
    pub calls: Vec<Call>,
    /// The labels of each edge, `None` for ε, in profile `paper`: an edge of the definition for each. Empty otherwise:
    /// there an edge has one label, the method as the instruction names it.
    pub labels: Vec<Box<[Option<MethodName>]>>,
    /// What the method may let out: its part of the interface.
    pub throws: Propagates,
}

/// What a method may let out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Propagates {
    /// The classes and cones that are known to come out, by name.
    pub known: Arc<[Part]>,
    /// What may come out besides: what it is within, and what cannot be among it.
    pub open: Option<Within>,
}

/// A set of exceptions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaisedSet {
    /// The classes and cones that it is made of, by name; of an open set that may be anything but some, `Throwable`.
    pub parts: Arc<[Part]>,
    /// For an open set: why nobody knows it better.
    pub open: Option<Why>,
    /// For an open set: what cannot be among it.
    pub except: Arc<[Part]>,
}

impl Graph {
    /// A set of the graph.
    pub fn set(&self, it: SetRef) -> &RaisedSet {
        &self.sets[it.0 as usize]
    }
}

/// An open set from outside: what it is within, and what cannot be among it.
pub type Within = (Arc<[Part]>, Arc<[Part]>);
