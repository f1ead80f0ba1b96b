//! The errors that linking raises: for members that do not exist or are not accessible, and for classes that cannot
//! be linked or instantiated (JVMS §5.3.5, §5.4; `semantics.md` §3.6).

use classfile::bootstrap::{HandleKind, MethodHandle};
use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, FieldRef};
use flow::functional::{DynamicSite, Function, LinkedConstant};
use flow::named::named_classes;
use flow::summary::{Access, CatchRow, Receiver};
use flow::throwables::{built_in_parent, well_known};
use flow::universe::SetId;
use program::hierarchy::{Below, ClassId, Hierarchy, Link, permitted};
use program::members::access::{
    may_access_class, may_access_field, may_access_method, may_refer_to_field, may_refer_to_method,
};
use program::members::declared::declared;
use program::members::resolve::{resolve_field, resolve_method};
use program::members::select::special_target;
use program::members::{LinkError, MethodId, ResolvedField, ResolvedMethod};
use rustc_hash::FxHashSet;

use super::actions::Called;
use super::lattice::{Exceptions, Value};
use super::resolving::resolves_anywhere;
use super::sites::handle_call;
use super::tables::CallTable;
use crate::summary::{CodeSummary, MethodSummary};

/// Returns the exceptions that the VM raises for a link error.
pub(super) fn link_error(ex: &mut Exceptions, error: LinkError) -> Value {
    let class = ClassName::new(error.exception().as_bytes());
    // For conflicting default methods, different releases raise different subclasses.
    if error == LinkError::ConflictingDefaults {
        return Value::known(ex.universe.cone(class));
    }
    let known = ex.universe.exact(class);
    if error != LinkError::Final {
        return Value::known(known);
    }
    let verify = ex.universe.exact(ClassName::new(LinkError::FinalBefore16.exception().as_bytes()));
    Value::known(ex.universe.join(known, verify))
}

/// Returns the error of loading the class that a constant names, or the element class of an array type, if a supertype
/// of that class is absent; `None` unless `--link-errors` is set.
fn absent_above(calls: &CallTable, class: ClassName) -> Option<LinkError> {
    let hierarchy = &calls.classes.hierarchy;
    if !calls.options.link_errors {
        return None;
    }
    let id = class.element().and_then(|it| hierarchy.class(it))?;
    hierarchy.outside_above(id)?;
    let is_absent = |link: Link| match link {
        Link::Outside(it) => it != well_known().object && built_in_parent(it).is_none(),
        Link::Present(_) => false,
    };
    let links =
        |&it: &ClassId| hierarchy.super_class(it).into_iter().chain(hierarchy.interfaces(it).iter().copied());
    let has_absent = hierarchy.supers(id).iter().flat_map(links).any(is_absent);
    has_absent.then_some(LinkError::NoClassDefFound)
}

/// Returns the error of loading the class that a call in code of the class `caller` names, if a supertype of that class is
/// absent; `None` unless `--link-errors` is set. The class of a call on `this`, of a constructor or by a method handle was
/// loaded before the call.
pub(super) fn named_class_error(calls: &CallTable, caller: ClassId, called: Called) -> Option<LinkError> {
    let method = match called {
        Called::Instruction(_, it) => it,
        Called::OnThis(..)
        | Called::Construct(_)
        | Called::Dynamic(_)
        | Called::Handle(..)
        | Called::Access(_) => return None,
    };
    // The caller could not run if its own supertypes were absent.
    let hierarchy = &calls.classes.hierarchy;
    let is_own = || hierarchy.class(method.class()).is_some_and(|it| hierarchy.supers(caller).contains(&it));
    absent_above(calls, method.class()).filter(|_| !is_own())
}

/// A constant that code resolves and that has no context in the summary of the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Resolved {
    /// The field of an access of this kind.
    Field(FieldRef, Access),
    /// The class that a cast, `instanceof`, the creation of an array or a constant names.
    Class(ClassName),
    /// The member that a method-handle constant names, and the classes of the member's descriptor.
    Handle(MethodHandle),
    /// The class that a row of the exception table names. It is resolved when an exception is dispatched to the row;
    /// the error then replaces the exception, and is dispatched as if the handler had raised it.
    Caught(ClassName),
}

