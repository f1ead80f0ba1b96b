//! Sets of atoms as bit vectors, each stored once. Atoms can be added while sets keep their ids.

use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// The number of a hash-consed set of exceptions in one [`super::Universe`]. Ids are never ordered or printed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetId(pub u32);

impl SetId {
    /// The empty set.
    pub const EMPTY: SetId = SetId(0);

    /// Returns the number of the set, for indexing a vector.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the id of the set with this number. `index` must fit into 32 bits.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        debug_assert!(u32::try_from(index).is_ok(), "the set number {index} does not fit into 32 bits");
        SetId(index as u32)
    }
}

/// Returns the number of 64-bit words, at least 1, that a bit vector with one bit for each of `atoms` atoms needs. An
/// atom is an element of a set.
pub(super) fn words(atoms: u32) -> usize {
    (atoms as usize).div_ceil(64).max(1)
}

/// Adds the atom with the number `atom` to the set that `bits` represents. An atom is an element of a set.
pub(super) fn set(bits: &mut [u64], atom: u32) {
    bits[atom as usize / 64] |= 1 << (atom % 64);
}

/// Removes the atom with the number `atom` from the set that `bits` represents. An atom is an element of a set.
pub(super) fn clear(bits: &mut [u64], atom: u32) {
    bits[atom as usize / 64] &= !(1 << (atom % 64));
}

/// Returns whether the atom with the number `atom` is in the set that `bits` represents. An atom is an element of a
/// set.
pub(super) fn get(bits: &[u64], atom: u32) -> bool {
    bits[atom as usize / 64] >> (atom % 64) & 1 != 0
}

/// An operation on two sets.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SetOp {
    /// The union.
    Or,
    /// The intersection.
    And,
    /// The difference: the elements of the first set that are not in the second.
    Minus,
}

/// Hash-consed sets of atoms, stored as bit vectors of equal length with one bit for each atom. An atom stands for
/// the objects of exactly one class, or for those of all unknown subclasses of a class, or is reserved for types that
/// are added later.
#[derive(Clone)]
pub(super) struct AtomSets {
    /// The number of 64-bit words of each set.
    pub(super) words: usize,
    bits: Vec<u64>,
    /// The ids of the sets, by the hash of their bits, so that equal sets are found.
    ids: FxHashMap<u64, Vec<SetId>>,
    memo: FxHashMap<(SetOp, SetId, SetId), SetId>,
    scratch: Vec<u64>,
    /// The atoms (elements of sets) that stand for possible objects, as a bit vector: the atoms of present types,
    /// except the atoms that are reserved for types that are added later.
    pub(super) real: Vec<u64>,
    /// The sets other than [`SetId::EMPTY`] to which no object can belong: each of their atoms (elements) is missing
    /// in `real`. There are only a few such sets.
    pub(super) hollow: FxHashSet<SetId>,
    /// For each set, whether [`AtomSets::intern`] must not return the set, because it was built from a type that was
    /// removed. The list may be shorter than the number of sets; the remaining sets can be returned.
    forgotten: Vec<bool>,
    /// Whether `ids` must be rebuilt before its next use, because the bits of sets have changed.
    is_index_old: bool,
}

