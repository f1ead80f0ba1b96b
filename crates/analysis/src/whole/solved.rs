//! A solved program: the targets of its calls, the system of inclusions over sets of exceptions, and its least
//! solution.

use flow::distances::Moved;
use flow::fuel::{Cancelled, Fuel};
use flow::incremental::Incremental;
use flow::solver::{FunctionId, NodeId, Solution, System};
use program::members::MethodId;
use rustc_hash::FxHashMap;

use super::apart::Apart;
use super::lattice::{Inclusions, Value};
use super::nearness::Nearness;
use super::nodes::Nodes;
use super::reads::{Read, note};
use super::sites::Node;
use super::tables::CallTable;

/// A program with the exceptions that its methods let out. The solution refers to exception sets by id; the sets are
/// stored separately, because each client that reads answers adds sets of its own.
pub struct SolvedProgram {
    /// The classes of the program and the targets of its calls.
    pub calls: CallTable,
    /// The numbering of the nodes in the system of inclusions.
    pub(super) nodes: Nodes,
    /// The system of inclusions as it was when the program was first solved.
    system: System<Value>,
    solution: Solved,
    /// For each node, the distance (number of inclusions) to the nearest node where exceptions arise.
    nearness: Nearness,
    /// The answers that set apart what calls on unknown objects let out; `None` if they were not asked for.
    pub(super) apart: Option<Box<Apart>>,
}

/// Which inclusions of nodes count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Level {
    /// All inclusions.
    All,
    /// All but those that answers set apart, if they set any apart.
    Apart,
}

/// The least solution of the system of inclusions.
enum Solved {
    /// The solution of the system of inclusions as it was when the program was first solved.
    Once(Solution<Value>),
    /// A solution that is updated when the system of inclusions changes.
    Following(Box<Following>),
}

/// A system of inclusions that is updated after changes of classes, with its least solution.
pub(super) struct Following {
    /// The solver with the present system of inclusions and its solution.
    pub(super) solver: Incremental<Value>,
    /// For each node whose inclusions differ from those in [`SolvedProgram::system`], the present inclusions of the
    /// node.
    pub(super) changed: FxHashMap<NodeId, Inclusions>,
}

impl SolvedProgram {
    /// Creates a solved program from its call targets, its nodes, its system of inclusions and the solution of that
    /// system.
    pub(super) fn new(
        calls: CallTable,
        nodes: Nodes,
        system: System<Value>,
        solution: Solution<Value>,
    ) -> Self {
        let (solution, nearness) = (Solved::Once(solution), Nearness::default());
        SolvedProgram { calls, nodes, system, solution, nearness, apart: None }
    }

    /// Returns the answers that set calls on unknown objects apart; `None` if they were not asked for.
    pub(super) fn apart(&self) -> Option<&Apart> {
        self.apart.as_deref()
    }

    /// Returns the exceptions that a node lets out by the inclusions of this level.
    pub(super) fn value_at(&self, level: Level, node: NodeId) -> Value {
        match (level, self.apart()) {
            (Level::Apart, Some(it)) => it.value(node),
            (Level::All | Level::Apart, _) => self.value_of(node),
        }
    }

    /// Returns the inclusions of a node that count on this level, like [`SolvedProgram::inclusions`].
    pub(super) fn inclusions_at(&self, level: Level, node: NodeId) -> (Value, &[(NodeId, FunctionId)]) {
        match (level, self.apart()) {
            (Level::Apart, Some(it)) => it.inclusions(node),
            (Level::All | Level::Apart, _) => self.inclusions(node),
        }
    }

    /// Returns the distances by inclusions of this level.
    pub(super) fn nearness(&self, level: Level) -> &Nearness {
        match (level, self.apart()) {
            (Level::Apart, Some(it)) => &it.nearness,
            (Level::All | Level::Apart, _) => &self.nearness,
        }
    }

    /// Returns the exceptions that a method lets out, as a known and an open set.
    pub fn lets_out(&self, id: MethodId) -> Value {
        self.value(Node::Method(id))
    }

    /// Returns the exceptions that a node lets out in the solution.
    pub(super) fn value(&self, node: Node) -> Value {
        self.value_of(self.nodes.id(node))
    }

    /// Returns the exceptions that the node with this id lets out in the solution.
    pub(super) fn value_of(&self, node: NodeId) -> Value {
        note(Read::Value(node));
        match &self.solution {
            Solved::Once(it) => it.value(node),
            Solved::Following(it) => it.solver.value(node),
        }
    }

    /// Returns the inclusions of a node: the exceptions that arise at the node itself, and the nodes that it
    /// includes, each with a transfer function. A caller that computes an answer from some of these inclusions must
    /// record with [`note`] which inclusions it used.
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
        (self.system.values[at], self.system.edges_of(node))
    }

    /// Returns an incremental solver with the program's system of inclusions. The solver has not computed the
    /// solution yet.
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

    /// Replaces the solution by that of `solver`, which can be updated after changes of classes. `solver` must
    /// already have computed the solution.
    pub(super) fn follow(&mut self, solver: Incremental<Value>) {
        self.nearness = Nearness::followed(&solver);
        self.solution = Solved::Following(Box::new(Following { solver, changed: FxHashMap::default() }));
    }

    /// Borrows the parts of the program that changes of classes modify. The last part is `None` if the program is not
    /// prepared for changes yet.
    pub(super) fn parts(&mut self) -> (&mut CallTable, &mut Nodes, Option<&mut Following>) {
        let following = match &mut self.solution {
            Solved::Once(_) => None,
            Solved::Following(it) => Some(&mut **it),
        };
        (&mut self.calls, &mut self.nodes, following)
    }

    /// Returns the present system of inclusions and its solution; `None` if the program is not prepared for changes
    /// yet.
    pub(super) fn following(&self) -> Option<&Following> {
        match &self.solution {
            Solved::Once(_) => None,
            Solved::Following(it) => Some(it),
        }
    }

    /// Updates the distances of nodes to the places where exceptions of unknown code arise, after the inclusions or
    /// exceptions of the nodes `changed` were changed. Returns the nodes whose distance changed, with their previous
    /// distances.
    pub(super) fn follow_distances(&mut self, changed: impl IntoIterator<Item = NodeId>) -> Moved {
        match &self.solution {
            Solved::Once(_) => Moved::default(),
            Solved::Following(it) => self.nearness.follow(&it.solver, changed),
        }
    }

    /// Frees the program in small steps: each step of the returned iterator takes at most a few milliseconds.
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
