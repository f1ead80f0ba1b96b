//! What flows into a component with many edges, counted, so that one edge that comes or goes costs no look at the others.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::history::{History, Round};
use crate::fuel::{Cancelled, Fuel, OPERATION};
use crate::solver::{self, FunctionId, Lattice};

/// How many edges bring the same value through the same function in the same round, and what the function makes of it.
#[derive(Clone, Copy, Debug)]
struct Source<V> {
    n: u32,
    /// What the function made of the value when it was asked; it may mean something else by now.
    image: V,
}

/// The counting method for deletions (Gupta, Mumick, Subrahmanian, "Maintaining views incrementally", 1993), by
/// value instead of by element: a lattice may have thousands of elements in a value, but few different values flow into
/// one component. Cycles do it no harm, as what flows around one comes in a later round.
#[derive(Clone, Debug)]
pub(super) struct Counts<V> {
    sources: FxHashMap<(Round, FunctionId, V), Source<V>>,
    /// How many of the sources have an image, each round apart. The least value is left out.
    images: FxHashMap<(Round, V), u32>,
    /// Images that suffice: all of them join to the same.
    basis: Vec<(Round, V)>,
    /// Images that came since the last look and are not in `total` yet.
    fresh: Vec<(Round, V)>,
    /// An image of the basis went since the last look.
    broken: bool,
    total: History<V>,
}

impl<V: Copy + Eq + Hash> Counts<V> {
    /// Nothing flows in.
    pub(super) fn new(bottom: V) -> Self {
        Counts {
            sources: FxHashMap::default(),
            images: FxHashMap::default(),
            basis: Vec::new(),
            fresh: Vec::new(),
            broken: false,
            total: History::constant(bottom),
        }
    }

    /// A value comes through an edge. Like all that changes counts, says from which round on the total must be looked at
    /// again.
    pub(super) fn comes<L>(
        &mut self,
        lattice: &mut L,
        (round, function, value): (Round, FunctionId, V),
    ) -> Round
    where
        L: Lattice<Value = V>,
    {
        let disturbs = match self.sources.entry((round, function, value)) {
            Entry::Occupied(mut it) => {
                it.get_mut().n += 1;
                false
            }
            Entry::Vacant(it) => {
                let image = solver::flow(lattice, function, value);
                it.insert(Source { n: 1, image });
                self.image_comes(lattice, round, image)
            }
        };
        if disturbs { round } else { Round::NEVER }
    }

    /// A value comes no longer through an edge.
    pub(super) fn goes<L>(&mut self, lattice: &L, (round, function, value): (Round, FunctionId, V)) -> Round
    where
        L: Lattice<Value = V>,
    {
        let Entry::Occupied(mut it) = self.sources.entry((round, function, value)) else {
            debug_assert!(false, "nothing goes that did not come");
            return Round::NEVER;
        };
        it.get_mut().n -= 1;
        if it.get().n > 0 {
            return Round::NEVER;
        }
        let image = it.remove().image;
        if self.image_goes(lattice, round, image) { round } else { Round::NEVER }
    }

    /// An edge comes from where there is such a history; `against`: against the order.
    pub(super) fn edge_comes<L>(
        &mut self,
        lattice: &mut L,
        function: FunctionId,
        against: bool,
        history: &History<V>,
    ) -> Round
    where
        L: Lattice<Value = V>,
    {
        let each = history
            .steps()
            .map(|(round, value)| self.comes(lattice, (round.through(against), function, value)));
        each.min().unwrap_or(Round::NEVER)
    }

    /// An edge goes.
    pub(super) fn edge_goes<L>(
        &mut self,
        lattice: &L,
        function: FunctionId,
        against: bool,
        history: &History<V>,
    ) -> Round
    where
        L: Lattice<Value = V>,
    {
        let each = history
            .steps()
            .map(|(round, value)| self.goes(lattice, (round.through(against), function, value)));
        each.min().unwrap_or(Round::NEVER)
    }

