//! Constructors of objects whose class is known.
//!
//! `new C(...)` makes an object of exactly C. What its constructors call on `this` C selects, so a constructor that makes
//! such calls is looked at once more for each class that it makes. Without this every exception object would let out
//! whatever an unknown override of `fillInStackTrace` does.

use bir::body::CallKind;
use classfile::names::MethodRef;
use flow::fuel::{Cancelled, Fuel, uncancelled};
use flow::summary::{Source, Summary};
use program::hierarchy::ClassId;
use program::members::MethodId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::dispatch::{Dispatches, Site};
use super::program::Program;
use crate::summary::{CodeSummary, MethodSummary};

/// The pairs of a constructor and the class of the object that are worth a look of their own, in order of discovery.
///
/// # Errors
/// When the work is not wanted any more.
pub(super) fn constructions(
    program: &Program,
    dispatches: &Dispatches,
    fuel: &mut Fuel<'_>,
) -> Result<Vec<(MethodId, ClassId)>, Cancelled> {
    let mut acc = Finder { program, dispatches, selects: FxHashMap::default() };
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for (id, code) in program.codes() {
        fuel.spend(1 + code.summary.items.len() as u32 / 4)?;
        for item in &code.summary.items {
            if let Source::Construct(method) = item.source
                && let Some(site) = acc.constructor(id.class, method)
                && let Some(class) = program.hierarchy.class(method.class())
                && acc.selects(site)
                && seen.insert((site, class))
            {
                found.push((site, class));
            }
        }
    }
    acc.add_chained(&mut found, fuel)?;
    Ok(found)
}

/// Whether two bodies call the same on the object that they are called on: what decides which constructors are worth a look
/// of their own.
pub(super) fn same_on_this(a: &Summary, b: &Summary) -> bool {
    let calls = |it: &Summary| -> FxHashSet<Source> {
        let sources = it.items.iter().map(|it| it.source);
        sources.filter(|it| matches!(it, Source::CallOnThis(..))).collect()
    };
    calls(a) == calls(b) && a.rethrowing.is_empty() == b.rethrowing.is_empty()
}

/// The pairs that a body of `caller` asks for.
pub(super) fn of_code(
    program: &Program,
    dispatches: &Dispatches,
    caller: ClassId,
    code: &Summary,
) -> Vec<(MethodId, ClassId)> {
    let mut acc = Finder { program, dispatches, selects: FxHashMap::default() };
    let mut found = Vec::new();
    for item in &code.items {
        if let Source::Construct(method) = item.source
            && let Some(constructor) = acc.constructor(caller, method)
            && let Some(class) = program.hierarchy.class(method.class())
            && acc.selects(constructor)
            && !found.contains(&(constructor, class))
        {
            found.push((constructor, class));
        }
    }
    uncancelled(|fuel| acc.add_chained(&mut found, fuel));
    found
}

struct Finder<'a> {
    program: &'a Program,
    dispatches: &'a Dispatches,
    /// Whether a constructor makes virtual calls on its object, itself or by a constructor that it calls.
    selects: FxHashMap<MethodId, bool>,
}

impl Finder<'_> {
    fn code(&self, id: MethodId) -> Option<&CodeSummary> {
        match self.program.summary(id) {
            // What arrives at rethrowing handlers has nodes for the method alone.
            MethodSummary::Known(code) if code.summary.rethrowing.is_empty() => Some(code),
            _ => None,
        }
    }

    fn constructor(&self, caller: ClassId, method: MethodRef) -> Option<MethodId> {
        match self.dispatches.known_site(caller, CallKind::Special, method) {
            Some(Site::Method(it)) if self.program.ghost(it).is_none() => Some(it),
            _ => None,
        }
    }

    /// Adds constructors that these call on the same object.
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

    /// The constructors that a constructor calls on its own object.
    fn chained(&self, id: MethodId) -> Vec<MethodId> {
        let Some(code) = self.code(id) else { return Vec::new() };
        let items = code.summary.items.iter();
        items
            .filter_map(|it| match it.source {
                Source::CallOnThis(CallKind::Special, method) if method.name().bytes() == b"<init>" => {
                    self.constructor(id.class, method)
                }
                _ => None,
            })
            .collect()
    }

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
            let virtual_call =
                |it: Source| matches!(it, Source::CallOnThis(CallKind::Virtual | CallKind::Interface, _));
            if code.summary.items.iter().any(|it| virtual_call(it.source)) {
                self.selects.insert(id, true);
                return true;
            }
            pending.extend(self.chained(at));
        }
        self.selects.insert(id, false);
        false
    }
}
