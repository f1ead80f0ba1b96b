//! Builds the system of inclusions from summaries and call targets. The system defines the exceptions that each
//! method, initialiser, dispatch, function object and rethrowing handler lets out (`semantics.md` §3).

use flow::fuel::{Cancelled, Fuel};
use flow::solver::{FunctionId, NodeId, System};
use flow::summary::Context;
use program::hierarchy::ClassId;
use program::members::MethodId;
use program::members::declared::declared;
use rustc_hash::FxHashMap;

use super::flows::{Flows, Place, async_errors};
use super::lattice::{Exceptions, Flow, Inclusions, Value};
use super::linking::{failing, link_error};
use super::nodes::Nodes;
use super::resolving::{resolves_anywhere, resolves_in, resolving_flows};
use super::sites::{DispatchId, Frame, FunctionSiteId, Node};
use super::tables::{CallTable, ClassTable};
use super::unknown::unseen;
use crate::summary::{CodeSummary, MethodSummary};

/// The state while a system of inclusions is built.
struct Builder<'a> {
    calls: &'a CallTable,
    nodes: &'a mut Nodes,
    exceptions: &'a mut Exceptions,
    values: Values,
    /// The nodes for contexts that were added and whose inclusions are not computed yet.
    pending: Vec<Node>,
    /// Working memory for the flows of one source of exceptions, reused for the next source.
    flows: Vec<Flow>,
    edges: Vec<(NodeId, NodeId, FunctionId)>,
}

/// The exceptions that arise at the nodes themselves, without those of the nodes that they include.
enum Values {
    /// The exceptions of all nodes, by node id.
    All(Vec<Value>),
    /// The exceptions of some nodes. A node without an entry has none.
    Some(FxHashMap<NodeId, Value>),
}

/// Builds the system of inclusions of a program whose call targets are computed.
///
/// # Errors
/// When the work is cancelled.
pub(super) fn system(
    calls: &CallTable,
    nodes: &mut Nodes,
    exceptions: &mut Exceptions,
    fuel: &mut Fuel<'_>,
) -> Result<System<Value>, Cancelled> {
    let values = Values::All(vec![Value::NOTHING; nodes.len()]);
    let pending: Vec<Node> = nodes.contexts().collect();
    let (flows, edges) = Default::default();
    let mut acc = Builder { calls, nodes, exceptions, values, pending, flows, edges };
    let classes = &calls.classes;
    for class in classes.hierarchy.ids() {
        fuel.spend(COST_OF_NODE)?;
        acc.initializer(class);
        for id in classes.methods_of(class) {
            fuel.spend(cost_of_method(classes, id))?;
            acc.method(id);
        }
    }
    for it in FunctionSiteId::first(calls.functions.len()) {
        fuel.spend(COST_OF_NODE)?;
        acc.glue(it);
    }
    for it in DispatchId::first(calls.dispatches.all().len()) {
        fuel.spend(cost_of_node(calls, Node::Dispatch(it)))?;
        acc.dispatch(it);
    }
    if calls.loading.is_some() {
        acc.loading();
    }
    while let Some(node) = acc.pending.pop() {
        fuel.spend(cost_of_node(calls, node))?;
        acc.context(node);
    }
    acc.finish(fuel)
}

/// The approximate cost of computing the inclusions of a node that belongs to no method, in steps of [`Fuel`].
const COST_OF_NODE: u32 = 16;

/// Returns the approximate cost of computing the inclusions of a node, in steps of [`Fuel`]. For the node of a method
/// or handler, use [`cost_of_method`] instead.
pub(super) fn cost_of_node(calls: &CallTable, node: Node) -> u32 {
    match node {
        Node::Dispatch(it) => COST_OF_NODE + calls.dispatches.get(it).targets.len() as u32,
        Node::Context(it, _) => cost_of_method(&calls.classes, it),
        Node::Method(_)
        | Node::Initializer(_)
        | Node::Glue(_)
        | Node::Handler(..)
        | Node::ContextHandler(..)
        | Node::Loading => COST_OF_NODE,
    }
}

/// Returns the approximate cost of computing the inclusions of a method and its rethrowing handlers, in steps of
/// [`Fuel`].
pub(super) fn cost_of_method(classes: &ClassTable, id: MethodId) -> u32 {
    let items = match classes.summary(id) {
        MethodSummary::Known(code) => code.summary.items.len() + code.summary.contexts.len(),
        MethodSummary::None | MethodSummary::Missing | MethodSummary::Unread => 1,
    };
    8 * items as u32
}

