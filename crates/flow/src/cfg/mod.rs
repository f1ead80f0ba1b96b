//! The control-flow graph of one method, as in *Sound Control Flow Graph Extraction from Incomplete Java Bytecode Programs*
//! (de Carvalho Gomes, Picoco, Gurov), Definition 1, extracted by its Fig. 4, over sets of exception types instead of single
//! ones.
//!
//! Nodes, in this order:
//! - for each BIR instruction its *normal* node; the node's number is the instruction's ordinal;
//! - then, by instruction, its normal return node, and for each set of exceptions that it raises the
//!   *exceptional* node (when some row may catch some of the set) before the exceptional return node
//!   (when some of the set may leave the method). Sets are in the JVM's order of checks.
//!
//! Edges are those of the paper's function H: an exception goes from the normal node to the exceptional
//! node and on to the handler, and where it is not caught, from the normal node to the exceptional
//! return node. A set of which only a part is caught has both. What a call lets out is an open set until
//! the callees are known.

mod arrivals;

use bir::body::{Body, Instr, InstrId, SwitchTable, ordinal};
use classfile::names::MethodRef;

use arrivals::{Arrivals, route, sets_at};

use crate::coverage::Coverage;
use crate::exceptions::{ExceptionSet, raised};
use crate::facts::{MethodFacts, contains};
use crate::throwables::{Subtypes, well_known};

/// A node of one graph: its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

/// A node; `S` is what a set of exceptions is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Node<S = ExceptionSet> {
    /// The instruction that it belongs to.
    pub instr: InstrId,
    /// What it stands for.
    pub kind: NodeKind<S>,
}

/// What a node stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NodeKind<S = ExceptionSet> {
    /// Control is before the instruction.
    Normal,
    /// The instruction raised one of these, and a row of the exception table takes it.
    Exceptional(S),
    /// The method returned by this instruction.
    Return,
    /// One of these left the method.
    ExceptionalReturn(S),
}

/// An edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    /// Where it starts.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// How control passes.
    pub kind: EdgeKind,
}

/// How control passes an edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EdgeKind {
    /// To the next instruction, or the label of a `goto`.
    Normal,
    /// The comparison of an `if` holds.
    BranchTrue,
    /// The comparison of an `if` does not hold.
    BranchFalse,
    /// The switch has this key; also the return site of a `ret`.
    Case(i32),
    /// The switch has no key for the value.
    Default,
    /// From a `return` to its return node.
    Return,
    /// From a normal to an exceptional node, or to an exceptional return node.
    Exception,
    /// From an exceptional node to the handler of this row, which takes everything that is left.
    Handler(u32),
    /// From an exceptional node to the handler of this row, which may take some.
    MayHandler(u32),
}

/// What a graph is drawn with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// Whether an assertion that is proved raises all the same (profile `paper`).
    pub keep_proved: bool,
}

/// The graph of one method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cfg<S = ExceptionSet> {
    /// The nodes by number, in the order that the module says. The entry is the first.
    pub nodes: Vec<Node<S>>,
    /// The edges, by start; of one start in the order of the instruction: jumps, falling through, then
    /// exceptions.
    pub edges: Vec<Edge>,
    /// For each node the number of its first edge, and at the end the number of edges.
    starts: Vec<u32>,
    /// Handlers (their `catch`) that no exception of this graph enters: only groups of VM errors that
    /// are off could. They are not unreachable.
    pub entered_only_by_vm_errors: Box<[InstrId]>,
}

impl<S> Default for Cfg<S> {
    fn default() -> Self {
        let (nodes, edges, starts) = (Vec::new(), Vec::new(), Vec::new());
        Cfg { nodes, edges, starts, entered_only_by_vm_errors: Box::default() }
    }
}

/// The normal node of the instruction.
pub fn normal_node(instr: InstrId) -> NodeId {
    NodeId(ordinal(instr))
}

impl<S> Cfg<S> {
    /// The graph of these nodes and edges; edges of one start keep their order. For graphs that are not drawn from a
    /// body alone: no handler is said to be entered by VM errors only.
    pub fn of(nodes: Vec<Node<S>>, mut edges: Vec<Edge>) -> Self {
        edges.sort_by_key(|it| it.from);
        let first = |node: usize| edges.partition_point(|it| (it.from.0 as usize) < node) as u32;
        let starts = (0..=nodes.len()).map(first).collect();
        Cfg { nodes, edges, starts, entered_only_by_vm_errors: Box::default() }
    }
}

