//! From summaries and call targets to a system of inclusions: what each method, initialiser, dispatch, function object
//! and rethrowing handler lets out (`semantics.md` §3).

use classfile::names::FieldRef;
use flow::fuel::{Cancelled, Fuel};
use flow::solver::{FunctionId, NodeId, System};
use flow::summary::{Access, Context};
use flow::throwables::well_known;
use program::hierarchy::{ClassId, Link};
use program::initialization::{Step, class_initializer, steps};
use program::members::declared::declared;
use program::members::{LinkError, MethodId};
use rustc_hash::FxHashMap;

use super::flows::{Flow, Flows, async_errors};
use super::lattice::{Exceptions, Value};
use super::linking::{class_errors, field_error, link_error};
use super::loading::{loaded, loading_targets, loading_value};
use super::nodes::Nodes;
use super::proxies::{behind_handler, conversion_errors};
use super::resolving::{resolves_anywhere, resolves_in, resolving_flows};
use super::sites::{DispatchId, FunctionSiteId, Node, Open};
use super::tables::{CallTable, ClassTable};
use super::unknown::{open_call, unknown_initializer, unseen};
use crate::summary::{CodeSummary, MethodSummary};

/// What a node has of itself, and what flows into it.
pub(super) type Inclusions = (Value, Vec<(NodeId, FunctionId)>);

/// A system that grows.
struct Builder<'a> {
    calls: &'a CallTable,
    nodes: &'a Nodes,
    exceptions: &'a mut Exceptions,
    field_errors: FxHashMap<(ClassId, FieldRef, Access), Option<LinkError>>,
    values: Values,
    /// Memory that one item leaves for the next.
    flows: Vec<Flow>,
    edges: Vec<(NodeId, NodeId, FunctionId)>,
}

/// The values that nodes have of themselves.
enum Values {
    /// Of all nodes.
    All(Vec<Value>),
    /// Of a few.
    Some(FxHashMap<NodeId, Value>),
}

