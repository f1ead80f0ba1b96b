//! The solved program beside the database (`engine.md`, rule 3): one value that follows the edits, driven by one query.
//!
//! What it says is a function of what it is given; what it was before decides only how long that takes. What changed is
//! taken in where [`WholeProgram::update`] can, else the program is rebuilt. Everything that salsa tracks is read before;
//! nothing here asks a query. After a panic nothing is left behind, and the next call rebuilds.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use classfile::names::ClassName;
use flow::universe::Universe;
use program::hierarchy::ClassId;
use program::input::Role;
use rustc_hash::FxHashMap;

use crate::input::Settings;
use crate::pattern::NoMatch;
use crate::stamps::{Kind, Stamps};
use crate::tiers::{ClassKey, Tier};
use crate::whole::edits::{ClassChange, MAX_CHANGED};
use crate::whole::graph::Texts;
use crate::whole::lattice::Exceptions;
use crate::whole::program::{Program, WholeProgram};
use crate::whole::reads::noted;
use crate::whole::record::ClassRecord;
use crate::whole::solved::solved;

/// A solved program, to be read. Two are equal when nothing changed between them.
#[derive(Clone)]
pub struct Propagated {
    generation: u64,
    answers: Arc<RwLock<Answers>>,
}

/// What a solved program says, by class file.
pub struct Answers {
    whole: WholeProgram,
    /// The class files that another one of the same class shadows, each with the number of the record of that one.
    shadowed: FxHashMap<ClassKey, usize>,
    /// A pattern of the entry points that selects nothing.
    no_match: Option<NoMatch>,
    /// The program's own sets, for a single client. The program has them while it changes.
    own: Mutex<Work>,
    /// Copies for clients that ask in parallel. One per question would cost more than most questions.
    copies: Mutex<Vec<Work>>,
    /// Since when answers about classes are what they are.
    stamps: Mutex<Stamps>,
}

/// What a client needs to ask: the sets that it meets on its way, and how they read.
#[derive(Clone)]
pub struct Work {
    /// The sets.
    pub exceptions: Exceptions,
    /// How they read.
    pub texts: Texts,
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
    last: Option<Solved>,
}

/// A program, and what it was made of.
struct Solved {
    settings: Arc<Settings>,
    tiers: Vec<Tier>,
    answers: Arc<RwLock<Answers>>,
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

    /// What it says. Ask no query while you hold it: one that brings the program up to date would find it in use.
    pub fn read(&self) -> impl Deref<Target = Answers> + '_ {
        self.answers.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keeper {
    /// The solved program of these containers, in class-path order, and how it became that.
    pub fn advance(&self, settings: &Arc<Settings>, tiers: Vec<Tier>) -> (Propagated, Advance) {
        let mut state = lock(&self.state);
        let last = state.last.take();
        let same = last.as_ref().filter(|it| it.settings == *settings);
        let generation = state.generation + 1;
        let taken = same.map_or(TakenIn::Refused, |it| take_in(it, &tiers, generation));
        let (advance, answers) = match (taken, last) {
            (TakenIn::Nothing, Some(last)) => (Advance::Unchanged, last.answers),
            (TakenIn::All(changed_sets), Some(last)) => {
                state.counts.changed_sets += changed_sets;
                (Advance::Updated, last.answers)
            }
            (_, last) => {
                let answers = Answers::new(settings, &tiers, generation);
                (Advance::Rebuilt, renewed(last.map(|it| it.answers), answers))
            }
        };
        match advance {
            Advance::Unchanged => {}
            Advance::Updated => state.counts.updated += 1,
            Advance::Rebuilt => state.counts.rebuilt += 1,
        }
        if advance != Advance::Unchanged {
            state.generation = generation;
        }
        let settings = Arc::clone(settings);
        state.last = Some(Solved { settings, tiers, answers: Arc::clone(&answers) });
        (Propagated { generation: state.generation, answers }, advance)
    }

    /// Makes ready for the next change ([`WholeProgram::keep_current`]), if nobody reads just now. No answer changes.
    pub fn keep_current(&self) {
        let state = lock(&self.state);
        let last = state.last.as_ref();
        if let Some(mut answers) = last.and_then(|it| it.answers.try_write().ok()) {
            answers.change(WholeProgram::keep_current);
        }
    }

    /// The program as it was brought up to date last.
    pub fn current(&self) -> Option<Propagated> {
        let state = lock(&self.state);
        let last = state.last.as_ref()?;
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
    /// The program is to be rebuilt.
    Refused,
}

/// Takes what changed in these containers into a solved program, which belongs to this generation then.
fn take_in(last: &Solved, now: &[Tier], generation: u64) -> TakenIn {
    // Snapshots of before are gone when a query runs after a change. Should one still read, it keeps what it has.
    let Ok(mut answers) = last.answers.try_write() else { return TakenIn::Refused };
    let mut taken = match changed_in_place(&last.tiers, now) {
        Some(changed) => answers.take_in_place(&changed),
        None => answers.take_in_any(&last.tiers, now),
    };
    if let TakenIn::All(changed_sets) = &mut taken {
        *changed_sets = answers.stamp(generation);
    }
    taken
}

/// A class whose record is another one now, and its container's role.
type Changed<'a> = (Option<ClassKey>, &'a ClassRecord, Role);

/// The classes that changed, if that is all that did: the same files are where they were, and each class stands as before to
/// others of its name.
fn changed_in_place<'a>(before: &[Tier], now: &'a [Tier]) -> Option<Vec<Changed<'a>>> {
    let mut acc = Vec::new();
    if before.len() != now.len() {
        return None;
    }
    for (before, now) in before.iter().zip(now) {
        if before.role != now.role || before.records.len() != now.records.len() {
            return None;
        }
        // Most containers are the same value: nothing in them is looked at.
        if Arc::ptr_eq(&before.records, &now.records) {
            continue;
        }
        for ((key, before), (now_key, record)) in before.records.iter().zip(&*now.records) {
            if key != now_key {
                return None;
            }
            // What was not read again is the same value, and costs no more than a look at its address.
            if before != record {
                // Of a library nobody says which of its classes are shadowed.
                if key.is_none() || !record.stands_like(before) {
                    return None;
                }
                acc.push((*key, record, now.role));
            }
        }
    }
    Some(acc)
}

