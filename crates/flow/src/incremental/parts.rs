//! Which nodes form which component, and what is known of each.

use crate::solver::NodeId;

use super::counts::Counts;
use super::history::History;

/// A component: its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct ComponentId(pub(super) u32);

impl ComponentId {
    /// As an index.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

const NONE: NodeId = NodeId(u32::MAX);

/// Nodes that reach each other through identities, and so have the same value.
#[derive(Clone, Debug)]
pub(super) struct Component<V> {
    /// Its value after each round.
    pub(super) history: History<V>,
    /// What flows in, counted; only of a component with many edges.
    pub(super) counts: Option<Box<Counts<V>>>,
    /// How many edges its nodes have.
    pub(super) n_edges: usize,
    /// Whether it is among those whose value may have changed since somebody asked.
    pub(super) touched: bool,
    first: NodeId,
}

/// A place of a node: its component and its neighbours there.
#[derive(Clone, Copy, Debug)]
struct Place {
    component: ComponentId,
    before: NodeId,
    after: NodeId,
}

/// All components.
#[derive(Clone, Debug)]
pub(super) struct Parts<V> {
    places: Vec<Place>,
    all: Vec<Component<V>>,
}

impl<V> Parts<V> {
    /// Frees them piece by piece.
    pub(super) fn freeing(self) -> impl Iterator<Item = ()> {
        self.all.into_iter().map(drop)
    }
}

impl<V: Copy + Eq> Parts<V> {
    /// No nodes.
    pub(super) fn new() -> Self {
        Parts { places: Vec::new(), all: Vec::new() }
    }

    /// Makes room for so many further nodes, each with a component of its own.
    pub(super) fn reserve(&mut self, n: usize) {
        self.places.reserve(n);
        self.all.reserve(n);
    }

    /// How many nodes have a place.
    pub(super) fn n_nodes(&self) -> usize {
        self.places.len()
    }

    /// How many components there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// All components.
    pub(super) fn ids(&self) -> impl Iterator<Item = ComponentId> + use<V> {
        (0..self.all.len() as u32).map(ComponentId)
    }

    /// The component of a node.
    pub(super) fn of(&self, node: NodeId) -> ComponentId {
        self.places[node.0 as usize].component
    }

    /// A component.
    pub(super) fn get(&self, id: ComponentId) -> &Component<V> {
        &self.all[id.index()]
    }

    /// A component.
    pub(super) fn get_mut(&mut self, id: ComponentId) -> &mut Component<V> {
        &mut self.all[id.index()]
    }

    /// What a component's value is after each round.
    pub(super) fn history(&self, id: ComponentId) -> &History<V> {
        &self.all[id.index()].history
    }

    /// The first node of a component.
    pub(super) fn first(&self, id: ComponentId) -> Option<NodeId> {
        some(self.all[id.index()].first)
    }

    /// The node behind one in its component.
    pub(super) fn after(&self, node: NodeId) -> Option<NodeId> {
        some(self.places[node.0 as usize].after)
    }

    /// The nodes of a component.
    pub(super) fn nodes(&self, id: ComponentId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.first(id), |&it| self.after(it))
    }

    /// Another component, without nodes.
    pub(super) fn add(&mut self, history: History<V>) -> ComponentId {
        self.all.push(Component { history, counts: None, n_edges: 0, touched: false, first: NONE });
        ComponentId(self.all.len() as u32 - 1)
    }

    /// Gives the node with the next number a place.
    pub(super) fn place(&mut self, component: ComponentId) -> NodeId {
        self.places.push(Place { component, before: NONE, after: NONE });
        let node = NodeId(self.places.len() as u32 - 1);
        self.enter(node, component);
        node
    }

    /// Moves a node to another component.
    pub(super) fn move_to(&mut self, node: NodeId, component: ComponentId) {
        let Place { component: old, before, after } = self.places[node.0 as usize];
        match some(before) {
            Some(it) => self.places[it.0 as usize].after = after,
            None => self.all[old.index()].first = after,
        }
        if let Some(it) = some(after) {
            self.places[it.0 as usize].before = before;
        }
        self.enter(node, component);
    }

    fn enter(&mut self, node: NodeId, component: ComponentId) {
        let after = std::mem::replace(&mut self.all[component.index()].first, node);
        if let Some(it) = some(after) {
            self.places[it.0 as usize].before = node;
        }
        self.places[node.0 as usize] = Place { component, before: NONE, after };
    }
}

fn some(node: NodeId) -> Option<NodeId> {
    (node != NONE).then_some(node)
}
