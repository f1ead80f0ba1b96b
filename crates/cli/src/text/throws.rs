//! The exceptions that may leave methods, as text.

use std::fmt::Write;

use ide::{Human, Part, Text, Throws};

use crate::text::style::{Ink, Style};
use crate::text::why;

/// Appends the exceptions that may leave the methods of a class.
pub(crate) fn class(out: &mut Vec<u8>, answers: &[Throws], style: Style) {
    let mut text = String::new();
    for it in answers {
        method(&mut text, it, style);
    }
    out.extend(text.as_bytes());
}

fn method(out: &mut String, it: &Throws, style: Style) {
    let _ = writeln!(out, "{}", style.text(Ink::Bold, &Human(it.method).to_string()));
    if !it.known.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {}", style.text(Ink::Red, &format!("! {}", parts(&it.known))));
    }
    if let Some(open) = &it.open {
        let what = open_set(&open.within, &open.except);
        let because = why::steps(&open.because).join(" <- ");
        let _ = writeln!(out, "  {}", style.text(Ink::Yellow, &format!("? {what}: {because}")));
    }
    if it.known.is_empty() && it.open.is_none() {
        let _ = writeln!(out, "  {}", style.text(Ink::Dim, "nothing"));
    }
    out.push('\n');
}

/// Returns a set of unknown exceptions as text: all exceptions of the types in `within`, except those of the types in
/// `except`.
pub(crate) fn open_set(within: &[Part], except: &[Part]) -> String {
    let within = parts(within);
    match (within == "java.lang.Throwable+", except.is_empty()) {
        (true, true) => "anything".to_owned(),
        (true, false) => format!("anything but {}", parts(except)),
        (false, _) => within,
    }
}

/// Returns exception types, with a plus after those that include subclasses: `java.io.IOException+`.
pub(crate) fn parts(parts: &[Part]) -> String {
    let one = |it: &Part| {
        let name = why::dotted(Text(it.class.bytes()));
        format!("{name}{}", if it.cone { "+" } else { "" })
    };
    parts.iter().map(one).collect::<Vec<_>>().join(", ")
}
