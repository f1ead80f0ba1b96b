//! A program that a database keeps current, as in `ajar watch`, and the cost of each edit.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use ide::change::{Change, ContainerId, ContainerListing, Listing};
use ide::host::AnalysisHost;
use ide::whole::{ClassRecord, Setup, Whole, read_class};
use ide::{
    ClassSource, Contents, Counts, EntryIdentity, FileId, Packages, Role, Scratch, Settings, Throws,
    WholeOptions, WorldKind,
};
use vfs::file::Vfs;

use crate::clock::cpu_time;

/// A class of the program.
struct Class {
    role: Role,
    /// The record of the class; `None` if the class is currently missing.
    record: Option<ClassRecord>,
    /// The file of the class if it belongs to the application; otherwise `None`.
    file: Option<FileId>,
}

/// A program that is kept current while classes are edited.
pub(crate) struct Current {
    classes: Vec<Class>,
    /// The number of classes of the application, which come first.
    n_app: usize,
    /// Whether the exceptions of all methods of the application are queried after each edit.
    ask_all: bool,
    world: WorldKind,
    host: AnalysisHost,
    vfs: Vfs,
    counts: Counts,
    /// The exceptions of the methods of each class of the application, as last queried; empty without `ask_all`.
    answers: Vec<Option<Arc<[Throws]>>>,
}

/// The effect of an edit on the solved program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// The edit changed nothing that other classes can see of the class.
    Unchanged,
    /// The program was updated in place.
    TakenIn,
    /// The program was rebuilt.
    Rebuilt,
}

/// The cost of an edit, in nanoseconds.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) way: Way,
    /// The CPU time from the new bytes to the exceptions of the methods of the edited class and of its callers.
    pub(crate) time: u64,
    /// The CPU time from the new bytes to the exceptions of all methods of the application; without `ask_all`, the
    /// same as `time`.
    pub(crate) all: u64,
    /// The number of exception sets that changed; after a rebuild, the number of classes of the application of which
    /// some method's exceptions changed.
    pub(crate) changed: usize,
    /// The wall times of the stages: applying the change, reading the class, updating the program, querying
    /// exceptions.
    pub(crate) stages: [u64; 4],
}

/// A source without bytes for the classes of libraries, because no query reads their code.
struct NoBytes;

impl ClassSource for NoBytes {
    fn with_bytes(&self, _entry: u32, _read: &mut dyn FnMut(&[u8])) {}
}

const RELEASE: u16 = 17;

/// Builds a program of these classes from scratch.
fn joined(classes: &[Class], world: WorldKind) -> Result<Whole> {
    let records = classes.iter().filter_map(|it| Some((it.record.clone()?, it.role))).collect();
    let options = WholeOptions {
        world,
        release: Some(RELEASE),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
        system_assertions: false,
    };
    let setup = Setup {
        options,
        packages: &Packages::default(),
        entries: None,
        receivers: ide::entries::Receivers::Created,
        solve: true,
    };
    Whole::joined(records, &setup).ok().context("unexpected pattern of entry points")
}

impl Current {
    /// Creates a program of these classes that is ready for edits. The first `n_app` classes are the application.
    /// With `ask_all`, the exceptions of all its methods are queried after each edit.
    pub(crate) fn new(
        files: &[(&[u8], Role)],
        n_app: usize,
        world: WorldKind,
        ask_all: bool,
    ) -> Result<Self> {
        let mut scratch = Scratch::default();
        let mut vfs = Vfs::default();
        let mut classes = Vec::with_capacity(files.len());
        let mut change = Change::default();
        for (i, (bytes, role)) in files.iter().enumerate() {
            // A class that cannot be read is outside.
            let record = read_class(bytes, &mut scratch).ok();
            let file = (*role == Role::App).then(|| vfs.file(&i.to_string()));
            if let Some(file) = file {
                change.classes.push(content(file, bytes));
            }
            classes.push(Class { role: *role, record, file });
        }
        change.containers = Some(listings(&classes));
        change.settings = Some(Settings::new(world, RELEASE));
        let mut host = AnalysisHost::new();
        host.apply_change(change);
        let counts = Counts::default();
        let mut it = Current { classes, n_app, ask_all, world, host, vfs, counts, answers: Vec::new() };
        it.solve()?;
        it.settle();
        it.answers = it.asked()?;
        Ok(it)
    }

    /// Updates the solved program for the classes that changed.
    fn solve(&self) -> Result<()> {
        self.host.analysis().program().map(|_| ()).ok().context("the work was cancelled")
    }

    /// Does the work that a client does between edits, when no result is being waited for.
    fn settle(&mut self) {
        self.host.keep_current(&mut || false);
        self.counts = self.host.counts();
    }

    fn asked(&self) -> Result<Vec<Option<Arc<[Throws]>>>> {
        if !self.ask_all {
            return Ok(Vec::new());
        }
        let analysis = self.host.analysis();
        let files = self.classes.iter().take(self.n_app).filter_map(|it| it.file);
        files.map(|it| analysis.throws(it).ok().context("the work was cancelled")).collect()
    }

