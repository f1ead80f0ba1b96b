//! Stores the outcome of each receiver at each dispatch: the target that the receiver selects, or an error. When
//! classes are removed or added, only the outcomes of receivers whose supertypes or subtypes changed are recomputed.
//!
//! For each outcome of a dispatch, the receivers that have it are counted. The outcome is removed when no receiver
//! has it any more.

use bir::body::CallKind;
use classfile::names::{ClassName, MethodRef};
use program::hierarchy::ClassId;
use program::members::LinkError;
use rustc_hash::FxHashMap;

use super::super::sites::{DispatchId, FunctionSiteId, Open, Target};
use super::outcomes::{Outcome, ReceiverKind, Scope, Signature};

/// Stores, for each receiver and each dispatch, what the receiver selects there: a target or an error.
#[derive(Default)]
pub(super) struct OutcomeIndex {
    pub(super) by_class: Vec<Vec<(DispatchId, Outcome)>>,
    pub(super) by_function: Vec<FunctionOffers>,
    /// For each type, the function objects that are instances of this type. The type `java/lang/Object` is left out.
    pub(super) functions_below: FxHashMap<ClassName, Vec<FunctionSiteId>>,
    pub(super) counts: FxHashMap<(DispatchId, Outcome), u32>,
    /// For each dispatch, the distinct targets and errors that receivers select there.
    pub(super) outcomes: Vec<Vec<Outcome>>,
    /// The dispatches of each scope, by the signature of the called method.
    pub(super) by_signature: FxHashMap<(Signature, Scope), Vec<DispatchId>>,
    /// The possible targets of all dispatches of a signature and scope, of which there may be thousands. The number
    /// counts the receivers that select the target.
    pub(super) anywhere: FxHashMap<(Signature, Scope), FxHashMap<Target, u32>>,
    pub(super) anywhere_by_class: FxHashMap<ClassId, Vec<Anywhere>>,
    /// The dispatches that were created since the targets were last updated.
    pub(super) fresh: Vec<DispatchId>,
    /// The dispatches that changed since the targets were last updated, each with its changes.
    pub(super) touched: FxHashMap<DispatchId, TouchedDispatch>,
    /// The calls that were resolved, by the class that they name; for an array class, by its element class.
    pub(super) named: FxHashMap<ClassName, Vec<(CallKind, MethodRef)>>,
    /// The resolved calls whose target depends on the class of the caller. Each is listed both under the class that
    /// it names and under the class of the caller.
    pub(super) special: FxHashMap<ClassName, Vec<(ClassId, CallKind, MethodRef)>>,
}

/// The reason why a dispatch may have unknown targets (`None` if all targets are known), and the link errors of its
/// calls.
pub(in crate::whole) type Cause = (Option<Open>, Vec<LinkError>);

/// The changes of a dispatch since its targets were last updated.
#[derive(Default)]
pub(super) struct TouchedDispatch {
    /// The targets and errors that receivers began or ceased to select; some may occur more than once.
    pub(super) outcomes: Vec<Outcome>,
    /// Whether the list `outcomes` is incomplete, so that the targets must be collected from scratch.
    pub(super) all: bool,
}

/// A target that is possible in all dispatches of a signature and scope.
pub(super) type Anywhere = ((Signature, Scope), Target);

/// The maximum number of changes of one dispatch that are applied one by one. With more changes, collecting the
/// targets from scratch takes no longer.
const MAX_OUTCOMES: usize = 64;

impl TouchedDispatch {
    pub(super) fn add(&mut self, outcome: Outcome) {
        self.all |= self.outcomes.len() == MAX_OUTCOMES;
        if !self.all {
            self.outcomes.push(outcome);
        }
    }
}

/// The supertypes of a function object, and what the function object selects in dispatches.
#[derive(Default)]
pub(super) struct FunctionOffers {
    pub(super) supers: Vec<ClassName>,
    pub(super) made: Vec<(DispatchId, Outcome)>,
    pub(super) anywhere: Vec<Anywhere>,
}

impl OutcomeIndex {
    /// Returns an iterator that frees the memory of the index. Each step frees one list, so that the caller can pause
    /// between steps.
    pub(super) fn freeing(self) -> impl Iterator<Item = ()> {
        let OutcomeIndex { by_class, by_function, outcomes, by_signature, anywhere, named, special, .. } =
            self;
        let receivers = by_class.into_iter().map(drop).chain(by_function.into_iter().map(drop));
        let dispatches = outcomes.into_iter().map(drop).chain(by_signature.into_iter().map(drop));
        let calls = named.into_iter().map(drop).chain(special.into_iter().map(drop));
        receivers.chain(dispatches).chain(calls).chain(anywhere.into_iter().map(drop))
    }

    /// Records a new dispatch, which belongs to these scopes.
    pub(super) fn asked(&mut self, id: DispatchId, scopes: impl Iterator<Item = (Signature, Scope)>) {
        self.outcomes.resize_with(id.index() + 1, Vec::new);
        self.list(id, scopes);
        self.fresh.push(id);
    }

