//! Control-flow graphs as text: the blocks of each method, their successors, and the handlers of their exceptions.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use ide::answer::{ClassAnswer, MethodAnswer};
use ide::blocks::{Block, BlockId, Fate, Raise, blocks, push_instr_text};
use ide::{Described, EdgeKind, Graph, Instr, InstrId, Part, SetRef, print};

use rustc_hash::FxHashMap;

use crate::text::bir::source_range;
use crate::text::names::Names;
use crate::text::style::{Ink, Style};
use crate::text::{sets, why};

/// The maximum number of pcs listed for a set of exceptions.
const PLACES: usize = 8;
/// The maximum length of the text about a dynamic call site, in characters.
const DYNAMIC: usize = 100;
/// The maximum number of cases listed for a target of a switch.
const CASES: usize = 6;

/// Returns a short description of a set of exceptions.
type Describe<'a> = dyn FnMut(&[Part]) -> Described + 'a;

/// How sets and methods are printed.
struct Printing<'a> {
    describe: RefCell<&'a mut Describe<'a>>,
    names: Names<'a>,
    style: Style,
}

impl Printing<'_> {
    /// Returns exception types, with a plus after those that include subclasses:
    /// `java.lang.Error+, java.io.IOException`. Long sets are shortened.
    fn set(&self, parts: &[Part]) -> String {
        sets::described(&(self.describe.borrow_mut())(parts))
    }
}

/// Appends the control-flow graphs of the methods of a class. `describe` shortens sets.
pub(crate) fn class(
    out: &mut Vec<u8>,
    class: &ClassAnswer,
    graphs: &[Graph],
    describe: &mut Describe<'_>,
    (names, style): (Names<'_>, Style),
) {
    let printing = Printing { describe: RefCell::new(describe), names, style };
    let mut text = String::new();
    for (it, graph) in class.methods.iter().zip(graphs) {
        text.clear();
        method(&mut text, class, it, graph, &printing);
        text.push('\n');
        out.extend(text.as_bytes());
    }
}

fn method(out: &mut String, class: &ClassAnswer, it: &MethodAnswer, graph: &Graph, printing: &Printing<'_>) {
    let style = printing.style;
    out.push_str(&style.text(Ink::Bold, &printing.names.of(it.method)));
    if let Some(place) = source_range(class, it) {
        out.push_str(&style.text(Ink::Dim, &format!("  {place}")));
    }
    if it.code.body.unverified {
        out.push_str(&style.text(Ink::Yellow, "  (the JVM's verifier would reject this method)"));
    }
    out.push('\n');
    let blocks = blocks(&it.code.body, &graph.cfg);
    for (i, one) in blocks.iter().enumerate() {
        block(out, i, &blocks, one, it, graph, printing);
    }
    for &(from, to) in &it.positions.unreachable {
        let last = to.saturating_sub(1);
        let text = format!("pc {from}..{last} is never reached");
        let _ = writeln!(out, "  {}", style.text(Ink::Dim, &text));
    }
    leaving(out, graph, &blocks, printing);
}

fn block(
    out: &mut String,
    i: usize,
    blocks: &[Block<SetRef>],
    block: &Block<SetRef>,
    it: &MethodAnswer,
    graph: &Graph,
    printing: &Printing<'_>,
) {
    let style = printing.style;
    let name = format!("B{i}");
    let mut about = Vec::new();
    if i == 0 {
        about.push("entry".to_owned());
    }
    if matches!(it.code.body.instrs[block.first], Instr::Catch(_)) {
        about.push("handler".to_owned());
        if graph.cfg.entered_only_by_vm_errors.contains(&block.first) {
            about.push("entered by no exception that is counted".to_owned());
        }
    }
    about.extend(range("pc", block.instrs().filter_map(|id| it.positions.pc(id))));
    about.extend(range("line", block.instrs().filter_map(|id| it.positions.line(id))));
    let _ = writeln!(out, "  {} {}", style.text(Ink::Blue, &name), style.text(Ink::Dim, &about.join(", ")));
    for id in block.instrs() {
        out.push_str("    ");
        style.ink(out, Ink::Dim, |out| {
            // Writing to a string cannot fail.
            let _ = match it.positions.pc(id) {
                Some(pc) => write!(out, "{pc:>5}:"),
                None => write!(out, "     :"),
            };
        });
        out.push(' ');
        if it.code.facts.proof(id).is_some() {
            style.ink(out, Ink::Dim, |out| {
                push_instr_text(out, &it.code.body, blocks, id);
                out.push_str(" // proved");
            });
        } else {
            push_instr_text(out, &it.code.body, blocks, id);
        }
        if let Some(site) = dynamic(it, id) {
            style.ink(out, Ink::Dim, |out| out.push_str(&format!(" // {site}")));
        }
        out.push('\n');
    }
    if let Some(text) = leads(block) {
        let _ = writeln!(out, "    {}", style.text(Ink::Blue, &text));
    }
    raises(out, block, it, graph, printing);
}

/// Returns the bootstrap method and arguments of a dynamic call site or constant, shortened to [`DYNAMIC`]
/// characters; `None` for other instructions.
fn dynamic(it: &MethodAnswer, id: InstrId) -> Option<String> {
    let (Instr::CallDynamic(_, site, _) | Instr::ConstDynamic(_, site)) = it.code.body.instrs[id] else {
        return None;
    };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = print::write_dynamic(&mut text, it.code.body.dynamics.get(site as usize)?);
    Some(match text.char_indices().nth(DYNAMIC) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    })
}

