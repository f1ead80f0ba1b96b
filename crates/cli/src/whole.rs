//! Reads the whole program for an answer: all its classes, including those of libraries and of the JDK.

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use driver::container::{ClassBytes, ClassEntry, LoadedContainer, Scratch};
use driver::declared::DeclaredBy;
use driver::packages::Closing;
use driver::parallel::map_ordered;
use driver::problem::Problem;
use driver::world::LoadedWorld;
use export::frame::{Header, Trailer};
use ide::answer::{ClassAnswer, class_record_and_answer};
use ide::entries::{Declared, Entry, EntryRequest, Receivers};
use ide::pattern::NoMatch;
use ide::profile::{ProfileAnswers, paper_record_and_answer, read_api_class};
use ide::whole::{ClassRecord, HierarchyFault, Setup, Whole, read_class, read_functions};
use ide::{Fault, MethodName, ProblemKind, Role, WholeOptions, WorldKind, n_initialized_before_main};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::args::{AssumeArg, ProfileArg, WorldArg, WorldArgs};
use crate::known::{Known, Unread};
use crate::progress::Progress;
use crate::refused::Refusal;
use crate::report::{self, Outcome};
use crate::run::{self, Run, patterns};

/// The result of reading the program: the answers, and facts about its classes that were found while reading.
pub(crate) struct Loaded<T> {
    pub(crate) answers: T,
    pub(crate) known: Known,
}

impl<T> Loaded<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Loaded<U> {
        Loaded { answers: change(self.answers), known: self.known }
    }
}

/// A class to read.
#[derive(Clone, Copy)]
struct ReadClass<'a> {
    container: &'a LoadedContainer,
    entry: &'a ClassEntry,
    /// The index of the container, and the index of the entry in the container.
    place: (usize, usize),
    /// The index of the class among the shown classes; `None` if the result does not show the class.
    shown: Option<usize>,
}

/// Buffers that a worker reuses for each class.
#[derive(Default)]
struct ReadScratch {
    read: Scratch,
    lower: ide::Scratch,
}

/// Reads and joins all classes, for the profile in `args`.
///
/// # Errors
/// When a thread cannot be started, or when profile `paper` does not support a flag. Also when a pattern of `--entry`
/// selects no method, or when there is no entry point.
pub(crate) fn answers(run: &Run<'_>, args: &WorldArgs) -> anyhow::Result<Loaded<ProfileAnswers>> {
    match args.profile {
        ProfileArg::Jvm => Ok(joined(run, args, Reading::All)?.map(ProfileAnswers::Jvm)),
        ProfileArg::Paper => paper(run, args),
    }
}

/// Reads and joins all classes, for profile `jvm`.
///
/// # Errors
/// When a thread cannot be started.
pub(crate) fn whole(run: &Run<'_>, args: &WorldArgs) -> anyhow::Result<Loaded<Arc<Whole>>> {
    joined(run, args, Reading::All)
}

/// The method bodies that are read in classes of the platform (the JDK).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// The bodies of all methods.
    All,
    /// Only bodies that may create function objects; call targets depend on no other body of the platform.
    Functions,
}

/// Like [`answers`], for commands that need only call targets and no exceptions.
///
/// # Errors
/// The errors of [`answers`].
pub(crate) fn calls_only(run: &Run<'_>, args: &WorldArgs) -> anyhow::Result<Loaded<ProfileAnswers>> {
    match args.profile {
        ProfileArg::Jvm => Ok(joined(run, args, Reading::Functions)?.map(ProfileAnswers::Jvm)),
        ProfileArg::Paper => paper(run, args),
    }
}

