//! The partition of the nodes into components, and the data of each component.

use crate::components::ComponentId;
use crate::solver::NodeId;

use super::counts::Counts;
use super::history::History;

const NONE: NodeId = NodeId(u32::MAX);

/// A strongly connected component: nodes that reach each other along edges with the identity as function, and so have
/// the same value.
#[derive(Clone, Debug)]
pub(super) struct Component<V> {
    /// The component's value after each round of the fixpoint iteration.
    pub(super) history: History<V>,
    /// The counters of the values that flow into the component; `None` if the component has few incoming edges.
    pub(super) counts: Option<Box<Counts<V>>>,
    /// The number of edges that lead into nodes of the component.
    pub(super) n_edges: usize,
    /// Whether the component is in the solver's list of components whose value may have changed since the last call
    /// of `take_changed`.
    pub(super) touched: bool,
    first: NodeId,
}

/// The component to which a node belongs, and the neighbours of the node in the component's list of nodes.
#[derive(Clone, Copy, Debug)]
struct Place {
    component: ComponentId,
    before: NodeId,
    after: NodeId,
}

/// The partition of all nodes into strongly connected components, with the data of each component.
#[derive(Clone, Debug)]
pub(super) struct Parts<V> {
    places: Vec<Place>,
    all: Vec<Component<V>>,
}

impl<V> Parts<V> {
    /// Frees the memory of the components in small steps, one per item of the iterator, so that the caller can stop
    /// in between.
    pub(super) fn freeing(self) -> impl Iterator<Item = ()> {
        self.all.into_iter().map(drop)
    }
}

impl<V: Copy + Eq> Parts<V> {
    /// Returns a partition without nodes.
    pub(super) fn new() -> Self {
        Parts { places: Vec::new(), all: Vec::new() }
    }

    /// Reserves memory for `n` further nodes, and for a component for each of them.
    pub(super) fn reserve(&mut self, n: usize) {
        self.places.reserve(n);
        self.all.reserve(n);
    }

    /// Returns the number of nodes that belong to a component. The newest nodes of the graph may belong to none yet.
    pub(super) fn n_nodes(&self) -> usize {
        self.places.len()
    }

    /// Returns the number of components.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the ids of all components.
    pub(super) fn ids(&self) -> impl Iterator<Item = ComponentId> + use<V> {
        (0..self.all.len()).map(ComponentId::from_index)
    }

    /// Returns the component of a node.
    pub(super) fn of(&self, node: NodeId) -> ComponentId {
        self.places[node.index()].component
    }

    /// Returns the data of a component.
    pub(super) fn get(&self, id: ComponentId) -> &Component<V> {
        &self.all[id.index()]
    }

    /// Returns the data of a component, which the caller may modify.
    pub(super) fn get_mut(&mut self, id: ComponentId) -> &mut Component<V> {
        &mut self.all[id.index()]
    }

    /// Returns the value of a component after each round of the fixpoint iteration.
    pub(super) fn history(&self, id: ComponentId) -> &History<V> {
        &self.all[id.index()].history
    }

    /// Returns the first node in a component's list of nodes; `None` if the component has no nodes.
    pub(super) fn first(&self, id: ComponentId) -> Option<NodeId> {
        some(self.all[id.index()].first)
    }

    /// Returns the node after `node` in the list of nodes of the same component; `None` if `node` is the last.
    pub(super) fn after(&self, node: NodeId) -> Option<NodeId> {
        some(self.places[node.index()].after)
    }

    /// Returns the nodes of a component.
    pub(super) fn nodes(&self, id: ComponentId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.first(id), |&it| self.after(it))
    }

    /// Adds a component without nodes, and returns its id. `history` holds the component's value after each round of
    /// the fixpoint iteration.
    pub(super) fn add(&mut self, history: History<V>) -> ComponentId {
        self.all.push(Component { history, counts: None, n_edges: 0, touched: false, first: NONE });
        ComponentId::from_index(self.all.len() - 1)
    }

    /// Adds the node with the lowest unused number to a component, and returns this node.
    pub(super) fn place(&mut self, component: ComponentId) -> NodeId {
        self.places.push(Place { component, before: NONE, after: NONE });
        let node = NodeId::from_index(self.places.len() - 1);
        self.enter(node, component);
        node
    }

    /// Moves a node to another component.
    pub(super) fn move_to(&mut self, node: NodeId, component: ComponentId) {
        let Place { component: old, before, after } = self.places[node.index()];
        match some(before) {
            Some(it) => self.places[it.index()].after = after,
            None => self.all[old.index()].first = after,
        }
        if let Some(it) = some(after) {
            self.places[it.index()].before = before;
        }
        self.enter(node, component);
    }

    fn enter(&mut self, node: NodeId, component: ComponentId) {
        let after = std::mem::replace(&mut self.all[component.index()].first, node);
        if let Some(it) = some(after) {
            self.places[it.index()].before = node;
        }
        self.places[node.index()] = Place { component, before: NONE, after };
    }
}

fn some(node: NodeId) -> Option<NodeId> {
    (node != NONE).then_some(node)
}
