//! The numbering of the nodes in a program's system of inclusions.

use flow::fuel::{Cancelled, Fuel};
use flow::solver::NodeId;
use program::hierarchy::ClassId;
use program::members::MethodId;
use rustc_hash::FxHashMap;

use super::sites::{DispatchId, Frame, FunctionSiteId, Node};

/// The numbering of the nodes in the system of inclusions. When the program is first solved, its nodes are numbered
/// in the order of their kinds: methods, initialisers, function objects, dispatches, handlers, the node for loading.
/// Nodes of contexts, and nodes that are added later, get the next numbers. The number of a node never changes, even if the
/// code of the node is removed.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    /// For each class, the number of the node of its first method. The last entry is the total number of methods.
    methods: Vec<u32>,
    n_classes: usize,
    n_functions: usize,
    n_dispatches: usize,
    handlers: Vec<(MethodId, u32)>,
    /// For each method with rethrowing handlers, the index in `handlers` of the first of its handlers.
    first_handler: FxHashMap<MethodId, usize>,
    has_loading: bool,
    later: Vec<Node>,
    /// For each node in the list `later`, its index in that list.
    later_place: FxHashMap<Node, usize>,
}

/// Describes which nodes a program has when it is first solved, apart from those of classes, methods and handlers.
pub(super) struct Counts {
    /// The number of function objects.
    pub(super) functions: usize,
    /// The number of dispatches.
    pub(super) dispatches: usize,
    /// Whether there is a node for class loaders, because class loaders of the program may be called.
    pub(super) has_loading: bool,
}

impl Nodes {
    /// Numbers the nodes of a program. `methods` yields the number of methods of each class. `rethrowing` yields
    /// those methods that have handlers which throw the caught exception again, each with the number of these
    /// handlers.
    ///
    /// # Errors
    /// When the work is cancelled.
    pub(super) fn new(
        methods: impl Iterator<Item = usize>,
        rethrowing: impl Iterator<Item = (MethodId, usize)>,
        counts: Counts,
        fuel: &mut Fuel<'_>,
    ) -> Result<Self, Cancelled> {
        let Counts { functions, dispatches, has_loading } = counts;
        let mut acc =
            Nodes { n_functions: functions, n_dispatches: dispatches, has_loading, ..Nodes::default() };
        let mut next = 0;
        for n in methods {
            acc.methods.push(next);
            next += n as u32;
            acc.n_classes += 1;
        }
        acc.methods.push(next);
        for (id, n) in rethrowing {
            fuel.spend(1)?;
            if n > 0 {
                acc.first_handler.insert(id, acc.handlers.len());
                acc.handlers.extend((0..n as u32).map(|it| (id, it)));
            }
        }
        Ok(acc)
    }

    fn n_methods(&self) -> usize {
        self.methods.last().map_or(0, |it| *it as usize)
    }

    /// Returns the number of nodes with which the program was first solved, without nodes that were added later.
    fn n_first(&self) -> usize {
        let fixed = self.n_methods() + self.n_classes + self.n_functions + self.n_dispatches;
        fixed + self.handlers.len() + usize::from(self.has_loading)
    }

    /// Returns the number of all nodes, including nodes that were added later.
    pub(super) fn len(&self) -> usize {
        self.n_first() + self.later.len()
    }

    /// Returns the id of a node. The node must have been added.
    pub(super) fn id(&self, node: Node) -> NodeId {
        self.find(node).unwrap_or_else(|| {
            always_assert::never!("the node was never added to the table of nodes, so it has no id");
            // A method lets out what it lets out in any context.
            let general = Frame::of_node(node).and_then(|it| self.find(Node::Method(it.id)));
            general.unwrap_or(NodeId::from_index(0))
        })
    }

    /// Gives a node the next number, unless the node has a number already. Returns whether the node is new.
    pub(super) fn add(&mut self, node: Node) -> bool {
        let is_new = self.find(node).is_none();
        if is_new {
            self.later_place.insert(node, self.later.len());
            self.later.push(node);
        }
        is_new
    }

    /// Returns the id of a node; `None` if the node was never added.
    pub(super) fn find(&self, node: Node) -> Option<NodeId> {
        let later = || Some(self.n_first() + self.later_place.get(&node)?);
        self.first(node).or_else(later).map(NodeId::from_index)
    }

    fn first(&self, node: Node) -> Option<usize> {
        let initializers = self.n_methods();
        let functions = initializers + self.n_classes;
        let dispatches = functions + self.n_functions;
        let handlers = dispatches + self.n_dispatches;
        let loading = handlers + self.handlers.len();
        match node {
            Node::Loading => self.has_loading.then_some(loading),
            Node::Context(..) | Node::ContextHandler(..) => None,
            Node::Method(it) => {
                let first = self.methods.get(it.class.index())? + it.index;
                (first < *self.methods.get(it.class.index() + 1)?).then_some(first as usize)
            }
            Node::Initializer(it) => (it.index() < self.n_classes).then_some(initializers + it.index()),
            Node::Glue(it) => (it.index() < self.n_functions).then_some(functions + it.index()),
            Node::Dispatch(it) => (it.index() < self.n_dispatches).then_some(dispatches + it.index()),
            Node::Handler(method, it) => {
                let at = self.first_handler.get(&method)? + it as usize;
                (self.handlers.get(at) == Some(&(method, it))).then_some(handlers + at)
            }
        }
    }

    /// Returns the node that has this id.
    pub(super) fn node(&self, id: NodeId) -> Node {
        let mut at = id.index();
        if let Some(it) = at.checked_sub(self.n_first()).and_then(|it| self.later.get(it)) {
            return *it;
        }
        if at < self.n_methods() {
            let class = self.methods.partition_point(|it| *it as usize <= at) - 1;
            return Node::Method(MethodId::new(
                ClassId::from_index(class),
                at - self.methods[class] as usize,
            ));
        }
        at -= self.n_methods();
        if at < self.n_classes {
            return Node::Initializer(ClassId::from_index(at));
        }
        at -= self.n_classes;
        if at < self.n_functions {
            return Node::Glue(FunctionSiteId::from_index(at));
        }
        at -= self.n_functions;
        if at < self.n_dispatches {
            return Node::Dispatch(DispatchId::from_index(at));
        }
        at -= self.n_dispatches;
        if let Some(&(method, number)) = self.handlers.get(at) {
            return Node::Handler(method, number);
        }
        Node::Loading
    }

    /// Returns the nodes of the contexts in which methods are analysed.
    pub(super) fn contexts(&self) -> impl Iterator<Item = Node> + '_ {
        self.later.iter().copied().filter(|it| matches!(it, Node::Context(..)))
    }
}
