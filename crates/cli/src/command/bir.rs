//! `ajar bir`: shows methods as stackless code.

use export::fragment::bir_fragment;
use ide::answer::ClassAnswer;

use crate::args::{BirArgs, Global};
use crate::known::Known;
use crate::pass::{Maker, Pass};
use crate::report::Ended;
use crate::result::{Form, write};
use crate::run::Run;
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

/// Runs `ajar bir`.
pub(crate) fn run(args: &BirArgs, global: &Global) -> anyhow::Result<Ended> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = settings::format(&settings, &["text", "json", "jsonl"])?;
    let run = Run::open(&settings, global, input, &args.select)?;
    let (known, header) = (Known::default(), run.header("bir", &[]));
    let pass = Pass::new(&run, &known);
    let outcome = write(&run, &pass, header, format, args.output.output.as_ref(), |form| Bodies { form })?;
    Ok(outcome.into())
}
