//! The value of a component after each round of the iteration.

use crate::solver::Lattice;

/// A round of the iteration: the number of times that a value has flowed against the order of components.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Round(pub(super) u32);

impl Round {
    /// The first round, in which values flow along the order of components only.
    pub(super) const FIRST: Round = Round(0);
    /// A round that compares as later than all others.
    pub(super) const NEVER: Round = Round(u32::MAX);

    /// Returns the round in which a value arrives at the end of an edge if it leaves the source in this round: the
    /// next round if the edge leads `against` the order of components, else the same.
    pub(super) fn through(self, against: bool) -> Round {
        Round(self.0 + u32::from(against))
    }
}

/// The value of a component after each round; the value grows from round to round.
///
/// ```text
/// round   0   1   2   3   4 …
/// value   a   a   b   b   b      first = a, later = [(2, b)]
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct History<V> {
    first: V,
    /// The rounds after the first in which the value grows, each with the new value. Rounds and values strictly
    /// increase.
    later: Vec<(Round, V)>,
}

impl<V: Copy + Eq> History<V> {
    /// Returns the history of a value that is the same in all rounds.
    pub(super) fn constant(value: V) -> Self {
        History { first: value, later: Vec::new() }
    }

    /// Returns the value after the last round.
    pub(super) fn last(&self) -> V {
        self.later.last().map_or(self.first, |it| it.1)
    }

    /// Returns the value if it is the same in all rounds, else `None`.
    pub(super) fn only(&self) -> Option<V> {
        self.later.is_empty().then_some(self.first)
    }

    /// Returns the last round in which the value grows; the first round if the value never grows.
    pub(super) fn last_round(&self) -> Round {
        self.later.last().map_or(Round::FIRST, |it| it.0)
    }

    /// Returns the value after a round.
    pub(super) fn at(&self, round: Round) -> V {
        let n = self.later.partition_point(|it| it.0 <= round);
        n.checked_sub(1).map_or(self.first, |it| self.later[it].1)
    }

    /// Returns the different values, each with the round in which it appears, starting with the first round.
    pub(super) fn steps(&self) -> impl Iterator<Item = (Round, V)> {
        std::iter::once((Round::FIRST, self.first)).chain(self.later.iter().copied())
    }

    /// Returns the first round after `round` in which the value grows, if any.
    pub(super) fn next(&self, round: Round) -> Option<Round> {
        self.later.get(self.later.partition_point(|it| it.0 <= round)).map(|it| it.0)
    }

    /// Returns the first round after which the values of two histories differ; `None` if the histories are equal.
    pub(super) fn difference(&self, other: &Self) -> Option<Round> {
        if self.first != other.first {
            return Some(Round::FIRST);
        }
        let same = self.later.iter().zip(&other.later).take_while(|(a, b)| a == b).count();
        let next = |it: &Self| it.later.get(same).map(|it| it.0);
        next(self).into_iter().chain(next(other)).min()
    }

    /// Makes the value after `round` the value of all later rounds.
    pub(super) fn cut(&mut self, round: Round) {
        self.later.truncate(self.later.partition_point(|it| it.0 <= round));
    }

    /// Joins `value` into the values of `round` and of all later rounds. Returns whether this changes any of them.
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
