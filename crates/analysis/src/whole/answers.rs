//! Answers about one method of a whole program, as plain data: where its calls go, what it lets out, and why.

use bir::body::InstrId;
use flow::universe::Part;
use program::names::{MethodName, Text};

/// How a call transfers control to a method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CallWord {
    /// `invokevirtual`.
    Virtual,
    /// `invokeinterface`.
    Interface,
    /// `invokespecial`.
    Special,
    /// `invokestatic`.
    Static,
    /// A method that an `invokedynamic` site runs.
    Dynamic,
    /// A class initialiser.
    Clinit,
    /// A bootstrap method, or a method handle that is passed to it.
    Bootstrap,
    /// A call by a native method.
    Native,
    /// Code that another thread runs, now or later: the caller does not wait for it and receives none of its
    /// exceptions.
    Thread,
    /// A call by a method of the JDK, before that method returns.
    Callback,
    /// An action that is run with privileges: its checked exceptions come back wrapped.
    Privileged,
    /// Code that is found by name: its exceptions come back wrapped, except those of `Class.newInstance`.
    Reflect,
    /// A request to a class loader for a class.
    Load,
    /// The methods of a class that writing or reading its objects runs.
    Serialization,
    /// The finalizer of an object that the instruction creates; a thread of the VM runs it.
    Finalizer,
    /// Any call by a method whose code is unknown.
    Unseen,
}

impl CallWord {
    /// Returns the name of the kind in output.
    pub fn name(self) -> &'static str {
        match self {
            CallWord::Virtual => "virtual",
            CallWord::Interface => "interface",
            CallWord::Special => "special",
            CallWord::Static => "static",
            CallWord::Dynamic => "dynamic",
            CallWord::Clinit => "clinit",
            CallWord::Bootstrap => "bootstrap",
            CallWord::Native => "native",
            CallWord::Thread => "thread",
            CallWord::Callback => "callback",
            CallWord::Privileged => "privileged",
            CallWord::Reflect => "reflect",
            CallWord::Load => "load",
            CallWord::Serialization => "serialization",
            CallWord::Finalizer => "finalizer",
            CallWord::Unseen => "unseen",
        }
    }
}

/// A place where control may go to other methods.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// The instruction; `None` in a method without readable code.
    pub instr: Option<InstrId>,
    /// The kind of the call.
    pub kind: CallWord,
    /// The method as the instruction names it; `None` if it names no method, such as for an initialisation.
    pub declared: Option<MethodName>,
    /// The present methods that the call may go to, directly or through the glue of function objects; sorted by text.
    pub targets: Vec<MethodName>,
    /// The functional interfaces whose function objects are among the receivers, sorted by text. The glue of such an
    /// object performs casts, then calls one of the targets.
    pub glue: Vec<Text>,
    /// Present methods that the call may go to only if an absent class lies between the receiver's class and the
    /// class named; sorted by text.
    pub possible: Vec<MethodName>,
    /// The exceptions of the link errors that the present classes already determine.
    pub errors: Vec<Text>,
    /// Why the call may go to unknown methods.
    pub open: Option<Why>,
}

/// Why a call or a set of exceptions is open.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Why {
    /// This class is absent.
    Outside(Text),
    /// Unknown classes may extend this one and override the method.
    Overridable(Text),
    /// The initialiser of this class is not known.
    Initializer(Text),
    /// The code is whatever handle the call is given.
    SignaturePolymorphic,
    /// The bootstrap method is not known, so the call may go anywhere.
    Bootstrap(MethodName),
    /// The effect of the native method is not known.
    Native(MethodName),
    /// The code of the method cannot be read.
    MissingCode(MethodName),
    /// The method's code is not written yet.
    Ghost(MethodName),
    /// The exceptions of this method are open in part; the answer `throws` for it gives the reason.
    LetsOut(MethodName),
    /// A caught exception that is thrown again was open in part.
    Caught(MethodName),
    /// The exceptions of a function object among the receivers are open.
    Function,
    /// The code to run is found by name at run time.
    Reflection,
}

/// The exceptions that a method may let out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Throws {
    /// The method.
    pub method: MethodName,
    /// The classes and cones that are known to come out, by name.
    pub known: Vec<Part>,
    /// The open part: exceptions that may also come out.
    pub open: Option<OpenPart>,
}

/// The open part of the exceptions of a method, and why it is open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenPart {
    /// The classes and cones that contain the open part, by name; `Throwable` if it may be anything except
    /// [`OpenPart::except`].
    pub within: Vec<Part>,
    /// The classes and cones that cannot be in the open part, by name; empty if `within` alone describes it.
    pub except: Vec<Part>,
    /// The shortest path to the reason why the part is open.
    pub because: Vec<Step>,
}

/// A step on the path from a method to the origin of an exception that the method lets out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// This method lets the exception out.
    Method(MethodName),
    /// A virtual call of this method may go to a target that lets the exception out.
    Dispatch(MethodName),
    /// The initialiser of this class lets the exception out, and it is wrapped.
    Initializer(Text),
    /// The method of a function object for this functional interface lets the exception out.
    Glue(Text),
    /// A class loader of the program lets the exception out when this method is called to load a class.
    Loading(MethodName),
    /// The exception is caught and thrown again in this method.
    Rethrown(MethodName),
    /// The exception is raised here.
    Raised(Origin),
    /// The set of exceptions becomes open here.
    Open(Why),
}

/// What raises an exception.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// An instruction of the method in the previous step.
    Instruction,
    /// Linking, of classes that do not fit together.
    Linking,
    /// The casts and the unboxing of a function object or proxy.
    Conversion,
    /// A native method, according to its row in our table.
    NativeRow(MethodName),
    /// The signature of a method declares it, in profile `paper`.
    Signature(MethodName),
    /// The VM itself, at any instruction.
    Vm,
}

impl Call {
    /// Returns a call without targets, errors or a reason to be open.
    pub(super) fn empty(instr: Option<InstrId>, kind: CallWord) -> Self {
        Call {
            instr,
            kind,
            declared: None,
            targets: Vec::new(),
            glue: Vec::new(),
            possible: Vec::new(),
            errors: Vec::new(),
            open: None,
        }
    }

    /// Returns the call with sorted lists without duplicates; targets are removed from `possible`.
    pub(super) fn sorted(mut self) -> Self {
        for list in [&mut self.targets, &mut self.possible] {
            list.sort_unstable();
            list.dedup();
        }
        for list in [&mut self.glue, &mut self.errors] {
            list.sort_unstable();
            list.dedup();
        }
        let is_target = |it: &MethodName| self.targets.binary_search(it).is_ok();
        self.possible.retain(|it| !is_target(it));
        self
    }
}
