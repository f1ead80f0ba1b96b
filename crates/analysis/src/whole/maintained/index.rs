//! The data that is kept with a solved program so that changes of its classes can be applied.

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
    /// The classes that name each class.
    pub(in crate::whole) mentions: Mentions,
    /// The data that editing the hierarchy needs.
    pub(in crate::whole) lists: Lists,
    /// The function objects of each class.
    pub(in crate::whole) functions: FxHashMap<ClassId, Vec<FunctionSiteId>>,
    /// The function objects whose classes were removed.
    pub(in crate::whole) gone_functions: FxHashSet<FunctionSiteId>,
    /// The constructors with nodes of their own for a class, indexed both by the class that declares the constructor
    /// and by the constructed class.
    pub(in crate::whole) constructions: FxHashMap<ClassId, Vec<(MethodId, ClassId)>>,
    /// The kinds of objects that the program makes at run time; not computed in the open world.
    pub(in crate::whole) made: RuntimeObjects,
    /// The classes whose methods code calls; only in the declared world.
    pub(in crate::whole) called: Option<CalledClasses>,
    /// The number of classes that were moved to new places in the hierarchy.
    pub(in crate::whole) moved: usize,
}

/// The changes that the solution does not reflect yet.
#[derive(Default)]
pub(in crate::whole) struct Stale {
    /// The methods whose inclusions, and those of their handlers, must be recomputed.
    pub(in crate::whole) methods: FxHashSet<MethodId>,
    /// Other nodes whose inclusions must be recomputed; none of them is in `gone`.
    pub(in crate::whole) nodes: FxHashSet<Node>,
    /// The nodes of removed code, into which nothing flows any more.
    pub(in crate::whole) gone: FxHashSet<Node>,
    /// The classes that may have become or ceased to be throwable types, or have changed as such.
    pub(in crate::whole) types: FxHashSet<ClassName>,
    /// Under `--rta`, the dispatches whose targets include those of receivers that are never instantiated.
    pub(in crate::whole) unnarrowed: FxHashSet<DispatchId>,
    /// Under `--rta`, whether the reached code must be searched again.
    pub(in crate::whole) is_unsearched: bool,
    /// The nodes whose inclusions were recomputed since distances were updated, with their previous inclusions.
    pub(in crate::whole) included: FxHashMap<NodeId, Inclusions>,
}

impl Stale {
    /// Notes a node whose inclusions must be recomputed.
    pub(in crate::whole) fn node(&mut self, node: Node) {
        self.gone.remove(&node);
        self.nodes.insert(node);
    }

    /// Notes nodes whose inclusions must be recomputed.
    pub(in crate::whole) fn nodes(&mut self, nodes: impl IntoIterator<Item = Node>) {
        nodes.into_iter().for_each(|it| self.node(it));
    }

    /// Notes a node of removed code.
    pub(in crate::whole) fn gone(&mut self, node: Node) {
        self.nodes.remove(&node);
        self.gone.insert(node);
    }
}

impl EditIndex {
    /// In the declared world, notes in the program whether its changed code calls methods of absent classes.
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
