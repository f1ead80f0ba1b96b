//! Random edits of classes. A fixed seed makes them the same in every run.

use std::collections::HashMap;

use test_utils::patch::{ABSTRACT, INTERFACE, Insertion, Patch};
use test_utils::rng::Rng;

/// The kind of an edit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    /// The edit changes a constant in a method body.
    Body,
    /// The edit inserts a `throw` into a method body.
    Throw,
    /// The edit inserts a call of a method of another class into a method body.
    Call,
    /// The edit adds a method that overrides another one.
    Override,
    /// The edit removes the class, or adds a renamed copy of the class.
    Class,
}

impl Kind {
    /// All kinds of edits, each with its word in the printed table.
    pub(crate) const ALL: [(Kind, &'static str); 5] = [
        (Kind::Body, "body"),
        (Kind::Throw, "throw"),
        (Kind::Call, "call"),
        (Kind::Override, "override"),
        (Kind::Class, "class"),
    ];

    fn drawn(rng: &mut Rng) -> Kind {
        match rng.below(100) {
            0..70 => Kind::Body,
            70..80 => Kind::Throw,
            80..90 => Kind::Call,
            90..95 => Kind::Override,
            _ => Kind::Class,
        }
    }
}

/// The state of a class after an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Now {
    /// The class has these bytes.
    Changed(Vec<u8>),
    /// The class is removed.
    Gone,
    /// The class is unchanged, and a renamed copy of the class with these bytes is added.
    Twin(Vec<u8>),
}

/// An edit of a class, relative to its original state.
pub(crate) struct Edit {
    pub(crate) kind: Kind,
    pub(crate) now: Now,
    /// The number of the class whose method the edited class now calls; `None` if the edit inserts no call.
    pub(crate) calls: Option<usize>,
}

/// The classes from which edits are drawn.
pub(crate) struct Drawing<'a> {
    classes: &'a [&'a [u8]],
    numbers: HashMap<Vec<u8>, usize>,
}

/// The methods of `java/lang/Object` (names and descriptors) that an edit overrides if the superclasses of the edited
/// class have no suitable method.
const OF_OBJECT: [(&[u8], &[u8]); 4] = [
    (b"toString", b"()Ljava/lang/String;"),
    (b"hashCode", b"()I"),
    (b"equals", b"(Ljava/lang/Object;)Z"),
    (b"clone", b"()Ljava/lang/Object;"),
];

impl<'a> Drawing<'a> {
    pub(crate) fn new(classes: &'a [&'a [u8]]) -> Self {
        let name = |it: &&[u8]| Patch::read(it).map(|it| it.name().to_vec());
        let numbers = classes.iter().enumerate().filter_map(|(i, it)| Some((name(it)?, i))).collect();
        Drawing { classes, numbers }
    }

    /// Makes an edit of the class with this number. If the chosen kind of edit is impossible, such as a call in an
    /// interface, a constant is changed instead. If there is no constant either, only the bytes of the file change.
    pub(crate) fn edit(&self, number: usize, rng: &mut Rng) -> Option<Edit> {
        let kind = Kind::drawn(rng);
        self.edit_of(kind, number, rng).or_else(|| self.edit_of(Kind::Body, number, rng))
    }

    /// Makes an edit of this kind of the class with this number; `None` if that is impossible.
    pub(crate) fn edit_of(&self, kind: Kind, number: usize, rng: &mut Rng) -> Option<Edit> {
        let mut patch = Patch::read(self.classes[number])?;
        let mut calls = None;
        match kind {
            Kind::Body => change(&mut patch, rng)?,
            Kind::Throw => {
                let with_body =
                    (0..patch.methods().len()).filter(|it| patch.has_body(*it)).collect::<Vec<_>>();
                rng.pick(&with_body).and_then(|it| patch.insert(*it, Insertion::Throw))?;
            }
            Kind::Call => calls = Some(self.call(&mut patch, rng)?),
            Kind::Override => self.overriding(&mut patch)?,
            Kind::Class if rng.chance(50) => return Some(Edit { kind, now: Now::Gone, calls }),
            Kind::Class => {
                let name = [patch.name(), b"$Twin"].concat();
                patch.rename(&name)?;
                return Some(Edit { kind, now: Now::Twin(patch.bytes()), calls });
            }
        }
        Some(Edit { kind, now: Now::Changed(patch.bytes()), calls })
    }

    /// Inserts a call of a method of another class into one of the method bodies; returns the number of that class.
    fn call(&self, patch: &mut Patch, rng: &mut Rng) -> Option<usize> {
        let with_body = (0..patch.methods().len()).filter(|it| patch.has_body(*it)).collect::<Vec<_>>();
        let caller = *rng.pick(&with_body)?;
        for _ in 0..50 {
            let number = rng.below(self.classes.len() as u32) as usize;
            let Some(called) = Patch::read(self.classes[number]) else { continue };
            let near = package(called.name()) == package(patch.name());
            let methods: Vec<usize> =
                (0..called.methods().len()).filter(|it| called.is_callable(*it, near)).collect();
            let Some(&method) = rng.pick(&methods).filter(|_| called.name() != patch.name()) else {
                continue;
            };
            let method = &called.methods()[method];
            let (name, descriptor) = called.signature(method);
            let is_static = method.flags & test_utils::patch::STATIC != 0;
            let call = Insertion::Call { class: called.name(), name, descriptor, is_static };
            return patch.insert(caller, call).map(|()| number);
        }
        None
    }

    /// Adds a method that overrides a method of a superclass. The nearest superclass with a suitable method is taken,
    /// if it is among the classes that can be edited; otherwise `java/lang/Object`.
    fn overriding(&self, patch: &mut Patch) -> Option<()> {
        let own: Vec<(Vec<u8>, Vec<u8>)> = patch
            .methods()
            .iter()
            .map(|it| patch.signature(it))
            .map(|it| (it.0.to_vec(), it.1.to_vec()))
            .collect();
        let is_new = |it: (&[u8], &[u8])| !own.iter().any(|own| (own.0.as_slice(), own.1.as_slice()) == it);
        let body = if patch.flags() & INTERFACE != 0 { ABSTRACT } else { 0 };
        let mut above = patch.super_name().to_vec();
        while let Some(class) = self.numbers.get(&above).and_then(|it| Patch::read(self.classes[*it])) {
            if above == b"java/lang/Object" {
                break;
            }
            for (i, it) in class.methods().iter().enumerate() {
                let (name, descriptor) = class.signature(it);
                if class.is_overridable(i) && is_new((name, descriptor)) {
                    // The method is as visible as the overridden one, and has a body.
                    return patch.add_method(it.flags & 0x0005 | body, name, descriptor);
                }
            }
            above = class.super_name().to_vec();
        }
        let &(name, descriptor) = OF_OBJECT.iter().find(|it| is_new(**it))?;
        patch.add_method(0x0001 | body, name, descriptor)
    }
}

/// Changes a constant in a method body; if no body has a constant, only the bytes of the file change.
fn change(patch: &mut Patch, rng: &mut Rng) -> Option<()> {
    let constants: Vec<(usize, usize)> = (0..patch.methods().len())
        .flat_map(|method| patch.constants(method).into_iter().map(move |pc| (method, pc)))
        .collect();
    match rng.pick(&constants) {
        Some(&(method, pc)) => patch.change_constant(method, pc),
        None => patch.touch(),
    }
}

fn package(class: &[u8]) -> &[u8] {
    class.iter().rposition(|it| *it == b'/').map_or(&[], |end| &class[..end])
}
