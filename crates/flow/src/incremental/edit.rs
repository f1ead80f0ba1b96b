//! Applies edits to the graph, and queues the components that they affect.

use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::Incremental;
use super::graph::Change;
use super::history::Round;
use crate::components::ComponentId;
use crate::fuel::{Cancelled, Fuel, OPERATION};
use crate::solver::{FunctionId, Lattice, NodeId};

/// The maximum number of edges that are changed between two cancellation checks.
const AT_ONCE: usize = 64;

impl<V: Copy + Eq + Hash> Incremental<V> {
    /// Queues all components into which something flows through a changed function.
    pub(super) fn apply_functions<L>(&mut self, lattice: &mut L, fuel: &mut Fuel) -> Result<(), Cancelled>
    where
        L: Lattice<Value = V>,
    {
        let changed: FxHashSet<FunctionId> = self.changed_functions.iter().copied().collect();
        let mut counted = FxHashSet::default();
        for &function in &changed {
            let mut i = 0;
            while let Some(&node) = self.graph.nodes_through(function).get(i) {
                i += 1;
                fuel.spend(1)?;
                // A new node is queued anyway.
                if node.index() >= self.parts.n_nodes() || !self.graph.has_through(node, function) {
                    continue;
                }
                let id = self.parts.of(node);
                self.wait(id, Round::FIRST);
                if let Some(counts) = &mut self.parts.get_mut(id).counts
                    && counted.insert(id)
                {
                    counts.refresh(lattice, |it| changed.contains(&it), fuel)?;
                }
            }
        }
        self.changed_functions.clear();
        self.statistics.changed_functions += changed.len() as u64;
        Ok(())
    }

    /// Applies all edits.
    pub(super) fn apply_edits<L>(&mut self, lattice: &mut L, fuel: &mut Fuel) -> Result<(), Cancelled>
    where
        L: Lattice<Value = V>,
    {
        self.place_new_nodes(fuel)?;
        while let Some(&node) = self.edited.last() {
            self.apply_edit(lattice, node, fuel)?;
            self.wanted.remove(&node);
            self.edited.pop();
        }
        Ok(())
    }

    /// Places new nodes last in the order: what flows into them exists already, and their users are changed by the
    /// same edit.
    fn place_new_nodes(&mut self, fuel: &mut Fuel) -> Result<(), Cancelled> {
        self.marks.grow(self.graph.n_nodes());
        while self.parts.n_nodes() < self.graph.n_nodes() {
            fuel.spend(1)?;
            let id = self.parts.add(self.constant());
            self.parts.place(id);
            self.order.put_last();
            self.work.grow(self.parts.len());
            self.wait(id, Round::FIRST);
        }
        Ok(())
    }

    fn apply_edit<L>(&mut self, lattice: &mut L, node: NodeId, fuel: &mut Fuel) -> Result<(), Cancelled>
    where
        L: Lattice<Value = V>,
    {
        let Some(wanted) = self.wanted.get(&node) else { return Ok(()) };
        let (new, old) = (wanted.value, self.graph.value(node));
        if new != old {
            fuel.owe(2 * OPERATION);
            self.graph.set_value(node, new);
            let id = self.parts.of(node);
            let key = |value| (Round::FIRST, FunctionId::IDENTITY, value);
            let counted = self.recount(lattice, id, id, |counts, lattice, _| {
                counts.comes(lattice, key(new)).min(counts.goes(lattice, key(old)))
            });
            if !counted {
                self.wait(id, Round::FIRST);
            }
        }
        while let Some(wanted) = self.wanted.get(&node) {
            fuel.spend(1 + wanted.edges.len() as u32 / 16)?;
            let changes = self.graph.differences(node, &wanted.edges, AT_ONCE);
            if changes.is_empty() {
                break;
            }
            let before = self.graph.edges(node).len();
            self.graph.change(node, &changes);
            let id = self.parts.of(node);
            let component = self.parts.get_mut(id);
            component.n_edges = component.n_edges + self.graph.edges(node).len() - before;
            for it in changes {
                fuel.owe(2 * OPERATION);
                self.edge_changed(lattice, (node, id), it);
            }
        }
        Ok(())
    }

    fn edge_changed<L>(&mut self, lattice: &mut L, (node, id): (NodeId, ComponentId), change: Change)
    where
        L: Lattice<Value = V>,
    {
        let Change { comes, of: from, function } = change;
        let of = self.parts.of(from);
        if self.is_inner(id, of, function) {
            if !comes {
                self.doubts.entry(id).or_default().push((node, from));
            }
            return;
        }
        let against = self.is_against(id, of);
        self.statistics.against += u64::from(comes && against);
        let counted = self.recount(lattice, id, of, |counts, lattice, history| {
            if comes {
                counts.edge_comes(lattice, function, against, history)
            } else {
                counts.edge_goes(lattice, function, against, history)
            }
        });
        if !counted {
            self.wait(id, Round::FIRST);
        }
    }
}
