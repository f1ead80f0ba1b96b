//! Full builds: finds the components, orders them, and evaluates each of them once.

use std::hash::Hash;

use crate::components::{ComponentId, components, postorder};
use crate::solver::{FunctionId, Lattice, NodeId};

use super::Incremental;
use super::history::Round;
use super::order::Order;
use super::parts::Parts;
use super::work::Work;
use crate::fuel::{Cancelled, Fuel};

/// The progress of the first evaluation of all components.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sweep {
    /// The last component that was evaluated.
    Looking(Option<ComponentId>),
    /// All components were evaluated; now the inflow of the large ones is counted.
    Counting,
}

/// The number of edits up to which a full build is never considered.
const FEW: usize = 1_024;

impl<V: Copy + Eq + Hash> Incremental<V> {
    /// Whether a full build is better than an update: after many edits in one step, because new nodes come last in
    /// the order wherever they belong; and when edges against the order have become many, or make values need more
    /// rounds than necessary.
    pub(super) fn is_worn(&self) -> bool {
        let few = FEW.max(self.graph.n_nodes() / 8);
        let n_new = self.graph.n_nodes() - self.parts.n_nodes();
        let rounds = self.statistics.rounds;
        self.wanted.len() > few
            || n_new > few
            || self.statistics.against > few as u64
            || self.usual_rounds.is_some_and(|it| rounds > 2 * it + 16)
    }

    /// Applies the edits to the graph, and finds the components and their order.
    pub(super) fn build(&mut self, fuel: &mut Fuel) -> Result<(), Cancelled> {
        self.is_built = false;
        self.spreading = None;
        self.sweep = None;
        self.doubts.clear();
        while let Some(node) = self.edited.pop() {
            if let Some(wanted) = self.wanted.remove(&node) {
                fuel.owe(wanted.edges.len() as u32);
                self.update(node, wanted.value, wanted.edges);
            }
            fuel.spend(1)?;
        }
        self.changed_functions.clear();
        let (component, n) = self.find_components(fuel)?;
        let mut parts = Parts::new();
        for _ in 0..n {
            fuel.spend(1)?;
            parts.add(self.constant());
        }
        for (node, &id) in component.iter().enumerate() {
            fuel.spend(1)?;
            parts.get_mut(id).n_edges += self.graph.edges(NodeId::from_index(node)).len();
            parts.place(id);
        }
        self.parts = parts;
        self.order = Order::new(n);
        self.work = Work::new(n);
        self.touched.clear();
        self.parts.ids().for_each(|it| self.touch(it));
        self.marks.grow(self.graph.n_nodes());
        self.sweep = Some(Sweep::Looking(None));
        self.statistics.builds += 1;
        (self.statistics.against, self.statistics.rounds) = (0, 0);
        self.usual_rounds = None;
        self.is_built = true;
        Ok(())
    }

    /// Finds the components, in an order in which all identities lead upwards, and of the other edges those that lie
    /// on no cycle and many more: the searches start from the nodes in postorder over all edges, so that what flows
    /// into a node comes before it.
    fn find_components(&self, fuel: &mut Fuel) -> Result<(Vec<ComponentId>, usize), Cancelled> {
        let graph = &self.graph;
        let n = graph.n_nodes();
        let all = |node: u32, cursor: &mut u32| {
            let edge = graph.edges(NodeId(node)).get(*cursor as usize)?;
            *cursor += 1;
            Some(edge.of.0)
        };
        let roots = postorder(n, 0..n as u32, all, || fuel.spend(1))?;
        let identities = |node: u32, cursor: &mut u32| {
            let edges = graph.edges(NodeId(node)).get(*cursor as usize..).unwrap_or_default();
            let skipped = edges.iter().position(|it| it.function == FunctionId::IDENTITY);
            *cursor += skipped.unwrap_or(edges.len()) as u32 + 1;
            skipped.map(|it| edges[it].of.0)
        };
        components(n, roots, identities, || fuel.spend(1))
    }

    /// Evaluates all components for the first time, in their order. Users are not notified, as they come later in
    /// the order or wait for the next round.
    pub(super) fn sweep<L>(&mut self, lattice: &mut L, fuel: &mut Fuel) -> Result<(), Cancelled>
    where
        L: Lattice<Value = V>,
    {
        while let Some(Sweep::Looking(last)) = self.sweep {
            let next = match last {
                None => self.order.first(),
                Some(it) => self.order.after(it),
            };
            let Some(id) = next else {
                self.sweep = Some(Sweep::Counting);
                break;
            };
            let (mut history, from_above) = self.join_edges(lattice, id, fuel)?;
            history.cut(Round::FIRST);
            self.touch(id);
            self.parts.get_mut(id).history = history;
            if from_above {
                self.wait(id, Round::FIRST.through(true));
            }
            self.statistics.looks += 1;
            self.sweep = Some(Sweep::Looking(Some(id)));
        }
        if self.sweep.is_some() {
            for id in self.parts.ids() {
                self.count(lattice, id, fuel)?;
            }
            self.sweep = None;
        }
        Ok(())
    }
}
