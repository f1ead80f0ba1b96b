//! Compares with the JVM step by step: runs of jasmin, cup and jflex on our inputs, watched through the debugger
//! interface, must be paths in the graphs. A step of a run without an edge in the graph is a bug of the highest
//! priority.
//!
//! Everything is present and the world is closed, so a call counts as explained only if its target is *named*, and an
//! exception only if its class or a superclass is (`semantics.md` §7). The tracer and the inputs are in
//! `test-data/replay`.

mod graphs;
mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use graphs::{Graph, How, Nodes};
use test_utils::jdk::Jdk;
use test_utils::tier;
use trace::{Activation, Budget, Event, Frame, Who};

/// A run: its name, main class and arguments; arguments with a dot are files.
struct Run {
    name: &'static str,
    main: &'static str,
    arguments: &'static [&'static str],
    budget: Budget,
}

/// A budget that covers most methods and branches, and takes at most half a minute.
const MUCH: Budget = Budget { stepped: 2, steps: 150, reported: 8 };
/// A budget for runs that are only interesting for how they end.
const LITTLE: Budget = Budget { stepped: 1, steps: 40, reported: 2 };

const RUNS: [Run; 9] = [
    Run {
        name: "jasmin",
        main: "jasmin.Main",
        arguments: &["-d", "OUT", "Sum.j", "Broken.j", "Escape.j", "Label.j", "Missing.j"],
        budget: MUCH,
    },
    Run { name: "cup", main: "java_cup.Main", arguments: &["-destdir", "OUT", "Sums.cup"], budget: MUCH },
    Run {
        name: "cup, conflicts",
        main: "java_cup.Main",
        arguments: &["-destdir", "OUT", "Conflicts.cup"],
        budget: LITTLE,
    },
    Run {
        name: "cup, no start",
        main: "java_cup.Main",
        arguments: &["-destdir", "OUT", "Undeclared.cup"],
        budget: LITTLE,
    },
    Run { name: "cup, no number", main: "java_cup.Main", arguments: &["-expect", "x"], budget: LITTLE },
    Run {
        name: "jflex",
        main: "jflex.Main",
        arguments: &["-d", "OUT", "Words.flex", "Broken.flex"],
        budget: MUCH,
    },
    Run { name: "jflex, null", main: "jflex.Main", arguments: &["-d", "OUT", "Seven.flex"], budget: LITTLE },
    Run {
        name: "jflex, no state",
        main: "jflex.Main",
        arguments: &["-d", "OUT", "State.flex"],
        budget: LITTLE,
    },
    Run { name: "jflex, no file", main: "jflex.Main", arguments: &["Missing.flex"], budget: LITTLE },
];

/// The packages of the programs; those that jasmin runs come first.
const PACKAGES: [&str; 5] = ["jas.*", "jasmin.*", "scm.*", "java_cup.*", "jflex.*"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// The jars of the small corpus, each name once, in the fast tier only those that jasmin needs; `None` if it was not
/// fetched.
fn jars() -> Option<Vec<PathBuf>> {
    let corpus = repository().join("corpus/small");
    let Ok(manifest) = std::fs::read_to_string(corpus.join("manifest.tsv")) else {
        assert!(std::env::var_os("CI").is_none_or(|it| it != "true"), "CI has no corpus/small");
        eprintln!("skipped: no corpus/small; `cargo xtask corpus small` fetches it");
        return None;
    };
    let paths = manifest.lines().filter_map(|it| it.split('\t').nth(5)).filter(|it| it.contains("/java/"));
    let jars = paths.filter(|it| it.ends_with(".jar")).map(|it| corpus.join(it));
    Some(jars.take(tier::at_most(2)).collect())
}

/// The newest JDK, at least of release 17.
fn newest_jdk() -> Option<Jdk> {
    test_utils::jdk::at_least(17)?;
    test_utils::jdk::all().into_iter().max_by_key(|it| it.version)
}

/// The last known state of an activation.
enum At {
    /// The activation is before an instruction that starts in one of these nodes.
    Before(Nodes),
    /// The activation is after an instruction or inside it.
    After(Nodes),
    /// The activation is not followed.
    Anywhere,
}

/// A run that is being followed through the graphs.
struct Frames<'a> {
    graphs: &'a BTreeMap<String, Graph>,
    run: &'a str,
    main: String,
    active: BTreeMap<Activation, (String, At)>,
    found: &'a mut Found,
}

