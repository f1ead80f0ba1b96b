//! `ajar watch`: keeps an answer current and prints its changes.
//!
//! One thread waits for news, that is, changes of files. A second thread recomputes the answer, and the main thread
//! owns the answer ([`Live`]). News that arrives during a computation cancels the computation; the next one covers
//! the changes of both.

mod printer;

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, RecvError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use driver::config::Settings;
use driver::feed::Reading;
use driver::live::{Done, Live, Work, work};
use driver::packages::{Closing, Settler};
use driver::parallel::spawn_worker;
use driver::problem::{Problem, Severity};
use driver::watch::source::Signals;
use driver::watch::{Watch, WatchOptions, WorldChange};
use driver::world::LoadedWorld;
use export::frame::Header;
use export::watch::Cycle;
use ide::difference::Changed;
use ide::pattern::{MethodPattern, Nearest, NoMatch};
use ide::session::{ClassState, Explained, Job, Question, Subject};
use ide::{FileId, Human, MethodName, Profile};
use rustc_hash::FxHashSet;

use crate::args::{
    Global, ProfileArg, SelectArgs, WatchArgs, WatchedArgs, WatchedClassesArgs, WatchedExplanationsArgs,
    WatchedMethodsArgs, WorldArgs,
};
use crate::command::explain::{Wanted, n_receivers};
use crate::pass::unreached_text;
use crate::report::{Ended, Outcome, strict};
use crate::run::{patterns, spec};
use crate::{settings, whole};
use printer::Printer;

/// The question that the command line asks: what to watch, of which classes, and under which assumptions.
struct Ask<'a> {
    command: &'static str,
    classes: &'a WatchedClassesArgs,
    world: WorldArgs,
    question: Question,
}

/// A message to the main thread.
enum Message {
    /// Files changed, so the answer must be recomputed.
    News(Box<News>),
    /// The watcher of files has ended, with its error if it failed.
    End(anyhow::Result<()>),
    /// The computation with this number ended with this result. Computations are numbered in the order of their
    /// start.
    Worked(u64, Work),
}

/// A change of files: the containers and classes after the change, the settings, and the description of the change.
struct News {
    world: LoadedWorld,
    settings: Settings,
    /// Problems of this change, each with place and text: containers that cannot be read now, whose last good state
    /// is still used, and other errors.
    kept: Vec<(String, String)>,
    changed: Vec<String>,
    reason: &'static str,
    first_event: Instant,
}

/// All news (changes of files) since an update of the answer was last printed. The summary of the next update is made
/// from them.
#[derive(Default)]
struct Pending {
    kept: BTreeMap<String, String>,
    changed: Vec<String>,
    reason: &'static str,
    first_event: Option<Instant>,
}

/// The problems and notes of a class, each with place and text.
#[derive(PartialEq, Default)]
struct Odd {
    failed: Option<(String, String)>,
    failed_methods: Vec<(String, String)>,
    notes: Vec<(String, String)>,
    n_unreached: usize,
}

/// The messages to the main thread that were not handled yet.
struct Inbox {
    receiver: Receiver<Message>,
    waiting: VecDeque<Message>,
}

/// Stops the thread that waits for changes of files when this value is dropped.
struct Stop(Signals);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// The output formats of `ajar watch`.
const FORMATS: [&str; 2] = ["text", "jsonl"];

/// Resolves the settings from the flags, the environment and the settings files.
fn resolve(classes: &WatchedClassesArgs, global: &Global) -> anyhow::Result<Settings> {
    let (input, format) = (&classes.input, classes.output_format.as_ref());
    settings::resolve(global, &input.class_path, &input.platform, format)
}

