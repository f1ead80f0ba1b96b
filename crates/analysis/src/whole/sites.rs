//! The types for the targets of calls: call sites, dispatches, their targets, function objects, and the nodes of the
//! system of inclusions. This module contains only data.
//!
//! An id keeps its meaning as long as its program exists. Ids are never printed and never decide the order of
//! results.

use bir::body::CallKind;
use classfile::bootstrap::{HandleKind, MethodHandle};
use classfile::names::ClassName;
use flow::functional::Function;
use program::hierarchy::ClassId;
use program::members::{LinkError, MethodId};

/// The id of a dispatch: all virtual calls with the same class, name and descriptor at the call site. An id is valid
/// only in the [`super::dispatch::Dispatches`] that created it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DispatchId(u32);

/// The id of a function object: an object that a `LambdaMetafactory` site makes, and whose class exists only at run
/// time. An id is valid only in the [`super::tables::CallTable`] that contains the function object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionSiteId(u32);

impl DispatchId {
    /// Returns the id of the dispatch with this index.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        DispatchId(index as u32)
    }

    /// Returns the index of the dispatch.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the ids of the first `n` dispatches, in order.
    pub fn first(n: usize) -> impl ExactSizeIterator<Item = DispatchId> {
        (0..n as u32).map(DispatchId)
    }
}

impl FunctionSiteId {
    /// Returns the id of the function object with this index.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        FunctionSiteId(index as u32)
    }

    /// Returns the index of the function object.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the ids of the first `n` function objects, in order.
    pub fn first(n: usize) -> impl ExactSizeIterator<Item = FunctionSiteId> {
        (0..n as u32).map(FunctionSiteId)
    }
}

/// A `LambdaMetafactory` site, where a function object is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionSite {
    /// The function object that the site makes, with its interface and its method handle.
    pub function: Function,
    /// The method that contains the site.
    pub owner: MethodId,
    /// The index of the site among the dynamic sites in the method's code summary.
    pub site: u32,
}

/// The code that a call at one call site runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Site {
    /// The call always runs this method.
    Method(MethodId),
    /// The call runs one of the targets of this dispatch, depending on the receiver.
    Dispatch(DispatchId),
    /// The call runs nothing, because linking it fails with this error.
    Error(LinkError),
    /// The call runs unknown code, for this reason.
    Open(Open),
    /// The call is performed by the VM itself and lets out no exception (`clone` of an array).
    Vm,
}

/// Code that a virtual call may run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Target {
    /// This method of a present class.
    Method(MethodId),
    /// The method of a function object: it casts its arguments, then invokes the object's method handle.
    Glue(FunctionSiteId),
}

/// The reason why a call may run unknown methods.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Open {
    /// The class that the call names, or a class above it where the method may be declared, is absent. The field
    /// names the absent class.
    Outside(ClassName),
    /// Unknown classes may extend this class and override the method.
    Overridable(ClassName),
    /// The call is signature-polymorphic: it invokes an unknown method handle.
    SignaturePolymorphic,
}

/// A node of the system of inclusions. Its value is the set of exceptions that a part of the program lets out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// The exceptions that this method lets out.
    Method(MethodId),
    /// The exceptions that initialising a class lets out. The VM wraps those that are not errors.
    Initializer(ClassId),
    /// The exceptions that the method of this function object lets out.
    Glue(FunctionSiteId),
    /// The exceptions that a virtual call of this dispatch lets out.
    Dispatch(DispatchId),
    /// The exceptions that arrive at a handler which throws the caught exception again. The number is the index of
    /// the handler among the handlers of this kind in the method.
    Handler(MethodId, u32),
    /// The exceptions that this method lets out if some of its parameters have these exact values.
    Context(MethodId, Key),
    /// The exceptions that arrive at a handler, as for [`Node::Handler`], if some parameters of the method have these exact
    /// values.
    ContextHandler(MethodId, Key, u32),
    /// The exceptions that a class loader of the program lets out when it is called to load a class.
    Loading,
}

/// What a value is, if it is known exactly. The value may also be null.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Exact {
    /// An object of exactly this class.
    Class(ClassId),
    /// This function object.
    Function(FunctionSiteId),
}

/// The exact values of some parameters of a method: the context in which the method is analysed. The receiver is parameter
/// 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Key([Option<(u8, Exact)>; MAX_EXACT]);

/// The maximum number of parameters whose values a key holds.
const MAX_EXACT: usize = 2;

impl Key {
    /// Returns the key with the first of these values, which must be in the order of the parameters.
    pub fn new(values: impl Iterator<Item = (u8, Exact)>) -> Self {
        let mut acc = Key::default();
        acc.0.iter_mut().zip(values).for_each(|(place, it)| *place = Some(it));
        acc
    }

    /// Returns the values, in the order of the parameters.
    pub fn values(self) -> impl Iterator<Item = (u8, Exact)> {
        self.0.into_iter().flatten()
    }

    /// Returns the exact value of a parameter; `None` if it is not known.
    pub fn get(self, parameter: u8) -> Option<Exact> {
        self.values().find(|it| it.0 == parameter).map(|it| it.1)
    }

    /// Whether no value is known.
    pub fn is_empty(self) -> bool {
        self == Key::default()
    }
}

/// A method in whose code a source of exceptions occurs, in the context in which the code is analysed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The method.
    pub id: MethodId,
    /// The parameters whose values are known; empty if the method is analysed for all values.
    pub key: Key,
}

impl Frame {
    /// Returns the frame of a method that is analysed for all values of its parameters.
    pub fn of(id: MethodId) -> Self {
        Frame { id, key: Key::default() }
    }

    /// Returns the frame to which a node belongs, if the node stands for the code of a method or for one of its handlers.
    pub fn of_node(node: Node) -> Option<Self> {
        match node {
            Node::Method(id) | Node::Handler(id, _) => Some(Frame::of(id)),
            Node::Context(id, key) | Node::ContextHandler(id, key, _) => Some(Frame { id, key }),
            Node::Initializer(_) | Node::Glue(_) | Node::Dispatch(_) | Node::Loading => None,
        }
    }

    /// Returns the node for the exceptions that the method lets out.
    pub fn node(self) -> Node {
        if self.key.is_empty() { Node::Method(self.id) } else { Node::Context(self.id, self.key) }
    }

    /// Returns the node for the exceptions that arrive at a handler of the method.
    pub fn handler(self, handler: u32) -> Node {
        match self.key.is_empty() {
            true => Node::Handler(self.id, handler),
            false => Node::ContextHandler(self.id, self.key, handler),
        }
    }
}

impl Target {
    /// Returns the node for the exceptions that the target lets out.
    pub fn node(self) -> Node {
        match self {
            Target::Method(it) => Node::Method(it),
            Target::Glue(it) => Node::Glue(it),
        }
    }
}

/// Returns the kind of call that invoking a method handle makes; `None` for handles of fields (JVMS §5.4.3.5).
pub fn handle_call(handle: MethodHandle) -> Option<CallKind> {
    Some(match handle.kind {
        HandleKind::InvokeStatic if handle.interface => CallKind::StaticInterface,
        HandleKind::InvokeStatic => CallKind::Static,
        HandleKind::NewInvokeSpecial => CallKind::Special,
        HandleKind::InvokeSpecial if handle.interface => CallKind::SpecialInterface,
        HandleKind::InvokeSpecial => CallKind::Special,
        HandleKind::InvokeVirtual => CallKind::Virtual,
        HandleKind::InvokeInterface => CallKind::Interface,
        HandleKind::GetField | HandleKind::PutField | HandleKind::GetStatic | HandleKind::PutStatic => {
            return None;
        }
    })
}
