//! Computes a solved program from joined classes: resolves the calls, builds the system of inclusions, and computes
//! its least solution.

use flow::fuel::{Cancelled, Fuel, uncancelled};
use flow::solver::{Solution, solve_cancellable};

use super::lattice::{Exceptions, Value};
use super::nodes::{Counts, Nodes};
use super::reachable::Roots;
use super::resolved::resolved_cancellable;
use super::solved::SolvedProgram;
use super::system::system;
use super::tables::{CallTable, ClassTable, WholeOptions};
use super::throwables::universe;

/// Computes the targets of a program's calls, and the exceptions that its methods let out. If `roots` is given, the
/// code that is reached from its entry points is searched for, and calls go only to the receivers that `roots` allows.
pub fn solved(
    classes: ClassTable,
    options: WholeOptions,
    roots: Option<Roots>,
) -> (SolvedProgram, Exceptions) {
    uncancelled(|fuel| solved_cancellable(classes, options, roots, fuel))
}

/// Computes a solved program like [`solved`], but the work may be cancelled.
///
/// # Errors
/// When the work is cancelled.
pub fn solved_cancellable(
    classes: ClassTable,
    options: WholeOptions,
    roots: Option<Roots>,
    fuel: &mut Fuel<'_>,
) -> Result<(SolvedProgram, Exceptions), Cancelled> {
    let calls = resolved_cancellable(classes, options, roots, fuel)?;
    let mut exceptions = empty_sets(&calls, fuel)?;
    fuel.ask()?;
    let mut nodes = nodes(&calls, fuel)?;
    fuel.ask()?;
    let system = system(&calls, &mut nodes, &mut exceptions, fuel)?;
    let solution = solve_cancellable(&system, &mut exceptions, fuel)?;
    Ok((SolvedProgram::new(calls, nodes, system, solution), exceptions))
}

/// Creates the lattice of exception sets over the throwable types of a program.
fn empty_sets(calls: &CallTable, fuel: &mut Fuel<'_>) -> Result<Exceptions, Cancelled> {
    let mut summaries = calls.classes.summaries.iter().map(|it| &**it);
    let universe = universe(&calls.classes.hierarchy, calls.options.world, &mut summaries, fuel)?;
    Ok(Exceptions::new(universe))
}

fn nodes(calls: &CallTable, fuel: &mut Fuel<'_>) -> Result<Nodes, Cancelled> {
    let hierarchy = &calls.classes.hierarchy;
    let counts = Counts {
        functions: calls.functions.len(),
        dispatches: calls.dispatches.all().len(),
        has_loading: calls.loading.is_some(),
    };
    let methods = hierarchy.ids().map(|it| hierarchy.outline(it).methods.len());
    let rethrowing = calls.classes.codes().map(|(id, code)| (id, code.summary.rethrowing.len()));
    Nodes::new(methods, rethrowing, counts, fuel)
}

/// Computes the exceptions of all nodes of a program again, from scratch. Benches and tests compare the result with
/// the program's own solution.
pub fn propagation(program: &SolvedProgram) -> Solution<Value> {
    uncancelled(|fuel| {
        let mut exceptions = empty_sets(&program.calls, fuel)?;
        let mut nodes = program.nodes.clone();
        let system = system(&program.calls, &mut nodes, &mut exceptions, fuel)?;
        solve_cancellable(&system, &mut exceptions, fuel)
    })
}
