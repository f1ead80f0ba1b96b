//! `ajar missing`: which classes are not there.

use std::io::Write;

use export::missing::missing_json;

use crate::args::{Global, MissingArgs, SelectArgs, WorldArgs};
use crate::output::Output;
use crate::report::Outcome;
use crate::run::Run;
use crate::text::style::Style;
use crate::{settings, text, whole};

/// Runs the command.
pub(crate) fn run(args: &MissingArgs, global: &Global) -> anyhow::Result<Outcome> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = settings::format(&settings, &["text", "json"])?;
    let mut run = Run::open(&settings, global, input, &SelectArgs { methods: Vec::new() })?;
    let world = WorldArgs::default();
    let missing = whole::whole(&mut run, &world)?.missing();
    let header = whole::header(&run, "missing", &world);
    let mut out = Output::open(args.output.output.as_ref())?;
    let bytes = if format == "json" {
        missing_json(&header, &missing)
    } else {
        let style = Style { color: settings::colored(&settings, out.is_terminal()) };
        let mut bytes = text::header(&header, style);
        text::missing::list(&mut bytes, &missing, header.jdk.is_some(), style);
        bytes
    };
    out.write_all(&bytes)?;
    out.finish()?;
    Ok(Outcome::Fine)
}
