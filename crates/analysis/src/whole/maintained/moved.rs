//! Moves classes that were removed, added, or changed in what other classes see. Each gets a new position in the
//! hierarchy, and its old position stays vacant.
//!
//! The effects of a move are found from the moved class, the classes above it, and the classes that name it:
//! - *Changed* are the classes whose supertypes changed, and those that were removed or added. The classes below them
//!   are changed as well.
//! - Only receivers that are changed, or above a changed class, may select other methods (a class may now have an
//!   instance through a class below it). Only a dispatch that names a changed class may resolve differently.
//! - Inclusions change only for methods of changed classes, for methods that name a changed class, and for these
//!   dispatches.

use std::sync::Arc;

use classfile::names::ClassName;
use flow::callbacks::callbacks;
use flow::throwables::well_known;
use program::hierarchy::{ClassId, Hierarchy};
use program::input::Role;
use program::outline::Outline;
use rustc_hash::FxHashSet;

use super::intake::{Intake, present};
use super::mentions::Named;
use crate::summary::ClassSummary;
use crate::whole::dispatch::edit::{Edit, edit, lend_hierarchy};
use crate::whole::implicit::{handler_invoke, makers};
use crate::whole::reads::Read;
use crate::whole::record::{ClassChange, refused};
use crate::whole::resolved::{add_functions, ask_code, forget_initialized};
use crate::whole::sites::{FunctionSiteId, Node};

/// The maximum number of moves of classes to new positions in the hierarchy; with more, the program is rebuilt. A
/// move leaves the old position vacant until the rebuild.
const MAX_MOVED: usize = 1 << 14;

/// The maximum number of classes that one update may affect: the changed classes and all classes below them. With
/// more, the program is rebuilt. For half this number of classes, an update is known to be faster than a rebuild.
const MAX_WITH_SUBTYPES: usize = 1 << 12;

/// Applies changes of classes to a program: removes the old versions of the classes from the hierarchy, and adds the
/// present versions at new positions. Returns `false` if the program must be rebuilt.
pub(super) fn move_classes(intake: &mut Intake<'_>, moving: &[ClassChange]) -> bool {
    intake.index.moved += moving.len();
    let old = &intake.calls.classes.hierarchy;
    let gone: Vec<ClassId> = moving.iter().filter_map(|it| it.class).collect();
    let come: Vec<_> = moving.iter().filter_map(|it| it.now.clone()).collect();
    let before = gone.iter().map(|&it| old.outline(it));
    let outlines: Vec<Arc<Outline>> = before.chain(come.iter().map(|it| &it.0)).cloned().collect();
    let of_platform =
        gone.iter().any(|&it| old.role(it) == Role::Jdk) || come.iter().any(|it| it.2 == Role::Jdk);
    if intake.index.moved > MAX_MOVED || of_platform || outlines.iter().any(|it| it.flags.is_module()) {
        return false;
    }
    remove_code(intake, &gone);
    let placed: Vec<_> = come.iter().map(|it| (Arc::clone(&it.0), it.2)).collect();
    // `Arc::make_mut` would copy the hierarchy if the dispatches still shared it.
    lend_hierarchy(&mut intake.calls.dispatches);
    let surroundings = Arc::clone(&intake.calls.classes.surroundings);
    let hierarchy = Arc::make_mut(&mut intake.calls.classes.hierarchy);
    let Some(edited) = hierarchy.edit(&gone, &placed, &surroundings, &mut intake.index.lists) else {
        return false;
    };
    let new = Arc::clone(&intake.calls.classes.hierarchy);
    let changed: FxHashSet<ClassId> = edited.changed.into_iter().collect();
    // The names of classes whose members may now be resolved or used differently.
    let before: Vec<(ClassName, &[ClassId])> =
        changed.iter().filter_map(|&it| edited.before.class(it, &new)).collect();
    let there = changed.iter().filter(|it| !new.is_vacant(**it)).map(|&it| new.name(it));
    let mut names: FxHashSet<ClassName> = before.iter().map(|it| it.0).chain(there).collect();
    intake.stale.types.extend(&names);
    // The member list of a nest's host decides whether the listed classes are nest mates (JVMS §5.4.4).
    names.extend(outlines.iter().flat_map(|it| it.nest_members.iter().copied()));
    if changed.len() > MAX_WITH_SUBTYPES || is_in_tables(&names) {
        return false;
    }
    let mut receivers = changed.clone();
    receivers.extend(before.iter().flat_map(|it| it.1));
    receivers.extend(changed.iter().flat_map(|&it| new.supers(it)));
    let open: Vec<ClassName> = edited.open_otherwise.into_iter().map(|it| new.name(it)).collect();
    // If a class opens a call, answers name the absent class that makes it extensible, so all answers may change.
    intake.touched.all |= !open.is_empty();
    intake.touched.reads.insert(Read::Classes);
    intake.touched.classes.extend(&names);
    intake.stale.types.extend(&open);

    place_code(intake, &new, come.iter().map(|it| &it.1));
    edit(
        &mut intake.calls.dispatches,
        &Edit {
            hierarchy: Arc::clone(&new),
            changed: &changed,
            receivers: &receivers,
            names: &names,
            open_otherwise: &open,
            functions: present(intake.index, &intake.calls.functions),
        },
    );
    mark_dependents_stale(intake, &changed, &names);
    true
}

