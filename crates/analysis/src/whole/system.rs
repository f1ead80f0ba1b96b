//! From summaries and call targets to a system of inclusions: what each method, initialiser, dispatch, function object
//! and rethrowing handler lets out (`semantics.md` §3).

use classfile::names::FieldRef;
use flow::fuel::{Cancelled, Fuel};
use flow::solver::{FunctionId, NodeId, System};
use flow::summary::{Access, Context};
use flow::throwables::well_known;
use program::hierarchy::{ClassId, Link};
use program::members::LinkError;
use program::members::MethodId;
use rustc_hash::FxHashMap;

use super::dispatch::{Open, Target};
use super::flows::Flow;
use super::ids::{DispatchId, FunctionSiteId};
use super::lattice::{Exceptions, Value};
use super::loading::loaded;
use super::members::{
    class_initializer, declared, initialized_interfaces, initialized_superclass, method_id,
};
use super::nodes::Node;
use super::program::{Inclusions, Program, WholeProgram};
use crate::summary::{CodeSummary, MethodSummary};

/// A system that grows.
struct Builder<'a> {
    whole: &'a WholeProgram,
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
    whole: &WholeProgram,
    exceptions: &mut Exceptions,
    fuel: &mut Fuel<'_>,
) -> Result<System<Value>, Cancelled> {
    let n = whole.nodes.len();
    let values = Values::All(vec![Value::NOTHING; n]);
    let mut acc = Builder {
        whole,
        exceptions,
        field_errors: FxHashMap::default(),
        values,
        flows: Vec::new(),
        edges: Vec::new(),
    };
    let program = acc.whole.program.clone();
    for class in program.hierarchy.ids() {
        fuel.spend(COST_OF_NODE)?;
        acc.initializer(class);
        for index in 0..program.hierarchy.outline(class).methods.len() {
            fuel.spend(cost_of_method(&program, method_id(class, index)))?;
            acc.method(&program, method_id(class, index));
        }
    }
    for (id, class) in whole.nodes.constructions() {
        fuel.spend(cost_of_method(&program, id))?;
        if let MethodSummary::Known(code) = program.summary(id) {
            acc.code(Node::Constructing(id, class), (id, Some(class)), code);
        }
    }
    for i in 0..acc.whole.functions.len() {
        fuel.spend(COST_OF_NODE)?;
        acc.glue(FunctionSiteId(i as u32));
    }
    for (i, it) in whole.dispatches.all().iter().enumerate() {
        fuel.spend(COST_OF_NODE + it.targets.len() as u32)?;
        acc.dispatch(DispatchId(i as u32));
    }
    if whole.loading.is_some() {
        acc.loading();
    }
    acc.finish(fuel)
}

/// What it takes to find the inclusions of a node that is no method's, in steps of [`Fuel`], about.
const COST_OF_NODE: u32 = 16;

/// The same for any node but a method's.
pub(super) fn cost_of_node(whole: &WholeProgram, node: Node) -> u32 {
    match node {
        Node::Dispatch(it) => COST_OF_NODE + whole.dispatches.get(it).targets.len() as u32,
        Node::Constructing(it, _) => cost_of_method(&whole.program, it),
        Node::Method(_) | Node::Initializer(_) | Node::Glue(_) | Node::Handler(..) | Node::Loading => {
            COST_OF_NODE
        }
    }
}

/// The same for a method.
pub(super) fn cost_of_method(program: &Program, id: MethodId) -> u32 {
    let items = match program.summary(id) {
        MethodSummary::Known(code) => code.summary.items.len() + code.summary.contexts.len(),
        MethodSummary::None | MethodSummary::Missing | MethodSummary::Unread => 1,
    };
    8 * items as u32
}

