//! The types for the outcomes of receivers at dispatches: the target that a receiver selects, or an error.

use classfile::names::{Descriptor, Name};
use program::hierarchy::ClassId;
use program::members::LinkError;
use program::names::Text;
use rustc_hash::FxHashMap;

use super::super::sites::{DispatchId, FunctionSiteId, Target};

/// The result of selection in a dispatch for one receiver: a target, an error, or an absent class that may have the
/// target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Outcome {
    /// The receiver selects this target.
    Target(Target),
    /// The receiver selects a method of an absent class or, if the absent class declares no such method, this target.
    Beyond(Target),
    /// The receiver selects this target if its class is below the class that the call names, which depends on absent
    /// classes.
    Maybe(Target),
    /// The call fails with this error.
    Error(LinkError),
    /// The receiver selects a method that this absent class may declare.
    Unknown(Text),
}

/// What a dispatch names besides the class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Signature {
    /// The name of the method.
    pub(super) name: Name,
    /// The descriptor of the method.
    pub(super) descriptor: Descriptor,
}

/// The dispatches of one signature in which a target is possible although no known receiver of these calls selects it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Scope {
    /// All dispatches: the receivers have an absent supertype, so they may be below any class.
    All,
    /// The dispatches of interface methods: the receivers are of unknown classes that inherit the target from a known
    /// class, and may implement any interface.
    Interfaces,
}

/// A set of receivers that select the same targets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::whole) enum ReceiverKind {
    /// The objects of this class, and the objects of those subclasses that select the same method as this class.
    Class(ClassId),
    /// The function object that this `LambdaMetafactory` site makes.
    Function(FunctionSiteId),
}

/// Tells which targets objects select when they are the receivers of virtual calls.
pub(in crate::whole) trait Offers {
    /// Calls `tell` for each dispatch in which objects of the kind `receiver` may be receivers. The arguments are the
    /// dispatch and the target that these objects select in it.
    fn of(&self, receiver: ReceiverKind, tell: &mut dyn FnMut(DispatchId, Target));
}

/// For each kind of receiver in a program, the dispatches that may have such a receiver, each with the target that
/// the receiver selects. The pairs are recorded while the targets of dispatches are computed.
#[derive(Default)]
pub(in crate::whole) struct AllOffers(pub(super) FxHashMap<ReceiverKind, Vec<(DispatchId, Target)>>);

impl Offers for AllOffers {
    fn of(&self, receiver: ReceiverKind, tell: &mut dyn FnMut(DispatchId, Target)) {
        self.0.get(&receiver).into_iter().flatten().for_each(|it| tell(it.0, it.1));
    }
}
