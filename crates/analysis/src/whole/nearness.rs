//! Lower bounds for the distance from each node to the nearest origin, a node where an exception arises. With these
//! bounds, the search for the nearest origin skips nodes that cannot lead to one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use flow::distances::{Distances, Links, Moved, NEVER};
use flow::incremental::Incremental;
use flow::solver::{FunctionId, NodeId};
use flow::universe::SetId;

use super::lattice::Value;

/// The inclusions of a maintained program as a graph, for computing the distance of each node to the nearest node
/// where exceptions of unknown code arise. The nodes where such exceptions arise are the sources of the graph.
pub(super) struct OpenWays<'a>(pub(super) &'a Incremental<Value>);

impl Links for OpenWays<'_> {
    fn is_source(&self, node: NodeId) -> bool {
        self.0.own(node).open != SetId::EMPTY
    }

    fn is_open(&self, node: NodeId) -> bool {
        self.0.value(node).open != SetId::EMPTY
    }

    fn leads_to(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.0.flows_in(node)
    }

    fn users(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.0.users(node)
    }
}

/// For each node, its distance to the nearest node where exceptions arise, counted in inclusions. Computing all these
/// distances takes as long as many short searches for such nodes, so the distances are computed only after searches
/// have visited many nodes.
#[derive(Default)]
pub(super) struct Nearness {
    /// The total number of nodes that searches for the places where exceptions arise have visited.
    visited: AtomicUsize,
    known: OnceLock<Vec<u32>>,
    open: OnceLock<Vec<u32>>,
    /// For each node, the distance to the nearest node where exceptions of unknown code arise. The distances are
    /// updated when the program changes. `None` if the program is not prepared for changes.
    followed: Option<Distances>,
}

impl Nearness {
    /// Computes the distance of each node of a maintained program to the nearest node where exceptions of unknown
    /// code arise. `followed` is the program's solver.
    pub(super) fn followed(followed: &Incremental<Value>) -> Self {
        Nearness {
            followed: Some(Distances::new(followed.n_nodes(), &OpenWays(followed))),
            ..Nearness::default()
        }
    }

    /// Updates the distances to the places where exceptions of unknown code arise, after the inclusions or exceptions
    /// of the nodes `changed` were changed. Returns the nodes whose distance changed, with their previous distances.
    pub(super) fn follow(
        &mut self,
        followed: &Incremental<Value>,
        changed: impl IntoIterator<Item = NodeId>,
    ) -> Moved {
        let mut distances = self.followed.take().unwrap_or_default();
        let moved = distances.update(followed.n_nodes(), &OpenWays(followed), changed);
        *self = Nearness { followed: Some(distances), ..Nearness::default() };
        moved
    }

    /// Whether the distance of `to` to the nearest node where exceptions of unknown code arise (counted in
    /// inclusions) is one less than that of `from`.
    pub(super) fn is_step(&self, from: NodeId, to: NodeId) -> bool {
        self.followed.as_ref().is_some_and(|it| it.is_step(from, to))
    }

    /// Whether, before the update that returned `moved`, the distance of `to` to the nearest node where exceptions of
    /// unknown code arise (counted in inclusions) was one less than that of `from`.
    pub(super) fn was_step(&self, moved: &Moved, from: NodeId, to: NodeId) -> bool {
        self.followed.as_ref().is_some_and(|it| it.was_step(moved, from, to))
    }

    /// Adds `n` to the number of nodes that searches for the places where exceptions arise have visited.
    pub(super) fn looked_at(&self, n: usize) {
        self.visited.fetch_add(n, Ordering::Relaxed);
    }

    /// Returns, for each node, its distance to the nearest node where exceptions arise, counted in inclusions:
    /// exceptions of unknown code if `open` is true, otherwise known exceptions. Returns `None` while searches have
    /// visited too few nodes to make the computation worthwhile. `values` returns the exceptions of a node in the
    /// solution; `inclusions` returns the exceptions that arise at a node itself, and the nodes that it includes.
    pub(super) fn distances<'a>(
        &self,
        open: bool,
        values: impl Fn(NodeId) -> Value,
        inclusions: impl Fn(NodeId) -> (Value, &'a [(NodeId, FunctionId)]),
        n_nodes: usize,
    ) -> Option<&[u32]> {
        if let Some(it) = self.followed.as_ref().filter(|_| open) {
            return Some(it.all());
        }
        let slot = if open { &self.open } else { &self.known };
        if slot.get().is_none() && self.visited.load(Ordering::Relaxed) < n_nodes / 4 {
            return None;
        }
        Some(slot.get_or_init(|| find(open, values, inclusions, n_nodes)))
    }
}

