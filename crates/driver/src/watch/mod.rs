//! Keeps a loaded world (program, libraries and JDK) current while its files change: waits for file events, waits
//! until no more files are being written, and loads what changed.
//!
//! Events come from the system ([`source`]). Where the system sends none, and from time to time elsewhere, all files
//! are examined without events. An event determines when files are examined and which files may have changed; in
//! class folders where every change causes an event, only the names given by events are examined ([`tree`]). The
//! world that a cycle returns follows from the disk alone: it equals the world that a new process would load, except
//! for files whose last good state is kept ([`WorldChange::kept`]).

mod ground;
mod held;
mod mounts;
mod reader;
mod round;
mod shelf;
pub mod source;
mod stamp;
mod tree;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;

use crate::problem::Problem;
use crate::world::{LoadedWorld, WorldSpec, load_from};

use ground::{Ground, News};
use shelf::Shelf;
use source::{EventSource, Signal, Signals};

/// Options for watching the files from which the containers are loaded.
pub struct WatchOptions {
    /// The interval at which all files are examined instead of waiting for file events; `None` to wait for events.
    pub poll: Option<Duration>,
    /// The time that must pass without further events before the changed files are examined, because builds write
    /// many files one after the other.
    pub settle: Duration,
    /// The interval at which all files are examined although the system sends events, because some events may be
    /// missing.
    pub look: Duration,
    /// The function that is called about once a second while files keep changing, for the first time after one
    /// second. The argument is the time since the first of these changes.
    pub on_writing: Option<Box<dyn FnMut(Duration) + Send>>,
}

/// A loaded world (program, libraries and JDK) that is kept current while its files change.
pub struct Watch {
    spec: WorldSpec,
    options: WatchOptions,
    signals: Signals,
    receiver: Receiver<Signal>,
    shelf: Shelf,
    /// Further files that are watched because the caller reads them, such as `ajar.toml`. Each path is mapped to the
    /// content of the file at the last loading of the containers; `None` if the file did not exist.
    more: BTreeMap<Utf8PathBuf, Option<Vec<u8>>>,
    /// The result of the last loading of the containers from disk.
    latest: State,
    /// The result of the loading that the caller received last.
    given: State,
    /// The file events to which the watcher has not yet reacted; `None` if it has reacted to all.
    pending: Option<Pending>,
    /// The time at which all files were last examined.
    looked: Instant,
    /// The time at which all files are to be examined next, if no event causes this earlier.
    look_at: Instant,
    retry_at: Option<Instant>,
    kept_since: Option<Instant>,
    /// Whether the last loading of the containers failed. The next loading then checks all files, because the changes
    /// were not taken over.
    is_behind: bool,
}

/// A change of the world (program, libraries and JDK) that was found on disk.
pub struct WorldChange {
    /// The program, libraries and JDK after the change. Containers whose content did not change are shared with the
    /// previous world.
    pub world: LoadedWorld,
    /// The files and folders that cannot be read or are being written, each with the reason. Their last content that
    /// could be read is used.
    pub kept: Vec<Problem>,
    /// The paths of the files and folders that were read again because they changed.
    pub changed: Vec<String>,
    /// Whether one of the caller's further files (`more` of [`Watch::new`]) changed, appeared or vanished.
    pub more_changed: bool,
    /// The time at which the first of the changes on disk became known.
    pub first_event: Instant,
    /// How the change on disk became known.
    pub reason: Reason,
}

/// How a change on disk became known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// The change became known by a file event or, where there are no events, by examining the files at an interval.
    Changed,
    /// The change was found by examining all files after events were lost.
    Rescan,
}

impl Reason {
    /// Returns the word for the reason in the output: `changed` or `rescan`.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Changed => "changed",
            Reason::Rescan => "rescan",
        }
    }
}

/// The result of loading the containers from disk.
#[derive(Clone)]
struct State {
    world: LoadedWorld,
    kept: Vec<Problem>,
    /// The number of loadings of the containers that found a change of one of the caller's further files (`more` of
    /// [`Watch::new`]).
    more: u64,
}

/// The reason for the next loading of the containers: file events to which the watcher has not yet reacted, or an
/// examination of all files that is due.
struct Pending {
    first: Instant,
    last: Instant,
    news: News,
    reason: Reason,
    /// Whether the next loading examines all files because a time was reached (the interval has passed, or a file is
    /// to be read again), and not because of an event.
    is_look: bool,
    /// The number of times that [`WatchOptions::on_writing`] was called about these events.
    said: u32,
    changed: Vec<String>,
}

/// The interval at which all files are examined if the system does not send events for all changes.
const POLL: Duration = Duration::from_secs(1);

