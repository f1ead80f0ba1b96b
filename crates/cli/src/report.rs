//! The report of a run on stderr at its end: parts that could not be read, and notes.

use std::any::Any;

use export::frame::Trailer;

use crate::args::Global;

/// The outcome of a run that did not end with an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Outcome {
    /// The run succeeded, even if some inputs could not be read.
    #[default]
    Fine,
    /// With `--strict`: a part of the input was left out.
    Incomplete,
    /// Part of the work panicked, which is a bug of ajar.
    Bug,
}

/// The return value of a command: its outcome, and data that is kept until the process ends.
pub(crate) struct Ended {
    /// The outcome of the command.
    pub(crate) outcome: Outcome,
    /// Data that is never freed, because the process ends, and freeing a whole program takes a tenth of a second.
    pub(crate) rest: Option<Box<dyn Any>>,
}

impl Ended {
    /// Returns the value for a command that ended with `outcome`. `rest` is data of the command that is never freed.
    pub(crate) fn with(outcome: Outcome, rest: impl Any) -> Self {
        Ended { outcome, rest: Some(Box::new(rest)) }
    }
}

impl From<Outcome> for Ended {
    fn from(outcome: Outcome) -> Self {
        Ended { outcome, rest: None }
    }
}

/// The maximum number of notes that are printed without `-v`; further notes are only counted.
const NOTES: usize = 10;

/// Prints the report at the end of a run that ended with `outcome`. Returns the outcome of the run, which with
/// `--strict` also depends on the parts that were left out.
///
/// With `--quiet`, the report consists of the parts that were left out, and is printed only if the user must know them:
/// with `--strict`, or if `nothing` is true, that is, if no class of the inputs could be read and the result is empty.
pub(crate) fn end(trailer: &Trailer, nothing: bool, global: &Global, outcome: Outcome) -> Outcome {
    if global.quiet && (global.strict || nothing) {
        print_left_out(trailer);
    }
    print(trailer, global);
    if nothing {
        eprintln!("error: no class of the inputs could be read");
    }
    let n = trailer.failed_classes.len() + trailer.failed_methods.len() + trailer.warnings.len();
    strict(n, global, outcome)
}

/// Returns the outcome of a run that ended with `outcome` and left out `n` parts of the input. With `--strict`,
/// reports an error if any part was left out.
pub(crate) fn strict(n: usize, global: &Global, outcome: Outcome) -> Outcome {
    if !global.strict || n == 0 || outcome == Outcome::Bug {
        return outcome;
    }
    let parts = count(n, "part of the input is", "parts of the input are");
    eprintln!("error: {parts} left out of the result, which `--strict` does not allow");
    Outcome::Incomplete
}

/// Prints the classes and methods that could not be read, then warnings and notes.
pub(crate) fn print(trailer: &Trailer, global: &Global) {
    if global.quiet {
        return;
    }
    print_left_out(trailer);
    let (classes, methods) = (&trailer.failed_classes, &trailer.failed_methods);
    let shown = if global.verbose { usize::MAX } else { NOTES };
    for (place, text) in trailer.notes.iter().take(shown) {
        eprintln!("note: {place}: {text}");
    }
    if let Some(more) = trailer.notes.len().checked_sub(shown).filter(|&it| it > 0) {
        eprintln!("note: {more} more notes; -v shows them");
    }
    if !classes.is_empty() || !methods.is_empty() {
        let classes = Some(classes.len()).filter(|&it| it > 0).map(|it| count(it, "class", "classes"));
        let methods = Some(methods.len()).filter(|&it| it > 0);
        let methods = methods.map(|it| format!("the code of {}", count(it, "method", "methods")));
        let both: Vec<String> = classes.into_iter().chain(methods).collect();
        eprintln!("unreadable, and therefore not in the result: {}", both.join(" and "));
    }
}

/// Prints the parts of the input that were left out: the classes and methods that could not be read, and warnings.
fn print_left_out(trailer: &Trailer) {
    for it in &trailer.failed_classes {
        let rule = it.jvms.zip(it.offset).map(|(jvms, at)| format!(" (at byte {at}, JVMS §{jvms})"));
        eprintln!("error: {}: {}{}", it.place, it.reason, rule.unwrap_or_default());
    }
    for it in &trailer.failed_methods {
        eprintln!("error: {}: {}: {}", it.place, ide::Human(it.method), it.fault);
    }
    for (place, text) in &trailer.warnings {
        eprintln!("warning: {place}: {text}");
    }
}

/// Returns a number with the right form of its noun: `1 class`, `2 classes`.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
