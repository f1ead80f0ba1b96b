//! The exceptions that each action of a method lets out, before the exception table of the method applies
//! (`semantics.md` §3).

use classfile::bootstrap::MethodHandle;
use classfile::names::{ClassName, MethodRef};
use flow::natives::{Effect, Native};
use flow::operands::Operand;
use flow::summary::{Initialized, Source};
use flow::throwables::well_known;
use flow::universe::SetId;
use program::hierarchy::{ClassId, Link};
use program::initialization::{Step, class_initializer, may_fail, runs_already, steps};
use program::input::Role;
use program::members::declared::declared;
use program::members::{LinkError, MethodId};

use super::actions::{Action, AnyCode, Called, MadeObject, Passing, Raises, actions};
use super::before_main::is_initialized_before_main;
use super::contexts::{Choice, choice, exact};
use super::lattice::{Exceptions, Filter, Flow, OpenCause, Value};
use super::linking::{
    class_errors, link_error, loading_errors, named_class_error, object_error, object_errors, site_errors,
    surely_lacks,
};
use super::loading::{loaded, loading_targets, loading_value};
use super::proxies::{behind_handler, conversion_errors};
use super::sites::{DispatchId, Exact, Frame, FunctionSiteId, Node, Open, Site};
use super::solved::SolvedProgram;
use super::tables::CallTable;
use super::unknown::{contract, open_call, unknown_initializer};
use crate::summary::CodeSummary;

/// Computes which exceptions the parts of a program let out. A result is a list of flows: a flow is a set of
/// exceptions, or a node of the system of inclusions whose exceptions are let out as well. The computation needs the
/// targets of calls, but no solution of the system.
#[derive(Clone, Copy)]
pub(super) struct Flows<'a> {
    pub(super) calls: &'a CallTable,
}

/// The place of a source of exceptions.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The method that contains the source, with what is known of its parameters.
    pub(super) frame: Frame,
    /// What is known of the operands of the instruction.
    pub(super) operands: &'a [(u8, Operand)],
}

impl<'a> Place<'a> {
    /// Returns the place of a source at an instruction. `operands` is what is known of the operands of the instruction.
    pub(super) fn new(frame: Frame, source: Source, operands: &'a [(u8, Operand)]) -> Self {
        Place { frame, operands: if source.has_operands() { operands } else { &[] } }
    }
}

/// Returns a [`Flows`] that reads the calls of a solved program.
pub(super) fn flows_of(program: &SolvedProgram) -> Flows<'_> {
    Flows { calls: &program.calls }
}

