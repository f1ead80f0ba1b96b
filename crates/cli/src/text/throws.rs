//! The exceptions that may leave methods, as text.

use std::fmt::Write;

use ide::answer::ClassAnswer;
use ide::{Anchor, Anchored, Described, Step, Throws};

use crate::report::count;
use crate::text::names::Names;
use crate::text::style::{Ink, Style};
use crate::text::{sets, why};

/// Appends the exceptions that may leave the methods of a class. `describe` returns a short
/// description of the known exceptions.
pub(crate) fn class(
    out: &mut Vec<u8>,
    class: &ClassAnswer,
    answers: &[Throws],
    describe: &mut dyn FnMut(&Throws) -> Described,
    (names, style): (Names<'_>, Style),
) {
    let mut text = String::new();
    for it in answers {
        method(&mut text, it, class.is_abstract(it.method), describe, (names, style));
    }
    out.extend(text.as_bytes());
}

fn method(
    out: &mut String,
    it: &Throws,
    is_abstract: bool,
    describe: &mut dyn FnMut(&Throws) -> Described,
    (names, style): (Names<'_>, Style),
) {
    let _ = writeln!(out, "{}", style.text(Ink::Bold, &names.of(it.method)));
    if !it.known.is_empty() {
        let known = sets::described(&describe(it));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {}", style.text(Ink::Red, &format!("! {known}")));
    }
    if let Some(open) = &it.open {
        let what = sets::open(&Described::plain(&open.within), &open.except);
        let because = why::steps(&open.because, names).join(" <- ");
        let _ = writeln!(out, "  {}", style.text(Ink::Yellow, &format!("? {what}: {because}")));
    }
    anchors(out, &it.anchors, (names, style));
    if it.too_many_calls > 0 {
        let text = format!(
            "~ {} calls on objects of unknown classes, too many to name: the lines above contain what they throw",
            it.too_many_calls
        );
        let _ = writeln!(out, "  {}", style.text(Ink::Blue, &text));
    }
    if is_nothing(it) {
        let nothing = if is_abstract { "nothing by itself: the method is abstract" } else { "nothing" };
        let _ = writeln!(out, "  {}", style.text(Ink::Dim, nothing));
    }
    out.push('\n');
}

/// Returns whether the method lets no exception out.
pub(crate) fn is_nothing(it: &Throws) -> bool {
    it.known.is_empty() && it.open.is_none() && it.anchors.is_empty()
}

/// The maximum number of exception types that are listed for a call.
const TYPES_OF_CALL: usize = 3;

/// Appends what is set apart: a line for each call on unknown objects, and one for all initialisers.
fn anchors(out: &mut String, anchors: &[Anchor], (names, style): (Names<'_>, Style)) {
    let mut line = |text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {}", style.text(Ink::Blue, &format!("~ {text}")));
    };
    let mut initializers = Vec::new();
    let mut calls = Vec::new();
    for it in anchors {
        match it.of {
            Anchored::Call(method) => calls.push((method, it)),
            Anchored::Initializer(class) => initializers.push(why::dotted(class)),
        }
    }
    for (method, it) in &calls {
        let known = match it.known.len() {
            0 => String::new(),
            _ => format!(": present code may throw {}", sets::shortened(&it.known, TYPES_OF_CALL)),
        };
        line(format!("{}{known}", names.of(*method)));
    }
    match &initializers[..] {
        [] => {}
        [first] => line(format!("the initialiser of {first}")),
        [first, others @ ..] => {
            line(format!(
                "initialisers of {first} and {}",
                count(others.len(), "other class", "other classes")
            ));
        }
    }
}

/// Returns the reason why the exceptions of a method have an unknown part; `None` if they have none.
pub(crate) fn reason(it: &Throws, names: Names<'_>) -> Option<String> {
    let because = &it.open.as_ref()?.because;
    Some(match because.last() {
        Some(Step::Open(it)) => why::why(*it, names),
        Some(_) | None => "unseen code".to_owned(),
    })
}
