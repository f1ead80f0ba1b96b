//! What is kept of a solved program so that changes of its classes can be taken in: data. [`super::update`] does it.

pub(super) mod called;
pub(super) mod mentions;

use std::sync::Arc;

use classfile::names::ClassName;
use program::hierarchy::ClassId;
use program::hierarchy::edited::Lists;
use program::input::Role;
use program::members::MethodId;
use program::outline::Outline;
use rustc_hash::{FxHashMap, FxHashSet};

use self::called::CalledClasses;
use self::mentions::Mentions;
use super::ids::{DispatchId, FunctionSiteId};
use super::nodes::Node;
use crate::summary::ClassSummary;

/// When more classes change at once, all is made anew. Of nearly so many, one library, it took three to five times as long.
pub const MAX_CHANGED: usize = 1 << 11;

/// What became of one class.
#[derive(Clone, Debug)]
pub struct ClassChange {
    /// The class as it was; none if it was not there.
    pub class: Option<ClassId>,
    /// What it is now; none if it is gone.
    pub now: Option<(Arc<Outline>, Arc<ClassSummary>, Role)>,
}

/// Which kinds of objects a program makes at run time whose classes no class file tells of ([`super::proxies`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Made {
    pub(super) proxies: bool,
    pub(super) around_handles: bool,
}

/// What is kept of a program for its edits besides the solution.
#[derive(Default)]
pub(super) struct Edits {
    pub(super) mentions: Mentions,
    /// What editing the hierarchy needs.
    pub(super) lists: Lists,
    /// The function objects of each class.
    pub(super) functions: FxHashMap<ClassId, Vec<FunctionSiteId>>,
    /// Those that are gone with their classes.
    pub(super) gone_functions: FxHashSet<FunctionSiteId>,
    /// The constructors that have nodes of their own for a class, by their own class and by that one.
    pub(super) constructions: FxHashMap<ClassId, Vec<(MethodId, ClassId)>>,
    /// What the program makes at run time, where that is looked for.
    pub(super) made: Made,
    /// The classes that code calls; only in the `declared` world.
    pub(super) called: Option<CalledClasses>,
    /// How many classes took new places.
    pub(super) moved: usize,
}

/// What is to be found again before the solution is one of the program as it is now.
#[derive(Default)]
pub(super) struct Stale {
    /// Methods of which all inclusions are to be found again, those of their handlers included.
    pub(super) methods: FxHashSet<MethodId>,
    /// Nodes that are no method's and no handler's; none of them is in `gone`.
    pub(super) nodes: FxHashSet<Node>,
    /// Those of what is gone, into which nothing flows any more.
    pub(super) gone: FxHashSet<Node>,
    /// Classes that may be thrown, or that may be otherwise.
    pub(super) types: FxHashSet<ClassName>,
    /// Dispatches that have all targets that receivers may select, though only those count that are made.
    pub(super) unnarrowed: FxHashSet<DispatchId>,
    /// Whether it is to be found again what is reached.
    pub(super) is_unsearched: bool,
}

impl Stale {
    /// The inclusions of a node are to be found again.
    pub(super) fn node(&mut self, node: Node) {
        self.gone.remove(&node);
        self.nodes.insert(node);
    }

    /// The same of some.
    pub(super) fn nodes(&mut self, nodes: impl IntoIterator<Item = Node>) {
        nodes.into_iter().for_each(|it| self.node(it));
    }

    /// Nothing flows into this one any more, or into what it stood for until another update.
    pub(super) fn gone(&mut self, node: Node) {
        self.nodes.remove(&node);
        self.gone.insert(node);
    }
}

impl Edits {
    /// Notes that a constructor has a node of its own for a class.
    pub(super) fn construction(&mut self, constructor: MethodId, class: ClassId) {
        self.constructions.entry(constructor.class).or_default().push((constructor, class));
        if class != constructor.class {
            self.constructions.entry(class).or_default().push((constructor, class));
        }
    }
}