/// Returns the inclusions of the nodes `wanted`, and the nodes of contexts that were added to `nodes` because these
/// inclusions name them. `methods` must be exactly the methods that have their own node or the node of a handler in `wanted`;
/// the nodes of contexts do not count. If `wanted` has the node of a context, it must have those of its handlers, too.
pub(super) fn inclusions(
    calls: &CallTable,
    nodes: &mut Nodes,
    exceptions: &mut Exceptions,
    (methods, wanted): (&[MethodId], &[Node]),
) -> (Vec<(NodeId, Inclusions)>, Vec<Node>) {
    let values = Values::Some(FxHashMap::default());
    let (flows, edges, pending) = Default::default();
    let mut acc = Builder { calls, nodes, exceptions, values, pending, flows, edges };
    for &id in methods {
        acc.method(id);
    }
    for node in wanted {
        match *node {
            Node::Context(..) => acc.context(*node),
            Node::Initializer(class) => acc.initializer(class),
            Node::Glue(it) => acc.glue(it),
            Node::Dispatch(it) => acc.dispatch(it),
            // The inclusions of methods and handlers were computed with `methods`, those of handlers of contexts with the
            // contexts.
            Node::Method(_) | Node::Handler(..) | Node::ContextHandler(..) => {}
            Node::Loading => acc.loading(),
        }
    }
    let mut edges: FxHashMap<NodeId, Vec<(NodeId, FunctionId)>> = FxHashMap::default();
    for &(user, of, function) in &acc.edges {
        edges.entry(user).or_default().push((of, function));
    }
    let of = |node: &Node| {
        let id = acc.nodes.id(*node);
        let value = match &acc.values {
            Values::All(all) => all[id.index()],
            Values::Some(some) => some.get(&id).copied().unwrap_or(Value::NOTHING),
        };
        (id, (value, edges.remove(&id).unwrap_or_default()))
    };
    (wanted.iter().map(of).collect(), acc.pending)
}

