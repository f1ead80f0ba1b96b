//! The nodes of the system of a program, and their numbers.

use flow::fuel::{Cancelled, Fuel};
use flow::solver::NodeId;
use program::hierarchy::ClassId;
use program::members::MethodId;
use rustc_hash::FxHashMap;

use super::ids::{DispatchId, FunctionSiteId};

/// What a node of the system stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// What a method lets out.
    Method(MethodId),
    /// What initialising a class lets out, wrapped.
    Initializer(ClassId),
    /// What the method of a function object lets out.
    Glue(FunctionSiteId),
    /// What a virtual call lets out.
    Dispatch(DispatchId),
    /// What arrives at a rethrowing handler of a method, by its number.
    Handler(MethodId, u32),
    /// What a constructor lets out that makes an object of exactly this class.
    Constructing(MethodId, ClassId),
    /// What asking a loader of the program's own for a class lets out.
    Loading,
}

/// Numbers of the nodes: those of the program as it was solved first by their places, later ones as they come. The number of a
/// node never changes, also when what it stands for is gone.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// For each class the number of its first method's node; and at the end how many there are.
    methods: Vec<u32>,
    classes: u32,
    functions: u32,
    dispatches: u32,
    handlers: Vec<(MethodId, u32)>,
    first_handler: FxHashMap<MethodId, u32>,
    constructions: Vec<(MethodId, ClassId)>,
    construction: FxHashMap<(MethodId, ClassId), u32>,
    has_loading: bool,
    later: Vec<Node>,
    later_id: FxHashMap<Node, u32>,
}

impl Nodes {
    /// Numbers the nodes. `methods`: how many methods each class has; `rethrowing`: how many handlers of a method throw
    /// again what they catch.
    ///
    /// # Errors
    /// When the work is not wanted any more.
    pub(super) fn new(
        methods: impl Iterator<Item = usize>,
        rethrowing: impl Iterator<Item = (MethodId, usize)>,
        functions: usize,
        dispatches: usize,
        constructions: Vec<(MethodId, ClassId)>,
        has_loading: bool,
        fuel: &mut Fuel<'_>,
    ) -> Result<Self, Cancelled> {
        let mut acc = Nodes {
            functions: functions as u32,
            dispatches: dispatches as u32,
            has_loading,
            ..Nodes::default()
        };
        acc.construction = constructions.iter().copied().zip(0..).collect();
        acc.constructions = constructions;
        let mut next = 0;
        for n in methods {
            acc.methods.push(next);
            next += n as u32;
            acc.classes += 1;
        }
        acc.methods.push(next);
        for (id, n) in rethrowing {
            fuel.spend(1)?;
            if n > 0 {
                acc.first_handler.insert(id, acc.handlers.len() as u32);
                acc.handlers.extend((0..n as u32).map(|it| (id, it)));
            }
        }
        Ok(acc)
    }

    fn n_methods(&self) -> u32 {
        self.methods.last().copied().unwrap_or(0)
    }

    fn n_first(&self) -> u32 {
        let fixed = self.n_methods() + self.classes + self.functions + self.dispatches;
        fixed + (self.handlers.len() + self.constructions.len()) as u32 + u32::from(self.has_loading)
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.n_first() as usize + self.later.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of a node.
    pub fn id(&self, node: Node) -> NodeId {
        self.find(node).unwrap_or_else(|| {
            always_assert::never!("a node is added before it is asked for");
            NodeId(0)
        })
    }

    /// Gives a node a number, if it has none. Whether it is new.
    pub(super) fn add(&mut self, node: Node) -> bool {
        let is_new = self.find(node).is_none();
        if is_new {
            self.later_id.insert(node, self.len() as u32);
            self.later.push(node);
        }
        is_new
    }

    /// The number of a node, if it has one.
    pub(super) fn find(&self, node: Node) -> Option<NodeId> {
        self.first(node).or_else(|| self.later_id.get(&node).copied()).map(NodeId)
    }

    fn first(&self, node: Node) -> Option<u32> {
        let initializers = self.n_methods();
        let functions = initializers + self.classes;
        let dispatches = functions + self.functions;
        let handlers = dispatches + self.dispatches;
        let constructions = handlers + self.handlers.len() as u32;
        match node {
            Node::Loading => self.has_loading.then_some(constructions + self.constructions.len() as u32),
            Node::Constructing(method, class) => {
                self.construction.get(&(method, class)).map(|it| constructions + it)
            }
            Node::Method(it) => {
                let first = self.methods.get(it.class.index())? + it.index;
                (first < *self.methods.get(it.class.index() + 1)?).then_some(first)
            }
            Node::Initializer(it) => {
                ((it.index() as u32) < self.classes).then_some(initializers + it.index() as u32)
            }
            Node::Glue(it) => (it.0 < self.functions).then_some(functions + it.0),
            Node::Dispatch(it) => (it.0 < self.dispatches).then_some(dispatches + it.0),
            Node::Handler(method, it) => {
                let at = self.first_handler.get(&method)? + it;
                (self.handlers.get(at as usize) == Some(&(method, it))).then_some(handlers + at)
            }
        }
    }

    /// The node with a number.
    pub fn node(&self, NodeId(id): NodeId) -> Node {
        let mut at = id;
        if let Some(it) = at.checked_sub(self.n_first()).and_then(|it| self.later.get(it as usize)) {
            return *it;
        }
        if at < self.n_methods() {
            let class = self.methods.partition_point(|&it| it <= at) - 1;
            return Node::Method(MethodId { class: ClassId::new(class), index: at - self.methods[class] });
        }
        at -= self.n_methods();
        if at < self.classes {
            return Node::Initializer(ClassId::new(at as usize));
        }
        at -= self.classes;
        if at < self.functions {
            return Node::Glue(FunctionSiteId(at));
        }
        at -= self.functions;
        if at < self.dispatches {
            return Node::Dispatch(DispatchId(at));
        }
        at -= self.dispatches;
        if let Some(&(method, number)) = self.handlers.get(at as usize) {
            return Node::Handler(method, number);
        }
        match self.constructions.get(at as usize - self.handlers.len()) {
            Some(&(method, class)) => Node::Constructing(method, class),
            None => Node::Loading,
        }
    }

    /// The node of a constructor that makes an object of exactly this class, if it has one of its own.
    pub fn constructing(&self, constructor: MethodId, class: ClassId) -> Option<Node> {
        let pair = (constructor, class);
        let node = Node::Constructing(constructor, class);
        (self.construction.contains_key(&pair) || self.later_id.contains_key(&node)).then_some(node)
    }

    /// The constructors that have nodes of their own for a class.
    pub fn constructions(&self) -> impl Iterator<Item = (MethodId, ClassId)> + '_ {
        let later = self.later.iter().filter_map(|it| match it {
            Node::Constructing(method, class) => Some((*method, *class)),
            _ => None,
        });
        self.constructions.iter().copied().chain(later)
    }
}
