//! The lattice of exceptions. A value consists of two sets, the *known* and the *open* half. The transfer functions
//! are those of exception-table rows and of wrappers (`semantics.md` §3.1).

use classfile::names::{ClassName, MethodRef};
use flow::solver::{FunctionId, Lattice, NodeId};
use flow::universe::{Part, SetId, Universe};
use program::members::MethodId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::sites::{Node, Open};

/// The exceptions that a node lets out. The halves are never merged: *known* exceptions come out of code that was
/// read, *open* exceptions may come out of code that was not read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value {
    /// The exceptions that are known to be let out.
    pub known: SetId,
    /// Further exceptions that may be let out, by unknown code.
    pub open: SetId,
}

impl Value {
    /// The value without exceptions.
    pub const NOTHING: Value = Value { known: SetId::EMPTY, open: SetId::EMPTY };

    /// Returns the open half if `open` is true, otherwise the known half.
    pub fn half(self, open: bool) -> SetId {
        if open { self.open } else { self.known }
    }

    /// Returns a value with this known half and an empty open half.
    pub fn known(known: SetId) -> Self {
        Value { known, ..Value::NOTHING }
    }

    /// Returns a value with this open half and an empty known half.
    pub fn open(open: SetId) -> Self {
        Value { open, ..Value::NOTHING }
    }
}

/// A transfer function: keeps part of its input set, and may add other sets, depending on what the input contains.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Filter {
    /// The exceptions that the function keeps if they are in the input.
    pub keep: SetId,
    /// Pairs of sets. If the input overlaps the first set, the function adds the second set.
    pub adds: Vec<(SetId, SetId)>,
}

/// The reason why a set of exceptions is open, at the origin of the open part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OpenCause {
    /// A call may run unknown methods, for this reason.
    Call(Open),
    /// The initialiser of this absent class, or that of a class above it, is unknown.
    Initializer(ClassName),
    /// The bootstrap method has no model, so it may link any code.
    Bootstrap(MethodRef),
    /// The effect of this native method is not known.
    Native(MethodId),
    /// The code of this method cannot be read.
    MissingCode(MethodId),
    /// This method is a ghost: its code is not written yet.
    Ghost(MethodId),
}

/// The value that arises at a node itself, and the nodes whose values are included, each through a transfer function.
pub(super) type Inclusions = (Value, Vec<(NodeId, FunctionId)>);

/// Exceptions that an instruction lets out, before the exception table of the method applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// A value that arises at the instruction itself, with the reason why its open half is open (`None` if that half
    /// is empty).
    Value(Value, Option<OpenCause>),
    /// The value of another node.
    Node(Node),
    /// The value of a node, after a transfer function.
    Through(Node, FunctionId),
    /// A value that arises at the instruction itself and has passed through a transfer function, with the reason why
    /// its open half is open.
    Wrapped(Value, OpenCause),
}

/// The lattice of the values of one program.
#[derive(Clone)]
pub struct Exceptions {
    /// The throwable types of the program.
    pub universe: Universe,
    filters: Vec<Filter>,
    ids: FxHashMap<Filter, FunctionId>,
    memo: FxHashMap<(FunctionId, SetId), SetId>,
    /// For each result of a function that adds sets, the sets that were added, one bit each. These bits are all that
    /// may change when types are added or removed, because every other operation treats each atom of a set alike.
    added: FxHashMap<(FunctionId, SetId), u64>,
    /// The results in `added` that are part of values which are not recomputed when types change.
    constant: FxHashSet<(FunctionId, SetId)>,
}

impl Flow {
    /// Returns the flow with a further transfer function after it.
    pub(super) fn behind(self, ex: &mut Exceptions, function: FunctionId) -> Flow {
        match self {
            Flow::Value(value, None) => Flow::Value(ex.constant_through(function, value), None),
            Flow::Value(value, Some(why)) | Flow::Wrapped(value, why) => {
                Flow::Wrapped(ex.constant_through(function, value), why)
            }
            Flow::Node(of) => Flow::Through(of, function),
            Flow::Through(of, first) => Flow::Through(of, ex.then(first, function)),
        }
    }
}

