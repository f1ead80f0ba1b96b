//! Splits components that are no longer strongly connected.
//!
//! A *doubt* of a component is a pair of its nodes `(a, b)` such that it is not known whether `a` still reaches `b`.
//! A component with doubts would be strongly connected if each `a` reached its `b`. When an edge within a component
//! is removed, it becomes a doubt. A path from `a` to `b` settles the doubt. If there is no path, the set of nodes
//! that `a` reaches is closed: no node in this set reaches the rest of the component. (Or the set of nodes that reach
//! `b` is closed: no node of the rest reaches this set.) The closed set is cut off. Paths between nodes of the rest
//! that led through the closed set then become doubts of the rest. Each of these paths entered or left the closed set
//! by a doubt, so a star of doubts around one end of the last doubt is enough.

use std::hash::Hash;

use super::counts::Counts;
use super::history::Round;
use super::search::{Direction, Found, Search};
use super::state::{SolverState, is_inner};
use crate::components::{ComponentId, components};
use crate::fuel::{Cancelled, Fuel};
use crate::solver::{FunctionId, Lattice, NodeId};

/// Splits each component that may no longer be strongly connected, because edges were removed, into strongly
/// connected components.
pub(super) fn settle_doubts<L: Lattice>(
    state: &mut SolverState<L::Value>,
    lattice: &mut L,
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    while let Some((&id, _)) = state.doubts.first_key_value() {
        settle(state, lattice, id, fuel)?;
        state.doubts.remove(&id);
    }
    Ok(())
}

fn settle<L: Lattice>(
    state: &mut SolverState<L::Value>,
    lattice: &mut L,
    id: ComponentId,
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    let mut steps = 0;
    let mut last: Option<Search> = None;
    while let Some(&[ref rest @ .., (a, b)]) = state.doubts.get(&id).map(Vec::as_slice) {
        let n_edges = state.parts.get(id).n_edges;
        // By now it would have been as cheap to decompose the whole component.
        if steps > 2 * n_edges {
            return split(state, lattice, id, fuel);
        }
        // The end that the next doubt shares is the better root.
        let from_a = rest.last().is_some_and(|it| it.0 == a);
        let ends = [(a, Direction::Down, b), (b, Direction::Up, a)];
        let known = ends.into_iter().find(|it| last.as_ref().is_some_and(|last| last.is_from(it.0, it.1)));
        let (root, direction, start) = known.unwrap_or(ends[usize::from(!from_a)]);
        let mut search = match last.take() {
            Some(it) if known.is_some() => it,
            _ => Search::new(&mut state.marks, id, root, direction),
        };
        let before = search.steps();
        let found = search.find((&state.graph, &state.parts, &mut state.marks), start, fuel)?;
        steps += search.steps() - before;
        match found {
            Found::Way => {
                state.doubts.entry(id).and_modify(|it| _ = it.pop());
                state.statistics.replaced += 1;
                last = Some(search);
            }
            Found::Closed(direction, nodes) => cut(state, lattice, id, (direction, &nodes), fuel)?,
        }
    }
    Ok(())
}

/// Cuts a closed set of nodes off a component, and splits the set into strongly connected components. The set is
/// closed if no edge that is followed in `direction` leads from the set to other nodes of the component. The
/// component has a list of doubts: pairs of nodes of which it is not known whether the first still reaches the
/// second. Of the last pair in the list, one node must be in the set and the other must not.
fn cut<L: Lattice>(
    state: &mut SolverState<L::Value>,
    lattice: &mut L,
    id: ComponentId,
    (direction, closed): (Direction, &[NodeId]),
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    let pieces = pieces(state, closed, fuel)?;
    let Some(doubts) = state.doubts.remove(&id) else { return Ok(()) };
    let Some(&(a, b)) = doubts.last() else { return Ok(()) };
    let mark = state.marks.start();
    closed.iter().for_each(|&it| state.marks.set(mark, it, 0));
    let is_closed = |it: NodeId| state.marks.has(mark, it);
    let mut beside = Vec::new();
    let mut rest = Vec::new();
    for &(from, to) in &doubts {
        match (is_closed(from), is_closed(to), direction) {
            (false, false, _) => rest.push((from, to)),
            (false, true, Direction::Down) => beside.push(from),
            (true, false, Direction::Up) => beside.push(to),
            (true, false, Direction::Down) if to != b => rest.push((b, to)),
            (false, true, Direction::Up) if from != a => rest.push((from, a)),
            _ => {}
        }
    }
    let inner =
        |it: NodeId, function| function == FunctionId::IDENTITY && state.parts.of(it) == id && !is_closed(it);
    for &node in closed {
        match direction {
            Direction::Down => beside.extend(
                state.graph.users(node).iter().filter(|it| inner(it.node, it.function)).map(|it| it.node),
            ),
            Direction::Up => beside.extend(
                state.graph.edges(node).iter().filter(|it| inner(it.of, it.function)).map(|it| it.of),
            ),
        }
    }
    beside.sort_unstable();
    beside.dedup();
    rest.extend(beside.into_iter().filter_map(|it| match direction {
        Direction::Down => (it != b).then_some((it, b)),
        Direction::Up => (it != a).then_some((a, it)),
    }));
    let (below, above) = match direction {
        Direction::Down => (pieces, Vec::new()),
        Direction::Up => (Vec::new(), pieces),
    };
    detach(state, lattice, id, &below, &above);
    if !rest.is_empty() {
        state.doubts.insert(id, rest);
    }
    state.statistics.cuts += 1;
    Ok(())
}

