//! Resolution of fields and methods (JVMS §5.4.3.2 to §5.4.3.4), without access control.

use std::sync::LazyLock;

use classfile::names::{ClassName, Descriptor, Name};
use rustc_hash::FxHashSet;

use super::maximal::Maximal;
use super::{FieldId, Found, LinkError, MethodId, ResolvedField, ResolvedMethod, of_object};
use crate::hierarchy::{ClassId, Hierarchy, Link};

/// Resolves a reference to a method of `class`. `interface` is true if the reference is a
/// `CONSTANT_InterfaceMethodref`. An array type has the methods of `java/lang/Object`.
pub fn resolve_method(
    h: &Hierarchy,
    class: ClassName,
    name: Name,
    descriptor: Descriptor,
    interface: bool,
) -> ResolvedMethod {
    if class.is_array() && interface {
        return ResolvedMethod::Error(LinkError::IncompatibleClassChange);
    }
    let class = if class.is_array() { h.object() } else { class };
    let Some(id) = h.class(class) else {
        if h.is_object(class) && (interface || of_object(name, descriptor).is_none()) {
            let error = if interface { LinkError::IncompatibleClassChange } else { LinkError::NoSuchMethod };
            return ResolvedMethod::Error(error);
        }
        return ResolvedMethod::Unknown { outside: class, beyond: None };
    };
    if h.is_interface(id) != interface {
        return ResolvedMethod::Error(LinkError::IncompatibleClassChange);
    }
    let near = if interface {
        in_interface(h, id, name, descriptor)
    } else {
        match in_superclasses(h, id, name, descriptor) {
            Ok(it) => it,
            Err(polymorphic) => return ResolvedMethod::SignaturePolymorphic(polymorphic),
        }
    };
    let found = match near.method {
        Some(_) => near,
        None => {
            let maximal = Maximal::of(h, id, name, descriptor);
            Found { method: maximal.any(h), outside: near.outside.or(maximal.outside) }
        }
    };
    match found {
        Found { outside: Some(outside), method } => ResolvedMethod::Unknown { outside, beyond: method },
        Found { method: Some(it), .. } => ResolvedMethod::Method(it),
        Found { method: None, .. } => ResolvedMethod::Error(LinkError::NoSuchMethod),
    }
}

/// Searches for a method in an interface, then among the public instance methods of `java/lang/Object`: steps 2 and 3
/// of JVMS §5.4.3.4.
fn in_interface(h: &Hierarchy, class: ClassId, name: Name, descriptor: Descriptor) -> Found {
    if let Some(index) = h.method(class, name, descriptor) {
        return Found { method: Some(MethodId { class, index }), outside: None };
    }
    public_of_object(h, name, descriptor)
}

/// Searches for a public instance method of `java/lang/Object` with this name and descriptor.
pub(super) fn public_of_object(h: &Hierarchy, name: Name, descriptor: Descriptor) -> Found {
    let Some(class) = h.class(h.object()) else {
        let is_public = of_object(name, descriptor) == Some(true);
        let outside = is_public.then_some(h.object());
        return Found { method: None, outside };
    };
    let method = h.method(class, name, descriptor).map(|index| MethodId { class, index });
    let is_public = |it: &MethodId| it.of(h).is_some_and(|it| it.flags.is_public() && !it.flags.is_static());
    Found { method: method.filter(is_public), outside: None }
}

/// Searches for a method in a class and its superclasses: step 2 of JVMS §5.4.3.3. If the search finds a
/// signature-polymorphic method (JVMS §2.9.3), returns this method as `Err`.
fn in_superclasses(
    h: &Hierarchy,
    class: ClassId,
    name: Name,
    descriptor: Descriptor,
) -> Result<Found, MethodId> {
    let mut link = Some(Link::Present(class));
    while let Some(it) = link {
        let class = match it {
            Link::Present(class) => class,
            Link::Outside(outside) => return Ok(behind(h, outside, name, descriptor)),
        };
        if let Some(it) = polymorphic(h, class, name) {
            return Err(it);
        }
        if let Some(index) = h.method(class, name, descriptor) {
            return Ok(Found { method: Some(MethodId { class, index }), outside: None });
        }
        link = h.super_class(class);
    }
    Ok(Found::default())
}

/// Continues a search for a method, along a chain of superclasses, behind the absent class `outside`. Of the classes
/// above `outside`, only `java/lang/Object` is known.
pub(super) fn behind(h: &Hierarchy, outside: ClassName, name: Name, descriptor: Descriptor) -> Found {
    if h.is_object(outside) {
        return Found { method: None, outside: of_object(name, descriptor).map(|_| outside) };
    }
    let object = h.class(h.object());
    let method = object.and_then(|class| Some(MethodId { class, index: h.method(class, name, descriptor)? }));
    Found { method, outside: Some(outside) }
}

/// Returns the signature-polymorphic method `name` of the class (JVMS §2.9.3). Returns `None` if the class declares
/// none or several methods with this name.
fn polymorphic(h: &Hierarchy, class: ClassId, name: Name) -> Option<MethodId> {
    static OWNERS: LazyLock<[ClassName; 2]> = LazyLock::new(|| {
        [ClassName::new(b"java/lang/invoke/MethodHandle"), ClassName::new(b"java/lang/invoke/VarHandle")]
    });
    if !OWNERS.contains(&h.name(class)) {
        return None;
    }
    let mut named = (0..).zip(&h.outline(class).methods).filter(|(_, it)| it.name == name);
    let (index, it) = named.next()?;
    // The bit `ACC_VARARGS` (JVMS §4.6).
    let flags = it.flags.is_native() && it.flags.0 & 0x0080 != 0;
    let takes_objects = it.descriptor.bytes().starts_with(b"([Ljava/lang/Object;)");
    (flags && takes_objects && named.next().is_none()).then_some(MethodId { class, index })
}

/// Resolves a reference to a field of `class`.
pub fn resolve_field(h: &Hierarchy, class: ClassName, name: Name, descriptor: Descriptor) -> ResolvedField {
    // Arrays have no fields, and neither has Object.
    if class.is_array() || h.is_object(class) && h.class(class).is_none() {
        return ResolvedField::Error(LinkError::NoSuchField);
    }
    let Some(id) = h.class(class) else { return ResolvedField::Unknown { outside: class, beyond: None } };
    let mut outside = None;
    let mut seen = FxHashSet::default();
    let mut work = vec![Link::Present(id)];
    while let Some(link) = work.pop() {
        let class = match link {
            Link::Present(class) => class,
            Link::Outside(name) => {
                if outside.is_none() && !h.is_object(name) {
                    outside = Some(name);
                }
                continue;
            }
        };
        if !seen.insert(class) {
            continue;
        }
        if let Some(index) = h.field(class, name, descriptor) {
            let field = FieldId { class, index };
            return match outside {
                Some(outside) => ResolvedField::Unknown { outside, beyond: Some(field) },
                None => ResolvedField::Field(field),
            };
        }
        // Superinterfaces with all their supertypes in order, then the superclass: pushed in reverse.
        work.extend(h.super_class(class));
        work.extend(h.interfaces(class).iter().rev());
    }
    match outside {
        Some(outside) => ResolvedField::Unknown { outside, beyond: None },
        None => ResolvedField::Error(LinkError::NoSuchField),
    }
}
