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
use program::hierarchy::{ClassId, Link};
use program::input::Role;
use program::members::MethodId;
use program::members::declared::{declared, find_method};
use program::names::MethodName;

use super::answers::{Call, CallWord, Why};
use super::call_names::call_to;
use super::reads::{Read, note};
use super::serialization::{Direction, externalizable, serializable, stream_methods};
use super::sites::{Open, Site};
use super::tables::CallTable;
use super::why::why_call;

fn word(kind: CallbackKind) -> CallWord {
    match kind {
        CallbackKind::Callback => CallWord::Callback,
        CallbackKind::Privileged => CallWord::Privileged,
        CallbackKind::Thread => CallWord::Thread,
        CallbackKind::Reflect => CallWord::Reflect,
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
        None => named == class || is_below(calls, named, class) == Some(true),
    }
}

/// Returns whether the class `sub` is the class `sup` or a subtype of it; `None` if this depends on an absent
/// supertype of `sub`. If `sub` itself is absent, only `sub` counts as its own supertype.
fn is_below(calls: &CallTable, sub: ClassName, sup: ClassName) -> Option<bool> {
    let hierarchy = &calls.classes.hierarchy;
    let Some(id) = hierarchy.class(sub) else { return Some(sub == sup) };
    for &it in hierarchy.supers(id) {
        let links = hierarchy.super_class(it).into_iter().chain(hierarchy.interfaces(it).iter().copied());
        if hierarchy.name(it) == sup || links.into_iter().any(|it| it == Link::Outside(sup)) {
            return Some(true);
        }
    }
    // Object has no supertype, so its absence hides none.
    let outside = hierarchy.supers(id).iter().any(|&it| {
        let links = hierarchy.super_class(it).into_iter().chain(hierarchy.interfaces(it).iter().copied());
        links.into_iter().any(|it| matches!(it, Link::Outside(name) if name.bytes() != b"java/lang/Object"))
    });
    if outside { None } else { Some(false) }
}

/// Returns `Some(true)` if objects of a class are serializable, `Some(false)` if they may be serializable because a
/// supertype is absent, and `None` if they are not serializable.
fn is_serializable(calls: &CallTable, class: ClassId) -> Option<bool> {
    let name = calls.classes.hierarchy.name(class);
    // Both interfaces are checked, because without a JDK it is not known that Externalizable extends Serializable.
    let below = [externalizable(), serializable()];
    let below = below.map(|it| is_below(calls, name, it));
    if below.contains(&Some(true)) {
        return Some(true);
    }
    below.contains(&None).then_some(false)
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
        let Some(surely) = is_serializable(calls, class) else { continue };
        let methods = serialization_methods(calls, direction, class, surely);
        let names = methods.into_iter().map(|it| calls.classes.name(it));
        if surely { call.targets.extend(names) } else { call.possible.extend(names) }
    }
    call.sorted()
}

fn serialization_methods(
    calls: &CallTable,
    direction: Direction,
    class: ClassId,
    surely: bool,
) -> Vec<MethodId> {
    let hierarchy = &calls.classes.hierarchy;
    let find = |class: ClassId, name: Name, descriptor: Descriptor| {
        find_method(hierarchy, class, name, descriptor)
            .filter(|&it| !declared(hierarchy, it).flags.is_static())
    };
    let constructor = |class| find(class, Name::new(b"<init>"), Descriptor::new(b"()V"));
    let mut acc = Vec::new();
    for it in stream_methods().iter().filter(|it| it.direction == direction) {
        let found = find(class, it.name, it.descriptor);
        acc.extend(found.filter(|&id| it.replaces || declared(hierarchy, id).flags.is_private()));
    }
    if !surely || direction == Direction::Writing {
        return acc;
    }
    // Reading an object runs the constructor of its first superclass that is not serializable. Reading an
    // externalizable object runs the constructor of its own class.
    if is_below(calls, hierarchy.name(class), externalizable()) == Some(true) {
        acc.extend(constructor(class));
        return acc;
    }
    let mut at = class;
    while let Some(Link::Present(above)) = hierarchy.super_class(at) {
        if is_serializable(calls, above) != Some(true) {
            acc.extend(constructor(above));
            break;
        }
        at = above;
    }
    acc
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
