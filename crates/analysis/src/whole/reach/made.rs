//! Adds methods that are called by name once an object exists: its finalizer, and the methods that object streams
//! call.

use classfile::names::{Descriptor, Name};
use program::hierarchy::{Below, ClassId, Link};
use program::members::declared::find_method;

use super::search::{Event, Search};
use crate::whole::reachable::From;
use crate::whole::serialization::{serializable, stream_methods};

/// Adds to the search the methods that the VM or object streams call by name on a created object. `event` is the
/// event that the search just processed.
pub(super) fn happens(search: &mut Search<'_>, event: Event) {
    match event {
        Event::Made(class, from) => {
            finalizer(search, class, from);
            serialization(search, class, from);
        }
        Event::Method(_) | Event::Function(_) => {}
    }
}

/// Adds to the search the method `finalize` of the class, which the VM calls on unused objects (JLS §12.6) even if no
/// reached code calls it.
fn finalizer(search: &mut Search<'_>, class: ClassId, from: From) {
    let (name, descriptor) = (Name::new(b"finalize"), Descriptor::new(b"()V"));
    let hierarchy = search.hierarchy();
    let mut at = Some(class);
    while let Some(class) = at {
        if let Some(it) = find_method(hierarchy, class, name, descriptor) {
            if hierarchy.super_class(class).is_some() {
                search.method(it, from);
            }
            return;
        }
        at = match hierarchy.super_class(class) {
            Some(Link::Present(it)) => Some(it),
            _ => None,
        };
    }
}

/// If the class is serializable, adds to the search the methods that object streams call on its objects although no
/// interface declares them (Java Object Serialization Specification §2.3, §3.4).
fn serialization(search: &mut Search<'_>, class: ClassId, from: From) {
    let hierarchy = search.hierarchy();
    if hierarchy.is_subtype(hierarchy.name(class), serializable()) == Below::No {
        return;
    }
    for &above in hierarchy.supers(class) {
        for it in stream_methods() {
            let it = find_method(hierarchy, above, it.name, it.descriptor);
            it.into_iter().for_each(|it| search.method(it, from));
        }
        // Reading an object runs the constructor of its first superclass that is not serializable, or its own
        // constructor. The constructors of all its supertypes are added.
        let it = find_method(hierarchy, above, Name::new(b"<init>"), Descriptor::new(b"()V"));
        it.into_iter().for_each(|it| search.method(it, from));
    }
}
