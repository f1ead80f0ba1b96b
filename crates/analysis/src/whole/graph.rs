//! The final control-flow graph of a method: `conflex.txt` Definition 1 with Fig. 4's function N, over sets of
//! exceptions. What each call lets out is what the solution says of it.

use std::sync::Arc;

use bir::body::{Body, Expr, Instr, InstrId, ordinal};
use classfile::names::FieldRef;
use flow::cfg::{Cfg, Drawing, NodeId, draw_with};
use flow::facts::contains;
use flow::places::EarlierRows;
use flow::summary::{Access, Sources};
use flow::throwables::well_known;
use flow::universe::{Masks, Part, SetId};
use program::members::LinkError;
use program::members::MethodId;
use rustc_hash::FxHashMap;

use super::answers::{Call, Why, open_parts};
use super::flows::{Flow, OpenCause};
use super::lattice::{Exceptions, Value};
use super::loading::Resolving;
use super::nodes::Node;
use super::program::{WholeProgram, load_class};
use super::reads::{Read, note};
use crate::names::MethodId as MethodName;
use crate::parts::MethodCode;
use crate::summary::{CodeSummary, MethodSummary};

/// A set of exceptions in one graph: index in [`Graph::sets`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetRef(pub u32);

/// The final graph of a method.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// Nodes and edges.
    pub cfg: Cfg<SetRef>,
    /// The sets that nodes stand for, each once.
    pub sets: Vec<RaisedSet>,
    /// Where its calls go, by instruction; empty when that was not asked.
    pub calls: Vec<Call>,
    /// The labels of each edge, `None` for ε, in profile `paper`: an edge of the definition for each. Empty otherwise:
    /// there an edge has one label, the method as the instruction names it.
    pub labels: Vec<Box<[Option<MethodName>]>>,
    /// What the method may let out: its part of the interface.
    pub throws: Propagates,
}

/// What a method may let out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Propagates {
    /// The classes and cones that are known to come out, by name.
    pub known: Arc<[Part]>,
    /// What may come out besides: what it is within, and what cannot be among it.
    pub open: Option<Within>,
}

/// A set of exceptions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaisedSet {
    /// The classes and cones that it is made of, by name; of an open set that may be anything but some, `Throwable`.
    pub parts: Arc<[Part]>,
    /// For an open set: why nobody knows it better.
    pub open: Option<Why>,
    /// For an open set: what cannot be among it.
    pub except: Arc<[Part]>,
}

impl Graph {
    /// A set of the graph.
    pub fn set(&self, it: SetRef) -> &RaisedSet {
        &self.sets[it.0 as usize]
    }
}

/// An open set from outside: what it is within, and what cannot be among it.
pub type Within = (Arc<[Part]>, Arc<[Part]>);

/// A worker's memory of how sets read.
#[derive(Clone, Default)]
pub struct Texts {
    parts: FxHashMap<SetId, Arc<[Part]>>,
    open: FxHashMap<SetId, Within>,
}

impl Texts {
    fn parts(&mut self, ex: &Exceptions, set: SetId) -> Arc<[Part]> {
        Arc::clone(self.parts.entry(set).or_insert_with(|| ex.universe.parts(set).into()))
    }

    fn open(&mut self, ex: &mut Exceptions, set: SetId) -> Within {
        let parts = self.open.entry(set).or_insert_with(|| {
            let (within, except) = open_parts(ex, set);
            (within.into(), except.into())
        });
        parts.clone()
    }
}

/// A graph that is being drawn.
struct Draw<'a> {
    whole: &'a WholeProgram,
    ex: &'a mut Exceptions,
    texts: &'a mut Texts,
    sets: Vec<RaisedSet>,
    known: FxHashMap<(SetId, Option<Why>), SetRef>,
    /// The set that was drawn last: the next one is often the same.
    last: Option<(SetId, Option<Why>, SetRef)>,
    /// The masks of the rows, as far as they were asked for.
    masks: Vec<Option<Masks>>,
}

