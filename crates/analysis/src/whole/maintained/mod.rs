//! A solved program that is updated after changes of its classes, instead of being rebuilt.
//!
//! Most edits change the calls and exceptions of a method, and nothing of its class that other classes see. Then the
//! hierarchy and the targets of dispatches stay, and only the inclusions of the changed methods differ ([`take_in`]).
//! A class that is removed, added, or changed in what other classes see is moved to a new position in the hierarchy
//! ([`moved`]). [`solving`] updates the solution. An edit that may change more is refused
//! ([`MaintainedProgram::update`] returns `false`), and the program must be rebuilt. Under `--rta` and `--entry`, the reached
//! code is recomputed from scratch ([`reached`]). The result equals that of a rebuild, because a least solution is a
//! function of its system.

mod called;
mod changed;
mod index;
mod indexing;
mod intake;
mod mentions;
mod moved;
mod reached;
mod solving;
mod take_in;
mod targets;
mod types;

use flow::fuel::{Cancelled, Fuel};
use flow::incremental::Incremental;

use self::index::{EditIndex, Stale};
use self::indexing::index;
use self::intake::Intake;
use super::lattice::{Exceptions, Value};
use super::reachable::Roots;
use super::reads::Touched;
use super::record::ClassChange;
use super::solved::SolvedProgram;

/// The maximum number of changed classes in one update; with more, the program is rebuilt. Applying nearly this
/// number of changes to the classes of one library took three to five times as long as a rebuild.
pub const MAX_CHANGED: usize = 1 << 11;

/// The number of future nodes for which the incremental solver reserves memory in advance.
const RESERVED_NODES: usize = 1 << 14;

/// A solved program whose solution can be updated after changes of its classes.
pub struct MaintainedProgram {
    solved: SolvedProgram,
    preparation: Preparation,
    /// The parts of the program that must be recomputed because of changes; `None` if there are none. Answers must be
    /// read only while this field is `None`.
    stale: Option<Box<Stale>>,
    /// The parts of the program that changed since the last call of [`MaintainedProgram::take_touched`].
    touched: Touched,
}

/// Which part of the work that must precede the first change of a program is done.
#[derive(Default)]
enum Preparation {
    /// The program is solved, but not prepared for changes.
    #[default]
    None,
    /// The indices for finding the parts of the program that depend on a changed class are built.
    Indexed(Box<EditIndex>),
    /// The indices are built, and the incremental solver is computing the solution.
    Solving(Box<EditIndex>, Box<Incremental<Value>>),
    /// The indices are built, and the incremental solver has the solution: the program is prepared for changes.
    Done(Box<EditIndex>),
}

impl MaintainedProgram {
    /// Wraps a solved program. The result is not prepared for changes yet.
    pub fn new(solved: SolvedProgram) -> Self {
        MaintainedProgram { solved, preparation: Preparation::None, stale: None, touched: Touched::default() }
    }

    /// Returns the solved program. Answers read from it are wrong while the maintained program is not
    /// [settled](MaintainedProgram::is_settled).
    pub fn solved(&self) -> &SolvedProgram {
        &self.solved
    }

    /// Prepares the program for changes: does in advance the work that the first change needs. Changes no answer.
    ///
    /// # Errors
    /// When the work is cancelled. The next call continues the work.
    pub fn prepare(&mut self, ex: &mut Exceptions, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
        loop {
            self.preparation = match std::mem::take(&mut self.preparation) {
                Preparation::None => Preparation::Indexed(Box::new(index(&mut self.solved, fuel)?)),
                Preparation::Indexed(index) => match self.solved.unsolved(fuel) {
                    Ok(it) => Preparation::Solving(index, Box::new(it)),
                    Err(cancelled) => {
                        self.preparation = Preparation::Indexed(index);
                        return Err(cancelled);
                    }
                },
                Preparation::Solving(index, mut solver) => {
                    if let Err(cancelled) = solver.solve(ex, &mut || fuel.is_cancelled()) {
                        self.preparation = Preparation::Solving(index, solver);
                        return Err(cancelled);
                    }
                    // The values so far are those of the solution that the program already has, so they do not count
                    // as changes.
                    solver.take_changed();
                    solver.reserve(RESERVED_NODES);
                    self.solved.follow(*solver);
                    Preparation::Done(index)
                }
                done @ Preparation::Done(_) => {
                    self.preparation = done;
                    return Ok(());
                }
            }
        }
    }

