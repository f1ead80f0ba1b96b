//! The contents read from the disk, kept from one loading to the next. A file is read again if there was an event
//! about it or its stamp differs. Its [`Part`] is rebuilt only if its bytes differ. For a file that cannot be read or
//! is still being written, the last good state is kept.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use anyhow::anyhow;
use rustc_hash::FxHashMap;

use crate::disk::{At, Disk, Part, Plan, Step};
use crate::homes::files_of;
use crate::image;
use crate::image_map::ImageMap;
use crate::jdk::{JdkChoice, JdkFound};
use crate::problem::Problem;
use ide::Role;

use super::ground::Ground;
use super::held::{Bytes, Failed, FileHeld, RETRY, Why, make};
use super::round::{Key, Round};
use super::stamp::{self, Reading, Stamp, Unread};
use super::tree::{Tree, TreeReading};

/// The contents of files and folders that were read from disk. They are stored from one loading of the containers to
/// the next, so that unchanged files are not read again.
pub(crate) struct Shelf {
    /// The files and folders on which the loaded containers depend, and the file events about them.
    pub(crate) ground: Ground,
    parts: FxHashMap<Key, Shelved>,
    plans: FxHashMap<(PathBuf, Role), Plan>,
    lists: FxHashMap<PathBuf, Vec<PathBuf>>,
    jdk: Option<(JdkChoice, JdkFound)>,
    /// The class files in class folders (by path) that may be incomplete because they are being written.
    doubtful: FxHashMap<PathBuf, Failed>,
    round: Round,
}

/// The containers of a file or folder, and the data from which they were built.
struct Shelved {
    part: Arc<Part>,
    held: Held,
    /// Why the present content of the file is not used (it cannot be read, or may be incomplete); `None` if it is
    /// used.
    failed: Option<Failed>,
}

/// The data that was read from a file or folder, and from which its containers were built.
enum Held {
    File(FileHeld<Bytes>),
    Folder(Tree),
}

impl Shelf {
    /// Creates a store without contents. `ground` holds the files and folders on which the containers depend, and
    /// sends the file events about them.
    pub(crate) fn new(ground: Ground) -> Shelf {
        Shelf {
            ground,
            parts: FxHashMap::default(),
            plans: FxHashMap::default(),
            lists: FxHashMap::default(),
            jdk: None,
            doubtful: FxHashMap::default(),
            round: Round::default(),
        }
    }

    /// Begins a loading of the containers. With `is_check`, a file whose stamp (metadata) is unchanged is read again
    /// if two writes may have left the same stamp. `told` are the problems already reported to the caller, about
    /// files whose last good state is used: only such a file is accepted, after a while, although it looks
    /// incomplete.
    pub(crate) fn begin(&mut self, is_check: bool, told: &[Problem]) {
        let told = told.iter().map(|it| it.place.clone()).collect();
        self.round = Round { is_check, told, ..Round::default() };
    }

    /// Ends a loading of the containers, and returns the data collected in it. `is_whole` means that the loading
    /// succeeded; then the stored contents that the loading did not use are dropped.
    pub(crate) fn end(&mut self, is_whole: bool) -> Round {
        let round = std::mem::take(&mut self.round);
        if is_whole {
            self.parts.retain(|it, _| round.used.parts.contains(it));
            self.plans.retain(|it, _| round.used.plans.contains(it));
            self.lists.retain(|it, _| round.used.lists.contains(it));
            self.doubtful.retain(|it, _| round.used.doubtful.contains(it));
            self.ground.end();
        }
        round
    }

