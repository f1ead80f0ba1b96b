//! Draws the final control-flow graph of a method, as function N in Fig. 4 of CONFLEX does, but over sets of
//! exceptions. The exceptions of calls are read from the solved program.

use std::sync::Arc;

use bir::body::{Body, Expr, Instr, InstrId, Row, ordinal};
use flow::cfg::{Drawing, NodeId, draw_with};
use flow::facts::contains;
use flow::named::{named_by_expr, named_by_instr};
use flow::places::EarlierRows;
use flow::summary::Access;
use flow::throwables::well_known;
use flow::universe::{Masks, SetId};
use program::hierarchy::ClassId;
use program::initialization::{Initializer, walk};
use program::members::{LinkError, MethodId};
use program::names::{MethodName, Text};
use rustc_hash::FxHashMap;

use super::answers::Why;
use super::flows::{Place, flows_of};
use super::graph::{Graph, Propagates, RaisedSet, SetRef};
use super::implicit::load_class;
use super::lattice::{Exceptions, Flow, OpenCause, Value};
use super::linking::{Resolved, failing, link_error};
use super::reads::{Read, note};
use super::resolving::{Resolving, resolving_flows};
use super::sets::{Sets, Texts};
use super::sites::{Frame, Node};
use super::solved::SolvedProgram;
use super::why::{why, why_call};
use crate::parts::MethodCode;
use crate::summary::MethodSummary;

/// The state while the control-flow graph of one method is drawn.
struct Draw<'a> {
    program: &'a SolvedProgram,
    ex: &'a mut Exceptions,
    texts: &'a mut Texts,
    sets: Vec<RaisedSet>,
    known: FxHashMap<(SetId, Option<Why>), SetRef>,
    /// The exception set of the node drawn last: its id, the reason why it is open (`None` for known exceptions), and
    /// its place in the graph. The set is stored because the next node often has an equal set.
    last: Option<(SetId, Option<Why>, SetRef)>,
    /// For each exception-table row, the exceptions that it may catch and those that it surely catches; `None` until
    /// the row is first used.
    masks: Vec<Option<Masks>>,
    /// For each exception-table row, the link errors of resolving the class that the row names.
    unresolved: Vec<Vec<LinkError>>,
    /// The rows with link errors to which exceptions of the current instruction are dispatched.
    replacing: Vec<u32>,
}

/// Returns the final control-flow graph of the method `id`. `code` is the method's body with its facts. `sets` are
/// the exception sets of the program, to which drawing may add sets.
pub(super) fn draw(program: &SolvedProgram, sets: &mut Sets, id: MethodId, code: &MethodCode) -> Graph {
    let Sets { exceptions: ex, texts } = sets;
    let MethodSummary::Known(summary) = program.calls.classes.summary(id) else { return Graph::default() };
    let mut walk = program.calls.classes.sources(id, code);
    let resolving = Resolving::new(&program.calls, id.class, &code.body);
    let failing = failing(&program.calls, id, summary);
    let mut acc = Draw {
        program,
        ex,
        texts,
        sets: Vec::new(),
        known: FxHashMap::default(),
        last: None,
        masks: vec![None; code.body.rows.len()],
        unresolved: code.body.rows.iter().map(|it| unresolved(it, &failing)).collect(),
        replacing: Vec::new(),
    };
    let (mut sources, mut flows) = (Vec::new(), Vec::new());
    let needs_earlier = program.calls.may_load(id.class) || !failing.is_empty();
    let mut earlier = needs_earlier.then(|| EarlierRows::new(&code.body));
    let mut cfg = draw_with(&code.body, |drawing, instr, rows| {
        sources.clear();
        walk.at(instr, |it| sources.push(it));
        let mut leaves = false;
        let operands = walk.operands(instr);
        for &source in &sources {
            let place = Place::new(Frame::of(id), source, &operands);
            flows_of(program).of_source(acc.ex, place, summary, source, &mut flows);
            for flow in flows.drain(..) {
                let (value, why) = acc.value(flow);
                let flow = Raised { value, why, earlier: &[] };
                leaves |= acc.draw(drawing, &code.body, instr, rows, flow);
            }
        }
        let resolves = resolving.at(instr, &sources);
        resolving_flows(acc.ex, resolves, &mut flows);
        let earlier = earlier.as_mut().map_or(&[][..], |it| it.at(ordinal(instr)));
        for flow in flows.drain(..) {
            let (value, why) = acc.value(flow);
            let flow = Raised { value, why, earlier: if resolves.earlier { earlier } else { &[] } };
            leaves |= acc.draw(drawing, &code.body, instr, rows, flow);
        }
        for (error, is_earlier) in failing_at(&code.body, instr, &failing) {
            let value = link_error(acc.ex, error);
            let flow = Raised { value, why: None, earlier: if is_earlier { earlier } else { &[] } };
            leaves |= acc.draw(drawing, &code.body, instr, rows, flow);
        }
        leaves |= acc.draw_replacing(drawing, &code.body, instr);
        if leaves && contains(&code.facts.locks.leaving, instr) {
            let set = acc.ex.universe.exact(well_known().monitor_state);
            let set = acc.set(set, None);
            drawing.leave(instr, set);
        }
    });
    cfg.cut_off(program.calls.classes.skips(id, code));
    let (sets, value) = (acc.sets, program.lets_out(id));
    let throws = Propagates {
        known: texts.parts(ex, value.known),
        open: (!ex.universe.is_nothing(value.open)).then(|| texts.open(ex, value.open)),
    };
    Graph { cfg, sets, calls: Vec::new(), labels: Vec::new(), throws }
}

