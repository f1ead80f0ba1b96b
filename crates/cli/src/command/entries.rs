//! `ajar entries`: shows entry points, and whether methods are reached from them.

use std::io::Write;
use std::sync::Arc;

use anyhow::bail;
use export::entries::{entries_json, ways_json};
use export::frame::Trailer;

use ide::profile::ProfileAnswers;

use crate::args::{EntriesArgs, Global, SelectArgs, WorldArgs};
use crate::output::Output;
use crate::pass::Pass;
use crate::report::{self, Ended};
use crate::run::Run;
use crate::text::names::Names;
use crate::text::style::Style;
use crate::whole::{self, Loaded};
use crate::{settings, text};

/// Runs `ajar entries`.
pub(crate) fn run(args: &EntriesArgs, global: &Global) -> anyhow::Result<Ended> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let json = settings::format(&settings, &["text", "json"])? == "json";
    let select = SelectArgs { methods: args.methods.clone() };
    let run = Run::open(&settings, global, input, &select)?;
    let world = WorldArgs {
        world: Some(args.world),
        rta: args.rta,
        entry: args.entry.clone(),
        ..WorldArgs::default()
    };
    let mut header = whole::header(&run, "entries", &world.without_search());
    header.assumptions.extend((!args.methods.is_empty()).then(|| whole::REACHED.to_owned()));
    let mut out = Output::open(args.output.output.as_ref())?;
    let (trailer, mut done): (Trailer, Ended);
    let style = Style { color: settings::colored(&settings, out.is_terminal()) };
    let mut bytes = if json { Vec::new() } else { text::header(&header, "", style) };
    if args.methods.is_empty() {
        let Loaded { answers: entries, known } = whole::entries(&run, &world)?;
        trailer = known.trailer(&run);
        done = Ended::from(known.outcome);
        if entries.is_empty() && !args.entry.is_empty() {
            report::print(&trailer, global);
            let written = |it: &str| args.entry.iter().any(|entry| entry == it);
            bail!(match (written("app"), written("library")) {
                (true, false) => {
                    "a launcher runs no method of the program; use `--entry library` or a method pattern"
                }
                (_, true) =>
                    "unseen code can call no method of the program; use a method pattern for `--entry`",
                (false, false) => "`--entry` selects no method of the program or its libraries",
            });
        }
        if json {
            bytes = entries_json(&header, &entries, &trailer);
        } else {
            text::entries::list(&mut bytes, &entries, (args.why, args.entry.is_empty()), style);
        }
    } else {
        let Loaded { answers: whole, known } = whole::reached(&run, &world)?;
        trailer = known.trailer(&run);
        let answers = ProfileAnswers::Jvm(Arc::clone(&whole));
        let selected = Pass::new(&run, &known).selected(|selects| answers.library_methods(selects))?;
        let ways: Vec<_> = selected.methods.iter().map(|&it| (it, whole.way_to(it))).collect();
        if json {
            bytes = ways_json(&header, &ways, &trailer);
        } else {
            let names = Names(&|it| answers.has_twin(it));
            text::entries::ways(&mut bytes, &ways, &|it| selected.about(it), args.world, (names, style));
        }
        done = Ended::with(known.outcome, whole);
    }
    out.write_all(&bytes)?;
    out.finish()?;
    done.outcome = run.end(&trailer, done.outcome);
    Ok(done)
}
