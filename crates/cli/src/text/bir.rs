//! Stackless code as text that the parser of BIR can read; additional information is in comments.

use ide::answer::{ClassAnswer, MethodAnswer};
use ide::{Human, InstrId, print};
use rustc_hash::FxHashSet;

use crate::text::names::Names;
use crate::text::style::{Ink, Style};

/// Appends the stackless code of the methods of a class.
pub(crate) fn class(out: &mut Vec<u8>, class: &ClassAnswer, style: Style) {
    let mut seen = FxHashSet::default();
    let all = class.methods.iter().map(|it| it.method);
    let twins: FxHashSet<String> =
        all.map(|it| Human(it).to_string()).filter(|it| !seen.insert(it.clone())).collect();
    let names = Names(&|it| twins.contains(&Human(it).to_string()));
    for it in &class.methods {
        method(out, class, it, (names, style));
    }
}

fn method(out: &mut Vec<u8>, class: &ClassAnswer, it: &MethodAnswer, (names, style): (Names<'_>, Style)) {
    let heading = format!("// {}", names.of(it.method));
    out.extend(style.text(Ink::Bold, &heading).as_bytes());
    if let Some(place) = source_range(class, it) {
        out.extend(style.text(Ink::Dim, &format!("  {place}")).as_bytes());
    }
    out.push(b'\n');
    let mut text = String::new();
    let mut pc_before = None;
    let mut line_before = None;
    let mut comment = |id: InstrId, note: &mut String| {
        let (pc, line) = (it.positions.pc(id), it.positions.line(id));
        if let Some(pc) = pc.filter(|_| pc != pc_before) {
            note.push_str(&format!("pc {pc}"));
        }
        if let Some(line) = line.filter(|_| line != line_before) {
            let comma = if note.is_empty() { "" } else { ", " };
            note.push_str(&format!("{comma}line {line}"));
        }
        if let Some(proof) = it.code.facts.proof(id) {
            let comma = if note.is_empty() { "" } else { ", " };
            note.push_str(&format!("{comma}proved: {}", proof_text(proof)));
        }
        (pc_before, line_before) = (pc, line);
    };
    // Writing to a string cannot fail.
    let _ = print::write(&mut text, &it.code.body, Some(&mut comment));
    out.extend(text.as_bytes());
    out.push(b'\n');
}

/// Returns the reason why an assertion always holds.
pub(crate) fn proof_text(proof: ide::Proof) -> String {
    use ide::{Proof, ordinal};
    match proof {
        Proof::This => "the value is the receiver".to_owned(),
        Proof::Allocated(it) => format!("created at {}", ordinal(it)),
        Proof::Tested(it) => format!("tested at {}", ordinal(it)),
        Proof::Constant => "the value is a constant".to_owned(),
        Proof::Caught(it) => format!("caught at {}", ordinal(it)),
        Proof::Length => "the value is the length of an array".to_owned(),
        Proof::Type => "every value of the expression has the required type".to_owned(),
        Proof::EveryPath => "each path to this point has a proof of its own".to_owned(),
    }
}

/// Returns the source file and lines of a method: `Order.java:10-16`.
pub(crate) fn source_range(class: &ClassAnswer, it: &MethodAnswer) -> Option<String> {
    let source = class.source_file?;
    let lines = it.code.body.instrs.iter().filter_map(|(id, _)| it.positions.line(id));
    let range = lines.fold(None, |acc: Option<(u16, u16)>, line| match acc {
        None => Some((line, line)),
        Some((low, high)) => Some((low.min(line), high.max(line))),
    });
    Some(match range {
        Some((low, high)) if low == high => format!("{source}:{low}"),
        Some((low, high)) => format!("{source}:{low}-{high}"),
        None => source.to_string(),
    })
}