fn all_records(tiers: &[Tier]) -> Vec<(ClassRecord, Role)> {
    let of = |tier: &Tier| {
        let role = tier.role;
        tier.records.iter().map(|it| (it.1.clone(), role)).collect::<Vec<_>>()
    };
    tiers.iter().flat_map(of).collect()
}

/// The class files that another one of the same class shadows.
fn shadowed(whole: &WholeProgram, tiers: &[Tier]) -> FxHashMap<ClassKey, usize> {
    if whole.program.passed_over.is_empty() {
        return FxHashMap::default();
    }
    let keys: Vec<Option<ClassKey>> = tiers.iter().flat_map(|it| it.records.iter().map(|it| it.0)).collect();
    let passed_over = whole.program.passed_over.iter();
    passed_over.filter_map(|&(idx, by)| Some(((*keys.get(idx)?)?, by))).collect()
}

/// The place of the old answers with new ones in it, so that the memo of the query that is about to be replaced does not keep
/// a second program alive.
fn renewed(place: Option<Arc<RwLock<Answers>>>, answers: Answers) -> Arc<RwLock<Answers>> {
    let Some(place) = place else { return Arc::new(RwLock::new(answers)) };
    let left = match place.try_write() {
        Ok(mut old) => {
            *old = answers;
            None
        }
        Err(TryLockError::WouldBlock | TryLockError::Poisoned(_)) => Some(answers),
    };
    left.map_or(place, |it| Arc::new(RwLock::new(it)))
}

impl Answers {
    fn new(settings: &Settings, tiers: &[Tier], generation: u64) -> Self {
        let program = Program::with_packages(all_records(tiers), &settings.options, &settings.packages);
        let request = settings.entries.as_ref();
        let no_match = request.and_then(|it| it.unmatched(&program));
        let entries = request.filter(|_| settings.rta).map(|it| it.points(&program, &settings.options));
        let mut whole = solved(program, settings.options, entries);
        let shadowed = shadowed(&whole, tiers);
        let exceptions = std::mem::replace(&mut whole.exceptions, no_sets());
        let own = Mutex::new(Work { exceptions, texts: Texts::default() });
        let stamps = Mutex::new(Stamps::new(generation));
        Answers { whole, shadowed, no_match, own, copies: Mutex::default(), stamps }
    }

