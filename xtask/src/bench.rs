//! `cargo xtask bench [WORD [EDITS]]` measures the performance of ajar, in part against ASM 9 on the same bytes in
//! the same run. Prints a table and writes `bench-out/bench.tsv`.
//!
//! WORD selects the benches whose name contains it, such as `ajar watch`, `guava` or `closed world`. EDITS is the
//! number of edited classes for benches that edit a program in their own process (default: 1,000). Benches of
//! `ajar watch` change a tenth of this number of files, and replace a hundredth of it of jars. Each row names the
//! command of the shipped binary that was measured, or has `-` if a program of the bench calls the crates directly.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::corpus::{self, output};
use crate::edits::{self, Table};
use crate::growth::{self, Growth};
use crate::jdk::{self, Jdk};
use crate::watched::{self, App, Change, PROGRAMS, Program, Watch, World};

/// A bench: a figure (time, memory or ratio) that is measured for ajar, and the target for it.
#[derive(Clone, Copy)]
struct Bench<'a> {
    name: &'a str,
    subject: Subject,
    target: Target,
}

/// What a bench measures.
#[derive(Clone, Copy)]
enum Subject {
    /// The CPU time that ASM (a Java library for class files) takes on one thread, divided by the time that ajar
    /// takes for the same class files.
    Peer {
        /// The name of the task that the program `ajar-bench` is to measure.
        ours: &'static str,
        /// The name of the task that the program `AsmBench` is to measure.
        peers: &'static str,
        /// The module of the JDK image whose classes ajar and ASM read; `None` for all modules.
        module: Option<&'static str>,
        /// Whether both programs must print the same numbers of classes and other items.
        same_counts: bool,
    },
    /// The CPU time in ms of a task of `ajar-bench` for a jar with all classes of the JDK, scaled to the speed of the
    /// reference machine, on which the target was set.
    Jar(&'static str),
    /// The memory in bytes that ajar needs to keep the facts of all classes of the JDK, divided by the size of their
    /// class files.
    Facts,
    /// The CPU time or the memory, as the field says, that ajar needs to compute all final graphs of the whole JDK in
    /// the open world, on one thread.
    Whole(Whole),
    /// The CPU time in ms from class bytes to all final graphs of the application Jasmin without a JDK. The time to
    /// start a process is subtracted; the rest is scaled to the reference machine.
    Alone,
    /// The CPU time in seconds to compute the exceptions of all methods of the application Jasmin with JDK 17, scaled
    /// to the reference machine.
    OnJdk,
    /// The CPU time or the memory, as the field says, that ajar needs to compute all final graphs of the corpus tier
    /// `large` (a set of jars that `cargo xtask corpus` fetches), divided by the same figure for a tenth of its
    /// classes.
    Growth(Whole),
    /// The maximum memory in MB, without mapped files, that a command of ajar needs for the whole JDK.
    Memory(&'static str),
    /// The wall time of a command of ajar for the whole JDK on one thread, divided by its wall time on two threads.
    Threads(&'static str),
    /// The CPU time in ms that ajar takes to update its answers after an edit of a class, scaled to the reference
    /// machine. The fields are the program, which is analysed with JDK 17, the group of its classes that are edited,
    /// and which time is measured.
    Edits(Program, &'static str, Edits),
    /// The p50 time to update the answers after an edit of a class in the corpus tier `large` (a set of jars that
    /// `cargo xtask corpus` fetches), divided by the p50 time for the same edits if only a tenth of the classes is
    /// loaded.
    EditGrowth,
    /// The time in ms that `ajar watch throws` takes to process a change on disk.
    Watch(Watch),
}

/// Which time of an edit is measured.
#[derive(Clone, Copy)]
enum Edits {
    /// The p50 time from the new bytes of a class until the exceptions of its methods, and of the methods that call
    /// them, are known.
    P50,
    /// The p99 time from the new bytes of a class until the exceptions of its methods, and of the methods that call
    /// them, are known.
    P99,
    /// The p99 of the time until the exceptions of all methods of the application are known, minus 4 µs for each
    /// exception set that the edit changed.
    Beyond,
}

/// Which figure of a whole program is measured.
#[derive(Clone, Copy)]
enum Whole {
    /// The CPU time in seconds from class bytes to all final graphs, scaled to the reference machine.
    Total,
    /// The CPU time in seconds to build and solve the system of inclusions, scaled to the reference machine.
    Propagation,
    /// The maximum memory in MB.
    Memory,
}

/// The target of a figure.
#[derive(Clone, Copy)]
enum Target {
    AtLeast(f64),
    AtMost(f64),
    /// The figure has no target: it is printed, but not checked.
    Told,
}

/// The only program for which edits are measured in all groups of classes; for other programs, only edits of the
/// application are measured.
const JASMIN: Program = Program { app: App::Jasmin, world: World::Open };

/// All benches except the ones that [`series`] returns.
const BENCHES: &[Bench<'static>] = &[
    Bench {
        name: "JDK 17: read every instruction, handler and line",
        subject: Subject::Peer { ours: "read", peers: "read", module: None, same_counts: true },
        target: Target::AtLeast(3.0),
    },
    Bench {
        name: "java.base 17: stackless forms and graphs",
        subject: Subject::Peer {
            ours: "graphs",
            peers: "analyze",
            module: Some("java.base"),
            same_counts: false,
        },
        target: Target::AtLeast(3.0),
    },
    Bench { name: "JDK 17: facts kept, bytes a byte", subject: Subject::Facts, target: Target::AtMost(4.0) },
    Bench {
        name: "JDK 17 as a whole program: all final graphs, s",
        subject: Subject::Whole(Whole::Total),
        target: Target::AtMost(4.0),
    },
    Bench {
        name: "JDK 17 as a whole program: propagation, s",
        subject: Subject::Whole(Whole::Propagation),
        target: Target::AtMost(0.5),
    },
    Bench {
        name: "JDK 17 as a whole program: memory, MB",
        subject: Subject::Whole(Whole::Memory),
        target: Target::AtMost(2000.0),
    },
    Bench {
        name: "Jasmin alone: all final graphs, ms",
        subject: Subject::Alone,
        target: Target::AtMost(15.0),
    },
    Bench {
        name: "Jasmin on JDK 17: what its methods let out, s",
        subject: Subject::OnJdk,
        target: Target::AtMost(2.5),
    },
    Bench {
        name: "large tier against a tenth of it: all final graphs, times",
        subject: Subject::Growth(Whole::Total),
        target: Target::AtMost(12.0),
    },
    Bench {
        name: "large tier against a tenth of it: memory, times",
        subject: Subject::Growth(Whole::Memory),
        target: Target::AtMost(12.0),
    },
    // Graphs of single methods are streamed. `cfg` keeps summaries of the whole program; a bench above limits its
    // memory.
    Bench {
        name: "ajar stats of JDK 17: memory, MB",
        subject: Subject::Memory("stats"),
        target: Target::AtMost(250.0),
    },
    Bench {
        name: "ajar stats of JDK 17: two threads against one",
        subject: Subject::Threads("stats"),
        target: Target::AtLeast(1.7),
    },
    Bench {
        name: "jar of JDK 17: list and hash, from memory, ms",
        subject: Subject::Jar("list"),
        target: Target::AtMost(20.0),
    },
    Bench {
        name: "jar of JDK 17: list and hash, from disk, ms",
        subject: Subject::Jar("disk"),
        target: Target::AtMost(60.0),
    },
    Bench {
        name: "edit of a class of Jasmin on JDK 17: p50, ms",
        subject: Subject::Edits(JASMIN, "application", Edits::P50),
        target: Target::AtMost(1.0),
    },
    Bench {
        name: "edit of a class of Jasmin on JDK 17: p99, ms",
        subject: Subject::Edits(JASMIN, "application", Edits::P99),
        target: Target::AtMost(10.0),
    },
    Bench {
        name: "edit of a class of Jasmin on JDK 17: all asked, less 4 µs a set, p99, ms",
        subject: Subject::Edits(JASMIN, "application", Edits::Beyond),
        target: Target::AtMost(15.0),
    },
    Bench {
        name: "edit of one of the ten classes that Jasmin names most: p50, ms",
        subject: Subject::Edits(JASMIN, "most", Edits::P50),
        target: Target::Told,
    },
    Bench {
        name: "edit of one of the ten classes that Jasmin names most: p99, ms",
        subject: Subject::Edits(JASMIN, "most", Edits::P99),
        target: Target::Told,
    },
    Bench {
        name: "edit of a class of JDK 17 below Jasmin: p50, ms",
        subject: Subject::Edits(JASMIN, "rest", Edits::P50),
        target: Target::Told,
    },
    Bench {
        name: "edit of a class of JDK 17 below Jasmin: p99, ms",
        subject: Subject::Edits(JASMIN, "rest", Edits::P99),
        target: Target::Told,
    },
    Bench {
        name: "large tier against a tenth of it: edit of a class, p50, times",
        subject: Subject::EditGrowth,
        target: Target::AtMost(1.3),
    },
];

/// The Java release of the JDK for which the targets were set.
const JDK_FEATURE: u32 = 17;

/// The seconds that ASM 9.4 took to read JDK 17 on the reference machine, on which the targets in milliseconds were
/// set.
const ASM_READ: f64 = 0.356;

/// The number of alternating runs of ajar and ASM in a comparison. Of each program, the minimum time is used, because
/// other work of the machine only adds time.
const TIMES: usize = 3;

/// The number of times that ajar is run to measure a time that has a target. ASM is run as often, to measure the
/// speed of the machine.
const TIMES_PACED: usize = 7;

/// The flags that are passed to a command of ajar whose input is the whole JDK.
const WIDE: [&str; 5] = ["--quiet", "--jdk", "none", "--output-format", "json"];

/// The output of `ajar-bench` or `AsmBench`: the measured number, then counts of classes and other items as text.
#[derive(Clone, Debug, PartialEq)]
struct Measured {
    number: u64,
    counts: String,
}

struct Row<'a> {
    name: &'a str,
    /// The command of the shipped binary `ajar` that was measured; `-` if a program of the bench was measured
    /// instead.
    command: String,
    /// Details of the measurement, as text for people.
    seen: String,
    figure: f64,
    target: Target,
}

/// Runs the benches whose name contains `word`; those about edits make `n_edits` edits. Fails if a bench misses its
/// target.
pub(crate) fn run(root: &Path, word: &str, n_edits: u32) -> Result<()> {
    let series = series();
    let of_series = series.iter().map(|it| Bench { name: &it.0, subject: it.1, target: it.2 });
    let benches: Vec<Bench<'_>> = BENCHES.iter().copied().chain(of_series).collect();
    let chosen: Vec<&Bench<'_>> = benches.iter().filter(|it| it.name.contains(word)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = benches.iter().map(|it| it.name).collect();
        bail!("no bench has `{word}` in its name; there are:\n  {}", names.join("\n  "));
    }
    let out = root.join("bench-out");
    std::fs::create_dir_all(&out)?;
    let bench = Workbench {
        ours: build(root, "xtask", &["--example", "ajar-bench"], "ajar-bench")?,
        whole: build(root, "xtask", &["--example", "ajar-whole"], "ajar-whole")?,
        edits: build(root, "xtask", &["--example", "ajar-edits"], "ajar-edits")?,
        ajar: build(root, "cli", &[], "ajar")?,
        jdk: find_jdk()?,
        root: root.to_path_buf(),
        out: out.clone(),
        growth: OnceCell::new(),
        n_edits,
        edited: RefCell::default(),
        watched: RefCell::default(),
    };
    let mut rows = Vec::new();
    for it in chosen {
        eprintln!("{}: running", it.name);
        let (figure, seen) = bench.measure(&it.subject)?;
        let command = bench.shipped(it.subject);
        rows.push(Row { name: it.name, command, seen, figure, target: it.target });
    }
    print!("{}", table(&rows));
    std::fs::write(out.join("bench.tsv"), tsv(&rows))?;
    let missed = rows.iter().filter(|it| !it.passes()).count();
    if missed > 0 {
        bail!("{missed} of {} benches miss their target", rows.len());
    }
    Ok(())
}

/// Returns the benches that are repeated for each of several programs. Each has a name, a subject and a target.
fn series() -> Vec<(String, Subject, Target)> {
    let mut acc = Vec::new();
    for program in PROGRAMS.into_iter().filter(|it| *it != JASMIN) {
        for (what, word, most) in [(Edits::P50, "p50", 1.0), (Edits::P99, "p99", 10.0)] {
            let name = format!("edit of a class of {}: {word}, ms", program.words());
            acc.push((name, Subject::Edits(program, "application", what), Target::AtMost(most)));
        }
    }
    let watched = watched::all().into_iter();
    acc.extend(watched.map(|(it, most)| (it.name(), Subject::Watch(it), Target::AtMost(most))));
    acc
}

/// The programs and inputs of a run of benches, and the measurements that several benches share.
struct Workbench {
    ours: PathBuf,
    whole: PathBuf,
    edits: PathBuf,
    ajar: PathBuf,
    jdk: Jdk,
    root: PathBuf,
    out: PathBuf,
    /// The measurements of the corpus tier `large` and of a tenth of its classes, from which several figures are
    /// derived.
    growth: OnceCell<Growth>,
    n_edits: u32,
    /// The measurements of edits in each program, from which several figures are derived.
    edited: RefCell<BTreeMap<Program, Paced>>,
    watched: RefCell<BTreeMap<(Program, Change), Paced>>,
}

/// A table of measurements, and the speed of this machine during them, relative to the reference machine.
#[derive(Clone)]
struct Paced {
    table: Table,
    pace: f64,
}

impl Workbench {
    fn growth(&self) -> Result<Growth> {
        if let Some(it) = self.growth.get() {
            return Ok(*it);
        }
        let it = growth::measure(&self.root, &self.out, &self.ours, &self.whole)?;
        Ok(*self.growth.get_or_init(|| it))
    }

    /// Measures the figure of a bench. Returns it, and details as text for people.
    fn measure(&self, subject: &Subject) -> Result<(f64, String)> {
        match *subject {
            Subject::Peer { ours, peers, module, same_counts } => self.peer(ours, peers, module, same_counts),
            Subject::Facts => {
                let it = self.run_ours("facts", &self.blob(None)?)?;
                let input: f64 = it.counts.split('\t').next().unwrap_or_default().parse()?;
                let figure = it.number as f64 / input;
                Ok((
                    figure,
                    format!("{:.0} MB for class files of {:.0} MB", it.number as f64 / 1e6, input / 1e6),
                ))
            }
            Subject::Jar(mode) => {
                let jar = self.jar()?;
                let (ms, pace) = self.paced(|| Ok(self.run_ours(mode, &jar)?.number as f64 / 1e6))?;
                let seen = format!(
                    "{ms:.1} ms on this machine, where ASM takes {:.1} times as long as on the reference machine",
                    1.0 / pace
                );
                Ok((ms * pace, seen))
            }
            Subject::Whole(which) => self.whole(which),
            Subject::Growth(which) => {
                let it = self.growth()?;
                let figure = match which {
                    Whole::Memory => it.all.memory / it.sample.memory,
                    Whole::Total | Whole::Propagation => it.all.seconds / it.sample.seconds,
                };
                Ok((figure, it.seen()))
            }
            Subject::Alone => {
                let (blob, empty) = (self.jasmin_blob()?, self.out.join("empty.blob"));
                std::fs::write(&empty, "")?;
                let graphs = |blob: &Path| {
                    let mut command = Command::new(&self.whole);
                    command.args(["program", "open"]).arg(blob).stdout(Stdio::null());
                    cpu_of(&mut command, 40)
                };
                let start = middle(vec![graphs(&empty)?, graphs(&empty)?, graphs(&empty)?]) * 1e3;
                let (all, pace) = self.paced(|| Ok(graphs(&blob)? * 1e3))?;
                Ok((
                    (all - start) * pace,
                    format!("{all:.1} ms on this machine, of which {start:.1} ms to start the process"),
                ))
            }
            Subject::OnJdk => {
                let mut command = Command::new(&self.ajar);
                command.args(["throws", "--quiet", "--threads", "1", "--jdk"]).arg(&self.jdk.home);
                command.arg(self.jasmin()?).stdout(Stdio::null());
                let (best, pace) = self.paced(|| cpu_of(&mut command, 1))?;
                Ok((
                    best * pace,
                    format!(
                        "{best:.2} s on this machine, where ASM takes {:.1} times as long as on the reference machine",
                        1.0 / pace
                    ),
                ))
            }
            Subject::Memory(command) => {
                let (seconds, peak) = self.jdk_wide(command, 2)?;
                let mb = peak as f64 / 1e6;
                Ok((mb, format!("{mb:.0} MB in {seconds:.1} s")))
            }
            Subject::Threads(command) => {
                let (mut one, mut two) = (f64::INFINITY, f64::INFINITY);
                for _ in 0..TIMES {
                    one = one.min(self.jdk_wide(command, 1)?.0);
                    two = two.min(self.jdk_wide(command, 2)?.0);
                }
                Ok((one / two, format!("{one:.2} s on one thread, {two:.2} s on two")))
            }
            Subject::Edits(program, group, what) => self.edited(program, group, what),
            Subject::EditGrowth => {
                let (few, many, seen) = edits::grown(&self.root, &self.out, &self.ours, &self.edits)?;
                Ok((many / few, seen))
            }
            Subject::Watch(it) => {
                let Paced { table, pace } = self.watched(it)?;
                it.figure(&table, pace)
            }
        }
    }

    /// Returns the command of the shipped binary `ajar` that is measured for a subject; `-` if a program of the bench
    /// is measured instead.
    fn shipped(&self, subject: Subject) -> String {
        match subject {
            Subject::OnJdk => "ajar throws --quiet --threads 1 --jdk JDK jasmin-sable.jar".to_string(),
            Subject::Memory(it) => format!("ajar {it} {} --threads 2 JDK", WIDE.join(" ")),
            Subject::Threads(it) => format!("ajar {it} {} --threads 1|2 JDK", WIDE.join(" ")),
            Subject::Watch(it) => {
                let watched = self.watched.borrow();
                let table = watched.get(&(it.program, it.change)).map(|it| &it.table);
                table.and_then(Table::command).unwrap_or("-").to_string()
            }
            Subject::Peer { .. }
            | Subject::Jar(_)
            | Subject::Facts
            | Subject::Whole(_)
            | Subject::Alone
            | Subject::Growth(_)
            | Subject::Edits(..)
            | Subject::EditGrowth => "-".to_string(),
        }
    }

    /// Returns a time of the edits in a group of classes of a program, and details as text for people. `what` selects
    /// the time, such as the p99. All times of one program are measured in the same run.
    fn edited(&self, program: Program, group: &str, what: Edits) -> Result<(f64, String)> {
        let known = self.edited.borrow().get(&program).cloned();
        let Paced { table, pace } = match known {
            Some(it) => it,
            None => {
                // Classes outside the application are edited in one program only.
                let fewer = if program == JASMIN { (self.n_edits / 5).max(1) } else { 0 };
                let mut command = Command::new(&self.edits);
                command.args(["edits", program.world.word()]);
                command.args([self.n_edits, fewer, fewer].map(|it| it.to_string()));
                let it = self.beside_asm(command.arg(self.app(program.app)?).arg(self.blob(None)?))?;
                self.edited.borrow_mut().entry(program).or_insert(it).clone()
            }
        };
        let figure = match what {
            Edits::P50 => table.times(group, "all")?.p50 * pace,
            Edits::P99 => table.times(group, "all")?.p99 * pace,
            Edits::Beyond => table.beyond(group, pace)?,
        };
        let seen = match what {
            // Describe the run only once.
            Edits::P50 => format!(
                "p50/p99/most on this machine, where ASM takes {:.1} times as long as on the reference machine: {}",
                1.0 / pace,
                table.seen(group)
            ),
            Edits::P99 | Edits::Beyond => "of the same run".to_string(),
        };
        Ok((figure, seen))
    }

    /// Returns the measurements of `ajar watch` for the program and the kind of change in `it`. They are made once
    /// for each such pair; later calls return the same table.
    fn watched(&self, it: Watch) -> Result<Paced> {
        let key = (it.program, it.change);
        if let Some(it) = self.watched.borrow().get(&key) {
            return Ok(it.clone());
        }
        let mut command = Command::new(&self.edits);
        command.arg("watch").arg(&self.ajar).arg(&self.jdk.home).arg(self.app(it.program.app)?);
        command.arg(&self.out).arg(it.change.times(self.n_edits).to_string()).arg(it.change.word());
        let paced = self.beside_asm(command.args(it.program.world.flags()))?;
        Ok(self.watched.borrow_mut().entry(key).or_insert(paced).clone())
    }

    /// Runs a command and returns the table that it prints. ASM runs before and after the command, to measure the
    /// speed of this machine.
    fn beside_asm(&self, command: &mut Command) -> Result<Paced> {
        let peer = Peer::build(&self.root, &self.out, &self.jdk)?;
        let mut asm = peer.command("read", &self.blob(None)?);
        let mut reads = Vec::new();
        let mut read = |n: usize| -> Result<()> {
            for _ in 0..n {
                reads.push(measured(&output(&mut asm)?)?.number as f64 / 1e9);
            }
            Ok(())
        };
        read(TIMES_PACED / 2)?;
        let table = Table::of(command)?;
        read(TIMES_PACED - TIMES_PACED / 2)?;
        Ok(Paced { table, pace: ASM_READ / middle(reads) })
    }

    /// Returns the median of several runs of `ours`, and the speed of this machine relative to the reference machine,
    /// where ASM read the whole JDK in [`ASM_READ`] seconds. ASM runs after each run, because the speed of a shared
    /// machine varies. The median is used because a minimum favours short runs over long ones.
    fn paced(&self, mut ours: impl FnMut() -> Result<f64>) -> Result<(f64, f64)> {
        let peer = Peer::build(&self.root, &self.out, &self.jdk)?;
        let mut asm = peer.command("read", &self.blob(None)?);
        let (mut figures, mut reads) = (Vec::new(), Vec::new());
        for _ in 0..TIMES_PACED {
            figures.push(ours()?);
            reads.push(measured(&output(&mut asm)?)?.number as f64 / 1e9);
        }
        Ok((middle(figures), ASM_READ / middle(reads)))
    }

    fn run_ours(&self, mode: &str, input: &Path) -> Result<Measured> {
        measured(&output(Command::new(&self.ours).arg(mode).arg(input))?)
    }

    fn peer(&self, ours: &str, peers: &str, module: Option<&str>, same: bool) -> Result<(f64, String)> {
        let blob = self.blob(module)?;
        let peer = Peer::build(&self.root, &self.out, &self.jdk)?;
        let mut sides = Vec::new();
        for _ in 0..TIMES {
            let our_side = self.run_ours(ours, &blob)?;
            sides.push((our_side, measured(&output(&mut peer.command(peers, &blob))?)?));
        }
        let our_side = sides.iter().map(|it| it.0.clone()).min_by_key(|it| it.number).context("no run")?;
        let peers_side = sides.into_iter().map(|it| it.1).min_by_key(|it| it.number).context("no run")?;
        if same && our_side.counts != peers_side.counts {
            let (ours, peers) = (our_side.counts, peers_side.counts);
            bail!("ajar and ASM read the same bytes, but their counts differ: ajar {ours}, ASM {peers}");
        }
        let (a, b) = (our_side.number as f64 / 1e9, peers_side.number as f64 / 1e9);
        let speed = std::fs::metadata(&blob)?.len() as f64 / 1e6 / a;
        Ok((b / a, format!("{a:.3} s, {speed:.0} MB/s; ASM {b:.3} s")))
    }

    /// Writes a blob (class files one after another) with all classes of the JDK or of one of its modules, and
    /// returns the path of the blob. `module` is `None` for the whole JDK.
    fn blob(&self, module: Option<&str>) -> Result<PathBuf> {
        let blob = self.out.join(format!("jdk-{}-{}.blob", self.jdk.feature(), module.unwrap_or("all")));
        let mut command = Command::new(&self.ours);
        command.arg("blob").arg(&self.jdk.home).arg(&blob).args(module);
        output(&mut command)?;
        Ok(blob)
    }

    /// Returns the path of a jar with all classes of the JDK. On first use, the jar is made by the JDK's own tools.
    fn jar(&self) -> Result<PathBuf> {
        let jar = self.out.join(format!("jdk-{}.jar", self.jdk.feature()));
        if !jar.is_file() {
            let folder = self.out.join("image");
            let mut extract = Command::new(self.jdk.home.join("bin/jimage"));
            extract.arg("extract").arg("--dir").arg(&folder).arg(self.jdk.home.join("lib/modules"));
            output(&mut extract)?;
            let mut pack = Command::new(self.jdk.home.join("bin/jar"));
            output(pack.arg("cfM").arg(&jar).arg("-C").arg(&folder).arg("."))?;
            std::fs::remove_dir_all(&folder)?;
        }
        Ok(jar)
    }

    /// Writes a blob with the classes of an application, and returns its path.
    fn app(&self, app: App) -> Result<PathBuf> {
        match app {
            App::Jasmin => self.jasmin_blob(),
            App::Guava => {
                let folder = corpus::package(&self.root, "medium", "libguava-java")?;
                let jar = find_jar(&folder.join("usr/share/java"), "guava")?;
                let blob = self.out.join("guava.blob");
                output(Command::new(&self.ours).arg("blob").arg(jar).arg(&blob))?;
                Ok(blob)
            }
        }
    }

    /// Fetches the jar of Jasmin, an application of about 150 classes, and returns its path.
    fn jasmin(&self) -> Result<PathBuf> {
        corpus::run(&self.root, "small", true)?;
        find_jar(&self.root.join("corpus/small/jasmin-sable/usr/share/java"), "jasmin-sable")
    }

    /// Writes a blob with the classes of Jasmin, and returns its path.
    fn jasmin_blob(&self) -> Result<PathBuf> {
        let blob = self.out.join("jasmin.blob");
        output(Command::new(&self.ours).arg("blob").arg(self.jasmin()?).arg(&blob))?;
        Ok(blob)
    }

    /// Measures the time or the memory (as `which` says) that the analysis of the whole JDK as one program takes.
    /// Returns the figure, and details as text for people. Each run is a separate process, so nothing is cached.
    fn whole(&self, which: Whole) -> Result<(f64, String)> {
        let blob = self.blob(None)?;
        let (mut best, mut line) = (f64::INFINITY, String::new());
        let mut run = || {
            let mut command = Command::new(&self.whole);
            let out = output(command.args(["program", "open"]).arg(&blob))?;
            let numbers: Vec<f64> = out.trim().split('\t').filter_map(|it| it.parse().ok()).collect();
            let [records, program, solved, graphs, propagation, .., memory] = numbers[..] else {
                bail!("`{out}` is not the output of ajar-whole");
            };
            let figure = match which {
                Whole::Total => (records + program + solved + graphs) / 1e9,
                Whole::Propagation => propagation / 1e9,
                Whole::Memory => memory / 1e6,
            };
            if figure < best {
                best = figure;
                let stages = [records, records + program + solved, graphs].map(|it| it / 1e9);
                let [records, solved, graphs] = stages;
                line = format!(
                    "{records:.1} s to make the records, {solved:.1} s until the solution, {graphs:.1} s to make the graphs"
                );
            }
            Ok(figure)
        };
        if matches!(which, Whole::Memory) {
            let megabytes = run()?;
            return Ok((megabytes, format!("{megabytes:.0} MB")));
        }
        let (best, pace) = self.paced(run)?;
        Ok((
            best * pace,
            format!(
                "{best:.2} s on this machine ({line}), where ASM takes {:.1} times as long as on the reference machine",
                1.0 / pace
            ),
        ))
    }

    /// Runs the command `what` of ajar for the whole JDK. Returns its wall time in seconds, and its peak memory in
    /// bytes without mapped files.
    fn jdk_wide(&self, what: &str, threads: u32) -> Result<(f64, u64)> {
        let mut command = Command::new(&self.ajar);
        command
            .arg(what)
            .args(WIDE)
            .args(["--threads", &threads.to_string()])
            .arg(&self.jdk.home)
            .stdout(Stdio::null());
        let start = std::time::Instant::now();
        let mut child = command.spawn().context("cannot run ajar")?;
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        let done = loop {
            peak = peak.max(anonymous_memory(&status));
            if let Some(done) = child.try_wait()? {
                break done;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        if !done.success() {
            bail!("ajar {what} ended with {done}");
        }
        Ok((start.elapsed().as_secs_f64(), peak))
    }
}

/// Returns the median of the figures.
fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the CPU time of a command in seconds, as the mean of `runs` runs.
fn cpu_of(command: &mut Command, runs: u32) -> Result<f64> {
    let before = children_time()?;
    for _ in 0..runs {
        let done = command.status().context("cannot run the command")?;
        if !done.success() {
            bail!("{command:?} ended with {done}");
        }
    }
    Ok((children_time()? - before) / f64::from(runs))
}

/// Returns the CPU time in seconds, to a hundredth, of the child processes that this process has waited for: fields
/// 16 and 17 of `/proc/*/stat`.
fn children_time() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("this system does not report CPU times")?;
    let (_, rest) =
        stat.rsplit_once(')').context("/proc/self/stat cannot be parsed: the program name is missing")?;
    let mut fields = rest.split_ascii_whitespace().skip(13);
    let mut ticks =
        || fields.next().and_then(|it| it.parse::<f64>().ok()).context("no time in /proc/self/stat");
    Ok((ticks()? + ticks()?) / 100.0)
}

/// Returns the memory of a process in bytes, without mapped files. `status` is the path of the process's status file
/// in `/proc`; the result is 0 if the file does not have the figure.
fn anonymous_memory(status: &str) -> u64 {
    let text = std::fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|it| it.strip_prefix("RssAnon:"));
    let number = line.and_then(|it| it.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    number.map_or(0, |it| it * 1024)
}

fn find_jdk() -> Result<Jdk> {
    jdk::find_all()
        .into_iter()
        .find(|it| it.feature() == JDK_FEATURE && it.home.join("bin/javac").is_file())
        .with_context(|| format!("no JDK {JDK_FEATURE} with javac found: set JAVA_HOME, or install one"))
}

/// Builds a program with `--release`, and returns the path of the executable that cargo reports.
fn build(root: &Path, package: &str, what: &[&str], name: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--package", package]).args(what);
    command.args(["--message-format", "json-render-diagnostics"]).current_dir(root).stderr(Stdio::inherit());
    let messages = output(&mut command)?;
    let executable = messages.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        if message.get("target")?.get("name")? != name {
            return None;
        }
        Some(PathBuf::from(message.get("executable")?.as_str()?))
    });
    executable.with_context(|| format!("cargo did not report the path of {name}"))
}

/// The program `AsmBench`, which measures ASM on a JVM.
struct Peer {
    java: PathBuf,
    class_path: std::ffi::OsString,
}

impl Peer {
    fn build(root: &Path, out: &Path, jdk: &Jdk) -> Result<Peer> {
        corpus::run(root, "tools", true)?;
        let jars = root.join("corpus/tools/libasm-java/usr/share/java");
        let classes = out.join("classes");
        std::fs::create_dir_all(&classes)?;
        let mut parts = vec![classes.clone()];
        for name in ["asm", "asm-tree", "asm-analysis"] {
            parts.push(find_jar(&jars, name)?);
        }
        let class_path = std::env::join_paths(parts)?;
        let mut javac = Command::new(jdk.home.join("bin/javac"));
        javac.arg("-cp").arg(&class_path).arg("-d").arg(&classes).arg(root.join("xtask/bench/AsmBench.java"));
        output(&mut javac)?;
        Ok(Peer { java: jdk.home.join("bin/java"), class_path })
    }