/// Examining all files at intervals takes at most `1 / SHARE` of the elapsed time: after an examination that took the
/// time `t`, the next one starts at least `SHARE * t` later.
const SHARE: u32 = 20;

/// The maximum time from one examination of all files to the next, in intervals of [`WatchOptions::look`]. As long as
/// file events keep arriving, the next examination is postponed up to this time.
const MOST_LATE: u32 = 6;

/// While files are being written, the caller is informed once in this interval, counted from the first file event.
const LONG: Duration = Duration::from_secs(1);

/// The time for which a file may be unreadable before the caller is informed; until then its last readable content is
/// used without a report. A tool may move an archive away and put a new one in its place a moment later.
const GRACE: Duration = Duration::from_millis(300);

impl Default for WatchOptions {
    fn default() -> WatchOptions {
        let (settle, look) = (Duration::from_millis(25), Duration::from_secs(10));
        WatchOptions { poll: None, settle, look, on_writing: None }
    }
}

impl Watch {
    /// Loads the program, its libraries and the JDK, and begins to watch their files. Also watches the files `more`,
    /// which need not exist.
    ///
    /// # Errors
    /// Fails like [`load`](crate::world::load), for example if an input is missing: there is no earlier content that
    /// could be used instead.
    pub fn new(
        spec: WorldSpec,
        more: Vec<Utf8PathBuf>,
        options: WatchOptions,
    ) -> anyhow::Result<(Watch, LoadedWorld)> {
        let polls = options.poll.is_some();
        Watch::with_source(spec, more, options, |signals| match polls {
            true => Ok(None),
            false => source::system(signals).map(|it| Some(Box::new(it) as Box<dyn EventSource>)),
        })
    }

    /// Loads the program and starts watching its files like [`Watch::new`], but with events from `source`. If
    /// `source` returns `None` or an error, all files are examined at regular intervals instead.
    ///
    /// # Errors
    /// Fails like [`Watch::new`].
    pub fn with_source(
        spec: WorldSpec,
        more: Vec<Utf8PathBuf>,
        options: WatchOptions,
        source: impl FnOnce(Signals) -> Result<Option<Box<dyn EventSource>>, String>,
    ) -> anyhow::Result<(Watch, LoadedWorld)> {
        let (sender, receiver) = mpsc::channel();
        let signals = Signals(sender);
        let ground = match source(signals.clone()) {
            Ok(source) => Ground::new(source, None),
            Err(why) => Ground::new(None, Some(why)),
        };
        let mut shelf = Shelf::new(ground);
        // The caller has just read these files.
        let more = more.into_iter().map(|it| (it.clone(), std::fs::read(it).ok())).collect();
        let begin = Instant::now();
        shelf.begin(false, &[]);
        let latest = State { world: load_from(&spec, &mut shelf)?, kept: Vec::new(), more: 0 };
        let mut watch = Watch {
            given: latest.clone(),
            latest,
            spec,
            options,
            signals,
            receiver,
            shelf,
            more,
            pending: None,
            looked: begin,
            look_at: begin,
            retry_at: None,
            kept_since: None,
            is_behind: false,
        };
        watch.read_more();
        watch.ended(begin, true, true);
        let world = watch.given.world.clone();
        Ok((watch, world))
    }

    /// Waits until the program, its libraries or the JDK have changed and no files are being written, and returns the
    /// change. Returns `None` at the deadline (if there is one), and after [`Signals::stop`].
    ///
    /// # Errors
    /// A file that cannot be read causes no error: the last content that could be read is used for it.
    pub fn next(&mut self, deadline: Option<Instant>) -> anyhow::Result<Option<WorldChange>> {
        loop {
            let now = Instant::now();
            let wake = match &self.pending {
                Some(it) => it.last + self.options.settle,
                None => self.retry_at.map_or(self.look_at, |it| it.min(self.look_at)),
            };
            if wake > now && deadline.is_some_and(|it| it <= now) {
                return Ok(None);
            }
            let until = deadline.map_or(wake, |it| it.min(wake));
            match self.receiver.recv_timeout(until.saturating_duration_since(now)) {
                Ok(Signal::Stop) => return Ok(None),
                Ok(it) => {
                    self.note(it);
                    continue;
                }
                // The sender of `self` keeps the channel connected.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if Instant::now() < wake {
                continue;
            }
            if let Some(it) = self.turn() {
                return Ok(Some(it));
            }
        }
    }

    /// Returns a handle through which another thread can stop [`Watch::next`], or report changed files.
    pub fn signals(&self) -> Signals {
        self.signals.clone()
    }

    /// Returns the reason why some changes are found only by examining the files once a second; `None` if the system
    /// sends events for all changes, or if polling was requested.
    pub fn untold(&self) -> Option<&str> {
        self.shelf.ground.untold()
    }

