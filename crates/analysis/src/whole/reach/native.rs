//! What native methods of the platform run: the code that their rows in the table of native methods name, and the
//! constructors of exceptions that they throw.

use classfile::names::{ClassName, Descriptor};
use flow::natives::Effect;
use program::input::Role;
use program::members::MethodId;
use program::members::declared::declared;

use super::search::{Event, Search};
use crate::whole::implicit::thread_run;
use crate::whole::reachable::From;

/// Adds to the search what a native method runs. `event` is the event that the search just processed.
pub(super) fn happens(search: &mut Search<'_>, event: Event) {
    if let Event::Method(method) = event {
        native(search, method);
    }
}

fn native(search: &mut Search<'_>, method: MethodId) {
    let from = From::Method(method);
    let hierarchy = search.hierarchy();
    let it = declared(hierarchy, method);
    if !it.flags.is_native() {
        return;
    }
    let row = search.calls.native(method);
    for &(class, _) in row.iter().flat_map(|it| &it.throws) {
        search.thrown(class, from, |_| true);
    }
    match row.map(|it| &it.effect) {
        Some(Effect::Calls(methods)) => {
            methods.iter().for_each(|&it| search.site(search.calls.virtual_site(it), from));
        }
        Some(Effect::Thread) => search.site(search.calls.virtual_site(thread_run()), from),
        // Native methods that may run anything are covered by the assumption of the analysis.
        None | Some(Effect::None | Effect::Load | Effect::Open | Effect::Init) => {}
    }
    // A native method may have created the object that it returns. The class of the object is that of the result or, if
    // that cannot have objects, any class of the platform below it; what natives create of other classes stands in the
    // table of upcalls.
    let Some(class) = result_class(it.descriptor) else { return };
    let Some(id) = hierarchy.class(class).filter(|_| class.bytes() != b"java/lang/Object") else {
        return;
    };
    if hierarchy.role(method.class) != Role::Jdk {
        return;
    }
    let flags = hierarchy.outline(id).flags;
    if !flags.is_abstract() && !flags.is_interface() {
        return search.made(id, from);
    }
    for it in hierarchy.subtypes(id) {
        if hierarchy.role(it) == Role::Jdk {
            search.made(it, from);
        }
    }
}

/// Returns the class in a method's return type (the element class of an array); `None` for a primitive type and
/// `void`.
fn result_class(descriptor: Descriptor) -> Option<ClassName> {
    descriptor.method_type()?.ret()?.class()?.element()
}