    /// Reserves places for `n` classes that do not exist yet, after all other classes. Returns the number of the
    /// first.
    pub(crate) fn reserve(&mut self, role: Role, n: usize) -> usize {
        let first = self.classes.len();
        for i in 0..n {
            let file = (role == Role::App).then(|| self.vfs.file(&(first + i).to_string()));
            self.classes.push(Class { role, record: None, file });
        }
        first
    }

    /// Returns whether a class is present and can be read.
    pub(crate) fn is_readable(&self, class: usize) -> bool {
        self.classes[class].record.is_some()
    }

    /// Replaces the bytes of a class, or removes the class if `bytes` is `None`. Then queries the exceptions of the
    /// methods of the classes `ask`. Returns the cost.
    pub(crate) fn set(&mut self, class: usize, bytes: Option<&[u8]>, ask: &[usize]) -> Result<Cost> {
        // Only the comparison with a program from scratch needs the record, so it is not part of the measured work.
        let record = bytes.map(|it| read_class(it, &mut Scratch::default())).transpose();
        let record = record.map_err(|it| anyhow::anyhow!("an edited class: {it:?}"))?;
        let was_there = std::mem::replace(&mut self.classes[class].record, record).is_some();
        let file = self.classes[class].file;
        let mut change = Change::default();
        if let (Some(file), Some(bytes)) = (file, bytes) {
            change.classes.push(content(file, bytes));
        }
        if file.is_none() || was_there != bytes.is_some() {
            change.containers = Some(listings(&self.classes));
        }
        let mut stages = [0; 4];
        let start = cpu_time()?;
        let mut clock = Instant::now();
        let mut stage = |number: usize| {
            stages[number] = clock.elapsed().as_nanos() as u64;
            clock = Instant::now();
        };
        self.host.apply_change(change);
        stage(0);
        let analysis = self.host.analysis();
        if let Some(file) = file {
            let _ = analysis.prepare(file);
        }
        stage(1);
        drop(analysis);
        self.solve()?;
        stage(2);
        let analysis = self.host.analysis();
        for file in ask.iter().filter_map(|it| self.classes[*it].file) {
            black_box(analysis.throws(file).ok());
        }
        drop(analysis);
        stage(3);
        let time = cpu_time()? - start;
        let before_all = cpu_time()?;
        let answers = self.asked()?;
        let all = time + cpu_time()? - before_all;
        let other = answers.iter().zip(&self.answers).filter(|it| it.0 != it.1).count();
        self.answers = answers;
        let (before, now) = (self.counts, self.host.counts());
        let way = if now.rebuilt > before.rebuilt {
            Way::Rebuilt
        } else if now.updated > before.updated {
            Way::TakenIn
        } else {
            Way::Unchanged
        };
        let changed =
            if way == Way::Rebuilt { other } else { (now.changed_sets - before.changed_sets) as usize };
        self.settle();
        Ok(Cost { way, time, all, changed, stages })
    }

    /// Fails if the exceptions of a method of the application differ from those in a program built from scratch.
    pub(crate) fn check(&self) -> Result<()> {
        let fresh = joined(&self.classes, self.world)?;
        let (mut work, analysis) = (fresh.work(), self.host.analysis());
        let mut known = 0;
        for file in self.classes.iter().filter(|it| it.record.is_some()).filter_map(|it| it.file) {
            let kept = analysis.throws(file).ok().flatten().context("the class is present")?;
            for kept in kept.iter() {
                let made = fresh.throws(&mut work, kept.method);
                if made.as_ref() != Some(kept) {
                    bail!("{} has the kept answer {kept:?}, but should have {made:?}", kept.method);
                }
                known += 1;
            }
        }
        ensure!(known > 0, "no method has an answer");
        Ok(())
    }
}

fn content(file: FileId, bytes: &[u8]) -> (FileId, EntryIdentity, Arc<[u8]>) {
    (file, EntryIdentity::of_bytes(bytes), bytes.into())
}

/// Returns the containers of the program: the classes of the application, and one library for each other role.
fn listings(classes: &[Class]) -> Vec<Listing> {
    let app = classes.iter().filter(|it| it.record.is_some()).filter_map(|it| it.file).collect();
    let mut acc =
        vec![Listing::Classes(ContainerListing { id: ContainerId(0), role: Role::App, classes: app })];
    for (id, role) in [(1, Role::Lib), (2, Role::Jdk)] {
        let of_role = classes.iter().filter(|it| it.role == role);
        let records: Vec<_> = of_role.filter_map(|it| Some((None, it.record.clone()?))).collect();
        let entries = (0..records.len() as u32).collect();
        let contents = Contents { records: records.into(), entries, source: Arc::new(NoBytes) };
        acc.push(Listing::Library { id: ContainerId(id), role, contents: Arc::new(contents) });
    }
    acc
}
