//! `ajar calls`: shows the methods that each call may run.

use export::fragment::calls_fragment;
use ide::Call;
use ide::answer::ClassAnswer;
use ide::pattern::MethodPattern;
use ide::profile::ProfileAnswers;

use crate::args::{CallsArgs, Global, SelectArgs};
use crate::pass::{Maker, Pass};
use crate::report::Ended;
use crate::result::{Form, write};
use crate::run::{Run, patterns};
use crate::settings;
use crate::whole::{self, Loaded};

struct Calls<'a> {
    form: Form,
    whole: &'a ProfileAnswers,
    /// Patterns for targets: only calls with such a target are shown. Without patterns, all calls are shown.
    to: Vec<MethodPattern>,
}

impl Calls<'_> {
    fn wanted(&self, call: &Call) -> bool {
        let named = call.targets.iter().chain(&call.possible);
        self.to.is_empty() || named.into_iter().any(|it| self.to.iter().any(|pattern| pattern.selects(it)))
    }
}

impl Maker for Calls<'_> {
    const GRAPHS: bool = false;
    const FIGURES: bool = false;

    fn make(&self, place: &str, _number: usize, class: &ClassAnswer, out: &mut Vec<u8>) {
        let mut calls = Vec::new();
        for it in &class.methods {
            calls.push((it.method, Some(it), self.whole.calls(it.method, &it.code)));
        }
        let failed = class.failed.iter().map(|it| it.method);
        for it in failed.chain(class.without_code.iter().map(|it| it.0)) {
            calls.push((it, None, self.whole.unseen_calls(it)));
        }
        for it in &mut calls {
            it.2.retain(|it| self.wanted(it));
        }
        match self.form {
            Form::Text(style) => crate::text::calls::class(out, class, &calls, style),
            Form::Document(format) => calls_fragment(out, format, place, &calls),
        }
    }
}

/// Runs `ajar calls`.
pub(crate) fn run(args: &CallsArgs, global: &Global) -> anyhow::Result<Ended> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = settings::format(&settings, &["text", "json", "jsonl", "dot", "graphml"])?;
    let everything = SelectArgs { methods: Vec::new() };
    let select = if args.callers { &everything } else { &args.select };
    let run = Run::open(&settings, global, input, select)?;
    let to = if args.callers { patterns(&args.select.methods)? } else { Vec::new() };
    let Loaded { answers: whole, known } = whole::calls_only(&run, &args.world)?;
    let header = whole::header(&run, "calls", &args.world);
    let maker = |form| Calls { form, whole: &whole, to };
    let outcome = write(&run, &Pass::new(&run, &known), header, format, args.output.output.as_ref(), maker)?;
    Ok(Ended::with(outcome, whole))
}
