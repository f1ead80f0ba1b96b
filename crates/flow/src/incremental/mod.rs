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
mod order;
mod parts;
mod search;
mod split;
mod spread;
#[cfg(test)]
mod tests;
mod work;

use std::collections::BTreeMap;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use self::build::Sweep;
use self::graph::Graph;
use self::history::{History, Round};
use self::order::Order;
use self::parts::Parts;
use self::search::Marks;
use self::spread::Spreading;
use self::work::Work;
use crate::components::ComponentId;
use crate::fuel::{Cancelled, Fuel, PATIENCE};
use crate::solver::{FunctionId, Lattice, NodeId, System};

/// A changeable system of inclusions with its least solution.
///
/// Edits are only recorded and cost next to nothing; [`Incremental::solve`] does the work. It may be cancelled at
/// any time and continues at the next call, even after further edits; only the search for the components starts
/// over. If the lattice or `cancelled` panics, the next call does a full build; the system is not lost.
#[derive(Clone, Debug)]
pub struct Incremental<V> {
    bottom: V,
    graph: Graph<V>,
    /// Edits that were not yet applied to `graph`.
    wanted: FxHashMap<NodeId, Wanted<V>>,
    /// The nodes of these edits in the order in which the edits came; may contain duplicates.
    edited: Vec<NodeId>,
    free: Vec<NodeId>,
    changed_functions: Vec<FunctionId>,
    /// The value of each node that `take_changed` has reported.
    told: Vec<V>,
    /// Components whose nodes may have another value than the reported one.
    touched: Vec<ComponentId>,
    /// Whether the fields below belong to `graph` as it is now.
    is_built: bool,
    /// Whether `solve` was entered and not left, as after a panic.
    is_running: bool,
    parts: Parts<V>,
    order: Order,
    work: Work<V>,
    /// For each component that may have fallen apart, pairs of nodes: the component is strongly connected if the
    /// first node of each pair reaches the second one along identities.
    doubts: BTreeMap<ComponentId, Vec<(NodeId, NodeId)>>,
    marks: Marks,
    sweep: Option<Sweep>,
    spreading: Option<Spreading<V>>,
    /// The maximum number of rounds that any value needed right after the last build.
    usual_rounds: Option<u32>,
    patience: u32,
    statistics: Statistics,
}

#[derive(Clone, Debug)]
struct Wanted<V> {
    value: V,
    edges: Vec<(NodeId, FunctionId)>,
}

/// Counters of the work done since the solver was created. For tests and measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Full builds.
    pub builds: u64,
    /// Full builds that edits made worthwhile, by their number or by their effect on the order.
    pub worn: u64,
    /// Edges that were added against the order since the last build.
    pub against: u64,
    /// The maximum number of rounds that any value needed since the last build.
    pub rounds: u32,
    /// Removed identities that other paths were found to replace.
    pub replaced: u64,
    /// Closed sets of nodes that were cut off a component.
    pub cuts: u64,
    /// Components that were decomposed as a whole.
    pub splits: u64,
    /// Components that resulted from cuts and splits.
    pub pieces: u64,
    /// Functions that were reported as changed.
    pub changed_functions: u64,
    /// Evaluations of queued components.
    pub looks: u64,
    /// Changes of the history of a component.
    pub changes: u64,
}

impl<V> Incremental<V> {
    /// Frees the solver piece by piece: one piece with each step of the iterator, which takes little time.
    pub fn freeing(self) -> impl Iterator<Item = ()> {
        self.graph.freeing().chain(self.parts.freeing())
    }
}

impl<V: Copy + Eq + Hash> Incremental<V> {
    /// Creates a solver without nodes for a lattice with this least element.
    pub fn new(bottom: V) -> Self {
        Incremental {
            bottom,
            graph: Graph::new(),
            wanted: FxHashMap::default(),
            edited: Vec::new(),
            free: Vec::new(),
            changed_functions: Vec::new(),
            told: Vec::new(),
            touched: Vec::new(),
            is_built: false,
            is_running: false,
            parts: Parts::new(),
            order: Order::default(),
            work: Work::new(0),
            doubts: BTreeMap::new(),
            marks: Marks::default(),
            sweep: None,
            spreading: None,
            usual_rounds: None,
            patience: PATIENCE,
            statistics: Statistics::default(),
        }
    }

    /// Sets the number of steps between two cancellation checks; a step takes about 0.1 µs. For tests that cancel
    /// anywhere.
    pub fn set_patience(&mut self, steps: u32) {
        self.patience = steps;
    }

    /// The number of nodes, including removed ones.
    pub fn n_nodes(&self) -> usize {
        self.graph.n_nodes()
    }