/// Returns the reason to report for open exceptions that another node includes from the node `of`. If `of` is a
/// dispatch or stands for class loaders, and may itself run unknown code, this is the reason why it may; otherwise,
/// the reason is that `of` (a method, for example) lets out open exceptions.
fn nearest(program: &SolvedProgram, ex: &Exceptions, of: Node) -> Why {
    match of {
        Node::Method(it) | Node::Context(it, _) => Why::LetsOut(program.calls.classes.name(it)),
        Node::Dispatch(it) => {
            let own =
                program.calls.dispatches.cause(it).0.and_then(|it| why(&program.calls, OpenCause::Call(it)));
            own.unwrap_or_else(|| Why::LetsOut(MethodName::of(program.calls.dispatches.method(it))))
        }
        Node::Initializer(it) => initializing(program, ex, it),
        Node::Handler(it, _) | Node::ContextHandler(it, _, _) => Why::Caught(program.calls.classes.name(it)),
        Node::Glue(_) => Why::Function,
        Node::Loading => {
            note(Read::Loading);
            let own = program
                .calls
                .loading
                .as_ref()
                .and_then(|it| it.open)
                .and_then(|it| why_call(&program.calls, it));
            own.unwrap_or_else(|| Why::LetsOut(MethodName::of(load_class())))
        }
    }
}

/// Returns the reason to report for open exceptions of the initialisation of a class: the absent class whose initialiser
/// runs then, or a present initialiser that lets out open exceptions.
fn initializing(program: &SolvedProgram, ex: &Exceptions, class: ClassId) -> Why {
    let hierarchy = &program.calls.classes.hierarchy;
    let (mut absent, mut open) = (None, None);
    walk(
        hierarchy,
        class,
        |_| true,
        |it| match it {
            Initializer::Absent(it) => absent = absent.or(Some(it)),
            Initializer::Present(it)
                if open.is_none() && !ex.universe.is_nothing(program.lets_out(it).open) =>
            {
                open = Some(it);
            }
            Initializer::Present(_) => {}
        },
    );
    match open {
        Some(it) => Why::LetsOut(program.calls.classes.name(it)),
        None => Why::Initializer(Text(absent.unwrap_or_else(|| hierarchy.name(class)).bytes())),
    }
}

/// Exceptions that an instruction raises, and further exception-table rows that may catch them although these rows do
/// not cover the instruction.
#[derive(Clone, Copy)]
struct Raised<'a> {
    value: Value,
    /// The reason why `value` has an open part; `None` if it has none.
    why: Option<Why>,
    /// The indices of further exception-table rows that may catch the exceptions: rows that cover earlier bytecode,
    /// in which expressions of the instruction may be evaluated.
    earlier: &'a [u32],
}

