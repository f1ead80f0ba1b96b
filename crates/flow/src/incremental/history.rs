//! The value of a component after each round of the iteration.

use crate::solver::Lattice;

/// A round of the fixpoint iteration. A value belongs to round `k` if, on its way, it has flowed `k` times along an
/// edge that leads against the order of components.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Round(pub(super) u32);

impl Round {
    /// The first round, in which values flow only along edges that follow the order of components.
    pub(super) const FIRST: Round = Round(0);
    /// The value that stands for "in no round". It compares as later than all rounds.
    pub(super) const NEVER: Round = Round(u32::MAX);

    /// Returns the round of the iteration in which a value arrives at the end of an edge if it leaves the start of
    /// the edge in the round `self`. This is the next round if the edge leads against the order of components
    /// (`against` is set), else the same round.
    pub(super) fn through(self, against: bool) -> Round {
        Round(self.0 + u32::from(against))
    }
}

/// The value of a component after each round of the fixpoint iteration. The value never shrinks from one round to the
/// next.
///
/// ```text
/// round   0   1   2   3   4 …
/// value   a   a   b   b   b      first = a, later = [(2, b)]
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct History<V> {
    first: V,
    /// The rounds after the first in which the value grows, each with the new value. Both rounds and values are
    /// strictly increasing.
    later: Vec<(Round, V)>,
}

impl<V: Copy + Eq> History<V> {
    /// Returns the history of a component whose value is `value` after every round.
    pub(super) fn constant(value: V) -> Self {
        History { first: value, later: Vec::new() }
    }

    /// Returns the value after the last round of the iteration.
    pub(super) fn last(&self) -> V {
        self.later.last().map_or(self.first, |it| it.1)
    }

    /// Returns the value if it is the same after all rounds; `None` if it grows in a round after the first.
    pub(super) fn only(&self) -> Option<V> {
        self.later.is_empty().then_some(self.first)
    }

    /// Returns the last round in which the value grows; the first round if the value is the same after all rounds.
    pub(super) fn last_round(&self) -> Round {
        self.later.last().map_or(Round::FIRST, |it| it.0)
    }

    /// Returns the value after the round `round` of the iteration.
    pub(super) fn at(&self, round: Round) -> V {
        let n = self.later.partition_point(|it| it.0 <= round);
        n.checked_sub(1).map_or(self.first, |it| self.later[it].1)
    }

    /// Returns the different values, each with the first round after which the component has it; the first pair is
    /// that of the first round.
    pub(super) fn steps(&self) -> impl Iterator<Item = (Round, V)> {
        std::iter::once((Round::FIRST, self.first)).chain(self.later.iter().copied())
    }

    /// Returns the first round after `round` in which the value grows; `None` if the value does not grow after
    /// `round`.
    pub(super) fn next(&self, round: Round) -> Option<Round> {
        self.later.get(self.later.partition_point(|it| it.0 <= round)).map(|it| it.0)
    }

    /// Returns the first round after which the values of the two histories differ; `None` if the histories are equal.
    pub(super) fn difference(&self, other: &Self) -> Option<Round> {
        if self.first != other.first {
            return Some(Round::FIRST);
        }
        let same = self.later.iter().zip(&other.later).take_while(|(a, b)| a == b).count();
        let next = |it: &Self| it.later.get(same).map(|it| it.0);
        next(self).into_iter().chain(next(other)).min()
    }

    /// Sets the value after each round later than `round` to the value after `round`.
    pub(super) fn cut(&mut self, round: Round) {
        self.later.truncate(self.later.partition_point(|it| it.0 <= round));
    }

    /// Joins `value` into the value after `round` and the values after all later rounds. Returns whether any of these
    /// values changed.
    pub(super) fn raise<L: Lattice<Value = V>>(&mut self, lattice: &mut L, round: Round, value: V) -> bool {
        let before = self.at(round);
        let joined = lattice.join(before, value);
        if joined == before {
            return false;
        }
        let mut n = self.later.partition_point(|it| it.0 < round);
        if round == Round::FIRST {
            self.first = joined;
        } else {
            if self.later.get(n).is_some_and(|it| it.0 == round) {
                self.later[n].1 = joined;
            } else {
                self.later.insert(n, (round, joined));
            }
            n += 1;
        }
        let mut before = joined;
        let mut kept = n;
        for i in n..self.later.len() {
            let (round, old) = self.later[i];
            let joined = lattice.join(old, value);
            if joined != before {
                self.later[kept] = (round, joined);
                kept += 1;
                before = joined;
            }
        }
        self.later.truncate(kept);
        true
    }
}
