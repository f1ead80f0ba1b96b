//! GraphML output: one `graph` per method, whose data elements are named like the members of the JSON format.
//!
//! XML 1.0 allows neither control characters nor lone surrogates; in names, they are shown as `\uXXXX`.

use std::io::Write;

use ide::Graph;
use ide::answer::{ClassAnswer, MethodAnswer};
use ide::{EdgeKind, print};

use crate::frame::{Header, Trailer, header_lines, trailer_lines};
use crate::json_whole::why_word;
use crate::markup::xml;
use crate::words::{self, Shown};

/// A GraphML data key (`<key>` element).
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(crate) id: &'static str,
    /// The GraphML element that has the data, such as `node` or `edge`.
    pub(crate) domain: &'static str,
    pub(crate) name: &'static str,
    pub(crate) ty: &'static str,
}

/// The GraphML data keys: id, domain, name and type.
const KEYS: [Key; 15] = [
    Key { id: "failures", domain: "graphml", name: "failures", ty: "string" },
    Key { id: "method", domain: "graph", name: "method", ty: "string" },
    Key { id: "source", domain: "graph", name: "source", ty: "string" },
    Key { id: "entry", domain: "graph", name: "entry", ty: "string" },
    Key { id: "pc", domain: "node", name: "pc", ty: "int" },
    Key { id: "line", domain: "node", name: "line", ty: "int" },
    Key { id: "kind", domain: "node", name: "kind", ty: "string" },
    Key { id: "exception", domain: "node", name: "exception", ty: "string" },
    Key { id: "open", domain: "node", name: "open", ty: "string" },
    Key { id: "text", domain: "node", name: "text", ty: "string" },
    Key { id: "copy", domain: "node", name: "copy", ty: "int" },
    Key { id: "label", domain: "edge", name: "label", ty: "string" },
    Key { id: "edge_kind", domain: "edge", name: "kind", ty: "string" },
    Key { id: "case", domain: "edge", name: "case", ty: "int" },
    Key { id: "row", domain: "edge", name: "row", ty: "int" },
];

/// Begins a document of method graphs.
pub(crate) fn header(out: &mut Vec<u8>, header: &Header) {
    document(out, header, &KEYS);
}

/// Begins a document with these data keys.
pub(crate) fn document(out: &mut Vec<u8>, header: &Header, keys: &[Key]) {
    out.extend(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.extend(b"<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" ");
    out.extend(b"xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" ");
    out.extend(b"xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns ");
    out.extend(b"http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n<desc>");
    xml(out, header_lines(header).join("; "));
    out.extend(b"</desc>\n");
    for Key { id, domain, name, ty } in keys {
        // Writing to a vector cannot fail.
        let _ = writeln!(out, r#"<key id="{id}" for="{domain}" attr.name="{name}" attr.type="{ty}"/>"#);
    }
}

/// Ends the document.
pub(crate) fn trailer(out: &mut Vec<u8>, trailer: &Trailer) {
    let lines = trailer_lines(trailer);
    if !lines.is_empty() {
        out.extend(b"<data key=\"failures\">");
        for line in lines {
            xml(out, line);
            out.push(b'\n');
        }
        out.extend(b"</data>\n");
    }
    out.extend(b"</graphml>\n");
}

/// Appends the graph of a method. The ids in the graph begin with the numbers of class and method.
pub(crate) fn method(
    out: &mut Vec<u8>,
    class_number: usize,
    number: usize,
    class: &ClassAnswer,
    it: &MethodAnswer,
    graph: &Graph,
) {
    let id = format!("c{class_number}m{number}");
    let _ = writeln!(out, r#"<graph id="{id}" edgedefault="directed">"#);
    data(out, "method", it.method);
    if let Some(source) = class.source_file {
        data(out, "source", source);
    }
    if let Some(entry) = graph.cfg.entry() {
        data(out, "entry", format_args!("{id}n{}", entry.0));
    }
    let body = &it.code.body;
    for (i, node) in graph.cfg.nodes.iter().enumerate() {
        let _ = write!(out, r#"<node id="{id}n{i}">"#);
        if let Some(pc) = it.positions.pc(node.instr) {
            data(out, "pc", pc);
        }
        if let Some(line) = it.positions.line(node.instr) {
            data(out, "line", line);
        }
        let copy = it.positions.copy(node.instr);
        if copy != 0 {
            data(out, "copy", copy);
        }
        data(out, "kind", words::node_kind(&node.kind));
        match words::node_set(node.kind) {
            Some(set) => {
                let set = graph.set(set);
                data(out, "exception", Shown(set));
                if let Some(why) = set.open {
                    data(out, "open", why_word(why));
                }
            }
            None => data(out, "text", print::instr(body, node.instr)),
        }
        out.extend(b"</node>\n");
    }
    for (edge, label) in words::edges(graph, body) {
        let _ = write!(out, r#"<edge source="{id}n{}" target="{id}n{}">"#, edge.from.0, edge.to.0);
        if let Some(label) = label {
            data(out, "label", label);
        }
        data(out, "edge_kind", words::edge_kind(edge.kind));
        match edge.kind {
            EdgeKind::Case(it) => data(out, "case", it),
            EdgeKind::Handler(row) | EdgeKind::MayHandler(row) => data(out, "row", row),
            _ => {}
        }
        out.extend(b"</edge>\n");
    }
    out.extend(b"</graph>\n");
}

/// Appends a data element.
pub(crate) fn data(out: &mut Vec<u8>, key: &str, value: impl std::fmt::Display) {
    out.extend(b"<data key=\"");
    out.extend(key.as_bytes());
    out.extend(b"\">");
    xml(out, value);
    out.extend(b"</data>");
}
