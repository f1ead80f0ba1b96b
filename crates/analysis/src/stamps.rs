//! Since when answers about classes are what they are: what keeps an edit from asking again about classes that it does not
//! concern.

use classfile::names::ClassName;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::whole::reads::{Read, Touched};

/// A kind of answers about a class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// What its methods let out, and why.
    Throws,
    /// Where their calls go.
    Calls,
    /// Their final graphs.
    Graphs,
}

/// An answer: the class and the kind.
type Answer = (ClassName, Kind);

/// For each answer that was given, since which generation of the program it holds; and what it was read from.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// Any answer may have changed in this generation.
    all: u64,
    /// The answers that may have changed in a later one.
    of: FxHashMap<Answer, u64>,
    /// The answers that read each part.
    readers: FxHashMap<Read, FxHashSet<Answer>>,
    /// What each of them read.
    reads: FxHashMap<Answer, Box<[Read]>>,
}

impl Kind {
    /// All of them.
    const ALL: [Kind; 3] = [Kind::Throws, Kind::Calls, Kind::Graphs];
}

impl Stamps {
    /// Nothing was asked yet of a program of this generation.
    pub(crate) fn new(generation: u64) -> Self {
        Stamps { all: generation, ..Stamps::default() }
    }

    /// Since when an answer holds.
    pub(crate) fn of(&self, class: ClassName, kind: Kind) -> u64 {
        self.of.get(&(class, kind)).copied().unwrap_or(self.all)
    }

    /// The classes of which an answer of a kind may be another one since a generation; `None` for all.
    pub(crate) fn since(&self, generation: u64, kind: Kind) -> Option<Vec<ClassName>> {
        if self.all > generation {
            return None;
        }
        let later = self.of.iter().filter(|it| it.0.1 == kind && *it.1 > generation);
        Some(later.map(|it| it.0.0).collect())
    }

    /// Notes what an answer that is given now was read from.
    pub(crate) fn read(&mut self, class: ClassName, kind: Kind, reads: Vec<Read>) {
        let answer = (class, kind);
        self.forget(answer);
        for &it in &reads {
            self.readers.entry(it).or_default().insert(answer);
        }
        self.reads.insert(answer, reads.into());
    }

    /// Lets the answers that rest on what changed be others from this generation on.
    pub(crate) fn touch(&mut self, generation: u64, touched: &Touched) {
        if touched.all {
            *self = Stamps::new(generation);
            return;
        }
        let readers = touched.reads.iter().filter_map(|it| self.readers.get(it)).flatten().copied();
        let about = touched.classes.iter().flat_map(|&class| Kind::ALL.map(|kind| (class, kind)));
        let others: FxHashSet<Answer> = readers.chain(about).collect();
        for it in others {
            self.of.insert(it, generation);
            self.forget(it);
        }
    }

    fn forget(&mut self, answer: Answer) {
        for it in self.reads.remove(&answer).into_iter().flatten() {
            if let Some(readers) = self.readers.get_mut(&it) {
                readers.remove(&answer);
                if readers.is_empty() {
                    self.readers.remove(&it);
                }
            }
        }
    }
}
