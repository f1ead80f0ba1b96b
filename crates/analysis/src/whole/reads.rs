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
    /// The value of a node in the solution.
    Value(NodeId),
    /// The part of a node's value that arises at the node itself.
    Own(NodeId),
    /// All inclusions of a node, each with the distance of the included node to the nearest open origin.
    Ways(NodeId),
    /// The distance of a node to the nearest open origin, and the first steps of the shortest paths to it. Most
    /// searches for the reason of an open part read no other steps.
    Nearest(NodeId),
    /// The targets of a dispatch.
    Dispatch(DispatchId),
    /// The reason why a dispatch may have other targets, and the link errors of its calls.
    Cause(DispatchId),
    /// The target of the method handle of a function object.
    Function(FunctionSiteId),
    /// The methods that may run when a class loader of the program is asked for a class.
    Loading,
    /// The set of all classes: which of them are serializable, and their methods.
    Classes,
}

thread_local! {
    /// Whether the thread records reads. The flag is checked far more often than a read is recorded.
    static IS_NOTING: Cell<bool> = const { Cell::new(false) };
    static NOTED: RefCell<FxHashSet<Read>> = RefCell::default();
}

/// A guard that ends the recording when it is dropped, also on a panic.
struct Noting;

impl Drop for Noting {
    fn drop(&mut self) {
        IS_NOTING.set(false);
    }
}

/// Calls `ask`, and returns its result with the parts of the program that it read. Calls must not be nested, because
/// the reads of an inner call belong to the outer one.
pub fn noted<T>(ask: impl FnOnce() -> T) -> (T, Vec<Read>) {
    debug_assert!(!IS_NOTING.get(), "a recording of reads must not start while another is running");
    NOTED.with_borrow_mut(FxHashSet::clear);
    IS_NOTING.set(true);
    let noting = Noting;
    let answer = ask();
    drop(noting);
    (answer, NOTED.with_borrow_mut(|it| it.drain().collect()))
}

/// Records that a part of the program is read, if the thread is recording.
#[inline]
pub(super) fn note(it: Read) {
    if IS_NOTING.get() {
        NOTED.with_borrow_mut(|noted| _ = noted.insert(it));
    }
}

/// Calls `read`, which reads all of a program, without recording its reads. The caller records the parts that matter.
pub(super) fn unnoted<T>(read: impl FnOnce() -> T) -> T {
    let was_noting = IS_NOTING.replace(false);
    let answer = read();
    IS_NOTING.set(was_noting);
    answer
}

/// The changes that updates made in a solved program, for clients that keep answers.
#[derive(Debug, Default)]
pub struct Touched {
    /// The parts of the program that may have changed.
    pub reads: FxHashSet<Read>,
    /// The classes about which all answers may have changed, because the class, a class that its code names, or a
    /// supertype of one of these changed.
    pub classes: FxHashSet<ClassName>,
    /// Whether all answers about all classes may have changed.
    pub all: bool,
    /// The number of nodes whose values changed.
    pub values: usize,
}