impl WholeProgram {
    /// The final graph of a method of the program, whose body and facts are given.
    pub fn graph(&self, ex: &mut Exceptions, texts: &mut Texts, id: MethodId, code: &MethodCode) -> Graph {
        let MethodSummary::Known(summary) = self.program.summary(id) else { return Graph::default() };
        let mut walk = Sources::new(&code.body, &code.facts);
        let resolving = Resolving::new(self, id.class, &code.body);
        let failing = self.failing_fields(id, summary);
        let mut acc = Draw {
            whole: self,
            ex,
            texts,
            sets: Vec::new(),
            known: FxHashMap::default(),
            last: None,
            masks: vec![None; code.body.rows.len()],
        };
        let (mut sources, mut flows) = (Vec::new(), Vec::new());
        let waits = self.may_load(id.class) || !failing.is_empty();
        let mut earlier = waits.then(|| EarlierRows::new(&code.body));
        let cfg = draw_with(&code.body, |drawing, instr, rows| {
            sources.clear();
            walk.at(instr, |it| sources.push(it));
            let mut leaves = false;
            for &source in &sources {
                self.flows(acc.ex, id, summary, source, &mut flows);
                for flow in flows.drain(..) {
                    let (value, why) = acc.value(flow);
                    let flow = Raised { value, why, earlier: &[] };
                    leaves |= acc.draw(drawing, &code.body, instr, rows, flow);
                }
            }
            let resolves = resolving.at(instr, &sources);
            self.resolving_flows(acc.ex, resolves, &mut flows);
            let earlier = earlier.as_mut().map_or(&[][..], |it| it.at(ordinal(instr)));
            for flow in flows.drain(..) {
                let (value, why) = acc.value(flow);
                let flow = Raised { value, why, earlier: if resolves.earlier { earlier } else { &[] } };
                leaves |= acc.draw(drawing, &code.body, instr, rows, flow);
            }
            for (error, waits) in failing_at(&code.body, instr, &failing) {
                let value = self.link_error(acc.ex, error);
                let flow = Raised { value, why: None, earlier: if waits { earlier } else { &[] } };
                leaves |= acc.draw(drawing, &code.body, instr, rows, flow);
            }
            if leaves && contains(&code.facts.locks.leaving, instr) {
                let set = acc.ex.universe.exact(well_known().monitor_state);
                let set = acc.set(set, None);
                drawing.leave(instr, set);
            }
        });
        let (sets, value) = (acc.sets, self.lets_out(id));
        let throws = Propagates {
            known: texts.parts(ex, value.known),
            open: (!ex.universe.is_nothing(value.open)).then(|| texts.open(ex, value.open)),
        };
        Graph { cfg, sets, calls: Vec::new(), labels: Vec::new(), throws }
    }

    /// The reason nearest to a node for what is open about it.
    fn nearest(&self, of: Node) -> Why {
        match of {
            Node::Method(it) | Node::Constructing(it, _) => Why::LetsOut(self.name(it)),
            Node::Dispatch(it) => {
                let own = self.dispatches.cause(it).0.and_then(|it| self.why(OpenCause::Call(it)));
                own.unwrap_or_else(|| Why::LetsOut(crate::names::MethodId::of(self.dispatches.method(it))))
            }
            Node::Initializer(it) => {
                Why::Initializer(crate::names::Text(self.program.hierarchy.name(it).bytes()))
            }
            Node::Handler(it, _) => Why::Caught(self.name(it)),
            Node::Glue(_) => Why::Function,
            Node::Loading => {
                note(Read::Loading);
                let own = self.loading.as_ref().and_then(|it| it.open).and_then(|it| self.why_call(it));
                own.unwrap_or_else(|| Why::LetsOut(crate::names::MethodId::of(load_class())))
            }
        }
    }

    /// The fields of a method that cannot be accessed, with what that raises.
    fn failing_fields(&self, id: MethodId, summary: &CodeSummary) -> Vec<(FieldRef, Access, LinkError)> {
        let fields = summary.summary.fields.iter();
        fields
            .filter_map(|&(field, access)| Some((field, access, self.field_error(id.class, field, access)?)))
            .collect()
    }
}

/// What comes out of an instruction.
#[derive(Clone, Copy)]
struct Raised<'a> {
    value: Value,
    /// Why its open half is.
    why: Option<Why>,
    /// Rows that may take it besides those around the instruction.
    earlier: &'a [u32],
}

