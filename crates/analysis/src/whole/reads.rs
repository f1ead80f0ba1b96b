//! Records the parts of a solved program that an answer is computed from, so that the answer is recomputed only when
//! one of the parts changed.
//!
//! An answer about a class also depends on the class itself, on the classes that its code names, and on their
//! supertypes. These are not recorded, because an update finds the affected answers by name ([`super::maintained`]).
//! The record belongs to the thread, as in salsa, because reads are spread over many functions with many callers.

use std::cell::{Cell, RefCell};

use classfile::names::ClassName;
use flow::solver::NodeId;
use rustc_hash::FxHashSet;

use super::sites::{DispatchId, FunctionSiteId};

/// A part of a solved program that an answer can depend on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Read {
    /// The exceptions that a node lets out in the solution.
    Value(NodeId),
    /// The exceptions that arise at a node itself, without those of the nodes that it includes.
    Own(NodeId),
    /// All nodes that a node includes, each with its distance (number of inclusions) to the nearest node where
    /// exceptions of unknown code arise.
    Ways(NodeId),
    /// The distance (number of inclusions) from a node to the nearest node where exceptions of unknown code arise,
    /// and the first inclusions on the shortest paths to such nodes. Most searches for the reason of an open part
    /// read no other inclusions.
    Nearest(NodeId),
    /// The targets of a dispatch.
    Dispatch(DispatchId),
    /// The reason why a dispatch may have unknown targets, and the link errors of its calls.
    Cause(DispatchId),
    /// The method that the method handle of a function object invokes.
    Function(FunctionSiteId),
    /// The methods that may run when a class loader of the program is called to load a class.
    Loading,
    /// Which classes exist, which methods they have, and which of them are serializable.
    Classes,
    /// Of which classes reached code creates objects.
    Made,
}

thread_local! {
    /// Whether this thread records which parts of a solved program are read. The flag is checked far more often than
    /// a read is recorded.
    static IS_NOTING: Cell<bool> = const { Cell::new(false) };
    static NOTED: RefCell<FxHashSet<Read>> = RefCell::default();
}

/// A guard that stops the recording of reads when the guard is dropped, even if the drop is due to a panic.
struct Noting;

impl Drop for Noting {
    fn drop(&mut self) {
        IS_NOTING.set(false);
    }
}

/// Calls `ask`, and returns its result together with the parts of the solved program that were read during the call.
/// Calls of this function must not be nested, because the inner call would discard the reads of the outer call.
pub fn noted<T>(ask: impl FnOnce() -> T) -> (T, Vec<Read>) {
    debug_assert!(!IS_NOTING.get(), "a recording of reads must not start while another is running");
    NOTED.with_borrow_mut(FxHashSet::clear);
    IS_NOTING.set(true);
    let noting = Noting;
    let answer = ask();
    drop(noting);
    (answer, NOTED.with_borrow_mut(|it| it.drain().collect()))
}

/// Records that a part of the solved program is read, if this thread is recording reads.
#[inline]
pub(super) fn note(it: Read) {
    if IS_NOTING.get() {
        NOTED.with_borrow_mut(|noted| _ = noted.insert(it));
    }
}

/// Calls `read` without recording what is read, because `read` visits the whole program. The caller must itself
/// record the parts on which its answer depends.
pub(super) fn unnoted<T>(read: impl FnOnce() -> T) -> T {
    let was_noting = IS_NOTING.replace(false);
    let answer = read();
    IS_NOTING.set(was_noting);
    answer
}

/// The parts of a solved program that updates changed, for clients that store answers.
#[derive(Debug, Default)]
pub struct Touched {
    /// The parts of the program that may have changed.
    pub reads: FxHashSet<Read>,
    /// The classes about which all answers may have changed, because the class itself, a class that its code names,
    /// or a supertype of one of them changed.
    pub classes: FxHashSet<ClassName>,
    /// Whether all answers about all classes may have changed.
    pub all: bool,
    /// The number of nodes whose exceptions in the solution changed.
    pub values: usize,
}
