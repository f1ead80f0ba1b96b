//! A solved program: the targets of its calls, the system of inclusions over sets of exceptions, and its least
//! solution.

use flow::distances::Moved;
use flow::fuel::{Cancelled, Fuel};
use flow::incremental::Incremental;
use flow::solver::{FunctionId, NodeId, Solution, System};
use program::members::MethodId;
use rustc_hash::FxHashMap;

use super::lattice::{Inclusions, Value};
use super::nearness::Nearness;
use super::nodes::Nodes;
use super::reads::{Read, note};
use super::sites::Node;
use super::tables::CallTable;

/// A program with the exceptions that its methods let out. The exception sets are stored separately, because each
/// reader adds sets to them.
pub struct SolvedProgram {
    /// The classes of the program and the targets of its calls.
    pub calls: CallTable,
    /// The numbering of the nodes of the system.
    pub(super) nodes: Nodes,
    /// The system of inclusions as it was first built.
    system: System<Value>,
    solution: Solved,
    /// The distance of each node to the nearest origin, a node where exceptions arise.
    pub(super) nearness: Nearness,
}

/// The least solution of the system of inclusions.
enum Solved {
    /// The solution of the system as it was first built.
    Once(Solution<Value>),
    /// A solution that is updated when the system changes.
    Following(Box<Following>),
}

/// A system of inclusions that changes, with its least solution.
pub(super) struct Following {
    /// The changed system and its solution.
    pub(super) solver: Incremental<Value>,
    /// The inclusions of those nodes whose inclusions differ from [`SolvedProgram::system`].
    pub(super) changed: FxHashMap<NodeId, Inclusions>,
}

impl SolvedProgram {
    /// Creates a program from its system and the solution of the system.
    pub(super) fn new(
        calls: CallTable,
        nodes: Nodes,
        system: System<Value>,
        solution: Solution<Value>,
    ) -> Self {
        let (solution, nearness) = (Solved::Once(solution), Nearness::default());
        SolvedProgram { calls, nodes, system, solution, nearness }
    }

    /// Returns the exceptions that a method lets out.
    pub fn lets_out(&self, id: MethodId) -> Value {
        self.value(Node::Method(id))
    }

    /// Returns the exceptions that a node lets out.
    pub(super) fn value(&self, node: Node) -> Value {
        self.value_of(self.nodes.id(node))
    }

    /// Returns the exceptions that the node with this id lets out.
    pub(super) fn value_of(&self, node: NodeId) -> Value {
        note(Read::Value(node));
        match &self.solution {
            Solved::Once(it) => it.value(node),
            Solved::Following(it) => it.solver.value(node),
        }
    }

    /// Returns the value that arises at a node itself, and the edges from the nodes that it includes. A caller that
    /// computes an answer from them must record which of them it used ([`note`]).
    pub(super) fn inclusions(&self, node: NodeId) -> (Value, &[(NodeId, FunctionId)]) {
        if let Solved::Following(it) = &self.solution
            && let Some((value, edges)) = it.changed.get(&node)
        {
            return (*value, edges);
        }
        let at = node.index();
        if at >= self.system.values.len() {
            return (Value::NOTHING, &[]);
        }
        let edges = &self.system.edges[self.system.starts[at] as usize..self.system.starts[at + 1] as usize];
        (self.system.values[at], edges)
    }

    /// Returns the system in a solver that can follow changes. The solver has not solved the system yet.
    ///
    /// # Errors
    /// When the work is cancelled.
    pub(super) fn unsolved(&self, fuel: &mut Fuel<'_>) -> Result<Incremental<Value>, Cancelled> {
        let mut acc = Incremental::new(Value::NOTHING);
        let nodes: Vec<NodeId> = self.system.values.iter().map(|_| acc.add()).collect();
        for node in nodes {
            let (value, edges) = self.inclusions(node);
            fuel.spend(2 + edges.len() as u32)?;
            acc.update(node, value, edges.iter().copied());
        }
        Ok(acc)
    }

    /// Replaces the solution by one that follows changes. `solver` must have solved the system.
    pub(super) fn follow(&mut self, solver: Incremental<Value>) {
        self.nearness = Nearness::followed(&solver);
        self.solution = Solved::Following(Box::new(Following { solver, changed: FxHashMap::default() }));
    }

    /// Borrows the parts of the program for changes. The last part is `None` if the solution cannot follow changes
    /// yet.
    pub(super) fn parts(&mut self) -> (&mut CallTable, &mut Nodes, Option<&mut Following>) {
        let following = match &mut self.solution {
            Solved::Once(_) => None,
            Solved::Following(it) => Some(&mut **it),
        };
        (&mut self.calls, &mut self.nodes, following)
    }

    /// Returns the solution that follows changes; `None` if the solution cannot follow changes yet.
    pub(super) fn following(&self) -> Option<&Following> {
        match &self.solution {
            Solved::Once(_) => None,
            Solved::Following(it) => Some(it),
        }
    }

    /// Updates the distances after the nodes `changed` were changed. Returns the nodes whose distance to the nearest
    /// open origin changed, with their previous distances.
    pub(super) fn follow_distances(&mut self, changed: impl IntoIterator<Item = NodeId>) -> Moved {
        match &self.solution {
            Solved::Once(_) => Moved::default(),
            Solved::Following(it) => self.nearness.follow(&it.solver, changed),
        }
    }

    /// Returns an iterator that frees the program piece by piece; each step takes at most a few milliseconds.
    pub(super) fn freeing(self) -> impl Iterator<Item = ()> {
        let SolvedProgram { calls, solution, .. } = self;
        let following = match solution {
            Solved::Once(_) => None,
            Solved::Following(it) => Some(*it),
        };
        let solver = following.into_iter().flat_map(|it| {
            let Following { solver, changed } = it;
            solver.freeing().chain(changed.into_iter().map(drop))
        });
        calls.freeing().chain(solver)
    }
}
