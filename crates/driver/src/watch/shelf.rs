//! What was read of the disk, kept from one loading to the next. A file is read again when something happened to it or it looks
//! different; what it gives is made again only when its bytes are different. What cannot be read, or not yet, stays as it
//! was.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::anyhow;
use rustc_hash::{FxHashMap, FxHashSet};

use ide::module::module_info;
use vfs::identity::EntryIdentity;
use vfs::jimage::content::MAX_RESOURCE;

use crate::archive::Inner;
use crate::container::{FileContent, Loader, Role};
use crate::disk::{At, Disk, Part, Plan, Step};
use crate::folder;
use crate::homes::files_of;
use crate::image;
use crate::image_map::ImageMap;
use crate::jdk::{JdkChoice, JdkFound};
use crate::open::path_text;
use crate::part::{self, FileKind};
use crate::problem::Problem;
use crate::zip::{Blob, Zip};

use super::ground::Ground;
use super::stamp::{self, Reading, Stamp, Unread};

/// What was read.
pub(crate) struct Shelf {
    /// What the world stands on.
    pub(crate) ground: Ground,
    parts: FxHashMap<Key, Shelved>,
    plans: FxHashMap<(PathBuf, Role), Plan>,
    lists: FxHashMap<PathBuf, Vec<PathBuf>>,
    jdk: Option<(JdkChoice, JdkFound)>,
    /// Class files in folders that may be half written.
    doubtful: FxHashMap<PathBuf, Failed>,
    round: Round,
}

/// What belongs to one loading.
#[derive(Default)]
pub(crate) struct Round {
    /// Whether files that look the same are read again if they changed shortly before they were read.
    is_check: bool,
    /// The places of what is known to be kept.
    told: FxHashSet<String>,
    /// What stayed as it was although the disk says otherwise.
    pub(crate) kept: Vec<Problem>,
    /// What was read anew and is different.
    pub(crate) changed: Vec<String>,
    /// When to look again, without waiting for news.
    pub(crate) retry: Option<Duration>,
    used: Used,
}

/// What a loading asked for. The rest is forgotten.
#[derive(Default)]
struct Used {
    parts: FxHashSet<Key>,
    plans: FxHashSet<(PathBuf, Role)>,
    lists: FxHashSet<PathBuf>,
    doubtful: FxHashSet<PathBuf>,
}

/// What is read, and as what.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    path: PathBuf,
    role: Role,
    loader: Loader,
    platform: bool,
    release: u16,
}

/// What a file or folder gave.
struct Shelved {
    part: Arc<Part>,
    held: Held,
    /// How the last try to read it went wrong.
    failed: Option<Failed>,
}

/// The bytes that were read.
enum Held {
    File(FileHeld<Bytes>),
    Folder(FxHashMap<PathBuf, FileHeld<Arc<FileContent>>>),
}

/// What was read of a file.
#[derive(Clone)]
struct FileHeld<T> {
    content: T,
    /// Its stamp then; none if it is to be read again in any case.
    stamp: Option<Stamp>,
    /// When it was read.
    at: SystemTime,
}

enum Bytes {
    /// With the inner archives that had to be inflated.
    Archive(Blob, FxHashMap<EntryIdentity, Blob>),
    Class(Arc<FileContent>),
    Image(Arc<ImageMap>),
}

/// A file that could not be read, or that may be half of what it is going to be.
struct Failed {
    stamp: Option<Stamp>,
    at: SystemTime,
    since: Instant,
    why: Why,
}

enum Why {
    /// It cannot be taken: this is why.
    Broken(String),
    /// It can be taken, but nobody would make it so: this is why.
    Doubtful(String),
    /// Somebody writes it.
    Moving,
}

/// Something that stays doubtful for so long is no work in progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// How soon a file that is being written is looked at again.
const RETRY: Duration = Duration::from_millis(50);

impl Shelf {
    /// An empty shelf.
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

    /// Begins a loading. With `is_check` stamps are not believed where two writes may have left one. `told` is what the
    /// caller knows to be kept.
    pub(crate) fn begin(&mut self, is_check: bool, told: &[Problem]) {
        let told = told.iter().map(|it| it.place.clone()).collect();
        self.round = Round { is_check, told, ..Round::default() };
    }

