//! Answers about one method of a whole program, as plain data: where its calls go, what it lets out, and why.

use bir::body::{CallKind, InstrId};
use classfile::bootstrap::{HandleKind, MethodHandle};
use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::functional::Effect;
use flow::natives;
use flow::summary::{Initialized, Source, Sources};
use flow::universe::{Part, SetId};
use program::hierarchy::{ClassId, Link};
use program::members::MethodId;
use rustc_hash::FxHashSet;

use super::dispatch::{Open, Site, Target, handle_call};
use super::flows::OpenCause;
use super::lattice::Exceptions;
use super::loading::{Resolves, Resolving};
use super::members::{
    class_initializer, declared, find_method, initialized_interfaces, initialized_superclass,
};
use super::program::{WholeProgram, thread_run};
use super::reads::{Read, note};
use crate::names::{MethodId as MethodName, Text};
use crate::parts::MethodCode;
use crate::summary::{CodeSummary, MethodSummary};

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

impl WholeProgram {
    /// The name of a method.
    pub fn name(&self, id: MethodId) -> MethodName {
        self.program.name(id)
    }

    /// The method of this name that a present class declares.
    pub fn named(&self, method: MethodName) -> Option<MethodId> {
        let class = self.program.hierarchy.class(ClassName::new(method.class.0))?;
        let descriptor = Descriptor::new(method.descriptor.0);
        find_method(&self.program.hierarchy, class, Name::new(method.name.0), descriptor)
    }

    /// Where the calls of a method go, by instruction.
    pub fn calls(&self, id: MethodId, code: &MethodCode) -> Vec<Call> {
        // What stands for the code of a ghost is not its code.
        if self.program.ghost(id).is_some() {
            return self.unseen_calls(id);
        }
        let MethodSummary::Known(summary) = self.program.summary(id) else { return Vec::new() };
        let mut acc = Vec::new();
        let mut walk = Sources::new(&code.body, &code.facts);
        let resolving = Resolving::new(self, id.class, &code.body);
        let mut sources = Vec::new();
        for (instr, _) in code.body.instrs.iter() {
            sources.clear();
            walk.at(instr, |it| sources.push(it));
            for &source in &sources {
                self.calls_of(id, summary, instr, source, &mut acc);
            }
            if resolving.at(instr, &sources) != Resolves::NOTHING {
                acc.extend(self.loading_call(Some(instr)));
            }
        }
        acc
    }

    fn calls_of(
        &self,
        id: MethodId,
        summary: &CodeSummary,
        instr: InstrId,
        source: Source,
        acc: &mut Vec<Call>,
    ) {
        let at = Some(instr);
        match source {
            Source::Construct(method) => {
                let site = self.dispatches.asked(id.class, CallKind::Special, method);
                acc.push(self.call(at, CallWord::Special, Some(method), site));
            }
            Source::Call(kind, method) | Source::CallOnThis(kind, method) => {
                let site = self.dispatches.asked(id.class, kind, method);
                acc.push(self.call(at, word(kind), Some(method), site));
                self.callback_calls(at, method, site, acc);
            }
            Source::Object(class) => acc.extend(self.finalizer_call(at, class)),
            Source::Initialize(what) => acc.extend(self.initializer_call(at, id.class, what)),
            Source::CallDynamic(site) | Source::ConstDynamic(site) => {
                let Some(site) = summary.dynamics.get(site as usize) else {
                    let open = self.why(OpenCause::MissingCode(id));
                    return acc.push(Call { open, ..empty(at, CallWord::Dynamic) });
                };
                for effect in &site.effects {
                    self.effect_calls(id, at, effect, acc);
                }
            }
            Source::Exact(_) | Source::Cone(_) | Source::Caught(_) => {}
        }
    }

