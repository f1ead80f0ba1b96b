//! What travels through a program: sets of exceptions in two halves, *known* and *open*, and what rows of exception
//! tables and wrappers do to them (`semantics.md` §3.1).

use classfile::names::ClassName;
use flow::solver::{FunctionId, Lattice};
use flow::universe::{SetId, Universe};
use rustc_hash::FxHashMap;

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

    /// Only something known.
    pub fn known(known: SetId) -> Self {
        Value { known, ..Value::NOTHING }
    }

    /// Only something open.
    pub fn open(open: SetId) -> Self {
        Value { open, ..Value::NOTHING }
    }

    /// Whether nothing comes out.
    pub fn is_nothing(self) -> bool {
        self == Value::NOTHING
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
}

impl Exceptions {
    /// The lattice over a universe.
    pub fn new(universe: Universe) -> Self {
        let mut acc = Exceptions {
            universe,
            filters: Vec::new(),
            ids: FxHashMap::default(),
            memo: FxHashMap::default(),
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

    /// What of a set must be there before a function so that something of `want` is there behind it.
    pub fn needed(&mut self, function: FunctionId, want: SetId) -> SetId {
        if function == FunctionId::IDENTITY {
            return want;
        }
        let filter = self.filters[function.0 as usize].clone();
        let mut acc = self.universe.meet(want, filter.keep);
        for (when, add) in filter.adds {
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
        for &(when, add) in &filter.adds {
            if self.universe.overlaps(set, when) {
                acc = self.universe.join(acc, add);
            }
        }
        self.memo.insert((function, set), acc);
        acc
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
