//! The table of the interner in [`crate::names`]: maps values to ids, append-only, shared by all threads.
//!
//! A class file mentions hundreds of names, most of them already known, so lookups must be cheap: they take no
//! lock, and read one entry of eight bytes before they compare the value itself.
//!
//! ```text
//!  63   32 31  0
//! [ hash  | id  ]      0 while free
//! ```

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The number of parts into which the ids of a [`Table`] are split by the hashes of their values, a power of two.
/// Each part has its own lock for adding values.
const PARTS: usize = 16;
/// The number of values in the first chunk of memory of a [`Table`]; each further chunk is twice as large.
const FIRST: usize = 1 << 10;
const CHUNKS: usize = 22;
/// The number of entries in the first hash table of a [`Part`]; each further hash table is twice as large.
const FIRST_INDEX: usize = 1 << 6;
const INDICES: usize = 27;

/// The number of values that are looked up together, so that their cache misses overlap.
const AT_ONCE: usize = 16;

/// Collects values, and passes them in groups of [`AT_ONCE`] to a function that looks them up together.
pub(crate) struct Batch<T, F: FnMut(&[T])> {
    waiting: Vec<T>,
    then: F,
}

/// An append-only table from values to ids.
pub(crate) struct Table<T: 'static> {
    parts: [Part; PARTS],
    chunks: [OnceLock<Box<[OnceLock<T>]>>; CHUNKS],
    next: AtomicU32,
}

/// One part of a [`Table`]: the ids of the values whose hashes belong to this part, in a hash table with open
/// addressing.
struct Part {
    /// The position in `indices` of the current hash table. Older, smaller hash tables are kept for threads that
    /// still read them.
    current: AtomicUsize,
    indices: [OnceLock<Box<[AtomicU64]>>; INDICES],
    /// The number of used entries in the current hash table. A thread that adds a value holds this lock.
    len: Mutex<usize>,
}

impl<T: Copy> Table<T> {
    pub(crate) fn new() -> Self {
        Table {
            parts: std::array::from_fn(|_| Part {
                current: AtomicUsize::new(0),
                indices: std::array::from_fn(|_| OnceLock::new()),
                len: Mutex::new(0),
            }),
            chunks: std::array::from_fn(|_| OnceLock::new()),
            next: AtomicU32::new(1),
        }
    }

    fn place(id: NonZeroU32) -> (usize, usize) {
        let i = id.get() as usize - 1 + FIRST;
        let chunk = (usize::BITS - 1 - i.leading_zeros()) as usize - FIRST.trailing_zeros() as usize;
        (chunk, i - (FIRST << chunk))
    }

    /// Returns the value with this id.
    #[inline]
    pub(crate) fn get(&self, id: NonZeroU32) -> &T {
        let (chunk, i) = Self::place(id);
        match self.chunks.get(chunk).and_then(OnceLock::get).and_then(|it| it.get(i)?.get()) {
            Some(it) => it,
            None => unreachable!("an id exists only after its item was stored"),
        }
    }