    fn effect_calls(&self, id: MethodId, at: Option<InstrId>, effect: &Effect, acc: &mut Vec<Call>) {
        match *effect {
            Effect::Virtual(method) => {
                let site = self.asked_virtual(method);
                acc.push(self.call(at, CallWord::Dynamic, Some(method), site));
            }
            Effect::Link(handle) => acc.extend(self.handle_calls(id, at, CallWord::Bootstrap, handle)),
            Effect::Initialize(class) | Effect::InitializeQuietly(class) => {
                acc.extend(self.initializer_call(at, id.class, Initialized::Class(class)));
            }
            Effect::Unknown(handle) => {
                let mut calls = self.handle_calls(id, at, CallWord::Bootstrap, handle);
                let why = Why::Bootstrap(MethodName::of(handle.member));
                match calls.last_mut() {
                    Some(it) => it.open = Some(why),
                    None => calls.push(Call { open: Some(why), ..empty(at, CallWord::Bootstrap) }),
                }
                acc.extend(calls);
            }
            Effect::MayFail => {}
        }
    }

    fn handle_calls(
        &self,
        id: MethodId,
        at: Option<InstrId>,
        kind: CallWord,
        handle: MethodHandle,
    ) -> Vec<Call> {
        let method = handle.member;
        let mut acc = Vec::new();
        let initialized = match handle.kind {
            HandleKind::GetStatic | HandleKind::PutStatic => Some(Initialized::OwnerOfField(method)),
            HandleKind::InvokeStatic => Some(Initialized::OwnerOfMethod(method, handle.interface)),
            HandleKind::NewInvokeSpecial => Some(Initialized::Class(method.class())),
            _ => None,
        };
        acc.extend(initialized.and_then(|it| self.initializer_call(at, id.class, it)));
        let Some(call_kind) = handle_call(handle) else { return acc };
        let site = self.dispatches.asked(id.class, call_kind, method);
        acc.push(self.call(at, kind, Some(method), site));
        acc
    }

    /// What a method calls whose code is not in its class file: a native one what its row says, a ghost or one whose code
    /// cannot be read anything.
    pub fn unseen_calls(&self, id: MethodId) -> Vec<Call> {
        let mut acc = Vec::new();
        let name = self.name(id);
        let why = match self.program.summary(id) {
            _ if self.program.ghost(id).is_some() => Some(Why::Ghost(name)),
            MethodSummary::Missing | MethodSummary::Unread => Some(Why::MissingCode(name)),
            _ => None,
        };
        if why.is_some() {
            return vec![Call { open: why, ..empty(None, CallWord::Unseen) }];
        }
        if !declared(&self.program.hierarchy, id).flags.is_native() {
            return acc;
        }
        let method = self.name(id);
        match self.native(id).map(|it| &it.effect) {
            None | Some(natives::Effect::Open | natives::Effect::Init) => {
                acc.push(Call { open: Some(Why::Native(method)), ..empty(None, CallWord::Native) });
            }
            Some(natives::Effect::Calls(methods)) => {
                for &method in methods {
                    let site = self.asked_virtual(method);
                    acc.push(self.call(None, CallWord::Native, Some(method), site));
                }
            }
            Some(natives::Effect::Thread) => {
                let run = thread_run();
                let site = self.asked_virtual(run);
                acc.push(self.call(None, CallWord::Thread, Some(run), site));
            }
            Some(natives::Effect::None | natives::Effect::Load) => {}
        }
        if self.native(id).is_some_and(natives::Native::loads) {
            acc.extend(self.loading_call(None));
        }
        acc
    }

    /// The call that resolving a class is.
    fn loading_call(&self, at: Option<InstrId>) -> Option<Call> {
        note(Read::Loading);
        let it = self.loading.as_ref()?;
        let mut call = Call {
            targets: it.targets.iter().map(|&it| self.name(it)).collect(),
            possible: it.possible.iter().map(|&it| self.name(it)).collect(),
            errors: it.errors.iter().map(|it| Text(it.exception().as_bytes())).collect(),
            open: it.open.and_then(|it| self.why_call(it)),
            ..empty(at, CallWord::Load)
        };
        sort(&mut call);
        Some(call)
    }

