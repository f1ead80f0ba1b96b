//! The part of the disk on which a world depends: the names that paths go through, and the folders whose names
//! matter. Has all of it watched before it is examined, so that no change is lost in between.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use vfs::naming::is_class_name;
use vfs::services::SERVICES_FOLDER;

use super::mounts::Mounts;
use super::source::{EventSource, Untold};

/// The maximum number of symbolic links that a path goes through, as on Linux.
const MAX_LINKS: usize = 40;

/// Whether watching a single folder is cheap, and watching everything below it is not. This is so on Linux.
/// Elsewhere folders are watched with everything below them, and of the folders that a path goes through only those
/// where the next name is the last one, a link or missing.
const SINGLE: bool = cfg!(target_os = "linux");

/// The part of the disk on which the world depends.
pub(crate) struct Ground {
    source: Option<Box<dyn EventSource>>,
    /// Every name that a path goes through, in a folder without links.
    names: FxHashSet<PathBuf>,
    /// Folders whose names matter, without links.
    listed: FxHashSet<PathBuf>,
    /// Folders that are watched.
    watched: FxHashMap<PathBuf, Watched>,
    round: RoundNumber,
    /// What was found out about paths in this round.
    seen: FxHashMap<PathBuf, Seen>,
    news: News,
    mounts: Mounts,
    /// Whether file systems were mounted or unmounted since the last round: no events tell what that hides or shows.
    is_remounted: bool,
    /// Whether some folders are not examined in this round, because there were no events about them.
    is_partial: bool,
    /// Why some changes cause no events; `None` if all do.
    untold: Option<String>,
}

/// The number of a loading.
pub(crate) type RoundNumber = u64;

/// A folder that is watched.
struct Watched {
    /// The round in which the folder was last needed.
    round: RoundNumber,
    /// The identity of the folder, as another one may get its name; `None` if the source cannot watch it.
    id: Option<Id>,
    /// Whether it is on a file system where other machines may change files.
    is_shared: bool,
}

/// What is known of the changes since the last round.
#[derive(Default, Debug)]
pub(crate) struct News {
    /// The names for which there were events.
    pub(crate) paths: FxHashSet<PathBuf>,
    /// The names that may now belong to something else.
    pub(crate) renamed: FxHashSet<PathBuf>,
    /// Whether events were lost.
    pub(crate) is_lost: bool,
}

/// Where a path leads.
#[derive(Clone)]
pub(crate) struct Seen {
    /// The path without links; `None` if something on the way is missing.
    pub(crate) real: Option<PathBuf>,
    /// Whether there were events about a name on the way.
    pub(crate) is_touched: bool,
}

impl Ground {
    /// Creates a ground on which nothing depends yet. Without a source there are no events.
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

    /// Begins a round, in which the dependencies of the world are determined again.
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

    /// Ends a round after which all dependencies of the world are known.
    pub(crate) fn end(&mut self) {
        if self.is_partial {
            // What is no longer needed is removed when everything is examined again.
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

    /// The number of the current round.
    pub(crate) fn round(&self) -> RoundNumber {
        self.round
    }

    /// Whether the events since the last round are complete for all folders that have events at all.
    pub(crate) fn has_all_news(&self) -> bool {
        !self.news.is_lost && !self.is_remounted
    }

    /// Whether each change in this folder, which is without links, causes an event with the name that changed. Only
    /// for folders listed in this round.
    pub(crate) fn is_told(&self, folder: &Path) -> bool {
        let watched = self.watched.get(folder);
        SINGLE && self.source.is_some() && watched.is_some_and(|it| it.id.is_some() && !it.is_shared)
    }

    /// Declares that some folders on which the world still depends are not examined in this round.
    pub(crate) fn leave_rest(&mut self) {
        self.is_partial = true;
    }

    /// What is known of the changes since the last round.
    pub(crate) fn news(&self) -> &News {
        &self.news
    }

    /// Why not all changes cause events; `None` if they do.
    pub(crate) fn untold(&self) -> Option<&str> {
        self.untold.as_deref()
    }

    /// Whether the world may depend on this name.
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
        // Folders matter, and so do links, which may lead to folders; a name that no longer exists may have been
        // either.
        let is_file = std::fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
        !is_file || path.parent().is_some_and(|it| it.ends_with(SERVICES_FOLDER) || it.ends_with("META-INF"))
    }

    fn is_listed(&self, folder: Option<&Path>) -> bool {
        folder.is_some_and(|it| self.listed.contains(it) || !SINGLE && self.is_listed(it.parent()))
    }

    /// Determines where a path leads, and has everything watched that decides it.
    pub(crate) fn look(&mut self, path: &Path) -> Seen {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let seen = self.resolve(&path, MAX_LINKS);
        if !SINGLE && let Some(parent) = seen.real.as_deref().and_then(Path::parent) {
            self.watch(parent, false);
        }
        seen
    }

    /// Like [`Ground::look`], and also watches a folder for changes of the names in it.
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

    /// Has a folder watched.
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

/// The identity of a folder: the numbers of device and file.
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
