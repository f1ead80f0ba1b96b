//! The system of inclusions as a graph that can be walked in both directions and changed edge by edge. The graph has
//! no data about solutions.

use std::cmp::Ordering;

use rustc_hash::FxHashSet;

use crate::solver::{FunctionId, NodeId, System};

/// An edge as an entry in the list of incoming edges of the node into which it leads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The node at which the edge starts; its value flows along the edge.
    pub(super) of: NodeId,
    /// The function that is applied to the value that flows along the edge.
    pub(super) function: FunctionId,
    /// The index of the edge in the list `users` (the outgoing edges) of the node `of`.
    at: u32,
}

/// An edge as an entry in the list of outgoing edges of the node at which it starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct User {
    /// The node into which the edge leads.
    pub(super) node: NodeId,
    /// The function that is applied to the value that flows along the edge.
    pub(super) function: FunctionId,
}

/// A change of the incoming edges of a node: one edge that is added or removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// Whether the edge is added (`true`) or removed (`false`).
    pub(super) comes: bool,
    /// The node at which the edge starts; its value flows along the edge.
    pub(super) of: NodeId,
    /// The function that is applied to the value that flows along the edge.
    pub(super) function: FunctionId,
}

#[derive(Clone, Debug)]
struct Node<V> {
    value: V,
    /// The edges that lead into the node, sorted by source and function, without duplicates.
    edges: Vec<Edge>,
    users: Vec<User>,
}

/// The nodes that have an incoming edge labelled with one particular function. The list may contain duplicates, and
/// nodes whose last such edge was removed.
#[derive(Clone, Debug, Default)]
struct Through {
    nodes: Vec<NodeId>,
    n_edges: usize,
}

/// The nodes of a system of inclusions. Each has its own value, a list of incoming edges and a list of outgoing
/// edges.
#[derive(Clone, Debug)]
pub(super) struct Graph<V> {
    nodes: Vec<Node<V>>,
    through: Vec<Through>,
}

/// The incoming edges of a node, as functions of [`Graph`] take them: pairs of source and function, sorted and
/// without duplicates.
pub(super) type Edges = [(NodeId, FunctionId)];

fn key(of: NodeId, function: FunctionId) -> (u32, u32) {
    (of.0, function.0)
}

/// Sorts a list of edges and removes duplicates, so that the list has the form that [`Edges`] requires.
pub(super) fn sort(edges: &mut Vec<(NodeId, FunctionId)>) {
    edges.sort_unstable_by_key(|it| key(it.0, it.1));
    edges.dedup();
}

impl<V> Graph<V> {
    /// Frees the memory of the graph in small steps, one per item of the iterator, so that the caller can stop in
    /// between.
    pub(super) fn freeing(self) -> impl Iterator<Item = ()> {
        self.nodes.into_iter().map(drop).chain(self.through.into_iter().map(drop))
    }
}

impl<V: Copy + Eq> Graph<V> {
    /// Returns a graph without nodes.
    pub(super) fn new() -> Self {
        Graph { nodes: Vec::new(), through: Vec::new() }
    }

    /// Reserves memory for `n` further nodes.
    pub(super) fn reserve(&mut self, n: usize) {
        self.nodes.reserve(n);
    }

    /// Returns the number of nodes.
    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Adds a node with the own value `value` and without edges.
    pub(super) fn add(&mut self, value: V) -> NodeId {
        self.nodes.push(Node { value, edges: Vec::new(), users: Vec::new() });
        NodeId::from_index(self.nodes.len() - 1)
    }

    /// Returns the node's own value: its value without those that flow in along edges.
    pub(super) fn value(&self, node: NodeId) -> V {
        self.nodes[node.index()].value
    }

    /// Sets the node's own value: its value without those that flow in along edges.
    pub(super) fn set_value(&mut self, node: NodeId, value: V) {
        self.nodes[node.index()].value = value;
    }

    /// Sets the node's own value, and replaces all edges that lead into the node by `edges`.
    pub(super) fn replace(&mut self, node: NodeId, value: V, edges: &Edges) {
        let changes = self.differences(node, edges, usize::MAX);
        self.set_value(node, value);
        if !changes.is_empty() {
            self.change(node, &changes);
        }
    }

    /// Returns the edges that lead into a node.
    pub(super) fn edges(&self, node: NodeId) -> &[Edge] {
        &self.nodes[node.index()].edges
    }

    /// Returns the edges that lead out of a node.
    pub(super) fn users(&self, node: NodeId) -> &[User] {
        &self.nodes[node.index()].users
    }

    /// Returns whether the edges that lead into a node are exactly the edges `wanted`.
    pub(super) fn has(&self, node: NodeId, wanted: &Edges) -> bool {
        let edges = self.edges(node).iter().map(|it| (it.of, it.function));
        edges.eq(wanted.iter().copied())
    }

