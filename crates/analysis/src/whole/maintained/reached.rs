//! Updates the reached code after classes have changed. The reached code is computed from scratch, because one edit
//! may disconnect much code that then only reaches itself. Which method each receiver selects is stored
//! ([`super::super::dispatch`]), so the cost of the search is linear in the reached code. Then the targets of those
//! dispatches are narrowed again whose receivers have become, or are no longer, instantiated.

use flow::fuel::{Cancelled, Fuel};

use super::intake::Intake;
use crate::whole::dispatch::edit::narrow_again;
use crate::whole::reach::reachable;
use crate::whole::reachable::Roots;
use crate::whole::reads::Read;
use crate::whole::sites::Node;

/// Recomputes the code that is reached from the entry points of `roots`, and restricts the targets of virtual calls to
/// those that the receivers of `roots` select.
///
/// # Errors
/// When the work is cancelled. Then nothing has changed, and the next call starts from the beginning.
pub(super) fn reach_again(
    intake: &mut Intake<'_>,
    roots: Roots,
    fuel: &mut Fuel<'_>,
) -> Result<(), Cancelled> {
    let now = reachable(intake.calls, roots, &intake.calls.dispatches, fuel)?;
    let Some(before) = &intake.calls.reachable else {
        always_assert::never!("the program must have the result of an earlier search for reached code");
        return Ok(());
    };
    let dispatches = now.other_dispatches(before, fuel)?;
    let classes = now.classes_with_others(before, fuel)?;
    // From here on the work cannot be cancelled, because a partly narrowed program would be unusable.
    intake.stale.unnarrowed.extend(dispatches);
    // Answers contain whether a method is reached. Removed classes are touched in any case.
    let hierarchy = &intake.calls.classes.hierarchy;
    let present = classes.into_iter().filter(|it| !hierarchy.is_vacant(*it));
    intake.touched.classes.extend(present.map(|it| hierarchy.name(it)));
    let ids = std::mem::take(&mut intake.stale.unnarrowed);
    let narrowed =
        narrow_again(&mut intake.calls.dispatches, ids, |dispatch, target| now.is_selected(dispatch, target));
    intake.touched.reads.extend(narrowed.iter().copied().map(Read::Dispatch));
    intake.touched.reads.extend((!now.makes_same(before)).then_some(Read::Made));
    intake.stale.nodes(narrowed.into_iter().map(Node::Dispatch));
    intake.calls.reachable = Some(now);
    intake.follow_loaders();
    intake.stale.is_unsearched = false;
    Ok(())
}
