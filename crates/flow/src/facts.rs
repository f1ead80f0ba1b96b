//! The facts that a method's own class file alone gives besides its `Body`: one value per method.

use bir::body::{Body, Instr, InstrId};

use crate::discharge::Proof;
use crate::initializers::{self, OwnClass, without_initializer};
use crate::locks::{Locks, locks};
use crate::proving::{self, proofs, proofs_of_raised};
use crate::thrown::{Term, thrown};

/// The local facts of one method. Equal bodies of equal classes have equal facts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MethodFacts {
    /// The assertions that always hold, each with its proof, ascending.
    pub proofs: Box<[(InstrId, Proof)]>,
    /// The terms of each `throw` instruction, ascending by instruction.
    pub throws: Box<[(InstrId, Term)]>,
    /// Where monitors may be unbalanced.
    pub locks: Locks,
    /// The `mayinit` instructions that run no initialiser and can raise only NoClassDefFoundError, ascending.
    pub without_initializer: Box<[InstrId]>,
}

impl MethodFacts {
    /// The proof that the assertion always holds; `None` if it is not proved.
    pub fn proof(&self, assertion: InstrId) -> Option<Proof> {
        let i = self.proofs.binary_search_by_key(&raw(assertion), |it| raw(it.0)).ok()?;
        Some(self.proofs[i].1)
    }

    /// The terms of the `throw` instruction.
    pub fn thrown(&self, throw: InstrId) -> &[(InstrId, Term)] {
        let start = self.throws.partition_point(|it| raw(it.0) < raw(throw));
        let len = self.throws[start..].partition_point(|it| it.0 == throw);
        &self.throws[start..start + len]
    }

    /// Whether the `mayinit` instruction runs no initialiser.
    pub fn runs_no_initializer(&self, may_init: InstrId) -> bool {
        contains(&self.without_initializer, may_init)
    }
}

/// Whether a sorted list contains the instruction.
pub fn contains(sorted: &[InstrId], instr: InstrId) -> bool {
    sorted.binary_search_by_key(&raw(instr), |&it| raw(it)).is_ok()
}

fn raw(it: InstrId) -> u32 {
    bir::body::ordinal(it)
}

/// Memory that is reused from one method to the next.
#[derive(Default)]
pub struct Scratch {
    proving: proving::Scratch,
    initializers: initializers::Scratch,
}

/// Which facts of a method the caller needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// All facts.
    All,
    /// Only those that the method's [summary](crate::summary) needs. The summary is then the same as with all facts;
    /// the facts themselves are of no other use.
    Summary,
}

/// Computes the local facts of a method.
pub fn method_facts(body: &Body, class: &OwnClass<'_>, wanted: Wanted, scratch: &mut Scratch) -> MethodFacts {
    // Most methods are short and lack most of the instructions that facts are about.
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