impl Exceptions {
    /// Creates the lattice over a universe of throwable types.
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
        // The solver treats the function with the first id as the identity.
        debug_assert_eq!(first, FunctionId::IDENTITY);
        acc
    }

    /// Returns the id of a transfer function.
    pub fn filter(&mut self, filter: Filter) -> FunctionId {
        let next = FunctionId::from_index(self.filters.len());
        let id = *self.ids.entry(filter.clone()).or_insert(next);
        if id == next {
            self.filters.push(filter);
        }
        id
    }

    /// Returns the function of exception-table rows that do not catch an exception: keeps the exceptions that none of
    /// the rows surely catches. A row for `None` catches everything.
    pub fn passing(&mut self, rows: impl Iterator<Item = Option<ClassName>>) -> FunctionId {
        let keep = self.left(rows);
        self.filter(Filter { keep, adds: Vec::new() })
    }

    /// Returns the function that keeps the exceptions that may arrive at the handler of a row for `row` after
    /// `earlier` rows; `None` catches everything.
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

    /// Returns the function that keeps errors and replaces every other exception by `wrapper`, as initialisers and
    /// bootstrap methods do. If the input is not empty, the function also adds `also`.
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

    /// Returns the classes and cones that contain an open set, and those that cannot be in it, for output. Of two
    /// possible descriptions, returns the shorter.
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

    /// Returns the composition of two functions. `first` is applied first, and `second` must be a function that adds
    /// nothing.
    pub fn then(&mut self, first: FunctionId, second: FunctionId) -> FunctionId {
        if first == FunctionId::IDENTITY {
            return second;
        }
        if second == FunctionId::IDENTITY {
            return first;
        }
        let (a, b) = (self.filters[first.index()].clone(), self.filters[second.index()].clone());
        debug_assert!(
            b.adds.is_empty(),
            "the second function, that of an exception-table row, must not add exceptions"
        );
        let keep = self.universe.meet(a.keep, b.keep);
        let adds = a.adds.iter().map(|&(when, add)| (when, self.universe.meet(add, b.keep))).collect();
        self.filter(Filter { keep, adds })
    }

    /// Returns the result of applying a transfer function to a value.
    pub fn through(&mut self, function: FunctionId, value: Value) -> Value {
        if function == FunctionId::IDENTITY {
            return value;
        }
        let known = self.through_half(function, value.known);
        Value { known, open: self.through_half(function, value.open) }
    }

    /// Returns the result of applying a function to a value, for a caller that keeps the result and does not
    /// recompute it when types change.
    pub fn constant_through(&mut self, function: FunctionId, value: Value) -> Value {
        if !self.filters[function.index()].adds.is_empty() {
            self.constant.extend([(function, value.known), (function, value.open)]);
        }
        self.through(function, value)
    }

    /// Returns the functions whose results on some set changed because types were added or removed. Returns `None` if
    /// one of these results was returned by [`Exceptions::constant_through`], so that its user keeps an outdated
    /// value.
    pub fn functions_changed(&mut self) -> Option<Vec<FunctionId>> {
        let mut acc = Vec::new();
        let Exceptions { universe, filters, memo, added, constant, .. } = self;
        let mut kept_changed = false;
        added.retain(|key, before| {
            let same = filters[key.0.index()].added(universe, key.1) == *before;
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

    /// Returns the exceptions that the function can turn into an exception of `want`, or let through as one.
    pub fn needed(&mut self, function: FunctionId, want: SetId) -> SetId {
        if function == FunctionId::IDENTITY {
            return want;
        }
        let filter = &self.filters[function.index()];
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
        let filter = &self.filters[function.index()];
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
    /// Returns the sets of `adds` that are added to this input, as one bit for each.
    fn added(&self, universe: &Universe, set: SetId) -> u64 {
        debug_assert!(self.adds.len() <= 64, "a filter must not add more than 64 sets");
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

    /// Returns a lattice with Throwable and Error, in a world without unknown classes.
    fn exceptions() -> Exceptions {
        let throwable = well_known().throwable;
        let top = Throwable { class: throwable, parent: Parent::Root, extensible: false };
        Exceptions::new(Universe::editable(&[top, below("java/lang/Error", throwable)]))
    }

    #[test]
    fn adding_and_removing_types_changes_what_a_wrapper_adds() {
        let mut ex = exceptions();
        let wrapping = ex.wrapping(class("p/W"), None);
        // Errors, and the part of unknown types that may be errors.
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
            "p/W is not a known type, so it stands for everything"
        );
        assert!(ex.universe.remove(class("p/X")));
        assert_eq!(ex.functions_changed(), Some(vec![wrapping]));
        assert_eq!(ex.through(wrapping, errors).known, before);
    }

    #[test]
    fn a_changed_constant_rules_out_a_list_of_changed_functions() {
        let mut ex = exceptions();
        let wrapping = ex.wrapping(class("p/W"), None);
        let errors = Value::known(ex.universe.masks(Some(well_known().error)).may);
        ex.constant_through(wrapping, errors);
        assert!(ex.universe.add(below("p/E", well_known().error)));
        assert_eq!(ex.functions_changed(), Some(Vec::new()), "p/E is only a further error");
        let nowhere = Throwable { class: class("p/X"), parent: Parent::Unknown, extensible: false };
        assert!(ex.universe.add(nowhere));
        assert_eq!(ex.functions_changed(), None);
    }
}
