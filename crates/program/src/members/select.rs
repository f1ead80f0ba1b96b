//! Selection of the method that runs for a receiver's class (JVMS §5.4.6), and of the method that `invokespecial`
//! runs (JVMS §6.5).

use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, Name};
use rustc_hash::FxHashSet;

use super::access::{RunTimePackage, run_time_package};
use super::maximal::{Choice, Maximal};
use super::resolve::{behind, public_of_object, resolve_method};
use super::{Found, LinkError, MethodId, ResolvedMethod, Selected};
use crate::hierarchy::{Below, ClassId, Hierarchy, Link};

/// Returns the method that `invokevirtual` runs on an object of class `receiver`, for a reference that resolves to
/// `resolved`. Private methods select themselves. Array types are not supported: they have the methods of
/// `java/lang/Object`.
///
/// If absent classes decide whether `receiver` is a subclass of the class of `resolved`, `receiver` is assumed to be
/// a subclass. If `receiver` certainly is no subclass, the result is an error.
///
/// Approximates: follows JVMS §5.4.6, where private and static methods of classes do not hide a default method.
/// HotSpot does the same for a class whose only superclass is `java/lang/Object`; if a superclass or subclass has the
/// default method, too, HotSpot throws `AbstractMethodError`. No compiler writes classes with such methods, but
/// recompiling an interface alone produces them.
pub fn select(h: &Hierarchy, receiver: ClassId, resolved: MethodId) -> Selected {
    select_if(h, receiver, resolved, |_| true)
}

/// Returns the method that `invokeinterface` runs on an object of class `receiver`, for a reference to interface
/// `named` that resolves to `resolved`. The result is an error if the receiver does not implement `named`, or if the
/// selected method is not public. A private `resolved` selects itself (JVMS §6.5 *invokeinterface*).
pub fn select_interface(h: &Hierarchy, receiver: ClassId, named: ClassName, resolved: MethodId) -> Selected {
    if h.is_subtype(h.name(receiver), named) == Below::No {
        return Selected::Error(LinkError::IncompatibleClassChange);
    }
    select_if(h, receiver, resolved, Flags::is_public)
}

fn select_if(
    h: &Hierarchy,
    receiver: ClassId,
    resolved: MethodId,
    is_allowed: impl Fn(Flags) -> bool,
) -> Selected {
    let Some(method) = resolved.of(h) else { return Selected::Error(LinkError::NoSuchMethod) };
    if method.flags.is_private() || method.flags.is_static() || method.name.bytes().first() == Some(&b'<') {
        return Selected::Method(resolved);
    }
    if h.is_subtype(h.name(receiver), h.name(resolved.class)) == Below::No {
        return Selected::Error(LinkError::IncompatibleClassChange);
    }
    let (name, descriptor) = (method.name, method.descriptor);
    let found = if h.is_interface(resolved.class) {
        match in_classes(h, receiver, name, descriptor, Private::Skip) {
            Found { method: None, outside } => return by_interfaces(h, receiver, name, descriptor, outside),
            found => found,
        }
    } else {
        overriding(h, receiver, resolved, method.flags, name, descriptor)
    };
    let is_refused = found.method.and_then(|it| it.of(h)).is_some_and(|it| !is_allowed(it.flags));
    match found.outside {
        // The access check comes before the check for code.
        None if is_refused => Selected::Error(LinkError::IllegalAccess),
        outside => selected(h, Found { outside, method: found.method.filter(|_| !is_refused) }),
    }
}

/// Returns the present methods that a receiver of class `receiver` may select for a reference that resolves to
/// `resolved`; `selected` is what [`select`] or [`select_interface`] returns for `receiver` and `resolved`. There
/// are several methods if default methods conflict and an absent interface may override all of them but one.
pub fn selectable(h: &Hierarchy, receiver: ClassId, resolved: MethodId, selected: Selected) -> Vec<MethodId> {
    match selected {
        Selected::Method(it) | Selected::Unknown { beyond: Some(it), .. } => vec![it],
        Selected::Error(_) => Vec::new(),
        Selected::Unknown { beyond: None, .. } => match resolved.of(h) {
            Some(it) if h.is_interface(resolved.class) => {
                Maximal::of(h, receiver, it.name, it.descriptor).with_code(h)
            }
            // A method of a class takes precedence over default methods.
            _ => Vec::new(),
        },
    }
}

