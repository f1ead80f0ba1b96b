//! One class of a hierarchy: its links and the facts about it.

use std::ops::Range;
use std::sync::Arc;

use classfile::flags::Flags;
use classfile::names::ClassName;

use crate::input::Role;
use crate::outline::Outline;

/// A present class or interface: its index in one [`super::Hierarchy`], in class-path order. It is not valid in any
/// other hierarchy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClassId(u32);

impl ClassId {
    /// Returns the id of the class with this index.
    pub fn from_index(index: usize) -> Self {
        ClassId(index as u32)
    }

    /// Returns the index of the class, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A direct supertype.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Link {
    /// A present supertype.
    Present(ClassId),
    /// A supertype of which only the name is known, or a link that was cut ([`super::Problem`]).
    Outside(ClassName),
}

/// How far the package of a class is closed to absent classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Package {
    /// Not at all: absent classes may even belong to it.
    Free,
    /// No absent class belongs to it, but absent classes may use its public classes: it belongs to a module that
    /// exports it, or it is sealed.
    Owned,
    /// It belongs to a module that does not export it.
    Closed,
}

/// A class of the program, with the facts about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Class {
    /// The outline of the class.
    pub(super) outline: Arc<Outline>,
    /// The role of the container that the class comes from.
    pub(super) role: Role,
    /// How far the package is closed.
    pub(super) package: Package,
    /// The number of the named module that the class belongs to, if it is outside the JDK image.
    pub(super) module: Option<u32>,
    /// Whether the first link is the superclass.
    pub(super) has_super: bool,
    /// The direct supertypes, as a range of the links of the hierarchy.
    pub(super) links: Range<u32>,
    /// The class and its present supertypes, as a range.
    pub(super) supers: Range<u32>,
    /// The present direct subtypes, as a range.
    pub(super) children: Range<u32>,
    /// The smallest name of an absent supertype.
    pub(super) outside: Option<ClassName>,
    /// Like `outside`, but following superclasses only.
    pub(super) outside_class: Option<ClassName>,
    /// Whether an unknown class may name this class as a direct supertype, regardless of the world.
    pub(super) nameable: bool,
    /// Whether, in addition, such an unknown class can have instances.
    pub(super) extensible: bool,
    /// Whether some known subtype, or the class itself, is nameable.
    pub(super) nameable_below: bool,
    /// The nearest known subtype that is extensible.
    pub(super) witness: Option<ClassId>,
    /// The number of links to the witness.
    pub(super) distance: u32,
}

impl Class {
    /// Returns a class with the facts of its own file, but without links and openness.
    pub(super) fn unlinked(outline: Arc<Outline>, role: Role) -> Class {
        Class {
            outline,
            role,
            package: Package::Free,
            module: None,
            has_super: false,
            links: 0..0,
            supers: 0..0,
            children: 0..0,
            outside: None,
            outside_class: None,
            nameable: false,
            extensible: false,
            nameable_below: false,
            witness: None,
            distance: u32::MAX,
        }
    }

    /// Returns the facts about the class that depend on what absent classes may do with it, for comparison.
    pub(super) fn open(&self) -> impl PartialEq + use<> {
        (self.package, self.module, self.nameable, self.extensible, self.nameable_below, self.witness)
    }

    /// Returns whether the id of the class is vacant.
    pub(super) fn is_vacant(&self) -> bool {
        is_vacant_outline(&self.outline)
    }
}

/// `ACC_FINAL`, `ACC_INTERFACE`, `ACC_ABSTRACT` (JVMS §4.1): a vacant class has no subtypes and no instances.
const VACANT: Flags = Flags(0x0610);

/// Returns the placeholder outline for a vacant id. No class file can have its name: a zero byte is not valid
/// modified UTF-8 (JVMS §4.4.7).
pub(super) fn vacant(class: ClassId) -> Outline {
    let name = [&[0], class.index().to_string().as_bytes()].concat();
    Outline {
        class: ClassName::new(&name),
        version: (0, 52),
        flags: VACANT,
        super_class: None,
        interfaces: Box::default(),
        nest_host: None,
        nest_members: Box::default(),
        permitted: None,
        ghost: None,
        fields: Box::default(),
        methods: Box::default(),
    }
}

/// Returns whether the outline is the placeholder for a vacant id.
pub(super) fn is_vacant_outline(outline: &Outline) -> bool {
    outline.class.bytes().first() == Some(&0)
}

/// Returns whether some class has an absent supertype other than `java/lang/Object`.
pub(super) fn any_outside_above(classes: &[Class]) -> bool {
    classes.iter().any(|it| it.outside.is_some())
}

/// Returns whether the link leads to an absent class other than `java/lang/Object`.
pub(super) fn is_outside(link: Link, object: ClassName) -> bool {
    matches!(link, Link::Outside(name) if name != object)
}

/// Returns the items of a range.
pub(super) fn slice<'a, T>(items: &'a [T], range: &Range<u32>) -> &'a [T] {
    items.get(range.start as usize..range.end as usize).unwrap_or_default()
}

/// Returns the permitted subclasses, if the JVM treats the class as sealed: class versions from 61 on, and the
/// preview versions 59 and 60 (JVMS §4.7.31). HotSpot ignores an empty list.
pub(super) fn permitted(outline: &Outline) -> Option<&[ClassName]> {
    let is_sealed = match outline.version {
        (minor, 59 | 60) => minor == u16::MAX,
        (_, major) => major >= 61,
    };
    outline.permitted.as_deref().filter(|it| is_sealed && !it.is_empty())
}

/// Returns the nest host that a class names, if the JVM reads it: nests exist from class version 55 on (JVMS
/// §4.7.28).
pub(crate) fn nest_host(outline: &Outline) -> Option<ClassName> {
    outline.nest_host.filter(|_| outline.version.1 >= 55)
}

/// Returns the nest members that a host lists, if the JVM reads them (JVMS §4.7.29).
pub(crate) fn nest_members(outline: &Outline) -> &[ClassName] {
    if outline.version.1 >= 55 { &outline.nest_members } else { &[] }
}
