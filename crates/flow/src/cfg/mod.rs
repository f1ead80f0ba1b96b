//! The control-flow graph of one method: Definition 1 of *Sound Control Flow Graph Extraction from Incomplete Java
//! Bytecode Programs* (de Carvalho Gomes, Picoco, Gurov), extracted as in its Fig. 4, but over sets of exception
//! types instead of single types.
//!
//! Nodes, in this order:
//! - the *normal* node of each BIR instruction; the node's number is the instruction's ordinal;
//! - then, instruction by instruction, the return node (of a `return`), and for each exception set that the
//!   instruction raises, the *exceptional* node (if some row of the exception table may catch part of the set)
//!   followed by the exceptional return node (if part of the set may leave the method). Sets are in the JVM's order
//!   of checks.
//!
//! Edges are those of the paper's function H: a caught exception goes from the normal node to the exceptional node
//! and on to the handler; an exception that is not caught goes from the normal node to the exceptional return node.
//! If only a part of a set is caught, both kinds of edges exist. A call throws an open set until the callees are
//! known.

mod arrivals;

use bir::body::{Body, Instr, InstrId, SwitchTable, ordinal};
use classfile::names::MethodRef;

use arrivals::{Arrivals, route, sets_at};

use crate::coverage::Coverage;
use crate::exceptions::{ExceptionSet, raised};
use crate::facts::{MethodFacts, contains};
use crate::throwables::{Subtypes, well_known};

/// The number of a node in one control-flow graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Returns the node's number, for use as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the node with the number `index`, which must fit into 32 bits.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        debug_assert!(u32::try_from(index).is_ok(), "the node number {index} does not fit into 32 bits");
        NodeId(index as u32)
    }
}

/// A node of a control-flow graph; `S` is the type that represents a set of exceptions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Node<S = ExceptionSet> {
    /// The instruction to which the node belongs.
    pub instr: InstrId,
    /// The state of control that the node represents.
    pub kind: NodeKind<S>,
}

/// The state of control that a node represents; `S` is the type that represents a set of exceptions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NodeKind<S = ExceptionSet> {
    /// The instruction is about to be executed.
    Normal,
    /// The instruction raised an exception of this set, and a row of the exception table may catch the exception.
    Exceptional(S),
    /// The method has returned at the instruction.
    Return,
    /// An exception of this set, raised by the instruction, has left the method.
    ExceptionalReturn(S),
}

/// An edge between two nodes of a control-flow graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    /// The node at which the edge starts.
    pub from: NodeId,
    /// The node at which the edge ends.
    pub to: NodeId,
    /// The way in which control passes along the edge.
    pub kind: EdgeKind,
}

/// The way in which control passes along an edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EdgeKind {
    /// The edge leads to the next instruction, or to the target of a `goto`.
    Normal,
    /// The edge is taken if the comparison of an `if` holds.
    BranchTrue,
    /// The edge is taken if the comparison of an `if` does not hold.
    BranchFalse,
    /// The edge is taken if the value of the `switch` equals this key. An edge from a `ret` instruction to an
    /// instruction to which it may return has this kind, too; its key is the number of the return site.
    Case(i32),
    /// The edge is taken if the value of the `switch` equals none of the keys.
    Default,
    /// The edge leads from the normal node of a `return` instruction to its return node.
    Return,
    /// The edge leads from the normal node of an instruction that raises exceptions to an exceptional node or an
    /// exceptional return node of the same instruction.
    Exception,
    /// The edge leads from an exceptional node to the handler of the exception-table row with this index. The row
    /// certainly catches all exceptions of the node's set that earlier rows did not catch.
    Handler(u32),
    /// The edge leads from an exceptional node to the handler of the exception-table row with this index. The row may
    /// catch exceptions of the node's set, but does not certainly catch all that earlier rows did not catch.
    MayHandler(u32),
}

/// Options for the construction of a control-flow graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CfgOptions {
    /// Whether assertions raise their exceptions even if they are proved never to fail, as in profile `paper`.
    pub keep_proved: bool,
}

