//! Converts the causes of open parts to the form that answers use.

use classfile::names::ClassName;
use program::input::WorldKind;
use program::names::{MethodName, Text};

use super::answers::Why;
use super::lattice::OpenCause;
use super::sites::Open;
use super::tables::{CallTable, ClassTable};

/// Returns the reason why a call may run unknown methods, in the form that answers use. Returns `None` if no such
/// unknown methods exist in the world of the program.
pub(super) fn why_call(calls: &CallTable, open: Open) -> Option<Why> {
    match open {
        Open::Outside(_) if calls.options.world == WorldKind::Closed => None,
        Open::Outside(it) => Some(Why::Outside(Text(it.bytes()))),
        Open::Overridable(it) => Some(match opened_by(&calls.classes, it) {
            Some(absent) => Why::Outside(Text(absent.bytes())),
            None => Why::Overridable(Text(it.bytes())),
        }),
        Open::SignaturePolymorphic => Some(Why::SignaturePolymorphic),
    }
}

/// Returns the absent class that makes it possible for unknown classes to extend this class; `None` if there is no
/// such absent class.
pub(super) fn opened_by(classes: &ClassTable, class: ClassName) -> Option<ClassName> {
    classes.hierarchy.class(class).and_then(|it| classes.hierarchy.opened_by(it))
}

/// Returns the reason why exceptions are open, in the form that answers use. Returns `None` if unknown code that
/// could raise the exceptions cannot exist in the world of the program.
pub(super) fn why(calls: &CallTable, cause: OpenCause) -> Option<Why> {
    let name = |it| calls.classes.name(it);
    Some(match cause {
        OpenCause::Call(open) => return why_call(calls, open),
        OpenCause::Initializer(_) if calls.options.world == WorldKind::Closed => return None,
        OpenCause::Initializer(it) => Why::Initializer(Text(it.bytes())),
        OpenCause::Bootstrap(it) => Why::Bootstrap(MethodName::of(it)),
        OpenCause::Native(it) => Why::Native(name(it)),
        OpenCause::MissingCode(it) => Why::MissingCode(name(it)),
        OpenCause::Ghost(it) => Why::Ghost(name(it)),
    })
}
