//! The distance from each node of a graph to the nearest source node, maintained while the graph changes. Paths lead
//! from a node along its successors to a source.
//!
//! The algorithm is SWSF-FP with edges of length one (Ramalingam and Reps, "An incremental algorithm for a
//! generalization of the shortest-path problem", J. Algorithms 21, 1996): a node is examined only if its distance or
//! the distance of one of its successors changes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::solver::NodeId;

/// The distance that stands for "infinite": no path leads from the node to a source node.
pub const NEVER: u32 = u32::MAX;

/// A graph for which the distance from each node to the nearest source node can be computed. Source nodes are the
/// nodes at which paths end; the implementation of the trait determines which nodes these are.
pub trait Links {
    /// Returns whether the node is a source node. Source nodes have the distance 0.
    fn is_source(&self, node: NodeId) -> bool;

    /// Returns whether the node is open, which means that a path to a source node may lead through it. Every source
    /// node must be open.
    fn is_open(&self, node: NodeId) -> bool;

    /// Returns the successors of the node: the nodes to which a path may lead directly from the node. Duplicates are
    /// allowed.
    fn leads_to(&self, node: NodeId) -> impl Iterator<Item = NodeId>;

    /// Returns the predecessors of the node: the nodes that have it as a successor. Duplicates are allowed.
    fn users(&self, node: NodeId) -> impl Iterator<Item = NodeId>;
}

/// For each node of a graph, the number of edges on a shortest path from the node to a source node.
#[derive(Clone, Debug, Default)]
pub struct Distances {
    known: Vec<u32>,
}

/// The nodes whose distance changed in an update, each with its distance before the update.
pub type Moved = FxHashMap<NodeId, u32>;

/// The state of an update of the distances that is running.
#[derive(Default)]
struct Work {
    queue: BinaryHeap<Reverse<(u32, NodeId)>>,
    /// For each node whose stored distance is outdated, the distance that follows from the stored distances of its
    /// successors.
    following: FxHashMap<NodeId, u32>,
    before: Moved,
}

impl Distances {
    /// Computes the distance from each node to the nearest source node, for a graph with `n` nodes.
    pub fn new(n: usize, links: &impl Links) -> Self {
        let mut known = vec![NEVER; n];
        let mut queue: Vec<NodeId> =
            (0..n).map(NodeId::from_index).filter(|it| links.is_source(*it)).collect();
        queue.iter().for_each(|it| known[it.index()] = 0);
        let mut at = 0;
        while let Some(&node) = queue.get(at) {
            at += 1;
            let next = known[node.index()] + 1;
            for user in links.users(node) {
                let known = &mut known[user.index()];
                if *known == NEVER && links.is_open(user) {
                    *known = next;
                    queue.push(user);
                }
            }
        }
        Distances { known }
    }

    /// Returns, for each node, the number of edges on a shortest path from the node to a source node; [`NEVER`] if
    /// there is no such path.
    pub fn all(&self) -> &[u32] {
        &self.known
    }

    /// Updates the distances after the graph has changed; the graph now has `n` nodes. `changed` must yield each node
    /// whose successors changed, and each node that became or ceased to be a source node or an open node. Returns the
    /// nodes whose distance changed, each with its previous distance.
    pub fn update(
        &mut self,
        n: usize,
        links: &impl Links,
        changed: impl IntoIterator<Item = NodeId>,
    ) -> Moved {
        self.known.resize(n.max(self.known.len()), NEVER);
        let mut work = Work::default();
        changed.into_iter().for_each(|it| self.look(links, it, &mut work));
        while let Some(Reverse((key, node))) = work.queue.pop() {
            let known = self.known[node.index()];
            // The entry is stale if the node was examined again since.
            let Some(&follows) = work.following.get(&node).filter(|it| known.min(**it) == key) else {
                continue;
            };
            work.before.entry(node).or_insert(known);
            if follows < known {
                self.known[node.index()] = follows;
                work.following.remove(&node);
            } else {
                // No successor is that near any more; the new distance is found once all smaller ones are known.
                self.known[node.index()] = NEVER;
                self.look(links, node, &mut work);
            }
            links.users(node).for_each(|it| self.look(links, it, &mut work));
        }
        work.before.retain(|node, before| self.known[node.index()] != *before);
        work.before
    }

    /// Returns whether a step from `from` to `to` leads nearer to a source node: whether `from` has a finite distance
    /// that is greater by one than the distance of `to`.
    pub fn is_step(&self, from: NodeId, to: NodeId) -> bool {
        is_step(self.of(from), self.of(to))
    }

    /// Returns whether a step from `from` to `to` led nearer to a source node before the last update of the
    /// distances; `moved` must be the result of this update. See [`Distances::is_step`] for the present distances.
    pub fn was_step(&self, moved: &Moved, from: NodeId, to: NodeId) -> bool {
        let before = |it: NodeId| moved.get(&it).copied().unwrap_or_else(|| self.of(it));
        is_step(before(from), before(to))
    }

