//! Sets of exceptions in text output. Long sets are shortened; machine-readable output has the whole sets.

use std::fmt::Write;

use ide::{Described, Part, Text};

use crate::text::why::dotted;

/// The maximum number of types listed for a set of exceptions.
pub(crate) const TYPES: usize = 8;

/// Returns a shortened set as text: `java.lang.Throwable+ but not java.lang.RuntimeException+`, or
/// `p.A, p.B and 5 more below java.lang.RuntimeException`.
pub(crate) fn described(it: &Described) -> String {
    let mut text = list(&it.parts);
    for (i, (top, n)) in it.more.iter().enumerate() {
        let word = if i == 0 { " and" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(text, "{word} {n} more below {}", dotted(*top));
    }
    if !it.except.is_empty() {
        let _ = write!(text, " but not {}", list(&it.except));
    }
    if it.n_except > 0 {
        let _ = write!(text, " and {} more", it.n_except);
    }
    text
}

/// Returns the bounds of a set of unknown exceptions as text. `within` describes the types that contain the set,
/// `except` lists the types whose exceptions cannot be in it.
pub(crate) fn open(within: &Described, except: &[Part]) -> String {
    let text = if within.parts.len() > TYPES { shortened(&within.parts, TYPES) } else { described(within) };
    match (text == "java.lang.Throwable+", except.is_empty()) {
        (true, true) => "anything".to_owned(),
        (true, false) => format!("anything but {}", shortened(except, TYPES)),
        (false, _) => text,
    }
}

/// Returns exception types, with a plus after those that include subclasses: `java.io.IOException+`.
fn list(parts: &[Part]) -> String {
    parts.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Returns an exception type, with a plus if it includes subclasses.
pub(crate) fn one(it: &Part) -> String {
    format!("{}{}", dotted(Text(it.class.bytes())), if it.cone { "+" } else { "" })
}

/// Returns the first `limit` exception types, and the number of the others.
pub(crate) fn shortened(parts: &[Part], limit: usize) -> String {
    let shown = list(&parts[..parts.len().min(limit)]);
    match parts.len().checked_sub(limit).filter(|&it| it > 0) {
        Some(more) => format!("{shown} and {more} more"),
        None => shown,
    }
}
