//! Adds methods that are called by name once an object exists: its finalizer, and the methods that object streams
//! call.

use classfile::names::{Descriptor, Name};
use program::hierarchy::{ClassId, Link};
use program::members::declared::find_method;

use super::search::{Event, Search};
use crate::whole::reachable::From;
use crate::whole::serialization::{Direction, is_serializable, serialization_methods};

/// Adds to the search the methods that the VM or object streams call by name on a created object. `event` is the
/// event that the search just processed.
pub(super) fn happens(search: &mut Search<'_>, event: Event) {
    match event {
        Event::Made(class, from) => {
            finalizer(search, class, from);
            for direction in search.streams() {
                stream_methods(search, direction, class, from);
            }
        }
        Event::Stream(direction, from) => stream_started(search, direction, from),
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

/// Adds to the search what object streams run once reached code reads or writes objects. A stream that is read may
/// name any serializable class.
fn stream_started(search: &mut Search<'_>, direction: Direction, from: From) {
    let hierarchy = search.hierarchy();
    for class in hierarchy.ids().filter(|&it| !hierarchy.is_interface(it)) {
        let is_surely = is_serializable(hierarchy, class);
        if is_surely.is_none() || (direction == Direction::Writing && !search.is_made(class)) {
            continue;
        }
        if direction == Direction::Reading && !hierarchy.outline(class).flags.is_abstract() {
            search.initialize(class, from);
            search.made(class, from);
        }
        stream_methods(search, direction, class, from);
    }
}

/// If the class is serializable, adds to the search the methods that object streams run when they read or write its
/// objects although no interface declares them.
fn stream_methods(search: &mut Search<'_>, direction: Direction, class: ClassId, from: From) {
    let hierarchy = search.hierarchy();
    let mut at = Some(class);
    while let Some(class) = at {
        if let Some(surely) = is_serializable(hierarchy, class) {
            let found = serialization_methods(hierarchy, direction, class, surely);
            found.into_iter().for_each(|it| search.method(it, from));
        }
        at = match hierarchy.super_class(class) {
            Some(Link::Present(it)) => Some(it),
            _ => None,
        };
    }
}