/// Returns the constants that the code of a method resolves and whose resolution fails, each once and with the link
/// error.
pub(super) fn failing(calls: &CallTable, method: MethodId, code: &CodeSummary) -> Vec<(Resolved, LinkError)> {
    let (summary, mut acc) = (&code.summary, Vec::new());
    let accessor = Accessor::of(calls, method);
    for &(field, access) in &summary.fields {
        let above = absent_above(calls, field.class());
        let errors = field_error(calls, accessor, field, access).into_iter().chain(above);
        acc.extend(errors.map(|it| (Resolved::Field(field, access), it)));
    }
    for &class in &summary.named {
        let errors = class_constant_errors(calls, method.class, class);
        acc.extend(errors.map(|it| (Resolved::Class(class), it)));
    }
    for &handle in &summary.handles {
        let errors = handle_errors(calls, method.class, handle);
        acc.extend(errors.into_iter().map(|it| (Resolved::Handle(handle), it)));
    }
    let caught = |class| {
        class_constant_errors(calls, method.class, class).map(move |it| (Resolved::Caught(class), it))
    };
    let classes = caught_by(summary.contexts.iter().flat_map(|it| &it.rows));
    acc.extend(classes.iter().copied().flat_map(caught));
    // Only errors that occur anywhere in the method get to the other rows.
    let gets_there =
        || !acc.is_empty() || calls.may_load(method.class) && resolves_anywhere(calls, method.class, code);
    if !summary.bare.is_empty() && gets_there() {
        let bare = caught_by(&summary.bare).into_iter().filter(|it| !classes.contains(it));
        acc.extend(bare.flat_map(caught));
    }
    acc
}

/// Returns the link errors of resolving a class constant ([`class_constant_error`]), including that for an absent
/// supertype of the class.
fn class_constant_errors(
    calls: &CallTable,
    caller: ClassId,
    class: ClassName,
) -> impl Iterator<Item = LinkError> + use<> {
    let above = absent_above(calls, class);
    class_constant_error(calls, caller, class).into_iter().chain(above)
}

/// Returns the link errors of loading a class, or the element class of an array type, without a check of access.
pub(super) fn loading_errors(calls: &CallTable, class: ClassName) -> impl Iterator<Item = LinkError> + use<> {
    let error = calls.refusal(class).or_else(|| absence(calls, class));
    error.into_iter().chain(absent_above(calls, class))
}

/// Returns the error of loading an absent class, or an array whose element class is absent; `None` unless
/// `--link-errors` is set.
fn absence(calls: &CallTable, class: ClassName) -> Option<LinkError> {
    let hierarchy = &calls.classes.hierarchy;
    // A JVM always has Object and the errors that it raises.
    let is_absent = |it: ClassName| {
        hierarchy.class(it).is_none() && it != well_known().object && built_in_parent(it).is_none()
    };
    let fails = calls.options.link_errors && class.element().is_some_and(is_absent);
    fails.then_some(LinkError::NoClassDefFound)
}

/// Returns the classes that rows of an exception table name as catch types, each once.
fn caught_by<'a>(rows: impl IntoIterator<Item = &'a CatchRow>) -> Vec<ClassName> {
    let mut acc: Vec<ClassName> = rows.into_iter().filter_map(|it| it.class).collect();
    acc.sort_unstable_by_key(|it| it.bytes().as_ptr());
    acc.dedup();
    acc
}

/// Returns the link error of resolving the class `class` that a cast, `instanceof`, the creation of an array or a
/// constant names in code of the class `caller` (JVMS §5.4.3.1); for an array type, that of its element class. `None` if
/// the present classes determine no error. Under `--link-errors`, an absent class is an error, too.
fn class_constant_error(calls: &CallTable, caller: ClassId, class: ClassName) -> Option<LinkError> {
    let hierarchy = &calls.classes.hierarchy;
    if let Some(error) = calls.refusal(class) {
        return Some(error);
    }
    match may_access_class(hierarchy, caller, class) {
        Below::Yes => None,
        Below::No => Some(LinkError::IllegalAccess),
        Below::Unknown => absence(calls, class),
    }
}

