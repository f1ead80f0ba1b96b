//! The lattice of exceptions. A value consists of two sets, the *known* and the *open* half. The transfer functions
//! are those of exception-table rows and of wrappers (`semantics.md` §3.1).

use classfile::names::{ClassName, MethodRef};
use flow::solver::{FunctionId, Lattice, NodeId};
use flow::universe::{Part, SetId, Universe};
use program::members::MethodId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::sites::{Node, Open};

/// The exceptions that a node of the system of inclusions lets out, in two halves that are never merged: *known*
/// exceptions arise in code that was read, *open* exceptions may arise in code that was not read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value {
    /// The exceptions that are known to be let out.
    pub known: SetId,
    /// Further exceptions that unknown code may let out.
    pub open: SetId,
}

impl Value {
    /// The value without exceptions.
    pub const NOTHING: Value = Value { known: SetId::EMPTY, open: SetId::EMPTY };

    /// Returns the set `open` if the argument is true, otherwise the set `known`.
    pub fn half(self, open: bool) -> SetId {
        if open { self.open } else { self.known }
    }

    /// Returns a value with this set of known exceptions and without open exceptions.
    pub fn known(known: SetId) -> Self {
        Value { known, ..Value::NOTHING }
    }

    /// Returns a value with this set of open exceptions and without known exceptions.
    pub fn open(open: SetId) -> Self {
        Value { open, ..Value::NOTHING }
    }
}

/// A transfer function on sets of exceptions. It keeps part of its input, and may add other sets, depending on what
/// the input contains.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Filter {
    /// The exceptions that the function keeps if they are in the input.
    pub keep: SetId,
    /// Pairs of sets. If the input overlaps the first set of a pair, the function adds the second set to its result.
    pub adds: Vec<(SetId, SetId)>,
}

/// The reason why exceptions are open, at the place where they arise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OpenCause {
    /// The exceptions come from a call that may run unknown methods, for this reason.
    Call(Open),
    /// The exceptions come from the initialisation of this absent class. Its initialiser, or that of a class above
    /// it, is unknown.
    Initializer(ClassName),
    /// The exceptions come from this bootstrap method. The analysis has no model of this method, so linking a call
    /// site or dynamic constant by it may run any code.
    Bootstrap(MethodRef),
    /// The exceptions come from this native method, whose effect is not known.
    Native(MethodId),
    /// The exceptions come from this method, whose code cannot be read.
    MissingCode(MethodId),
    /// The exceptions come from this method, which is a ghost: its code is not written yet.
    Ghost(MethodId),
}

/// The inclusions of a node: the exceptions that arise at the node itself, and the nodes whose exceptions it
/// includes, each through a transfer function.
pub(super) type Inclusions = (Value, Vec<(NodeId, FunctionId)>);

/// Exceptions that a part of a program, for example an instruction, lets out, before an exception table catches any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Exceptions that arise at the instruction itself, with the reason why some of them are open (`None` if none
    /// are).
    Value(Value, Option<OpenCause>),
    /// All exceptions that this node lets out.
    Node(Node),
    /// The exceptions that this node lets out, after a transfer function was applied to them.
    Through(Node, FunctionId),
    /// Exceptions that arose at the instruction itself and were then changed by a transfer function, with the reason
    /// why some of them are open.
    Wrapped(Value, OpenCause),
}

/// The lattice of the exception sets of one program, with the transfer functions on these sets.
#[derive(Clone)]
pub struct Exceptions {
    /// The throwable types of the program, of which the sets consist.
    pub universe: Universe,
    filters: Vec<Filter>,
    ids: FxHashMap<Filter, FunctionId>,
    memo: FxHashMap<(FunctionId, SetId), SetId>,
    /// For each transfer function that adds sets and each input to which it was applied, the sets that it added: bit
    /// `i` stands for pair `i` of [`Filter::adds`]. If throwable types are added or removed, an entry is outdated
    /// only if its bits would now differ. The results of all other set operations remain right.
    added: FxHashMap<(FunctionId, SetId), u64>,
    /// Those keys of `added` whose results are stored in values that are not recomputed when throwable types are
    /// added or removed.
    constant: FxHashSet<(FunctionId, SetId)>,
}

