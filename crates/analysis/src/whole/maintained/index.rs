//! What is kept of a solved program so that changes of its classes can be taken in: data.

use std::sync::Arc;

use classfile::names::ClassName;
use flow::solver::NodeId;
use program::hierarchy::ClassId;
use program::hierarchy::edited::Lists;
use program::members::MethodId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::called::CalledClasses;
use super::mentions::Mentions;
use crate::whole::implicit::RuntimeObjects;
use crate::whole::lattice::Inclusions;
use crate::whole::record::ClassChange;
use crate::whole::sites::{DispatchId, FunctionSiteId, Node};
use crate::whole::tables::ClassTable;

/// Indices from what may change to what depends on it.
#[derive(Default)]
pub(in crate::whole) struct EditIndex {
    /// Which classes name which others.
    pub(in crate::whole) mentions: Mentions,
    /// What editing the hierarchy needs.
    pub(in crate::whole) lists: Lists,
    /// The function objects of each class.
    pub(in crate::whole) functions: FxHashMap<ClassId, Vec<FunctionSiteId>>,
    /// The function objects whose classes are gone.
    pub(in crate::whole) gone_functions: FxHashSet<FunctionSiteId>,
    /// The constructors with nodes of their own for a class, by the class that declares the constructor and by that class.
    pub(in crate::whole) constructions: FxHashMap<ClassId, Vec<(MethodId, ClassId)>>,
    /// The objects that the program makes at run time; in the open world nobody looks for them.
    pub(in crate::whole) made: RuntimeObjects,
    /// The classes that code calls; in the declared world only.
    pub(in crate::whole) called: Option<CalledClasses>,
    /// How many classes took new places.
    pub(in crate::whole) moved: usize,
}

/// What the solution does not follow yet.
#[derive(Default)]
pub(in crate::whole) struct Stale {
    /// The methods whose inclusions are to be found again, with those of their handlers.
    pub(in crate::whole) methods: FxHashSet<MethodId>,
    /// Other nodes whose inclusions are to be found again; none of them is in `gone`.
    pub(in crate::whole) nodes: FxHashSet<Node>,
    /// The nodes of what is gone: nothing flows into them any more.
    pub(in crate::whole) gone: FxHashSet<Node>,
    /// The classes that may have become throwable types, or have changed as such.
    pub(in crate::whole) types: FxHashSet<ClassName>,
    /// Under `--rta`, the dispatches that have the targets of all receivers, also of those that nobody makes.
    pub(in crate::whole) unnarrowed: FxHashSet<DispatchId>,
    /// Under `--rta`, whether what is reached is to be searched again.
    pub(in crate::whole) is_unsearched: bool,
    /// The nodes whose inclusions were found again since distances were brought up to date, with the inclusions before.
    pub(in crate::whole) included: FxHashMap<NodeId, Inclusions>,
}

impl Stale {
    /// Notes a node whose inclusions are to be found again.
    pub(in crate::whole) fn node(&mut self, node: Node) {
        self.gone.remove(&node);
        self.nodes.insert(node);
    }

    /// Notes nodes whose inclusions are to be found again.
    pub(in crate::whole) fn nodes(&mut self, nodes: impl IntoIterator<Item = Node>) {
        nodes.into_iter().for_each(|it| self.node(it));
    }

    /// Notes a node of something that is gone.
    pub(in crate::whole) fn gone(&mut self, node: Node) {
        self.nodes.remove(&node);
        self.gone.insert(node);
    }
}

impl EditIndex {
    /// In the declared world, notes in the program whether its code calls methods of absent classes after these changes.
    pub(in crate::whole) fn follow_calls(&mut self, classes: &mut ClassTable, changes: &[ClassChange]) {
        let Some(called) = &mut self.called else { return };
        called.change(&classes.hierarchy, changes);
        if classes.surroundings.options.names_outside != called.any_absent() {
            Arc::make_mut(&mut classes.surroundings).options.names_outside = called.any_absent();
        }
    }

    /// Notes that a constructor has a node of its own for a class.
    pub(in crate::whole) fn construction(&mut self, constructor: MethodId, class: ClassId) {
        self.constructions.entry(constructor.class).or_default().push((constructor, class));
        if class != constructor.class {
            self.constructions.entry(class).or_default().push((constructor, class));
        }
    }
}
