//! The outcomes that receivers have at dispatches: types only.

use program::hierarchy::ClassId;
use program::members::LinkError;
use program::names::Text;
use rustc_hash::FxHashMap;

use super::super::sites::{DispatchId, FunctionSiteId, Target};

/// The outcome of a dispatch for one receiver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Outcome {
    /// The receiver selects this target.
    Target(Target),
    /// The receiver selects a method of an absent class or, if that has none, this target.
    Beyond(Target),
    /// The receiver may be below the class named; if it is, it selects this target.
    Maybe(Target),
    /// The call fails with this error.
    Error(LinkError),
    /// The receiver selects a method that this absent class may have.
    Unknown(Text),
}

/// A set of receivers that select the same target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::whole) enum ReceiverKind {
    /// Objects of this class, and of its subclasses down to those that declare the method again.
    Class(ClassId),
    /// The function object of this site.
    Function(FunctionSiteId),
}

/// A source of reasons for targets: which receivers select them.
pub(in crate::whole) trait Offers {
    /// Calls `tell` for each dispatch that the receiver may reach, with the target that it selects there.
    fn of(&self, receiver: ReceiverKind, tell: &mut dyn FnMut(DispatchId, Target));
}

/// The targets that all receivers of a program select, recorded while the targets are searched.
#[derive(Default)]
pub(in crate::whole) struct AllOffers(pub(super) FxHashMap<ReceiverKind, Vec<(DispatchId, Target)>>);

impl Offers for AllOffers {
    fn of(&self, receiver: ReceiverKind, tell: &mut dyn FnMut(DispatchId, Target)) {
        self.0.get(&receiver).into_iter().flatten().for_each(|it| tell(it.0, it.1));
    }
}
