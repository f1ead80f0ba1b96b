//! The result of the search for the code that is reached from the entry points of a program, as data.
//! [`super::reach`] computes the result.

use flow::fuel::{Cancelled, Fuel};
use program::hierarchy::ClassId;
use program::members::MethodId;
use program::names::Text;
use rustc_hash::{FxHashMap, FxHashSet};

use super::sites::{DispatchId, Target};

/// A method through which control can enter a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EntryPoint {
    /// The method through which control enters.
    pub method: MethodId,
    /// The reason why the method is an entry point.
    pub why: EntryReason,
}

/// The classes whose objects count as receivers of calls in the search for reached code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Receivers {
    /// All classes (class hierarchy analysis): a call goes to every target that some object may select. The search
    /// removes no targets.
    Any,
    /// The classes of which reached code creates objects (rapid type analysis).
    Created,
}

/// The start of a search for reached code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roots {
    /// The entry points.
    pub entries: Vec<EntryPoint>,
    /// The classes whose objects count as receivers.
    pub receivers: Receivers,
}

/// The reason why a method is an entry point.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EntryReason {
    /// The Java launcher runs the method if the launcher is started with the class of this name (JLS §12.1.4).
    Main(Text),
    /// The method is the constructor by which the Java launcher creates an object of the class of this name, to run
    /// `main` on the object.
    MainObject(Text),
    /// The method is an initialiser that runs if the Java launcher is started with the class of this name. The class
    /// inherits its `main`, or has no `main` that can run.
    MainClass(Text),
    /// The manifest attribute of this name names the method's class as an agent (`java.lang.instrument`).
    Agent(Text),
    /// The method creates a provider of the service of this name (`java.util.ServiceLoader`).
    Service(Text),
    /// Code of absent classes may call the method.
    Callable,
    /// The method is a constructor, and code of absent classes may create objects with it.
    Constructible,
    /// Code of absent classes may call the method, or override it and call it by `super`.
    Overridable,
    /// The method is a class initialiser, and code of absent classes may initialise the class.
    Initializer,
    /// The user named the method as an entry point.
    Selected,
}

/// How the search for reached code first reached a method.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum From {
    /// The method is an entry point: the one with this index in [`Reachable::entries`].
    Entry(u32),
    /// The VM calls the method although no code calls it, or creates an object of the method's class.
    Vm,
    /// Code of an absent class may run the method.
    Outside,
    /// The method is reached from this other method, which calls it, initialises its class, or creates an object on
    /// which the reached method is called back.
    Method(MethodId),
}

/// The methods and classes that a search for reached code found.
#[derive(Clone, Debug)]
pub struct Reachable {
    /// The entry points from which the search started.
    pub entries: Vec<EntryPoint>,
    pub(super) receivers: Receivers,
    pub(super) methods: FxHashMap<MethodId, From>,
    pub(super) made: FxHashSet<ClassId>,
    /// For each dispatch, by its index, the targets that receivers select if they are created by reached code;
    /// sorted. Empty if all classes count as receivers.
    pub(super) selected: Vec<Vec<Target>>,
}

impl Reachable {
    /// Returns how the search first reached the method; `None` if the method is not reached.
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

    /// Returns whether objects of exactly this class count as receivers.
    pub fn is_made(&self, class: ClassId) -> bool {
        self.receivers == Receivers::Any || self.made.contains(&class)
    }

    /// Returns whether objects of the same classes count as receivers in both results.
    pub(super) fn makes_same(&self, other: &Reachable) -> bool {
        self.receivers == other.receivers && self.made == other.made
    }

    /// Returns whether `target` is selected in `dispatch` by an object that counts as a receiver.
    pub(super) fn is_selected(&self, dispatch: DispatchId, target: Target) -> bool {
        self.receivers == Receivers::Any || self.selected_of(dispatch).binary_search(&target).is_ok()
    }

    fn selected_of(&self, dispatch: DispatchId) -> &[Target] {
        self.selected.get(dispatch.index()).map_or(&[], |it| it)
    }

    /// Returns the dispatches for which the selected targets in this result differ from those in the result `before`.
    /// A target is selected if reached code creates a receiver that selects it.
    ///
    /// # Errors
    /// When the work is cancelled.
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

    /// Returns the classes that have a method which is reached in this result and not in `before`, or in `before` and
    /// not in this result.
    ///
    /// # Errors
    /// When the work is cancelled.
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

    /// Returns the call path on which the search reached the method: how control enters the program, and the methods
    /// on the path, of which `method` is the last. Returns `None` if the method is not reached.
    pub fn way(&self, method: MethodId) -> Option<(From, Vec<MethodId>)> {
        let mut way = vec![method];
        let mut at = method;
        loop {
            match self.from(at)? {
                // A method is first reached from a method that was reached earlier, so the loop ends.
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
