//! Measures the cost of keeping results current when classes are edited, for `cargo xtask bench`, which builds this
//! program with `--release`. A *blob* is a file of `ajar-bench` with class files one after another.
//!
//! - `ajar-edits edits WORLD N N_MOST N_REST APP JDK` reads two blobs: an application, and the JDK that it uses. In
//!   the world `open`, `declared` or `closed`, it makes N edits of classes drawn uniformly from the application,
//!   N_MOST edits of the ten classes that are named by most other classes of the application, and N_REST edits of the
//!   other classes. After each edit, it queries the exceptions of the methods of the class and of its callers, but
//!   never those of classes outside the application. Each edit changes the original class or restores it, so the
//!   program does not drift. The output is a table: group, kind of edit, number of edits, and the CPU time of the
//!   thread in nanoseconds at p50, p99 and maximum. Kind `stages` has the p50 wall times of applying the change,
//!   reading the class, updating the program and querying. Kind `ways` has the number of edits that changed nothing
//!   that other classes can see, the number that updated the program in place, and the number that rebuilt the
//!   program. Kind `edit` has one line for each edit: the CPU time until the exceptions of all methods of the
//!   application were known, and the number of exception sets that changed.
//! - `ajar-edits grown N APP REST` makes N edits of classes of the blob APP in two programs: one that consists of
//!   this blob (group `alone`), and one that also contains the blob REST (group `among`). Each edit is made in one
//!   program and then in the other, so that other work of the machine affects both. The whole application is not
//!   queried.
//! - `ajar-edits watch AJAR JDK APP FOLDER N WHAT [FLAG...]` writes the application into a folder and starts
//!   `ajar watch throws` with these flags for it. It changes a file N times, where every other change restores the
//!   file. WHAT is the kind of change: `bytes` changes bytes of class files that affect no fact; `facts` edits class
//!   files (`throw`, `call`, `override` or `ghost` makes only edits of that kind); `jar` replaces a jar of 60 MB by
//!   moving a jar with one edited class to its path. The table has three groups for each kind of change, in
//!   nanoseconds: `told` is the wall time from the written file to the line about the cycle (the reaction to the
//!   change); `line` is the CPU time of all threads of the process until it prints that line; `whole` is the CPU time
//!   until the process is idle again. Kind `all` has all cycles, kind `changed` the cycles that reported a changed
//!   fact. For each kind, a line of the group `cycles` has the number of cycles, the number that reported a changed
//!   fact, and the number whose CPU time is known only to a hundredth of a second because a thread had ended. The
//!   first line of the table is the command.
//!
//! After every hundredth edit, the results are compared with those of a program built from scratch. For the larger
//! program of `grown`, the comparison takes long, so it is done only after the last edit.

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

/// The seed of all random choices.
const SEED: u64 = 17;

/// The number of edits after which the results are compared with those of a program built from scratch, repeatedly.
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
        _ => bail!("unknown world `{word}`; the worlds are open, declared, closed"),
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
    // The process ends here, so the memory need not be freed piece by piece.
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

/// The class files of a measured program: an application, and the library or JDK that it uses.
struct Parts<'a> {
    files: Vec<File<'a>>,
    /// The number of files of the application, which come first.
    n_app: usize,
    /// The number of files that are not module descriptors. Module descriptors come last.
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

    /// Creates a program of the first `n` files. With `ask_all`, the exceptions of all methods of the application are
    /// queried after each edit.
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

/// Returns the class files of some blobs. Of two classes with the same name, only the first is used. Module
/// descriptors, which are not edited, come last.
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

/// Returns, by the name of each class, the numbers of the classes that call its methods.
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

/// Returns the numbers of the ten classes that are named by most other classes.
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

/// A range of class numbers. After an edit, only callers in the edited class's part are queried, and an edit inserts
/// only calls of methods in that part.
#[derive(Clone, Copy)]
struct Part {
    first: usize,
    last: usize,
}

/// A series of edits, each of which is made in all measured programs.
struct Run<'a> {
    sides: Vec<Side>,
    /// The numbers of the callers of each class, by the name of the class. Callers that an edit added are not
    /// removed.
    callers: HashMap<Vec<u8>, Vec<usize>>,
    files: &'a [&'a [u8]],
    rng: Rng,
    /// Whether the last edit was made in the programs in reverse order of `sides`.
    turned: bool,
}

/// A measured program, and the group in the table to which its figures belong.
struct Side {
    group: &'static str,
    program: Current,
    /// The number of edits after which the program is compared with one built from scratch, repeatedly; `None` for a
    /// comparison only after the last edit.
    checked_each: Option<usize>,
}

/// The last edit of a class that is not yet undone: the kind of the edit, and the number of the renamed copy of the
/// class (its twin), if the edit added one.
struct Edited {
    kind: Kind,
    twin: Option<usize>,
}

/// A class that an edit changes, adds or removes.
#[derive(Clone, Copy)]
enum Place {
    /// The class of the original program with this number.
    Class(usize),
    /// The twin (renamed copy of a class) with this number.
    Twin(usize),
}

impl Run<'_> {
    /// Makes `n` edits of classes drawn from `among`, which are numbers in `part`, and prints their cost.
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
            let class = *self.rng.pick(among).context("no class to edit")?;
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
        // The next group starts in the original state.
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
            // The new class has no callers yet.
            Now::Twin(bytes) => self.set(
                Place::Twin(twin.context("no reserved place for the new class")?),
                Some(bytes),
                &[],
                twins,
            ),
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

    /// Replaces the bytes of a class in all programs, or removes the class if `bytes` is `None`. Then queries the
    /// class and the classes `ask` in each program. Returns the cost in each.
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
        // Alternate the order, because the second program finds the bytes in the cache.
        self.turned = !self.turned;
        let sides = self.sides.iter_mut().zip(twins);
        if self.turned {
            let mut costs: Vec<Cost> = sides.rev().map(set).collect::<Result<_>>()?;
            costs.reverse();
            return Ok(costs);
        }
        sides.map(set).collect()
    }

    /// Returns the numbers of the classes in `part` that call methods of a class.
    fn concerned(&self, class: usize, part: Part) -> Vec<usize> {
        let name = Patch::read(self.files[class]).map(|it| it.name().to_vec()).unwrap_or_default();
        let callers = self.callers.get(&name).into_iter().flatten();
        let callers = callers.copied().filter(|it| (part.first..part.last).contains(it));
        let mut acc: Vec<usize> = callers.collect::<HashSet<_>>().into_iter().collect();
        acc.sort_unstable();
        acc
    }
}

/// Prints the lines of a group: one for each kind of edit, and the lines `stages`, `ways` and `edit`.
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

/// Returns the percentile: the smallest figure that `percent` percent of the figures do not exceed.
fn at(mut figures: Vec<u64>, percent: usize) -> u64 {
    figures.sort_unstable();
    let place = (figures.len() * percent).div_ceil(100);
    figures.get(place.saturating_sub(1)).copied().unwrap_or(0)
}

/// Splits a blob into its class files.
fn split(mut blob: &[u8]) -> Result<Vec<&[u8]>> {
    let mut classes = Vec::new();
    while let Some((length, rest)) = blob.split_first_chunk() {
        let length = u32::from_be_bytes(*length) as usize;
        let (class, rest) = rest.split_at_checked(length).context("the blob is truncated")?;
        classes.push(class);
        blob = rest;
    }
    Ok(classes)
}
