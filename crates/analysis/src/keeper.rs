//! The solved program beside the database (`engine.md`, rule 3): one value that follows the edits, driven by one query.
//!
//! What it says is a function of what it is given; what it was before decides only how long that takes. What changed is
//! taken in where [`MaintainedProgram::update`] can, else the program is rebuilt. Everything that salsa tracks is read before;
//! nothing here asks a query. After a panic nothing is left behind, and the next call rebuilds.
//!
//! Whoever asks can break the work off. A rebuild that is broken off leaves nothing; what was taken in stays taken in, and the
//! next call goes on to find its solution, whatever changed meanwhile. Nobody is given a program before its solution is found.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use classfile::names::ClassName;
use flow::fuel::{Cancelled, Fuel, PATIENCE};
use program::hierarchy::ClassId;
use program::input::Role;
use rustc_hash::FxHashMap;

use crate::input::Settings;
use crate::pattern::NoMatch;
use crate::stamps::{Kind, Stamps};
use crate::tiers::{ClassKey, Tier};
use crate::whole::drawing::{Sets, Texts};
use crate::whole::lattice::Exceptions;
use crate::whole::maintained::{MAX_CHANGED, MaintainedProgram};
use crate::whole::reachable::EntryPoint;
use crate::whole::reads::noted;
use crate::whole::record::{ClassChange, ClassRecord};
use crate::whole::solved::{SolvedProgram, solved_cancellable};
use crate::whole::tables::ClassTable;

/// A solved program, to be read. Two are equal when nothing changed between them.
#[derive(Clone)]
pub struct Propagated {
    generation: u64,
    answers: Arc<RwLock<CurrentProgram>>,
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

/// How the program was brought up to date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advance {
    /// No answer can have changed.
    Unchanged,
    /// What changed was taken in.
    Updated,
    /// The program was built from nothing.
    Rebuilt,
}

/// How often the program was brought up to date, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Built from nothing.
    pub rebuilt: u64,
    /// What changed was taken in.
    pub updated: u64,
    /// By that, how many sets that methods, calls and initialisers let out changed.
    pub changed_sets: u64,
}

/// Keeps the solved program of a database.
#[derive(Default)]
pub struct Keeper {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Never used twice, also when a program was lost.
    generation: u64,
    counts: Counts,
    /// None while it is worked on, so that nobody finds it half changed.
    last: Option<Last>,
    /// What is left to be freed of the one before: to free it at once takes longer than somebody may have to wait.
    rubble: Option<Rubble>,
    /// Whether it is what was asked for last: it was brought up to date to the end.
    is_current: bool,
}

/// Frees something with each step.
type Rubble = Box<dyn Iterator<Item = ()> + Send + Sync>;

/// A program, and what it was made of.
struct Last {
    /// None if it was lost in a change that was broken off: then nothing but its place is of use.
    of: Option<Ingredients>,
    answers: Arc<RwLock<CurrentProgram>>,
}

/// What a program is made of.
struct Ingredients {
    settings: Arc<Settings>,
    tiers: Vec<Tier>,
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

impl Keeper {
    /// The solved program of these containers, in class-path order, and how it became that.
    ///
    /// # Errors
    /// When `cancelled`, which is asked after every 25 µs of work or so, says that nobody wants it any more.
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
        let done = advanced((&mut last, &mut state.rubble), settings, tiers, generation, fuel);
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

    /// Makes ready for the next change ([`MaintainedProgram::prepare`]), if nobody reads just now. No answer changes.
    ///
    /// # Errors
    /// When `cancelled` says that there is something else to do. The next call goes on.
    pub fn keep_current(&self, cancelled: &mut dyn FnMut() -> bool) -> Result<(), Cancelled> {
        let mut state = lock(&self.state);
        let fuel = &mut Fuel::new(PATIENCE, cancelled);
        clear(&mut state.rubble, fuel)?;
        let last = state.last.as_ref().filter(|it| it.of.is_some());
        match last.and_then(|it| it.answers.try_write().ok()) {
            Some(mut answers) => answers.change(|it, ex| it.prepare(ex, fuel)),
            None => Ok(()),
        }
    }

