//! The types of a universe in preorder, and the atoms that belong to each type.

use std::ops::Range;

use classfile::names::ClassName;
use rustc_hash::FxHashMap;

use super::sets::{get, set};
use crate::throwables::well_known;

/// A throwable type of the program, as input of [`super::Universe::new`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Throwable {
    /// The name of the class.
    pub class: ClassName,
    /// The direct superclass of the class.
    pub parent: Parent,
    /// Whether the class may have direct subclasses that are not known.
    pub extensible: bool,
}

/// What is known about the direct superclass of a throwable type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parent {
    /// The superclass is this class. If the class is no type of the universe, the superclass counts as unknown.
    Class(ClassName),
    /// There is no superclass, or the superclass cannot be thrown: the chain of throwable types ends.
    Root,
    /// The superclass is not known: the class itself is absent, or its class file does not name a superclass that can
    /// be thrown.
    Unknown,
}

/// The number of a type in one [`super::Universe`]. Types are numbered in preorder: the known subtypes of a type have
/// the numbers that follow the number of the type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TypeId(pub u32);

impl TypeId {
    /// Returns the number of the type, for indexing a vector.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the id of the type with this number. `index` must fit into 32 bits.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        debug_assert!(u32::try_from(index).is_ok(), "the type number {index} does not fit into 32 bits");
        TypeId(index as u32)
    }
}

/// A part of an exception set: one class, or one class with all its subclasses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// The class of the exceptions in this part of the set. If `cone` is true, the part also has the exceptions of
    /// all subclasses.
    pub class: ClassName,
    /// Whether the part also has the exceptions of all known and unknown subclasses of `class`.
    pub cone: bool,
}

/// A type of the universe, with the range of its known subtypes, and its atoms: the elements of exception sets that
/// stand for objects of this type.
#[derive(Clone)]
pub(super) struct ThrowableType {
    /// The name of the class.
    pub(super) class: ClassName,
    /// The end of the range of known subtypes, exclusive: the known subtypes have the numbers between the number of
    /// this type and `end`.
    pub(super) end: TypeId,
    /// What is known about the direct superclass of the class.
    pub(super) parent: Parent,
    /// Whether some ancestor of the class is not known.
    pub(super) leaves_world: bool,
    /// Whether the class may have unknown direct subclasses.
    pub(super) extensible: bool,
    /// The number of the atom, an element of exception sets, that stands for the objects of exactly this class. The
    /// other atoms of the type have the next numbers.
    pub(super) atom: u32,
    /// Whether the type was removed from the universe.
    pub(super) is_vacant: bool,
}

impl ThrowableType {
    /// Returns the atom, an element of exception sets, that stands for the objects of the type's unknown subclasses;
    /// `None` if the type cannot have unknown subclasses.
    pub(super) fn unknown(&self) -> Option<u32> {
        self.extensible.then_some(self.atom + 1)
    }

    /// Returns the atom, an element of exception sets, that stands for the known subclasses of this type that are
    /// added to the universe later. Only an editable universe has this atom. Unknown subclasses have another atom,
    /// because an exception-table row whose class has unknown ancestors may catch an unknown subclass of this type,
    /// but not a subclass whose ancestors are all known.
    pub(super) fn to_come(&self) -> u32 {
        self.atom + 1 + u32::from(self.extensible)
    }
}

/// The atom, an element of exception sets, that stands for types with unknown ancestors that are added to the
/// universe later. Only an editable universe has this atom.
pub(super) const NOWHERE: u32 = 0;

/// The types of a universe in preorder: each type is followed by its known subtypes without a gap.
#[derive(Clone)]
pub(super) struct TypeForest {
    /// The types, including removed types; a type's number is its index.
    pub(super) types: Vec<ThrowableType>,
    /// For each class, the number of its type; removed types are left out.
    pub(super) by_class: FxHashMap<ClassName, TypeId>,
    /// The number of atoms (elements of exception sets) of all types, including removed types.
    pub(super) atoms: u32,
    /// Whether types can be added and removed. If so, each type has an atom (an element of exception sets) reserved
    /// for subclasses that are added later, and there is the atom [`NOWHERE`].
    pub(super) editable: bool,
}