    /// Replaces the list of further files that are watched for the caller by `more`. Of a new file, only changes
    /// after this call are reported, so the caller should read the file immediately before the call.
    ///
    /// # Errors
    /// A file that cannot be read causes no error: the file counts as missing.
    pub fn set_files(&mut self, more: Vec<Utf8PathBuf>) -> anyhow::Result<()> {
        let mut old = std::mem::take(&mut self.more);
        let known = more.into_iter().map(|it| {
            let content = old.remove(&it).unwrap_or_else(|| std::fs::read(&it).ok());
            (it, content)
        });
        self.more = known.collect();
        // The next loading has them watched.
        self.retry_at = Some(Instant::now());
        Ok(())
    }

    /// Loads another world (program, libraries and JDK) and watches its files from now on. The new world shares
    /// unchanged containers with the previous one.
    ///
    /// # Errors
    /// Fails if the new world cannot be loaded; the previous world is then still watched.
    pub fn set_spec(&mut self, spec: WorldSpec) -> anyhow::Result<LoadedWorld> {
        let before = std::mem::replace(&mut self.spec, spec);
        // Pending events stay pending: this reads the same files, but does not report what changed.
        match self.load(News::default(), true, Instant::now()).1 {
            None => {
                self.given.world = self.latest.world.clone();
                // What is kept, and other files that changed, is reported in the next cycle.
                if !self.latest.is_same(&self.given) {
                    self.retry_at = Some(Instant::now());
                }
                Ok(self.given.world.clone())
            }
            Some(error) => {
                self.spec = before;
                self.retry_at = Some(Instant::now());
                Err(error)
            }
        }
    }

    /// Adds the file events of a signal to those in [`Watch::pending`]. Events about files on which the containers do
    /// not depend are dropped.
    fn note(&mut self, signal: Signal) {
        let (at, reason) = match &signal {
            Signal::Changed { at, .. } => (*at, Reason::Changed),
            Signal::Lost { at } => (*at, Reason::Rescan),
            Signal::Stop => return,
        };
        let mut news = News::default();
        match signal {
            Signal::Changed { paths, renamed, .. } => {
                news.paths.extend(paths.into_iter().filter(|it| self.shelf.ground.concerns(it)));
                if renamed {
                    news.renamed.clone_from(&news.paths);
                }
                if news.paths.is_empty() {
                    return;
                }
            }
            _ => news.is_lost = true,
        }
        let pending = self.pending.get_or_insert_with(|| Pending::new(at, false));
        pending.last = pending.last.max(at);
        pending.reason = pending.reason.max(reason);
        pending.news.paths.extend(news.paths);
        pending.news.renamed.extend(news.renamed);
        pending.news.is_lost |= news.is_lost;
        pending.say(&mut self.options);
    }

    /// Loads the containers again, to react to the pending events. Returns the change since the world that the caller
    /// received last, or `None` if files are still being written or nothing changed.
    fn turn(&mut self) -> Option<WorldChange> {
        let begin = Instant::now();
        let mut pending = self.pending.take().unwrap_or_else(|| Pending::new(begin, true));
        let news = std::mem::take(&mut pending.news);
        let is_check = pending.is_look || news.is_lost || self.is_behind;
        let before = self.latest.clone();
        let (changed, failed) = self.load(news, is_check, begin);
        self.is_behind = failed.is_some();
        let failed = failed.map(|it| format!("{it:#}; the last good state of the program is kept"));
        self.latest.kept.extend(failed.map(|it| Problem::error("watch", it)));
        pending.changed.extend(changed);
        while let Ok(it) = self.receiver.try_recv() {
            if let Signal::Stop = it {
                self.signals.stop();
                break;
            }
            self.note(it);
        }
        let is_moving = !before.is_same(&self.latest);
        match &mut self.pending {
            // There were further events during loading.
            Some(it) => it.join(pending),
            // Where there are no events, only a second examination shows that no files are being written.
            None if is_moving && pending.is_look => {
                pending.last = Instant::now();
                pending.say(&mut self.options);
                self.pending = Some(pending);
            }
            None => return self.give(pending),
        }
        None
    }

