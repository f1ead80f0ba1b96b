//! The names of node and edge kinds, which are the same in all formats.

use std::fmt;

use ide::{Body, Cfg, Edge, EdgeKind, Graph, MethodName, NodeKind, Part, RaisedSet, SetRef, Text};

/// Returns the word by which the output names the kind of a node.
pub(crate) fn node_kind<S>(kind: &NodeKind<S>) -> &'static str {
    match kind {
        NodeKind::Normal => "normal",
        NodeKind::Exceptional(_) => "exceptional",
        NodeKind::Return => "return",
        NodeKind::ExceptionalReturn(_) => "exceptional-return",
    }
}

/// Returns the exceptions that a node represents; `None` for a node without exceptions.
pub(crate) fn node_set(kind: NodeKind<SetRef>) -> Option<SetRef> {
    match kind {
        NodeKind::Exceptional(it) | NodeKind::ExceptionalReturn(it) => Some(it),
        NodeKind::Normal | NodeKind::Return => None,
    }
}

/// Returns the word by which the output names the kind of an edge.
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

/// Formats a part of a set for people: the cone of `java.lang.Error` as `java.lang.Error+`.
pub(crate) struct ShownPart<'a>(pub(crate) &'a Part);

impl fmt::Display for ShownPart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Text(self.0.class.bytes()).to_string().replace('/', ".");
        write!(f, "{name}{}", if self.0.cone { "+" } else { "" })
    }
}

/// Formats a set of exceptions for people.
pub(crate) struct Shown<'a>(pub(crate) &'a RaisedSet);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, &self.0.parts)?;
        if !self.0.except.is_empty() {
            f.write_str(" but not ")?;
            list(f, &self.0.except)?;
        }
        match self.0.open {
            Some(_) => f.write_str(" (open)"),
            None => Ok(()),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, parts: &[Part]) -> fmt::Result {
    for (i, it) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{}", ShownPart(it))?;
    }
    Ok(())
}

/// Returns the edges of the formal definition: each edge of the graph, repeated for each of its labels.
pub(crate) fn edges<'a>(
    graph: &'a Graph,
    body: &'a Body,
) -> impl Iterator<Item = (Edge, Option<MethodName>)> + 'a {
    graph.cfg.edges.iter().enumerate().flat_map(move |(i, &edge)| {
        let labels = match graph.labels.get(i) {
            Some(it) => it.to_vec(),
            None => vec![label(&graph.cfg, body, edge)],
        };
        labels.into_iter().map(move |it| (edge, it))
    })
}

/// Returns the label of an edge as defined in the paper: the called method, or `None` for ε.
fn label(graph: &Cfg<SetRef>, body: &Body, edge: Edge) -> Option<MethodName> {
    graph.label(body, edge).map(|it| {
        let it = it.get();
        MethodName {
            class: Text(it.class.bytes()),
            name: Text(it.name.bytes()),
            descriptor: Text(it.descriptor.bytes()),
        }
    })
}
