//! The facts that are known about the values of variables at one point of a body.

use bir::body::Var;
use classfile::names::ClassName;

use crate::discharge::Proof;
use crate::reaching::overlap;

/// A fact: a property of the value of a variable, and why the value has this property.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Fact {
    pub(super) var: Var,
    pub(super) what: What,
    pub(super) why: Proof,
}

/// The property of a variable's value that a fact states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    NotNull,
    Null,
    NotZero,
    NotNegative,
    /// The value is the `int` with this number.
    Int(i32),
    /// The value is null or an instance of this class.
    Is(ClassName),
    /// The value is an array, and the value of the given variable is a valid index of the array.
    HasIndex(Var),
    /// The value is an array, and the given number is a valid index of the array.
    HasConstIndex(i32),
    /// The value equals the value of the given variable.
    Same(Var),
}

/// The maximum number of facts that are tracked at one point of a body; further facts are dropped.
const MAX_FACTS: usize = 24;

/// The facts that are known at one point of a body.
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

    /// Returns all facts about the variable.
    pub(super) fn of(&self, var: Var) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(move |it| it.var == var)
    }

    fn push(&mut self, var: Var, what: What, why: Proof) {
        if self.facts.len() < MAX_FACTS && self.why(var, what).is_none() {
            self.facts.push(Fact { var, what, why });
        }
    }

    /// Adds the fact that the value of the variable `var` has the property `what`, with the proof `why`, and the same
    /// fact about the variables that are known to have the same value.
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

    /// Removes the facts that refer to the variable `assigned`, which gets a new value, or to a variable that
    /// overlaps with it. Returns whether a fact was removed.
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

    /// Applies the assignment of the variable `from` to the different variable `to`: removes the facts about the old
    /// value of `to`, and copies the facts about `from` to `to`.
    pub(super) fn copy(&mut self, to: Var, from: Var) {
        self.kill(to);
        // A wide local may have overwritten half of the value that is copied; then nothing is known about that value
        // either.
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

    /// Removes the facts that are not also in `other`, the facts that hold on another path.
    pub(super) fn meet(&mut self, other: &[Fact]) {
        self.facts.retain_mut(|it| meet_one(it, other));
    }
}

/// Returns whether `other`, the facts that hold on another path, contains a fact with the same variable and the same
/// property as `fact`. If that fact has a different proof, the proof of `fact` becomes [`Proof::EveryPath`].
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
