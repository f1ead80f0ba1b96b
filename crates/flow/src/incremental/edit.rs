//! Records edits of the system of inclusions, applies them to the graph, and queues the affected components.

use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Change, Edges, Graph};
use super::history::Round;
use super::state::{SolverState, is_inner};
use crate::components::ComponentId;
use crate::fuel::{Cancelled, Fuel, OPERATION};
use crate::solver::{FunctionId, Lattice, NodeId};

/// The maximum number of edges of one node that are changed between two checks for cancellation.
const AT_ONCE: usize = 64;

/// The edits of nodes of the system that are recorded, but not yet applied to the graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Edits<V> {
    wanted: FxHashMap<NodeId, Wanted<V>>,
    /// The edited nodes in the order in which the edits were recorded. The list may contain duplicates, and nodes
    /// whose edit was dropped.
    nodes: Vec<NodeId>,
}

/// The own value and the incoming edges that a node gets by an edit. A node's own value is its value without those
/// that flow in along edges.
#[derive(Clone, Debug)]
struct Wanted<V> {
    value: V,
    edges: Vec<(NodeId, FunctionId)>,
}

impl<V: Copy + Eq + Hash> Edits<V> {
    /// Returns an empty list of edits.
    pub(super) fn new() -> Self {
        Edits { wanted: FxHashMap::default(), nodes: Vec::new() }
    }

    /// Returns the number of nodes with a recorded edit.
    pub(super) fn len(&self) -> usize {
        self.wanted.len()
    }

    /// Records an edit: `node` gets the own value `value` and the incoming edges `edges`. Drops an earlier recorded
    /// edit of the same node. The edges must be sorted and without duplicates.
    pub(super) fn record(&mut self, node: NodeId, value: V, edges: Vec<(NodeId, FunctionId)>) {
        self.wanted.insert(node, Wanted { value, edges });
        self.nodes.push(node);
    }

    /// Drops the recorded edit of a node; does nothing if no edit of the node is recorded.
    pub(super) fn forget(&mut self, node: NodeId) {
        self.wanted.remove(&node);
    }

    /// Returns the own value and the incoming edges that a node gets by its recorded edit; `None` if no edit of the
    /// node is recorded.
    pub(super) fn of(&self, node: NodeId) -> Option<(V, &Edges)> {
        self.wanted.get(&node).map(|it| (it.value, it.edges.as_slice()))
    }

    /// Applies all recorded edits to the graph only. The caller must compute the components of the graph from scratch
    /// afterwards.
    pub(super) fn apply_unbuilt(&mut self, graph: &mut Graph<V>, fuel: &mut Fuel) -> Result<(), Cancelled> {
        while let Some(node) = self.nodes.pop() {
            if let Some(wanted) = self.wanted.remove(&node) {
                fuel.owe(wanted.edges.len() as u32);
                graph.replace(node, wanted.value, &wanted.edges);
            }
            fuel.spend(1)?;
        }
        Ok(())
    }
}

/// Queues components for evaluation after functions of edges have changed: each component with an incoming edge whose
/// function is listed in `functions`. Clears the list `functions` at the end.
pub(super) fn apply_functions<L: Lattice>(
    state: &mut SolverState<L::Value>,
    functions: &mut Vec<FunctionId>,
    lattice: &mut L,
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    let changed: FxHashSet<FunctionId> = functions.iter().copied().collect();
    let mut counted = FxHashSet::default();
    for &function in &changed {
        let mut i = 0;
        while let Some(&node) = state.graph.nodes_through(function).get(i) {
            i += 1;
            fuel.spend(1)?;
            // A new node is queued anyway.
            if node.index() >= state.parts.n_nodes() || !state.graph.has_through(node, function) {
                continue;
            }
            let id = state.parts.of(node);
            state.wait(id, Round::FIRST);
            if let Some(counts) = &mut state.parts.get_mut(id).counts
                && counted.insert(id)
            {
                counts.refresh(lattice, |it| changed.contains(&it), fuel)?;
            }
        }
    }
    functions.clear();
    state.statistics.changed_functions += changed.len() as u64;
    Ok(())
}

/// Applies all recorded edits to the graph, and queues for evaluation the components that the edits affect.
pub(super) fn apply_edits<L: Lattice>(
    state: &mut SolverState<L::Value>,
    edits: &mut Edits<L::Value>,
    lattice: &mut L,
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    place_new_nodes(state, fuel)?;
    while let Some(&node) = edits.nodes.last() {
        if let Some(wanted) = edits.wanted.get(&node) {
            apply_edit(state, lattice, (node, wanted), fuel)?;
        }
        edits.wanted.remove(&node);
        edits.nodes.pop();
    }
    Ok(())
}

/// Puts each new node into a component of its own, last in the order of components. This place is suitable, because
/// the nodes whose values flow into a new node usually exist already, and the nodes into which its value flows are
/// changed by the same edit.
fn place_new_nodes<V: Copy + Eq + Hash>(
    state: &mut SolverState<V>,
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    state.marks.grow(state.graph.n_nodes());
    while state.parts.n_nodes() < state.graph.n_nodes() {
        fuel.spend(1)?;
        let id = state.parts.add(state.constant());
        state.parts.place(id);
        state.order.put_last();
        state.work.grow(state.parts.len());
        state.wait(id, Round::FIRST);
    }
    Ok(())
}

fn apply_edit<L: Lattice>(
    state: &mut SolverState<L::Value>,
    lattice: &mut L,
    (node, wanted): (NodeId, &Wanted<L::Value>),
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    let (new, old) = (wanted.value, state.graph.value(node));
    if new != old {
        fuel.owe(2 * OPERATION);
        state.graph.set_value(node, new);
        let id = state.parts.of(node);
        let key = |value| (Round::FIRST, FunctionId::IDENTITY, value);
        let counted = state.recount(lattice, id, id, |counts, lattice, _| {
            counts.comes(lattice, key(new)).min(counts.goes(lattice, key(old)))
        });
        if !counted {
            state.wait(id, Round::FIRST);
        }
    }
    loop {
        fuel.spend(1 + wanted.edges.len() as u32 / 16)?;
        let changes = state.graph.differences(node, &wanted.edges, AT_ONCE);
        if changes.is_empty() {
            break;
        }
        let before = state.graph.edges(node).len();
        state.graph.change(node, &changes);
        let id = state.parts.of(node);
        let component = state.parts.get_mut(id);
        component.n_edges = component.n_edges + state.graph.edges(node).len() - before;
        for it in changes {
            fuel.owe(2 * OPERATION);
            edge_changed(state, lattice, (node, id), it);
        }
    }
    Ok(())
}

fn edge_changed<L: Lattice>(
    state: &mut SolverState<L::Value>,
    lattice: &mut L,
    (node, id): (NodeId, ComponentId),
    change: Change,
) {
    let Change { comes, of: from, function } = change;
    let of = state.parts.of(from);
    if is_inner(id, of, function) {
        if !comes {
            state.doubts.entry(id).or_default().push((node, from));
        }
        return;
    }
    let against = state.is_against(id, of);
    state.statistics.against += u64::from(comes && against);
    let counted = state.recount(lattice, id, of, |counts, lattice, history| {
        if comes {
            counts.edge_comes(lattice, function, against, history)
        } else {
            counts.edge_goes(lattice, function, against, history)
        }
    });
    if !counted {
        state.wait(id, Round::FIRST);
    }
}
