//! Where news of the disk comes from: the system, through `notify`, or whoever a test puts in its place.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Instant;

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{Event, RecursiveMode, Watcher};

/// News of the disk.
#[derive(Debug)]
pub(crate) enum Signal {
    /// Something happened to what has, or had, these names.
    Changed {
        /// The names.
        paths: Vec<PathBuf>,
        /// Whether they may now belong to something else: they appeared, vanished or were moved.
        renamed: bool,
        /// When it became known.
        at: Instant,
    },
    /// News was lost, so anything may have changed.
    Lost {
        /// When it became known.
        at: Instant,
    },
    /// It is time to stop.
    Stop,
}

/// Hands news to a [`Watch`](super::Watch). Every copy hands it to the same one.
#[derive(Clone, Debug)]
pub struct Signals(pub(crate) mpsc::Sender<Signal>);

impl Signals {
    /// Something happened to what has, or had, these names. They are absolute and without symbolic links.
    pub fn changed(&self, paths: Vec<PathBuf>) {
        self.send(Signal::Changed { paths, renamed: true, at: Instant::now() });
    }

    /// News was lost, so anything may have changed.
    pub fn lost(&self) {
        self.send(Signal::Lost { at: Instant::now() });
    }

    /// Makes [`Watch::next`](super::Watch::next) return nothing, now or when it is called.
    pub fn stop(&self) {
        self.send(Signal::Stop);
    }

    /// Without a receiver nobody wants to know.
    fn send(&self, signal: Signal) {
        let _ = self.0.send(signal);
    }
}

/// Tells what happens in folders.
pub trait EventSource: Send {
    /// Begins to tell, or goes on telling, what happens in the folder that has this name now: which names appear, vanish and
    /// are moved, and what is written to files in it, but not to those in folders below, unless `deep`.
    ///
    /// # Errors
    /// What of it cannot be told, and why.
    fn watch(&mut self, folder: &Path, deep: bool) -> Result<(), Untold>;

    /// No more needs to be told of the folder.
    fn unwatch(&mut self, folder: &Path);
}

/// Why nothing is told of a folder.
#[derive(Debug)]
pub enum Untold {
    /// There is no such folder, or it may not be looked into: then nobody sees more of it than a path that goes through it.
    Closed,
    /// The system cannot or will not tell; says why.
    Unable(String),
}

/// Tells by the system's own means.
pub(crate) struct System(notify::RecommendedWatcher);

/// Begins to tell by the system's own means.
///
/// # Errors
/// It has none, or gives no more of them; says why.
pub(crate) fn system(signals: Signals) -> Result<System, String> {
    let handle = move |event| match event {
        Ok(event) => signal(event).into_iter().for_each(|it| signals.send(it)),
        Err(_) => signals.lost(),
    };
    notify::recommended_watcher(handle).map(System).map_err(|it| it.to_string())
}

/// What an event of the system means. Reading is no change: we read too.
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
        // A folder that has gone is no longer watched by itself.
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
    fn events_of_the_system_are_told_apart() {
        let of = |kind| Event::new(kind).add_path("a".into());
        assert_eq!(kind(of(EventKind::Other).set_flag(Flag::Rescan)), "lost");
        assert_eq!(kind(of(EventKind::Access(AccessKind::Open(AccessMode::Any)))), "none");
        assert_eq!(kind(of(EventKind::Access(AccessKind::Close(AccessMode::Write)))), "written");
        assert_eq!(kind(of(EventKind::Modify(ModifyKind::Data(DataChange::Any)))), "written");
        assert_eq!(kind(of(EventKind::Create(CreateKind::File))), "renamed");
        assert_eq!(kind(of(EventKind::Any)), "renamed", "what nobody can tell may be anything");
    }
}
