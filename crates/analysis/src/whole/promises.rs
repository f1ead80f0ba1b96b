//! What a ghost promises never to let out, by the names that people write in it.

use classfile::names::ClassName;
use program::outline::Ghost;

/// What a promise excludes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Promised {
    /// Everything that can be thrown.
    Everything,
    /// The throwable type of this name, with all below it.
    Type(PromisedName),
}

/// A name in a promise: complete, or a simple name of `java.lang`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PromisedName {
    complete: ClassName,
    /// What it means if no type has the complete name.
    of_java_lang: Option<ClassName>,
}

impl PromisedName {
    /// The classes that it may mean; the first one that is a throwable type is meant.
    pub(super) fn classes(self) -> impl Iterator<Item = ClassName> {
        std::iter::once(self.complete).chain(self.of_java_lang)
    }
}

/// What a ghost promises.
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
