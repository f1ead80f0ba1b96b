//! The facts that follow from a branch about the values that it compares.

use bir::body::{Body, Expr, ExprId, Var};
use bir::ops::{BinaryOp, CmpOp, Cond};

use super::scan::Scan;
use super::state::What;

/// Calls `f` with each fact that follows if the comparison `left cond right` holds: a variable, and a property of its
/// value.
pub(super) fn known_after(
    body: &Body,
    scan: &Scan<'_>,
    cond: Cond,
    (left, right): (ExprId, ExprId),
    mut f: impl FnMut(Var, What),
) {
    let (l, r) = (body.exprs[left], body.exprs[right]);
    match (l, r) {
        (_, Expr::Null) => null_test(scan, cond, left, f),
        (Expr::Null, _) => null_test(scan, cond, right, f),
        (Expr::Var(var), Expr::Int(it)) => number_test(var, cond, it.into(), f),
        (Expr::Int(it), Expr::Var(var)) => number_test(var, swapped(cond), it.into(), f),
        (Expr::InstanceOf(class, e), Expr::Int(0)) if cond == Cond::Ne => {
            if let Some(var) = scan.copied(e) {
                f(var, What::NotNull);
                f(var, What::Is(class));
            }
        }
        (Expr::Binary(BinaryOp::Compare(CmpOp::Lcmp), a, b), Expr::Int(0)) => {
            if let (Expr::Var(var), Expr::Long(it)) = (body.exprs[a], body.exprs[b]) {
                number_test(var, cond, u64::from(it) as i64, f);
            }
        }
        _ => {}
    }
}

fn null_test(scan: &Scan<'_>, cond: Cond, e: ExprId, mut f: impl FnMut(Var, What)) {
    match (cond, scan.copied(e)) {
        (Cond::Eq, Some(var)) => f(var, What::Null),
        (Cond::Ne, Some(var)) => f(var, What::NotNull),
        _ => {}
    }
}

/// Calls `f` with each fact about `var` that follows if the comparison `var cond number` of ints or longs holds.
fn number_test(var: Var, cond: Cond, number: i64, mut f: impl FnMut(Var, What)) {
    let (not_zero, not_negative) = match cond {
        Cond::Eq => (number != 0, number >= 0),
        Cond::Ne => (number == 0, false),
        Cond::Lt => (number <= 0, false),
        Cond::Le => (number < 0, false),
        Cond::Gt => (number >= 0, number >= -1),
        Cond::Ge => (number > 0, number >= 0),
    };
    if not_zero {
        f(var, What::NotZero);
    }
    if not_negative {
        f(var, What::NotNegative);
    }
    if let (Cond::Eq, Ok(it)) = (cond, i32::try_from(number)) {
        f(var, What::Int(it));
    }
}

/// Returns the comparison that holds if and only if `cond` does not hold.
pub(super) fn negated(cond: Cond) -> Cond {
    match cond {
        Cond::Eq => Cond::Ne,
        Cond::Ne => Cond::Eq,
        Cond::Lt => Cond::Ge,
        Cond::Ge => Cond::Lt,
        Cond::Gt => Cond::Le,
        Cond::Le => Cond::Gt,
    }
}

/// Returns the comparison that holds for exchanged operands if and only if `cond` holds for the operands: for example
/// `>` for `<`.
fn swapped(cond: Cond) -> Cond {
    match cond {
        Cond::Lt => Cond::Gt,
        Cond::Gt => Cond::Lt,
        Cond::Le => Cond::Ge,
        Cond::Ge => Cond::Le,
        it => it,
    }
}
