//! Explanations of answers, as chains of facts, as text.

use std::fmt::Write;

use ide::explain::{ExplainedCall, ExplainedException, Explanation, Fact, Spot};
use ide::silent::{CodeKind, ProofKind, Silent};
use ide::{MethodName, Origin, Step};

use crate::report::count;
use crate::text::names::Names;
use crate::text::sets::one;
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
pub(crate) fn explanations(
    out: &mut Vec<u8>,
    all: &[Explanation],
    about: &dyn Fn(MethodName) -> &'static str,
    (names, style): (Names<'_>, Style),
) {
    let mut text = String::new();
    let mut before: Option<MethodName> = None;
    for it in all {
        let method = it.method();
        if before != Some(method) {
            if before.is_some() {
                text.push('\n');
            }
            // Writing to a string cannot fail.
            let place = style.text(Ink::Dim, about(method));
            let _ = writeln!(text, "{}{place}", style.text(Ink::Bold, &names.of(method)));
            before = Some(method);
        }
        for line in lines(it, names) {
            let said = line.ink.map_or_else(|| line.text.clone(), |it| style.text(it, &line.text));
            let _ = writeln!(text, "  {:indent$}{said}", "", indent = line.indent);
        }
    }
    text.push('\n');
    out.extend(text.as_bytes());
}

/// Returns the lines of an explanation, without the name of its method.
pub(crate) fn lines(it: &Explanation, names: Names<'_>) -> Vec<Line> {
    match it {
        Explanation::Exception(it) => exception(it, names),
        Explanation::Call(it) => call(it, names),
        Explanation::Unreached(_) => {
            vec![line(0, None, "the method is not reached from the entry points".to_owned())]
        }
        Explanation::Silent(it) => silent(it, names),
    }
}

fn line(indent: usize, ink: Option<Ink>, text: String) -> Line {
    Line { indent, ink, text }
}

fn exception(it: &ExplainedException, names: Names<'_>) -> Vec<Line> {
    let (ink, what) = match &it.what {
        Some(part) => (Ink::Red, format!("! {}", one(part))),
        None => (Ink::Yellow, "? and unknown exceptions".to_owned()),
    };
    let chain = it.chain.iter().enumerate().map(|(i, it)| line(4, None, fact(it, i == 0, names)));
    std::iter::once(line(0, Some(ink), what)).chain(chain).collect()
}

fn fact(it: &Fact, first: bool, names: Names<'_>) -> String {
    let place = it.spot.as_ref().map(place).unwrap_or_default();
    match it.step {
        Step::Method(method) if first => format!("{}{place}", names.of(method)),
        Step::Method(method) => format!("<- {}{place}", names.of(method)),
        Step::Dispatch(method) => format!("<- by a call of {}", names.of(method)),
        Step::Initializer(class) => format!("<- by the initialisation of {}", dotted(class)),
        Step::Loading(method) => format!("<- by loading a class, which may run {}", names.of(method)),
        Step::Glue(interface) => format!("<- by a function object that implements {}", dotted(interface)),
        Step::Rethrown(method) => {
            format!("<- the exception is caught and thrown again in {}{place}", names.of(method))
        }
        Step::Raised(Origin::Instruction) => {
            "<- an instruction at this place raises the exception".to_owned()
        }
        Step::Raised(origin) => format!("<- {}", raised(origin, names)),
        Step::Open(reason) => format!("<- {}", why(reason, names)),
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

fn call(it: &ExplainedCall, names: Names<'_>) -> Vec<Line> {
    let pc = it.spot.pc.map_or(String::new(), |it| format!("pc {it}: "));
    let call = &it.call;
    let mut acc = vec![line(0, None, format!("{pc}{}", crate::text::calls::what(call, names)))];
    for target in &it.targets {
        let arrow = if target.possible { "?>" } else { "->" };
        acc.push(line(2, Some(Ink::Blue), format!("{arrow} {}", names.of(target.method))));
        for it in &target.receivers {
            let chain: Vec<String> = it.chain.iter().map(|it| dotted(*it)).collect();
            acc.push(line(5, None, format!("selected by receivers of the class {}", chain.join(" below "))));
        }
    }
    for error in &call.errors {
        acc.push(line(2, Some(Ink::Red), format!("! {}", dotted(*error))));
    }
    if let Some(open) = call.open {
        acc.push(line(2, Some(Ink::Yellow), format!("?  anywhere: {}", why(open, names))));
    }
    acc
}

/// The maximum number of names listed on a line about a method that lets nothing out.
const NAMED: usize = 5;

/// Returns the lines about a method that lets no exception out.
fn silent(it: &Silent, names: Names<'_>) -> Vec<Line> {
    let mut acc = vec![line(0, None, "lets no exception out".to_owned())];
    let mut because = |text: String| acc.push(line(4, None, format!("<- {text}")));
    match it.code {
        CodeKind::Present => {}
        CodeKind::Promise => {
            because("its code is not written yet, and its promise lets nothing out".to_owned())
        }
        CodeKind::Native => because("the table of native methods says that it throws nothing".to_owned()),
        CodeKind::Abstract => {
            because("the method is abstract: calls run the methods that override it".to_owned())
        }
    }
    for &(proof, n) in &it.proved {
        because(format!("{} of its code cannot fail: {}", count(n, "check", "checks"), proof_text(proof)));
    }
    if !it.caught.is_empty() {
        because(format!("its own handlers catch {}", some(it.caught.iter().map(one).collect())));
    }
    if !it.calls.is_empty() {
        let called = it.calls.iter().map(|it| names.of(*it)).collect();
        because(format!("what it calls lets nothing out that it does not catch: {}", some(called)));
    }
    if it.code == CodeKind::Present && it.proved.is_empty() && it.caught.is_empty() && it.calls.is_empty() {
        because("no instruction of its code can raise an exception".to_owned());
    }
    acc
}

fn proof_text(it: ProofKind) -> &'static str {
    match it {
        ProofKind::Receiver => "the value is the receiver",
        ProofKind::Created => "the method created the object itself",
        ProofKind::Tested => "the same values were tested before",
        ProofKind::Constant => "the values are constants",
        ProofKind::Caught => "the value is a caught exception",
        ProofKind::Length => "the value is the length of an array",
        ProofKind::Type => "every possible value has the required type",
        ProofKind::EveryPath => "each path to the check has a proof of its own",
    }
}

/// Returns the first names and the number of the others: `a, b and 2 more`.
fn some(names: Vec<String>) -> String {
    let shown = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(NAMED).filter(|&it| it > 0) {
        Some(more) => format!("{shown} and {more} more"),
        None => shown,
    }
}
