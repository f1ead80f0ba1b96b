//! A result that is kept current while the containers change: the [`Session`] receives the changes, and worker
//! threads compute the new result.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use ide::Settings;
use ide::host::Cancellable;
use ide::session::{ClassState, Job, Question, Session, Update};
use vfs::file::FileId;

use crate::feed::{Feed, Reading};
use crate::parallel::{map_here, map_ordered, message};
use crate::world::LoadedWorld;

/// A session that keeps a result current, and the feed that passes the changed classes to the session.
pub struct Live {
    /// Compares the loaded containers with the contents of the database, and makes the changes of the database.
    pub feed: Feed,
    /// The session that computes the result.
    pub session: Session,
    threads: usize,
    /// The number of library classes that were parsed since the last result, and the number of their methods.
    read: (usize, usize),
    has_bug: bool,
}

/// How the computation of a result ended ([`work`]).
pub enum Work {
    /// The computation was cancelled, because the program changed meanwhile.
    Cancelled,
    /// The analysis of these classes panicked; each is given with the message of the panic. The classes must be left
    /// out ([`Live::leave_out`]), and the result computed again.
    Broken(Vec<(FileId, String)>),
    /// The analysis of the program as a whole panicked, or a thread could not be started; with the reason.
    Failed(String),
    /// The computation succeeded, with this result.
    Done(Box<Done>),
}

/// A result that was computed, but not yet passed to the session ([`Live::take`]).
pub struct Done {
    /// The result for the program as a whole, and which classes had to be analysed again.
    pub update: Update,
    classes: Vec<(FileId, ClassState)>,
    /// The classes for which computing the result panicked, each with the message of the panic.
    bugs: Vec<(FileId, String)>,
}

/// The maximum number of classes that are handled by a single thread. For few classes, starting more threads, each
/// with a copy of the exception sets, would take longer.
const FEW: usize = 64;

impl Live {
    /// Creates a session for `question` with an empty database. `reading` selects the containers from which classes
    /// are read; `threads` is the number of worker threads.
    pub fn new(question: Question, reading: Reading, threads: usize) -> Live {
        let (feed, session) = (Feed::new(reading, threads), Session::new(question));
        Live { feed, session, threads, read: (0, 0), has_bug: false }
    }

    /// Passes the current containers to the session. This cancels work in progress. Classes that the JVM would not
    /// find must have been removed from the containers ([`settle`](crate::packages::settle)). If `cancelled` returns
    /// true while classes are read, the session is left unchanged, and the result is `false`.
    ///
    /// # Errors
    /// Fails if a worker thread cannot be started.
    pub fn tell(
        &mut self,
        world: &LoadedWorld,
        settings: Settings,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> std::io::Result<bool> {
        let Some(fed) = self.feed.feed(world, settings, cancelled)? else { return Ok(false) };
        self.read = (self.read.0 + fed.read.0, self.read.1 + fed.read.1);
        self.has_bug |= fed.has_bug;
        self.session.apply(fed.change, fed.shown);
        Ok(true)
    }

    /// Returns a job for [`work`], which computes the result for the current containers.
    pub fn job(&self) -> Job {
        self.session.job(self.feed.paths())
    }

    /// Passes a computed result to the session, and returns the differences from the previous result.
    pub fn take(&mut self, done: Done) -> Vec<ide::difference::Changed> {
        self.has_bug |= !done.bugs.is_empty();
        self.read = (0, 0);
        self.session.take(done.update, done.classes)
    }

    /// Excludes classes whose analysis panicked from the program, until the classes change.
    pub fn leave_out(&mut self, classes: Vec<(FileId, String)>) {
        self.has_bug = true;
        self.session.leave_out(classes);
    }

    /// Returns whether the analysis of some class has panicked.
    pub fn has_bug(&self) -> bool {
        self.has_bug
    }

    /// Returns the number of library classes that were parsed since the last result, and the number of their methods.
    pub fn read(&self) -> (usize, usize) {
        self.read
    }

    /// Returns the number of worker threads.
    pub fn threads(&self) -> usize {
        self.threads
    }
}

impl Done {
    /// Returns the classes that were analysed again for this result, each with its state.
    pub fn classes(&self) -> &[(FileId, ClassState)] {
        &self.classes
    }
}

/// Computes the result of a job with this number of threads. Drops the job and its snapshot of the database at the
/// end.
pub fn work(job: Job, threads: usize) -> Work {
    let edited = job.edited();
    let broken: Vec<(FileId, String)> = match each(&job, &edited, threads, |job, it| job.prepare(it)) {
        Each::Cancelled => return Work::Cancelled,
        Each::Failed(it) => return Work::Failed(it),
        Each::Done(all) => all.into_iter().filter_map(|it| Some((it.0, it.1.err()?))).collect(),
    };
    if !broken.is_empty() {
        return Work::Broken(broken);
    }
    let update = match catch_unwind(AssertUnwindSafe(|| job.update())) {
        Ok(Ok(it)) => it,
        Ok(Err(_)) => return Work::Cancelled,
        Err(it) => return Work::Failed(bug(&*it)),
    };
    let (mut classes, mut bugs) = (Vec::with_capacity(update.stale.len()), Vec::new());
    match each(&job, &update.stale, threads, |job, it| job.class(it)) {
        Each::Cancelled => return Work::Cancelled,
        Each::Failed(it) => return Work::Failed(it),
        Each::Done(all) => {
            for (file, state) in all {
                match state {
                    Ok(it) => classes.push((file, it)),
                    Err(it) => {
                        classes.push((file, ClassState::default()));
                        bugs.push((file, it));
                    }
                }
            }
        }
    }
    Work::Done(Box::new(Done { update, classes, bugs }))
}

enum Each<T> {
    Cancelled,
    Failed(String),
    /// For each file, its result or the message of the panic.
    Done(Vec<(FileId, Result<T, String>)>),
}

fn each<T: Send>(
    job: &Job,
    files: &[FileId],
    threads: usize,
    ask: impl Fn(&Job, FileId) -> Cancellable<T> + Sync,
) -> Each<T> {
    let mut acc = Vec::with_capacity(files.len());
    let mut add = |made: Result<Cancellable<T>, crate::parallel::Panicked>| {
        let file = files[acc.len()];
        match made {
            Ok(Ok(it)) => acc.push((file, Ok(it))),
            Ok(Err(_)) => return ControlFlow::Break(()),
            Err(it) => acc.push((file, Err(it.message))),
        }
        ControlFlow::Continue(())
    };
    let done = if files.len() <= FEW || threads == 1 {
        Ok(map_here(files, |it| ask(job, *it), &mut add))
    } else {
        // Each thread gets its own snapshot.
        let snapshots = Mutex::new(job.clone());
        let snapshot = || snapshots.lock().unwrap_or_else(PoisonError::into_inner).clone();
        map_ordered(files, threads, snapshot, |job, it| ask(job, *it), &mut add)
    };
    match done {
        Ok(ControlFlow::Continue(())) => Each::Done(acc),
        Ok(ControlFlow::Break(())) => Each::Cancelled,
        Err(it) => Each::Failed(it.to_string()),
    }
}

fn bug(panic: &(dyn Any + Send)) -> String {
    format!("a bug of ajar: {}; please report it", message(panic))
}
