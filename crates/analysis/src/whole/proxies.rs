//! Receivers whose classes the platform creates at run time, so that no class file defines them: proxies
//! (`java.lang.reflect.Proxy`), annotations, objects around method handles, and function objects that code links by itself.
//!
//! If unknown classes may implement an interface, such receivers are among the unknown ones. For other calls, outside
//! the open world, the program is searched for code that creates such objects. A program that creates proxies may
//! have a proxy of any interface, and the VM creates an object for each annotation. A call on a proxy or an
//! annotation runs `invoke` of some invocation handler.
//!
//! The search does not find proxies that are created by reflection, nor those that the platform creates for its own
//! interfaces.

use classfile::names::{ClassName, MethodRef};
use flow::fuel::{Cancelled, Fuel};
use flow::solver::FunctionId;
use flow::throwables::well_known;
use flow::universe::SetId;
use program::hierarchy::{ClassId, Hierarchy, permitted};
use program::input::{Role, WorldKind};
use program::members::MethodId;
use program::members::declared::declared;
use program::outline::Method;

use super::actions::{Called, all_actions};
use super::dispatch::Dispatch;
use super::implicit::{RuntimeObjects, handler_invoke, made_by_call};
use super::lattice::{Exceptions, Filter};
use super::sites::{DispatchId, Site};
use super::tables::CallTable;
use crate::summary::CodeSummary;

/// The access flag `ACC_ANNOTATION` of annotation interfaces (JVMS §4.1).
const ANNOTATION: u16 = 0x2000;

/// Marks the dispatches whose receivers may be proxies, or objects that implement an interface by a method handle.
/// The targets of the dispatches must be computed before this function is called.
///
/// # Errors
/// When the work is cancelled.
pub(super) fn mark_proxies(calls: &mut CallTable, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
    if calls.options.world == WorldKind::Open {
        return Ok(());
    }
    let all: Vec<DispatchId> = DispatchId::first(calls.dispatches.all().len()).collect();
    let made = made_at_run_time(calls, fuel)?;
    for some in all.chunks(256) {
        fuel.spend(4 * 256)?;
        mark_some(calls, made, some);
    }
    Ok(())
}

/// Removes the marks that [`mark_proxies`] set, and marks all dispatches again, for the kinds of objects in `made`.
/// Returns the dispatches whose marks changed.
pub(super) fn mark_again(calls: &mut CallTable, made: RuntimeObjects) -> Vec<DispatchId> {
    let marks = |it: &Dispatch| (it.handlers, it.open);
    let before: Vec<_> = calls.dispatches.all().iter().map(marks).collect();
    calls.dispatches.unmark();
    let all: Vec<DispatchId> = DispatchId::first(calls.dispatches.all().len()).collect();
    mark_some(calls, made, &all);
    all.into_iter().filter(|it| marks(calls.dispatches.get(*it)) != before[it.index()]).collect()
}

/// Marks those of `dispatches` whose receivers may be proxies, or objects that implement an interface by a method
/// handle. `made` are the kinds of such objects that the program creates. The targets of `dispatches` must be
/// computed, and none of `dispatches` may be marked yet.
pub(super) fn mark_some(calls: &mut CallTable, made: RuntimeObjects, dispatches: &[DispatchId]) {
    let Site::Dispatch(handlers) = calls.virtual_site(handler_invoke()) else { return };
    for &id in dispatches.iter().filter(|it| **it != handlers) {
        let dispatch = calls.dispatches.get(id);
        let made = receivers_made(calls, made, dispatch);
        if dispatch.open.is_none() && made != RuntimeObjects::default() {
            calls.dispatches.mark(id, made.proxies.then_some(handlers), made.around_handles);
        }
    }
}

/// Returns the kinds of objects that the program and its libraries create and whose classes exist only at run time.
///
/// # Errors
/// When the work is cancelled.
pub(super) fn made_at_run_time(calls: &CallTable, fuel: &mut Fuel<'_>) -> Result<RuntimeObjects, Cancelled> {
    let mut acc = RuntimeObjects::default();
    for (id, code) in calls.classes.codes() {
        fuel.spend(1)?;
        if calls.classes.hierarchy.role(id.class) != Role::Jdk {
            fuel.spend(code.summary.items.len() as u32)?;
            acc = acc.with(made_by(std::iter::once((id, code))));
        }
    }
    Ok(acc)
}

/// Returns the kinds of objects that the methods `codes` create and whose classes exist only at run time.
pub(super) fn made_by<'a>(codes: impl Iterator<Item = (MethodId, &'a CodeSummary)>) -> RuntimeObjects {
    codes.flat_map(|it| named(it.1)).fold(RuntimeObjects::default(), |acc, it| acc.with(made_by_call(it)))
}

