//! The part of the disk on which the loaded containers depend: the names that paths go through, and the folders whose
//! lists of names matter. Each folder is watched before it is examined, so that no change is lost in between.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use vfs::naming::is_class_name;
use vfs::services::SERVICES_FOLDER;

use super::mounts::Mounts;
use super::source::{EventSource, Untold};

/// The maximum number of symbolic links that are followed to resolve a path; Linux has the same limit.
const MAX_LINKS: usize = 40;

/// Whether each folder is watched by itself. This is so on Linux, where watching a whole tree is expensive. On other
/// systems, a listed folder is watched with everything below it. Of the folders on the way to a file, the other
/// systems watch only the direct parent, and folders in which the next name on the way is a symbolic link or is
/// missing.
const SINGLE: bool = cfg!(target_os = "linux");

/// The files and folders on which the loaded containers depend, and the file events about them.
pub(crate) struct Ground {
    source: Option<Box<dyn EventSource>>,
    /// The paths of the loaded files and folders, and of all folders and symbolic links that lead to them. In each of
    /// these paths, the symbolic links of the parent folders are resolved.
    names: FxHashSet<PathBuf>,
    /// The folders in which added or removed files can change the loaded containers; as paths with symbolic links
    /// resolved.
    listed: FxHashSet<PathBuf>,
    /// The folders that are watched for changes, by their path with symbolic links resolved.
    watched: FxHashMap<PathBuf, Watched>,
    round: RoundNumber,
    /// The paths that were resolved in the current loading of the containers, each with the result.
    seen: FxHashMap<PathBuf, Seen>,
    news: News,
    mounts: Mounts,
    /// Whether file systems were mounted or unmounted since the previous loading of the containers. A mount hides
    /// files and an unmount shows them, without an event.
    is_remounted: bool,
    /// Whether the current loading of the containers skips folders about which there were no events.
    is_partial: bool,
    /// The reason why some changes on disk cause no file events; `None` if all changes cause events.
    untold: Option<String>,
}

/// The number of a round; a round is one loading of the containers.
pub(crate) type RoundNumber = u64;

/// The data about a folder that is watched.
struct Watched {
    /// The number of the last loading of the containers in which a container depended on the folder.
    round: RoundNumber,
    /// The identity of the folder that is watched, because another folder may later get the same name; `None` if the
    /// event source cannot watch the folder.
    id: Option<Id>,
    /// Whether the folder is on a file system where other machines may change files, so that some changes cause no
    /// events.
    is_shared: bool,
}

/// The file events since the previous loading of the containers.
#[derive(Default, Debug)]
pub(crate) struct News {
    /// The paths about which there were events.
    pub(crate) paths: FxHashSet<PathBuf>,
    /// The paths that may now lead to a different file or folder, because events reported that a file or
    /// folder was created, removed or moved there.
    pub(crate) renamed: FxHashSet<PathBuf>,
    /// Whether events were lost, so that any file may have changed.
    pub(crate) is_lost: bool,
}

/// The result of resolving the symbolic links of a path.
#[derive(Clone)]
pub(crate) struct Seen {
    /// The path with symbolic links resolved; `None` if the path leads to no file or folder.
    pub(crate) real: Option<PathBuf>,
    /// Whether there were events, since the previous loading of the containers, about the file or folder at the path,
    /// about a folder or link on the way to it, or about the target of such a link.
    pub(crate) is_touched: bool,
}

impl Ground {
    /// Creates a value without files and folders. If `source` is `None`, no events are received; `untold` is then the
    /// reason if the source could not be created because of an error.
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

    /// Begins a loading of the containers. The files and folders on which the containers depend are determined again
    /// in it. `news` has the file events since the previous loading.
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

    /// Ends a loading of the containers. Stops watching the folders on which the containers no longer depend, if the
    /// loading examined all folders ([`Ground::leave_rest`]).
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

    /// Returns whether no event was lost and no file system was mounted or unmounted since the previous loading of
    /// the containers, so that the events report all changes in the folders about which the source sends events.
    pub(crate) fn has_all_news(&self) -> bool {
        !self.news.is_lost && !self.is_remounted
    }

    /// Returns whether each change in this folder causes an event that gives the changed name. `folder` must be a
    /// path without symbolic links that was passed to [`Ground::list`] in the current loading of the containers.
    pub(crate) fn is_told(&self, folder: &Path) -> bool {
        let watched = self.watched.get(folder);
        SINGLE && self.source.is_some() && watched.is_some_and(|it| it.id.is_some() && !it.is_shared)
    }

    /// Declares that the current loading of the containers does not examine all folders on which they depend, so that
    /// [`Ground::end`] keeps watching all of them.
    pub(crate) fn leave_rest(&mut self) {
        self.is_partial = true;
    }

    /// Returns the file events since the previous loading of the containers.
    pub(crate) fn news(&self) -> &News {
        &self.news
    }

    /// Returns the reason why some changes on disk cause no file events; `None` if all changes cause events.
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

    /// Resolves the symbolic links of a path, and watches every folder on which the result depends.
    pub(crate) fn look(&mut self, path: &Path) -> Seen {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let seen = self.resolve(&path, MAX_LINKS);
        if !SINGLE && let Some(parent) = seen.real.as_deref().and_then(Path::parent) {
            self.watch(parent, false);
        }
        seen
    }

    /// Resolves the symbolic links of the path of a folder, like [`Ground::look`]. Also watches the folder itself,
    /// because the loaded containers depend on the files in it.
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

    /// Begins to watch a folder, and everything below it if `deep`, unless the folder is already watched.
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
