//! Explanations of answers, as chains of facts, as text.

use std::fmt::Write;

use ide::explain::{ExplainedCall, ExplainedException, Explanation, Fact, Spot};
use ide::{Human, MethodName, Origin, Part, Step, Text};

use crate::text::style::{Ink, Style};
use crate::text::why::{dotted, raised, why};

/// A line of an explanation.
pub(crate) struct Line {
    /// The indentation in characters.
    pub(crate) indent: usize,
    /// The role of the text, which determines its colour; `None` for plain text.
    pub(crate) ink: Option<Ink>,
    /// The text without indentation.
    pub(crate) text: String,
}

/// Appends explanations, grouped under the name of their method.
pub(crate) fn explanations(out: &mut Vec<u8>, all: &[Explanation], style: Style) {
    let mut text = String::new();
    let mut before: Option<MethodName> = None;
    for it in all {
        let method = it.method();
        if before != Some(method) {
            if before.is_some() {
                text.push('\n');
            }
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", style.text(Ink::Bold, &Human(method).to_string()));
            before = Some(method);
        }
        for line in lines(it) {
            let said = line.ink.map_or_else(|| line.text.clone(), |it| style.text(it, &line.text));
            let _ = writeln!(text, "  {:indent$}{said}", "", indent = line.indent);
        }
    }
    text.push('\n');
    out.extend(text.as_bytes());
}

/// Returns the lines of an explanation, without the name of its method.
pub(crate) fn lines(it: &Explanation) -> Vec<Line> {
    match it {
        Explanation::Exception(it) => exception(it),
        Explanation::Call(it) => call(it),
        Explanation::Unreached(_) => {
            vec![line(0, None, "the method is not reached from the entry points".to_owned())]
        }
    }
}

fn line(indent: usize, ink: Option<Ink>, text: String) -> Line {
    Line { indent, ink, text }
}

fn exception(it: &ExplainedException) -> Vec<Line> {
    let (ink, what) = match &it.what {
        Some(part) => (Ink::Red, format!("! {}", part_text(part))),
        None => (Ink::Yellow, "? and unknown exceptions".to_owned()),
    };
    let chain = it.chain.iter().enumerate().map(|(i, it)| line(4, None, fact(it, i == 0)));
    std::iter::once(line(0, Some(ink), what)).chain(chain).collect()
}

fn fact(it: &Fact, first: bool) -> String {
    let place = it.spot.as_ref().map(place).unwrap_or_default();
    match it.step {
        Step::Method(method) if first => format!("{}{place}", Human(method)),
        Step::Method(method) => format!("<- {}{place}", Human(method)),
        Step::Dispatch(method) => format!("<- by a call of {}", Human(method)),
        Step::Initializer(class) => format!("<- by the initialisation of {}", dotted(class)),
        Step::Loading(method) => format!("<- by loading a class, which may run {}", Human(method)),
        Step::Glue(interface) => format!("<- by a function object that implements {}", dotted(interface)),
        Step::Rethrown(method) => {
            format!("<- the exception is caught and thrown again in {}{place}", Human(method))
        }
        Step::Raised(Origin::Instruction) => {
            "<- an instruction at this place raises the exception".to_owned()
        }
        Step::Raised(origin) => format!("<- {}", raised(origin)),
        Step::Open(reason) => format!("<- {}", why(reason)),
    }
}

/// Returns the position in the method, as far as it is known: ` at pc 5, line 7`.
fn place(it: &Spot) -> String {
    match (it.pc, it.line) {
        (Some(pc), Some(line)) => format!(" at pc {pc}, line {line}"),
        (Some(pc), None) => format!(" at pc {pc}"),
        (None, _) => String::new(),
    }
}

fn call(it: &ExplainedCall) -> Vec<Line> {
    let pc = it.spot.pc.map_or(String::new(), |it| format!("pc {it}: "));
    let call = &it.call;
    let mut acc = vec![line(0, None, format!("{pc}{}", crate::text::calls::what(call)))];
    for target in &it.targets {
        let arrow = if target.possible { "?> possibly" } else { "->" };
        acc.push(line(2, Some(Ink::Blue), format!("{arrow} {}", Human(target.method))));
        for it in &target.receivers {
            let chain: Vec<String> = it.chain.iter().map(|it| dotted(*it)).collect();
            acc.push(line(5, None, format!("selected by receivers of the class {}", chain.join(" below "))));
        }
    }
    for error in &call.errors {
        acc.push(line(2, Some(Ink::Red), format!("! {}", dotted(*error))));
    }
    if let Some(open) = call.open {
        acc.push(line(2, Some(Ink::Yellow), format!("?  anywhere: {}", why(open))));
    }
    acc
}

fn part_text(it: &Part) -> String {
    format!("{}{}", dotted(Text(it.class.bytes())), if it.cone { "+" } else { "" })
}