impl<S: PartialEq> Cfg<S> {
    /// The entry node; none in the graph of an empty body.
    pub fn entry(&self) -> Option<NodeId> {
        (!self.nodes.is_empty()).then_some(NodeId(0))
    }

    /// The edges that start at the node.
    pub fn successors(&self, node: NodeId) -> &[Edge] {
        let at = |i: usize| self.starts.get(i).map_or(0, |&it| it as usize);
        self.edges.get(at(node.0 as usize)..at(node.0 as usize + 1)).unwrap_or_default()
    }

    /// The paper's label of the edge: the called method, or nothing for ε. `body` is the one that the
    /// graph was made from.
    pub fn label(&self, body: &Body, edge: Edge) -> Option<MethodRef> {
        let node = self.nodes.get(edge.from.0 as usize)?;
        if node.kind != NodeKind::Normal {
            return None;
        }
        match body.instrs[node.instr] {
            Instr::Call(_, _, method, _) | Instr::New(_, method, _) => Some(method),
            _ => None,
        }
    }
}

/// Draws the graph of a body. `facts` are those of the same body.
pub fn cfg(body: &Body, facts: &MethodFacts, subtypes: &dyn Subtypes, options: Options) -> Cfg {
    let mut coverage = Coverage::new(body);
    let arrivals = Arrivals::new(body, facts, options.keep_proved, subtypes, &mut coverage);
    let mut proofs = facts.proofs.iter().map(|it| it.0).peekable();
    let mut thrown = Vec::new();
    draw(body, coverage, |acc, id, rows| {
        let mut leaves = false;
        let mut one = |set| leaves |= draw_exception(acc, body, rows, id, set, subtypes);
        match body.instrs[id] {
            // As `raised` says it, but in step with the proofs.
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
            // The monitors are looked at when no handler is left, so this one is not caught either.
            acc.leave(id, ExceptionSet::exact(well_known().monitor_state));
        }
    })
}

/// Draws the graph of a body with sets of exceptions of any kind: `exceptions` is called for each instruction, with
/// the rows that cover it, and draws what comes out of it.
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

/// The paper's H for one set. Returns whether some of it may leave.
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

/// A graph that grows.
pub struct Drawing<S> {
    nodes: Vec<Node<S>>,
    /// Edges from normal nodes, by start.
    edges: Vec<Edge>,
    /// For each normal node the number of its first edge.
    starts: Vec<u32>,
    /// Edges from the other nodes, by start.
    later: Vec<Edge>,
    /// For each of the other nodes its first edge in `later`.
    later_starts: Vec<u32>,
    /// The `catch` instructions.
    catches: Vec<InstrId>,
}

impl<S: Copy> Drawing<S> {
    fn node(&mut self, instr: InstrId, kind: NodeKind<S>) -> NodeId {
        self.later_starts.push(self.later.len() as u32);
        self.nodes.push(Node { instr, kind });
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Draws that the instruction raises the set and some row takes some of it. Its handlers follow at once.
    pub fn exceptional(&mut self, id: InstrId, set: S) -> NodeId {
        let to = self.node(id, NodeKind::Exceptional(set));
        self.edges.push(Edge { from: normal_node(id), to, kind: EdgeKind::Exception });
        to
    }

    /// Draws that the row takes what is in flight at the node, all of it or some.
    pub fn handler(&mut self, body: &Body, from: NodeId, row: u32, may: bool) {
        let to = normal_node(body.rows[row as usize].handler);
        let kind = if may { EdgeKind::MayHandler(row) } else { EdgeKind::Handler(row) };
        self.later.push(Edge { from, to, kind });
    }

    /// Draws that the set leaves the method.
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
        // A body never runs off its end; one that does has no edge there.
        if (from.0 as usize + 1) < n {
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
        // Graphs are drawn, read and dropped: cutting the vectors to size would cost more than it saves.
        Cfg { nodes, edges, starts, entered_only_by_vm_errors: catches.into() }
    }
}

const _: () = assert!(size_of::<Node>() == 16);
const _: () = assert!(size_of::<Edge>() == 16);
