//! Which classes are not there, as text.

use std::fmt::Write;

use ide::{Human, Missing};

use crate::report::count;
use crate::text::style::{Ink, Style};
use crate::text::why::dotted;

/// A list names at most this many; the machine form has all.
const NAMED: usize = 4;

/// Appends the list, those first that cost most.
pub(crate) fn list(out: &mut Vec<u8>, missing: &[Missing], jdk: bool, style: Style) {
    let mut text = String::new();
    if missing.is_empty() {
        text.push_str("every class that the program names is there\n");
    }
    let mut order: Vec<&Missing> = missing.iter().collect();
    order.sort_by_key(|it| {
        (std::cmp::Reverse(it.widened.len()), std::cmp::Reverse(it.used_by.len()), it.class)
    });
    for it in order {
        one(&mut text, it, jdk, style);
    }
    out.extend(text.as_bytes());
}

fn one(out: &mut String, it: &Missing, jdk: bool, style: Style) {
    let name = dotted(it.class);
    out.push_str(&style.text(Ink::Bold, &name));
    if let Some(hint) = hint(&name, jdk) {
        out.push_str(&style.text(Ink::Dim, &format!("  ({hint})")));
    }
    out.push('\n');
    let mut line = |ink: Ink, text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {}", style.text(ink, &text));
    };
    if !it.supertype_of.is_empty() {
        let names: Vec<String> = it.supertype_of.iter().map(|it| dotted(*it)).collect();
        line(Ink::Yellow, format!("a supertype of {}", some(&names)));
    }
    if !it.widened.is_empty() {
        let names: Vec<String> = it.widened.iter().map(|it| Human(*it).to_string()).collect();
        let what = count(it.widened.len(), "method has calls", "methods have calls");
        line(Ink::Yellow, format!("{what} that may go anywhere: {}", some(&names)));
    }
    let names: Vec<String> = it.called.iter().map(|it| Human(*it).to_string()).collect();
    if !names.is_empty() {
        line(Ink::Dim, format!("called: {}", some(&names)));
    }
    let names: Vec<String> = it.used_by.iter().map(|it| Human(*it).to_string()).collect();
    if !names.is_empty() && it.widened.is_empty() {
        line(Ink::Dim, format!("named by {}", some(&names)));
    }
}

/// Where the class may be.
fn hint(name: &str, jdk: bool) -> Option<&'static str> {
    let platform = ["java.", "jdk.", "sun.", "com.sun."].iter().any(|it| name.starts_with(it));
    match (platform, jdk) {
        (true, false) => Some("of the JDK: --jdk HOME adds it"),
        (true, true) => Some("this JDK has no such class"),
        (false, _) => None,
    }
}

fn some(names: &[String]) -> String {
    let mut text = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > NAMED {
        let _ = write!(text, " and {} more", names.len() - NAMED);
    }
    text
}
