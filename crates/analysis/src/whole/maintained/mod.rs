//! A solved program that follows changes of its classes: what is known of it is changed with them instead of rebuilt.
//!
//! Most edits change what a method calls and raises, and nothing that others see of its class. Then the hierarchy and the
//! targets of dispatches stay, and only the inclusions of the changed methods differ ([`intake`]). A class that goes, comes, or
//! changes in what others see takes a new place in the hierarchy ([`moved`]). [`solving`] lets the solution follow. An edit
//! that may change more is refused ([`MaintainedProgram::update`] returns `false`), and the program is to be rebuilt. Where
//! calls go only to receivers that reached code makes, what is reached is searched again from nothing ([`reached`]). The result
//! is that of a rebuild: a least solution is a function of its system.

mod called;
mod index;
mod intake;
mod mentions;
mod moved;
mod reached;
mod solving;

use flow::fuel::{Cancelled, Fuel};
use flow::incremental::Incremental;

use self::index::{EditIndex, Stale};
use self::intake::{Intake, index};
use super::lattice::{Exceptions, Value};
use super::reachable::EntryPoint;
use super::reads::Touched;
use super::record::ClassChange;
use super::solved::SolvedProgram;

/// When more classes change at once, the program is rebuilt. To take in nearly so many, those of one library, took three to
/// five times as long.
pub const MAX_CHANGED: usize = 1 << 11;

/// For so many new nodes there is room before anything is moved.
const ROOM: usize = 1 << 14;

/// A solved program that follows changes.
pub struct MaintainedProgram {
    solved: SolvedProgram,
    preparation: Preparation,
    /// What was taken in that the solution does not follow yet; until it does, nobody may ask.
    stale: Option<Box<Stale>>,
    /// What changed since [`MaintainedProgram::take_touched`].
    touched: Touched,
}

/// How far a program is prepared for its first change.
#[derive(Default)]
enum Preparation {
    /// It is solved, and nothing more.
    #[default]
    None,
    /// There are indices.
    Indexed(Box<EditIndex>),
    /// There are indices, and a solver that is on its way to the solution.
    Solving(Box<EditIndex>, Box<Incremental<Value>>),
    /// The solution follows changes.
    Done(Box<EditIndex>),
}

impl MaintainedProgram {
    /// The solved program, not prepared for changes yet.
    pub fn new(solved: SolvedProgram) -> Self {
        MaintainedProgram { solved, preparation: Preparation::None, stale: None, touched: Touched::default() }
    }

    /// The program, to be read. While it is not [settled](MaintainedProgram::is_settled), what it says is of no use.
    pub fn solved(&self) -> &SolvedProgram {
        &self.solved
    }

    /// Prepares the program for its next change, so that this does not wait for it. No answer changes.
    ///
    /// # Errors
    /// When the work is not wanted any more. The next call goes on.
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
                    // The changes so far lead to the solution that the program has.
                    solver.take_changed();
                    solver.reserve(ROOM);
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

    /// Takes in the changes of some classes, each once. The program must be [prepared](MaintainedProgram::prepare); next come
    /// [`MaintainedProgram::reach_again`] and [`MaintainedProgram::settle`]. Returns `false` if more may change than can be found
    /// from the classes: then the program is to be rebuilt, and this one is of no use any more.
    pub fn update(&mut self, ex: &mut Exceptions, changes: Vec<ClassChange>) -> bool {
        let is_narrowed = self.solved.calls.reachable.is_some();
        let stale = self.stale.get_or_insert_default();
        stale.is_unsearched = is_narrowed;
        let Preparation::Done(index) = &mut self.preparation else { return false };
        match Intake::new(&mut self.solved, ex, index, stale, &mut self.touched) {
            Some(mut it) => it.take_in(changes),
            None => false,
        }
    }

    /// Whether the solution is that of the program as it is.
    pub fn is_settled(&self) -> bool {
        self.stale.is_none()
    }

    /// Whether what is reached was found in the program as it is; always so without `--rta`.
    pub fn is_searched(&self) -> bool {
        self.stale.as_ref().is_none_or(|it| !it.is_unsearched)
    }

    /// Under `--rta`, finds what is reached from these entry points, and where calls go by that, if the program is not
    /// [searched](MaintainedProgram::is_searched); before [`MaintainedProgram::settle`].
    ///
    /// # Errors
    /// When the work is not wanted any more. Then the program is not searched, and the next call begins again.
    pub fn reach_again(
        &mut self,
        ex: &mut Exceptions,
        entries: Vec<EntryPoint>,
        fuel: &mut Fuel<'_>,
    ) -> Result<(), Cancelled> {
        let Some(stale) = self.stale.as_mut().filter(|it| it.is_unsearched) else { return Ok(()) };
        let Preparation::Done(index) = &mut self.preparation else { return Ok(()) };
        match Intake::new(&mut self.solved, ex, index, stale, &mut self.touched) {
            Some(mut it) => reached::reach_again(&mut it, entries, fuel),
            None => Ok(()),
        }
    }

    /// Lets the solution follow what was taken in.
    ///
    /// # Errors
    /// When the work is not wanted any more. What was done is kept, and the next call goes on, also after further updates.
    pub fn settle(&mut self, ex: &mut Exceptions, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
        let Some(stale) = &mut self.stale else { return Ok(()) };
        debug_assert!(!stale.is_unsearched, "what is reached decides where calls go");
        solving::solve_again(&mut self.solved, ex, stale, &mut self.touched, fuel)?;
        self.stale = None;
        Ok(())
    }

    /// What updates changed since the last call.
    pub fn take_touched(&mut self) -> Touched {
        std::mem::take(&mut self.touched)
    }

    /// Notes that the names of sets may have changed since the last [`MaintainedProgram::take_touched`], though no class did.
    pub fn touch_all(&mut self) {
        self.touched.all = true;
    }

    /// Whether any answer may have changed since the last [`MaintainedProgram::take_touched`].
    pub fn is_all_touched(&self) -> bool {
        self.touched.all
    }

    /// Lets other records be shadowed; see [`super::tables::ClassTable::passed_over`].
    pub fn pass_over(&mut self, records: std::sync::Arc<[(usize, usize)]>) {
        self.solved.calls.classes.passed_over = records;
    }

    /// Frees the program piece by piece: each step of the iterator takes at most a few milliseconds.
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
