//! `ajar watch`: an answer that is kept current; what changes is printed.
//!
//! Each cycle asks as the command itself does, with what was read of unchanged classes at hand. So it says what a fresh
//! process would say, whatever happened before.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use driver::config::Settings;
use driver::watch::{Watch, WatchOptions};
use driver::world::LoadedWorld;
use export::frame::{Header, Trailer};
use export::watch::Cycle;
use ide::answer::ClassAnswer;
use ide::difference::{Changed, MethodAnswer, MethodState, difference, missing_difference};
use ide::pattern::MethodPattern;
use ide::profile::{Answers, ProfileWork};
use ide::{MethodId, Missing};
use rustc_hash::FxHashSet;

use crate::args::{Global, InputArgs, ProfileArg, WatchArgs, WatchedArgs, WorldArgs};
use crate::memo::Memo;
use crate::report::Outcome;
use crate::run::{Maker, Run, patterns, spec};
use crate::text::{self, style::Style};
use crate::{settings, whole};

/// What is kept current.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Subject {
    Graphs,
    Calls,
    Throws,
    Missing,
}

/// What a command without such flags asks for.
static OPEN: WorldArgs = WorldArgs {
    profile: ProfileArg::Jvm,
    world: None,
    assume: None,
    link_errors: false,
    async_errors: false,
    rta: false,
    entry: Vec::new(),
};

/// What was asked.
struct Ask<'a> {
    subject: Subject,
    input: &'a InputArgs,
    world: &'a WorldArgs,
    format: Option<&'a String>,
    /// The methods that are shown.
    shown: Vec<MethodPattern>,
    /// Only calls that may go to one of these; all if there is none.
    to: Vec<MethodPattern>,
}

/// The answer of a cycle.
#[derive(Default)]
struct State {
    methods: Vec<MethodState>,
    missing: Vec<Missing>,
    /// What is odd: place and what.
    problems: Vec<(String, String)>,
}

impl State {
    /// What is other in the next answer.
    fn changes(&self, next: &State) -> Vec<Changed> {
        let mut acc = difference(&self.methods, &next.methods);
        acc.extend(missing_difference(&self.missing, &next.missing));
        acc
    }
}

/// Gathers the answers about methods.
struct Gather<'a> {
    ask: &'a Ask<'a>,
    whole: &'a Answers,
    /// What workers that are done with a class left.
    work: Mutex<Vec<ProfileWork>>,
    /// By the numbers of classes.
    classes: Mutex<Vec<(usize, Vec<MethodState>)>>,
}

impl Maker for Gather<'_> {
    const GRAPHS: bool = false;
    const FIGURES: bool = false;

    fn make(&self, _place: &str, number: usize, class: &ClassAnswer, _out: &mut Vec<u8>) {
        let left = self.work.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut work = left.unwrap_or_else(|| self.whole.work());
        let mut states = Vec::with_capacity(class.methods.len());
        for it in &class.methods {
            let code = Some((it.code.clone(), it.positions.clone()));
            let answer = match self.ask.subject {
                Subject::Graphs if self.whole.is_ghost(it.method) => None,
                Subject::Graphs => {
                    let graph = self.whole.graph(&mut work, it.method, &it.code, false);
                    Some(MethodAnswer::Graph(graph))
                }
                Subject::Calls => Some(MethodAnswer::Calls(self.whole.calls(it.method, &it.code))),
                Subject::Throws => self.whole.throws(&mut work, it.method).map(MethodAnswer::Throws),
                Subject::Missing => None,
            };
            states.extend(answer.map(|answer| MethodState { method: it.method, code, answer }));
        }
        let others = class.failed.iter().map(|it| it.method);
        for method in others.chain(class.without_code.iter().map(|it| it.0)) {
            let answer = match self.ask.subject {
                Subject::Calls => Some(MethodAnswer::Calls(self.whole.unseen_calls(method))),
                Subject::Throws => self.whole.throws(&mut work, method).map(MethodAnswer::Throws),
                Subject::Graphs | Subject::Missing => None,
            };
            states.extend(answer.map(|answer| MethodState { method, code: None, answer }));
        }
        states.iter_mut().for_each(|it| self.ask.narrow(it));
        self.work.lock().unwrap_or_else(PoisonError::into_inner).push(work);
        self.classes.lock().unwrap_or_else(PoisonError::into_inner).push((number, states));
    }
}

