//! The solved program beside the database, as it is now: what it says by class file, and since when each answer holds.

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

/// A solved program, to be read. Two are equal when nothing changed between them.
#[derive(Clone)]
pub struct Propagated {
    pub(crate) generation: u64,
    pub(crate) answers: Arc<RwLock<CurrentProgram>>,
}

/// What a solved program says, by class file.
pub struct CurrentProgram {
    program: MaintainedProgram,
    /// The class files that another one of the same class shadows, each with the number of the record of that one.
    shadowed: FxHashMap<ClassKey, usize>,
    /// A pattern of the entry points that selects nothing.
    no_match: Option<NoMatch>,
    /// The program's own sets, for a single client. The program has them while it changes.
    own: Mutex<Sets>,
    /// Copies for clients that ask in parallel. One per question would cost more than most questions.
    copies: Mutex<Vec<Sets>>,
    /// Since when answers about classes are what they are.
    stamps: Mutex<Stamps>,
}

impl PartialEq for Propagated {
    fn eq(&self, other: &Self) -> bool {
        self.generation == other.generation
    }
}

impl Propagated {
    /// The generation that it belongs to: a later one says something else.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// What it says. While you hold it, ask no query that brings the program up to date: it would find it in use. The code of
    /// classes may be asked for, if cancellation is caught ([`crate::reasons`]).
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

    /// Finds again where the program starts, and what is reached from there if that matters.
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

    /// Lets these records be shadowed. Whether others are than before.
    pub(crate) fn pass_over(&mut self, records: Arc<[(usize, usize)]>, now: &[Tier]) -> bool {
        self.program.pass_over(records);
        let now = shadowed(self.classes(), now);
        let before = std::mem::replace(&mut self.shadowed, now);
        let other = before.keys().filter(|it| !self.shadowed.contains_key(it)).count();
        let is_other = other > 0 || before.len() != self.shadowed.len();
        // What is said of these files is other, though it may be that no class changed.
        if is_other {
            self.program.touch_all();
        }
        is_other
    }

    /// Lets all answers that may be others belong to this generation. Gives how many sets changed.
    pub(crate) fn stamp(&mut self, generation: u64) -> u64 {
        let touched = self.program.take_touched();
        self.stamps.get_mut().unwrap_or_else(PoisonError::into_inner).touch(generation, &touched);
        touched.values as u64
    }

    /// The program.
    pub fn solved(&self) -> &SolvedProgram {
        self.program.solved()
    }

    fn classes(&self) -> &ClassTable {
        &self.solved().calls.classes
    }

    /// A pattern of the entry points that selects nothing.
    pub fn no_match(&self) -> Option<&NoMatch> {
        self.no_match.as_ref()
    }

    /// The class of a file, none if the file defines no class of the program.
    pub fn defined(&self, file: ClassKey, class: ClassName) -> Option<ClassId> {
        self.classes().hierarchy.class(class).filter(|_| !self.shadowed.contains_key(&file))
    }

    /// If the file is shadowed, the number of the record that counts, among those of all containers.
    pub fn shadowed(&self, file: ClassKey) -> Option<usize> {
        self.shadowed.get(&file).copied()
    }

    /// Since when the answers of a kind about a class are what they are.
    pub fn stamp_of(&self, class: ClassName, kind: Kind) -> u64 {
        lock(&self.stamps).of(class, kind)
    }

    /// The classes about which an answer of a kind that was given may be another one since a generation; `None` for any.
    pub fn stale_since(&self, generation: u64, kind: Kind) -> Option<Vec<ClassName>> {
        lock(&self.stamps).since(generation, kind)
    }

    /// Asks the program something about a class, and notes what that rests on.
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

    /// Lends what is needed to ask.
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

    /// Changes the program and its sets. The copies know nothing of new sets, and are dropped.
    pub(crate) fn change<R>(&mut self, how: impl FnOnce(&mut MaintainedProgram, &mut Exceptions) -> R) -> R {
        self.copies.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        let own = self.own.get_mut().unwrap_or_else(PoisonError::into_inner);
        let done = how(&mut self.program, &mut own.exceptions);
        if self.program.is_all_touched() {
            own.texts = Texts::default();
        }
        done
    }

    /// How these containers differ from those that the program was made of; `None` if that cannot be taken in.
    ///
    /// # Errors
    /// When the work is not wanted any more.
    pub(crate) fn difference(
        &self,
        before: &[Tier],
        now: &[Tier],
        fuel: &mut Fuel<'_>,
    ) -> Result<Option<Difference>, Cancelled> {
        difference(self.classes(), &self.shadowed, before, now, fuel)
    }

    /// Whether the solution is that of the program as it is.
    pub(crate) fn is_settled(&self) -> bool {
        self.program.is_settled()
    }

    /// Frees the program piece by piece.
    pub(crate) fn freeing(self) -> impl Iterator<Item = ()> {
        self.program.freeing()
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
