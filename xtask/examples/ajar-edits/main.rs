//! What it takes to keep answers current, for `cargo xtask bench`, which builds it with `--release`.
//!
//! - `ajar-edits edits WORLD N N_MOST N_REST APP JDK` reads two blobs of `ajar-bench`: an application, and what it
//!   stands on. In the world `open`, `declared` or `closed` it makes N edits of classes of the application that are drawn uniformly, N_MOST of the ten that most others
//!   of it name, and N_REST of the rest. After each it asks what the methods of the class and of the classes that call it let
//!   out; of classes beside the application nobody asks. Each edit changes the original class, or brings it back, so that the program does not drift. What it prints is a
//!   table: group, kind of edit, how many, and nanoseconds of CPU of its thread at p50, p99 and most. Kind `stages` has p50
//!   by the clock of telling the change, taking the class apart, changing the program and asking; kind `ways` how many edits
//!   changed nothing that others see of the class, how many were taken in, and for how many the program was rebuilt; kind `edit`, a line for each,
//!   the time until all methods of the application were asked, and how many sets changed.
//! - `ajar-edits grown N APP REST` makes N edits of classes of a blob in two programs: one of it alone (group `alone`), and
//!   one of it and another blob that holds more (group `among`). Each edit is made in one and then in the other, so that
//!   whatever else this machine does meets both; all of the application is not asked.
//! - `ajar-edits watch AJAR JDK APP FOLDER N WHAT [FLAG...]` writes the application into a folder and lets `ajar watch throws`,
//!   with these flags, keep an answer about it; then N times changes a file, and brings it back with the next change. WHAT says
//!   what changes: `bytes` of class files that no fact rests on, `facts` by edits of class files (or by one kind of
//!   these alone: `throw`, `call`, `override`, `ghost`), or a `jar` of 60 MB with
//!   the same classes that is moved over another. The table has three groups for each kind of change, in nanoseconds: `told` by
//!   the clock, from the written file to the line about the cycle; `line` of CPU, of all threads of the process, until it
//!   prints that line; `whole` of CPU until it is quiet again. Kind `all` has all cycles, kind `changed` those that told of a
//!   fact. Lines of the group `cycles` say of each kind how many cycles there were, how many of them told of a fact, and
//!   for how many the CPU time is known to the hundredth of a second only, as a thread had ended. The first line of the table
//!   is the command.
//!
//! Every hundredth edit the answers are compared with those of a program that is made from nothing; those of a program that
//! was made larger, which takes long, after the last.

mod clock;
mod current;
mod edits;
mod process;
mod redraft;
mod watch;

use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result, bail, ensure};
use ide::{Role, WorldKind};
use test_utils::patch::Patch;
use test_utils::rng::Rng;

use current::{Cost, Current, Way};
use edits::{Drawing, Edit, Kind, Now};

/// The seed of all that is drawn.
const SEED: u64 = 17;

/// How often, in edits, the answers are compared with those of a program that is made from nothing.
const CHECK_EACH: usize = 100;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["edits", world, n, n_most, n_rest, app, jdk] => {
            let n = [n.parse()?, n_most.parse()?, n_rest.parse()?];
            edits(self::world(world)?, n, &blob(app)?, &blob(jdk)?)
        }
        ["grown", n, app, rest] => grown(n.parse()?, &blob(app)?, &blob(rest)?),
        ["watch", ajar, jdk, app, folder, n, what, flags @ ..] => {
            let asked = watch::Asked { ajar, jdk, flags };
            watch::watch(&asked, &split(&blob(app)?)?, folder.as_ref(), n.parse()?, what)
        }
        _ => {
            bail!(
                "usage: ajar-edits edits WORLD N N_MOST N_REST APP JDK | grown N APP REST | \
                 watch AJAR JDK APP FOLDER N bytes|facts|jar|throw|call|override|ghost [FLAG...]"
            )
        }
    }
}

fn blob(path: &str) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {path}"))
}

fn world(word: &str) -> Result<WorldKind> {
    Ok(match word {
        "open" => WorldKind::Open,
        "declared" => WorldKind::Declared,
        "closed" => WorldKind::Closed,
        _ => bail!("no world `{word}`; there are: open, declared, closed"),
    })
}

