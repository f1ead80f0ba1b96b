//! Searches for a path along edges with the identity between two nodes of a component.

use super::graph::Graph;
use super::parts::Parts;
use crate::components::ComponentId;
use crate::fuel::{Cancelled, Fuel};
use crate::solver::{FunctionId, NodeId};

/// Marks of the nodes that searches have visited. A node has only one mark, which identifies the last search that
/// visited the node; the marks of earlier searches are overwritten.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    marks: Vec<Mark>,
    last: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    search: u32,
    /// The number that the search assigned to the node. Its meaning depends on the search.
    number: u32,
}

impl Marks {
    /// Reserves memory for `n` further nodes.
    pub(super) fn reserve(&mut self, n: usize) {
        self.marks.reserve(n);
    }

    /// Extends the list of marks to all nodes with numbers below `n`.
    pub(super) fn grow(&mut self, n: usize) {
        self.marks.resize(n, Mark::default());
    }

    /// Starts a new search, and returns the number that identifies the search.
    pub(super) fn start(&mut self) -> u32 {
        if self.last == u32::MAX {
            self.marks.fill(Mark::default());
            self.last = 0;
        }
        self.last += 1;
        self.last
    }

    /// Returns whether the search with the number `search` has visited the node, and no later search has.
    pub(super) fn has(&self, search: u32, node: NodeId) -> bool {
        self.marks[node.index()].search == search
    }

    /// Returns the number that the search with the number `search` assigned to the node; `None` if the node's mark is
    /// not from this search.
    pub(super) fn number(&self, search: u32, node: NodeId) -> Option<u32> {
        let mark = self.marks[node.index()];
        (mark.search == search).then_some(mark.number)
    }

    /// Marks a node as visited by the search with the number `search`, and assigns `number` to the node. This
    /// overwrites the mark of any other search.
    pub(super) fn set(&mut self, search: u32, node: NodeId, number: u32) {
        self.marks[node.index()] = Mark { search, number };
    }
}

/// The direction in which a search walks along edges with the identity as function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    /// Against the flow of values: from a node to the nodes whose values flow into it.
    Down,
    /// With the flow of values: from a node to the nodes into which its value flows.
    Up,
}

/// A search within one component. It starts at a root node, and finds nodes that the root reaches or, in the other
/// direction, nodes that reach the root. It answers queries for a path between the root and another node, and goes
/// only as far as these queries need.
///
/// Many path queries may have the same root: when a set of nodes with a thousand neighbours is cut off a component, a
/// thousand queries follow. The search is kept from one query to the next, so that what one query finds helps the
/// next.
pub(super) struct Search {
    /// The component within which the search stays.
    component: ComponentId,
    /// The node from which the search starts.
    root: NodeId,
    /// The direction in which the search walks from the root.
    direction: Direction,
    mark: u32,
    /// The nodes visited from the root, in the order of the visits. The edges of the first `left` of these nodes have
    /// been followed.
    seen: Vec<NodeId>,
    left: usize,
    /// The number of edges followed so far in all queries, from both ends of the paths.
    steps: usize,
}

/// The result of a query for a path between two nodes.
pub(super) enum Found {
    /// There is a path between the two nodes of the query.
    Way,
    /// There is no path between the two nodes of the query. The list holds all nodes that one of the two nodes
    /// reaches if edges are followed in the given direction; the other of the two nodes is not in the list.
    Closed(Direction, Vec<NodeId>),
}

/// The part of a path query that starts at the node which is not the root. `seen` holds the nodes that were visited
/// from there, each with the index in `seen` of the node from which it was reached.
struct Near {
    mark: u32,
    seen: Vec<(NodeId, u32)>,
    left: usize,
    steps: usize,
}

impl Search {
    /// Creates a search within `component` from the node `root` in `direction`. So far, only the root is visited.
    pub(super) fn new(marks: &mut Marks, component: ComponentId, root: NodeId, direction: Direction) -> Self {
        let mark = marks.start();
        marks.set(mark, root, 0);
        Search { component, root, direction, mark, seen: vec![root], left: 0, steps: 0 }
    }