impl Flows<'_> {
    /// Returns the exceptions that a native method lets out: those that its entry in the table of native methods
    /// lists. A method without an entry may let out any exception.
    pub(super) fn of_native(&self, ex: &mut Exceptions, id: MethodId) -> Vec<Flow> {
        let calls = self.calls;
        let Some(row) = calls.native(id) else {
            let all = contract(calls, ex, Some(id));
            return vec![Flow::Value(Value::open(all), Some(OpenCause::Native(id)))];
        };
        let mut flows = vec![Flow::Value(Value::known(native_throws(ex, row)), None)];
        let open = match &row.effect {
            Effect::None | Effect::Thread | Effect::Load => None,
            Effect::Open => Some(contract(calls, ex, Some(id))),
            Effect::Init => Some(ex.universe.masks(Some(well_known().error)).may),
            Effect::Calls(methods) => {
                for &method in methods {
                    flows.extend(self.of_site(ex, calls.virtual_site(method), method));
                }
                None
            }
        };
        flows.extend(open.map(|it| Flow::Value(Value::open(it), Some(OpenCause::Native(id)))));
        // The native method resolves classes like an instruction does.
        if calls.loading.is_some() && row.loads() {
            flows.push(Flow::Node(Node::Loading));
        }
        flows
    }

    /// Adds to `out` the exceptions that the source of exceptions `source` (a call, for example) at `place` lets out, before
    /// the exception table catches any.
    pub(super) fn of_source(
        &self,
        ex: &mut Exceptions,
        place: Place<'_>,
        code: &CodeSummary,
        source: Source,
        out: &mut Vec<Flow>,
    ) {
        let id = place.frame.id;
        if source.created().is_some_and(|it| object_error(self.calls, id.class, it).is_some()) {
            // The instruction `new` always fails.
            return;
        }
        if let Source::CallDynamic(site) | Source::ConstDynamic(site) = source
            && let Some(site) = code.dynamics.get(site as usize)
        {
            for class in site_errors(self.calls, id.class, site) {
                out.push(Flow::Value(Value::known(ex.universe.exact(class)), None));
            }
        }
        for action in actions(code, source) {
            self.of_action(ex, place, &action, out);
        }
    }

    /// Returns the exceptions of this class and its subclasses that are thrown, or fewer if it is known which object is
    /// thrown.
    fn thrown(&self, ex: &mut Exceptions, place: Place<'_>, class: ClassName) -> Value {
        let cone = ex.universe.cone(class);
        let operand = place.operands.iter().find(|it| it.0 == 0);
        match operand.and_then(|it| exact(self.calls, place.frame, it.1)) {
            Some(Exact::Class(it)) => {
                let exact = ex.universe.exact(self.calls.classes.hierarchy.name(it));
                // Whether the class is below the other may depend on absent classes.
                let both = ex.universe.meet(cone, exact);
                Value::known(if ex.universe.is_nothing(both) { cone } else { both })
            }
            Some(Exact::Function(_)) | None => Value::known(cone),
        }
    }

    /// Adds to `out` the exceptions that an action (a call or an initialisation, for example) at `place` lets
    /// out, before the exception table catches any.
    fn of_action(&self, ex: &mut Exceptions, place: Place<'_>, action: &Action, out: &mut Vec<Flow>) {
        let id = place.frame.id;
        let names = well_known();
        let just = |ex: &mut Exceptions, class| Flow::Value(Value::known(ex.universe.exact(class)), None);
        let start = out.len();
        match action.raises {
            Raises::Nothing => {}
            Raises::Exact(class) => out.push(just(ex, class)),
            Raises::Cone(class) => out.push(Flow::Value(self.thrown(ex, place, class), None)),
            Raises::Caught(handler) => out.push(Flow::Node(place.frame.handler(handler))),
            Raises::Receiver(it) => {
                if surely_lacks(&self.calls.classes.hierarchy, it) {
                    let error = link_error(ex, LinkError::IncompatibleClassChange);
                    out.push(Flow::Value(error, None));
                }
            }
            Raises::NullReceiver => out.push(just(ex, names.null_pointer)),
            Raises::LinkFailure => out.push(just(ex, names.bootstrap)),
        }
        if let Some(what) = action.initializes {
            self.of_initialization(ex, id.class, what, out);
        }
        match action.makes {
            Some(MadeObject::ByNew(class)) => {
                let errors = object_errors(self.calls, id.class, class);
                out.extend(errors.into_iter().map(|it| Flow::Value(link_error(ex, it), None)));
            }
            // A function object creates the object with `new`. Linking the handle raised all other errors. A handle that is
            // invoked during linkage throws an exception that is wrapped.
            Some(MadeObject::ByHandle(class)) => {
                let error = object_error(self.calls, id.class, class);
                if error == Some(LinkError::Instantiation) && action.passing == Passing::Plainly {
                    out.push(Flow::Value(link_error(ex, LinkError::Instantiation), None));
                }
            }
            None => {}
        }
        if let Some(called) = action.calls {
            let error = named_class_error(self.calls, id.class, called);
            out.extend(error.map(|it| Flow::Value(link_error(ex, it), None)));
            out.extend(self.of_call(ex, place, called));
        }
        let function = match action.passing {
            Passing::Plainly => None,
            Passing::Wrapped => Some(ex.wrapping(names.bootstrap, None)),
            Passing::InLinkage => {
                let is_kept = self.calls.options.release.is_none_or(|it| it < 17);
                let keep = if is_kept { ex.universe.all() } else { SetId::EMPTY };
                let error = ex.universe.exact(ClassName::new(b"java/lang/InternalError"));
                let all = ex.universe.all();
                Some(ex.filter(Filter { keep, adds: vec![(all, error)] }))
            }
            Passing::Swallowed => Some(ex.filter(Filter { keep: SetId::EMPTY, adds: Vec::new() })),
        };
        if let Some(function) = function {
            out[start..].iter_mut().for_each(|it| *it = it.behind(ex, function));
        }
        let cause = match action.any_code {
            None => return,
            Some(AnyCode::Bootstrap(method)) => OpenCause::Bootstrap(method),
            Some(AnyCode::Unlisted) => OpenCause::MissingCode(id),
        };
        out.push(Flow::Value(Value::open(ex.universe.all()), Some(cause)));
    }

    fn of_call(&self, ex: &mut Exceptions, place: Place<'_>, called: Called) -> Option<Flow> {
        let id = place.frame.id;
        let hierarchy = &self.calls.classes.hierarchy;
        let method = called.method();
        let is_instruction = match called {
            Called::Instruction(..) => true,
            Called::OnThis(..)
            | Called::Construct(_)
            | Called::Dynamic(_)
            | Called::Handle(..)
            | Called::Access(_) => false,
        };
        // The platform's classes are loaded by the platform's loaders, which answer this call without running code of
        // the program.
        if is_instruction
            && is_assertion_status(method)
            && hierarchy.role(id.class) == Role::Jdk
            && declared(hierarchy, id).name.bytes() == b"<clinit>"
        {
            return None;
        }
        match choice(self.calls, place.frame, called, place.operands) {
            Some(Choice::Node(it)) => return Some(Flow::Node(it)),
            Some(Choice::Error(it)) => return Some(Flow::Value(link_error(ex, it), None)),
            None => {}
        }
        let site = self.calls.site(id.class, called);
        self.of_site(ex, site, method)
    }

    fn of_site(&self, ex: &mut Exceptions, site: Site, method: MethodRef) -> Option<Flow> {
        match site {
            Site::Method(it) => Some(Flow::Node(Node::Method(it))),
            Site::Dispatch(it) => Some(Flow::Node(Node::Dispatch(it))),
            Site::Error(error) => Some(Flow::Value(link_error(ex, error), None)),
            Site::Open(open) => {
                let mut value = open_call(self.calls, ex, open, Some(method));
                if self.calls.options.link_errors && matches!(open, Open::Outside(_)) {
                    value.known = ex.universe.exact(well_known().no_class_def);
                }
                Some(Flow::Value(value, Some(OpenCause::Call(open))))
            }
            // The class is resolved nevertheless: the element class, if the call is `clone` of an array.
            Site::Vm => {
                let mut errors = loading_errors(self.calls, method.class());
                errors.next().map(|it| Flow::Value(link_error(ex, it), None))
            }
        }
    }

    /// Returns the exceptions that the method of a function object lets out: those of its casts and unboxings, and
    /// those of the method handle that it invokes.
    pub(super) fn of_glue(&self, ex: &mut Exceptions, id: FunctionSiteId) -> Vec<Flow> {
        let site = &self.calls.functions[id.index()];
        let raises = site.function.glue_raises();
        let class_cast = raises.class_cast.then_some(well_known().class_cast);
        let null_pointer = raises.null_pointer.then_some(well_known().null_pointer);
        let raised = class_cast.into_iter().chain(null_pointer);
        let mut flows: Vec<Flow> =
            raised.map(|it| Flow::Value(Value::known(ex.universe.exact(it)), None)).collect();
        self.of_handle(ex, site.owner, site.function.handle, &mut flows);
        flows
    }

    /// Returns the exceptions that the virtual calls of a dispatch let out: those of their targets and of proxies,
    /// link errors, and the exceptions of unknown targets.
    pub(super) fn of_dispatch(&self, ex: &mut Exceptions, id: DispatchId) -> Vec<Flow> {
        let calls = self.calls;
        let dispatch = calls.dispatches.get(id);
        let mut flows = Vec::with_capacity(dispatch.targets.len());
        if let Some(handlers) = dispatch.handlers {
            flows.push(Flow::Through(Node::Dispatch(handlers), behind_handler(calls, ex, dispatch)));
            flows.push(Flow::Value(Value::known(conversion_errors(ex, dispatch)), None));
        }
        flows.extend(dispatch.targets.iter().map(|it| Flow::Node(it.node())));
        let is_absent = matches!(dispatch.open, Some(Open::Outside(_))) || dispatch.resolved().is_none();
        // The verifier accepts a receiver that does not implement the interface (JVMS §6.5.invokeinterface).
        let receiver = dispatch.interface.then_some(LinkError::IncompatibleClassChange);
        let absent = is_absent.then_some(LinkError::NoClassDefFound);
        let unsettled = receiver.into_iter().chain(absent).filter(|_| calls.options.link_errors);
        for error in dispatch.errors.iter().copied().chain(unsettled) {
            flows.push(Flow::Value(link_error(ex, error), None));
        }
        if let Some(open) = dispatch.open {
            let value = open_call(calls, ex, open, Some(dispatch.method));
            flows.push(Flow::Value(value, Some(OpenCause::Call(open))));
        }
        // The open part covers the possible targets, unless an assumption about unknown code narrows it. Possible
        // targets are known code.
        if dispatch.open.is_none() || calls.options.assume_contract {
            flows.extend(dispatch.possible.iter().map(|it| Flow::Node(it.node())));
        }
        flows
    }

    /// Returns the exceptions that the initialisation of a class lets out (JVMS §5.5): link errors, and the
    /// exceptions of the initialisers that run.
    pub(super) fn of_initializer(&self, ex: &mut Exceptions, class: ClassId) -> Vec<Flow> {
        let calls = self.calls;
        let hierarchy = &calls.classes.hierarchy;
        if hierarchy.role(class) == Role::Jdk
            && is_initialized_before_main(hierarchy.name(class), calls.options.release)
        {
            return Vec::new();
        }
        let mut flows = vec![Flow::Value(Value::known(class_errors(calls, ex, class)), None)];
        if calls.may_load(class) {
            // Linking comes before initialisation, and the verifier loads classes (JVMS §4.10, §5.4.1).
            flows.push(Flow::Node(Node::Loading));
        }
        let names = well_known();
        let wrapping = ex.wrapping(names.initializer, Some(names.no_class_def));
        for step in steps(hierarchy, class).rev() {
            match step {
                Step::Own(clinit) => flows.push(Flow::Through(Node::Method(clinit), wrapping)),
                Step::Superclass(Link::Present(it)) => flows.push(Flow::Node(Node::Initializer(it))),
                Step::Interface(Link::Present(it)) => {
                    let clinit = class_initializer(hierarchy, it);
                    flows.extend(clinit.map(|it| Flow::Through(Node::Method(it), wrapping)));
                }
                Step::Superclass(Link::Outside(it)) | Step::Interface(Link::Outside(it)) => {
                    let value = unknown_initializer(calls, ex);
                    flows.push(Flow::Value(value, Some(OpenCause::Initializer(it))));
                }
            }
        }
        flows
    }

    /// Returns the exceptions that the program's class loaders let out when one of them is called to load a class.
    pub(super) fn of_loading(&self, ex: &mut Exceptions) -> Vec<Flow> {
        let function = loaded(ex);
        let targets = loading_targets(self.calls).into_iter();
        let mut flows: Vec<Flow> = targets.map(|it| Flow::Through(Node::Method(it), function)).collect();
        flows.push(Flow::Value(loading_value(self.calls, ex), None));
        flows
    }

    fn of_handle(&self, ex: &mut Exceptions, owner: MethodId, handle: MethodHandle, out: &mut Vec<Flow>) {
        let place = Place { frame: Frame::of(owner), operands: &[] };
        self.of_action(ex, place, &Action::of_handle(handle), out);
    }

    /// Adds to `out` the exceptions that code of the class `caller` lets out because it initialises the classes
    /// `what`.
    fn of_initialization(
        &self,
        ex: &mut Exceptions,
        caller: ClassId,
        what: Initialized,
        out: &mut Vec<Flow>,
    ) {
        let hierarchy = &self.calls.classes.hierarchy;
        let class_missing = |ex: &mut Exceptions, is_raised: bool| {
            if is_raised { ex.universe.exact(well_known().no_class_def) } else { SetId::EMPTY }
        };
        for &link in &*self.calls.initialized(what) {
            out.push(match link {
                Link::Present(class) if runs_already(hierarchy, caller, class) => {
                    if !may_fail(hierarchy, class) {
                        continue;
                    }
                    // The initialisation has begun and may have failed, if it can fail at all.
                    let names = well_known();
                    let (all, error) = (ex.universe.all(), ex.universe.exact(names.no_class_def));
                    let failed = ex.filter(Filter { keep: SetId::EMPTY, adds: vec![(all, error)] });
                    Flow::Through(Node::Initializer(class), failed)
                }
                Link::Present(class) => Flow::Node(Node::Initializer(class)),
                Link::Outside(class) => {
                    // A missing interface is an error of linking the site, and no class is defined then.
                    let is_raised = self.calls.options.link_errors
                        && !matches!(what, Initialized::Implemented(it) if it == class);
                    let known = class_missing(ex, is_raised);
                    let value = Value { known, ..unknown_initializer(self.calls, ex) };
                    Flow::Value(value, Some(OpenCause::Initializer(class)))
                }
            });
        }
    }
}

