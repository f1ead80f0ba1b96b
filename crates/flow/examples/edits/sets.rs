//! A lattice of hash-consed sets of at most 1,600 atoms, with memoised operations.

use std::collections::HashMap;

use flow::solver::{FunctionId, Lattice};
use rustc_hash::FxHashMap;

use crate::graph::Random;

const WORDS: usize = 25;

/// The number of atoms that sets may contain.
pub(crate) const ATOMS: u32 = WORDS as u32 * 64;

type Bits = [u64; WORDS];

/// The hash-consed sets by number, and functions that remove atoms from sets.
pub(crate) struct Sets {
    sets: Vec<Bits>,
    ids: HashMap<Bits, u32, rustc_hash::FxBuildHasher>,
    joins: FxHashMap<(u32, u32), u32>,
    images: FxHashMap<(u32, u32), u32>,
    keeps: Vec<Bits>,
}

impl Sets {
    /// The number of the empty set.
    pub(crate) const EMPTY: u32 = 0;

    /// The number of functions of the lattice.
    pub(crate) const FUNCTIONS: u32 = 100;

    /// Creates the lattice with only the empty set. Function 0 keeps all atoms; the others keep none, some 30 %, or
    /// all but a few atoms.
    pub(crate) fn new(random: &mut Random) -> Self {
        let mut keeps = vec![[u64::MAX; WORDS], [0; WORDS]];
        let mut nearly = [0; WORDS];
        for atom in 0..ATOMS {
            if random.below(10) < 3 {
                nearly[atom as usize / 64] |= 1 << (atom % 64);
            }
        }
        keeps.push(nearly);
        for _ in 3..Self::FUNCTIONS {
            let mut keep = [u64::MAX; WORDS];
            for _ in 0..1 + random.below(3) {
                let atom = random.below(32);
                keep[atom as usize / 64] &= !(1 << (atom % 64));
            }
            keeps.push(keep);
        }
        let mut sets = Sets {
            sets: Vec::new(),
            ids: HashMap::default(),
            joins: FxHashMap::default(),
            images: FxHashMap::default(),
            keeps,
        };
        sets.intern([0; WORDS]);
        sets
    }

    /// Returns the number of sets created so far.
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Returns the number of the set with these atoms.
    pub(crate) fn of(&mut self, atoms: &[u32]) -> u32 {
        let mut bits = [0; WORDS];
        for &it in atoms {
            bits[it as usize / 64] |= 1 << (it % 64);
        }
        self.intern(bits)
    }

    fn intern(&mut self, bits: Bits) -> u32 {
        *self.ids.entry(bits).or_insert_with(|| {
            self.sets.push(bits);
            self.sets.len() as u32 - 1
        })
    }
}

impl Lattice for Sets {
    type Value = u32;

    fn bottom(&self) -> u32 {
        Self::EMPTY
    }

    fn join(&mut self, a: u32, b: u32) -> u32 {
        let (a, b) = (a.min(b), a.max(b));
        if a == b || a == Self::EMPTY {
            return b;
        }
        if let Some(&it) = self.joins.get(&(a, b)) {
            return it;
        }
        let mut bits = self.sets[a as usize];
        bits.iter_mut().zip(&self.sets[b as usize]).for_each(|(a, b)| *a |= b);
        let it = self.intern(bits);
        self.joins.insert((a, b), it);
        it
    }

    fn apply(&mut self, FunctionId(f): FunctionId, a: u32) -> u32 {
        if a == Self::EMPTY {
            return a;
        }
        if let Some(&it) = self.images.get(&(f, a)) {
            return it;
        }
        let mut bits = self.sets[a as usize];
        bits.iter_mut().zip(&self.keeps[f as usize]).for_each(|(a, b)| *a &= b);
        let it = self.intern(bits);
        self.images.insert((f, a), it);
        it
    }
}