    fn of(&self, node: NodeId) -> u32 {
        self.known.get(node.index()).copied().unwrap_or(NEVER)
    }

    /// Compares the stored distance of a node with the distance that follows from its successors, and adds the node
    /// to the queue of `work` if the two differ.
    fn look(&self, links: &impl Links, node: NodeId, work: &mut Work) {
        let follows = if !links.is_open(node) {
            NEVER
        } else if links.is_source(node) {
            0
        } else {
            let nearest = links.leads_to(node).map(|it| self.known[it.index()]).min();
            nearest.map_or(NEVER, |it| it.saturating_add(1))
        };
        let known = self.known[node.index()];
        if follows == known {
            work.following.remove(&node);
        } else {
            work.following.insert(node, follows);
            work.queue.push(Reverse((follows.min(known), node)));
        }
    }
}

/// Returns whether the distance `from` is finite and greater by one than the distance `to`.
fn is_step(from: u32, to: u32) -> bool {
    from != NEVER && from == to.saturating_add(1)
}

#[cfg(test)]
mod tests {
    use test_utils::rng::Rng;

    use super::*;

    /// A graph that the test changes at random.
    struct Graph {
        is_source: Vec<bool>,
        is_open: Vec<bool>,
        edges: Vec<Vec<NodeId>>,
    }

    impl Links for Graph {
        fn is_source(&self, node: NodeId) -> bool {
            self.is_source[node.index()]
        }

        fn is_open(&self, node: NodeId) -> bool {
            self.is_open[node.index()]
        }

        fn leads_to(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
            self.edges[node.index()].iter().copied()
        }

        fn users(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
            let leads = move |it: &(usize, &Vec<NodeId>)| it.1.contains(&node);
            self.edges.iter().enumerate().filter(leads).map(|it| NodeId::from_index(it.0))
        }
    }

    impl Graph {
        fn change(&mut self, rng: &mut Rng) -> NodeId {
            if rng.chance(10) {
                self.is_source.push(false);
                self.is_open.push(true);
                self.edges.push(Vec::new());
            }
            let n = self.edges.len() as u32;
            let node = NodeId(rng.below(n));
            let at = node.index();
            match rng.below(4) {
                0 => self.is_source[at] = rng.chance(15),
                1 => self.is_open[at] = rng.chance(80),
                _ => self.edges[at] = (0..rng.below(4)).map(|_| NodeId(rng.below(n))).collect(),
            }
            self.is_open[at] |= self.is_source[at];
            node
        }

        /// Computes the distances by relaxing all edges `n` times.
        fn slowly(&self) -> Vec<u32> {
            let n = self.edges.len();
            let mut acc: Vec<u32> = self.is_source.iter().map(|it| if *it { 0 } else { NEVER }).collect();
            for _ in 0..n {
                for node in (0..n).filter(|it| self.is_open[*it]) {
                    for of in &self.edges[node] {
                        acc[node] = acc[node].min(acc[of.index()].saturating_add(1));
                    }
                }
            }
            acc
        }
    }

    #[test]
    fn updated_distances_equal_those_of_naive_iteration() {
        let (mut reached, mut moved) = (0, 0);
        for seed in 0..60 {
            let mut rng = Rng::new(seed);
            let n = 2 + rng.below(30) as usize;
            let mut graph =
                Graph { is_source: vec![false; n], is_open: vec![true; n], edges: vec![Vec::new(); n] };
            (0..2 * n).for_each(|_| _ = graph.change(&mut rng));
            let mut distances = Distances::new(graph.edges.len(), &graph);
            assert_eq!(distances.all(), graph.slowly(), "seed {seed}");
            for step in 0..60 {
                let changed: Vec<NodeId> = (0..=rng.below(3)).map(|_| graph.change(&mut rng)).collect();
                let mut before = distances.all().to_vec();
                let told = distances.update(graph.edges.len(), &graph, changed);
                assert_eq!(distances.all(), graph.slowly(), "seed {seed}, step {step}");
                before.resize(graph.edges.len(), NEVER);
                let other = (0..before.len()).filter(|&it| before[it] != distances.all()[it]);
                let other: Moved = other.map(|it| (NodeId::from_index(it), before[it])).collect();
                assert_eq!(told, other, "seed {seed}, step {step}");
                let (from, to) = (rng.below(before.len() as u32), rng.below(before.len() as u32));
                for (from, to) in [(NodeId(from), NodeId(to)), (NodeId(to), NodeId(from))] {
                    let is_nearer = |all: &[u32]| {
                        all[from.index()] < NEVER && all[from.index()] == all[to.index()].saturating_add(1)
                    };
                    assert_eq!(distances.is_step(from, to), is_nearer(distances.all()));
                    assert_eq!(distances.was_step(&told, from, to), is_nearer(&before));
                }
                moved += told.len();
                reached += distances.all().iter().filter(|it| (2..NEVER).contains(*it)).count();
            }
        }
        assert!(reached > 1000 && moved > 1000, "{reached} {moved}");
    }
}
