//! The exception sets that arrive at the rethrowing handlers of one method: those that throw the caught exception
//! again.
//!
//! The result is a least fixpoint, because an exception that one handler throws again may arrive at others. Nothing
//! is computed for methods without rethrowing handlers.

use bir::body::{Body, Instr, InstrId, ordinal};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::coverage::Coverage;
use crate::exceptions::{Catch, Cause, ExceptionSet, caught_by, raised};
use crate::facts::MethodFacts;
use crate::throwables::{Answer, Subtypes, well_known};
use crate::thrown::Term;

/// The maximum number of exception sets that are collected for one handler. If more arrive, the sets are replaced by
/// the types that the handler's rows catch.
const MAX_SETS: usize = 64;
/// The maximum number of rounds of the fixpoint iteration; a round is a pass over the instructions. If sets still
/// grow in the last round, the sets of every handler are replaced by the types that the handler's rows catch.
const MAX_ROUNDS: usize = 24;

/// For each handler of a method that throws the caught exception again, the exception sets that arrive at the
/// handler.
pub(super) struct Arrivals {
    sets: FxHashMap<InstrId, Vec<ExceptionSet>>,
    /// The handlers whose sets were replaced by the types that their rows catch. No further sets are added to these
    /// handlers.
    widened: FxHashSet<InstrId>,
    changed: bool,
}

impl Arrivals {
    /// Computes the exception sets that arrive at the rethrowing handlers of a body: the handlers that throw the
    /// caught exception again. If `keep_proved` is set, assertions raise their exceptions even if they are proved
    /// never to fail.
    pub(super) fn new(
        body: &Body,
        facts: &MethodFacts,
        keep_proved: bool,
        subtypes: &dyn Subtypes,
        coverage: &mut Coverage,
    ) -> Self {
        let mut acc = Arrivals { sets: FxHashMap::default(), widened: FxHashSet::default(), changed: true };
        for (_, term) in &facts.throws {
            if let Term::Caught(handler) = *term {
                acc.sets.insert(handler, Vec::new());
            }
        }
        if acc.sets.is_empty() {
            return acc;
        }
        let mut round = 0;
        while acc.changed {
            acc.changed = false;
            if round == MAX_ROUNDS {
                acc.widen_all(body);
                break;
            }
            acc.sweep(body, facts, keep_proved, subtypes, coverage, round == 0);
            round += 1;
        }
        coverage.rewind();
        acc
    }

    /// Runs one round of the fixpoint iteration: adds the exception sets that instructions raise to the handlers that
    /// may catch them. If `all` is set, all instructions are examined; this is needed in the first round. In later
    /// rounds, only `throw` instructions can add new sets.
    fn sweep(
        &mut self,
        body: &Body,
        facts: &MethodFacts,
        keep_proved: bool,
        subtypes: &dyn Subtypes,
        coverage: &mut Coverage,
        all: bool,
    ) {
        coverage.rewind();
        let mut sets = Vec::new();
        let mut one = |acc: &mut Self, id: InstrId| {
            let rows = coverage.at(ordinal(id));
            if !rows.is_empty() {
                sets.clear();
                sets_at(body, facts, id, keep_proved, acc, &mut sets);
                for &set in &sets {
                    route(body, rows, set, subtypes, |row, part, _| {
                        acc.add(body, body.rows[row as usize].handler, part);
                    });
                }
            }
        };
        if all {
            body.instrs.iter().for_each(|it| one(self, it.0));
        } else {
            facts.throws.iter().for_each(|it| one(self, it.0));
        }
    }

    /// Returns the exception sets that arrive at the handler; none if the handler does not throw the caught exception
    /// again.
    pub(super) fn at(&self, handler: InstrId) -> &[ExceptionSet] {
        self.sets.get(&handler).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, body: &Body, handler: InstrId, set: ExceptionSet) {
        let Some(sets) = self.sets.get_mut(&handler) else {
            return;
        };
        if sets.contains(&set) || self.widened.contains(&handler) {
            return;
        }
        if sets.len() < MAX_SETS {
            sets.push(set);
        } else {
            *sets = row_types(body, handler);
            self.widened.insert(handler);
        }
        self.changed = true;
    }

    fn widen_all(&mut self, body: &Body) {
        for (&handler, sets) in &mut self.sets {
            *sets = row_types(body, handler);
        }
    }
}

/// Returns exception sets that describe all exceptions which the rows of a handler may catch. There are two sets for
/// each catch type: the set of the type and its subtypes, and the open set of the exceptions of this type that calls
/// throw.
fn row_types(body: &Body, handler: InstrId) -> Vec<ExceptionSet> {
    let mut sets = Vec::new();
    for row in body.rows.iter().filter(|it| it.handler == handler) {
        let class = row.catch_type.unwrap_or(well_known().throwable);
        for set in [ExceptionSet::cone(class), ExceptionSet::open(class, Cause::Call)] {
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
    }
    sets
}

/// Appends the exception sets that an instruction raises to `sets`, in the order in which the JVM checks for them. No
/// set is appended twice.
pub(super) fn sets_at(
    body: &Body,
    facts: &MethodFacts,
    id: InstrId,
    keep_proved: bool,
    arrivals: &Arrivals,
    sets: &mut Vec<ExceptionSet>,
) {
    raised(body, facts, id, keep_proved, |it| sets.push(it));
    if !matches!(body.instrs[id], Instr::Throw(_)) {
        return;
    }
    for (_, term) in facts.thrown(id) {
        let mut add = |set| {
            if !sets.contains(&set) {
                sets.push(set);
            }
        };
        match *term {
            Term::Exact(class) => add(ExceptionSet::exact(class)),
            Term::Cone(class) => add(ExceptionSet::cone(class)),
            Term::Caught(handler) => arrivals.at(handler).iter().for_each(|&it| add(it)),
        }
    }
}

/// Determines which of the exception-table rows `rows` may catch an exception of `set`. For each such row, calls `f`
/// with the row's index, the largest part of `set` that the row may catch, and a flag: `false` if the row certainly
/// catches that part, `true` if this is not certain. Returns whether an exception of `set` may leave the method.
pub(super) fn route(
    body: &Body,
    rows: &[u32],
    set: ExceptionSet,
    subtypes: &dyn Subtypes,
    mut f: impl FnMut(u32, ExceptionSet, bool),
) -> bool {
    let mut before = Vec::new();
    for &row in rows {
        let catch_type = body.rows[row as usize].catch_type;
        match caught_by(set, catch_type, subtypes) {
            Catch::None => {}
            Catch::All => {
                f(row, set, false);
                return false;
            }
            Catch::May(part) => {
                let Some(catch_type) = catch_type else { continue };
                // An earlier row of a wider type already caught what this row would catch.
                let taken = |&it: &_| subtypes.is_subtype(catch_type, it) == Answer::Yes;
                if !before.iter().any(taken) {
                    f(row, part, true);
                    before.push(catch_type);
                }
            }
        }
    }
    true
}
