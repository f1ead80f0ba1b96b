//! `ajar bir`: stackless forms.

use export::fragment::bir_fragment;
use ide::answer::ClassAnswer;

use crate::args::{BirArgs, Global};
use crate::report::Outcome;
use crate::result::{Form, write};
use crate::run::{Maker, Run};
use crate::settings;

struct Bodies {
    form: Form,
}

impl Maker for Bodies {
    const GRAPHS: bool = false;
    const FIGURES: bool = false;

    fn make(&self, place: &str, _number: usize, class: &ClassAnswer, out: &mut Vec<u8>) {
        match self.form {
            Form::Text(style) => crate::text::bir::class(out, class, style),
            Form::Document(format) => bir_fragment(out, format, place, class),
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &BirArgs, global: &Global) -> anyhow::Result<Outcome> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = settings::format(&settings, &["text", "json", "jsonl"])?;
    let run = Run::open(&settings, global, input, &args.select)?;
    write(&run, run.header("bir", &[]), format, args.output.output.as_ref(), |form| Bodies { form })
}
