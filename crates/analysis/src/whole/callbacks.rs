//! The calls that a call of a library method causes in addition to running that method: threads start, privileged
//! actions run, code that is found by name runs, objects are written and read, finalizers run.
//!
//! These calls appear only in answers: neither the targets of other calls nor exceptions depend on them. If the JDK
//! is present, its bodies contain the same calls, many steps away. With the table of callbacks, an answer shows them
//! at the call in the program, even if the JDK is absent.

use bir::body::InstrId;
use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::callbacks::{CallbackKind, callbacks_of};
use flow::throwables::{built_in_parent, well_known};
use program::hierarchy::Link;
use program::input::Role;
use program::members::declared::{declared, find_method};
use program::names::MethodName;

use super::answers::{Call, CallWord, Why};
use super::call_names::call_to;
use super::reads::{Read, note};
use super::serialization::{Direction, is_below, is_serializable, serialization_methods};
use super::sites::{Open, Site};
use super::tables::CallTable;
use super::why::why_call;

fn word(kind: CallbackKind) -> CallWord {
    match kind {
        CallbackKind::Callback => CallWord::Callback,
        CallbackKind::Privileged => CallWord::Privileged,
        CallbackKind::Thread => CallWord::Thread,
        CallbackKind::Reflect => CallWord::Reflect,
        CallbackKind::Initialize => CallWord::Clinit,
        CallbackKind::Load => CallWord::Load,
        CallbackKind::Serialize | CallbackKind::Deserialize => CallWord::Serialization,
    }
}

/// Adds to `acc` the calls that the JDK makes during a call of `method` by the instruction `at`, according to the
/// table of callbacks. `site` is what the call of `method` resolves to.
pub(super) fn callback_calls(
    calls: &CallTable,
    at: Option<InstrId>,
    method: MethodRef,
    site: Site,
    acc: &mut Vec<Call>,
) {
    let names = method.get();
    for row in callbacks_of(names.name, names.descriptor) {
        if !may_be_method_of(calls, row.class, names.class, site) {
            continue;
        }
        let kind = word(row.kind);
        let call = match row.calls {
            Some(it) => call_to(calls, (at, kind), it, calls.virtual_site(it)),
            None => Call {
                declared: Some(MethodName::of(method)),
                open: Some(Why::Reflection),
                ..Call::empty(at, kind)
            },
        };
        let mut call = match row.kind {
            CallbackKind::Serialize => with_serialized(calls, Direction::Writing, call),
            CallbackKind::Deserialize => with_serialized(calls, Direction::Reading, call),
            CallbackKind::Callback
            | CallbackKind::Privileged
            | CallbackKind::Thread
            | CallbackKind::Reflect
            | CallbackKind::Initialize
            | CallbackKind::Load => call,
        };
        // If the JDK is present, its bodies already contain the calls of its own methods.
        if calls.classes.hierarchy.class(row.class).is_some() && row.calls.is_some() {
            call.targets.retain(|it| !is_platforms(calls, *it));
            call.possible.retain(|it| !is_platforms(calls, *it));
            if call.targets.is_empty() && call.possible.is_empty() {
                continue;
            }
        }
        acc.push(call);
    }
}

fn is_platforms(calls: &CallTable, method: MethodName) -> bool {
    let class = calls.classes.hierarchy.class(ClassName::new(method.class.0));
    class.is_some_and(|it| calls.classes.hierarchy.role(it) == Role::Jdk)
}

/// Returns whether a call may run a method that the platform class `class` declares. `named` is the class that the
/// call names, and `site` is what the call resolves to.
fn may_be_method_of(calls: &CallTable, class: ClassName, named: ClassName, site: Site) -> bool {
    let resolved = match site {
        Site::Method(it) => Some(it),
        Site::Dispatch(it) => calls.dispatches.get(it).resolved(),
        Site::Open(_) => None,
        Site::Error(_) | Site::Vm => return false,
    };
    match resolved {
        Some(it) => calls.classes.hierarchy.name(it.class) == class,
        None => named == class || is_below(&calls.classes.hierarchy, named, class) == Some(true),
    }
}

/// Adds to `call` the methods that object streams may run in classes outside the platform when they write or read
/// objects (`direction`).
fn with_serialized(calls: &CallTable, direction: Direction, mut call: Call) -> Call {
    note(Read::Classes);
    let hierarchy = &calls.classes.hierarchy;
    for class in hierarchy.ids().filter(|&it| hierarchy.role(it) != Role::Jdk) {
        if hierarchy.is_interface(class) {
            continue;
        }
        let Some(surely) = is_serializable(hierarchy, class) else { continue };
        let methods = serialization_methods(hierarchy, direction, class, surely);
        let names = methods.into_iter().map(|it| calls.classes.name(it));
        if surely { call.targets.extend(names) } else { call.possible.extend(names) }
    }
    call.sorted()
}

/// Returns the call of the finalizer of an object of this class, which a thread of the VM may run at any time (JLS
/// §12.6). The call is open if an absent superclass may declare the finalizer. Returns `None` if the object has no
/// finalizer. Also returns `None` if the class itself is absent, because the call of its constructor is already open
/// then.
pub(super) fn finalizer_call(calls: &CallTable, at: Option<InstrId>, class: ClassName) -> Option<Call> {
    let hierarchy = &calls.classes.hierarchy;
    let (name, descriptor) = (Name::new(b"finalize"), Descriptor::new(b"()V"));
    let mut at_class = hierarchy.class(class)?;
    loop {
        if hierarchy.name(at_class).bytes() == b"java/lang/Object" {
            return None;
        }
        if let Some(it) = find_method(hierarchy, at_class, name, descriptor)
            .filter(|&it| !declared(hierarchy, it).flags.is_static())
        {
            return Some(Call {
                targets: vec![calls.classes.name(it)],
                ..Call::empty(at, CallWord::Finalizer)
            });
        }
        match hierarchy.super_class(at_class)? {
            Link::Present(above) => at_class = above,
            // Neither Object nor the built-in throwables have a finalizer that does anything.
            Link::Outside(it) if it == well_known().object || built_in_parent(it).is_some() => {
                return None;
            }
            Link::Outside(it) => {
                let open = Some(why_call(calls, Open::Outside(it))?);
                return Some(Call { open, ..Call::empty(at, CallWord::Finalizer) });
            }
        }
    }
}