    /// Reads a file if it may have changed, and returns its new containers. Returns `None` if those stored under
    /// `key` stay in use, because the file is unchanged or cannot be read. `is_touched` means that there was an event
    /// about the file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, and no containers are stored for it.
    fn read_again(&mut self, at: &At<'_>, key: &Key, is_touched: bool) -> anyhow::Result<Option<Shelved>> {
        let Some(old) = self.parts.get(key) else {
            let reading = stamp::read(at.path, u64::MAX);
            // The file is being written. Its present content is used, because there is no earlier one, and is soon
            // read again.
            let reading = match reading {
                Err(Unread::Moving) => {
                    self.round.retry_in(Some(RETRY));
                    let bytes = std::fs::read(at.path).map_err(|it| anyhow!(Unread::Failed(it).what()))?;
                    Ok((bytes, None, SystemTime::now()))
                }
                Err(it) => Err(anyhow!(it.what())),
                Ok(Reading { bytes, stamp, at }) => Ok((bytes, Some(stamp), at)),
            };
            let (bytes, stamp, read) = reading?;
            let (part, bytes) = make(at, bytes, None).map_err(anyhow::Error::msg)?;
            let held = Held::File(FileHeld { content: bytes, stamp, at: read });
            return Ok(Some(Shelved { part: Arc::new(part), held, failed: None }));
        };
        let now = std::fs::metadata(at.path).ok().map(|it| Stamp::of(&it));
        if !is_touched && old.is_right(now.as_ref(), self.round.is_check) {
            return Ok(None);
        }
        if !is_touched
            && let Some(failed) = &old.failed
            && failed.stays(at.path, now.as_ref(), &self.round)
        {
            let (what, delay) = (failed.what(), failed.delay());
            self.round.keep(at.path, &what);
            self.round.retry_in(delay);
            return Ok(None);
        }
        let since = old.failed.as_ref().and_then(|it| it.since(now.as_ref())).unwrap_or_else(Instant::now);
        let read = stamp::read(at.path, u64::MAX);
        let failed = match read {
            Err(it) => {
                let why = if let Unread::Moving = it { Why::Moving } else { Why::Broken(it.what()) };
                Failed { stamp: None, at: SystemTime::now(), since, why }
            }
            Ok(reading) => match self.compare(at, key, reading, since) {
                Ok(it) => return Ok(it),
                Err(it) => it,
            },
        };
        self.round.keep(at.path, &failed.what());
        self.round.retry_in(failed.delay());
        if let Some(old) = self.parts.get_mut(key) {
            old.failed = Some(failed);
        }
        Ok(None)
    }

    /// Builds the containers of a file from the bytes in `reading`. Returns `None` if the bytes equal the stored
    /// ones. `since` is the first time at which the file was seen with this content. Fails if the file cannot be
    /// parsed, or may be incomplete.
    fn compare(
        &mut self,
        at: &At<'_>,
        key: &Key,
        reading: Reading,
        since: Instant,
    ) -> Result<Option<Shelved>, Failed> {
        let Reading { bytes, stamp, at: read } = reading;
        let mut before = None;
        if let Some(Shelved { held: Held::File(held), failed, .. }) = self.parts.get_mut(key) {
            if held.content.is(&bytes) {
                (held.stamp, held.at, *failed) = (Some(stamp), read, None);
                return Ok(None);
            }
            before = Some(&held.content);
        }
        let fail = |why| Failed { stamp: Some(stamp.clone()), at: read, since, why };
        let (part, bytes) = make(at, bytes, before).map_err(|it| fail(Why::Broken(it)))?;
        if !self.round.is_over(at.path, since)
            && let Some(doubt) = bytes.doubt()
        {
            return Err(fail(Why::Doubtful(doubt)));
        }
        let held = Held::File(FileHeld { content: bytes, stamp: Some(stamp), at: read });
        Ok(Some(Shelved { part: Arc::new(part), held, failed: None }))
    }
}

impl Shelved {
    fn is_right(&self, now: Option<&Stamp>, is_check: bool) -> bool {
        match &self.held {
            Held::File(it) => self.failed.is_none() && it.is_right(now, is_check),
            Held::Folder(_) => false,
        }
    }
}

impl Disk for Shelf {
    fn looks_at(&mut self, path: &Path) {
        self.ground.look(path);
    }

    fn lists(&mut self, folder: &Path) {
        self.ground.list(folder);
    }

    fn file(&mut self, at: &At<'_>) -> anyhow::Result<Arc<Part>> {
        let key = Key::of(at);
        let is_touched = self.ground.look(at.path).is_touched;
        self.round.used.parts.insert(key.clone());
        if let Some(it) = self.read_again(at, &key, is_touched)? {
            self.round.changed.push(at.name.to_owned());
            self.parts.insert(key.clone(), it);
        }
        let shelved = self.parts.get(&key);
        shelved.map(|it| it.part.clone()).ok_or_else(|| anyhow!("the file cannot be read"))
    }