fn joined(run: &Run<'_>, args: &WorldArgs, reading: Reading) -> anyhow::Result<Loaded<Arc<Whole>>> {
    let classes = classes(run);
    // These options need all code of the platform.
    let all = args.receivers().is_some() || args.link_errors || args.world == Some(WorldArg::Declared);
    let solve = reading != Reading::Functions;
    let reading = if all { Reading::All } else { reading };
    let (records, origins, mut known) = records(run, &classes, reading)?.known();
    let receivers = args.receivers();
    let request = receivers.map(|_| request(run.world(), &args.entry)).transpose()?;
    let setup = Setup {
        options: options(run.world().release, args),
        packages: &run.closing.packages,
        entries: request.as_ref(),
        receivers: receivers.unwrap_or(Receivers::Any),
        solve,
    };
    let whole = Whole::joined(records, &setup).map_err(|it| no_match(run, &known, it))?;
    let class = |record: usize| origins.get(record).and_then(|it| classes.get(*it));
    for &(record, winner) in whole.passed_over() {
        let (Some(it), Some(winner)) = (class(record), class(winner)) else { continue };
        known.shadowed.insert(it.place);
        if let Some(number) = it.shown {
            let place = winner.container.display(winner.entry);
            let text = format!(
                "this definition of the class is left out, because the definition in {place} takes precedence"
            );
            known.left_out.insert(number, text);
        }
    }
    let faults = hierarchy_faults(&classes, &known, &whole);
    known.problems.extend(faults);
    if receivers.is_some() {
        if !whole.has_entries() {
            return Err(no_entry(run, &known));
        }
        known.reaching_flag = args.reaching_flag();
        known.reached = Some(whole.reached().into_iter().collect());
    }
    Ok(Loaded { answers: Arc::new(whole), known })
}

