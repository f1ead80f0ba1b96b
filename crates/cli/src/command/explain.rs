//! `ajar explain`: shows why a method may throw an exception, or why a call may run a method.

use std::borrow::Cow;
use std::io::Write;

use anyhow::{Context, bail};
use driver::container::{ClassEntry, LoadedContainer};
use export::document::Document;
use export::explain::explanation_fragment;
use ide::answer::{class_answer, instruction_starts};
use ide::explain::{Explanation, Scope, Sources};
use ide::pattern::{MethodPattern, nearest_class};
use ide::profile::ProfileAnswers;
use ide::{Human, MethodName, PlacedCode, Text};
use rustc_hash::FxHashMap;

use crate::args::{ExplainArgs, ExplainedArgs, Global, SelectArgs};
use crate::known::Known;
use crate::output::Output;
use crate::pass::Pass;
use crate::report::{self, Ended};
use crate::run::{Run, patterns};
use crate::text::names::Names;
use crate::text::style::Style;
use crate::whole::{self, Loaded};
use crate::{result, settings, text};

/// The maximum number of receivers that text output names for each target of a call.
const SHOWN_RECEIVERS: usize = 3;
/// The maximum number of receivers that machine-readable output names for each target of a call.
const ALL_RECEIVERS: usize = 100;

/// Reads the code of methods of the program, each method at most once.
pub(crate) struct Reader<'a> {
    /// The container and entry of each class, by the path at which the JVM looks for the class.
    places: FxHashMap<Cow<'a, str>, (&'a LoadedContainer, &'a ClassEntry)>,
    scratch: driver::container::Scratch,
    lower: ide::Scratch,
    codes: FxHashMap<MethodName, Option<PlacedCode>>,
}

impl<'a> Reader<'a> {
    fn new(run: &'a Run<'a>, known: &'a Known) -> Self {
        let mut places = FxHashMap::default();
        for (i, container) in run.world().containers.iter().map(|it| &**it).enumerate() {
            for (_, entry) in
                container.classes.iter().enumerate().filter(|it| !known.shadowed.contains(&(i, it.0)))
            {
                places.entry(entry.path().into()).or_insert((container, entry));
            }
        }
        for (class, container, entry) in Pass::new(run, known).elsewhere() {
            places.entry(format!("{class}.class").into()).or_insert((container, entry));
        }
        let (scratch, lower) = Default::default();
        Reader { places, scratch, lower, codes: FxHashMap::default() }
    }

    /// Returns the container and entry of the class of a method.
    fn find(&self, method: MethodName) -> Option<(&'a LoadedContainer, &'a ClassEntry)> {
        self.places.get(format!("{}.class", method.class).as_str()).copied()
    }

    /// Returns the pcs at which the instructions of a method begin; empty if it has no readable code.
    fn instruction_starts(&mut self, method: MethodName) -> Vec<u16> {
        let found = self.find(method);
        let bytes = found.and_then(|(container, entry)| container.bytes(entry, &mut self.scratch).ok());
        bytes.map_or_else(Vec::new, |it| instruction_starts(it.bytes, &method))
    }

    fn read(&mut self, method: MethodName) -> Option<PlacedCode> {
        let (container, entry) = self.find(method)?;
        let class = container.bytes(entry, &mut self.scratch).ok()?;
        let select = |it: &MethodName| *it == method;
        let question = ide::answer::Question { select: &select, graphs: false, clock: None };
        let answer = class_answer(class.bytes, &question, &mut self.lower).ok()?.methods.pop()?;
        Some(PlacedCode { code: answer.code, positions: answer.positions })
    }
}

impl Sources for Reader<'_> {
    fn code(&mut self, method: MethodName) -> Option<PlacedCode> {
        if let Some(it) = self.codes.get(&method) {
            return it.clone();
        }
        let code = self.read(method);
        self.codes.insert(method, code.clone());
        code
    }

    fn place(&self, method: MethodName) -> Option<String> {
        let (container, entry) = self.find(method)?;
        Some(container.display(entry))
    }
}

/// The exceptions and calls to explain, from the flags.
pub(crate) struct Wanted<'a> {
    /// The pattern of the methods to explain.
    pub(crate) pattern: &'a str,
    /// The pc of the only instruction to explain; `None` for all instructions.
    pub(crate) pc: Option<u16>,
    /// If given, only exceptions of this class and its subclasses are explained.
    pub(crate) exception: Option<Text>,
    /// Patterns for targets: only calls with such a target are explained. Without patterns, all calls are explained.
    pub(crate) targets: Vec<MethodPattern>,
}