impl Flow {
    /// Returns this flow with the transfer function `function` applied to its exceptions.
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
    /// Creates the lattice of the sets of these throwable types.
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

    /// Returns the id of this transfer function; equal functions have the same id.
    pub fn filter(&mut self, filter: Filter) -> FunctionId {
        let next = FunctionId::from_index(self.filters.len());
        let id = *self.ids.entry(filter.clone()).or_insert(next);
        if id == next {
            self.filters.push(filter);
        }
        id
    }

    /// Returns the transfer function for exceptions that pass exception-table rows without being caught: it keeps the
    /// exceptions that none of the rows surely catches. A row is given by its catch type; `None` catches everything.
    pub fn passing(&mut self, rows: impl Iterator<Item = Option<ClassName>>) -> FunctionId {
        let keep = self.left(rows);
        self.filter(Filter { keep, adds: Vec::new() })
    }

    /// Returns the transfer function that keeps the exceptions that may arrive at the handler of the row `row`, if
    /// the rows `earlier` are searched before it. A row is given by its catch type; `None` catches everything.
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

    /// Returns the transfer function that keeps errors and replaces every other exception by `wrapper`, as the VM
    /// does with exceptions of initialisers and bootstrap methods. If `also` is given and the input is not empty, the
    /// function adds `also` as well.
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

    /// Returns a description of an open set for output: the classes and cones that contain the set, and those whose
    /// exceptions cannot be in it. Of two possible descriptions, returns the shorter.
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

    /// Returns the composition of two transfer functions: `first` is applied first. `second` must not add sets. The
    /// composition remains right when throwable types are added or removed.
    pub fn then(&mut self, first: FunctionId, second: FunctionId) -> FunctionId {
        debug_assert!(
            second == FunctionId::IDENTITY || self.filters[second.index()].adds.is_empty(),
            "the second of two composed transfer functions must not add exceptions"
        );
        self.composed(first, second)
    }

    /// Returns the composition of two transfer functions: `first` is applied first. If `second` adds sets, the composition is
    /// right as long as no throwable type is added or removed.
    pub fn composed(&mut self, first: FunctionId, second: FunctionId) -> FunctionId {
        if first == FunctionId::IDENTITY {
            return second;
        }
        if second == FunctionId::IDENTITY {
            return first;
        }
        let (a, b) = (self.filters[first.index()].clone(), self.filters[second.index()].clone());
        let keep = self.universe.meet(a.keep, b.keep);
        let mut adds: Vec<_> =
            a.adds.iter().map(|&(when, add)| (when, self.universe.meet(add, b.keep))).collect();
        // The second function adds a set if the first one keeps or adds an exception that causes it.
        for &(when, add) in &b.adds {
            adds.push((self.universe.meet(a.keep, when), add));
            adds.extend(a.adds.iter().filter(|it| self.universe.overlaps(it.1, when)).map(|it| (it.0, add)));
        }
        let adds = self.normal(adds);
        self.filter(Filter { keep, adds })
    }

    /// Returns the join of two transfer functions, which returns for each set the join of their results.
    pub fn either(&mut self, a: FunctionId, b: FunctionId) -> FunctionId {
        if a == b {
            return a;
        }
        let (a, b) = (self.filters[a.index()].clone(), self.filters[b.index()].clone());
        let keep = self.universe.join(a.keep, b.keep);
        let adds = self.normal(a.adds.into_iter().chain(b.adds).collect());
        self.filter(Filter { keep, adds })
    }

    /// Returns whether a transfer function returns nothing for every set.
    pub fn is_void(&self, function: FunctionId) -> bool {
        let it = &self.filters[function.index()];
        it.keep == SetId::EMPTY && it.adds.is_empty()
    }

