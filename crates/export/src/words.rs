//! The words for kinds of nodes and edges, the same in every format.

use std::fmt;

use ide::{Body, Cause, Cfg, Edge, EdgeKind, ExceptionSet, MethodId, NodeKind, Text};

/// The `kind` of a node.
pub(crate) fn node_kind(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Normal => "normal",
        NodeKind::Exceptional(_) => "exceptional",
        NodeKind::Return => "return",
        NodeKind::ExceptionalReturn(_) => "exceptional-return",
    }
}

/// The exceptions that a node stands for.
pub(crate) fn node_set(kind: NodeKind) -> Option<ExceptionSet> {
    match kind {
        NodeKind::Exceptional(it) | NodeKind::ExceptionalReturn(it) => Some(it),
        NodeKind::Normal | NodeKind::Return => None,
    }
}

/// The `kind` of an edge.
pub(crate) fn edge_kind(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Normal => "normal",
        EdgeKind::BranchTrue => "true",
        EdgeKind::BranchFalse => "false",
        EdgeKind::Case(_) => "case",
        EdgeKind::Default => "default",
        EdgeKind::Return => "return",
        EdgeKind::Exception => "exception",
        EdgeKind::Handler(_) => "handler",
        EdgeKind::MayHandler(_) => "may-handler",
    }
}

/// The cause of an open part.
pub(crate) fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Call => "call",
        Cause::Initializer => "initializer",
        Cause::Bootstrap => "bootstrap",
    }
}

/// The class of a set.
pub(crate) fn class(set: ExceptionSet) -> Text {
    Text(set.class.bytes())
}

/// A set as people read it: `java.lang.Error` and its subclasses as `java.lang.Error+`.
pub(crate) struct Shown(pub(crate) ExceptionSet);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = class(self.0).to_string().replace('/', ".");
        let plus = if self.0.exact { "" } else { "+" };
        match self.0.open {
            Some(it) => write!(f, "{name}{plus} ({})", cause(it)),
            None => write!(f, "{name}{plus}"),
        }
    }
}

/// The label of an edge as the paper has it: the called method, or nothing for ε.
pub(crate) fn label(graph: &Cfg, body: &Body, edge: Edge) -> Option<MethodId> {
    graph.label(body, edge).map(|it| {
        let it = it.get();
        MethodId {
            class: Text(it.class.bytes()),
            name: Text(it.name.bytes()),
            descriptor: Text(it.descriptor.bytes()),
        }
    })
}
