//! Tests of the data that the solver keeps besides the values of nodes, and of the cost of an edit. The file
//! `tests/incremental.rs` tests whether the values are right.

use rustc_hash::FxHashMap;
use test_utils::tier;

use super::Incremental;
use super::history::{History, Round};
use super::state::SolverState;
use crate::components::{ComponentId, components};
use crate::fuel::{Cancelled, Fuel};
use crate::solver::{FunctionId, Lattice, NodeId, solve};

/// A lattice of sets of numbers below 64, each set stored as the bits of a `u64`. The function with the id `f` (above
/// 0) removes the numbers that are divisible by `f + 1`.
#[derive(Default)]
struct Bits {
    operations: u32,
}

impl Lattice for Bits {
    type Value = u64;

    fn bottom(&self) -> u64 {
        0
    }

    fn join(&mut self, a: u64, b: u64) -> u64 {
        self.operations += 1;
        a | b
    }

    fn apply(&mut self, FunctionId(f): FunctionId, a: u64) -> u64 {
        self.operations += 1;
        (0..64).filter(|it| it % (f + 1) != 0).fold(0, |acc, it| acc | (a & 1 << it))
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }

    fn edges(&mut self, n: u32, many: u32) -> Vec<(NodeId, FunctionId)> {
        let n_edges = self.below(many);
        let function = |it: &mut Self| FunctionId(if it.below(5) == 0 { 1 + it.below(5) } else { 0 });
        (0..n_edges).map(|_| (NodeId(self.below(n)), function(self))).collect()
    }
}

const ID: FunctionId = FunctionId::IDENTITY;

fn solved(solver: &mut Incremental<u64>) {
    assert_eq!(solver.solve(&mut Bits::default(), &mut || false), Ok(()));
}

/// Returns a description of an inconsistency in the data that a solver keeps after it has found a solution; `None` if
/// the data is consistent.
fn flaw(solver: &Incremental<u64>) -> Option<String> {
    let SolverState { graph, parts, order, .. } = &solver.state;
    if !graph.is_sound() {
        return Some("edges and users differ".to_string());
    }
    let nodes = || (0..graph.n_nodes()).map(NodeId::from_index);
    let in_parts: usize = parts.ids().map(|it| parts.nodes(it).count()).sum();
    if in_parts != graph.n_nodes() || parts.ids().any(|id| parts.nodes(id).any(|it| parts.of(it) != id)) {
        return Some("places and components differ".to_string());
    }
    let identities = |node: u32, cursor: &mut u32| {
        let rest = graph.edges(NodeId(node)).get(*cursor as usize..).unwrap_or_default();
        rest.iter().find_map(|it| {
            *cursor += 1;
            let inner = it.function == ID && parts.of(it.of) == parts.of(NodeId(node));
            inner.then_some(it.of.0)
        })
    };
    let (hanging, n) =
        components(graph.n_nodes(), 0..graph.n_nodes() as u32, identities, || Ok::<(), ()>(())).ok()?;
    if n != parts.len() || hanging.len() != graph.n_nodes() {
        return Some(format!("the solver has {} components, but the solver's graph has {n}", parts.len()));
    }
    for id in parts.ids() {
        let component = parts.get(id);
        let n_edges: usize = parts.nodes(id).map(|it| graph.edges(it).len()).sum();
        if component.n_edges != n_edges || solver.state.work.need(id).is_some() {
            return Some(format!(
                "component {id:?} is still queued, or its recorded number of edges ({}) is wrong",
                component.n_edges
            ));
        }
        let (mut sources, mut total) = (FxHashMap::default(), History::constant(0));
        let mut comes = |round: Round, function, value| {
            *sources.entry((round, function, value)).or_insert(0) += 1;
            total.raise(
                &mut Bits::default(),
                round,
                crate::solver::flow(&mut Bits::default(), function, value),
            );
        };
        for node in parts.nodes(id) {
            comes(Round::FIRST, ID, graph.value(node));
            for edge in graph.edges(node) {
                let of = parts.of(edge.of);
                if of != id || edge.function != ID {
                    let against = !order.is_before(of, id);
                    parts
                        .history(of)
                        .steps()
                        .for_each(|it| comes(it.0.through(against), edge.function, it.1));
                }
            }
        }
        if total != component.history {
            return Some(format!(
                "component {id:?} has the history of values {:?} instead of {total:?}",
                component.history
            ));
        }
        if let Some(counts) = &component.counts
            && counts.sources().collect::<FxHashMap<_, _>>() != sources
        {
            return Some(format!("{id:?} has wrong counts"));
        }
    }
    nodes().find(|&it| parts.of(it).index() >= parts.len()).map(|it| format!("{it:?} has no component"))
}