impl<'a> Wanted<'a> {
    /// Parses the flags.
    ///
    /// # Errors
    /// A pc that is not a number, or a malformed method pattern.
    pub(crate) fn new(args: &'a ExplainedArgs) -> anyhow::Result<Self> {
        let (pattern, pc) = match args.method.rsplit_once('@') {
            Some((pattern, pc)) => (
                pattern,
                Some(pc.parse::<u16>().with_context(|| {
                    format!(
                        "`{pc}` after `@` is not a pc; the pc of an instruction is a number from 0 to 65535"
                    )
                })?),
            ),
            None => (args.method.as_str(), None),
        };
        let exception = args.exception.as_ref().map(|it| leaked(&it.replace('.', "/")));
        Ok(Wanted { pattern, pc, exception, targets: patterns(args.target.as_slice())? })
    }
}

/// Returns the maximum number of receivers that the output names for each target of a call.
pub(crate) fn n_receivers(for_people: bool) -> usize {
    if for_people { SHOWN_RECEIVERS } else { ALL_RECEIVERS }
}

/// Runs `ajar explain`.
pub(crate) fn run(args: &ExplainArgs, global: &Global) -> anyhow::Result<Ended> {
    let wanted = Wanted::new(&args.explained)?;
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = result::format(settings::format(&settings, &["text", "json", "jsonl"])?);
    let select = SelectArgs { methods: vec![wanted.pattern.to_owned()] };
    let run = Run::open(&settings, global, input, &select)?;
    let Loaded { answers: whole, known } = whole::answers(&run, &args.world)?;
    let pass = Pass::new(&run, &known);
    let selected = pass.selected(|selects| whole.library_methods(selects))?;
    let methods = &selected.methods;
    let header = whole::header(&run, "explain", &args.world);
    let mut reader = Reader::new(&run, &known);
    let mut trailer = known.trailer(&run);
    if let Some(it) = wanted.pc.and_then(|pc| no_instruction((&mut reader, &whole), methods, pc)) {
        report::print(&trailer, global);
        bail!(it);
    }
    let explanations = explanations(reader, &whole, methods, (&wanted, n_receivers(format.is_none())));
    let mut not_let_out = None;
    let is_all = wanted.exception.is_none() && wanted.targets.is_empty();
    if let Some(pc) = wanted.pc.filter(|_| explanations.is_empty() && is_all) {
        let place = format!("{}@{pc}", wanted.pattern);
        trailer.notes.push((place, "the instruction raises no exception and makes no call".to_owned()));
    } else if explanations.is_empty() {
        if !names_read_class(&run, &wanted) {
            report::print(&trailer, global);
            bail!(nothing_found(&run, &args.explained, &wanted));
        }
        not_let_out = Some(none_of_class(&args.explained, &wanted));
        if format.is_some() {
            trailer.notes.extend(not_let_out.iter().map(|it| (wanted.pattern.to_owned(), it.clone())));
        }
    }
    let out = Output::open(args.output.output.as_ref())?;
    match format {
        Some(format) => {
            let mut document = Document::begin(out, format, &header)?;
            for it in &explanations {
                let mut bytes = Vec::new();
                explanation_fragment(&mut bytes, format, it);
                document.fragment(&bytes)?;
            }
            document.end(&trailer)?.finish()?;
        }
        None => {
            let mut out = out;
            let style = Style { color: settings::colored(&settings, out.is_terminal()) };
            let legend = legend_of(&explanations);
            let mut bytes = text::header(&header, &legend, style);
            let names = Names(&|it| whole.has_twin(it));
            // Writing to a vector cannot fail.
            let _ = not_let_out.iter().try_for_each(|it| writeln!(bytes, "{it}"));
            text::explain::explanations(&mut bytes, &explanations, &|it| selected.about(it), (names, style));
            out.write_all(&bytes)?;
            out.finish()?;
        }
    }
    Ok(Ended::with(run.end(&trailer, known.outcome), whole))
}