    /// Returns the same additions with one condition for each added set, in the order of the added sets. Additions that
    /// never happen or add nothing are left out.
    fn normal(&mut self, mut adds: Vec<(SetId, SetId)>) -> Vec<(SetId, SetId)> {
        let universe = &mut self.universe;
        // Sets that are empty only as long as no type is added are kept.
        adds.retain(|it| it.0 != SetId::EMPTY && it.1 != SetId::EMPTY);
        adds.sort_unstable_by_key(|it| it.1.index());
        let mut acc: Vec<(SetId, SetId)> = Vec::with_capacity(adds.len());
        for (when, add) in adds {
            match acc.last_mut() {
                Some(last) if last.1 == add => last.0 = universe.join(last.0, when),
                _ => acc.push((when, add)),
            }
        }
        acc
    }

    /// Returns the result of applying a transfer function to a value.
    pub fn through(&mut self, function: FunctionId, value: Value) -> Value {
        if function == FunctionId::IDENTITY {
            return value;
        }
        let known = self.through_half(function, value.known);
        Value { known, open: self.through_half(function, value.open) }
    }

    /// Returns the result of applying a transfer function to a value, for callers that store the result and do not
    /// recompute it when throwable types are added or removed.
    pub fn constant_through(&mut self, function: FunctionId, value: Value) -> Value {
        if !self.filters[function.index()].adds.is_empty() {
            self.constant.extend([(function, value.known), (function, value.open)]);
        }
        self.through(function, value)
    }

    /// Returns the transfer functions whose result for some set changed because throwable types were added or
    /// removed. Returns `None` if such a result was returned by [`Exceptions::constant_through`]: then a stored value
    /// is outdated.
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

    /// Returns the exceptions that, as input of `function`, can cause an exception of `want` in the result: those of
    /// `want` that the function keeps, and those because of which it adds an exception of `want`.
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
    /// Returns which sets of `adds` the function adds for the input `set`: bit `i` stands for pair `i`.
    fn added(&self, universe: &Universe, set: SetId) -> u64 {
        debug_assert!(self.adds.len() <= 64, "a transfer function must not add more than 64 exception sets");
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
    fn compositions_and_joins_of_functions_have_the_results_of_the_functions() {
        let mut ex = exceptions();
        for name in ["p/A", "p/B"] {
            assert!(ex.universe.add(below(name, well_known().throwable)));
        }
        assert!(ex.universe.add(below("p/E", well_known().error)));
        let names = ["p/A", "p/B", "p/E", "java/lang/Error", "java/lang/Throwable"].map(class);
        let mut sets = vec![SetId::EMPTY];
        for name in names {
            let (exact, cone) = (ex.universe.exact(name), ex.universe.cone(name));
            sets.extend([exact, cone]);
        }
        let all = ex.universe.all();
        for i in 0..sets.len() {
            let without = ex.universe.minus(all, sets[i]);
            sets.push(without);
        }
        let mut rng = test_utils::rng::Rng::new(7);
        let mut filter = |ex: &mut Exceptions| {
            let mut pick = || *rng.pick(&sets).unwrap();
            let (keep, n) = (pick(), pick().index() % 3);
            let adds = (0..n).map(|_| (pick(), pick())).collect();
            ex.filter(Filter { keep, adds })
        };
        let (mut n_adding, mut n_void) = (0, 0);
        for _ in 0..test_utils::tier::rounds(2_000, 50_000) {
            let (a, b) = (filter(&mut ex), filter(&mut ex));
            let (then, either) = (ex.composed(a, b), ex.either(a, b));
            n_adding += usize::from(!ex.filters[then.index()].adds.is_empty());
            let mut results = FxHashSet::default();
            for &set in &sets {
                let input = Value::known(set);
                let first = ex.through(a, input);
                assert_eq!(ex.through(then, input), ex.through(b, first));
                let second = ex.through(b, input);
                assert_eq!(ex.through(either, input), ex.join(first, second));
                results.insert(ex.through(then, input).known);
            }
            n_void += usize::from(ex.is_void(then));
            assert!(!ex.is_void(then) || results.iter().all(|it| *it == SetId::EMPTY));
        }
        assert!(n_adding > 500 && n_void > 20, "{n_adding}, {n_void}");
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
