//! The whole program behind an answer: all its classes are read, those of libraries and of the JDK too.

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use driver::container::{ClassBytes, ClassEntry, LoadedContainer, Role, Scratch};
use driver::declared::DeclaredBy;
use driver::packages::Closing;
use driver::parallel::map_ordered;
use driver::problem::Problem;
use driver::world::LoadedWorld;
use export::frame::{Header, Trailer};
use ide::answer::{ClassAnswer, class_record_and_answer};
use ide::entries::{Declared, Entry, EntryRequest};
use ide::pattern::NoMatch;
use ide::profile::{ProfileAnswers, paper_record_and_answer, read_api_class};
use ide::whole::{ClassRecord, HierarchyFault, Setup, Whole, read_class, read_functions};
use ide::{Fault, MethodName, ProblemKind, WholeOptions, WorldKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::args::{AssumeArg, ProfileArg, WorldArg, WorldArgs};
use crate::known::{Known, Unread};
use crate::progress::Progress;
use crate::refused::Refusal;
use crate::report::{self, Outcome};
use crate::run::{self, Run, patterns};

/// What reading the program gives: what is asked about it, and what is known of its classes since.
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
    /// The numbers of both.
    place: (usize, usize),
    /// Its number among the classes that the result shows, if it is one of them.
    shown: Option<usize>,
}

/// Memory that a worker keeps from class to class.
#[derive(Default)]
struct ReadScratch {
    read: Scratch,
    lower: ide::Scratch,
}

/// Reads and joins all classes, for either profile.
///
/// # Errors
/// When a thread cannot be started; when profile `paper` is asked for what it does not know; when there is no entry point.
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

/// How much of the platform's code is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// All of it.
    All,
    /// The bodies that make function objects: enough for where calls go.
    Functions,
}

/// [`answers`] for commands that do not ask what methods let out.
///
/// # Errors
/// See [`answers`].
pub(crate) fn calls_only(run: &Run<'_>, args: &WorldArgs) -> anyhow::Result<Loaded<ProfileAnswers>> {
    match args.profile {
        ProfileArg::Jvm => Ok(joined(run, args, Reading::Functions)?.map(ProfileAnswers::Jvm)),
        ProfileArg::Paper => paper(run, args),
    }
}

fn joined(run: &Run<'_>, args: &WorldArgs, reading: Reading) -> anyhow::Result<Loaded<Arc<Whole>>> {
    let classes = classes(run);
    // These look at all code.
    let all = args.rta || args.link_errors || args.world == Some(WorldArg::Declared);
    let solve = reading != Reading::Functions;
    let reading = if all { Reading::All } else { reading };
    let ReadClasses { records, answers, origins, unread, outcome } = records(run, &classes, reading)?;
    let mut known = Known { answers, unread, outcome, ..Known::default() };
    let request = args.rta.then(|| request(run.world(), &args.entry)).transpose()?;
    let setup = Setup {
        options: options(run.world().release, args),
        packages: &run.closing.packages,
        entries: request.as_ref(),
        solve,
    };
    let whole = Whole::joined(records, &setup).map_err(|it| no_match(run, &known, it))?;
    let class = |record: usize| origins.get(record).and_then(|it| classes.get(*it));
    for &(record, winner) in whole.passed_over() {
        let (Some(it), Some(winner)) = (class(record), class(winner)) else { continue };
        known.shadowed.insert(it.place);
        if let Some(number) = it.shown {
            let place = winner.container.display(winner.entry);
            let text = format!("another definition of the class counts, {place}; left out");
            known.left_out.insert(number, text);
        }
    }
    known.problems = hierarchy_faults(&classes, &known, &whole);
    if args.rta {
        if !whole.has_entries() {
            return Err(no_entry(run, &known));
        }
        known.reached = Some(whole.reached().into_iter().collect());
    }
    Ok(Loaded { answers: Arc::new(whole), known })
}

/// What is wrong with the supertypes of classes, at the places of these.
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

