//! Evaluates components, and notifies the components into which their values flow.

use std::hash::Hash;

use super::history::{History, Round};
use super::inflow;
use super::state::{SolverState, is_inner};
use super::work::Need;
use crate::components::ComponentId;
use crate::fuel::{Cancelled, Fuel, OPERATION};
use crate::solver::{self, FunctionId, Lattice, NodeId};

/// A notification of all components into which the value of a changed component flows, with its progress. The
/// notification can be interrupted and continued.
#[derive(Clone, Debug)]
pub(super) struct Spreading<V> {
    /// The component whose value changed.
    of: ComponentId,
    /// The value of the changed component after each round of the iteration, as it was before the change.
    old: History<V>,
    /// The first round of the iteration after which the component has another value than before the change.
    from: Round,
    /// The value that was added, if the change only adds a value or makes a value arrive in an earlier round; `None`
    /// after any other change.
    gain: Option<V>,
    /// The node of the changed component whose outgoing edges are handled next, from the edge with the index `user`
    /// on; `None` if all edges were handled.
    node: Option<NodeId>,
    user: usize,
}

/// Evaluates the queued components in the order of the queue, and notifies the components into which changed values
/// flow, until the queue is empty.
pub(super) fn look_at_all<L: Lattice>(
    state: &mut SolverState<L::Value>,
    spreading: &mut Option<Spreading<L::Value>>,
    lattice: &mut L,
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    while let Some((id, need)) = state.work.first() {
        fuel.spend(OPERATION)?;
        state.statistics.looks += 1;
        match need {
            Need::Look(round) => look(state, spreading, lattice, (id, round), fuel)?,
            Need::Gain(round, value) => gain(state, spreading, lattice, (id, round, value)),
        }
        spread(state, spreading, lattice, fuel)?;
    }
    Ok(())
}

/// Recomputes the value of a component up to the round `round` of the iteration. If the value grows in a later round,
/// queues the component to be evaluated in that round.
fn look<L: Lattice>(
    state: &mut SolverState<L::Value>,
    spreading: &mut Option<Spreading<L::Value>>,
    lattice: &mut L,
    (id, round): (ComponentId, Round),
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    let mut right = inflow::join(state, lattice, id, fuel)?;
    let old = state.parts.history(id);
    let Some(from) = old.difference(&right) else {
        state.work.done(id);
        return Ok(());
    };
    debug_assert!(from >= round, "earlier rounds are right");
    if from > round {
        state.work.done(id);
        state.wait(id, from);
        return Ok(());
    }
    let next = right.next(round);
    right.cut(round);
    let (before, after) = (old.last(), right.last());
    let gain = (lattice.join(before, after) == after).then_some(after);
    *spreading = Some(change(state, id, right, from, gain));
    if let Some(next) = next {
        state.wait(id, next);
    }
    Ok(())
}

/// Joins `value` into the value of a component from the round `round` of the iteration on. This must be the only
/// reason why the component is queued.
fn gain<L: Lattice>(
    state: &mut SolverState<L::Value>,
    spreading: &mut Option<Spreading<L::Value>>,
    lattice: &mut L,
    (id, round, value): (ComponentId, Round, L::Value),
) {
    let mut history = state.parts.history(id).clone();
    if history.raise(lattice, round, value) {
        *spreading = Some(change(state, id, history, round, Some(value)));
    } else {
        state.work.done(id);
    }
}

/// Sets the value that a component has after each round to `history`, and removes the component from the queue.
/// Returns the notification of other components that must follow; unlike this function, the notification can be
/// interrupted and continued.
fn change<V: Copy + Eq + Hash>(
    state: &mut SolverState<V>,
    id: ComponentId,
    history: History<V>,
    from: Round,
    gain: Option<V>,
) -> Spreading<V> {
    state.statistics.changes += 1;
    state.statistics.rounds = state.statistics.rounds.max(history.last_round().0);
    let after = history.last();
    let old = std::mem::replace(&mut state.parts.get_mut(id).history, history);
    if old.last() != after {
        state.touch(id);
    }
    state.work.done(id);
    let node = state.parts.first(id);
    Spreading { of: id, old, from, gain, node, user: 0 }
}

/// Starts or continues the notification `spreading` to all components into which the value of a changed component
/// flows; does nothing if `spreading` is `None`. If the call is cancelled, `spreading` holds what remains to be done.
pub(super) fn spread<L: Lattice>(
    state: &mut SolverState<L::Value>,
    spreading: &mut Option<Spreading<L::Value>>,
    lattice: &mut L,
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    let Some(mut it) = spreading.take() else { return Ok(()) };
    while let Some(node) = it.node {
        while let Some(&user) = state.graph.users(node).get(it.user) {
            if let Err(cancelled) = fuel.spend(1) {
                *spreading = Some(it);
                return Err(cancelled);
            }
            let component = state.parts.of(user.node);
            if !is_inner(component, it.of, user.function) {
                tell(state, lattice, &it, component, user.function, fuel);
            }
            it.user += 1;
        }
        it.node = state.parts.after(node);
        it.user = 0;
    }
    Ok(())
}

/// Tells the component `user` that the value of one of its predecessors changed; `change` describes that change. The
/// value flows into `user` along an edge with the function `function`. Queues `user` for evaluation if the value of
/// `user` may change.
fn tell<L: Lattice>(
    state: &mut SolverState<L::Value>,
    lattice: &mut L,
    change: &Spreading<L::Value>,
    user: ComponentId,
    function: FunctionId,
    fuel: &mut Fuel,
) {
    let against = state.is_against(user, change.of);
    if state.parts.get(user).counts.is_some() {
        fuel.owe(2 * OPERATION);
        state.recount(lattice, user, change.of, |counts, lattice, new| {
            counts.turns(lattice, function, against, (&change.old, new), change.from)
        });
        return;
    }
    let arrives = change.from.through(against);
    if let Some(Need::Look(round)) = state.work.need(user)
        && round <= arrives
    {
        return;
    }
    if let Some(gain) = change.gain {
        fuel.owe(2 * OPERATION);
        let image = solver::flow(lattice, function, gain);
        let there = state.parts.history(user).at(arrives);
        if lattice.join(there, image) != there {
            state.work.gain(lattice, &state.order, user, (arrives, image));
        }
        return;
    }
    let new = state.parts.history(change.of);
    if function != FunctionId::IDENTITY
        && let (Some(a), Some(b)) = (change.old.only(), new.only())
    {
        fuel.owe(2 * OPERATION);
        if lattice.apply(function, a) == lattice.apply(function, b) {
            return;
        }
    }
    state.wait(user, arrives);
}
