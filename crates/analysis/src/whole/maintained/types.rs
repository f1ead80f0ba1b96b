//! Updates the exception sets after throwable types were added, removed or changed.

use std::sync::Arc;

use program::hierarchy::ClassId;
use program::members::MethodId;

use super::intake::Intake;
use crate::whole::sites::{DispatchId, Node};
use crate::whole::throwables::{Follow, Followed, UnknownTypes, follow};

/// Returns what the current exception sets assume about unknown throwable types: the facts that decide whether a
/// known type may have unknown direct subclasses.
pub(super) fn unknown_types(intake: &Intake<'_>) -> UnknownTypes {
    let calls = &intake.calls;
    UnknownTypes::of_universe(calls.options.world, &calls.classes.hierarchy, &intake.ex.universe)
}

/// Updates the exception sets so that they cover exactly the throwable types that exist or are named. Code that names
/// a changed type becomes stale. `unknown` is what the sets assumed about unknown types before the change. Returns
/// `false` if the sets cannot be updated and must be rebuilt.
pub(super) fn sets_follow(intake: &mut Intake<'_>, unknown: UnknownTypes) -> bool {
    let mut classes = std::mem::take(&mut intake.stale.types);
    classes.extend(intake.index.mentions.take_touched());
    let hierarchy = Arc::clone(&intake.calls.classes.hierarchy);
    let mentions = &intake.index.mentions;
    let how = Follow { hierarchy: &hierarchy, unknown, is_named: &|it| !mentions.throwing(it).is_empty() };
    let universe = &mut intake.ex.universe;
    let others = match follow(universe, &how, classes.into_iter()) {
        Followed::Same => return true,
        Followed::Others(it) => it,
        Followed::Refused => return false,
    };
    // A set may now consist of other types, by name, although its id stays.
    intake.touched.all = true;
    if intake.calls.loading.is_some() {
        // The inclusions of this node pass through a function that distinguishes types.
        intake.stale.node(Node::Loading);
    }
    let Some(functions) = intake.ex.functions_changed() else { return false };
    intake.following.solver.functions_changed(functions.iter().copied());
    let naming = others.gone.iter().flat_map(|it| mentions.throwing(*it));
    let if_types = others.gone.iter().chain(&others.come).flat_map(|it| mentions.if_type(*it));
    let mut naming: Vec<ClassId> = naming.chain(if_types).copied().collect();
    naming.sort_unstable();
    naming.dedup();
    mark_naming_classes_stale(intake, &naming);
    true
}

/// Marks as stale the methods of the classes `naming`, and the dispatches whose exceptions depend on the throws
/// clauses of these classes.
fn mark_naming_classes_stale(intake: &mut Intake<'_>, naming: &[ClassId]) {
    for &class in naming {
        intake.look_at_methods(class);
    }
    if naming.is_empty() {
        return;
    }
    // Proxies let out the exceptions that their methods declare; under `--assume contract` so do unknown overriding
    // methods.
    let declares = |it: MethodId| naming.binary_search(&it.class).is_ok();
    for (i, dispatch) in (0..).map(DispatchId::from_index).zip(intake.calls.dispatches.all()) {
        let is_of_clause = dispatch.handlers.is_some() || intake.calls.options.assume_contract;
        if is_of_clause && dispatch.resolved().is_some_and(declares) {
            intake.stale.node(Node::Dispatch(i));
        }
    }
}
