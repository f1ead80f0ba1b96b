//! The generations since which answers about classes are valid. With them, an edit does not recompute answers that it
//! does not affect.

use classfile::names::ClassName;
use rustc_hash::FxHashMap;

use crate::whole::reads::{Read, Touched};

/// A kind of answer about a class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// The exceptions that the methods of the class let out, and the reasons for their open parts.
    Throws,
    /// The targets of the calls of the class.
    Calls,
    /// The final graphs of the methods of the class.
    Graphs,
}

/// The identity of an answer: class and kind.
type Answer = (ClassName, Kind);

/// The index of an answer in [`Stamps::given`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct AnswerId(u32);

impl AnswerId {
    /// The index that this id stands for.
    fn index(self) -> usize {
        self.0 as usize
    }

    /// The id of an index, which must fit into 32 bits.
    fn from_index(index: usize) -> Self {
        AnswerId(index as u32)
    }
}

/// An answer that read a part of the program, with the version of the answer at that time. The entry is outdated if
/// the answer has a newer version. Skipping outdated entries is cheaper than removing them whenever an answer is
/// recomputed.
#[derive(Clone, Copy, Debug)]
struct Reader {
    answer: AnswerId,
    time: u32,
}

/// The generation since which each answer is valid, and the parts of the program that each answer was read from.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// The last generation in which all answers may have changed.
    all: u64,
    /// For each answer that may have changed in a generation after `all`, that generation.
    of: FxHashMap<Answer, u64>,
    /// The answers that read each part of the program; some entries may be outdated.
    readers: FxHashMap<Read, Vec<Reader>>,
    ids: FxHashMap<Answer, AnswerId>,
    /// Each answer, with its version: the number of times that it was computed or marked as changed.
    given: Vec<(Answer, u32)>,
}

impl Kind {
    /// All kinds of answers.
    const ALL: [Kind; 3] = [Kind::Throws, Kind::Calls, Kind::Graphs];
}

impl Stamps {
    /// Creates the state for a program of this generation, about which no question was answered yet.
    pub(crate) fn new(generation: u64) -> Self {
        Stamps { all: generation, ..Stamps::default() }
    }

    /// Returns the generation since which the answer of this kind about a class is valid.
    pub(crate) fn of(&self, class: ClassName, kind: Kind) -> u64 {
        self.of.get(&(class, kind)).copied().unwrap_or(self.all)
    }

    /// Returns the classes for which an answer of this kind may have changed since `generation`; `None` if all
    /// answers may have changed.
    pub(crate) fn since(&self, generation: u64, kind: Kind) -> Option<Vec<ClassName>> {
        if self.all > generation {
            return None;
        }
        let later = self.of.iter().filter(|it| it.0.1 == kind && *it.1 > generation);
        Some(later.map(|it| it.0.0).collect())
    }

    /// Records the parts of the program that an answer, which is being computed, was read from.
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

    /// Marks as changed in this generation the answers that depend on the touched parts of the program.
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

    /// Marks an answer as changed in a generation. Its reader entries thereby become outdated.
    fn stamp(&mut self, answer: AnswerId, generation: u64) {
        let (answer, time) = &mut self.given[answer.index()];
        *time += 1;
        self.of.insert(*answer, generation);
    }
}

/// Whether a reader entry is not outdated.
fn counts(given: &[(Answer, u32)], reader: Reader) -> bool {
    given[reader.answer.index()].1 == reader.time
}