/// Returns the question on the command line.
///
/// # Errors
/// A malformed pattern, or a flag that the profile does not support.
fn ask<'a>(args: &'a WatchArgs, global: &Global) -> anyhow::Result<Ask<'a>> {
    let none = SelectArgs { methods: Vec::new() };
    let open = WorldArgs::default;
    let of = |it: &WatchedMethodsArgs| it.world.clone();
    let (command, subject, classes, select, world) = match &args.answer {
        WatchedArgs::Cfg(it) => ("cfg", Subject::Graphs, &it.classes, &it.select, of(it)),
        WatchedArgs::Calls(it) => {
            ("calls", Subject::Calls, &it.methods.classes, &it.methods.select, of(&it.methods))
        }
        WatchedArgs::Throws(it) => ("throws", Subject::Throws, &it.classes, &it.select, of(it)),
        WatchedArgs::Missing(it) => ("missing", Subject::Missing, it, &none, open()),
        WatchedArgs::Entries(it) => {
            let world = WorldArgs { entry: it.entry.clone(), ..open() };
            ("entries", Subject::Entries, &it.classes, &none, world)
        }
        WatchedArgs::Bir(it) => ("bir", Subject::Bodies, &it.classes, &it.select, open()),
        WatchedArgs::Explain(it) => return ask_for_reasons(it, global),
    };
    let written = patterns(&select.methods)?;
    let callers = matches!(&args.answer, WatchedArgs::Calls(it) if it.callers);
    let (shown, to) = if callers { (Vec::new(), written) } else { (written, Vec::new()) };
    Ask::new(command, classes, world, Question { subject, shown, to })
}

/// Returns the question of `ajar watch explain`.
///
/// # Errors
/// The errors of [`ask`], and a malformed setting or unsupported output format.
fn ask_for_reasons<'a>(args: &'a WatchedExplanationsArgs, global: &Global) -> anyhow::Result<Ask<'a>> {
    let Wanted { pattern, pc, exception, targets } = Wanted::new(&args.explained)?;
    let settings = resolve(&args.classes, global)?;
    let receivers = n_receivers(settings::format(&settings, &FORMATS)? == "text");
    let subject = Subject::Explanations(Explained { pc, exception, receivers });
    let question = Question { subject, shown: patterns(&[pattern.to_owned()])?, to: targets };
    Ask::new("explain", &args.classes, args.world.clone(), question)
}

impl<'a> Ask<'a> {
    fn new(
        command: &'static str,
        classes: &'a WatchedClassesArgs,
        world: WorldArgs,
        question: Question,
    ) -> anyhow::Result<Self> {
        if world.profile == ProfileArg::Paper {
            whole::check_paper(&world)?;
        }
        Ok(Ask { command, classes, world, question })
    }
}

impl Ask<'_> {
    /// Resolves the settings again after a change of files, because the settings files may have changed.
    fn resolve(&self, global: &Global) -> anyhow::Result<Settings> {
        let it = resolve(self.classes, global)?;
        settings::format(&it, &FORMATS)?;
        Ok(it)
    }

    /// Returns the settings of the database for the opened inputs in `world`.
    ///
    /// # Errors
    /// A malformed pattern of `--entry`.
    fn engine_settings(&self, world: &LoadedWorld, closing: &Closing) -> anyhow::Result<ide::Settings> {
        // `watch entries` lists the entry points, but does not search from them.
        let lists = self.question.subject == Subject::Entries;
        let receivers = self.world.receivers().filter(|_| !lists);
        let has_entries = lists || receivers.is_some();
        Ok(ide::Settings {
            options: whole::options(world.release, &self.world),
            packages: closing.packages.clone(),
            entries: has_entries.then(|| whole::request(world, &self.world.entry)).transpose()?,
            receivers,
            profile: match self.world.profile {
                ProfileArg::Jvm => Profile::Jvm,
                ProfileArg::Paper => Profile::Paper,
            },
        })
    }
}

