//! The rules of Fig. 4 of the paper (see [`super`]), by which the graph of one available method is drawn.

use std::collections::{BTreeMap, BTreeSet};

use bir::body::{Body, Instr, InstrId};
use classfile::names::{ClassName, MethodRef};
use flow::cfg::{Cfg, Edge, EdgeKind, Node, NodeId, NodeKind, draw_with, normal_node};
use flow::throwables::well_known;
use flow::universe::{Part, Universe};
use rustc_hash::FxHashMap;

use super::environment::{Callee, Environment};
use super::intra::{Raises, raises};
use super::propagation::Propagated;
use crate::parts::MethodCode;
use crate::whole::graph::{Graph, RaisedSet, SetRef};
use program::names::MethodName;

/// A label of an edge in the paper's sense: the called method, or `None` for ε.
type Label = Option<MethodName>;

/// A graph under construction. Each node and each edge occurs once; an edge may have several labels.
struct Drawing {
    nodes: Vec<Node<SetRef>>,
    numbers: FxHashMap<Node<SetRef>, NodeId>,
    edges: Vec<(Edge, Vec<Label>)>,
    sets: Vec<RaisedSet>,
    set_of: FxHashMap<ClassName, SetRef>,
}

/// Returns the graph of a method with this code, by the rules of Fig. 4 of the paper.
pub fn graph(
    env: &Environment,
    propagated: &Propagated,
    universe: &mut Universe,
    code: &MethodCode,
) -> Graph {
    let body = &code.body;
    let normal = |it: InstrId| Node { instr: it, kind: NodeKind::Normal };
    let mut acc = Drawing {
        nodes: body.instrs.iter().map(|it| normal(it.0)).collect(),
        numbers: FxHashMap::default(),
        edges: Vec::new(),
        sets: Vec::new(),
        set_of: FxHashMap::default(),
    };
    draw_with::<()>(body, |_, pc, rows| {
        acc.normal_edges(body, pc);
        for raises in raises(body, &code.facts, pc) {
            match raises {
                Raises::Assertion(x) => acc.h(universe, body, rows, pc, x, &[None]),
                Raises::Throw(top) => {
                    let below = universe.cone(top);
                    for x in universe.classes(below) {
                        acc.h(universe, body, rows, pc, x, &[None]);
                    }
                }
                Raises::New(constructor) => {
                    let callees = env.mca(false, constructor);
                    let null = Some(well_known().null_pointer);
                    acc.call(env, propagated, universe, body, rows, pc, &callees, null);
                }
                Raises::Call(is_virtual, method) => {
                    let callees = env.mca(is_virtual, method);
                    acc.call(env, propagated, universe, body, rows, pc, &callees, None);
                }
            }
        }
    });
    acc.finish()
}

/// Returns the label of edges for calls of `callee`: the name of the callee, or ε if the callee belongs to the API.
pub(super) fn label(env: &Environment, callee: Callee) -> Label {
    match callee {
        _ if env.is_api(callee) => None,
        Callee::Declared(id) => Some(MethodName::of(env.name(id))),
        Callee::Missing(it) | Callee::Api(it) => Some(MethodName::of(it)),
    }
}

impl Drawing {
    fn edge(&mut self, from: NodeId, to: NodeId, kind: EdgeKind, labels: &[Label]) {
        self.edges.push((Edge { from, to, kind }, labels.to_vec()));
    }

    fn node(&mut self, instr: InstrId, kind: NodeKind<SetRef>) -> NodeId {
        let node = Node { instr, kind };
        let next = NodeId::from_index(self.nodes.len());
        let it = *self.numbers.entry(node).or_insert(next);
        if it == next {
            self.nodes.push(node);
        }
        it
    }

    fn set(&mut self, x: ClassName) -> SetRef {
        let next = SetRef::from_index(self.sets.len());
        let it = *self.set_of.entry(x).or_insert(next);
        if it == next {
            let parts = [Part { class: x, cone: false }].into();
            self.sets.push(RaisedSet { parts, open: None, except: [].into() });
        }
        it
    }

    /// Adds the normal edges that the paper's function ∘G gives for an instruction. Edges of exceptions are added by
    /// `h` (the paper's H), and all edges of calls by `call`.
    fn normal_edges(&mut self, body: &Body, pc: InstrId) {
        let from = normal_node(pc);
        let epsilon = &[None];
        let instr = &body.instrs[pc];
        match *instr {
            Instr::Goto(to) => self.edge(from, normal_node(to), EdgeKind::Normal, epsilon),
            Instr::If(_, _, _, to) => {
                self.edge(from, normal_node(to), EdgeKind::BranchTrue, epsilon);
                self.next(body, from, EdgeKind::BranchFalse, epsilon);
            }
            Instr::Switch(_, table) | Instr::Ret(_, table) => {
                let Some(table) = body.switches.get(table as usize) else { return };
                for &(key, to) in &table.cases {
                    self.edge(from, normal_node(to), EdgeKind::Case(key), epsilon);
                }
                if let Some(to) = table.default {
                    self.edge(from, normal_node(to), EdgeKind::Default, epsilon);
                }
            }
            Instr::Return(_) => {
                let to = self.node(pc, NodeKind::Return);
                self.edge(from, to, EdgeKind::Return, epsilon);
            }
            Instr::Throw(_) | Instr::New(..) | Instr::Call(..) => {}
            Instr::Assert(_)
            | Instr::Assign(..)
            | Instr::SetField(..)
            | Instr::SetStatic(..)
            | Instr::SetElem(..)
            | Instr::MayInit(_)
            | Instr::Alloc(..)
            | Instr::NewArray(..)
            | Instr::MultiNewArray(..)
            | Instr::CallDynamic(..)
            | Instr::ConstDynamic(..)
            | Instr::MonitorEnter(_)
            | Instr::MonitorExit(_)
            | Instr::Catch(_) => self.next(body, from, EdgeKind::Normal, epsilon),
        }
    }

