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

/// Counters of the work that a solver has done since it was created, for tests and measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// The number of full builds.
    pub builds: u64,
    /// The number of full builds that were done because edits were many or had put many edges against the order.
    pub worn: u64,
    /// The number of edges against the order of components that were added since the last full build.
    pub against: u64,
    /// The maximum number of rounds that any value needed since the last full build.
    pub rounds: u32,
    /// The number of removed edges within components for which another path was found.
    pub replaced: u64,
    /// The number of times that a set of nodes was cut off a component.
    pub cuts: u64,
    /// The number of components that were decomposed as a whole.
    pub splits: u64,
    /// The number of new components that resulted from cuts and decompositions.
    pub pieces: u64,
    /// The number of functions that were reported as changed.
    pub changed_functions: u64,
    /// The number of evaluations of components.
    pub looks: u64,
    /// The number of times that the value of a component changed.
    pub changes: u64,
}

/// The system of inclusions and its solution; during an update, the part of the solution found so far.
#[derive(Clone, Debug)]
pub(super) struct SolverState<V> {
    /// The least value of the lattice.
    pub(super) bottom: V,
    /// The system, with the edits that were applied. After a full build, the fields below describe this graph.
    pub(super) graph: Graph<V>,
    /// The components and their values.
    pub(super) parts: Parts<V>,
    /// The order of the components; nearly all values flow from earlier to later components.
    pub(super) order: Order,
    /// The queue of components to be evaluated.
    pub(super) work: Work<V>,
    /// For each component that may no longer be strongly connected, pairs of its nodes. The component is strongly
    /// connected if the first node of each pair reaches the second along edges with the identity.
    pub(super) doubts: BTreeMap<ComponentId, Vec<(NodeId, NodeId)>>,
    /// The marks of nodes that searches have visited.
    pub(super) marks: Marks,
    /// The components whose value may have changed since the last `take_changed`.
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

    /// Adds a component to the list of those whose value may have changed since the last `take_changed`.
    pub(super) fn touch(&mut self, id: ComponentId) {
        if !std::mem::replace(&mut self.parts.get_mut(id).touched, true) {
            self.touched.push(id);
        }
    }

    /// Queues a component to be evaluated from a round on.
    pub(super) fn wait(&mut self, id: ComponentId, round: Round) {
        self.work.look(&self.order, id, round);
    }

    /// Returns whether an edge from the component `of` to `user` leads against the order of components, so that
    /// values arrive in the next round.
    pub(super) fn is_against(&self, user: ComponentId, of: ComponentId) -> bool {
        !self.order.is_before(of, user)
    }

    /// Returns the history of a component that has the least value after all rounds.
    pub(super) fn constant(&self) -> History<V> {
        History::constant(self.bottom)
    }

    /// Calls `change` with the counts of the component `user` and the history of the component `of`, and queues
    /// `user` to be evaluated from the round that `change` returns. Returns `false`, and does nothing, if `user` has
    /// no counts.
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

/// Returns whether an edge from the component `of` to `user` is an identity within one component, so that no new
/// value arrives along the edge.
pub(super) fn is_inner(user: ComponentId, of: ComponentId, function: FunctionId) -> bool {
    user == of && function == FunctionId::IDENTITY
}
