//! A call graph in Graphviz: methods, and edges to the possible targets of their calls.

use std::collections::BTreeMap;
use std::io::Write;

use ide::{Call, CallWord, Human, MethodName};

use crate::markup::dot_id;

/// Appends the beginning of the graph.
pub(crate) fn begin(out: &mut Vec<u8>) {
    out.extend(
        br##"digraph calls {
  graph [rankdir=LR, fontname="Helvetica", nodesep=0.15, ranksep=0.6];
  node [fontname="Helvetica", fontsize=10, shape=box, height=0.25, margin="0.08,0.03", color="#778899"];
  edge [color="#445566", arrowsize=0.6];
"##,
    );
}

/// Appends the end of the graph.
pub(crate) fn end(out: &mut Vec<u8>) {
    out.extend(b"}\n");
}

/// The kind of an edge, which determines how the edge is drawn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Look {
    Plain,
    /// A call without a call instruction: initialisers, bootstrap methods, threads.
    Implicit,
    /// A call that can go to the target only if an absent class connects the receiver's class with the class that the
    /// call names.
    Possible,
}

/// Appends the edges of a method, at most one to each target.
pub(crate) fn edges(out: &mut Vec<u8>, caller: MethodName, calls: &[Call]) {
    let mut edges: BTreeMap<MethodName, Look> = BTreeMap::new();
    let mut add = |target: MethodName, look: Look| {
        let known = edges.entry(target).or_insert(look);
        *known = look.min(*known);
    };
    for call in calls {
        let by_instruction = matches!(
            call.kind,
            CallWord::Virtual
                | CallWord::Interface
                | CallWord::Special
                | CallWord::Static
                | CallWord::Dynamic
        );
        let look = if by_instruction { Look::Plain } else { Look::Implicit };
        call.targets.iter().for_each(|&it| add(it, look));
        call.possible.iter().for_each(|&it| add(it, Look::Possible));
    }
    let open = calls.iter().any(|it| it.open.is_some());
    if edges.is_empty() && !open {
        return;
    }
    out.extend(b"  ");
    dot_id(out, Human(caller));
    if open {
        // The method has further, unknown callees.
        out.extend(b" [style=dashed, color=\"#b07020\"]");
    }
    out.extend(b";\n");
    for (target, look) in edges {
        out.extend(b"  ");
        dot_id(out, Human(caller));
        out.extend(b" -> ");
        dot_id(out, Human(target));
        // Writing to a vector cannot fail.
        let _ = match look {
            Look::Plain => write!(out, ";"),
            Look::Implicit => write!(out, " [style=dotted];"),
            Look::Possible => write!(out, " [style=dashed, color=\"#b07020\"];"),
        };
        out.push(b'\n');
    }
}
