//! The intra-procedural analysis: what one body raises and calls, and which rows are around it. A function of the body
//! and its facts.

use bir::body::{Body, CallKind, Instr, InstrId};
use classfile::names::{ClassName, MethodRef};
use flow::cfg::draw_with;
use flow::facts::MethodFacts;
use flow::throwables::well_known;
use flow::thrown::Term;
use rustc_hash::FxHashSet;

/// What one body raises and calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Intra {
    /// Each once, in the order of the body.
    pub items: Box<[Item]>,
}

/// Something that raises, and what the rows around it catch, in order; `None` catches everything.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Item {
    /// What it is.
    pub raises: Raises,
    /// What the rows around it catch.
    pub rows: Box<[Option<ClassName>]>,
}

/// What an instruction raises, by the rule of Fig. 4 that it falls under.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Raises {
    /// An assertion: χ of it.
    Assertion(ClassName),
    /// `throw X`: every subtype of X.
    Throw(ClassName),
    /// `new C`: NullPointerException, and what the constructor lets out.
    New(MethodRef),
    /// A call; whether it is virtual.
    Call(bool, MethodRef),
}

/// The analysis of a body.
pub fn intra(body: &Body, facts: &MethodFacts) -> Intra {
    let mut seen = FxHashSet::default();
    let mut items = Vec::new();
    draw_with::<()>(body, |_, instr, rows| {
        for raises in raises(body, facts, instr) {
            let rows = rows.iter().map(|&it| body.rows[it as usize].catch_type).collect();
            let item = Item { raises, rows };
            if seen.insert(item.clone()) {
                items.push(item);
            }
        }
    });
    Intra { items: items.into() }
}

/// What an instruction raises. All assertions count, also those that are proved.
pub fn raises(body: &Body, facts: &MethodFacts, id: InstrId) -> Vec<Raises> {
    match body.instrs[id] {
        Instr::Assert(check) => vec![Raises::Assertion(well_known().raised_by(check))],
        Instr::Throw(_) => {
            let mut acc: Vec<ClassName> = Vec::new();
            for &(_, term) in facts.thrown(id) {
                match term {
                    Term::Exact(it) | Term::Cone(it) => acc.push(it),
                    Term::Caught(handler) => {
                        let rows = body.rows.iter().filter(|it| it.handler == handler);
                        acc.extend(rows.map(|it| it.catch_type.unwrap_or(well_known().throwable)));
                    }
                }
            }
            acc.sort_unstable_by_key(|it| it.bytes());
            acc.dedup();
            acc.into_iter().map(Raises::Throw).collect()
        }
        Instr::New(_, constructor, _) => vec![Raises::New(constructor)],
        Instr::Call(_, kind, method, _) => {
            vec![Raises::Call(matches!(kind, CallKind::Virtual | CallKind::Interface), method)]
        }
        _ => Vec::new(),
    }
}