    fn initializer_call(&self, at: Option<InstrId>, caller: ClassId, what: Initialized) -> Option<Call> {
        let mut call = empty(at, CallWord::Clinit);
        for &link in &*self.initialized(what) {
            match link {
                Link::Present(class) if self.runs_already(caller, class) => {}
                Link::Present(class) => self.initializers(class, &mut call),
                Link::Outside(class) => call.open = self.why(OpenCause::Initializer(class)),
            }
        }
        sort(&mut call);
        (!call.targets.is_empty() || call.open.is_some()).then_some(call)
    }

    /// The initialisers that initialising a class runs.
    fn initializers(&self, class: ClassId, call: &mut Call) {
        let hierarchy = &self.program.hierarchy;
        let mut own = |class: ClassId| {
            call.targets.extend(class_initializer(hierarchy, class).map(|it| self.name(it)));
        };
        let mut outside = None;
        let mut at = Some(class);
        // Superclasses form no circle: the hierarchy cuts those.
        while let Some(class) = at {
            own(class);
            at = None;
            if hierarchy.outline(class).flags.is_interface() {
                break;
            }
            for interface in initialized_interfaces(hierarchy, class) {
                match interface {
                    Link::Present(it) => own(it),
                    Link::Outside(it) => outside = Some(it),
                }
            }
            match initialized_superclass(hierarchy, class) {
                Some(Link::Present(it)) => at = Some(it),
                Some(Link::Outside(it)) => outside = Some(it),
                None => {}
            }
        }
        if let Some(it) = outside {
            call.open = self.why(OpenCause::Initializer(it));
        }
    }

    pub(crate) fn call(
        &self,
        instr: Option<InstrId>,
        kind: CallWord,
        declared: Option<MethodRef>,
        site: Site,
    ) -> Call {
        let mut call = Call { declared: declared.map(MethodName::of), ..empty(instr, kind) };
        match site {
            Site::Method(it) => call.targets.push(self.name(it)),
            Site::Error(it) => call.errors.push(Text(it.exception().as_bytes())),
            Site::Open(open) => call.open = self.why_call(open),
            Site::Vm => {}
            Site::Dispatch(id) => {
                let dispatch = self.dispatches.get(id);
                self.targets(&dispatch.targets, &mut call);
                if let Some(handlers) = dispatch.handlers {
                    let handlers = self.dispatches.get(handlers);
                    self.targets(&handlers.targets, &mut call);
                    call.open = handlers.open.and_then(|it| self.why_call(it));
                }
                let mut possible = empty(instr, kind);
                self.targets(&dispatch.possible, &mut possible);
                call.possible = possible.targets;
                call.errors = dispatch.errors.iter().map(|it| Text(it.exception().as_bytes())).collect();
                if let Some(open) = dispatch.open {
                    call.open = self.why_call(open);
                }
            }
        }
        sort(&mut call);
        call
    }

    /// Adds the methods of targets; of function objects those behind their glue, which may go to glue again.
    fn targets(&self, targets: &[Target], call: &mut Call) {
        let mut seen: FxHashSet<Target> = targets.iter().copied().collect();
        let mut pending = targets.to_vec();
        while let Some(target) = pending.pop() {
            let site = match target {
                Target::Method(it) => {
                    call.targets.push(self.name(it));
                    continue;
                }
                Target::Glue(it) => {
                    note(Read::Function(it));
                    &self.functions[it.0 as usize]
                }
            };
            call.glue.push(Text(site.function.interface.bytes()));
            let handle = site.function.handle;
            let Some(kind) = handle_call(handle) else { continue };
            match self.dispatches.known_site(site.owner.class, kind, handle.member) {
                Some(Site::Method(it)) => call.targets.push(self.name(it)),
                Some(Site::Dispatch(id)) => {
                    let dispatch = self.dispatches.get(id);
                    pending.extend(dispatch.targets.iter().copied().filter(|&it| seen.insert(it)));
                    call.open = call.open.or(dispatch.open.and_then(|it| self.why_call(it)));
                }
                Some(Site::Open(open)) => call.open = call.open.or(self.why_call(open)),
                _ => {}
            }
        }
    }

