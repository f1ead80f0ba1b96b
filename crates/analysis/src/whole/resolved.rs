//! Resolves the calls of a program: registers every call, then computes the targets of all dispatches.

use flow::fuel::{Cancelled, Fuel, uncancelled};
use flow::functional::Function;
use flow::natives::{Effect, Native};
use program::hierarchy::ClassId;
use program::members::MethodId;
use program::members::declared::declared;

use super::actions::{Action, all_actions};
use super::dispatch::offers::find_targets;
use super::implicit::{implicit_calls, upcalls};
use super::loading::find_loading;
use super::proxies::mark_proxies;
use super::reach::reachable;
use super::reachable::{Receivers, Roots};
use super::sites::{FunctionSite, FunctionSiteId};
use super::tables::{CallTable, ClassTable, WholeOptions};
use crate::summary::CodeSummary;

/// Returns the program with the targets of its calls. If `roots` is given, the code that is reached from its entry
/// points is searched for, and calls go only to the receivers that `roots` allows.
pub fn resolved(classes: ClassTable, options: WholeOptions, roots: Option<Roots>) -> CallTable {
    uncancelled(|fuel| resolved_cancellable(classes, options, roots, fuel))
}

/// Computes the targets of a program's calls like [`resolved`], but the work may be cancelled.
///
/// # Errors
/// When the work is cancelled.
pub(super) fn resolved_cancellable(
    classes: ClassTable,
    options: WholeOptions,
    roots: Option<Roots>,
    fuel: &mut Fuel<'_>,
) -> Result<CallTable, Cancelled> {
    let mut calls = CallTable::new(classes, options);
    register_all(&mut calls, fuel)?;
    let narrows = roots.as_ref().is_some_and(|it| it.receivers == Receivers::Created);
    if roots.is_some() {
        ask_upcalls(&mut calls);
    }
    if narrows {
        calls.dispatches.keep_offers();
    }
    let functions: Vec<Function> = calls.functions.iter().map(|it| it.function.clone()).collect();
    find_targets(&mut calls.dispatches, &functions, fuel)?;
    if let Some(roots) = roots {
        fuel.ask()?;
        let offers = calls.dispatches.take_offers();
        let reachable = reachable(&calls, roots, &offers, fuel)?;
        if narrows {
            calls.dispatches.narrow(|dispatch, target| reachable.is_selected(dispatch, target));
        }
        calls.reachable = Some(reachable);
        fuel.ask()?;
    }
    mark_proxies(&mut calls, fuel)?;
    calls.loading = find_loading(&calls);
    fuel.ask()?;
    Ok(calls)
}

/// Registers every call of the program, so that all dispatches exist before their targets are computed.
fn register_all(calls: &mut CallTable, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
    let classes = calls.classes.clone();
    fuel.ask()?;
    for (id, code) in classes.codes() {
        fuel.spend(2 + code.summary.items.len() as u32)?;
        ask_code(calls, id.class, code);
        add_functions(calls, id, code);
    }
    for method in implicit_calls(calls.options.world) {
        calls.ask_virtual(method);
    }
    for id in classes.methods() {
        fuel.spend(1)?;
        if !declared(&classes.hierarchy, id).flags.is_native() {
            continue;
        }
        if let Some(Native { effect: Effect::Calls(methods), .. }) = calls.native(id) {
            methods.iter().for_each(|it| calls.ask_virtual(*it));
        }
    }
    Ok(())
}

/// Registers the virtual calls that the VM makes without a call in code, so that their targets are computed. Only the
/// search for reached code needs these calls.
pub(super) fn ask_upcalls(calls: &mut CallTable) {
    upcalls().into_iter().for_each(|it| calls.ask_virtual(it));
}

/// Registers the calls in code of the class `caller`, so that their targets are computed, and caches which classes
/// the code initialises.
pub(super) fn ask_code(calls: &mut CallTable, caller: ClassId, code: &CodeSummary) {
    for action in actions_of(code) {
        if let Some(what) = action.initializes {
            calls.keep_initialized(what);
        }
        if let Some(called) = action.calls {
            calls.ask(caller, called);
        }
    }
}

/// Removes from the cache the initialisations of code that was removed from its class, because the cached entries
/// would not be updated any more. If other code has the same initialisations, they are recomputed on each use.
pub(super) fn forget_initialized(calls: &mut CallTable, code: &CodeSummary) {
    actions_of(code).filter_map(|it| it.initializes).for_each(|it| calls.forget_initialized(it));
}

/// Returns the actions of the code (calls and initialisations, for example), and those of the method handles of the
/// function objects that the code creates.
fn actions_of(code: &CodeSummary) -> impl Iterator<Item = Action> {
    let handles = code.dynamics.iter().filter_map(|it| it.function.as_ref()).map(|it| it.handle);
    all_actions(code).chain(handles.map(Action::of_handle))
}

/// Adds to the table the function objects that the code of the method `owner` creates.
pub(super) fn add_functions(calls: &mut CallTable, owner: MethodId, code: &CodeSummary) {
    for (i, site) in (0..).zip(&code.dynamics) {
        if let Some(function) = &site.function {
            let next = FunctionSiteId::from_index(calls.functions.len());
            calls.first_function.entry(owner).or_insert(next);
            calls.functions.push(FunctionSite { function: function.clone(), owner, site: i });
        }
    }
}
