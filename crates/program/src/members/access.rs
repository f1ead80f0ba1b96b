//! Access control (JVMS §5.4.4), three-valued: a class may be absent, and so may the host of a nest.
//!
//! All classes of one role outside the JDK image count as loaded by one loader. Between named modules, those of the
//! image among them, everything public is taken as readable, and between those of the image as exported.

use classfile::flags::Flags;
use classfile::names::ClassName;

use super::{FieldId, MethodId};
use crate::hierarchy::{Below, ClassId, Hierarchy, Package, nest_host, nest_members};
use crate::input::Role;

/// Whether code of class `from` may name the class. Of an array its elements count.
pub fn may_access_class(h: &Hierarchy, from: ClassId, class: ClassName) -> Below {
    let text = class.bytes();
    let element = text.iter().position(|&it| it != b'[').and_then(|at| text.get(at..)).unwrap_or_default();
    let class = match element {
        [b'L', name @ .., b';'] if class.is_array() => ClassName::new(name),
        _ if class.is_array() => return Below::Yes,
        _ => class,
    };
    if h.is_object(class) {
        return Below::Yes;
    }
    let Some(id) = h.class(class) else { return Below::Unknown };
    let is_visible = h.outline(id).flags.is_public() || same_package(h, from, id);
    if is_visible { may_use_package(h, from, id) } else { Below::No }
}

/// Whether the package of a class is exported to code of class `from`. What a module exports to another one alone is
/// not known here.
fn may_use_package(h: &Hierarchy, from: ClassId, class: ClassId) -> Below {
    if h.package(class) != Package::Closed {
        return Below::Yes;
    }
    match (h.module(from), h.role(from)) {
        (None, Role::Jdk) => {
            if h.role(class) == Role::Jdk {
                Below::Yes
            } else {
                Below::Unknown
            }
        }
        (None, _) => Below::No,
        (from, _) if from == h.module(class) => Below::Yes,
        _ => Below::Unknown,
    }
}

/// Whether code of class `from` may use the method, which it named as one of class `named`.
pub fn may_access_method(h: &Hierarchy, from: ClassId, named: ClassName, method: MethodId) -> Below {
    let Some(it) = method.of(h) else { return Below::No };
    // JVMS §5.4.4 leaves arrays to the implementation; their clone is public (JLS §10.7).
    if named.is_array() && it.name.bytes() == b"clone" {
        return Below::Yes;
    }
    may_access(h, from, named, method.class, it.flags)
}

/// Whether code of class `from` may use the field, which it named as one of class `named`.
pub fn may_access_field(h: &Hierarchy, from: ClassId, named: ClassName, field: FieldId) -> Below {
    field.of(h).map_or(Below::No, |it| may_access(h, from, named, field.class, it.flags))
}

fn may_access(h: &Hierarchy, from: ClassId, named: ClassName, owner: ClassId, flags: Flags) -> Below {
    if flags.is_public() || owner == from {
        return Below::Yes;
    }
    if flags.is_private() {
        return are_nestmates(h, from, owner);
    }
    if same_package(h, from, owner) {
        return Below::Yes;
    }
    if !flags.is_protected() {
        return Below::No;
    }
    let from = h.name(from);
    let inherits = h.is_subtype(from, h.name(owner));
    if flags.is_static() || inherits == Below::No {
        return inherits;
    }
    // The class named must be above or below the one whose code it is.
    match (inherits, h.is_subtype(from, named), h.is_subtype(named, from)) {
        (Below::Yes, Below::Yes, _) | (Below::Yes, _, Below::Yes) => Below::Yes,
        (_, Below::No, Below::No) => Below::No,
        _ => Below::Unknown,
    }
}

/// Whether the two classes are of one nest (JVMS §5.4.4).
pub fn are_nestmates(h: &Hierarchy, a: ClassId, b: ClassId) -> Below {
    if a == b {
        return Below::Yes;
    }
    match (host(h, a), host(h, b)) {
        (Host::Known(a), Host::Known(b)) => yes(a == b),
        (Host::Absent(a), Host::Absent(b)) if a == b => Below::Unknown,
        // An absent host that refuses its member leaves it a nest of its own: in no case are they one.
        _ => Below::No,
    }
}

enum Host {
    Known(ClassId),
    /// The class names this one, which may list it or not.
    Absent(ClassName),
}

/// The host of the class's nest: the one that it names if that lists it, else itself.
fn host(h: &Hierarchy, class: ClassId) -> Host {
    let outline = h.outline(class);
    let Some(name) = nest_host(outline) else { return Host::Known(class) };
    if name.package() != outline.class.package() {
        return Host::Known(class);
    }
    match h.class(name) {
        Some(it) if same_package(h, it, class) && nest_members(h.outline(it)).contains(&outline.class) => {
            Host::Known(it)
        }
        Some(_) => Host::Known(class),
        None => Host::Absent(name),
    }
}

/// A package of one loader (JVMS §5.3): whether it is free for classes from elsewhere, and its name. No such class lies
/// in a package of the image, of a named module, or that is sealed.
pub(super) type RunTimePackage = (bool, &'static [u8]);

pub(super) fn run_time_package(h: &Hierarchy, class: ClassId) -> RunTimePackage {
    (h.package(class) == Package::Free, h.name(class).package())
}

fn same_package(h: &Hierarchy, a: ClassId, b: ClassId) -> bool {
    run_time_package(h, a) == run_time_package(h, b)
}

fn yes(it: bool) -> Below {
    if it { Below::Yes } else { Below::No }
}