/// The control-flow graph of one method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cfg<S = ExceptionSet> {
    /// The nodes by number: first the normal node of each instruction, in the order of the instructions, then the
    /// other nodes. The first node is the entry node.
    pub nodes: Vec<Node<S>>,
    /// The edges, sorted by start node. Edges with the same start node are in this order: jumps, the fall-through to
    /// the next instruction, exceptions.
    pub edges: Vec<Edge>,
    /// For each node, the index in `edges` of the first edge that starts there; the last entry is the number of
    /// edges.
    starts: Vec<u32>,
    /// The `catch` instructions of the handlers that no exception of this graph enters. VM errors that are left out
    /// of the graph could enter these handlers, so the handlers do not count as unreachable.
    pub entered_only_by_vm_errors: Box<[InstrId]>,
}

impl<S> Default for Cfg<S> {
    fn default() -> Self {
        let (nodes, edges, starts) = (Vec::new(), Vec::new(), Vec::new());
        Cfg { nodes, edges, starts, entered_only_by_vm_errors: Box::default() }
    }
}

/// Returns the normal node of the instruction.
pub fn normal_node(instr: InstrId) -> NodeId {
    NodeId(ordinal(instr))
}

impl<S> Cfg<S> {
    /// Builds a graph of these nodes and edges; edges with the same start node keep their order. The list
    /// `entered_only_by_vm_errors` of the graph is left empty.
    pub fn of(nodes: Vec<Node<S>>, mut edges: Vec<Edge>) -> Self {
        edges.sort_by_key(|it| it.from);
        let starts = starts(nodes.len(), &edges);
        Cfg { nodes, edges, starts, entered_only_by_vm_errors: Box::default() }
    }
}

impl<S> Cfg<S> {
    /// Makes these instructions unreachable, which must be in ascending order: removes all edges that lead to their
    /// normal nodes.
    pub fn cut_off(&mut self, instrs: &[InstrId]) {
        if instrs.is_empty() {
            return;
        }
        let nodes = &self.nodes;
        let is_cut = |to: NodeId| {
            let node = nodes.get(to.index());
            node.is_some_and(|it| to == normal_node(it.instr) && contains(instrs, it.instr))
        };
        self.edges.retain(|it| !is_cut(it.to));
        self.starts = starts(self.nodes.len(), &self.edges);
        let may_be_entered = |it: &&InstrId| !contains(instrs, **it);
        self.entered_only_by_vm_errors =
            self.entered_only_by_vm_errors.iter().filter(may_be_entered).copied().collect();
    }
}

/// Returns, for each of `n_nodes` nodes, the index of the first edge that starts there, and as a last entry the
/// number of edges. The edges must be sorted by start node.
fn starts(n_nodes: usize, edges: &[Edge]) -> Vec<u32> {
    let first = |node: usize| edges.partition_point(|it| it.from.index() < node) as u32;
    (0..=n_nodes).map(first).collect()
}

impl<S: PartialEq> Cfg<S> {
    /// Returns the entry node of the graph; `None` if the graph is that of an empty body.
    pub fn entry(&self) -> Option<NodeId> {
        (!self.nodes.is_empty()).then_some(NodeId(0))
    }

    /// Returns the edges that start at the node.
    pub fn successors(&self, node: NodeId) -> &[Edge] {
        let at = |i: usize| self.starts.get(i).map_or(0, |&it| it as usize);
        self.edges.get(at(node.index())..at(node.index() + 1)).unwrap_or_default()
    }

    /// Returns the label of the edge in the sense of the CONFLEX paper: the method that the instruction of the edge's
    /// start node calls; `None` (the paper's ε) if the start node calls none. `body` must be the body of the graph.
    pub fn label(&self, body: &Body, edge: Edge) -> Option<MethodRef> {
        let node = self.nodes.get(edge.from.index())?;
        if node.kind != NodeKind::Normal {
            return None;
        }
        match body.instrs[node.instr] {
            Instr::Call(_, _, method, _) | Instr::New(_, method, _) => Some(method),
            _ => None,
        }
    }
}

