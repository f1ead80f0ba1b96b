//! The data that the phases of an update share, and small operations on this data.

use std::collections::BTreeMap;
use std::hash::Hash;

use super::counts::Counts;
use super::graph::Graph;
use super::history::{History, Round};
use super::order::Order;
use super::parts::Parts;
use super::search::Marks;
use super::work::Work;
use crate::components::ComponentId;
use crate::solver::{FunctionId, NodeId};

/// Counters of the work that a solver has done, for tests and measurements. They count since the creation of the
/// solver, except for the fields that are documented to count since the last full build.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// The number of full builds: computations of all components and their values from scratch.
    pub builds: u64,
    /// The number of full builds that replaced an update, because there were many edits, new nodes, rounds of the
    /// iteration, or edges against the order of components.
    pub worn: u64,
    /// The number of edges that were added since the last full build and lead against the order of components.
    pub against: u64,
    /// The maximum number of rounds of the iteration that the value of any component needed since the last full
    /// build.
    pub rounds: u32,
    /// The number of times that the two ends of a removed edge within a component were still connected by another
    /// path, so that the component was not split there.
    pub replaced: u64,
    /// The number of times that a set of nodes was cut off a component, because the component was no longer strongly
    /// connected.
    pub cuts: u64,
    /// The number of components that were split by computing all their strongly connected components from scratch.
    pub splits: u64,
    /// The number of new components that were split off other components.
    pub pieces: u64,
    /// The number of functions of edges that callers reported as changed.
    pub changed_functions: u64,
    /// The number of times that a component was evaluated.
    pub looks: u64,
    /// The number of times that the value of a component changed.
    pub changes: u64,
}

/// The system of inclusions and its least solution; while an update is running, the solution is incomplete.
#[derive(Clone, Debug)]
pub(super) struct SolverState<V> {
    /// The least value of the lattice.
    pub(super) bottom: V,
    /// The system as a graph, with the edits that were applied so far. After a full build, the fields below describe
    /// this graph.
    pub(super) graph: Graph<V>,
    /// The strongly connected components of the graph, and their values.
    pub(super) parts: Parts<V>,
    /// The order of the components, in which nearly all values flow from earlier to later components.
    pub(super) order: Order,
    /// The queue of components to be evaluated.
    pub(super) work: Work<V>,
    /// For each component that may no longer be strongly connected, pairs of its nodes (doubts). The component is
    /// strongly connected if the first node of each pair reaches the second, against the flow of values, along edges
    /// with the identity as function.
    pub(super) doubts: BTreeMap<ComponentId, Vec<(NodeId, NodeId)>>,
    /// Marks of the nodes that searches within components have visited.
    pub(super) marks: Marks,
    /// The components whose value may have changed since the last call of `take_changed`.
    pub(super) touched: Vec<ComponentId>,
    /// Counters of the work that the solver has done so far.
    pub(super) statistics: Statistics,
}

impl<V: Copy + Eq + Hash> SolverState<V> {
    /// Returns the state of a solver without nodes.
    pub(super) fn new(bottom: V) -> Self {
        SolverState {
            bottom,
            graph: Graph::new(),
            parts: Parts::new(),
            order: Order::default(),
            work: Work::new(0),
            doubts: BTreeMap::new(),
            marks: Marks::default(),
            touched: Vec::new(),
            statistics: Statistics::default(),
        }
    }

    /// Reserves memory for `n` further nodes.
    pub(super) fn reserve(&mut self, n: usize) {
        self.graph.reserve(n);
        self.parts.reserve(n);
        self.order.reserve(n);
        self.work.reserve(n);
        self.marks.reserve(n);
    }

    /// Adds a component to the list of components whose value may have changed since the last call of `take_changed`.
    pub(super) fn touch(&mut self, id: ComponentId) {
        if !std::mem::replace(&mut self.parts.get_mut(id).touched, true) {
            self.touched.push(id);
        }
    }

    /// Queues a component for evaluation from the round `round` of the iteration on.
    pub(super) fn wait(&mut self, id: ComponentId, round: Round) {
        self.work.look(&self.order, id, round);
    }

    /// Returns whether an edge from the component `of` to the component `user` leads against the order of components,
    /// so that a value arrives one round later along this edge.
    pub(super) fn is_against(&self, user: ComponentId, of: ComponentId) -> bool {
        !self.order.is_before(of, user)
    }

    /// Returns the history of a component that has the least value after each round of the iteration.
    pub(super) fn constant(&self) -> History<V> {
        History::constant(self.bottom)
    }

    /// Calls `change` with the counters of the component `user` and the value of the component `of` after each round
    /// of the iteration. `change` updates the counters, and returns the first round in which the value of `user` may
    /// change; `user` is queued for evaluation from this round on. Returns `false`, and does nothing, if `user` has
    /// no counters.
    pub(super) fn recount<L>(
        &mut self,
        lattice: &mut L,
        user: ComponentId,
        of: ComponentId,
        change: impl FnOnce(&mut Counts<V>, &mut L, &History<V>) -> Round,
    ) -> bool {
        let Some(mut counts) = self.parts.get_mut(user).counts.take() else { return false };
        let from = change(&mut counts, lattice, self.parts.history(of));
        self.parts.get_mut(user).counts = Some(counts);
        self.wait(user, from);
        true
    }
}

/// Returns whether an edge from the component `of` to the component `user` is an edge within one component and has
/// the identity as function, so that no new value arrives along the edge.
pub(super) fn is_inner(user: ComponentId, of: ComponentId, function: FunctionId) -> bool {
    user == of && function == FunctionId::IDENTITY
}
