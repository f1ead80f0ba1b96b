//! `ajar throws`: what methods may let out.

use std::sync::{Mutex, PoisonError};

use export::fragment::throws_fragment;
use ide::answer::ClassAnswer;
use ide::profile::{Answers as Whole, ProfileWork};

use crate::args::{Global, ThrowsArgs};
use crate::report::Outcome;
use crate::result::{Form, write};
use crate::run::{Maker, Run};
use crate::{settings, whole};

struct Answers<'a> {
    form: Form,
    whole: &'a Whole,
    /// What workers that are done with a class left.
    work: Mutex<Vec<ProfileWork>>,
}

impl Maker for Answers<'_> {
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
        self.work.lock().unwrap_or_else(PoisonError::into_inner).push(work);
        match self.form {
            Form::Text(style) => crate::text::throws::class(out, &answers, style),
            Form::Document(format) => throws_fragment(out, format, place, &answers),
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &ThrowsArgs, global: &Global) -> anyhow::Result<Outcome> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = settings::format(&settings, &["text", "json", "jsonl"])?;
    let mut run = Run::open(&settings, global, input, &args.select)?;
    let whole = whole::answers(&mut run, &args.world)?;
    let header = whole::header(&run, "throws", &args.world);
    write(&run, header, format, args.output.output.as_ref(), |form| Answers {
        form,
        whole: &whole,
        work: Mutex::default(),
    })
}