    fn folder(&mut self, at: &At<'_>, skip: &[&str]) -> Arc<Part> {
        let key = Key::of(at);
        self.round.used.parts.insert(key.clone());
        let before = match self.parts.remove(&key) {
            Some(Shelved { part, held: Held::Folder(tree), .. }) => Some((part, tree)),
            _ => None,
        };
        let old = before.as_ref().map(|it| Arc::clone(&it.0));
        let Shelf { ground, round, doubtful, .. } = self;
        let (part, tree) = Tree::read(at, skip, TreeReading { ground, round, doubtful }, before);
        if old.is_none_or(|it| !Arc::ptr_eq(&it, &part)) {
            self.round.changed.push(at.name.to_owned());
        }
        self.parts.insert(key, Shelved { part: part.clone(), held: Held::Folder(tree), failed: None });
        part
    }

    fn keep_plan(&mut self, path: &Path, role: Role, now: anyhow::Result<Plan>) -> anyhow::Result<Plan> {
        let key = (path.to_owned(), role);
        self.round.used.plans.insert(key.clone());
        let old = self.plans.get(&key);
        let is_jdk = |it: &Plan| it.steps.iter().any(|it| matches!(it, Step::Jdk(..)));
        let why = match &now {
            Ok(now) if old.is_some_and(is_jdk) && !is_jdk(now) => "the folder is no longer a JDK".to_owned(),
            Ok(_) => String::new(),
            Err(error) => format!("{error:#}"),
        };
        match (now, old.cloned()) {
            (Ok(now), _) if why.is_empty() => {
                self.plans.insert(key, now.clone());
                Ok(now)
            }
            (_, Some(old)) => {
                self.round.keep(path, &why);
                self.use_parts_of(path);
                Ok(old)
            }
            (now, None) => now,
        }
    }

    fn keep_list(
        &mut self,
        folder: &Path,
        now: anyhow::Result<Vec<PathBuf>>,
    ) -> anyhow::Result<Vec<PathBuf>> {
        self.round.used.lists.insert(folder.to_owned());
        match (now, self.lists.get(folder).cloned()) {
            (Ok(now), _) => {
                self.lists.insert(folder.to_owned(), now.clone());
                Ok(now)
            }
            (Err(error), Some(old)) => {
                self.round.keep(folder, &format!("{error:#}"));
                Ok(old)
            }
            (Err(error), None) => Err(error),
        }
    }

    fn keep_jdk(
        &mut self,
        choice: &JdkChoice,
        now: anyhow::Result<Option<JdkFound>>,
    ) -> anyhow::Result<Option<JdkFound>> {
        let old = self.jdk.as_ref().filter(|it| it.0 == *choice).map(|it| it.1.clone());
        let Some(old) = old else {
            let now = now?;
            self.jdk = now.clone().map(|it| (choice.clone(), it));
            return Ok(now);
        };
        let home = old.0.home.as_std_path();
        let why = match &now {
            // While a JDK that was found by default is being replaced, no JDK or another JDK is found.
            Ok(it) if it.as_ref().is_none_or(|it| it.0.home != old.0.home) => {
                let is_exchanged = files_of(home, self).is_none();
                is_exchanged.then(|| "the JDK no longer exists".to_owned())
            }
            Ok(_) => None,
            Err(error) => Some(format!("{error:#}")),
        };
        match why {
            Some(why) => {
                self.round.keep(home, &why);
                Ok(Some(old))
            }
            None => {
                let now = now?;
                self.jdk = now.clone().map(|it| (choice.clone(), it));
                Ok(now)
            }
        }
    }

    fn feature(&mut self, image: &Path) -> Option<u16> {
        let held = self.parts.iter().find(|it| it.0.path == image);
        if let Some((_, Shelved { held: Held::File(FileHeld { content: Bytes::Image(map), .. }), .. })) = held
        {
            return image::feature_of(map);
        }
        image::feature_of(&ImageMap::from_bytes(std::fs::read(image).ok()?).ok()?)
    }
}

impl Shelf {
    /// Marks the stored contents of all files and folders at or below a path as used in this loading of the
    /// containers, so that they are not dropped.
    fn use_parts_of(&mut self, path: &Path) {
        let parts = self.parts.keys().filter(|it| it.path.starts_with(path)).cloned();
        self.round.used.parts.extend(parts);
    }
}
