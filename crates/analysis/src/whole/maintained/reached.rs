//! What is reached from entry points, after classes have changed: searched again from nothing, as one edit may let go of
//! much that only reached itself. What others may select is kept ([`super::super::dispatch`]), so the search costs no more
//! than what it reaches. Then dispatches whose receivers are made, or are no longer made, get other targets.

use flow::fuel::{Cancelled, Fuel};

use super::intake::Intake;
use crate::whole::reach::reachable;
use crate::whole::reachable::EntryPoint;
use crate::whole::reads::Read;
use crate::whole::sites::Node;

/// Finds what is reached from these entry points, and where calls go by that.
///
/// # Errors
/// When the work is not wanted any more. Then nothing changed, and the next call begins again.
pub(super) fn reach_again(
    intake: &mut Intake<'_>,
    entries: Vec<EntryPoint>,
    fuel: &mut Fuel<'_>,
) -> Result<(), Cancelled> {
    let now = reachable(intake.calls, entries, &intake.calls.dispatches, fuel)?;
    let Some(before) = &intake.calls.reachable else {
        always_assert::never!("only a program that was searched is searched again");
        return Ok(());
    };
    let dispatches = now.other_dispatches(before, fuel)?;
    let classes = now.classes_with_others(before, fuel)?;
    // From here on nobody asks whether the work is wanted: a program that is narrowed in part is of no use.
    intake.stale.unnarrowed.extend(dispatches);
    // Answers say whether a method is reached. Classes that went are touched anyway.
    let hierarchy = &intake.calls.classes.hierarchy;
    let present = classes.into_iter().filter(|it| !hierarchy.is_vacant(*it));
    intake.touched.classes.extend(present.map(|it| hierarchy.name(it)));
    let ids = std::mem::take(&mut intake.stale.unnarrowed);
    let narrowed =
        intake.calls.dispatches.narrow_again(ids, |dispatch, target| now.is_selected(dispatch, target));
    intake.touched.reads.extend(narrowed.iter().copied().map(Read::Dispatch));
    intake.stale.nodes(narrowed.into_iter().map(Node::Dispatch));
    intake.calls.reachable = Some(now);
    intake.follow_loaders();
    intake.stale.is_unsearched = false;
    Ok(())
}