    /// The program as it was brought up to date last; none while that is broken off.
    pub fn current(&self) -> Option<Propagated> {
        let state = lock(&self.state);
        let last = state.last.as_ref().filter(|_| state.is_current)?;
        Some(Propagated { generation: state.generation, answers: Arc::clone(&last.answers) })
    }

    /// How often the program was brought up to date.
    pub fn counts(&self) -> Counts {
        lock(&self.state).counts
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

enum TakenIn {
    /// No answer can be another one.
    Nothing,
    /// All of it; so many sets changed.
    All(u64),
    /// It cannot be: the program is rebuilt.
    Refused,
}

/// Brings a program up to date, which belongs to this generation then: takes in what changed, or else builds another one.
fn advanced(
    (last, rubble): (&mut Option<Last>, &mut Option<Rubble>),
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
    clear(rubble, fuel)?;
    let answers = CurrentProgram::new(settings, &tiers, generation, fuel)?;
    let (answers, old) = renewed(last.take().map(|it| it.answers), answers);
    *rubble = old.map(|it| -> Rubble { Box::new(it.program.freeing()) });
    let of = Some(Ingredients { settings: Arc::clone(settings), tiers });
    *last = Some(Last { of, answers: Arc::clone(&answers) });
    Ok((TakenIn::Refused, answers))
}

impl Last {
    /// Takes in what changed.
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
        // Snapshots of before are gone when a query runs after a change. Should one still read, it keeps what it has.
        let Ok(mut answers) = self.answers.try_write() else { return Ok(TakenIn::Refused) };
        let Some(Difference { changes, passed_over }) = answers.difference(&of.tiers, now, fuel)? else {
            return Ok(TakenIn::Refused);
        };
        let has_changed = !changes.is_empty() || !answers.program.is_settled();
        if !changes.is_empty() {
            answers.change(|it, ex| it.prepare(ex, fuel))?;
            // Half changed until all is taken in.
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

/// How containers differ from those that a program was made of.
struct Difference {
    changes: Vec<ClassChange>,
    /// The records that do not count, as in [`ClassTable::passed_over`]; none if they are as before.
    passed_over: Option<Arc<[(usize, usize)]>>,
}

/// A class whose record is another one now, and its container's role.
type Changed<'a> = (Option<ClassKey>, &'a ClassRecord, Role);

/// The classes that changed, if that is all that did: the same files are where they were, and each class stands as before to
/// others of its name. `passed_over` has a pair of numbers for each record that does not count, because another one of its class
/// does: its own, and that of the other.
fn changed_in_place<'a>(
    before: &[Tier],
    now: &'a [Tier],
    passed_over: &[(usize, usize)],
) -> Option<Vec<Changed<'a>>> {
    let (mut acc, mut first) = (Vec::new(), 0);
    let is_alone = |it: usize| !passed_over.iter().any(|&(one, other)| one == it || other == it);
    if before.len() != now.len() {
        return None;
    }
    for (before, now) in before.iter().zip(now) {
        if before.role != now.role || before.records.len() != now.records.len() {
            return None;
        }
        let number = first;
        first += now.records.len();
        // Most containers are the same value: nothing in them is looked at.
        if Arc::ptr_eq(&before.records, &now.records) {
            continue;
        }
        for (number, ((key, before), (now_key, record))) in
            (number..).zip(before.records.iter().zip(&*now.records))
        {
            if key != now_key {
                return None;
            }
            // What was not read again is the same value, and costs no more than a look at its address.
            if before != record {
                // Of a library nobody says which of its classes are shadowed.
                let stands =
                    if is_alone(number) { record.is_same_class(before) } else { record.stands_like(before) };
                if key.is_none() || !stands {
                    return None;
                }
                acc.push((*key, record, now.role));
            }
        }
    }
    Some(acc)
}

/// The containers without those that are the same values as before; all if some came or went.
fn differing(before: &[Tier], now: &[Tier]) -> (Vec<Tier>, Vec<Tier>) {
    if before.len() != now.len() {
        return (before.to_vec(), now.to_vec());
    }
    let is_other = |it: &(&Tier, &Tier)| it.0.role != it.1.role || !Arc::ptr_eq(&it.0.records, &it.1.records);
    before.iter().zip(now).filter(is_other).map(|it| (it.0.clone(), it.1.clone())).unzip()
}

fn all_records(tiers: &[Tier], fuel: &mut Fuel<'_>) -> Result<Vec<(ClassRecord, Role)>, Cancelled> {
    let mut acc = Vec::with_capacity(tiers.iter().map(|it| it.records.len()).sum());
    for tier in tiers {
        for (_, record) in tier.records.iter() {
            fuel.spend(4)?;
            acc.push((record.clone(), tier.role));
        }
    }
    Ok(acc)
}

/// The class files that another one of the same class shadows.
fn shadowed(classes: &ClassTable, tiers: &[Tier]) -> FxHashMap<ClassKey, usize> {
    if classes.passed_over.is_empty() {
        return FxHashMap::default();
    }
    let keys: Vec<Option<ClassKey>> = tiers.iter().flat_map(|it| it.records.iter().map(|it| it.0)).collect();
    let passed_over = classes.passed_over.iter();
    passed_over.filter_map(|&(idx, by)| Some(((*keys.get(idx)?)?, by))).collect()
}

/// The place of the old answers with new ones in it, so that the memo of the query that is about to be replaced does not keep
/// a second program alive; and the old ones.
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

/// Frees what is left.
fn clear(rubble: &mut Option<Rubble>, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
    for () in rubble.iter_mut().flatten() {
        fuel.spend(2)?;
    }
    *rubble = None;
    Ok(())
}

impl CurrentProgram {
    fn new(
        settings: &Settings,
        tiers: &[Tier],
        generation: u64,
        fuel: &mut Fuel<'_>,
    ) -> Result<Self, Cancelled> {
        let classes =
            ClassTable::joined(all_records(tiers, fuel)?, &settings.options, &settings.packages, fuel)?;
        let no_match = no_match(settings, &classes);
        let entries = entry_points(settings, &classes);
        let (solved, exceptions) = solved_cancellable(classes, settings.options, entries, fuel)?;
        let shadowed = shadowed(&solved.calls.classes, tiers);
        let program = MaintainedProgram::new(solved);
        let own = Mutex::new(Sets { exceptions, texts: Texts::default() });
        let stamps = Mutex::new(Stamps::new(generation));
        Ok(CurrentProgram { program, shadowed, no_match, own, copies: Mutex::default(), stamps })
    }