/// Converts the result of a search for the selected method. The result is an error if the method has no code, and
/// [`Selected::Unknown`] if an absent class could change the result.
fn selected(h: &Hierarchy, found: Found) -> Selected {
    let has_code = |it: MethodId| it.of(h).is_some_and(|it| !it.flags.is_abstract());
    match found {
        Found { outside: Some(outside), method } => {
            Selected::Unknown { outside, beyond: method.filter(|it| has_code(*it)) }
        }
        Found { method: Some(it), .. } if has_code(it) => Selected::Method(it),
        Found { .. } => Selected::Error(LinkError::AbstractMethod),
    }
}

/// Selects a method of a superinterface, for a `class` without a superclass that declares the method. `outside` is
/// the absent superclass that may declare the method, if any.
fn by_interfaces(
    h: &Hierarchy,
    class: ClassId,
    name: Name,
    descriptor: Descriptor,
    outside: Option<ClassName>,
) -> Selected {
    let maximal = Maximal::of(h, class, name, descriptor);
    match (outside.or(maximal.outside), maximal.choice()) {
        (Some(outside), Choice::One(it)) => Selected::Unknown { outside, beyond: Some(it) },
        (Some(outside), _) => Selected::Unknown { outside, beyond: None },
        (None, Choice::One(it)) => Selected::Method(it),
        (None, Choice::Conflict) => Selected::Error(LinkError::ConflictingDefaults),
        (None, Choice::Abstract) => Selected::Error(LinkError::AbstractMethod),
    }
}

/// Whether a search up the superclasses skips or finds private methods.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Private {
    Skip,
    Find,
}

/// Returns the first instance method with this name and descriptor in the class or its superclasses, from the class
/// upward. `private` tells whether private methods are skipped.
fn in_classes(h: &Hierarchy, class: ClassId, name: Name, descriptor: Descriptor, private: Private) -> Found {
    let mut link = Some(Link::Present(class));
    while let Some(it) = link {
        let class = match it {
            Link::Present(class) => class,
            Link::Outside(outside) => return behind(h, outside, name, descriptor),
        };
        let method = h.method(class, name, descriptor).map(|index| MethodId { class, index });
        let counts = |flags: Flags| !flags.is_static() && (private == Private::Find || !flags.is_private());
        if method.and_then(|it| it.of(h)).is_some_and(|it| counts(it.flags)) {
            return Found { method, outside: None };
        }
        link = h.super_class(class);
    }
    Found::default()
}

/// Finds the method that overrides `resolved` (JVMS §5.4.5) and is nearest to the receiver's class on the way up the
/// superclasses; `resolved` if no method overrides it.
fn overriding(
    h: &Hierarchy,
    receiver: ClassId,
    resolved: MethodId,
    resolved_flags: Flags,
    name: Name,
    descriptor: Descriptor,
) -> Found {
    // The declarations that may override `resolved`, from the receiver's class upward.
    let mut declared = Vec::new();
    let (mut last, mut last_flags) = (resolved, resolved_flags);
    let mut outside = None;
    let mut link = Some(Link::Present(receiver));
    while let Some(it) = link {
        let class = match it {
            Link::Present(class) if class == resolved.class => break,
            Link::Present(class) => class,
            Link::Outside(name) => {
                outside = Some(name);
                break;
            }
        };
        if let Some(index) = h.method(class, name, descriptor) {
            let method = MethodId { class, index };
            let flags = method.of(h).map(|it| it.flags).unwrap_or_default();
            if !flags.is_static() && !flags.is_private() {
                // A method that overrides `resolved` directly, regardless of the classes between, ends the search.
                if h.outline(class).version.1 >= 51 && overrides(h, class, resolved.class, resolved_flags) {
                    (last, last_flags) = (method, flags);
                    break;
                }
                declared.push((method, flags));
            }
        }
        link = h.super_class(class);
    }
    let mut history = History::default();
    history.push(h, resolved.class, resolved_flags);
    history.push(h, last.class, last_flags);
    for (method, flags) in declared.into_iter().rev() {
        if history.is_overridden(h, method.class) {
            history.push(h, method.class, flags);
            last = method;
        }
    }
    Found { method: Some(last), outside }
}

/// Returns whether a method of class `sub` directly overrides the method of its superclass `sup` that has the access
/// flags `flags`. Both methods have the same name and descriptor.
fn overrides(h: &Hierarchy, sub: ClassId, sup: ClassId, flags: Flags) -> bool {
    flags.is_public() || flags.is_protected() || run_time_package(h, sub) == run_time_package(h, sup)
}