impl Ask<'_> {
    /// Leaves out the calls that were not asked for.
    fn narrow(&self, state: &mut MethodState) {
        let MethodAnswer::Calls(calls) = &mut state.answer else { return };
        let goes_to = |it: &MethodId| self.to.iter().any(|pattern| pattern.selects(it));
        calls.retain(|it| self.to.is_empty() || it.targets.iter().chain(&it.possible).any(goes_to));
    }

    /// Asks of a world.
    fn answer(
        &self,
        settings: &Settings,
        global: &Global,
        (world, first): (LoadedWorld, bool),
        memo: &mut Memo,
    ) -> anyhow::Result<(State, Header, Outcome)> {
        let shown = self.shown.clone();
        let mut run = Run::of(settings, global, (spec(settings, self.input), world), shown, Instant::now());
        // A method that goes away while it is watched may come back.
        run.lenient = !first;
        run.memo = Some(Mutex::new(std::mem::take(memo)));
        let asked = self.ask_of(&mut run);
        if let Some(it) = run.memo.take() {
            *memo = it.into_inner().unwrap_or_else(PoisonError::into_inner);
        }
        asked
    }

    fn ask_of(&self, run: &mut Run<'_>) -> anyhow::Result<(State, Header, Outcome)> {
        if self.subject == Subject::Missing {
            let missing = whole::whole(run, self.world)?.missing();
            let header = whole::header(run, "missing", self.world);
            let problems = problems(&run.trailer());
            return Ok((State { missing, problems, ..State::default() }, header, run.outcome()));
        }
        let (command, whole) = match self.subject {
            Subject::Calls => ("calls", whole::calls_only(run, self.world)?),
            Subject::Throws => ("throws", whole::answers(run, self.world)?),
            Subject::Graphs | Subject::Missing => ("cfg", whole::answers(run, self.world)?),
        };
        let header = whole::header(run, command, self.world);
        let gather = Gather { ask: self, whole: &whole, work: Mutex::default(), classes: Mutex::default() };
        let summary = run.classes(&gather, true, |_| Ok(()))?;
        let mut classes = gather.classes.into_inner().unwrap_or_else(PoisonError::into_inner);
        classes.sort_by_key(|it| it.0);
        let methods = classes.into_iter().flat_map(|it| it.1).collect();
        let problems = problems(&summary.trailer);
        Ok((State { methods, problems, missing: Vec::new() }, header, summary.outcome))
    }
}

/// What was asked on the command line.
fn ask(args: &WatchArgs) -> anyhow::Result<Ask<'_>> {
    let (subject, classes, methods, callers) = match &args.answer {
        WatchedArgs::Cfg(it) => (Subject::Graphs, &it.classes, Some(it), false),
        WatchedArgs::Calls(it) => (Subject::Calls, &it.methods.classes, Some(&it.methods), it.callers),
        WatchedArgs::Throws(it) => (Subject::Throws, &it.classes, Some(it), false),
        WatchedArgs::Missing(it) => (Subject::Missing, it, None, false),
    };
    let written = methods.map_or_else(|| Ok(Vec::new()), |it| patterns(&it.select.methods))?;
    let (shown, to) = if callers { (Vec::new(), written) } else { (written, Vec::new()) };
    let world = methods.map_or(&OPEN, |it| &it.world);
    Ok(Ask { subject, input: &classes.input, world, format: classes.output_format.as_ref(), shown, to })
}

/// The settings of a cycle.
fn resolve(ask: &Ask<'_>, global: &Global) -> anyhow::Result<Settings> {
    let it = settings::resolve(global, &ask.input.class_path, &ask.input.platform, ask.format)?;
    settings::format(&it, &["text", "jsonl"])?;
    Ok(it)
}

