//! Classes that could not be parsed, and the reports about them.

use driver::parallel::Panicked;
use driver::problem::Problem;
use export::frame::FailedClass;
use ide::Fault;

use crate::report::Outcome;

/// The reason why a class could not be parsed.
pub(crate) enum Refusal {
    /// The bytes of the class cannot be read.
    Bytes(Problem),
    /// The bytes are not a valid class file.
    Class(Fault),
    /// The JVM does not look for the class at the path of its file; with the reason.
    Misplaced(String),
    /// The code that works on the class panicked.
    Panic(Panicked),
}

impl Refusal {
    /// Returns the report about the class at `place`.
    pub(crate) fn failed(self, place: String) -> FailedClass {
        let (place, reason, at) = match self {
            Refusal::Bytes(it) => (it.place, it.what, None),
            Refusal::Class(it) => (place, it.what, Some((it.offset, it.jvms))),
            Refusal::Misplaced(it) => (place, it, None),
            Refusal::Panic(it) => (place, format!("a bug of ajar: {}; please report it", it.message), None),
        };
        FailedClass { place, reason, offset: at.map(|it| it.0), jvms: at.map(|it| it.1) }
    }

    /// Returns the outcome of a run in which a class was refused for this reason.
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Refusal::Bytes(_) | Refusal::Class(_) | Refusal::Misplaced(_) => Outcome::Fine,
            Refusal::Panic(_) => Outcome::Bug,
        }
    }
}
