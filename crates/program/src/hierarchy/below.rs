//! Subtyping by name, three-valued.

use classfile::names::ClassName;

use super::{Below, ClassId, Hierarchy, Link};
use crate::input::WorldKind;

impl Hierarchy {
    /// Whether `sub` is `sup` or below it. Both may be outside, and array types (JVMS §6.5 *checkcast*).
    ///
    /// In the `closed` world a chain that leaves the known world leads nowhere: the class cannot be loaded.
    pub fn is_subtype(&self, mut sub: ClassName, mut sup: ClassName) -> Below {
        // A type has at most 255 dimensions, and each round takes one off.
        loop {
            if sub == sup || self.is_object(sup) {
                return Below::Yes;
            }
            match (sub.is_array(), sup.is_array()) {
                (true, true) => match (component(sub), component(sup)) {
                    (Some(it), Some(of)) => (sub, sup) = (it, of),
                    // Arrays of primitives are below no other array.
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
        // No class is its own supertype: what is above `sub` is not below it.
        if self.is_closed() || self.names_above(high, low, sub) {
            return Below::No;
        }
        if let Some(low) = low {
            if self.outside_above(low).is_none() {
                return Below::No;
            }
            // Behind an absent interface there are interfaces only, and Object.
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

    /// Whether the class `low` is below the other one by links that are known.
    fn names_above(&self, low: Option<ClassId>, high: Option<ClassId>, name: ClassName) -> bool {
        let Some(low) = low else { return false };
        if let Some(high) = high
            && self.is_known_subtype(low, high)
        {
            return true;
        }
        // A name that is outside, or above a cut, can stand at the end of a known chain.
        self.outside_above(low).is_some()
            && self.supers(low).iter().any(|it| self.links(*it).contains(&Link::Outside(name)))
    }
}

/// The type of the components of an array, if it is a reference type.
fn component(array: ClassName) -> Option<ClassName> {
    let text = array.bytes().strip_prefix(b"[")?;
    match text {
        [b'[', ..] => Some(ClassName::new(text)),
        [b'L', name @ .., b';'] => Some(ClassName::new(name)),
        _ => None,
    }
}
