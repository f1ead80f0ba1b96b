//! The throwable types of one program as atoms, and sets of them (`engine.md`, "Exception sets, concretely").
//!
//! Each type T has an atom *exactly T*; a type that may have unknown subclasses has a second one, *an unknown
//! subclass whose nearest known ancestor is T*. A cone is the set of the atoms of all known subtypes. Sets of atoms
//! are hash-consed: two [`SetId`]s are equal exactly when the sets are. Types can be added and removed while sets
//! keep their ids ([`edit`]); an editable universe has further atoms for that, to which no object belongs and which
//! callers do not see.

mod edit;

use std::hash::BuildHasher;
use std::ops::Range;

use classfile::names::ClassName;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::throwables::well_known;

/// A throwable type of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Throwable {
    /// The class.
    pub class: ClassName,
    /// Its direct superclass.
    pub parent: Parent,
    /// Whether it may have direct subclasses that are not known.
    pub extensible: bool,
}

/// What is known of a direct superclass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parent {
    /// The superclass is this one, which is a throwable type of the program too.
    Class(ClassName),
    /// There is no superclass, or it cannot be thrown: the chain ends here.
    Root,
    /// The superclass is not known: some class on the chain is outside the program.
    Unknown,
}

/// The number of a type in one [`Universe`]. Types are numbered so that a type's known subtypes follow it without a
/// gap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TypeId(pub u32);

impl TypeId {
    /// The number as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The id with this index, which must fit into 32 bits.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        debug_assert!(u32::try_from(index).is_ok(), "an index has at most 32 bits");
        TypeId(index as u32)
    }
}

/// The number of a hash-consed set of atoms in one [`Universe`]. Ids are never ordered or printed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetId(pub u32);

impl SetId {
    /// The empty set.
    pub const EMPTY: SetId = SetId(0);

    /// The number as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The id with this index, which must fit into 32 bits.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        debug_assert!(u32::try_from(index).is_ok(), "an index has at most 32 bits");
        SetId(index as u32)
    }
}

/// A part of a set, in the form that is shown to people.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// The class.
    pub class: ClassName,
    /// Whether the subclasses of the class, known and unknown, belong to the part too.
    pub cone: bool,
}

/// The throwable types of a program, and the sets of them that were made.
#[derive(Clone)]
pub struct Universe {
    types: Vec<Type>,
    by_class: FxHashMap<ClassName, TypeId>,
    /// The number of atoms so far.
    atoms: u32,
    /// Whether types can be added and removed: then each type has an atom for its known subclasses to come, and
    /// there is [`NOWHERE`].
    editable: bool,
    edits: u32,
    sets: Sets,
    all: SetId,
    masks: FxHashMap<ClassName, Masks>,
    /// The sets already made of a class alone, and of its cone.
    exact: FxHashMap<ClassName, SetId>,
    cones: FxHashMap<ClassName, SetId>,
    /// The parts already computed, by set and by whether they may contain more than the set.
    covers: FxHashMap<(SetId, bool), Box<[Part]>>,
}

#[derive(Clone)]
struct Type {
    class: ClassName,
    /// The number of the first type after the known subtypes of this one.
    end: TypeId,
    parent: Parent,
    /// Whether some class on the chain of ancestors is not known.
    leaves_world: bool,
    extensible: bool,
    atom: u32,
    /// Whether the type was removed. Its atoms are in a set exactly when the atoms are from which they were split
    /// off.
    is_vacant: bool,
}

impl Type {
    /// The atom of the type's unknown subclasses.
    fn unknown(&self) -> Option<u32> {
        self.extensible.then_some(self.atom + 1)
    }

    /// In an editable universe, the atom of the known subclasses that the type does not have yet; theirs are split
    /// off from it. It differs from the atom of the unknown subclasses, because a row whose class has unknown
    /// ancestors may catch an unknown subclass, but none whose ancestors are all known.
    fn to_come(&self) -> u32 {
        self.atom + 1 + u32::from(self.extensible)
    }
}

