//! The error for text that is not valid BIR.

use std::fmt;

/// A position in the text, and what was expected there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line number, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// The description of what was expected at the position.
    pub expected: String,
    /// The text from the position to the end of the line, truncated.
    pub found: String,
}

impl ParseError {
    /// Returns the error at this byte offset of the text.
    pub(crate) fn new(text: &str, at: usize, expected: impl Into<String>) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |it| it + 1);
        let rest = text.get(at..).unwrap_or_default().lines().next().unwrap_or_default();
        ParseError {
            line: before.matches('\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
            expected: expected.into(),
            found: rest.chars().take(20).collect(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError { line, column, expected, found } = self;
        write!(f, "{line}:{column}: expected {expected}, found ")?;
        if found.is_empty() { write!(f, "the end of the line") } else { write!(f, "{found:?}") }
    }
}

impl std::error::Error for ParseError {}
