//! The classes of a program, and the program with what was found out about it.

use std::sync::Arc;

use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::incremental::Incremental;
use flow::solver::{FunctionId, NodeId, Solution, System};
use flow::summary::Initialized;
use program::hierarchy::{ClassId, Hierarchy, Link, Surroundings};
use program::input::WorldKind;
use program::members::{LinkError, MethodId};
use program::outline::Ghost;
use rustc_hash::{FxHashMap, FxHashSet};

use super::dispatch::{Dispatches, FunctionSite, Open};
use super::edits::{Edits, Stale};
use super::lattice::{Exceptions, Value};
use super::members::{declared, method_id};
use super::nearness::Nearness;
use super::nodes::{Node, Nodes};
use super::ranks::Ranks;
use super::reachable::Reachable;
use super::reads::{Read, Touched, note};
use crate::names::{MethodId as MethodName, Text};
use crate::summary::{ClassSummary, CodeSummary, MethodSummary};

/// The classes of a program.
#[derive(Clone)]
pub struct Program {
    /// How they hang together.
    pub hierarchy: Arc<Hierarchy>,
    /// The code of each, by [`ClassId`].
    pub summaries: Arc<Vec<Arc<ClassSummary>>>,
    /// The classes that no JVM links, for a fault of their own supertypes.
    pub refused: Arc<FxHashSet<ClassId>>,
    /// The records that another one of the same class stands before: their number, and the number of that one.
    pub passed_over: Arc<[(usize, usize)]>,
    /// What the hierarchy was made with besides the classes.
    pub surroundings: Arc<Surroundings>,
}

/// What an answer about a whole program rests on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// Which classes may exist besides the present ones.
    pub world: WorldKind,
    /// The release of the platform, as far as that is known.
    pub release: Option<u16>,
    /// Unknown code keeps the declared `throws` of its method, and lets out unchecked exceptions besides.
    pub assume_contract: bool,
    /// Errors of linking are counted for what is absent too.
    pub link_errors: bool,
    /// The VM's asynchronous errors are counted.
    pub async_errors: bool,
}

/// What asking a loader of the program's own for a class may run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Loading {
    /// What known loaders select.
    pub(super) targets: Vec<MethodId>,
    /// What else classes select that may be loaders, for all that is known.
    pub(super) possible: Vec<MethodId>,
    pub(super) errors: Vec<LinkError>,
    /// Why there may be other loaders.
    pub(super) open: Option<Open>,
}

/// A program and the answers about it.
pub struct WholeProgram {
    /// The classes.
    pub program: Program,
    /// What the answers rest on.
    pub options: Options,
    /// The sets of exceptions.
    pub exceptions: Exceptions,
    /// Where virtual calls go.
    pub dispatches: Dispatches,
    /// The function objects.
    pub functions: Vec<FunctionSite>,
    /// What accesses initialise that were looked up.
    pub(super) initialized: FxHashMap<Initialized, Box<[Link]>>,
    /// What can be reached, when that narrows the calls.
    pub reachable: Option<Reachable>,
    /// The loaders that resolving asks, if that counts.
    pub(super) loading: Option<Loading>,
    pub(super) nodes: Nodes,
    pub(super) system: System<Value>,
    pub(super) solution: Option<Solution<Value>>,
    /// The system and its solution while bodies change; it counts before `system` and `solution`.
    pub(super) kept: Option<Incremental<Value>>,
    /// What is to become `kept`: its solution is not found yet.
    pub(super) preparing: Option<Incremental<Value>>,
    /// What was taken in that the solution does not follow yet; until it does, nobody may ask.
    pub(super) stale: Option<Box<Stale>>,
    /// The inclusions of nodes that have changed since `system` was built.
    pub(super) changed: FxHashMap<NodeId, Inclusions>,
    /// The order of classes by text.
    pub(super) ranks: Ranks,
    /// How far it is to where something arises.
    pub(super) nearness: Nearness,
    /// What changes need besides.
    pub(super) edits: Option<Box<Edits>>,
    /// What changed since somebody asked.
    pub(crate) touched: Touched,
    /// The nodes whose inclusions were found again since distances were followed, and what they were then.
    pub(super) included: FxHashMap<NodeId, Inclusions>,
}

impl Program {
    /// What is known of the code of a method.
    pub fn summary(&self, id: MethodId) -> &MethodSummary {
        let methods = self.summaries.get(id.class.index()).map(|it| &*it.methods).unwrap_or_default();
        methods.get(id.index as usize).unwrap_or(&MethodSummary::Missing)
    }

