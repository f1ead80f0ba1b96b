//! Call targets as text.

use std::fmt::Write;

use ide::answer::{ClassAnswer, MethodAnswer};
use ide::{Call, CallWord, MethodName};

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
) {
    let mut text = String::new();
    for (method, answer, calls) in calls.iter().filter(|it| !it.2.is_empty()) {
        text.push_str(&style.text(Ink::Bold, &names.of(*method)));
        if let Some(place) = answer.and_then(|it| crate::text::bir::source_range(class, it)) {
            text.push_str(&style.text(Ink::Dim, &format!("  {place}")));
        }
        text.push('\n');
        for it in calls {
            call(&mut text, *answer, it, (names, style));
        }
        text.push('\n');
    }
    out.extend(text.as_bytes());
}

fn call(out: &mut String, answer: Option<&MethodAnswer>, it: &Call, (names, style): (Names<'_>, Style)) {
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
        let text = format!("     receivers may be function objects that implement {}", names.join(", "));
        let _ = writeln!(out, "{}", style.text(Ink::Dim, &text));
    }
    targets(out, "->", Ink::Blue, &it.targets, (names, style));
    targets(out, "?> possibly", Ink::Yellow, &it.possible, (names, style));
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
) {
    for it in targets.iter().take(TARGETS) {
        let _ = writeln!(out, "     {}", style.text(ink, &format!("{arrow} {}", names.of(*it))));
    }
    if let Some(more) = targets.len().checked_sub(TARGETS).filter(|&it| it > 0) {
        let _ = writeln!(out, "     {}", style.text(ink, &format!("{arrow} and {more} more")));
    }
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
