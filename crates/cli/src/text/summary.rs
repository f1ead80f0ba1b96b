//! The summary at the end of a text answer: how many methods have which kind of answer, and the commonest reasons for
//! unknown parts.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::report::count;
use crate::text::style::{Ink, Style};

/// The maximum number of reasons that a summary lists.
const REASONS: usize = 5;

/// The words of a summary, which depend on the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Words {
    /// What methods do that have an empty answer, such as `throw nothing`; first for one method, then for several.
    pub(crate) nothing: (&'static str, &'static str),
    /// What methods do whose answer has only known parts.
    pub(crate) known: (&'static str, &'static str),
    /// What methods do whose answer also has an unknown part.
    pub(crate) open: (&'static str, &'static str),
}

/// The words of summaries about exceptions.
pub(crate) const THROWS: Words = Words {
    nothing: ("throws nothing", "throw nothing"),
    known: ("throws only known exceptions", "throw only known exceptions"),
    open: ("may also throw unknown exceptions", "may also throw unknown exceptions"),
};

/// The words of summaries about exceptions, if calls are set apart.
pub(crate) const THROWS_APART: Words = Words {
    known: (
        "throws only known exceptions and what named calls throw",
        "throw only known exceptions and what named calls throw",
    ),
    ..THROWS
};

/// The words of summaries about calls.
pub(crate) const CALLS: Words = Words {
    nothing: ("calls nothing", "call nothing"),
    known: ("calls only known methods", "call only known methods"),
    open: ("may also call unknown methods", "may also call unknown methods"),
};

/// The counts of methods of a result, added up by any number of threads.
#[derive(Default)]
pub(crate) struct Tally(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    nothing: usize,
    known: usize,
    open: usize,
    /// The number of abstract methods, which have no answer of their own.
    without_code: usize,
    /// For each reason why answers have unknown parts, the number of methods with this reason.
    reasons: FxHashMap<String, usize>,
}

impl Tally {
    /// Counts one method. `has_known` tells whether its answer has a known part; `reasons` are the reasons why it has
    /// unknown parts.
    pub(crate) fn add(&self, has_known: bool, reasons: impl IntoIterator<Item = String>) {
        let reasons: FxHashSet<String> = reasons.into_iter().collect();
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (has_known, reasons.is_empty()) {
            (_, false) => counts.open += 1,
            (true, true) => counts.known += 1,
            (false, true) => counts.nothing += 1,
        }
        for it in reasons {
            *counts.reasons.entry(it).or_default() += 1;
        }
    }

    /// Counts one abstract method.
    pub(crate) fn add_abstract(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).without_code += 1;
    }

    /// Returns the lines of the summary; no lines if no method was counted.
    pub(crate) fn text(&self, words: Words, style: Style) -> Vec<u8> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let n = counts.nothing + counts.known + counts.open + counts.without_code;
        if n == 0 {
            return Vec::new();
        }
        let part = |n: usize, it: (&str, &str)| format!("{n} {}", if n == 1 { it.0 } else { it.1 });
        let parts = [
            (counts.nothing, words.nothing),
            (counts.known, words.known),
            (counts.open, words.open),
            (counts.without_code, ("is abstract", "are abstract")),
        ];
        let parts: Vec<String> = parts.into_iter().filter(|it| it.0 > 0).map(|(n, it)| part(n, it)).collect();
        let mut text = format!("// {}: {}\n", count(n, "method", "methods"), parts.join(", "));
        let mut reasons: Vec<(&String, usize)> = counts.reasons.iter().map(|it| (it.0, *it.1)).collect();
        reasons.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        for (reason, n) in reasons.iter().take(REASONS) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "//   unknown in {}: {reason}", count(*n, "method", "methods"));
        }
        if let Some(more) = reasons.len().checked_sub(REASONS).filter(|&it| it > 0) {
            let _ = writeln!(text, "//   and {}", count(more, "other reason", "other reasons"));
        }
        style.text(Ink::Dim, &text).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_reasons_come_first() {
        let tally = Tally::default();
        tally.add(false, []);
        tally.add_abstract();
        tally.add(true, []);
        for i in 0..7 {
            let reasons = (i..7).map(|it| format!("reason {it}"));
            tally.add(true, reasons.chain(["reason 6".to_owned()]));
        }
        let text = String::from_utf8(tally.text(THROWS, Style { color: false })).unwrap();
        assert_eq!(
            text,
            "\
// 10 methods: 1 throws nothing, 1 throws only known exceptions, 7 may also throw unknown exceptions, 1 is abstract
//   unknown in 7 methods: reason 6
//   unknown in 6 methods: reason 5
//   unknown in 5 methods: reason 4
//   unknown in 4 methods: reason 3
//   unknown in 3 methods: reason 2
//   and 2 other reasons
"
        );
        assert!(Tally::default().text(CALLS, Style { color: false }).is_empty());
    }
}
