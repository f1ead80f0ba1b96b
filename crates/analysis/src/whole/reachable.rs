//! The result of a reachability search from the entry points of a program, as data; [`super::reach`] computes it.

use flow::fuel::{Cancelled, Fuel};
use program::hierarchy::ClassId;
use program::members::MethodId;
use program::names::Text;
use rustc_hash::{FxHashMap, FxHashSet};

use super::sites::{DispatchId, Target};

/// A method through which control can enter a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EntryPoint {
    /// The method.
    pub method: MethodId,
    /// Why the method is an entry point.
    pub why: EntryReason,
}

/// Why a method is an entry point.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EntryReason {
    /// The launcher runs it when it is given this class (JLS §12.1.4).
    Main(Text),
    /// The launcher creates an object of this class with it, to run its `main`.
    MainObject(Text),
    /// The launcher initialises this class, which inherits its `main` or has no `main` that can run.
    MainClass(Text),
    /// The manifest names its class as an agent, by this attribute (`java.lang.instrument`).
    Agent(Text),
    /// It creates a provider of this service (`java.util.ServiceLoader`).
    Service(Text),
    /// Code of absent classes may call it.
    Callable,
    /// Code of absent classes may create objects with it.
    Constructible,
    /// Code of absent classes may call it, or override it and call it by `super`.
    Overridable,
    /// Initialising its class runs it, and code of absent classes may initialise the class.
    Initializer,
    /// The user named it.
    Selected,
}

/// How control first reached a method, in the order of the search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum From {
    /// It is the entry point with this number.
    Entry(u32),
    /// The VM calls it by itself, or creates an object of its class.
    Vm,
    /// Code of an absent class may call it.
    Outside,
    /// This method calls it, initialises its class, or creates an object on which it is called back.
    Method(MethodId),
}

/// The methods and classes that a reachability search reached.
#[derive(Clone, Debug)]
pub struct Reachable {
    /// The entry points.
    pub entries: Vec<EntryPoint>,
    pub(super) methods: FxHashMap<MethodId, From>,
    pub(super) made: FxHashSet<ClassId>,
    /// For each dispatch, the targets that created receivers select; sorted.
    pub(super) selected: Vec<Vec<Target>>,
}

impl Reachable {
    /// Returns how control first reached the method; `None` if it is not reached.
    pub fn from(&self, method: MethodId) -> Option<From> {
        self.methods.get(&method).copied()
    }

    /// Returns the number of reached methods.
    pub fn len(&self) -> usize {
        self.methods.len()
    }

    /// Returns whether no method is reached.
    pub fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }

    /// Returns whether reached code creates an object of exactly this class.
    pub fn is_made(&self, class: ClassId) -> bool {
        self.made.contains(&class)
    }

    /// Returns whether a receiver that reached code creates selects the target.
    pub(super) fn is_selected(&self, dispatch: DispatchId, target: Target) -> bool {
        self.selected_of(dispatch).binary_search(&target).is_ok()
    }

    fn selected_of(&self, dispatch: DispatchId) -> &[Target] {
        self.selected.get(dispatch.index()).map_or(&[], |it| it)
    }

    /// Returns the dispatches for which created receivers select other targets than in `before`.
    ///
    /// # Errors
    /// [`Cancelled`] if the work is no longer wanted.
    pub(super) fn other_dispatches(
        &self,
        before: &Reachable,
        fuel: &mut Fuel<'_>,
    ) -> Result<Vec<DispatchId>, Cancelled> {
        let n = self.selected.len().max(before.selected.len());
        let mut acc = Vec::new();
        for it in DispatchId::first(n) {
            fuel.spend(1)?;
            if self.selected_of(it) != before.selected_of(it) {
                acc.push(it);
            }
        }
        Ok(acc)
    }

    /// Returns the classes with methods that are reached in only one of `self` and `before`.
    ///
    /// # Errors
    /// [`Cancelled`] if the work is no longer wanted.
    pub(super) fn classes_with_others(
        &self,
        before: &Reachable,
        fuel: &mut Fuel<'_>,
    ) -> Result<FxHashSet<ClassId>, Cancelled> {
        let mut acc = FxHashSet::default();
        for (some, others) in [(self, before), (before, self)] {
            for method in some.methods.keys() {
                fuel.spend(1)?;
                if !others.methods.contains_key(method) {
                    acc.insert(method.class);
                }
            }
        }
        Ok(acc)
    }

    /// Returns the path on which the search reached the method: where control starts, and the methods up to this one,
    /// which is the last; `None` if the method is not reached.
    pub fn way(&self, method: MethodId) -> Option<(From, Vec<MethodId>)> {
        let mut way = vec![method];
        let mut at = method;
        loop {
            match self.from(at)? {
                // A method is first reached from a method reached earlier, so this ends.
                From::Method(it) => {
                    way.push(it);
                    at = it;
                }
                start => {
                    way.reverse();
                    return Some((start, way));
                }
            }
        }
    }
}
