//! One method as a JSON object on one line.

use ide::answer::{ClassAnswer, MethodAnswer};
use ide::{EdgeKind, Graph, InstrId, ordinal, print};

use crate::json::{array, boolean, key, method_name, number, optional_number, string, texts};
use crate::{json_whole, words};

/// The names of the flags in JVMS §4.6-A, lowest bit first.
const ACCESS: [(u16, &str); 12] = [
    (0x0001, "public"),
    (0x0002, "private"),
    (0x0004, "protected"),
    (0x0008, "static"),
    (0x0010, "final"),
    (0x0020, "synchronized"),
    (0x0040, "bridge"),
    (0x0080, "varargs"),
    (0x0100, "native"),
    (0x0400, "abstract"),
    (0x0800, "strict"),
    (0x1000, "synthetic"),
];

/// The names of the flags in JVMS §4.1-B, lowest bit first, without the obsolete `ACC_SUPER`.
const CLASS_ACCESS: [(u16, &str); 7] = [
    (0x0001, "public"),
    (0x0010, "final"),
    (0x0200, "interface"),
    (0x0400, "abstract"),
    (0x1000, "synthetic"),
    (0x2000, "annotation"),
    (0x4000, "enum"),
];

/// Begins the JSON object of a method with the members that the output of `ajar cfg` and of `ajar bir` has. `lines`
/// is set for JSON lines, where each object has a member `record`.
fn head(out: &mut Vec<u8>, lines: bool, place: &str, class: &ClassAnswer, it: &MethodAnswer) {
    out.push(b'{');
    if lines {
        key(out, "record");
        string(out, "method");
    }
    key(out, "method");
    method_name(out, it.method);
    key(out, "access");
    let words = ACCESS.iter().filter(|(bit, _)| it.access & bit != 0);
    array(out, words, |out, (_, word)| string(out, word));
    key(out, "place");
    string(out, place);
    key(out, "source");
    match class.source_file {
        Some(it) => texts(out, &[it]),
        None => out.extend(b"null"),
    }
    key(out, "unverified");
    boolean(out, it.code.body.unverified);
}

/// Appends the ranges of pcs that control never reaches.
fn unreachable(out: &mut Vec<u8>, it: &MethodAnswer) {
    key(out, "unreachable");
    array(out, it.positions.unreachable.iter(), |out, &(from, to)| {
        array(out, [i64::from(from), i64::from(to)], number);
    });
}

/// Appends the pc and source line of an instruction.
fn position(out: &mut Vec<u8>, it: &MethodAnswer, instr: InstrId) {
    key(out, "pc");
    optional_number(out, it.positions.pc(instr));
    let copy = it.positions.copy(instr);
    if copy != 0 {
        key(out, "copy");
        number(out, copy);
    }
    key(out, "line");
    optional_number(out, it.positions.line(instr));
}

/// Appends the control-flow graph of a method.
pub(crate) fn cfg(
    out: &mut Vec<u8>,
    lines: bool,
    place: &str,
    class: &ClassAnswer,
    it: &MethodAnswer,
    graph: &Graph,
) {
    head(out, lines, place, class, it);
    key(out, "class_access");
    let words = CLASS_ACCESS.iter().filter(|(bit, _)| class.access & bit != 0);
    array(out, words, |out, (_, word)| string(out, word));
    key(out, "entry");
    optional_number(out, graph.cfg.entry().map(|it| it.0));
    key(out, "nodes");
    array(out, graph.cfg.nodes.iter().enumerate(), |out, (id, node)| {
        out.push(b'{');
        key(out, "id");
        number(out, id as i64);
        position(out, it, node.instr);
        key(out, "kind");
        string(out, words::node_kind(&node.kind));
        exceptions(out, words::node_set(node.kind).map(|it| graph.set(it)));
        out.push(b'}');
    });
    key(out, "edges");
    array(out, words::edges(graph, &it.code.body), |out, (edge, label)| {
        out.push(b'{');
        key(out, "from");
        number(out, edge.from.0);
        key(out, "to");
        number(out, edge.to.0);
        key(out, "label");
        match label {
            Some(it) => method_name(out, it),
            None => out.extend(b"null"),
        }
        key(out, "kind");
        string(out, words::edge_kind(edge.kind));
        match edge.kind {
            EdgeKind::Case(it) => {
                key(out, "case");
                number(out, it);
            }
            EdgeKind::Handler(row) | EdgeKind::MayHandler(row) => {
                key(out, "row");
                number(out, row);
            }
            _ => {}
        }
        out.push(b'}');
    });
    key(out, "calls");
    array(out, &graph.calls, |out, call| {
        out.push(b'{');
        key(out, "node");
        optional_number(out, call.instr.map(ordinal));
        json_whole::call_members(out, call);
        out.push(b'}');
    });
    key(out, "throws");
    json_whole::parts(out, &graph.throws.known);
    key(out, "throws_open");
    match &graph.throws.open {
        Some((within, except)) => json_whole::open_set(out, within, except),
        None => out.extend(b"null"),
    }
    let closed = &graph.cfg.entered_only_by_vm_errors;
    key(out, "entered_only_by_vm_errors");
    array(out, closed.iter(), |out, &it| number(out, ordinal(it)));
    unreachable(out, it);
    out.push(b'}');
}

/// Appends the exceptions that a node represents: two members, which are `null` if `set` is `None`.
fn exceptions(out: &mut Vec<u8>, set: Option<&ide::RaisedSet>) {
    key(out, "exception");
    let Some(set) = set else {
        out.extend(b"null");
        key(out, "open");
        out.extend(b"null");
        return;
    };
    json_whole::parts(out, &set.parts);
    if !set.except.is_empty() {
        key(out, "except");
        json_whole::parts(out, &set.except);
    }
    key(out, "open");
    match set.open {
        Some(it) => json_whole::why(out, it),
        None => out.extend(b"null"),
    }
}

/// Appends the BIR of a method.
pub(crate) fn bir(out: &mut Vec<u8>, lines: bool, place: &str, class: &ClassAnswer, it: &MethodAnswer) {
    let body = &it.code.body;
    head(out, lines, place, class, it);
    key(out, "locals");
    number(out, body.locals);
    key(out, "instructions");
    array(out, body.instrs.iter(), |out, (id, instr)| {
        out.push(b'{');
        key(out, "id");
        number(out, ordinal(id));
        position(out, it, id);
        key(out, "text");
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = print::write_instr(&mut text, body, instr);
        string(out, &text);
        out.push(b'}');
    });
    key(out, "rows");
    array(out, body.rows.iter(), |out, row| {
        out.push(b'{');
        key(out, "from");
        number(out, ordinal(row.start));
        key(out, "to");
        number(out, row.end);
        key(out, "catch");
        match row.catch_type {
            Some(it) => texts(out, &[ide::Text(it.bytes())]),
            None => out.extend(b"null"),
        }
        key(out, "handler");
        number(out, ordinal(row.handler));
        key(out, "source_row");
        number(out, row.source);
        out.push(b'}');
    });
    key(out, "dynamics");
    array(out, body.dynamics.iter(), |out, it| {
        let mut text = String::new();
        let _ = print::write_dynamic(&mut text, it);
        string(out, &text);
    });
    unreachable(out, it);
    key(out, "text");
    string(out, &print::print(body));
    out.push(b'}');
}
