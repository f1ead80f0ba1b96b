//! The value of a component after each round.

use crate::solver::Lattice;

/// A round of the iteration: the number of times that something has flowed against the order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Round(pub(super) u32);

impl Round {
    /// The round of what flows along the order only.
    pub(super) const FIRST: Round = Round(0);
    /// Later than all rounds.
    pub(super) const NEVER: Round = Round(u32::MAX);

    /// The round in which something arrives that leaves in this round; `against` tells whether it flows against the
    /// order.
    pub(super) fn through(self, against: bool) -> Round {
        Round(self.0 + u32::from(against))
    }
}

/// A value that grows from round to round.
///
/// ```text
/// round   0   1   2   3   4 …
/// value   a   a   b   b   b      first = a, later = [(2, b)]
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct History<V> {
    first: V,
    /// The rounds in which the value grows, each with the new value. Rounds and values strictly increase.
    later: Vec<(Round, V)>,
}

impl<V: Copy + Eq> History<V> {
    /// A value that is the same in all rounds.
    pub(super) fn constant(value: V) -> Self {
        History { first: value, later: Vec::new() }
    }

    /// The value after the last round.
    pub(super) fn last(&self) -> V {
        self.later.last().map_or(self.first, |it| it.1)
    }

    /// The value if it is the same in all rounds.
    pub(super) fn only(&self) -> Option<V> {
        self.later.is_empty().then_some(self.first)
    }

    /// The last round in which the value grows.
    pub(super) fn last_round(&self) -> Round {
        self.later.last().map_or(Round::FIRST, |it| it.0)
    }

    /// The value after a round.
    pub(super) fn at(&self, round: Round) -> V {
        let n = self.later.partition_point(|it| it.0 <= round);
        n.checked_sub(1).map_or(self.first, |it| self.later[it].1)
    }

    /// The first value, and each later value with the round in which it appears.
    pub(super) fn steps(&self) -> impl Iterator<Item = (Round, V)> {
        std::iter::once((Round::FIRST, self.first)).chain(self.later.iter().copied())
    }

    /// The first round after `round` in which the value grows.
    pub(super) fn next(&self, round: Round) -> Option<Round> {
        self.later.get(self.later.partition_point(|it| it.0 <= round)).map(|it| it.0)
    }

    /// The first round after which two histories differ.
    pub(super) fn difference(&self, other: &Self) -> Option<Round> {
        if self.first != other.first {
            return Some(Round::FIRST);
        }
        let same = self.later.iter().zip(&other.later).take_while(|(a, b)| a == b).count();
        let next = |it: &Self| it.later.get(same).map(|it| it.0);
        next(self).into_iter().chain(next(other)).min()
    }

    /// Removes all growth after a round.
    pub(super) fn cut(&mut self, round: Round) {
        self.later.truncate(self.later.partition_point(|it| it.0 <= round));
    }

    /// Joins in a value that is present from a round on; returns whether that changes anything.
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
