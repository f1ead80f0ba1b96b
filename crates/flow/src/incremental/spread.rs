//! Evaluates components, and notifies the components into which their values flow.

use std::hash::Hash;

use super::Incremental;
use super::counts::Counts;
use super::history::{History, Round};
use super::work::Need;
use crate::components::ComponentId;
use crate::fuel::{Cancelled, Fuel, OPERATION};
use crate::solver::{self, FunctionId, Lattice, NodeId};

/// A change of which the users of a component are being notified.
#[derive(Clone, Debug)]
pub(super) struct Spreading<V> {
    /// The component that changed.
    of: ComponentId,
    /// Its history before the change.
    old: History<V>,
    /// The first round in which the history changed.
    from: Round,
    /// If the change only adds something or brings it earlier, what that is.
    gain: Option<V>,
    /// The next user to be notified: a node of the component, and an index into its users.
    node: Option<NodeId>,
    user: usize,
}

/// The number of edges above which a component has counts; with less than half of it, the counts are dropped.
const MANY: usize = 64;

impl<V: Copy + Eq + Hash> Incremental<V> {
    /// Evaluates all queued components.
    pub(super) fn look_at_all<L>(&mut self, lattice: &mut L, fuel: &mut Fuel) -> Result<(), Cancelled>
    where
        L: Lattice<Value = V>,
    {
        while let Some((id, need)) = self.work.first() {
            fuel.spend(OPERATION)?;
            self.statistics.looks += 1;
            match need {
                Need::Look(round) => self.look(lattice, id, round, fuel)?,
                Need::Gain(round, value) => self.gain(lattice, id, round, value),
            }
            self.spread(lattice, fuel)?;
        }
        Ok(())
    }

    /// Corrects a component's history up to a round, and queues the component for the next round in which its value
    /// grows.
    fn look<L>(
        &mut self,
        lattice: &mut L,
        id: ComponentId,
        round: Round,
        fuel: &mut Fuel,
    ) -> Result<(), Cancelled>
    where
        L: Lattice<Value = V>,
    {
        let mut right = self.join(lattice, id, fuel)?;
        let old = self.parts.history(id);
        let Some(from) = old.difference(&right) else {
            self.work.done(id);
            return Ok(());
        };
        debug_assert!(from >= round, "earlier rounds are right");
        if from > round {
            self.work.done(id);
            self.wait(id, from);
            return Ok(());
        }
        let next = right.next(round);
        right.cut(round);
        let (before, after) = (old.last(), right.last());
        let gain = (lattice.join(before, after) == after).then_some(after);
        self.change(id, right, from, gain);
        if let Some(next) = next {
            self.wait(id, next);
        }
        Ok(())
    }

    /// Joins a value into a component that is queued for no other reason.
    fn gain<L>(&mut self, lattice: &mut L, id: ComponentId, round: Round, value: V)
    where
        L: Lattice<Value = V>,
    {
        let mut history = self.parts.history(id).clone();
        if history.raise(lattice, round, value) {
            self.change(id, history, round, Some(value));
        } else {
            self.work.done(id);
        }
    }

    /// Sets a component's history. This must not be interrupted; the notification of the users may be, and continues
    /// later.
    fn change(&mut self, id: ComponentId, history: History<V>, from: Round, gain: Option<V>) {
        self.statistics.changes += 1;
        self.statistics.rounds = self.statistics.rounds.max(history.last_round().0);
        let after = history.last();
        let old = std::mem::replace(&mut self.parts.get_mut(id).history, history);
        if old.last() != after {
            self.touch(id);
        }
        self.work.done(id);
        let node = self.parts.first(id);
        self.spreading = Some(Spreading { of: id, old, from, gain, node, user: 0 });
    }

    /// Notifies all users of a component that its history has changed.
    pub(super) fn spread<L>(&mut self, lattice: &mut L, fuel: &mut Fuel) -> Result<(), Cancelled>
    where
        L: Lattice<Value = V>,
    {
        let Some(mut it) = self.spreading.take() else { return Ok(()) };
        while let Some(node) = it.node {
            while let Some(&user) = self.graph.users(node).get(it.user) {
                if let Err(cancelled) = fuel.spend(1) {
                    self.spreading = Some(it);
                    return Err(cancelled);
                }
                let component = self.parts.of(user.node);
                if !self.is_inner(component, it.of, user.function) {
                    self.tell(lattice, &it, component, user.function, fuel);
                }
                it.user += 1;
            }
            it.node = self.parts.after(node);
            it.user = 0;
        }
        Ok(())
    }

