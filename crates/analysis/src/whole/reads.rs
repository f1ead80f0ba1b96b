//! Which parts of a solved program an answer was read from, so that it is asked for again only when one of them changed.
//!
//! What an answer about a class takes from the class itself, from classes that its code names and from those above these is
//! not noted: an update finds that by name ([`super::edits::mentions`]). Noted is what lies further away. The thread keeps
//! the note, as salsa's threads keep theirs: what reads is spread over many functions that many others call.

use std::cell::{Cell, RefCell};

use classfile::names::ClassName;
use flow::solver::NodeId;
use rustc_hash::FxHashSet;

use super::sites::{DispatchId, FunctionSiteId};

/// A part of a solved program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Read {
    /// What a node lets out.
    Value(NodeId),
    /// What a node has of itself.
    Own(NodeId),
    /// All that flows into a node, and how far each of it is from where something open arises.
    Ways(NodeId),
    /// How far a node is from where something open arises, and the first steps of the shortest ways there: most searches for a
    /// reason read no other steps.
    Nearest(NodeId),
    /// Where a dispatch goes.
    Dispatch(DispatchId),
    /// Why a dispatch may go elsewhere, and what linking its calls raises.
    Cause(DispatchId),
    /// Where the handle of a function object goes.
    Function(FunctionSiteId),
    /// What asking a loader of the program for a class may run.
    Loading,
    /// All classes: which are serializable, and their methods.
    Classes,
}

thread_local! {
    /// Whether the thread takes notes: looked at far more often than there is anything to note.
    static IS_NOTING: Cell<bool> = const { Cell::new(false) };
    static NOTED: RefCell<FxHashSet<Read>> = RefCell::default();
}

/// Ends the taking of notes, also when there is a panic.
struct Noting;

impl Drop for Noting {
    fn drop(&mut self) {
        IS_NOTING.set(false);
    }
}

/// Runs a function, and says what it read. One at a time: a question inside of another one's is a part of it.
pub fn noted<T>(ask: impl FnOnce() -> T) -> (T, Vec<Read>) {
    debug_assert!(!IS_NOTING.get(), "a question is asked while another one is noted");
    NOTED.with_borrow_mut(FxHashSet::clear);
    IS_NOTING.set(true);
    let noting = Noting;
    let answer = ask();
    drop(noting);
    (answer, NOTED.with_borrow_mut(|it| it.drain().collect()))
}

/// Notes a part that is read, if somebody wants to know.
#[inline]
pub(super) fn note(it: Read) {
    if IS_NOTING.get() {
        NOTED.with_borrow_mut(|noted| _ = noted.insert(it));
    }
}

/// Runs a function that reads all of a program, of which its caller notes what it was.
pub(super) fn unnoted<T>(read: impl FnOnce() -> T) -> T {
    let was_noting = IS_NOTING.replace(false);
    let answer = read();
    IS_NOTING.set(was_noting);
    answer
}

/// What updates of a solved program changed, for clients that keep answers.
#[derive(Debug, Default)]
pub struct Touched {
    /// The parts that may be others.
    pub reads: FxHashSet<Read>,
    /// The classes about which any answer may be another one: they, what their code names, or what is above these changed.
    pub classes: FxHashSet<ClassName>,
    /// Any answer may be another one.
    pub all: bool,
    /// How many nodes let something else out than before.
    pub values: usize,
}
