//! One class of a hierarchy: its direct supertypes, and what absent classes may do with it.

use std::ops::Range;
use std::sync::Arc;

use classfile::flags::Flags;
use classfile::names::ClassName;

use crate::input::Role;
use crate::outline::Outline;

/// The id of a present class or interface: its index in one [`super::Hierarchy`], in class-path order. The id is not
/// valid in any other hierarchy.
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

/// A link from a class to a direct supertype.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Link {
    /// The supertype is present.
    Present(ClassId),
    /// The supertype is absent, so that only its name is known; or the supertype is present, but the link was cut
    /// because of a fault ([`super::Problem`]).
    Outside(ClassName),
}

/// Whether absent classes may belong to the package of a class, and whether they may use its public classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Package {
    /// Absent classes may belong to the package.
    Free,
    /// No absent class belongs to the package, but absent classes may use its public classes: the package belongs to
    /// a module that exports the package, or is sealed.
    Owned,
    /// The package belongs to a module that does not export the package, so absent classes cannot use its classes.
    Closed,
}

/// A class of the hierarchy: its outline, its links, and what absent classes may do with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Class {
    /// The outline of the class.
    pub(super) outline: Arc<Outline>,
    /// The role of the container that the class comes from.
    pub(super) role: Role,
    /// What absent classes may do with the package of the class.
    pub(super) package: Package,
    /// The number of the class's named module; `None` if the class is in the unnamed module or in the JDK image.
    pub(super) module: Option<u32>,
    /// Whether the first of `links` leads to the superclass; all other links lead to superinterfaces.
    pub(super) has_super: bool,
    /// The direct supertypes, as a range of indices into `Hierarchy::links`.
    pub(super) links: Range<u32>,
    /// The class and its present supertypes, as a range of indices into `Hierarchy::supers`.
    pub(super) supers: Range<u32>,
    /// The present direct subtypes, as a range of indices into `Hierarchy::children`.
    pub(super) children: Range<u32>,
    /// The absent class with the smallest name among the direct and indirect supertypes; `None` if none is absent.
    pub(super) outside: Option<ClassName>,
    /// The absent class at which the chain of superclasses ends; `None` if all superclasses are present.
    pub(super) outside_class: Option<ClassName>,
    /// Whether an unknown class may name this class as a direct supertype, regardless of the world.
    pub(super) nameable: bool,
    /// Whether an unknown class may name this class as a direct supertype and have instances.
    pub(super) extensible: bool,
    /// Whether an unknown class may name the class or one of its known subtypes as a direct supertype.
    pub(super) nameable_below: bool,
    /// The nearest class, among this class and its known subtypes, that is `extensible`; `None` if there is no such
    /// class.
    pub(super) witness: Option<ClassId>,
    /// The number of links between the class and `witness`; `u32::MAX` if `witness` is `None`.
    pub(super) distance: u32,
}

impl Class {
    /// Returns a class with the given outline and role, without supertypes, and not extensible by absent classes.
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

    /// Returns all that is known about what absent classes may do with the class, as one value for comparisons.
    pub(super) fn open(&self) -> impl PartialEq + use<> {
        (self.package, self.module, self.nameable, self.extensible, self.nameable_below, self.witness)
    }

    /// Returns whether the class is a placeholder for a removed class.
    pub(super) fn is_vacant(&self) -> bool {
        is_vacant_outline(&self.outline)
    }
}

/// The flags of the placeholder for a removed class: `ACC_FINAL`, `ACC_INTERFACE` and `ACC_ABSTRACT` (JVMS §4.1), so
/// that the placeholder has no subtypes and no instances.
const VACANT: Flags = Flags(0x0610);

/// Returns the placeholder outline for the id of a removed class. The outline's name cannot occur in a class file,
/// because it has a zero byte, which is not valid modified UTF-8 (JVMS §4.4.7).
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

/// Returns whether the outline is the placeholder for a removed class.
pub(super) fn is_vacant_outline(outline: &Outline) -> bool {
    outline.class.bytes().first() == Some(&0)
}

/// Returns whether some class in `classes` has an absent supertype other than `java/lang/Object`.
pub(super) fn any_outside_above(classes: &[Class]) -> bool {
    classes.iter().any(|it| it.outside.is_some())
}

/// Returns whether the link leads to an absent class other than `java/lang/Object`.
pub(super) fn is_outside(link: Link, object: ClassName) -> bool {
    matches!(link, Link::Outside(name) if name != object)
}

/// Returns the items whose indices are in `range`; none if the range exceeds `items`.
pub(super) fn slice<'a, T>(items: &'a [T], range: &Range<u32>) -> &'a [T] {
    items.get(range.start as usize..range.end as usize).unwrap_or_default()
}

/// Returns the permitted subclasses; `None` if the JVM does not treat the class as sealed. A class can be sealed from
/// major version 61 on, or if its major version is 59 or 60 with preview features (JVMS §4.7.31). HotSpot ignores an
/// empty list.
pub fn permitted(outline: &Outline) -> Option<&[ClassName]> {
    let is_sealed = match outline.version {
        (minor, 59 | 60) => minor == u16::MAX,
        (_, major) => major >= 61,
    };
    outline.permitted.as_deref().filter(|it| is_sealed && !it.is_empty())
}

/// Returns the nest host that a class names; `None` if the class names no host, or if its major version is below 55,
/// where nests do not exist (JVMS §4.7.28).
pub(crate) fn nest_host(outline: &Outline) -> Option<ClassName> {
    outline.nest_host.filter(|_| outline.version.1 >= 55)
}

/// Returns the nest members that a nest host lists; none if the major version of its class file is below 55 (JVMS
/// §4.7.29).
pub(crate) fn nest_members(outline: &Outline) -> &[ClassName] {
    if outline.version.1 >= 55 { &outline.nest_members } else { &[] }
}