    /// Finds again where the program starts, and what is reached from there if that matters.
    fn follow_entries(&mut self, settings: &Settings, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
        self.no_match = no_match(settings, self.classes());
        fuel.ask()?;
        if self.program.is_searched() {
            return Ok(());
        }
        let entries = entry_points(settings, self.classes()).unwrap_or_default();
        fuel.ask()?;
        self.change(|it, ex| it.reach_again(ex, entries, fuel))
    }

    /// How these containers differ from those before; none if that cannot be taken in.
    fn difference(
        &self,
        before: &[Tier],
        now: &[Tier],
        fuel: &mut Fuel<'_>,
    ) -> Result<Option<Difference>, Cancelled> {
        let classes = self.classes();
        let Some(changed) = changed_in_place(before, now, &classes.passed_over) else {
            let (some_before, some_now) = differing(before, now);
            let (some_before, some_now) = (all_records(&some_before, fuel)?, all_records(&some_now, fuel)?);
            let mut changes = classes.few_changes(&some_before, &some_now, MAX_CHANGED);
            if changes.is_none() {
                changes = classes.any_changes(&all_records(now, fuel)?, MAX_CHANGED);
            }
            return Ok(
                changes.map(|(changes, passed_over)| Difference { changes, passed_over: Some(passed_over) })
            );
        };
        // What is shadowed nobody sees.
        let is_seen = |it: &&Changed<'_>| it.0.is_none_or(|it| !self.shadowed.contains_key(&it));
        let changes = changed.iter().filter(is_seen);
        let changes: Vec<ClassChange> =
            changes.map(|(_, it, role)| it.change_of(classes.hierarchy.class(it.class()), *role)).collect();
        Ok((changes.len() <= MAX_CHANGED).then_some(Difference { changes, passed_over: None }))
    }