impl TypeForest {
    /// Sorts the types in preorder and assigns atoms (elements of exception sets) to them.
    pub(super) fn new(types: &[Throwable], editable: bool) -> Self {
        let order = preorder(types);
        let mut acc: Vec<ThrowableType> = Vec::with_capacity(types.len());
        let mut atoms = u32::from(editable);
        for &(i, leaves_world) in &order {
            let it = types[i];
            acc.push(ThrowableType {
                class: it.class,
                end: TypeId(0),
                parent: it.parent,
                leaves_world,
                extensible: it.extensible,
                atom: atoms,
                is_vacant: false,
            });
            atoms += 1 + u32::from(it.extensible) + u32::from(editable);
        }
        let by_class = acc.iter().zip(0..).map(|(it, i)| (it.class, TypeId(i))).collect();
        let mut forest = TypeForest { types: acc, by_class, atoms, editable };
        forest.close_ranges();
        forest
    }

    fn close_ranges(&mut self) {
        for i in (0..self.types.len()).rev() {
            let end = self.types[i].end.max(TypeId::from_index(i + 1));
            self.types[i].end = end;
            let known = match self.types[i].parent {
                Parent::Class(parent) => self.by_class.get(&parent),
                Parent::Root | Parent::Unknown => None,
            };
            let above = match self.types[i].parent {
                Parent::Root => None,
                _ => known.or(self.by_class.get(&well_known().throwable)),
            };
            if let Some(parent) = above
                && parent.index() < i
            {
                let it = &mut self.types[parent.index()];
                it.end = it.end.max(end);
            }
        }
    }

    /// Returns the number of a class's type; `None` if the class is no type of the universe.
    pub(super) fn type_of(&self, class: ClassName) -> Option<TypeId> {
        self.by_class.get(&class).copied()
    }

    /// Returns the type of a class; `None` if the class is no type of the universe.
    pub(super) fn get(&self, class: ClassName) -> Option<&ThrowableType> {
        self.type_of(class).map(|it| &self.types[it.index()])
    }

    /// Adds all atoms (elements of exception sets) of the types with the numbers `types` to the set `bits`.
    pub(super) fn fill(&self, bits: &mut [u64], types: Range<usize>) {
        for it in &self.types[types] {
            set(bits, it.atom);
            if let Some(unknown) = it.unknown() {
                set(bits, unknown);
            }
            if self.editable {
                set(bits, it.to_come());
                if it.class == well_known().throwable {
                    // Everything that is thrown is below Throwable.
                    set(bits, NOWHERE);
                }
            }
        }
    }

    /// Adds the cone of the type `it` to the set `bits`: the atoms (elements of exception sets) of the type and of
    /// its known subtypes.
    pub(super) fn fill_cone(&self, bits: &mut [u64], it: TypeId) {
        self.fill(bits, it.index()..self.types[it.index()].end.index());
    }

    /// Adds to the set `bits` the exceptions that an exception-table row for the type `it` may catch but need not
    /// catch. The caller has already added the cone of the type, which the row certainly catches.
    pub(super) fn fill_may(&self, bits: &mut [u64], it: TypeId) {
        let row = &self.types[it.index()];
        let (it, end, outside) = (it.index(), row.end.index(), row.leaves_world);
        for i in (0..it).chain(end..self.types.len()) {
            let other = &self.types[i];
            let above = i < it && it < other.end.index();
            // The ancestors of a type whose chain leaves the known types are not known, unless the row's class is
            // below the type.
            if other.leaves_world && !above {
                self.fill(bits, i..i + 1);
            } else if outside && let Some(unknown) = other.unknown() {
                // The row's class, or a class above it, may be an unknown subclass of this type.
                set(bits, unknown);
            }
            if self.editable && other.leaves_world && above {
                // Other types below this one are not above the row's class.
                set(bits, other.to_come());
            }
        }
        if self.editable {
            set(bits, NOWHERE);
        }
    }

