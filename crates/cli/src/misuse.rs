//! Errors in the arguments: adds to the errors of clap what the user may have meant.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, Error};
use driver::config::nearest_name;

use crate::args::Cli;

/// The maximum number of commands that a tip names.
const NAMED: usize = 3;

/// Returns the error about the arguments with a usage line and tips that fit the command.
pub(crate) fn explained(mut error: Error, arguments: &[OsString]) -> Error {
    let mut all = Cli::command();
    all.build();
    let mut command = chosen(&all, arguments).clone();
    match error.kind() {
        ErrorKind::UnknownArgument => unknown_flag(&mut error, &all, &command),
        ErrorKind::InvalidSubcommand => {
            if let Some(it) = no_command(&mut error, &mut command) {
                return it;
            }
        }
        _ => {}
    }
    // The usage line of clap leaves out flags, and shows those that were given as if they were required.
    if error.get(ContextKind::Usage).is_some() {
        error.insert(ContextKind::Usage, ContextValue::StyledStr(command.render_usage()));
    }
    error
}

/// Returns the command to which the arguments lead.
fn chosen<'a>(all: &'a Command, arguments: &[OsString]) -> &'a Command {
    let words = arguments.iter().skip(1).filter_map(|it| it.to_str()).take_while(|it| *it != "--");
    words.fold(all, |command, word| command.find_subcommand(word).unwrap_or(command))
}

/// Replaces the tips about an unknown flag: names a flag of the command that is meant, or the commands that have the flag.
fn unknown_flag(error: &mut Error, all: &Command, command: &Command) {
    let Some(ContextValue::String(written)) = error.get(ContextKind::InvalidArg).cloned() else { return };
    // No command takes a value that begins with a dash, so the tip to write `--` before it misleads.
    error.remove(ContextKind::Suggested);
    let Some(name) = written.strip_prefix("--") else { return };
    let is_part = |it: &&str| it.ends_with(&format!("-{name}")) || it.starts_with(&format!("{name}-"));
    if let Some(it) = flags(command).find(is_part) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{it}")));
        return;
    }
    let owners: Vec<&str> =
        all.get_subcommands().filter(|it| flags(it).any(|it| it == name)).map(Command::get_name).collect();
    if owners.is_empty() || owners.len() > NAMED {
        return;
    }
    error.remove(ContextKind::SuggestedArg);
    let owners: Vec<String> = owners.iter().map(|it| format!("`ajar {it}`")).collect();
    let tip = StyledStr::from(format!("'{written}' is a flag of {}", owners.join(" and ")));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
}

fn flags(command: &Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter_map(|it| it.get_long())
}

/// Returns the error of a path at the place of a command. For another word, adds to the error a command with a similar name.
fn no_command(error: &mut Error, command: &mut Command) -> Option<Error> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand).cloned() else {
        return None;
    };
    if std::path::Path::new(&word).exists() {
        let name = command.get_bin_name().unwrap_or("ajar").to_owned();
        let what = if name == "ajar" { "a command" } else { "an answer" };
        let text = format!("`{word}` is an input; choose {what}, for example `{name} throws {word}`");
        return Some(command.error(ErrorKind::InvalidSubcommand, text));
    }
    if error.get(ContextKind::SuggestedSubcommand).is_none()
        && let Some(it) = nearest_name(&word, command.get_subcommands().map(Command::get_name))
    {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![it.to_owned()]));
    }
    None
}