    /// Lets these records be shadowed. Whether others are than before.
    fn pass_over(&mut self, records: Arc<[(usize, usize)]>, now: &[Tier]) -> bool {
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
    fn stamp(&mut self, generation: u64) -> u64 {
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
    fn change<R>(&mut self, how: impl FnOnce(&mut MaintainedProgram, &mut Exceptions) -> R) -> R {
        self.copies.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        let own = self.own.get_mut().unwrap_or_else(PoisonError::into_inner);
        let done = how(&mut self.program, &mut own.exceptions);
        if self.program.is_all_touched() {
            own.texts = Texts::default();
        }
        done
    }
}

/// A pattern of the entry points that selects nothing.
fn no_match(settings: &Settings, classes: &ClassTable) -> Option<NoMatch> {
    settings.entries.as_ref().and_then(|it| it.unmatched(classes))
}

/// Where the program starts, if calls go only to receivers that code makes which is reached from there.
fn entry_points(settings: &Settings, classes: &ClassTable) -> Option<Vec<EntryPoint>> {
    let request = settings.entries.as_ref().filter(|_| settings.rta);
    request.map(|it| it.points(classes, &settings.options))
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::input::WorldKind;

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
    fn equal_records_are_the_same_program() {
        let keeper = Keeper::default();
        let tier = || Tier { role: Role::App, records: Arc::default() };
        let (first, how) = advance(&keeper, &settings(false), vec![tier()]);
        assert_eq!(how, Advance::Rebuilt);
        let (second, how) = advance(&keeper, &settings(false), vec![tier()]);
        assert!(first == second && how == Advance::Unchanged);
        assert_eq!(keeper.counts(), Counts { rebuilt: 1, ..Counts::default() });
        assert!(first == advance(&keeper, &settings(false), Vec::new()).0, "nothing is in it");
        let other = advance(&keeper, &settings(true), vec![tier()]).0;
        assert!(first != other && is_same(&first, &other), "another program in the same place");
        assert_eq!(keeper.counts(), Counts { rebuilt: 2, ..Counts::default() });
    }

    #[test]
    fn a_reader_keeps_what_there_was() {
        let keeper = Keeper::default();
        let first = advance(&keeper, &settings(false), Vec::new()).0;
        let reading = first.read();
        // Does not wait, and changes nothing under the reader.
        let second = advance(&keeper, &settings(true), Vec::new()).0;
        assert!(first != second && !is_same(&first, &second));
        assert!(
            !reading.solved().calls.options.link_errors && second.read().solved().calls.options.link_errors
        );
    }

    #[test]
    fn what_is_broken_off_is_not_current() {
        let keeper = Keeper::default();
        let first = advance(&keeper, &settings(false), Vec::new()).0;
        assert!(keeper.advance(&settings(true), Vec::new(), &mut || true).is_err());
        assert!(keeper.current().is_none());
        assert_eq!(keeper.counts(), Counts { rebuilt: 1, ..Counts::default() });
        // What was there before is not lost.
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