    /// Returns the atoms (elements of exception sets) of a new type below `parent`, each paired with an atom that
    /// exists already: a set must get the new atom if and only if it contains the existing one. `atom` is the first
    /// of the new atoms, and `extensible` tells whether the new type may have unknown subclasses. The existing atoms
    /// are those of the parent, or [`NOWHERE`] if the parent is not known (`None`). Returns `None` if the new type
    /// may have unknown subclasses but the parent may not.
    pub(super) fn kin(&self, parent: Option<TypeId>, atom: u32, extensible: bool) -> Option<Vec<(u32, u32)>> {
        let parent = parent.map(|it| &self.types[it.index()]);
        let (known, unknown) = match parent {
            None => (NOWHERE, Some(NOWHERE)),
            Some(it) => (it.to_come(), it.unknown()),
        };
        let mut acc = vec![(atom, known)];
        if extensible {
            // No existing set takes account of unknown classes below a parent that has none.
            acc.push((atom + 1, unknown?));
        }
        acc.push((atom + 1 + u32::from(extensible), known));
        Some(acc)
    }

    /// Approximates a set by classes and cones. If `above` is true, the classes and cones together contain the set;
    /// if `above` is false, the set contains them.
    pub(super) fn cover(&self, bits: &[u64], above: bool) -> Vec<Part> {
        let mut acc = Vec::new();
        let mut i = 0;
        while i < self.types.len() {
            let ty = &self.types[i];
            if ty.is_vacant {
                i += 1;
                continue;
            }
            let range = i..ty.end.index();
            let has_all = |it: &ThrowableType| it.is_vacant || self.has_both(bits, it);
            if self.types[range.clone()].iter().all(has_all) && self.is_cone(i) {
                acc.push(Part { class: ty.class, cone: true });
                i = range.end;
                continue;
            }
            if above && ty.unknown().is_some_and(|it| get(bits, it)) {
                acc.push(Part { class: ty.class, cone: true });
            } else if get(bits, ty.atom) {
                acc.push(Part { class: ty.class, cone: false });
            }
            i += 1;
        }
        acc.sort_by_key(|it| it.class.bytes());
        acc
    }

    /// Returns whether the type with number `i` has known subtypes or may have unknown subclasses.
    fn is_cone(&self, i: usize) -> bool {
        let ty = &self.types[i];
        ty.extensible || self.types[i + 1..ty.end.index()].iter().any(|it| !it.is_vacant)
    }

    fn has_both(&self, bits: &[u64], ty: &ThrowableType) -> bool {
        get(bits, ty.atom) && ty.unknown().is_none_or(|it| get(bits, it))
    }
}

/// Returns the indices of the types in preorder: each type is directly followed by its known subtypes. Each index
/// comes with a flag that tells whether some ancestor of the type is not known. Roots and siblings are sorted by
/// name.
fn preorder(types: &[Throwable]) -> Vec<(usize, bool)> {
    let index: FxHashMap<ClassName, usize> = types.iter().enumerate().map(|(i, it)| (it.class, i)).collect();
    let top = index.get(&well_known().throwable).copied();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); types.len()];
    let mut pending: Vec<(usize, bool)> = Vec::new();
    for (i, it) in types.iter().enumerate() {
        match it.parent {
            Parent::Class(parent) if let Some(&parent) = index.get(&parent) => children[parent].push(i),
            Parent::Root => pending.push((i, false)),
            // Whatever lies in between, everything that is thrown is below Throwable.
            Parent::Class(_) | Parent::Unknown => match top {
                Some(top) if top != i => children[top].push(i),
                _ => pending.push((i, true)),
            },
        }
    }
    let leaves_here = |i: usize| match types[i].parent {
        Parent::Class(parent) => !index.contains_key(&parent),
        Parent::Unknown => true,
        Parent::Root => false,
    };
    let by_name = |a: usize, b: usize| types[b].class.bytes().cmp(types[a].class.bytes());
    pending.sort_by(|a, b| by_name(a.0, b.0));
    children.iter_mut().for_each(|it| it.sort_by(|&a, &b| by_name(a, b)));
    let mut seen = vec![false; types.len()];
    let mut order = Vec::with_capacity(types.len());
    let mut walk = |pending: &mut Vec<(usize, bool)>| {
        while let Some((i, leaves)) = pending.pop() {
            if !std::mem::replace(&mut seen[i], true) {
                order.push((i, leaves));
                pending.extend(children[i].iter().map(|&it| (it, leaves || leaves_here(it))));
            }
        }
        seen.iter().position(|&it| !it)
    };
    // The remaining types are on or below a cycle of superclasses, which no JVM loads: their chains are not known.
    while let Some(i) = walk(&mut pending) {
        pending.push((i, true));
    }
    order
}
