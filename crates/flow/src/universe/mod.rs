//! The throwable types of one program as atoms, and sets of them (`engine.md`, "Exception sets, concretely").
//!
//! Each type T has an atom *exactly T*; a type that may have unknown subclasses has a second atom, *an unknown
//! subclass whose nearest known ancestor is T*. A cone is the set of the atoms of all known subtypes. Sets of atoms
//! are hash-consed: two [`SetId`]s are equal exactly when the sets are equal. Types can be added and removed while
//! sets keep their ids ([`edit`]). For this, an editable universe has further atoms, to which no object belongs and
//! which callers do not see.

mod edit;
mod sets;
mod types;

use classfile::names::ClassName;
use rustc_hash::FxHashMap;

pub use self::sets::SetId;
use self::sets::{AtomSets, SetOp, get, set, words};
use self::types::{NOWHERE, TypeForest};
pub use self::types::{Parent, Part, Throwable, TypeId};

/// The throwable types of a program, and the hash-consed sets of exceptions of these types.
#[derive(Clone)]
pub struct Universe {
    forest: TypeForest,
    edits: u32,
    sets: AtomSets,
    all: SetId,
    masks: FxHashMap<ClassName, Masks>,
    /// The results of earlier calls of [`Universe::exact`]: for each requested type, the set of objects of exactly
    /// this class.
    exact: FxHashMap<ClassName, SetId>,
    /// The results of earlier calls of [`Universe::cone`]: for each requested type, the set of objects of the class
    /// and its subclasses.
    cones: FxHashMap<ClassName, SetId>,
    covers: Covers,
}

/// The exceptions that a row of an exception table catches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Masks {
    /// The exceptions that the row certainly catches.
    pub surely: SetId,
    /// The exceptions that the row may catch.
    pub may: SetId,
}

impl Universe {
    /// Creates the universe of `types`, which may be in any order. The superclass of a type counts as unknown if the
    /// superclass is not in `types`, or if the chain of superclasses has a cycle.
    pub fn new(types: &[Throwable]) -> Self {
        universe_of(TypeForest::new(types, false))
    }

    /// Creates a universe to which types can be added ([`Universe::add`]) and from which types can be removed
    /// ([`Universe::remove`]). Its sets take 1.5 times the memory of those of a universe that is not editable.
    pub fn editable(types: &[Throwable]) -> Self {
        universe_of(TypeForest::new(types, true))
    }

    /// Returns the type of a class; `None` if the class is no type of the universe.
    pub fn type_of(&self, class: ClassName) -> Option<TypeId> {
        self.forest.type_of(class)
    }

    /// Returns whether the class may have unknown direct subclasses; `None` if the class is no type of the universe.
    pub fn is_extensible(&self, class: ClassName) -> Option<bool> {
        self.forest.get(class).map(|it| it.extensible)
    }

    /// Returns what is known about the direct superclass of the class; `None` if the class is no type of the
    /// universe.
    pub fn parent(&self, class: ClassName) -> Option<Parent> {
        self.forest.get(class).map(|it| it.parent)
    }

    /// Returns the set of all throwable objects.
    pub fn all(&self) -> SetId {
        self.all
    }

    /// Returns the set of objects of exactly this class. If the class is no type of the universe, returns the set of
    /// all throwable objects.
    pub fn exact(&mut self, class: ClassName) -> SetId {
        if let Some(&it) = self.exact.get(&class) {
            return it;
        }
        let Some(it) = self.forest.get(class) else { return self.all };
        let mut bits = vec![0; self.sets.words];
        set(&mut bits, it.atom);
        let found = self.sets.intern(&bits);
        self.exact.insert(class, found);
        found
    }

    /// Returns the set of objects of this class and of its subclasses. If the class is no type of the universe,
    /// returns the set of all throwable objects.
    ///
    /// Unknown subclasses are included: each type T that may have unknown subclasses has an element of its own for
    /// *an unknown subclass whose nearest known ancestor is T*, and the set contains these elements.
    pub fn cone(&mut self, class: ClassName) -> SetId {
        if let Some(&it) = self.cones.get(&class) {
            return it;
        }
        let Some(it) = self.type_of(class) else { return self.all };
        let mut bits = vec![0; self.sets.words];
        self.forest.fill_cone(&mut bits, it);
        let found = self.sets.intern(&bits);
        self.cones.insert(class, found);
        found
    }

