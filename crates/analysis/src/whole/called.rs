//! Lists the calls of one method, each with the names of its targets.

use bir::body::{CallKind, InstrId};
use flow::natives::{Effect, Native};
use flow::reflected::ReflectiveCall;
use flow::summary::Initialized;
use program::hierarchy::ClassId;
use program::members::MethodId;
use program::members::declared::declared;
use program::names::{MethodName, Text};

use super::actions::{Action, AnyCode, Called, MadeObject, actions};
use super::answers::{Call, CallWord, Why};
use super::call_names::{add_initializers, call_to};
use super::callbacks::{callback_calls, finalizer_call};
use super::implicit::thread_run;
use super::lattice::OpenCause;
use super::reads::{Read, note};
use super::reflected::named;
use super::resolving::{Resolves, Resolving};
use super::sites::Open;
use super::tables::CallTable;
use super::why::{why, why_call};
use crate::parts::MethodCode;
use crate::summary::MethodSummary;

/// Returns the calls of a method in the order of its instructions. `code` is the code of the method.
pub(crate) fn calls_of(calls: &CallTable, id: MethodId, code: &MethodCode) -> Vec<Call> {
    // The code in the class file of a ghost is a stub, not the code of the method.
    if calls.classes.ghost(id).is_some() {
        return unseen_calls(calls, id);
    }
    let MethodSummary::Known(summary) = calls.classes.summary(id) else { return Vec::new() };
    let mut acc = Vec::new();
    let mut walk = calls.classes.sources(id, code);
    let resolving = Resolving::new(calls, id.class, &code.body);
    let mut sources = Vec::new();
    for (instr, _) in code.body.instrs.iter() {
        sources.clear();
        walk.at(instr, |it| sources.push(it));
        for action in sources.iter().flat_map(|it| actions(summary, *it)) {
            add_calls(calls, id, instr, &action, &mut acc);
        }
        if resolving.at(instr, &sources) != Resolves::NOTHING {
            acc.extend(loading_call(calls, Some(instr)));
        }
    }
    code.facts.reflective.iter().for_each(|it| add_reflected(calls, id.class, it, &mut acc));
    acc
}

/// Adds to the calls of code of the class `caller` what a reflective call runs because constants name it. The call stays
/// open if it may run other code.
fn add_reflected(calls: &CallTable, caller: ClassId, reflective: &ReflectiveCall, acc: &mut [Call]) {
    note(Read::Classes);
    note(Read::Made);
    let hierarchy = &calls.classes.hierarchy;
    let is_here = |call: &Call| call.instr == Some(reflective.at);
    let is_reflective = |call: &Call| {
        is_here(call)
            && call.open == Some(Why::Reflection)
            && matches!(call.kind, CallWord::Reflect | CallWord::Clinit)
    };
    // The call of a method handle is open by itself.
    let is_open = |call: &Call| is_here(call) && call.declared.is_some_and(is_invocation);
    let place = acc.iter().rposition(is_reflective).or_else(|| acc.iter().rposition(is_open));
    let Some(call) = place.and_then(|it| acc.get_mut(it)) else { return };
    let open = std::mem::take(&mut call.open);
    let (mut is_all, mut absent) = (reflective.is_all, None);
    for &it in &reflective.uses {
        let it = named(hierarchy, it);
        is_all &= it.is_all;
        absent = absent.or(it.absent);
        let is_made = |class| calls.reachable.as_ref().is_none_or(|it| it.is_made(class));
        let selected = it.selected.iter().filter(|it| is_made(it.0)).map(|it| it.1);
        call.targets.extend(it.methods.iter().copied().chain(selected).map(|it| calls.classes.name(it)));
        for class in it.initialized {
            add_initializers(calls, caller, Initialized::Class(hierarchy.name(class)), call);
        }
    }
    // Absent classes leave the call open for their own reason.
    let outside = call.open.or_else(|| absent.and_then(|it| why_call(calls, Open::Outside(it))));
    let open = if is_all { outside } else { open };
    *call = Call { open, ..call.clone() }.sorted();
}

/// Returns whether a method is one of `MethodHandle` that invokes the handle.
fn is_invocation(method: MethodName) -> bool {
    method.class.0 == b"java/lang/invoke/MethodHandle" && matches!(method.name.0, b"invoke" | b"invokeExact")
}

