//! Computes the values that a component must have from the values that flow into it.

use std::hash::Hash;

use super::counts::Counts;
use super::history::{History, Round};
use super::state::{SolverState, is_inner};
use crate::components::ComponentId;
use crate::fuel::{Cancelled, Fuel, OPERATION};
use crate::solver::{self, FunctionId, Lattice};

/// The number of incoming edges above which the values that flow into a component are counted. The counters are
/// dropped when the component has less than half as many edges.
const MANY: usize = 64;

/// Returns the value that a component must have after each round of the iteration: the join of all values that flow
/// in. If the component has many incoming edges, the join is computed from the counters of these values.
pub(super) fn join<L: Lattice>(
    state: &mut SolverState<L::Value>,
    lattice: &mut L,
    id: ComponentId,
    fuel: &mut Fuel,
) -> Result<History<L::Value>, Cancelled> {
    let component = state.parts.get_mut(id);
    if component.counts.is_some() && component.n_edges < MANY / 2 {
        component.counts = None;
    }
    count(state, lattice, id, fuel)?;
    match &mut state.parts.get_mut(id).counts {
        Some(counts) => counts.total(lattice, fuel).cloned(),
        None => Ok(join_edges(state, lattice, id, fuel)?.0),
    }
}

/// Joins the values that flow into a component, edge by edge. Returns the join after each round of the iteration, and
/// whether any value flows in along an edge that leads against the order of components.
pub(super) fn join_edges<L: Lattice>(
    state: &SolverState<L::Value>,
    lattice: &mut L,
    id: ComponentId,
    fuel: &mut Fuel,
) -> Result<(History<L::Value>, bool), Cancelled> {
    let mut acc = state.constant();
    let mut from_above = false;
    each_source(state, id, fuel, |round, function, value, fuel| {
        from_above |= round > Round::FIRST;
        let image = solver::flow(lattice, function, value);
        if image == state.bottom {
            return Ok(());
        }
        acc.raise(lattice, round, image);
        fuel.spend(OPERATION)
    })?;
    Ok((acc, from_above))
}

/// Creates the counters of a component that has more than [`MANY`] incoming edges and no counters yet; other
/// components stay as they are. The counters hold how often each value flows into the component.
pub(super) fn count<L: Lattice>(
    state: &mut SolverState<L::Value>,
    lattice: &mut L,
    id: ComponentId,
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    if state.parts.get(id).n_edges <= MANY || state.parts.get(id).counts.is_some() {
        return Ok(());
    }
    let mut counts = Counts::new(state.bottom);
    each_source(state, id, fuel, |round, function, value, fuel| {
        counts.comes(lattice, (round, function, value));
        fuel.spend(OPERATION)
    })?;
    counts.total(lattice, fuel)?;
    state.parts.get_mut(id).counts = Some(Box::new(counts));
    Ok(())
}

/// Calls `f` for each value from which the value of a component is joined. For a value that flows along an edge, `f`
/// gets the round of the fixpoint iteration in which the value arrives at the component, the function of the edge,
/// and the value before the function is applied. Edges within the component are left out if their function is the
/// identity. For the own value of each node of the component, `f` gets the first round and the identity.
fn each_source<V: Copy + Eq + Hash>(
    state: &SolverState<V>,
    id: ComponentId,
    fuel: &mut Fuel,
    mut f: impl FnMut(Round, FunctionId, V, &mut Fuel) -> Result<(), Cancelled>,
) -> Result<(), Cancelled> {
    for node in state.parts.nodes(id) {
        fuel.spend(1)?;
        f(Round::FIRST, FunctionId::IDENTITY, state.graph.value(node), fuel)?;
        for edge in state.graph.edges(node) {
            fuel.spend(1)?;
            let of = state.parts.of(edge.of);
            if is_inner(id, of, edge.function) {
                continue;
            }
            let against = state.is_against(id, of);
            for (round, value) in state.parts.history(of).steps() {
                f(round.through(against), edge.function, value, fuel)?;
            }
        }
    }
    Ok(())
}
