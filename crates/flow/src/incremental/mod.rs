//! The least solution of a system of inclusions, maintained while the system changes (`engine.md`, rule 3).
//!
//! Nodes, edges, functions and values are those of [`crate::solver`], and the solution equals bit for bit the
//! solution that [`crate::solver::solve`] finds. The cost of an update depends on the part of the system that the
//! edits affect.
//!
//! **Components.** Nodes that reach each other through identities have the same value; a JDK's call graph has a
//! component of tens of thousands of such nodes. Components are found once (`build`), and split when an edge is
//! removed without which they are not strongly connected (`split`). If a new edge connects two components to one,
//! they stay apart until the next build, which costs a round.
//!
//! **Rounds.** Components are in an order in which nearly all values flow upwards. The value of a component after `k`
//! rounds is the join of two kinds of incoming values: those from lower components after `k` rounds, and those from
//! higher components after `k - 1` rounds. This is round-robin iteration (Kam, Ullman, "Global data flow analysis and
//! iterative algorithms", 1976). The values after all rounds are kept, as in McSherry, Murray, Isaacs, Isard,
//! "Differential dataflow" (2013), and in Szabó, Erdweg, Bergmann, "Incremental whole-program analysis in Datalog
//! with lattices" (2021). So no value depends on itself, not even around a cycle, and deletion needs no
//! over-deletion: a value is wrong only if a value of an earlier round or of a lower component is wrong. Few rounds
//! change values, and these change few components; most components have the same value after all rounds (`history`).
//!
//! **Evaluating a component** (`spread`) means joining the values that flow in; for a component with many edges these
//! values are counted (`counts`). If the component's values are wrong from round `k` on, the component gets the right
//! value of round `k`, *and this value for all later rounds, too*, because later growth may be due to a removed
//! value. The component is then queued for the next round in which a value flows in. A component into which values
//! are only added need not be evaluated: functions distribute over joins, so it passes on just the added values.

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
/// Edits are recorded, which is cheap; [`Incremental::solve`] applies them and updates the solution. A call of
/// `solve` may be cancelled at any time. The next call continues the work, even after further edits; only a search
/// for components starts over. If the lattice or `cancelled` panics, the system is kept, and the next call does a
/// full build.
#[derive(Clone, Debug)]
pub struct Incremental<V> {
    state: SolverState<V>,
    /// The edits that are recorded but not yet applied to the graph.
    edits: Edits<V>,
    free: Vec<NodeId>,
    changed_functions: Vec<FunctionId>,
    /// The value of each node at the time of the last call of `take_changed`.
    told: Vec<V>,
    /// Whether the components in `state` are those of its graph. If not, the next call of `solve` does a full build.
    is_built: bool,
    /// Whether a call of `solve` is running, or was ended by a panic.
    is_running: bool,
    /// The progress of the first evaluation of all components after a full build; `None` if that is complete.
    sweep: Option<Sweep>,
    /// The progress of notifying the components into which a changed value flows; `None` if that is complete.
    spreading: Option<Spreading<V>>,
    /// The maximum number of rounds that any value needed in the first solution after the last full build.
    usual_rounds: Option<u32>,
    patience: u32,
}

impl<V> Incremental<V> {
    /// Frees the solver in small steps, one per item of the iterator, so that the caller can stop in between.
    pub fn freeing(self) -> impl Iterator<Item = ()> {
        self.state.graph.freeing().chain(self.state.parts.freeing())
    }
}

impl<V: Copy + Eq + Hash> Incremental<V> {
    /// Creates a solver without nodes for a lattice with the least element `bottom`.
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

    /// Sets the number of steps between two cancellation checks; a step takes about 0.1 µs. Tests use this to cancel
    /// at any point.
    pub fn set_patience(&mut self, steps: u32) {
        self.patience = steps;
    }

    /// Returns the number of nodes, including removed ones.
    pub fn n_nodes(&self) -> usize {
        self.state.graph.n_nodes()
    }

    /// Reserves memory for `n` further nodes, so that adding a node does not copy the data of all nodes.
    pub fn reserve(&mut self, n: usize) {
        self.told.reserve(n);
        self.state.reserve(n);
    }

    /// Adds a node with the least own value and without edges. The number of a removed node is reused if there is
    /// one.
    pub fn add(&mut self) -> NodeId {
        self.free.pop().unwrap_or_else(|| {
            let bottom = self.state.bottom;
            self.told.push(bottom);
            self.state.graph.add(bottom)
        })
    }

    /// Removes a node: its own value and the edges into it. [`Incremental::add`] may reuse the node's number; until
    /// then, the node must not be used. Edges that lead out of the node are kept, and would lead out of a node that
    /// reuses the number, so the nodes at their ends should be updated, too.
    pub fn remove(&mut self, node: NodeId) {
        self.update(node, self.state.bottom, []);
        self.free.push(node);
    }

    /// Sets a node's own value, and replaces all edges into the node: for each, the node whose value flows in, and
    /// the function applied to that value. Order and duplicates do not matter. All these nodes must exist.
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

    /// Reports that functions have changed since the last call of [`Incremental::solve`]. A function need not be
    /// reported if its results are unchanged for all values that can flow into it now, for example if they differ
    /// only for new elements.
    pub fn functions_changed(&mut self, functions: impl IntoIterator<Item = FunctionId>) {
        self.changed_functions.extend(functions);
    }

    /// Computes the least solution of the system with all recorded edits.
    ///
    /// Calls `cancelled` first, and then at least every 50 µs, except during two rare operations that cannot be
    /// interrupted: moving thousands of nodes that split off a component, and sorting the queue again after an
    /// earlier call was cancelled.
    ///
    /// # Errors
    ///
    /// Returns [`Cancelled`] if `cancelled` returned true. The work done so far is kept; until a later call succeeds,
    /// the values of the nodes are not a solution.
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

    /// Applies all edits to the graph, and recomputes the components of the graph.
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

    /// Returns the value of a node in the solution that [`Incremental::solve`] computed last. A node without such a
    /// value has the least value.
    pub fn value(&self, node: NodeId) -> V {
        let SolverState { bottom, parts, .. } = &self.state;
        if node.index() < parts.n_nodes() { parts.history(parts.of(node)).last() } else { *bottom }
    }

    /// Returns the node's own value. Edits that [`Incremental::solve`] has not yet applied may be missing.
    pub fn own(&self, node: NodeId) -> V {
        self.state.graph.value(node)
    }

    /// Returns the nodes whose values flow into a node. Edits that [`Incremental::solve`] has not yet applied may be
    /// missing.
    pub fn flows_in(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.state.graph.edges(node).iter().map(|it| it.of)
    }

    /// Returns the nodes into which the value of a node flows. Edits that [`Incremental::solve`] has not yet applied
    /// may be missing.
    pub fn users(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.state.graph.users(node).iter().map(|it| it.node)
    }

    /// Returns the nodes whose value changed since the last call of this function, in ascending order. A new node
    /// counts as changed if its value differs from the least value.
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

    /// Returns the system with all recorded edits, in the form that [`crate::solver::solve`] needs.
    pub fn system(&self) -> System<V> {
        self.state.graph.system(|node| self.edits.of(node))
    }

    /// Returns counters of the work that the solver has done so far.
    pub fn statistics(&self) -> Statistics {
        self.state.statistics
    }
}
