//! Records which parts of a solved program an answer was computed from, so that the answer is recomputed only when
//! one of them changed.
//!
//! Not recorded is what an answer about a class reads of the class itself, of classes that its code names, and of
//! their supertypes: an update finds such answers by name ([`super::maintained`]). The record is kept for each
//! thread, as salsa does, because reads are spread over many functions with many callers.

use std::cell::{Cell, RefCell};

use classfile::names::ClassName;
use flow::solver::NodeId;
use rustc_hash::FxHashSet;

use super::sites::{DispatchId, FunctionSiteId};

/// A part of a solved program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Read {
    /// The value of a node.
    Value(NodeId),
    /// The own value of a node.
    Own(NodeId),
    /// All inflows of a node, and the distance of each from the nearest open origin.
    Ways(NodeId),
    /// The distance of a node from the nearest open origin, and the first steps of the shortest paths there: most
    /// searches for a reason read no other steps.
    Nearest(NodeId),
    /// The targets of a dispatch.
    Dispatch(DispatchId),
    /// Why a dispatch may have other targets, and the link errors of its calls.
    Cause(DispatchId),
    /// The target of a function object's handle.
    Function(FunctionSiteId),
    /// The methods that a request to a class loader of the program may run.
    Loading,
    /// All classes: which are serializable, and their methods.
    Classes,
}

thread_local! {
    /// Whether the thread records reads. It is checked far more often than something is recorded.
    static IS_NOTING: Cell<bool> = const { Cell::new(false) };
    static NOTED: RefCell<FxHashSet<Read>> = RefCell::default();
}

/// Ends the recording when it is dropped, also on a panic.
struct Noting;

impl Drop for Noting {
    fn drop(&mut self) {
        IS_NOTING.set(false);
    }
}

/// Runs a function and returns its result with the parts that it read. Calls must not be nested: what an inner
/// question reads belongs to the outer one.
pub fn noted<T>(ask: impl FnOnce() -> T) -> (T, Vec<Read>) {
    debug_assert!(!IS_NOTING.get(), "recording of reads must not be nested");
    NOTED.with_borrow_mut(FxHashSet::clear);
    IS_NOTING.set(true);
    let noting = Noting;
    let answer = ask();
    drop(noting);
    (answer, NOTED.with_borrow_mut(|it| it.drain().collect()))
}

/// Records that a part is read, if the thread is recording.
#[inline]
pub(super) fn note(it: Read) {
    if IS_NOTING.get() {
        NOTED.with_borrow_mut(|noted| _ = noted.insert(it));
    }
}

/// Runs a function that reads all of a program, without recording; its caller records the relevant parts.
pub(super) fn unnoted<T>(read: impl FnOnce() -> T) -> T {
    let was_noting = IS_NOTING.replace(false);
    let answer = read();
    IS_NOTING.set(was_noting);
    answer
}

/// What updates of a solved program changed, for clients that keep answers.
#[derive(Debug, Default)]
pub struct Touched {
    /// The parts that may have changed.
    pub reads: FxHashSet<Read>,
    /// The classes about which any answer may have changed, because the class, a class that its code names, or a
    /// supertype of one of these changed.
    pub classes: FxHashSet<ClassName>,
    /// Whether any answer may have changed.
    pub all: bool,
    /// The number of nodes whose values changed.
    pub values: usize,
}
