//! Builds the answer for one call: the names of the methods that the call may run.

use bir::body::InstrId;
use classfile::names::MethodRef;
use program::names::{MethodName, Text};
use rustc_hash::FxHashSet;

use super::answers::{Call, CallWord};
use super::reads::{Read, note};
use super::sites::{Site, Target, handle_call};
use super::tables::CallTable;
use super::why::why_call;

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
        Site::Vm => {}
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
    call.sorted()
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
        let Some(kind) = handle_call(handle) else { continue };
        match calls.dispatches.cached_site(site.owner.class, kind, handle.member) {
            Some(Site::Method(it)) => call.targets.push(calls.classes.name(it)),
            Some(Site::Dispatch(id)) => {
                let dispatch = calls.dispatches.get(id);
                pending.extend(dispatch.targets.iter().copied().filter(|&it| seen.insert(it)));
                call.open = call.open.or(dispatch.open.and_then(|it| why_call(calls, it)));
            }
            Some(Site::Open(open)) => call.open = call.open.or(why_call(calls, open)),
            Some(Site::Error(_) | Site::Vm) | None => {}
        }
    }
}
