//! What of the disk a world stands on: the names that paths go through, the folders whose names count. Has all of it
//! watched, before it is looked at, so that no change falls between looking and watching.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use vfs::naming::is_class_name;
use vfs::services::SERVICES_FOLDER;

use super::mounts::Mounts;
use super::source::{EventSource, Untold};

/// A path goes through at most this many symbolic links, as on Linux.
const MAX_LINKS: usize = 40;

/// Whether telling is cheap for a folder and costs for all below it. So it is on Linux; elsewhere folders are watched with all below
/// them, and of the folders that a path goes through only those where the next name is the last, a link or missing.
const SINGLE: bool = cfg!(target_os = "linux");

/// What the world stands on.
pub(crate) struct Ground {
    source: Option<Box<dyn EventSource>>,
    /// Every name that a path goes through, in a folder without links.
    names: FxHashSet<PathBuf>,
    /// Folders whose names count, without links.
    listed: FxHashSet<PathBuf>,
    /// Folders that are watched.
    watched: FxHashMap<PathBuf, Watched>,
    round: RoundNumber,
    /// What was found out of paths in this round.
    seen: FxHashMap<PathBuf, Seen>,
    news: News,
    mounts: Mounts,
    /// Whether file systems were mounted or unmounted since the last round: what that hides and shows is not told.
    is_remounted: bool,
    /// Whether some folders are not looked at in this round, because nothing was told of them.
    is_partial: bool,
    /// Why some changes are not told.
    untold: Option<String>,
}

/// The number of a loading.
pub(crate) type RoundNumber = u64;

/// A folder that is watched.
struct Watched {
    /// The round in which it was last needed.
    round: RoundNumber,
    /// Which folder it is: another one may get its name. None where the source cannot tell what happens in it.
    id: Option<Id>,
    /// Whether it lies where others may change files.
    is_shared: bool,
}

/// What is known of the changes since the last round.
#[derive(Default, Debug)]
pub(crate) struct News {
    /// The names that something happened to.
    pub(crate) paths: FxHashSet<PathBuf>,
    /// Names of what may be something else now.
    pub(crate) renamed: FxHashSet<PathBuf>,
    /// Whether news was lost.
    pub(crate) is_lost: bool,
}

/// Where a path leads.
#[derive(Clone)]
pub(crate) struct Seen {
    /// The path without links; none when something on the way is missing.
    pub(crate) real: Option<PathBuf>,
    /// Whether something happened to a name on the way.
    pub(crate) is_touched: bool,
}

impl Ground {
    /// Nothing. Without a source nothing is told.
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

    /// Begins a round: what the world stands on is found out anew.
    pub(crate) fn begin(&mut self, news: News) {
        self.round += 1;
        self.seen.clear();
        self.is_partial = false;
        self.is_remounted = self.mounts.refresh();
        // Of a folder that was moved, or made again under its name, the source tells nothing, or of the old one.
        if news.is_lost {
            self.watched.clear();
        } else if !news.renamed.is_empty() {
            self.watched.retain(|it, _| !it.ancestors().any(|it| news.renamed.contains(it)));
        }
        self.news = news;
        self.untold = if self.source.is_some() { None } else { self.untold.take() };
    }

    /// Ends a round after which all that the world stands on is known.
    pub(crate) fn end(&mut self) {
        if self.is_partial {
            // What is not needed any more goes when all is looked at again.
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

    /// The number of this round.
    pub(crate) fn round(&self) -> RoundNumber {
        self.round
    }

    /// Whether news says of all folders that are told what happened in them since the last round.
    pub(crate) fn has_all_news(&self) -> bool {
        !self.news.is_lost && !self.is_remounted
    }

    /// Whether each change in this folder, which is without links, is told by the name that it happens to. Only of folders
    /// listed in this round.
    pub(crate) fn is_told(&self, folder: &Path) -> bool {
        let watched = self.watched.get(folder);
        SINGLE && self.source.is_some() && watched.is_some_and(|it| it.id.is_some() && !it.is_shared)
    }

    /// Says that folders which the world stands on as before are not looked at in this round.
    pub(crate) fn leave_rest(&mut self) {
        self.is_partial = true;
    }

    /// What is known of the changes since the last round.
    pub(crate) fn news(&self) -> &News {
        &self.news
    }

    /// Why not all changes are told; `None` when they are.
    pub(crate) fn untold(&self) -> Option<&str> {
        self.untold.as_deref()
    }

    /// Whether the world may stand on this name.
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
        // Folders count, and so do links, which may lead to one; what has gone may have been either.
        let is_file = std::fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
        !is_file || path.parent().is_some_and(|it| it.ends_with(SERVICES_FOLDER) || it.ends_with("META-INF"))
    }

    fn is_listed(&self, folder: Option<&Path>) -> bool {
        folder.is_some_and(|it| self.listed.contains(it) || !SINGLE && self.is_listed(it.parent()))
    }

    /// Finds out where a path leads, and has watched what decides it.
    pub(crate) fn look(&mut self, path: &Path) -> Seen {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let seen = self.resolve(&path, MAX_LINKS);
        if !SINGLE && let Some(parent) = seen.real.as_deref().and_then(Path::parent) {
            self.watch(parent, false);
        }
        seen
    }

    /// The same for a folder whose names count.
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
            // Names are found again under the folder without links, where they are.
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

    /// Has a folder watched.
    fn watch(&mut self, folder: &Path, deep: bool) {
        let watched = self.watched.get_mut(folder);
        if watched.as_ref().is_some_and(|it| it.round == self.round) {
            return;
        }
        let kind = self.mounts.silent(folder);
        let is_shared = kind.is_some();
        if let Some(kind) = kind {
            self.untold =
                Some(format!("{} is on a file system ({kind}) that others may change", folder.display()));
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
            // To be tried again in the next round.
            watched.id = None;
        }
        self.watched.insert(folder.to_owned(), watched);
    }
}

/// Which folder it is: the numbers of device and file.
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