    /// Returns the changes that turn the edges that lead into a node into the edges `wanted`; if there are more than
    /// `limit` changes, only the first `limit` of them.
    pub(super) fn differences(&self, node: NodeId, wanted: &Edges, limit: usize) -> Vec<Change> {
        let (mut old, mut new) = (self.edges(node).iter().peekable(), wanted.iter().peekable());
        let mut found = Vec::new();
        while found.len() < limit {
            let a = old.peek().map(|it| key(it.of, it.function));
            let b = new.peek().map(|it| key(it.0, it.1));
            let side = match (a, b) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => a.cmp(&b),
            };
            let gone = if side.is_le() { old.next() } else { None };
            let come = if side.is_ge() { new.next() } else { None };
            match (gone, come) {
                (Some(it), None) => found.push(Change { comes: false, of: it.of, function: it.function }),
                (None, Some(&(of, function))) => found.push(Change { comes: true, of, function }),
                _ => {}
            }
        }
        found
    }

    /// Adds and removes edges that lead into a node. `changes` must be a result of [`Graph::differences`] for the
    /// node.
    pub(super) fn change(&mut self, node: NodeId, changes: &[Change]) {
        for it in changes.iter().filter(|it| !it.comes) {
            self.unlink(node, it.of, it.function);
        }
        let old = std::mem::take(&mut self.nodes[node.index()].edges);
        let mut edges = Vec::with_capacity((old.len() + changes.len()).min(old.len() * 2 + 8));
        let mut old = old.into_iter().peekable();
        for it in changes {
            let change = key(it.of, it.function);
            while let Some(edge) = old.next_if(|edge| key(edge.of, edge.function) < change) {
                edges.push(edge);
            }
            if it.comes {
                edges.push(self.link(node, it.of, it.function));
            } else {
                old.next();
            }
        }
        edges.extend(old);
        self.nodes[node.index()].edges = edges;
    }

    fn link(&mut self, node: NodeId, of: NodeId, function: FunctionId) -> Edge {
        let users = &mut self.nodes[of.index()].users;
        users.push(User { node, function });
        let at = users.len() as u32 - 1;
        if function != FunctionId::IDENTITY {
            let index = function.index();
            if self.through.len() <= index {
                self.through.resize_with(index + 1, Through::default);
            }
            self.through[index].nodes.push(node);
            self.through[index].n_edges += 1;
        }
        Edge { of, function, at }
    }

    /// Removes an edge from the list of outgoing edges of its source, the node `of`. The edge stays in the list of
    /// incoming edges of `node`.
    fn unlink(&mut self, node: NodeId, of: NodeId, function: FunctionId) {
        let Some(edge) = self.find(node, of, function) else { return };
        let at = edge.at;
        let users = &mut self.nodes[of.index()].users;
        users.swap_remove(at as usize);
        if let Some(&moved) = users.get(at as usize)
            && let Some(edge) = self.find(moved.node, of, moved.function)
        {
            edge.at = at;
        }
        if function == FunctionId::IDENTITY {
            return;
        }
        let through = &mut self.through[function.index()];
        through.n_edges -= 1;
        if through.nodes.len() > 2 * through.n_edges + 16 {
            let mut nodes = std::mem::take(&mut through.nodes);
            let mut seen = FxHashSet::default();
            nodes.retain(|&it| seen.insert(it) && self.has_through(it, function));
            self.through[function.index()].nodes = nodes;
        }
    }

    fn find(&mut self, node: NodeId, of: NodeId, function: FunctionId) -> Option<&mut Edge> {
        let edges = &mut self.nodes[node.index()].edges;
        let found = edges.binary_search_by_key(&key(of, function), |it| key(it.of, it.function));
        found.ok().map(|it| &mut edges[it])
    }

    /// Returns the nodes that have an incoming edge labelled with `function`. The list may contain duplicates, and
    /// nodes whose last such edge was removed. For the identity, the list is always empty.
    pub(super) fn nodes_through(&self, function: FunctionId) -> &[NodeId] {
        self.through.get(function.index()).map_or(&[], |it| &it.nodes)
    }

    /// Returns whether the node has an incoming edge labelled with `function`.
    pub(super) fn has_through(&self, node: NodeId, function: FunctionId) -> bool {
        self.edges(node).iter().any(|it| it.function == function)
    }

    /// Returns the system of inclusions as lists. If `other` returns an own value and incoming edges for a node,
    /// these are used instead of those of the graph.
    pub(super) fn system<'a>(&'a self, other: impl Fn(NodeId) -> Option<(V, &'a Edges)>) -> System<V> {
        let mut acc = System { values: Vec::new(), starts: vec![0], edges: Vec::new() };
        for node in (0..self.nodes.len()).map(NodeId::from_index) {
            if let Some((value, edges)) = other(node) {
                acc.values.push(value);
                acc.edges.extend_from_slice(edges);
            } else {
                acc.values.push(self.value(node));
                acc.edges.extend(self.edges(node).iter().map(|it| (it.of, it.function)));
            }
            acc.starts.push(acc.edges.len() as u32);
        }
        acc
    }

    /// Returns whether the lists of incoming edges and the lists of outgoing edges contain the same edges, and
    /// whether the lists of incoming edges are sorted.
    #[cfg(test)]
    pub(super) fn is_sound(&self) -> bool {
        let nodes = || (0..self.nodes.len()).map(NodeId::from_index);
        let n_users: usize = self.nodes.iter().map(|it| it.users.len()).sum();
        n_users == nodes().map(|it| self.edges(it).len()).sum()
            && nodes().all(|node| {
                self.edges(node).is_sorted_by_key(|it| key(it.of, it.function))
                    && self.edges(node).iter().all(|edge| {
                        let user = self.users(edge.of)[edge.at as usize];
                        (user.node, user.function) == (node, edge.function)
                            && (edge.function == FunctionId::IDENTITY
                                || self.through[edge.function.index()].nodes.contains(&node))
                    })
            })
    }
}
