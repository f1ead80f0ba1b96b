//! Builds the answer for one call: the names of the methods that the call may run.

use bir::body::InstrId;
use classfile::names::MethodRef;
use flow::summary::Initialized;
use program::hierarchy::{ClassId, Link};
use program::initialization::{Initializer, runs_already, walk};
use program::input::WorldKind;
use program::members::LinkError;
use program::names::{MethodName, Text};
use rustc_hash::FxHashSet;

use super::actions::Action;
use super::answers::{Call, CallWord};
use super::implicit::performed;
use super::lattice::OpenCause;
use super::reads::{Read, note};
use super::sites::{Site, Target, handle_call};
use super::tables::CallTable;
use super::why::{why, why_call};

/// Returns the answer for one call. `site` is what the call resolves to, `kind` the kind of the call, and `declared`
/// the method that the instruction names.
pub(crate) fn call_to(
    calls: &CallTable,
    (instr, kind): (Option<InstrId>, CallWord),
    declared: MethodRef,
    site: Site,
) -> Call {
    let mut call = Call { declared: Some(MethodName::of(declared)), ..Call::empty(instr, kind) };
    match site {
        Site::Method(it) => call.targets.push(calls.classes.name(it)),
        Site::Error(it) => call.errors.push(Text(it.exception().as_bytes())),
        Site::Open(open) => call.open = why_call(calls, open),
        Site::Vm => call.targets.push(MethodName::of(performed(declared))),
        Site::Dispatch(id) => {
            let dispatch = calls.dispatches.get(id);
            add_targets(calls, &dispatch.targets, &mut call);
            if let Some(handlers) = dispatch.handlers {
                let handlers = calls.dispatches.get(handlers);
                add_targets(calls, &handlers.targets, &mut call);
                call.open = handlers.open.and_then(|it| why_call(calls, it));
            }
            let mut possible = Call::empty(instr, kind);
            add_targets(calls, &dispatch.possible, &mut possible);
            call.possible = possible.targets;
            call.errors = dispatch.errors.iter().map(|it| Text(it.exception().as_bytes())).collect();
            if let Some(open) = dispatch.open {
                call.open = why_call(calls, open);
            }
        }
    }
    // In a closed world nothing but the absence of the class is known to happen.
    let is_absent =
        || declared.class().element().is_some_and(|it| calls.classes.hierarchy.class(it).is_none());
    if calls.options.world == WorldKind::Closed && !matches!(site, Site::Vm) && is_absent() {
        call.errors.push(Text(LinkError::NoClassDefFound.exception().as_bytes()));
    }
    call.sorted()
}

/// Adds to `call` the class initialisers that may run when code of the class `caller` initialises the classes `what`.
pub(super) fn add_initializers(calls: &CallTable, caller: ClassId, what: Initialized, call: &mut Call) {
    let hierarchy = &calls.classes.hierarchy;
    for &link in &*calls.initialized(what) {
        match link {
            Link::Present(class) if runs_already(hierarchy, caller, class) => {}
            Link::Present(class) => {
                let mut absent = None;
                let visit = |initializer| match initializer {
                    Initializer::Present(it) => call.targets.push(calls.classes.name(it)),
                    Initializer::Absent(it) => absent = Some(it),
                };
                walk(hierarchy, class, |_| true, visit);
                if let Some(it) = absent {
                    call.open = why(calls, OpenCause::Initializer(it));
                }
            }
            Link::Outside(class) => call.open = why(calls, OpenCause::Initializer(class)),
        }
    }
}

/// Adds the methods that `targets` name to `call`. For a function object, adds the targets of its glue, which may be
/// function objects again.
fn add_targets(calls: &CallTable, targets: &[Target], call: &mut Call) {
    let mut seen: FxHashSet<Target> = targets.iter().copied().collect();
    let mut pending = targets.to_vec();
    while let Some(target) = pending.pop() {
        let site = match target {
            Target::Method(it) => {
                call.targets.push(calls.classes.name(it));
                continue;
            }
            Target::Glue(it) => {
                note(Read::Function(it));
                &calls.functions[it.index()]
            }
        };
        call.glue.push(Text(site.function.interface.bytes()));
        let handle = site.function.handle;
        // A static method or a constructor initialises its class when the object's method is first called.
        if let Some(what) = Action::of_handle(handle).initializes {
            let open = call.open;
            add_initializers(calls, site.owner.class, what, call);
            call.open = open.or(call.open);
        }
        let Some(kind) = handle_call(handle) else { continue };
        match calls.dispatches.cached_site(site.owner.class, kind, handle.member) {
            Some(Site::Method(it)) => call.targets.push(calls.classes.name(it)),
            Some(Site::Dispatch(id)) => {
                let dispatch = calls.dispatches.get(id);
                pending.extend(dispatch.targets.iter().copied().filter(|&it| seen.insert(it)));
                call.open = call.open.or(dispatch.open.and_then(|it| why_call(calls, it)));
            }
            Some(Site::Open(open)) => call.open = call.open.or(why_call(calls, open)),
            Some(Site::Vm) => call.targets.push(MethodName::of(performed(handle.member))),
            Some(Site::Error(_)) | None => {}
        }
    }
}
