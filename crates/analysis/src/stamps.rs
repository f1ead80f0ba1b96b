//! The generations since which answers about classes are valid. With them, an edit does not recompute answers that it
//! does not affect.

use classfile::names::ClassName;
use rustc_hash::FxHashMap;

use crate::whole::reads::{Read, Touched};

/// A kind of answer that is computed for each class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// The exceptions that the methods of the class let out, and the reasons for their open parts.
    Throws,
    /// The targets of the calls of the class.
    Calls,
    /// The final graphs of the methods of the class.
    Graphs,
}

/// The identity of an answer: the class that the answer is about, and the kind of the answer.
type Answer = (ClassName, Kind);

/// The index of an answer in [`Stamps::given`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct AnswerId(u32);

impl AnswerId {
    /// Returns the index of the answer in [`Stamps::given`].
    fn index(self) -> usize {
        self.0 as usize
    }

    /// Creates the id of the answer at `index` in [`Stamps::given`]. The index must fit into 32 bits.
    fn from_index(index: usize) -> Self {
        AnswerId(index as u32)
    }
}

/// An answer that was computed from a part of the program, with the version that the answer had when it was computed.
/// If the answer has a newer version now, this entry is outdated. Outdated entries are skipped, which is cheaper than
/// removing them whenever an answer is recomputed.
#[derive(Clone, Copy, Debug)]
struct Reader {
    answer: AnswerId,
    time: u32,
}

/// For each answer, the generation (version number) of the program since which the answer has been valid, and the
/// parts of the program from which the answer was computed.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// The last generation (version number) of the program in which all answers may have changed.
    all: u64,
    /// For each answer that may have changed in a generation later than `all`, the last generation in which it may
    /// have changed.
    of: FxHashMap<Answer, u64>,
    /// For each part of the program, the answers that were computed from this part; some entries may be outdated.
    readers: FxHashMap<Read, Vec<Reader>>,
    ids: FxHashMap<Answer, AnswerId>,
    /// Each answer, with its version: the number of times that the answer was computed or marked as changed.
    given: Vec<(Answer, u32)>,
}

impl Kind {
    /// All kinds of answers.
    const ALL: [Kind; 3] = [Kind::Throws, Kind::Calls, Kind::Graphs];
}

impl Stamps {
    /// Creates the state for a new program of this generation (version number), from which no answer has been
    /// computed yet.
    pub(crate) fn new(generation: u64) -> Self {
        Stamps { all: generation, ..Stamps::default() }
    }

    /// Returns the generation (version number) of the program since which the answer of this kind about a class has
    /// been valid.
    pub(crate) fn of(&self, class: ClassName, kind: Kind) -> u64 {
        self.of.get(&(class, kind)).copied().unwrap_or(self.all)
    }

    /// Returns the classes for which the answer of this kind may have changed after the generation (version number)
    /// `generation` of the program; `None` if all answers may have changed.
    pub(crate) fn since(&self, generation: u64, kind: Kind) -> Option<Vec<ClassName>> {
        if self.all > generation {
            return None;
        }
        let later = self.of.iter().filter(|it| it.0.1 == kind && *it.1 > generation);
        Some(later.map(|it| it.0.0).collect())
    }

    /// Records that the answer of this kind about a class was computed from the parts `reads` of the program.
    pub(crate) fn read(&mut self, class: ClassName, kind: Kind, reads: Vec<Read>) {
        let given = &mut self.given;
        let answer = *self.ids.entry((class, kind)).or_insert_with(|| {
            given.push(((class, kind), 0));
            AnswerId::from_index(given.len() - 1)
        });
        let time = &mut given[answer.index()].1;
        *time += 1;
        let reader = Reader { answer, time: *time };
        for it in reads {
            let readers = self.readers.entry(it).or_default();
            if readers.len() == readers.capacity() {
                // Drops outdated entries before the list allocates more memory.
                readers.retain(|it| counts(given, *it));
            }
            readers.push(reader);
        }
    }

    /// Records that the answers which were computed from the parts `touched` of the program may have changed in this
    /// generation (version number).
    pub(crate) fn touch(&mut self, generation: u64, touched: &Touched) {
        if touched.all {
            *self = Stamps::new(generation);
            return;
        }
        for it in &touched.reads {
            for reader in self.readers.remove(it).into_iter().flatten() {
                if counts(&self.given, reader) {
                    self.stamp(reader.answer, generation);
                }
            }
        }
        for &class in &touched.classes {
            for answer in Kind::ALL.map(|kind| (class, kind)) {
                match self.ids.get(&answer) {
                    Some(&it) => self.stamp(it, generation),
                    None => _ = self.of.insert(answer, generation),
                }
            }
        }
    }

    /// Marks an answer as changed in a generation. All earlier [`Reader`] entries of the answer become outdated.
    fn stamp(&mut self, answer: AnswerId, generation: u64) {
        let (answer, time) = &mut self.given[answer.index()];
        *time += 1;
        self.of.insert(*answer, generation);
    }
}

/// Whether a [`Reader`] entry is current: its answer has not been recomputed or marked as changed since the entry was
/// made. `given` has each answer with its present version.
fn counts(given: &[(Answer, u32)], reader: Reader) -> bool {
    given[reader.answer.index()].1 == reader.time
}
