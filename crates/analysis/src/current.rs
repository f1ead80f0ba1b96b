//! The current state of the solved program that lives beside the database. Answers are looked up by class file, and
//! have the generation since which each is valid.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use classfile::names::ClassName;
use flow::fuel::{Cancelled, Fuel};
use program::hierarchy::ClassId;
use rustc_hash::FxHashMap;

use crate::differing::{Difference, all_records, difference, shadowed};
use crate::input::Settings;
use crate::pattern::NoMatch;
use crate::stamps::{Kind, Stamps};
use crate::tiers::{ClassKey, Tier};
use crate::whole::lattice::Exceptions;
use crate::whole::maintained::MaintainedProgram;
use crate::whole::reads::noted;
use crate::whole::sets::{Sets, Texts};
use crate::whole::solve::solved_cancellable;
use crate::whole::solved::SolvedProgram;
use crate::whole::tables::ClassTable;

/// A handle to a solved program, for reading. Two handles are equal if their programs have the same generation
/// (version number) and therefore give the same answers.
#[derive(Clone)]
pub struct Propagated {
    pub(crate) generation: u64,
    pub(crate) answers: Arc<RwLock<CurrentProgram>>,
}

/// A solved program, with tables about its class files: which files are shadowed, and since when the answers about
/// each class have been valid.
pub struct CurrentProgram {
    program: MaintainedProgram,
    /// The class files that are shadowed by another file of the same class. The value is the number of the record of
    /// the shadowing file; records are numbered consecutively over all containers.
    shadowed: FxHashMap<ClassKey, usize>,
    /// The first entry-point pattern of the user that selects no method; `None` if each pattern selects a method.
    no_match: Option<NoMatch>,
    /// The exception sets that belong to the program. Only one thread at a time uses them: a reader, or an update of
    /// the program.
    own: Mutex<Sets>,
    /// Copies of `own`, for readers that find `own` in use. The copies are reused, because one copy per question
    /// would cost more than most questions.
    copies: Mutex<Vec<Sets>>,
    /// For each answer about a class, the generation (version number) of the program since which the answer has been
    /// valid.
    stamps: Mutex<Stamps>,
}

impl PartialEq for Propagated {
    fn eq(&self, other: &Self) -> bool {
        self.generation == other.generation
    }
}

