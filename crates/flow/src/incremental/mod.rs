//! The least solution of a system of inclusions, maintained while the system changes (`engine.md`, rule 3).
//!
//! Nodes, edges, functions and values are those of [`crate::solver`], and so is the solution: bit for bit the one
//! that [`crate::solver::solve`] finds. The cost of an update depends on what the edits affect.
//!
//! **Components.** Nodes that reach each other through identities have the same value; a JDK's call graph has such a
//! component of tens of thousands of nodes. Components are found once (`build`) and split when an edge is removed
//! without which they are not strongly connected (`split`). Two components that a new edge joins stay apart until
//! the next build, which costs a round.
//!
//! **Rounds.** Components are in an order in which nearly everything flows upwards. The value of a component after
//! `k` rounds is the join of what flows in from below, as of `k` rounds, and from above, as of `k - 1` rounds. That
//! is round-robin iteration (Kam, Ullman, "Global data flow analysis and iterative algorithms", 1976); all rounds
//! are kept, as in McSherry, Murray, Isaacs, Isard, "Differential dataflow" (2013), and in Szabó, Erdweg, Bergmann,
//! "Incremental whole-program analysis in Datalog with lattices" (2021). So no value depends on itself, not even
//! around a cycle, and deletion needs no over-deletion: a value is wrong only if one of an earlier round or of a
//! lower component is wrong. Few rounds change anything, and those change few components; most histories have one
//! entry (`history`).
//!
//! **Looking at a component** (`spread`) means joining what flows in; for a component with many edges the inflow is
//! counted by value (`counts`). If its history is wrong from round `k` on, it takes the right value of that round
//! *and forgets all later growth*, which may stem from something that is gone; then it waits for the next round in
//! which something flows in. A component that only gains something needs no look: functions distribute over joins,
//! so what it passes on is what it gained.

mod build;
mod counts;
mod edit;
mod graph;
mod history;
mod inflow;
mod order;
mod parts;
mod search;
mod split;
mod spread;
mod state;
#[cfg(test)]
mod tests;
mod work;

use std::hash::Hash;

use self::build::Sweep;
use self::edit::Edits;
use self::spread::Spreading;
use self::state::SolverState;
pub use self::state::Statistics;
use crate::fuel::{Cancelled, Fuel, PATIENCE};
use crate::solver::{FunctionId, Lattice, NodeId, System};

/// A changeable system of inclusions with its least solution.
///
/// Edits are only recorded and cost next to nothing; [`Incremental::solve`] does the work. It may be cancelled at
/// any time and continues at the next call, even after further edits; only the search for the components starts
/// over. If the lattice or `cancelled` panics, the next call does a full build; the system is not lost.
#[derive(Clone, Debug)]
pub struct Incremental<V> {
    state: SolverState<V>,
    /// Edits that were not yet applied to the graph.
    edits: Edits<V>,
    free: Vec<NodeId>,
    changed_functions: Vec<FunctionId>,
    /// The value of each node that `take_changed` has reported.
    told: Vec<V>,
    /// Whether the components in `state` belong to its graph as it is now.
    is_built: bool,
    /// Whether `solve` was entered and not left, as after a panic.
    is_running: bool,
    /// The progress of the first evaluation, if it is under way.
    sweep: Option<Sweep>,
    /// The progress of a notification, if one is under way.
    spreading: Option<Spreading<V>>,
    /// The maximum number of rounds that any value needed right after the last build.
    usual_rounds: Option<u32>,
    patience: u32,
}

impl<V> Incremental<V> {
    /// Frees the solver piece by piece: one piece with each step of the iterator, which takes little time.
    pub fn freeing(self) -> impl Iterator<Item = ()> {
        self.state.graph.freeing().chain(self.state.parts.freeing())
    }
}

impl<V: Copy + Eq + Hash> Incremental<V> {
    /// Creates a solver without nodes for a lattice with this least element.
    pub fn new(bottom: V) -> Self {
        Incremental {
            state: SolverState::new(bottom),
            edits: Edits::new(),
            free: Vec::new(),
            changed_functions: Vec::new(),
            told: Vec::new(),
            is_built: false,
            is_running: false,
            sweep: None,
            spreading: None,
            usual_rounds: None,
            patience: PATIENCE,
        }
    }

    /// Sets the number of steps between two cancellation checks; a step takes about 0.1 µs. For tests that cancel
    /// anywhere.
    pub fn set_patience(&mut self, steps: u32) {
        self.patience = steps;
    }

    /// The number of nodes, including removed ones.
    pub fn n_nodes(&self) -> usize {
        self.state.graph.n_nodes()
    }

    /// Reserves memory for `n` further nodes, so that adding one never has to wait while the data of all others is
    /// copied.
    pub fn reserve(&mut self, n: usize) {
        self.told.reserve(n);
        self.state.reserve(n);
    }

    /// Adds a node without value and edges; it reuses the number of a removed node if there is one.
    pub fn add(&mut self) -> NodeId {
        self.free.pop().unwrap_or_else(|| {
            let bottom = self.state.bottom;
            self.told.push(bottom);
            self.state.graph.add(bottom)
        })
    }

    /// Removes a node's value and edges, and lets [`Incremental::add`] reuse its number; until then the node must
    /// not be used. Edges from the node stay and then lead from the node that reuses the number, so the nodes that
    /// have them should be updated too.
    pub fn remove(&mut self, node: NodeId) {
        self.update(node, self.state.bottom, []);
        self.free.push(node);
    }

