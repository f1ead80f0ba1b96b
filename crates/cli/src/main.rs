//! The binary `ajar`: its commands and flags, the text output for people, and the exit codes.
//!
//! Exit code 0 means success, 2 an error in arguments, configuration or I/O (with
//! `--strict` also a part of the input that was left out), and 101 a bug of ajar. Results go to
//! stdout, notes and progress to stderr.

mod against;
mod argfile;
mod args;
mod command;
mod known;
mod misuse;
mod output;
mod pass;
mod progress;
mod refused;
mod report;
mod result;
mod run;
mod settings;
mod text;
mod whole;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    let arguments = match argfile::expand(std::env::args_os().collect()) {
        Ok(it) => it,
        Err(error) => return usage_error(&error),
    };
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(it) => it,
        Err(error) => misuse::explained(error, &arguments).exit(),
    };
    let global = &cli.global;
    let done = match &cli.command {
        Command::Cfg(it) => command::cfg::run(it, global),
        Command::Calls(it) => command::calls::run(it, global),
        Command::Throws(it) => command::throws::run(it, global),
        Command::Explain(it) => command::explain::run(it, global),
        Command::Missing(it) => command::missing::run(it, global),
        Command::Watch(it) => command::watch::run(it, global),
        Command::Entries(it) => command::entries::run(it, global),
        Command::Compose(it) => command::compose::run(it, global),
        Command::Bir(it) => command::bir::run(it, global),
        Command::Stats(it) => command::stats::run(it, global),
        Command::Config(it) => command::config::run(it, global),
        Command::Completions(it) => command::completions::run(it),
    };
    match done {
        Ok(report::Ended { outcome, rest }) => {
            std::mem::forget(rest);
            match outcome {
                report::Outcome::Fine => ExitCode::SUCCESS,
                report::Outcome::Incomplete => ExitCode::from(2),
                report::Outcome::Bug => ExitCode::from(101),
            }
        }
        // The reader of stdout has closed the pipe, for example `head`.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => usage_error(&error),
    }
}

fn usage_error(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::from(2)
}
