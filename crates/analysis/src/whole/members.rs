//! What the rest of this module asks of members besides resolution: the declaration behind an id, and what
//! initialisation runs (JVMS §5.5).

use std::sync::LazyLock;

use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, Name};
use program::hierarchy::{ClassId, Hierarchy, Link};
use program::input::Role;
use program::members::MethodId;
use program::outline::Method;
use rustc_hash::FxHashSet;

/// The method with this number in its class file.
pub fn method_id(class: ClassId, index: usize) -> MethodId {
    MethodId { class, index: index as u32 }
}

/// The declaration of a method of the hierarchy.
pub fn declared(hierarchy: &Hierarchy, id: MethodId) -> &Method {
    // Ids of another hierarchy do not come here; a private method that nobody calls would be a safe answer.
    static NOTHING: LazyLock<Method> = LazyLock::new(|| Method {
        flags: Flags::PRIVATE,
        name: Name::new(b""),
        descriptor: Descriptor::new(b"()V"),
        throws: Box::default(),
        ghost: None,
    });
    id.of(hierarchy).unwrap_or(&NOTHING)
}

/// The method of this name and descriptor that the class itself declares.
pub fn find_method(
    hierarchy: &Hierarchy,
    class: ClassId,
    name: Name,
    descriptor: Descriptor,
) -> Option<MethodId> {
    hierarchy.method(class, name, descriptor).map(|index| MethodId { class, index })
}

/// Whether a class itself declares a method that calls select by their receiver: neither static nor private.
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

/// The class's own initialiser (JVMS §2.9.2).
pub fn class_initializer(hierarchy: &Hierarchy, class: ClassId) -> Option<MethodId> {
    let id = find_method(hierarchy, class, Name::new(b"<clinit>"), Descriptor::new(b"()V"))?;
    // From version 51 on an initialiser is static, or it is none.
    let (_, major) = hierarchy.outline(class).version;
    (major < 51 || declared(hierarchy, id).flags.is_static()).then_some(id)
}

/// The superinterfaces that initialising a class initialises: those that declare an instance method with code. One that
/// is outside may.
pub fn initialized_interfaces(hierarchy: &Hierarchy, class: ClassId) -> Vec<Link> {
    let mut acc = Vec::new();
    let (mut seen, mut pending) = (FxHashSet::default(), hierarchy.interfaces(class).to_vec());
    while let Some(link) = pending.pop() {
        match link {
            Link::Outside(_) if seen.insert(link) => acc.push(link),
            Link::Present(it) if seen.insert(link) => {
                pending.extend(hierarchy.interfaces(it));
                let code = |it: &Method| !it.flags.is_static() && !it.flags.is_abstract();
                if hierarchy.outline(it).methods.iter().any(code) {
                    acc.push(link);
                }
            }
            _ => {}
        }
    }
    acc
}

/// The superclass as far as initialisation goes: Object runs nothing that could fail, also when it is not there.
pub fn initialized_superclass(hierarchy: &Hierarchy, class: ClassId) -> Option<Link> {
    hierarchy.super_class(class).filter(|it| *it != Link::Outside(ClassName::new(b"java/lang/Object")))
}

/// Whether no class that nobody has seen can override the method, although its class may be extended: it is
/// package-private in a package of the platform, or in another one in which no class from elsewhere lies.
pub fn is_closed_to_overriding(hierarchy: &Hierarchy, id: MethodId) -> bool {
    let flags = declared(hierarchy, id).flags;
    let package_private = !flags.is_public() && !flags.is_protected() && !flags.is_private();
    let owned = hierarchy.role(id.class) == Role::Jdk || !hierarchy.usable_outside(id.class, flags);
    package_private && owned
}

/// The class of an array's elements, of a class itself; none of an array of primitives.
pub(super) fn element(it: ClassName) -> Option<ClassName> {
    let text = it.bytes();
    if !it.is_array() {
        return Some(it);
    }
    let text = text.iter().position(|&b| b != b'[').and_then(|at| text.get(at..))?;
    text.strip_prefix(b"L").and_then(|it| it.strip_suffix(b";")).map(ClassName::new)
}
