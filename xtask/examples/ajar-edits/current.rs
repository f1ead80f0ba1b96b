//! A program that a database keeps current, as `ajar watch` has it keep one, and what that takes.

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

/// A class of the program, in class-path order.
struct Class {
    role: Role,
    /// None of one that is not there now.
    record: Option<ClassRecord>,
    /// Of a class of the application.
    file: Option<FileId>,
}

/// The program.
pub(crate) struct Current {
    classes: Vec<Class>,
    /// The application: the first ones.
    n_app: usize,
    /// Whether all its methods are asked after each edit.
    ask_all: bool,
    world: WorldKind,
    host: AnalysisHost,
    vfs: Vfs,
    counts: Counts,
    /// What they let out.
    answers: Vec<Option<Arc<[Throws]>>>,
}

/// How an edit came into the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// What others must know of the class is as it was.
    Unchanged,
    /// The program took it in.
    TakenIn,
    /// The program was rebuilt.
    Rebuilt,
}

/// What an edit took, in nanoseconds.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) way: Way,
    /// CPU time from the bytes to what the methods that were asked about let out.
    pub(crate) time: u64,
    /// CPU time from the bytes to what all methods of the application let out, if that is asked.
    pub(crate) all: u64,
    /// How many sets changed; if the program was rebuilt, of how many classes of the application.
    pub(crate) changed: usize,
    /// By the clock: telling the change, taking the class apart, changing the program, asking.
    pub(crate) stages: [u64; 4],
}

/// The classes beside the application have no code that is asked for.
struct NoBytes;

impl ClassSource for NoBytes {
    fn with_bytes(&self, _entry: u32, _read: &mut dyn FnMut(&[u8])) {}
}

const RELEASE: u16 = 17;

/// A program of these classes that is made from nothing.
fn joined(classes: &[Class], world: WorldKind) -> Result<Whole> {
    let records = classes.iter().filter_map(|it| Some((it.record.clone()?, it.role))).collect();
    let options = WholeOptions {
        world,
        release: Some(RELEASE),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
    };
    let setup = Setup { options, packages: &Packages::default(), entries: None, solve: true };
    Whole::joined(records, &setup).ok().context("there are no patterns of entry points")
}

impl Current {
    /// A program of these classes, ready for changes. The first `n_app` are the application; `ask_all` says whether it is
    /// wanted what its methods let out after each edit.
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
            // One that cannot be read is outside.
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

    /// Brings the program up to date.
    fn solve(&self) -> Result<()> {
        self.host.analysis().program().map(|_| ()).ok().context("nobody cancels")
    }

    /// What is done between edits, when nobody waits.
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
        files.map(|it| analysis.throws(it).ok().context("nobody cancels")).collect()
    }

    /// Places for classes that are not there yet, behind all others; the number of the first.
    pub(crate) fn reserve(&mut self, role: Role, n: usize) -> usize {
        let first = self.classes.len();
        for i in 0..n {
            let file = (role == Role::App).then(|| self.vfs.file(&(first + i).to_string()));
            self.classes.push(Class { role, record: None, file });
        }
        first
    }

    /// Whether a class can be read, and is there.
    pub(crate) fn is_readable(&self, class: usize) -> bool {
        self.classes[class].record.is_some()
    }

    /// Gives a class other bytes, or takes it away; then asks what the methods of these classes let out.
    pub(crate) fn set(&mut self, class: usize, bytes: Option<&[u8]>, ask: &[usize]) -> Result<Cost> {
        // What comparing with a program from nothing needs is no part of the question.
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

    /// Fails if a program that is made from nothing says something else of the methods of the application.
    pub(crate) fn check(&self) -> Result<()> {
        let fresh = joined(&self.classes, self.world)?;
        let (mut work, analysis) = (fresh.work(), self.host.analysis());
        let mut known = 0;
        for file in self.classes.iter().filter(|it| it.record.is_some()).filter_map(|it| it.file) {
            let kept = analysis.throws(file).ok().flatten().context("the class is there")?;
            for kept in kept.iter() {
                let made = fresh.throws(&mut work, kept.method);
                if made.as_ref() != Some(kept) {
                    bail!("{} is kept as {kept:?}, and is {made:?}", kept.method);
                }
                known += 1;
            }
        }
        ensure!(known > 0, "no method is known");
        Ok(())
    }
}

fn content(file: FileId, bytes: &[u8]) -> (FileId, EntryIdentity, Arc<[u8]>) {
    (file, EntryIdentity::of_bytes(bytes), bytes.into())
}

/// The application as classes, the rest as a library for each role.
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
