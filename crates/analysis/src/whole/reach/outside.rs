//! Adds to a search the methods that absent classes can run: absent classes may call methods that they can name,
//! create objects, extend classes, and call methods of any object that is passed to them (`semantics.md` §4.7).

use flow::fuel::{Cancelled, Fuel};
use flow::throwables::well_known;
use program::hierarchy::ClassId;
use program::members::MethodId;
use program::members::declared::declared;
use rustc_hash::FxHashSet;

use super::search::{Event, Search};
use crate::whole::reachable::From;
use crate::whole::serialization::Direction;
use crate::whole::sites::FunctionSiteId;

/// Adds to the search the methods and classes that code of absent classes can use by name. Does nothing if there is
/// no code of absent classes.
///
/// # Errors
/// When the work is cancelled.
pub(super) fn start(search: &mut Search<'_>, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
    if !search.has_outside() {
        return Ok(());
    }
    search.stream(Direction::Reading, From::Outside);
    search.stream(Direction::Writing, From::Outside);
    let hierarchy = search.hierarchy();
    let mut named: FxHashSet<ClassId> = FxHashSet::default();
    for class in hierarchy.ids().filter(|&it| hierarchy.nameable_outside(it)) {
        fuel.spend(32)?;
        search.initialize(class, From::Outside);
        // Absent classes can also name members that the class inherits.
        named.extend(hierarchy.supers(class));
        // An unknown subclass inherits the methods of this class.
        if hierarchy.extensible(class) {
            class_made(search, class, From::Outside);
        }
    }
    for class in hierarchy.ids().filter(|it| named.contains(it)) {
        fuel.spend(8)?;
        for (index, method) in hierarchy.outline(class).methods.iter().enumerate() {
            let is_constructor = method.name.bytes() == b"<init>";
            if !hierarchy.usable_outside(class, method.flags) {
                continue;
            }
            if is_constructor && hierarchy.nameable_outside(class) {
                search.made(class, From::Outside);
            }
            if method.flags.is_static() || is_constructor {
                search.method(MethodId::new(class, index), From::Outside);
            }
        }
    }
    Ok(())
}

/// Adds to the search the methods that code of absent classes may run because of an event, for example because an
/// object was created. `event` is the event that the search just processed.
pub(super) fn happens(search: &mut Search<'_>, event: Event) {
    match event {
        Event::Method(_) | Event::Stream(..) => {}
        Event::Made(class, from) => class_made(search, class, from),
        Event::Function(site) => function_made(search, site),
    }
}

/// Adds to the search the methods that code of absent classes may call on an object of the class, because the object
/// may be passed to this code. In a closed world such calls come only from the absent supertypes of the class, if it
/// has any.
fn class_made(search: &mut Search<'_>, class: ClassId, from: From) {
    let hierarchy = search.hierarchy();
    let leaves = hierarchy.outside_above(class).is_some();
    if !search.has_outside() && !leaves {
        return;
    }
    // If it is not known which code creates the object, the path begins with the call by unseen code.
    let from = if search.has_outside() || from == From::Vm { From::Outside } else { from };
    for &above in hierarchy.supers(class) {
        for (index, method) in hierarchy.outline(above).methods.iter().enumerate() {
            let flags = method.flags;
            let is_instance = !flags.is_static() && method.name.bytes() != b"<init>";
            if is_instance && !flags.is_abstract() && hierarchy.usable_outside(above, flags) {
                search.method(MethodId::new(above, index), from);
            }
        }
    }
}

/// Adds to the search the methods that code of absent classes may call on a function object, under the same
/// conditions as in [`class_made`].
fn function_made(search: &mut Search<'_>, site: FunctionSiteId) {
    let hierarchy = search.hierarchy();
    let it = &search.calls.functions[site.index()];
    let interfaces = || std::iter::once(&it.function.interface).chain(&it.function.markers);
    let leaves = interfaces().any(|&it| {
        it != well_known().object
            && hierarchy.class(it).is_none_or(|id| hierarchy.outside_above(id).is_some())
    });
    if !search.has_outside() && !leaves {
        return;
    }
    let from = if search.has_outside() { From::Outside } else { From::Method(it.owner) };
    search.glue(site, from);
    let present: Vec<ClassId> = interfaces().filter_map(|&it| hierarchy.class(it)).collect();
    for class in present {
        for &above in hierarchy.supers(class) {
            for index in 0..hierarchy.outline(above).methods.len() {
                let id = MethodId::new(above, index);
                let flags = declared(hierarchy, id).flags;
                if !flags.is_static() && !flags.is_abstract() && hierarchy.usable_outside(above, flags) {
                    search.method(id, from);
                }
            }
        }
    }
}
