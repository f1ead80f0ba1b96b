//! Lookup of the methods that a class itself declares, without any search through supertypes.

use std::sync::LazyLock;

use classfile::flags::Flags;
use classfile::names::{Descriptor, Name};

use super::MethodId;
use crate::hierarchy::{ClassId, Hierarchy};
use crate::input::Role;
use crate::outline::Method;

/// Returns the declaration of a method of the hierarchy.
pub fn declared(hierarchy: &Hierarchy, id: MethodId) -> &Method {
    // An id of another hierarchy is a bug of the caller. A private method that nobody calls is then a safe answer.
    static NOTHING: LazyLock<Method> = LazyLock::new(|| Method {
        flags: Flags::PRIVATE,
        name: Name::new(b""),
        descriptor: Descriptor::new(b"()V"),
        throws: Box::default(),
        ghost: None,
    });
    id.of(hierarchy).unwrap_or(&NOTHING)
}

/// Returns the method with this name and descriptor that the class itself declares; `None` if it declares none.
pub fn find_method(
    hierarchy: &Hierarchy,
    class: ClassId,
    name: Name,
    descriptor: Descriptor,
) -> Option<MethodId> {
    hierarchy.method(class, name, descriptor).map(|index| MethodId { class, index })
}

/// Returns whether the class itself declares a method with this name and descriptor that is neither static nor
/// private, so that calls of it depend on the receiver's class.
pub fn declares_selectable(
    hierarchy: &Hierarchy,
    class: ClassId,
    name: Name,
    descriptor: Descriptor,
) -> bool {
    find_method(hierarchy, class, name, descriptor).is_some_and(|it| {
        let flags = declared(hierarchy, it).flags;
        !flags.is_static() && !flags.is_private()
    })
}

/// Returns whether no unknown class can override the method, even if unknown classes extend its class. This holds if
/// the method is package-private, and its package belongs to the JDK or admits no unknown class.
pub fn is_closed_to_overriding(hierarchy: &Hierarchy, id: MethodId) -> bool {
    let flags = declared(hierarchy, id).flags;
    let package_private = !flags.is_public() && !flags.is_protected() && !flags.is_private();
    let owned = hierarchy.role(id.class) == Role::Jdk || !hierarchy.usable_outside(id.class, flags);
    package_private && owned
}