    pub(super) fn why_call(&self, open: Open) -> Option<Why> {
        let closed = self.options.world == program::input::WorldKind::Closed;
        match open {
            Open::Outside(_) if closed => None,
            Open::Outside(it) => Some(Why::Outside(Text(it.bytes()))),
            Open::Overridable(it) => Some(match self.opened_by(it) {
                Some(absent) => Why::Outside(Text(absent.bytes())),
                None => Why::Overridable(Text(it.bytes())),
            }),
            Open::SignaturePolymorphic => Some(Why::SignaturePolymorphic),
        }
    }

    /// The absent class that lets unknown ones extend this one.
    pub(super) fn opened_by(&self, class: ClassName) -> Option<ClassName> {
        let hierarchy = &self.program.hierarchy;
        hierarchy.class(class).and_then(|it| hierarchy.opened_by(it))
    }

    pub(super) fn why(&self, cause: OpenCause) -> Option<Why> {
        let closed = self.options.world == program::input::WorldKind::Closed;
        Some(match cause {
            OpenCause::Call(open) => return self.why_call(open),
            OpenCause::Initializer(_) if closed => return None,
            OpenCause::Initializer(it) => Why::Initializer(Text(it.bytes())),
            OpenCause::Bootstrap(it) => Why::Bootstrap(MethodName::of(it)),
            OpenCause::Native(it) => Why::Native(self.name(it)),
            OpenCause::MissingCode(it) => Why::MissingCode(self.name(it)),
            OpenCause::Ghost(it) => Why::Ghost(self.name(it)),
        })
    }

    /// What a method lets out.
    pub fn throws(&self, ex: &mut Exceptions, id: MethodId) -> Throws {
        let value = self.lets_out(id);
        let open = (!ex.universe.is_nothing(value.open)).then(|| {
            let (within, except) = open_parts(ex, value.open);
            OpenPart { within, except, because: self.because(ex, id, value.open, true) }
        });
        Throws { method: self.name(id), known: ex.universe.known_parts(value.known), open }
    }
}

/// An open set from outside: what it is within, and what cannot be among it, whichever is shorter.
pub(super) fn open_parts(ex: &mut Exceptions, set: SetId) -> (Vec<Part>, Vec<Part>) {
    let all = ex.universe.all();
    let missing = ex.universe.minus(all, set);
    let (within, except) = (ex.universe.known_parts(set), ex.universe.known_parts_within(missing));
    if within.len() <= 1 + except.len() {
        (within, Vec::new())
    } else {
        (ex.universe.known_parts(all), except)
    }
}

fn word(kind: CallKind) -> CallWord {
    match kind {
        CallKind::Virtual => CallWord::Virtual,
        CallKind::Interface => CallWord::Interface,
        CallKind::Special | CallKind::SpecialInterface => CallWord::Special,
        CallKind::Static | CallKind::StaticInterface => CallWord::Static,
    }
}

pub(super) fn empty(instr: Option<InstrId>, kind: CallWord) -> Call {
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

pub(super) fn sort(call: &mut Call) {
    for list in [&mut call.targets, &mut call.possible] {
        list.sort_unstable();
        list.dedup();
    }
    for list in [&mut call.glue, &mut call.errors] {
        list.sort_unstable();
        list.dedup();
    }
    let targets = std::mem::take(&mut call.possible);
    call.possible = targets.into_iter().filter(|it| call.targets.binary_search(it).is_err()).collect();
}
