//! `ajar calls`: shows the methods that each call may run.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::Utf8PathBuf;
use export::form::Format;
use export::fragment::calls_fragment;
use export::frame::Header;
use ide::answer::ClassAnswer;
use ide::pattern::MethodPattern;
use ide::profile::ProfileAnswers;
use ide::{Call, MethodName};

use crate::against::{Comparison, Edge, Saved};
use crate::args::{CallsArgs, Global, SelectArgs};
use crate::output::Output;
use crate::pass::{Maker, Pass};
use crate::report::{Ended, Outcome};
use crate::result::{Form, write};
use crate::run::{Run, patterns};
use crate::text::calls::Listing;
use crate::text::names::Names;
use crate::text::style::{Ink, Style};
use crate::text::summary::{self, Tally};
use crate::text::why::why;
use crate::whole::{self, Loaded};
use crate::{settings, text};

struct Calls<'a> {
    form: Form,
    whole: &'a ProfileAnswers,
    /// Patterns for targets: only calls with such a target are shown. Without patterns, all calls are shown.
    to: Vec<MethodPattern>,
    tally: Tally,
    callers: Callers,
}

/// The counts for an answer about the callers of methods, added up by any number of threads.
#[derive(Default)]
struct Callers {
    /// The number of calls that are shown.
    shown: AtomicUsize,
    /// The number of calls, shown or not, that may run code that was not read.
    open: AtomicUsize,
}

impl Calls<'_> {
    fn count(&self, calls: &[Call]) {
        let has_known = calls.iter().any(|it| !it.targets.is_empty() || !it.possible.is_empty());
        let names = Names(&|it| self.whole.has_twin(it));
        self.tally.add(has_known, calls.iter().filter_map(|it| it.open).map(|it| why(it, names)));
    }

    fn wanted(&self, call: &Call) -> bool {
        let named = call.targets.iter().chain(&call.possible);
        self.to.is_empty() || named.into_iter().any(|it| self.to.iter().any(|pattern| pattern.selects(it)))
    }
}

impl Callers {
    /// Returns the lines at the end of the answer.
    fn text(&self, style: Style) -> Vec<u8> {
        let (shown, open) = (self.shown.load(Ordering::Relaxed), self.open.load(Ordering::Relaxed));
        let found = match shown {
            0 => "no call of the program is known to run the selected methods".to_owned(),
            1 => "1 call of the program may run the selected methods".to_owned(),
            n => format!("{n} calls of the program may run the selected methods"),
        };
        let open = match open {
            0 => String::new(),
            1 => "; 1 call may also run code that was not read, and that code may run them".to_owned(),
            n => format!("; {n} calls may also run code that was not read, and that code may run them"),
        };
        let text = format!(
            "// {found}{open}\n// calls in libraries and in the JDK were not searched: name a library as an input to search it\n"
        );
        style.text(Ink::Dim, &text).into_bytes()
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
            self.callers
                .open
                .fetch_add(it.2.iter().filter(|it| it.open.is_some()).count(), Ordering::Relaxed);
            it.2.retain(|it| self.wanted(it));
            self.callers.shown.fetch_add(it.2.len(), Ordering::Relaxed);
        }
        match self.form {
            Form::Text(style) => {
                // With patterns for targets, the methods that are shown are not all methods.
                if self.to.is_empty() {
                    for (method, _, calls) in &calls {
                        match calls.is_empty() && class.is_abstract(*method) {
                            true => self.tally.add_abstract(),
                            false => self.count(calls),
                        }
                    }
                }
                let names = Names(&|it| self.whole.has_twin(it));
                let is_wanted = |it: MethodName| self.to.iter().any(|pattern| pattern.selects(&it));
                let is_of_program = |it: MethodName| self.whole.is_of_program(it.class);
                let listing = match self.to.is_empty() {
                    true => Listing { first: &is_of_program, only_first: false },
                    false => Listing { first: &is_wanted, only_first: true },
                };
                crate::text::calls::class(out, class, &calls, (names, style), listing);
            }
            Form::Document(format) => calls_fragment(out, format, place, &calls),
        }
    }

    fn summary(&self) -> Vec<u8> {
        match self.form {
            Form::Text(style) if self.to.is_empty() => self.tally.text(summary::CALLS, style),
            Form::Text(style) => self.callers.text(style),
            Form::Document(_) => Vec::new(),
        }
    }
}

/// Runs `ajar calls`.
pub(crate) fn run(args: &CallsArgs, global: &Global) -> anyhow::Result<Ended> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = settings::format(&settings, &["text", "json", "jsonl", "dot", "graphml", "edges"])?;
    let everything = SelectArgs { methods: Vec::new() };
    let select = if args.callers { &everything } else { &args.select };
    let run = Run::open(&settings, global, input, select)?;
    let to = if args.callers { patterns(&args.select.methods)? } else { Vec::new() };
    let Loaded { answers: whole, known } = whole::calls_only(&run, &args.world)?;
    let header = whole::header(&run, "calls", &args.world);
    let pass = Pass::new(&run, &known);
    if let Some(path) = &args.against {
        let selected = patterns(&args.select.methods)?;
        let selects =
            |it: &MethodName| selected.is_empty() || selected.iter().any(|pattern| pattern.selects(it));
        let is_wanted = |it: &Edge| it.is_about(args.callers, &selects);
        let comparison = Comparison::new(Saved::read(path)?, &is_wanted);
        let form = Form::Document(Format::Edges);
        let maker = Calls { form, whole: &whole, to, tally: Tally::default(), callers: Callers::default() };
        let outcome = against(comparison, &maker, (&run, &pass), &header, args.output.output.as_ref())?;
        return Ok(Ended::with(outcome, whole));
    }
    let (tally, callers) = Default::default();
    let maker = |form| Calls { form, whole: &whole, to, tally, callers };
    let outcome = write(&run, &pass, header, format, args.output.output.as_ref(), maker)?;
    Ok(Ended::with(outcome, whole))
}

/// Writes the edges that are in the answer which `maker` makes and not in the saved one, and the reverse.
fn against(
    mut comparison: Comparison<'_>,
    maker: &Calls<'_>,
    (run, pass): (&Run<'_>, &Pass<'_>),
    header: &Header,
    path: Option<&Utf8PathBuf>,
) -> anyhow::Result<Outcome> {
    let mut out = Output::open(path)?;
    let style = Style { color: settings::colored(run.settings, out.is_terminal()) };
    let mut failed = Ok(());
    let mut summary = pass.classes(maker, out.is_terminal(), |lines| {
        if failed.is_ok() {
            failed = comparison.take(lines);
        }
        Ok(())
    })?;
    failed?;
    let others = comparison.other_settings(header);
    summary.trailer.notes.extend(others.into_iter().map(|it| ("--against".to_owned(), it)));
    out.write_all(&text::header(header, text::legend::AGAINST, style))?;
    out.write_all(&comparison.text(style))?;
    out.finish()?;
    Ok(run.end(&summary.trailer, summary.outcome))
}