/// Returns the link errors of a dynamic call site or dynamic constant in code of the class `caller` (JVMS §5.4.3.5,
/// §5.4.3.6): those of the constants that linking resolves, and that of a function object whose interface is a class.
pub(super) fn site_errors(calls: &CallTable, caller: ClassId, site: &DynamicSite) -> Vec<ClassName> {
    let mut acc: Vec<ClassName> = Vec::new();
    let mut add = |it: ClassName| {
        if !acc.contains(&it) {
            acc.push(it);
        }
    };
    for &constant in &site.resolves {
        let errors = match constant {
            LinkedConstant::Handle(it) => handle_errors(calls, caller, it),
            LinkedConstant::Class(it) => class_constant_errors(calls, caller, it).collect(),
            LinkedConstant::Type(it) => type_errors(calls, caller, it).collect(),
        };
        errors.into_iter().for_each(|it: LinkError| add(ClassName::new(it.exception().as_bytes())));
    }
    // Before release 9, a JVM may raise these errors wrapped in a BootstrapMethodError; both are counted there.
    let wraps = calls.options.release.is_none_or(|it| it < 9) && !acc.is_empty();
    let hierarchy = &calls.classes.hierarchy;
    let is_class =
        |it: &Function| hierarchy.class(it.interface).is_some_and(|it| !hierarchy.is_interface(it));
    if wraps || site.function.as_ref().is_some_and(is_class) {
        acc.push(well_known().bootstrap);
    }
    acc
}

fn type_errors(
    calls: &CallTable,
    caller: ClassId,
    descriptor: Descriptor,
) -> impl Iterator<Item = LinkError> {
    named_classes(descriptor).flat_map(move |it| class_constant_errors(calls, caller, it))
}

/// Returns the errors of resolving a method handle (JVMS §5.4.3.5). If there are several, the JVM raises one of them.
fn handle_errors(calls: &CallTable, caller: ClassId, handle: MethodHandle) -> Vec<LinkError> {
    let it = handle.member.get();
    if let Some(error) = class_constant_error(calls, caller, it.class) {
        return vec![error];
    }
    let field = |access| {
        let error = field_error(calls, Accessor::of_handle(caller), handle.member, access);
        // A field of the other kind, static instead of not static or the other way round, counts as not accessible.
        match error {
            Some(LinkError::IncompatibleClassChange) => Some(LinkError::IllegalAccess),
            other => other,
        }
    };
    let error = match handle.kind {
        HandleKind::GetField => field(Access::Get),
        HandleKind::PutField => field(Access::Put),
        HandleKind::GetStatic => field(Access::GetStatic),
        HandleKind::PutStatic => field(Access::PutStatic),
        HandleKind::InvokeVirtual
        | HandleKind::InvokeStatic
        | HandleKind::InvokeSpecial
        | HandleKind::NewInvokeSpecial
        | HandleKind::InvokeInterface => method_handle_error(calls, caller, handle),
    };
    // HotSpot looks for the member before it checks access to the types, and does not check access to a field's type.
    let mut acc: Vec<LinkError> = match error {
        Some(it) => vec![it],
        None if handle_call(handle).is_none() => {
            named_classes(it.descriptor).flat_map(|it| loading_errors(calls, it)).collect()
        }
        None => type_errors(calls, caller, it.descriptor).collect(),
    };
    acc.extend(absent_above(calls, it.class));
    acc
}

fn method_handle_error(calls: &CallTable, caller: ClassId, handle: MethodHandle) -> Option<LinkError> {
    let hierarchy = &calls.classes.hierarchy;
    let it = handle.member.get();
    let method = match resolve_method(hierarchy, it.class, it.name, it.descriptor, handle.interface) {
        ResolvedMethod::Method(it) => it,
        ResolvedMethod::Error(error) => return Some(error),
        ResolvedMethod::SignaturePolymorphic(_) => return None,
        ResolvedMethod::Unknown { .. } => {
            return calls.options.link_errors.then_some(LinkError::NoClassDefFound);
        }
    };
    let flags = declared(hierarchy, method).flags;
    let constructs = handle.kind == HandleKind::NewInvokeSpecial;
    // Only code of its own package may create objects with a protected constructor of another class.
    let is_far = constructs
        && flags.is_protected()
        && hierarchy.name(caller).package() != hierarchy.name(method.class).package();
    // The JVM checks access first.
    if is_far || may_access_method(hierarchy, caller, it.class, method) == Below::No {
        return Some(LinkError::IllegalAccess);
    }
    if constructs && hierarchy.name(method.class) != it.class {
        return Some(LinkError::NoSuchMethod);
    }
    if flags.is_static() != (handle.kind == HandleKind::InvokeStatic) {
        return Some(LinkError::IncompatibleClassChange);
    }
    let is_special = handle.kind == HandleKind::InvokeSpecial;
    let special = if is_special { special_error(calls, caller, handle, method) } else { None };
    // The class library checks access again.
    let is_refused = || may_refer_to_method(hierarchy, caller, it.class, method) == Below::No;
    special.or_else(|| is_refused().then_some(LinkError::IllegalAccess))
}