/// What is wrong, and what that comes to.
pub(crate) fn fault_text(kind: ProblemKind, other: &str) -> Option<String> {
    const REFUSED: &str = "the JVM refuses the class";
    Some(match kind {
        // Said where definitions are passed over.
        ProblemKind::Duplicate => return None,
        ProblemKind::Cycle => format!("it is its own supertype by way of {other}; {REFUSED}"),
        ProblemKind::InterfaceAsSuperclass => format!("its superclass {other} is an interface; {REFUSED}"),
        ProblemKind::ClassAsInterface => format!("it implements {other}, which is a class; {REFUSED}"),
        ProblemKind::FinalSuperclass => format!("its superclass {other} is final; {REFUSED}"),
        ProblemKind::NotPermitted => format!("{other} is sealed and does not permit it; {REFUSED}"),
        ProblemKind::TooManySupertypes => {
            "it has more supertypes than the limit; what is above it counts as not known".to_owned()
        }
    })
}

/// Reads and joins all classes, for what is reached from entry points alone.
///
/// # Errors
/// When a thread cannot be started, or when there is no entry point.
pub(crate) fn reached(run: &Run<'_>, args: &WorldArgs) -> anyhow::Result<Loaded<Whole>> {
    let request = request(run.world(), &args.entry)?;
    let read = records(run, &classes(run), Reading::All)?;
    let known = Known { unread: read.unread, outcome: read.outcome, ..Known::default() };
    let setup = Setup {
        options: options(run.world().release, args),
        packages: &run.closing.packages,
        entries: Some(&request),
        solve: false,
    };
    let whole = Whole::joined(read.records, &setup).map_err(|it| no_match(run, &known, it))?;
    if !whole.has_entries() {
        return Err(no_entry(run, &known));
    }
    Ok(Loaded { answers: whole, known })
}

/// The error of a program without entry points. What could not be read is printed before, as it may have one.
fn no_entry(run: &Run<'_>, known: &Known) -> anyhow::Error {
    report::print(&known.trailer(run), run.global);
    anyhow!("there is no entry point; --entry names some: app, library, or a method pattern")
}

/// The error of a pattern of `--entry` that selects nothing. What could not be read is printed before.
fn no_match(run: &Run<'_>, known: &Known, it: NoMatch) -> anyhow::Error {
    report::print(&known.trailer(run), run.global);
    anyhow!(it).context("`--entry`")
}

/// The entry points. Reads no class of the platform.
///
/// # Errors
/// When a thread cannot be started, or when a pattern selects nothing.
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
        solve: false,
    };
    let entries = ide::reached::entries(read.records, &setup).map_err(|it| no_match(run, &known, it))?;
    Ok(Loaded { answers: entries, known })
}

