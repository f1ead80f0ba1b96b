//! Applies a change of a class's code when everything else in the class is unchanged. Then only inclusions change.

use std::sync::Arc;

use flow::functional::Function;
use program::hierarchy::ClassId;
use program::members::MethodId;

use super::intake::Intake;
use super::mentions::Named;
use crate::summary::{ClassSummary, CodeSummary, MethodSummary};
use crate::whole::record::ClassChange;
use crate::whole::resolved::{ask_code, forget_initialized};
use crate::whole::sites::Node;

/// Applies the change of a class if the change affects only the inclusions of the class's methods, that is, the
/// exceptions that they raise or include; otherwise does nothing. Returns whether the change was applied.
pub(super) fn take_in_code(intake: &mut Intake<'_>, change: &ClassChange) -> bool {
    let ClassChange { class: Some(class), now: Some((outline, summary, role)) } = change else {
        return false;
    };
    let hierarchy = &intake.calls.classes.hierarchy;
    let is_same = hierarchy.outline(*class) == outline && hierarchy.role(*class) == *role;
    if !is_same || !code_stays(intake, *class, summary) {
        return false;
    }
    intake.index.mentions.set(*class, Some(Named::by(outline, summary)));
    change_code(intake, *class, summary);
    true
}

/// Returns whether replacing the code of a class by `now` changes only the inclusions of the class's methods, that
/// is, the exceptions that they raise or include.
fn code_stays(intake: &Intake<'_>, class: ClassId, now: &ClassSummary) -> bool {
    let Some(before) = intake.calls.classes.summaries.get(class.index()) else { return false };
    before.methods.len() == now.methods.len()
        && before.methods.iter().zip(&now.methods).enumerate().all(|(i, (before, now))| {
            let id = MethodId::new(class, i);
            match (before, now) {
                _ if before == now || intake.calls.classes.ghost(id).is_some() => true,
                (MethodSummary::Known(before), MethodSummary::Known(now)) => method_stays(before, now),
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

fn method_stays(before: &CodeSummary, now: &CodeSummary) -> bool {
    let functions = |it: &CodeSummary| -> Vec<Option<Function>> {
        it.dynamics.iter().map(|it| it.function.clone()).collect()
    };
    // Code that calls the method decides by its used parameters whether the method is analysed in a context.
    functions(before) == functions(now) && before.summary.used_parameters == now.summary.used_parameters
}

/// Replaces the code of a class by `now`, and marks the affected nodes as stale. The function [`code_stays`] must
/// return true for `now`.
fn change_code(intake: &mut Intake<'_>, class: ClassId, now: &Arc<ClassSummary>) {
    let before = Arc::clone(&intake.calls.classes.summaries[class.index()]);
    Arc::make_mut(&mut intake.calls.classes.summaries)[class.index()] = Arc::clone(now);
    intake.touched.classes.insert(intake.calls.classes.hierarchy.name(class));
    if intake.calls.options.link_errors {
        // Linking a class resolves the classes that the exception-table rows of its code name.
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
        let contexts = intake.index.contexts.get(&class).into_iter().flatten().filter(|it| it.0 == id);
        let handlers =
            contexts.flat_map(|it| (n..gone).map(|handler| Node::ContextHandler(it.0, it.1, handler)));
        handlers.for_each(|it| intake.stale.gone(it));
        intake.look_again(id);
    }
}
