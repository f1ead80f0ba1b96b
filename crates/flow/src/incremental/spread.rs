//! Looks at components, and tells those to which their values flow.

use std::hash::Hash;

use super::Incremental;
use super::counts::Counts;
use super::history::{History, Round};
use super::parts::ComponentId;
use super::work::Need;
use crate::fuel::{Cancelled, Fuel, OPERATION};
use crate::solver::{self, FunctionId, Lattice, NodeId};

/// A change that is being told to users.
#[derive(Clone, Debug)]
pub(super) struct Spreading<V> {
    /// Of which component.
    of: ComponentId,
    /// What its history was.
    old: History<V>,
    /// From which round on it is another.
    from: Round,
    /// If all that changes is that something comes earlier or is new: what that is.
    gain: Option<V>,
    /// Which of its users is next.
    node: Option<NodeId>,
    user: usize,
}

/// A component with more edges than this has counts; with less than half of it, it has none.
const MANY: usize = 64;

impl<V: Copy + Eq + Hash> Incremental<V> {
    /// Looks at all components that wait.
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

    /// Makes a component's history right up to a round, and lets it wait for the next round in which it is not.
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

    /// Lets something into a component that has no other need.
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

    /// Gives a component another history. Nothing may stop in between; telling the users can go on later.
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

    /// Tells all users of a component that its history has changed.
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

    /// Tells the user at the end of an edge.
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

    /// What the history of a component must be for what flows in.
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

    /// What flows into a component, edge by edge, and whether anything comes from above.
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

    /// Counts what flows into a component with many edges, if that is not done.
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

    /// Gives all that flows into a component: when, through what, and what it is before that.
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

    /// Changes the counts of a component, if it has any, given the history of another or the same.
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
