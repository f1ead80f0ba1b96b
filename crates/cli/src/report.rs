//! What a run says besides its result: on stderr, at the end.

use std::any::Any;

use export::frame::Trailer;

use crate::args::Global;

/// How a run ended, when it ended by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Outcome {
    /// All is well, or was said.
    #[default]
    Fine,
    /// Part of the work panicked.
    Bug,
}

/// What a command leaves when it is done: how it ended, and what lives as long as the process.
pub(crate) struct Ended {
    /// How the command ended.
    pub(crate) outcome: Outcome,
    /// Data that is not freed: the process ends, and freeing a whole program takes a tenth of a second.
    pub(crate) rest: Option<Box<dyn Any>>,
}

impl Ended {
    /// A command that ended so, and whose data is not to be freed.
    pub(crate) fn with(outcome: Outcome, rest: impl Any) -> Self {
        Ended { outcome, rest: Some(Box::new(rest)) }
    }
}

impl From<Outcome> for Ended {
    fn from(outcome: Outcome) -> Self {
        Ended { outcome, rest: None }
    }
}

/// More notes than this are counted only, unless `-v` asks for all.
const NOTES: usize = 10;

/// Lists what was left out, then what is odd.
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
        eprintln!(
            "{} could not be read and {} left out: {} as a whole, {} without code",
            count(classes.len() + methods.len(), "part", "parts"),
            if classes.len() + methods.len() == 1 { "is" } else { "are" },
            count(classes.len(), "class", "classes"),
            count(methods.len(), "method", "methods"),
        );
    }
}

/// `1 class`, `2 classes`.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
