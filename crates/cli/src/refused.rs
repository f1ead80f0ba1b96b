//! Classes that could not be taken apart, and how that is said.

use driver::parallel::Panicked;
use driver::problem::Problem;
use export::frame::FailedClass;
use ide::Fault;

use crate::report::Outcome;

/// Why a class could not be taken apart.
pub(crate) enum Refusal {
    /// Its bytes are not to be had.
    Bytes(Problem),
    /// It is no class file.
    Class(Fault),
    /// The work on it panicked.
    Panic(Panicked),
}

impl Refusal {
    /// What is said of the class at `place`.
    pub(crate) fn failed(self, place: String) -> FailedClass {
        let (place, reason, at) = match self {
            Refusal::Bytes(it) => (it.place, it.what, None),
            Refusal::Class(it) => (place, it.what, Some((it.offset, it.jvms))),
            Refusal::Panic(it) => (place, format!("a bug of ajar: {}; please report it", it.message), None),
        };
        FailedClass { place, reason, offset: at.map(|it| it.0), jvms: at.map(|it| it.1) }
    }

    /// What it makes of the run.
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Refusal::Bytes(_) | Refusal::Class(_) => Outcome::Fine,
            Refusal::Panic(_) => Outcome::Bug,
        }
    }
}
