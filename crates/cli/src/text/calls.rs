//! Call targets as text.

use std::fmt::Write;

use ide::answer::{ClassAnswer, MethodAnswer};
use ide::{Call, CallWord, MethodName};

use crate::report::count;
use crate::text::names::Names;
use crate::text::style::{Ink, Style};
use crate::text::why;

/// The maximum number of targets listed for a call; machine-readable formats contain all targets.
const TARGETS: usize = 12;

/// Appends the calls of a class's methods, with their targets.
pub(crate) fn class(
    out: &mut Vec<u8>,
    class: &ClassAnswer,
    calls: &[(MethodName, Option<&MethodAnswer>, Vec<Call>)],
    (names, style): (Names<'_>, Style),
    listing: Listing<'_>,
) {
    let mut text = String::new();
    for (method, answer, calls) in calls.iter().filter(|it| !it.2.is_empty()) {
        text.push_str(&style.text(Ink::Bold, &names.of(*method)));
        if let Some(place) = answer.and_then(|it| crate::text::bir::source_range(class, it)) {
            text.push_str(&style.text(Ink::Dim, &format!("  {place}")));
        }
        text.push('\n');
        for it in calls {
            call(&mut text, *answer, it, (names, style), listing);
        }
        text.push('\n');
    }
    out.extend(text.as_bytes());
}

fn call(
    out: &mut String,
    answer: Option<&MethodAnswer>,
    it: &Call,
    (names, style): (Names<'_>, Style),
    listing: Listing<'_>,
) {
    let pc = answer.zip(it.instr).and_then(|(answer, instr)| answer.positions.pc(instr));
    let line = answer.zip(it.instr).and_then(|(answer, instr)| answer.positions.line(instr));
    let mut place = String::new();
    // Writing to a string cannot fail.
    let _ = match (pc, line) {
        (Some(pc), Some(line)) => write!(place, "pc {pc}, line {line}: "),
        (Some(pc), None) => write!(place, "pc {pc}: "),
        _ => Ok(()),
    };
    let _ = writeln!(out, "  {}{}", style.text(Ink::Dim, &place), what(it, names));
    if !it.glue.is_empty() {
        let names: Vec<String> = it.glue.iter().map(|it| why::dotted(*it)).collect();
        let text = format!("     may go through function objects that implement {}", names.join(", "));
        let _ = writeln!(out, "{}", style.text(Ink::Dim, &text));
    }
    targets(out, "->", Ink::Blue, &it.targets, (names, style), listing);
    targets(out, "?>", Ink::Yellow, &it.possible, (names, style), listing);
    for error in &it.errors {
        let _ = writeln!(out, "     {}", style.text(Ink::Red, &format!("! {}", why::dotted(*error))));
    }
    if let Some(open) = it.open {
        let text = format!("?  anywhere: {}", why::why(open, names));
        let _ = writeln!(out, "     {}", style.text(Ink::Yellow, &text));
    }
}

fn targets(
    out: &mut String,
    arrow: &str,
    ink: Ink,
    targets: &[MethodName],
    (names, style): (Names<'_>, Style),
    listing: Listing<'_>,
) {
    let (mut shown, others): (Vec<MethodName>, Vec<MethodName>) =
        targets.iter().partition(|it| (listing.first)(**it));
    if !listing.only_first {
        shown.extend(others);
    }
    shown.truncate(TARGETS);
    for it in &shown {
        let _ = writeln!(out, "     {}", style.text(ink, &format!("{arrow} {}", names.of(*it))));
    }
    let others = targets.len() - shown.len();
    if others > 0 {
        let text = format!("{arrow} and {}", count(others, "other method", "other methods"));
        let _ = writeln!(out, "     {}", style.text(ink, &text));
    }
}

/// Which targets of a call are listed, and in which order.
#[derive(Clone, Copy)]
pub(crate) struct Listing<'a> {
    /// Returns whether a target comes before others.
    pub(crate) first: &'a dyn Fn(MethodName) -> bool,
    /// Whether the other targets are only counted.
    pub(crate) only_first: bool,
}

/// Returns the kind of a call, and the method that the instruction names.
pub(crate) fn what(it: &Call, names: Names<'_>) -> String {
    let word = match it.kind {
        CallWord::Clinit => "runs initialisers",
        CallWord::Native => "from native code",
        CallWord::Thread => "another thread runs",
        CallWord::Callback => "calls back",
        CallWord::Privileged => "with privileges runs",
        CallWord::Reflect => "runs code by reflection",
        CallWord::Load if it.declared.is_none() => "runs class loaders to find a class",
        CallWord::Load => "runs class loaders:",
        CallWord::Serialization => "by serialization runs",
        CallWord::Unseen => "in unseen code",
        CallWord::Finalizer => "later runs the finalizer",
        it => it.name(),
    };
    match it.declared {
        Some(declared) if matches!(it.kind, CallWord::Reflect) => {
            format!("{word}, in a call of {}", names.of(declared))
        }
        Some(declared) => format!("{word} {}", names.of(declared)),
        None => word.to_owned(),
    }
}