    fn command(&self, mode: &str, blob: &Path) -> Command {
        let mut command = Command::new(&self.java);
        command.args(["-XX:+UseSerialGC", "-Xmx3g", "-cp"]).arg(&self.class_path);
        command.arg("AsmBench").arg(mode).arg(blob);
        command
    }
}

/// Finds the jar of a library in a folder, such as `asm-9.4.jar` for `asm`, but not `asm-tree-9.4.jar`.
fn find_jar(folder: &Path, name: &str) -> Result<PathBuf> {
    let is_it = |file: &str| {
        let version = file.strip_prefix(name).and_then(|it| it.strip_prefix('-')?.strip_suffix(".jar"));
        version.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    };
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.file_name().and_then(|it| it.to_str()).is_some_and(is_it) {
            return Ok(path);
        }
    }
    bail!("{} contains no {name}-VERSION.jar", folder.display())
}

fn measured(line: &str) -> Result<Measured> {
    let (number, counts) = line.trim().split_once('\t').unwrap_or((line.trim(), ""));
    let number: u64 = number.parse().with_context(|| format!("`{line}` does not start with a number"))?;
    Ok(Measured { number, counts: counts.to_string() })
}

impl Row<'_> {
    fn passes(&self) -> bool {
        match self.target {
            Target::AtLeast(it) => self.figure >= it,
            Target::AtMost(it) => self.figure <= it,
            Target::Told => true,
        }
    }

    fn verdict(&self) -> &'static str {
        match self.target {
            Target::Told => "told",
            _ if self.passes() => "pass",
            _ => "FAIL",
        }
    }

    fn target(&self) -> String {
        match self.target {
            Target::AtLeast(it) => format!(">= {it}"),
            Target::AtMost(it) => format!("<= {it}"),
            Target::Told => "-".to_string(),
        }
    }
}

