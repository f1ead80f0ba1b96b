//! Prepares a solved program for its first change: builds the indices from the parts that may change to the parts
//! that depend on them.

use flow::fuel::{Cancelled, Fuel};
use program::input::WorldKind;

use super::called::CalledClasses;
use super::index::EditIndex;
use super::intake::present;
use super::mentions::Named;
use crate::summary::{ClassSummary, MethodSummary};
use crate::whole::dispatch::edit;
use crate::whole::proxies::made_at_run_time;
use crate::whole::sites::{FunctionSiteId, Node};
use crate::whole::solved::SolvedProgram;

/// Builds the indices for finding the parts of a program that depend on a changed class. Also makes the dispatches of
/// the program store which method each receiver selects.
///
/// # Errors
/// When the work is cancelled. Then the dispatches store nothing.
pub(super) fn index(program: &mut SolvedProgram, fuel: &mut Fuel<'_>) -> Result<EditIndex, Cancelled> {
    let contexts: Vec<Node> = program.nodes.contexts().collect();
    let calls = program.parts().0;
    let hierarchy = &calls.classes.hierarchy;
    let mut acc = EditIndex { lists: hierarchy.lists(), ..EditIndex::default() };
    fuel.ask()?;
    for (class, summary) in hierarchy.ids().zip(&*calls.classes.summaries) {
        fuel.spend(cost_of_names(summary))?;
        acc.mentions.set(class, Some(Named::by(hierarchy.outline(class), summary)));
    }
    acc.mentions.take_touched();
    for (id, it) in FunctionSiteId::first(calls.functions.len()).zip(&calls.functions) {
        acc.functions.entry(it.owner.class).or_default().push(id);
    }
    for it in contexts {
        if let Node::Context(id, key) = it {
            acc.context(&calls.functions, id, key);
        }
    }
    if calls.options.world != WorldKind::Open {
        acc.made = made_at_run_time(calls, fuel)?;
    }
    if calls.options.world == WorldKind::Declared {
        let mut called = CalledClasses::default();
        for (class, summary) in hierarchy.ids().zip(&*calls.classes.summaries) {
            fuel.spend(cost_of_names(summary))?;
            called.set(hierarchy.name(class), Some(summary));
        }
        acc.called = Some(called);
    }
    edit::keep(&mut calls.dispatches, present(&acc, &calls.functions), fuel)?;
    Ok(acc)
}

/// Returns the approximate cost of visiting all names in the code of a class, in steps of [`Fuel`].
fn cost_of_names(summary: &ClassSummary) -> u32 {
    let items = |it: &MethodSummary| match it {
        MethodSummary::Known(code) => 1 + code.summary.items.len(),
        MethodSummary::None | MethodSummary::Missing | MethodSummary::Unread => 1,
    };
    summary.methods.iter().map(items).sum::<usize>() as u32
}