fn edits(world: WorldKind, [n, n_most, n_rest]: [usize; 3], app: &[u8], jdk: &[u8]) -> Result<()> {
    let parts = Parts::new(app, (jdk, Role::Jdk))?;
    let Parts { n_app, n_classes, .. } = parts;
    let bytes = parts.bytes();
    let program = parts.program(parts.files.len(), world, true)?;
    let mut run = Run {
        sides: vec![Side { group: "application", program, checked_each: Some(CHECK_EACH) }],
        callers: callers(&bytes),
        files: &bytes,
        rng: Rng::new(SEED),
        turned: false,
    };
    let (application, others) = (Part { first: 0, last: n_app }, Part { first: n_app, last: n_classes });
    run.edit(n, application, &Vec::from_iter(0..n_app))?;
    run.sides[0].group = "most";
    run.edit(n_most, application, &most_named(&bytes[..n_app]))?;
    run.sides[0].group = "rest";
    run.edit(n_rest, others, &Vec::from_iter(n_app..n_classes))?;
    // The process ends here: giving the memory back piece by piece is no part of the question.
    std::mem::forget(run);
    Ok(())
}

fn grown(n: usize, app: &[u8], rest: &[u8]) -> Result<()> {
    let parts = Parts::new(app, (rest, Role::Lib))?;
    let n_app = parts.n_app;
    let bytes = parts.bytes();
    let side = |group, n, checked_each| -> Result<Side> {
        Ok(Side { group, program: parts.program(n, WorldKind::Open, false)?, checked_each })
    };
    let mut run = Run {
        sides: vec![side("alone", n_app, Some(CHECK_EACH))?, side("among", parts.files.len(), None)?],
        callers: callers(&bytes[..n_app]),
        files: &bytes,
        rng: Rng::new(SEED),
        turned: false,
    };
    run.edit(n, Part { first: 0, last: n_app }, &Vec::from_iter(0..n_app))?;
    std::mem::forget(run);
    Ok(())
}

/// The class files of an application and of what it stands on.
struct Parts<'a> {
    files: Vec<File<'a>>,
    /// The application: the first ones.
    n_app: usize,
    /// Those of both that are no modules: before these.
    n_classes: usize,
}

impl<'a> Parts<'a> {
    fn new(app: &'a [u8], (rest, role): (&'a [u8], Role)) -> Result<Self> {
        let files = files(&[(app, Role::App), (rest, role)])?;
        let n_app = files.iter().take_while(|it| it.role == Role::App && !it.is_module).count();
        let n_classes = files.iter().take_while(|it| !it.is_module).count();
        ensure!(n_app > 0, "the application has no class");
        Ok(Parts { files, n_app, n_classes })
    }

    fn bytes(&self) -> Vec<&'a [u8]> {
        self.files.iter().map(|it| it.bytes).collect()
    }

    /// A program of the first `n` files.
    fn program(&self, n: usize, world: WorldKind, ask_all: bool) -> Result<Current> {
        let inputs: Vec<(&[u8], Role)> = self.files.iter().take(n).map(|it| (it.bytes, it.role)).collect();
        Current::new(&inputs, self.n_app, world, ask_all)
    }
}

/// A class file of the program.
struct File<'a> {
    bytes: &'a [u8],
    role: Role,
    is_module: bool,
}

/// The class files of some blobs: of two of one name the first, as it counts; modules, which nobody edits, behind all.
fn files<'a>(blobs: &[(&'a [u8], Role)]) -> Result<Vec<File<'a>>> {
    const MODULE: u16 = 0x8000;
    let mut names = HashSet::new();
    let mut acc = Vec::new();
    for &(blob, role) in blobs {
        for bytes in split(blob)? {
            let Some(patch) = Patch::read(bytes) else { continue };
            let is_module = patch.flags() & MODULE != 0;
            if is_module || names.insert(patch.name().to_vec()) {
                acc.push(File { bytes, role, is_module });
            }
        }
    }
    acc.sort_by_key(|it| it.is_module);
    Ok(acc)
}

/// The classes of the program that call methods of each class, by its name.
fn callers(files: &[&[u8]]) -> HashMap<Vec<u8>, Vec<usize>> {
    let mut acc: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (number, bytes) in files.iter().enumerate() {
        let Some(patch) = Patch::read(bytes) else { continue };
        for class in patch.called_classes().collect::<HashSet<_>>() {
            acc.entry(class.to_vec()).or_default().push(number);
        }
    }
    acc
}