/// Computes for each node the smallest number of inclusions that lead to a node where exceptions arise, by a
/// breadth-first search backwards from these nodes. Only nodes that let out exceptions are visited.
fn find<'a>(
    open: bool,
    values: impl Fn(NodeId) -> Value,
    inclusions: impl Fn(NodeId) -> (Value, &'a [(NodeId, FunctionId)]),
    n_nodes: usize,
) -> Vec<u32> {
    let users = || (0..n_nodes as u32).map(NodeId).filter(|it| values(*it).half(open) != SetId::EMPTY);
    // The users of each node (the nodes that include it), as concatenated lists.
    let mut starts = vec![0u32; n_nodes + 1];
    for user in users() {
        inclusions(user).1.iter().for_each(|it| starts[it.0.index() + 1] += 1);
    }
    for i in 0..n_nodes {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut lists = vec![0u32; starts[n_nodes] as usize];
    for user in users() {
        for (of, _) in inclusions(user).1 {
            let at = &mut next[of.index()];
            lists[*at as usize] = user.0;
            *at += 1;
        }
    }
    let mut distances = vec![NEVER; n_nodes];
    let mut queue: Vec<u32> =
        users().filter(|it| inclusions(*it).0.half(open) != SetId::EMPTY).map(|it| it.0).collect();
    queue.iter().for_each(|it| distances[*it as usize] = 0);
    let mut at = 0;
    while let Some(&node) = queue.get(at) {
        at += 1;
        let node = node as usize;
        for &user in &lists[starts[node] as usize..starts[node + 1] as usize] {
            if distances[user as usize] == NEVER {
                distances[user as usize] = distances[node] + 1;
                queue.push(user);
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use test_utils::rng::Rng;

    use super::*;

    #[test]
    fn distances_equal_those_of_a_naive_fixed_point() {
        let mut reached = 0;
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let n = 4 + rng.below(30) as usize;
            let node = |rng: &mut Rng| NodeId(rng.below(n as u32));
            let something = Value { known: SetId(1), open: SetId::EMPTY };
            let value = |is_there: bool| if is_there { something } else { Value::NOTHING };
            let values: Vec<Value> = (0..n).map(|_| value(rng.chance(80))).collect();
            let own: Vec<Value> =
                values.iter().map(|it| if rng.chance(15) { *it } else { Value::NOTHING }).collect();
            let mut edges = vec![Vec::new(); n];
            for _ in 0..2 * n {
                let (user, of) = (node(&mut rng), node(&mut rng));
                edges[user.index()].push((of, FunctionId::IDENTITY));
            }
            let inclusions = |it: NodeId| (own[it.index()], edges[it.index()].as_slice());
            let nearness = Nearness::default();
            assert_eq!(nearness.distances(false, |it| values[it.index()], inclusions, n), None);
            nearness.looked_at(n / 4);
            let found =
                nearness.distances(false, |it| values[it.index()], inclusions, n).map(<[u32]>::to_vec);
            let counts = |it: usize| values[it] != Value::NOTHING;
            let mut wanted: Vec<u32> =
                (0..n).map(|it| if own[it] != Value::NOTHING { 0 } else { NEVER }).collect();
            for _ in 0..n {
                for (user, edges) in edges.iter().enumerate().filter(|it| counts(it.0)) {
                    for (of, _) in edges {
                        wanted[user] = wanted[user].min(wanted[of.index()].saturating_add(1));
                    }
                }
            }
            reached += wanted.iter().filter(|it| (1..NEVER).contains(*it)).count();
            assert_eq!(found, Some(wanted), "seed {seed}");
        }
        assert!(reached > 300, "{reached}");
    }
}
