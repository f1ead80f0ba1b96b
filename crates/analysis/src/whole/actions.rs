//! The table of what code does: for each source of a summary, each effect of a dynamic site and each kind of method
//! handle, the classes that it initialises and creates, the methods that it calls, and the exceptions that it raises.
//!
//! All other code that needs these facts reads this table, so a new kind of source, effect or handle does not compile
//! until the table covers it.

use bir::body::CallKind;
use classfile::bootstrap::{HandleKind, MethodHandle};
use classfile::names::{ClassName, MethodRef};
use flow::functional::Effect;
use flow::summary::{Initialized, Receiver, Source};

use super::sites::handle_call;
use crate::summary::CodeSummary;

/// What one source of a summary (an exception source or call), one effect of a dynamic site, or one method handle
/// does. At run time, the parts of the action happen in the order of the fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Action {
    /// The exceptions that the action raises by itself.
    pub(crate) raises: Raises,
    /// The classes that the action initialises; `None` if it initialises none.
    pub(crate) initializes: Option<Initialized>,
    /// The object that the action creates; `None` if it creates none.
    pub(crate) makes: Option<MadeObject>,
    /// The method that the action calls; `None` if it calls none.
    pub(crate) calls: Option<Called>,
    /// How the exceptions of the action come out of it: unchanged, wrapped or swallowed. The exceptions of `any_code`
    /// always come out unchanged.
    pub(crate) passing: Passing,
    /// The reason why the action may also run arbitrary code; `None` if it does not. The exceptions of that code are
    /// never wrapped.
    pub(crate) any_code: Option<AnyCode>,
}

/// The exceptions that an action raises by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Raises {
    /// No exception.
    Nothing,
    /// Objects of exactly this class.
    Exact(ClassName),
    /// Objects of this class and of its subclasses.
    Cone(ClassName),
    /// The exceptions that a handler caught and throws again. The number is the handler's index among the rethrowing
    /// handlers of the method.
    Caught(u32),
    /// NullPointerException, because a method handle is invoked on a receiver that may be null.
    NullReceiver,
    /// BootstrapMethodError, because a class or member that a dynamic site names does not exist.
    LinkFailure,
    /// IncompatibleClassChangeError if this receiver of an interface call does not implement the interface.
    Receiver(Receiver),
}

/// An object that an action creates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MadeObject {
    /// An object created by the instruction `new`.
    ByNew(ClassName),
    /// An object created by a method handle of kind `REF_newInvokeSpecial`.
    ByHandle(ClassName),
}

/// A call that an action makes, with the method that the code names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Called {
    /// A call by an invoke instruction, except a call on `this` ([`Called::OnThis`]) and the call of the constructor
    /// of a new object ([`Called::Construct`]).
    Instruction(CallKind, MethodRef),
    /// An access through a variable handle: a call of this method of `VarHandle` that the VM performs itself.
    Access(MethodRef),
    /// A call by an invoke instruction whose receiver is `this`.
    OnThis(CallKind, MethodRef),
    /// A call of a constructor on a new object whose class is exactly the constructor's class.
    Construct(MethodRef),
    /// A call by a dynamic site on a value. The static type of the value is the class that the method reference
    /// names.
    Dynamic(MethodRef),
    /// A call of the method that a method handle refers to.
    Handle(CallKind, MethodRef),
}

/// How the exceptions of an action come out of the action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Passing {
    /// The exceptions come out unchanged.
    Plainly,
    /// Errors come out unchanged; every other exception is wrapped in BootstrapMethodError (JVMS §5.4.3.6).
    Wrapped,
    /// Every exception is replaced by InternalError, as `LambdaMetafactory` does since Java 17. In earlier releases,
    /// exceptions come out unchanged or are replaced.
    InLinkage,
    /// The exceptions are swallowed: none comes out.
    Swallowed,
}

/// The reason why an action may run arbitrary code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AnyCode {
    /// The analysis has no rules for this bootstrap method, so the method that it links is unknown.
    Bootstrap(MethodRef),
    /// The summary does not contain the dynamic site, so nothing about it is known.
    Unlisted,
}

impl Action {
    const NOTHING: Action = Action {
        raises: Raises::Nothing,
        initializes: None,
        makes: None,
        calls: None,
        passing: Passing::Plainly,
        any_code: None,
    };

    fn raises(it: Raises) -> Self {
        Action { raises: it, ..Action::NOTHING }
    }

    fn calls(it: Called) -> Self {
        Action { calls: Some(it), ..Action::NOTHING }
    }

    fn initializes(it: Initialized) -> Self {
        Action { initializes: Some(it), ..Action::NOTHING }
    }