impl Propagated {
    /// Returns the generation of the program, a number that increases whenever an answer may change.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Locks the program for reading. While the guard is held, the caller must not run a query that brings the
    /// program up to date: the query could not change the locked program, and would build another one. The caller may
    /// query the code of classes if it catches the cancellation of these queries ([`crate::reasons`]).
    pub fn read(&self) -> impl Deref<Target = CurrentProgram> + '_ {
        self.answers.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CurrentProgram {
    pub(crate) fn new(
        settings: &Settings,
        tiers: &[Tier],
        generation: u64,
        fuel: &mut Fuel<'_>,
    ) -> Result<Self, Cancelled> {
        let classes =
            ClassTable::joined(all_records(tiers, fuel)?, &settings.options, &settings.packages, fuel)?;
        let no_match = settings.unmatched(&classes);
        let roots = settings.roots(&classes);
        let (solved, exceptions) = solved_cancellable(classes, settings.options, roots, fuel)?;
        let shadowed = shadowed(&solved.calls.classes, tiers);
        let program = MaintainedProgram::new(solved);
        let own = Mutex::new(Sets { exceptions, texts: Texts::default() });
        let stamps = Mutex::new(Stamps::new(generation));
        Ok(CurrentProgram { program, shadowed, no_match, own, copies: Mutex::default(), stamps })
    }

    /// Recomputes which entry-point pattern is the first that selects no method. With `--rta` and `--entry`, also
    /// recomputes the entry points and the code that is reached from them.
    pub(crate) fn follow_entries(
        &mut self,
        settings: &Settings,
        fuel: &mut Fuel<'_>,
    ) -> Result<(), Cancelled> {
        self.no_match = settings.unmatched(self.classes());
        fuel.ask()?;
        if self.program.is_searched() {
            return Ok(());
        }
        let Some(roots) = settings.roots(self.classes()) else { return Ok(()) };
        fuel.ask()?;
        self.change(|it, ex| it.reach_again(ex, roots, fuel))
    }

    /// Replaces the list of shadowed records, and returns whether the set of shadowed class files changed. `records`
    /// has a pair for each shadowed record: the number of the record, counted over all containers, and the number of
    /// the record that shadows it. `now` has the present containers.
    pub(crate) fn pass_over(&mut self, records: Arc<[(usize, usize)]>, now: &[Tier]) -> bool {
        self.program.pass_over(records);
        let now = shadowed(self.classes(), now);
        let before = std::mem::replace(&mut self.shadowed, now);
        let removed = before.keys().filter(|it| !self.shadowed.contains_key(it)).count();
        let has_changed = removed > 0 || before.len() != self.shadowed.len();
        // The answers about the files changed, even if no class changed.
        if has_changed {
            self.program.touch_all();
        }
        has_changed
    }

    /// Records that those answers which may have changed since the last call of this function are valid only since
    /// the generation (version number) `generation`. Returns the number of exception sets that changed.
    pub(crate) fn stamp(&mut self, generation: u64) -> u64 {
        let touched = self.program.take_touched();
        self.stamps.get_mut().unwrap_or_else(PoisonError::into_inner).touch(generation, &touched);
        touched.values as u64
    }

    /// Returns the solved program.
    pub fn solved(&self) -> &SolvedProgram {
        self.program.solved()
    }

    fn classes(&self) -> &ClassTable {
        &self.solved().calls.classes
    }

    /// Returns the first entry-point pattern of the user that selects no method; `None` if each pattern selects a
    /// method.
    pub fn no_match(&self) -> Option<&NoMatch> {
        self.no_match.as_ref()
    }

    /// Returns the id of the class `class`, which the class file `file` defines; `None` if the file is shadowed by
    /// another file or the class is not part of the program.
    pub fn defined(&self, file: ClassKey, class: ClassName) -> Option<ClassId> {
        self.classes().hierarchy.class(class).filter(|_| !self.shadowed.contains_key(&file))
    }

    /// Returns the number of the record that shadows the class file `file`; `None` if the file is not shadowed.
    /// Records are numbered consecutively over all containers.
    pub fn shadowed(&self, file: ClassKey) -> Option<usize> {
        self.shadowed.get(&file).copied()
    }

    /// Returns the generation (version number) of the program since which the answer of this kind about a class has
    /// been valid.
    pub fn stamp_of(&self, class: ClassName, kind: Kind) -> u64 {
        lock(&self.stamps).of(class, kind)
    }

    /// Returns the classes for which the answer of this kind may have changed after the generation (version number)
    /// `generation` of the program; `None` if all answers may have changed.
    pub fn stale_since(&self, generation: u64, kind: Kind) -> Option<Vec<ClassName>> {
        lock(&self.stamps).since(generation, kind)
    }

    /// Calls `ask` to compute the answer of this kind about a class, and records the parts of the program that `ask`
    /// reads.
    pub fn ask<T>(
        &self,
        class: ClassName,
        kind: Kind,
        ask: impl FnOnce(&SolvedProgram, &mut Sets) -> T,
    ) -> T {
        let (answer, reads) = noted(|| self.with_sets(|sets| ask(self.solved(), sets)));
        lock(&self.stamps).read(class, kind, reads);
        answer
    }

    /// Calls `ask` with exception sets that no other thread uses, and returns the result of `ask`.
    pub fn with_sets<T>(&self, ask: impl FnOnce(&mut Sets) -> T) -> T {
        if let Ok(mut own) = self.own.try_lock() {
            return ask(&mut own);
        }
        let copy = lock(&self.copies).pop();
        let mut copy = copy.unwrap_or_else(|| lock(&self.own).clone());
        let answer = ask(&mut copy);
        lock(&self.copies).push(copy);
        answer
    }

    /// Calls `how`, which may change the program and its exception sets, and returns the result of `how`. The copies
    /// of the sets are dropped, because they would lack sets that `how` creates.
    pub(crate) fn change<R>(&mut self, how: impl FnOnce(&mut MaintainedProgram, &mut Exceptions) -> R) -> R {
        self.copies.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        let own = self.own.get_mut().unwrap_or_else(PoisonError::into_inner);
        let done = how(&mut self.program, &mut own.exceptions);
        if self.program.is_all_touched() {
            own.texts = Texts::default();
        }
        done
    }

    /// Returns the difference between the containers `before` and the containers `now`. `None` if the program cannot
    /// be updated by this difference and must be rebuilt.
    ///
    /// # Errors
    /// When the work is cancelled.
    pub(crate) fn difference(
        &self,
        before: &[Tier],
        now: &[Tier],
        fuel: &mut Fuel<'_>,
    ) -> Result<Option<Difference>, Cancelled> {
        difference(self.classes(), &self.shadowed, before, now, fuel)
    }

    /// Whether the solution is complete, so that it reflects all changes that were applied to the program.
    pub(crate) fn is_settled(&self) -> bool {
        self.program.is_settled()
    }

    /// Returns an iterator that frees the memory of the program. Each step frees one piece, so that the caller can
    /// pause between steps.
    pub(crate) fn freeing(self) -> impl Iterator<Item = ()> {
        self.program.freeing()
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