/// Builds the system of a program whose calls have been looked up.
///
/// # Errors
/// When the work is not wanted any more.
pub(super) fn system(
    calls: &CallTable,
    nodes: &Nodes,
    exceptions: &mut Exceptions,
    fuel: &mut Fuel<'_>,
) -> Result<System<Value>, Cancelled> {
    let values = Values::All(vec![Value::NOTHING; nodes.len()]);
    let mut acc = Builder {
        calls,
        nodes,
        exceptions,
        field_errors: FxHashMap::default(),
        values,
        flows: Vec::new(),
        edges: Vec::new(),
    };
    let classes = &calls.classes;
    for class in classes.hierarchy.ids() {
        fuel.spend(COST_OF_NODE)?;
        acc.initializer(class);
        for id in classes.methods_of(class) {
            fuel.spend(cost_of_method(classes, id))?;
            acc.method(id);
        }
    }
    for (id, class) in nodes.constructions() {
        fuel.spend(cost_of_method(classes, id))?;
        acc.construction(id, class);
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
    acc.finish(fuel)
}

/// What it takes to find the inclusions of a node that is no method's, in steps of [`Fuel`], about.
const COST_OF_NODE: u32 = 16;

/// The same for any node but a method's.
pub(super) fn cost_of_node(calls: &CallTable, node: Node) -> u32 {
    match node {
        Node::Dispatch(it) => COST_OF_NODE + calls.dispatches.get(it).targets.len() as u32,
        Node::Constructing(it, _) => cost_of_method(&calls.classes, it),
        Node::Method(_) | Node::Initializer(_) | Node::Glue(_) | Node::Handler(..) | Node::Loading => {
            COST_OF_NODE
        }
    }
}

/// The same for a method.
pub(super) fn cost_of_method(classes: &ClassTable, id: MethodId) -> u32 {
    let items = match classes.summary(id) {
        MethodSummary::Known(code) => code.summary.items.len() + code.summary.contexts.len(),
        MethodSummary::None | MethodSummary::Missing | MethodSummary::Unread => 1,
    };
    8 * items as u32
}

/// The inclusions of some nodes; among them are all those of these methods and of no other, but for the ones of
/// constructors.
pub(super) fn inclusions(
    calls: &CallTable,
    nodes: &Nodes,
    exceptions: &mut Exceptions,
    (methods, wanted): (&[MethodId], &[Node]),
) -> Vec<(NodeId, Inclusions)> {
    let values = Values::Some(FxHashMap::default());
    let (field_errors, flows, edges) = Default::default();
    let mut acc = Builder { calls, nodes, exceptions, field_errors, values, flows, edges };
    for &id in methods {
        acc.method(id);
    }
    for node in wanted {
        match *node {
            Node::Constructing(id, class) => acc.construction(id, class),
            Node::Initializer(class) => acc.initializer(class),
            Node::Glue(it) => acc.glue(it),
            Node::Dispatch(it) => acc.dispatch(it),
            // Those of `methods`.
            Node::Method(_) | Node::Handler(..) => {}
            Node::Loading => acc.loading(),
        }
    }
    let mut edges: FxHashMap<NodeId, Vec<(NodeId, FunctionId)>> = FxHashMap::default();
    for &(user, of, function) in &acc.edges {
        edges.entry(user).or_default().push((of, function));
    }
    let of = |node: &Node| {
        let id = nodes.id(*node);
        let value = match &acc.values {
            Values::All(all) => all[id.index()],
            Values::Some(some) => some.get(&id).copied().unwrap_or(Value::NOTHING),
        };
        (id, (value, edges.remove(&id).unwrap_or_default()))
    };
    wanted.iter().map(of).collect()
}

impl<'a> Builder<'a> {
    fn flows(&self) -> Flows<'a> {
        Flows { calls: self.calls, nodes: self.nodes }
    }

    fn edge(&mut self, user: Node, of: Node, function: FunctionId) {
        match self.nodes.find(of) {
            Some(it) => self.edges.push((self.nodes.id(user), it, function)),
            None => {
                always_assert::never!("a node is added before something flows out of it");
                let all = Value::open(self.exceptions.universe.all());
                self.add(user, all);
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
            // `unseen` answered.
            MethodSummary::Missing | MethodSummary::Unread => {}
            MethodSummary::Known(code) => self.code(node, (id, None), code),
        }
    }

    /// A constructor that makes an object of exactly this class.
    fn construction(&mut self, id: MethodId, class: ClassId) {
        match self.calls.classes.summary(id) {
            MethodSummary::Known(code) => self.code(Node::Constructing(id, class), (id, Some(class)), code),
            MethodSummary::None | MethodSummary::Missing | MethodSummary::Unread => {}
        }
    }

    /// A method without code. No call selects an abstract one, so it lets nothing out. A native one does what its row says.
    fn native(&mut self, id: MethodId) {
        if !declared(&self.calls.classes.hierarchy, id).flags.is_native() {
            return;
        }
        for flow in self.flows().of_native(self.exceptions, id) {
            self.flow(Node::Method(id), flow, FunctionId::IDENTITY);
        }
    }

    /// The code of a method. `exact` is the class of the object if the method is a constructor that makes an object of exactly
    /// this class.
    fn code(&mut self, node: Node, (id, exact): (MethodId, Option<ClassId>), code: &CodeSummary) {
        let (summary, calls) = (&code.summary, self.calls);
        let contexts: Vec<Passing> =
            summary.contexts.iter().map(|it| Passing::new(self.exceptions, it)).collect();
        let mut flows = std::mem::take(&mut self.flows);
        for item in &summary.items {
            let Some(context) = contexts.get(item.context as usize) else { continue };
            self.flows().of_source(self.exceptions, (id, exact), code, item.source, &mut flows);
            for flow in flows.drain(..) {
                self.route(node, id, flow, context);
            }
        }
        for &(field, access) in &summary.fields {
            let error = *self
                .field_errors
                .entry((id.class, field, access))
                .or_insert_with(|| field_error(calls, id.class, field, access));
            if let Some(error) = error {
                let flow = Flow::Value(link_error(self.exceptions, error), None);
                contexts.iter().for_each(|it| self.route(node, id, flow, it));
                self.route_to_bare_rows(id, code, flow);
            }
        }
        if calls.may_load(id.class) {
            for (context, what) in contexts.iter().zip(resolves_in(calls, id.class, code)) {
                resolving_flows(self.exceptions, what, &mut flows);
                flows.drain(..).for_each(|it| self.route(node, id, it, context));
            }
            if resolves_anywhere(calls, id.class, code) {
                self.route_to_bare_rows(id, code, Flow::Node(Node::Loading));
            }
        }
        self.flows = flows;
        if calls.options.async_errors {
            let value = async_errors(self.exceptions);
            self.add(node, value);
        }
    }

    /// Lets something flow out of a method and to the handlers that rethrow what they catch.
    fn route(&mut self, node: Node, id: MethodId, flow: Flow, context: &Passing) {
        for &(handler, function) in &context.arriving {
            self.flow(Node::Handler(id, handler), flow, function);
        }
        if let Some(function) = context.leaving {
            self.flow(node, flow, function);
        }
    }

    /// Lets something that may come anywhere flow to the rethrowing handlers whose rows cover nothing else.
    fn route_to_bare_rows(&mut self, id: MethodId, code: &CodeSummary, flow: Flow) {
        for row in &code.summary.bare {
            let function = self.exceptions.arriving(std::iter::empty(), row.class);
            if let Some(handler) = row.rethrows {
                self.flow(Node::Handler(id, handler), flow, function);
            }
        }
    }

    /// Initialising a class (JVMS §5.5).
    fn initializer(&mut self, class: ClassId) {
        let calls = self.calls;
        let node = Node::Initializer(class);
        let linking = class_errors(calls, self.exceptions, class);
        self.add(node, Value::known(linking));
        if calls.may_load(class) {
            // Linking comes first: the verifier loads classes (JVMS §4.10, §5.4.1).
            self.edge(node, Node::Loading, FunctionId::IDENTITY);
        }
        let names = well_known();
        let wrapping = self.exceptions.wrapping(names.initializer, Some(names.no_class_def));
        for step in steps(&calls.classes.hierarchy, class).rev() {
            match step {
                Step::Own(clinit) => self.edge(node, Node::Method(clinit), wrapping),
                Step::Superclass(Link::Present(it)) => {
                    self.edge(node, Node::Initializer(it), FunctionId::IDENTITY);
                }
                Step::Interface(Link::Present(it)) => {
                    if let Some(clinit) = class_initializer(&calls.classes.hierarchy, it) {
                        self.edge(node, Node::Method(clinit), wrapping);
                    }
                }
                Step::Superclass(Link::Outside(_)) | Step::Interface(Link::Outside(_)) => {
                    let value = unknown_initializer(calls, self.exceptions);
                    self.add(node, value);
                }
            }
        }
    }

    fn glue(&mut self, id: FunctionSiteId) {
        for flow in self.flows().of_glue(self.exceptions, id) {
            self.flow(Node::Glue(id), flow, FunctionId::IDENTITY);
        }
    }

    fn dispatch(&mut self, id: DispatchId) {
        let node = Node::Dispatch(id);
        let calls = self.calls;
        let dispatch = calls.dispatches.get(id);
        if let Some(handlers) = dispatch.handlers {
            let function = behind_handler(calls, self.exceptions, dispatch);
            self.edge(node, Node::Dispatch(handlers), function);
            let converted = conversion_errors(self.exceptions, dispatch);
            self.add(node, Value::known(converted));
        }
        for target in &dispatch.targets {
            self.edge(node, target.node(), FunctionId::IDENTITY);
        }
        for &error in &dispatch.errors {
            let value = link_error(self.exceptions, error);
            self.add(node, value);
        }
        if calls.options.link_errors {
            // The verifier lets a value pass that does not implement the interface (JVMS §6.5.invokeinterface).
            let receiver = dispatch.interface.then_some(LinkError::IncompatibleClassChange);
            let absent =
                matches!(dispatch.open, Some(Open::Outside(_))).then_some(LinkError::NoClassDefFound);
            for error in receiver.into_iter().chain(absent) {
                let value = link_error(self.exceptions, error);
                self.add(node, value);
            }
        }
        if let Some(open) = dispatch.open {
            let value = open_call(calls, self.exceptions, open, Some(dispatch.method));
            self.add(node, value);
        }
        // The open part covers the possible targets, unless an assumption about unknown code narrows it: these are known code.
        if dispatch.open.is_none() || calls.options.assume_contract {
            for target in &dispatch.possible {
                self.edge(node, target.node(), FunctionId::IDENTITY);
            }
        }
    }

    /// Asking a class loader of the program for a class.
    fn loading(&mut self) {
        let function = loaded(self.exceptions);
        for target in loading_targets(self.calls) {
            self.edge(Node::Loading, Node::Method(target), function);
        }
        let value = loading_value(self.calls, self.exceptions);
        self.add(Node::Loading, value);
    }

    fn finish(self, fuel: &mut Fuel<'_>) -> Result<System<Value>, Cancelled> {
        let Values::All(values) = self.values else {
            unreachable!("a whole system has the values of all nodes");
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

/// What becomes of something in a context.
struct Passing {
    /// What leaves the method; none when a row catches everything.
    leaving: Option<FunctionId>,
    /// What arrives at rethrowing handlers.
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