    /// Returns the exceptions that an exception-table row with the catch type `class` catches. A row without a catch
    /// type (`None`) catches everything.
    pub fn masks(&mut self, class: Option<ClassName>) -> Masks {
        let Some(class) = class else { return Masks { surely: self.all, may: self.all } };
        if let Some(&it) = self.masks.get(&class) {
            return it;
        }
        let masks = match self.type_of(class) {
            // The class is no type of the universe: nothing that is thrown is known to be one, and anything may be.
            None => Masks { surely: SetId::EMPTY, may: self.all },
            Some(it) => {
                let mut bits = vec![0; self.sets.words];
                self.forest.fill_cone(&mut bits, it);
                let surely = self.sets.intern(&bits);
                self.forest.fill_may(&mut bits, it);
                Masks { surely, may: self.sets.intern(&bits) }
            }
        };
        self.masks.insert(class, masks);
        masks
    }

    /// Returns the union of two sets.
    pub fn join(&mut self, a: SetId, b: SetId) -> SetId {
        if a == self.all || b == self.all {
            return self.all;
        }
        self.sets.binary(SetOp::Or, a, b)
    }

    /// Returns the intersection of two sets.
    pub fn meet(&mut self, a: SetId, b: SetId) -> SetId {
        self.sets.binary(SetOp::And, a, b)
    }

    /// Returns the difference of two sets: the objects that are in `a` and not in `b`.
    pub fn minus(&mut self, a: SetId, b: SetId) -> SetId {
        self.sets.binary(SetOp::Minus, a, b)
    }

    /// Returns whether some object is in both sets.
    pub fn overlaps(&self, a: SetId, b: SetId) -> bool {
        // Most often the id of one of them decides.
        if a == b || a == self.all {
            return !self.is_nothing(b);
        }
        if b == self.all || a == SetId::EMPTY || b == SetId::EMPTY {
            return b != SetId::EMPTY && !self.is_nothing(a);
        }
        let both = self.sets.bits(a).iter().zip(self.sets.bits(b));
        both.zip(&self.sets.real).any(|((a, b), real)| a & b & real != 0)
    }

    /// Returns whether all objects of `a` are in `b`.
    #[cfg(test)]
    fn is_subset(&self, a: SetId, b: SetId) -> bool {
        let both = self.sets.bits(a).iter().zip(self.sets.bits(b));
        both.zip(&self.sets.real).all(|((a, b), real)| a & !b & real == 0)
    }

    /// Returns whether the set has no object. Besides [`SetId::EMPTY`], this holds for sets whose only atoms are
    /// reserved for types that may be added later, or belong to removed types.
    pub fn is_nothing(&self, it: SetId) -> bool {
        it == SetId::EMPTY || self.sets.hollow.contains(&it)
    }

    /// Returns the set as the smallest number of classes and cones, sorted by name.
    ///
    /// If the set has *unknown subclasses of T* without the rest of the cone of T, the result has the cone of T,
    /// which is the smallest cone that contains them.
    pub fn parts(&self, it: SetId) -> Vec<Part> {
        self.forest.cover(self.sets.bits(it), true)
    }

    /// Returns the classes and cones that lie wholly within the set, sorted by name: *unknown subclasses of T*
    /// without the rest of the cone of T are left out.
    #[cfg(test)]
    fn parts_within(&self, it: SetId) -> Vec<Part> {
        self.forest.cover(self.sets.bits(it), false)
    }

    /// Returns the result of [`Universe::parts`], and stores it for later calls with the same set. Computing the
    /// parts takes time proportional to the number of types, so this is for callers with many sets of which many are
    /// equal.
    pub fn known_parts(&mut self, it: SetId) -> Vec<Part> {
        self.covers.of(&self.forest, &self.sets, (it, true))
    }

    /// Returns the classes and cones that lie wholly within the set, sorted by name: *unknown subclasses of T*
    /// without the rest of the cone of T are left out. The answer is stored for later calls with the same set.
    pub fn known_parts_within(&mut self, it: SetId) -> Vec<Part> {
        self.covers.of(&self.forest, &self.sets, (it, false))
    }

    /// Returns the known classes whose objects are in the set, sorted by name. If no type may have unknown
    /// subclasses, these classes are the whole set.
    pub fn classes(&self, it: SetId) -> Vec<ClassName> {
        let bits = self.sets.bits(it);
        let has = self.forest.types.iter().filter(|it| !it.is_vacant && get(bits, it.atom));
        let mut acc: Vec<ClassName> = has.map(|it| it.class).collect();
        acc.sort_unstable_by_key(|it| it.bytes());
        acc
    }

    /// Returns the number of types of the universe.
    pub fn len(&self) -> usize {
        self.forest.by_class.len()
    }

    /// Returns how many times a type was added to or removed from the universe.
    pub fn n_edits(&self) -> u32 {
        self.edits
    }

    /// Returns whether the universe has no types.
    pub fn is_empty(&self) -> bool {
        self.forest.by_class.is_empty()
    }

    /// Returns the number of distinct sets that were created in the universe.
    pub fn n_sets(&self) -> usize {
        self.sets.len()
    }
}

