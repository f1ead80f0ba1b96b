//! What can be reached from the entry points of a program: data. [`super::reach`] finds it.

use flow::fuel::{Cancelled, Fuel};
use program::hierarchy::ClassId;
use program::members::MethodId;
use program::names::Text;
use rustc_hash::{FxHashMap, FxHashSet};

use super::sites::{DispatchId, Target};

/// Where control can enter a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EntryPoint {
    /// The method.
    pub method: MethodId,
    /// Why.
    pub why: WhyEntry,
}

/// Why a method is an entry point.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WhyEntry {
    /// The launcher runs it when it is given this class (JLS §12.1.4).
    Main(Text),
    /// The launcher makes an object of this class to run its `main`.
    MainObject(Text),
    /// The launcher initialises this class, which inherits its `main`, or has none that it can run in the end.
    MainClass(Text),
    /// The manifest names its class as an agent, by this attribute (`java.lang.instrument`).
    Agent(Text),
    /// A provider of this service is made by it (`java.util.ServiceLoader`).
    Service(Text),
    /// Code that is not present may call it.
    Callable,
    /// Code that is not present may make objects by it.
    Constructible,
    /// Code that is not present may call it, or override it and call it by `super`.
    Overridable,
    /// Initialising its class runs it; code that is not present may.
    Initializer,
    /// The user named it.
    Selected,
}

/// Where control comes from to a method, for the first time in the order of the search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum From {
    /// It is the entry point of this number.
    Entry(u32),
    /// The VM calls it by itself, or makes its object.
    Vm,
    /// A class that is not present may call it.
    Outside,
    /// This method calls it, or initialises its class, or makes what is called back.
    Method(MethodId),
}

/// What can be reached.
#[derive(Clone, Debug)]
pub struct Reachable {
    /// The entry points.
    pub entries: Vec<EntryPoint>,
    pub(super) methods: FxHashMap<MethodId, From>,
    pub(super) made: FxHashSet<ClassId>,
    /// What receivers select that are made, by dispatch; sorted.
    pub(super) selected: Vec<Vec<Target>>,
}

impl Reachable {
    /// Where control comes from to the method, if it is reached.
    pub fn from(&self, method: MethodId) -> Option<From> {
        self.methods.get(&method).copied()
    }

    /// How many methods are reached.
    pub fn len(&self) -> usize {
        self.methods.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }

    /// Whether reached code makes an object of exactly this class.
    pub fn is_made(&self, class: ClassId) -> bool {
        self.made.contains(&class)
    }

    /// Whether a receiver that is made selects the target.
    pub(super) fn is_selected(&self, dispatch: DispatchId, target: Target) -> bool {
        self.selected_of(dispatch).binary_search(&target).is_ok()
    }

    fn selected_of(&self, dispatch: DispatchId) -> &[Target] {
        self.selected.get(dispatch.index()).map_or(&[], |it| it)
    }

    /// The dispatches of which receivers that are made select something else than they did.
    ///
    /// # Errors
    /// When the work is not wanted any more.
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

    /// The classes that have methods which are reached now and were not, or the other way round.
    ///
    /// # Errors
    /// When the work is not wanted any more.
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

    /// The way from where control starts to the method, itself last; `None` if it is not reached.
    pub fn way(&self, method: MethodId) -> Option<(From, Vec<MethodId>)> {
        let mut way = vec![method];
        let mut at = method;
        loop {
            match self.from(at)? {
                // Who is first to reach a method was reached before, so this ends.
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