/// Adds to `acc` the calls that an action of the method `id` makes at the instruction `instr`.
fn add_calls(calls: &CallTable, id: MethodId, instr: InstrId, action: &Action, acc: &mut Vec<Call>) {
    let at = Some(instr);
    let start = acc.len();
    if let Some(what) = action.initializes {
        acc.extend(initializer_call(calls, at, id.class, what));
    }
    match action.makes {
        Some(MadeObject::ByNew(class)) => acc.extend(finalizer_call(calls, at, class)),
        Some(MadeObject::ByHandle(_)) | None => {}
    }
    if let Some(called) = action.calls {
        let (method, site) = (called.method(), calls.site(id.class, called));
        acc.push(call_to(calls, (at, word(called)), method, site));
        if matches!(called, Called::Instruction(..) | Called::OnThis(..)) {
            callback_calls(calls, at, method, site, acc);
        }
    }
    match action.any_code {
        None => {}
        Some(AnyCode::Unlisted) => {
            let open = why(calls, OpenCause::MissingCode(id));
            acc.push(Call { open, ..Call::empty(at, CallWord::Dynamic) });
        }
        Some(AnyCode::Bootstrap(method)) => {
            let open = Some(Why::Bootstrap(MethodName::of(method)));
            match acc[start..].last_mut() {
                Some(it) => it.open = open,
                None => acc.push(Call { open, ..Call::empty(at, CallWord::Bootstrap) }),
            }
        }
    }
}

/// Returns the kind with which answers report this call.
fn word(called: Called) -> CallWord {
    match called {
        Called::Instruction(kind, _) | Called::OnThis(kind, _) => match kind {
            CallKind::Virtual => CallWord::Virtual,
            CallKind::Interface => CallWord::Interface,
            CallKind::Special | CallKind::SpecialInterface => CallWord::Special,
            CallKind::Static | CallKind::StaticInterface => CallWord::Static,
        },
        Called::Access(_) => CallWord::Virtual,
        Called::Construct(_) => CallWord::Special,
        Called::Dynamic(_) => CallWord::Dynamic,
        Called::Handle(..) => CallWord::Bootstrap,
    }
}

/// Returns the calls of a method without readable code. A native method makes the calls of its row in the table of
/// native methods. A ghost, or a method whose code cannot be read, makes one call, whose targets are unknown.
pub(super) fn unseen_calls(calls: &CallTable, id: MethodId) -> Vec<Call> {
    let name = calls.classes.name(id);
    let is_ghost = calls.classes.ghost(id).is_some();
    let open = match calls.classes.summary(id) {
        _ if is_ghost => Some(Why::Ghost(name)),
        MethodSummary::Missing | MethodSummary::Unread => Some(Why::MissingCode(name)),
        MethodSummary::None | MethodSummary::Known(_) => None,
    };
    if open.is_some() {
        return vec![Call { open, ..Call::empty(None, CallWord::Unseen) }];
    }
    if !declared(&calls.classes.hierarchy, id).flags.is_native() {
        return Vec::new();
    }
    let mut acc = Vec::new();
    let row = calls.native(id);
    let native = |method| call_to(calls, (None, CallWord::Native), method, calls.virtual_site(method));
    match row.map(|it| &it.effect) {
        None | Some(Effect::Open | Effect::Init) => {
            acc.push(Call { open: Some(Why::Native(name)), ..Call::empty(None, CallWord::Native) });
        }
        Some(Effect::Calls(methods)) => acc.extend(methods.iter().map(|it| native(*it))),
        Some(Effect::Thread) => {
            let run = thread_run();
            acc.push(call_to(calls, (None, CallWord::Thread), run, calls.virtual_site(run)));
        }
        Some(Effect::None | Effect::Load) => {}
    }
    if row.is_some_and(Native::loads) {
        acc.extend(loading_call(calls, None));
    }
    acc
}

/// Returns the call of the program's class loaders that happens when a class is resolved; `None` if the program has
/// no class loader that can be called.
fn loading_call(calls: &CallTable, at: Option<InstrId>) -> Option<Call> {
    note(Read::Loading);
    let it = calls.loading.as_ref()?;
    let call = Call {
        targets: it.targets.iter().map(|&it| calls.classes.name(it)).collect(),
        possible: it.possible.iter().map(|&it| calls.classes.name(it)).collect(),
        errors: it.errors.iter().map(|it| Text(it.exception().as_bytes())).collect(),
        open: it.open.and_then(|it| why_call(calls, it)),
        ..Call::empty(at, CallWord::Load)
    };
    Some(call.sorted())
}

/// Returns the call of the class initialisers that may run when code of the class `caller` initialises the classes
/// `what`; `None` if none may run.
fn initializer_call(
    calls: &CallTable,
    at: Option<InstrId>,
    caller: ClassId,
    what: Initialized,
) -> Option<Call> {
    let mut call = Call::empty(at, CallWord::Clinit);
    add_initializers(calls, caller, what, &mut call);
    let call = call.sorted();
    (!call.targets.is_empty() || call.open.is_some()).then_some(call)
}
