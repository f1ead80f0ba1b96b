//! The sources of file events: the operating system, through the crate `notify`, or a replacement in tests.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Instant;

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{Event, RecursiveMode, Watcher};

/// A message to the [`Watch`](super::Watch), from an event source or from another thread.
#[derive(Debug)]
pub(crate) enum Signal {
    /// Reports that the files or folders at these paths changed, appeared, vanished or were moved.
    Changed {
        /// The paths, absolute and without symbolic links.
        paths: Vec<PathBuf>,
        /// Whether the paths may now lead to other files or folders, because one appeared, vanished or was moved.
        renamed: bool,
        /// The time at which the event arrived in this process.
        at: Instant,
    },
    /// Reports that events were lost, so that any file may have changed.
    Lost {
        /// The time at which this process learned of the loss.
        at: Instant,
    },
    /// Requests that [`Watch::next`](super::Watch::next) returns `None`.
    Stop,
}

/// A handle for sending messages to a [`Watch`](super::Watch): file events, and the request to stop. All clones send
/// to the same watch.
#[derive(Clone, Debug)]
pub struct Signals(pub(crate) mpsc::Sender<Signal>);

impl Signals {
    /// Reports that the files or folders at these paths changed, appeared, vanished or were moved. The paths must be
    /// absolute and without symbolic links.
    pub fn changed(&self, paths: Vec<PathBuf>) {
        self.send(Signal::Changed { paths, renamed: true, at: Instant::now() });
    }

    /// Reports that events were lost, so that any file may have changed.
    pub fn lost(&self) {
        self.send(Signal::Lost { at: Instant::now() });
    }

    /// Makes the present or the next call of [`Watch::next`](super::Watch::next) return `None`.
    pub fn stop(&self) {
        self.send(Signal::Stop);
    }

    /// Sends a message to the watch. Does nothing if the watch no longer exists.
    fn send(&self, signal: Signal) {
        let _ = self.0.send(signal);
    }
}

/// A source of file events about folders.
pub trait EventSource: Send {
    /// Begins, or continues, to send events about the folder that is at this path now. The source must send an event
    /// when a name in the folder appears, vanishes or is moved, and when a file in the folder is written. With
    /// `deep`, the same applies to all folders below.
    ///
    /// # Errors
    /// Fails if some changes in the folder will cause no events; the error is the reason.
    fn watch(&mut self, folder: &Path, deep: bool) -> Result<(), Untold>;

    /// Stops sending events about the folder that was passed to [`EventSource::watch`].
    fn unwatch(&mut self, folder: &Path);
}

/// Why there are no events about a folder.
#[derive(Debug)]
pub enum Untold {
    /// The folder does not exist or is not accessible. No events are needed then, because the files in the folder
    /// cannot be read either.
    Closed,
    /// The system cannot send events about the folder, for this reason.
    Unable(String),
}

/// The operating system as a source of events.
pub(crate) struct System(notify::RecommendedWatcher);

/// Creates a source that passes the events of the operating system to `signals`.
///
/// # Errors
/// Fails if the system cannot report file events, or allows no more watchers; the error is the reason.
pub(crate) fn system(signals: Signals) -> Result<System, String> {
    let handle = move |event| match event {
        Ok(event) => signal(event).into_iter().for_each(|it| signals.send(it)),
        Err(_) => signals.lost(),
    };
    notify::recommended_watcher(handle).map(System).map_err(|it| it.to_string())
}

/// Converts an event of the operating system to a message. Returns `None` for an event about reading a file: such
/// events are ignored because the watcher itself reads files.
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