    /// Where an edge comes from, the history has changed from a round on.
    pub(super) fn turns<L>(
        &mut self,
        lattice: &mut L,
        function: FunctionId,
        against: bool,
        (old, new): (&History<V>, &History<V>),
        from: Round,
    ) -> Round
    where
        L: Lattice<Value = V>,
    {
        let key = |(round, value): (Round, V)| (round.through(against), function, value);
        let mut disturbed = Round::NEVER;
        for it in new.steps().filter(|it| it.0 >= from) {
            disturbed = disturbed.min(self.comes(lattice, key(it)));
        }
        for it in old.steps().filter(|it| it.0 >= from) {
            disturbed = disturbed.min(self.goes(lattice, key(it)));
        }
        disturbed
    }

    fn image_comes<L: Lattice<Value = V>>(&mut self, lattice: &mut L, round: Round, image: V) -> bool {
        if image == lattice.bottom() {
            return false;
        }
        let n = self.images.entry((round, image)).or_insert(0);
        *n += 1;
        if *n > 1 {
            return false;
        }
        // If the basis is broken, the total may be too large from some round on, but all images are looked at then; and
        // that round is already waiting.
        let there = self.total.at(round);
        if lattice.join(there, image) == there {
            return false;
        }
        self.fresh.push((round, image));
        true
    }

    fn image_goes<L: Lattice<Value = V>>(&mut self, lattice: &L, round: Round, image: V) -> bool {
        if image == lattice.bottom() {
            return false;
        }
        let Entry::Occupied(mut n) = self.images.entry((round, image)) else {
            debug_assert!(false, "no image goes that did not come");
            return false;
        };
        *n.get_mut() -= 1;
        if *n.get() > 0 {
            return false;
        }
        n.remove();
        let needed = self.basis.contains(&(round, image));
        self.broken |= needed;
        needed
    }

    /// Functions mean something else. The total must be looked at again, also if this is cancelled.
    pub(super) fn refresh<L>(
        &mut self,
        lattice: &mut L,
        is_changed: impl Fn(FunctionId) -> bool,
        fuel: &mut Fuel,
    ) -> Result<(), Cancelled>
    where
        L: Lattice<Value = V>,
    {
        let changed: Vec<_> = self.sources.keys().copied().filter(|it| is_changed(it.1)).collect();
        for key in changed {
            fuel.spend(OPERATION)?;
            let image = solver::flow(lattice, key.1, key.2);
            let Some(source) = self.sources.get_mut(&key) else { continue };
            let old = std::mem::replace(&mut source.image, image);
            if old != image {
                self.image_comes(lattice, key.0, image);
                self.image_goes(lattice, key.0, old);
            }
        }
        Ok(())
    }

    /// The join of all that flows in.
    pub(super) fn total<L>(&mut self, lattice: &mut L, fuel: &mut Fuel) -> Result<&History<V>, Cancelled>
    where
        L: Lattice<Value = V>,
    {
        if self.broken {
            let mut total = History::constant(lattice.bottom());
            let mut basis = Vec::with_capacity(self.basis.len());
            let sufficed = self.basis.iter().filter(|it| self.images.contains_key(it));
            for &(round, image) in sufficed.chain(self.images.keys()) {
                fuel.spend(OPERATION)?;
                if total.raise(lattice, round, image) {
                    basis.push((round, image));
                }
            }
            (self.total, self.basis) = (total, basis);
            self.fresh.clear();
            self.broken = false;
        }
        while let Some(&(round, image)) = self.fresh.last() {
            fuel.spend(OPERATION)?;
            if self.images.contains_key(&(round, image)) && self.total.raise(lattice, round, image) {
                self.basis.push((round, image));
            }
            self.fresh.pop();
        }
        Ok(&self.total)
    }

    /// How many different values flow in.
    #[cfg(test)]
    pub(super) fn sources(&self) -> impl Iterator<Item = ((Round, FunctionId, V), u32)> {
        self.sources.iter().map(|(&key, it)| (key, it.n))
    }
}
