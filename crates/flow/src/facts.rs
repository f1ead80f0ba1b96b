//! What is known of a method from its own class file alone (`Body` apart): one value per method.

use bir::body::{Body, Instr, InstrId};

use crate::discharge::Proof;
use crate::initializers::{self, OwnClass, without_initializer};
use crate::locks::{Locks, locks};
use crate::proving::{self, proofs, proofs_of_raised};
use crate::thrown::{Term, thrown};

/// The local facts of one method. Equal for equal bodies of equal classes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MethodFacts {
    /// Assertions that always hold, ascending.
    pub proofs: Box<[(InstrId, Proof)]>,
    /// For each `throw` instruction its terms, ascending by instruction.
    pub throws: Box<[(InstrId, Term)]>,
    /// Where monitors may be out of balance.
    pub locks: Locks,
    /// `mayinit` instructions that run no initialiser and can raise NoClassDefFoundError only, ascending.
    pub without_initializer: Box<[InstrId]>,
}

impl MethodFacts {
    /// Why the assertion always holds, if that is known.
    pub fn proof(&self, assertion: InstrId) -> Option<Proof> {
        let i = self.proofs.binary_search_by_key(&raw(assertion), |it| raw(it.0)).ok()?;
        Some(self.proofs[i].1)
    }

    /// What the `throw` instruction throws.
    pub fn thrown(&self, throw: InstrId) -> &[(InstrId, Term)] {
        let start = self.throws.partition_point(|it| raw(it.0) < raw(throw));
        let len = self.throws[start..].partition_point(|it| it.0 == throw);
        &self.throws[start..start + len]
    }

    /// Whether the `mayinit` runs no initialiser.
    pub fn runs_no_initializer(&self, may_init: InstrId) -> bool {
        contains(&self.without_initializer, may_init)
    }
}

/// Whether a sorted list has the instruction.
pub fn contains(sorted: &[InstrId], instr: InstrId) -> bool {
    sorted.binary_search_by_key(&raw(instr), |&it| raw(it)).is_ok()
}

fn raw(it: InstrId) -> u32 {
    bir::body::ordinal(it)
}

/// Memory that the facts of one method leave for the next.
#[derive(Default)]
pub struct Scratch {
    proving: proving::Scratch,
    initializers: initializers::Scratch,
}

/// What of its facts is wanted of a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// All.
    All,
    /// What its [summary](crate::summary) asks for. That is then the same as of all facts, but the facts themselves are of
    /// no other use.
    Summary,
}

/// Computes the facts of a method.
pub fn method_facts(body: &Body, class: &OwnClass<'_>, wanted: Wanted, scratch: &mut Scratch) -> MethodFacts {
    // Most methods are short and lack most of what facts are about.
    let (mut asserts, mut throws, mut monitors, mut inits) = (false, false, false, false);
    for instr in body.instrs.values() {
        asserts |= matches!(instr, Instr::Assert(_));
        throws |= matches!(instr, Instr::Throw(_));
        monitors |= matches!(instr, Instr::MonitorEnter(_) | Instr::MonitorExit(_));
        inits |= matches!(instr, Instr::MayInit(_));
    }
    let all = wanted == Wanted::All;
    MethodFacts {
        proofs: match asserts {
            true if all => proofs(body, &mut scratch.proving),
            true => proofs_of_raised(body, &mut scratch.proving),
            false => Box::default(),
        },
        throws: if throws { thrown(body) } else { Box::default() },
        locks: if monitors { locks(body) } else { Locks::default() },
        without_initializer: if inits && all {
            without_initializer(body, class, &mut scratch.initializers)
        } else {
            Box::default()
        },
    }
}
