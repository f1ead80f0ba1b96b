//! What receivers make of dispatches: the words for it.

use program::hierarchy::ClassId;
use program::members::LinkError;
use program::names::Text;
use rustc_hash::FxHashMap;

use super::super::sites::{DispatchId, FunctionSiteId, Target};

/// What a receiver makes of a dispatch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Outcome {
    /// It selects this.
    Target(Target),
    /// It selects a method of an absent class, or, if that has none, this.
    Beyond(Target),
    /// It may be below the class named, and selects this then.
    Maybe(Target),
    /// It selects nothing.
    Error(LinkError),
    /// It selects a method that this absent class may have.
    Unknown(Text),
}

/// The receivers that select a target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::whole) enum ReceiverKind {
    /// Objects of this class, and of its subclasses down to where they declare the method again.
    Class(ClassId),
    /// The function object of this site.
    Function(FunctionSiteId),
}

/// Why targets are targets: what receivers select.
pub(in crate::whole) trait Offers {
    /// Tells each dispatch that a receiver may come to, and what it selects there.
    fn of(&self, receiver: ReceiverKind, tell: &mut dyn FnMut(DispatchId, Target));
}

/// Those of all receivers of a program, noted when its targets are found.
#[derive(Default)]
pub(in crate::whole) struct AllOffers(pub(super) FxHashMap<ReceiverKind, Vec<(DispatchId, Target)>>);

impl Offers for AllOffers {
    fn of(&self, receiver: ReceiverKind, tell: &mut dyn FnMut(DispatchId, Target)) {
        self.0.get(&receiver).into_iter().flatten().for_each(|it| tell(it.0, it.1));
    }
}