/// The inclusions of some nodes; among them are all those of these methods and of no other, but for the ones of
/// constructors.
pub(super) fn inclusions(
    whole: &WholeProgram,
    exceptions: &mut Exceptions,
    methods: &[MethodId],
    nodes: &[Node],
) -> Vec<(NodeId, Inclusions)> {
    let values = Values::Some(FxHashMap::default());
    let (field_errors, flows, edges) = Default::default();
    let mut acc = Builder { whole, exceptions, field_errors, values, flows, edges };
    let program = acc.whole.program.clone();
    for &id in methods {
        acc.method(&program, id);
    }
    for node in nodes {
        match *node {
            Node::Constructing(id, class) => {
                if let MethodSummary::Known(code) = program.summary(id) {
                    acc.code(*node, (id, Some(class)), code);
                }
            }
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
        let id = whole.nodes.id(*node);
        let value = match &acc.values {
            Values::All(all) => all[id.0 as usize],
            Values::Some(some) => some.get(&id).copied().unwrap_or(Value::NOTHING),
        };
        (id, (value, edges.remove(&id).unwrap_or_default()))
    };
    nodes.iter().map(of).collect()
}

impl Builder<'_> {
    fn edge(&mut self, user: Node, of: Node, function: FunctionId) {
        let nodes = &self.whole.nodes;
        match nodes.find(of) {
            Some(it) => self.edges.push((nodes.id(user), it, function)),
            None => {
                always_assert::never!("a node is added before something flows out of it");
                let all = Value::open(self.exceptions.universe.all());
                self.add(user, all);
            }
        }
    }

    fn add(&mut self, node: Node, value: Value) {
        let id = self.whole.nodes.id(node);
        let values = match &mut self.values {
            Values::All(all) => &mut all[id.0 as usize],
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

    fn method(&mut self, program: &Program, id: MethodId) {
        let node = Node::Method(id);
        if let Some((value, _)) = self.whole.unseen(self.exceptions, id) {
            return self.add(node, value);
        }
        match program.summary(id) {
            MethodSummary::None => self.native(id),
            // Said by `unseen`.
            MethodSummary::Missing | MethodSummary::Unread => {}
            MethodSummary::Known(code) => self.code(node, (id, None), code),
        }
    }

    /// An abstract method lets nothing out: it is selected by nobody. A native one does what its row says.
    fn native(&mut self, id: MethodId) {
        if !declared(&self.whole.program.hierarchy, id).flags.is_native() {
            return;
        }
        let flows = self.whole.native_flows(self.exceptions, id);
        for flow in flows {
            self.flow(Node::Method(id), flow, FunctionId::IDENTITY);
        }
    }

    /// `exact`: the method is a constructor that makes an object of exactly this class.
    fn code(&mut self, node: Node, (id, exact): (MethodId, Option<ClassId>), code: &CodeSummary) {
        let summary = &code.summary;
        let contexts: Vec<Passing> =
            summary.contexts.iter().map(|it| Passing::new(self.exceptions, it)).collect();
        let mut flows = std::mem::take(&mut self.flows);
        for item in &summary.items {
            let Some(context) = contexts.get(item.context as usize) else { continue };
            self.whole.flows_of(self.exceptions, (id, exact), code, item.source, &mut flows);
            for flow in flows.drain(..) {
                self.route(node, id, flow, context);
            }
        }
        for &(field, access) in &summary.fields {
            let whole = self.whole;
            let error = *self
                .field_errors
                .entry((id.class, field, access))
                .or_insert_with(|| whole.field_error(id.class, field, access));
            if let Some(error) = error {
                let flow = Flow::Value(self.whole.link_error(self.exceptions, error), None);
                contexts.iter().for_each(|it| self.route(node, id, flow, it));
                self.route_to_bare_rows(id, code, flow);
            }
        }
        if self.whole.may_load(id.class) {
            for (context, what) in contexts.iter().zip(self.whole.resolves_in(id.class, code)) {
                self.whole.resolving_flows(self.exceptions, what, &mut flows);
                flows.drain(..).for_each(|it| self.route(node, id, it, context));
            }
            if self.whole.resolves_anywhere(id.class, code) {
                self.route_to_bare_rows(id, code, Flow::Node(Node::Loading));
            }
        }
        self.flows = flows;
        if self.whole.options.async_errors {
            let value = self.whole.async_errors(self.exceptions);
            self.add(node, value);
        }
    }

    /// Lets something flow out of a method and to the handlers that throw again what they catch.
    fn route(&mut self, node: Node, id: MethodId, flow: Flow, context: &Passing) {
        for &(handler, function) in &context.arriving {
            self.flow(Node::Handler(id, handler), flow, function);
        }
        if let Some(function) = context.leaving {
            self.flow(node, flow, function);
        }
    }

    /// Lets something that may come anywhere flow to handlers under whose rows nothing else stands.
    fn route_to_bare_rows(&mut self, id: MethodId, code: &CodeSummary, flow: Flow) {
        for row in &code.summary.bare {
            let function = self.exceptions.arriving(std::iter::empty(), row.class);
            if let Some(handler) = row.rethrows {
                self.flow(Node::Handler(id, handler), flow, function);
            }
        }
    }

    /// Initialising a class (JVMS §5.5): its superclass, superinterfaces with code of instances, itself.
    fn initializer(&mut self, class: ClassId) {
        let hierarchy = self.whole.program.hierarchy.clone();
        let node = Node::Initializer(class);
        let linking = self.whole.linking(self.exceptions, class);
        self.add(node, Value::known(linking));
        if self.whole.may_load(class) {
            // Linking comes first: the verifier loads classes (JVMS §4.10, §5.4.1).
            self.edge(node, Node::Loading, FunctionId::IDENTITY);
        }
        let names = well_known();
        let wrapping = self.exceptions.wrapping(names.initializer, Some(names.no_class_def));
        if let Some(clinit) = class_initializer(&hierarchy, class) {
            self.edge(node, Node::Method(clinit), wrapping);
        }
        if hierarchy.outline(class).flags.is_interface() {
            return;
        }
        match initialized_superclass(&hierarchy, class) {
            Some(Link::Present(it)) => self.edge(node, Node::Initializer(it), FunctionId::IDENTITY),
            Some(Link::Outside(it)) => {
                let value = self.whole.unknown_initializer(self.exceptions, it);
                self.add(node, value);
            }
            None => {}
        }
        for interface in initialized_interfaces(&hierarchy, class) {
            match interface {
                Link::Present(it) => {
                    if let Some(clinit) = class_initializer(&hierarchy, it) {
                        self.edge(node, Node::Method(clinit), wrapping);
                    }
                }
                Link::Outside(it) => {
                    let value = self.whole.unknown_initializer(self.exceptions, it);
                    self.add(node, value);
                }
            }
        }
    }

    fn glue(&mut self, id: FunctionSiteId) {
        for flow in self.whole.glue_flows(self.exceptions, id) {
            self.flow(Node::Glue(id), flow, FunctionId::IDENTITY);
        }
    }

    fn dispatch(&mut self, id: DispatchId) {
        let node = Node::Dispatch(id);
        let dispatch = self.whole.dispatches.get(id).clone();
        if let Some(handlers) = dispatch.handlers {
            let function = self.whole.behind_handler(self.exceptions, &dispatch);
            self.edge(node, Node::Dispatch(handlers), function);
            let converted = self.whole.conversion_errors(self.exceptions, &dispatch);
            self.add(node, Value::known(converted));
        }
        for target in dispatch.targets {
            self.edge(node, target.node(), FunctionId::IDENTITY);
        }
        for error in dispatch.errors {
            let value = self.whole.link_error(self.exceptions, error);
            self.add(node, value);
        }
        if self.whole.options.link_errors {
            // The verifier lets a value pass that does not implement the interface (JVMS §6.5.invokeinterface).
            let receiver = dispatch.interface.then_some(LinkError::IncompatibleClassChange);
            let absent =
                matches!(dispatch.open, Some(Open::Outside(_))).then_some(LinkError::NoClassDefFound);
            for error in receiver.into_iter().chain(absent) {
                let value = self.whole.link_error(self.exceptions, error);
                self.add(node, value);
            }
        }
        if let Some(open) = dispatch.open {
            let value = self.whole.open_call(self.exceptions, open, Some(dispatch.method));
            self.add(node, value);
        }
        // What is open covers them, unless it is narrowed by what is assumed of code that nobody has seen: theirs is seen.
        if dispatch.open.is_none() || self.whole.options.assume_contract {
            for target in dispatch.possible {
                self.edge(node, target.node(), FunctionId::IDENTITY);
            }
        }
    }

    /// Asking a loader of the program's own for a class.
    fn loading(&mut self) {
        let function = loaded(self.exceptions);
        for target in self.whole.loading_targets() {
            self.edge(Node::Loading, Node::Method(target), function);
        }
        let value = self.whole.loading_value(self.exceptions);
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
            starts[it.0.0 as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut edges = vec![(NodeId(0), FunctionId::IDENTITY); self.edges.len()];
        for (user, of, function) in self.edges {
            fuel.spend(1)?;
            let at = &mut next[user.0 as usize];
            edges[*at as usize] = (of, function);
            *at += 1;
        }
        Ok(System { values, starts, edges })
    }
}

impl Target {
    /// The node of what the target lets out.
    pub fn node(self) -> Node {
        match self {
            Target::Method(it) => Node::Method(it),
            Target::Glue(it) => Node::Glue(it),
        }
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
