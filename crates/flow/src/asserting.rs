//! The code of a body that runs only while assertions are enabled for its class.
//!
//! A compiler gives a class that has `assert` statements a static final field `$assertionsDisabled`, and tests this
//! field before each of them (JLS §14.10). The class's initialiser sets the field first of all, from
//! `Class.desiredAssertionStatus`.

use std::sync::LazyLock;

use bir::body::{Body, Expr, ExprId, Instr, InstrId, instr_id};
use bir::ops::Cond;
use classfile::names::Name;

use crate::blocks::{Blocks, Handlers};

static ASSERTIONS_DISABLED: LazyLock<Name> = LazyLock::new(|| Name::new(b"$assertionsDisabled"));

/// Returns the instructions that control can reach only if a field `$assertionsDisabled` is false, ascending. For a
/// method with extremely long lists of handlers, the result is empty.
pub(crate) fn asserting(body: &Body) -> Box<[InstrId]> {
    let tests = |it: &Instr| test_of_status(body, it).is_some();
    if !body.instrs.values().any(tests) {
        return Box::default();
    }
    let blocks = Blocks::new(body);
    let Some(handlers) = Handlers::new(body, &blocks) else { return Box::default() };
    let mut reached = vec![false; blocks.len()];
    let mut pending = vec![0];
    while let Some(block) = pending.pop() {
        if reached.get(block as usize).is_none_or(|it| *it) {
            continue;
        }
        reached[block as usize] = true;
        pending.extend(handlers.of(block));
        let Some(last) = blocks.range(block).next_back() else { continue };
        let instr = &body.instrs[instr_id(last)];
        let test = test_of_status(body, instr);
        if test != Some(Test::JumpsIfEnabled) {
            body.jumps(instr, |to| pending.extend(blocks.of(to)));
        }
        if instr.falls_through() && test != Some(Test::JumpsIfDisabled) {
            pending.push(block + 1);
        }
    }
    let skipped = (0..).zip(&reached).filter(|it| !it.1).map(|it| it.0);
    skipped.flat_map(|it| blocks.range(it)).map(instr_id).collect()
}

/// A branch that tests a field `$assertionsDisabled`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Test {
    /// The branch jumps if assertions are disabled.
    JumpsIfDisabled,
    /// The branch jumps if assertions are enabled.
    JumpsIfEnabled,
}

fn test_of_status(body: &Body, instr: &Instr) -> Option<Test> {
    let Instr::If(cond, field, zero, _) = *instr else { return None };
    if !is_status(body, field) || body.exprs[zero] != Expr::Int(0) {
        return None;
    }
    match cond {
        Cond::Ne => Some(Test::JumpsIfDisabled),
        Cond::Eq => Some(Test::JumpsIfEnabled),
        Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge => None,
    }
}

fn is_status(body: &Body, e: ExprId) -> bool {
    matches!(body.exprs[e], Expr::Static(field) if field.get().name == *ASSERTIONS_DISABLED)
}