/// The ten classes that most others name.
fn most_named(files: &[&[u8]]) -> Vec<usize> {
    let patches: Vec<Patch> = files.iter().filter_map(|it| Patch::read(it)).collect();
    let mut named: HashMap<&[u8], usize> = HashMap::new();
    for patch in &patches {
        for class in patch.named_classes().collect::<HashSet<_>>() {
            *named.entry(class).or_default() += 1;
        }
    }
    let mut numbers: Vec<usize> = (0..patches.len()).collect();
    numbers.sort_by_key(|it| (std::cmp::Reverse(named.get(patches[*it].name()).copied()), *it));
    numbers.truncate(10);
    numbers
}

/// Classes by number. Only those of the part in which an edit is are asked and called.
#[derive(Clone, Copy)]
struct Part {
    first: usize,
    last: usize,
}

/// Edits of programs, one after the other, each in all of them.
struct Run<'a> {
    sides: Vec<Side>,
    /// By name. Those that edits made to call something are among them ever after.
    callers: HashMap<Vec<u8>, Vec<usize>>,
    files: &'a [&'a [u8]],
    rng: Rng,
    /// Whether the last edit was made in the last program first.
    turned: bool,
}

/// A program, and the group in which its figures are.
struct Side {
    group: &'static str,
    program: Current,
    /// After how many edits it is compared with one that is made from nothing; it always is after the last.
    checked_each: Option<usize>,
}

/// A class that is not as it was: how it was edited, and if it has a twin, which one of those that have places.
struct Edited {
    kind: Kind,
    twin: Option<usize>,
}

/// A class that gets other bytes or goes.
#[derive(Clone, Copy)]
enum Place {
    /// By its number.
    Class(usize),
    /// One of those that have places.
    Twin(usize),
}

impl Run<'_> {
    /// Makes `n` edits of classes that are drawn from `among`, and prints what they take.
    fn edit(&mut self, n: usize, part: Part, among: &[usize]) -> Result<()> {
        if n == 0 {
            return Ok(());
        }
        let drawing = Drawing::new(&self.files[part.first..part.last]);
        let mut twins: Vec<usize> = Vec::new();
        for side in &mut self.sides {
            twins.push(side.program.reserve(Role::App, n));
        }
        let mut edited: HashMap<usize, Edited> = HashMap::new();
        let mut costs: Vec<(Kind, Vec<Cost>)> = Vec::with_capacity(n);
        while costs.len() < n {
            let class = *self.rng.pick(among).context("a class to edit")?;
            if !self.sides[0].program.is_readable(class) {
                continue;
            }
            costs.push(match edited.remove(&class) {
                Some(it) => (it.kind, self.take_back(class, &it, part, &twins)?),
                None => {
                    let Some(edit) = drawing.edit(class - part.first, &mut self.rng) else { continue };
                    let twin = matches!(edit.now, Now::Twin(_)).then_some(costs.len());
                    let cost = self.apply(class, &edit, twin, part, &twins)?;
                    edited.insert(class, Edited { kind: edit.kind, twin });
                    (edit.kind, cost)
                }
            });
            for side in &self.sides {
                if side.checked_each.is_some_and(|it| costs.len().is_multiple_of(it)) && costs.len() < n {
                    side.program.check()?;
                }
            }
        }
        // The next group begins with what this one did.
        let mut left: Vec<(usize, Edited)> = edited.into_iter().collect();
        left.sort_by_key(|it| it.0);
        for (class, it) in left {
            self.take_back(class, &it, part, &twins)?;
        }
        for (number, side) in self.sides.iter().enumerate() {
            side.program.check()?;
            print(side.group, &costs.iter().map(|it| (it.0, it.1[number])).collect::<Vec<_>>());
        }
        Ok(())
    }

    fn apply(
        &mut self,
        class: usize,
        edit: &Edit,
        twin: Option<usize>,
        part: Part,
        twins: &[usize],
    ) -> Result<Vec<Cost>> {
        let called = edit.calls.and_then(|it| Patch::read(self.files[part.first + it]));
        if let Some(it) = called {
            self.callers.entry(it.name().to_vec()).or_default().push(class);
        }
        match &edit.now {
            Now::Gone => self.set(Place::Class(class), None, &self.concerned(class, part), twins),
            Now::Changed(bytes) => {
                self.set(Place::Class(class), Some(bytes), &self.concerned(class, part), twins)
            }
            // Nobody calls it yet.
            Now::Twin(bytes) => {
                self.set(Place::Twin(twin.context("a place for it")?), Some(bytes), &[], twins)
            }
        }
    }

    fn take_back(&mut self, class: usize, edited: &Edited, part: Part, twins: &[usize]) -> Result<Vec<Cost>> {
        match edited.twin {
            Some(twin) => self.set(Place::Twin(twin), None, &[], twins),
            None => {
                self.set(Place::Class(class), Some(self.files[class]), &self.concerned(class, part), twins)
            }
        }
    }

    /// Gives a class other bytes or takes it away, in all programs, and asks each.
    fn set(
        &mut self,
        place: Place,
        bytes: Option<&[u8]>,
        ask: &[usize],
        twins: &[usize],
    ) -> Result<Vec<Cost>> {
        let set = |(side, first): (&mut Side, &usize)| {
            let class = match place {
                Place::Class(it) => it,
                Place::Twin(it) => first + it,
            };
            let mut ask = ask.to_vec();
            ask.push(class);
            side.program.set(class, bytes, &ask)
        };
        // Who comes second finds the bytes in the cache.
        self.turned = !self.turned;
        let sides = self.sides.iter_mut().zip(twins);
        if self.turned {
            let mut costs: Vec<Cost> = sides.rev().map(set).collect::<Result<_>>()?;
            costs.reverse();
            return Ok(costs);
        }
        sides.map(set).collect()
    }

    /// The classes that call a class.
    fn concerned(&self, class: usize, part: Part) -> Vec<usize> {
        let name = Patch::read(self.files[class]).map(|it| it.name().to_vec()).unwrap_or_default();
        let callers = self.callers.get(&name).into_iter().flatten();
        let callers = callers.copied().filter(|it| (part.first..part.last).contains(it));
        let mut acc: Vec<usize> = callers.collect::<HashSet<_>>().into_iter().collect();
        acc.sort_unstable();
        acc
    }
}