    /// Takes in classes that changed where they are; what is shadowed nobody sees.
    fn take_in_place(&mut self, changed: &[Changed<'_>]) -> TakenIn {
        let is_seen = |it: &&Changed<'_>| it.0.is_none_or(|it| !self.shadowed.contains_key(&it));
        let hierarchy = &self.whole.program.hierarchy;
        let changes = changed.iter().filter(is_seen);
        let changes = changes.map(|(_, it, role)| it.change_of(hierarchy.class(it.class()), *role)).collect();
        self.update(changes)
    }

    /// Takes in whatever changed.
    fn take_in_any(&mut self, before: &[Tier], now: &[Tier]) -> TakenIn {
        let program = &self.whole.program;
        let changes = program.changes(&all_records(before), &all_records(now), MAX_CHANGED);
        let Some((changes, passed_over)) = changes else { return TakenIn::Refused };
        self.whole.program.passed_over = passed_over;
        let taken_in = self.update(changes);
        let before = std::mem::replace(&mut self.shadowed, shadowed(&self.whole, now));
        let other = before.keys().filter(|it| !self.shadowed.contains_key(it)).count();
        if other == 0 && before.len() == self.shadowed.len() {
            return taken_in;
        }
        // Other files are shadowed: what is said of them is, though it may be that no class changed.
        self.whole.touched.all = true;
        match taken_in {
            TakenIn::Nothing => TakenIn::All(0),
            TakenIn::All(_) | TakenIn::Refused => taken_in,
        }
    }

    fn update(&mut self, changes: Vec<ClassChange>) -> TakenIn {
        match changes.len() {
            0 => TakenIn::Nothing,
            1..=MAX_CHANGED if self.change(|it| it.update(changes)) => TakenIn::All(0),
            _ => TakenIn::Refused,
        }
    }

    /// Lets all answers that may be others belong to this generation. Gives how many sets changed.
    fn stamp(&mut self, generation: u64) -> u64 {
        let touched = self.whole.take_touched();
        self.stamps.get_mut().unwrap_or_else(PoisonError::into_inner).touch(generation, &touched);
        touched.values as u64
    }

    /// The program.
    pub fn whole(&self) -> &WholeProgram {
        &self.whole
    }

    /// A pattern of the entry points that selects nothing.
    pub fn no_match(&self) -> Option<&NoMatch> {
        self.no_match.as_ref()
    }

    /// The class of a file, none if the file defines no class of the program.
    pub fn defined(&self, file: ClassKey, class: ClassName) -> Option<ClassId> {
        self.whole.program.hierarchy.class(class).filter(|_| !self.shadowed.contains_key(&file))
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
    pub fn ask<T>(&self, class: ClassName, kind: Kind, ask: impl FnOnce(&WholeProgram, &mut Work) -> T) -> T {
        let (answer, reads) = noted(|| self.with_work(|work| ask(&self.whole, work)));
        lock(&self.stamps).read(class, kind, reads);
        answer
    }

    /// Lends what is needed to ask.
    pub fn with_work<T>(&self, ask: impl FnOnce(&mut Work) -> T) -> T {
        if let Ok(mut own) = self.own.try_lock() {
            return ask(&mut own);
        }
        let copy = lock(&self.copies).pop();
        let mut copy = copy.unwrap_or_else(|| lock(&self.own).clone());
        let answer = ask(&mut copy);
        lock(&self.copies).push(copy);
        answer
    }

    /// Changes the program. It has its sets meanwhile; the copies know nothing of new ones, and are forgotten.
    fn change<R>(&mut self, how: impl FnOnce(&mut WholeProgram) -> R) -> R {
        self.copies.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        let own = self.own.get_mut().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut self.whole.exceptions, &mut own.exceptions);
        let done = how(&mut self.whole);
        std::mem::swap(&mut self.whole.exceptions, &mut own.exceptions);
        if self.whole.touched.all {
            own.texts = Texts::default();
        }
        done
    }
}

/// What stands for the sets of a program that others have.
fn no_sets() -> Exceptions {
    Exceptions::new(Universe::new(&[]))
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

    fn is_same(one: &Propagated, other: &Propagated) -> bool {
        Arc::ptr_eq(&one.answers, &other.answers)
    }

    #[test]
    fn equal_records_are_the_same_program() {
        let keeper = Keeper::default();
        let tier = || Tier { role: Role::App, records: Arc::default() };
        let (first, how) = keeper.advance(&settings(false), vec![tier()]);
        assert_eq!(how, Advance::Rebuilt);
        let (second, how) = keeper.advance(&settings(false), vec![tier()]);
        assert!(first == second && how == Advance::Unchanged);
        assert_eq!(keeper.counts(), Counts { rebuilt: 1, ..Counts::default() });
        assert!(first == keeper.advance(&settings(false), Vec::new()).0, "nothing is in it");
        let other = keeper.advance(&settings(true), vec![tier()]).0;
        assert!(first != other && is_same(&first, &other), "another program in the same place");
        assert_eq!(keeper.counts(), Counts { rebuilt: 2, ..Counts::default() });
    }

    #[test]
    fn a_reader_keeps_what_there_was() {
        let keeper = Keeper::default();
        let first = keeper.advance(&settings(false), Vec::new()).0;
        let reading = first.read();
        // Does not wait, and changes nothing under the reader.
        let second = keeper.advance(&settings(true), Vec::new()).0;
        assert!(first != second && !is_same(&first, &second));
        assert!(!reading.whole.options.link_errors && second.read().whole.options.link_errors);
    }

    #[test]
    fn after_a_panic_the_program_is_rebuilt() {
        let keeper = Keeper::default();
        let first = keeper.advance(&settings(false), Vec::new()).0;
        let lost = std::panic::AssertUnwindSafe(|| {
            let mut state = keeper.state.lock().unwrap();
            let _last = state.last.take();
            let _answers = first.answers.write().unwrap();
            panic!("half way");
        });
        assert!(std::panic::catch_unwind(lost).is_err());
        let second = keeper.advance(&settings(false), Vec::new()).0;
        assert!(first != second && !is_same(&first, &second));
        assert_eq!(keeper.counts(), Counts { rebuilt: 2, ..Counts::default() });
        assert!(second == keeper.advance(&settings(false), Vec::new()).0);
    }
}
