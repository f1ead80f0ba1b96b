//! The intra-procedural analysis: the exceptions that one body raises and the calls that it makes, each with the
//! exception-table rows that cover it. The result is a function of the body and its facts.

use bir::body::{Body, CallKind, Instr, InstrId};
use classfile::names::{ClassName, MethodRef};
use flow::cfg::draw_with;
use flow::facts::MethodFacts;
use flow::throwables::well_known;
use flow::thrown::Term;
use rustc_hash::FxHashSet;

/// The exception sources and calls of one body, each with the exception-table rows that cover it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Intra {
    /// The distinct exception sources and calls, in the order of the body.
    pub items: Box<[CoveredRaise]>,
}

/// An exception source or call, with the exception-table rows that cover it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CoveredRaise {
    /// The exception source or call.
    pub raises: Raises,
    /// The classes that the covering rows catch, in the order of the table; a row that is `None` catches everything.
    pub rows: Box<[Option<ClassName>]>,
}

/// An exception source or call. Each variant corresponds to a rule of Fig. 4 of the paper.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Raises {
    /// An assertion, with the exception χ that the assertion raises if it fails.
    Assertion(ClassName),
    /// A `throw` of an object of static type X, which may raise X and every subtype of X.
    Throw(ClassName),
    /// `new C`, which raises NullPointerException and the exceptions that its constructor lets out.
    New(MethodRef),
    /// A call: whether it is virtual, and its method reference.
    Call(bool, MethodRef),
}

/// Returns the exception sources and calls of a body.
pub fn intra(body: &Body, facts: &MethodFacts) -> Intra {
    let mut seen = FxHashSet::default();
    let mut items = Vec::new();
    draw_with::<()>(body, |_, instr, rows| {
        for raises in raises(body, facts, instr) {
            let rows = rows.iter().map(|&it| body.rows[it as usize].catch_type).collect();
            let item = CoveredRaise { raises, rows };
            if seen.insert(item.clone()) {
                items.push(item);
            }
        }
    });
    Intra { items: items.into() }
}

/// Returns the exception sources and calls of an instruction. Assertions are included even if they are proved never
/// to fail.
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
