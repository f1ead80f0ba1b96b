//! `ajar explain`: why a method lets something out, why a call goes somewhere.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, bail};
use driver::container::{ClassEntry, LoadedContainer};
use export::document::Document;
use export::explain::explanation_fragment;
use ide::answer::{MethodAnswer, class_answer};
use ide::explain::{Explanation, Scope, Sources};
use ide::pattern::MethodPattern;
use ide::profile::Answers;
use ide::{MethodId, Text};
use rustc_hash::FxHashMap;

use crate::args::{ExplainArgs, Global, SelectArgs};
use crate::output::Output;
use crate::report::{self, Outcome};
use crate::run::{Run, patterns};
use crate::text::style::Style;
use crate::{result, settings, text, whole};

/// This many receivers are shown of a target.
const SHOWN_RECEIVERS: usize = 3;
/// And this many are written for machines.
const ALL_RECEIVERS: usize = 100;

/// Reads the code of methods from the program, each class once.
pub(crate) struct Reader<'a> {
    /// Where each class is, by the path at which the JVM looks for it.
    places: FxHashMap<Cow<'a, str>, (&'a LoadedContainer, &'a ClassEntry)>,
    scratch: driver::container::Scratch,
    lower: ide::Scratch,
    answers: FxHashMap<MethodId, Option<Arc<MethodAnswer>>>,
}

impl<'a> Reader<'a> {
    fn new(run: &'a Run<'a>) -> Self {
        let mut places = FxHashMap::default();
        for (i, container) in run.world().containers.iter().map(|it| &**it).enumerate() {
            for (_, entry) in container.classes.iter().enumerate().filter(|it| !run.is_lost((i, it.0))) {
                places.entry(entry.path().into()).or_insert((container, entry));
            }
        }
        for (class, container, entry) in run.elsewhere() {
            places.entry(format!("{class}.class").into()).or_insert((container, entry));
        }
        let (scratch, lower) = Default::default();
        Reader { places, scratch, lower, answers: FxHashMap::default() }
    }

    /// Where the class of a method is.
    fn find(&self, method: MethodId) -> Option<(&'a LoadedContainer, &'a ClassEntry)> {
        self.places.get(format!("{}.class", method.class).as_str()).copied()
    }

    fn read(&mut self, method: MethodId) -> Option<MethodAnswer> {
        let (container, entry) = self.find(method)?;
        let class = container.bytes(entry, &mut self.scratch).ok()?;
        let select = |it: &MethodId| *it == method;
        let question = ide::answer::Question { select: &select, graphs: false, clock: None };
        class_answer(class.bytes, &question, &mut self.lower).ok()?.methods.pop()
    }
}

impl Sources for Reader<'_> {
    fn answer(&mut self, method: MethodId) -> Option<Arc<MethodAnswer>> {
        if let Some(it) = self.answers.get(&method) {
            return it.clone();
        }
        let answer = self.read(method).map(Arc::new);
        self.answers.insert(method, answer.clone());
        answer
    }

    fn place(&self, method: MethodId) -> Option<String> {
        let (container, entry) = self.find(method)?;
        Some(container.display(entry))
    }
}

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs, global: &Global) -> anyhow::Result<Outcome> {
    let (pattern, pc) = match args.method.rsplit_once('@') {
        Some((pattern, pc)) => {
            (pattern, Some(pc.parse::<u16>().with_context(|| format!("`{pc}` is no pc of an instruction"))?))
        }
        None => (args.method.as_str(), None),
    };
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = result::format(settings::format(&settings, &["text", "json", "jsonl"])?);
    let select = SelectArgs { methods: vec![pattern.to_owned()] };
    let mut run = Run::open(&settings, global, input, &select)?;
    let targets = patterns(args.target.as_slice())?;
    let whole = whole::answers(&mut run, &args.world)?;
    let methods = run.selected()?;
    let header = whole::header(&run, "explain", &args.world);
    let question = Question {
        pc,
        exception: args.exception.as_ref().map(|it| leaked(&it.replace('.', "/"))),
        targets: &targets,
        receivers: if format.is_some() { ALL_RECEIVERS } else { SHOWN_RECEIVERS },
    };
    let explanations = explanations(&run, &whole, &methods, &question);
    let trailer = run.trailer();
    if explanations.is_empty() {
        report::print(&trailer, global);
        bail!("nothing like that happens there in this world");
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
    Ok(run.outcome())
}

/// What is asked of each method.
struct Question<'a> {
    pc: Option<u16>,
    exception: Option<Text>,
    targets: &'a [MethodPattern],
    receivers: usize,
}

/// Of a method what it lets out, of an instruction its calls too, unless flags ask for one of both.
fn explanations(
    run: &Run<'_>,
    whole: &Answers,
    methods: &[MethodId],
    question: &Question<'_>,
) -> Vec<Explanation> {
    let mut reader = Reader::new(run);
    let mut work = whole.work();
    let mut acc = Vec::new();
    let wants = |it: &MethodId| question.targets.iter().any(|pattern| pattern.selects(it));
    let has_targets = !question.targets.is_empty();
    for &method in methods {
        if !whole.is_reached(method) {
            acc.push(Explanation::Unreached(method));
            continue;
        }
        let scope = Scope {
            method,
            pc: question.pc,
            exception: question.exception,
            target: if has_targets { Some(&wants) } else { None },
            receivers: question.receivers,
        };
        if has_targets || question.pc.is_some() && question.exception.is_none() {
            acc.extend(whole.explained_calls(&mut reader, &scope).into_iter().map(Explanation::Call));
        }
        if !has_targets {
            let exceptions = whole.explained_exceptions(&mut work, &mut reader, &scope);
            acc.extend(exceptions.into_iter().map(Explanation::Exception));
        }
    }
    acc
}

/// The text for as long as the process lives, as names do.
fn leaked(name: &str) -> Text {
    Text(Box::leak(name.to_owned().into_boxed_str()).as_bytes())
}