    /// Returns the action of invoking a method handle (JVMS §5.4.3.5).
    pub(crate) fn of_handle(handle: MethodHandle) -> Self {
        let member = handle.member;
        let class = member.class();
        let (raises, initializes, makes) = match handle.kind {
            HandleKind::GetStatic | HandleKind::PutStatic => {
                (Raises::Nothing, Some(Initialized::OwnerOfField(member)), None)
            }
            HandleKind::InvokeStatic => {
                (Raises::Nothing, Some(Initialized::OwnerOfMethod(member, handle.interface)), None)
            }
            HandleKind::NewInvokeSpecial => {
                (Raises::Nothing, Some(Initialized::Class(class)), Some(MadeObject::ByHandle(class)))
            }
            HandleKind::GetField
            | HandleKind::PutField
            | HandleKind::InvokeVirtual
            | HandleKind::InvokeSpecial
            | HandleKind::InvokeInterface => (Raises::NullReceiver, None, None),
        };
        let calls = handle_call(handle).map(|kind| Called::Handle(kind, member));
        Action { raises, initializes, makes, calls, ..Action::NOTHING }
    }

    /// Returns the action of one effect of a dynamic site.
    pub(crate) fn of_effect(effect: &Effect) -> Self {
        let class = |it, passing| Action { passing, ..Action::initializes(Initialized::Class(it)) };
        let linking = |handle| Action { passing: Passing::Wrapped, ..Action::of_handle(handle) };
        match *effect {
            Effect::Virtual(method) => Action::calls(Called::Dynamic(method)),
            Effect::Link(handle) => linking(handle),
            Effect::Initialize(it) => class(it, Passing::Wrapped),
            Effect::InitializeQuietly(it) => class(it, Passing::Swallowed),
            Effect::Implement(it) => {
                Action { passing: Passing::InLinkage, ..Action::initializes(Initialized::Implemented(it)) }
            }
            Effect::MayFail => Action::raises(Raises::LinkFailure),
            Effect::Unknown(handle) => {
                Action { any_code: Some(AnyCode::Bootstrap(handle.member)), ..linking(handle) }
            }
        }
    }

    /// Returns the method that the action calls, as the code names it; `None` if the action calls no method.
    pub(crate) fn method(&self) -> Option<MethodRef> {
        self.calls.map(Called::method)
    }
}

impl Called {
    /// Returns the method that is called, as the code names it.
    pub(crate) fn method(self) -> MethodRef {
        match self {
            Called::Instruction(_, it) | Called::OnThis(_, it) | Called::Handle(_, it) => it,
            Called::Construct(it) | Called::Dynamic(it) | Called::Access(it) => it,
        }
    }
}

/// Returns the action of a source (an exception source or call) of a summary. For a dynamic site, returns `Err` with
/// the index of the site in the summary.
fn of_source(source: Source) -> Result<Action, u32> {
    Ok(match source {
        Source::Exact(class) => Action::raises(Raises::Exact(class)),
        Source::Cone(class) => Action::raises(Raises::Cone(class)),
        Source::Caught(handler) => Action::raises(Raises::Caught(handler)),
        Source::Call(kind, method) => Action::calls(Called::Instruction(kind, method)),
        Source::Access(method) => Action::calls(Called::Access(method)),
        Source::CallOnThis(kind, method) => Action::calls(Called::OnThis(kind, method)),
        Source::Construct(method) => Action::calls(Called::Construct(method)),
        Source::Initialize(what) => Action::initializes(what),
        Source::Receiver(it) => Action::raises(Raises::Receiver(it)),
        Source::Object(class) => Action { makes: Some(MadeObject::ByNew(class)), ..Action::NOTHING },
        Source::CallDynamic(site) | Source::ConstDynamic(site) => return Err(site),
    })
}

/// Returns the action of a source (an exception source or call) of a summary; `None` if the source is a dynamic site.
pub(crate) fn item_action(source: Source) -> Option<Action> {
    of_source(source).ok()
}

/// Returns the actions of a source (an exception source or call) of a summary. A dynamic site has one action for each
/// of its effects, every other source has one action.
pub(crate) fn actions(code: &CodeSummary, source: Source) -> impl Iterator<Item = Action> {
    let (one, effects) = match of_source(source) {
        Ok(it) => (Some(it), &[][..]),
        Err(site) => match code.dynamics.get(site as usize) {
            Some(it) => (None, &it.effects[..]),
            None => (Some(Action { any_code: Some(AnyCode::Unlisted), ..Action::NOTHING }), &[][..]),
        },
    };
    one.into_iter().chain(effects.iter().map(Action::of_effect))
}

/// Returns all actions of a body: first those of the exception sources and calls that its summary lists, in order,
/// then those of its dynamic sites, each site once.
pub(crate) fn all_actions(code: &CodeSummary) -> impl Iterator<Item = Action> {
    let items = code.summary.items.iter().filter_map(|it| item_action(it.source));
    items.chain(code.dynamics.iter().flat_map(|it| &it.effects).map(Action::of_effect))
}