    /// Compares the latest containers with those that the caller received last. Returns the change, with the events
    /// `pending`. Returns `None` if nothing changed, or if the only change is that a file became unreadable less than
    /// [`GRACE`] ago.
    fn give(&mut self, pending: Pending) -> Option<WorldChange> {
        if self.latest.is_same(&self.given) {
            return None;
        }
        let is_only_kept = self.latest.is_same_but_kept(&self.given);
        let is_new = |it: &Problem| !self.given.kept.contains(it);
        if is_only_kept && self.latest.kept.iter().any(is_new) {
            let age = self.kept_since.map_or(Duration::ZERO, |it| it.elapsed());
            if age < GRACE {
                let at = Instant::now() + (GRACE - age);
                self.retry_at = Some(self.retry_at.map_or(at, |it| it.min(at)));
                return None;
            }
        }
        let more_changed = self.latest.more != self.given.more;
        self.given = self.latest.clone();
        let mut changed = pending.changed;
        changed.sort();
        changed.dedup();
        Some(WorldChange {
            world: self.given.world.clone(),
            kept: self.given.kept.clone(),
            changed,
            more_changed,
            first_event: pending.first,
            reason: pending.reason,
        })
    }

    /// Loads the containers again, given the file events `news` since the previous loading. `is_check`: whether all
    /// files are examined, including those without events. Returns the paths whose content had changed. If loading
    /// failed, also returns the error, and the previous containers stay in use.
    fn load(&mut self, news: News, is_check: bool, begin: Instant) -> (Vec<String>, Option<anyhow::Error>) {
        self.shelf.ground.begin(news);
        self.shelf.begin(is_check, &self.given.kept);
        let loaded = load_from(&self.spec, &mut self.shelf);
        self.read_more();
        let failed = match loaded {
            Ok(it) => {
                self.latest.world = it;
                None
            }
            Err(error) => Some(error),
        };
        (self.ended(begin, failed.is_none(), is_check), failed)
    }

    /// Reads the caller's further files (`more` of [`Watch::new`]), and increments `latest.more` if one of them has
    /// changed since it was last read.
    fn read_more(&mut self) {
        let mut has_changed = false;
        for (path, content) in &mut self.more {
            self.shelf.ground.look(path.as_std_path());
            let now = std::fs::read(path).ok();
            if *content != now {
                *content = now;
                has_changed = true;
            }
        }
        self.latest.more += u64::from(has_changed);
    }

    /// Ends a loading that began at `begin`: records the files whose last good state was used, and schedules the next
    /// loading. `is_whole`: whether the loading succeeded; `is_check`: whether it examined all files. Returns the
    /// paths whose content had changed. The caller stores the loaded containers.
    fn ended(&mut self, begin: Instant, is_whole: bool, is_check: bool) -> Vec<String> {
        let round = self.shelf.end(is_whole);
        self.latest.kept = round.kept;
        let now = Instant::now();
        self.retry_at = round.retry.map(|it| now + it.max((now - begin) * 2));
        self.kept_since = (!self.latest.kept.is_empty()).then(|| self.kept_since.unwrap_or(now));
        let often = match self.options.poll {
            Some(it) => it,
            None if self.untold().is_some() => POLL.min(self.options.look),
            None => self.options.look,
        };
        let pause = (now - begin).saturating_mul(SHARE);
        if is_check {
            (self.looked, self.look_at) = (now, now + often.max(pause));
        } else if self.options.poll.is_none() && self.untold().is_none() {
            // The system sends events for changes: examining everything can wait until no result is being waited
            // for.
            self.look_at = self.look_at.max((now + often).min(self.looked + often * MOST_LATE));
        }
        round.changed
    }
}

impl State {
    fn is_same(&self, other: &State) -> bool {
        self.kept == other.kept && self.is_same_but_kept(other)
    }

    fn is_same_but_kept(&self, other: &State) -> bool {
        let (a, b) = (&self.world, &other.world);
        let is_same = self.more == other.more && a.containers.len() == b.containers.len();
        is_same
            && a.containers.iter().zip(&b.containers).all(|(a, b)| Arc::ptr_eq(a, b))
            && (&a.jdk, a.release, &a.declared, &a.manifest_exports, &a.problems)
                == (&b.jdk, b.release, &b.declared, &b.manifest_exports, &b.problems)
    }
}

impl Pending {
    fn new(first: Instant, is_look: bool) -> Pending {
        let (news, changed) = (News::default(), Vec::new());
        Pending { first, last: first, news, reason: Reason::Changed, is_look, said: 0, changed }
    }

    /// Merges `before`, pending events that are older than those in `self`, into `self`.
    fn join(&mut self, before: Pending) {
        self.first = before.first;
        self.reason = self.reason.max(before.reason);
        self.is_look |= before.is_look;
        self.said = self.said.max(before.said);
        self.changed.extend(before.changed);
    }

    /// Informs the caller through `options.on_writing` that files are being written. Does so once for each second
    /// since the first of these events.
    fn say(&mut self, options: &mut WatchOptions) {
        let age = self.first.elapsed();
        if age >= LONG * (self.said + 1)
            && let Some(on_writing) = &mut options.on_writing
        {
            self.said += 1;
            on_writing(age);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("spec", &self.spec).finish_non_exhaustive()
    }
}