/// Marks the nodes of the removed classes `gone` as gone, and removes the code of these classes from the indices.
fn remove_code(intake: &mut Intake<'_>, gone: &[ClassId]) {
    for &class in gone {
        intake.stale.gone(Node::Initializer(class));
        let program = intake.calls.classes.clone();
        for id in program.methods_of(class) {
            intake.stale.gone(Node::Method(id));
            if let Some(code) = program.code(id) {
                forget_initialized(intake.calls, code);
                let handlers = 0..code.summary.rethrowing.len() as u32;
                handlers.for_each(|it| intake.stale.gone(Node::Handler(id, it)));
            }
        }
        for it in intake.index.functions.remove(&class).into_iter().flatten() {
            intake.index.gone_functions.insert(it);
            intake.stale.gone(Node::Glue(it));
        }
        for (id, key) in intake.index.remove_contexts(&intake.calls.functions, class) {
            intake.stale.gone(Node::Context(id, key));
            let handlers = program.code(id).map_or(0, |it| it.summary.rethrowing.len() as u32);
            (0..handlers).for_each(|it| intake.stale.gone(Node::ContextHandler(id, key, it)));
        }
        intake.index.mentions.set(class, None);
        drop(program);
        Arc::make_mut(&mut intake.calls.classes.summaries)[class.index()] = Arc::default();
    }
}

/// Adds the code `come` of added classes to the program. These classes are the last ones in the hierarchy `new`;
/// `come` lists their code in the same order.
fn place_code<'a>(
    intake: &mut Intake<'_>,
    new: &Hierarchy,
    come: impl Iterator<Item = &'a Arc<ClassSummary>>,
) {
    intake.calls.classes.refused = Arc::new(refused(new));
    let come: Vec<&Arc<ClassSummary>> = come.collect();
    Arc::make_mut(&mut intake.calls.classes.summaries).extend(come.iter().copied().cloned());
    let program = intake.calls.classes.clone();
    for (class, summary) in new.ids().skip(new.len() - come.len()).zip(come) {
        intake.index.mentions.set(class, Some(Named::by(new.outline(class), summary)));
        for (id, code) in program.methods_of(class).filter_map(|it| Some((it, program.code(it)?))) {
            let first = intake.calls.functions.len();
            add_functions(intake.calls, id, code);
            let added = (first..intake.calls.functions.len()).map(FunctionSiteId::from_index);
            intake.index.functions.entry(class).or_default().extend(added);
        }
    }
}

/// Resolves the calls again in the code of the classes `changed`, and of the classes whose code names a class in
/// `names`. Marks the nodes of this code as stale.
fn mark_dependents_stale(
    intake: &mut Intake<'_>,
    changed: &FxHashSet<ClassId>,
    names: &FxHashSet<ClassName>,
) {
    let program = intake.calls.classes.clone();
    let hierarchy = &program.hierarchy;
    let mut callers: Vec<ClassId> = changed.iter().copied().collect();
    callers.extend(names.iter().flat_map(|it| intake.index.mentions.of(*it)));
    // For members of a nest, the cached resolutions of `super` calls in their code were removed.
    callers.extend(names.iter().filter_map(|it| hierarchy.class(*it)));
    callers.retain(|&it| !hierarchy.is_vacant(it));
    callers.sort_unstable();
    callers.dedup();
    intake.touched.classes.extend(callers.iter().map(|&it| hierarchy.name(it)));
    let codes = || {
        let methods = callers.iter().flat_map(|&it| program.methods_of(it));
        methods.filter_map(|it| Some((it, program.code(it)?)))
    };
    // All sites are requested first, because call targets decide which constructors get nodes of their own.
    codes().for_each(|it| forget_initialized(intake.calls, it.1));
    codes().for_each(|(id, code)| ask_code(intake.calls, id.class, code));
    for &class in &callers {
        intake.look_at_methods(class);
        intake.stale.nodes(intake.index.functions.get(&class).into_iter().flatten().copied().map(Node::Glue));
        intake.stale.nodes(intake.index.contexts_of(class));
    }
    if intake.calls.options.link_errors {
        // Linking a class resolves the classes that the rows of its code name.
        let mentions = &intake.index.mentions;
        let catching = names.iter().flat_map(|it| mentions.throwing(*it).iter().chain(mentions.if_type(*it)));
        intake.stale.nodes(catching.copied().map(Node::Initializer));
    }
    for &class in changed.iter().filter(|it| !hierarchy.is_vacant(**it)) {
        intake.stale.node(Node::Initializer(class));
        intake.stale.nodes(intake.index.contexts_of(class));
    }
}

/// Whether one of the classes `names` is `Object`, or occurs in the built-in tables of methods that the platform
/// calls and of methods that create proxies.
fn is_in_tables(names: &FxHashSet<ClassName>) -> bool {
    let called_back = callbacks().iter().flat_map(|it| {
        let calls = it.calls.map(|it| it.class());
        std::iter::once(it.class).chain(calls)
    });
    let made_at_run_time = makers().chain([handler_invoke().class()]);
    called_back.chain(made_at_run_time).chain([well_known().object]).any(|it| names.contains(&it))
}
