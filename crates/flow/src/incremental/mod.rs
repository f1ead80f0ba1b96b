//! The least solution of a system of inclusions, kept while the system changes (`engine.md`, rule 3).
//!
//! Nodes, edges, functions and values are those of [`crate::solver`], and so is the solution: bit for bit what
//! [`crate::solver::solve`] finds. The cost is that of what an edit affects.
//!
//! **Components.** Nodes that reach each other through identities have the same value; a JDK's call graph has such a
//! component of tens of thousands. Components are found once (`build`) and taken apart when an edge goes without which
//! they do not hang together (`split`). Two that a new edge joins stay apart until the next build: that costs a round.
//!
//! **Rounds.** Components stand in an order in which nearly everything flows upwards. What a component's value is after
//! `k` rounds is the join of what flows in from below, as it is there after `k` rounds, and from above, as it is
//! there after `k - 1`. That is round-robin iteration (Kam, Ullman, "Global data flow analysis and iterative
//! algorithms", 1976); all rounds are kept, as in McSherry, Murray, Isaacs, Isard, "Differential dataflow" (2013), and in
//! Szabó, Erdweg, Bergmann, "Incremental whole-program analysis in Datalog with lattices" (2021). So nothing depends on
//! itself, not even around a cycle, and what is deleted needs no over-deletion: a value is wrong only if one of an earlier
//! round or of a component below is. Few rounds bring anything, and to few components; most histories have one
//! entry (`history`).
//!
//! **Looking at a component** (`spread`) means to join what flows in; of a component with many edges that is counted
//! by value (`counts`). If its history is wrong from round `k` on, it takes the right value of that round *and forgets
//! that it grew later*, for what it was later may have come from what is gone; then it waits for the next round in which
//! something flows in. One that only gains something needs no look: functions distribute, so what it passes on is
//! what it gained.

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
use self::parts::{ComponentId, Parts};
use self::search::Marks;
use self::spread::Spreading;
use self::work::Work;
use crate::fuel::{Cancelled, Fuel, PATIENCE};
use crate::solver::{FunctionId, Lattice, NodeId, System};

/// A system of inclusions that can be changed, with its least solution.
///
/// Edits are taken note of and cost next to nothing; [`Incremental::solve`] does the work. It may be cancelled at any time
/// and goes on at the next call, also when there were other edits in between; only the search for the components starts
/// again. If the lattice or `cancelled` panics, the next call starts from nothing; the system is not lost.
#[derive(Clone, Debug)]
pub struct Incremental<V> {
    bottom: V,
    graph: Graph<V>,
    /// Edits that `graph` does not have yet.
    wanted: FxHashMap<NodeId, Wanted<V>>,
    /// Their nodes in the order in which they came; may name some twice.
    edited: Vec<NodeId>,
    free: Vec<NodeId>,
    changed_functions: Vec<FunctionId>,
    /// What `take_changed` said of each node.
    told: Vec<V>,
    /// Components whose nodes may have another value than was told.
    touched: Vec<ComponentId>,
    /// Whether all that follows belongs to `graph`.
    is_built: bool,
    /// Whether `solve` was entered and not left.
    is_running: bool,
    parts: Parts<V>,
    order: Order,
    work: Work<V>,
    /// For each component that may have fallen apart pairs of nodes: it hangs together if each first one reaches its
    /// second one along identities.
    doubts: BTreeMap<ComponentId, Vec<(NodeId, NodeId)>>,
    marks: Marks,
    sweep: Option<Sweep>,
    spreading: Option<Spreading<V>>,
    /// The most rounds that any value needed after the last build.
    usual_rounds: Option<u32>,
    patience: u32,
    statistics: Statistics,
}

#[derive(Clone, Debug)]
struct Wanted<V> {
    value: V,
    edges: Vec<(NodeId, FunctionId)>,
}

/// How much was done since a solver was made. For tests and measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Starts from nothing.
    pub builds: u64,
    /// Those of them that many edits had made worth it.
    pub worn: u64,
    /// Edges that were added against the order since the last of them.
    pub against: u64,
    /// The most rounds that any value needed since the last of them.
    pub rounds: u32,
    /// Identities that went and were found to be replaced by other ways.
    pub replaced: u64,
    /// Closed sets of nodes cut off a component.
    pub cuts: u64,
    /// Components that were taken apart whole.
    pub splits: u64,
    /// Components that came of cuts and splits.
    pub pieces: u64,
    /// Functions that came to mean something else.
    pub changed_functions: u64,
    /// Components that were looked at.
    pub looks: u64,
    /// Components whose history changed.
    pub changes: u64,
}

