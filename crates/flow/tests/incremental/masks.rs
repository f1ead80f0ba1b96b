//! A lattice whose functions change, for the fuzz test.

use flow::solver::{FunctionId, Lattice};

/// The message with which the lattice panics.
pub(crate) const FUSE: &str = "the fuse has blown";

/// A xorshift generator of random numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % u64::from(n.max(1))) as u32
    }

    pub(crate) fn bits(&mut self, n_atoms: u32) -> u64 {
        (0..1 + self.below(3)).fold(0, |acc, _| acc | 1 << self.below(n_atoms))
    }
}

/// A function that keeps the atoms of `keep`, and adds the atoms of `adds` if the argument has any atom of `when`.
#[derive(Clone, Copy)]
struct Mask {
    keep: u64,
    when: u64,
    adds: u64,
}

/// The lattice of sets of at most 64 atoms, with its functions.
pub(crate) struct Masks {
    pub(crate) n_atoms: u32,
    masks: Vec<Mask>,
    /// The number of operations after which the lattice panics.
    pub(crate) fuse: Option<u32>,
}

impl Masks {
    pub(crate) fn new(n_atoms: u32) -> Self {
        Masks { n_atoms, masks: vec![Mask { keep: u64::MAX, when: 0, adds: 0 }], fuse: None }
    }

    pub(crate) fn all(&self) -> u64 {
        u64::MAX >> (64 - self.n_atoms)
    }

    pub(crate) fn n_functions(&self) -> u32 {
        self.masks.len() as u32
    }

    fn random(&self, random: &mut Random) -> Mask {
        // As with rows of exception tables: some catch everything, some nearly everything, some little, and wrappers
        // replace exceptions.
        let some = random.bits(self.n_atoms);
        let (keep, when, adds) = match random.below(6) {
            0 => (0, 0, 0),
            1 => (some, 0, 0),
            2 => (some, u64::MAX, random.bits(self.n_atoms)),
            3 => (u64::MAX, some, random.bits(self.n_atoms)),
            _ => (!some, 0, 0),
        };
        Mask { keep, when, adds }
    }

    pub(crate) fn add_function(&mut self, random: &mut Random) {
        let it = self.random(random);
        self.masks.push(it);
    }

    pub(crate) fn change_function(&mut self, random: &mut Random) -> Option<FunctionId> {
        let it = self.random(random);
        let i = 1 + random.below(self.n_functions() - 1);
        *self.masks.get_mut(i as usize)? = it;
        Some(FunctionId(i))
    }

    /// Adds an atom to the lattice, which models adding an exception type. Returns the functions that change.
    pub(crate) fn add_atom(&mut self, random: &mut Random) -> Vec<FunctionId> {
        let atom = 1 << self.n_atoms;
        self.n_atoms += 1;
        let mut changed = Vec::new();
        for (i, mask) in self.masks.iter_mut().enumerate().skip(1) {
            let before = mask.keep;
            mask.keep = if random.below(2) == 0 { mask.keep | atom } else { mask.keep & !atom };
            if mask.keep != before {
                changed.push(FunctionId::from_index(i));
            }
        }
        changed
    }

    pub(crate) fn through(&self, FunctionId(f): FunctionId, a: u64) -> u64 {
        let mask = self.masks[f as usize];
        (a & mask.keep) | if a & mask.when == 0 { 0 } else { mask.adds }
    }

    fn burn(&mut self) {
        if let Some(left) = &mut self.fuse {
            assert!(*left > 0, "{FUSE}");
            *left -= 1;
        }
    }
}

impl Lattice for Masks {
    type Value = u64;

    fn bottom(&self) -> u64 {
        0
    }

    fn join(&mut self, a: u64, b: u64) -> u64 {
        self.burn();
        a | b
    }

    fn apply(&mut self, function: FunctionId, a: u64) -> u64 {
        self.burn();
        self.through(function, a)
    }
}