impl Frames<'_> {
    fn count(&mut self, what: &'static str) {
        *self.found.counts.entry(what).or_default() += 1;
    }

    fn fail(&mut self, what: String) {
        self.found.failures.push(format!("{}: {what}", self.run));
    }

    fn replay(&mut self, event: &Event) {
        match event {
            Event::Enter { activation, method, stepped, callers } => {
                self.enter(method, callers);
                let at = match self.graphs.get(method) {
                    Some(graph) if *stepped => At::Before(graph.entry()),
                    _ => At::Anywhere,
                };
                self.count(if *stepped { "activations stepped through" } else { "activations entered only" });
                self.active.insert(*activation, (method.clone(), at));
            }
            Event::Step { activation, pcs } => {
                for &pc in pcs {
                    self.step(*activation, pc);
                }
            }
            Event::Return { activation } => self.leave(*activation),
            Event::Lost { activation } => {
                if let Some((_, at)) = self.active.get_mut(activation) {
                    *at = At::Anywhere;
                }
            }
            Event::Throw { classes, frames, handler } => self.throw(classes, frames, *handler),
            Event::Exit => {}
        }
    }

    /// The method of a frame, and the nodes where it calls or raises something.
    fn place(&self, frame: &Frame) -> (String, Option<Nodes>) {
        let (method, at) = match &frame.who {
            Who::Known(activation) => {
                let (method, at) = &self.active[activation];
                (method, at)
            }
            Who::Method(method) => (method, &At::Anywhere),
        };
        let nodes = self.graphs.get(method).map(|graph| match at {
            At::After(nodes) => {
                nodes.iter().copied().filter(|it| graph.all_at(frame.pc).contains(it)).collect()
            }
            At::Before(_) | At::Anywhere => graph.all_at(frame.pc),
        });
        (method.clone(), nodes)
    }

    fn enter(&mut self, method: &str, callers: &[Frame]) {
        if callers.is_empty() {
            // The launcher calls `main` after it has initialised the class.
            if method != format!("{}.main([Ljava/lang/String;)V", self.main)
                && method != format!("{}.<clinit>()V", self.main)
            {
                self.fail(format!("who calls {method}?"));
            }
            return;
        }
        let mut callee = method.to_owned();
        for frame in callers {
            let (caller, nodes) = self.place(frame);
            if frame.pc < 0 {
                self.count("calls by native methods");
            } else {
                let how = match &nodes {
                    Some(nodes) => self.graphs[&caller].calls(nodes, &callee),
                    None => How::Not,
                };
                match how {
                    How::Not => self.fail(format!("{caller}@{} calls {callee}", frame.pc)),
                    How::Open => {
                        self.found.opens.insert(format!("{caller}@{} calls {callee}", frame.pc));
                        self.count("calls by open targets");
                    }
                    _ if matches!(frame.who, Who::Method(_)) => {
                        self.count("calls by name, caller not followed")
                    }
                    _ => self.count("calls by name"),
                }
            }
            callee = caller;
        }
    }

    fn step(&mut self, activation: Activation, pc: i64) {
        let Some((method, at)) = self.active.get_mut(&activation) else { return };
        let Some(graph) = self.graphs.get(method) else { return };
        let start = match at {
            At::Before(nodes) => nodes.clone(),
            At::After(nodes) => graph.after(nodes),
            At::Anywhere => return,
        };
        let mut wrong = None;
        if graph.shows(pc) {
            let nodes = graph.through(start, pc);
            if nodes.is_empty() {
                wrong = Some(format!("{method} (activation {activation}) goes to {pc}"));
                *at = At::Anywhere;
            } else {
                *at = At::After(nodes);
            }
        }
        self.count("instructions");
        if let Some(wrong) = wrong {
            self.fail(wrong);
        }
    }

    fn leave(&mut self, activation: Activation) {
        let Some((method, at)) = self.active.remove(&activation) else { return };
        if let (Some(graph), At::After(nodes)) = (self.graphs.get(&method), &at) {
            if graph.returns(nodes) {
                self.count("returns");
            } else {
                self.fail(format!("{method} returns"));
            }
        }
    }

    fn throw(&mut self, classes: &[String], frames: &[Frame], handler: Option<i64>) {
        for (number, frame) in frames.iter().enumerate() {
            let handler = handler.filter(|_| number + 1 == frames.len());
            let (method, nodes) = self.place(frame);
            if frame.pc < 0 {
                self.count("exceptions of native methods");
                continue;
            }
            let (how, to) = match &nodes {
                Some(nodes) => self.graphs[&method].raises(nodes, classes, handler),
                None => (How::Not, Nodes::new()),
            };
            let what = match handler {
                Some(to) => format!("{method}@{} lets {} to {to}", frame.pc, classes[0]),
                None => format!("{method}@{} lets {} out", frame.pc, classes[0]),
            };
            match how {
                How::Not => self.fail(what),
                How::Open => {
                    self.found.opens.insert(what);
                    self.count("exceptions by open parts");
                }
                How::Throwable => self.count("exceptions by the cone of Throwable"),
                How::Cone => self.count("exceptions by a cone"),
                How::Name => self.count("exceptions by name"),
            }
            if handler.is_some() {
                self.count("exceptions caught");
            }
            if let Who::Known(activation) = frame.who {
                if handler.is_none() {
                    self.active.remove(&activation);
                } else if let Some((_, at @ (At::Before(_) | At::After(_)))) =
                    self.active.get_mut(&activation)
                {
                    *at = At::Before(to);
                }
            }
        }
    }
}

