//! Proves a single check from the facts that are known before its instruction.

use bir::body::{Body, Check, Expr, ExprId, Instr, InstrId};
use bir::ops::UnOp;
use classfile::names::ClassName;

use super::scan::{Origin, Scan, cloned};
use super::state::{State, What};
use crate::discharge::Proof;
use crate::throwables::well_known;

/// Returns the fact that proves that the assertion `check` never fails; `None` if there is no such fact. `state`
/// holds the facts known before the assertion; if it is `None`, only facts that hold on all paths are used.
pub(super) fn prove(body: &Body, scan: &Scan<'_>, state: Option<&State>, check: Check) -> Option<Proof> {
    match check {
        Check::NotNull(e) => not_null(body, scan, state, e),
        Check::NotZero(_, e) => match scan.origin(e, |_| {}) {
            Origin::Expr(e) => match body.exprs[e] {
                Expr::Int(it) => (it != 0).then_some(Proof::Constant),
                Expr::Long(it) => (u64::from(it) != 0).then_some(Proof::Constant),
                _ => None,
            },
            Origin::Var(var) => state?.why(var, What::NotZero),
            _ => None,
        },
        Check::NotNegative(e) => match scan.origin(e, |_| {}) {
            Origin::Expr(e) => match body.exprs[e] {
                Expr::Int(it) => (it >= 0).then_some(Proof::Constant),
                Expr::Unary(UnOp::Length, _) => Some(Proof::Length),
                _ => None,
            },
            Origin::Var(var) => state?.why(var, What::NotNegative),
            _ => None,
        },
        Check::Bound(array, index) => bound(body, scan, state, array, index),
        Check::Store(array, value) => store(body, scan, state, array, value),
        Check::Cast(class, e) => cast(body, scan, state, class, e),
    }
}

/// Returns the fact that proves that the value of the expression `e` is not null; `None` if there is no such fact.
pub(super) fn not_null(body: &Body, scan: &Scan<'_>, state: Option<&State>, e: ExprId) -> Option<Proof> {
    match scan.origin(e, |_| {}) {
        Origin::This => Some(Proof::This),
        Origin::Made(id) => Some(Proof::Allocated(id)),
        Origin::Caught(id) => Some(Proof::Caught(id)),
        Origin::Expr(e) => match body.exprs[e] {
            Expr::Str(_) | Expr::Class(_) | Expr::MethodType(_) | Expr::MethodHandle(_) => {
                Some(Proof::Constant)
            }
            _ => None,
        },
        Origin::Var(var) => state?.why(var, What::NotNull),
    }
}

/// Returns the instruction that allocated the object that is the value of `e`; `None` if this instruction is not
/// known.
fn made(body: &Body, scan: &Scan<'_>, state: Option<&State>, e: ExprId) -> Option<InstrId> {
    match not_null(body, scan, state, e) {
        Some(Proof::Allocated(id)) => Some(id),
        _ => None,
    }
}

/// Returns the exact class of the object or array that the instruction allocates; `None` if the instruction allocates
/// nothing.
fn class_made(body: &Body, id: InstrId) -> Option<ClassName> {
    match body.instrs[id] {
        Instr::New(_, constructor, _) => Some(constructor.class()),
        Instr::Alloc(_, class) | Instr::NewArray(_, class, _) | Instr::MultiNewArray(_, class, _) => {
            Some(class)
        }
        _ => None,
    }
}

fn constant(body: &Body, scan: &Scan<'_>, state: Option<&State>, e: ExprId) -> Option<i32> {
    match scan.origin(e, |_| {}) {
        Origin::Expr(e) => match body.exprs[e] {
            Expr::Int(it) => Some(it),
            _ => None,
        },
        Origin::Var(var) => state?.of(var).find_map(|it| match it.what {
            What::Int(it) => Some(it),
            _ => None,
        }),
        _ => None,
    }
}

