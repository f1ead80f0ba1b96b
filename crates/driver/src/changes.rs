//! The differences between two versions of a container, entry by entry. For contents that both versions share,
//! pointers are compared; for an archive that was read again, the stored bytes.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::container::{ClassEntry, FileContent, LoadedContainer, Place, Store};

/// The differences between an earlier and a later version of a container. Entries are given by their indices in
/// [`LoadedContainer::classes`]. The lists are in ascending order of the index in the later version, or, for
/// `removed`, in the earlier version.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EntryChanges {
    /// The indices of the entries that only the later version has.
    pub added: Vec<usize>,
    /// The indices of the entries that only the earlier version has.
    pub removed: Vec<usize>,
    /// The entries that both versions have but whose content differs. Contents that cannot be compared count as
    /// different, for example because a file is unreadable.
    pub changed: Vec<EntryPair>,
    /// Whether the entries that both versions have are ordered differently in the two versions.
    pub is_reordered: bool,
}

/// The indices of an entry in the earlier and in the later version of its container.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct EntryPair {
    /// The index of the entry in the earlier version.
    pub before: usize,
    /// The index of the entry in the later version.
    pub now: usize,
}

impl EntryChanges {
    /// Returns whether there are no differences: both versions have the same entries in the same order, with the same
    /// content.
    pub fn is_empty(&self) -> bool {
        self.keeps_numbers() && self.changed.is_empty()
    }

    /// Returns whether both versions have the same entries in the same order, so that every entry has the same index
    /// in both. The content of the entries may differ.
    pub fn keeps_numbers(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && !self.is_reordered
    }
}

impl LoadedContainer {
    /// Returns the differences from `before`, an earlier version of this container. Two entries correspond if they
    /// have the same full name and the same root (the part of the name before the path of the class). Name, role,
    /// loader and manifest of the containers are not compared. The time is linear in the number of entries; for
    /// archives and images that were read again, the time for comparing the stored bytes is added.
    pub fn changes_since(&self, before: &LoadedContainer) -> EntryChanges {
        let mut acc = EntryChanges::default();
        if std::ptr::eq(self, before) {
            return acc;
        }
        let (old, new) = (before.classes.as_slice(), self.classes.as_slice());
        let shorter = old.len().min(new.len());
        let is_same = |it: &(&ClassEntry, &ClassEntry)| it.0.is_named_as(it.1);
        let start = old.iter().zip(new).take_while(is_same).count();
        let rest = shorter - start;
        let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(is_same).count();
        let mut compare = |before_idx: usize, idx: usize| {
            if !self.has_same_content(&new[idx], before, &old[before_idx]) {
                acc.changed.push(EntryPair { before: before_idx, now: idx });
            }
        };
        (0..start).for_each(|it| compare(it, it));
        // The entries in between are matched by name. Several entries of one name are matched in their order.
        let mut by_name: FxHashMap<(&str, u32), VecDeque<usize>> = FxHashMap::default();
        for (idx, entry) in old.iter().enumerate().take(old.len() - end).skip(start) {
            by_name.entry((entry.member(), entry.root_len)).or_default().push_back(idx);
        }
        let mut last = 0;
        for (idx, entry) in new.iter().enumerate().take(new.len() - end).skip(start) {
            let found = by_name.get_mut(&(entry.member(), entry.root_len)).and_then(VecDeque::pop_front);
            let Some(before_idx) = found else {
                acc.added.push(idx);
                continue;
            };
            acc.is_reordered |= before_idx < last;
            last = before_idx;
            compare(before_idx, idx);
        }
        (0..end).rev().for_each(|it| compare(old.len() - 1 - it, new.len() - 1 - it));
        acc.removed = by_name.into_values().flatten().collect();
        acc.removed.sort_unstable();
        acc
    }

    /// Returns whether this container has the same entries as `other`, another version of it. Entries for which
    /// `counts` returns true must also have the same content.
    pub(crate) fn has_entries_of(
        &self,
        other: &LoadedContainer,
        counts: impl Fn(&ClassEntry) -> bool,
    ) -> bool {
        let is_same = |(a, b): (&ClassEntry, &ClassEntry)| {
            a.is_named_as(b) && (a.shares_file_of(b) || !counts(a) || self.has_same_content(a, other, b))
        };
        self.classes.len() == other.classes.len() && self.classes.iter().zip(&other.classes).all(is_same)
    }

    /// Returns whether `entry` is known to have the same content as `old`, an entry of `before`, the earlier version
    /// of this container. False if the contents cannot be compared.
    fn has_same_content(&self, entry: &ClassEntry, before: &LoadedContainer, old: &ClassEntry) -> bool {
        match (&entry.place, &old.place) {
            (Place::File(a), Place::File(b)) => {
                let contents = || a.content.as_ref().zip(b.content.as_ref());
                entry.shares_file_of(old) || contents().is_some_and(|it| is_same_file(it.0, it.1))
            }
            (Place::Zip(a), Place::Zip(b)) => {
                let (Store::Zip(now), Store::Zip(then)) = (&self.store, &before.store) else { return false };
                let claims = (a.method, a.size(), a.crc, a.encrypted);
                let stored = || now.stored(a).ok().zip(then.stored(b).ok());
                claims == (b.method, b.size(), b.crc, b.encrypted)
                    && stored().is_some_and(|it| is_same_bytes(it.0, it.1))
            }
            (Place::Image(a), Place::Image(b)) => {
                let (Store::Image(now), Store::Image(then)) = (&self.store, &before.store) else {
                    return false;
                };
                if Arc::ptr_eq(now, then) {
                    return a == b;
                }
                let stored = now.image().stored(a).ok().zip(then.image().stored(b).ok());
                (a.size, a.compressed_size) == (b.size, b.compressed_size)
                    && stored.is_some_and(|it| is_same_bytes(it.0, it.1))
            }
            _ => false,
        }
    }
}

impl ClassEntry {
    /// Returns whether this entry and `other`, an entry of another version of the container, have the same full name
    /// and the same root (the part of the name before the path of the class). Versions of a folder share the texts of
    /// names, so pointers are compared first.
    fn is_named_as(&self, other: &ClassEntry) -> bool {
        let is_same = Arc::ptr_eq(&self.member, &other.member) || self.member == other.member;
        is_same && self.root_len == other.root_len
    }

    /// Returns whether both entries refer to the same copy of a file's content in memory, so that the content need
    /// not be compared.
    fn shares_file_of(&self, other: &ClassEntry) -> bool {
        match (&self.place, &other.place) {
            (Place::File(a), Place::File(b)) => Arc::ptr_eq(a, b) && a.content.is_some(),
            _ => false,
        }
    }
}

fn is_same_file(a: &Arc<FileContent>, b: &Arc<FileContent>) -> bool {
    Arc::ptr_eq(a, b) || a.bytes.is_ok() && b.bytes.is_ok() && a.identity == b.identity
}

fn is_same_bytes(a: &[u8], b: &[u8]) -> bool {
    std::ptr::eq(a, b) || a == b
}
