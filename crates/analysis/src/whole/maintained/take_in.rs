//! Takes in changed classes: finds what of a maintained program is stale by them.

use std::sync::Arc;

use flow::functional::Function;
use program::hierarchy::ClassId;
use program::input::{Role, WorldKind};
use program::members::MethodId;
use program::members::declared::declared;

use super::intake::{Intake, present};
use super::mentions::Named;
use super::moved::move_classes;
use crate::summary::{ClassSummary, CodeSummary, MethodSummary};
use crate::whole::constructing::same_on_this;
use crate::whole::dispatch::edit;
use crate::whole::proxies::{RuntimeObjects, made_by, makers, mark_again, mark_some};
use crate::whole::reads::Read;
use crate::whole::record::ClassChange;
use crate::whole::resolved::{ask_code, ask_upcalls, forget_initialized};
use crate::whole::sites::{DispatchId, Node};
use crate::whole::throwables::{Follow, Followed, UnknownTypes, follow};

pub(super) fn take_in(intake: &mut Intake<'_>, changes: Vec<ClassChange>) -> bool {
    let universe = &intake.ex.universe;
    let unknown =
        UnknownTypes::of_universe(intake.calls.options.world, &intake.calls.classes.hierarchy, universe);
    let named_absent = names_absent(intake);
    follow_calls(intake, &changes);
    let mut moving = Vec::new();
    for change in changes {
        match &change {
            ClassChange { class: Some(class), now: Some((outline, summary, role)) }
                if intake.calls.classes.hierarchy.outline(*class) == outline
                    && intake.calls.classes.hierarchy.role(*class) == *role
                    && code_stays(intake, *class, summary) =>
            {
                intake.index.mentions.set(*class, Some(Named::by(outline, summary)));
                change_code(intake, *class, summary);
            }
            _ => moving.push(change),
        }
    }
    if !moving.is_empty() && !move_classes(intake, &moving) {
        return false;
    }
    if names_absent(intake) != named_absent {
        // What may be below any class at all is different.
        return false;
    }
    if intake.stale.is_unsearched {
        ask_upcalls(intake.calls);
    }
    if edit::has_fresh(&intake.calls.dispatches) {
        let functions = present(intake.index, &intake.calls.functions);
        edit::offer_fresh_to_functions(&mut intake.calls.dispatches, functions);
    }
    let causes = edit::unsettled_causes(&intake.calls.dispatches);
    let mut touched = edit::settle(&mut intake.calls.dispatches);
    if intake.calls.options.world != WorldKind::Open {
        let made = made_now(intake);
        if made == intake.index.made {
            mark_some(intake.calls, made, &touched);
        } else {
            let marked = mark_again(intake.calls, made);
            intake.touched.reads.extend(marked.iter().copied().map(Read::Cause));
            touched.extend(marked);
            intake.index.made = made;
        }
    }
    let others = causes.into_iter().filter(|it| edit::cause_of(&intake.calls.dispatches, it.0) != it.1);
    intake.touched.reads.extend(others.map(|it| Read::Cause(it.0)));
    intake.touched.reads.extend(touched.iter().copied().map(Read::Dispatch));
    if intake.stale.is_unsearched {
        intake.stale.unnarrowed.extend(&touched);
    } else {
        intake.follow_loaders();
    }
    intake.stale.nodes(touched.into_iter().map(Node::Dispatch));
    sets_follow(intake, unknown)
}