#[test]
fn kept_data_is_consistent() {
    let (mut counted, mut later) = (0, 0);
    for seed in 0..tier::rounds(15, 60) {
        let mut random = Random(seed);
        let n = 20 + random.below(100);
        let mut solver = Incremental::new(0);
        solver.set_patience(random.below(30));
        (0..n).for_each(|_| _ = solver.add());
        (0..n).for_each(|it| solver.update(NodeId(it), 1 << random.below(64), random.edges(n, 5)));
        for i in 0..100 {
            let node = NodeId(random.below(n));
            let many = if random.below(5) == 0 { 100 } else { 4 };
            solver.update(node, 1 << random.below(64), random.edges(n, many));
            let mut left = random.below(60);
            let mut cancelled = || {
                left = left.saturating_sub(1);
                left == 1
            };
            while solver.solve(&mut Bits::default(), &mut cancelled) == Err(Cancelled) {}
            assert_eq!(flaw(&solver), None, "seed {seed}, edit {i}");
        }
        counted += solver.state.parts.ids().filter(|&it| solver.state.parts.get(it).counts.is_some()).count();
        later +=
            solver.state.parts.ids().filter(|&it| solver.state.parts.history(it).only().is_none()).count();
    }
    let least = tier::rounds(12, 50);
    assert!(
        counted > least && later > least,
        "the test covers too few components: {counted} with counts, {later} whose value grows later"
    );
}

#[test]
fn values_that_only_support_themselves_vanish() {
    // The value flows around a cycle, of identities or with a function in it, and around a self-loop with another
    // function.
    for function in [ID, FunctionId(1)] {
        let mut solver = Incremental::new(0);
        let [a, b, c] = [solver.add(), solver.add(), solver.add()];
        solver.update(a, 0, [(b, function), (c, ID)]);
        solver.update(b, 0, [(a, ID), (b, FunctionId(2))]);
        solver.update(c, 2, []);
        solved(&mut solver);
        assert_eq!([a, b, c].map(|it| solver.value(it)), [2, 2, 2]);
        assert_eq!(solver.take_changed(), [a, b, c]);
        solver.update(c, 0, []);
        solved(&mut solver);
        assert_eq!([a, b, c].map(|it| solver.value(it)), [0, 0, 0]);
        assert_eq!(solver.take_changed(), [a, b, c]);
        assert_eq!(solver.statistics().builds, 1);
    }
}

#[test]
fn pieces_are_in_order() {
    // Two rings are connected in both directions; then one connection is removed, and then each ring falls apart.
    let mut solver = Incremental::new(0);
    let n = 10;
    (0..2 * n).for_each(|_| _ = solver.add());
    let next = |i: u32| if i % n == n - 1 { i + 1 - n } else { i + 1 };
    let ring = |i: u32, also: Option<u32>| {
        [next(i)].into_iter().chain(also).map(|it| (NodeId(it), ID)).collect::<Vec<_>>()
    };
    (0..2 * n).for_each(|i| solver.update(NodeId(i), 1 << i, ring(i, None)));
    solver.update(NodeId(0), 1, ring(0, Some(n)));
    solver.update(NodeId(n), 1 << n, ring(n, Some(0)));
    solved(&mut solver);
    let one_round = |solver: &mut Incremental<u64>, n_components: usize| {
        solved(solver);
        assert_eq!((solver.statistics().rounds, solver.state.parts.len()), (0, n_components));
    };
    // No node uses node 4 any more, which uses all others.
    let mut passed_by = solver.clone();
    passed_by.update(NodeId(3), 0, [(NodeId(5), ID)]);
    one_round(&mut passed_by, 2);
    for (upper, lower) in [(0, n), (n, 0)] {
        let mut solver = solver.clone();
        solver.update(NodeId(lower), 1 << lower, ring(lower, None));
        one_round(&mut solver, 2);
        solver.update(NodeId(upper + 3), 0, []);
        one_round(&mut solver, 1 + n as usize);
        solver.update(NodeId(lower + 4), 0, []);
        one_round(&mut solver, 2 * n as usize);
    }
}