impl AtomSets {
    /// Returns a store that has only the empty set; each set has `words` 64-bit words.
    pub(super) fn new(words: usize) -> Self {
        let mut acc = AtomSets {
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

    /// Returns the number of sets.
    pub(super) fn len(&self) -> usize {
        self.bits.len() / self.words
    }

    /// Returns the elements (atoms) of a set as a bit vector: a bit is 1 if the atom with its number is in the set.
    pub(super) fn bits(&self, it: SetId) -> &[u64] {
        let at = it.index() * self.words;
        &self.bits[at..at + self.words]
    }

    /// Returns the id of the set that `bits` represents, and stores the set if it is new.
    pub(super) fn intern(&mut self, bits: &[u64]) -> SetId {
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

    /// Returns whether no object can belong to the set that `bits` represents, because none of its atoms (elements)
    /// is in `real`.
    fn is_hollow(&self, bits: &[u64]) -> bool {
        bits.iter().zip(&self.real).all(|(bits, real)| bits & real == 0)
    }

    /// Returns the result of an operation on the sets `a` and `b`, and stores it for later calls.
    pub(super) fn binary(&mut self, op: SetOp, a: SetId, b: SetId) -> SetId {
        match op {
            SetOp::Or if a == b || b == SetId::EMPTY => return a,
            SetOp::Or if a == SetId::EMPTY => return b,
            SetOp::And if a == b => return a,
            SetOp::And if a == SetId::EMPTY || b == SetId::EMPTY => return SetId::EMPTY,
            SetOp::Minus if a == b || a == SetId::EMPTY => return SetId::EMPTY,
            SetOp::Minus if b == SetId::EMPTY => return a,
            _ => {}
        }
        let key = if op != SetOp::Minus && b.0 < a.0 { (op, b, a) } else { (op, a, b) };
        if let Some(&it) = self.memo.get(&key) {
            return it;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let pairs = self.bits(a).iter().zip(self.bits(b));
        scratch.extend(pairs.map(|(a, b)| match op {
            SetOp::Or => a | b,
            SetOp::And => a & b,
            SetOp::Minus => a & !b,
        }));
        let it = self.intern(&scratch);
        self.scratch = scratch;
        self.memo.insert(key, it);
        it
    }

    /// Lengthens the bit vectors of all sets to at least `words` 64-bit words. The new bits are 0.
    pub(super) fn widen(&mut self, words: usize) {
        if words <= self.words {
            return;
        }
        // Some extra room makes widening rare.
        let wider = words + words / 64 + 1;
        let mut bits = Vec::with_capacity(self.len() * wider);
        for set in self.bits.chunks(self.words) {
            bits.extend(set);
            bits.resize(bits.len() + wider - self.words, 0);
        }
        (self.bits, self.words) = (bits, wider);
        self.real.resize(wider, 0);
        self.is_index_old = true;
    }

    /// For each pair of atoms (elements of sets) in `kin`, adds the first atom to all sets that contain the second
    /// atom.
    pub(super) fn refine(&mut self, kin: &[(u32, u32)]) {
        for bits in self.bits.chunks_mut(self.words) {
            for &(atom, like) in kin {
                if get(bits, like) {
                    set(bits, atom);
                }
            }
        }
        let mut hollow = std::mem::take(&mut self.hollow);
        hollow.retain(|it| self.is_hollow(self.bits(*it)));
        self.hollow = hollow;
        self.is_index_old = true;
    }

    /// Hides some sets from [`AtomSets::intern`] after a type was removed: the sets that distinguish the type from
    /// its superclass. `kin` pairs each atom (element of sets) of the removed type with an atom of the superclass, or
    /// with the atom for unknown superclasses. A set is hidden if it contains exactly one atom of some pair.
    pub(super) fn forget_those_apart(&mut self, kin: &[(u32, u32)]) {
        self.forgotten.resize(self.len(), false);
        for (i, bits) in self.bits.chunks(self.words).enumerate() {
            self.forgotten[i] |= kin.iter().any(|&(atom, like)| get(bits, atom) != get(bits, like));
            if kin.iter().any(|it| get(bits, it.0)) && self.is_hollow(bits) {
                self.hollow.insert(SetId::from_index(i));
            }
        }
        self.is_index_old = true;
    }

    /// Rebuilds `ids`, the index of the sets by the hash of their bits, from the sets that are not hidden.
    fn index(&mut self) {
        self.ids.clear();
        for (i, bits) in self.bits.chunks(self.words).enumerate() {
            if self.forgotten.get(i) != Some(&true) {
                self.ids.entry(FxBuildHasher.hash_one(bits)).or_default().push(SetId::from_index(i));
            }
        }
    }
}
