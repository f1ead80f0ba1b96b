//! Random systems, and random edits to them.

use flow::incremental::Incremental;
use flow::solver::{FunctionId, NodeId, System};

use crate::masks::{Masks, Random};

/// A solver, its lattice, and the expected system.
pub(crate) struct World {
    pub(crate) masks: Masks,
    pub(crate) solver: Incremental<u64>,
    pub(crate) arrived_atoms: u64,
    pub(crate) reused_nodes: u64,
    /// The value of each node at the last report of changes.
    pub(crate) told: Vec<u64>,
    nodes: Vec<Node>,
    /// The number of nodes at the start.
    size: u32,
    /// The average number of edges per edge with a function other than the identity.
    filtered: u32,
    /// The upper bound of the number of edges of most nodes.
    degree: u32,
    /// The average number of nodes per node with an own value.
    values: u32,
    /// Whether edges lead to the next few nodes only, so that components are long rings; else edges lead anywhere.
    is_ring: bool,
    /// Whether the lattice panics at random.
    pub(crate) panics: bool,
}

#[derive(Clone, Default)]
struct Node {
    is_removed: bool,
    value: u64,
    edges: Vec<(NodeId, FunctionId)>,
}

impl World {
    pub(crate) fn new(random: &mut Random) -> Self {
        let mut masks = Masks::new(4 + random.below(20));
        for _ in 0..1 + random.below(8) {
            masks.add_function(random);
        }
        let mut world = World {
            masks,
            solver: Incremental::new(0),
            arrived_atoms: 0,
            reused_nodes: 0,
            told: Vec::new(),
            nodes: Vec::new(),
            size: [3, 8, 20, 40, 90, 250][random.below(6) as usize],
            filtered: 2 + random.below(6),
            degree: 2 + random.below(4),
            values: 1 + random.below(12),
            is_ring: random.below(4) == 0,
            panics: random.below(3) == 0,
        };
        world.solver.set_patience([0, 1, 8, 40][random.below(4) as usize]);
        for _ in 0..world.size {
            world.add(random);
        }
        for i in 0..world.size {
            world.rewrite(random, NodeId(i));
        }
        world
    }

    /// Returns the expected system, with sorted edges.
    pub(crate) fn system(&self) -> System<u64> {
        let mut acc = System { values: Vec::new(), starts: vec![0], edges: Vec::new() };
        for node in &self.nodes {
            let mut edges = node.edges.clone();
            edges.sort_unstable_by_key(|it| (it.0, it.1.0));
            edges.dedup();
            acc.values.push(node.value);
            acc.edges.extend(edges);
            acc.starts.push(acc.edges.len() as u32);
        }
        acc
    }

    /// Makes one or several random edits.
    pub(crate) fn edit(&mut self, random: &mut Random) {
        let n = if random.below(6) == 0 { 1 + random.below(12) } else { 1 };
        for _ in 0..n {
            self.edit_once(random);
        }
    }

    fn edit_once(&mut self, random: &mut Random) {
        match random.below(40) {
            0 => self.add(random),
            1 => self.remove(random),
            2 => {
                let changed = self.masks.change_function(random);
                self.solver.functions_changed(changed);
            }
            3 if self.masks.n_atoms < 60 => {
                let changed = self.masks.add_atom(random);
                self.arrived_atoms += 1;
                // No value has the atom yet, so reporting the functions is optional.
                if random.below(2) == 0 {
                    self.solver.functions_changed(changed);
                }
            }
            4 if self.masks.n_functions() < 40 => self.masks.add_function(random),
            5 => {
                // Empties all methods of a class, or fills them again.
                let empties = random.below(2) == 0;
                let first = random.below(self.nodes.len() as u32);
                for i in first..(first + 5).min(self.nodes.len() as u32) {
                    if empties {
                        self.nodes[i as usize].edges.clear();
                        self.say(NodeId(i));
                    } else {
                        self.rewrite(random, NodeId(i));
                    }
                }
            }
            6..10 => {
                if let Some(node) = self.any(random) {
                    self.rewrite(random, node);
                }
            }
            10..18 => {
                if let Some(node) = self.any(random) {
                    self.nodes[node.index()].value = self.value(random);
                    self.say(node);
                }
            }
            18..28 => {
                if let Some(node) = self.any(random) {
                    let edge = self.edge(random, node);
                    self.nodes[node.index()].edges.push(edge);
                    self.say(node);
                }
            }
            _ => self.remove_edge(random),
        }
    }

    fn remove_edge(&mut self, random: &mut Random) {
        let Some(node) = self.any(random) else { return };
        let edges = &mut self.nodes[node.index()].edges;
        if !edges.is_empty() {
            edges.swap_remove(random.below(edges.len() as u32) as usize);
            self.say(node);
        }
    }

    fn add(&mut self, random: &mut Random) {
        let id = self.solver.add();
        if id.index() == self.nodes.len() {
            self.nodes.push(Node::default());
            self.told.push(0);
        } else {
            self.reused_nodes += 1;
            self.nodes[id.index()] = Node::default();
        }
        if random.below(2) == 0 {
            self.rewrite(random, id);
        }
    }

    fn remove(&mut self, random: &mut Random) {
        let Some(node) = self.any(random) else { return };
        // Often the node's users are updated first, as they should be.
        if random.below(4) > 0 {
            for i in 0..self.nodes.len() {
                let edges = &mut self.nodes[i].edges;
                let before = edges.len();
                edges.retain(|it| it.0 != node);
                if edges.len() != before {
                    self.say(NodeId::from_index(i));
                }
            }
        }
        self.nodes[node.index()] = Node { is_removed: true, ..Node::default() };
        self.solver.remove(node);
    }

    fn any(&self, random: &mut Random) -> Option<NodeId> {
        let node = random.below(self.nodes.len() as u32);
        (!self.nodes[node as usize].is_removed).then_some(NodeId(node))
    }

    fn value(&self, random: &mut Random) -> u64 {
        if random.below(self.values) == 0 { random.bits(self.masks.n_atoms) } else { 0 }
    }

    fn edge(&self, random: &mut Random, node: NodeId) -> (NodeId, FunctionId) {
        let n = self.nodes.len() as u32;
        let of = match random.below(3) {
            _ if self.is_ring => (node.0 + 1 + random.below(2)) % n,
            // Some nodes have more users than others.
            0 => random.below(1 + n / 8),
            _ => random.below(n),
        };
        let filtered = random.below(if self.is_ring { 30 } else { self.filtered }) == 0;
        let function = if filtered { 1 + random.below(self.masks.n_functions() - 1) } else { 0 };
        (NodeId(of), FunctionId(function))
    }

    fn rewrite(&mut self, random: &mut Random, node: NodeId) {
        if self.nodes[node.index()].is_removed {
            return;
        }
        let n = if random.below(20) == 0 {
            self.size
        } else {
            random.below(self.degree) + u32::from(self.is_ring)
        };
        let edges = (0..n).map(|_| self.edge(random, node)).collect();
        self.nodes[node.index()] = Node { is_removed: false, value: self.value(random), edges };
        self.say(node);
    }

    fn say(&mut self, node: NodeId) {
        let it = &self.nodes[node.index()];
        if !it.is_removed {
            self.solver.update(node, it.value, it.edges.iter().copied());
        }
    }
}
