//! `ajar compose`: combines graphs that were extracted separately into the graphs of one program.

use std::fs::File;
use std::io::BufReader;

use anyhow::{Context, anyhow, bail};
use camino::Utf8Path;
use compose::{ComposeError, Composer};
use export::form::Format;

use crate::args::{ComposeArgs, Global};
use crate::output::Output;
use crate::report::{Ended, Outcome};

/// The size of the read buffer in bytes.
const BUFFER: usize = 1 << 16;

/// Runs `ajar compose`.
pub(crate) fn run(args: &ComposeArgs, global: &Global) -> anyhow::Result<Ended> {
    let format = if args.output_format == "jsonl" { Format::JsonLines } else { Format::Json };
    let mut composer = Composer::new(env!("CARGO_PKG_VERSION"));
    for path in &args.documents {
        composer.add(path.as_str(), open(path)?).map_err(|it| said(path, it))?;
    }
    composer.solve();
    for (place, what) in composer.broken().iter().filter(|_| !global.quiet) {
        eprintln!("warning: {place}: {what}");
    }
    let mut out = Output::open(args.output.output.as_ref())?;
    composer.begin(&mut out, format)?;
    let mut first = true;
    for path in &args.documents {
        let copied = composer.copy(path.as_str(), open(path)?, &mut out, format, &mut first);
        copied.map_err(|it| said(path, it))?;
    }
    composer.end(&mut out, format)?;
    out.finish()?;
    Ok(Outcome::Fine.into())
}

fn open(path: &Utf8Path) -> anyhow::Result<BufReader<File>> {
    let file = File::open(path).with_context(|| format!("{path}: cannot be read"))?;
    let kind = file.metadata().with_context(|| format!("{path}: cannot be read"))?;
    if !kind.is_file() {
        bail!(
            "{path}: the document is not a plain file; ajar reads each document twice, so it cannot come from a pipe"
        );
    }
    Ok(BufReader::with_capacity(BUFFER, file))
}

/// Converts the error for people. An error of reading the document gets the document's path; the texts of the other
/// errors name their place already.
fn said(path: &Utf8Path, error: ComposeError) -> anyhow::Error {
    match error {
        ComposeError::Input(it) => anyhow!(it).context(format!("{path}: cannot be read")),
        ComposeError::Output(it) => anyhow!(it),
        it @ ComposeError::Refused(_) => anyhow!(it),
    }
}
