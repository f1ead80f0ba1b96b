//! The solved program beside the database (`engine.md`, rule 3): one value that follows the edits, driven by one query.
//!
//! What it says is a function of the records that it is given; what it was before decides only how long that takes. What
//! changed is taken in where [`WholeProgram::update`] can, else the program is made anew. Everything that salsa tracks is read
//! before; nothing here asks a query. Who panics in between leaves nothing behind, and the next one starts anew.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};

use classfile::names::ClassName;
use flow::universe::Universe;
use program::input::{ClassFile, Role};
use rustc_hash::FxHashSet;

use crate::whole::answers::Throws;
use crate::whole::edits::{ClassChange, MAX_CHANGED};
use crate::whole::lattice::Exceptions;
use crate::whole::members::method_id;
use crate::whole::program::{Options, Program, WholeProgram};
use crate::whole::record::ClassRecord;
use crate::whole::solved::solved;

/// The classes of a container that can be read, in its order.
pub type Records = Arc<[(ClassFile, ClassRecord)]>;

/// A container as the solver sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tier {
    /// What it is to the program.
    pub role: Role,
    /// Its classes.
    pub records: Records,
}

/// A solved program, to be read. Two are equal when nothing changed between them.
#[derive(Clone)]
pub struct Propagated {
    generation: u64,
    answers: Arc<RwLock<Answers>>,
}

/// What a solved program says, by class file.
pub struct Answers {
    whole: WholeProgram,
    /// The class files that another one of the same class stands before.
    shadowed: FxHashSet<ClassFile>,
    /// The program's own sets, for who asks alone. The program has them while it changes.
    own: Mutex<Exceptions>,
    /// Copies for those who ask while others do. One per question would cost more than most questions.
    copies: Mutex<Vec<Exceptions>>,
}

/// How often the program was brought up to date, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Made from nothing.
    pub made: u64,
    /// What changed was taken in.
    pub taken_in: u64,
}

/// The solved program of a database.
#[derive(Default)]
pub struct Solver {
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
    options: Options,
    tiers: Vec<Tier>,
    answers: Arc<RwLock<Answers>>,
}

impl PartialEq for Propagated {
    fn eq(&self, other: &Self) -> bool {
        self.generation == other.generation
    }
}

impl Propagated {
    /// What it says. Ask no query while you hold it: one that brings the program up to date would find it in use.
    pub fn read(&self) -> impl Deref<Target = Answers> + '_ {
        self.answers.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Solver {
    /// The solved program of these containers, in class-path order.
    pub fn propagated(&self, options: Options, tiers: Vec<Tier>) -> Propagated {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let last = state.last.take();
        let same = last.as_ref().filter(|it| it.options == options);
        let answers = same.and_then(|last| {
            match take_in(last, &tiers) {
                TakenIn::Nothing => {}
                TakenIn::All => {
                    state.counts.taken_in += 1;
                    state.generation += 1;
                }
                TakenIn::Refused => return None,
            }
            Some(Arc::clone(&last.answers))
        });
        let answers = answers.unwrap_or_else(|| {
            state.counts.made += 1;
            state.generation += 1;
            renewed(last.map(|it| it.answers), Answers::new(options, &tiers))
        });
        state.last = Some(Solved { options, tiers, answers: Arc::clone(&answers) });
        Propagated { generation: state.generation, answers }
    }

    /// Makes ready for the next change ([`WholeProgram::keep_current`]), if nobody reads just now. No answer changes.
    pub fn keep_current(&self) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let last = state.last.as_ref();
        if let Some(mut answers) = last.and_then(|it| it.answers.try_write().ok()) {
            answers.change(WholeProgram::keep_current);
        }
    }

    /// How often the program was brought up to date. For tests and figures.
    pub fn counts(&self) -> Counts {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).counts
    }
}

enum TakenIn {
    /// No answer can be another one.
    Nothing,
    All,
    /// The program is to be made anew.
    Refused,
}

/// Takes what is other in these containers into a solved program.
fn take_in(last: &Solved, now: &[Tier]) -> TakenIn {
    // Snapshots of before are gone when a query runs after a change. Should one still read, it keeps what it has.
    let Ok(mut answers) = last.answers.try_write() else { return TakenIn::Refused };
    match changed_in_place(&last.tiers, now) {
        Some(changed) => answers.take_in_place(&changed),
        None => answers.take_in_any(&last.tiers, now),
    }
}

