//! The components that wait to be looked at.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::history::Round;
use super::order::Order;
use super::parts::ComponentId;
use crate::solver::Lattice;

/// For what a component waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need<V> {
    /// From this round on its value may be wrong.
    Look(Round),
    /// From this round on this is there too; else it is right.
    Gain(Round, V),
}

impl<V: Copy> Need<V> {
    /// The first round in which its value may be wrong.
    pub(super) fn round(self) -> Round {
        match self {
            Need::Look(round) | Need::Gain(round, _) => round,
        }
    }
}

/// A queue by round, then by order. A component waits once.
#[derive(Clone, Debug)]
pub(super) struct Work<V> {
    needs: Vec<Option<Need<V>>>,
    /// Those that came while the order may change; may name some that wait no more, and some twice.
    unsorted: Vec<ComponentId>,
    /// The others. An entry that is not of the round for which its component waits is void.
    sorted: BinaryHeap<Reverse<(Round, u64, ComponentId)>>,
    /// The order by which they are sorted.
    version: u64,
    is_sorting: bool,
}

impl<V: Copy> Work<V> {
    /// Makes room for so many further components.
    pub(super) fn reserve(&mut self, n: usize) {
        self.needs.reserve(n);
    }

    /// Nothing waits.
    pub(super) fn new(n: usize) -> Self {
        Work {
            needs: vec![None; n],
            unsorted: Vec::new(),
            sorted: BinaryHeap::new(),
            version: 0,
            is_sorting: false,
        }
    }

    /// Makes room for components below `n`.
    pub(super) fn grow(&mut self, n: usize) {
        self.needs.resize(n, None);
    }

    /// For what a component waits.
    pub(super) fn need(&self, id: ComponentId) -> Option<Need<V>> {
        self.needs[id.index()]
    }

    /// Lets a component wait to be looked at for a round or an earlier one.
    pub(super) fn look(&mut self, order: &Order, id: ComponentId, round: Round) {
        let old = self.need(id).map_or(Round::NEVER, Need::round);
        if round != Round::NEVER {
            self.set(order, id, Need::Look(round.min(old)));
        }
    }

    /// Lets a component wait for something that will be there from a round on.
    pub(super) fn gain<L>(
        &mut self,
        lattice: &mut L,
        order: &Order,
        id: ComponentId,
        (round, value): (Round, V),
    ) where
        L: Lattice<Value = V>,
    {
        let need = match self.need(id) {
            None => Need::Gain(round, value),
            Some(Need::Gain(old, other)) if old == round => Need::Gain(round, lattice.join(other, value)),
            Some(old) => Need::Look(old.round().min(round)),
        };
        self.set(order, id, need);
    }

    fn set(&mut self, order: &Order, id: ComponentId, need: Need<V>) {
        let old = self.needs[id.index()].replace(need);
        if old.is_some_and(|it| it.round() == need.round()) {
            return;
        }
        if self.is_sorting {
            self.sorted.push(Reverse((need.round(), order.label(id), id)));
        } else {
            self.unsorted.push(id);
        }
    }

    /// From now on the order may change.
    pub(super) fn pause(&mut self) {
        self.is_sorting = false;
    }

    /// From now on the order stays.
    pub(super) fn resume(&mut self, order: &Order) {
        if self.version != order.version() {
            self.unsorted.extend(std::mem::take(&mut self.sorted).into_iter().map(|it| it.0.2));
            self.version = order.version();
        }
        let needs = &self.needs;
        let entry = |id: ComponentId| Some(Reverse((needs[id.index()]?.round(), order.label(id), id)));
        self.sorted.extend(self.unsorted.drain(..).filter_map(entry));
        self.is_sorting = true;
    }

    /// The first component and for what it waits; it waits on.
    pub(super) fn first(&mut self) -> Option<(ComponentId, Need<V>)> {
        while let Some(&Reverse((round, _, id))) = self.sorted.peek() {
            match self.needs[id.index()] {
                Some(need) if need.round() == round => return Some((id, need)),
                _ => self.sorted.pop(),
            };
        }
        None
    }

    /// A component waits no more.
    pub(super) fn done(&mut self, id: ComponentId) {
        self.needs[id.index()] = None;
    }
}
