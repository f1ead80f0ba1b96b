//! Applies changes of classes: finds the parts of a maintained program that become stale.

use program::input::WorldKind;

use super::changed::take_in_code;
use super::intake::Intake;
use super::moved::move_classes;
use super::targets::settle_targets;
use super::types::{sets_follow, unknown_types};
use crate::whole::record::ClassChange;

/// Applies changes of classes to a maintained program; each class occurs at most once. Returns `false` if the effects
/// cannot be derived from the changed classes, so that the program must be rebuilt.
pub(super) fn take_in(intake: &mut Intake<'_>, changes: Vec<ClassChange>) -> bool {
    let unknown = unknown_types(intake);
    let named_absent = names_absent(intake);
    intake.index.follow_calls(&mut intake.calls.classes, &changes);
    let moving: Vec<ClassChange> = changes.into_iter().filter(|it| !take_in_code(intake, it)).collect();
    if !moving.is_empty() && !move_classes(intake, &moving) {
        return false;
    }
    if names_absent(intake) != named_absent {
        // The set of classes that may be below other classes has changed.
        return false;
    }
    settle_targets(intake);
    sets_follow(intake, unknown)
}

/// Whether the world is `declared` and the program names absent classes. Only then may unknown classes exist in the
/// `declared` world.
fn names_absent(intake: &Intake<'_>) -> bool {
    match intake.calls.options.world {
        WorldKind::Open | WorldKind::Closed => false,
        WorldKind::Declared => {
            intake.calls.classes.surroundings.options.names_outside
                || intake.calls.classes.hierarchy.has_absent_supertype()
        }
    }
}
