//! The queue of components to be evaluated.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::history::Round;
use super::order::Order;
use crate::components::ComponentId;
use crate::solver::Lattice;

/// The reason why a component is queued to be evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need<V> {
    /// The component's value may be wrong from this round of the iteration on, and must be recomputed.
    Look(Round),
    /// The value `V` must be joined into the component's value after this round of the iteration and all later
    /// rounds. Apart from that, the component's value is correct.
    Gain(Round, V),
}

impl<V: Copy> Need<V> {
    /// Returns the first round of the iteration after which the component's value may be wrong.
    pub(super) fn round(self) -> Round {
        match self {
            Need::Look(round) | Need::Gain(round, _) => round,
        }
    }
}

/// The queue of components to be evaluated. It is sorted by the round of the iteration from which the component's
/// value may be wrong, then by the order of components. A component is queued at most once.
#[derive(Clone, Debug)]
pub(super) struct Work<V> {
    needs: Vec<Option<Need<V>>>,
    /// The components that were queued while the order of components could change, so that they could not be sorted.
    /// The list may contain duplicates, and components that are no longer queued.
    unsorted: Vec<ComponentId>,
    /// The queued components that are sorted, each with its round and its label in the order of components. An entry
    /// is ignored if its component is no longer queued for the entry's round.
    sorted: BinaryHeap<Reverse<(Round, u64, ComponentId)>>,
    /// The version of the order of components from which the labels in `sorted` come.
    version: u64,
    is_sorting: bool,
}

impl<V: Copy> Work<V> {
    /// Reserves memory for `n` further components.
    pub(super) fn reserve(&mut self, n: usize) {
        self.needs.reserve(n);
    }

    /// Returns an empty queue for the components with numbers below `n`.
    pub(super) fn new(n: usize) -> Self {
        Work {
            needs: vec![None; n],
            unsorted: Vec::new(),
            sorted: BinaryHeap::new(),
            version: 0,
            is_sorting: false,
        }
    }

    /// Extends the queue, so that it can hold all components with numbers below `n`.
    pub(super) fn grow(&mut self, n: usize) {
        self.needs.resize(n, None);
    }

    /// Returns the reason why a component is queued; `None` if the component is not queued.
    pub(super) fn need(&self, id: ComponentId) -> Option<Need<V>> {
        self.needs[id.index()]
    }

    /// Queues a component to be recomputed from the round `round` of the iteration on. If the component is already
    /// queued for an earlier round, it is recomputed from that earlier round on. Does nothing if `round` is
    /// `Round::NEVER`.
    pub(super) fn look(&mut self, order: &Order, id: ComponentId, round: Round) {
        let old = self.need(id).map_or(Round::NEVER, Need::round);
        if round != Round::NEVER {
            self.set(order, id, Need::Look(round.min(old)));
        }
    }

    /// Queues a component into whose value `value` must be joined from the round `round` of the iteration on. If the
    /// component is already queued for another round or another reason, it will be recomputed from the earlier of the
    /// two rounds on.
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

    /// Stops sorting the queue, so that the order of components may change until [`Work::resume`] is called.
    pub(super) fn pause(&mut self) {
        self.is_sorting = false;
    }

    /// Sorts the queue, and keeps it sorted from now on. The order of components must not change until
    /// [`Work::pause`] is called.
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

    /// Returns the first component of the queue, and the reason why it is queued; `None` if the queue is empty. The
    /// component stays in the queue.
    pub(super) fn first(&mut self) -> Option<(ComponentId, Need<V>)> {
        while let Some(&Reverse((round, _, id))) = self.sorted.peek() {
            match self.needs[id.index()] {
                Some(need) if need.round() == round => return Some((id, need)),
                _ => self.sorted.pop(),
            };
        }
        None
    }

    /// Removes a component from the queue.
    pub(super) fn done(&mut self, id: ComponentId) {
        self.needs[id.index()] = None;
    }
}
