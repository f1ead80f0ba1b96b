//! The changes from one answer to the next, as text.

use std::fmt::Write;

use export::watch::Cycle;
use ide::difference::{Changed, End, EndKind, Fact, Need, Raised, Reaches};
use ide::{Call, Described, EdgeKind, Human, MethodName};
use rustc_hash::FxHashSet;

use crate::report::count;
use crate::text::calls::what;
use crate::text::entries::reason;
use crate::text::explain;
use crate::text::names::PLAIN;
use crate::text::sets::{TYPES, one, open, shortened};
use crate::text::style::{Ink, Style};
use crate::text::why::{dotted, steps, why};

/// Returns the added and removed facts, grouped under the names of their methods.
pub(crate) fn changes(changes: &[Changed], style: Style) -> String {
    let whole = changes.iter().filter(|it| it.fact == Fact::Method).map(|it| it.method);
    let whole: FxHashSet<Option<MethodName>> = whole.collect();
    let mut out = String::new();
    let mut about = None;
    for (i, it) in changes.iter().enumerate() {
        if it.method != about || i == 0 {
            about = it.method;
            if let Some(method) = about {
                let _ = writeln!(out, "{}", style.text(Ink::Bold, &Human(method).to_string()));
            }
        }
        // The edges and instructions of a new or removed method are left out, because they would only repeat the
        // method.
        if matches!(it.fact, Fact::Edge { .. } | Fact::Instruction(_)) && whole.contains(&it.method) {
            continue;
        }
        let (sign, ink) = if it.added { ("+", Ink::Blue) } else { ("-", Ink::Red) };
        for (i, fact) in fact(&it.fact, it.added).lines().enumerate() {
            let mut text = format!("  {sign} {fact}");
            if let Some(line) = it.line.filter(|_| i == 0) {
                let _ = write!(text, "  (line {line})");
            }
            let _ = writeln!(out, "{}", style.text(ink, &text));
        }
    }
    out
}

/// Returns the text of a fact, which may have several lines.
fn fact(it: &Fact, added: bool) -> String {
    match it {
        Fact::Method if added => "the method is new".to_owned(),
        Fact::Method => "the method is removed".to_owned(),
        Fact::Instruction(text) => text.clone(),
        Fact::Entry(why) => format!("the method is an entry point: {}", reason(*why)),
        Fact::Explained(it) => {
            let lines = explain::lines(it, PLAIN).into_iter();
            let lines = lines.map(|it| format!("{:indent$}{}", "", it.text, indent = it.indent));
            lines.collect::<Vec<_>>().join("\n")
        }
        Fact::Call { kind, declared, to } => {
            let call = Call {
                instr: None,
                kind: *kind,
                declared: *declared,
                targets: Vec::new(),
                glue: Vec::new(),
                possible: Vec::new(),
                errors: Vec::new(),
                open: None,
            };
            format!("{}{}", what(&call, PLAIN), reaches(*to))
        }
        Fact::LetsOut(part) => format!("may throw {}", one(part)),
        Fact::Open { within, except, because } => {
            let because = because.map(|it| steps(&[it], PLAIN).join("")).unwrap_or_default();
            let because = if because.is_empty() { because } else { format!(": {because}") };
            let set = open(&Described::plain(within), except);
            format!("may throw unknown exceptions ({set}){because}")
        }
        Fact::Edge { from, to, kind, .. } => format!("{} {} {}", end(from), arrow(*kind), end(to)),
        Fact::Missing { class, need } => {
            let missing = dotted(*class);
            match need {
                Need::Class if added => format!("{missing} is missing"),
                Need::Class => format!("{missing} is no longer missing"),
                Need::SupertypeOf(class) => format!("{missing} is a supertype of {}", dotted(*class)),
                Need::UsedBy(method) => format!("{missing} is named by {}", Human(*method)),
                Need::Called(method) => format!("{} is called", Human(*method)),
                Need::Widened(method) => {
                    format!("calls in {} may run any method, because {missing} is missing", Human(*method))
                }
            }
        }
    }
}

