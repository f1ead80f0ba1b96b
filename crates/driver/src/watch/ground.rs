//! The part of the disk on which the loaded containers depend: the names that paths go through, and the folders whose
//! lists of names matter. Each folder is watched before it is examined, so that no change is lost in between.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use vfs::naming::is_class_name;
use vfs::services::SERVICES_FOLDER;

use super::mounts::Mounts;
use super::source::{EventSource, Untold};

/// The maximum number of symbolic links that a path goes through, as on Linux.
const MAX_LINKS: usize = 40;

/// Whether folders are watched one by one. This is so on Linux, where watching a whole tree is expensive. On other
/// systems, each listed folder is watched with everything below it. Of the folders that a path goes through, the
/// other systems watch only those in which the next name of the path is the last one, a link or missing.
const SINGLE: bool = cfg!(target_os = "linux");

/// The files and folders on which the loaded containers depend, and the file events about them.
pub(crate) struct Ground {
    source: Option<Box<dyn EventSource>>,
    /// Every file, folder and link through which the path of a loaded file or folder leads. Each is given as a path
    /// whose folders are not symbolic links.
    names: FxHashSet<PathBuf>,
    /// The folders whose lists of names affect which containers are loaded; given as paths without symbolic links.
    listed: FxHashSet<PathBuf>,
    /// The folders that are watched for changes.
    watched: FxHashMap<PathBuf, Watched>,
    round: RoundNumber,
    /// For each path that was resolved in the current loading of the containers, the result.
    seen: FxHashMap<PathBuf, Seen>,
    news: News,
    mounts: Mounts,
    /// Whether file systems were mounted or unmounted since the previous loading of the containers. No event reports
    /// the files that a mount hides or shows.
    is_remounted: bool,
    /// Whether the current loading of the containers skips folders about which there were no events.
    is_partial: bool,
    /// The reason why some changes cause no events; `None` if all changes cause events.
    untold: Option<String>,
}

/// The number of a round: one loading of the containers.
pub(crate) type RoundNumber = u64;

/// The data about a folder that is watched.
struct Watched {
    /// The number of the last loading of the containers in which a container depended on the folder.
    round: RoundNumber,
    /// The identity of the folder, because another folder may get the same name; `None` if the event source cannot
    /// watch the folder.
    id: Option<Id>,
    /// Whether the folder is on a file system where other machines may change files.
    is_shared: bool,
}

/// The file events since the previous loading of the containers.
#[derive(Default, Debug)]
pub(crate) struct News {
    /// The paths for which there were events.
    pub(crate) paths: FxHashSet<PathBuf>,
    /// The paths that may now belong to another file or folder, because of events about creating, removing or moving.
    pub(crate) renamed: FxHashSet<PathBuf>,
    /// Whether events were lost, so that any file may have changed.
    pub(crate) is_lost: bool,
}

/// The result of resolving a path.
#[derive(Clone)]
pub(crate) struct Seen {
    /// The path without symbolic links; `None` if a folder on the way or the file itself is missing.
    pub(crate) real: Option<PathBuf>,
    /// Whether there were events, since the previous loading of the containers, about a name on the path or about the
    /// target of a link that the path goes through.
    pub(crate) is_touched: bool,
}

impl Ground {
    /// Creates a value that has no files or folders yet. If `source` is `None`, there are no events; `untold` is the
    /// reason if the source is missing because of an error.
    pub(crate) fn new(source: Option<Box<dyn EventSource>>, untold: Option<String>) -> Ground {
        let mut mounts = Mounts::default();
        mounts.refresh();
        Ground {
            source,
            names: FxHashSet::default(),
            listed: FxHashSet::default(),
            watched: FxHashMap::default(),
            round: 0,
            seen: FxHashMap::default(),
            news: News::default(),
            mounts,
            is_remounted: false,
            is_partial: false,
            untold,
        }
    }

    /// Begins a loading of the containers, in which the files and folders on which they depend are determined again.
    /// `news` has the file events since the previous loading.
    pub(crate) fn begin(&mut self, news: News) {
        self.round += 1;
        self.seen.clear();
        self.is_partial = false;
        self.is_remounted = self.mounts.refresh();
        // The source sends no events about a folder that was moved or created again under its name, or only about
        // the old one.
        if news.is_lost {
            self.watched.clear();
        } else if !news.renamed.is_empty() {
            self.watched.retain(|it, _| !it.ancestors().any(|it| news.renamed.contains(it)));
        }
        self.news = news;
        self.untold = if self.source.is_some() { None } else { self.untold.take() };
    }

    /// Ends a loading of the containers: stops watching the folders on which the containers no longer depend.
    pub(crate) fn end(&mut self) {
        if self.is_partial {
            // Unused folders are removed when all folders are examined again.
            return;
        }
        let round = self.round;
        let gone: Vec<PathBuf> =
            self.watched.iter().filter(|it| it.1.round != round).map(|it| it.0.clone()).collect();
        for it in gone {
            self.watched.remove(&it);
            if let Some(source) = &mut self.source {
                source.unwatch(&it);
            }
        }
        let seen = &self.seen;
        self.names.retain(|it| seen.contains_key(it));
        let watched = &self.watched;
        self.listed.retain(|it| watched.contains_key(it));
    }

    /// Returns the number of the current loading of the containers.
    pub(crate) fn round(&self) -> RoundNumber {
        self.round
    }

    /// Returns whether all events since the previous loading of the containers are known, for the folders about which
    /// the source sends events.
    pub(crate) fn has_all_news(&self) -> bool {
        !self.news.is_lost && !self.is_remounted
    }