/// Returns the smallest and largest value after a word: `pc 3..7`; `None` if there are no values.
fn range(word: &str, values: impl Iterator<Item = u16>) -> Option<String> {
    let (low, high) = values.fold(None, |acc: Option<(u16, u16)>, it| match acc {
        None => Some((it, it)),
        Some((low, high)) => Some((low.min(it), high.max(it))),
    })?;
    Some(if low == high { format!("{word} {low}") } else { format!("{word} {low}..{high}") })
}

/// Returns the normal successors of a block as text: `-> B2 if so, B1 if not`; `None` if the block has none.
fn leads(block: &Block<SetRef>) -> Option<String> {
    let name = |to: Option<BlockId>| to.map_or("returns".to_owned(), |it| format!("B{}", it.0));
    let mut text = Vec::new();
    // The cases of a switch, grouped by target. Targets are in the order of their first cases.
    let mut cases: Vec<(Option<BlockId>, Vec<String>)> = Vec::new();
    let mut places: FxHashMap<Option<BlockId>, usize> = FxHashMap::default();
    for lead in &block.leads {
        let to = name(lead.to);
        let case = match lead.kind {
            EdgeKind::BranchTrue => Err(format!("{to} if so")),
            EdgeKind::BranchFalse => Err(format!("{to} if not")),
            EdgeKind::Case(key) => Ok(key.to_string()),
            EdgeKind::Default => Ok("anything else".to_owned()),
            _ => Err(to),
        };
        match case {
            Err(it) => text.push(it),
            Ok(key) => {
                let place = *places.entry(lead.to).or_insert(cases.len());
                match cases.get_mut(place) {
                    Some(it) => it.1.push(key),
                    None => cases.push((lead.to, vec![key])),
                }
            }
        }
    }
    text.extend(cases.into_iter().map(|(to, keys)| format!("{} on {}", name(to), shortened(&keys, CASES))));
    (!text.is_empty()).then(|| format!("-> {}", text.join(", ")))
}

/// Returns the first `most` items and the number of the others: `1, 2, 3 and 4 more`.
fn shortened(items: &[String], most: usize) -> String {
    let shown = items.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(", ");
    match items.len().checked_sub(most).filter(|&it| it > 0) {
        Some(more) => format!("{shown} and {more} more"),
        None => shown,
    }
}