/// Creates the universe of the types of `forest`.
fn universe_of(forest: TypeForest) -> Universe {
    let words = words(forest.atoms);
    let mut sets = AtomSets::new(words);
    for it in &forest.types {
        for atom in [Some(it.atom), it.unknown()].into_iter().flatten() {
            set(&mut sets.real, atom);
        }
    }
    let mut bits = vec![0; words];
    forest.fill(&mut bits, 0..forest.types.len());
    if forest.editable {
        set(&mut bits, NOWHERE);
    }
    let all = sets.intern(&bits);
    Universe {
        forest,
        edits: 0,
        sets,
        all,
        masks: FxHashMap::default(),
        exact: FxHashMap::default(),
        cones: FxHashMap::default(),
        covers: Covers::default(),
    }
}

/// The results of [`TypeForest::cover`] computed so far, by set and by the argument `above`.
#[derive(Clone, Default)]
struct Covers(FxHashMap<(SetId, bool), Box<[Part]>>);

impl Covers {
    fn of(&mut self, forest: &TypeForest, sets: &AtomSets, (it, above): (SetId, bool)) -> Vec<Part> {
        if let Some(parts) = self.0.get(&(it, above)) {
            return parts.to_vec();
        }
        let parts = forest.cover(sets.bits(it), above);
        self.0.insert((it, above), parts.as_slice().into());
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn class(name: &str) -> ClassName {
        ClassName::new(name.as_bytes())
    }

    pub(super) fn ty(name: &str, parent: &str, extensible: bool) -> Throwable {
        let parent = match parent {
            "" => Parent::Root,
            "?" => Parent::Unknown,
            it => Parent::Class(class(it)),
        };
        Throwable { class: class(name), parent, extensible }
    }

    /// A universe of a root T; its subclass Ex, with the subclasses IO and Fin, of which Fin is final; and X, whose
    /// ancestors are not known.
    fn universe() -> Universe {
        Universe::new(&[
            ty("X", "?", true),
            ty("IO", "Ex", true),
            ty("T", "", true),
            ty("Ex", "T", true),
            ty("Fin", "Ex", false),
        ])
    }

    pub(super) fn text(it: &Universe, set: SetId) -> String {
        let parts = it.parts(set);
        let one = |it: &Part| format!("{}{}", it.class, if it.cone { "+" } else { "" });
        parts.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_cone_has_its_known_subtypes_and_an_exact_type_itself_alone() {
        let mut it = universe();
        let (io, ex) = (it.cone(class("IO")), it.cone(class("Ex")));
        assert!(it.is_subset(io, ex));
        let exact = it.exact(class("Ex"));
        assert!(!it.overlaps(exact, io));
        let both = it.join(exact, io);
        assert_eq!(text(&it, both), "Ex IO+");
        assert_eq!(text(&it, ex), "Ex+");
    }

    #[test]
    fn a_row_certainly_catches_its_cone_and_may_catch_types_with_unknown_ancestors() {
        let mut it = universe();
        let masks = it.masks(Some(class("Ex")));
        assert_eq!(text(&it, masks.surely), "Ex+");
        assert_eq!(text(&it, masks.may), "Ex+ X+");
    }

    #[test]
    fn a_row_of_a_type_with_unknown_ancestors_may_catch_an_unknown_subclass_of_any_extensible_type() {
        let mut it = universe();
        let masks = it.masks(Some(class("X")));
        assert_eq!(text(&it, masks.surely), "X+");
        let io = it.exact(class("IO"));
        assert!(!it.overlaps(masks.may, io), "IO itself is known not to be an X");
        let fin = it.cone(class("Fin"));
        assert!(!it.overlaps(masks.may, fin), "a final class has no subclass");
        let cone = it.cone(class("IO"));
        assert!(it.overlaps(masks.may, cone), "an unknown subclass of IO may be an X");
    }

    #[test]
    fn sets_are_equal_exactly_when_their_ids_are() {
        let mut it = universe();
        let (io, fin) = (it.cone(class("IO")), it.cone(class("Fin")));
        let (a, b) = (it.join(io, fin), it.join(fin, io));
        assert_eq!(a, b);
        assert_eq!(it.minus(a, fin), io);
        assert_eq!(it.meet(a, io), io);
        assert_eq!(it.minus(io, io), SetId::EMPTY);
    }

    #[test]
    fn a_cycle_of_superclasses_counts_as_unknown() {
        let mut it = Universe::new(&[ty("A", "B", true), ty("B", "A", true), ty("T", "", true)]);
        let masks = it.masks(Some(class("T")));
        let a = it.exact(class("A"));
        assert!(it.overlaps(masks.may, a));
    }
}
