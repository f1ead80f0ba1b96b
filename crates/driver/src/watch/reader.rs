//! Reads the class files of a folder that may have changed, and reuses the contents of the others.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustc_hash::{FxHashMap, FxHashSet};

use vfs::jimage::content::MAX_RESOURCE;

use crate::container::FileContent;
use crate::folder;

use super::ground::Ground;
use super::held::{Failed, FileHeld, RETRY, Why, class_doubt, content};
use super::round::Round;
use super::stamp::{self, Reading, Stamp, Unread};

/// For each class file (by path), its content and metadata when the file was last read.
pub(crate) type ClassFiles = FxHashMap<PathBuf, FileHeld<Arc<FileContent>>>;

/// Reads the class files of a class folder that [`folder::open`] or [`folder::update`] examines, and reuses the
/// contents of unchanged files.
pub(crate) struct Reader<'a> {
    pub(crate) ground: &'a mut Ground,
    pub(crate) round: &'a mut Round,
    /// The class files (by path) that may be incomplete because they are being written.
    pub(crate) doubtful: &'a mut FxHashMap<PathBuf, Failed>,
    /// The contents from earlier loadings of the class files that this reader has not yet examined.
    pub(crate) before: ClassFiles,
    /// The class files that this reader has examined, with the contents to use: the present content, or the previous
    /// one if the file is being written.
    pub(crate) now: ClassFiles,
    /// The folder whose files are being examined: the class folder or a folder below it. First its path as given,
    /// then its path without symbolic links, which is `None` if the folder does not exist.
    pub(crate) folder: (PathBuf, Option<PathBuf>),
    /// The class files that the next loading must examine even without an event, because they could not be read or
    /// may be written only in part.
    pub(crate) again: FxHashSet<PathBuf>,
    /// Whether each change of a file in the class folder causes an event with the name of the file. The files in
    /// `again` are an exception, as they are examined even without an event.
    pub(crate) is_told: bool,
    /// Whether the class folder is read for the first time, so that there are no earlier contents of its files.
    pub(crate) is_first: bool,
    /// Whether there were events about the folder in `folder` itself or about a folder above it, so that any file in
    /// it may have changed.
    pub(crate) is_touched: bool,
}

impl folder::Files for Reader<'_> {
    fn lists(&mut self, folder: &Path) {
        let seen = self.ground.list(folder);
        self.is_told &= seen.real.as_ref().is_some_and(|it| self.ground.is_told(it));
        self.folder = (folder.to_owned(), seen.real);
        self.is_touched = seen.is_touched;
    }

    fn class(&mut self, file: &folder::File<'_>) -> Option<(Option<Arc<FileContent>>, u64)> {
        let is_touched = if file.is_link {
            self.ground.look(file.path).is_touched
        } else {
            let below = file.path.strip_prefix(&self.folder.0).ok();
            let real = self.folder.1.as_ref().zip(below).map(|it| it.0.join(it.1));
            self.is_touched || real.is_none_or(|it| self.ground.news().paths.contains(&it))
        };
        let has_other_names = stamp::has_other_names(file.metadata);
        if has_other_names {
            self.irregular();
        }
        let stamp = Stamp::of(file.metadata);
        let old = self.before.remove(file.path);
        let is_check = self.round.is_check;
        let held = match old {
            Some(it) if !is_touched && it.is_right(Some(&stamp), is_check) => it,
            old => match self.doubtful.get(file.path) {
                Some(it) if !is_touched && it.stays(file.path, Some(&stamp), self.round) => {
                    let (what, delay) = (it.what(), it.delay());
                    self.doubt(file.path, &what, delay);
                    old?
                }
                _ => {
                    if has_other_names && !is_check {
                        // The other names may be in another folder, and writing through them causes no event.
                        self.round.retry_in(Some(RETRY));
                    }
                    self.read(file.path, old)?
                }
            },
        };
        if held.stamp.is_none() {
            self.again.insert(file.path.to_owned());
        }
        let size = held.content.bytes.as_ref().map_or(file.metadata.len(), |it| it.len() as u64);
        let content = held.content.clone();
        self.now.insert(file.path.to_owned(), held);
        Some((Some(content), size))
    }

    fn irregular(&mut self) {
        self.is_told = false;
    }

    fn outdated(&mut self, path: &Path) {
        self.before.remove(path);
    }
}

impl Reader<'_> {
    /// Records that the present content of a class file is not used yet, for the reason `what`, and that the file is
    /// to be examined again after `delay` (if `None`, after the next event).
    fn doubt(&mut self, path: &Path, what: &str, delay: Option<Duration>) {
        self.round.keep(path, what);
        self.round.retry_in(delay);
        self.round.used.doubtful.insert(path.to_owned());
        self.again.insert(path.to_owned());
    }

    /// Reads a class file, and returns its content and metadata. If the file is probably still being written, returns
    /// the previous content `old` instead. Returns `None` if the file no longer exists, or is being written and has
    /// no previous content.
    fn read(
        &mut self,
        path: &Path,
        old: Option<FileHeld<Arc<FileContent>>>,
    ) -> Option<FileHeld<Arc<FileContent>>> {
        let (bytes, stamp, at) = match stamp::read(path, MAX_RESOURCE) {
            Ok(Reading { bytes, stamp, at }) => (Ok(bytes), Some(stamp), at),
            Err(Unread::Failed(it)) if it.kind() == std::io::ErrorKind::NotFound => return None,
            Err(Unread::Moving) => {
                self.doubt(path, &Unread::Moving.what(), Some(RETRY));
                return old.map(|it| FileHeld { stamp: None, ..it });
            }
            Err(it) => (Err(it.what()), None, SystemTime::now()),
        };
        let is_same = |it: &FileContent| match (&it.bytes, &bytes) {
            (Ok(a), Ok(b)) => **a == **b,
            (Err(a), Err(b)) => a == b,
            _ => false,
        };
        if let Some(old) = old.as_ref().filter(|it| is_same(&it.content)) {
            return Some(FileHeld { content: old.content.clone(), stamp, at });
        }
        if !self.is_first
            && let Some(why) = bytes.as_ref().ok().and_then(|it| class_doubt(it))
        {
            let since = self.doubtful.get(path).and_then(|it| it.since(stamp.as_ref()));
            let since = since.unwrap_or_else(Instant::now);
            if !self.round.is_over(path, since) {
                let failed = Failed { stamp, at, since, why: Why::Doubtful(why) };
                self.doubt(path, &failed.what(), failed.delay());
                self.doubtful.insert(path.to_owned(), failed);
                return old;
            }
        }
        Some(FileHeld { content: content(bytes), stamp, at })
    }
}
