//! The source of events about the disk: the system, through `notify`, or a replacement in tests.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Instant;

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{Event, RecursiveMode, Watcher};

/// An event.
#[derive(Debug)]
pub(crate) enum Signal {
    /// Something happened to what has, or had, these names.
    Changed {
        /// The names.
        paths: Vec<PathBuf>,
        /// Whether the names may now belong to something else: they appeared, vanished or were moved.
        renamed: bool,
        /// When the event became known.
        at: Instant,
    },
    /// Events were lost, so anything may have changed.
    Lost {
        /// When the loss became known.
        at: Instant,
    },
    /// It is time to stop.
    Stop,
}

/// Sends events to a [`Watch`](super::Watch). All copies send to the same one.
#[derive(Clone, Debug)]
pub struct Signals(pub(crate) mpsc::Sender<Signal>);

impl Signals {
    /// Reports that something happened to what has, or had, these names. They must be absolute and without symbolic
    /// links.
    pub fn changed(&self, paths: Vec<PathBuf>) {
        self.send(Signal::Changed { paths, renamed: true, at: Instant::now() });
    }

    /// Reports that events were lost, so that anything may have changed.
    pub fn lost(&self) {
        self.send(Signal::Lost { at: Instant::now() });
    }

    /// Makes [`Watch::next`](super::Watch::next) return `None`, now or when it is next called.
    pub fn stop(&self) {
        self.send(Signal::Stop);
    }

    /// Sends an event; without a receiver it is dropped.
    fn send(&self, signal: Signal) {
        let _ = self.0.send(signal);
    }
}

/// A source of events about folders.
pub trait EventSource: Send {
    /// Begins, or continues, to send events about the folder that has this name now: about names that appear, vanish
    /// or are moved, and about writes to files in it; about folders below it only if `deep`.
    ///
    /// # Errors
    /// Some changes cause no events; with the reason.
    fn watch(&mut self, folder: &Path, deep: bool) -> Result<(), Untold>;

    /// Stops sending events about a folder.
    fn unwatch(&mut self, folder: &Path);
}

/// Why there are no events about a folder.
#[derive(Debug)]
pub enum Untold {
    /// There is no such folder, or it is not accessible: then no path through it shows more of it.
    Closed,
    /// The system cannot or will not send events; with the reason.
    Unable(String),
}

/// Events sent by the system.
pub(crate) struct System(notify::RecommendedWatcher);

/// Begins to receive events from the system.
///
/// # Errors
/// The system has no events, or allows no more watchers; with the reason.
pub(crate) fn system(signals: Signals) -> Result<System, String> {
    let handle = move |event| match event {
        Ok(event) => signal(event).into_iter().for_each(|it| signals.send(it)),
        Err(_) => signals.lost(),
    };
    notify::recommended_watcher(handle).map(System).map_err(|it| it.to_string())
}

/// Translates an event of the system. Reading is not a change: the watcher reads, too.
fn signal(event: Event) -> Option<Signal> {
    let at = Instant::now();
    if event.need_rescan() {
        return Some(Signal::Lost { at });
    }
    let renamed = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
        EventKind::Access(_) => return None,
        EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_)) => false,
        _ => true,
    };
    Some(Signal::Changed { paths: event.paths, renamed, at })
}

impl EventSource for System {
    fn watch(&mut self, folder: &Path, deep: bool) -> Result<(), Untold> {
        let mode = if deep { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
        self.0.watch(folder, mode).map_err(|error| match &error.kind {
            notify::ErrorKind::PathNotFound => Untold::Closed,
            notify::ErrorKind::Io(it) if is_closed(it) => Untold::Closed,
            _ => Untold::Unable(error.to_string()),
        })
    }

    fn unwatch(&mut self, folder: &Path) {
        // A folder that no longer exists is unwatched automatically.
        let _ = self.0.unwatch(folder);
    }
}

fn is_closed(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, Flag};

    use super::*;

    fn kind(event: Event) -> &'static str {
        match signal(event) {
            None => "none",
            Some(Signal::Changed { renamed: true, .. }) => "renamed",
            Some(Signal::Changed { .. }) => "written",
            Some(Signal::Lost { .. }) => "lost",
            Some(Signal::Stop) => "stop",
        }
    }

    #[test]
    fn system_events_are_distinguished() {
        let of = |kind| Event::new(kind).add_path("a".into());
        assert_eq!(kind(of(EventKind::Other).set_flag(Flag::Rescan)), "lost");
        assert_eq!(kind(of(EventKind::Access(AccessKind::Open(AccessMode::Any)))), "none");
        assert_eq!(kind(of(EventKind::Access(AccessKind::Close(AccessMode::Write)))), "written");
        assert_eq!(kind(of(EventKind::Modify(ModifyKind::Data(DataChange::Any)))), "written");
        assert_eq!(kind(of(EventKind::Create(CreateKind::File))), "renamed");
        assert_eq!(kind(of(EventKind::Any)), "renamed", "an unknown event may be anything");
    }
}
