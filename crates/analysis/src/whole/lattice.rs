//! What travels through a program: sets of exceptions in two halves, *known* and *open*, and what rows of exception
//! tables and wrappers do to them (`semantics.md` §3.1).

use classfile::names::ClassName;
use flow::solver::{FunctionId, Lattice};
use flow::universe::{Part, SetId, Universe};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a node lets out. The halves never merge: *known* is what comes out of code that was read, *open* is what
/// code that nobody read may let out besides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value {
    /// What is known to come out.
    pub known: SetId,
    /// What may come out besides.
    pub open: SetId,
}

impl Value {
    /// Nothing.
    pub const NOTHING: Value = Value { known: SetId::EMPTY, open: SetId::EMPTY };

    /// One of the halves.
    pub fn half(self, open: bool) -> SetId {
        if open { self.open } else { self.known }
    }

    /// Only something known.
    pub fn known(known: SetId) -> Self {
        Value { known, ..Value::NOTHING }
    }

    /// Only something open.
    pub fn open(open: SetId) -> Self {
        Value { open, ..Value::NOTHING }
    }
}

/// What becomes of a set on its way: a part of it goes on, and what is taken away may leave something in its place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Filter {
    /// What goes on.
    pub keep: SetId,
    /// If anything of the first is there, the second comes too.
    pub adds: Vec<(SetId, SetId)>,
}

/// The lattice of values of one program.
#[derive(Clone)]
pub struct Exceptions {
    /// The throwable types.
    pub universe: Universe,
    filters: Vec<Filter>,
    ids: FxHashMap<Filter, FunctionId>,
    memo: FxHashMap<(FunctionId, SetId), SetId>,
    /// Of functions that add something, whether they did, a bit for each. Types that come and go may change that; nothing else
    /// that is made of a set is made of all its atoms at once.
    added: FxHashMap<(FunctionId, SetId), u64>,
    /// Those of them that went into values which nobody finds again by themselves.
    constant: FxHashSet<(FunctionId, SetId)>,
}

impl Exceptions {
    /// The lattice over a universe.
    pub fn new(universe: Universe) -> Self {
        let mut acc = Exceptions {
            universe,
            filters: Vec::new(),
            ids: FxHashMap::default(),
            memo: FxHashMap::default(),
            added: FxHashMap::default(),
            constant: FxHashSet::default(),
        };
        let identity = Filter { keep: acc.universe.all(), adds: Vec::new() };
        let first = acc.filter(identity);
        // The solver takes the first function for the identity.
        debug_assert_eq!(first, FunctionId::IDENTITY);
        acc
    }

    /// The function of a filter.
    pub fn filter(&mut self, filter: Filter) -> FunctionId {
        let next = FunctionId(self.filters.len() as u32);
        let id = *self.ids.entry(filter.clone()).or_insert(next);
        if id == next {
            self.filters.push(filter);
        }
        id
    }

    /// What no row of these classes surely catches; `None` catches everything.
    pub fn passing(&mut self, rows: impl Iterator<Item = Option<ClassName>>) -> FunctionId {
        let keep = self.left(rows);
        self.filter(Filter { keep, adds: Vec::new() })
    }

    /// What arrives at a row of class `row` behind rows of these classes.
    pub fn arriving(
        &mut self,
        earlier: impl Iterator<Item = Option<ClassName>>,
        row: Option<ClassName>,
    ) -> FunctionId {
        let left = self.left(earlier);
        let may = self.universe.masks(row).may;
        let keep = self.universe.meet(left, may);
        self.filter(Filter { keep, adds: Vec::new() })
    }

    fn left(&mut self, rows: impl Iterator<Item = Option<ClassName>>) -> SetId {
        let mut left = self.universe.all();
        for row in rows {
            let surely = self.universe.masks(row).surely;
            left = self.universe.minus(left, surely);
        }
        left
    }

    /// What everything but errors becomes: an initialiser's or bootstrap method's way out. `also` comes whenever
    /// anything does.
    pub fn wrapping(&mut self, wrapper: ClassName, also: Option<ClassName>) -> FunctionId {
        let error = self.universe.masks(Some(flow::throwables::well_known().error));
        let not_surely = self.universe.minus(self.universe.all(), error.surely);
        let wrapped = self.universe.exact(wrapper);
        let mut adds = vec![(not_surely, wrapped)];
        if let Some(also) = also {
            let also = self.universe.exact(also);
            adds.push((self.universe.all(), also));
        }
        self.filter(Filter { keep: error.may, adds })
    }

    /// How an open set reads: the classes and cones that it is within, and those that cannot be among it; of the two ways to
    /// say it the shorter one.
    pub fn open_parts(&mut self, set: SetId) -> (Vec<Part>, Vec<Part>) {
        let all = self.universe.all();
        let missing = self.universe.minus(all, set);
        let within = self.universe.known_parts(set);
        let except = self.universe.known_parts_within(missing);
        if within.len() <= 1 + except.len() {
            (within, Vec::new())
        } else {
            (self.universe.known_parts(all), except)
        }
    }

    /// First one function, then a second that adds nothing.
    pub fn then(&mut self, first: FunctionId, second: FunctionId) -> FunctionId {
        if first == FunctionId::IDENTITY {
            return second;
        }
        if second == FunctionId::IDENTITY {
            return first;
        }
        let (a, b) = (self.filters[first.0 as usize].clone(), self.filters[second.0 as usize].clone());
        debug_assert!(b.adds.is_empty(), "rows of exception tables only take away");
        let keep = self.universe.meet(a.keep, b.keep);
        let adds = a.adds.iter().map(|&(when, add)| (when, self.universe.meet(add, b.keep))).collect();
        self.filter(Filter { keep, adds })
    }

