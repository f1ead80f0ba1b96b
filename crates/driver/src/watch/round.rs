//! The data that belongs to one round, that is, one loading of the containers.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use crate::container::Loader;
use crate::disk::At;
use crate::open::path_text;
use crate::problem::Problem;
use ide::Role;

/// The data that belongs to one loading of the containers.
#[derive(Default)]
pub(crate) struct Round {
    /// Whether a file with an unchanged stamp (metadata) is read again if it had changed only shortly before it was
    /// last read.
    pub(crate) is_check: bool,
    /// The paths of the files and folders for which the caller was already informed that their last good state is
    /// still used.
    pub(crate) told: FxHashSet<String>,
    /// The files and folders whose last good state is used in this loading, because they cannot be read or are being
    /// written; each with the reason.
    pub(crate) kept: Vec<Problem>,
    /// The files and folders that were read in this loading, and whose content had changed.
    pub(crate) changed: Vec<String>,
    /// The delay after which the containers are to be loaded again even without an event; `None` if the next loading
    /// is to wait for an event.
    pub(crate) retry: Option<Duration>,
    /// The contents kept from earlier loadings ([`Shelf`](super::shelf::Shelf)) that this loading used.
    pub(crate) used: Used,
}

/// The contents kept from earlier loadings that a loading used. All other contents are dropped afterwards.
#[derive(Default)]
pub(crate) struct Used {
    pub(crate) parts: FxHashSet<Key>,
    pub(crate) plans: FxHashSet<(PathBuf, Role)>,
    pub(crate) lists: FxHashSet<PathBuf>,
    pub(crate) doubtful: FxHashSet<PathBuf>,
}

/// The key under which the content of a file or folder is kept: its path, and the properties with which it is read.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) path: PathBuf,
    pub(crate) role: Role,
    pub(crate) loader: Loader,
    pub(crate) platform: bool,
    pub(crate) release: u16,
}

/// The time after which an unchanged file that looks incomplete is accepted: it is not being written any more.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

impl Round {
    /// Returns whether the file at `path`, which has looked incomplete since `since`, is to be accepted. The file is
    /// accepted if enough time has passed and the caller was informed about the file.
    pub(crate) fn is_over(&self, path: &Path, since: Instant) -> bool {
        since.elapsed() >= PATIENCE && self.told.contains(&path_text(path))
    }

    /// Records that the last good state of the file or folder at `place` is used, for the reason `why`.
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

    /// Requests that the containers are loaded again after this delay or earlier; `None` requests nothing.
    pub(crate) fn retry_in(&mut self, delay: Option<Duration>) {
        self.retry = self.retry.into_iter().chain(delay).min();
    }
}

impl Key {
    /// Returns the key under which the content of this file or folder is kept.
    pub(crate) fn of(at: &At<'_>) -> Key {
        let At { role, loader, platform, release, .. } = *at;
        Key { path: at.path.to_owned(), role, loader, platform, release }
    }
}