/// Returns the message for a pc at which no selected method has an instruction; `None` if one of them has.
fn no_instruction(
    (reader, whole): (&mut Reader<'_>, &ProfileAnswers),
    methods: &[MethodName],
    pc: u16,
) -> Option<String> {
    let mut nearest = None;
    for &method in methods {
        // The code of a ghost in its class file is a stub.
        let starts = if whole.is_ghost(method) { Vec::new() } else { reader.instruction_starts(method) };
        if starts.contains(&pc) {
            return None;
        }
        let before = starts.iter().rfind(|&&it| it < pc);
        nearest = nearest.or(before.map(|it| (method, *it, starts.last().copied())));
    }
    let Some((method, before, last)) = nearest else {
        let name = methods.first().map(|it| Human(*it).to_string()).unwrap_or_default();
        let is_ghost = methods.iter().any(|it| whole.is_ghost(*it));
        let why = if is_ghost { "its code is not written yet" } else { "it has no code that can be read" };
        return Some(format!("{name} has no instruction at pc {pc}, because {why}"));
    };
    let last = last.filter(|&it| it != before);
    let last =
        last.map_or_else(|| " and is the last one".to_owned(), |it| format!("; the last one is at pc {it}"));
    Some(format!(
        "{} has no instruction at pc {pc}: the instruction before is at pc {before}{last}",
        Human(method)
    ))
}

/// Returns the legend of the marks in the text of explanations.
fn legend_of(all: &[Explanation]) -> String {
    let calls = all.iter().any(|it| matches!(it, Explanation::Call(_)));
    let exceptions = all.iter().any(|it| matches!(it, Explanation::Exception(_)));
    text::legend::explanations(calls, exceptions)
}

/// Whether the flag `--exception` names a class of the inputs, of a library or of the JDK. Without this flag, returns
/// `false`.
fn names_read_class(run: &Run<'_>, wanted: &Wanted<'_>) -> bool {
    let Some(class) = wanted.exception else { return false };
    let path = format!("{class}.class");
    run.world().classes().any(|it| it.1.path() == path)
}

/// Returns the sentence that the selected methods do not let out the exceptions of a class.
fn none_of_class(args: &ExplainedArgs, wanted: &Wanted<'_>) -> String {
    let class = args.exception.as_deref().unwrap_or("any class");
    match wanted.pc {
        Some(pc) => {
            format!("no exception of {class} or its subclasses is raised at pc {pc} of `{}`", wanted.pattern)
        }
        None => format!("no exception of {class} or its subclasses leaves `{}`", wanted.pattern),
    }
}

/// Returns the message for flags that select neither an exception nor a call.
fn nothing_found(run: &Run<'_>, args: &ExplainedArgs, wanted: &Wanted<'_>) -> String {
    let Wanted { pattern, pc, .. } = wanted;
    let found_none = match (&args.exception, &args.target) {
        (Some(class), _) => return not_read(run, class),
        (None, Some(target)) => format!("`explain` found no call that may run `{target}`"),
        (None, None) => "`explain` found no exception and no call".to_owned(),
    };
    match pc {
        Some(pc) => format!(
            "{found_none} at pc {pc} of `{pattern}`; `ajar cfg -m '{pattern}'` shows the pc of each instruction"
        ),
        None => format!("{found_none} in `{pattern}`"),
    }
}

/// Returns the message for an exception class that is not among the classes that were read, with a similar class.
fn not_read(run: &Run<'_>, class: &str) -> String {
    let names = run.world().classes().map(|it| it.1.path()).filter_map(|it| it.strip_suffix(".class"));
    let hint = nearest_class(class, names).map(|it| format!("; did you mean `{}`?", it.replace('/', ".")));
    format!("`{class}` is not a class that ajar has read{}", hint.unwrap_or_default())
}

fn explanations(
    mut reader: Reader<'_>,
    whole: &ProfileAnswers,
    methods: &[MethodName],
    (wanted, receivers): (&Wanted<'_>, usize),
) -> Vec<Explanation> {
    let mut work = whole.work();
    let wants = |it: &MethodName| wanted.targets.iter().any(|pattern| pattern.selects(it));
    let of = |method: MethodName| {
        let scope = Scope {
            method,
            pc: wanted.pc,
            exception: wanted.exception,
            target: if wanted.targets.is_empty() { None } else { Some(&wants) },
            receivers,
        };
        whole.explanations(&mut work, &mut reader, &scope)
    };
    methods.iter().copied().flat_map(of).collect()
}

/// Converts the name to a [`Text`]. The memory of the result is never freed.
fn leaked(name: &str) -> Text {
    Text(Box::leak(name.to_owned().into_boxed_str()).as_bytes())
}
