//! What went wrong with some part of the input while the rest went on.

use std::fmt;

/// Something to tell the user about a place in the input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where: `outer.jar!/inner.jar!/p/C.class`.
    pub place: String,
    /// What is wrong, and what was assumed or left out because of it.
    pub what: String,
    /// How bad it is.
    pub severity: Severity,
}

/// How bad a problem is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Odd, but nothing is lost: we did what the JVM does.
    Note,
    /// Something could not be read and is left out.
    Error,
}

impl Problem {
    /// A note.
    pub fn note(place: impl Into<String>, what: impl Into<String>) -> Problem {
        Problem { place: place.into(), what: what.into(), severity: Severity::Note }
    }

    /// An error.
    pub fn error(place: impl Into<String>, what: impl Into<String>) -> Problem {
        Problem { place: place.into(), what: what.into(), severity: Severity::Error }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Error => "error",
        };
        write!(f, "{severity}: {}: {}", self.place, self.what)
    }
}