fn reaches(it: Reaches) -> String {
    match it {
        Reaches::Target(it) => format!(" -> {}", Human(it)),
        Reaches::Possible(it) => format!(" ?> {}", Human(it)),
        Reaches::Glue(it) => {
            format!(" on receivers that may be function objects that implement {}", dotted(it))
        }
        Reaches::Error(it) => format!(" ! {}", dotted(it)),
        Reaches::Open(it) => format!(" -> anywhere: {}", why(it, PLAIN)),
        Reaches::Nothing => String::new(),
    }
}

fn arrow(it: EdgeKind) -> String {
    match it {
        EdgeKind::Normal => "->".to_owned(),
        EdgeKind::BranchTrue => "-true->".to_owned(),
        EdgeKind::BranchFalse => "-false->".to_owned(),
        EdgeKind::Case(it) => format!("-case {it}->"),
        EdgeKind::Default => "-default->".to_owned(),
        EdgeKind::Return => "-returns->".to_owned(),
        EdgeKind::Exception => "-raises->".to_owned(),
        EdgeKind::Handler(_) => "-handler->".to_owned(),
        EdgeKind::MayHandler(_) => "-perhaps handler->".to_owned(),
    }
}

fn end(it: &End) -> String {
    match &it.kind {
        EndKind::Normal => format!("`{}`", it.instr),
        EndKind::Return => "returns".to_owned(),
        EndKind::Exceptional(set) => raised(set),
        EndKind::ExceptionalReturn(set) => format!("{} leaves the method", raised(set)),
    }
}

fn raised(it: &Raised) -> String {
    match it.open {
        Some(reason) => {
            format!("{} ({})", open(&Described::plain(&it.parts), &it.except), why(reason, PLAIN))
        }
        None => shortened(&it.parts, TYPES),
    }
}

/// The maximum number of problems printed for one update of the answer; JSON lines contain all problems.
const PROBLEMS: usize = 10;

/// The maximum number of changed files and folders named for one update of the answer.
const CHANGED: usize = 3;

/// Returns the lines about one update of the answer: the new problems, and then the summary.
pub(crate) fn cycle(it: &Cycle, style: Style) -> String {
    let mut text = String::new();
    for (place, what) in it.problems.iter().take(PROBLEMS) {
        let _ = writeln!(text, "{}", style.text(Ink::Yellow, &format!("// {place}: {what}")));
    }
    if let Some(more) = it.problems.len().checked_sub(PROBLEMS).filter(|&it| it > 0) {
        let _ = writeln!(text, "{}", style.text(Ink::Yellow, &format!("// {more} more problems")));
    }
    let mut changed = it.changed.iter().take(CHANGED).cloned().collect::<Vec<_>>().join(", ");
    if it.changed.len() > CHANGED {
        let _ = write!(changed, " and {} more", it.changed.len() - CHANGED);
    }
    if !changed.is_empty() {
        changed.push_str(" changed; ");
    }
    let Cycle { generation, removed, milliseconds, .. } = it;
    let ((n_classes, n_methods), facts) = ((it.classes.0, it.methods.0), count(it.added, "fact", "facts"));
    let (classes, methods) =
        (count(it.classes.1, "class", "classes"), count(it.methods.1, "method", "methods"));
    let line = format!(
        "// {generation}: {changed}{n_classes} of {classes} read, with {n_methods} of {methods}; \
         {facts} added, {removed} removed; {milliseconds} ms"
    );
    let _ = writeln!(text, "{}", style.text(Ink::Dim, &line));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_changed_files_are_named() {
        let line = |n: usize| {
            let changed = ["a", "b", "c", "d", "e"][..n].iter().map(|it| (*it).to_owned()).collect();
            cycle(&Cycle { generation: 2, changed, ..Cycle::default() }, Style { color: false })
        };
        let starts = [
            "// 2: 0 of ",
            "// 2: a changed; 0 of ",
            "// 2: a, b changed; 0 of ",
            "// 2: a, b, c changed; 0 of ",
        ];
        for (n, start) in starts.iter().enumerate() {
            assert!(line(n).starts_with(start), "{}", line(n));
        }
        assert!(line(5).starts_with("// 2: a, b, c and 2 more changed; 0 of "), "{}", line(5));
    }
}
