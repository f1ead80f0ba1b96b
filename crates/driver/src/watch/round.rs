//! The data of one loading, which does not outlive it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use crate::container::Loader;
use crate::disk::At;
use crate::open::path_text;
use crate::problem::Problem;
use ide::Role;

/// The data of one loading.
#[derive(Default)]
pub(crate) struct Round {
    /// Whether files with the same stamp are read again if they changed shortly before they were read.
    pub(crate) is_check: bool,
    /// The places that the caller knows to be kept.
    pub(crate) told: FxHashSet<String>,
    /// What stays in its last good state, although the disk has another one.
    pub(crate) kept: Vec<Problem>,
    /// What was read again and differs.
    pub(crate) changed: Vec<String>,
    /// The delay after which to load again without an event.
    pub(crate) retry: Option<Duration>,
    /// What the world was made of.
    pub(crate) used: Used,
}

/// What a loading used. Everything else is dropped afterwards.
#[derive(Default)]
pub(crate) struct Used {
    pub(crate) parts: FxHashSet<Key>,
    pub(crate) plans: FxHashSet<(PathBuf, Role)>,
    pub(crate) lists: FxHashSet<PathBuf>,
    pub(crate) doubtful: FxHashSet<PathBuf>,
}

/// What is read, and in which role.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) path: PathBuf,
    pub(crate) role: Role,
    pub(crate) loader: Loader,
    pub(crate) platform: bool,
    pub(crate) release: u16,
}

/// A file that has been doubtful for this long is not being written.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

impl Round {
    /// Whether something has been doubtful for long, and the caller knows of it.
    pub(crate) fn is_over(&self, path: &Path, since: Instant) -> bool {
        since.elapsed() >= PATIENCE && self.told.contains(&path_text(path))
    }

    /// Records that something stays in its last good state, and why.
    pub(crate) fn keep(&mut self, place: &Path, why: &str) {
        let name = path_text(place);
        // A missing module is noticed when modules are listed, and again when it is opened.
        if self.kept.iter().all(|it| it.place != name) {
            let why = why.strip_prefix(&format!("{name}: ")).unwrap_or(why);
            self.kept.push(Problem::error(name, format!("{why}; its last good state is kept")));
        }
    }

    /// Has the loading repeated after this delay, or earlier.
    pub(crate) fn retry_in(&mut self, delay: Option<Duration>) {
        self.retry = self.retry.into_iter().chain(delay).min();
    }
}

impl Key {
    /// The key of the file or folder to read.
    pub(crate) fn of(at: &At<'_>) -> Key {
        let At { role, loader, platform, release, .. } = *at;
        Key { path: at.path.to_owned(), role, loader, platform, release }
    }
}
