//! Facts that follow from a method's body and its own class file alone: one value per method.

use bir::body::{Body, Instr, InstrId};

use crate::asserting::asserting;
use crate::constants::ClassCode;
use crate::discharge::Proof;
use crate::initializers::{self, OwnClass, without_initializer};
use crate::locks::{Locks, locks};
use crate::proving::{self, proofs, proofs_of_raised};
use crate::reflected::{ReflectiveCall, Variable, handle_accesses, may_reflect, reflective_calls};
use crate::thrown::{Term, thrown};

/// Facts that follow from one method's body and its own class file. Two methods have equal facts if their bodies are
/// equal and their classes are equal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MethodFacts {
    /// The assertions that always hold, each with its proof, ascending by instruction.
    pub proofs: Box<[(InstrId, Proof)]>,
    /// The `throw` instructions, each with a term that describes exceptions that the instruction throws; ascending by
    /// instruction. An instruction occurs once for each of its terms.
    pub throws: Box<[(InstrId, Term)]>,
    /// The instructions at which IllegalMonitorStateException may be raised, because monitors may be unbalanced
    /// there.
    pub locks: Locks,
    /// The `mayinit` instructions of the method that run no initialiser and can raise no exception but
    /// NoClassDefFoundError, ascending.
    pub without_initializer: Box<[InstrId]>,
    /// The instructions that run only while assertions are enabled for the method's class, ascending.
    pub asserting: Box<[InstrId]>,
    /// The reflective calls whose classes or members are named by constants, ascending by instruction.
    pub reflective: Box<[ReflectiveCall]>,
    /// The accesses through variable handles that surely run no code but the initialiser of a class, ascending by
    /// instruction. An access is listed once for each kind of variable that it may access.
    pub accesses: Box<[(InstrId, Variable)]>,
}

impl MethodFacts {
    /// Returns the proof that the assertion always holds; `None` if the assertion is not proved.
    pub fn proof(&self, assertion: InstrId) -> Option<Proof> {
        let i = self.proofs.binary_search_by_key(&raw(assertion), |it| raw(it.0)).ok()?;
        Some(self.proofs[i].1)
    }

    /// Returns the entries of `throws` for the `throw` instruction: pairs of the instruction and a term that
    /// describes exceptions that it throws.
    pub fn thrown(&self, throw: InstrId) -> &[(InstrId, Term)] {
        let start = self.throws.partition_point(|it| raw(it.0) < raw(throw));
        let len = self.throws[start..].partition_point(|it| it.0 == throw);
        &self.throws[start..start + len]
    }

    /// Returns the entries of `accesses` for the call `at`; empty if the call may run other code.
    pub fn accessed(&self, at: InstrId) -> &[(InstrId, Variable)] {
        let start = self.accesses.partition_point(|it| raw(it.0) < raw(at));
        let len = self.accesses[start..].partition_point(|it| it.0 == at);
        &self.accesses[start..start + len]
    }

    /// Returns whether the `mayinit` instruction certainly runs no initialiser.
    pub fn runs_no_initializer(&self, may_init: InstrId) -> bool {
        contains(&self.without_initializer, may_init)
    }
}

/// Returns whether the sorted list contains the instruction.
pub fn contains(sorted: &[InstrId], instr: InstrId) -> bool {
    sorted.binary_search_by_key(&raw(instr), |&it| raw(it)).is_ok()
}

fn raw(it: InstrId) -> u32 {
    bir::body::ordinal(it)
}

/// Working memory for the computation of facts, reused from one method to the next.
#[derive(Default)]
pub struct Scratch {
    proving: proving::Scratch,
    initializers: initializers::Scratch,
}

/// The facts of a method that a caller of [`method_facts`] needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// All facts are needed.
    All,
    /// Only the facts from which the method's [summary](crate::summary) is computed are needed. The summary is then
    /// the same as with all facts; the incomplete facts must not be used for anything else.
    Summary,
}

/// Computes the facts of a method from its body and its class. `code` returns the code of the class; only bodies that use
/// reflection or variable handles need it. `scratch` is working memory that can be reused for the next method.
pub fn method_facts<'a>(
    body: &'a Body,
    class: &OwnClass<'_>,
    code: &'a dyn Fn() -> &'a ClassCode,
    wanted: Wanted,
    scratch: &mut Scratch,
) -> MethodFacts {
    // Most methods are short and lack most of the instructions that facts are about.
    let (mut asserts, mut throws, mut monitors, mut inits) = (false, false, false, false);
    let mut reflects = false;
    for instr in body.instrs.values() {
        asserts |= matches!(instr, Instr::Assert(_));
        throws |= matches!(instr, Instr::Throw(_));
        monitors |= matches!(instr, Instr::MonitorEnter(_) | Instr::MonitorExit(_));
        inits |= matches!(instr, Instr::MayInit(_));
        reflects |= matches!(instr, Instr::Call(_, _, method, _) if may_reflect(method.class()));
    }
    let all = wanted == Wanted::All;
    let own = (!class.is_interface).then_some(class.name);
    MethodFacts {
        proofs: match asserts {
            true if all => proofs(body, own, &mut scratch.proving),
            true => proofs_of_raised(body, own, &mut scratch.proving),
            false => Box::default(),
        },
        throws: if throws { thrown(body) } else { Box::default() },
        locks: if monitors { locks(body) } else { Locks::default() },
        without_initializer: if inits && all {
            without_initializer(body, class, &mut scratch.initializers)
        } else {
            Box::default()
        },
        asserting: asserting(body),
        reflective: if reflects { reflective_calls(body, code).into() } else { Box::default() },
        accesses: if reflects { handle_accesses(body, code).into() } else { Box::default() },
    }
}