/// Returns the length of the array that the instruction allocates; `None` if the length is not a known constant.
fn length_made(body: &Body, scan: &Scan<'_>, id: InstrId) -> Option<i32> {
    // The allocation ran earlier, so only a length that is the same at every execution counts.
    match body.instrs[id] {
        Instr::NewArray(_, _, len) => constant(body, scan, None, len),
        Instr::MultiNewArray(_, _, lens) => constant(body, scan, None, *body.operands(lens).first()?),
        _ => None,
    }
}

fn bound(body: &Body, scan: &Scan<'_>, state: Option<&State>, array: ExprId, index: ExprId) -> Option<Proof> {
    let constant = constant(body, scan, state, index);
    if let (Some(index), Some(id)) = (constant, made(body, scan, state, array))
        && (0..length_made(body, scan, id).unwrap_or(0)).contains(&index)
    {
        return Some(Proof::Allocated(id));
    }
    let state = state?;
    let array = scan.copied(array)?;
    let index_var = scan.copied(index);
    state.of(array).find_map(|it| match it.what {
        What::HasIndex(checked) if Some(checked) == index_var => Some(it.why),
        What::HasConstIndex(checked) if constant.is_some_and(|it| 0 <= it && it <= checked) => Some(it.why),
        _ => None,
    })
}

/// Returns the fact that proves that the value of the expression `e` is null; `None` if there is no such fact.
fn null(body: &Body, scan: &Scan<'_>, state: Option<&State>, e: ExprId) -> Option<Proof> {
    match scan.origin(e, |_| {}) {
        Origin::Expr(e) => (body.exprs[e] == Expr::Null).then_some(Proof::Constant),
        Origin::Var(var) => state?.why(var, What::Null),
        _ => None,
    }
}

fn store(body: &Body, scan: &Scan<'_>, state: Option<&State>, array: ExprId, value: ExprId) -> Option<Proof> {
    if let Some(proof) = null(body, scan, state, value) {
        return Some(proof);
    }
    let id = made(body, scan, state, array)?;
    let element = class_made(body, id)?.bytes().strip_prefix(b"[")?;
    let fits = |class: ClassName| match element {
        [b'L', name @ .., b';'] => name == class.bytes(),
        _ => element == class.bytes(),
    };
    let value_fits = || {
        // Only objects of the own class are in fields of its type. Of a field whose type is an interface, the verifier
        // does not check that.
        if scan.own.is_some_and(|own| fits(own) && scan.type_of_field(value) == Some(own)) {
            return Some(());
        }
        let class = match exact_constant(body, scan, value) {
            Some(class) => class,
            None => class_made(body, made(body, scan, state, value)?)?,
        };
        fits(class).then_some(())
    };
    (fits(well_known().object) || value_fits().is_some()).then_some(Proof::Allocated(id))
}

/// Returns the exact class of the value of the expression `e` if it is a string constant or a class constant; else
/// `None`.
fn exact_constant(body: &Body, scan: &Scan<'_>, e: ExprId) -> Option<ClassName> {
    match scan.origin(e, |_| {}) {
        Origin::Expr(e) => match body.exprs[e] {
            Expr::Str(_) => Some(well_known().string),
            Expr::Class(_) => Some(well_known().class),
            _ => None,
        },
        _ => None,
    }
}

fn cast(body: &Body, scan: &Scan<'_>, state: Option<&State>, class: ClassName, e: ExprId) -> Option<Proof> {
    let mut cast_before = class == well_known().object;
    let origin = scan.origin(e, |it| cast_before |= it == class);
    if cast_before {
        return Some(Proof::Type);
    }
    if let Some(proof) = null(body, scan, state, e) {
        return Some(proof);
    }
    if exact_constant(body, scan, e) == Some(class) {
        return Some(Proof::Constant);
    }
    if let Some(id) = made(body, scan, state, e)
        && (class_made(body, id) == Some(class) || cloned(&body.instrs[id], scan.own) == Some(class))
    {
        return Some(Proof::Allocated(id));
    }
    match origin {
        Origin::Var(var) => state?.why(var, What::Is(class)),
        // The value in this variable, which was caught or is the receiver, may have been cast before.
        Origin::Caught(_) | Origin::This => state?.why(scan.copied(e)?, What::Is(class)),
        _ => None,
    }
}
