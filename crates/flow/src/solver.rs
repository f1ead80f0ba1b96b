//! The least solution of a system of inclusions over a lattice, computed from scratch (`engine.md`, rule 3).
//!
//! A system has nodes. Each node has a value of its own, and edges to the nodes whose values flow into the node
//! through a function. Functions are monotone and distribute over joins; function 0 is the identity. Nodes that reach
//! each other through identities have the same value, so each strongly connected component over identities is solved
//! as one. Components are visited in topological order, and only edges against that order need a second visit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;
use std::ops::Range;

use crate::components::{self, ComponentId};
use crate::fuel::{Cancelled, Fuel, OPERATION, uncancelled};

/// The number of a node in one [`System`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Returns the number of the node, for indexing a vector.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the id of the node with this number. `index` must fit into 32 bits.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        debug_assert!(u32::try_from(index).is_ok(), "the node number {index} does not fit into 32 bits");
        NodeId(index as u32)
    }
}

/// The number of a function that [`Lattice::apply`] can apply. Each lattice has its own numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FunctionId(pub u32);

impl FunctionId {
    /// The function that returns its argument.
    pub const IDENTITY: FunctionId = FunctionId(0);

    /// Returns the number of the function, for indexing a vector.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the id of the function with this number. `index` must fit into 32 bits.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        debug_assert!(u32::try_from(index).is_ok(), "the function number {index} does not fit into 32 bits");
        FunctionId(index as u32)
    }
}

/// A join semilattice of finite height, with monotone functions on its elements.
pub trait Lattice {
    /// An element of the lattice; two elements are the same if and only if they compare equal.
    type Value: Copy + Eq + Hash;

    /// Returns the least element of the lattice.
    fn bottom(&self) -> Self::Value;

    /// Returns the least upper bound of two elements.
    fn join(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;

    /// Returns the least upper bound of any number of elements. A lattice that keeps each element it ever makes can avoid
    /// to make elements for the intermediate results.
    fn join_all(&mut self, elements: &[Self::Value]) -> Self::Value {
        let bottom = self.bottom();
        elements.iter().fold(bottom, |acc, it| self.join(acc, *it))
    }

    /// Applies the function `function` to the element `a`.
    fn apply(&mut self, function: FunctionId, a: Self::Value) -> Self::Value;
}

/// A system of inclusions between the values of nodes. The value of a node must include the constant that `values`
/// has for the node. For each incoming edge, the value must also include the result of the edge's function for the
/// value of the node from which the edge comes.
#[derive(Clone, Debug)]
pub struct System<V> {
    /// For each node, a constant that the node's value in the solution must include.
    pub values: Vec<V>,
    /// For each node, the index in `edges` of its first incoming edge; the last entry is the number of edges.
    pub starts: Vec<u32>,
    /// The incoming edges of all nodes, ordered by the node into which they lead. An edge is given by the node from
    /// which a value flows, and by the function that is applied to this value.
    pub edges: Vec<(NodeId, FunctionId)>,
}

/// The least solution of a system: one value for each node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution<V> {
    components: Vec<ComponentId>,
    values: Vec<V>,
}

impl<V: Copy> Solution<V> {
    /// Returns the value of a node in the solution.
    pub fn value(&self, node: NodeId) -> V {
        self.values[self.components[node.index()].index()]
    }

    /// Returns the number of strongly connected components of the nodes, where only edges with the identity function
    /// count. All nodes of a component have the same value.
    pub fn n_components(&self) -> usize {
        self.values.len()
    }
}

impl<V> System<V> {
    /// Returns the incoming edges of a node.
    pub fn edges_of(&self, node: NodeId) -> &[(NodeId, FunctionId)] {
        &self.edges[part(&self.starts, node.index())]
    }
}

/// Returns the range of indices of part `i` of a list that consists of consecutive parts. `starts` holds the index at
/// which each part starts, followed by the length of the list.
#[inline]
fn part(starts: &[u32], i: usize) -> Range<usize> {
    starts[i] as usize..starts[i + 1] as usize
}

/// Computes the least solution of a system.
pub fn solve<L: Lattice>(system: &System<L::Value>, lattice: &mut L) -> Solution<L::Value> {
    uncancelled(|fuel| solve_cancellable(system, lattice, fuel))
}