/// The resolved method and the methods found so far to override it, from superclasses to subclasses. Overriding is
/// transitive (JVMS §5.4.5): a method is added if it directly overrides a method of this list.
#[derive(Default)]
struct History {
    /// Whether one of the listed methods is public or protected.
    is_wide: bool,
    /// The run-time packages of the listed methods that are package-private.
    packages: FxHashSet<RunTimePackage>,
    last: Option<(ClassId, Flags)>,
}

impl History {
    fn push(&mut self, h: &Hierarchy, class: ClassId, flags: Flags) {
        self.last = Some((class, flags));
        if flags.is_public() || flags.is_protected() {
            self.is_wide = true;
        } else {
            self.packages.insert(run_time_package(h, class));
        }
    }

    fn is_overridden(&self, h: &Hierarchy, class: ClassId) -> bool {
        if h.outline(class).version.1 < 51 {
            // HotSpot does not apply transitive overriding to class files before Java 7
            // (`VTABLE_TRANSITIVE_OVERRIDE_VERSION`): a method of such a class overrides the method that runs for its
            // superclass, or nothing.
            return self.last.is_some_and(|(above, flags)| overrides(h, class, above, flags));
        }
        self.is_wide || self.packages.contains(&run_time_package(h, class))
    }
}

/// Returns the method that `invokespecial` runs in a method of class `caller`, for a reference to the method of
/// `class` with this name and descriptor. `interface` is true if the reference is a `CONSTANT_InterfaceMethodref`. If
/// the reference resolves to a static method, the result is an error. Access is not checked. Every class is treated
/// as if `ACC_SUPER` were set, as in the JVM since Java 8.
pub fn special_target(
    h: &Hierarchy,
    caller: ClassId,
    class: ClassName,
    name: Name,
    descriptor: Descriptor,
    interface: bool,
) -> ResolvedMethod {
    let resolved = match resolve_method(h, class, name, descriptor, interface) {
        ResolvedMethod::Method(it) => it,
        other if name.bytes() != b"<init>" => return other,
        // A constructor is found only in the named class itself, so absent supertypes do not matter.
        ResolvedMethod::Unknown { outside, .. } if outside != class => {
            return ResolvedMethod::Error(LinkError::NoSuchMethod);
        }
        other => return other,
    };
    if name.bytes() == b"<init>" {
        let is_its_own = h.name(resolved.class) == class;
        let error = ResolvedMethod::Error(LinkError::NoSuchMethod);
        return if is_its_own { ResolvedMethod::Method(resolved) } else { error };
    }
    if resolved.of(h).is_some_and(|it| it.flags.is_static()) {
        return ResolvedMethod::Error(LinkError::IncompatibleClassChange);
    }
    let mut start = h.class(class).unwrap_or(resolved.class);
    let mut outside = None;
    if !h.is_interface(start) && start != caller {
        // A reference to a method of any superclass is looked up from the direct superclass on.
        match (h.is_subtype(h.name(caller), class), h.super_class(caller)) {
            (Below::Yes, Some(Link::Present(it))) => start = it,
            (Below::Yes | Below::Unknown, Some(Link::Outside(it))) => outside = Some(it),
            (Below::Unknown, _) => outside = h.outside_superclass(caller),
            _ => {}
        }
    }
    let found = special_in(h, start, name, descriptor);
    let Some(outside) = outside else { return found };
    let beyond = match found {
        ResolvedMethod::Method(it) => Some(it),
        ResolvedMethod::Unknown { beyond, .. } => beyond,
        _ => None,
    };
    ResolvedMethod::Unknown { outside, beyond }
}

/// Searches for the method that *invokespecial* runs, from `class` upward (JVMS §6.5).
fn special_in(h: &Hierarchy, class: ClassId, name: Name, descriptor: Descriptor) -> ResolvedMethod {
    let mut found = in_classes(h, class, name, descriptor, Private::Find);
    if h.is_interface(class) && found.method.is_none_or(|it| it.class != class) {
        found = public_of_object(h, name, descriptor);
    }
    let selected = match found {
        Found { method: None, outside } => by_interfaces(h, class, name, descriptor, outside),
        found => selected(h, found),
    };
    match selected {
        Selected::Method(it) => ResolvedMethod::Method(it),
        Selected::Error(it) => ResolvedMethod::Error(it),
        Selected::Unknown { outside, beyond } => ResolvedMethod::Unknown { outside, beyond },
    }
}
