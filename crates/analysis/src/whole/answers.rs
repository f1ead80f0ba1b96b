//! Answers about one method of a whole program, as plain data: the targets of its calls, the exceptions that it lets
//! out, and the reasons.

use bir::body::InstrId;
use flow::universe::Part;
use program::names::{MethodName, Text};

/// The kind of a call: how control is transferred to the called method.
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
    /// A call of a method by an `invokedynamic` call site.
    Dynamic,
    /// A run of a class initialiser.
    Clinit,
    /// A call of a bootstrap method, or of a method handle that is passed to a bootstrap method.
    Bootstrap,
    /// A call that a native method makes.
    Native,
    /// A call in another thread, now or later. The caller does not wait for the called code and receives none of its
    /// exceptions.
    Thread,
    /// A call that a method of the JDK makes before it returns.
    Callback,
    /// A call of an action by a method such as `AccessController.doPrivileged`. The checked exceptions of the action
    /// come back wrapped.
    Privileged,
    /// A call by reflection, of code that is found by name, or by a method handle that is passed as a value. The
    /// exceptions of the code come back wrapped, except those of a call by `Class.newInstance` or by a method handle,
    /// which come back unchanged.
    Reflect,
    /// The JVM calls a class loader of the program to load a class.
    Load,
    /// A call of a method that a class defines for serialization, made when objects of the class are written or read.
    Serialization,
    /// A call of the finalizer of the object that the instruction creates. A thread of the VM makes the call.
    Finalizer,
    /// Stands for all calls of a method whose code is unknown.
    Unseen,
}

impl CallWord {
    /// Returns the name of the call kind that is used in the output.
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

/// One call, with the methods to which control may go. The call is made by an instruction, or by a method without
/// readable code.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// The instruction that makes the call; `None` in a method without readable code.
    pub instr: Option<InstrId>,
    /// The kind of the call.
    pub kind: CallWord,
    /// The method as the instruction names it; `None` if it names no method (for example, an initialisation).
    pub declared: Option<MethodName>,
    /// The present methods that the call may run, directly or through the glue of function objects; sorted by text.
    pub targets: Vec<MethodName>,
    /// The functional interfaces whose function objects are among the receivers, sorted by text. A function object's
    /// glue performs casts and then calls one of the targets.
    pub glue: Vec<Text>,
    /// The present methods that the call may run only if the receiver's class is, through an absent supertype, a
    /// subtype of the class that the call names; sorted by text.
    pub possible: Vec<MethodName>,
    /// The exception classes of the link errors that the call may raise, as far as the present classes determine
    /// them.
    pub errors: Vec<Text>,
    /// The reason why the call may run unknown methods; `None` if all methods are known.
    pub open: Option<Why>,
}

/// The reason why a call or a set of exceptions is open.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Why {
    /// This class, on which the call or the set depends, is absent.
    Outside(Text),
    /// Unknown classes may extend this class and override the method.
    Overridable(Text),
    /// The initialiser of this class is not known.
    Initializer(Text),
    /// The called method is signature polymorphic: it runs any method handle that it is invoked on.
    SignaturePolymorphic,
    /// The analysis has no rules for this bootstrap method, so the call may run any method.
    Bootstrap(MethodName),
    /// The effect of the native method is not known.
    Native(MethodName),
    /// The code of the method cannot be read.
    MissingCode(MethodName),
    /// The method is a ghost: its code is not written yet.
    Ghost(MethodName),
    /// The exceptions that this method lets out have an open part. The [`Throws`] of this method has the reason.
    LetsOut(MethodName),
    /// This method throws a caught exception again, and the set of caught exceptions has an open part.
    Caught(MethodName),
    /// The exceptions of a function object among the receivers have an open part.
    Function,
    /// The code to run is found by name at run time.
    Reflection,
}

/// The exceptions that a method may let out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Throws {
    /// The method that lets the exceptions out.
    pub method: MethodName,
    /// The classes and cones of exceptions that the method is known to let out, sorted by name.
    pub known: Vec<Part>,
    /// The open part: exceptions that the method may let out in addition to `known`; `None` if there are none.
    pub open: Option<OpenPart>,
    /// What the method lets out besides, by way of calls on objects of unknown classes and of initialisers. Empty if the
    /// answer does not set them apart.
    pub anchors: Vec<Anchor>,
    /// The number of calls on objects of unknown classes that the answer does not set apart because they are too many;
    /// otherwise 0.
    pub too_many_calls: u32,
}

/// A call on an object of unknown class, or an initialiser, whose exceptions a method lets out as far as its handlers do
/// not catch them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Anchor {
    /// The call or the initialiser.
    pub of: Anchored,
    /// The classes and cones of exceptions that present code lets out there by itself, after the handlers of the method;
    /// without those of further calls on unknown objects.
    pub known: Vec<Part>,
    /// Whether unknown code may run there.
    pub is_open: bool,
}

/// What an anchor names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Anchored {
    /// Virtual calls of this method.
    Call(MethodName),
    /// The initialisation of this class.
    Initializer(Text),
}

/// The open part of the exceptions of a method, with the reason why it is open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenPart {
    /// The classes and cones that contain the open part, sorted by name. `Throwable` means that the open part may
    /// contain everything except [`OpenPart::except`].
    pub within: Vec<Part>,
    /// The classes and cones that cannot be in the open part, sorted by name; empty if `within` alone describes the
    /// open part.
    pub except: Vec<Part>,
    /// The shortest path from the method to the reason why the part is open.
    pub because: Vec<Step>,
}

/// A step on the path from a method to the origin of an exception that the method lets out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// This method lets the exception out.
    Method(MethodName),
    /// A virtual call of this method may run a target that lets the exception out.
    Dispatch(MethodName),
    /// The initialiser of this class lets the exception out, wrapped in ExceptionInInitializerError unless it is an
    /// Error.
    Initializer(Text),
    /// The method of a function object for this functional interface lets the exception out.
    Glue(Text),
    /// A class loader of the program lets the exception out when this method of the loader is called to load a class.
    Loading(MethodName),
    /// The exception is caught and thrown again in this method.
    Rethrown(MethodName),
    /// This origin raises the exception. This is the last step of the path.
    Raised(Origin),
    /// The set of exceptions becomes open for this reason. This is the last step of the path.
    Open(Why),
}

/// The code or mechanism that raises an exception.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// An instruction of the method that the previous step names.
    Instruction,
    /// The linking of classes that do not fit together, which fails with a link error.
    Linking,
    /// A cast or an unboxing in a function object or proxy.
    Conversion,
    /// A native method, according to its row in the table of native methods.
    NativeRow(MethodName),
    /// A declaration: in profile `paper`, the signature of this method declares the exception.
    Signature(MethodName),
    /// The VM itself, which may raise the exception at any instruction.
    Vm,
}

impl Call {
    /// Returns a call of this kind that has no targets and no link errors, and is not open.
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

    /// Returns the call with its lists sorted and without duplicates. Methods in `targets` are removed from
    /// `possible`.
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
