//! Counts of the values that flow into a component with many edges. With counts, adding or removing one edge does not
//! require examining the other edges.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::history::{History, Round};
use crate::fuel::{Cancelled, Fuel, OPERATION};
use crate::solver::{self, FunctionId, Lattice};

/// A value that arrives at a component through a function in a round of the iteration: the number `n` of edges along
/// which it arrives, and the result of the function.
#[derive(Clone, Copy, Debug)]
struct Source<V> {
    n: u32,
    /// The result of the function when it was last applied to the value; the function may have changed since then.
    image: V,
}

/// Counters of the values that flow into one component. With these, an edge can be removed without joining all
/// incoming values again (Gupta, Mumick, Subrahmanian, "Maintaining views incrementally", 1993). Whole values are
/// counted, not their elements: a value may have thousands of elements, but few different values flow into one
/// component. Cycles do no harm, because a value that flows around a cycle arrives in a later round of the iteration.
#[derive(Clone, Debug)]
pub(super) struct Counts<V> {
    sources: FxHashMap<(Round, FunctionId, V), Source<V>>,
    /// For each pair of a round of the iteration and a result of a function (image), the number of entries of
    /// `sources` with this round and this image. Images that are the least value of the lattice are left out.
    images: FxHashMap<(Round, V), u32>,
    /// A subset of `images` that is enough to compute the join of the incoming values: for every round, the images of
    /// the subset that arrive up to this round have the same join as all images that arrive up to this round.
    basis: Vec<(Round, V)>,
    /// The images, each with its round, that were added since the last call of `total()` and are not joined into the
    /// field `total` yet.
    fresh: Vec<(Round, V)>,
    /// Whether an image of `basis` was removed from `images` since the last call of `total()`, so that the field
    /// `total` must be recomputed.
    broken: bool,
    total: History<V>,
}

impl<V: Copy + Eq + Hash> Counts<V> {
    /// Returns the counters of a component into which no value flows; `bottom` is the least value of the lattice.
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

    /// Adds one to the number of edges along which a value arrives. `round` is the round of the iteration in which
    /// the value arrives, `function` is the function of the edge, and `value` is the value to which the function is
    /// applied. Returns the first round in which the join of all incoming values may change; `Round::NEVER` if the
    /// join does not change.
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

    /// Subtracts one from the number of edges along which a value arrives. `round` is the round of the iteration in
    /// which the value arrived, `function` is the function of the edge, and `value` is the value to which the
    /// function was applied. Returns the first round in which the join of all incoming values may change;
    /// `Round::NEVER` if the join does not change.
    pub(super) fn goes<L>(&mut self, lattice: &L, (round, function, value): (Round, FunctionId, V)) -> Round
    where
        L: Lattice<Value = V>,
    {
        let Entry::Occupied(mut it) = self.sources.entry((round, function, value)) else {
            debug_assert!(false, "the value to remove from the counts was never added to the counts");
            return Round::NEVER;
        };
        it.get_mut().n -= 1;
        if it.get().n > 0 {
            return Round::NEVER;
        }
        let image = it.remove().image;
        if self.image_goes(lattice, round, image) { round } else { Round::NEVER }
    }

    /// Counts the values that arrive along a new edge; `history` holds the value of the edge's source after each
    /// round of the iteration. `against` tells whether the edge leads against the order of components; if so, each
    /// value arrives one round later. Returns the first round in which the join of all incoming values may change;
    /// `Round::NEVER` if the join does not change.
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

    /// Removes the values that arrived along a removed edge from the counters; `history` holds the value of the
    /// edge's source after each round of the iteration. `against` tells whether the edge led against the order of
    /// components; if so, each value arrived one round later. Returns the first round in which the join of all
    /// incoming values may change; `Round::NEVER` if the join does not change.
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

    /// Updates the counters after the value of an edge's source has changed from the round `from` of the iteration
    /// on; `old` and `new` hold the source's value after each round. Returns the first round in which the join of all
    /// incoming values may change; `Round::NEVER` if the join does not change.
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
        // If the basis is broken, the total may be too large from some round on; but then all images are joined
        // again, and the component already waits for that round.
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
            debug_assert!(
                false,
                "the function result to remove from the counts was never added to the counts"
            );
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

    /// Applies the changed functions, for which `is_changed` returns `true`, to the counted values again. The caller
    /// must evaluate the component afterwards, even if this call is cancelled.
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

    /// Returns the join of all incoming values after each round of the iteration.
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

    /// Returns each combination of a round, a function and a value that arrives in this round through this function,
    /// with the number of edges along which the value arrives.
    #[cfg(test)]
    pub(super) fn sources(&self) -> impl Iterator<Item = ((Round, FunctionId, V), u32)> {
        self.sources.iter().map(|(&key, it)| (key, it.n))
    }
}
