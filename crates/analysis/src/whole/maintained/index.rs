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
use crate::whole::sites::{DispatchId, Exact, FunctionSite, FunctionSiteId, Key, Node};
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
    /// The contexts in which methods are analysed. Each is listed for the class that declares the method, for the classes of
    /// its values, and for the classes whose code makes the function objects among its values.
    pub(in crate::whole) contexts: FxHashMap<ClassId, Vec<(MethodId, Key)>>,
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

    /// Records a context in which a method is analysed. `functions` are the function objects of the program.
    pub(in crate::whole) fn context(&mut self, functions: &[FunctionSite], id: MethodId, key: Key) {
        let classes = classes_of(functions, id, key);
        classes.into_iter().for_each(|it| self.contexts.entry(it).or_default().push((id, key)));
    }

    /// Removes the contexts that are listed for a class, and returns them.
    pub(in crate::whole) fn remove_contexts(
        &mut self,
        functions: &[FunctionSite],
        class: ClassId,
    ) -> Vec<(MethodId, Key)> {
        let gone = self.contexts.remove(&class).unwrap_or_default();
        for &(id, key) in &gone {
            for other in classes_of(functions, id, key) {
                if let Some(it) = self.contexts.get_mut(&other) {
                    it.retain(|it| *it != (id, key));
                }
            }
        }
        gone
    }

    /// Returns the nodes of the contexts that are listed for a class.
    pub(in crate::whole) fn contexts_of(&self, class: ClassId) -> impl Iterator<Item = Node> + '_ {
        let contexts = self.contexts.get(&class).into_iter().flatten();
        contexts.map(|it| Node::Context(it.0, it.1))
    }
}

/// Returns the classes for which a context is listed in [`EditIndex::contexts`].
fn classes_of(functions: &[FunctionSite], id: MethodId, key: Key) -> Vec<ClassId> {
    let of_value = |(_, it)| match it {
        Exact::Class(it) => Some(it),
        Exact::Function(it) => functions.get(it.index()).map(|it| it.owner.class),
    };
    let mut classes: Vec<ClassId> = key.values().filter_map(of_value).chain([id.class]).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}