/// What `--entry` asks for.
pub(crate) fn request(world: &LoadedWorld, written: &[String]) -> anyhow::Result<EntryRequest> {
    let has = |preset: &str| written.iter().any(|it| it == preset);
    let others: Vec<String> =
        written.iter().filter(|it| !["app", "library"].contains(&it.as_str())).cloned().collect();
    let declared = world.declared.iter().map(|it| match &it.by {
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
) -> anyhow::Result<ReadClasses<(ClassRecord, ide::Role)>> {
    let select = |it: &MethodName| run.selects(it);
    read(run, items, |worker, item, class| {
        // A class with something to say about its entry is read again when it is shown.
        if item.shown.is_some() && class.note.is_none() {
            let (record, answer) = class_record_and_answer(class.bytes, &select, &mut worker.lower)?;
            return Ok(((record, role(item.container)), Some(answer)));
        }
        let functions = reading == Reading::Functions && item.shown.is_none() && item.container.platform;
        let read = if functions { read_functions } else { read_class };
        Ok(((read(class.bytes, &mut worker.lower)?, role(item.container)), None))
    })
}

/// Whether profile `paper` knows what is asked for.
///
/// # Errors
/// When it does not.
pub(crate) fn check_paper(args: &WorldArgs) -> anyhow::Result<()> {
    if args.world.is_some_and(|it| it != WorldArg::Declared) {
        bail!("profile `paper` knows the world `declared` only: all names and the hierarchy are known");
    }
    if args.assume.is_some() || args.link_errors || args.async_errors || args.rta {
        bail!(
            "profile `paper` has no `--assume`, `--link-errors`, `--async-errors` or `--rta`: it knows no errors of the VM, no unknown code that keeps a contract, and calls by MCA only"
        );
    }
    Ok(())
}

fn paper(run: &Run<'_>, args: &WorldArgs) -> anyhow::Result<Loaded<ProfileAnswers>> {
    check_paper(args)?;
    let select = |it: &MethodName| run.selects(it);
    let read = read(run, &classes(run), |scratch, item, class| {
        // A platform whose own classes are asked about is a program like any other.
        if item.container.role == Role::Jdk {
            return Ok(((read_api_class(class.bytes)?, true), None));
        }
        let (record, answer) = paper_record_and_answer(class.bytes, &select, &mut scratch.lower)?;
        let answer = Some(answer).filter(|_| item.shown.is_some() && class.note.is_none());
        Ok(((record, false), answer))
    })?;
    let ReadClasses { records, answers, unread, outcome, .. } = read;
    let known = Known { answers, unread, outcome, ..Known::default() };
    Ok(Loaded { answers: ProfileAnswers::paper(records), known })
}

/// What was read, in class-path order.
struct ReadClasses<R> {
    /// What is made of each class that can be read.
    records: Vec<R>,
    /// The item of each record.
    origins: Vec<usize>,
    /// The answers that were made on the way, by the number of the class among those that are shown.
    answers: Vec<Option<ClassAnswer>>,
    /// What could not be taken apart and is to be told.
    unread: Vec<Unread>,
    /// Whether something panicked.
    outcome: Outcome,
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
        let made = bytes.and_then(|it| take(worker, item, &it).map_err(Refusal::Class));
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
        ReadClasses { records, origins, answers: Vec::new(), unread: Vec::new(), outcome: Outcome::Fine }
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

    /// A class that cannot be read is outside. That is told of the program and its libraries, but for what is left out
    /// anyway, as others of its name stand before it; a bug of ours is told in any case.
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
        let class = refusal.failed(item.container.display(item.entry));
        // A descriptor of a module is read before, for what it closes.
        if !run.is_reported(&class.place) {
            self.unread.push(Unread { number: item.shown, class });
        }
    }
}

/// All classes, in class-path order; of the JDK those that are not shadowed.
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
        // Each module has a `module-info` of its own. Which of several definitions counts is seen when they are joined,
        // as ghosts stand back; the platform has none.
        let named = container.has_paths && !entry.path().ends_with("module-info.class");
        if named && !seen.insert(entry.path()) && container.role == Role::Jdk {
            continue;
        }
        items.push(ReadClass { container, entry, place, shown });
    }
    items
}

fn role(container: &LoadedContainer) -> ide::Role {
    match container.role {
        _ if container.platform => ide::Role::Jdk,
        Role::App => ide::Role::App,
        Role::Lib => ide::Role::Lib,
        Role::Jdk => ide::Role::Jdk,
    }
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
    }
}

/// What narrowing calls to what is reached rests on.
pub(crate) const RTA: &str = compose::NARROWED;

/// What the answers rest on, for a result that others may compose: with the names that the program knows, where the world
/// has no others.
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

/// What the answers rest on.
pub(crate) fn header(run: &Run<'_>, command: &'static str, args: &WorldArgs) -> Header {
    header_of(run.world(), &run.closing, command, args)
}

/// What answers about a world rest on.
pub(crate) fn header_of(
    world: &LoadedWorld,
    closing: &Closing,
    command: &'static str,
    args: &WorldArgs,
) -> Header {
    let contract = "code that nobody has seen keeps its method's throws clause and lets out only unchecked exceptions besides";
    let mut assumptions = Vec::new();
    assumptions.extend(args.assume.map(|_| contract));
    assumptions.extend(args.rta.then_some(RTA));
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
    header.vm_error_groups = vec!["init", "link"];
    if args.async_errors {
        header.vm_error_groups.push("async");
    }
    header
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command, SelectArgs};
    use crate::settings;

    #[test]
    fn a_class_whose_reading_panics_is_told_as_a_bug() {
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
        let [told] = &trailer.failed_classes[..] else { panic!("{trailer:?}") };
        assert_eq!((&told.place, &*told.reason), (&first, "a bug of ajar: it is odd; please report it"));
    }
}
