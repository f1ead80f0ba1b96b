//! Problems with a part of the input, which do not prevent reading the rest.

use std::fmt;

/// A message to the user about a problem at a place in the input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The place of the problem, such as `outer.jar!/inner.jar!/p/C.class`.
    pub place: String,
    /// What is wrong, and what was assumed or left out because of it.
    pub what: String,
    /// The severity of the problem.
    pub severity: Severity,
}

/// The severity of a problem.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The input is irregular, but is treated as by the JVM: no class that the JVM would find is left out because of
    /// this.
    Note,
    /// A part of the input does not exist and is left out, as by the JVM. Classes of it are missing.
    Warning,
    /// A part of the input could not be read. [`Problem::what`] describes the fault, and what was left out or assumed
    /// because of it.
    Error,
}

impl Problem {
    /// Creates a problem of severity [`Severity::Note`].
    pub fn note(place: impl Into<String>, what: impl Into<String>) -> Problem {
        Problem { place: place.into(), what: what.into(), severity: Severity::Note }
    }

    /// Creates a problem of severity [`Severity::Warning`].
    pub fn warning(place: impl Into<String>, what: impl Into<String>) -> Problem {
        Problem { place: place.into(), what: what.into(), severity: Severity::Warning }
    }

    /// Creates a problem of severity [`Severity::Error`].
    pub fn error(place: impl Into<String>, what: impl Into<String>) -> Problem {
        Problem { place: place.into(), what: what.into(), severity: Severity::Error }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}: {}: {}", self.place, self.what)
    }
}
