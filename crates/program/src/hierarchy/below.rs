//! Three-valued subtyping of class names.

use classfile::names::ClassName;

use super::{Below, ClassId, Hierarchy, Link};
use crate::input::WorldKind;

impl Hierarchy {
    /// Returns whether `sub` is `sup` or a subtype of it. Both may be absent classes or array types (JVMS §6.5
    /// *checkcast*).
    ///
    /// In the `closed` world, an absent supertype has no supertypes of its own: the class cannot be loaded.
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
                (false, false) => return self.class_below(sub, sup),
            }
        }
    }

    fn class_below(&self, sub: ClassName, sup: ClassName) -> Below {
        let (low, high) = (self.class(sub), self.class(sup));
        if self.names_above(low, high, sup) {
            return Below::Yes;
        }
        // No class is its own supertype, so a supertype of `sub` is not below it.
        if self.is_closed() || self.names_above(high, low, sub) {
            return Below::No;
        }
        if let Some(low) = low {
            if self.outside_above(low).is_none() {
                return Below::No;
            }
            // An absent interface has no superclass but `Object`.
            if self.outside_superclass(low).is_none() && high.is_some_and(|it| !self.is_interface(it)) {
                return Below::No;
            }
        }
        match high {
            Some(high) if !self.outside_below(high) => Below::No,
            _ => Below::Unknown,
        }
    }

    fn is_closed(&self) -> bool {
        self.world() == WorldKind::Closed
    }

    /// Returns whether the class `low` is a subtype of `high`, whose name is `name`, through known links.
    fn names_above(&self, low: Option<ClassId>, high: Option<ClassId>, name: ClassName) -> bool {
        let Some(low) = low else { return false };
        if let Some(high) = high
            && self.is_known_subtype(low, high)
        {
            return true;
        }
        // An absent class, or one whose link was cut, can end a known chain.
        self.outside_above(low).is_some()
            && self.supers(low).iter().any(|it| self.links(*it).contains(&Link::Outside(name)))
    }
}

/// Returns the component type of an array type, if it is a reference type.
fn component(array: ClassName) -> Option<ClassName> {
    let text = array.bytes().strip_prefix(b"[")?;
    match text {
        [b'[', ..] => Some(ClassName::new(text)),
        [b'L', name @ .., b';'] => Some(ClassName::new(name)),
        _ => None,
    }
}
