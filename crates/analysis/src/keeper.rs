//! The keeper of the solved program beside the database (`engine.md`, rule 3). The program is one value, which is
//! updated after edits and driven by one query.
//!
//! The answers are a function of the inputs; the previous state decides only how long an advance takes. If
//! [`update`](crate::whole::maintained::MaintainedProgram::update) can apply a change, the change is applied;
//! otherwise the program is rebuilt. Everything that salsa tracks is read beforehand: the keeper runs no query. After
//! a panic no program is kept, and the next call rebuilds it.
//!
//! The caller can cancel the work. A cancelled rebuild is discarded, and the previous program is kept. Changes that
//! were applied before a cancellation stay applied, and the next call continues towards the solution, whatever
//! changed in the meantime. No caller receives a program before its solution is complete.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use flow::fuel::{Cancelled, Fuel, PATIENCE};

use crate::current::{CurrentProgram, Propagated};
use crate::differing::Difference;
use crate::input::Settings;
use crate::tiers::Tier;

/// The way in which [`Keeper::advance`] brought the program up to date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advance {
    /// Nothing was done, because no answer can have changed.
    Unchanged,
    /// The changes were applied to the existing program.
    Updated,
    /// The program was rebuilt from scratch.
    Rebuilt,
}

/// Statistics about the calls of [`Keeper::advance`] since the keeper was created.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// The number of times that the program was built from scratch.
    pub rebuilt: u64,
    /// The number of times that changes were applied to the existing program.
    pub updated: u64,
    /// The total number of exception sets (of methods, calls and initialisers) that updates of the program changed.
    pub changed_sets: u64,
}

/// Owns the solved program of a database, and brings it up to date when the inputs change.
#[derive(Default)]
pub struct Keeper {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last generation (version number) that was given to a program. No number is used twice, even if a panic
    /// destroyed a program.
    generation: u64,
    counts: Counts,
    /// The most recent program; `None` before the first program is built, after a panic, and while the program is
    /// being changed, so that no caller finds it half changed.
    last: Option<Last>,
    /// The rest of a replaced program, whose memory is still to be freed; `None` if there is no such rest. The memory
    /// is freed in steps, because freeing all of it would delay a caller for too long.
    unfreed: Option<Unfreed>,
    /// Whether `last` reflects the inputs of the last call of [`Keeper::advance`]; false if that call was cancelled.
    is_current: bool,
}

/// An iterator that frees the memory of a replaced program. Each step frees one piece.
type Unfreed = Box<dyn Iterator<Item = ()> + Send + Sync>;

/// A program, and the inputs that the program was built from.
struct Last {
    /// The inputs that the program was built from. `None` if an update failed halfway: the program is then unusable,
    /// and only its lock is reused.
    of: Option<Ingredients>,
    answers: Arc<RwLock<CurrentProgram>>,
}

/// The inputs from which a program was built.
struct Ingredients {
    settings: Arc<Settings>,
    tiers: Vec<Tier>,
}