/// Returns the error of a method handle of kind `REF_invokeSpecial` that resolves to `method`, which is accessible and not
/// static. For an `invokespecial` instruction, the verifier makes sure that the class of the method is above the caller;
/// for a handle, linking does.
fn special_error(
    calls: &CallTable,
    caller: ClassId,
    handle: MethodHandle,
    method: MethodId,
) -> Option<LinkError> {
    let hierarchy = &calls.classes.hierarchy;
    let it = handle.member.get();
    if handle.interface && hierarchy.name(caller) != it.class {
        let is_named = |link: &Link| match *link {
            Link::Present(id) => hierarchy.name(id) == it.class,
            Link::Outside(name) => name == it.class,
        };
        if !hierarchy.interfaces(caller).iter().any(is_named) {
            return Some(LinkError::IncompatibleClassChange);
        }
    }
    match special_target(hierarchy, caller, it.class, it.name, it.descriptor, handle.interface) {
        ResolvedMethod::Error(error) => return Some(error),
        ResolvedMethod::Method(id) if declared(hierarchy, id).flags.is_abstract() => {
            return Some(LinkError::AbstractMethod);
        }
        ResolvedMethod::Method(_)
        | ResolvedMethod::SignaturePolymorphic(_)
        | ResolvedMethod::Unknown { .. } => {}
    }
    let is_above = hierarchy.is_subtype(hierarchy.name(caller), hierarchy.name(method.class));
    (is_above == Below::No).then_some(LinkError::IllegalAccess)
}

/// Returns the errors of the instruction `new` of this class in code of the class `caller` (JVMS §6.5.new).
pub(super) fn object_errors(calls: &CallTable, caller: ClassId, class: ClassName) -> Vec<LinkError> {
    match object_error(calls, caller, class) {
        Some(it) => vec![it],
        None => class_constant_errors(calls, caller, class).collect(),
    }
}

/// Returns the error that the present classes determine for the instruction `new` of this class, which then neither
/// initialises the class nor leads to a constructor call.
pub(super) fn object_error(calls: &CallTable, caller: ClassId, class: ClassName) -> Option<LinkError> {
    let hierarchy = &calls.classes.hierarchy;
    let flags = hierarchy.outline(hierarchy.class(class)?).flags;
    let has_objects = !flags.is_abstract() && !flags.is_interface();
    class_constant_error(calls, caller, class).or((!has_objects).then_some(LinkError::Instantiation))
}

/// The code that accesses a field, as far as the link errors of the access depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Accessor {
    class: ClassId,
    initializer: Initializer,
}

/// Which final fields of its own class a method may store to (JVMS §6.5.putfield, §6.5.putstatic).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Initializer {
    /// The method is no initialiser and may store to none.
    None,
    /// A constructor may store to instance fields.
    OfObjects,
    /// The class initialiser may store to static fields.
    OfClass,
    /// The code is a method handle, and may store to none in any class-file version.
    Handle,
}

impl Accessor {
    /// Describes the code of a method.
    fn of(calls: &CallTable, method: MethodId) -> Self {
        let initializer = match declared(&calls.classes.hierarchy, method).name.bytes() {
            b"<init>" => Initializer::OfObjects,
            b"<clinit>" => Initializer::OfClass,
            _ => Initializer::None,
        };
        Accessor { class: method.class, initializer }
    }

    /// Describes a method handle that is a constant of a class: it may store to no final field.
    fn of_handle(class: ClassId) -> Self {
        Accessor { class, initializer: Initializer::Handle }
    }

    /// Returns whether the code may store to a final field of class `owner` (`is_static`: to a static one). HotSpot
    /// checks the method only in classes of version 53 and later.
    fn may_store_to_final(self, hierarchy: &Hierarchy, owner: ClassId, is_static: bool) -> bool {
        const CHECKS_METHODS: u16 = 53;
        let initializer = if is_static { Initializer::OfClass } else { Initializer::OfObjects };
        self.class == owner
            && self.initializer != Initializer::Handle
            && (self.initializer == initializer || hierarchy.outline(owner).version.1 < CHECKS_METHODS)
    }
}

