//! `ajar throws`: shows the exceptions that may leave each method.

use std::sync::{Mutex, PoisonError};

use anyhow::bail;
use export::fragment::throws_fragment;
use export::frame::Header;
use ide::answer::ClassAnswer;
use ide::profile::{ProfileAnswers, ProfileWork};

use crate::args::{Global, ThrowsArgs};
use crate::pass::{Maker, Pass};
use crate::report::Ended;
use crate::result::{Form, write};
use crate::run::Run;
use crate::settings;
use crate::text::names::Names;
use crate::text::sets::TYPES;
use crate::text::summary::{self, Tally, Words};
use crate::text::throws::{is_nothing, reason};
use crate::whole::{self, Loaded};

struct Throws<'a> {
    form: Form,
    whole: &'a ProfileAnswers,
    /// Buffers that workers take for each class and then return, so that the buffers are reused.
    work: Mutex<Vec<ProfileWork>>,
    tally: Tally,
    /// The words of the summary.
    words: Words,
}

impl Maker for Throws<'_> {
    const GRAPHS: bool = false;
    const FIGURES: bool = false;

    fn make(&self, place: &str, _number: usize, class: &ClassAnswer, out: &mut Vec<u8>) {
        let with_code = class.methods.iter().map(|it| it.method);
        let failed = class.failed.iter().map(|it| it.method);
        let without = class.without_code.iter().map(|it| it.0);
        let methods = with_code.chain(failed).chain(without);
        let left = self.work.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut work = left.unwrap_or_else(|| self.whole.work());
        let answers: Vec<_> = methods.filter_map(|it| self.whole.throws(&mut work, it)).collect();
        match self.form {
            Form::Text(style) => {
                let names = Names(&|it| self.whole.has_twin(it));
                for it in &answers {
                    match is_nothing(it) && class.is_abstract(it.method) {
                        true => self.tally.add_abstract(),
                        false => {
                            let has_known = !it.known.is_empty() || !it.anchors.is_empty();
                            self.tally.add(has_known, reason(it, names));
                        }
                    }
                }
                let describe = &mut |it: &ide::Throws| self.whole.described_throws(&mut work, it, TYPES);
                crate::text::throws::class(out, class, &answers, describe, (names, style));
            }
            Form::Document(format) => throws_fragment(out, format, place, &answers),
        }
        self.work.lock().unwrap_or_else(PoisonError::into_inner).push(work);
    }

    fn summary(&self) -> Vec<u8> {
        match self.form {
            Form::Text(style) => self.tally.text(self.words, style),
            Form::Document(_) => Vec::new(),
        }
    }
}

/// Runs `ajar throws`.
pub(crate) fn run(args: &ThrowsArgs, global: &Global) -> anyhow::Result<Ended> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = settings::format(&settings, &["text", "json", "jsonl"])?;
    let run = Run::open(&settings, global, input, &args.select)?;
    let Loaded { answers: mut whole, known } = whole::answers(&run, &args.world)?;
    if args.apart && !whole.set_apart() {
        bail!("profile `paper` does not support `--apart`");
    }
    let header = Header { apart: args.apart, ..whole::header(&run, "throws", &args.world) };
    let words = if args.apart { summary::THROWS_APART } else { summary::THROWS };
    let maker = |form| Throws { form, whole: &whole, work: Mutex::default(), tally: Tally::default(), words };
    let outcome = write(&run, &Pass::new(&run, &known), header, format, args.output.output.as_ref(), maker)?;
    Ok(Ended::with(outcome, whole))
}