/// Returns a system with a ring of `n` nodes and additional edges (chords) between them. The value of each node of
/// the ring also flows into a further node, which has no outgoing edges.
fn ring(n: u32) -> Incremental<u64> {
    let mut solver = Incremental::new(0);
    (0..2 * n).for_each(|_| _ = solver.add());
    for i in 0..n {
        let value = if i % 16 == 0 { 1 << (i % 60) } else { 0 };
        let chord = NodeId(i.wrapping_mul(2_654_435_761) % n);
        solver.update(NodeId(i), value, [(NodeId((i + 1) % n), ID), (chord, ID), (chord, FunctionId(3))]);
        solver.update(NodeId(n + i), 0, [(NodeId(i), ID)]);
    }
    solver
}

#[test]
fn an_edit_in_a_large_component_looks_at_little() {
    let n = 20_000;
    let mut solver = ring(n);
    solved(&mut solver);
    solver.take_changed();
    let before = solver.statistics();
    for i in 0..100 {
        let chord = NodeId(i * 7);
        solver.update(NodeId(i * 100), 1 << 16, [(NodeId(i * 100 + 1), ID), (chord, ID)]);
        solved(&mut solver);
    }
    let after = solver.statistics();
    assert_eq!(solver.take_changed(), []);
    assert_eq!((after.builds, after.changes, after.cuts), (before.builds, before.changes, before.cuts));
    assert!(after.replaced > before.replaced, "{after:?}");
    assert!(after.looks - before.looks <= 100, "{after:?}");
    assert!(solver.state.parts.get(ComponentId(0)).counts.is_some());
}

#[test]
fn equal_edits_cause_no_work() {
    let mut solver = ring(100);
    solved(&mut solver);
    let edges = [(NodeId(6), ID), (NodeId(1), FunctionId(2)), (NodeId(6), ID)];
    solver.update(NodeId(5), 3, edges);
    solved(&mut solver);
    let before = solver.statistics();
    solver.update(NodeId(5), 3, edges.into_iter().rev());
    solver.update(NodeId(5), 9, []);
    solver.update(NodeId(5), 3, edges);
    assert_eq!(solver.edits.len(), 0);
    solved(&mut solver);
    assert_eq!(solver.statistics(), before);
}

#[test]
fn cancellation_is_checked_often() {
    let mut solver = ring(5_000);
    let hub = solver.add();
    let mut most = 0;
    let mut n_asked = 0;
    for step in 0..6 {
        let all = (0..5_000).map(|it| (NodeId(it), FunctionId(it % 7)));
        match step {
            1 => solver.update(hub, 1 << 63, all.collect::<Vec<_>>()),
            2 => solver.update(NodeId(0), 1 << 62, [(NodeId(1), ID), (hub, ID)]),
            3 => solver.functions_changed([FunctionId(3), FunctionId(5)]),
            4 => solver.update(hub, 0, []),
            _ => {}
        }
        // The lattice counts its operations between two cancellation checks; one is eight steps of about 0.1 µs.
        let bits = std::cell::RefCell::new(Bits::default());
        let mut lattice = Shared(&bits);
        let mut asked = || {
            n_asked += 1;
            most = most.max(std::mem::take(&mut bits.borrow_mut().operations));
            false
        };
        assert_eq!(solver.solve(&mut lattice, &mut asked), Ok(()));
        most = most.max(bits.borrow().operations);
    }
    assert!(
        most <= 256 && n_asked > 500,
        "too many lattice operations ({most}) between two cancellation checks, or too few checks ({n_asked})"
    );
    let solution = solve(&solver.system(), &mut Bits::default());
    assert!((0..solver.n_nodes() as u32).all(|it| solver.value(NodeId(it)) == solution.value(NodeId(it))));
}

struct Shared<'a>(&'a std::cell::RefCell<Bits>);

impl Lattice for Shared<'_> {
    type Value = u64;

    fn bottom(&self) -> u64 {
        0
    }

    fn join(&mut self, a: u64, b: u64) -> u64 {
        self.0.borrow_mut().join(a, b)
    }

    fn apply(&mut self, function: FunctionId, a: u64) -> u64 {
        self.0.borrow_mut().apply(function, a)
    }
}

#[test]
fn fuel_checks_first_and_then_when_it_is_spent() {
    let mut asked = 0;
    let mut count = || {
        asked += 1;
        asked == 3
    };
    let mut fuel = Fuel::new(10, &mut count);
    assert_eq!(fuel.spend(1), Ok(()));
    assert_eq!(fuel.spend(10), Ok(()));
    fuel.owe(100);
    assert_eq!(fuel.spend(1), Ok(()));
    assert_eq!(fuel.spend(11), Err(Cancelled));
}