/// Computes the least solution of a system, unless `fuel` reports a cancellation.
///
/// # Errors
/// Returns [`Cancelled`] if the work was cancelled; no partial result is kept.
pub fn solve_cancellable<L: Lattice>(
    system: &System<L::Value>,
    lattice: &mut L,
    fuel: &mut Fuel<'_>,
) -> Result<Solution<L::Value>, Cancelled> {
    let (components, n) = components(system, fuel)?;
    let members = Members::new(&components, n);
    let mut values = vec![lattice.bottom(); n];
    // Edges to a component that is not solved yet: each has a function, or both ends would be in the same component.
    let mut against: Vec<(ComponentId, ComponentId, FunctionId)> = Vec::new();
    let mut incoming = Vec::new();
    for c in (0..n).map(ComponentId::from_index) {
        for &member in members.of(c) {
            fuel.spend(OPERATION)?;
            incoming.push(system.values[member.index()]);
            for &(to, function) in system.edges_of(member) {
                fuel.spend(OPERATION)?;
                let to = components[to.index()];
                if to > c || (to == c && function != FunctionId::IDENTITY) {
                    against.push((c, to, function));
                } else if to < c {
                    incoming.push(flow(lattice, function, values[to.index()]));
                }
            }
        }
        values[c.index()] = lattice.join_all(&incoming);
        incoming.clear();
    }
    let mut pending = BinaryHeap::new();
    let mut queued = vec![false; n];
    for &(c, to, function) in &against {
        fuel.spend(OPERATION)?;
        raise(lattice, &mut values, c, (to, function), &mut queued, &mut pending);
    }
    if !pending.is_empty() {
        let users = Users::new(system, &components, n, fuel)?;
        while let Some(Reverse(c)) = pending.pop() {
            queued[c.index()] = false;
            for &(user, function) in users.of(c) {
                fuel.spend(OPERATION)?;
                raise(lattice, &mut values, user, (c, function), &mut queued, &mut pending);
            }
        }
    }
    Ok(Solution { components, values })
}

/// Returns the value that arrives through an edge with function `function` from a node with value `value`.
pub(crate) fn flow<L: Lattice>(lattice: &mut L, function: FunctionId, value: L::Value) -> L::Value {
    if function == FunctionId::IDENTITY { value } else { lattice.apply(function, value) }
}

/// Applies `function` to the value of the component `from`, and joins the result into the value of the component `c`.
/// If this changes the value of `c`, adds `c` to `pending`, unless `queued` shows that `pending` contains `c`
/// already.
fn raise<L: Lattice>(
    lattice: &mut L,
    values: &mut [L::Value],
    c: ComponentId,
    (from, function): (ComponentId, FunctionId),
    queued: &mut [bool],
    pending: &mut BinaryHeap<Reverse<ComponentId>>,
) {
    let other = flow(lattice, function, values[from.index()]);
    let joined = lattice.join(values[c.index()], other);
    if joined != values[c.index()] {
        values[c.index()] = joined;
        if !std::mem::replace(&mut queued[c.index()], true) {
            pending.push(Reverse(c));
        }
    }
}

/// For each component, its outgoing edges: the component into which a value flows, and the function applied to the
/// value.
struct Users {
    starts: Vec<u32>,
    users: Vec<(ComponentId, FunctionId)>,
}

impl Users {
    fn new<V>(
        system: &System<V>,
        components: &[ComponentId],
        n: usize,
        fuel: &mut Fuel<'_>,
    ) -> Result<Self, Cancelled> {
        let mut each = |f: &mut dyn FnMut(ComponentId, ComponentId, FunctionId)| -> Result<(), Cancelled> {
            for (node, &c) in components.iter().enumerate() {
                fuel.spend(1)?;
                for &(to, function) in system.edges_of(NodeId::from_index(node)) {
                    let to = components[to.index()];
                    if to != c || function != FunctionId::IDENTITY {
                        f(c, to, function);
                    }
                }
            }
            Ok(())
        };
        let mut starts = vec![0; n + 1];
        each(&mut |_, to, _| starts[to.index() + 1] += 1)?;
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut users = vec![(ComponentId(0), FunctionId::IDENTITY); starts[n] as usize];
        each(&mut |c, to, function| {
            let at = &mut next[to.index()];
            users[*at as usize] = (c, function);
            *at += 1;
        })?;
        Ok(Users { starts, users })
    }

    fn of(&self, c: ComponentId) -> &[(ComponentId, FunctionId)] {
        &self.users[part(&self.starts, c.index())]
    }
}

/// The nodes of each strongly connected component.
struct Members {
    /// For each component, the index in `nodes` of its first node; the last entry is the number of nodes.
    starts: Vec<u32>,
    nodes: Vec<NodeId>,
}

impl Members {
    fn new(components: &[ComponentId], n: usize) -> Self {
        let mut starts = vec![0; n + 1];
        components.iter().for_each(|it| starts[it.index() + 1] += 1);
        for c in 0..n {
            starts[c + 1] += starts[c];
        }
        let mut next = starts.clone();
        let mut nodes = vec![NodeId(0); components.len()];
        for (node, c) in components.iter().enumerate() {
            let at = &mut next[c.index()];
            nodes[*at as usize] = NodeId::from_index(node);
            *at += 1;
        }
        Members { starts, nodes }
    }

    fn of(&self, c: ComponentId) -> &[NodeId] {
        &self.nodes[part(&self.starts, c.index())]
    }
}