    /// Reserves memory for `n` further nodes, so that adding one never has to wait while the data of all others is
    /// copied.
    pub fn reserve(&mut self, n: usize) {
        self.told.reserve(n);
        self.graph.reserve(n);
        self.parts.reserve(n);
        self.order.reserve(n);
        self.work.reserve(n);
        self.marks.reserve(n);
    }

    /// Adds a node without value and edges; it reuses the number of a removed node if there is one.
    pub fn add(&mut self) -> NodeId {
        self.free.pop().unwrap_or_else(|| {
            self.told.push(self.bottom);
            self.graph.add(self.bottom)
        })
    }

    /// Removes a node's value and edges, and lets [`Incremental::add`] reuse its number; until then the node must
    /// not be used. Edges from the node stay and then lead from the node that reuses the number, so the nodes that
    /// have them should be updated too.
    pub fn remove(&mut self, node: NodeId) {
        self.update(node, self.bottom, []);
        self.free.push(node);
    }

    /// Sets a node's own value, and replaces all its edges: what flows in, and through which function. Order and
    /// duplicates do not matter. The nodes must exist.
    pub fn update(&mut self, node: NodeId, value: V, edges: impl IntoIterator<Item = (NodeId, FunctionId)>) {
        let mut edges: Vec<_> = edges.into_iter().collect();
        graph::sort(&mut edges);
        if self.graph.value(node) == value && self.graph.has(node, &edges) {
            self.wanted.remove(&node);
        } else if self.is_built {
            self.wanted.insert(node, Wanted { value, edges });
            self.edited.push(node);
        } else {
            let changes = self.graph.differences(node, &edges, usize::MAX);
            self.graph.set_value(node, value);
            self.graph.change(node, &changes);
            self.wanted.remove(&node);
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
        self.work.pause();
        let is_worn = self.is_built && self.is_worn();
        self.statistics.worn += u64::from(is_worn);
        if is_worn || !self.is_built {
            self.build(fuel)?;
        } else {
            // A notification that was cancelled halfway is finished before anything else changes.
            self.spread(lattice, fuel)?;
            self.apply_functions(lattice, fuel)?;
            self.apply_edits(lattice, fuel)?;
            self.settle_doubts(lattice, fuel)?;
        }
        self.sweep(lattice, fuel)?;
        self.work.resume(&self.order);
        self.look_at_all(lattice, fuel)?;
        self.usual_rounds.get_or_insert(self.statistics.rounds);
        Ok(())
    }

    /// The value of a node in the solution that [`Incremental::solve`] computed last; before the first call, the
    /// least value.
    pub fn value(&self, node: NodeId) -> V {
        if node.index() < self.parts.n_nodes() {
            self.parts.history(self.parts.of(node)).last()
        } else {
            self.bottom
        }
    }

    /// The node's own value, as of the edits that [`Incremental::solve`] has applied.
    pub fn own(&self, node: NodeId) -> V {
        self.graph.value(node)
    }

    /// The nodes from which something flows into a node, as of the edits that [`Incremental::solve`] has applied.
    pub fn flows_in(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.graph.edges(node).iter().map(|it| it.of)
    }

    /// The nodes into which something flows from a node, as of the edits that [`Incremental::solve`] has applied.
    pub fn users(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.graph.users(node).iter().map(|it| it.node)
    }

    /// Returns the nodes whose value changed since the last call, in ascending order. New nodes count as having had
    /// the least value.
    pub fn take_changed(&mut self) -> Vec<NodeId> {
        let mut changed = Vec::new();
        for id in std::mem::take(&mut self.touched) {
            self.parts.get_mut(id).touched = false;
            let value = self.parts.history(id).last();
            for node in self.parts.nodes(id) {
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
        self.graph.system(|node| self.wanted.get(&node).map(|it| (it.value, it.edges.as_slice())))
    }

    /// Counters of the work done so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn touch(&mut self, id: ComponentId) {
        if !std::mem::replace(&mut self.parts.get_mut(id).touched, true) {
            self.touched.push(id);
        }
    }

    fn wait(&mut self, id: ComponentId, round: Round) {
        self.work.look(&self.order, id, round);
    }

    /// Whether what flows from `of` to `user` arrives only in the next round.
    fn is_against(&self, user: ComponentId, of: ComponentId) -> bool {
        !self.order.is_before(of, user)
    }

    /// Whether an edge is an identity within a component, so that it brings nothing new.
    fn is_inner(&self, user: ComponentId, of: ComponentId, function: FunctionId) -> bool {
        user == of && function == FunctionId::IDENTITY
    }

    fn constant(&self) -> History<V> {
        History::constant(self.bottom)
    }
}
