//! A call graph in GraphML: one graph for all classes, with a node for each method, and an edge for each possible
//! target of a call.
//!
//! Calls that may go to unknown methods have an edge to the node `open`, so that graph traversals see these calls,
//! too. The id of a method depends on its name only: it is the same in every run and for every selection.

use std::collections::BTreeSet;
use std::io::Write;

use ide::answer::MethodAnswer;
use ide::{Call, MethodName, Text};

use crate::frame::Header;
use crate::graphml::{Key, data, document};
use crate::json_whole::{why_name, why_word};

/// The GraphML data keys: id, domain, name and type.
const KEYS: [Key; 9] = [
    Key { id: "failures", domain: "graphml", name: "failures", ty: "string" },
    Key { id: "method", domain: "node", name: "method", ty: "string" },
    Key { id: "kind", domain: "edge", name: "kind", ty: "string" },
    Key { id: "pc", domain: "edge", name: "pc", ty: "int" },
    Key { id: "line", domain: "edge", name: "line", ty: "int" },
    Key { id: "declared", domain: "edge", name: "declared", ty: "string" },
    Key { id: "possible", domain: "edge", name: "possible", ty: "boolean" },
    Key { id: "reason", domain: "edge", name: "reason", ty: "string" },
    Key { id: "because_of", domain: "edge", name: "because_of", ty: "string" },
];

/// The beginning of the line of a node.
const NODE: &[u8] = b"<node id=\"";

/// Appends the beginning of the document, and of its only graph.
pub(crate) fn begin(out: &mut Vec<u8>, header: &Header) {
    document(out, header, &KEYS);
    out.extend(b"<graph id=\"calls\" edgedefault=\"directed\">\n<node id=\"open\"/>\n");
}

/// Appends the end of the graph.
pub(crate) fn end(out: &mut Vec<u8>) {
    out.extend(b"</graph>\n");
}

/// Appends the calls of a method: first the nodes of the edges, one per line, then the edges. The calls of several
/// methods may need the same node; [`Nodes::once`] drops the repeated lines.
pub(crate) fn edges(out: &mut Vec<u8>, caller: MethodName, answer: Option<&MethodAnswer>, calls: &[Call]) {
    let goes = |it: &Call| !it.targets.is_empty() || !it.possible.is_empty() || it.open.is_some();
    if !calls.iter().any(goes) {
        return;
    }
    let targets = calls.iter().flat_map(|it| it.targets.iter().chain(&it.possible)).copied();
    let nodes: BTreeSet<MethodName> = targets.chain([caller]).collect();
    for it in nodes {
        out.extend(NODE);
        id(out, it);
        out.extend(b"\">");
        data(out, "method", it);
        out.extend(b"</node>\n");
    }
    for call in calls {
        for (targets, possible) in [(&call.targets, false), (&call.possible, true)] {
            for &target in targets {
                edge(out, caller, answer, call, |out| id(out, target));
                if possible {
                    data(out, "possible", true);
                }
                out.extend(b"</edge>\n");
            }
        }
        if let Some(why) = call.open {
            edge(out, caller, answer, call, |out| out.extend(b"open"));
            data(out, "reason", why_word(why));
            if let Some(it) = why_name(why) {
                data(out, "because_of", it);
            }
            out.extend(b"</edge>\n");
        }
    }
}

/// Begins an edge, with the data elements that all edges of the call have.
fn edge(
    out: &mut Vec<u8>,
    caller: MethodName,
    answer: Option<&MethodAnswer>,
    call: &Call,
    target: impl FnOnce(&mut Vec<u8>),
) {
    out.extend(b"<edge source=\"");
    id(out, caller);
    out.extend(b"\" target=\"");
    target(out);
    out.extend(b"\">");
    data(out, "kind", call.kind.name());
    let place = answer.zip(call.instr);
    if let Some(pc) = place.and_then(|(answer, instr)| answer.positions.pc(instr)) {
        data(out, "pc", pc);
    }
    if let Some(line) = place.and_then(|(answer, instr)| answer.positions.line(instr)) {
        data(out, "line", line);
    }
    if let Some(it) = call.declared {
        data(out, "declared", it);
    }
}

/// Appends the id of a method: class, name and descriptor, separated by colons. GraphML ids are name tokens; a byte
/// that is not allowed in one is written as `_` and two hexadecimal digits, so that different methods have
/// different ids.
fn id(out: &mut Vec<u8>, it: MethodName) {
    token(out, it.class);
    out.push(b':');
    token(out, it.name);
    out.push(b':');
    token(out, it.descriptor);
}

fn token(out: &mut Vec<u8>, text: Text) {
    for &b in text.0 {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => out.push(b),
            // A dot itself is escaped.
            b'/' => out.push(b'.'),
            // Writing to a vector cannot fail.
            _ => drop(write!(out, "_{b:02x}")),
        }
    }
}

/// The nodes that were already written to a document, as lines.
#[derive(Default)]
pub(crate) struct Nodes(BTreeSet<Box<[u8]>>);

impl Nodes {
    /// Returns the fragment without the nodes that were already written.
    pub(crate) fn once(&mut self, fragment: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(fragment.len());
        for line in fragment.split_inclusive(|&b| b == b'\n') {
            let id = line.strip_prefix(NODE).and_then(|it| it.split(|&b| b == b'"').next());
            if id.is_none_or(|it| self.0.insert(it.into())) {
                out.extend(line);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_name_tokens_and_differ() {
        let text = |class: &'static [u8], name: &'static [u8]| {
            let mut out = Vec::new();
            id(&mut out, MethodName { class: Text(class), name: Text(name), descriptor: Text(b"([I)V") });
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(b"p/C_1$D", b"<init>"), "p.C_5f1_24D:_3cinit_3e:_28_5bI_29V");
        assert_ne!(text(b"p/C", b"a:b"), text(b"p/C:a", b"b"));
        assert!(
            text(b"\xed\xa0\x80", b"\xc3\xa4 ")
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b':' || it == b'.')
        );
    }
}
