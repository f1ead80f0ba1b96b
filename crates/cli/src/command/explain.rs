//! `ajar explain`: why a method lets something out, why a call goes somewhere.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, bail};
use ide::answer::{MethodAnswer, Question, class_answer};
use ide::pattern::MethodPattern;
use ide::whole::Whole;
use ide::{Bodies, MethodCode, MethodId, Text};
use rustc_hash::FxHashMap;

use crate::args::{ExplainArgs, Global, SelectArgs};
use crate::output::Output;
use crate::report::Outcome;
use crate::run::{Run, patterns};
use crate::text::style::Style;
use crate::{settings, text, whole};

/// Reads the code of methods from the program, each class once.
pub(crate) struct Reader<'a> {
    run: &'a Run<'a>,
    /// Which container and entry has a class, by its path.
    places: FxHashMap<&'a str, (usize, usize)>,
    scratch: driver::container::Scratch,
    lower: ide::Scratch,
    answers: FxHashMap<MethodId, Option<Arc<MethodAnswer>>>,
}

impl<'a> Reader<'a> {
    fn new(run: &'a Run<'a>) -> Self {
        let mut places = FxHashMap::default();
        for (i, container) in run.world().containers.iter().enumerate() {
            for (j, entry) in container.classes.iter().enumerate() {
                places.entry(entry.path()).or_insert((i, j));
            }
        }
        let (scratch, lower) = Default::default();
        Reader { run, places, scratch, lower, answers: FxHashMap::default() }
    }

    /// The answer about a method, if its class can be read.
    pub(crate) fn answer(&mut self, method: MethodId) -> Option<Arc<MethodAnswer>> {
        if let Some(it) = self.answers.get(&method) {
            return it.clone();
        }
        let answer = self.read(method).map(Arc::new);
        self.answers.insert(method, answer.clone());
        answer
    }

    fn read(&mut self, method: MethodId) -> Option<MethodAnswer> {
        let path = format!("{}.class", method.class);
        let &(container, entry) = self.places.get(path.as_str())?;
        let container = self.run.world().containers.get(container)?;
        let class = container.bytes(container.classes.get(entry)?, &mut self.scratch).ok()?;
        let select = |it: &MethodId| *it == method;
        let question = Question { select: &select, graphs: false, clock: None };
        class_answer(class.bytes, &question, &mut self.lower).ok()?.methods.pop()
    }
}

impl Bodies for Reader<'_> {
    fn code(&mut self, method: MethodId) -> Option<Arc<MethodCode>> {
        self.answer(method).map(|it| Arc::clone(&it.code))
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
    let input = &args.input;
    let settings = settings::resolve(global, &input.class_path, &input.platform, None)?;
    let select = SelectArgs { methods: vec![pattern.to_owned()] };
    let mut run = Run::open(&settings, global, input, &select)?;
    let methods = run.selected()?;
    let targets = patterns(args.target.as_slice())?;
    let whole = whole::whole(&mut run, &args.world)?;
    let only = args.exception.as_ref().map(|it| it.replace('.', "/"));
    let header = whole::header(&run, "explain", &args.world);
    let mut out = Output::open(args.output.output.as_ref())?;
    let style = Style { color: settings::colored(&settings, out.is_terminal()) };
    let mut bytes = text::header(&header, style);
    let mut reader = Reader::new(&run);
    let mut work = whole.work();
    let mut said = false;
    for method in methods {
        let begin = bytes.len();
        if !whole.is_reached(method) {
            text::explain::unreached(&mut bytes, method, style);
            said = true;
            continue;
        }
        if pc.is_some() || !targets.is_empty() {
            if let Some(answer) = reader.answer(method) {
                calls(&mut bytes, whole, &answer, pc, &targets, style);
            }
        } else {
            let class = only.as_ref().map(|it| leaked(it));
            let ways = whole.ways(&mut work, &mut reader, method, class).unwrap_or_default();
            text::explain::ways(&mut bytes, method, &ways, &mut |it| reader.answer(it), style);
        }
        said |= bytes.len() > begin;
    }
    if !said {
        bail!("nothing like that happens there in this world");
    }
    out.write_all(&bytes)?;
    out.finish()?;
    Ok(Outcome::Fine)
}

/// The text for as long as the process lives, as names do.
fn leaked(name: &str) -> Text {
    Text(Box::leak(name.to_owned().into_boxed_str()).as_bytes())
}

fn calls(
    out: &mut Vec<u8>,
    whole: &Whole,
    answer: &MethodAnswer,
    pc: Option<u16>,
    targets: &[MethodPattern],
    style: Style,
) {
    let at = |it: &ide::Call| it.instr.and_then(|it| answer.positions.pc(it));
    let goes = |it: &ide::Call| {
        let named = it.targets.iter().chain(&it.possible);
        targets.is_empty() || named.into_iter().any(|it| targets.iter().any(|pattern| pattern.selects(it)))
    };
    let calls = whole.calls(answer.method, &answer.code).into_iter();
    let calls: Vec<_> = calls.filter(|it| pc.is_none_or(|pc| at(it) == Some(pc)) && goes(it)).collect();
    text::explain::calls(out, whole, answer, &calls, targets, style);
}
