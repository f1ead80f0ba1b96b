//! Updates the targets of dispatches after classes changed.

use program::input::{Role, WorldKind};

use super::intake::{Intake, present};
use crate::whole::dispatch::edit;
use crate::whole::implicit::RuntimeObjects;
use crate::whole::proxies::{made_by, mark_again, mark_some};
use crate::whole::reads::Read;
use crate::whole::resolved::ask_upcalls;
use crate::whole::sites::Node;

/// Recomputes the targets of the dispatches that are new or that a change may affect. Marks the nodes of dispatches
/// whose targets changed as stale, and records these dispatches for clients that store answers.
pub(super) fn settle_targets(intake: &mut Intake<'_>) {
    if intake.stale.is_unsearched {
        ask_upcalls(intake.calls);
    }
    if edit::has_fresh(&intake.calls.dispatches) {
        let functions = present(intake.index, &intake.calls.functions);
        edit::offer_fresh_to_functions(&mut intake.calls.dispatches, functions);
    }
    let causes = edit::unsettled_causes(&intake.calls.dispatches);
    let mut changed = edit::settle(&mut intake.calls.dispatches);
    if intake.calls.options.world != WorldKind::Open {
        let made = made_now(intake);
        if made == intake.index.made {
            mark_some(intake.calls, made, &changed);
        } else {
            let marked = mark_again(intake.calls, made);
            intake.touched.reads.extend(marked.iter().copied().map(Read::Cause));
            changed.extend(marked);
            intake.index.made = made;
        }
    }
    let others = causes.into_iter().filter(|it| edit::cause_of(&intake.calls.dispatches, it.0) != it.1);
    intake.touched.reads.extend(others.map(|it| Read::Cause(it.0)));
    intake.touched.reads.extend(changed.iter().copied().map(Read::Dispatch));
    if intake.stale.is_unsearched {
        intake.stale.unnarrowed.extend(&changed);
    } else {
        intake.follow_loaders();
    }
    intake.stale.nodes(changed.into_iter().map(Node::Dispatch));
}

/// Returns the kinds of objects that the present program creates and whose classes exist only at run time.
fn made_now(intake: &Intake<'_>) -> RuntimeObjects {
    let classes = intake.index.mentions.makers().iter();
    let classes = classes.filter(|it| intake.calls.classes.hierarchy.role(**it) != Role::Jdk);
    let codes = classes.flat_map(|&class| {
        intake.calls.classes.methods_of(class).filter_map(|it| Some((it, intake.calls.classes.code(it)?)))
    });
    made_by(codes)
}