impl<'a> Builder<'a> {
    fn flows(&self) -> Flows<'a> {
        Flows { calls: self.calls }
    }

    fn edge(&mut self, user: Node, of: Node, function: FunctionId) {
        match self.nodes.find(of) {
            Some(it) => self.edges.push((self.nodes.id(user), it, function)),
            None => {
                always_assert::never!("a node must be added before another node includes it");
                let all = Value::open(self.exceptions.universe.all());
                self.add(user, all);
            }
        }
    }

    /// Adds the node of the context in which a call runs its target, and those of the context's handlers, unless they are
    /// there already. Graphs ask for the exceptions of each call, also of those whose exceptions are all caught.
    fn ensure(&mut self, flow: Flow) {
        let of = match flow {
            Flow::Node(it) | Flow::Through(it, _) => it,
            Flow::Value(..) | Flow::Wrapped(..) => return,
        };
        if let Node::Context(id, key) = of
            && self.nodes.add(of)
        {
            self.pending.push(of);
            let handlers = self.calls.classes.code(id).map_or(0, |it| it.summary.rethrowing.len() as u32);
            (0..handlers).for_each(|it| _ = self.nodes.add(Node::ContextHandler(id, key, it)));
            if let Values::All(all) = &mut self.values {
                all.resize(self.nodes.len(), Value::NOTHING);
            }
        }
    }

    fn add(&mut self, node: Node, value: Value) {
        let id = self.nodes.id(node);
        let values = match &mut self.values {
            Values::All(all) => &mut all[id.index()],
            Values::Some(some) => some.entry(id).or_insert(Value::NOTHING),
        };
        let universe = &mut self.exceptions.universe;
        values.known = universe.join(values.known, value.known);
        values.open = universe.join(values.open, value.open);
    }

    fn flow(&mut self, user: Node, flow: Flow, function: FunctionId) {
        match flow {
            Flow::Value(value, _) | Flow::Wrapped(value, _) => {
                let value = self.exceptions.through(function, value);
                self.add(user, value);
            }
            Flow::Node(of) => self.edge(user, of, function),
            Flow::Through(of, first) => {
                let both = self.exceptions.then(first, function);
                self.edge(user, of, both);
            }
        }
    }

    fn method(&mut self, id: MethodId) {
        let node = Node::Method(id);
        if let Some((value, _)) = unseen(self.calls, self.exceptions, id) {
            return self.add(node, value);
        }
        match self.calls.classes.summary(id) {
            MethodSummary::None => self.native(id),
            // The exceptions of such a method were added above, from `unseen`.
            MethodSummary::Missing | MethodSummary::Unread => {}
            MethodSummary::Known(code) => self.code(Frame::of(id), code),
        }
    }

    /// Adds the inclusions of the node of a context, and of the handlers that belong to it.
    fn context(&mut self, node: Node) {
        let Some(frame) = Frame::of_node(node) else { return };
        match self.calls.classes.summary(frame.id) {
            MethodSummary::Known(code) => self.code(frame, code),
            MethodSummary::None | MethodSummary::Missing | MethodSummary::Unread => {}
        }
    }

    /// Adds the inclusions of a method without code. An abstract method lets out nothing, because no call selects it.
    /// A native method lets out the exceptions of its entry in the table of native methods.
    fn native(&mut self, id: MethodId) {
        if !declared(&self.calls.classes.hierarchy, id).flags.is_native() {
            return;
        }
        let flows = self.flows().of_native(self.exceptions, id);
        self.all(Node::Method(id), flows);
    }

    /// Adds the inclusions of the code of a method to the node of `frame`, and to those of its handlers.
    fn code(&mut self, frame: Frame, code: &CodeSummary) {
        let (summary, calls, id) = (&code.summary, self.calls, frame.id);
        let contexts: Vec<Passing> =
            summary.contexts.iter().map(|it| Passing::new(self.exceptions, it)).collect();
        let mut flows = std::mem::take(&mut self.flows);
        for item in calls.classes.items(id, code) {
            let Some(context) = contexts.get(item.context as usize) else { continue };
            let place = Place { frame, operands: summary.operands_of(item) };
            self.flows().of_source(self.exceptions, place, code, item.source, &mut flows);
            for flow in flows.drain(..) {
                self.ensure(flow);
                self.route(frame, flow, context);
            }
        }
        for (_, error) in failing(calls, id, code) {
            let flow = Flow::Value(link_error(self.exceptions, error), None);
            contexts.iter().for_each(|it| self.route(frame, flow, it));
            self.route_to_bare_rows(frame, code, flow);
        }
        if calls.may_load(id.class) {
            for (context, what) in contexts.iter().zip(resolves_in(calls, id.class, code)) {
                resolving_flows(self.exceptions, what, &mut flows);
                flows.drain(..).for_each(|it| self.route(frame, it, context));
            }
            if resolves_anywhere(calls, id.class, code) {
                self.route_to_bare_rows(frame, code, Flow::Node(Node::Loading));
            }
        }
        self.flows = flows;
        if calls.options.async_errors {
            let value = async_errors(self.exceptions);
            self.add(frame.node(), value);
        }
    }

    /// Adds exceptions that arise under the exception-table rows of `context` to the node of the method, as far as
    /// they leave the method, and to the nodes of the handlers that throw them again.
    fn route(&mut self, frame: Frame, flow: Flow, context: &Passing) {
        for &(handler, function) in &context.arriving {
            self.flow(frame.handler(handler), flow, function);
        }
        if let Some(function) = context.leaving {
            self.flow(frame.node(), flow, function);
        }
    }

    /// Adds exceptions that may arise anywhere in the method to the nodes of rethrowing handlers whose rows cover no
    /// source of exceptions.
    fn route_to_bare_rows(&mut self, frame: Frame, code: &CodeSummary, flow: Flow) {
        for row in &code.summary.bare {
            let function = self.exceptions.arriving(std::iter::empty(), row.class);
            if let Some(handler) = row.rethrows {
                self.flow(frame.handler(handler), flow, function);
            }
        }
    }

    /// Adds the exceptions `flows` to a node, without applying a transfer function.
    fn all(&mut self, node: Node, flows: Vec<Flow>) {
        for flow in flows {
            self.flow(node, flow, FunctionId::IDENTITY);
        }
    }

    fn initializer(&mut self, class: ClassId) {
        let flows = self.flows().of_initializer(self.exceptions, class);
        self.all(Node::Initializer(class), flows);
    }

    fn glue(&mut self, id: FunctionSiteId) {
        let flows = self.flows().of_glue(self.exceptions, id);
        self.all(Node::Glue(id), flows);
    }

    fn dispatch(&mut self, id: DispatchId) {
        let flows = self.flows().of_dispatch(self.exceptions, id);
        self.all(Node::Dispatch(id), flows);
    }

    fn loading(&mut self) {
        let flows = self.flows().of_loading(self.exceptions);
        self.all(Node::Loading, flows);
    }

    fn finish(self, fuel: &mut Fuel<'_>) -> Result<System<Value>, Cancelled> {
        let Values::All(values) = self.values else {
            unreachable!("a system of all nodes must have its values in `Values::All`");
        };
        let n = values.len();
        let mut starts = vec![0; n + 1];
        for it in &self.edges {
            fuel.spend(1)?;
            starts[it.0.index() + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut edges = vec![(NodeId::from_index(0), FunctionId::IDENTITY); self.edges.len()];
        for (user, of, function) in self.edges {
            fuel.spend(1)?;
            let at = &mut next[user.index()];
            edges[*at as usize] = (of, function);
            *at += 1;
        }
        Ok(System { values, starts, edges })
    }
}

/// The transfer functions for exceptions that arise under the same exception-table rows.
struct Passing {
    /// The transfer function for the exceptions that leave the method; `None` if a row catches everything.
    leaving: Option<FunctionId>,
    /// The rethrowing handlers that the exceptions may reach, by index, each with the transfer function for the
    /// exceptions that arrive at it.
    arriving: Vec<(u32, FunctionId)>,
}

impl Passing {
    fn new(exceptions: &mut Exceptions, context: &Context) -> Self {
        let rows = &context.rows;
        let classes = |n: usize| rows[..n].iter().map(|it| it.class);
        let catches_all = rows.last().is_some_and(|it| it.class.is_none());
        let leaving = (!catches_all).then(|| exceptions.passing(classes(rows.len())));
        let mut arriving = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            if let Some(handler) = row.rethrows {
                arriving.push((handler, exceptions.arriving(classes(i), row.class)));
            }
        }
        Passing { leaving, arriving }
    }
}