    /// Sets a node's own value, and replaces all its edges: what flows in, and through which function. Order and
    /// duplicates do not matter. The nodes must exist.
    pub fn update(&mut self, node: NodeId, value: V, edges: impl IntoIterator<Item = (NodeId, FunctionId)>) {
        let mut edges: Vec<_> = edges.into_iter().collect();
        graph::sort(&mut edges);
        let graph = &mut self.state.graph;
        if graph.value(node) == value && graph.has(node, &edges) {
            self.edits.forget(node);
        } else if self.is_built {
            self.edits.record(node, value, edges);
        } else {
            graph.replace(node, value, &edges);
            self.edits.forget(node);
        }
    }

    /// Reports that functions have changed since the last call of [`Incremental::solve`]. This is not needed for
    /// functions that give the same results as before on everything that can flow into them now, such as those that
    /// differ on new elements only.
    pub fn functions_changed(&mut self, functions: impl IntoIterator<Item = FunctionId>) {
        self.changed_functions.extend(functions);
    }

    /// Computes the least solution of the system as it is now.
    ///
    /// Calls `cancelled` first, and then at least every 50 µs, except during two rare operations that cannot be
    /// interrupted: moving thousands of nodes that split off a component, and sorting again what was queued when an
    /// earlier call was cancelled.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] if `cancelled` returned true. The work done so far is kept; until a later call succeeds, the
    /// values are not those of a solution.
    pub fn solve<L: Lattice<Value = V>>(
        &mut self,
        lattice: &mut L,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Result<(), Cancelled> {
        if std::mem::replace(&mut self.is_running, true) {
            self.is_built = false;
        }
        let result = self.run(lattice, &mut Fuel::new(self.patience, cancelled));
        self.is_running = false;
        result
    }

    fn run<L: Lattice<Value = V>>(&mut self, lattice: &mut L, fuel: &mut Fuel) -> Result<(), Cancelled> {
        fuel.spend(1)?;
        self.state.work.pause();
        let is_worn = self.is_built && build::is_worn(&self.state, self.edits.len(), self.usual_rounds);
        self.state.statistics.worn += u64::from(is_worn);
        if is_worn || !self.is_built {
            self.build(fuel)?;
        } else {
            let state = &mut self.state;
            // A notification that was cancelled halfway is finished before anything else changes.
            spread::spread(state, &mut self.spreading, lattice, fuel)?;
            edit::apply_functions(state, &mut self.changed_functions, lattice, fuel)?;
            edit::apply_edits(state, &mut self.edits, lattice, fuel)?;
            split::settle_doubts(state, lattice, fuel)?;
        }
        let state = &mut self.state;
        build::sweep(state, &mut self.sweep, lattice, fuel)?;
        state.work.resume(&state.order);
        spread::look_at_all(state, &mut self.spreading, lattice, fuel)?;
        self.usual_rounds.get_or_insert(state.statistics.rounds);
        Ok(())
    }

    /// Applies all edits to the graph, and replaces the components by those of the graph.
    fn build(&mut self, fuel: &mut Fuel) -> Result<(), Cancelled> {
        self.is_built = false;
        self.spreading = None;
        self.sweep = None;
        self.edits.apply_unbuilt(&mut self.state.graph, fuel)?;
        self.changed_functions.clear();
        build::build(&mut self.state, fuel)?;
        self.sweep = Some(Sweep::Looking(None));
        self.usual_rounds = None;
        self.is_built = true;
        Ok(())
    }

    /// The value of a node in the solution that [`Incremental::solve`] computed last; before the first call, the
    /// least value.
    pub fn value(&self, node: NodeId) -> V {
        let SolverState { bottom, parts, .. } = &self.state;
        if node.index() < parts.n_nodes() { parts.history(parts.of(node)).last() } else { *bottom }
    }

    /// The node's own value, as of the edits that [`Incremental::solve`] has applied.
    pub fn own(&self, node: NodeId) -> V {
        self.state.graph.value(node)
    }

    /// The nodes from which something flows into a node, as of the edits that [`Incremental::solve`] has applied.
    pub fn flows_in(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.state.graph.edges(node).iter().map(|it| it.of)
    }

    /// The nodes into which something flows from a node, as of the edits that [`Incremental::solve`] has applied.
    pub fn users(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.state.graph.users(node).iter().map(|it| it.node)
    }

    /// Returns the nodes whose value changed since the last call, in ascending order. New nodes count as having had
    /// the least value.
    pub fn take_changed(&mut self) -> Vec<NodeId> {
        let mut changed = Vec::new();
        let parts = &mut self.state.parts;
        for id in std::mem::take(&mut self.state.touched) {
            parts.get_mut(id).touched = false;
            let value = parts.history(id).last();
            for node in parts.nodes(id) {
                let told = &mut self.told[node.index()];
                if std::mem::replace(told, value) != value {
                    changed.push(node);
                }
            }
        }
        changed.sort_unstable();
        changed
    }

    /// The system as it is now, with all edits, for [`crate::solver::solve`].
    pub fn system(&self) -> System<V> {
        self.state.graph.system(|node| self.edits.of(node))
    }

    /// Counters of the work done so far.
    pub fn statistics(&self) -> Statistics {
        self.state.statistics
    }
}
