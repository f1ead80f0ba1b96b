//! A solved program: where its calls go, the system of inclusions over sets of exceptions, and its least solution.

use std::sync::Arc;

use flow::distances::Moved;
use flow::fuel::{Cancelled, Fuel, uncancelled};
use flow::incremental::Incremental;
use flow::solver::{FunctionId, NodeId, Solution, System, solve_cancellable};
use program::members::MethodId;
use rustc_hash::FxHashMap;

use super::constructing::constructions;
use super::flows::Flows;
use super::lattice::{Exceptions, Value};
use super::nearness::Nearness;
use super::nodes::{Counts, Nodes};
use super::ranks::Ranks;
use super::reachable::EntryPoint;
use super::reads::{Read, note};
use super::resolved::resolved_cancellable;
use super::sites::Node;
use super::system::{Inclusions, system};
use super::tables::{CallTable, ClassTable, Options};
use super::throwables::universe;

/// A program with what its methods let out. The sets of exceptions, which everybody who asks extends, are no part of it.
pub struct SolvedProgram {
    /// Where its calls go.
    pub calls: CallTable,
    /// The numbers of the nodes of the system.
    pub(super) nodes: Nodes,
    /// The system as it was built first.
    system: System<Value>,
    solution: Solved,
    /// The order of classes by text.
    pub(super) ranks: Ranks,
    /// How far each node is from where something arises.
    pub(super) nearness: Nearness,
}

/// The least solution of the system.
enum Solved {
    /// The solution of the system as it was built.
    Once(Solution<Value>),
    /// A solution that follows changes of the system.
    Following(Box<Following>),
}

/// A system that changes, with its least solution.
pub(super) struct Following {
    /// The changed system and its solution.
    pub(super) solver: Incremental<Value>,
    /// The inclusions of the nodes that differ from those in [`SolvedProgram::system`].
    pub(super) changed: FxHashMap<NodeId, Inclusions>,
}

/// Resolves the calls of a program and solves it. With `entries` the calls go only to receivers that code makes which is
/// reached from there.
pub fn solved(
    classes: ClassTable,
    options: Options,
    entries: Option<Vec<EntryPoint>>,
) -> (SolvedProgram, Exceptions) {
    uncancelled(|fuel| solved_cancellable(classes, options, entries, fuel))
}

/// [`solved`], for work that may be cancelled.
///
/// # Errors
/// When the work is not wanted any more.
pub fn solved_cancellable(
    classes: ClassTable,
    options: Options,
    entries: Option<Vec<EntryPoint>>,
    fuel: &mut Fuel<'_>,
) -> Result<(SolvedProgram, Exceptions), Cancelled> {
    let calls = resolved_cancellable(classes, options, entries, fuel)?;
    let mut exceptions = empty_sets(&calls, fuel)?;
    fuel.ask()?;
    let nodes = nodes(&calls, fuel)?;
    fuel.ask()?;
    let system = system(&calls, &nodes, &mut exceptions, fuel)?;
    let solution = Solved::Once(solve_cancellable(&system, &mut exceptions, fuel)?);
    let (ranks, nearness) = (Ranks::default(), Nearness::default());
    Ok((SolvedProgram { calls, nodes, system, solution, ranks, nearness }, exceptions))
}

/// The lattice of sets over the throwable types of a program.
fn empty_sets(calls: &CallTable, fuel: &mut Fuel<'_>) -> Result<Exceptions, Cancelled> {
    let mut summaries = calls.classes.summaries.iter().map(|it| &**it);
    let universe = universe(&calls.classes.hierarchy, calls.options.world, &mut summaries, fuel)?;
    Ok(Exceptions::new(universe))
}

fn nodes(calls: &CallTable, fuel: &mut Fuel<'_>) -> Result<Nodes, Cancelled> {
    let hierarchy = Arc::clone(&calls.classes.hierarchy);
    let counts = Counts {
        constructions: constructions(calls, fuel)?,
        functions: calls.functions.len(),
        dispatches: calls.dispatches.all().len(),
        has_loading: calls.loading.is_some(),
    };
    let methods = hierarchy.ids().map(|it| hierarchy.outline(it).methods.len());
    let rethrowing = calls.classes.codes().map(|(id, code)| (id, code.summary.rethrowing.len()));
    Nodes::new(methods, rethrowing, counts, fuel)
}

