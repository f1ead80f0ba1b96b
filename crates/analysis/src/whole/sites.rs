//! The words for where calls go: call sites, dispatches, their targets, function objects, and the nodes of the system of
//! inclusions. Data only.
//!
//! The ids never change their meaning while a program is kept, and are never printed or sorted by.

use bir::body::CallKind;
use classfile::bootstrap::{HandleKind, MethodHandle};
use classfile::names::ClassName;
use flow::functional::Function;
use program::hierarchy::ClassId;
use program::members::{LinkError, MethodId};

/// A dispatch: a virtual call by the names at its call site. Belongs to one [`super::dispatch::Dispatches`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DispatchId(u32);

/// A function object: an object of a class that exists at run time only, made by a `LambdaMetafactory` site. Belongs to one
/// [`super::calls::CallTable`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionSiteId(u32);

impl DispatchId {
    /// The dispatch with this index.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        DispatchId(index as u32)
    }

    /// Its index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The first `n` ids, in order.
    pub fn first(n: usize) -> impl ExactSizeIterator<Item = DispatchId> {
        (0..n as u32).map(DispatchId)
    }
}

impl FunctionSiteId {
    /// The function object with this index.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        FunctionSiteId(index as u32)
    }

    /// Its index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The first `n` ids, in order.
    pub fn first(n: usize) -> impl ExactSizeIterator<Item = FunctionSiteId> {
        (0..n as u32).map(FunctionSiteId)
    }
}

/// A `LambdaMetafactory` site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionSite {
    /// The object that it makes.
    pub function: Function,
    /// The method that has the site.
    pub owner: MethodId,
    /// Its number among the dynamic sites of the method.
    pub site: u32,
}

/// Where one call site goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Site {
    /// Always to this method.
    Method(MethodId),
    /// To the targets of this dispatch.
    Dispatch(DispatchId),
    /// Nowhere: linking fails.
    Error(LinkError),
    /// To unknown code.
    Open(Open),
    /// Nowhere: the VM does it, and nothing comes out (`clone` of an array).
    Vm,
}

/// Where a virtual call may go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Target {
    /// A method of a present class.
    Method(MethodId),
    /// The method of a function object: casts, then its handle.
    Glue(FunctionSiteId),
}

/// Why a call may go to unknown methods.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Open {
    /// The class named, or a class above it where the method may be declared, is absent.
    Outside(ClassName),
    /// Unknown classes may extend this one and override the method.
    Overridable(ClassName),
    /// The method's code is whatever handle it is given.
    SignaturePolymorphic,
}

/// What a node of the system of inclusions stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// What a method lets out.
    Method(MethodId),
    /// What initialising a class lets out, wrapped.
    Initializer(ClassId),
    /// What the method of a function object lets out.
    Glue(FunctionSiteId),
    /// What a virtual call lets out.
    Dispatch(DispatchId),
    /// What arrives at a handler of a method that throws it again; the number is that among the method's rethrowing handlers.
    Handler(MethodId, u32),
    /// What a constructor lets out that makes an object of exactly this class.
    Constructing(MethodId, ClassId),
    /// What asking a class loader of the program for a class lets out.
    Loading,
}

impl Target {
    /// The node of what the target lets out.
    pub fn node(self) -> Node {
        match self {
            Target::Method(it) => Node::Method(it),
            Target::Glue(it) => Node::Glue(it),
        }
    }
}

/// The call that invoking a method handle makes; none for a field (JVMS §5.4.3.5).
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
