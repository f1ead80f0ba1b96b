//! What is known of the values of variables at one place.

use bir::body::Var;
use classfile::names::ClassName;

use crate::discharge::Proof;
use crate::reaching::overlap;

/// Something about the value of a variable, and how it is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Fact {
    pub(super) var: Var,
    pub(super) what: What,
    pub(super) why: Proof,
}

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    NotNull,
    Null,
    NotZero,
    NotNegative,
    /// It is this int.
    Int(i32),
    /// It is null or of this class.
    Is(ClassName),
    /// It is an array, and the value of this variable is an index of it.
    HasIndex(Var),
    /// It is an array, and this number is an index of it.
    HasConstIndex(i32),
    /// It is the value of this other variable.
    Same(Var),
}

/// More facts than this at one place are not kept: the first ones stay.
const MAX_FACTS: usize = 24;

/// The facts at one place.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    facts: Vec<Fact>,
}

impl State {
    pub(super) fn clear(&mut self) {
        self.facts.clear();
    }

    pub(super) fn copy_from(&mut self, facts: &[Fact]) {
        self.facts.clear();
        self.facts.extend_from_slice(facts);
    }

    pub(super) fn facts(&self) -> &[Fact] {
        &self.facts
    }

    pub(super) fn why(&self, var: Var, what: What) -> Option<Proof> {
        self.facts.iter().find(|it| it.var == var && it.what == what).map(|it| it.why)
    }

    /// All that is known of the variable.
    pub(super) fn of(&self, var: Var) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(move |it| it.var == var)
    }

    fn push(&mut self, var: Var, what: What, why: Proof) {
        if self.facts.len() < MAX_FACTS && self.why(var, what).is_none() {
            self.facts.push(Fact { var, what, why });
        }
    }

    /// Learns something about the value of the variable, which others may hold as well.
    pub(super) fn learn(&mut self, var: Var, what: What, why: Proof) {
        self.push(var, what, why);
        for i in 0..self.facts.len() {
            match self.facts[i] {
                Fact { var: it, what: What::Same(other), .. } if it == var => self.push(other, what, why),
                Fact { var: other, what: What::Same(it), .. } if it == var => self.push(other, what, why),
                _ => {}
            }
        }
    }

    /// The place of the variable gets another value.
    pub(super) fn kill(&mut self, assigned: Var) -> bool {
        if self.facts.is_empty() {
            return false;
        }
        let before = self.facts.len();
        self.facts.retain(|it| {
            let through = match it.what {
                What::HasIndex(other) | What::Same(other) => overlap(assigned, other),
                _ => false,
            };
            !through && !overlap(assigned, it.var)
        });
        self.facts.len() != before
    }

    /// `to := from`, where both are different places. What was known of `to` is forgotten.
    pub(super) fn copy(&mut self, to: Var, from: Var) {
        self.kill(to);
        // A wide local may have overwritten half of what is copied; then nothing is known of it either.
        if overlap(to, from) {
            return;
        }
        for i in 0..self.facts.len() {
            let Fact { var, what, why } = self.facts[i];
            match what {
                _ if var == from => self.push(to, what, why),
                What::Same(it) if it == from => self.push(to, What::Same(var), why),
                What::HasIndex(it) if it == from => self.push(var, What::HasIndex(to), why),
                _ => {}
            }
        }
        self.push(to, What::Same(from), Proof::Type);
    }

    /// Keeps what `other` knows as well.
    pub(super) fn meet(&mut self, other: &[Fact]) {
        self.facts.retain_mut(|it| meet_one(it, other));
    }
}

/// Whether the fact is among the others; when they know it otherwise, it becomes
/// [`Proof::EveryPath`].
pub(super) fn meet_one(fact: &mut Fact, other: &[Fact]) -> bool {
    match other.iter().find(|it| it.var == fact.var && it.what == fact.what) {
        Some(it) => {
            if it.why != fact.why {
                fact.why = Proof::EveryPath;
            }
            true
        }
        None => false,
    }
}