    /// Notifies the user at the end of one edge.
    fn tell<L>(
        &mut self,
        lattice: &mut L,
        change: &Spreading<V>,
        user: ComponentId,
        function: FunctionId,
        fuel: &mut Fuel,
    ) where
        L: Lattice<Value = V>,
    {
        let against = self.is_against(user, change.of);
        if self.parts.get(user).counts.is_some() {
            fuel.owe(2 * OPERATION);
            self.recount(lattice, user, change.of, |counts, lattice, new| {
                counts.turns(lattice, function, against, (&change.old, new), change.from)
            });
            return;
        }
        let arrives = change.from.through(against);
        if let Some(Need::Look(round)) = self.work.need(user)
            && round <= arrives
        {
            return;
        }
        if let Some(gain) = change.gain {
            fuel.owe(2 * OPERATION);
            let image = solver::flow(lattice, function, gain);
            let there = self.parts.history(user).at(arrives);
            if lattice.join(there, image) != there {
                self.work.gain(lattice, &self.order, user, (arrives, image));
            }
            return;
        }
        let new = self.parts.history(change.of);
        if function != FunctionId::IDENTITY
            && let (Some(a), Some(b)) = (change.old.only(), new.only())
        {
            fuel.owe(2 * OPERATION);
            if lattice.apply(function, a) == lattice.apply(function, b) {
                return;
            }
        }
        self.wait(user, arrives);
    }

    /// Computes the history that a component must have, given what flows in.
    fn join<L>(&mut self, lattice: &mut L, id: ComponentId, fuel: &mut Fuel) -> Result<History<V>, Cancelled>
    where
        L: Lattice<Value = V>,
    {
        let component = self.parts.get_mut(id);
        if component.counts.is_some() && component.n_edges < MANY / 2 {
            component.counts = None;
        }
        self.count(lattice, id, fuel)?;
        match &mut self.parts.get_mut(id).counts {
            Some(counts) => counts.total(lattice, fuel).cloned(),
            None => Ok(self.join_edges(lattice, id, fuel)?.0),
        }
    }

    /// Joins what flows into a component, edge by edge. Also returns whether anything flows in from above.
    pub(super) fn join_edges<L>(
        &self,
        lattice: &mut L,
        id: ComponentId,
        fuel: &mut Fuel,
    ) -> Result<(History<V>, bool), Cancelled>
    where
        L: Lattice<Value = V>,
    {
        let mut acc = self.constant();
        let mut from_above = false;
        self.each_source(id, fuel, |round, function, value, fuel| {
            from_above |= round > Round::FIRST;
            let image = solver::flow(lattice, function, value);
            if image == self.bottom {
                return Ok(());
            }
            acc.raise(lattice, round, image);
            fuel.spend(OPERATION)
        })?;
        Ok((acc, from_above))
    }

    /// Counts what flows into a component with many edges, unless that is done already.
    pub(super) fn count<L>(
        &mut self,
        lattice: &mut L,
        id: ComponentId,
        fuel: &mut Fuel,
    ) -> Result<(), Cancelled>
    where
        L: Lattice<Value = V>,
    {
        if self.parts.get(id).n_edges <= MANY || self.parts.get(id).counts.is_some() {
            return Ok(());
        }
        let mut counts = Counts::new(self.bottom);
        self.each_source(id, fuel, |round, function, value, fuel| {
            counts.comes(lattice, (round, function, value));
            fuel.spend(OPERATION)
        })?;
        counts.total(lattice, fuel)?;
        self.parts.get_mut(id).counts = Some(Box::new(counts));
        Ok(())
    }

    /// Calls `f` with everything that flows into a component: the round, the function, and the value before the
    /// function is applied.
    fn each_source(
        &self,
        id: ComponentId,
        fuel: &mut Fuel,
        mut f: impl FnMut(Round, FunctionId, V, &mut Fuel) -> Result<(), Cancelled>,
    ) -> Result<(), Cancelled> {
        for node in self.parts.nodes(id) {
            fuel.spend(1)?;
            f(Round::FIRST, FunctionId::IDENTITY, self.graph.value(node), fuel)?;
            for edge in self.graph.edges(node) {
                fuel.spend(1)?;
                let of = self.parts.of(edge.of);
                if self.is_inner(id, of, edge.function) {
                    continue;
                }
                let against = self.is_against(id, of);
                for (round, value) in self.parts.history(of).steps() {
                    f(round.through(against), edge.function, value, fuel)?;
                }
            }
        }
        Ok(())
    }

    /// Changes the counts of `user`, if it has any, given the history of `of`, and queues `user` from the round that
    /// `change` returns. Returns whether there are counts.
    pub(super) fn recount<L>(
        &mut self,
        lattice: &mut L,
        user: ComponentId,
        of: ComponentId,
        change: impl FnOnce(&mut Counts<V>, &mut L, &History<V>) -> Round,
    ) -> bool {
        let Some(mut counts) = self.parts.get_mut(user).counts.take() else { return false };
        let from = change(&mut counts, lattice, self.parts.history(of));
        self.parts.get_mut(user).counts = Some(counts);
        self.wait(user, from);
        true
    }
}