impl<V> Incremental<V> {
    /// Frees it piece by piece: with each step of the iterator one, each of which takes a moment.
    pub fn freeing(self) -> impl Iterator<Item = ()> {
        self.graph.freeing().chain(self.parts.freeing())
    }
}

impl<V: Copy + Eq + Hash> Incremental<V> {
    /// A solver without nodes for a lattice with this least element.
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

    /// Asks whether to go on after about so many steps; a step takes about 0.1 µs. For tests that cancel anywhere.
    pub fn set_patience(&mut self, steps: u32) {
        self.patience = steps;
    }

    /// How many nodes there are, removed ones included.
    pub fn n_nodes(&self) -> usize {
        self.graph.n_nodes()
    }

    /// Makes room for so many further nodes, so that none of them waits until all that is known of the others is copied.
    pub fn reserve(&mut self, n: usize) {
        self.told.reserve(n);
        self.graph.reserve(n);
        self.parts.reserve(n);
        self.order.reserve(n);
        self.work.reserve(n);
        self.marks.reserve(n);
    }

    /// A node without value and edges: one that was removed, or else a new one.
    pub fn add(&mut self) -> NodeId {
        self.free.pop().unwrap_or_else(|| {
            self.told.push(self.bottom);
            self.graph.add(self.bottom)
        })
    }

    /// Takes a node's value and edges away and lets [`Incremental::add`] give its number to another, until when it must
    /// not be named again. Edges that lead to it stay and will lead to that one, so their nodes should be updated too.
    pub fn remove(&mut self, node: NodeId) {
        self.update(node, self.bottom, []);
        self.free.push(node);
    }

    /// Gives a node a value of its own, and edges in place of all that it has: what flows in, and through which
    /// function. Neither order nor repetitions matter. Nodes must be there.
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

    /// Says that functions mean something else than at the last call of [`Incremental::solve`]. It need not be said of those
    /// that make the same as before of all that can flow into them now, such as those that differ in new elements only.
    pub fn functions_changed(&mut self, functions: impl IntoIterator<Item = FunctionId>) {
        self.changed_functions.extend(functions);
    }

    /// Finds the least solution of the system as it is now.
    ///
    /// Asks `cancelled` before anything else, and then at least every 50 µs, but for two things that cannot stop in
    /// between and are rare: moving thousands of nodes that fall off a component, and sorting again what waited when an
    /// earlier call was cancelled.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] if that said yes. What was done is kept; values are not those of a solution.
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
            // Before anything else changes: half of the users have heard of it.
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

    /// The value of a node in the solution that [`Incremental::solve`] found; before the first one the least.
    pub fn value(&self, node: NodeId) -> V {
        if (node.0 as usize) < self.parts.n_nodes() {
            self.parts.history(self.parts.of(node)).last()
        } else {
            self.bottom
        }
    }

    /// The value that a node has of itself, as far as that was taken in by [`Incremental::solve`].
    pub fn own(&self, node: NodeId) -> V {
        self.graph.value(node)
    }

    /// The nodes of which something flows into a node, as far as that was taken in.
    pub fn flows_in(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.graph.edges(node).iter().map(|it| it.of)
    }

    /// The nodes into which something flows of a node, as far as that was taken in.
    pub fn users(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.graph.users(node).iter().map(|it| it.node)
    }

    /// The nodes whose values are others than when this was last asked, by number. New ones had the least value then.
    pub fn take_changed(&mut self) -> Vec<NodeId> {
        let mut changed = Vec::new();
        for id in std::mem::take(&mut self.touched) {
            self.parts.get_mut(id).touched = false;
            let value = self.parts.history(id).last();
            for node in self.parts.nodes(id) {
                let told = &mut self.told[node.0 as usize];
                if std::mem::replace(told, value) != value {
                    changed.push(node);
                }
            }
        }
        changed.sort_unstable();
        changed
    }

    /// The system as it is now, for [`crate::solver::solve`].
    pub fn system(&self) -> System<V> {
        self.graph.system(|node| self.wanted.get(&node).map(|it| (it.value, it.edges.as_slice())))
    }

    /// What was done.
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

    /// Whether what comes of a node arrives in the next round only.
    fn is_against(&self, user: ComponentId, of: ComponentId) -> bool {
        !self.order.is_before(of, user)
    }

    /// Whether an edge lies within a component and brings nothing that is not there.
    fn is_inner(&self, user: ComponentId, of: ComponentId, function: FunctionId) -> bool {
        user == of && function == FunctionId::IDENTITY
    }

    fn constant(&self) -> History<V> {
        History::constant(self.bottom)
    }
}