    /// Lists a dispatch under these scopes.
    pub(super) fn list(&mut self, id: DispatchId, scopes: impl Iterator<Item = (Signature, Scope)>) {
        scopes.for_each(|it| self.by_signature.entry(it).or_default().push(id));
    }

    /// Returns the possible targets of the scopes of a dispatch; each scope has a list of its own.
    pub(super) fn anywhere(
        &self,
        scopes: impl Iterator<Item = (Signature, Scope)>,
    ) -> impl Iterator<Item = &FxHashMap<Target, u32>> {
        scopes.filter_map(|it| self.anywhere.get(&it))
    }

    /// Records a call that was resolved for the first time, under the class that it names.
    pub(super) fn named(&mut self, kind: CallKind, method: MethodRef) {
        if let Some(class) = method.class().element() {
            self.named.entry(class).or_default().push((kind, method));
        }
    }

    /// Records a call whose target depends on the class of its caller. `caller` is the name of that class.
    pub(super) fn special(&mut self, caller: ClassName, call: (ClassId, CallKind, MethodRef)) {
        for class in [caller, call.2.class()] {
            self.special.entry(class).or_default().push(call);
        }
    }

    pub(super) fn count(&mut self, (id, outcome): (DispatchId, Outcome)) {
        let count = self.counts.entry((id, outcome)).or_insert(0);
        *count += 1;
        if *count == 1 {
            self.outcomes[id.index()].push(outcome);
            self.touched.entry(id).or_default().add(outcome);
        }
    }

    pub(super) fn uncount(&mut self, (id, outcome): (DispatchId, Outcome)) {
        let Some(count) = self.counts.get_mut(&(id, outcome)) else { return };
        *count -= 1;
        if *count == 0 {
            self.counts.remove(&(id, outcome));
            let outcomes = &mut self.outcomes[id.index()];
            if let Some(at) = outcomes.iter().position(|it| *it == outcome) {
                outcomes.swap_remove(at);
            }
            self.touched.entry(id).or_default().add(outcome);
        }
    }

    /// Replaces what a receiver selects in dispatches (targets and errors) by `made`. The list `made` must be sorted,
    /// like the stored list.
    pub(super) fn replace(&mut self, receiver: ReceiverKind, made: Vec<(DispatchId, Outcome)>) {
        let slot = match receiver {
            ReceiverKind::Class(it) => {
                if self.by_class.len() <= it.index() {
                    self.by_class.resize_with(it.index() + 1, Vec::new);
                }
                &mut self.by_class[it.index()]
            }
            ReceiverKind::Function(it) => &mut self.by_function[it.index()].made,
        };
        let before = std::mem::replace(slot, made.clone());
        // Additions come first, so that no outcome disappears temporarily.
        made.iter().filter(|it| before.binary_search(it).is_err()).for_each(|&it| self.count(it));
        before.iter().filter(|it| made.binary_search(it).is_err()).for_each(|&it| self.uncount(it));
    }

    /// Sets the targets that a receiver selects in all dispatches of a scope to `made`.
    pub(super) fn replace_anywhere(&mut self, receiver: ReceiverKind, made: Vec<Anywhere>) {
        let before = match receiver {
            ReceiverKind::Class(it) if made.is_empty() => {
                self.anywhere_by_class.remove(&it).unwrap_or_default()
            }
            ReceiverKind::Class(it) => self.anywhere_by_class.insert(it, made.clone()).unwrap_or_default(),
            ReceiverKind::Function(it) => {
                std::mem::replace(&mut self.by_function[it.index()].anywhere, made.clone())
            }
        };
        for &(scope, target) in made.iter().filter(|it| !before.contains(it)) {
            let count = self.anywhere.entry(scope).or_default().entry(target).or_insert(0);
            *count += 1;
            if *count == 1 {
                self.touch_anywhere(scope, target);
            }
        }
        for &(scope, target) in before.iter().filter(|it| !made.contains(it)) {
            let Some(targets) = self.anywhere.get_mut(&scope) else { continue };
            let Some(count) = targets.get_mut(&target) else { continue };
            *count -= 1;
            if *count == 0 {
                targets.remove(&target);
                self.touch_anywhere(scope, target);
            }
        }
    }

    pub(super) fn touch_anywhere(&mut self, scope: (Signature, Scope), target: Target) {
        for id in self.by_signature.get(&scope).into_iter().flatten() {
            self.touched.entry(*id).or_default().add(Outcome::Maybe(target));
        }
    }

    /// Adds what a receiver selects in new dispatches to what is stored for the receiver.
    pub(super) fn extend(&mut self, receiver: ReceiverKind, made: Vec<(DispatchId, Outcome)>) {
        let slot = match receiver {
            ReceiverKind::Class(it) => &mut self.by_class[it.index()],
            ReceiverKind::Function(it) => &mut self.by_function[it.index()].made,
        };
        let new: Vec<_> = made.into_iter().filter(|it| slot.binary_search(it).is_err()).collect();
        slot.extend(new.iter().copied());
        slot.sort_unstable();
        new.into_iter().for_each(|it| self.count(it));
    }
}