    /// Ends a loading; `is_whole` if all that the world stands on was asked for. What was not is forgotten then.
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

    fn keep(&mut self, place: &Path, why: &str) {
        let name = path_text(place);
        // A module by itself is missed where modules are looked for, and again when it is opened.
        if self.round.kept.iter().all(|it| it.place != name) {
            let why = why.strip_prefix(&format!("{name}: ")).unwrap_or(why);
            self.round.kept.push(Problem::error(name, format!("{why}; its last good state is kept")));
        }
    }

    fn retry_in(&mut self, delay: Option<Duration>) {
        self.round.retry = self.round.retry.into_iter().chain(delay).min();
    }

    /// Reads a file again, if it may have changed. `None` when what is on the shelf is still right, or stays for want of
    /// something better.
    ///
    /// # Errors
    /// It cannot be read, and there is nothing on the shelf.
    fn read_again(&mut self, at: &At<'_>, key: &Key, is_touched: bool) -> anyhow::Result<Option<Shelved>> {
        let Some(old) = self.parts.get(key) else {
            let reading = stamp::read(at.path, u64::MAX);
            // Somebody writes it just now: there is nothing better than what is there, but it does not stay for long.
            let reading = match reading {
                Err(Unread::Moving) => {
                    self.retry_in(Some(RETRY));
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
            self.keep(at.path, &what);
            self.retry_in(delay);
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
        self.keep(at.path, &failed.what());
        self.retry_in(failed.delay());
        if let Some(old) = self.parts.get_mut(key) {
            old.failed = Some(failed);
        }
        Ok(None)
    }

    /// Takes what was read of a file; `None` when it is what is on the shelf.
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

impl Round {
    /// Whether something has been doubtful for long, and the caller knows of it.
    fn is_over(&self, path: &Path, since: Instant) -> bool {
        since.elapsed() >= PATIENCE && self.told.contains(&path_text(path))
    }
}

/// What the bytes of a file give, which had other ones before.
fn make(at: &At<'_>, bytes: Vec<u8>, before: Option<&Bytes>) -> Result<(Part, Bytes), String> {
    match part::kind_of(at.path, &bytes) {
        // Into memory, not mapped: a watcher runs for days, and a file that is cut off under a mapping kills it.
        FileKind::Image => {
            let map = Arc::new(ImageMap::from_bytes(bytes).map_err(|it| format!("{it:#}"))?);
            Ok((part::image(at, map.clone()), Bytes::Image(map)))
        }
        FileKind::Class => {
            let size = bytes.len() as u64;
            let content = content(Ok(bytes));
            Ok((part::class_file(at, size, Some(content.clone())), Bytes::Class(content)))
        }
        FileKind::Archive => {
            let blob = Blob::new(bytes);
            let mut inner = Inner::default();
            if let Some(Bytes::Archive(_, inflated)) = before {
                inner.before.clone_from(inflated);
            }
            let part = part::archive(at, blob.clone(), Some(&mut inner))?;
            Ok((part, Bytes::Archive(blob, inner.now)))
        }
    }
}

/// What was read of a class file.
fn content(bytes: Result<Vec<u8>, String>) -> Arc<FileContent> {
    let bytes =
        bytes.and_then(|it| if it.len() as u64 > MAX_RESOURCE { Err(Unread::Large.what()) } else { Ok(it) });
    Arc::new(FileContent::new(bytes.map(Vec::into_boxed_slice)))
}

/// Why the bytes may be those of a class file that is being written.
fn class_doubt(bytes: &[u8]) -> Option<String> {
    let is_begun = bytes.is_empty() || bytes.starts_with(&[0xCA, 0xFE, 0xBA, 0xBE]);
    // Whatever it declares: this reads the structure to its end.
    let fault = if is_begun { module_info(bytes).err() } else { None };
    fault.map(|it| it.what)
}

impl Bytes {
    /// Why they may be those of a file that is being written, although they can be taken.
    fn doubt(&self) -> Option<String> {
        match self {
            Bytes::Archive(it, _) => Zip::open(it.clone()).ok()?.doubt(),
            Bytes::Class(it) => class_doubt(it.bytes.as_deref().ok()?),
            Bytes::Image(_) => None,
        }
    }

    fn is(&self, bytes: &[u8]) -> bool {
        match self {
            Bytes::Archive(it, _) => it.as_ref() == bytes,
            Bytes::Class(it) => it.bytes.as_deref() == Ok(bytes),
            Bytes::Image(it) => it.bytes() == bytes,
        }
    }
}

impl<T> FileHeld<T> {
    fn is_right(&self, now: Option<&Stamp>, is_check: bool) -> bool {
        let is_sure = !is_check || stamp::IS_TOLD && now.is_some_and(|it| !it.is_fresh(self.at));
        self.stamp.is_some() && self.stamp.as_ref() == now && is_sure
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

impl Failed {
    /// Whether what could not be taken is still there, and not to be taken yet.
    fn stays(&self, path: &Path, now: Option<&Stamp>, round: &Round) -> bool {
        let is_sure = !round.is_check || stamp::IS_TOLD && now.is_some_and(|it| !it.is_fresh(self.at));
        let is_same = self.stamp.is_some() && self.stamp.as_ref() == now && is_sure;
        let is_over = matches!(self.why, Why::Doubtful(_)) && round.is_over(path, self.since);
        is_same && !is_over
    }

    /// Since when the file has been what it is now.
    fn since(&self, now: Option<&Stamp>) -> Option<Instant> {
        (self.stamp.is_some() && self.stamp.as_ref() == now).then_some(self.since)
    }

    fn what(&self) -> String {
        match &self.why {
            Why::Broken(it) => it.clone(),
            Why::Doubtful(it) => format!("it may be half written: {it}"),
            Why::Moving => Unread::Moving.what(),
        }
    }

    /// When to look at it again without news; `None` when that is no use.
    fn delay(&self) -> Option<Duration> {
        match self.why {
            Why::Moving => Some(RETRY),
            Why::Doubtful(_) => Some(PATIENCE.saturating_sub(self.since.elapsed())),
            Why::Broken(_) => None,
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
        shelved.map(|it| it.part.clone()).ok_or_else(|| anyhow!("it cannot be read"))
    }

    fn folder(&mut self, at: &At<'_>, skip: &[&str]) -> Arc<Part> {
        let key = Key::of(at);
        self.round.used.parts.insert(key.clone());
        let (old, before) = match self.parts.remove(&key) {
            Some(Shelved { part, held: Held::Folder(files), .. }) => (Some(part), files),
            _ => (None, FxHashMap::default()),
        };
        let mut reader = Reader {
            shelf: self,
            before,
            now: FxHashMap::default(),
            is_first: old.is_none(),
            folder: None,
            is_touched: false,
        };
        let mut part = Arc::new(part::folder(at, skip, &mut reader));
        let held = Held::Folder(reader.now);
        match old.filter(|it| it.is_same_folder(&part)) {
            Some(old) => part = old,
            None => self.round.changed.push(at.name.to_owned()),
        }
        self.parts.insert(key, Shelved { part: part.clone(), held, failed: None });
        part
    }

    fn keep_plan(&mut self, path: &Path, role: Role, now: anyhow::Result<Plan>) -> anyhow::Result<Plan> {
        let key = (path.to_owned(), role);
        self.round.used.plans.insert(key.clone());
        let old = self.plans.get(&key);
        let is_jdk = |it: &Plan| it.steps.iter().any(|it| matches!(it, Step::Jdk(..)));
        let why = match &now {
            Ok(now) if old.is_some_and(is_jdk) && !is_jdk(now) => "it is no JDK any more".to_owned(),
            Ok(_) => String::new(),
            Err(error) => format!("{error:#}"),
        };
        match (now, old.cloned()) {
            (Ok(now), _) if why.is_empty() => {
                self.plans.insert(key, now.clone());
                Ok(now)
            }
            (_, Some(old)) => {
                self.keep(path, &why);
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
                self.keep(folder, &format!("{error:#}"));
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
            // One that was not asked for but found is not found, or another one is, while it is exchanged.
            Ok(it) if it.as_ref().is_none_or(|it| it.0.home != old.0.home) => {
                let is_exchanged = files_of(home, self).is_none();
                is_exchanged.then(|| "the JDK has gone".to_owned())
            }
            Ok(_) => None,
            Err(error) => Some(format!("{error:#}")),
        };
        match why {
            Some(why) => {
                self.keep(home, &why);
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
    /// Keeps the parts that lie at or below a path.
    fn use_parts_of(&mut self, path: &Path) {
        let parts = self.parts.keys().filter(|it| it.path.starts_with(path)).cloned();
        self.round.used.parts.extend(parts);
    }
}

impl Key {
    fn of(at: &At<'_>) -> Key {
        let At { role, loader, platform, release, .. } = *at;
        Key { path: at.path.to_owned(), role, loader, platform, release }
    }
}

impl Part {
    /// Whether nothing in a class folder changed since it was read as this part.
    fn is_same_folder(&self, now: &Part) -> bool {
        let is_same = self.declared == now.declared && self.problems == now.problems;
        let pairs = self.containers.iter().zip(&now.containers);
        is_same
            && self.containers.len() == now.containers.len()
            && pairs.into_iter().all(|(a, b)| a.has_content_of(b))
    }
}

/// Reads a class folder.
struct Reader<'a> {
    shelf: &'a mut Shelf,
    before: FxHashMap<PathBuf, FileHeld<Arc<FileContent>>>,
    now: FxHashMap<PathBuf, FileHeld<Arc<FileContent>>>,
    /// The folder that is listed, without links.
    folder: Option<PathBuf>,
    /// Whether all of it is read for the first time: then there is nothing better than what is there.
    is_first: bool,
    /// Whether something happened to it as a whole.
    is_touched: bool,
}

impl folder::Files for Reader<'_> {
    fn lists(&mut self, folder: &Path) {
        let seen = self.shelf.ground.list(folder);
        (self.folder, self.is_touched) = (seen.real, seen.is_touched);
    }

    fn class(&mut self, file: &folder::File<'_>) -> Option<(Option<Arc<FileContent>>, u64)> {
        let is_touched = if file.is_link {
            self.shelf.ground.look(file.path).is_touched
        } else {
            let real = self.folder.as_ref().zip(file.path.file_name()).map(|it| it.0.join(it.1));
            self.is_touched || real.is_none_or(|it| self.shelf.ground.news().paths.contains(&it))
        };
        let stamp = Stamp::of(file.metadata);
        let old = self.before.remove(file.path);
        let is_check = self.shelf.round.is_check;
        let held = match old {
            Some(it) if !is_touched && it.is_right(Some(&stamp), is_check) => it,
            old => match self.shelf.doubtful.get(file.path) {
                Some(it) if !is_touched && it.stays(file.path, Some(&stamp), &self.shelf.round) => {
                    let (what, delay) = (it.what(), it.delay());
                    self.doubt(file.path, &what, delay);
                    old?
                }
                _ => self.read(file.path, old)?,
            },
        };
        let size = held.content.bytes.as_ref().map_or(file.metadata.len(), |it| it.len() as u64);
        let content = held.content.clone();
        self.now.insert(file.path.to_owned(), held);
        Some((Some(content), size))
    }
}

impl Reader<'_> {
    /// Says that a class file is not taken yet.
    fn doubt(&mut self, path: &Path, what: &str, delay: Option<Duration>) {
        self.shelf.keep(path, what);
        self.shelf.retry_in(delay);
        self.shelf.round.used.doubtful.insert(path.to_owned());
    }

    /// Reads a class file; `None` when it has gone, or is not there yet.
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
        if !self.is_first
            && let Some(why) = bytes.as_ref().ok().and_then(|it| class_doubt(it))
        {
            let since = self.shelf.doubtful.get(path).and_then(|it| it.since(stamp.as_ref()));
            let since = since.unwrap_or_else(Instant::now);
            if !self.shelf.round.is_over(path, since) {
                let failed = Failed { stamp, at, since, why: Why::Doubtful(why) };
                self.doubt(path, &failed.what(), failed.delay());
                self.shelf.doubtful.insert(path.to_owned(), failed);
                return old;
            }
        }
        let content = match old {
            Some(old) if old.content.bytes.as_deref().ok() == bytes.as_deref().ok() && bytes.is_ok() => {
                old.content
            }
            Some(old) if old.content.bytes.as_deref().err() == bytes.as_ref().err() && bytes.is_err() => {
                old.content
            }
            _ => content(bytes),
        };
        Some(FileHeld { content, stamp, at })
    }
}