/// Returns a note about each fault of the class hierarchy, at the place of its class.
fn hierarchy_faults(items: &[ReadClass<'_>], known: &Known, whole: &Whole) -> Vec<Problem> {
    let faults = whole.hierarchy_faults();
    if faults.is_empty() {
        return Vec::new();
    }
    let counts = |it: &&ReadClass<'_>| it.container.has_paths && !known.shadowed.contains(&it.place);
    let places: FxHashMap<&str, &ReadClass<'_>> =
        items.iter().rev().filter(counts).map(|it| (it.entry.path(), it)).collect();
    let said = |it: HierarchyFault| {
        let item = places.get(format!("{}.class", it.class).as_str());
        let class = || it.class.replace('/', ".");
        let place = item.map_or_else(class, |it| it.container.display(it.entry));
        Some(Problem::note(place, fault_text(it.kind, &it.other.replace('/', "."))?))
    };
    faults.into_iter().filter_map(said).collect()
}

/// Returns the text about a fault of the class hierarchy, with its effect; `None` for a class that is defined several
/// times, because this is reported with each shadowed definition.
pub(crate) fn fault_text(kind: ProblemKind, other: &str) -> Option<String> {
    const REFUSED: &str = "the JVM refuses the class";
    Some(match kind {
        // Reported for each shadowed definition.
        ProblemKind::Duplicate => return None,
        ProblemKind::Cycle => format!("the class is its own supertype by way of {other}; {REFUSED}"),
        ProblemKind::InterfaceAsSuperclass => format!("the superclass {other} is an interface; {REFUSED}"),
        ProblemKind::ClassAsInterface => format!("the class implements {other}, which is a class; {REFUSED}"),
        ProblemKind::FinalSuperclass => format!("the superclass {other} is final; {REFUSED}"),
        ProblemKind::NotPermitted => format!("{other} is sealed and does not permit the class; {REFUSED}"),
        ProblemKind::FinalMethod => format!("the class overrides a final method of {other}; {REFUSED}"),
        ProblemKind::TooManySupertypes => {
            "the class has more supertypes than the limit; its supertypes count as unknown".to_owned()
        }
    })
}

/// Reads and joins all classes, to find the methods that are reached from entry points. Computes no exceptions.
///
/// # Errors
/// When a thread cannot be started, when a pattern of `--entry` selects no method, or when there is no entry point.
pub(crate) fn reached(run: &Run<'_>, args: &WorldArgs) -> anyhow::Result<Loaded<Arc<Whole>>> {
    let request = request(run.world(), &args.entry)?;
    let read = records(run, &classes(run), Reading::All)?;
    let known = Known { unread: read.unread, outcome: read.outcome, ..Known::default() };
    let setup = Setup {
        options: options(run.world().release, args),
        packages: &run.closing.packages,
        entries: Some(&request),
        receivers: args.receivers().unwrap_or(Receivers::Any),
        solve: false,
    };
    let whole = Whole::joined(read.records, &setup).map_err(|it| no_match(run, &known, it))?;
    if !whole.has_entries() {
        return Err(no_entry(run, &known));
    }
    Ok(Loaded { answers: Arc::new(whole), known })
}

/// Returns the error of a program without entry points. Prints first the classes that could not be read, because they
/// may have an entry point.
fn no_entry(run: &Run<'_>, known: &Known) -> anyhow::Error {
    report::print(&known.trailer(run), run.global);
    anyhow!("the program has no entry point; name some with `--entry`: app, library, or a method pattern")
}

/// Returns the error of a pattern of `--entry` that selects no method. Prints first the classes that could not be
/// read.
fn no_match(run: &Run<'_>, known: &Known, it: NoMatch) -> anyhow::Error {
    report::print(&known.trailer(run), run.global);
    let is_word = it.pattern.chars().all(char::is_alphanumeric);
    let presets = if is_word { " (presets are `app` and `library`)" } else { "" };
    anyhow!("`--entry`: {it}{presets}")
}

/// Returns the entry points of the program. Reads no class of the platform.
///
/// # Errors
/// When a thread cannot be started, or when a pattern of `--entry` selects no method.
pub(crate) fn entries(run: &Run<'_>, args: &WorldArgs) -> anyhow::Result<Loaded<Vec<Entry>>> {
    let request = request(run.world(), &args.entry)?;
    let mut classes = classes(run);
    classes.retain(|it| it.container.role != Role::Jdk);
    let read = records(run, &classes, Reading::All)?;
    let known = Known { unread: read.unread, outcome: read.outcome, ..Known::default() };
    let setup = Setup {
        options: options(run.world().release, args),
        packages: &run.closing.packages,
        entries: Some(&request),
        receivers: args.receivers().unwrap_or(Receivers::Any),
        solve: false,
    };
    let entries = ide::reached::entries(read.records, &setup).map_err(|it| no_match(run, &known, it))?;
    Ok(Loaded { answers: entries, known })
}

/// Returns the requested entry points: the values of `--entry`, and the classes that manifests and service files
/// declare.
///
/// # Errors
/// A malformed method pattern.
pub(crate) fn request(world: &LoadedWorld, written: &[String]) -> anyhow::Result<EntryRequest> {
    let has = |preset: &str| written.iter().any(|it| it == preset);
    let others: Vec<String> =
        written.iter().filter(|it| !["app", "library"].contains(&it.as_str())).cloned().collect();
    let declared = world.declared.iter().map(|it| match &it.by {
        DeclaredBy::Main => Declared::Main(it.class.clone()),
        DeclaredBy::Agent(attribute) => Declared::Agent((*attribute).to_owned(), it.class.clone()),
        DeclaredBy::Service(service) => Declared::Service(service.clone(), it.class.clone()),
    });
    Ok(EntryRequest {
        automatic: written.is_empty(),
        app: has("app"),
        library: has("library"),
        patterns: patterns(&others)?,
        declared: declared.collect(),
    })
}

fn records(
    run: &Run<'_>,
    items: &[ReadClass<'_>],
    reading: Reading,
) -> anyhow::Result<ReadClasses<(ClassRecord, Role)>> {
    let select = |it: &MethodName| run.selects(it);
    read(run, items, |worker, item, class| {
        // A class with a note about its entry is read again when it is shown, to report the note.
        if item.shown.is_some() && class.note.is_none() {
            let (record, answer) = class_record_and_answer(class.bytes, &select, &mut worker.lower)?;
            return Ok(((record, item.container.analysed_role()), Some(answer)));
        }
        let functions = reading == Reading::Functions && item.shown.is_none() && item.container.platform;
        let read = if functions { read_functions } else { read_class };
        Ok(((read(class.bytes, &mut worker.lower)?, item.container.analysed_role()), None))
    })
}

/// Checks that profile `paper` supports the flags.
///
/// # Errors
/// A flag that it does not support.
pub(crate) fn check_paper(args: &WorldArgs) -> anyhow::Result<()> {
    if args.world.is_some_and(|it| it != WorldArg::Declared) {
        bail!(
            "profile `paper` supports only `--world declared`, in which all class names and the hierarchy are known"
        );
    }
    let searches = args.receivers().is_some();
    if args.assume.is_some() || args.link_errors || args.async_errors || args.system_assertions || searches {
        bail!(
            "profile `paper` supports none of `--assume`, `--link-errors`, `--async-errors`, `--system-assertions`, `--rta` and `--entry`: its rules have no errors of the VM and no contracts of unseen code, and find call targets only from the class hierarchy"
        );
    }
    Ok(())
}

fn paper(run: &Run<'_>, args: &WorldArgs) -> anyhow::Result<Loaded<ProfileAnswers>> {
    check_paper(args)?;
    let select = |it: &MethodName| run.selects(it);
    let read = read(run, &classes(run), |scratch, item, class| {
        // A JDK that is an input has another role and is analysed like any other program.
        if item.container.role == Role::Jdk {
            return Ok(((read_api_class(class.bytes)?, true), None));
        }
        let (record, answer) = paper_record_and_answer(class.bytes, &select, &mut scratch.lower)?;
        let answer = Some(answer).filter(|_| item.shown.is_some() && class.note.is_none());
        Ok(((record, false), answer))
    })?;
    let (records, _, known) = read.known();
    Ok(Loaded { answers: ProfileAnswers::paper(records), known })
}

/// The result of reading classes, in class-path order.
struct ReadClasses<R> {
    /// The record of each class that could be read.
    records: Vec<R>,
    /// For each record, the index of its class among the classes to read.
    origins: Vec<usize>,
    /// The answers about shown classes that were computed while reading, by the index of the class among the shown
    /// classes.
    answers: Vec<Option<ClassAnswer>>,
    /// The classes that could not be parsed and must be reported.
    unread: Vec<Unread>,
    /// The classes that the JVM does not find, in class-path order.
    misplaced: Vec<Misplaced>,
    /// [`Outcome::Bug`] if reading a class panicked; otherwise [`Outcome::Fine`].
    outcome: Outcome,
}

/// A class that the JVM does not find, because its file is not at the path at which the JVM looks for the class.
struct Misplaced {
    /// The index of the container, and the index of the entry in the container.
    place: (usize, usize),
    /// The index of the class among the shown classes; `None` if the result does not show the class.
    shown: Option<usize>,
    /// The path of the file, as shown to people.
    path: String,
    /// The reason why the class is left out.
    why: String,
}

fn read<R: Send>(
    run: &Run<'_>,
    items: &[ReadClass<'_>],
    take: impl Fn(&mut ReadScratch, &ReadClass<'_>, &ClassBytes<'_>) -> Result<(R, Option<ClassAnswer>), Fault>
    + Sync,
) -> anyhow::Result<ReadClasses<R>> {
    let mut acc = ReadClasses::new(items.len());
    let mut progress = Progress::new(items.len(), run.global.quiet, false);
    let mut index = 0;
    let work = |worker: &mut ReadScratch, item: &ReadClass<'_>| {
        let mut read = std::mem::take(&mut worker.read);
        let bytes = item.container.bytes(item.entry, &mut read).map_err(Refusal::Bytes);
        let made = bytes.and_then(|it| match item.container.misplaced(item.entry, it.bytes) {
            Some(why) => Err(Refusal::Misplaced(why)),
            None => take(worker, item, &it).map_err(Refusal::Class),
        });
        worker.read = read;
        made
    };
    let done: ControlFlow<()> =
        map_ordered(items, run.settings.threads.value, ReadScratch::default, work, |made| {
            progress.step();
            let item = &items[index];
            index += 1;
            match made.map_err(Refusal::Panic).and_then(|it| it) {
                Ok((record, answer)) => acc.add(item, index - 1, record, answer),
                Err(refusal) => acc.refuse(run, item, refusal),
            }
            ControlFlow::Continue(())
        })?;
    progress.finish();
    debug_assert!(done.is_continue());
    Ok(acc)
}

impl<R> ReadClasses<R> {
    fn new(items: usize) -> Self {
        let (records, origins) = (Vec::with_capacity(items), Vec::with_capacity(items));
        let (answers, unread, misplaced) = Default::default();
        ReadClasses { records, origins, answers, unread, misplaced, outcome: Outcome::Fine }
    }

    /// Returns the records, for each record the index of its class among the classes to read, and the other facts.
    /// The classes of a library that the JVM does not find get one note for each container.
    fn known(self) -> (Vec<R>, Vec<usize>, Known) {
        let mut known =
            Known { answers: self.answers, unread: self.unread, outcome: self.outcome, ..Known::default() };
        let mut rest = self.misplaced.into_iter().peekable();
        while let Some(it) = rest.next() {
            known.shadowed.insert(it.place);
            if let Some(number) = it.shown {
                known.left_out.insert(number, it.why);
                continue;
            }
            let mut more = 0;
            while let Some(it) = rest.next_if(|next| next.place.0 == it.place.0 && next.shown.is_none()) {
                known.shadowed.insert(it.place);
                more += 1;
            }
            let more = match more {
                0 => String::new(),
                it => format!(
                    "; {} of this container too",
                    report::count(it, "more class file", "more class files")
                ),
            };
            known.problems.push(Problem::note(it.path, it.why + &more));
        }
        (self.records, self.origins, known)
    }

    fn add(&mut self, item: &ReadClass<'_>, number: usize, record: R, answer: Option<ClassAnswer>) {
        self.records.push(record);
        self.origins.push(number);
        if let (Some(number), Some(answer)) = (item.shown, answer) {
            if self.answers.len() <= number {
                self.answers.resize_with(number + 1, || None);
            }
            self.answers[number] = Some(answer);
        }
    }

    /// Counts the class as missing, because it cannot be read or found, and adds it to the classes to report. A class of the
    /// JDK, or a class of the program that another class of the same name shadows, is not reported. A bug of ajar is
    /// always reported.
    fn refuse(&mut self, run: &Run<'_>, item: &ReadClass<'_>, refusal: Refusal) {
        let role = item.container.role;
        let is_shadowed = role == Role::App && item.shown.is_none();
        let outcome = refusal.outcome();
        if outcome == Outcome::Fine && (role == Role::Jdk || is_shadowed) {
            return;
        }
        if outcome == Outcome::Bug {
            self.outcome = outcome;
        }
        let path = item.container.display(item.entry);
        let class = match refusal {
            Refusal::Misplaced(why) => {
                self.misplaced.push(Misplaced { place: item.place, shown: item.shown, path, why });
                return;
            }
            Refusal::Bytes(_) | Refusal::Class(_) | Refusal::Panic(_) => refusal.failed(path),
        };
        // Module descriptors were read before, to find closed packages; their errors are already reported.
        if !run.is_reported(&class.place) {
            self.unread.push(Unread { number: item.shown, class });
        }
    }
}

/// Returns the classes to read, in class-path order: all classes except those of the JDK that are shadowed.
fn classes<'a>(run: &'a Run<'_>) -> Vec<ReadClass<'a>> {
    let shown = run.shown(&mut Trailer::default());
    let mut next = shown.iter().peekable();
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let mut items = Vec::new();
    let containers = run.world().containers.iter().enumerate();
    let all = containers
        .flat_map(|(i, it)| it.classes.iter().enumerate().map(move |(j, entry)| ((i, j), it, entry)));
    for (place, container, entry) in all {
        let shown = next.next_if(|it| std::ptr::eq(it.entry, entry)).map(|it| it.number);
        // Each module has its own `module-info`. Outside the JDK, the definition to use is selected when the classes
        // are joined, because ghosts yield to other definitions; the JDK has no ghosts.
        let named = container.has_paths && !entry.path().ends_with("module-info.class");
        if named && !seen.insert(entry.path()) && container.role == Role::Jdk {
            continue;
        }
        items.push(ReadClass { container, entry, place, shown });
    }
    items
}

pub(crate) fn options(release: u16, args: &WorldArgs) -> WholeOptions {
    WholeOptions {
        world: match args.world {
            None | Some(WorldArg::Open) => WorldKind::Open,
            Some(WorldArg::Declared) => WorldKind::Declared,
            Some(WorldArg::Closed) => WorldKind::Closed,
        },
        release: Some(release),
        assume_contract: args.assume == Some(AssumeArg::Contract),
        link_errors: args.link_errors,
        async_errors: args.async_errors,
        system_assertions: args.system_assertions,
    }
}

/// The assumption that the header of a result lists for `--rta` and for `--entry`.
pub(crate) const REACHED: &str = compose::REACHED;

/// Returns the header of a result that can be composed. Except in the open world, the header contains a hash of the
/// names of classes and methods that the program defines.
pub(crate) fn composable_header(
    run: &Run<'_>,
    command: &'static str,
    args: &WorldArgs,
    answers: &ProfileAnswers,
) -> Header {
    let header = header(run, command, args);
    let names = (header.world != "open").then(|| answers.names());
    Header { names, ..header }
}

/// Returns the header of a result, with its assumptions.
pub(crate) fn header(run: &Run<'_>, command: &'static str, args: &WorldArgs) -> Header {
    header_of(run.world(), &run.closing, command, args)
}

/// Returns the header of a result about the opened inputs in `world`, with the assumptions of the result.
pub(crate) fn header_of(
    world: &LoadedWorld,
    closing: &Closing,
    command: &'static str,
    args: &WorldArgs,
) -> Header {
    // `ajar compose` compares this sentence between documents, so a new wording would make older documents unusable.
    let contract = "code that nobody has seen keeps its method's throws clause and lets out only unchecked exceptions besides";
    let mut assumptions = Vec::new();
    assumptions.extend(args.assume.map(|_| contract));
    assumptions.extend(args.receivers().map(|_| REACHED));
    assumptions.extend(args.link_errors.then_some(compose::ALL_LINK_ERRORS));
    let mut header = run::header(world, command, &assumptions);
    header.assumptions.extend(closing.assumptions.iter().cloned());
    if args.profile == ProfileArg::Paper {
        (header.profile, header.world, header.vm_error_groups) = ("paper", "declared", Vec::new());
        return header;
    }
    header.world = match args.world {
        None | Some(WorldArg::Open) => "open",
        Some(WorldArg::Declared) => "declared",
        Some(WorldArg::Closed) => "closed",
    };
    header.assumptions.extend(world.jdk.is_some().then(|| assumed_of_platform(world.release, args)));
    header.vm_error_groups = vec!["init", "link"];
    if args.async_errors {
        header.vm_error_groups.push("async");
    }
    header
}

/// Returns the assumption about the platform, of this Java release: what its VM has done before it runs code of the
/// program.
fn assumed_of_platform(release: u16, args: &WorldArgs) -> String {
    let n = n_initialized_before_main(Some(release));
    // Before Java 9, no module tells which classes belong to the boot loader.
    let off = !args.system_assertions && release >= 9;
    let assertions =
        if off { "; assertions of classes of the JDK are off (see --system-assertions)" } else { "" };
    let classes = report::count(n, "class of the JDK is", "classes of the JDK are");
    format!("{classes} initialised before `main` starts{assertions}")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command, SelectArgs};
    use crate::settings;

    #[test]
    fn a_class_whose_reading_panics_is_reported_as_a_bug() {
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test-data/hello");
        let cli = Cli::parse_from(["ajar", "missing", data, "--jdk", "none", "--quiet"]);
        let Command::Missing(args) = &cli.command else { panic!("{cli:?}") };
        let input = &args.input;
        let settings = settings::resolve(&cli.global, &[], &input.platform, None).unwrap();
        let select = SelectArgs { methods: Vec::new() };
        let run = Run::open(&settings, &cli.global, input, &select).unwrap();
        let classes = classes(&run);
        let (n, first) = (classes.len(), classes[0].container.display(classes[0].entry));
        let read = read(&run, &classes, |_, item, _| {
            assert!(item.shown != Some(0), "it is odd");
            Ok(((), None))
        });
        let read = read.unwrap();
        assert_eq!(read.records.len(), n - 1);
        let known = Known { unread: read.unread, outcome: read.outcome, ..Known::default() };
        assert_eq!(known.outcome, Outcome::Bug);
        let trailer = known.trailer(&run);
        let [reported] = &trailer.failed_classes[..] else { panic!("{trailer:?}") };
        assert_eq!(
            (&reported.place, &*reported.reason),
            (&first, "a bug of ajar: it is odd; please report it")
        );
    }
}
