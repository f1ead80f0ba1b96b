//! What comes out of each thing that a method does, before the rows around it (`semantics.md` §3).

use std::borrow::Cow;

use bir::body::CallKind;
use classfile::bootstrap::{HandleKind, MethodHandle};
use classfile::names::{ClassName, FieldRef, MethodRef};
use flow::functional::Effect as DynamicEffect;
use flow::natives::{Effect, Native, native};
use flow::solver::FunctionId;
use flow::summary::{Access, Initialized, Source};
use flow::throwables::{built_in_parent, well_known};
use flow::universe::SetId;
use program::hierarchy::{Below, ClassId, Link};
use program::input::{Role, WorldKind};
use program::members::MethodId;
use program::members::access::{may_access_class, may_access_field};
use program::members::resolve::{resolve_field, resolve_method};
use program::members::select::select;
use program::members::{LinkError, ResolvedField, ResolvedMethod, Selected};
use program::outline::Ghost;

use super::dispatch::{Open, Site, handle_call};
use super::ids::FunctionSiteId;
use super::lattice::{Exceptions, Filter, Value};
use super::members::{class_initializer, declared, method_id};
use super::nodes::Node;
use super::program::WholeProgram;
use super::promises::{Promised, promises};
use super::throwables::glue_classes;
use crate::summary::{CodeSummary, MethodSummary};

/// Something that flows out of an instruction before its method's rows see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// A value of its own; with why, if it is open.
    Value(Value, Option<OpenCause>),
    /// What a node lets out.
    Node(Node),
    /// What a node lets out, through a function.
    Through(Node, FunctionId),
    /// A value of its own through a function: open, with why.
    Wrapped(Value, OpenCause),
}

/// Why something is open of itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OpenCause {
    /// A call that may go to unseen methods.
    Call(Open),
    /// The initialiser of a class that is outside, or of one above it.
    Initializer(ClassName),
    /// A bootstrap method that is not known links anything.
    Bootstrap(MethodRef),
    /// A native method whose effect is not known.
    Native(MethodId),
    /// A method whose code cannot be read.
    MissingCode(MethodId),
    /// A ghost: its code is not written yet.
    Ghost(MethodId),
}

impl WholeProgram {
    /// What a method whose code nobody read lets out, and why.
    pub(super) fn unseen(&self, ex: &mut Exceptions, id: MethodId) -> Option<(Value, OpenCause)> {
        let program = self.program.clone();
        if let Some(ghost) = program.ghost(id) {
            let all = self.contract(ex, Some(id));
            let never = self.never_let_out(ex, ghost);
            let open = ex.universe.minus(all, never);
            return Some((Value::open(open), OpenCause::Ghost(id)));
        }
        match program.summary(id) {
            MethodSummary::Missing | MethodSummary::Unread => {
                Some((Value::open(self.contract(ex, Some(id))), OpenCause::MissingCode(id)))
            }
            _ => None,
        }
    }

    fn native_throws(&self, ex: &mut Exceptions, native: &Native) -> SetId {
        let mut known = SetId::EMPTY;
        for &(class, exact) in &native.throws {
            let universe = &mut ex.universe;
            let it = if exact { universe.exact(class) } else { universe.cone(class) };
            known = universe.join(known, it);
        }
        known
    }

