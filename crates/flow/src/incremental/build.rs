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

/// The progress of the first evaluation of all components, which follows a full build. The evaluation can be
/// interrupted and continued.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sweep {
    /// The components are being evaluated in order; the value is the component that was evaluated last, `None` at the
    /// start.
    Looking(Option<ComponentId>),
    /// All components are evaluated. For components with many incoming edges, the values that flow in are being
    /// counted.
    Counting,
}

/// The limits for an update: the number of edits, the number of new nodes, and the number of edges that lead against
/// the order of components. If one of them exceeds both this number and an eighth of the number of nodes, a full
/// build is preferred.
const FEW: usize = 1_024;

/// Returns whether a full build is better than an update. There are three reasons for a full build: there are many
/// edits or new nodes, because new nodes are placed last in the order of components; many edges lead against this
/// order; or values need many more rounds of the iteration than the `usual_rounds` that they needed after the last
/// full build.
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

/// Finds the strongly connected components of the graph, and puts them in order. The components are not evaluated
/// yet: all have the least value.
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

/// Returns the component of each node, and the number of components. The components are numbered so that most edges
/// lead from a lower to a higher number. This holds for all edges that have the identity as function and connect two
/// components, for all other edges that lie on no cycle, and for many more. For this, the searches start from the
/// nodes in postorder over all edges, so that the sources of a node's edges come before the node.
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

/// Evaluates all components for the first time after a full build, in order. The components into which the value of
/// an evaluated component flows are not notified: they come later in the order, or are queued for the next round of
/// the iteration. `progress` holds how far the evaluation has come if the call is cancelled.
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