/// Runs all programs at the same time; in the fast tier only the first.
fn traces(jdk: &Jdk, jars: &[PathBuf]) -> Vec<Vec<Event>> {
    let data = repository().join("test-data/replay");
    let text = |path: &Path| path.to_str().expect("paths in UTF-8").to_owned();
    let out = tempfile::tempdir().expect("a folder for what the programs write");
    let class_path = std::env::join_paths(jars).expect("paths without separators");
    let start = |run: &Run| {
        let arguments = run.arguments.iter().map(|it| match *it {
            "OUT" => text(out.path()),
            it if it.contains('.') => text(&data.join(it)),
            it => it.to_owned(),
        });
        let program: Vec<String> = std::iter::once(run.main.to_owned()).chain(arguments).collect();
        trace::start(jdk, &text(&data), run.budget, class_path.to_str().expect("paths in UTF-8"), &program)
    };
    let started: Vec<_> = RUNS.iter().take(tier::at_most(1)).map(start).collect();
    started.into_iter().map(trace::finish).collect()
}

/// The findings of the replay of all runs.
#[derive(Default)]
struct Found {
    counts: BTreeMap<&'static str, usize>,
    failures: Vec<String>,
    opens: BTreeSet<String>,
}

fn replay(traces: &[Vec<Event>], graphs: &BTreeMap<String, Graph>) -> Found {
    let mut found = Found::default();
    for (run, events) in RUNS.iter().zip(traces) {
        let main = run.main.replace('.', "/");
        let mut frames = Frames { graphs, run: run.name, main, active: BTreeMap::new(), found: &mut found };
        for event in events {
            frames.replay(event);
        }
    }
    found
}

#[test]
fn runs_are_paths_in_the_graphs() {
    let Some(jdk) = newest_jdk() else { return };
    let Some(jars) = jars() else { return };
    let traces = traces(&jdk, &jars);
    let packages = PACKAGES.iter().take(tier::at_most(4));
    let mut patterns: BTreeSet<String> = packages.map(|it| (*it).to_owned()).collect();
    for event in traces.iter().flatten() {
        let (Event::Enter { callers: frames, .. } | Event::Throw { frames, .. }) = event else { continue };
        patterns.extend(frames.iter().filter_map(|it| match &it.who {
            Who::Method(method) if it.pc >= 0 => Some(method.clone()),
            _ => None,
        }));
    }
    let inputs: Vec<&Path> = jars.iter().map(PathBuf::as_path).chain([jdk.home.as_path()]).collect();
    let mut graphs = graphs::ask(&inputs, &patterns);
    let found = replay(&traces, &graphs);
    println!("{:#?}", found.counts);
    assert!(found.failures.is_empty(), "{} failures: {:#?}", found.failures.len(), found.failures);
    assert!(found.opens.is_empty(), "explained only by open parts: {:#?}", found.opens);
    // Without these limits, a replay of nothing would pass. The programs hash by address, so the numbers of calls
    // differ between runs.
    let least = [
        ("instructions", tier::rounds(4_000, 25_000)),
        ("returns", tier::rounds(150, 1_000)),
        ("calls by name", tier::rounds(300, 3_000)),
        ("exceptions by name", tier::rounds(2, 10)),
        ("exceptions caught", tier::rounds(2, 8)),
    ];
    for (what, least) in least {
        assert!(found.counts[what] >= least, "{what}: {}", found.counts[what]);
    }
    // A replay must fail if edges of some kind are missing.
    let kinds: [&[&str]; 8] = [
        &["normal"],
        &["true"],
        &["false"],
        &["case", "default"],
        &["return"],
        &["exception"],
        &["handler", "may-handler"],
        &["call"],
    ];
    for kinds in kinds {
        graphs.values_mut().for_each(|it| it.hide(kinds));
        assert!(!replay(&traces, &graphs).failures.is_empty(), "nobody misses edges of the kinds {kinds:?}");
    }
}