fn table(rows: &[Row<'_>]) -> String {
    let mut out = String::new();
    let width = rows.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    for row in rows {
        let (figure, target, verdict, seen) = (row.figure, row.target(), row.verdict(), &row.seen);
        let command = if row.command == "-" { String::new() } else { format!("`{}`: ", row.command) };
        let _ = writeln!(out, "{:width$}  {figure:>7.2}  {target:>7}  {verdict}  {command}{seen}", row.name);
    }
    out
}

fn tsv(rows: &[Row<'_>]) -> String {
    let mut out = "name\tfigure\ttarget\tverdict\tcommand\tseen\n".to_string();
    for row in rows {
        let (figure, target, verdict) = (row.figure, row.target(), row.verdict());
        let Row { name, command, seen, .. } = row;
        let _ = writeln!(out, "{name}\t{figure:.3}\t{target}\t{verdict}\t{command}\t{seen}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_passes_within_its_target() {
        let row = |figure, target| {
            let (command, seen) = ("ajar stats".to_string(), "1 s".to_string());
            Row { name: "read", command, seen, figure, target }
        };
        let text = tsv(&[
            row(3.125, Target::AtLeast(3.0)),
            row(2.5, Target::AtLeast(3.0)),
            row(2.5, Target::AtMost(3.0)),
            row(3.5, Target::AtMost(3.0)),
            row(3.5, Target::Told),
        ]);
        assert_eq!(
            text,
            "name\tfigure\ttarget\tverdict\tcommand\tseen\n\
             read\t3.125\t>= 3\tpass\tajar stats\t1 s\n\
             read\t2.500\t>= 3\tFAIL\tajar stats\t1 s\n\
             read\t2.500\t<= 3\tpass\tajar stats\t1 s\n\
             read\t3.500\t<= 3\tFAIL\tajar stats\t1 s\n\
             read\t3.500\t-\ttold\tajar stats\t1 s\n"
        );
        assert!(table(&[row(2.5, Target::AtLeast(3.0))]).contains("2.50     >= 3  FAIL  `ajar stats`: 1 s"));
    }

    #[test]
    fn names_are_unique() {
        let series = series();
        let mut names: Vec<&str> = BENCHES.iter().map(|it| it.name).collect();
        names.extend(series.iter().map(|it| it.0.as_str()));
        let n = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n);
        assert!(names.contains(&"edit of a class of guava on JDK 17, closed world: p99, ms"));
    }

    #[test]
    fn the_output_of_a_side_is_read() {
        let found = measured("2000000000\t3\t4\n").unwrap();
        assert_eq!(found, Measured { number: 2_000_000_000, counts: "3\t4".to_string() });
        assert!(measured("soon\t3").is_err());
    }
}
