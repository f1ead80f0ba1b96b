//! A cache of resolved call sites, by call kind and method reference.

use bir::body::CallKind;
use classfile::names::MethodRef;
use rustc_hash::FxHashMap;

use super::super::sites::Site;

const CALL_KINDS: [CallKind; 6] = [
    CallKind::Virtual,
    CallKind::Interface,
    CallKind::Special,
    CallKind::SpecialInterface,
    CallKind::Static,
    CallKind::StaticInterface,
];

/// The resolved calls, by call kind and method reference. The flag of a call tells whether code of every class may
/// make the call, so that access is not checked. Most methods are called by only one kind of instruction, so the
/// first kind is stored in a table, and other kinds in a map.
#[derive(Default)]
pub(super) struct SiteCache {
    pub(super) first: Vec<Option<(MethodRef, CallKind, Site, bool)>>,
    pub(super) others: FxHashMap<(CallKind, MethodRef), (Site, bool)>,
}

impl SiteCache {
    pub(super) fn remove(&mut self, kind: CallKind, method: MethodRef) {
        match self.first.get_mut(method.index()) {
            Some(first) if first.is_some_and(|it| it.1 == kind) => {
                // Another call kind of the method takes the empty slot, because `get` ignores the map if the slot is
                // empty.
                let mut other = CALL_KINDS.iter().filter_map(|&kind| {
                    let (site, for_any_caller) = self.others.remove(&(kind, method))?;
                    Some((method, kind, site, for_any_caller))
                });
                *first = other.next();
            }
            _ => _ = self.others.remove(&(kind, method)),
        }
    }

    pub(super) fn get(&self, kind: CallKind, method: MethodRef) -> Option<(Site, bool)> {
        match *self.first.get(method.index())? {
            Some((_, first, site, for_any_caller)) if first == kind => Some((site, for_any_caller)),
            Some(_) => self.others.get(&(kind, method)).copied(),
            None => None,
        }
    }

    pub(super) fn insert(&mut self, kind: CallKind, method: MethodRef, site: Site, for_any_caller: bool) {
        if self.first.len() <= method.index() {
            self.first.resize(method.index() + 1, None);
        }
        match &mut self.first[method.index()] {
            it @ None => *it = Some((method, kind, site, for_any_caller)),
            Some(_) => _ = self.others.insert((kind, method), (site, for_any_caller)),
        }
    }
}
