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

/// A session that keeps the result of an analysis current, and the feed that passes the changed classes to the
/// session.
pub struct Live {
    /// Compares newly loaded containers with the contents of the database, and determines the change that updates the
    /// database.
    pub feed: Feed,
    /// The session that stores the current result, and creates the jobs that compute the next one.
    pub session: Session,
    threads: usize,
    /// The number of library classes that were parsed since the session received its last result, and the number of
    /// their methods.
    read: (usize, usize),
    has_bug: bool,
}

/// How the computation of a result ended ([`work`]).
pub enum Work {
    /// The computation was cancelled, because the program changed meanwhile.
    Cancelled,
    /// The analysis of these classes panicked; each is given with the message of the panic. The caller must leave the
    /// classes out ([`Live::leave_out`]) and compute the result again.
    Broken(Vec<(FileId, String)>),
    /// The analysis of the program as a whole panicked, or a thread could not be started; with the reason.
    Failed(String),
    /// The computation succeeded, with this result.
    Done(Box<Done>),
}

/// A result that was computed, but not yet passed to the session ([`Live::take`]).
pub struct Done {
    /// The answer about the program as a whole, and the list of the classes whose answers had to be recomputed.
    pub update: Update,
    classes: Vec<(FileId, ClassState)>,
    /// The classes whose answers could not be computed because of a panic, each with the message of the panic.
    bugs: Vec<(FileId, String)>,
}

/// Up to this number of classes, a single thread handles all of them. Starting more threads, each with a copy of the
/// exception sets, would take longer than the work.
const FEW: usize = 64;

impl Live {
    /// Creates a session for `question` with an empty database. `reading` tells whether only the classes of the
    /// program are read, or also those of the libraries and of the JDK; `threads` is the number of worker threads.
    pub fn new(question: Question, reading: Reading, threads: usize) -> Live {
        let (feed, session) = (Feed::new(reading, threads), Session::new(question));
        Live { feed, session, threads, read: (0, 0), has_bug: false }
    }

    /// Passes the containers of `world` and the settings to the session, which cancels a running computation. The
    /// caller must first remove the classes that the JVM would not find ([`settle`](crate::packages::settle)).
    /// Returns true; or false, with the session left unchanged, if `cancelled` returned true while classes were read.
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

    /// Returns the job with which [`work`] computes the result for the current containers.
    pub fn job(&self) -> Job {
        self.session.job(self.feed.paths())
    }

    /// Passes a computed result to the session, and returns the differences from the previous result.
    pub fn take(&mut self, done: Done) -> Vec<ide::difference::Changed> {
        self.has_bug |= !done.bugs.is_empty();
        self.read = (0, 0);
        self.session.take(done.update, done.classes)
    }

    /// Excludes these classes from the program until they change, because their analysis panicked. Each class is
    /// given with the message of the panic.
    pub fn leave_out(&mut self, classes: Vec<(FileId, String)>) {
        self.has_bug = true;
        self.session.leave_out(classes);
    }

    /// Returns whether the analysis of any class has panicked since the session was created.
    pub fn has_bug(&self) -> bool {
        self.has_bug
    }

    /// Returns the number of library classes that were parsed since the session received its last result, and the
    /// number of their methods.
    pub fn read(&self) -> (usize, usize) {
        self.read
    }

    /// Returns the number of worker threads.
    pub fn threads(&self) -> usize {
        self.threads
    }
}

impl Done {
    /// Returns the classes that were analysed again for this result, each with the new answer about it.
    pub fn classes(&self) -> &[(FileId, ClassState)] {
        &self.classes
    }
}

/// Computes the result of `job` on `threads` threads. The job, with its snapshot of the database, is dropped before
/// the function returns.
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
    /// The work on all files was done: for each file, the result, or the message of the panic if the work on this
    /// file panicked.
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
