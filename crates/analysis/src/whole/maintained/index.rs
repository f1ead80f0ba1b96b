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

/// The data for finding the parts of a program that depend on a changed class.
#[derive(Default)]
pub(in crate::whole) struct EditIndex {
    /// For each class, the classes whose code names it.
    pub(in crate::whole) mentions: Mentions,
    /// The tables with which the class hierarchy is edited instead of rebuilt.
    pub(in crate::whole) lists: Lists,
    /// For each class, the function objects that its code makes.
    pub(in crate::whole) functions: FxHashMap<ClassId, Vec<FunctionSiteId>>,
    /// The function objects whose sites are in removed code.
    pub(in crate::whole) gone_functions: FxHashSet<FunctionSiteId>,
    /// The pairs of a constructor and a constructed class that have a separate node in the system of inclusions. Each
    /// pair is listed both for the class that declares the constructor and for the constructed class.
    pub(in crate::whole) constructions: FxHashMap<ClassId, Vec<(MethodId, ClassId)>>,
    /// The kinds of objects that the program creates and whose classes exist only at run time; empty in the open
    /// world, where these kinds are not computed.
    pub(in crate::whole) made: RuntimeObjects,
    /// The classes whose methods the code of the program calls; `None` except in the declared world.
    pub(in crate::whole) called: Option<CalledClasses>,
    /// The number of times that a class was moved to a new position in the hierarchy since the program was built.
    pub(in crate::whole) moved: usize,
}

/// The parts of a program that must be recomputed before its solution reflects all changes of classes.
#[derive(Default)]
pub(in crate::whole) struct Stale {
    /// The methods whose inclusions (the exceptions that they raise or include) must be recomputed, together with the
    /// inclusions of their rethrowing handlers.
    pub(in crate::whole) methods: FxHashSet<MethodId>,
    /// Further nodes whose inclusions must be recomputed. A node is never both in this set and in `gone`.
    pub(in crate::whole) nodes: FxHashSet<Node>,
    /// The nodes of removed code. The next update of the solution removes their inclusions.
    pub(in crate::whole) gone: FxHashSet<Node>,
    /// The classes that may have become or ceased to be throwable types, and the throwable types of which the
    /// superclass, or the possibility of unknown subclasses, may have changed.
    pub(in crate::whole) types: FxHashSet<ClassName>,
    /// Under `--rta`, the dispatches whose targets must be restricted again to those that instantiated receivers
    /// select.
    pub(in crate::whole) unnarrowed: FxHashSet<DispatchId>,
    /// Under `--rta` and `--entry`, whether the set of reached code must be recomputed.
    pub(in crate::whole) is_unsearched: bool,
    /// For each node whose inclusions were recomputed since the nodes' distances to places where exceptions of
    /// unknown code arise were last updated, the previous inclusions of the node.
    pub(in crate::whole) included: FxHashMap<NodeId, Inclusions>,
}

impl Stale {
    /// Marks a node as stale: its inclusions must be recomputed.
    pub(in crate::whole) fn node(&mut self, node: Node) {
        self.gone.remove(&node);
        self.nodes.insert(node);
    }

    /// Marks these nodes as stale: their inclusions must be recomputed.
    pub(in crate::whole) fn nodes(&mut self, nodes: impl IntoIterator<Item = Node>) {
        nodes.into_iter().for_each(|it| self.node(it));
    }

    /// Marks a node as gone, because its code was removed.
    pub(in crate::whole) fn gone(&mut self, node: Node) {
        self.nodes.remove(&node);
        self.gone.insert(node);
    }
}

impl EditIndex {
    /// In the declared world, updates the option of the hierarchy that tells whether the program calls methods of
    /// absent classes. `changes` are changes of classes that are not applied to `classes` yet.
    pub(in crate::whole) fn follow_calls(&mut self, classes: &mut ClassTable, changes: &[ClassChange]) {
        let Some(called) = &mut self.called else { return };
        called.change(&classes.hierarchy, changes);
        if classes.surroundings.options.names_outside != called.any_absent() {
            Arc::make_mut(&mut classes.surroundings).options.names_outside = called.any_absent();
        }
    }

    /// Records that a constructor has a separate node for the construction of objects of exactly this class.
    pub(in crate::whole) fn construction(&mut self, constructor: MethodId, class: ClassId) {
        self.constructions.entry(constructor.class).or_default().push((constructor, class));
        if class != constructor.class {
            self.constructions.entry(class).or_default().push((constructor, class));
        }
    }
}