fn raises(
    out: &mut String,
    block: &Block<SetRef>,
    it: &MethodAnswer,
    graph: &Graph,
    printing: &Printing<'_>,
) {
    let style = printing.style;
    // If each type has its own node, types that are raised at the same places and have the same fate share a line.
    let mut known: Vec<(&Raise<SetRef>, Vec<Part>)> = Vec::new();
    let mut rows: FxHashMap<(&[InstrId], Fate), usize> = FxHashMap::default();
    for raise in block.raises.iter().filter(|it| graph.set(it.set).open.is_none()) {
        let parts = &graph.set(raise.set).parts;
        let next = known.len();
        let row = if graph.labels.is_empty() {
            next
        } else {
            *rows.entry((&raise.instrs, raise.fate)).or_insert(next)
        };
        match known.get_mut(row) {
            Some(it) => it.1.extend(parts.iter()),
            None => known.push((raise, parts.to_vec())),
        }
    }
    for (raise, what) in known {
        let (exceptions, pcs, result) = (printing.set(&what), places(it, &raise.instrs), fate(raise));
        let text = format!("! {exceptions} at {pcs} -> {result}");
        let _ = writeln!(out, "    {}", style.text(Ink::Red, &text));
    }
    // Open parts that have the same fate share a line, each with its cause.
    let mut open: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for raise in &block.raises {
        if let Some(why) = graph.set(raise.set).open {
            let set = graph.set(raise.set);
            let what = sets::open(&(printing.describe.borrow_mut())(&set.parts), &set.except);
            let (pcs, reason) = (places(it, &raise.instrs), why::why(why, printing.names));
            let what = format!("{what} at {pcs}: {reason}");
            let causes = open.entry(fate(raise)).or_default();
            if !causes.contains(&what) {
                causes.push(what);
            }
        }
    }
    for (fate, causes) in open {
        let text = format!("? {} -> {fate}", causes.join("; "));
        let _ = writeln!(out, "    {}", style.text(Ink::Yellow, &text));
    }
}

/// Returns, as text, whether raised exceptions leave the method or which block catches them.
fn fate(raise: &Raise<SetRef>) -> String {
    match raise.fate {
        Fate::Leaves => "leaves the method".to_owned(),
        Fate::Caught { by, may: false, .. } => format!("caught by B{}", by.0),
        Fate::Caught { by, may: true, .. } => format!("may be caught by B{}", by.0),
    }
}

/// Returns the pcs of instructions: `pc 3, 7`.
fn places(it: &MethodAnswer, instrs: &[InstrId]) -> String {
    let mut pcs: Vec<String> =
        instrs.iter().filter_map(|&id| it.positions.pc(id)).map(|it| it.to_string()).collect();
    pcs.dedup();
    format!("pc {}", shortened(&pcs, PLACES))
}

/// Appends a line with the exceptions that may leave the method.
fn leaving(out: &mut String, graph: &Graph, blocks: &[Block<SetRef>], printing: &Printing<'_>) {
    let mut known: Vec<Part> = Vec::new();
    let mut open = false;
    for raise in blocks.iter().flat_map(|it| &it.raises).filter(|it| it.fate == Fate::Leaves) {
        let set = graph.set(raise.set);
        open |= set.open.is_some();
        for it in set.parts.iter().filter(|_| set.open.is_none()) {
            if !known.contains(it) {
                known.push(*it);
            }
        }
    }
    if known.is_empty() && !open {
        return;
    }
    known.sort_by_key(|it| (it.class.bytes(), it.cone));
    // `Throwable` with its subclasses includes all other types.
    if let Some(all) = known.iter().find(|it| it.cone && it.class.bytes() == b"java/lang/Throwable") {
        known = vec![*all];
    }
    let mut text = if known.is_empty() { String::new() } else { printing.set(&known) };
    if open {
        text.push_str(if text.is_empty() { "unknown exceptions" } else { ", and unknown exceptions" });
    }
    let _ = writeln!(out, "  {}", printing.style.text(Ink::Red, &format!("may leave by: {text}")));
}
