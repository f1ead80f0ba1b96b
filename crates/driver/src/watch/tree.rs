//! A class folder as it was read, and which of its files must be examined again. If every change in the folder causes
//! an event, only the names given by events are examined, otherwise the whole folder. The whole folder is examined on
//! systems other than Linux and on shared file systems; when events were lost or not handled; when a file system was
//! mounted; where, through symbolic links or several names of one file, a change may happen under another name than
//! the event gives; and whenever all files are examined without events.
//!
//! Writing to a file through a hard link in an unwatched folder causes no event at all; the change is found when all
//! files are examined.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::disk::{At, Part};
use crate::part;

use super::ground::{Ground, RoundNumber, Seen};
use super::held::Failed;
use super::reader::{ClassFiles, Reader};
use super::round::Round;

/// The class files of a class folder when it was last read, and the data that determines which of them must be
/// examined again.
pub(crate) struct Tree {
    /// The class files of the folder, with their contents when they were last read.
    files: ClassFiles,
    /// The path of the folder without symbolic links; `None` if the folder does not exist.
    real: Option<PathBuf>,
    /// The names of the folders directly below the class folder that were not read, because they do not belong to it.
    skip: Vec<String>,
    /// The class files that the next loading must examine even without an event, because they could not be read or
    /// may be incomplete.
    again: FxHashSet<PathBuf>,
    /// Whether each change of a file in the class folder causes an event with the name of the file. The files in
    /// `again` are an exception, as they are examined even without an event.
    is_told: bool,
    /// The number of the loading of the containers in which the folder was last read. Only the next loading can tell
    /// from events what changed since then: the events of earlier loadings are no longer known.
    round: RoundNumber,
}

/// The parts of the watcher that are needed to read a class folder.
pub(crate) struct TreeReading<'a> {
    pub(crate) ground: &'a mut Ground,
    pub(crate) round: &'a mut Round,
    /// The class files (by path) that may be incomplete because they are being written.
    pub(crate) doubtful: &'a mut FxHashMap<PathBuf, Failed>,
}

/// If at most this many paths in a class folder may have changed, only these are examined, and not the whole folder.
/// The same holds for more paths if they are at most half as many as the class files of the folder.
const FEW: usize = 16;

impl Tree {
    /// Reads a class folder without the folders `skip` directly below it. Returns its containers, and the data that
    /// the next reading needs. `before` is the result of the previous reading; `None` if there was none.
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

    /// Returns the paths in the folder that must be examined again, because of events since the folder was last read
    /// or because they are in `again`. The paths are relative to the folder, and none of them is below another one.
    /// Returns `None` if the whole folder must be examined.
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
    /// Reads the whole class folder, including the files that this reader has already examined one by one.
    fn whole(&mut self, at: &At<'_>, skip: &[&str]) -> Part {
        self.before.extend(self.now.drain());
        self.again.clear();
        self.is_told = true;
        part::folder(at, skip, self)
    }
}

impl Part {
    /// Returns whether two readings of a class folder, first `self` and later `now`, have found the same.
    fn is_same_folder(&self, now: &Part) -> bool {
        let is_same = self.declared == now.declared && self.problems == now.problems;
        let pairs = self.containers.iter().zip(&now.containers);
        is_same
            && self.containers.len() == now.containers.len()
            && pairs.into_iter().all(|(a, b)| a.has_entries_of(b, |_| true))
    }
}
