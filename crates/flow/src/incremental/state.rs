//! The data that the phases of an update share, and the small operations on it.

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

/// The system and its solution, or what is known of the solution while an update is under way.
#[derive(Clone, Debug)]
pub(super) struct SolverState<V> {
    /// The least value.
    pub(super) bottom: V,
    /// The system, with the edits that were applied. The fields below belong to it once it was built.
    pub(super) graph: Graph<V>,
    /// The components and their values.
    pub(super) parts: Parts<V>,
    /// The order of the components.
    pub(super) order: Order,
    /// The components to be evaluated.
    pub(super) work: Work<V>,
    /// For each component that may have fallen apart, pairs of nodes: the component is strongly connected if the
    /// first node of each pair reaches the second one along identities.
    pub(super) doubts: BTreeMap<ComponentId, Vec<(NodeId, NodeId)>>,
    /// The nodes seen by searches.
    pub(super) marks: Marks,
    /// Components whose nodes may have another value than the reported one.
    pub(super) touched: Vec<ComponentId>,
    /// Counters of the work done so far.
    pub(super) statistics: Statistics,
}

impl<V: Copy + Eq + Hash> SolverState<V> {
    /// The state of a solver without nodes.
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

    /// Lists a component among those whose value may differ from the reported one.
    pub(super) fn touch(&mut self, id: ComponentId) {
        if !std::mem::replace(&mut self.parts.get_mut(id).touched, true) {
            self.touched.push(id);
        }
    }

    /// Queues a component to be evaluated from a round on.
    pub(super) fn wait(&mut self, id: ComponentId, round: Round) {
        self.work.look(&self.order, id, round);
    }

    /// Whether what flows from `of` to `user` arrives only in the next round.
    pub(super) fn is_against(&self, user: ComponentId, of: ComponentId) -> bool {
        !self.order.is_before(of, user)
    }

    /// The history of a component into which nothing flows.
    pub(super) fn constant(&self) -> History<V> {
        History::constant(self.bottom)
    }

    /// Changes the counts of `user`, if it has any, given the history of `of`, and queues `user` from the round that
    /// `change` returns. Returns whether there are counts.
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

/// Whether an edge is an identity within a component, so that it brings nothing new.
pub(super) fn is_inner(user: ComponentId, of: ComponentId, function: FunctionId) -> bool {
    user == of && function == FunctionId::IDENTITY
}