/// The current answer, with the problems and notes about its classes.
struct Current<'a> {
    ask: &'a Ask<'a>,
    live: Live,
    settler: Settler,
    world: LoadedWorld,
    closing: Closing,
    /// The problems and notes of classes. The key is the index of the id of the class file.
    odd: BTreeMap<usize, (FileId, Odd)>,
    /// The problems and notes that existed when the last update was printed, each with place and text.
    problems: Vec<(String, String)>,
    /// The number of these problems that are about parts of the input which the answer leaves out.
    n_left_out: usize,
    generation: u64,
}

/// Runs `ajar watch`.
pub(crate) fn run(args: &WatchArgs, global: &Global) -> anyhow::Result<Ended> {
    let ask = ask(args, global)?;
    let settings = ask.resolve(global)?;
    let writing = |time: Duration| {
        eprintln!("// files have been changing for {} s; waiting until they stop changing", time.as_secs())
    };
    let options = WatchOptions {
        poll: args.poll.map(Duration::from_millis),
        on_writing: if global.quiet { None } else { Some(Box::new(writing)) },
        ..WatchOptions::default()
    };
    let begin = Instant::now();
    let asked = spec(&settings, &ask.classes.input)?;
    let (mut watch, mut world) = Watch::new(asked.clone(), settings::files()?, options)?;
    // The settings files may have changed before they were watched.
    let settings = ask.resolve(global)?;
    let now = spec(&settings, &ask.classes.input)?;
    if now != asked {
        world = watch.set_spec(now)?;
    }
    if let Some(why) = watch.untold().filter(|_| !global.quiet) {
        eprintln!("// some changes are noticed only once a second: {why}");
    }
    let printer = Printer::new(&settings, args.clear)?;
    let mut current = Current::first(&ask, world, &settings)?;
    printer.header(&current.header())?;
    // JSON lines begin with the whole answer. Text does not, because the commands without `watch` print it.
    let (changes, mut line) = current.first_answer()?;
    let all = if printer.style.is_some() { Vec::new() } else { changes };
    line = Cycle { reason: "start", milliseconds: milliseconds(begin), ..counted(line, &all) };
    printer.cycle(&all, line)?;
    let (sender, receiver) = channel();
    let stop = Stop(watch.signals());
    let outcome = std::thread::scope(|scope| {
        // The waiting thread must stop whatever ends this block.
        let _stop = stop;
        let news = sender.clone();
        scope.spawn(|| wait_for_news(watch, &ask, global, settings, news));
        let (jobs, to_do) = channel();
        let threads = current.live.threads();
        spawn_worker(scope, move || work_on(to_do, threads, sender))?;
        current.keep(&jobs, Inbox { receiver, waiting: VecDeque::new() }, &printer, (args.once, global))
    })?;
    Ok(outcome.into())
}

/// Runs jobs until the channel is closed. One thread runs all jobs, because starting a thread for each job would take
/// as long as a small job.
fn work_on(jobs: Receiver<(u64, Job)>, threads: usize, to: Sender<Message>) {
    for (number, job) in jobs {
        let done = work(job, threads);
        // An error means that the receiver is gone, because the command ends.
        let _ = to.send(Message::Worked(number, done));
    }
}

