//! Fragments: the answers about one class, as part of a document.

use ide::answer::{ClassAnswer, MethodAnswer};
use ide::{Call, Graph, MethodName, Throws};

use crate::form::{Format, Nodes};
use crate::{call_edges, call_graph, call_graphml, dot, graphml, json_method, json_whole};

/// Appends the graphs of the methods of a class that have code. `number` is the number of the class in the run,
/// which is part of GraphML ids. `nodes` is used for Graphviz only.
pub fn cfg_fragment(
    out: &mut Vec<u8>,
    format: Format,
    nodes: Nodes,
    place: &str,
    number: usize,
    class: &ClassAnswer,
    graphs: &[Graph],
) {
    for (i, (method, graph)) in class.methods.iter().zip(graphs).enumerate() {
        match format {
            Format::Json | Format::JsonLines => {
                open(out, format, i);
                json_method::cfg(out, format == Format::JsonLines, place, class, method, graph);
                close(out, format);
            }
            Format::Dot => dot::method(out, nodes, class, method, graph),
            Format::GraphMl => graphml::method(out, number, i, class, method, graph),
            Format::Edges => {}
        }
    }
}

/// Appends the BIR of the methods of a class. Appends nothing for graph formats, which cannot represent BIR.
pub fn bir_fragment(out: &mut Vec<u8>, format: Format, place: &str, class: &ClassAnswer) {
    if !matches!(format, Format::Json | Format::JsonLines) {
        return;
    }
    for (i, method) in class.methods.iter().enumerate() {
        open(out, format, i);
        json_method::bir(out, format == Format::JsonLines, place, class, method);
        close(out, format);
    }
}

/// Appends the targets of the calls of a class's methods: one object per call, or edges between methods in graph
/// formats.
pub fn calls_fragment(
    out: &mut Vec<u8>,
    format: Format,
    place: &str,
    calls: &[(MethodName, Option<&MethodAnswer>, Vec<Call>)],
) {
    match format {
        Format::Json | Format::JsonLines => {
            let all = calls.iter().flat_map(|it| it.2.iter().map(move |call| (it.0, it.1, call)));
            for (i, (method, answer, call)) in all.enumerate() {
                open(out, format, i);
                json_whole::call(out, format == Format::JsonLines, place, method, answer, call);
                close(out, format);
            }
        }
        Format::Dot => calls.iter().for_each(|it| call_graph::edges(out, it.0, &it.2)),
        Format::GraphMl => calls.iter().for_each(|it| call_graphml::edges(out, it.0, it.1, &it.2)),
        Format::Edges => calls.iter().for_each(|it| call_edges::edges(out, it.0, it.1, &it.2)),
    }
}

/// Appends the exceptions that leave the methods of a class: one object per method. Appends nothing for graph
/// formats, which cannot represent such lists.
pub fn throws_fragment(out: &mut Vec<u8>, format: Format, place: &str, answers: &[Throws]) {
    for (i, it) in answers.iter().enumerate() {
        open(out, format, i);
        json_whole::throws(out, format == Format::JsonLines, place, it);
        close(out, format);
    }
}

fn open(out: &mut Vec<u8>, format: Format, i: usize) {
    if i > 0 && format == Format::Json {
        out.extend(b",\n");
    }
}

fn close(out: &mut Vec<u8>, format: Format) {
    if format == Format::JsonLines {
        out.push(b'\n');
    }
}