    /// Applies changes of classes; each class occurs at most once. The program must be
    /// [prepared](MaintainedProgram::prepare). Afterwards [`MaintainedProgram::reach_again`] and
    /// [`MaintainedProgram::settle`] must be called. Returns `false` if the effects cannot be derived from the
    /// changed classes: then this program is unusable and must be rebuilt.
    pub fn update(&mut self, ex: &mut Exceptions, changes: Vec<ClassChange>) -> bool {
        let is_searched = self.solved.calls.reachable.is_some();
        let stale = self.stale.get_or_insert_default();
        stale.is_unsearched = is_searched;
        let Preparation::Done(index) = &mut self.preparation else { return false };
        match Intake::new(&mut self.solved, ex, index, stale, &mut self.touched) {
            Some(mut it) => take_in::take_in(&mut it, changes),
            None => false,
        }
    }

    /// Whether the solution reflects all changes of classes that were applied.
    pub fn is_settled(&self) -> bool {
        self.stale.is_none()
    }

    /// Whether the set of reached code reflects all changes of classes that were applied; always true without
    /// `--rta` and `--entry`.
    pub fn is_searched(&self) -> bool {
        self.stale.as_ref().is_none_or(|it| !it.is_unsearched)
    }

    /// Under `--rta` or `--entry`, recomputes the code that is reached from the entry points of `roots`, and restricts
    /// the targets of virtual calls to those that the receivers of `roots` select. Does nothing if the set of reached code
    /// is [up to date](MaintainedProgram::is_searched). Must be called before [`MaintainedProgram::settle`].
    ///
    /// # Errors
    /// When the work is cancelled. Then the set of reached code is still outdated, and the next call starts from the
    /// beginning.
    pub fn reach_again(
        &mut self,
        ex: &mut Exceptions,
        roots: Roots,
        fuel: &mut Fuel<'_>,
    ) -> Result<(), Cancelled> {
        let Some(stale) = self.stale.as_mut().filter(|it| it.is_unsearched) else { return Ok(()) };
        let Preparation::Done(index) = &mut self.preparation else { return Ok(()) };
        match Intake::new(&mut self.solved, ex, index, stale, &mut self.touched) {
            Some(mut it) => reached::reach_again(&mut it, roots, fuel),
            None => Ok(()),
        }
    }

    /// Updates the solution so that it reflects all changes of classes that were applied.
    ///
    /// # Errors
    /// When the work is cancelled. Finished work is kept, and the next call of this function continues it, even if
    /// [`MaintainedProgram::update`] is called in between.
    pub fn settle(&mut self, ex: &mut Exceptions, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
        let Some(stale) = &mut self.stale else { return Ok(()) };
        debug_assert!(
            !stale.is_unsearched,
            "the set of reached code must be recomputed before the solution is updated"
        );
        let Preparation::Done(index) = &mut self.preparation else { return Ok(()) };
        solving::solve_again(&mut self.solved, ex, (index, stale), &mut self.touched, fuel)?;
        self.stale = None;
        Ok(())
    }

    /// Returns the parts of the program that updates changed since the last call of this function.
    pub fn take_touched(&mut self) -> Touched {
        std::mem::take(&mut self.touched)
    }

    /// Marks all answers as possibly changed, although no class changed.
    pub fn touch_all(&mut self) {
        self.touched.all = true;
    }

    /// Whether all answers were marked as possibly changed since the last call of
    /// [`MaintainedProgram::take_touched`].
    pub fn is_all_touched(&self) -> bool {
        self.touched.all
    }

    /// Replaces the list of shadowed class records ([`super::tables::ClassTable::passed_over`]): pairs of the index
    /// of a record and the index of the record that shadows it.
    pub fn pass_over(&mut self, records: std::sync::Arc<[(usize, usize)]>) {
        self.solved.calls.classes.passed_over = records;
    }

    /// Frees the program in small steps: each step of the returned iterator takes at most a few milliseconds.
    pub fn freeing(self) -> impl Iterator<Item = ()> {
        let MaintainedProgram { solved, preparation, .. } = self;
        let (index, solver) = match preparation {
            Preparation::None => (None, None),
            Preparation::Indexed(index) | Preparation::Done(index) => (Some(index), None),
            Preparation::Solving(index, solver) => (Some(index), Some(solver)),
        };
        let index = index.into_iter().flat_map(|it| it.mentions.freeing());
        solved.freeing().chain(solver.into_iter().flat_map(|it| it.freeing())).chain(index)
    }
}
