//! Searches for a path along identities between two nodes of a component.

use super::graph::Graph;
use super::parts::Parts;
use crate::components::ComponentId;
use crate::fuel::{Cancelled, Fuel};
use crate::solver::{FunctionId, NodeId};

/// The nodes that each search has seen: those whose mark has the number of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    marks: Vec<Mark>,
    last: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    search: u32,
    /// A number that the search assigned to the node.
    number: u32,
}

impl Marks {
    /// Reserves memory for `n` further nodes.
    pub(super) fn reserve(&mut self, n: usize) {
        self.marks.reserve(n);
    }

    /// Makes room for the nodes below `n`.
    pub(super) fn grow(&mut self, n: usize) {
        self.marks.resize(n, Mark::default());
    }

    /// Starts a new search and returns its number.
    pub(super) fn start(&mut self) -> u32 {
        if self.last == u32::MAX {
            self.marks.fill(Mark::default());
            self.last = 0;
        }
        self.last += 1;
        self.last
    }

    /// Whether a search has seen a node.
    pub(super) fn has(&self, search: u32, node: NodeId) -> bool {
        self.marks[node.index()].search == search
    }

    /// The number that a search assigned to a node; `None` if the search has not seen the node.
    pub(super) fn number(&self, search: u32, node: NodeId) -> Option<u32> {
        let mark = self.marks[node.index()];
        (mark.search == search).then_some(mark.number)
    }

    /// Marks a node as seen by a search, and no longer as seen by any other.
    pub(super) fn set(&mut self, search: u32, node: NodeId, number: u32) {
        self.marks[node.index()] = Mark { search, number };
    }
}

/// The direction of a walk along identities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    /// From users to the nodes that flow into them.
    Down,
    /// From nodes to their users.
    Up,
}

/// The nodes of a component that reach a root, or that the root reaches, as far as they were needed so far.
///
/// Many queries may have the same root: a closed set with a thousand neighbours leaves a thousand. What one query
/// finds helps the next.
pub(super) struct Search {
    /// The component that is searched.
    component: ComponentId,
    /// The node from which the search starts.
    root: NodeId,
    /// The direction in which the search goes from the root.
    direction: Direction,
    mark: u32,
    /// The nodes seen from the root; the edges of the first `left` of them have been walked.
    seen: Vec<NodeId>,
    left: usize,
    /// The number of edges walked, from the root and from the other ends.
    steps: usize,
}

/// The result of a search.
pub(super) enum Found {
    /// There is a path.
    Way,
    /// There is no path: these nodes are all that can be reached in this direction from one end, and the other end
    /// is not among them.
    Closed(Direction, Vec<NodeId>),
}

/// The nodes seen from the other end, each with the index of the node from which it was seen.
struct Near {
    mark: u32,
    seen: Vec<(NodeId, u32)>,
    left: usize,
    steps: usize,
}

impl Search {
    /// Creates a search that has seen only its root.
    pub(super) fn new(marks: &mut Marks, component: ComponentId, root: NodeId, direction: Direction) -> Self {
        let mark = marks.start();
        marks.set(mark, root, 0);
        Search { component, root, direction, mark, seen: vec![root], left: 0, steps: 0 }
    }

    /// Whether the search has this root and direction.
    pub(super) fn is_from(&self, root: NodeId, direction: Direction) -> bool {
        (self.root, self.direction) == (root, direction)
    }

    /// The number of edges walked.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Searches for a path between the root and another node of its component, from both ends in turns (Even,
    /// Shiloach, "An on-line edge-deletion problem", 1981), so that the cost is that of the side that ends sooner.
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

    /// Marks the nodes on a path to the start as seen from the root too.
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

/// Calls `f` with the nodes of a component to which identities lead from a node, until `f` returns false.
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