impl Keeper {
    /// Brings the solved program up to date with these settings and containers, which are in class-path order.
    /// Returns the program, and how it was brought up to date.
    ///
    /// # Errors
    /// When `cancelled` returns true. `cancelled` is called after about every 25 µs of work.
    pub fn advance(
        &self,
        settings: &Arc<Settings>,
        tiers: Vec<Tier>,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Result<(Propagated, Advance), Cancelled> {
        let mut state = lock(&self.state);
        let generation = state.generation + 1;
        let mut last = state.last.take();
        state.is_current = false;
        let fuel = &mut Fuel::new(PATIENCE, cancelled);
        let done = advanced((&mut last, &mut state.unfreed), settings, tiers, generation, fuel);
        state.last = last;
        let (advance, answers) = match done? {
            (TakenIn::Nothing, answers) => (Advance::Unchanged, answers),
            (TakenIn::All(changed_sets), answers) => {
                state.counts.updated += 1;
                state.counts.changed_sets += changed_sets;
                (Advance::Updated, answers)
            }
            (TakenIn::Refused, answers) => {
                state.counts.rebuilt += 1;
                (Advance::Rebuilt, answers)
            }
        };
        if advance != Advance::Unchanged {
            state.generation = generation;
        }
        state.is_current = true;
        Ok((Propagated { generation: state.generation, answers }, advance))
    }

    /// Does work in advance that the next change of the program needs
    /// ([`prepare`](crate::whole::maintained::MaintainedProgram::prepare)). Does nothing if a reader has locked the
    /// program. No answer changes.
    ///
    /// # Errors
    /// When `cancelled` returns true. The next call continues the work.
    pub fn keep_current(&self, cancelled: &mut dyn FnMut() -> bool) -> Result<(), Cancelled> {
        let mut state = lock(&self.state);
        let fuel = &mut Fuel::new(PATIENCE, cancelled);
        clear(&mut state.unfreed, fuel)?;
        let last = state.last.as_ref().filter(|it| it.of.is_some());
        match last.and_then(|it| it.answers.try_write().ok()) {
            Some(mut answers) => answers.change(|it, ex| it.prepare(ex, fuel)),
            None => Ok(()),
        }
    }

    /// Returns the most recent program; `None` if the program is not up to date, because the last call of
    /// [`Keeper::advance`] was cancelled or there was no call.
    pub fn current(&self) -> Option<Propagated> {
        let state = lock(&self.state);
        let last = state.last.as_ref().filter(|_| state.is_current)?;
        Some(Propagated { generation: state.generation, answers: Arc::clone(&last.answers) })
    }

    /// Returns how often the program was rebuilt and updated, and how many exception sets the updates changed.
    pub fn counts(&self) -> Counts {
        lock(&self.state).counts
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

enum TakenIn {
    /// Nothing was done, because no answer can have changed.
    Nothing,
    /// All changes were applied, and this number of exception sets changed.
    All(u64),
    /// The changes could not be applied, so the program is rebuilt from scratch.
    Refused,
}

/// Brings the program up to date: applies the changes to it, or builds it from scratch. Records that the answers that
/// may have changed are valid only since the generation `generation`.
fn advanced(
    (last, unfreed): (&mut Option<Last>, &mut Option<Unfreed>),
    settings: &Arc<Settings>,
    tiers: Vec<Tier>,
    generation: u64,
    fuel: &mut Fuel<'_>,
) -> Result<(TakenIn, Arc<RwLock<CurrentProgram>>), Cancelled> {
    if let Some(it) = last {
        let taken = it.take_in(settings, &tiers, generation, fuel)?;
        if !matches!(taken, TakenIn::Refused) {
            return Ok((taken, Arc::clone(&it.answers)));
        }
    }
    clear(unfreed, fuel)?;
    let answers = CurrentProgram::new(settings, &tiers, generation, fuel)?;
    let (answers, old) = renewed(last.take().map(|it| it.answers), answers);
    *unfreed = old.map(|it| -> Unfreed { Box::new(it.freeing()) });
    let of = Some(Ingredients { settings: Arc::clone(settings), tiers });
    *last = Some(Last { of, answers: Arc::clone(&answers) });
    Ok((TakenIn::Refused, answers))
}

impl Last {
    /// Applies to the program the differences between the inputs that it was built from and the containers `now`.
    fn take_in(
        &mut self,
        settings: &Arc<Settings>,
        now: &[Tier],
        generation: u64,
        fuel: &mut Fuel<'_>,
    ) -> Result<TakenIn, Cancelled> {
        let Some(of) = self.of.as_ref().filter(|it| it.settings == *settings) else {
            return Ok(TakenIn::Refused);
        };
        // Snapshots of earlier revisions are gone when a query runs after a change. If one still reads the program,
        // it keeps the program, and another program is built.
        let Ok(mut answers) = self.answers.try_write() else { return Ok(TakenIn::Refused) };
        let Some(Difference { changes, passed_over }) = answers.difference(&of.tiers, now, fuel)? else {
            return Ok(TakenIn::Refused);
        };
        let has_changed = !changes.is_empty() || !answers.is_settled();
        if !changes.is_empty() {
            answers.change(|it, ex| it.prepare(ex, fuel))?;
            // The program is half changed until the update is complete.
            self.of = None;
            if !answers.change(|it, ex| it.update(ex, changes)) {
                return Ok(TakenIn::Refused);
            }
        }
        let is_shadowing_other = passed_over.is_some_and(|it| answers.pass_over(it, now));
        self.of = Some(Ingredients { settings: Arc::clone(settings), tiers: now.to_vec() });
        if has_changed {
            answers.follow_entries(settings, fuel)?;
            answers.change(|it, ex| it.settle(ex, fuel))?;
        }
        if has_changed || is_shadowing_other {
            Ok(TakenIn::All(answers.stamp(generation)))
        } else {
            Ok(TakenIn::Nothing)
        }
    }
}

/// Stores a new program in the lock `place` of the old program. The outdated memo of the query `propagated` shares
/// this lock, so the memo does not keep the old program alive. Returns the lock and the old program. If the lock is
/// in use, returns a new lock with the new program, and no old program.
fn renewed(
    place: Option<Arc<RwLock<CurrentProgram>>>,
    answers: CurrentProgram,
) -> (Arc<RwLock<CurrentProgram>>, Option<CurrentProgram>) {
    let Some(place) = place else { return (Arc::new(RwLock::new(answers)), None) };
    let replaced = match place.try_write() {
        Ok(mut old) => Ok(std::mem::replace(&mut *old, answers)),
        Err(TryLockError::WouldBlock | TryLockError::Poisoned(_)) => Err(answers),
    };
    match replaced {
        Ok(old) => (place, Some(old)),
        Err(it) => (Arc::new(RwLock::new(it)), None),
    }
}

/// Frees the rest of a replaced program, piece by piece, until it is freed or the work is cancelled.
fn clear(unfreed: &mut Option<Unfreed>, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
    for () in unfreed.iter_mut().flatten() {
        fuel.spend(2)?;
    }
    *unfreed = None;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::input::{Role, WorldKind};

    fn settings(link_errors: bool) -> Arc<Settings> {
        let mut it = Settings::new(WorldKind::Open, 17);
        it.options.link_errors = link_errors;
        Arc::new(it)
    }

    fn advance(keeper: &Keeper, settings: &Arc<Settings>, tiers: Vec<Tier>) -> (Propagated, Advance) {
        keeper.advance(settings, tiers, &mut || false).unwrap()
    }

    fn is_same(one: &Propagated, other: &Propagated) -> bool {
        Arc::ptr_eq(&one.answers, &other.answers)
    }

    #[test]
    fn equal_records_leave_the_program_unchanged() {
        let keeper = Keeper::default();
        let tier = || Tier { role: Role::App, records: Arc::default() };
        let (first, how) = advance(&keeper, &settings(false), vec![tier()]);
        assert_eq!(how, Advance::Rebuilt);
        let (second, how) = advance(&keeper, &settings(false), vec![tier()]);
        assert!(first == second && how == Advance::Unchanged);
        assert_eq!(keeper.counts(), Counts { rebuilt: 1, ..Counts::default() });
        assert!(first == advance(&keeper, &settings(false), Vec::new()).0, "the only container is empty");
        let other = advance(&keeper, &settings(true), vec![tier()]).0;
        assert!(first != other && is_same(&first, &other), "another program, stored in the same lock");
        assert_eq!(keeper.counts(), Counts { rebuilt: 2, ..Counts::default() });
    }

    #[test]
    fn a_reader_keeps_the_program_that_it_holds() {
        let keeper = Keeper::default();
        let first = advance(&keeper, &settings(false), Vec::new()).0;
        let reading = first.read();
        // The call neither waits nor changes the program under the reader.
        let second = advance(&keeper, &settings(true), Vec::new()).0;
        assert!(first != second && !is_same(&first, &second));
        assert!(
            !reading.solved().calls.options.link_errors && second.read().solved().calls.options.link_errors
        );
    }

    #[test]
    fn a_cancelled_advance_leaves_no_current_program() {
        let keeper = Keeper::default();
        let first = advance(&keeper, &settings(false), Vec::new()).0;
        assert!(keeper.advance(&settings(true), Vec::new(), &mut || true).is_err());
        assert!(keeper.current().is_none());
        assert_eq!(keeper.counts(), Counts { rebuilt: 1, ..Counts::default() });
        // The previous program is not lost.
        let (second, how) = advance(&keeper, &settings(false), Vec::new());
        assert!(first == second && how == Advance::Unchanged);
        assert!(keeper.current().is_some_and(|it| it == first));
        let third = advance(&keeper, &settings(true), Vec::new()).0;
        assert!(first != third && is_same(&first, &third));
    }

    #[test]
    fn after_a_panic_the_program_is_rebuilt() {
        let keeper = Keeper::default();
        let first = advance(&keeper, &settings(false), Vec::new()).0;
        let lost = std::panic::AssertUnwindSafe(|| {
            let mut state = keeper.state.lock().unwrap();
            let _last = state.last.take();
            let _answers = first.answers.write().unwrap();
            panic!("half way");
        });
        assert!(std::panic::catch_unwind(lost).is_err());
        let second = advance(&keeper, &settings(false), Vec::new()).0;
        assert!(first != second && !is_same(&first, &second));
        assert_eq!(keeper.counts(), Counts { rebuilt: 2, ..Counts::default() });
        assert!(second == advance(&keeper, &settings(false), Vec::new()).0);
    }
}
