//! The data that is stored with a solved program so that changes of its classes can be applied.

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

/// The indices from the parts of a program that may change to the parts that depend on them.
#[derive(Default)]
pub(in crate::whole) struct EditIndex {
    /// For each class, the classes that name it.
    pub(in crate::whole) mentions: Mentions,
    /// The tables that are needed to edit the hierarchy.
    pub(in crate::whole) lists: Lists,
    /// The function objects that the code of each class makes.
    pub(in crate::whole) functions: FxHashMap<ClassId, Vec<FunctionSiteId>>,
    /// The function objects whose making classes were removed.
    pub(in crate::whole) gone_functions: FxHashSet<FunctionSiteId>,
    /// The pairs of a constructor and a constructed class that have a node of their own. A pair is indexed both by
    /// the class that declares the constructor and by the constructed class.
    pub(in crate::whole) constructions: FxHashMap<ClassId, Vec<(MethodId, ClassId)>>,
    /// The kinds of objects that the program makes at run time; empty in the open world, where they are not computed.
    pub(in crate::whole) made: RuntimeObjects,
    /// The classes whose methods the code calls; `None` except in the declared world.
    pub(in crate::whole) called: Option<CalledClasses>,
    /// The number of classes that were moved to new positions in the hierarchy since the program was built.
    pub(in crate::whole) moved: usize,
}

/// The changes of the program that its solution does not reflect yet.
#[derive(Default)]
pub(in crate::whole) struct Stale {
    /// The methods whose inclusions must be recomputed, together with the inclusions of their handlers.
    pub(in crate::whole) methods: FxHashSet<MethodId>,
    /// Other nodes whose inclusions must be recomputed. No node is both here and in `gone`.
    pub(in crate::whole) nodes: FxHashSet<Node>,
    /// The nodes of removed code, which will have no inclusions.
    pub(in crate::whole) gone: FxHashSet<Node>,
    /// The classes that may have become or ceased to be throwable types, and the throwable types that may have
    /// changed.
    pub(in crate::whole) types: FxHashSet<ClassName>,
    /// Under `--rta`, the dispatches whose targets still include those selected by receivers that are never
    /// instantiated.
    pub(in crate::whole) unnarrowed: FxHashSet<DispatchId>,
    /// Under `--rta`, whether the reached code must be recomputed.
    pub(in crate::whole) is_unsearched: bool,
    /// The nodes whose inclusions were recomputed since the distances were updated, with their previous inclusions.
    pub(in crate::whole) included: FxHashMap<NodeId, Inclusions>,
}

impl Stale {
    /// Marks a node whose inclusions must be recomputed.
    pub(in crate::whole) fn node(&mut self, node: Node) {
        self.gone.remove(&node);
        self.nodes.insert(node);
    }

    /// Marks nodes whose inclusions must be recomputed.
    pub(in crate::whole) fn nodes(&mut self, nodes: impl IntoIterator<Item = Node>) {
        nodes.into_iter().for_each(|it| self.node(it));
    }

    /// Marks a node of removed code.
    pub(in crate::whole) fn gone(&mut self, node: Node) {
        self.nodes.remove(&node);
        self.gone.insert(node);
    }
}

impl EditIndex {
    /// In the declared world, updates whether the code of the program calls methods of absent classes. `changes` are
    /// the changes of classes, which `classes` does not contain yet.
    pub(in crate::whole) fn follow_calls(&mut self, classes: &mut ClassTable, changes: &[ClassChange]) {
        let Some(called) = &mut self.called else { return };
        called.change(&classes.hierarchy, changes);
        if classes.surroundings.options.names_outside != called.any_absent() {
            Arc::make_mut(&mut classes.surroundings).options.names_outside = called.any_absent();
        }
    }

    /// Records that a constructor has a node of its own for a constructed class.
    pub(in crate::whole) fn construction(&mut self, constructor: MethodId, class: ClassId) {
        self.constructions.entry(constructor.class).or_default().push((constructor, class));
        if class != constructor.class {
            self.constructions.entry(class).or_default().push((constructor, class));
        }
    }
}
