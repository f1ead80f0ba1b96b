//! `ajar completions`: prints a completion script for a shell.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::output::Output;
use crate::report::{Ended, Outcome};

/// Runs `ajar completions`.
pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<Ended> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ajar", &mut script);
    let mut out = Output::open(None)?;
    std::io::Write::write_all(&mut out, &script)?;
    out.finish()?;
    Ok(Outcome::Fine.into())
}
