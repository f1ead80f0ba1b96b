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

/// A handle to a solved program, for reading. Two handles are equal if no answer changed between their generations.
#[derive(Clone)]
pub struct Propagated {
    pub(crate) generation: u64,
    pub(crate) answers: Arc<RwLock<CurrentProgram>>,
}

/// A solved program, with the tables that are needed to answer questions about class files.
pub struct CurrentProgram {
    program: MaintainedProgram,
    /// The class files that are shadowed by another file of the same class, each with the number of the record that
    /// shadows it.
    shadowed: FxHashMap<ClassKey, usize>,
    /// The first pattern of the entry points that selects no method; `None` if each selects one.
    no_match: Option<NoMatch>,
    /// The program's own exception sets. One client at a time uses them, and so does each change of the program.
    own: Mutex<Sets>,
    /// Copies of `own` for clients that ask in parallel. The copies are reused, because one copy per question would
    /// cost more than most questions.
    copies: Mutex<Vec<Sets>>,
    /// The generations since which answers about classes are valid.
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
    /// program up to date: the query would find the program locked. The caller may query the code of classes if it
    /// catches cancellation ([`crate::reasons`]).
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
        let entries = settings.entry_points(&classes);
        let (solved, exceptions) = solved_cancellable(classes, settings.options, entries, fuel)?;
        let shadowed = shadowed(&solved.calls.classes, tiers);
        let program = MaintainedProgram::new(solved);
        let own = Mutex::new(Sets { exceptions, texts: Texts::default() });
        let stamps = Mutex::new(Stamps::new(generation));
        Ok(CurrentProgram { program, shadowed, no_match, own, copies: Mutex::default(), stamps })
    }

    /// Recomputes which pattern of the entry points selects no method. With `--rta`, also recomputes the entry points
    /// and the code that is reached from them.
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
        let entries = settings.entry_points(self.classes()).unwrap_or_default();
        fuel.ask()?;
        self.change(|it, ex| it.reach_again(ex, entries, fuel))
    }

    /// Sets the shadowed records, and returns whether the set of shadowed class files changed. `now` has the present
    /// containers.
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

    /// Assigns `generation` to all answers that may have changed. Returns the number of changed exception sets.
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

    /// The first pattern of the entry points that selects no method; `None` if each selects one.
    pub fn no_match(&self) -> Option<&NoMatch> {
        self.no_match.as_ref()
    }

    /// Returns the class that a file defines; `None` if the file is shadowed or the class is not part of the program.
    pub fn defined(&self, file: ClassKey, class: ClassName) -> Option<ClassId> {
        self.classes().hierarchy.class(class).filter(|_| !self.shadowed.contains_key(&file))
    }

    /// Returns the number of the record that shadows the file, counted over the records of all containers; `None` if
    /// the file is not shadowed.
    pub fn shadowed(&self, file: ClassKey) -> Option<usize> {
        self.shadowed.get(&file).copied()
    }

    /// Returns the generation since which the answers of this kind about a class are valid.
    pub fn stamp_of(&self, class: ClassName, kind: Kind) -> u64 {
        lock(&self.stamps).of(class, kind)
    }

    /// Returns the classes for which an answer of this kind may have changed since `generation`; `None` if all
    /// answers may have changed.
    pub fn stale_since(&self, generation: u64, kind: Kind) -> Option<Vec<ClassName>> {
        lock(&self.stamps).since(generation, kind)
    }

    /// Answers a question about a class, and records the parts of the program that the answer was read from.
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

    /// Calls `ask` with exception sets that no other thread uses, and returns the answer.
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

    /// Applies `how` to the program and its exception sets. The copies of the sets are dropped, because they lack
    /// sets that `how` creates.
    pub(crate) fn change<R>(&mut self, how: impl FnOnce(&mut MaintainedProgram, &mut Exceptions) -> R) -> R {
        self.copies.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        let own = self.own.get_mut().unwrap_or_else(PoisonError::into_inner);
        let done = how(&mut self.program, &mut own.exceptions);
        if self.program.is_all_touched() {
            own.texts = Texts::default();
        }
        done
    }

    /// Returns the difference between two lists of containers; `None` if an update cannot apply the difference.
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

    /// Whether the solution reflects all changes that were applied to the program.
    pub(crate) fn is_settled(&self) -> bool {
        self.program.is_settled()
    }

    /// Returns an iterator that frees the program, one piece per step.
    pub(crate) fn freeing(self) -> impl Iterator<Item = ()> {
        self.program.freeing()
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