/// Builds the control-flow graph of a body. `facts` must be the facts of the same body.
pub fn cfg(body: &Body, facts: &MethodFacts, subtypes: &dyn Subtypes, options: CfgOptions) -> Cfg {
    let mut coverage = Coverage::new(body);
    let arrivals = Arrivals::new(body, facts, options.keep_proved, subtypes, &mut coverage);
    let mut proofs = facts.proofs.iter().map(|it| it.0).peekable();
    let mut thrown = Vec::new();
    draw(body, coverage, |acc, id, rows| {
        let mut leaves = false;
        let mut one = |set| leaves |= draw_exception(acc, body, rows, id, set, subtypes);
        match body.instrs[id] {
            // The same rule as in `raised`, but in step with the iterator over the proofs.
            Instr::Assert(check) => {
                let proved = proofs.next_if_eq(&id).is_some();
                if !proved || options.keep_proved {
                    one(ExceptionSet::exact(well_known().raised_by(check)));
                }
            }
            Instr::Throw(_) => {
                thrown.clear();
                sets_at(body, facts, id, options.keep_proved, &arrivals, &mut thrown);
                thrown.iter().for_each(|&it| one(it));
            }
            _ => raised(body, facts, id, options.keep_proved, one),
        }
        if leaves && contains(&facts.locks.leaving, id) {
            // The JVM checks the monitors after no handler was found, so this exception is not caught either.
            acc.leave(id, ExceptionSet::exact(well_known().monitor_state));
        }
    })
}

/// Builds the control-flow graph of a body with exception sets of any type `S`. Calls `exceptions` for each
/// instruction, with the indices of the exception-table rows that cover the instruction. `exceptions` must add the
/// nodes and edges for the exceptions that the instruction raises.
pub fn draw_with<S: Copy>(body: &Body, exceptions: impl FnMut(&mut Drawing<S>, InstrId, &[u32])) -> Cfg<S> {
    draw(body, Coverage::new(body), exceptions)
}

fn draw<S: Copy>(
    body: &Body,
    mut coverage: Coverage,
    mut exceptions: impl FnMut(&mut Drawing<S>, InstrId, &[u32]),
) -> Cfg<S> {
    let n = body.instrs.len();
    let mut acc = Drawing {
        nodes: Vec::with_capacity(n + n / 2 + 4),
        edges: Vec::with_capacity(n + n / 2 + 4),
        starts: Vec::with_capacity(n + n / 2 + 5),
        later: Vec::new(),
        later_starts: Vec::with_capacity(n / 2 + 4),
        catches: Vec::new(),
    };
    acc.nodes.extend(body.instrs.iter().map(|it| Node { instr: it.0, kind: NodeKind::Normal }));
    for (id, instr) in body.instrs.iter() {
        acc.draw_normal(body, id, instr, n);
        let rows = if body.rows.is_empty() { &[] } else { coverage.at(ordinal(id)) };
        exceptions(&mut acc, id, rows);
    }
    acc.finish()
}

/// Adds the nodes and edges for one exception set that an instruction raises (function H of the CONFLEX paper).
/// Returns whether an exception of the set may leave the method.
fn draw_exception(
    acc: &mut Drawing<ExceptionSet>,
    body: &Body,
    rows: &[u32],
    id: InstrId,
    set: ExceptionSet,
    subtypes: &dyn Subtypes,
) -> bool {
    let mut node = None;
    let leaves = route(body, rows, set, subtypes, |row, _, may| {
        let from = *node.get_or_insert_with(|| acc.exceptional(id, set));
        acc.handler(body, from, row, may);
    });
    if leaves {
        acc.leave(id, set);
    }
    leaves
}

/// A control-flow graph under construction; `S` is the type that represents a set of exceptions.
pub struct Drawing<S> {
    nodes: Vec<Node<S>>,
    /// The edges that start at normal nodes, sorted by start node.
    edges: Vec<Edge>,
    /// For each normal node, the index in `edges` of the first edge that starts there.
    starts: Vec<u32>,
    /// The edges that start at exceptional and return nodes, sorted by start node.
    later: Vec<Edge>,
    /// For each exceptional or return node, in the order of their numbers, the index in `later` of the first edge
    /// that starts there.
    later_starts: Vec<u32>,
    /// The `catch` instructions among the instructions whose edges were added so far.
    catches: Vec<InstrId>,
}

impl<S: Copy> Drawing<S> {
    fn node(&mut self, instr: InstrId, kind: NodeKind<S>) -> NodeId {
        self.later_starts.push(self.later.len() as u32);
        self.nodes.push(Node { instr, kind });
        NodeId::from_index(self.nodes.len() - 1)
    }