    /// Returns whether each change in this folder causes an event with the name that changed. `folder` must be a path
    /// without symbolic links that was passed to [`Ground::list`] in the present loading.
    pub(crate) fn is_told(&self, folder: &Path) -> bool {
        let watched = self.watched.get(folder);
        SINGLE && self.source.is_some() && watched.is_some_and(|it| it.id.is_some() && !it.is_shared)
    }

    /// Declares that the current loading does not examine all folders on which the containers depend, so that
    /// [`Ground::end`] keeps watching all of them.
    pub(crate) fn leave_rest(&mut self) {
        self.is_partial = true;
    }

    /// Returns the file events since the previous loading of the containers.
    pub(crate) fn news(&self) -> &News {
        &self.news
    }

    /// Returns the reason why some changes cause no events; `None` if all changes cause events.
    pub(crate) fn untold(&self) -> Option<&str> {
        self.untold.as_deref()
    }

    /// Returns whether the loaded containers may depend on the file or folder at this path.
    pub(crate) fn concerns(&self, path: &Path) -> bool {
        if self.names.contains(path) {
            return true;
        }
        if !self.is_listed(path.parent()) {
            return false;
        }
        let name = path.to_string_lossy();
        if is_class_name(&name) || path.extension().is_some_and(|it| it.eq_ignore_ascii_case("jar")) {
            return true;
        }
        // Folders matter, and so do links, which may lead to folders. A name that no longer exists may have been a
        // folder or a link.
        let is_file = std::fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
        !is_file || path.parent().is_some_and(|it| it.ends_with(SERVICES_FOLDER) || it.ends_with("META-INF"))
    }

    fn is_listed(&self, folder: Option<&Path>) -> bool {
        folder.is_some_and(|it| self.listed.contains(it) || !SINGLE && self.is_listed(it.parent()))
    }

    /// Resolves a path, and watches every folder on which the result depends.
    pub(crate) fn look(&mut self, path: &Path) -> Seen {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let seen = self.resolve(&path, MAX_LINKS);
        if !SINGLE && let Some(parent) = seen.real.as_deref().and_then(Path::parent) {
            self.watch(parent, false);
        }
        seen
    }

    /// Resolves the path of a folder like [`Ground::look`], and also watches the folder for changes of the names in
    /// it.
    pub(crate) fn list(&mut self, folder: &Path) -> Seen {
        let seen = self.look(folder);
        if let Some(real) = &seen.real {
            self.watch(real, !SINGLE);
            self.listed.insert(real.clone());
        }
        seen
    }

    fn resolve(&mut self, path: &Path, links: usize) -> Seen {
        if let Some(seen) = self.seen.get(path) {
            // Names are cached under the folder without links, where they are.
            return seen.clone();
        }
        let seen = self.resolve_anew(path, links);
        self.seen.insert(path.to_owned(), seen.clone());
        seen
    }

    fn resolve_anew(&mut self, path: &Path, links: usize) -> Seen {
        let Some(parent) = path.parent() else {
            return Seen { real: Some(path.to_owned()), is_touched: self.news.paths.contains(path) };
        };
        let Seen { real, mut is_touched } = self.resolve(parent, links);
        let nowhere = |is_touched| Seen { real: None, is_touched };
        let Some(folder) = real else { return nowhere(is_touched) };
        let Some(name) = path.file_name() else {
            let real = folder.parent().unwrap_or(&folder).to_owned();
            return Seen { real: Some(real), is_touched };
        };
        let here = folder.join(name);
        is_touched |= self.news.paths.contains(&here);
        if SINGLE {
            self.watch(&folder, false);
        }
        self.names.insert(here.clone());
        let seen = match std::fs::symlink_metadata(&here) {
            Err(_) => {
                self.watch(&folder, false);
                nowhere(is_touched)
            }
            Ok(it) if it.is_symlink() => {
                self.watch(&folder, false);
                match std::fs::read_link(&here) {
                    Ok(target) if links > 0 => {
                        let seen = self.resolve(&folder.join(target), links - 1);
                        Seen { is_touched: seen.is_touched || is_touched, ..seen }
                    }
                    _ => nowhere(is_touched),
                }
            }
            Ok(_) => Seen { real: Some(here.clone()), is_touched },
        };
        if here != path {
            self.seen.insert(here, seen.clone());
        }
        seen
    }

    /// Begins to watch a folder, with everything below it if `deep`, unless it is watched already.
    fn watch(&mut self, folder: &Path, deep: bool) {
        let watched = self.watched.get_mut(folder);
        if watched.as_ref().is_some_and(|it| it.round == self.round) {
            return;
        }
        let kind = self.mounts.silent(folder);
        let is_shared = kind.is_some();
        if let Some(kind) = kind {
            self.untold = Some(format!(
                "{} is on a file system ({kind}) that other machines may change",
                folder.display()
            ));
        }
        let id = id(folder);
        if let Some(it) = watched.filter(|it| it.id == id) {
            (it.round, it.is_shared) = (self.round, is_shared);
            return;
        }
        if !SINGLE && folder.ancestors().skip(1).any(|it| self.listed.contains(it)) {
            return;
        }
        let mut watched = Watched { round: self.round, id, is_shared };
        if let Some(source) = &mut self.source
            && let Err(untold) = source.watch(folder, deep)
        {
            if let Untold::Unable(why) = untold {
                self.untold = Some(format!("{}: {why}", folder.display()));
            }
            // Watching is tried again in the next round.
            watched.id = None;
        }
        self.watched.insert(folder.to_owned(), watched);
    }
}

/// The identity of a folder: its device number and inode number.
type Id = (u64, u64);

#[cfg(unix)]
fn id(folder: &Path) -> Option<Id> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(folder).ok().map(|it| (it.dev(), it.ino()))
}

#[cfg(not(unix))]
fn id(_folder: &Path) -> Option<Id> {
    Some((0, 0))
}