/// Waits for changes of files and sends each of them to the main thread, until the watcher ends or fails.
fn wait_for_news(
    mut watch: Watch,
    ask: &Ask<'_>,
    global: &Global,
    mut settings: Settings,
    to: Sender<Message>,
) {
    let end = loop {
        let cycle = match watch.next(None) {
            Ok(Some(it)) => it,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        match news(cycle, &mut watch, ask, global, &mut settings) {
            Ok(it) => {
                if to.send(Message::News(Box::new(it))).is_err() {
                    return;
                }
            }
            Err(error) => break Err(error),
        }
    };
    // An error means that the receiver is gone, because the command ends.
    let _ = to.send(Message::End(end));
}

/// Converts a change that the watcher found into news for the main thread. Resolves the settings again if the
/// settings files changed.
fn news(
    cycle: WorldChange,
    watch: &mut Watch,
    ask: &Ask<'_>,
    global: &Global,
    settings: &mut Settings,
) -> anyhow::Result<News> {
    let mut reason = cycle.reason.word();
    let mut kept: Vec<(String, String)> = cycle.kept.into_iter().map(|it| (it.place, it.what)).collect();
    let mut world = cycle.world;
    if cycle.more_changed {
        // Watch the files before reading them, so that a change during the reading causes another cycle.
        watch.set_files(settings::files()?)?;
        match ask.resolve(global) {
            Ok(it) => {
                reason = "settings";
                *settings = it;
                match spec(settings, &ask.classes.input).and_then(|it| watch.set_spec(it)) {
                    Ok(it) => world = it,
                    Err(error) => kept.push(failed(&error)),
                }
            }
            Err(error) => kept.push(failed(&error)),
        }
    }
    let (changed, first_event) = (cycle.changed, cycle.first_event);
    Ok(News { world, settings: settings.clone(), kept, changed, reason, first_event })
}

impl<'a> Current<'a> {
    /// Creates the state before the first answer: passes the opened inputs to the database, but computes no answer.
    fn first(ask: &'a Ask<'a>, mut world: LoadedWorld, settings: &Settings) -> anyhow::Result<Self> {
        let mut settler = Settler::default();
        let closing = settler.settle(&mut world, settings)?;
        let reading = match ask.question.subject {
            Subject::Bodies => Reading::Program,
            Subject::Entries => Reading::Libraries,
            Subject::Graphs
            | Subject::Calls
            | Subject::Throws
            | Subject::Missing
            | Subject::Explanations(_) => Reading::Platform,
        };
        let mut live = Live::new(ask.question.clone(), reading, settings.threads.value);
        live.tell(&world, ask.engine_settings(&world, &closing)?, &mut || false)?;
        Ok(Current {
            ask,
            live,
            settler,
            world,
            closing,
            odd: BTreeMap::new(),
            problems: Vec::new(),
            n_left_out: 0,
            generation: 0,
        })
    }

    fn header(&self) -> Header {
        let Ask { command, world, question, .. } = self.ask;
        let listing = world.without_search();
        let world = if question.subject == Subject::Entries { &listing } else { world };
        whole::header_of(&self.world, &self.closing, command, world)
    }

    /// Computes the first answer.
    ///
    /// # Errors
    /// Everything that is an error of the command without `watch`, such as a pattern that selects no method.
    fn first_answer(&mut self) -> anyhow::Result<(Vec<Changed>, Cycle)> {
        loop {
            let (job, threads) = (self.live.job(), self.live.threads());
            // Needs a thread with a large stack, because classes may be nested deeply.
            let mut done = Work::Cancelled;
            std::thread::scope(|scope| spawn_worker(scope, || done = work(job, threads)))?;
            match done {
                // Nothing cancels the first computation.
                Work::Cancelled => {}
                Work::Broken(it) => self.live.leave_out(it),
                Work::Failed(it) => bail!(it),
                Work::Done(done) => {
                    self.check(&done)?;
                    self.check_patterns(&done)?;
                    return Ok(self.told(*done, Pending { reason: "start", ..Pending::default() }));
                }
            }
        }
    }

    /// Keeps the answer current until the watcher of files ends; with `once`, only until the first update is printed.
    fn keep(
        &mut self,
        jobs: &Sender<(u64, Job)>,
        mut inbox: Inbox,
        printer: &Printer,
        (once, global): (bool, &Global),
    ) -> anyhow::Result<Outcome> {
        let mut pending = Pending::default();
        let mut number = 0;
        loop {
            match self.next(&mut inbox)? {
                Message::End(end) => return end.map(|()| self.outcome(global)),
                Message::News(news) => {
                    pending.add(&news);
                    if !self.tell(*news, &mut || inbox.has_news())? {
                        // Newer news follows. The result of the running computation is outdated and will be ignored.
                        number += 1;
                        continue;
                    }
                }
                Message::Worked(of, _) if of != number => continue,
                Message::Worked(_, Work::Cancelled) => {}
                Message::Worked(_, Work::Broken(it)) => self.live.leave_out(it),
                Message::Worked(_, Work::Failed(it)) => {
                    self.not_told(&anyhow!(it), std::mem::take(&mut pending), printer)?;
                    continue;
                }
                Message::Worked(_, Work::Done(done)) => {
                    let pending = std::mem::take(&mut pending);
                    if let Err(error) = self.check(&done) {
                        self.not_told(&error, pending, printer)?;
                        continue;
                    }
                    let first_event = pending.first_event;
                    let (changes, line) = self.told(*done, pending);
                    let milliseconds = first_event.map_or(0, milliseconds);
                    printer.cycle(&changes, Cycle { milliseconds, ..counted(line, &changes) })?;
                    if once {
                        return Ok(self.outcome(global));
                    }
                    continue;
                }
            }
            number += 1;
            jobs.send((number, self.live.job()))
                .map_err(|_| anyhow!("a bug of ajar: the worker thread has ended; please report it"))?;
        }
    }

    /// Returns the next message. If no message is waiting, the time until one arrives is used to prepare the program
    /// for its next update.
    fn next(&mut self, inbox: &mut Inbox) -> anyhow::Result<Message> {
        if !inbox.has_any() {
            self.live.session.keep_current(&mut || inbox.has_any());
        }
        Ok(inbox.next()?)
    }

    /// Passes a change of files to the database. Returns `false` if a newer change arrived before all classes were
    /// read; in this case, the database does not contain the change.
    fn tell(&mut self, news: News, cancelled: &mut dyn FnMut() -> bool) -> anyhow::Result<bool> {
        self.world = news.world;
        self.closing = match self.settler.settle(&mut self.world, &news.settings) {
            Ok(it) => it,
            // The settings file names a module that does not exist. Other mistakes in it do not end the command either.
            Err(error) => {
                let mut settings = news.settings;
                settings.add_modules.value = Vec::new();
                let closing = self.settler.settle(&mut self.world, &settings)?;
                let what = format!("{error:#}; no module is added");
                self.world.problems.push(Problem::error(driver::config::FILE_NAME, what));
                closing
            }
        };
        let settings = self.ask.engine_settings(&self.world, &self.closing)?;
        Ok(self.live.tell(&self.world, settings, cancelled)?)
    }

    fn outcome(&self, global: &Global) -> Outcome {
        let outcome = if self.live.has_bug() { Outcome::Bug } else { Outcome::Fine };
        strict(self.n_left_out, global, outcome)
    }

    /// Checks the entry points of the program after an update.
    ///
    /// # Errors
    /// When a pattern of `--entry` selects no method, or when there is no entry point.
    fn check(&self, done: &Done) -> anyhow::Result<()> {
        let program = &done.update.whole.program;
        if let Some(it) = &program.no_match {
            return Err(anyhow!(it.clone()).context("`--entry`"));
        }
        if program.no_entry {
            bail!(
                "the program has no entry point; name some with `--entry`: app, library, or a method pattern"
            );
        }
        Ok(())
    }

    /// Checks that each pattern selects a method in the first answer.
    ///
    /// # Errors
    /// A pattern that selects no method.
    fn check_patterns(&self, done: &Done) -> anyhow::Result<()> {
        for (number, pattern) in self.ask.question.shown.iter().enumerate() {
            let selects = |it: &ClassState| it.matched.get(number).copied().unwrap_or(false);
            if !done.classes().iter().any(|it| selects(&it.1)) {
                return Err(self.no_match(pattern));
            }
        }
        Ok(())
    }

    fn no_match(&self, pattern: &MethodPattern) -> anyhow::Error {
        let mut nearest = Nearest::default();
        let job = self.live.job();
        let mut is_empty = true;
        for file in job.shown() {
            for method in job.declared(file).unwrap_or_default() {
                is_empty = false;
                nearest.offer(pattern, &method);
            }
        }
        if is_empty {
            return anyhow!("no method matches `{}`: the inputs hold no class", pattern.written);
        }
        NoMatch { pattern: pattern.written.clone(), nearest }.into()
    }

    /// Makes `done` the current answer. Returns the changes since the previous answer, and the summary of the update,
    /// in which the counts of changes and the time are still zero.
    fn told(&mut self, done: Done, pending: Pending) -> (Vec<Changed>, Cycle) {
        let read = self.live.read();
        let edited = done.classes().iter().filter(|it| self.live.session.is_edited(it.0));
        let read = edited.fold(read, |acc, it| (acc.0 + 1, acc.1 + it.1.n_methods));
        let asked: Vec<FileId> = done.classes().iter().map(|it| it.0).collect();
        let changes = self.live.take(done);
        let (of_libraries, of_program) = (self.live.feed.all(), self.live.session.n_classes_and_methods());
        let all = (of_libraries.0 + of_program.0, of_libraries.1 + of_program.1);
        for file in asked {
            self.look_for_problems(file);
        }
        let (now, n_left_out) = self.all_problems();
        self.n_left_out = n_left_out;
        let known: FxHashSet<&(String, String)> = self.problems.iter().collect();
        let mut problems: Vec<(String, String)> = pending.kept.into_iter().collect();
        problems.extend(now.iter().filter(|it| !known.contains(it)).cloned());
        self.problems = now;
        self.generation += 1;
        let line = Cycle {
            generation: self.generation,
            reason: pending.reason,
            changed: pending.changed,
            classes: (read.0, all.0),
            methods: (read.1, all.1),
            problems,
            ..Cycle::default()
        };
        (changes, line)
    }

    /// Prints the summary of an update that gave no new answer, with the reason `error`.
    fn not_told(&mut self, error: &anyhow::Error, pending: Pending, printer: &Printer) -> anyhow::Result<()> {
        self.generation += 1;
        let mut problems: Vec<(String, String)> = pending.kept.into_iter().collect();
        problems.push(failed(error));
        let line = Cycle {
            generation: self.generation,
            reason: pending.reason,
            changed: pending.changed,
            milliseconds: pending.first_event.map_or(0, milliseconds),
            problems,
            ..Cycle::default()
        };
        Ok(printer.cycle(&[], line)?)
    }

    /// Returns all problems and notes, each with place and text, and the number of those, which come first, that are
    /// about parts of the input that the answer leaves out.
    fn all_problems(&self) -> (Vec<(String, String)>, usize) {
        let (feed, session) = (&self.live.feed, &self.live.session);
        let of_kind = |wanted: Severity| move |it: &&driver::problem::Problem| it.severity == wanted;
        let pair = |it: &driver::problem::Problem| (it.place.clone(), it.what.clone());
        let mut acc: Vec<(String, String)> =
            self.world.problems.iter().filter(of_kind(Severity::Error)).map(pair).collect();
        let told: FxHashSet<String> = acc.iter().map(|it| it.0.clone()).collect();
        let unread = feed.problems().filter(of_kind(Severity::Error)).map(pair);
        let odd = self.odd.values().filter(|it| session.state(it.0).is_some()).map(|it| &it.1);
        let failed = odd.clone().filter_map(|it| it.failed.clone());
        let broken = session
            .broken()
            .map(|(file, it)| (feed.name(file).to_owned(), format!("a bug of ajar: {it}; please report it")));
        acc.extend(unread.chain(failed).chain(broken).filter(|it| !told.contains(&it.0)));
        acc.extend(odd.clone().flat_map(|it| it.failed_methods.iter().cloned()));
        acc.extend(self.world.problems.iter().filter(of_kind(Severity::Warning)).map(pair));
        let n_left_out = acc.len();
        acc.extend(self.world.problems.iter().filter(of_kind(Severity::Note)).map(pair));
        if self.ask.question.subject != Subject::Missing {
            acc.extend(feed.left_out().iter().cloned());
            acc.extend(feed.problems().filter(of_kind(Severity::Note)).map(pair));
            acc.extend(odd.clone().flat_map(|it| it.notes.iter().cloned()));
        }
        for it in &session.whole().program.faults {
            let place = feed.class_place(&format!("{}.class", it.class));
            let what = whole::fault_text(it.kind, &it.other.replace('/', "."));
            acc.extend(what.map(|what| (place.unwrap_or_else(|| it.class.replace('/', ".")), what)));
        }
        let unreached: usize = odd.map(|it| it.n_unreached).sum();
        if unreached > 0 {
            let what = unreached_text(unreached);
            acc.push((self.ask.world.reaching_flag().to_owned(), what));
        }
        (acc, n_left_out)
    }

    /// Updates the problems and notes of the class in `file` from the current answer about the class.
    fn look_for_problems(&mut self, file: FileId) {
        let odd = self.live.session.state(file).map(|it| self.problems_of(file, it));
        match odd.filter(|it| *it != Odd::default()) {
            Some(it) => _ = self.odd.insert(file.index(), (file, it)),
            None => _ = self.odd.remove(&file.index()),
        }
    }

    fn problems_of(&self, file: FileId, state: &ClassState) -> Odd {
        let feed = &self.live.feed;
        let said = |it: String| (feed.name(file).to_owned(), it);
        let mut odd = Odd { n_unreached: state.n_unreached, ..Odd::default() };
        odd.failed = state.failed.as_ref().map(|it| said(it.what.clone()));
        let failed = |it: &(MethodName, ide::Fault)| said(format!("{}: {}", Human(it.0), it.1));
        odd.failed_methods = state.failed_methods.iter().map(failed).collect();
        if let Some(by) = state.shadowed {
            let by = feed.place(by).unwrap_or_default();
            odd.notes.push(said(format!(
                "this definition of the class is left out, because the definition in {by} takes precedence"
            )));
            return odd;
        }
        odd.notes.extend(state.note.clone().map(said));
        odd
    }
}

impl Inbox {
    /// Whether a message is waiting.
    fn has_any(&mut self) -> bool {
        self.waiting.extend(self.receiver.try_iter());
        !self.waiting.is_empty()
    }

    /// Whether a message about changed files, or about the end of the watcher, is waiting.
    fn has_news(&mut self) -> bool {
        self.has_any() && self.waiting.iter().any(|it| matches!(it, Message::News(_) | Message::End(_)))
    }

    /// Returns the oldest message. If no message is waiting, blocks until one arrives.
    ///
    /// # Errors
    /// When all senders are gone.
    fn next(&mut self) -> Result<Message, RecvError> {
        self.waiting.pop_front().map_or_else(|| self.receiver.recv(), Ok)
    }
}

impl Pending {
    /// Adds `news` to the pending news.
    fn add(&mut self, news: &News) {
        self.kept = news.kept.iter().cloned().collect();
        self.changed.extend(news.changed.iter().cloned());
        self.changed.sort();
        self.changed.dedup();
        // The reason of the first news is kept, except that a change of settings replaces it.
        if self.reason.is_empty() || news.reason == "settings" {
            self.reason = news.reason;
        }
        self.first_event = Some(self.first_event.map_or(news.first_event, |it| it.min(news.first_event)));
    }
}

fn failed(error: &anyhow::Error) -> (String, String) {
    ("watch".to_owned(), format!("{error:#}; the answer before this change is kept"))
}

fn milliseconds(since: Instant) -> u64 {
    since.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
}

fn counted(line: Cycle, changes: &[Changed]) -> Cycle {
    let added = changes.iter().filter(|it| it.added).count();
    Cycle { added, removed: changes.len() - added, ..line }
}