    /// Adds the exceptional node for an exception set that the instruction `id` raises and of which some row may
    /// catch a part; returns the node. The caller must add the edges of this node with [`Drawing::handler`] before it
    /// adds another node.
    pub fn exceptional(&mut self, id: InstrId, set: S) -> NodeId {
        let to = self.node(id, NodeKind::Exceptional(set));
        self.edges.push(Edge { from: normal_node(id), to, kind: EdgeKind::Exception });
        to
    }

    /// Adds the edge from the exceptional node `from` to the handler of the exception-table row with the index `row`.
    /// If `may` is set, the row may catch a part of the node's set; else the row catches all exceptions of the set
    /// that earlier rows did not catch.
    pub fn handler(&mut self, body: &Body, from: NodeId, row: u32, may: bool) {
        let to = normal_node(body.rows[row as usize].handler);
        let kind = if may { EdgeKind::MayHandler(row) } else { EdgeKind::Handler(row) };
        self.later.push(Edge { from, to, kind });
    }

    /// Adds the exceptional return node for an exception set that the instruction `id` raises and that may leave the
    /// method, and the edge to this node.
    pub fn leave(&mut self, id: InstrId, set: S) {
        let to = self.node(id, NodeKind::ExceptionalReturn(set));
        self.edges.push(Edge { from: normal_node(id), to, kind: EdgeKind::Exception });
    }

    fn draw_normal(&mut self, body: &Body, id: InstrId, instr: &Instr, n: usize) {
        let from = normal_node(id);
        self.starts.push(self.edges.len() as u32);
        match *instr {
            Instr::Catch(_) => {
                self.catches.push(id);
                self.fall_through(from, EdgeKind::Normal, n);
            }
            Instr::Goto(to) => self.edges.push(Edge { from, to: normal_node(to), kind: EdgeKind::Normal }),
            Instr::If(_, _, _, to) => {
                self.edges.push(Edge { from, to: normal_node(to), kind: EdgeKind::BranchTrue });
                self.fall_through(from, EdgeKind::BranchFalse, n);
            }
            Instr::Switch(_, table) | Instr::Ret(_, table) => {
                if let Some(table) = body.switches.get(table as usize) {
                    self.draw_switch(from, table);
                }
            }
            Instr::Return(_) => {
                let to = self.node(id, NodeKind::Return);
                self.edges.push(Edge { from, to, kind: EdgeKind::Return });
            }
            Instr::Throw(_) => {}
            _ => self.fall_through(from, EdgeKind::Normal, n),
        }
    }

    fn fall_through(&mut self, from: NodeId, kind: EdgeKind, n: usize) {
        // A valid body never runs off its end; an invalid one has no edge there.
        if from.index() + 1 < n {
            self.edges.push(Edge { from, to: NodeId(from.0 + 1), kind });
        }
    }

    fn draw_switch(&mut self, from: NodeId, table: &SwitchTable) {
        for &(key, to) in &table.cases {
            self.edges.push(Edge { from, to: normal_node(to), kind: EdgeKind::Case(key) });
        }
        if let Some(to) = table.default {
            self.edges.push(Edge { from, to: normal_node(to), kind: EdgeKind::Default });
        }
    }

    fn finish(self) -> Cfg<S> {
        let Drawing { nodes, mut edges, mut starts, later, later_starts, mut catches } = self;
        if !catches.is_empty() {
            let mut entered: Vec<u32> = later.iter().map(|it| it.to.0).collect();
            entered.sort_unstable();
            catches.retain(|&it| entered.binary_search(&ordinal(it)).is_err());
        }
        let before = edges.len() as u32;
        starts.extend(later_starts.iter().map(|it| before + it));
        edges.extend(later);
        starts.push(edges.len() as u32);
        // Graphs are drawn, read and dropped: shrinking the vectors to fit would cost more than it saves.
        Cfg { nodes, edges, starts, entered_only_by_vm_errors: catches.into() }
    }
}

const _: () = assert!(size_of::<Node>() == 16);
const _: () = assert!(size_of::<Edge>() == 16);
