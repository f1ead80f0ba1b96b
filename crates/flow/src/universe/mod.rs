//! The throwable types of one program as atoms, and sets of them (`engine.md`, "Exception sets, concretely").
//!
//! Each type T has an atom *exactly T*; one that may have unknown subclasses has a second, *an unknown subclass
//! whose nearest known ancestor is T*. A cone is the atoms of all known subtypes. Sets of atoms are hash-consed:
//! a [`SetId`] is equal exactly when the set is. Types may come and go while sets keep their ids ([`edit`]); a universe in
//! which they may has atoms for that, of which no object is: to whoever asks they are not there.

mod edit;

use std::hash::BuildHasher;

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
    /// Whether there may be direct subclasses of it that nobody knows.
    pub extensible: bool,
}

/// What is known of a direct superclass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parent {
    /// It is this one, which is a throwable type of the program too.
    Class(ClassName),
    /// There is none, or none that can be thrown: the chain ends here.
    Root,
    /// It is not known: some class on the way is outside.
    Unknown,
}

/// A type of one [`Universe`]: its number. Types are numbered so that a type's known subtypes follow it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TypeId(pub u32);

/// A hash-consed set of atoms of one [`Universe`]. Ids are never ordered or printed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetId(pub u32);

impl SetId {
    /// The empty set.
    pub const EMPTY: SetId = SetId(0);
}

/// A part of a set, as people see it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// The class.
    pub class: ClassName,
    /// Whether its subclasses, known and unknown, are meant too.
    pub cone: bool,
}

/// The throwable types of a program and the sets of them that were met.
#[derive(Clone)]
pub struct Universe {
    types: Vec<Type>,
    by_class: FxHashMap<ClassName, TypeId>,
    /// Atoms so far.
    atoms: u32,
    /// Whether types may come and go: then each type has an atom for its kin to come, and there is [`NOWHERE`].
    editable: bool,
    edits: u32,
    sets: Sets,
    all: SetId,
    masks: FxHashMap<ClassName, Masks>,
    /// What was asked before: a class alone, and its cone.
    exact: FxHashMap<ClassName, SetId>,
    cones: FxHashMap<ClassName, SetId>,
    /// As people see sets that were asked about.
    covers: FxHashMap<(SetId, bool), Box<[Part]>>,
}

#[derive(Clone)]
struct Type {
    class: ClassName,
    /// Number of the first type behind the known subtypes of this one.
    end: u32,
    parent: Parent,
    /// The known ancestor from which on nothing is known, or none.
    leaves_world: bool,
    extensible: bool,
    atom: u32,
    /// It is gone. Its atoms are in a set exactly when those are that they were like when it came.
    is_vacant: bool,
}

impl Type {
    /// The atom of its unknown subclasses.
    fn unknown(&self) -> Option<u32> {
        self.extensible.then_some(self.atom + 1)
    }

    /// The atom of the known subclasses that it does not have yet, of a universe in which types may come: it is where theirs
    /// will be. A row whose class has unknown ancestors may catch an unknown subclass, but none of which all is known.
    fn to_come(&self) -> u32 {
        self.atom + 1 + u32::from(self.extensible)
    }
}

/// The atom of the types to come of whose ancestors nothing is known, of a universe in which types may come.
const NOWHERE: u32 = 0;

/// What a row that catches a class does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Masks {
    /// What it surely catches.
    pub surely: SetId,
    /// What it may catch.
    pub may: SetId,
}

impl Universe {
    /// The universe of these types, in any order. A parent that is not among them counts as unknown; so does one
    /// that closes a circle.
    pub fn new(types: &[Throwable]) -> Self {
        Universe::of(types, false)
    }

