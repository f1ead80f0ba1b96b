//! What the making of an object lets others call by name: its finalizer, and methods that object streams know.

use classfile::names::{Descriptor, Name};
use program::hierarchy::{Below, ClassId, Link};
use program::members::declared::find_method;

use super::search::{Event, Search};
use crate::whole::reachable::From;
use crate::whole::serialization::{serializable, stream_methods};

/// What follows from something that was reached.
pub(super) fn happens(search: &mut Search<'_>, event: Event) {
    match event {
        Event::Made(class, from) => {
            finalizer(search, class, from);
            serialization(search, class, from);
        }
        Event::Method(_) | Event::Function(_) => {}
    }
}

/// The VM calls `finalize` of what is no longer used (JLS §12.6), whatever the platform's code says of it.
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

/// Streams call methods of serializable objects that no interface names (Java Object Serialization Specification
/// §2.3, §3.4).
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
        // Reading makes objects by the constructor of the first class that is not serializable, or by their own.
        let it = find_method(hierarchy, above, Name::new(b"<init>"), Descriptor::new(b"()V"));
        it.into_iter().for_each(|it| search.method(it, from));
    }
}
