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

/// Prints the classes and methods that could not be read, then the notes.
pub(crate) fn print(trailer: &Trailer, global: &Global) {
    if global.quiet {
        return;
    }
    let (classes, methods) = (&trailer.failed_classes, &trailer.failed_methods);
    for it in classes {
        let rule = it.jvms.zip(it.offset).map(|(jvms, at)| format!(" (at byte {at}, JVMS §{jvms})"));
        eprintln!("error: {}: {}{}", it.place, it.reason, rule.unwrap_or_default());
    }
    for it in methods {
        eprintln!("error: {}: {}: {}", it.place, ide::Human(it.method), it.fault);
    }
    let shown = if global.verbose { usize::MAX } else { NOTES };
    for (place, text) in trailer.notes.iter().take(shown) {
        eprintln!("note: {place}: {text}");
    }
    if let Some(more) = trailer.notes.len().checked_sub(shown).filter(|&it| it > 0) {
        eprintln!("note: {more} more notes; -v shows them");
    }
    if !classes.is_empty() || !methods.is_empty() {
        let (classes, methods) =
            (count(classes.len(), "class", "classes"), count(methods.len(), "method", "methods"));
        eprintln!("{classes} and the code of {methods} could not be read; the result does not contain them");
    }
}

/// Returns a number with the right form of its noun: `1 class`, `2 classes`.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