/// Splits a whole component into strongly connected components. The largest of these keeps the id of the component
/// and its place in the order of components.
fn split<L: Lattice>(
    state: &mut SolverState<L::Value>,
    lattice: &mut L,
    id: ComponentId,
    fuel: &mut Fuel,
) -> Result<(), Cancelled> {
    let nodes: Vec<NodeId> = state.parts.nodes(id).collect();
    let mut pieces = pieces(state, &nodes, fuel)?;
    let largest = pieces.iter().enumerate().max_by_key(|it| it.1.len()).map_or(0, |it| it.0);
    let above = pieces.split_off(largest + 1);
    pieces.truncate(largest);
    detach(state, lattice, id, &pieces, &above);
    state.doubts.remove(&id);
    state.statistics.splits += 1;
    Ok(())
}

/// Returns the strongly connected components of the subgraph of the given nodes, as lists of nodes. A component comes
/// later in the result than the components from which values flow into it.
fn pieces<V: Copy + Eq + Hash>(
    state: &mut SolverState<V>,
    nodes: &[NodeId],
    fuel: &mut Fuel,
) -> Result<Vec<Vec<NodeId>>, Cancelled> {
    let mark = state.marks.start();
    for (i, &node) in nodes.iter().enumerate() {
        state.marks.set(mark, node, i as u32);
    }
    let identities = |node: u32, cursor: &mut u32| {
        let mut edges =
            state.graph.edges(nodes[node as usize]).get(*cursor as usize..).unwrap_or_default().iter();
        edges.find_map(|it| {
            *cursor += 1;
            if it.function == FunctionId::IDENTITY { state.marks.number(mark, it.of) } else { None }
        })
    };
    let n = nodes.len();
    let (component, n_pieces) = components(n, 0..n as u32, identities, || fuel.spend(1))?;
    let mut pieces = vec![Vec::new(); n_pieces];
    for (&node, piece) in nodes.iter().zip(component) {
        pieces[piece.index()].push(node);
    }
    Ok(pieces)
}

/// Moves nodes out of the component `id`: each list of nodes in `below` and `above` becomes a new component. In the
/// order of components, those of `below` are placed directly before `id`, and those of `above` directly after `id`,
/// each group in the order of its slice. Other components are not affected, because each new component starts with
/// the values of `id` and is next to it in the order.
fn detach<L: Lattice>(
    state: &mut SolverState<L::Value>,
    lattice: &mut L,
    id: ComponentId,
    below: &[Vec<NodeId>],
    above: &[Vec<NodeId>],
) {
    let moved: Vec<NodeId> = below.iter().chain(above).flatten().copied().collect();
    let edges = |it: &NodeId| state.graph.edges(*it).len() + state.graph.users(*it).len();
    let n_moved: usize = moved.iter().map(edges).sum();
    let component = state.parts.get_mut(id);
    let mut counts = component.counts.take().filter(|_| n_moved < component.n_edges / 2);
    if let Some(counts) = &mut counts {
        uncount(state, lattice, id, counts, &moved);
    }
    for nodes in below {
        let new = state.order.put_before(id);
        found(state, id, new, nodes);
    }
    for nodes in above.iter().rev() {
        let new = state.order.put_after(id);
        found(state, id, new, nodes);
    }
    if let Some(mut counts) = counts {
        for &node in &moved {
            let of = state.parts.of(node);
            let against = state.is_against(id, of);
            for user in state.graph.users(node).iter().filter(|it| state.parts.of(it.node) == id) {
                counts.edge_comes(lattice, user.function, against, state.parts.history(of));
            }
        }
        state.parts.get_mut(id).counts = Some(counts);
    }
    state.wait(id, Round::FIRST);
}

/// Moves nodes from the component `old` into the new component `new`, which starts with the values of `old`.
fn found<V: Copy + Eq + Hash>(
    state: &mut SolverState<V>,
    old: ComponentId,
    new: ComponentId,
    nodes: &[NodeId],
) {
    let made = state.parts.add(state.parts.history(old).clone());
    debug_assert_eq!(made, new, "the new component must have the same number in `parts` as in `order`");
    state.work.grow(state.parts.len());
    for &node in nodes {
        state.parts.move_to(node, new);
        let n_edges = state.graph.edges(node).len();
        state.parts.get_mut(old).n_edges -= n_edges;
        state.parts.get_mut(new).n_edges += n_edges;
    }
    if state.parts.get(old).touched {
        state.touch(new);
    }
    state.wait(new, Round::FIRST);
    state.statistics.pieces += 1;
}

/// Subtracts values from the counters of a component before the nodes `moved` leave the component: the values that
/// flow into these nodes, and the values that flow from these nodes into the component's other nodes.
fn uncount<L: Lattice>(
    state: &mut SolverState<L::Value>,
    lattice: &mut L,
    id: ComponentId,
    counts: &mut Counts<L::Value>,
    moved: &[NodeId],
) {
    let mark = state.marks.start();
    moved.iter().for_each(|&it| state.marks.set(mark, it, 0));
    for &node in moved {
        counts.goes(lattice, (Round::FIRST, FunctionId::IDENTITY, state.graph.value(node)));
        for edge in state.graph.edges(node) {
            let of = state.parts.of(edge.of);
            if !is_inner(id, of, edge.function) {
                counts.edge_goes(lattice, edge.function, state.is_against(id, of), state.parts.history(of));
            }
        }
        for user in state.graph.users(node) {
            let stays = state.parts.of(user.node) == id && !state.marks.has(mark, user.node);
            if stays && user.function != FunctionId::IDENTITY {
                counts.edge_goes(lattice, user.function, true, state.parts.history(id));
            }
        }
    }
}