/// Runs the command.
pub(crate) fn run(args: &WatchArgs, global: &Global) -> anyhow::Result<Outcome> {
    let ask = ask(args)?;
    let mut settings = resolve(&ask, global)?;
    let writing = |time: Duration| eprintln!("// files have been changing for {} s", time.as_secs());
    let options = WatchOptions {
        poll: args.poll.map(Duration::from_millis),
        on_writing: if global.quiet { None } else { Some(Box::new(writing)) },
        ..WatchOptions::default()
    };
    let begin = Instant::now();
    let asked = spec(&settings, ask.input);
    let (mut watch, mut world) = Watch::new(asked.clone(), settings::files()?, options)?;
    // They may have changed before they were watched.
    settings = resolve(&ask, global)?;
    if spec(&settings, ask.input) != asked {
        world = watch.set_spec(spec(&settings, ask.input))?;
    }
    let printer = Printer::new(&settings, args.clear)?;
    let mut memo = Memo::default();
    let (mut state, header, mut outcome) = ask.answer(&settings, global, (world, true), &mut memo)?;
    let mut generation = 1;
    printer.header(&header)?;
    // Machines begin with nothing; people have the commands that show all.
    let all = if printer.style.is_some() { Vec::new() } else { State::default().changes(&state) };
    let first =
        Cycle { generation, reason: "start", problems: state.problems.clone(), ..counted(&memo, &all) };
    printer.cycle(&all, Cycle { milliseconds: milliseconds(begin), ..first })?;
    loop {
        memo.keep_current();
        let Some(cycle) = watch.next(None)? else { return Ok(outcome) };
        generation += 1;
        let mut reason = cycle.reason.word();
        let mut kept: Vec<(String, String)> = cycle.kept.into_iter().map(|it| (it.place, it.what)).collect();
        let mut world = cycle.world;
        let changed = cycle.changed;
        if cycle.more_changed {
            // Before they are read: what changes meanwhile is seen in the next cycle.
            watch.set_files(settings::files()?)?;
            match resolve(&ask, global) {
                Ok(it) => {
                    reason = "settings";
                    settings = it;
                    match watch.set_spec(spec(&settings, ask.input)) {
                        Ok(it) => world = it,
                        Err(error) => kept.push(failed(&error)),
                    }
                }
                Err(error) => kept.push(failed(&error)),
            }
        }
        let now = ask.answer(&settings, global, (world, false), &mut memo);
        let (now, _, how) = match now {
            Ok(it) => it,
            Err(error) => {
                kept.push(failed(&error));
                let line = Cycle { generation, reason, changed, problems: kept, ..counted(&memo, &[]) };
                printer.cycle(&[], Cycle { milliseconds: milliseconds(cycle.first_event), ..line })?;
                continue;
            }
        };
        outcome = how;
        let changes = state.changes(&now);
        let known: FxHashSet<&(String, String)> = state.problems.iter().collect();
        let mut problems: Vec<(String, String)> = kept;
        problems.extend(now.problems.iter().filter(|it| !known.contains(it)).cloned());
        let line = Cycle {
            generation,
            reason,
            changed,
            problems,
            milliseconds: milliseconds(cycle.first_event),
            ..counted(&memo, &changes)
        };
        printer.cycle(&changes, line)?;
        state = now;
        if args.once {
            return Ok(outcome);
        }
    }
}

fn failed(error: &anyhow::Error) -> (String, String) {
    ("watch".to_owned(), format!("{error:#}; the last answer stays"))
}

fn milliseconds(since: Instant) -> u64 {
    since.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
}

fn counted(memo: &Memo, changes: &[Changed]) -> Cycle {
    let added = changes.iter().filter(|it| it.added).count();
    let (classes, methods) = ((memo.read.0, memo.all.0), (memo.read.1, memo.all.1));
    Cycle { classes, methods, added, removed: changes.len() - added, ..Cycle::default() }
}

/// Writes what changed, as people or machines want it. Each cycle is written at once, so that nobody sees half of one.
struct Printer {
    style: Option<Style>,
    clear: bool,
}

impl Printer {
    fn new(settings: &Settings, clear: bool) -> anyhow::Result<Printer> {
        let to_terminal = io::stdout().is_terminal();
        let lines = settings::format(settings, &["text", "jsonl"])? == "jsonl";
        let style = Style { color: settings::colored(settings, to_terminal) };
        Ok(Printer { style: (!lines).then_some(style), clear: clear && to_terminal && !lines })
    }

    fn header(&self, header: &Header) -> io::Result<()> {
        let bytes = match self.style {
            Some(style) => text::header(header, style),
            None => export::watch::header(header),
        };
        write(&bytes)
    }

    fn cycle(&self, changes: &[Changed], cycle: Cycle) -> io::Result<()> {
        let mut out = Vec::new();
        match self.style {
            Some(style) => {
                if self.clear && cycle.generation > 1 {
                    out.extend(CLEAR);
                }
                out.extend(text::watch::changes(changes, style).into_bytes());
                out.extend(text::watch::cycle(&cycle, style).into_bytes());
            }
            None => {
                changes.iter().for_each(|it| export::watch::changed(&mut out, cycle.generation, it));
                export::watch::cycle(&mut out, &cycle);
            }
        }
        write(&out)
    }
}

/// Clears the screen and goes to its first place (ECMA-48: ED, CUP).
const CLEAR: &[u8] = b"\x1b[2J\x1b[H";

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// What is odd, and what could not be read.
fn problems(trailer: &Trailer) -> Vec<(String, String)> {
    let classes = trailer.failed_classes.iter().map(|it| (it.place.clone(), it.reason.clone()));
    let methods = trailer.failed_methods.iter().map(|it| {
        let what = format!("{}: {}", ide::Human(it.method), it.fault);
        (it.place.clone(), what)
    });
    classes.chain(methods).chain(trailer.notes.iter().cloned()).collect()
}