/// Returns which of the kinds of objects in `made` may be receivers of the dispatch.
fn receivers_made(calls: &CallTable, made: RuntimeObjects, dispatch: &Dispatch) -> RuntimeObjects {
    let hierarchy = &calls.classes.hierarchy;
    let names = dispatch.method.get();
    // The three methods of Object that a proxy forwards to its invocation handler (`java.lang.reflect.Proxy`).
    let of_object = matches!(names.name.bytes(), b"hashCode" | b"equals" | b"toString");
    if names.class == well_known().object {
        return RuntimeObjects { proxies: made.proxies && of_object, ..RuntimeObjects::default() };
    }
    let Some(class) = hierarchy.class(names.class) else {
        let around_handles = made.around_handles || made.functions;
        let made = RuntimeObjects { around_handles, ..made };
        return if dispatch.interface { made } else { RuntimeObjects::default() };
    };
    let outline = hierarchy.outline(class);
    if !outline.flags.is_interface() || permitted(outline).is_some() {
        return RuntimeObjects::default();
    }
    let is_annotation =
        outline.flags.0 & ANNOTATION != 0 || names.class.bytes() == b"java/lang/annotation/Annotation";
    // Objects around method handles implement only public interfaces whose abstract methods have one name
    // (`MethodHandleProxies.asInterfaceInstance`).
    let around_handles =
        made.around_handles && outline.flags.is_public() && may_have_one_name(hierarchy, class);
    RuntimeObjects {
        proxies: made.proxies || is_annotation,
        around_handles: around_handles || made.functions,
        functions: false,
    }
}

/// Returns whether all abstract methods of an interface, other than those of Object, may have the same name. Methods of
/// absent superinterfaces are unknown.
fn may_have_one_name(hierarchy: &Hierarchy, interface: ClassId) -> bool {
    if hierarchy.outside_above(interface).is_some() {
        return true;
    }
    let supers = || hierarchy.supers(interface).iter().filter(|&&it| hierarchy.is_interface(it));
    let methods = || supers().flat_map(|&it| &hierarchy.outline(it).methods);
    let is_default =
        |of: &Method| methods().any(|it| is_same(it, of) && !it.flags.is_abstract() && !it.flags.is_static());
    let mut names = methods().filter(|it| it.flags.is_abstract() && !is_of_object(it) && !is_default(it));
    let Some(first) = names.next() else { return false };
    names.all(|it| it.name == first.name)
}

fn is_same(a: &Method, b: &Method) -> bool {
    a.name == b.name && a.descriptor == b.descriptor
}

/// Returns whether an interface method redeclares a public method of Object.
fn is_of_object(it: &Method) -> bool {
    matches!(
        (it.name.bytes(), it.descriptor.bytes()),
        (b"equals", b"(Ljava/lang/Object;)Z")
            | (b"hashCode", b"()I")
            | (b"toString", b"()Ljava/lang/String;")
    )
}

/// Returns the transfer function from the exceptions of an invocation handler to those of the proxy method that calls
/// the handler. The method keeps unchecked exceptions and those that it declares, and wraps all others
/// (`java.lang.reflect.InvocationHandler`).
pub(super) fn behind_handler(calls: &CallTable, ex: &mut Exceptions, dispatch: &Dispatch) -> FunctionId {
    let mut keep = SetId::EMPTY;
    let mut surely = SetId::EMPTY;
    for name in [well_known().error, ClassName::new(b"java/lang/RuntimeException")] {
        let masks = ex.universe.masks(Some(name));
        keep = ex.universe.join(keep, masks.may);
        surely = ex.universe.join(surely, masks.surely);
    }
    match dispatch.resolved() {
        Some(id) => {
            for &name in &declared(&calls.classes.hierarchy, id).throws {
                let masks = ex.universe.masks(Some(name));
                keep = ex.universe.join(keep, masks.may);
            }
        }
        None => keep = ex.universe.all(),
    }
    // Another interface of the proxy may have the method without declaring these exceptions, so declared exceptions
    // may be wrapped, too.
    let checked = ex.universe.minus(ex.universe.all(), surely);
    let wrapped = ex.universe.exact(ClassName::new(b"java/lang/reflect/UndeclaredThrowableException"));
    ex.filter(Filter { keep, adds: vec![(checked, wrapped)] })
}

/// Returns the exceptions that arise when a proxy converts the result of its invocation handler to the return type of
/// the called method.
pub(super) fn conversion_errors(ex: &mut Exceptions, dispatch: &Dispatch) -> SetId {
    let descriptor = dispatch.method.get().descriptor.bytes();
    let result = descriptor.iter().rposition(|&b| b == b')').and_then(|at| descriptor.get(at + 1..));
    let cast = ex.universe.exact(ClassName::new(b"java/lang/ClassCastException"));
    match result {
        Some(b"V" | b"Ljava/lang/Object;") => SetId::EMPTY,
        Some([b'L' | b'[', ..]) => cast,
        _ => {
            let null = ex.universe.exact(well_known().null_pointer);
            ex.universe.join(cast, null)
        }
    }
}

/// Returns the methods that code names in calls, or in the method handles of the function objects that it makes.
fn named(code: &CodeSummary) -> impl Iterator<Item = MethodRef> + '_ {
    let calls = all_actions(code).filter_map(|it| match it.calls? {
        Called::Instruction(_, method) | Called::OnThis(_, method) => Some(method),
        Called::Construct(_) | Called::Dynamic(_) | Called::Handle(..) | Called::Access(_) => None,
    });
    let functions = code.dynamics.iter().filter_map(|it| it.function.as_ref());
    calls.chain(functions.map(|it| it.handle.member))
}
