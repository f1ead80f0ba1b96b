//! Access control (JVMS §5.4.4). The answers are three-valued, because a class, or the host of a nest, may be absent.
//!
//! All classes of one role outside the JDK image are assumed to be loaded by one loader. A named module, including
//! those of the image, is assumed to read all other named modules. Modules of the image are assumed to export all
//! packages to each other.

use classfile::flags::Flags;
use classfile::names::ClassName;

use super::{FieldId, MethodId};
use crate::hierarchy::{Below, ClassId, Hierarchy, Package, nest_host, nest_members};
use crate::input::Role;

/// Returns whether code of class `from` may access `class`. An array type is accessible if its element type is.
pub fn may_access_class(h: &Hierarchy, from: ClassId, class: ClassName) -> Below {
    let Some(class) = class.element() else { return Below::Yes };
    if h.is_object(class) {
        return Below::Yes;
    }
    let Some(id) = h.class(class) else { return Below::Unknown };
    let is_visible = h.outline(id).flags.is_public() || same_package(h, from, id);
    if is_visible { may_use_package(h, from, id) } else { Below::No }
}

/// Returns whether the package of `class` is exported to code of class `from`. Qualified exports (to specific
/// modules) are not known, so the answer for classes of two different modules may be [`Below::Unknown`].
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

/// Returns whether code of class `from` may access `method` through a reference that names the class `named`.
pub fn may_access_method(h: &Hierarchy, from: ClassId, named: ClassName, method: MethodId) -> Below {
    let Some(it) = method.of(h) else { return Below::No };
    // JVMS §5.4.4 leaves arrays to the implementation; their `clone` is public (JLS §10.7).
    if named.is_array() && it.name.bytes() == b"clone" {
        return Below::Yes;
    }
    may_access(h, from, named, method.class, it.flags)
}

/// Returns whether code of class `from` may access `field` through a reference that names the class `named`.
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
    let inherits = h.is_subtype(h.name(from), h.name(owner));
    if flags.is_static() { inherits } else { both(inherits, || are_related(h, from, named)) }
}

/// Returns whether one of the two classes is a supertype of the other.
fn are_related(h: &Hierarchy, from: ClassId, named: ClassName) -> Below {
    let from = h.name(from);
    match (h.is_subtype(from, named), h.is_subtype(named, from)) {
        (Below::Yes, _) | (_, Below::Yes) => Below::Yes,
        (Below::No, Below::No) => Below::No,
        _ => Below::Unknown,
    }
}

/// Returns whether both conditions hold.
fn both(a: Below, b: impl Fn() -> Below) -> Below {
    match (a, if a == Below::No { Below::No } else { b() }) {
        (Below::Yes, Below::Yes) => Below::Yes,
        (Below::No, _) | (_, Below::No) => Below::No,
        _ => Below::Unknown,
    }
}

/// Returns whether a method-handle constant of class `from` may access `method` through a reference that names the class
/// `named`. In addition to the access of an instruction, the class library demands for a protected static member of
/// another package that `named` is a supertype or subtype of `from` (`VerifyAccess.isMemberAccessible`).
pub fn may_refer_to_method(h: &Hierarchy, from: ClassId, named: ClassName, method: MethodId) -> Below {
    let access = may_access_method(h, from, named, method);
    let Some(it) = method.of(h) else { return Below::No };
    let is_far = it.flags.is_protected() && it.flags.is_static() && !same_package(h, from, method.class);
    if is_far { both(access, || are_related(h, from, named)) } else { access }
}

/// Returns whether a method-handle constant of class `from` may access `field` through a reference that names the class
/// `named`. For protected fields of another package, the rule is the reverse of that for instructions: static fields
/// need a class `named` that is a supertype or subtype of `from`; instance fields need none, because the handle accepts
/// only objects of class `from`.
pub fn may_refer_to_field(h: &Hierarchy, from: ClassId, named: ClassName, field: FieldId) -> Below {
    let Some(it) = field.of(h) else { return Below::No };
    let is_far = it.flags.is_protected() && !same_package(h, from, field.class);
    if !is_far {
        return may_access(h, from, named, field.class, it.flags);
    }
    let inherits = h.is_subtype(h.name(from), h.name(field.class));
    if it.flags.is_static() { both(inherits, || are_related(h, from, named)) } else { inherits }
}

/// Returns whether the two classes belong to one nest (JVMS §5.4.4).
pub fn are_nestmates(h: &Hierarchy, a: ClassId, b: ClassId) -> Below {
    if a == b {
        return Below::Yes;
    }
    match (host(h, a), host(h, b)) {
        (Host::Known(a), Host::Known(b)) => yes(a == b),
        (Host::Absent(a), Host::Absent(b)) if a == b => Below::Unknown,
        // A class whose absent host does not list it is the host of its own nest, so the two can never share one.
        _ => Below::No,
    }
}

enum Host {
    Known(ClassId),
    /// The nest host that the class names is absent; the host may or may not list the class as a member.
    Absent(ClassName),
}

/// Returns the host of the class's nest: the host that the class names, if that host lists the class as a member;
/// else the class itself. Returns [`Host::Absent`] if the named host is absent.
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

/// A run-time package (JVMS §5.3): whether absent classes may belong to the package, and the package's name. No
/// absent class belongs to a package of the JDK image or of a named module, or to a sealed package.
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