    /// The code of a method, if it was read. The code of a ghost's stub is not its code.
    pub fn code(&self, id: MethodId) -> Option<&CodeSummary> {
        match self.summary(id) {
            MethodSummary::Known(code) if self.ghost(id).is_none() => Some(code),
            MethodSummary::Known(_)
            | MethodSummary::None
            | MethodSummary::Missing
            | MethodSummary::Unread => None,
        }
    }

    /// The methods whose code was read.
    pub fn codes(&self) -> impl Iterator<Item = (MethodId, &CodeSummary)> {
        self.methods().filter_map(|it| Some((it, self.code(it)?)))
    }

    /// The methods of a class, in the order of its file.
    pub fn methods_of(&self, class: ClassId) -> impl Iterator<Item = MethodId> + use<> {
        (0..self.hierarchy.outline(class).methods.len()).map(move |it| method_id(class, it))
    }

    /// The name of a method.
    pub fn name(&self, id: MethodId) -> MethodName {
        let method = declared(&self.hierarchy, id);
        MethodName {
            class: Text(self.hierarchy.name(id.class).bytes()),
            name: Text(method.name.bytes()),
            descriptor: Text(method.descriptor.bytes()),
        }
    }

    /// All methods of the present classes, in the order of the hierarchy and of their files.
    pub fn methods(&self) -> impl Iterator<Item = MethodId> + '_ {
        self.hierarchy.ids().flat_map(|it| self.methods_of(it))
    }

    /// The promise that stands for the code of a method, if it is a ghost.
    pub fn ghost(&self, id: MethodId) -> Option<&Ghost> {
        let outline = self.hierarchy.outline(id.class);
        outline.methods.get(id.index as usize)?.ghost.as_ref().or(outline.ghost.as_ref())
    }
}

/// What a node has of itself, and what flows into it.
pub(super) type Inclusions = (Value, Vec<(NodeId, FunctionId)>);

impl WholeProgram {
    /// What a node lets out.
    pub fn value(&self, node: Node) -> Value {
        match self.nodes.find(node) {
            Some(it) => self.value_of(it),
            None => {
                always_assert::never!("a node is added before it is asked for");
                Value::open(self.exceptions.universe.all())
            }
        }
    }

    pub(super) fn value_of(&self, node: NodeId) -> Value {
        note(Read::Value(node));
        match (&self.kept, &self.solution) {
            (Some(it), _) => it.value(node),
            (None, Some(it)) => it.value(node),
            (None, None) => Value::NOTHING,
        }
    }

    /// Frees it piece by piece: with each step of the iterator one, each of which takes no longer than a few milliseconds.
    pub fn freeing(self) -> impl Iterator<Item = ()> {
        let WholeProgram { dispatches, functions, initialized, kept, preparing, changed, edits, .. } = self;
        let edits = edits.into_iter().flat_map(|it| it.mentions.freeing());
        let solvers = kept.into_iter().chain(preparing).flat_map(|it| it.freeing());
        let lists = initialized.into_iter().map(drop).chain(functions.into_iter().map(drop));
        dispatches.freeing().chain(solvers).chain(edits).chain(lists).chain(changed.into_iter().map(drop))
    }

    /// What updates changed since somebody asked.
    pub fn take_touched(&mut self) -> Touched {
        std::mem::take(&mut self.touched)
    }

    /// What a node has of itself, and what flows into it. Whoever reads it for an answer notes what of it.
    pub(super) fn inclusions(&self, node: NodeId) -> (Value, &[(NodeId, FunctionId)]) {
        if let Some((value, edges)) = self.changed.get(&node) {
            return (*value, edges);
        }
        let at = node.0 as usize;
        if at >= self.system.values.len() {
            return (Value::NOTHING, &[]);
        }
        let edges = &self.system.edges[self.system.starts[at] as usize..self.system.starts[at + 1] as usize];
        (self.system.values[at], edges)
    }

    /// What a method lets out.
    pub fn lets_out(&self, id: MethodId) -> Value {
        self.value(Node::Method(id))
    }
}

/// `java/lang/Thread.run()V`: what a thread that starts runs.
pub(super) fn thread_run() -> MethodRef {
    MethodRef::new(ClassName::new(b"java/lang/Thread"), Name::new(b"run"), Descriptor::new(b"()V"))
}

/// `java/lang/ClassLoader.loadClass(String)`: what the VM calls.
pub(super) fn load_class() -> MethodRef {
    let class = ClassName::new(b"java/lang/ClassLoader");
    let descriptor = Descriptor::new(b"(Ljava/lang/String;)Ljava/lang/Class;");
    MethodRef::new(class, Name::new(b"loadClass"), descriptor)
}
