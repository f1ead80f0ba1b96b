//! The chain of facts behind an answer, as text.

use std::fmt::Write;

use ide::explain::{ExplainedCall, ExplainedException, Explanation, Fact, Spot};
use ide::{Human, MethodId, Origin, Part, Step, Text};

use crate::text::style::{Ink, Style};
use crate::text::why::{dotted, raised, why};

/// Appends explanations, those of one method under its name.
pub(crate) fn explanations(out: &mut Vec<u8>, all: &[Explanation], style: Style) {
    let mut text = String::new();
    let mut before: Option<MethodId> = None;
    for it in all {
        let method = match it {
            Explanation::Exception(it) => it.spot.method,
            Explanation::Call(it) => it.spot.method,
            Explanation::Unreached(it) => *it,
        };
        if before != Some(method) {
            if before.is_some() {
                text.push('\n');
            }
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", style.text(Ink::Bold, &Human(method).to_string()));
            before = Some(method);
        }
        match it {
            Explanation::Exception(it) => exception(&mut text, it, style),
            Explanation::Call(it) => call(&mut text, it, style),
            Explanation::Unreached(_) => text.push_str("  not reached from the entry points\n"),
        }
    }
    text.push('\n');
    out.extend(text.as_bytes());
}

fn exception(text: &mut String, it: &ExplainedException, style: Style) {
    let (ink, what) = match &it.what {
        Some(part) => (Ink::Red, format!("! {}", part_text(part))),
        None => (Ink::Yellow, "? and what is not known".to_owned()),
    };
    let _ = writeln!(text, "  {}", style.text(ink, &what));
    for (i, it) in it.chain.iter().enumerate() {
        let _ = writeln!(text, "      {}", fact(it, i == 0));
    }
}

fn fact(it: &Fact, first: bool) -> String {
    let place = it.spot.as_ref().map(place).unwrap_or_default();
    match it.step {
        Step::Method(method) if first => format!("{}{place}", Human(method)),
        Step::Method(method) => format!("<- {}{place}", Human(method)),
        Step::Dispatch(method) => format!("<- by a call of {}", Human(method)),
        Step::Initializer(class) => format!("<- by the initialisation of {}", dotted(class)),
        Step::Loading(method) => format!("<- by a class loader that is asked: {}", Human(method)),
        Step::Glue(interface) => format!("<- by a function object of {}", dotted(interface)),
        Step::Rethrown(method) => format!("<- caught and thrown again in {}{place}", Human(method)),
        Step::Raised(Origin::Instruction) => "<- where it is raised".to_owned(),
        Step::Raised(origin) => format!("<- {}", raised(origin)),
        Step::Open(reason) => format!("<- {}", why(reason)),
    }
}

/// ` at pc 5, line 7`, as far as that is known.
fn place(it: &Spot) -> String {
    match (it.pc, it.line) {
        (Some(pc), Some(line)) => format!(" at pc {pc}, line {line}"),
        (Some(pc), None) => format!(" at pc {pc}"),
        (None, _) => String::new(),
    }
}

fn call(text: &mut String, it: &ExplainedCall, style: Style) {
    let pc = it.spot.pc.map_or(String::new(), |it| format!("pc {it}: "));
    let call = &it.call;
    let _ = writeln!(text, "  {pc}{}", crate::text::calls::what(call));
    for target in &it.targets {
        let arrow = if target.possible { "?> possibly" } else { "->" };
        let line = format!("{arrow} {}", Human(target.method));
        let _ = writeln!(text, "    {}", style.text(Ink::Blue, &line));
        for it in &target.receivers {
            let chain: Vec<String> = it.chain.iter().map(|it| dotted(*it)).collect();
            let _ = writeln!(text, "       selected by receivers of {}", chain.join(" below "));
        }
    }
    for error in &call.errors {
        let _ = writeln!(text, "    {}", style.text(Ink::Red, &format!("! {}", dotted(*error))));
    }
    if let Some(open) = call.open {
        let _ = writeln!(text, "    {}", style.text(Ink::Yellow, &format!("?  anywhere: {}", why(open))));
    }
}

fn part_text(it: &Part) -> String {
    format!("{}{}", dotted(Text(it.class.bytes())), if it.cone { "+" } else { "" })
}