/// A class whose record is another one now, and its container's role.
type Changed<'a> = (ClassFile, &'a ClassRecord, Role);

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
        for ((file, before), (class, record)) in before.records.iter().zip(&*now.records) {
            if file != class {
                return None;
            }
            // What was not read again is the same value, and costs no more than a look at its address.
            if before != record {
                if !record.stands_like(before) {
                    return None;
                }
                acc.push((*class, record, now.role));
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

/// The class files that another one of the same class stands before.
fn shadowed(whole: &WholeProgram, tiers: &[Tier]) -> FxHashSet<ClassFile> {
    if whole.program.passed_over.is_empty() {
        return FxHashSet::default();
    }
    let files: Vec<ClassFile> = tiers.iter().flat_map(|it| it.records.iter().map(|it| it.0)).collect();
    whole.program.passed_over.iter().filter_map(|&(idx, _)| files.get(idx).copied()).collect()
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
    fn new(options: Options, tiers: &[Tier]) -> Self {
        let mut whole = solved(Program::new(all_records(tiers), &options), options, None);
        let shadowed = shadowed(&whole, tiers);
        let own = Mutex::new(std::mem::replace(&mut whole.exceptions, no_sets()));
        Answers { whole, shadowed, own, copies: Mutex::default() }
    }

    /// Takes in classes that changed where they are; what others stand before, nobody sees.
    fn take_in_place(&mut self, changed: &[Changed<'_>]) -> TakenIn {
        let visible = changed.iter().filter(|it| !self.shadowed.contains(&it.0));
        let hierarchy = &self.whole.program.hierarchy;
        let changes = visible.map(|(_, it, role)| it.change_of(hierarchy.class(it.class()), *role)).collect();
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
        // The same classes, but other files that stand behind others.
        if let TakenIn::Nothing = taken_in
            && before != self.shadowed
        {
            return TakenIn::All;
        }
        taken_in
    }

    fn update(&mut self, changes: Vec<ClassChange>) -> TakenIn {
        match changes.len() {
            0 => TakenIn::Nothing,
            1..=MAX_CHANGED if self.change(|it| it.update(changes)) => TakenIn::All,
            _ => TakenIn::Refused,
        }
    }

    /// What the methods of a class let out, in file order; empty if its file defines no class of the program.
    pub fn throws(&self, file: ClassFile, class: ClassName) -> Arc<[Throws]> {
        let hierarchy = &self.whole.program.hierarchy;
        let defined = hierarchy.class(class).filter(|_| !self.shadowed.contains(&file));
        let Some(id) = defined else { return Arc::default() };
        let n_methods = hierarchy.outline(id).methods.len();
        let ask = |sets: &mut Exceptions| -> Arc<[Throws]> {
            (0..n_methods).map(|it| self.whole.throws(sets, method_id(id, it))).collect()
        };
        if let Ok(mut own) = self.own.try_lock() {
            return ask(&mut own);
        }
        let copy = self.copies.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let own = || self.own.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut copy = copy.unwrap_or_else(own);
        let acc = ask(&mut copy);
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
        acc
    }

    /// Changes the program. It has its sets meanwhile; the copies know nothing of new ones, and are forgotten.
    fn change<R>(&mut self, how: impl FnOnce(&mut WholeProgram) -> R) -> R {
        self.copies.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        let own = self.own.get_mut().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut self.whole.exceptions, own);
        let done = how(&mut self.whole);
        std::mem::swap(&mut self.whole.exceptions, own);
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

    fn options() -> Options {
        Options {
            world: WorldKind::Open,
            release: None,
            assume_contract: false,
            link_errors: false,
            async_errors: false,
        }
    }

    fn is_same(one: &Propagated, other: &Propagated) -> bool {
        Arc::ptr_eq(&one.answers, &other.answers)
    }

    #[test]
    fn equal_records_are_the_same_program() {
        let solver = Solver::default();
        let tier = || Tier { role: Role::App, records: Arc::default() };
        let first = solver.propagated(options(), vec![tier()]);
        assert!(first == solver.propagated(options(), vec![tier()]));
        assert_eq!(solver.counts(), Counts { made: 1, taken_in: 0 });
        assert!(first == solver.propagated(options(), Vec::new()), "nothing is in it");
        let other = solver.propagated(Options { link_errors: true, ..options() }, vec![tier()]);
        assert!(first != other && is_same(&first, &other), "another program in the same place");
        assert_eq!(solver.counts(), Counts { made: 2, taken_in: 0 });
    }

    #[test]
    fn who_still_reads_keeps_what_there_was() {
        let solver = Solver::default();
        let first = solver.propagated(options(), Vec::new());
        let reading = first.read();
        // Does not wait, and changes nothing under the reader.
        let second = solver.propagated(Options { link_errors: true, ..options() }, Vec::new());
        assert!(first != second && !is_same(&first, &second));
        assert!(!reading.whole.options.link_errors && second.read().whole.options.link_errors);
    }

    #[test]
    fn after_a_panic_the_program_is_made_anew() {
        let solver = Solver::default();
        let first = solver.propagated(options(), Vec::new());
        let lost = std::panic::AssertUnwindSafe(|| {
            let mut state = solver.state.lock().unwrap();
            let _last = state.last.take();
            let _answers = first.answers.write().unwrap();
            panic!("half way");
        });
        assert!(std::panic::catch_unwind(lost).is_err());
        let second = solver.propagated(options(), Vec::new());
        assert!(first != second && !is_same(&first, &second));
        assert_eq!(solver.counts(), Counts { made: 2, taken_in: 0 });
        assert!(second == solver.propagated(options(), Vec::new()));
    }
}