/// Returns the link errors of the constants of `failing` that the instruction `instr` resolves. The `bool` is true if
/// the constant belongs to an operand, so that bytecode before the instruction may resolve it.
fn failing_at(body: &Body, instr: InstrId, failing: &[(Resolved, LinkError)]) -> Vec<(LinkError, bool)> {
    if failing.is_empty() {
        return Vec::new();
    }
    let mut acc = Vec::new();
    let mut resolves = |it: Resolved, is_earlier: bool| {
        acc.extend(failing.iter().filter(|(failing, _)| *failing == it).map(|it| (it.1, is_earlier)));
    };
    let instr = &body.instrs[instr];
    match *instr {
        Instr::SetField(_, field, _) => resolves(Resolved::Field(field, Access::Put), false),
        Instr::SetStatic(field, _) => resolves(Resolved::Field(field, Access::PutStatic), false),
        ref it => named_by_instr(it, &mut |it| resolves(Resolved::Class(it), false)),
    }
    let mut pending = Vec::new();
    body.instr_exprs(instr, |e| pending.push(e));
    while let Some(e) = pending.pop() {
        match body.exprs[e] {
            Expr::Field(_, field) => resolves(Resolved::Field(field, Access::Get), true),
            Expr::Static(field) => resolves(Resolved::Field(field, Access::GetStatic), true),
            Expr::MethodHandle(handle) => {
                let handle = body.handles.get(handle as usize);
                handle.into_iter().for_each(|&it| resolves(Resolved::Handle(it), true));
            }
            ref it => named_by_expr(body, it, &mut |it| resolves(Resolved::Class(it), true)),
        }
        body.exprs[e].operands(|it| pending.push(it));
    }
    acc
}

/// Returns the link errors of resolving the class that a row of the exception table names.
fn unresolved(row: &Row, failing: &[(Resolved, LinkError)]) -> Vec<LinkError> {
    let is_of_row =
        |it: &&(Resolved, LinkError)| row.catch_type.is_some_and(|class| it.0 == Resolved::Caught(class));
    failing.iter().filter(is_of_row).map(|it| it.1).collect()
}

impl Draw<'_> {
    /// Returns the exceptions that a flow contributes, and the reason why some of them are open (`None` if none are).
    fn value(&mut self, flow: Flow) -> (Value, Option<Why>) {
        let program = self.program;
        let of_node = |ex: &Exceptions, value: Value, of: Node| {
            // The reason is computed only if something is open, because that needs names.
            (value, (!ex.universe.is_nothing(value.open)).then(|| nearest(program, ex, of)))
        };
        match flow {
            Flow::Value(value, cause) => (value, cause.and_then(|it| why(&program.calls, it))),
            Flow::Wrapped(value, cause) => (value, why(&program.calls, cause)),
            Flow::Node(of) => of_node(self.ex, program.value(of), of),
            Flow::Through(of, function) => {
                let value = self.ex.through(function, program.value(of));
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
        let next = SetRef::from_index(self.sets.len());
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

    /// Returns the exceptional node of an instruction for the exceptions `set`, from which edges lead to handlers. If
    /// `node` is `None`, draws this node first and stores it in `node`.
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

    /// Draws the nodes and edges for the link errors of rows to which exceptions of the instruction are dispatched.
    /// Such an error replaces the exception, and HotSpot then searches the rows that cover the row's handler. Returns
    /// whether some of the errors leave the method.
    fn draw_replacing(&mut self, drawing: &mut Drawing<SetRef>, body: &Body, instr: InstrId) -> bool {
        let mut leaves = false;
        let mut next = 0;
        while let Some(&at) = self.replacing.get(next) {
            next += 1;
            let handler = ordinal(body.rows[at as usize].handler);
            // Rows with the same handler and the same errors lead to the same edges.
            let is_same = |it: &u32| {
                ordinal(body.rows[*it as usize].handler) == handler
                    && self.unresolved[*it as usize] == self.unresolved[at as usize]
            };
            if self.replacing[..next - 1].iter().any(is_same) {
                continue;
            }
            let covers = |it: &Row| ordinal(it.start) <= handler && handler < it.end;
            let rows: Vec<u32> =
                (0u32..).zip(body.rows.iter()).filter(|it| covers(it.1)).map(|it| it.0).collect();
            for error in self.unresolved[at as usize].clone() {
                let value = link_error(self.ex, error);
                leaves |= self.draw(drawing, body, instr, &rows, Raised { value, why: None, earlier: &[] });
            }
        }
        self.replacing.clear();
        leaves
    }

    /// Draws the nodes and edges for exceptions that an instruction raises. The known and the open exceptions get
    /// separate nodes. Returns whether some of the exceptions leave the method.
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
                if !self.unresolved[row as usize].is_empty() && !self.replacing.contains(&row) {
                    self.replacing.push(row);
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
