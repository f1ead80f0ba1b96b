//! One class as a piece of a document.

use ide::answer::ClassAnswer;

use crate::form::{Format, Nodes};
use crate::{dot, graphml, json_method};

/// Appends the graphs of the class's methods. `number` is the number of the class in the run: GraphML ids are made of
/// it. `nodes` matters to Graphviz only.
pub fn cfg_fragment(
    out: &mut Vec<u8>,
    format: Format,
    nodes: Nodes,
    place: &str,
    number: usize,
    class: &ClassAnswer,
) {
    for (i, method) in class.methods.iter().enumerate() {
        match format {
            Format::Json | Format::JsonLines => {
                open(out, format, i);
                json_method::cfg(out, format == Format::JsonLines, place, class, method);
                close(out, format);
            }
            Format::Dot => dot::method(out, nodes, class, method),
            Format::GraphMl => graphml::method(out, number, i, class, method),
        }
    }
}

/// Appends the stackless forms of the class's methods. Graph formats have no form for them and stay empty.
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