/// Solves a solved program again, from nothing: benches and tests compare that with the solution that it has.
pub fn propagation(program: &SolvedProgram) -> Solution<Value> {
    uncancelled(|fuel| {
        let mut exceptions = empty_sets(&program.calls, fuel)?;
        let system = system(&program.calls, &program.nodes, &mut exceptions, fuel)?;
        solve_cancellable(&system, &mut exceptions, fuel)
    })
}

impl SolvedProgram {
    /// What a method lets out.
    pub fn lets_out(&self, id: MethodId) -> Value {
        self.value(Node::Method(id))
    }

    /// What a node lets out.
    pub(super) fn value(&self, node: Node) -> Value {
        self.value_of(self.nodes.id(node))
    }

    /// What the node with this id lets out.
    pub(super) fn value_of(&self, node: NodeId) -> Value {
        note(Read::Value(node));
        match &self.solution {
            Solved::Once(it) => it.value(node),
            Solved::Following(it) => it.solver.value(node),
        }
    }

    /// What a node has of itself, and what flows into it. Whoever reads it for an answer notes what of it.
    pub(super) fn inclusions(&self, node: NodeId) -> (Value, &[(NodeId, FunctionId)]) {
        if let Solved::Following(it) = &self.solution
            && let Some((value, edges)) = it.changed.get(&node)
        {
            return (*value, edges);
        }
        let at = node.index();
        if at >= self.system.values.len() {
            return (Value::NOTHING, &[]);
        }
        let edges = &self.system.edges[self.system.starts[at] as usize..self.system.starts[at + 1] as usize];
        (self.system.values[at], edges)
    }

    /// What flows out of sources in the program.
    pub(super) fn flows(&self) -> Flows<'_> {
        Flows { calls: &self.calls, nodes: &self.nodes }
    }

    /// The system for a solver that follows changes. The solver has not solved it yet.
    ///
    /// # Errors
    /// When the work is not wanted any more.
    pub(super) fn unsolved(&self, fuel: &mut Fuel<'_>) -> Result<Incremental<Value>, Cancelled> {
        let mut acc = Incremental::new(Value::NOTHING);
        let nodes: Vec<NodeId> = self.system.values.iter().map(|_| acc.add()).collect();
        for node in nodes {
            let (value, edges) = self.inclusions(node);
            fuel.spend(2 + edges.len() as u32)?;
            acc.update(node, value, edges.iter().copied());
        }
        Ok(acc)
    }

    /// Lets the solution follow changes from here on; `solver` has solved the system.
    pub(super) fn follow(&mut self, solver: Incremental<Value>) {
        self.nearness = Nearness::kept(&solver);
        self.solution = Solved::Following(Box::new(Following { solver, changed: FxHashMap::default() }));
    }

    /// The program's parts for whoever changes it; the last one is `None` while the solution does not follow changes.
    pub(super) fn parts(&mut self) -> (&mut CallTable, &mut Nodes, Option<&mut Following>) {
        let following = match &mut self.solution {
            Solved::Once(_) => None,
            Solved::Following(it) => Some(&mut **it),
        };
        (&mut self.calls, &mut self.nodes, following)
    }

    /// The solution that follows changes, if it does.
    pub(super) fn following(&self) -> Option<&Following> {
        match &self.solution {
            Solved::Once(_) => None,
            Solved::Following(it) => Some(it),
        }
    }

    /// Brings distances up to date after these nodes changed. Returns the nodes that are nearer to where something open arises
    /// than before, or farther, and how far they were.
    pub(super) fn follow_distances(&mut self, changed: impl IntoIterator<Item = NodeId>) -> Moved {
        match &self.solution {
            Solved::Once(_) => Moved::default(),
            Solved::Following(it) => self.nearness.follow(&it.solver, changed),
        }
    }

    /// Frees the program piece by piece: each step of the iterator takes at most a few milliseconds.
    pub(super) fn freeing(self) -> impl Iterator<Item = ()> {
        let SolvedProgram { calls, solution, .. } = self;
        let following = match solution {
            Solved::Once(_) => None,
            Solved::Following(it) => Some(*it),
        };
        let solver = following.into_iter().flat_map(|it| {
            let Following { solver, changed } = it;
            solver.freeing().chain(changed.into_iter().map(drop))
        });
        calls.freeing().chain(solver)
    }
}