    /// Adds an edge from the node `from` to the instruction after it, if there is one.
    fn next(&mut self, body: &Body, from: NodeId, kind: EdgeKind, labels: &[Label]) {
        if (from.0 as usize + 1) < body.instrs.len() {
            self.edge(from, NodeId(from.0 + 1), kind, labels);
        }
    }

    /// Adds the edges of a call: for each callee an edge with the callee's label, and edges for the exceptions that
    /// the callee lets out (the paper's N). If the exception `besides` is given, also adds edges for it, with the
    /// labels of the callees.
    #[allow(clippy::too_many_arguments)]
    fn call(
        &mut self,
        env: &Environment,
        propagated: &Propagated,
        universe: &mut Universe,
        body: &Body,
        rows: &[u32],
        pc: InstrId,
        callees: &[Callee],
        besides: Option<ClassName>,
    ) {
        let mut labels: BTreeSet<Label> = BTreeSet::new();
        let mut raised: BTreeMap<&'static [u8], BTreeSet<Label>> = BTreeMap::new();
        for &callee in callees {
            let label = label(env, callee);
            labels.insert(label);
            let set = propagated.by(env, universe, callee);
            let all = universe.classes(set);
            for x in all.into_iter().chain(besides) {
                raised.entry(x.bytes()).or_default().insert(label);
            }
        }
        let labels: Vec<Label> = labels.into_iter().collect();
        if !labels.is_empty() {
            self.next(body, normal_node(pc), EdgeKind::Normal, &labels);
        }
        for (x, labels) in raised {
            let labels: Vec<Label> = labels.into_iter().collect();
            self.h(universe, body, rows, pc, ClassName::new(x), &labels);
        }
    }

    /// Adds the edges for the exception `x` that is raised at `pc` (the paper's H): to the handler that catches `x`
    /// or, if there is none, out of the method. The edge from `pc` to an exceptional node or out of the method has
    /// the labels `labels`; the edge from the exceptional node to the handler has the label ε.
    fn h(
        &mut self,
        universe: &mut Universe,
        body: &Body,
        rows: &[u32],
        pc: InstrId,
        x: ClassName,
        labels: &[Label],
    ) {
        let set = self.set(x);
        let exact = universe.exact(x);
        let handler = rows.iter().copied().find(|&row| {
            let masks = universe.masks(body.rows[row as usize].catch_type);
            universe.overlaps(exact, masks.surely)
        });
        match handler {
            None => {
                let to = self.node(pc, NodeKind::ExceptionalReturn(set));
                self.edge(normal_node(pc), to, EdgeKind::Exception, labels);
            }
            Some(row) => {
                let at = self.node(pc, NodeKind::Exceptional(set));
                self.edge(normal_node(pc), at, EdgeKind::Exception, labels);
                let to = normal_node(body.rows[row as usize].handler);
                self.edge(at, to, EdgeKind::Handler(row), &[None]);
            }
        }
    }

    fn finish(mut self) -> Graph {
        self.edges.sort_by_key(|it| it.0.from);
        let mut edges: Vec<Edge> = Vec::with_capacity(self.edges.len());
        let mut labels: Vec<Box<[Label]>> = Vec::with_capacity(self.edges.len());
        // A `throw` whose operand has several types may raise one exception through two of them.
        let mut seen: FxHashMap<Edge, ()> = FxHashMap::default();
        for (edge, mine) in self.edges {
            if seen.insert(edge, ()).is_none() {
                edges.push(edge);
                labels.push(mine.into());
            }
        }
        let cfg = Cfg::of(self.nodes, edges);
        Graph { cfg, sets: self.sets, labels, ..Graph::default() }
    }
}

/// Returns the method reference of a call instruction, and the callees that the paper's formula MCA gives; `None` for
/// other instructions.
pub(super) fn callees(env: &Environment, body: &Body, pc: InstrId) -> Option<(MethodRef, Vec<Callee>)> {
    match body.instrs[pc] {
        Instr::New(_, method, _) => Some((method, env.mca(false, method))),
        Instr::Call(_, kind, method, _) => {
            use bir::body::CallKind::{Interface, Virtual};
            Some((method, env.mca(matches!(kind, Virtual | Interface), method)))
        }
        _ => None,
    }
}