/// Notes whether code calls methods of absent classes, in the world where that matters.
fn follow_calls(intake: &mut Intake<'_>, changes: &[ClassChange]) {
    let Some(called) = &mut intake.index.called else { return };
    called.change(&intake.calls.classes.hierarchy, changes);
    if intake.calls.classes.surroundings.options.names_outside != called.any_absent() {
        Arc::make_mut(&mut intake.calls.classes.surroundings).options.names_outside = called.any_absent();
    }
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

/// What the program makes at run time.
fn made_now(intake: &Intake<'_>) -> RuntimeObjects {
    let classes = makers().flat_map(|it| intake.index.mentions.of(it));
    let classes = classes.filter(|it| intake.calls.classes.hierarchy.role(**it) != Role::Jdk);
    let codes = classes.flat_map(|&class| {
        intake.calls.classes.methods_of(class).filter_map(|it| Some((it, intake.calls.classes.code(it)?)))
    });
    made_by(codes)
}

/// Gives the sets a place for every throwable type that there is or that is named, and for no other; no if they have to
/// be made anew. Code is looked at again that names one which is otherwise than before.
fn sets_follow(intake: &mut Intake<'_>, unknown: UnknownTypes) -> bool {
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
    // What sets are made of by name may be otherwise, though they are the same sets.
    intake.touched.all = true;
    if intake.calls.loading.is_some() {
        // What comes out of it goes through a function that tells types apart.
        intake.stale.node(Node::Loading);
    }
    let Some(functions) = intake.ex.functions_changed() else { return false };
    intake.following.solver.functions_changed(functions.iter().copied());
    let naming = others.gone.iter().flat_map(|it| mentions.throwing(*it));
    let if_types = others.gone.iter().chain(&others.come).flat_map(|it| mentions.if_type(*it));
    let mut naming: Vec<ClassId> = naming.chain(if_types).copied().collect();
    naming.sort_unstable();
    naming.dedup();
    look_at_throwing(intake, &naming);
    true
}

/// Makes what is made of throwable types stale that these classes name.
fn look_at_throwing(intake: &mut Intake<'_>, naming: &[ClassId]) {
    for &class in naming {
        intake.look_at_methods(class);
    }
    if naming.is_empty() {
        return;
    }
    // Proxies let out what their methods declare; under `--assume contract` so do unknown overriding methods.
    let declares = |it: MethodId| naming.binary_search(&it.class).is_ok();
    for (i, dispatch) in (0..).map(DispatchId::from_index).zip(intake.calls.dispatches.all()) {
        let is_of_clause = dispatch.handlers.is_some() || intake.calls.options.assume_contract;
        if is_of_clause && dispatch.resolved().is_some_and(declares) {
            intake.stale.node(Node::Dispatch(i));
        }
    }
}

/// Whether nothing but inclusions of methods changes with the code of a class.
fn code_stays(intake: &Intake<'_>, class: ClassId, now: &ClassSummary) -> bool {
    let Some(before) = intake.calls.classes.summaries.get(class.index()) else { return false };
    before.methods.len() == now.methods.len()
        && before.methods.iter().zip(&now.methods).enumerate().all(|(i, (before, now))| {
            let id = MethodId::new(class, i);
            match (before, now) {
                _ if before == now || intake.calls.classes.ghost(id).is_some() => true,
                (MethodSummary::Known(before), MethodSummary::Known(now)) => {
                    method_stays(intake, id, before, now)
                }
                (
                    MethodSummary::Known(_)
                    | MethodSummary::None
                    | MethodSummary::Missing
                    | MethodSummary::Unread,
                    _,
                ) => false,
            }
        })
}

fn method_stays(intake: &Intake<'_>, id: MethodId, before: &CodeSummary, now: &CodeSummary) -> bool {
    let is_constructor = declared(&intake.calls.classes.hierarchy, id).name.bytes() == b"<init>";
    let functions = |it: &CodeSummary| -> Vec<Option<Function>> {
        it.dynamics.iter().map(|it| it.function.clone()).collect()
    };
    functions(before) == functions(now) && (!is_constructor || same_on_this(before, now))
}

/// Sets the code of a class of which [`Intake::code_stays`] holds.
fn change_code(intake: &mut Intake<'_>, class: ClassId, now: &Arc<ClassSummary>) {
    let before = Arc::clone(&intake.calls.classes.summaries[class.index()]);
    Arc::make_mut(&mut intake.calls.classes.summaries)[class.index()] = Arc::clone(now);
    intake.touched.classes.insert(intake.calls.classes.hierarchy.name(class));
    if intake.calls.options.link_errors {
        // Linking resolves what the rows of its code name.
        intake.stale.node(Node::Initializer(class));
    }
    for (i, (before, now)) in before.methods.iter().zip(&now.methods).enumerate() {
        let (MethodSummary::Known(before), MethodSummary::Known(now)) = (before, now) else { continue };
        let id = MethodId::new(class, i);
        if before == now || intake.calls.classes.ghost(id).is_some() {
            continue;
        }
        forget_initialized(intake.calls, before);
        ask_code(intake.calls, id.class, now);
        let (n, gone) = (now.summary.rethrowing.len() as u32, before.summary.rethrowing.len() as u32);
        (n..gone).for_each(|it| intake.stale.gone(Node::Handler(id, it)));
        intake.look_again(id, now);
    }
}
