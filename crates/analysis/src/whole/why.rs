//! Causes of open parts, as answers name them.

use classfile::names::ClassName;
use program::input::WorldKind;
use program::names::{MethodName, Text};

use super::answers::Why;
use super::sites::Open;
use super::tables::{CallTable, ClassTable};
use super::unknown::OpenCause;

/// Why a call may go to unknown methods; `None` if the world has none.
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

/// The absent class that lets unknown classes extend this one.
pub(super) fn opened_by(classes: &ClassTable, class: ClassName) -> Option<ClassName> {
    classes.hierarchy.class(class).and_then(|it| classes.hierarchy.opened_by(it))
}

/// Why something is open; `None` if the world has nothing unknown of the kind.
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
