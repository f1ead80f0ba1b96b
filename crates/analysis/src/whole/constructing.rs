//! Finds the constructors that are analysed separately for each class of object that they construct.
//!
//! `new C(...)` creates an object of exactly class C, so C selects the targets of the virtual calls that its
//! constructors make on `this`. A constructor that makes such calls is therefore analysed separately for each class
//! that it constructs. Otherwise every exception object would let out what an unknown override of `fillInStackTrace`
//! throws.

use bir::body::CallKind;
use classfile::names::MethodRef;
use flow::fuel::{Cancelled, Fuel, uncancelled};
use program::hierarchy::ClassId;
use program::members::MethodId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::actions::{Called, all_actions};
use super::sites::Site;
use super::tables::CallTable;
use crate::summary::{CodeSummary, MethodSummary};

/// Returns pairs of a constructor and a class: the constructor is analysed separately for the case that the
/// constructed object is of this class. Each pair gets a node of its own in the system of inclusions. The pairs are
/// in order of discovery.
///
/// # Errors
/// When the work is cancelled.
pub(super) fn constructions(
    calls: &CallTable,
    fuel: &mut Fuel<'_>,
) -> Result<Vec<(MethodId, ClassId)>, Cancelled> {
    let mut finder = Finder { calls, selects: FxHashMap::default() };
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for (id, code) in calls.classes.codes() {
        fuel.spend(1 + code.summary.items.len() as u32 / 4)?;
        found.extend(finder.of_code(id.class, code).into_iter().filter(|it| seen.insert(*it)));
    }
    finder.add_chained(&mut found, fuel)?;
    Ok(found)
}

/// Returns whether two bodies make the same calls on `this`, and either both or none of them has handlers that throw
/// the caught exception again. This decides which constructors are analysed separately for each class of the
/// constructed object.
pub(super) fn same_on_this(a: &CodeSummary, b: &CodeSummary) -> bool {
    let calls = |it: &CodeSummary| -> FxHashSet<(CallKind, MethodRef)> { on_this(it).collect() };
    calls(a) == calls(b) && a.summary.rethrowing.is_empty() == b.summary.rethrowing.is_empty()
}

/// Returns the pairs of [`constructions`] (a constructor, and the class of the object that it constructs) that follow
/// from one body `code` of the class `caller`: those of the constructors that the body calls on new objects, and of
/// the constructors that these call on the same object.
pub(super) fn of_code(calls: &CallTable, caller: ClassId, code: &CodeSummary) -> Vec<(MethodId, ClassId)> {
    let mut finder = Finder { calls, selects: FxHashMap::default() };
    let mut found = finder.of_code(caller, code);
    uncancelled(|fuel| finder.add_chained(&mut found, fuel));
    found
}

/// Returns the calls that a body makes on `this`: the kind of each call, and the method that it names.
fn on_this(code: &CodeSummary) -> impl Iterator<Item = (CallKind, MethodRef)> + '_ {
    all_actions(code).filter_map(|it| match it.calls? {
        Called::OnThis(kind, method) => Some((kind, method)),
        Called::Instruction(..)
        | Called::Construct(_)
        | Called::Dynamic(_)
        | Called::Handle(..)
        | Called::Access(_) => None,
    })
}

/// Returns the constructors that a body calls on new objects whose class is exactly the constructor's class.
fn constructed(code: &CodeSummary) -> impl Iterator<Item = MethodRef> + '_ {
    all_actions(code).filter_map(|it| match it.calls? {
        Called::Construct(method) => Some(method),
        Called::Instruction(..)
        | Called::OnThis(..)
        | Called::Dynamic(_)
        | Called::Handle(..)
        | Called::Access(_) => None,
    })
}

struct Finder<'a> {
    calls: &'a CallTable,
    /// For each constructor, whether it makes virtual calls on `this`, directly or through constructors that it calls
    /// on `this`.
    selects: FxHashMap<MethodId, bool>,
}

impl Finder<'_> {
    fn code(&self, id: MethodId) -> Option<&CodeSummary> {
        match self.calls.classes.summary(id) {
            // Rethrowing handlers have nodes only for the method in general, not for an exact class.
            MethodSummary::Known(code) if code.summary.rethrowing.is_empty() => Some(code),
            MethodSummary::Known(_)
            | MethodSummary::None
            | MethodSummary::Missing
            | MethodSummary::Unread => None,
        }
    }

    fn constructor(&self, caller: ClassId, method: MethodRef) -> Option<MethodId> {
        match self.calls.dispatches.cached_site(caller, CallKind::Special, method)? {
            Site::Method(it) => Some(it).filter(|it| self.calls.classes.ghost(*it).is_none()),
            Site::Dispatch(_) | Site::Error(_) | Site::Open(_) | Site::Vm => None,
        }
    }

    /// Returns the constructors that one body of the class `caller` calls on new objects, each with the class of the
    /// constructed object, without duplicates. Only constructors that make virtual calls on `this` are returned.
    fn of_code(&mut self, caller: ClassId, code: &CodeSummary) -> Vec<(MethodId, ClassId)> {
        let mut found = Vec::new();
        for method in constructed(code) {
            if let Some(constructor) = self.constructor(caller, method)
                && let Some(class) = self.calls.classes.hierarchy.class(method.class())
                && self.selects(constructor)
                && !found.contains(&(constructor, class))
            {
                found.push((constructor, class));
            }
        }
        found
    }

    /// Completes `found`, a list of pairs of a constructor and the class of the constructed object: adds a pair for
    /// each constructor that makes virtual calls on `this` and is called by a constructor in `found` on the same
    /// object.
    fn add_chained(
        &mut self,
        found: &mut Vec<(MethodId, ClassId)>,
        fuel: &mut Fuel<'_>,
    ) -> Result<(), Cancelled> {
        let mut seen: FxHashSet<(MethodId, ClassId)> = found.iter().copied().collect();
        let mut at = 0;
        while let Some(&(id, class)) = found.get(at) {
            at += 1;
            for next in self.chained(id) {
                fuel.spend(8)?;
                if self.selects(next) && seen.insert((next, class)) {
                    found.push((next, class));
                }
            }
        }
        Ok(())
    }

    /// Returns the constructors that the constructor `id` calls on `this`.
    fn chained(&self, id: MethodId) -> Vec<MethodId> {
        let Some(code) = self.code(id) else { return Vec::new() };
        let is_constructor =
            |it: &(CallKind, MethodRef)| it.0 == CallKind::Special && it.1.name().bytes() == b"<init>";
        let called = on_this(code).filter(is_constructor);
        called.filter_map(|(_, method)| self.constructor(id.class, method)).collect()
    }

    /// Whether a constructor makes virtual calls on `this`, directly or through other constructors that it calls on
    /// `this`.
    fn selects(&mut self, id: MethodId) -> bool {
        let mut pending = vec![id];
        let mut seen = FxHashSet::default();
        while let Some(at) = pending.pop() {
            if !seen.insert(at) {
                continue;
            }
            if let Some(&it) = self.selects.get(&at) {
                if it {
                    self.selects.insert(id, true);
                    return true;
                }
                continue;
            }
            let Some(code) = self.code(at) else { continue };
            if on_this(code).any(|it| matches!(it.0, CallKind::Virtual | CallKind::Interface)) {
                self.selects.insert(id, true);
                return true;
            }
            pending.extend(self.chained(at));
        }
        self.selects.insert(id, false);
        false
    }
}