/// What the accesses of an instruction to such fields raise, and whether it may be from earlier in the bytecode.
fn failing_at(
    body: &Body,
    instr: InstrId,
    failing: &[(FieldRef, Access, LinkError)],
) -> Vec<(LinkError, bool)> {
    if failing.is_empty() {
        return Vec::new();
    }
    let mut acc = Vec::new();
    let mut access = |field: FieldRef, access: Access| {
        let waits = matches!(access, Access::Get | Access::GetStatic);
        acc.extend(failing.iter().filter(|it| it.0 == field && it.1 == access).map(|it| (it.2, waits)));
    };
    let instr = &body.instrs[instr];
    match *instr {
        Instr::SetField(_, field, _) => access(field, Access::Put),
        Instr::SetStatic(field, _) => access(field, Access::PutStatic),
        _ => {}
    }
    let mut pending = Vec::new();
    body.instr_exprs(instr, |e| pending.push(e));
    while let Some(e) = pending.pop() {
        match body.exprs[e] {
            Expr::Field(_, field) => access(field, Access::Get),
            Expr::Static(field) => access(field, Access::GetStatic),
            _ => {}
        }
        body.exprs[e].operands(|it| pending.push(it));
    }
    acc
}

impl Draw<'_> {
    /// What comes out of something, with why for its open half.
    fn value(&mut self, flow: Flow) -> (Value, Option<Why>) {
        let whole = self.whole;
        let of_node = |ex: &Exceptions, value: Value, of: Node| {
            // Names are looked up only where something is open.
            (value, (!ex.universe.is_nothing(value.open)).then(|| whole.nearest(of)))
        };
        match flow {
            Flow::Value(value, cause) => (value, cause.and_then(|it| whole.why(it))),
            Flow::Wrapped(value, cause) => (value, whole.why(cause)),
            Flow::Node(of) => of_node(self.ex, whole.value(of), of),
            Flow::Through(of, function) => {
                let value = self.ex.through(function, whole.value(of));
                of_node(self.ex, value, of)
            }
        }
    }

    fn set(&mut self, set: SetId, open: Option<Why>) -> SetRef {
        if let Some((last, why, it)) = self.last
            && last == set
            && why == open
        {
            return it;
        }
        let next = SetRef(self.sets.len() as u32);
        let it = *self.known.entry((set, open)).or_insert(next);
        if it == next {
            let (parts, except) = if open.is_some() {
                self.texts.open(self.ex, set)
            } else {
                (self.texts.parts(self.ex, set), Arc::default())
            };
            self.sets.push(RaisedSet { parts, open, except });
        }
        self.last = Some((set, open, it));
        it
    }

    fn masks(&mut self, body: &Body, row: u32) -> Masks {
        if let Some(it) = self.masks[row as usize] {
            return it;
        }
        let masks = self.ex.universe.masks(body.rows[row as usize].catch_type);
        self.masks[row as usize] = Some(masks);
        masks
    }

    /// The node from which handlers are reached: drawn when the first one asks.
    fn exceptional(
        &mut self,
        drawing: &mut Drawing<SetRef>,
        instr: InstrId,
        (set, open): (SetId, Option<Why>),
        node: &mut Option<NodeId>,
    ) -> NodeId {
        *node.get_or_insert_with(|| {
            let set = self.set(set, open);
            drawing.exceptional(instr, set)
        })
    }

    /// Draws what comes out of an instruction, known and open apart. Returns whether some of it leaves.
    fn draw(
        &mut self,
        drawing: &mut Drawing<SetRef>,
        body: &Body,
        instr: InstrId,
        rows: &[u32],
        raised: Raised<'_>,
    ) -> bool {
        let mut leaves = false;
        let Raised { value, why, earlier } = raised;
        for (set, open) in [(value.known, None), (value.open, why.or(Some(Why::Function)))] {
            let mut left = set;
            let mut node = None;
            for &row in rows {
                if self.ex.universe.is_nothing(left) {
                    break;
                }
                let masks = self.masks(body, row);
                if !self.ex.universe.overlaps(left, masks.may) {
                    continue;
                }
                let from = self.exceptional(drawing, instr, (set, open), &mut node);
                left = self.ex.universe.minus(left, masks.surely);
                drawing.handler(body, from, row, !self.ex.universe.is_nothing(left));
            }
            for &row in earlier.iter().filter(|it| !rows.contains(it)) {
                let masks = self.masks(body, row);
                if self.ex.universe.overlaps(set, masks.may) {
                    let from = self.exceptional(drawing, instr, (set, open), &mut node);
                    drawing.handler(body, from, row, true);
                }
            }
            if !self.ex.universe.is_nothing(left) {
                let set = self.set(left, open);
                drawing.leave(instr, set);
                leaves = true;
            }
        }
        leaves
    }
}
