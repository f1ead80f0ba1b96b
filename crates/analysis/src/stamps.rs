//! Since when answers about classes are what they are: what keeps an edit from asking again about classes that it does not
//! concern.

use classfile::names::ClassName;
use rustc_hash::FxHashMap;

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

/// The number of an answer that was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct AnswerId(u32);

/// Somebody who read a part: an answer, and the how-manieth time it was given. Of one that was given again since, it does not
/// count; it is cheaper to pass over such readers than to look for them whenever an answer is given again.
#[derive(Clone, Copy, Debug)]
struct Reader {
    answer: AnswerId,
    time: u32,
}

/// For each answer that was given, since which generation of the program it holds; and what it was read from.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// Any answer may have changed in this generation.
    all: u64,
    /// The answers that may have changed in a later one.
    of: FxHashMap<Answer, u64>,
    /// The answers that read each part, perhaps with some that do not count any more.
    readers: FxHashMap<Read, Vec<Reader>>,
    ids: FxHashMap<Answer, AnswerId>,
    /// Each answer, and how often it was given or became another one.
    given: Vec<(Answer, u32)>,
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
        let given = &mut self.given;
        let answer = *self.ids.entry((class, kind)).or_insert_with(|| {
            given.push(((class, kind), 0));
            AnswerId(given.len() as u32 - 1)
        });
        let time = &mut given[answer.0 as usize].1;
        *time += 1;
        let reader = Reader { answer, time: *time };
        for it in reads {
            let readers = self.readers.entry(it).or_default();
            if readers.len() == readers.capacity() {
                // Before it takes more memory.
                readers.retain(|it| counts(given, *it));
            }
            readers.push(reader);
        }
    }

    /// Lets the answers that rest on what changed be others from this generation on.
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

    /// Lets an answer be another one from a generation on. Who read something for it does not count any more.
    fn stamp(&mut self, answer: AnswerId, generation: u64) {
        let (answer, time) = &mut self.given[answer.0 as usize];
        *time += 1;
        self.of.insert(*answer, generation);
    }
}

/// Whether an answer was not given again since.
fn counts(given: &[(Answer, u32)], reader: Reader) -> bool {
    given[reader.answer.0 as usize].1 == reader.time
}
