//! The exceptions that unknown code lets out: ghosts, code that cannot be read, and methods and initialisers of
//! absent classes (`semantics.md` §1, §3).

use classfile::names::{ClassName, MethodRef};
use flow::throwables::well_known;
use flow::universe::SetId;
use program::input::WorldKind;
use program::members::declared::declared;
use program::members::resolve::resolve_method;
use program::members::{MethodId, ResolvedMethod};

use super::lattice::{Exceptions, OpenCause, Value};
use super::promises::excluded;
use super::sites::Open;
use super::tables::CallTable;
use crate::summary::MethodSummary;

/// Returns the exceptions that a method with unknown code lets out, and the reason why they are open. Returns `None`
/// if the code of the method is known, or if the method has no code.
pub(super) fn unseen(calls: &CallTable, ex: &mut Exceptions, id: MethodId) -> Option<(Value, OpenCause)> {
    if let Some(ghost) = calls.classes.ghost(id) {
        let all = contract(calls, ex, Some(id));
        let never = excluded(ghost, ex);
        let open = ex.universe.minus(all, never);
        return Some((Value::open(open), OpenCause::Ghost(id)));
    }
    match calls.classes.summary(id) {
        MethodSummary::Missing | MethodSummary::Unread => {
            Some((Value::open(contract(calls, ex, Some(id))), OpenCause::MissingCode(id)))
        }
        MethodSummary::None | MethodSummary::Known(_) => None,
    }
}

/// Returns the exceptions that unknown code of `method` lets out: all exceptions or, under `--assume contract`, only
/// unchecked exceptions and those that the method declares. If `method` is `None`, the code is of an unknown method
/// and may let out all exceptions.
pub(super) fn contract(calls: &CallTable, ex: &mut Exceptions, method: Option<MethodId>) -> SetId {
    let all = ex.universe.all();
    let (true, Some(method)) = (calls.options.assume_contract, method) else { return all };
    let universe = &mut ex.universe;
    let mut acc = universe.cone(ClassName::new(b"java/lang/RuntimeException"));
    for &class in &declared(&calls.classes.hierarchy, method).throws {
        let cone = universe.cone(class);
        acc = universe.join(acc, cone);
    }
    acc
}

/// Returns the exceptions that the unknown targets of a call let out. `open` is the reason why the call has such
/// targets; `method` is the method that the call names.
pub(super) fn open_call(
    calls: &CallTable,
    ex: &mut Exceptions,
    open: Open,
    method: Option<MethodRef>,
) -> Value {
    let declared = match open {
        Open::Outside(_) if calls.options.world == WorldKind::Closed => return Value::NOTHING,
        Open::Outside(_) | Open::SignaturePolymorphic => None,
        Open::Overridable(_) => method.and_then(|it| declaration(calls, it)),
    };
    Value::open(contract(calls, ex, declared))
}

/// Returns the present method to which a virtual call of `method` resolves; `None` if the call does not resolve to a
/// present method.
fn declaration(calls: &CallTable, method: MethodRef) -> Option<MethodId> {
    let it = method.get();
    let interface = calls.classes.is_interface(it.class);
    match resolve_method(&calls.classes.hierarchy, it.class, it.name, it.descriptor, interface) {
        ResolvedMethod::Method(it) => Some(it),
        ResolvedMethod::SignaturePolymorphic(_)
        | ResolvedMethod::Error(_)
        | ResolvedMethod::Unknown { .. } => None,
    }
}

/// Returns the exceptions that initialising an absent class lets out: only errors, because every other exception is
/// wrapped in an error.
pub(super) fn unknown_initializer(calls: &CallTable, ex: &mut Exceptions) -> Value {
    if calls.options.world == WorldKind::Closed {
        return Value::NOTHING;
    }
    Value::open(ex.universe.masks(Some(well_known().error)).may)
}