/// A line for each kind of edit, and what else is of interest.
fn print(group: &str, costs: &[(Kind, Cost)]) {
    line(group, "all", costs.iter().map(|it| it.1.time).collect());
    for (kind, word) in Kind::ALL {
        line(group, word, costs.iter().filter(|it| it.0 == kind).map(|it| it.1.time).collect());
    }
    let stages = [0, 1, 2, 3].map(|stage| at(costs.iter().map(|it| it.1.stages[stage]).collect(), 50));
    println!("{group}\tstages\t{}", stages.map(|it| it.to_string()).join("\t"));
    let ways = [Way::Unchanged, Way::TakenIn, Way::Rebuilt];
    let ways = ways.map(|way| costs.iter().filter(|it| it.1.way == way).count());
    println!("{group}\tways\t{}", ways.map(|it| it.to_string()).join("\t"));
    for (_, it) in costs {
        println!("{group}\tedit\t{}\t{}", it.all, it.changed);
    }
}

fn line(group: &str, kind: &str, times: Vec<u64>) {
    let n = times.len();
    if n > 0 {
        let [p50, p99, most] = [50, 99, 100].map(|it| at(times.clone(), it));
        println!("{group}\t{kind}\t{n}\t{p50}\t{p99}\t{most}");
    }
}

/// The least figure that so many of a hundred do not exceed.
fn at(mut figures: Vec<u64>, percent: usize) -> u64 {
    figures.sort_unstable();
    let place = (figures.len() * percent).div_ceil(100);
    figures.get(place.saturating_sub(1)).copied().unwrap_or(0)
}

/// The classes of a blob.
fn split(mut blob: &[u8]) -> Result<Vec<&[u8]>> {
    let mut classes = Vec::new();
    while let Some((length, rest)) = blob.split_first_chunk() {
        let length = u32::from_be_bytes(*length) as usize;
        let (class, rest) = rest.split_at_checked(length).context("the blob is cut off")?;
        classes.push(class);
        blob = rest;
    }
    Ok(classes)
}
