//! Full builds of the solver: finds the components of the graph, orders them, and evaluates each component once.

use std::hash::Hash;

use crate::components::{ComponentId, components, postorder};
use crate::solver::{FunctionId, Lattice, NodeId};

use super::graph::Graph;
use super::history::Round;
use super::inflow;
use super::order::Order;
use super::parts::Parts;
use super::state::SolverState;
use super::work::Work;
use crate::fuel::{Cancelled, Fuel};

/// The progress of the first evaluation of all components after a full build.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sweep {
    /// Components are being evaluated in order; the value is the last evaluated component, `None` at the start.
    Looking(Option<ComponentId>),
    /// All components are evaluated; the incoming values of those with many edges are being counted.
    Counting,
}

/// The number of edits, new nodes or edges against the order up to which an update is preferred to a full build.
const FEW: usize = 1_024;

/// Returns whether a full build is better than an update. That is so if there are many edits or new nodes, because
/// new nodes are placed last in the order of components; if many edges lead against the order; or if values need many
/// more rounds than after the last build, `usual_rounds`.
pub(super) fn is_worn<V: Copy + Eq + Hash>(
    state: &SolverState<V>,
    n_edits: usize,
    usual_rounds: Option<u32>,
) -> bool {
    let few = FEW.max(state.graph.n_nodes() / 8);
    let n_new = state.graph.n_nodes() - state.parts.n_nodes();
    let rounds = state.statistics.rounds;
    n_edits > few
        || n_new > few
        || state.statistics.against > few as u64
        || usual_rounds.is_some_and(|it| rounds > 2 * it + 16)
}

/// Finds the components of the graph and their order. The components are not evaluated, and all have the least value.
pub(super) fn build<V: Copy + Eq + Hash>(
    state: &mut SolverState<V>,
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    state.doubts.clear();
    let (component, n) = find_components(&state.graph, fuel)?;
    let mut parts = Parts::new();
    for _ in 0..n {
        fuel.spend(1)?;
        parts.add(state.constant());
    }
    for (node, &id) in component.iter().enumerate() {
        fuel.spend(1)?;
        parts.get_mut(id).n_edges += state.graph.edges(NodeId::from_index(node)).len();
        parts.place(id);
    }
    state.parts = parts;
    state.order = Order::new(n);
    state.work = Work::new(n);
    state.touched.clear();
    state.parts.ids().for_each(|it| state.touch(it));
    state.marks.grow(state.graph.n_nodes());
    state.statistics.builds += 1;
    (state.statistics.against, state.statistics.rounds) = (0, 0);
    Ok(())
}

/// Computes the component of each node, and the number of components. Components are numbered so that all edges with
/// the identity lead upwards, and of the other edges those that lie on no cycle, and many more: the searches start
/// from the nodes in postorder over all edges, so that the sources of a node's edges come before the node.
fn find_components<V: Copy + Eq + Hash>(
    graph: &Graph<V>,
    fuel: &mut Fuel,
) -> Result<(Vec<ComponentId>, usize), Cancelled> {
    let n = graph.n_nodes();
    let all = |node: u32, cursor: &mut u32| {
        let edge = graph.edges(NodeId(node)).get(*cursor as usize)?;
        *cursor += 1;
        Some(edge.of.0)
    };
    let roots = postorder(n, 0..n as u32, all, || fuel.spend(1))?;
    let identities = |node: u32, cursor: &mut u32| {
        let edges = graph.edges(NodeId(node)).get(*cursor as usize..).unwrap_or_default();
        let skipped = edges.iter().position(|it| it.function == FunctionId::IDENTITY);
        *cursor += skipped.unwrap_or(edges.len()) as u32 + 1;
        skipped.map(|it| edges[it].of.0)
    };
    components(n, roots, identities, || fuel.spend(1))
}

/// Evaluates all components for the first time, in their order. The components into which their values flow are not
/// notified, because they come later in the order, or are queued for the next round.
pub(super) fn sweep<L: Lattice>(
    state: &mut SolverState<L::Value>,
    progress: &mut Option<Sweep>,
    lattice: &mut L,
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    while let Some(Sweep::Looking(last)) = *progress {
        let next = match last {
            None => state.order.first(),
            Some(it) => state.order.after(it),
        };
        let Some(id) = next else {
            *progress = Some(Sweep::Counting);
            break;
        };
        let (mut history, from_above) = inflow::join_edges(state, lattice, id, fuel)?;
        history.cut(Round::FIRST);
        state.touch(id);
        state.parts.get_mut(id).history = history;
        if from_above {
            state.wait(id, Round::FIRST.through(true));
        }
        state.statistics.looks += 1;
        *progress = Some(Sweep::Looking(Some(id)));
    }
    if progress.is_some() {
        for id in state.parts.ids() {
            inflow::count(state, lattice, id, fuel)?;
        }
        *progress = None;
    }
    Ok(())
}
