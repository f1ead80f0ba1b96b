//! The data that belongs to one round, that is, one loading of the containers.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use crate::container::Loader;
use crate::disk::At;
use crate::open::path_text;
use crate::problem::Problem;
use ide::Role;

/// The options of one loading of the containers from disk, and the data that is collected during the loading.
#[derive(Default)]
pub(crate) struct Round {
    /// Whether a file with an unchanged stamp (metadata) is read again if it was last read shortly after a change.
    /// Then another change may have left the same stamp.
    pub(crate) is_check: bool,
    /// The paths of the files and folders about which the caller was already informed that their last good state (the
    /// last content that could be read and looked complete) is still used.
    pub(crate) told: FxHashSet<String>,
    /// The files and folders whose last good state (the last content that could be read and looked complete) is used
    /// in this loading, because they cannot be read now or are being written; each with the reason.
    pub(crate) kept: Vec<Problem>,
    /// The paths of the files and folders that were read in this loading because they are new or have changed.
    pub(crate) changed: Vec<String>,
    /// The delay after which the containers are to be loaded again even without an event; `None` if the next loading
    /// is to wait for an event.
    pub(crate) retry: Option<Duration>,
    /// The keys of the contents in the [`Shelf`](super::shelf::Shelf) that this loading used.
    pub(crate) used: Used,
}

/// The keys of the contents in the [`Shelf`](super::shelf::Shelf) that one loading of the containers used. The shelf
/// drops all other contents after the loading.
#[derive(Default)]
pub(crate) struct Used {
    pub(crate) parts: FxHashSet<Key>,
    pub(crate) plans: FxHashSet<(PathBuf, Role)>,
    pub(crate) lists: FxHashSet<PathBuf>,
    pub(crate) doubtful: FxHashSet<PathBuf>,
}

/// The key of the content of a file or folder in the [`Shelf`](super::shelf::Shelf): the path, and the properties
/// with which the file or folder was read.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) path: PathBuf,
    pub(crate) role: Role,
    pub(crate) loader: Loader,
    pub(crate) platform: bool,
    pub(crate) release: u16,
}

/// The time for which a file that looks incomplete must stay unchanged before it is accepted: then probably no
/// process is still writing the file.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

impl Round {
    /// Returns whether the file at `path`, which looks incomplete and has not changed since `since`, is to be
    /// accepted. The file is accepted if [`PATIENCE`] has passed and the caller was informed about the file.
    pub(crate) fn is_over(&self, path: &Path, since: Instant) -> bool {
        since.elapsed() >= PATIENCE && self.told.contains(&path_text(path))
    }

    /// Records that the last good state of the file or folder at `place` is used instead of the present one, for the
    /// reason `why`.
    pub(crate) fn keep(&mut self, place: &Path, why: &str) {
        let name = path_text(place);
        // A missing module is noticed when modules are listed, and again when it is opened.
        if self.kept.iter().all(|it| it.place != name) {
            let why = why.strip_prefix(&format!("{name}: ")).unwrap_or(why);
            self.kept.push(Problem::error(
                name,
                format!("{why}; the last good state of this file or folder is kept"),
            ));
        }
    }

    /// Schedules another loading of the containers, to begin at most `delay` after this one. `None` has no effect.
    pub(crate) fn retry_in(&mut self, delay: Option<Duration>) {
        self.retry = self.retry.into_iter().chain(delay).min();
    }
}

impl Key {
    /// Returns the key of this file or folder in the [`Shelf`](super::shelf::Shelf).
    pub(crate) fn of(at: &At<'_>) -> Key {
        let At { role, loader, platform, release, .. } = *at;
        Key { path: at.path.to_owned(), role, loader, platform, release }
    }
}