/// Returns the exceptions that a native method's entry in the table of native methods lists.
fn native_throws(ex: &mut Exceptions, native: &Native) -> SetId {
    let mut known = SetId::EMPTY;
    for &(class, exact) in &native.throws {
        let universe = &mut ex.universe;
        let it = if exact { universe.exact(class) } else { universe.cone(class) };
        known = universe.join(known, it);
    }
    known
}

/// Returns the asynchronous errors of the VM, which any instruction may let out (`semantics.md` §3.6).
pub(super) fn async_errors(ex: &mut Exceptions) -> Value {
    const GROUP: [&[u8]; 4] = [
        b"java/lang/StackOverflowError",
        b"java/lang/OutOfMemoryError",
        b"java/lang/InternalError",
        b"java/lang/ThreadDeath",
    ];
    let mut known = SetId::EMPTY;
    for name in GROUP {
        let it = ex.universe.exact(ClassName::new(name));
        known = ex.universe.join(known, it);
    }
    Value::known(known)
}

/// Returns whether the method is `Class.desiredAssertionStatus`, which the initialiser of each class with assertions
/// calls.
fn is_assertion_status(method: MethodRef) -> bool {
    let it = method.get();
    it.class == well_known().class && it.name.bytes() == b"desiredAssertionStatus"
}
