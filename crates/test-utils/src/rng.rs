//! A seeded random number generator (splitmix64): the same seed gives the same numbers on every machine.

/// The state of a random number generator.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Creates a generator whose whole sequence depends only on `seed`.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// Returns the next 64 random bits. The algorithm is that of Steele, Lea, Flood, "Fast splittable pseudorandom
    /// number generators" (2014).
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a random number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        if bound == 0 { 0 } else { (self.bits() % u64::from(bound)) as u32 }
    }

    /// Returns a random number from `low` to `high`, both included.
    pub fn range(&mut self, low: i32, high: i32) -> i32 {
        let width = i64::from(high) - i64::from(low) + 1;
        (i64::from(low) + (self.bits() % width.max(1) as u64) as i64) as i32
    }

    /// Returns true with a probability of `percent` percent.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// Picks a random item; `None` if there are no items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u32) as usize)
    }

    /// Picks a random item of a nonempty array, by value.
    pub fn one<T: Copy, const N: usize>(&mut self, items: [T; N]) -> T {
        const { assert!(N > 0) };
        items[self.below(N as u32) as usize]
    }
}