/// In an editable universe, the atom of the types to come whose ancestors are not known.
const NOWHERE: u32 = 0;

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
        Universe::of(types, false)
    }

    /// Creates a universe to which types can be added ([`Universe::add`]) and from which they can be removed
    /// ([`Universe::remove`]). Its sets have the same contents, and take half as much memory again.
    pub fn editable(types: &[Throwable]) -> Self {
        Universe::of(types, true)
    }

    fn of(types: &[Throwable], editable: bool) -> Self {
        let order = preorder(types);
        let mut acc: Vec<Type> = Vec::with_capacity(types.len());
        let mut atoms = u32::from(editable);
        for &(i, leaves_world) in &order {
            let it = types[i];
            acc.push(Type {
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
        let words = words(atoms);
        let mut universe = Universe {
            types: acc,
            by_class,
            atoms,
            editable,
            edits: 0,
            sets: Sets::new(words),
            all: SetId::EMPTY,
            masks: FxHashMap::default(),
            exact: FxHashMap::default(),
            cones: FxHashMap::default(),
            covers: FxHashMap::default(),
        };
        universe.close_ranges();
        for it in &universe.types {
            for atom in [Some(it.atom), it.unknown()].into_iter().flatten() {
                set(&mut universe.sets.real, atom);
            }
        }
        let mut bits = vec![0; words];
        universe.fill(&mut bits, 0..universe.types.len());
        if editable {
            set(&mut bits, NOWHERE);
        }
        universe.all = universe.sets.intern(&bits);
        universe
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

    /// The type of a class; `None` if the class is no type of the universe.
    pub fn type_of(&self, class: ClassName) -> Option<TypeId> {
        self.by_class.get(&class).copied()
    }

    /// Whether the type may have direct subclasses that are not known; `None` if the class is no type of the
    /// universe.
    pub fn is_extensible(&self, class: ClassName) -> Option<bool> {
        self.type_of(class).map(|it| self.types[it.index()].extensible)
    }

    /// What is known of the type's direct superclass; `None` if the class is no type of the universe.
    pub fn parent(&self, class: ClassName) -> Option<Parent> {
        self.type_of(class).map(|it| self.types[it.index()].parent)
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
        let Some(it) = self.type_of(class) else { return self.all };
        let mut bits = vec![0; self.sets.words];
        set(&mut bits, self.types[it.index()].atom);
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
        self.fill(&mut bits, it.index()..self.types[it.index()].end.index());
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
        let masks = self.new_masks(class);
        self.masks.insert(class, masks);
        masks
    }

    fn new_masks(&mut self, class: ClassName) -> Masks {
        let Some(it) = self.type_of(class) else {
            // The class is no type of the universe: nothing that is thrown is known to be one, and anything may be.
            return Masks { surely: SetId::EMPTY, may: self.all };
        };
        let row = &self.types[it.index()];
        let (it, end, outside) = (it.index(), row.end.index(), row.leaves_world);
        let mut bits = vec![0; self.sets.words];
        self.fill(&mut bits, it..end);
        let surely = self.sets.intern(&bits);
        for i in (0..it).chain(end..self.types.len()) {
            let other = &self.types[i];
            let above = i < it && it < other.end.index();
            // The ancestors of a type whose chain leaves the known types are not known, unless the row's class is
            // below the type.
            if other.leaves_world && !above {
                self.fill(&mut bits, i..i + 1);
            } else if outside && let Some(unknown) = other.unknown() {
                // The row's class, or a class above it, may be an unknown subclass of this type.
                set(&mut bits, unknown);
            }
            if self.editable && other.leaves_world && above {
                // Other types below this one are not above the row's class.
                set(&mut bits, other.to_come());
            }
        }
        if self.editable {
            set(&mut bits, NOWHERE);
        }
        Masks { surely, may: self.sets.intern(&bits) }
    }

    /// Sets the atoms of the types with these indices.
    fn fill(&self, bits: &mut [u64], types: Range<usize>) {
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

    /// The union of two sets.
    pub fn join(&mut self, a: SetId, b: SetId) -> SetId {
        if a == self.all || b == self.all {
            return self.all;
        }
        self.sets.binary(Op::Or, a, b)
    }

    /// The intersection of two sets.
    pub fn meet(&mut self, a: SetId, b: SetId) -> SetId {
        self.sets.binary(Op::And, a, b)
    }

    /// The difference of two sets: what `a` has and `b` does not have.
    pub fn minus(&mut self, a: SetId, b: SetId) -> SetId {
        self.sets.binary(Op::Minus, a, b)
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
        self.cover(self.sets.bits(it), true)
    }

    /// Returns what the set certainly has, as classes and cones, sorted by name: an *unknown subclass of T* without
    /// the rest of the cone is left out.
    #[cfg(test)]
    fn parts_within(&self, it: SetId) -> Vec<Part> {
        self.cover(self.sets.bits(it), false)
    }

    /// Returns the result of [`Universe::parts`] and remembers it, for callers that ask about many sets of which many
    /// are equal: computing the parts takes time proportional to the number of types.
    pub fn known_parts(&mut self, it: SetId) -> Vec<Part> {
        self.known_cover(it, true)
    }

    /// Returns what the set certainly has, as classes and cones, sorted by name: an *unknown subclass of T* without
    /// the rest of the cone is left out. The answer is remembered.
    pub fn known_parts_within(&mut self, it: SetId) -> Vec<Part> {
        self.known_cover(it, false)
    }

    fn known_cover(&mut self, it: SetId, above: bool) -> Vec<Part> {
        if let Some(parts) = self.covers.get(&(it, above)) {
            return parts.to_vec();
        }
        let parts = self.cover(self.sets.bits(it), above);
        self.covers.insert((it, above), parts.as_slice().into());
        parts
    }

    /// Computes the parts of a set; with `above` they may contain more than the set but not less, without it less
    /// but not more.
    fn cover(&self, bits: &[u64], above: bool) -> Vec<Part> {
        let mut acc = Vec::new();
        let mut i = 0;
        while i < self.types.len() {
            let ty = &self.types[i];
            if ty.is_vacant {
                i += 1;
                continue;
            }
            let range = i..ty.end.index();
            let has_all = |it: &Type| it.is_vacant || self.has_both(bits, it);
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

    /// The classes whose *exactly* atom the set has, sorted by name. This is the whole set if no type is extensible.
    pub fn classes(&self, it: SetId) -> Vec<ClassName> {
        let bits = self.sets.bits(it);
        let has = self.types.iter().filter(|it| !it.is_vacant && get(bits, it.atom));
        let mut acc: Vec<ClassName> = has.map(|it| it.class).collect();
        acc.sort_unstable_by_key(|it| it.bytes());
        acc
    }

    /// The number of types.
    pub fn len(&self) -> usize {
        self.by_class.len()
    }

    /// How many times a type was added or removed.
    pub fn n_edits(&self) -> u32 {
        self.edits
    }

    /// Whether the universe has no types.
    pub fn is_empty(&self) -> bool {
        self.by_class.is_empty()
    }

    /// The number of distinct sets that were made.
    pub fn n_sets(&self) -> usize {
        self.sets.len()
    }

    /// Whether the cone of the type differs from the class alone.
    fn is_cone(&self, i: usize) -> bool {
        let ty = &self.types[i];
        ty.extensible || self.types[i + 1..ty.end.index()].iter().any(|it| !it.is_vacant)
    }

    fn has_both(&self, bits: &[u64], ty: &Type) -> bool {
        get(bits, ty.atom) && ty.unknown().is_none_or(|it| get(bits, it))
    }
}

/// The number of words of a set of this many atoms.
fn words(atoms: u32) -> usize {
    (atoms as usize).div_ceil(64).max(1)
}

fn set(bits: &mut [u64], atom: u32) {
    bits[atom as usize / 64] |= 1 << (atom % 64);
}

fn clear(bits: &mut [u64], atom: u32) {
    bits[atom as usize / 64] &= !(1 << (atom % 64));
}

fn get(bits: &[u64], atom: u32) -> bool {
    bits[atom as usize / 64] >> (atom % 64) & 1 != 0
}

/// Returns the indices of the types in an order in which each comes before its known subtypes and these follow it
/// without a gap, each with whether its chain leaves the known types. Roots and siblings are sorted by name.
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

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Op {
    Or,
    And,
    Minus,
}

/// Hash-consed bit vectors of one length.
#[derive(Clone)]
struct Sets {
    words: usize,
    bits: Vec<u64>,
    /// The sets by the hash of their bits.
    ids: FxHashMap<u64, Vec<SetId>>,
    memo: FxHashMap<(Op, SetId, SetId), SetId>,
    scratch: Vec<u64>,
    /// The atoms to which objects belong: those of the types that are present.
    real: Vec<u64>,
    /// The sets, besides the empty one, that have none of the `real` atoms: only a few.
    hollow: FxHashSet<SetId>,
    /// For each set, whether lookups must not find it because it is made of removed types. Sets beyond the end can
    /// be found.
    forgotten: Vec<bool>,
    /// Whether `ids` is out of date because bits have changed.
    is_index_old: bool,
}

impl Sets {
    fn new(words: usize) -> Self {
        let mut acc = Sets {
            words,
            bits: Vec::new(),
            ids: FxHashMap::default(),
            memo: FxHashMap::default(),
            scratch: Vec::new(),
            real: vec![0; words],
            hollow: FxHashSet::default(),
            forgotten: Vec::new(),
            is_index_old: false,
        };
        acc.intern(&vec![0; words]);
        acc
    }

    fn len(&self) -> usize {
        self.bits.len() / self.words
    }

    fn bits(&self, it: SetId) -> &[u64] {
        let at = it.index() * self.words;
        &self.bits[at..at + self.words]
    }

    fn intern(&mut self, bits: &[u64]) -> SetId {
        if std::mem::take(&mut self.is_index_old) {
            self.index();
        }
        let hash = FxBuildHasher.hash_one(bits);
        let next = SetId::from_index(self.len());
        let (words, all) = (self.words, &self.bits);
        let known = self.ids.entry(hash).or_default();
        let same = |it: &&SetId| {
            let at = it.index() * words;
            all[at..at + words] == *bits
        };
        if let Some(&it) = known.iter().find(same) {
            return it;
        }
        known.push(next);
        self.bits.extend(bits);
        if next != SetId::EMPTY && self.is_hollow(bits) {
            self.hollow.insert(next);
        }
        next
    }

    /// Whether no object belongs to these atoms.
    fn is_hollow(&self, bits: &[u64]) -> bool {
        bits.iter().zip(&self.real).all(|(bits, real)| bits & real == 0)
    }

    fn binary(&mut self, op: Op, a: SetId, b: SetId) -> SetId {
        match op {
            Op::Or if a == b || b == SetId::EMPTY => return a,
            Op::Or if a == SetId::EMPTY => return b,
            Op::And if a == b => return a,
            Op::And if a == SetId::EMPTY || b == SetId::EMPTY => return SetId::EMPTY,
            Op::Minus if a == b || a == SetId::EMPTY => return SetId::EMPTY,
            Op::Minus if b == SetId::EMPTY => return a,
            _ => {}
        }
        let key = if op != Op::Minus && b.0 < a.0 { (op, b, a) } else { (op, a, b) };
        if let Some(&it) = self.memo.get(&key) {
            return it;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let pairs = self.bits(a).iter().zip(self.bits(b));
        scratch.extend(pairs.map(|(a, b)| match op {
            Op::Or => a | b,
            Op::And => a & b,
            Op::Minus => a & !b,
        }));
        let it = self.intern(&scratch);
        self.scratch = scratch;
        self.memo.insert(key, it);
        it
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