    /// Returns the id of the value with this hash for which `is_it` holds; if there is no such value, adds the value
    /// that `make` returns.
    #[inline]
    pub(crate) fn intern(
        &self,
        hash: u32,
        is_it: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> NonZeroU32 {
        let part = self.part(hash);
        match self.find(part.index(), hash, &is_it) {
            Ok(id) => id,
            Err(_) => self.add(part, hash, &is_it, make),
        }
    }

    /// Looks up or adds many values; passes each key with its id to `done`. The lookups overlap, because most of
    /// the cost of each is a cache miss.
    pub(crate) fn intern_all<K: Copy>(
        &self,
        keys: &[(u32, K)],
        is_it: impl Fn(K, &T) -> bool,
        make: impl Fn(K) -> T,
        mut done: impl FnMut(K, NonZeroU32),
    ) {
        for keys in keys.chunks(AT_ONCE) {
            let mut entries = [0; AT_ONCE];
            for (entry, &(hash, _)) in entries.iter_mut().zip(keys) {
                *entry = Self::probe(self.part(hash).index(), hash);
            }
            let mut items = [None; AT_ONCE];
            for (item, &entry) in items.iter_mut().zip(&entries) {
                *item = NonZeroU32::new(entry as u32).map(|id| (id, *self.get(id)));
            }
            for (item, &(hash, key)) in items.into_iter().zip(keys) {
                done(
                    key,
                    match item {
                        Some((id, item)) if is_it(key, &item) => id,
                        _ => self.intern(hash, |it| is_it(key, it), || make(key)),
                    },
                );
            }
        }
    }

    /// Returns the first entry with this hash in the hash table `index`; 0 if there is none. The high half of an
    /// entry is the hash of a value, the low half its id.
    #[inline]
    fn probe(index: &[AtomicU64], hash: u32) -> u64 {
        let Some(mask) = index.len().checked_sub(1) else { return 0 };
        let mut at = hash as usize;
        loop {
            let entry = index[at & mask].load(Ordering::Acquire);
            if entry == 0 || (entry >> 32) as u32 == hash {
                return entry;
            }
            at += 1;
        }
    }

    /// Returns the [`Part`] that contains the values with this hash. The high bits of the hash choose the part,
    /// because the low bits choose the entry within the part.
    #[inline]
    fn part(&self, hash: u32) -> &Part {
        &self.parts[(hash >> 28) as usize % PARTS]
    }

    /// Returns the id of the value with this hash for which `is_it` holds. If there is none, returns as the error the
    /// position of the free entry of `index` at which the value can be added.
    #[inline]
    fn find(&self, index: &[AtomicU64], hash: u32, is_it: &impl Fn(&T) -> bool) -> Result<NonZeroU32, usize> {
        let mut at = hash as usize;
        let Some(mask) = index.len().checked_sub(1) else { return Err(0) };
        loop {
            let entry = index[at & mask].load(Ordering::Acquire);
            let Some(id) = NonZeroU32::new(entry as u32) else { return Err(at & mask) };
            if (entry >> 32) as u32 == hash && is_it(self.get(id)) {
                return Ok(id);
            }
            at += 1;
        }
    }

    #[cold]
    fn add(
        &self,
        part: &Part,
        hash: u32,
        is_it: &impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> NonZeroU32 {
        let mut len = part.len.lock().unwrap_or_else(PoisonError::into_inner);
        let index = part.with_room(*len);
        // Another thread may have added the value meanwhile.
        let free = match self.find(index, hash, is_it) {
            Ok(id) => return id,
            Err(free) => free,
        };
        let Some(id) = NonZeroU32::new(self.next.fetch_add(1, Ordering::Relaxed)) else {
            unreachable!("the accepted inputs are too small to contain 2^32 different names")
        };
        let (chunk, i) = Self::place(id);
        let slots = self.chunks[chunk].get_or_init(|| (0..FIRST << chunk).map(|_| OnceLock::new()).collect());
        let _ = slots[i].set(make());
        index[free].store(u64::from(hash) << 32 | u64::from(id.get()), Ordering::Release);
        *len += 1;
        id
    }
}

impl<T, F: FnMut(&[T])> Batch<T, F> {
    /// Returns an empty batch that passes groups of values to `then`.
    pub(crate) fn new(then: F) -> Self {
        Batch { waiting: Vec::with_capacity(AT_ONCE), then }
    }

    #[inline]
    pub(crate) fn push(&mut self, it: T) {
        self.waiting.push(it);
        if self.waiting.len() == AT_ONCE {
            (self.then)(&self.waiting);
            self.waiting.clear();
        }
    }

    /// Passes the collected values that are left, fewer than [`AT_ONCE`], to the function of the batch.
    pub(crate) fn finish(mut self) {
        (self.then)(&self.waiting);
    }
}

impl Part {
    /// Returns the current hash table of this part; an empty slice if no value has been added to the part yet.
    #[inline]
    fn index(&self) -> &[AtomicU64] {
        let current = self.current.load(Ordering::Acquire);
        self.indices.get(current).and_then(OnceLock::get).map_or(&[], |it| &**it)
    }

    /// Returns the current hash table of this part, which is first replaced by a larger one if it has no room for
    /// another entry. `len` is the number of its used entries. The caller must hold the lock [`Part::len`].
    fn with_room(&self, len: usize) -> &[AtomicU64] {
        let old = self.index();
        if len < old.len() / 4 * 3 {
            return old;
        }
        let next = if old.is_empty() { 0 } else { self.current.load(Ordering::Relaxed) + 1 };
        let new =
            self.indices[next].get_or_init(|| (0..FIRST_INDEX << next).map(|_| AtomicU64::new(0)).collect());
        let mask = new.len() - 1;
        for entry in old.iter().map(|it| it.load(Ordering::Relaxed)).filter(|&it| it != 0) {
            let mut at = (entry >> 32) as usize;
            while new[at & mask].load(Ordering::Relaxed) != 0 {
                at += 1;
            }
            new[at & mask].store(entry, Ordering::Relaxed);
        }
        self.current.store(next, Ordering::Release);
        new
    }
}
