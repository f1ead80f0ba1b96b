//! The exceptions that a ghost promises never to let out, according to the type names in its annotation.

use classfile::names::ClassName;
use flow::universe::SetId;
use program::outline::Ghost;

use super::lattice::Exceptions;

/// The exceptions that a ghost promises never to let out, as far as they follow from one type name in its promise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Promised {
    /// The ghost promises to let out no exceptions at all.
    Everything,
    /// The ghost promises to let out no exceptions of the throwable type with this name or of its subtypes.
    Type(PromisedName),
}

/// A type name in the promise of a ghost: a fully qualified name, or the simple name of a class in `java.lang`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PromisedName {
    complete: ClassName,
    /// The class in `java.lang` that the name denotes if no type has the name `complete`; `None` if the name contains
    /// a package.
    of_java_lang: Option<ClassName>,
}

impl PromisedName {
    /// Returns the classes that the name may denote, the preferred one first. The name denotes the first of them that
    /// is a throwable type.
    pub(super) fn classes(self) -> impl Iterator<Item = ClassName> {
        std::iter::once(self.complete).chain(self.of_java_lang)
    }
}

/// Returns the exceptions that a ghost promises never to let out: one entry for each type name in its promise.
pub(super) fn promises(ghost: &Ghost) -> impl Iterator<Item = Promised> + '_ {
    ghost.handlers.iter().flatten().map(|name| {
        if name.bytes() == b"any" {
            return Promised::Everything;
        }
        let slashed: Vec<u8> = name.bytes().iter().map(|&b| if b == b'.' { b'/' } else { b }).collect();
        let is_simple = !slashed.contains(&b'/');
        let of_java_lang = is_simple.then(|| ClassName::new(&[b"java/lang/", &*slashed].concat()));
        Promised::Type(PromisedName { complete: ClassName::new(&slashed), of_java_lang })
    })
}

/// Returns the set of exceptions that a ghost promises never to let out. A name of an unknown type excludes nothing.
pub(super) fn excluded(ghost: &Ghost, ex: &mut Exceptions) -> SetId {
    let mut acc = SetId::EMPTY;
    for it in promises(ghost) {
        let name = match it {
            Promised::Everything => return ex.universe.all(),
            Promised::Type(it) => it,
        };
        let is_type = |it: &ClassName| ex.universe.type_of(*it).is_some();
        let Some(class) = name.classes().find(is_type) else { continue };
        let cone = ex.universe.masks(Some(class)).surely;
        acc = ex.universe.join(acc, cone);
    }
    acc
}
