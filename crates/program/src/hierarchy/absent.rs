//! Questions whose answers depend on absent classes: three-valued subtyping of class names, and what an absent class
//! may extend and use.

use classfile::flags::Flags;
use classfile::names::ClassName;

use super::class::{ClassId, Link, Package, permitted};
use super::open::{Constructors, absent_of_nest, constructors};
use super::{Below, Hierarchy};
use crate::input::WorldKind;

impl Hierarchy {
    /// Returns whether `sub` equals `sup` or is a subtype of `sup`. Each may be an absent class or an array type
    /// (JVMS §6.5 *checkcast*).
    ///
    /// In the `closed` world, an absent supertype is assumed to have no supertypes, because a class that extends it
    /// cannot be loaded.
    pub fn is_subtype(&self, mut sub: ClassName, mut sup: ClassName) -> Below {
        // A type has at most 255 dimensions, and each iteration removes one.
        loop {
            if sub == sup || self.is_object(sup) {
                return Below::Yes;
            }
            match (sub.is_array(), sup.is_array()) {
                (true, true) => match (component(sub), component(sup)) {
                    (Some(it), Some(of)) => (sub, sup) = (it, of),
                    // Arrays of primitives are subtypes of no other array type.
                    _ => return Below::No,
                },
                (true, false) => {
                    let sup = sup.bytes();
                    let is_above = sup == b"java/lang/Cloneable" || sup == b"java/io/Serializable";
                    return if is_above { Below::Yes } else { Below::No };
                }
                (false, true) => return Below::No,
                (false, false) => return class_below(self, sub, sup),
            }
        }
    }

    /// Returns whether an unknown class may name the class as a direct supertype and have instances.
    ///
    /// The answer is false in the `declared` and the `closed` world, for final classes, for sealed classes whose
    /// permitted subclasses are all present, and for classes that no absent class may access or construct. An absent
    /// class may not access a class in a package that the JDK image or a module does not export. It may not access a
    /// package-private class in a sealed package or in any package of the image or a module. An absent class may not
    /// construct a class whose constructors are all private and whose nest has no absent member, nor one whose
    /// constructors are package-private and to whose package no absent class can belong.
    ///
    /// Approximates: ignores objects made by `Unsafe.allocateInstance`, and proxy classes for interfaces in packages
    /// that are not exported.
    pub fn extensible(&self, class: ClassId) -> bool {
        self.world() == WorldKind::Open && self.at(class).extensible
    }

    /// Returns the class that proves that absent classes may be below `class`: the nearest class, among `class` and
    /// its known subtypes, that an absent class may extend. If several are equally near, returns the one with the
    /// smallest name. Returns `None` if no absent class can be below `class`; in the `declared` world also if the
    /// program names no absent class.
    pub fn open_witness(&self, class: ClassId) -> Option<ClassId> {
        let is_open = match self.world() {
            WorldKind::Open => true,
            WorldKind::Declared => self.names_outside,
            WorldKind::Closed => false,
        };
        self.at(class).witness.filter(|_| is_open)
    }

    /// Returns whether absent classes, if there are any, may be below `class`.
    pub fn may_have_unknown_subtypes(&self, class: ClassId) -> bool {
        self.at(class).witness.is_some()
    }

    /// Returns the first absent class in the list that limits the subclasses of `class`. Because of this absent
    /// class, `class` may still have unknown subclasses. For a sealed class, the list consists of its permitted
    /// subclasses; for a class whose constructors are all private, of the members of its nest. Returns `None` for
    /// other classes, and if all listed classes are present.
    pub fn opened_by(&self, class: ClassId) -> Option<ClassName> {
        let (it, absent) = (self.at(class), |it: &ClassName| !self.by_name.contains_key(it));
        if let Some(permitted) = permitted(&it.outline) {
            return permitted.iter().copied().find(absent);
        }
        match constructors(it) {
            Constructors::OfNest => absent_of_nest(&it.outline, &self.classes, &self.by_name),
            Constructors::Open | Constructors::Closed => None,
        }
    }

    /// Returns whether code of an absent class, if there is any, may name the class.
    pub fn nameable_outside(&self, class: ClassId) -> bool {
        match self.at(class).package {
            Package::Free => true,
            Package::Owned => self.outline(class).flags.is_public(),
            Package::Closed => false,
        }
    }

    /// Returns whether code of an absent class may use a member that `class` declares with the access flags `flags`.
    /// The code is assumed to be able to name `class` or a subclass.
    pub fn usable_outside(&self, class: ClassId, flags: Flags) -> bool {
        if flags.is_public() || flags.is_protected() {
            return true;
        }
        if flags.is_private() {
            return absent_of_nest(self.outline(class), &self.classes, &self.by_name).is_some();
        }
        // An absent class may belong to the same package.
        self.at(class).package == Package::Free
    }
}

/// Returns whether the class `sub` is a subtype of the class `sup`. The two must differ, and neither is an array
/// type.
fn class_below(all: &Hierarchy, sub: ClassName, sup: ClassName) -> Below {
    let (low, high) = (all.class(sub), all.class(sup));
    if names_above(all, low, high, sup) {
        return Below::Yes;
    }
    // No class is its own supertype, so a supertype of `sub` is not below it.
    if all.world() == WorldKind::Closed || names_above(all, high, low, sub) {
        return Below::No;
    }
    if let Some(low) = low {
        if all.outside_above(low).is_none() {
            return Below::No;
        }
        // An absent interface has no superclass but `Object`.
        if all.outside_superclass(low).is_none() && high.is_some_and(|it| !all.is_interface(it)) {
            return Below::No;
        }
    }
    match high {
        Some(high) if !all.at(high).nameable_below => Below::No,
        _ => Below::Unknown,
    }
}

/// Returns whether the direct supertypes of present classes suffice to prove that the class `low` is a subtype of the
/// class called `name`. `high` is the id of the class called `name`. An id is `None` if the class is absent; if `low`
/// is `None`, the result is `false`.
fn names_above(all: &Hierarchy, low: Option<ClassId>, high: Option<ClassId>, name: ClassName) -> bool {
    let Some(low) = low else { return false };
    if let Some(high) = high
        && all.is_known_subtype(low, high)
    {
        return true;
    }
    // An absent class, or one whose link was cut, can end a known chain.
    all.outside_above(low).is_some()
        && all.supers(low).iter().any(|it| all.links(*it).contains(&Link::Outside(name)))
}

/// Returns the component type of an array type; `None` if the component type is primitive.
fn component(array: ClassName) -> Option<ClassName> {
    let text = array.bytes().strip_prefix(b"[")?;
    match text {
        [b'[', ..] => Some(ClassName::new(text)),
        [b'L', name @ .., b';'] => Some(ClassName::new(name)),
        _ => None,
    }
}