    /// The row of a native method. Only the platform's own class is the one that a row is about.
    pub(super) fn native(&self, id: MethodId) -> Option<&'static Native> {
        let hierarchy = &self.program.hierarchy;
        let method = declared(hierarchy, id);
        let names = MethodRef::new(hierarchy.name(id.class), method.name, method.descriptor);
        if hierarchy.role(id.class) == Role::Jdk { native(names, self.options.release) } else { None }
    }

    /// Whether a native method resolves classes.
    pub(super) fn native_loads(&self, id: MethodId) -> bool {
        self.native(id).is_some_and(Native::loads)
    }

    /// What a native method lets out: what its row says; without one, anything.
    pub(super) fn native_flows(&self, ex: &mut Exceptions, id: MethodId) -> Vec<Flow> {
        let Some(row) = self.native(id) else {
            return vec![Flow::Value(Value::open(self.contract(ex, Some(id))), Some(OpenCause::Native(id)))];
        };
        let mut flows = vec![Flow::Value(Value::known(self.native_throws(ex, row)), None)];
        let open = match &row.effect {
            Effect::None | Effect::Thread | Effect::Load => None,
            Effect::Open => Some(self.contract(ex, Some(id))),
            Effect::Init => Some(ex.universe.masks(Some(well_known().error)).may),
            Effect::Calls(methods) => {
                for &method in methods {
                    let site = self.asked_virtual(method);
                    flows.extend(self.site_flow(ex, site, Some(method)));
                }
                None
            }
        };
        flows.extend(open.map(|it| Flow::Value(Value::open(it), Some(OpenCause::Native(id)))));
        // Loading as instructions do it.
        if self.loading.is_some() && self.native_loads(id) {
            flows.push(Flow::Node(Node::Loading));
        }
        flows
    }

    /// What code that nobody read lets out: anything; under `--assume contract` what its method declares, and
    /// unchecked exceptions.
    fn contract(&self, ex: &mut Exceptions, method: Option<MethodId>) -> SetId {
        let all = ex.universe.all();
        let (true, Some(method)) = (self.options.assume_contract, method) else { return all };
        let program = self.program.clone();
        let universe = &mut ex.universe;
        let mut acc = universe.cone(ClassName::new(b"java/lang/RuntimeException"));
        for &class in &declared(&program.hierarchy, method).throws {
            let cone = universe.cone(class);
            acc = universe.join(acc, cone);
        }
        acc
    }

    fn never_let_out(&self, ex: &mut Exceptions, ghost: &Ghost) -> SetId {
        let mut acc = SetId::EMPTY;
        for it in promises(ghost) {
            let name = match it {
                Promised::Everything => return ex.universe.all(),
                Promised::Type(it) => it,
            };
            // Written by people: a class that nobody knows promises nothing.
            let is_type = |it: &ClassName| ex.universe.type_of(*it).is_some();
            let Some(class) = name.classes().find(is_type) else { continue };
            let cone = ex.universe.masks(Some(class)).surely;
            acc = ex.universe.join(acc, cone);
        }
        acc
    }

    /// What unseen methods let out that a call may go to.
    pub(super) fn open_call(&self, ex: &mut Exceptions, open: Open, method: Option<MethodRef>) -> Value {
        if self.options.world == WorldKind::Closed && matches!(open, Open::Outside(_)) {
            return Value::NOTHING;
        }
        let declared = match open {
            Open::Overridable(_) => method.and_then(|it| self.declaration(it)),
            _ => None,
        };
        Value::open(self.contract(ex, declared))
    }

    fn declaration(&self, method: MethodRef) -> Option<MethodId> {
        let it = method.get();
        let hierarchy = &self.program.hierarchy;
        let interface =
            hierarchy.class(it.class).is_some_and(|it| hierarchy.outline(it).flags.is_interface());
        match resolve_method(hierarchy, it.class, it.name, it.descriptor, interface) {
            ResolvedMethod::Method(it) => Some(it),
            _ => None,
        }
    }

    pub(super) fn unknown_initializer(&self, ex: &mut Exceptions, _: ClassName) -> Value {
        if self.options.world == WorldKind::Closed {
            return Value::NOTHING;
        }
        Value::open(ex.universe.masks(Some(well_known().error)).may)
    }

    pub(super) fn link_error(&self, ex: &mut Exceptions, error: LinkError) -> Value {
        let class = ClassName::new(error.exception().as_bytes());
        // Releases differ in which of its subclasses they raise where defaults conflict.
        let conflict = error == LinkError::ConflictingDefaults;
        Value::known(if conflict { ex.universe.cone(class) } else { ex.universe.exact(class) })
    }

    pub(super) fn async_errors(&self, ex: &mut Exceptions) -> Value {
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

    fn site_flow(&self, ex: &mut Exceptions, site: Site, method: Option<MethodRef>) -> Option<Flow> {
        match site {
            Site::Method(it) => Some(Flow::Node(Node::Method(it))),
            Site::Dispatch(it) => Some(Flow::Node(Node::Dispatch(it))),
            Site::Error(error) => Some(Flow::Value(self.link_error(ex, error), None)),
            Site::Open(open) => {
                let mut value = self.open_call(ex, open, method);
                if self.options.link_errors && matches!(open, Open::Outside(_)) {
                    value.known = ex.universe.exact(well_known().no_class_def);
                }
                Some(Flow::Value(value, Some(OpenCause::Call(open))))
            }
            Site::Vm => None,
        }
    }

    /// Adds what comes out of one source in a method, before the rows around it; `exact`: the method is a constructor and
    /// makes an object of exactly this class.
    pub(super) fn flows_of(
        &self,
        ex: &mut Exceptions,
        (id, exact): (MethodId, Option<ClassId>),
        code: &CodeSummary,
        source: Source,
        out: &mut Vec<Flow>,
    ) {
        let (Some(class), Source::CallOnThis(kind, method)) = (exact, source) else {
            return self.flows(ex, id, code, source, out);
        };
        match self.dispatches.asked(id.class, kind, method) {
            Site::Method(it) => {
                let node = self.nodes.constructing(it, class).unwrap_or(Node::Method(it));
                out.push(Flow::Node(node));
            }
            Site::Dispatch(it) => {
                let Some(resolved) = self.dispatches.get(it).resolved() else {
                    return self.flows(ex, id, code, source, out);
                };
                match select(&self.program.hierarchy, class, resolved) {
                    Selected::Method(it) => out.push(Flow::Node(Node::Method(it))),
                    Selected::Error(it) => out.push(Flow::Value(self.link_error(ex, it), None)),
                    Selected::Unknown { .. } => self.flows(ex, id, code, source, out),
                }
            }
            _ => self.flows(ex, id, code, source, out),
        }
    }

    /// Adds what comes out of one source in a method, before the rows around it.
    pub(super) fn flows(
        &self,
        ex: &mut Exceptions,
        id: MethodId,
        code: &CodeSummary,
        source: Source,
        out: &mut Vec<Flow>,
    ) {
        match source {
            Source::Exact(class) => out.push(Flow::Value(Value::known(ex.universe.exact(class)), None)),
            Source::Cone(class) => out.push(Flow::Value(Value::known(ex.universe.cone(class)), None)),
            Source::Caught(handler) => out.push(Flow::Node(Node::Handler(id, handler))),
            Source::Construct(method) => {
                let site = self.dispatches.asked(id.class, CallKind::Special, method);
                let class = self.program.hierarchy.class(method.class());
                if let (Site::Method(it), Some(class)) = (site, class)
                    && let Some(node) = self.nodes.constructing(it, class)
                {
                    return out.push(Flow::Node(node));
                }
                out.extend(self.site_flow(ex, site, Some(method)));
            }
            // The loaders of the platform's own classes are the platform's, and those answer without running anything.
            Source::Call(_, method)
                if is_assertion_status(method)
                    && self.program.hierarchy.role(id.class) == Role::Jdk
                    && declared(&self.program.hierarchy, id).name.bytes() == b"<clinit>" => {}
            Source::Call(kind, method) | Source::CallOnThis(kind, method) => {
                let site = self.dispatches.asked(id.class, kind, method);
                out.extend(self.site_flow(ex, site, Some(method)));
            }
            Source::Initialize(it) => self.initializations(ex, id.class, it, out),
            Source::Object(class) => {
                if let Some(error) = self.object_error(class) {
                    out.push(Flow::Value(self.link_error(ex, error), None));
                }
            }
            Source::CallDynamic(site) | Source::ConstDynamic(site) => {
                // Every site of a body is in its summary; one that is not could be anything.
                let Some(site) = code.dynamics.get(site as usize) else {
                    let all = Value::open(ex.universe.all());
                    return out.push(Flow::Value(all, Some(OpenCause::MissingCode(id))));
                };
                site.effects.iter().for_each(|it| self.dynamic_flows(ex, id, it, out));
            }
        }
    }

    fn dynamic_flows(&self, ex: &mut Exceptions, id: MethodId, effect: &DynamicEffect, out: &mut Vec<Flow>) {
        let names = well_known();
        let wrapping = ex.wrapping(names.bootstrap, None);
        let start = out.len();
        match *effect {
            DynamicEffect::Virtual(method) => {
                let site = self.asked_virtual(method);
                out.extend(self.site_flow(ex, site, Some(method)));
            }
            DynamicEffect::Link(handle) => {
                self.handle_flows(ex, id.class, handle, out);
                self.all_behind(ex, &mut out[start..], wrapping);
            }
            DynamicEffect::Initialize(class) => {
                self.initializations(ex, id.class, Initialized::Class(class), out);
                self.all_behind(ex, &mut out[start..], wrapping);
            }
            DynamicEffect::InitializeQuietly(class) => {
                let nothing = ex.filter(Filter { keep: SetId::EMPTY, adds: Vec::new() });
                self.initializations(ex, id.class, Initialized::Class(class), out);
                self.all_behind(ex, &mut out[start..], nothing);
            }
            DynamicEffect::MayFail => {
                out.push(Flow::Value(Value::known(ex.universe.exact(names.bootstrap)), None));
            }
            DynamicEffect::Unknown(handle) => {
                self.handle_flows(ex, id.class, handle, out);
                self.all_behind(ex, &mut out[start..], wrapping);
                let all = Value::open(ex.universe.all());
                out.push(Flow::Value(all, Some(OpenCause::Bootstrap(handle.member))));
            }
        }
    }

    fn all_behind(&self, ex: &mut Exceptions, flows: &mut [Flow], function: FunctionId) {
        flows.iter_mut().for_each(|it| *it = self.behind(ex, *it, function));
    }

    /// The flow through a function besides.
    fn behind(&self, ex: &mut Exceptions, flow: Flow, function: FunctionId) -> Flow {
        match flow {
            Flow::Value(value, None) => Flow::Value(ex.constant_through(function, value), None),
            Flow::Value(value, Some(why)) | Flow::Wrapped(value, why) => {
                Flow::Wrapped(ex.constant_through(function, value), why)
            }
            Flow::Node(of) => Flow::Through(of, function),
            Flow::Through(of, first) => Flow::Through(of, ex.then(first, function)),
        }
    }

    /// A virtual call of a method by its class, whichever constant would name it.
    pub(super) fn ask_virtual(&mut self, method: MethodRef) -> Site {
        let hierarchy = &self.program.hierarchy;
        let interface =
            hierarchy.class(method.class()).is_some_and(|it| hierarchy.outline(it).flags.is_interface());
        self.dispatches.ask_for(method, interface)
    }

    /// The same for a call that was asked for before.
    pub(super) fn asked_virtual(&self, method: MethodRef) -> Site {
        let hierarchy = &self.program.hierarchy;
        let interface =
            hierarchy.class(method.class()).is_some_and(|it| hierarchy.outline(it).flags.is_interface());
        self.dispatches.asked_for(method, interface)
    }

    /// Adds what invoking a method handle lets out, by its kind (JVMS §5.4.3.5).
    fn handle_flows(&self, ex: &mut Exceptions, caller: ClassId, handle: MethodHandle, out: &mut Vec<Flow>) {
        let method = handle.member;
        match handle.kind {
            HandleKind::GetStatic | HandleKind::PutStatic => {
                return self.initializations(ex, caller, Initialized::OwnerOfField(method), out);
            }
            HandleKind::InvokeStatic => {
                let what = Initialized::OwnerOfMethod(method, handle.interface);
                self.initializations(ex, caller, what, out);
            }
            HandleKind::NewInvokeSpecial => {
                self.initializations(ex, caller, Initialized::Class(method.class()), out);
            }
            _ => {
                let null = ex.universe.exact(well_known().null_pointer);
                out.push(Flow::Value(Value::known(null), None));
            }
        }
        let Some(kind) = handle_call(handle) else { return };
        let site = self.dispatches.asked(caller, kind, method);
        out.extend(self.site_flow(ex, site, Some(method)));
    }

    /// What the method of a function object lets out.
    pub(super) fn glue_flows(&self, ex: &mut Exceptions, id: FunctionSiteId) -> Vec<Flow> {
        let site = self.functions[id.0 as usize].clone();
        let mut flows = Vec::new();
        for class in glue_classes(site.function.glue_raises()) {
            flows.push(Flow::Value(Value::known(ex.universe.exact(class)), None));
        }
        self.handle_flows(ex, site.owner.class, site.function.handle, &mut flows);
        flows
    }

    /// Adds what comes out of initialising classes.
    fn initializations(&self, ex: &mut Exceptions, caller: ClassId, what: Initialized, out: &mut Vec<Flow>) {
        for &link in &*self.initialized(what) {
            out.push(match link {
                Link::Present(class) if self.runs_already(caller, class) => {
                    let gone = ex.universe.exact(well_known().no_class_def);
                    let may_fail = self.may_fail(class);
                    Flow::Value(if may_fail { Value::known(gone) } else { Value::NOTHING }, None)
                }
                Link::Present(class) => Flow::Node(Node::Initializer(class)),
                Link::Outside(class) if self.options.link_errors => {
                    let known = ex.universe.exact(well_known().no_class_def);
                    let value = Value { known, ..self.unknown_initializer(ex, class) };
                    Flow::Value(value, Some(OpenCause::Initializer(class)))
                }
                Link::Outside(class) => {
                    Flow::Value(self.unknown_initializer(ex, class), Some(OpenCause::Initializer(class)))
                }
            });
        }
    }

    /// Whether a method of `caller` runs only after the initialisation of the class began (`semantics.md` §3.7).
    pub(super) fn runs_already(&self, caller: ClassId, class: ClassId) -> bool {
        let hierarchy = &self.program.hierarchy;
        let is_class = |it: ClassId| !hierarchy.outline(it).flags.is_interface();
        is_class(caller) && is_class(class) && hierarchy.supers(caller).contains(&class)
    }

    /// Whether initialising the class runs any code at all, which may fail.
    fn may_fail(&self, class: ClassId) -> bool {
        let hierarchy = &self.program.hierarchy;
        hierarchy.outside_above(class).is_some()
            || hierarchy.supers(class).iter().any(|&it| class_initializer(hierarchy, it).is_some())
    }

    /// The classes that an access initialises: those that declare the member, as far as that is known.
    pub(super) fn initialized(&self, what: Initialized) -> Cow<'_, [Link]> {
        match self.initialized.get(&what) {
            Some(it) => Cow::Borrowed(it),
            None => Cow::Owned(self.find_initialized(what)),
        }
    }

    /// The same for who asks first.
    pub(super) fn find_initialized(&self, what: Initialized) -> Vec<Link> {
        let hierarchy = &*self.program.hierarchy;
        let link = |class: ClassName| hierarchy.class(class).map_or(Link::Outside(class), Link::Present);
        match what {
            Initialized::Class(class) => vec![link(class)],
            Initialized::OwnerOfField(field) => {
                let it = field.get();
                match resolve_field(hierarchy, it.class, it.name, it.descriptor) {
                    ResolvedField::Field(it) => vec![Link::Present(it.class)],
                    ResolvedField::Error(_) => Vec::new(),
                    ResolvedField::Unknown { outside, .. } => vec![Link::Outside(outside)],
                }
            }
            Initialized::OwnerOfMethod(method, interface) => {
                let it = method.get();
                match resolve_method(hierarchy, it.class, it.name, it.descriptor, interface) {
                    ResolvedMethod::Method(it) => vec![Link::Present(it.class)],
                    ResolvedMethod::Unknown { outside, .. } => vec![Link::Outside(outside)],
                    _ => Vec::new(),
                }
            }
            Initialized::ClassOrAbove(class) => match hierarchy.class(class) {
                None => vec![Link::Outside(class)],
                Some(id) => {
                    let outside = hierarchy.outside_above(id).map(Link::Outside);
                    let mut supers = hierarchy.supers(id).to_vec();
                    // The first that may fail is the one that is named.
                    supers.sort_by_key(|it| hierarchy.name(*it).bytes());
                    supers.into_iter().map(Link::Present).chain(outside).collect()
                }
            },
        }
    }

    /// Why no object of the class can be made (JVMS §6.5.new).
    fn object_error(&self, class: ClassName) -> Option<LinkError> {
        if self.options.link_errors && self.program.hierarchy.class(class).is_none() {
            return Some(LinkError::NoClassDefFound);
        }
        let hierarchy = &self.program.hierarchy;
        let flags = hierarchy.outline(hierarchy.class(class)?).flags;
        (flags.is_abstract() || flags.is_interface()).then_some(LinkError::Instantiation)
    }

    /// Why code of `caller` cannot access a field, if present classes decide it; with `--link-errors` also because its
    /// class is not there.
    pub(super) fn field_error(&self, caller: ClassId, field: FieldRef, access: Access) -> Option<LinkError> {
        let it = field.get();
        let hierarchy = &self.program.hierarchy;
        let wants = matches!(access, Access::GetStatic | Access::PutStatic);
        // Most fields are the class's own, where nothing but the kind of access can be wrong.
        if it.class == hierarchy.name(caller)
            && let Some(index) = hierarchy.field(caller, it.name, it.descriptor)
        {
            let field = hierarchy.outline(caller).fields.get(index as usize)?;
            return (field.flags.is_static() != wants).then_some(LinkError::IncompatibleClassChange);
        }
        match resolve_field(hierarchy, it.class, it.name, it.descriptor) {
            ResolvedField::Error(error) => Some(error),
            ResolvedField::Unknown { .. } => self.options.link_errors.then_some(LinkError::NoClassDefFound),
            ResolvedField::Field(id) => {
                let is_static = id.of(hierarchy).is_some_and(|it| it.flags.is_static());
                if is_static != wants {
                    return Some(LinkError::IncompatibleClassChange);
                }
                let allowed = may_access_class(hierarchy, caller, it.class) != Below::No
                    && may_access_field(hierarchy, caller, it.class, id) != Below::No;
                (!allowed).then_some(LinkError::IllegalAccess)
            }
        }
    }

    /// What linking a class raises: its supertypes must be there, and fit (JVMS §5.3.5); with `--link-errors` also the
    /// classes that its handlers name, which the verifier loads.
    pub(super) fn linking(&self, ex: &mut Exceptions, class: ClassId) -> SetId {
        let hierarchy = &self.program.hierarchy;
        let mut acc = SetId::EMPTY;
        let mut add = |ex: &mut Exceptions, name: &[u8]| {
            let it = ex.universe.exact(ClassName::new(name));
            acc = ex.universe.join(acc, it);
        };
        if hierarchy.supers(class).iter().any(|it| self.program.refused.contains(it)) {
            // Which of the two depends on the release.
            add(ex, b"java/lang/IncompatibleClassChangeError");
            add(ex, b"java/lang/VerifyError");
        }
        if self.options.link_errors {
            let handlers = || {
                let methods = (0..hierarchy.outline(class).methods.len()).map(|it| method_id(class, it));
                let rows = methods.filter_map(|it| match self.program.summary(it) {
                    MethodSummary::Known(code) => Some(code.summary.contexts.iter().flat_map(|it| &it.rows)),
                    _ => None,
                });
                let mut classes = rows.flatten().filter_map(|it| it.class);
                classes.any(|it| hierarchy.class(it).is_none() && built_in_parent(it).is_none())
            };
            if hierarchy.outside_above(class).is_some() || handlers() {
                add(ex, b"java/lang/NoClassDefFoundError");
            }
        }
        acc
    }
}

/// `Class.desiredAssertionStatus`, which the initialiser of each class with assertions calls.
fn is_assertion_status(method: MethodRef) -> bool {
    let it = method.get();
    it.class == well_known().class && it.name.bytes() == b"desiredAssertionStatus"
}
