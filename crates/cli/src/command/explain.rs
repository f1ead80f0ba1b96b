//! `ajar explain`: shows why a method may throw an exception, or why a call may run a method.

use std::borrow::Cow;
use std::io::Write;

use anyhow::{Context, bail};
use driver::container::{ClassEntry, LoadedContainer};
use export::document::Document;
use export::explain::explanation_fragment;
use ide::answer::class_answer;
use ide::explain::{Explanation, Scope, Sources};
use ide::pattern::MethodPattern;
use ide::profile::ProfileAnswers;
use ide::{MethodName, PlacedCode, Text};
use rustc_hash::FxHashMap;

use crate::args::{ExplainArgs, ExplainedArgs, Global, SelectArgs};
use crate::known::Known;
use crate::output::Output;
use crate::pass::Pass;
use crate::report::{self, Ended};
use crate::run::{Run, patterns};
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
    let methods = pass.selected()?;
    let header = whole::header(&run, "explain", &args.world);
    let explanations =
        explanations(Reader::new(&run, &known), &whole, &methods, (&wanted, n_receivers(format.is_none())));
    let trailer = known.trailer(&run);
    if explanations.is_empty() {
        report::print(&trailer, global);
        bail!(nothing_found(&args.explained, &wanted));
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
            let mut bytes = text::header(&header, style);
            text::explain::explanations(&mut bytes, &explanations, style);
            out.write_all(&bytes)?;
            out.finish()?;
        }
    }
    report::print(&trailer, global);
    Ok(Ended::with(known.outcome, whole))
}

/// Returns the message for flags that select neither an exception nor a call.
fn nothing_found(args: &ExplainedArgs, wanted: &Wanted<'_>) -> String {
    let Wanted { pattern, pc, .. } = wanted;
    let found_none = match (&args.exception, &args.target) {
        (Some(class), _) => format!("`explain` found no exception of {class} or its subclasses"),
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
