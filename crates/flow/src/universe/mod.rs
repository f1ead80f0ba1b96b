//! The throwable types of one program as atoms, and sets of them (`engine.md`, "Exception sets, concretely").
//!
//! Each type T has an atom *exactly T*; a type that may have unknown subclasses has a second one, *an unknown
//! subclass whose nearest known ancestor is T*. A cone is the set of the atoms of all known subtypes. Sets of atoms
//! are hash-consed: two [`SetId`]s are equal exactly when the sets are. Types can be added and removed while sets
//! keep their ids ([`edit`]); an editable universe has further atoms for that, to which no object belongs and which
//! callers do not see.

mod edit;
mod sets;
mod types;

use classfile::names::ClassName;
use rustc_hash::FxHashMap;

pub use self::sets::SetId;
use self::sets::{AtomSets, SetOp, get, set, words};
use self::types::{NOWHERE, TypeForest};
pub use self::types::{Parent, Part, Throwable, TypeId};

/// The throwable types of a program, and the sets of them that were made.
#[derive(Clone)]
pub struct Universe {
    forest: TypeForest,
    edits: u32,
    sets: AtomSets,
    all: SetId,
    masks: FxHashMap<ClassName, Masks>,
    /// The sets already made of a class alone, and of its cone.
    exact: FxHashMap<ClassName, SetId>,
    cones: FxHashMap<ClassName, SetId>,
    covers: Covers,
}

/// What a row that catches a class catches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Masks {
    /// The exceptions that the row certainly catches.
    pub surely: SetId,
    /// The exceptions that the row may catch.
    pub may: SetId,
}

impl Universe {
    /// Creates the universe of these types, given in any order. A parent that is not among them counts as unknown,
    /// and so does one that closes a cycle.
    pub fn new(types: &[Throwable]) -> Self {
        universe_of(TypeForest::new(types, false))
    }

    /// Creates a universe to which types can be added ([`Universe::add`]) and from which they can be removed
    /// ([`Universe::remove`]). Its sets have the same contents, and take half as much memory again.
    pub fn editable(types: &[Throwable]) -> Self {
        universe_of(TypeForest::new(types, true))
    }

    /// The type of a class; `None` if the class is no type of the universe.
    pub fn type_of(&self, class: ClassName) -> Option<TypeId> {
        self.forest.type_of(class)
    }

    /// Whether the type may have direct subclasses that are not known; `None` if the class is no type of the
    /// universe.
    pub fn is_extensible(&self, class: ClassName) -> Option<bool> {
        self.forest.get(class).map(|it| it.extensible)
    }

    /// What is known of the type's direct superclass; `None` if the class is no type of the universe.
    pub fn parent(&self, class: ClassName) -> Option<Parent> {
        self.forest.get(class).map(|it| it.parent)
    }

    /// The set of all atoms.
    pub fn all(&self) -> SetId {
        self.all
    }

    /// The set of objects of exactly this class; everything if the class is no type of the universe.
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

    /// The set of objects of this class and of its subclasses; everything if the class is no type of the universe.
    ///
    /// A subclass that is reached only through an *unknown subclass of T* is counted there.
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

    /// What a row for this class catches; a row for `None` catches everything.
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

    /// The union of two sets.
    pub fn join(&mut self, a: SetId, b: SetId) -> SetId {
        if a == self.all || b == self.all {
            return self.all;
        }
        self.sets.binary(SetOp::Or, a, b)
    }

    /// The intersection of two sets.
    pub fn meet(&mut self, a: SetId, b: SetId) -> SetId {
        self.sets.binary(SetOp::And, a, b)
    }

    /// The difference of two sets: what `a` has and `b` does not have.
    pub fn minus(&mut self, a: SetId, b: SetId) -> SetId {
        self.sets.binary(SetOp::Minus, a, b)
    }

    /// Whether some object is in both sets.
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

    /// Whether `b` has all objects that `a` has.
    #[cfg(test)]
    fn is_subset(&self, a: SetId, b: SetId) -> bool {
        let both = self.sets.bits(a).iter().zip(self.sets.bits(b));
        both.zip(&self.sets.real).all(|((a, b), real)| a & !b & real == 0)
    }

    /// Whether the set has no object. Besides [`SetId::EMPTY`], this holds for sets that have only types to come.
    pub fn is_nothing(&self, it: SetId) -> bool {
        it == SetId::EMPTY || self.sets.hollow.contains(&it)
    }

    /// Returns the set as the fewest classes and cones, sorted by name.
    ///
    /// An *unknown subclass of T* without the rest of the cone is shown as the cone of T, the smallest that contains
    /// it.
    pub fn parts(&self, it: SetId) -> Vec<Part> {
        self.forest.cover(self.sets.bits(it), true)
    }

    /// Returns what the set certainly has, as classes and cones, sorted by name: an *unknown subclass of T* without
    /// the rest of the cone is left out.
    #[cfg(test)]
    fn parts_within(&self, it: SetId) -> Vec<Part> {
        self.forest.cover(self.sets.bits(it), false)
    }

    /// Returns the result of [`Universe::parts`] and remembers it, for callers that ask about many sets of which many
    /// are equal: computing the parts takes time proportional to the number of types.
    pub fn known_parts(&mut self, it: SetId) -> Vec<Part> {
        self.covers.of(&self.forest, &self.sets, (it, true))
    }

    /// Returns what the set certainly has, as classes and cones, sorted by name: an *unknown subclass of T* without
    /// the rest of the cone is left out. The answer is remembered.
    pub fn known_parts_within(&mut self, it: SetId) -> Vec<Part> {
        self.covers.of(&self.forest, &self.sets, (it, false))
    }

    /// The classes whose *exactly* atom the set has, sorted by name. This is the whole set if no type is extensible.
    pub fn classes(&self, it: SetId) -> Vec<ClassName> {
        let bits = self.sets.bits(it);
        let has = self.forest.types.iter().filter(|it| !it.is_vacant && get(bits, it.atom));
        let mut acc: Vec<ClassName> = has.map(|it| it.class).collect();
        acc.sort_unstable_by_key(|it| it.bytes());
        acc
    }

    /// The number of types.
    pub fn len(&self) -> usize {
        self.forest.by_class.len()
    }

    /// How many times a type was added or removed.
    pub fn n_edits(&self) -> u32 {
        self.edits
    }

    /// Whether the universe has no types.
    pub fn is_empty(&self) -> bool {
        self.forest.by_class.is_empty()
    }

    /// The number of distinct sets that were made.
    pub fn n_sets(&self) -> usize {
        self.sets.len()
    }
}

/// The universe of these types.
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

/// The parts already computed, by set and by whether they may contain more than the set.
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

    /// A root T; its subclass Ex, with the subclasses IO and Fin, which is final; and X, whose ancestors are not
    /// known.
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
