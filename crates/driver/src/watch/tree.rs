//! A class folder as it was read, and what of it must be examined again: the names that events give if every change
//! in each of its folders causes an event, otherwise everything. Everything is examined on systems other than Linux
//! and on shared file systems; when events were lost or not handled; when something was mounted; where, through
//! symbolic links or several names of one file, a change may happen under another name than the event gives; and
//! whenever the disk is examined without events.
//!
//! Writing to a file through a link that was created elsewhere causes no event at all; examining the disk without
//! events finds it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::disk::{At, Part};
use crate::part;

use super::ground::{Ground, RoundNumber, Seen};
use super::held::Failed;
use super::reader::{ClassFiles, Reader};
use super::round::Round;

/// A class folder as it was read.
pub(crate) struct Tree {
    /// What was read of its class files.
    files: ClassFiles,
    /// The path of the folder without links.
    real: Option<PathBuf>,
    /// The names directly below it that do not belong to it.
    skip: Vec<String>,
    /// Class files to be examined again in any case.
    again: FxHashSet<PathBuf>,
    /// Whether events give the names of everything else that may change.
    is_told: bool,
    /// The round in which it was read: events between that round and the previous one are no longer known.
    round: RoundNumber,
}

/// The environment in which a class folder is read.
pub(crate) struct TreeReading<'a> {
    pub(crate) ground: &'a mut Ground,
    pub(crate) round: &'a mut Round,
    /// Class files that may be written only in part.
    pub(crate) doubtful: &'a mut FxHashMap<PathBuf, Failed>,
}

/// More names than this are examined one by one only if they are the smaller part of the folder.
const FEW: usize = 16;

impl Tree {
    /// Reads a class folder. `before` has its previous part and tree, if there are any.
    pub(crate) fn read(
        at: &At<'_>,
        skip: &[&str],
        reading: TreeReading<'_>,
        before: Option<(Arc<Part>, Tree)>,
    ) -> (Arc<Part>, Tree) {
        let TreeReading { ground, round, doubtful } = reading;
        let seen = ground.list(at.path);
        let (old, tree) = before.unzip();
        let names = tree.as_ref().and_then(|it| it.names(at, skip, (ground, round), &seen));
        let number = ground.round();
        let (before, again) = tree.map(|it| (it.files, it.again)).unwrap_or_default();
        if let (Some(old), Some([])) = (&old, names.as_deref()) {
            ground.leave_rest();
            let tree = Tree {
                files: before,
                real: seen.real,
                skip: owned(skip),
                again,
                is_told: true,
                round: number,
            };
            return (Arc::clone(old), tree);
        }
        let mut reader = Reader {
            ground,
            round,
            doubtful,
            before,
            now: FxHashMap::default(),
            is_first: old.is_none(),
            folder: (at.path.to_owned(), seen.real.clone()),
            again: FxHashSet::default(),
            is_told: true,
            is_touched: false,
        };
        let old_and_names = old.as_ref().zip(names);
        let updated =
            old_and_names.and_then(|(old, names)| part::updated_folder(at, skip, &mut reader, old, &names));
        let part = match updated {
            Some(part) if reader.is_told => {
                reader.ground.leave_rest();
                // Most of it is what was read before.
                let now = std::mem::replace(&mut reader.now, std::mem::take(&mut reader.before));
                reader.now.extend(now);
                part
            }
            _ => reader.whole(at, skip),
        };
        let is_told = reader.is_told && part.problems.is_empty();
        let (files, again) = (reader.now, reader.again);
        let tree = Tree { files, real: seen.real, skip: owned(skip), again, is_told, round: number };
        match old.filter(|it| it.is_same_folder(&part)) {
            Some(old) => (old, tree),
            None => (Arc::new(part), tree),
        }
    }

    /// The names to be examined again, relative to the folder, none of them below another one; `None` for all.
    fn names(
        &self,
        at: &At<'_>,
        skip: &[&str],
        (ground, round): (&Ground, &Round),
        seen: &Seen,
    ) -> Option<Vec<PathBuf>> {
        let real = self.real.as_ref().filter(|_| seen.real == self.real)?;
        let is_known = self.is_told && self.skip == *skip && self.round + 1 == ground.round();
        if !is_known || round.is_check || seen.is_touched || !ground.has_all_news() {
            return None;
        }
        let told = ground.news().paths.iter().filter_map(|it| it.strip_prefix(real).ok());
        let again = self.again.iter().filter_map(|it| it.strip_prefix(at.path).ok());
        let mut names: Vec<&Path> = told.chain(again).collect();
        // Sorted by components, so that names below another one follow it.
        names.sort_unstable();
        names.dedup_by(|it, before| it.starts_with(before));
        let is_few = names.len() <= FEW || names.len() * 2 <= self.files.len();
        is_few.then(|| names.into_iter().map(Path::to_owned).collect())
    }
}

fn owned(skip: &[&str]) -> Vec<String> {
    skip.iter().map(|it| (*it).to_owned()).collect()
}

impl Reader<'_> {
    /// Reads the whole folder. What was examined just now is requested again.
    fn whole(&mut self, at: &At<'_>, skip: &[&str]) -> Part {
        self.before.extend(self.now.drain());
        self.again.clear();
        self.is_told = true;
        part::folder(at, skip, self)
    }
}

impl Part {
    /// Whether nothing in a class folder changed since it was read as this part.
    fn is_same_folder(&self, now: &Part) -> bool {
        let is_same = self.declared == now.declared && self.problems == now.problems;
        let pairs = self.containers.iter().zip(&now.containers);
        is_same
            && self.containers.len() == now.containers.len()
            && pairs.into_iter().all(|(a, b)| a.has_entries_of(b, |_| true))
    }
}