    /// Returns whether this search starts at the node `root` and walks in `direction`.
    pub(super) fn is_from(&self, root: NodeId, direction: Direction) -> bool {
        (self.root, self.direction) == (root, direction)
    }

    /// Returns the number of edges that this search has followed so far in all queries.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Answers the query for a path between the root and the node `start`, which must be in the same component. Edges
    /// are followed from both ends in turn (Even, Shiloach, "An on-line edge-deletion problem", 1981), so that the
    /// cost is proportional to that of the end that finishes first.
    pub(super) fn find<V: Copy + Eq>(
        &mut self,
        (graph, parts, marks): (&Graph<V>, &Parts<V>, &mut Marks),
        start: NodeId,
        fuel: &mut Fuel,
    ) -> Result<Found, Cancelled> {
        if marks.has(self.mark, start) {
            return Ok(Found::Way);
        }
        let back = match self.direction {
            Direction::Down => Direction::Up,
            Direction::Up => Direction::Down,
        };
        let mut near = Near { mark: marks.start(), seen: vec![(start, 0)], left: 0, steps: 0 };
        marks.set(near.mark, start, 0);
        let mut far_steps = 0;
        loop {
            let Some(&(node, _)) = near.seen.get(near.left) else {
                return Ok(Found::Closed(back, near.seen.into_iter().map(|it| it.0).collect()));
            };
            let Some(&far_node) = self.seen.get(self.left) else {
                return Ok(Found::Closed(self.direction, std::mem::take(&mut self.seen)));
            };
            let is_near = near.steps <= far_steps;
            let (from, direction) = if is_near { (node, back) } else { (far_node, self.direction) };
            let mut steps = 1;
            let mut way = None;
            each_neighbour(graph, parts, (self.component, from, direction), |it| {
                steps += 1;
                match (marks.number(near.mark, it), marks.has(self.mark, it)) {
                    // The index of the node from which the path goes on to the start.
                    (None, true) if is_near => way = Some(near.left as u32),
                    (Some(number), _) if !is_near => way = Some(number),
                    (None, false) if is_near => {
                        marks.set(near.mark, it, near.seen.len() as u32);
                        near.seen.push((it, near.left as u32));
                    }
                    (None, false) => {
                        marks.set(self.mark, it, 0);
                        self.seen.push(it);
                    }
                    _ => {}
                }
                way.is_none()
            });
            self.steps += steps;
            if let Some(way) = way {
                self.keep(marks, &near, way);
                return Ok(Found::Way);
            }
            if is_near {
                near.left += 1;
                near.steps += steps;
            } else {
                self.left += 1;
                far_steps += steps;
            }
            fuel.spend(steps as u32)?;
        }
    }

    /// Called when a path was found. Marks the nodes of the second part of the path as visited from the root: the
    /// part from the node with the index `number` in `near.seen` to the end that is not the root. `near` is the
    /// search from that end.
    fn keep(&mut self, marks: &mut Marks, near: &Near, mut number: u32) {
        loop {
            let (node, before) = near.seen[number as usize];
            marks.set(self.mark, node, 0);
            self.seen.push(node);
            if number == 0 {
                break;
            }
            number = before;
        }
    }
}

/// Calls `f` with the neighbours of a node in the same component, along edges with the identity as function in the
/// given direction, until `f` returns `false`.
fn each_neighbour<V: Copy + Eq>(
    graph: &Graph<V>,
    parts: &Parts<V>,
    (component, node, direction): (ComponentId, NodeId, Direction),
    mut f: impl FnMut(NodeId) -> bool,
) {
    let mut each = |it: NodeId, function: FunctionId| {
        function != FunctionId::IDENTITY || parts.of(it) != component || f(it)
    };
    match direction {
        Direction::Down => _ = graph.edges(node).iter().all(|it| each(it.of, it.function)),
        Direction::Up => _ = graph.users(node).iter().all(|it| each(it.node, it.function)),
    }
}