    /// The same, in which types may come and go ([`Universe::add`], [`Universe::remove`]). Its sets say the same, and take
    /// half as much room more.
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
                end: 0,
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
        universe.fill(&mut bits, 0, universe.types.len() as u32);
        if editable {
            set(&mut bits, NOWHERE);
        }
        universe.all = universe.sets.intern(&bits);
        universe
    }

    fn close_ranges(&mut self) {
        for i in (0..self.types.len()).rev() {
            let end = self.types[i].end.max(i as u32 + 1);
            self.types[i].end = end;
            let known = match self.types[i].parent {
                Parent::Class(parent) => self.by_class.get(&parent),
                Parent::Root | Parent::Unknown => None,
            };
            let above = match self.types[i].parent {
                Parent::Root => None,
                _ => known.or(self.by_class.get(&well_known().throwable)),
            };
            if let Some(&TypeId(parent)) = above
                && (parent as usize) < i
            {
                let it = &mut self.types[parent as usize];
                it.end = it.end.max(end);
            }
        }
    }

    /// The type of a class, if it can be thrown.
    pub fn type_of(&self, class: ClassName) -> Option<TypeId> {
        self.by_class.get(&class).copied()
    }

    /// Whether there may be direct subclasses of a type that nobody knows, if the class is one.
    pub fn is_extensible(&self, class: ClassName) -> Option<bool> {
        self.type_of(class).map(|it| self.types[it.0 as usize].extensible)
    }

    /// What is known of the direct superclass of a type, if the class is one.
    pub fn parent(&self, class: ClassName) -> Option<Parent> {
        self.type_of(class).map(|it| self.types[it.0 as usize].parent)
    }

    /// Every atom.
    pub fn all(&self) -> SetId {
        self.all
    }

    /// Objects of exactly this class; everything when it is no type of the universe.
    pub fn exact(&mut self, class: ClassName) -> SetId {
        if let Some(&it) = self.exact.get(&class) {
            return it;
        }
        let Some(TypeId(it)) = self.type_of(class) else { return self.all };
        let mut bits = vec![0; self.sets.words];
        set(&mut bits, self.types[it as usize].atom);
        let found = self.sets.intern(&bits);
        self.exact.insert(class, found);
        found
    }

    /// Objects of this class and of its subclasses; everything when it is no type of the universe.
    ///
    /// A subclass whose chain leaves the known world below an *unknown subclass of T* is counted there.
    pub fn cone(&mut self, class: ClassName) -> SetId {
        if let Some(&it) = self.cones.get(&class) {
            return it;
        }
        let Some(TypeId(it)) = self.type_of(class) else { return self.all };
        let mut bits = vec![0; self.sets.words];
        self.fill(&mut bits, it, self.types[it as usize].end);
        let found = self.sets.intern(&bits);
        self.cones.insert(class, found);
        found
    }

    /// What a row for this class catches; `None` catches everything.
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
        let Some(TypeId(it)) = self.type_of(class) else {
            // No type of the universe: nothing that anybody throws is known to be one, anything may be.
            return Masks { surely: SetId::EMPTY, may: self.all };
        };
        let row = &self.types[it as usize];
        let (end, outside) = (row.end, row.leaves_world);
        let mut bits = vec![0; self.sets.words];
        self.fill(&mut bits, it, end);
        let surely = self.sets.intern(&bits);
        for i in (0..it).chain(end..self.types.len() as u32) {
            let other = &self.types[i as usize];
            let above = i < it && it < other.end;
            // Nothing is known of what lies above a type whose chain leaves the world, unless it is above the row.
            if other.leaves_world && !above {
                self.fill(&mut bits, i, i + 1);
            } else if outside && let Some(unknown) = other.unknown() {
                // The row's class, or one above it, may be an unknown subclass of this one.
                set(&mut bits, unknown);
            }
            if self.editable && other.leaves_world && above {
                // Others below it are not above the row.
                set(&mut bits, other.to_come());
            }
        }
        if self.editable {
            set(&mut bits, NOWHERE);
        }
        Masks { surely, may: self.sets.intern(&bits) }
    }

    /// Sets the atoms of the types from `start` to `end`.
    fn fill(&self, bits: &mut [u64], start: u32, end: u32) {
        for it in &self.types[start as usize..end as usize] {
            set(bits, it.atom);
            if let Some(unknown) = it.unknown() {
                set(bits, unknown);
            }
            if self.editable {
                set(bits, it.to_come());
                if it.class == well_known().throwable {
                    // Whatever is thrown is below it.
                    set(bits, NOWHERE);
                }
            }
        }
    }

    /// Union.
    pub fn join(&mut self, a: SetId, b: SetId) -> SetId {
        if a == self.all || b == self.all {
            return self.all;
        }
        self.sets.binary(Op::Or, a, b)
    }

    /// What both have.
    pub fn meet(&mut self, a: SetId, b: SetId) -> SetId {
        self.sets.binary(Op::And, a, b)
    }

    /// What `a` has and `b` has not.
    pub fn minus(&mut self, a: SetId, b: SetId) -> SetId {
        self.sets.binary(Op::Minus, a, b)
    }

    /// Whether there is an object that both sets have.
    pub fn overlaps(&self, a: SetId, b: SetId) -> bool {
        // Most often one of them is told by its id.
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

    /// Whether the set has no object. Besides [`SetId::EMPTY`] it may be one of types that may come.
    pub fn is_nothing(&self, it: SetId) -> bool {
        it == SetId::EMPTY || self.sets.hollow.contains(&it)
    }

    /// The set as the fewest classes and cones, by name.
    ///
    /// An *unknown subclass of T* that stands alone is written as the cone of T, the smallest that has it.
    pub fn parts(&self, it: SetId) -> Vec<Part> {
        self.cover(self.sets.bits(it), true)
    }

    /// What the set surely has, as classes and cones, by name: an *unknown subclass of T* that stands alone is left out.
    #[cfg(test)]
    fn parts_within(&self, it: SetId) -> Vec<Part> {
        self.cover(self.sets.bits(it), false)
    }

    /// As [`Universe::parts`], for who asks about many sets of which many are equal: to find it takes as long as there are types.
    pub fn known_parts(&mut self, it: SetId) -> Vec<Part> {
        self.known_cover(it, true)
    }

    /// What the set surely has, as classes and cones, by name: an *unknown subclass of T* that stands alone is left out.
    /// Remembered, as [`Universe::known_parts`] is.
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

    /// `above`: parts may say more than the set, not less.
    fn cover(&self, bits: &[u64], above: bool) -> Vec<Part> {
        let mut acc = Vec::new();
        let mut i = 0;
        while i < self.types.len() {
            let ty = &self.types[i];
            if ty.is_vacant {
                i += 1;
                continue;
            }
            let range = i..ty.end as usize;
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

    /// The classes whose *exactly* atom the set has, by name: the whole set where no type is extensible.
    pub fn classes(&self, it: SetId) -> Vec<ClassName> {
        let bits = self.sets.bits(it);
        let has = self.types.iter().filter(|it| !it.is_vacant && get(bits, it.atom));
        let mut acc: Vec<ClassName> = has.map(|it| it.class).collect();
        acc.sort_unstable_by_key(|it| it.bytes());
        acc
    }

    /// How many types the universe has.
    pub fn len(&self) -> usize {
        self.by_class.len()
    }

    /// How many times a type came or went.
    pub fn n_edits(&self) -> u32 {
        self.edits
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.by_class.is_empty()
    }

    /// How many distinct sets were met.
    pub fn n_sets(&self) -> usize {
        self.sets.len()
    }

    /// Whether class and cone differ.
    fn is_cone(&self, i: usize) -> bool {
        let ty = &self.types[i];
        ty.extensible || self.types[i + 1..ty.end as usize].iter().any(|it| !it.is_vacant)
    }

    fn has_both(&self, bits: &[u64], ty: &Type) -> bool {
        get(bits, ty.atom) && ty.unknown().is_none_or(|it| get(bits, it))
    }
}

/// Words of a set of so many atoms.
fn words(atoms: u32) -> usize {
    (atoms as usize).div_ceil(64).max(1)
}

fn set(bits: &mut [u64], atom: u32) {
    bits[atom as usize / 64] |= 1 << (atom % 64);
}

fn get(bits: &[u64], atom: u32) -> bool {
    bits[atom as usize / 64] >> (atom % 64) & 1 != 0
}

/// Indices of the types so that each stands before its known subtypes and these follow it without a gap; and whether
/// its chain leaves the known world. Roots and siblings are in order of name.
fn preorder(types: &[Throwable]) -> Vec<(usize, bool)> {
    let index: FxHashMap<ClassName, usize> = types.iter().enumerate().map(|(i, it)| (it.class, i)).collect();
    let top = index.get(&well_known().throwable).copied();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); types.len()];
    let mut pending: Vec<(usize, bool)> = Vec::new();
    for (i, it) in types.iter().enumerate() {
        match it.parent {
            Parent::Class(parent) if let Some(&parent) = index.get(&parent) => children[parent].push(i),
            Parent::Root => pending.push((i, false)),
            // Whatever lies between, what is thrown is below Throwable.
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
    // What is left hangs on a circle, which no JVM loads: its chain is not known.
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
    /// From the hash of a set to the sets that have it.
    ids: FxHashMap<u64, Vec<SetId>>,
    memo: FxHashMap<(Op, SetId, SetId), SetId>,
    scratch: Vec<u64>,
    /// The atoms that stand for objects: those of types that are there.
    real: Vec<u64>,
    /// The sets besides the empty one that have none of these: few.
    hollow: FxHashSet<SetId>,
    /// Those that no set to come is: of types that are gone. None are, as long as there are fewer.
    forgotten: Vec<bool>,
    /// Whether `ids` are of other bits than there are now.
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
        let at = it.0 as usize * self.words;
        &self.bits[at..at + self.words]
    }

    fn intern(&mut self, bits: &[u64]) -> SetId {
        if std::mem::take(&mut self.is_index_old) {
            self.index();
        }
        let hash = FxBuildHasher.hash_one(bits);
        let next = SetId(self.len() as u32);
        let (words, all) = (self.words, &self.bits);
        let known = self.ids.entry(hash).or_default();
        let same = |it: &&SetId| {
            let at = it.0 as usize * words;
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

    /// Whether there are no objects of these atoms.
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

    /// Throwable with two subclasses, one of them final, and one type of which nothing is known.
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
    fn a_row_surely_takes_its_cone_and_perhaps_what_has_unknown_ancestors() {
        let mut it = universe();
        let masks = it.masks(Some(class("Ex")));
        assert_eq!(text(&it, masks.surely), "Ex+");
        assert_eq!(text(&it, masks.may), "Ex+ X+");
    }

    #[test]
    fn a_row_whose_type_is_outside_may_take_an_unknown_subclass_of_anything_open() {
        let mut it = universe();
        let masks = it.masks(Some(class("X")));
        assert_eq!(text(&it, masks.surely), "X+");
        let io = it.exact(class("IO"));
        assert!(!it.overlaps(masks.may, io), "IO itself is known, and is no X");
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
    fn a_circle_of_supertypes_is_no_chain() {
        let mut it = Universe::new(&[ty("A", "B", true), ty("B", "A", true), ty("T", "", true)]);
        let masks = it.masks(Some(class("T")));
        let a = it.exact(class("A"));
        assert!(it.overlaps(masks.may, a));
    }
}
