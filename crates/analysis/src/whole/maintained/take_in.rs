//! Takes in changed classes: finds what of a maintained program is stale by them.

use program::input::WorldKind;

use super::changed::take_in_code;
use super::intake::Intake;
use super::moved::move_classes;
use super::targets::settle_targets;
use super::types::{sets_follow, unknown_types};
use crate::whole::record::ClassChange;

/// Takes in the changes of some classes, each once. Returns `false` if more may change than can be found from the classes.
pub(super) fn take_in(intake: &mut Intake<'_>, changes: Vec<ClassChange>) -> bool {
    let unknown = unknown_types(intake);
    let named_absent = names_absent(intake);
    intake.index.follow_calls(&mut intake.calls.classes, &changes);
    let moving: Vec<ClassChange> = changes.into_iter().filter(|it| !take_in_code(intake, it)).collect();
    if !moving.is_empty() && !move_classes(intake, &moving) {
        return false;
    }
    if names_absent(intake) != named_absent {
        // What may be below any class at all is different.
        return false;
    }
    settle_targets(intake);
    sets_follow(intake, unknown)
}

/// Whether absent classes are named, in the world where unknown classes may exist only then.
fn names_absent(intake: &Intake<'_>) -> bool {
    match intake.calls.options.world {
        WorldKind::Open | WorldKind::Closed => false,
        WorldKind::Declared => {
            intake.calls.classes.surroundings.options.names_outside
                || intake.calls.classes.hierarchy.has_absent_supertype()
        }
    }
}
