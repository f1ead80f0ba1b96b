//! Answers about one method of a whole program, as plain data: where its calls go, what it lets out, and why.

use bir::body::InstrId;
use flow::universe::Part;
use program::names::{MethodName, Text};

/// How control comes to a method.
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
    /// What an `invokedynamic` site runs.
    Dynamic,
    /// A class initialiser.
    Clinit,
    /// A bootstrap method, or what it is given to invoke.
    Bootstrap,
    /// A native method that calls back.
    Native,
    /// What another thread runs, now or later: control does not wait for it, and no exception of it comes back.
    Thread,
    /// A method of the JDK that calls back before it returns.
    Callback,
    /// An action that is run with privileges: its checked exceptions come back wrapped.
    Privileged,
    /// Code that is found by name: what it lets out comes back wrapped, but for `Class.newInstance`.
    Reflect,
    /// A class loader that is asked for a class.
    Load,
    /// What writing and reading objects runs of their classes.
    Serialization,
    /// The finalizer of an object that is made, which a thread of the VM runs.
    Finalizer,
    /// Whatever code that nobody has seen does.
    Unseen,
}

impl CallWord {
    /// Its name in output.
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
    /// The instruction; none in a native method.
    pub instr: Option<InstrId>,
    /// How.
    pub kind: CallWord,
    /// The method as the instruction names it; of an initialisation none.
    pub declared: Option<MethodName>,
    /// The present methods that it may go to, by text; through the glue of function objects too.
    pub targets: Vec<MethodName>,
    /// The functional interfaces whose objects are among the receivers, by text: the glue of each casts, then goes
    /// to one of the targets.
    pub glue: Vec<Text>,
    /// Present methods that it may go to if an absent class lies between, by text.
    pub possible: Vec<MethodName>,
    /// Link errors that present classes decide: the classes raised.
    pub errors: Vec<Text>,
    /// Why it may go to methods that nobody has seen.
    pub open: Option<Why>,
}

/// Why something is open.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Why {
    /// This class is outside.
    Outside(Text),
    /// Unknown classes may extend this one and override the method.
    Overridable(Text),
    /// The initialiser of this class is not known.
    Initializer(Text),
    /// The code is whatever handle the call is given.
    SignaturePolymorphic,
    /// The bootstrap method is not known: the call may go anywhere.
    Bootstrap(MethodName),
    /// The native method's effect is not known.
    Native(MethodName),
    /// The code of the method cannot be read.
    MissingCode(MethodName),
    /// The method's code is not written yet.
    Ghost(MethodName),
    /// What this method lets out is open in part; `throws` says why.
    LetsOut(MethodName),
    /// What was caught and is thrown again was open in part.
    Caught(MethodName),
    /// Some function object among the receivers lets out what is open.
    Function,
    /// What it runs is found by name at run time.
    Reflection,
}

/// What a method lets out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Throws {
    /// The method.
    pub method: MethodName,
    /// What is known to come out, by name.
    pub known: Vec<Part>,
    /// What may come out besides.
    pub open: Option<OpenPart>,
}

/// The open part of what comes out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenPart {
    /// The classes and cones that it is within, by name; `Throwable` when it may be anything but some.
    pub within: Vec<Part>,
    /// The classes and cones that cannot be among it, by name; empty when `within` says it all.
    pub except: Vec<Part>,
    /// The shortest way to the reason.
    pub because: Vec<Step>,
}

/// A step on the way from a method to the reason for something that it lets out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// This method lets it out.
    Method(MethodName),
    /// A call by this name may go to one that does.
    Dispatch(MethodName),
    /// The initialiser of this class lets it out, and it is wrapped.
    Initializer(Text),
    /// An object of this functional interface lets it out.
    Glue(Text),
    /// A loader of the program's own is asked for a class, by a call of this method, and lets it out.
    Loading(MethodName),
    /// It is caught and thrown again in this method.
    Rethrown(MethodName),
    /// It arises here.
    Raised(Origin),
    /// It is open here.
    Open(Why),
}

/// What raises something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// An instruction of the method before.
    Instruction,
    /// Linking, where classes do not fit each other.
    Linking,
    /// The casts and the unboxing of a function object.
    Conversion,
    /// A native method, as its row in our table says.
    NativeRow(MethodName),
    /// The signature of a method declares it, in profile `paper`.
    Signature(MethodName),
    /// The VM by itself, at any instruction.
    Vm,
}

impl Call {
    /// A call that goes nowhere yet.
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

    /// The call with its lists sorted, each entry once; a target is no possible one.
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
