//! The exceptions that the `throw` instructions of a method throw (`semantics.md` §3.2).

use bir::body::{Body, Expr, ExprId, Instr, InstrId, Place, Var};
use classfile::descriptor::{FieldType, Kind};
use classfile::names::ClassName;

use crate::reaching::{Reaching, Source};
use crate::throwables::well_known;

/// A set of exceptions that a `throw` instruction may throw. One instruction may have several terms: it may throw the
/// exceptions of each of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Term {
    /// An object of exactly this class.
    Exact(ClassName),
    /// An object of this class or of a subclass.
    Cone(ClassName),
    /// An exception that a handler caught; the handler is given by its first instruction.
    Caught(InstrId),
}

/// The maximum number of terms of one `throw` instruction. If there are more, all terms except [`Term::Caught`] are
/// replaced by one term for Throwable and its subclasses.
const MAX_TERMS: usize = 64;

/// Returns the exceptions that the `throw` instructions of a body may throw, as pairs of an instruction and one of
/// its terms. The pairs are sorted by instruction; the terms of one instruction are in the order in which they were
/// found.
///
/// A null value has no term: the assertion before the `throw` raises the NullPointerException.
pub fn thrown(body: &Body) -> Box<[(InstrId, Term)]> {
    let mut acc = Vec::new();
    let mut reaching = Reaching::new(body);
    for (id, instr) in body.instrs.iter() {
        let Instr::Throw(e) = *instr else { continue };
        let start = acc.len();
        reaching.sources(id, e, |source, narrow| {
            let Some(term) = term_of(body, source, narrow) else { return };
            let mine: &[(InstrId, Term)] = &acc[start..];
            if (mine.len() <= MAX_TERMS || matches!(term, Term::Caught(_)))
                && mine.iter().all(|it| it.1 != term)
            {
                acc.push((id, term));
            }
        });
        let anything = Term::Cone(well_known().throwable);
        if acc.len() - start > MAX_TERMS || acc[start..].iter().any(|it| it.1 == anything) {
            // The terms of handlers stay, because what arrived there may be open.
            let mut first = true;
            let mut kept = 0;
            for i in start..acc.len() {
                let (_, term) = acc[i];
                let caught = matches!(term, Term::Caught(_));
                if caught || first {
                    acc[start + kept] = (id, if caught { term } else { anything });
                    kept += 1;
                    first &= caught;
                }
            }
            acc.truncate(start + kept);
        }
    }
    acc.into()
}

fn term_of(body: &Body, source: Source, narrow: Option<ClassName>) -> Option<Term> {
    let cone = |class: Option<ClassName>| {
        Some(Term::Cone(narrow.or(class).filter(|it| !it.is_array()).unwrap_or(well_known().throwable)))
    };
    match source {
        Source::Unknown => cone(None),
        Source::Entry(var) => cone(parameter(body, var)),
        Source::Expr(e) | Source::Instr(_, Some(e)) => match body.exprs[e] {
            Expr::Null => None,
            _ => cone(static_type(body, e).and_then(FieldType::class)),
        },
        Source::Instr(id, None) => match body.instrs[id] {
            Instr::New(_, constructor, _) => Some(Term::Exact(constructor.class())),
            Instr::Alloc(_, class) => Some(Term::Exact(class)),
            Instr::Catch(_) => Some(Term::Caught(id)),
            ref instr => cone(result_type(body, instr).and_then(FieldType::class)),
        },
    }
}

/// Returns the class of a value that comes from `source`, and whether the value is an object of exactly this class;
/// otherwise, it is null or an object of this class or a subclass. Returns `None` if the class file does not tell.
pub(crate) fn class_of(body: &Body, source: Source) -> Option<(ClassName, bool)> {
    let static_class = |it: Option<FieldType<'static>>| Some((it?.class()?, false));
    match source {
        Source::Unknown => None,
        Source::Entry(var) => Some((parameter(body, var)?, false)),
        Source::Expr(e) | Source::Instr(_, Some(e)) => static_class(static_type(body, e)),
        Source::Instr(id, None) => match body.instrs[id] {
            Instr::New(_, constructor, _) => Some((constructor.class(), true)),
            Instr::Alloc(_, class) => Some((class, true)),
            ref instr => static_class(result_type(body, instr)),
        },
    }
}

/// Returns the static type of an expression that reads a field or an array element. Returns `None` if the class file
/// does not determine the type, or if the expression is of another kind.
fn static_type(body: &Body, e: ExprId) -> Option<FieldType<'static>> {
    match body.exprs[e] {
        Expr::Field(_, field) | Expr::Static(field) => field.descriptor().field_type(),
        Expr::Elem(_, array, _) => {
            let FieldType(text) = match body.exprs[array] {
                Expr::Cast(class, _) => FieldType(class.bytes()),
                Expr::Var(var) => temporary_type(body, var)?,
                _ => static_type(body, array)?,
            };
            text.strip_prefix(b"[").map(FieldType)
        }
        _ => None,
    }
}

/// Returns the static type of a variable if the type is easy to find: the variable is a parameter or receiver that is
/// never assigned, or a temporary whose value is from a field read, a cast, a call or a new array. If the variable is
/// a copy of another variable, the result is `None`.
fn temporary_type(body: &Body, var: Var) -> Option<FieldType<'static>> {
    if !matches!(var.place(), Place::Temp(_)) {
        let class =
            parameter(body, var).filter(|_| body.instrs.values().all(|it| it.assigned() != Some(var)));
        return class.map(|it| FieldType(it.bytes()));
    }
    let instr = body.instrs.values().find(|it| it.assigned() == Some(var))?;
    match *instr {
        Instr::Assign(_, e) => match body.exprs[e] {
            Expr::Field(_, field) | Expr::Static(field) => field.descriptor().field_type(),
            Expr::Cast(class, _) => Some(FieldType(class.bytes())),
            _ => None,
        },
        _ => result_type(body, instr),
    }
}

fn result_type(body: &Body, instr: &Instr) -> Option<FieldType<'static>> {
    match *instr {
        Instr::Call(_, _, method, _) => method.descriptor().method_type()?.ret(),
        Instr::CallDynamic(_, site, _) => body.dynamics.get(site as usize)?.descriptor.method_type()?.ret(),
        Instr::ConstDynamic(_, site) => body.dynamics.get(site as usize)?.descriptor.field_type(),
        Instr::NewArray(_, class, _) | Instr::MultiNewArray(_, class, _) => Some(FieldType(class.bytes())),
        _ => None,
    }
}

/// Returns the class of the parameter or receiver that the variable holds at entry of the method; `None` if the
/// variable holds neither, or a primitive value.
fn parameter(body: &Body, var: Var) -> Option<ClassName> {
    let Place::Local(slot) = var.place() else { return None };
    if var.kind() != Kind::Ref {
        return None;
    }
    let mut at = 0;
    if !body.flags.is_static() {
        if slot == 0 {
            return Some(body.method.class());
        }
        at = 1;
    }
    for param in body.method.descriptor().method_type()?.params() {
        if at == u32::from(slot) {
            return param.class();
        }
        at += u32::from(param.kind().words());
    }
    None
}