/// Returns the link error that an access of a field raises; `None` if no error follows from the present classes. Under
/// `--link-errors`, the access of a field whose class is absent is an error, too.
fn field_error(calls: &CallTable, accessor: Accessor, field: FieldRef, access: Access) -> Option<LinkError> {
    let it = field.get();
    let hierarchy = &calls.classes.hierarchy;
    let caller = accessor.class;
    let (wants_static, is_store) = match access {
        Access::GetStatic => (true, false),
        Access::PutStatic => (true, true),
        Access::Get => (false, false),
        Access::Put => (false, true),
    };
    let error = |owner: ClassId, flags: Flags| {
        let is_refused =
            || is_store && flags.is_final() && !accessor.may_store_to_final(hierarchy, owner, wants_static);
        if flags.is_static() != wants_static {
            Some(LinkError::IncompatibleClassChange)
        } else {
            is_refused().then_some(LinkError::IllegalAccess)
        }
    };
    // Most accessed fields belong to the caller, which has access.
    if it.class == hierarchy.name(caller)
        && let Some(index) = hierarchy.field(caller, it.name, it.descriptor)
    {
        let field = hierarchy.outline(caller).fields.get(index as usize)?;
        return error(caller, field.flags);
    }
    if let Some(error) = calls.refusal(it.class) {
        return Some(error);
    }
    match resolve_field(hierarchy, it.class, it.name, it.descriptor) {
        ResolvedField::Error(error) => Some(error),
        ResolvedField::Unknown { .. } => calls.options.link_errors.then_some(LinkError::NoClassDefFound),
        ResolvedField::Field(id) => {
            let access = match accessor.initializer {
                Initializer::None | Initializer::OfObjects | Initializer::OfClass => {
                    may_access_field(hierarchy, caller, it.class, id)
                }
                Initializer::Handle => may_refer_to_field(hierarchy, caller, it.class, id),
            };
            // The JVM checks access first.
            if may_access_class(hierarchy, caller, it.class) == Below::No || access == Below::No {
                return Some(LinkError::IllegalAccess);
            }
            error(id.class, id.of(hierarchy).map(|it| it.flags).unwrap_or_default())
        }
    }
}

/// Returns the errors that linking a class raises: errors for supertypes that the class may not have (JVMS §5.3.5).
/// Under `--link-errors`, also errors for absent supertypes, and for absent classes that the exception tables name,
/// because the verifier loads these classes.
pub(super) fn class_errors(calls: &CallTable, ex: &mut Exceptions, class: ClassId) -> SetId {
    let hierarchy = &calls.classes.hierarchy;
    let name = hierarchy.name(class);
    let loading = calls.refusal(name).into_iter().chain(absent_above(calls, name));
    let is_absent = |it: ClassName| hierarchy.class(it).is_none() && built_in_parent(it).is_none();
    let has_absent = calls.options.link_errors && caught_classes(calls, class).any(is_absent);
    loading.chain(has_absent.then_some(LinkError::NoClassDefFound)).fold(SetId::EMPTY, |acc, error| {
        let it = link_error(ex, error);
        ex.universe.join(acc, it.known)
    })
}

/// Returns the classes that the exception tables in the code of a class name as catch types.
fn caught_classes(calls: &CallTable, class: ClassId) -> impl Iterator<Item = ClassName> + '_ {
    let caught = calls.classes.methods_of(class).map(|it| match calls.classes.summary(it) {
        MethodSummary::Known(code) => {
            let summary = &code.summary;
            caught_by(summary.contexts.iter().flat_map(|it| &it.rows).chain(&summary.bare))
        }
        MethodSummary::None | MethodSummary::Missing | MethodSummary::Unread => Vec::new(),
    });
    caught.flatten()
}

/// Returns whether the present classes determine that the receiver of an interface call, if it is not null, does not
/// implement the interface (JVMS §6.5.invokeinterface).
pub(super) fn surely_lacks(hierarchy: &Hierarchy, receiver: Receiver) -> bool {
    let interface = hierarchy.class(receiver.interface).filter(|&it| hierarchy.is_interface(it));
    let Some(class) = hierarchy.class(receiver.class).filter(|_| interface.is_some()) else { return false };
    let lacks = |it: ClassId| hierarchy.is_subtype(hierarchy.name(it), receiver.interface) == Below::No;
    // Sealed classes are followed to their final subclasses. The number of steps is limited by the classes.
    let mut seen: FxHashSet<ClassId> = FxHashSet::default();
    let mut pending = vec![class];
    while let Some(at) = pending.pop() {
        if !seen.insert(at) {
            continue;
        }
        let outline = hierarchy.outline(at);
        if !lacks(at) {
            return false;
        }
        if receiver.exact || outline.flags.is_final() {
            continue;
        }
        let Some(permitted) = permitted(outline) else { return false };
        for name in permitted {
            match hierarchy.class(*name) {
                Some(it) => pending.push(it),
                None => return false,
            }
        }
    }
    true
}