/// Computes the strongly connected components of the nodes, where only edges with the identity function count.
/// Returns the component of each node, and the number of components. Components are numbered topologically: values
/// flow through identities only from components with a smaller number, and through other functions, too, unless the edge is
/// part of a cycle.
fn components<V>(system: &System<V>, fuel: &mut Fuel<'_>) -> Result<(Vec<ComponentId>, usize), Cancelled> {
    let n = system.values.len();
    let identities = |node: u32, cursor: &mut u32| {
        let edges = system.edges_of(NodeId(node)).get(*cursor as usize..).unwrap_or_default();
        let skipped = edges.iter().position(|it| it.1 == FunctionId::IDENTITY);
        *cursor += skipped.unwrap_or(edges.len()) as u32 + 1;
        skipped.map(|it| edges[it].0.0)
    };
    let all = |node: u32, cursor: &mut u32| {
        let edge = system.edges_of(NodeId(node)).get(*cursor as usize);
        *cursor += 1;
        edge.map(|it| it.0.0)
    };
    let (mut components, n_components) =
        components::components(n, 0..n as u32, identities, || fuel.spend(1))?;
    // The components of all edges give the order, and the order of identities the rest.
    let (cycles, _) = components::components(n, 0..n as u32, all, || fuel.spend(1))?;
    let mut order: Vec<(ComponentId, ComponentId)> = vec![(ComponentId(0), ComponentId(0)); n_components];
    for (cycle, component) in cycles.iter().zip(&components) {
        order[component.index()] = (*cycle, *component);
    }
    order.sort_unstable();
    let mut places = vec![ComponentId(0); n_components];
    for (place, (_, component)) in order.into_iter().enumerate() {
        places[component.index()] = ComponentId::from_index(place);
    }
    components.iter_mut().for_each(|it| *it = places[it.index()]);
    Ok((components, n_components))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lattice of sets of 64 elements. Function `f` above 0 keeps the elements whose number is not divisible by
    /// `f + 1`, and replaces the elements that it removes by element 0.
    struct Bits;

    impl Lattice for Bits {
        type Value = u64;

        fn bottom(&self) -> u64 {
            0
        }

        fn join(&mut self, a: u64, b: u64) -> u64 {
            a | b
        }

        fn apply(&mut self, FunctionId(f): FunctionId, a: u64) -> u64 {
            let gone = (0..64).filter(|it| it % (f + 1) == 0).fold(0, |acc, it| acc | 1 << it);
            if f == 0 { a } else { (a & !gone) | u64::from(a & gone != 0) }
        }
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u32) -> u32 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % u64::from(n)) as u32
        }
    }

    fn random(seed: u64) -> System<u64> {
        let mut it = Random(seed);
        let n = 1 + it.below(40);
        let mut system = System { values: Vec::new(), starts: vec![0], edges: Vec::new() };
        for _ in 0..n {
            system.values.push(if it.below(4) == 0 { 1 << it.below(64) } else { 0 });
            for _ in 0..it.below(4) {
                let function = if it.below(3) == 0 { 1 + it.below(5) } else { 0 };
                system.edges.push((NodeId(it.below(n)), FunctionId(function)));
            }
            system.starts.push(system.edges.len() as u32);
        }
        system
    }

    /// The textbook iteration: applies all edges until nothing changes.
    fn naive(system: &System<u64>) -> Vec<u64> {
        let mut values = system.values.clone();
        loop {
            let before = values.clone();
            for node in 0..values.len() {
                for &(to, function) in system.edges_of(NodeId::from_index(node)) {
                    values[node] |= Bits.apply(function, values[to.index()]);
                }
            }
            if values == before {
                return values;
            }
        }
    }

    #[test]
    fn the_solution_is_that_of_the_textbook_iteration() {
        let mut interesting = 0;
        let n: u64 = test_utils::tier::rounds(5_000, 20_000);
        for seed in 1..=n {
            let system = random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let expected = naive(&system);
            let solution = solve(&system, &mut Bits);
            let found: Vec<u64> = (0..expected.len() as u32).map(|it| solution.value(NodeId(it))).collect();
            assert_eq!(found, expected, "seed {seed}: {system:?}");
            interesting += u64::from(expected.iter().any(|it| it.count_ones() > 2));
        }
        assert!(interesting > n / 2, "{interesting}");
    }

    #[test]
    fn a_deep_chain_needs_no_stack() {
        let n = 200_000;
        let mut system = System { values: vec![0; n], starts: (0..=n as u32).collect(), edges: Vec::new() };
        system.values[n - 1] = 8;
        let next = |it: usize| NodeId(((it + 1) % n) as u32);
        system.edges = (0..n).map(|it| (next(it), FunctionId::IDENTITY)).collect();
        let solution = solve(&system, &mut Bits);
        assert_eq!(solution.value(NodeId(0)), 8);
        assert_eq!(solution.n_components(), 1);
    }
}