    /// The value behind a function.
    pub fn through(&mut self, function: FunctionId, value: Value) -> Value {
        if function == FunctionId::IDENTITY {
            return value;
        }
        let known = self.through_half(function, value.known);
        Value { known, open: self.through_half(function, value.open) }
    }

    /// The same for a value that is kept, and not found again when the function makes something else of it.
    pub fn constant_through(&mut self, function: FunctionId, value: Value) -> Value {
        if !self.filters[function.0 as usize].adds.is_empty() {
            self.constant.extend([(function, value.known), (function, value.open)]);
        }
        self.through(function, value)
    }

    /// The functions that make something else of sets than they did before types came and went; `None` if that is so of kept
    /// values.
    pub fn functions_changed(&mut self) -> Option<Vec<FunctionId>> {
        let mut acc = Vec::new();
        let Exceptions { universe, filters, memo, added, constant, .. } = self;
        let mut kept_changed = false;
        added.retain(|key, before| {
            let same = filters[key.0.0 as usize].added(universe, key.1) == *before;
            if !same {
                kept_changed |= constant.contains(key);
                memo.remove(key);
                acc.push(key.0);
            }
            same
        });
        acc.sort_unstable_by_key(|it| it.0);
        acc.dedup();
        (!kept_changed).then_some(acc)
    }

    /// What of a set must be there before a function so that something of `want` is there behind it.
    pub fn needed(&mut self, function: FunctionId, want: SetId) -> SetId {
        if function == FunctionId::IDENTITY {
            return want;
        }
        let filter = &self.filters[function.0 as usize];
        let mut acc = self.universe.meet(want, filter.keep);
        for &(when, add) in &filter.adds {
            if self.universe.overlaps(add, want) {
                acc = self.universe.join(acc, when);
            }
        }
        acc
    }

    fn through_half(&mut self, function: FunctionId, set: SetId) -> SetId {
        if set == SetId::EMPTY {
            return set;
        }
        if let Some(&it) = self.memo.get(&(function, set)) {
            return it;
        }
        let filter = &self.filters[function.0 as usize];
        let mut acc = self.universe.meet(set, filter.keep);
        if !filter.adds.is_empty() {
            let added = filter.added(&self.universe, set);
            for (_, &(_, add)) in filter.adds.iter().enumerate().filter(|it| added >> it.0 & 1 != 0) {
                acc = self.universe.join(acc, add);
            }
            self.added.insert((function, set), added);
        }
        self.memo.insert((function, set), acc);
        acc
    }
}

impl Filter {
    /// What is added to a set, a bit for each.
    fn added(&self, universe: &Universe, set: SetId) -> u64 {
        debug_assert!(self.adds.len() <= 64, "two are the most");
        let bits = self.adds.iter().enumerate().map(|(i, it)| u64::from(universe.overlaps(set, it.0)) << i);
        bits.fold(0, |acc, it| acc | it)
    }
}

impl Lattice for Exceptions {
    type Value = Value;

    fn bottom(&self) -> Value {
        Value::NOTHING
    }

    fn join(&mut self, a: Value, b: Value) -> Value {
        Value { known: self.universe.join(a.known, b.known), open: self.universe.join(a.open, b.open) }
    }

    fn apply(&mut self, function: FunctionId, a: Value) -> Value {
        self.through(function, a)
    }
}

#[cfg(test)]
mod tests {
    use flow::throwables::well_known;
    use flow::universe::{Parent, Throwable};

    use super::*;

    fn class(name: &str) -> ClassName {
        ClassName::new(name.as_bytes())
    }

    fn below(name: &str, parent: ClassName) -> Throwable {
        Throwable { class: class(name), parent: Parent::Class(parent), extensible: false }
    }

    /// Throwable and Error, in a world without unknown classes.
    fn exceptions() -> Exceptions {
        let throwable = well_known().throwable;
        let top = Throwable { class: throwable, parent: Parent::Root, extensible: false };
        Exceptions::new(Universe::editable(&[top, below("java/lang/Error", throwable)]))
    }

    #[test]
    fn types_that_come_may_wake_a_wrapper_and_those_that_go_let_it_sleep() {
        let mut ex = exceptions();
        let wrapping = ex.wrapping(class("p/W"), None);
        // Nothing but errors, and of what may come all that nobody knows.
        let errors = ex.universe.masks(Some(well_known().error)).may;
        let all = ex.universe.all();
        let errors = Value::known(ex.universe.meet(all, errors));
        let before = ex.through(wrapping, errors).known;
        assert_eq!(ex.functions_changed(), Some(Vec::new()));
        let nowhere = Throwable { class: class("p/X"), parent: Parent::Unknown, extensible: false };
        assert!(ex.universe.add(nowhere));
        assert_eq!(ex.functions_changed(), Some(vec![wrapping]));
        assert_eq!(
            ex.through(wrapping, errors).known,
            ex.universe.all(),
            "p/W is no type, so it is anything"
        );
        assert!(ex.universe.remove(class("p/X")));
        assert_eq!(ex.functions_changed(), Some(vec![wrapping]));
        assert_eq!(ex.through(wrapping, errors).known, before);
    }

    #[test]
    fn a_value_that_is_kept_is_not_found_again() {
        let mut ex = exceptions();
        let wrapping = ex.wrapping(class("p/W"), None);
        let errors = Value::known(ex.universe.masks(Some(well_known().error)).may);
        ex.constant_through(wrapping, errors);
        assert!(ex.universe.add(below("p/E", well_known().error)));
        assert_eq!(ex.functions_changed(), Some(Vec::new()), "it is one more error");
        let nowhere = Throwable { class: class("p/X"), parent: Parent::Unknown, extensible: false };
        assert!(ex.universe.add(nowhere));
        assert_eq!(ex.functions_changed(), None);
    }
}
