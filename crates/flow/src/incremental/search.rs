//! Whether a node still reaches another along identities within a component.

use super::graph::Graph;
use super::parts::{ComponentId, Parts};
use crate::fuel::{Cancelled, Fuel};
use crate::solver::{FunctionId, NodeId};

/// Which nodes a search has seen: those whose mark is its number.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    marks: Vec<Mark>,
    last: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    search: u32,
    /// A number that the search gives to the node.
    number: u32,
}

impl Marks {
    /// Makes room for so many further nodes.
    pub(super) fn reserve(&mut self, n: usize) {
        self.marks.reserve(n);
    }

    /// Makes room for nodes below `n`.
    pub(super) fn grow(&mut self, n: usize) {
        self.marks.resize(n, Mark::default());
    }

    /// The number of a new search.
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
        self.marks[node.0 as usize].search == search
    }

    /// The number that a search gave to a node.
    pub(super) fn number(&self, search: u32, node: NodeId) -> Option<u32> {
        let mark = self.marks[node.0 as usize];
        (mark.search == search).then_some(mark.number)
    }

    /// Lets a search see a node; forgets that others did.
    pub(super) fn set(&mut self, search: u32, node: NodeId, number: u32) {
        self.marks[node.0 as usize] = Mark { search, number };
    }
}

/// A way to walk identities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    /// From users to what flows into them.
    Down,
    /// The other way.
    Up,
}

/// The nodes of a component that reach its root, or that the root reaches, as far as they were needed.
///
/// Many questions may have the same root: a closed set with a thousand neighbours leaves a thousand. What was found
/// for one helps the next.
pub(super) struct Search {
    /// The component.
    component: ComponentId,
    /// Where it starts.
    root: NodeId,
    /// Where it goes.
    direction: Direction,
    mark: u32,
    /// What it has seen, first those that it has left.
    seen: Vec<NodeId>,
    left: usize,
    /// How many edges were walked, from here and from the other ends.
    steps: usize,
}

/// What a search finds.
pub(super) enum Found {
    /// There is a way.
    Way,
    /// There is none: these nodes are all that can be reached in a direction from one end, and the other is not among them.
    Closed(Direction, Vec<NodeId>),
}

/// The nodes that were seen from the other end, each with the number of the one from which it was seen.
struct Near {
    mark: u32,
    seen: Vec<(NodeId, u32)>,
    left: usize,
    steps: usize,
}

impl Search {
    /// A search that has seen nothing but its root.
    pub(super) fn new(marks: &mut Marks, component: ComponentId, root: NodeId, direction: Direction) -> Self {
        let mark = marks.start();
        marks.set(mark, root, 0);
        Search { component, root, direction, mark, seen: vec![root], left: 0, steps: 0 }
    }

    /// Whether this is the search with such a root.
    pub(super) fn is_from(&self, root: NodeId, direction: Direction) -> bool {
        (self.root, self.direction) == (root, direction)
    }

    /// How many edges were walked.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Looks for a way between the root and another node of its component: from both ends in turns (Even, Shiloach, "An
    /// on-line edge-deletion problem", 1981), so that the cost is that of the side that ends sooner.
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
                    // From where the way leads on to the start.
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

    /// What lies on a way is seen from the root too.
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

/// The nodes of a component to which identities lead from a node, until one says no.
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
