//! A program that is kept current, as `ajar watch` keeps it, and what that takes.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use classfile::class::ClassFile;
use ide::whole::{ClassRecord, Setup, Whole, Work, read_class};
use ide::{MethodId, Packages, Role, Scratch, Throws, WholeOptions, WorldKind};

use crate::clock::cpu_time;

/// A class of the program, in class-path order.
struct Class {
    role: Role,
    /// None of one that is not there now.
    record: Option<ClassRecord>,
    methods: Vec<MethodId>,
}

/// The program.
pub(crate) struct Current {
    classes: Vec<Class>,
    /// The application: the first ones.
    n_app: usize,
    /// Whether all its methods are asked after each edit.
    ask_all: bool,
    whole: Whole,
    scratch: Scratch,
    /// What they let out.
    answers: Vec<Option<Throws>>,
}

/// How an edit came into the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// What others must know of the class is as it was.
    Unchanged,
    /// The program took it in.
    TakenIn,
    /// The program was joined anew.
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
    /// How many sets changed; if the program was joined anew, of how many methods of the application.
    pub(crate) changed: usize,
    /// By the clock: reading the class, changing the program, making ready to ask, asking.
    pub(crate) stages: [u64; 4],
}

/// Takes in what became of one class.
fn update(whole: &mut Whole, role: Role, before: Option<&ClassRecord>, now: Option<&ClassRecord>) -> bool {
    whole.update_with(&[(before, now.map(|it| (it, role)))])
}

fn joined(classes: &[Class]) -> Result<Whole> {
    let records = classes.iter().filter_map(|it| Some((it.record.clone()?, it.role))).collect();
    let options = WholeOptions {
        world: WorldKind::Open,
        release: Some(17),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
    };
    let setup = Setup { options, packages: &Packages::default(), entries: None, solve: true };
    Whole::joined(records, &setup).ok().context("there are no patterns of entry points")
}

/// The methods that a class file declares.
pub(crate) fn methods(bytes: &[u8]) -> Result<Vec<MethodId>> {
    let class = ClassFile::parse(bytes)?;
    class.methods().map(|it| Ok(MethodId::of(it.member_ref()?))).collect()
}

impl Current {
    /// A program of these classes, ready for changes. The first `n_app` are the application; `ask_all` says whether it is
    /// wanted what its methods let out after each edit.
    pub(crate) fn new(files: &[(&[u8], Role)], n_app: usize, ask_all: bool) -> Result<Self> {
        let mut scratch = Scratch::default();
        let mut classes = Vec::with_capacity(files.len());
        for (bytes, role) in files {
            // One that cannot be read is outside.
            let record = read_class(bytes, &mut scratch).ok();
            classes.push(Class { role: *role, record, methods: methods(bytes).unwrap_or_default() });
        }
        let whole = joined(&classes)?;
        let mut it = Current { classes, n_app, ask_all, whole, scratch, answers: Vec::new() };
        it.settle();
        it.answers = it.asked(&mut it.whole.work());
        Ok(it)
    }

    /// What is done between edits, when nobody waits.
    fn settle(&mut self) {
        self.whole.keep_current();
        self.whole.take_changed();
    }

    fn asked(&self, work: &mut Work) -> Vec<Option<Throws>> {
        if !self.ask_all {
            return Vec::new();
        }
        let methods = self.classes.iter().take(self.n_app).flat_map(|it| &it.methods);
        methods.map(|it| self.whole.throws(work, *it)).collect()
    }

    /// Places for classes that are not there yet, behind all others; the number of the first.
    pub(crate) fn reserve(&mut self, role: Role, n: usize) -> usize {
        let first = self.classes.len();
        self.classes.extend((0..n).map(|_| Class { role, record: None, methods: Vec::new() }));
        first
    }

    /// Whether a class can be read, and is there.
    pub(crate) fn is_readable(&self, class: usize) -> bool {
        self.classes[class].record.is_some()
    }

    /// The methods of a class as it was at first.
    pub(crate) fn methods(&self, class: usize) -> &[MethodId] {
        &self.classes[class].methods
    }

    /// Gives a class other bytes, or takes it away; then asks what these methods let out.
    pub(crate) fn set(&mut self, class: usize, bytes: Option<&[u8]>, ask: &[MethodId]) -> Result<Cost> {
        let mut stages = [0; 4];
        let start = cpu_time()?;
        let clock = Instant::now();
        let record = bytes.map(|it| read_class(it, &mut self.scratch));
        let record = record.transpose().map_err(|it| anyhow::anyhow!("an edited class: {it:?}"))?;
        stages[0] = clock.elapsed().as_nanos() as u64;
        let before = std::mem::replace(&mut self.classes[class].record, record);
        let now = self.classes[class].record.as_ref();
        let clock = Instant::now();
        let mut untimed = 0;
        let way = if before.as_ref() == now {
            Way::Unchanged
        } else if update(&mut self.whole, self.classes[class].role, before.as_ref(), now) {
            Way::TakenIn
        } else {
            let made = joined(&self.classes)?;
            let old = std::mem::replace(&mut self.whole, made);
            // Another thread's, as in the product.
            let freeing = cpu_time()?;
            drop(old);
            untimed = cpu_time()? - freeing;
            Way::Rebuilt
        };
        stages[1] = clock.elapsed().as_nanos() as u64 - untimed;
        let clock = Instant::now();
        let mut work = self.whole.take_work();
        stages[2] = clock.elapsed().as_nanos() as u64;
        let clock = Instant::now();
        for it in ask {
            black_box(self.whole.throws(&mut work, *it));
        }
        stages[3] = clock.elapsed().as_nanos() as u64;
        let time = cpu_time()? - start - untimed;
        let before_all = cpu_time()?;
        let answers = self.asked(&mut work);
        self.whole.give_back(work);
        let all = time + cpu_time()? - before_all;
        let other = answers.iter().zip(&self.answers).filter(|it| it.0 != it.1).count();
        self.answers = answers;
        let changed = if way == Way::Rebuilt { other } else { self.whole.take_changed().unwrap_or(other) };
        if way == Way::Rebuilt {
            self.settle();
        }
        Ok(Cost { way, time, all, changed, stages })
    }

    /// Fails if a program that is made from nothing says something else of the methods of the application; with
    /// `everything`, of any.
    pub(crate) fn check(&self, everything: bool) -> Result<()> {
        let fresh = joined(&self.classes)?;
        let (mut ours, mut theirs) = (self.whole.work(), fresh.work());
        let n = if everything { self.classes.len() } else { self.n_app };
        let mut known = 0;
        for method in self.classes.iter().take(n).flat_map(|it| &it.methods) {
            let (kept, made) = (self.whole.throws(&mut ours, *method), fresh.throws(&mut theirs, *method));
            if kept != made {
                bail!("{method} is kept as {kept:?}, and is {made:?}");
            }
            known += usize::from(made.is_some());
        }
        ensure!(known > 0, "no method is known");
        Ok(())
    }
}
