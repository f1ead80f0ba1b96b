//! `ajar entries`: where a program starts, and what is reached from there.

use std::io::Write;

use anyhow::bail;
use export::entries::{entries_json, ways_json};

use crate::args::{EntriesArgs, Global, SelectArgs, WorldArgs};
use crate::output::Output;
use crate::report::{self, Outcome};
use crate::run::Run;
use crate::text::style::Style;
use crate::{settings, text, whole};

/// Runs the command.
pub(crate) fn run(args: &EntriesArgs, global: &Global) -> anyhow::Result<Outcome> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let json = settings::format(&settings, &["text", "json"])? == "json";
    let select = SelectArgs { methods: args.methods.clone() };
    let mut run = Run::open(&settings, global, input, &select)?;
    let world = WorldArgs {
        world: Some(args.world),
        rta: !args.methods.is_empty(),
        entry: args.entry.clone(),
        ..WorldArgs::default()
    };
    let header = whole::header(&run, "entries", &world);
    let mut out = Output::open(args.output.output.as_ref())?;
    let trailer;
    let style = Style { color: settings::colored(&settings, out.is_terminal()) };
    let mut bytes = if json { Vec::new() } else { text::header(&header, style) };
    if args.methods.is_empty() {
        let entries = whole::entries(&mut run, &world)?;
        trailer = run.trailer();
        if entries.is_empty() && !args.entry.is_empty() {
            report::print(&trailer, global);
            bail!("--entry selects no method of the program or its libraries");
        }
        if json {
            bytes = entries_json(&header, &entries, &trailer);
        } else {
            text::entries::list(&mut bytes, &entries, args.why, style);
        }
    } else {
        let whole = whole::reached(&mut run, &world)?;
        trailer = run.trailer();
        let methods = run.selected()?;
        let ways: Vec<_> = methods.into_iter().map(|it| (it, whole.way_to(it))).collect();
        if json {
            bytes = ways_json(&header, &ways, &trailer);
        } else {
            text::entries::ways(&mut bytes, &ways, style);
        }
    }
    out.write_all(&bytes)?;
    out.finish()?;
    report::print(&trailer, global);
    Ok(run.outcome())
}
