//! Graphviz output: one `digraph` per method.
//!
//! Blocks are tables of instructions with pcs and source lines. Normal edges are solid, exceptional ones dashed and
//! red, open ones dotted. A single point represents the return of the method, a single box the exceptions that leave
//! the method. In larger graphs, exceptions that leave the method are listed at the bottom of their block instead,
//! because edges would clutter the picture.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;

use ide::answer::{ClassAnswer, MethodAnswer};
use ide::blocks::{Block, BlockId, Fate, Raise, blocks, push_instr_text};
use ide::{EdgeKind, Graph, Human, InstrId, NodeKind, Part, SetRef, print};

use crate::form::Nodes;
use crate::frame::{Header, Trailer, header_lines, trailer_lines};
use crate::markup::{dot_id, xml};
use crate::words::{self, Shown, ShownPart};

/// The attributes of all graphs.
const STYLE: &str = r##"  graph [fontname="Helvetica", fontsize=12, labelloc=t, labeljust=l, nodesep=0.4, ranksep=0.45, pad=0.2];
  node [fontname="Helvetica", fontsize=10, shape=plain];
  edge [fontname="Helvetica", fontsize=9, color="#445566", fontcolor="#445566", arrowsize=0.7];
"##;
/// The attributes of exceptional edges.
const EXCEPTION: &str = r##"color="#b02020", fontcolor="#b02020""##;
/// The maximum length of an instruction text; `ajar bir` prints it in full.
const WIDTH: usize = 90;
/// The maximum number of instructions of a block; of longer blocks, the middle is omitted.
const HEIGHT: usize = 40;
/// The maximum number of blocks of a graph in which exceptions that leave the method are drawn as edges. In larger
/// graphs, they are listed at the bottom of each block.
const LEAVING_EDGES: usize = 8;
/// The maximum number of exceptions in the label of an edge.
const NAMED: usize = 4;

/// Appends the header of the output, as comments.
pub(crate) fn header(out: &mut Vec<u8>, header: &Header) {
    header_lines(header).iter().for_each(|it| comment(out, it));
}

/// Appends the trailer of the output, as comments.
pub(crate) fn trailer(out: &mut Vec<u8>, trailer: &Trailer) {
    trailer_lines(trailer).iter().for_each(|it| comment(out, it));
}

fn comment(out: &mut Vec<u8>, text: &str) {
    out.extend(b"// ");
    out.extend(text.bytes().map(|it| if it < b' ' { b' ' } else { it }));
    out.push(b'\n');
}

/// Appends the graph of a method.
pub(crate) fn method(out: &mut Vec<u8>, nodes: Nodes, class: &ClassAnswer, it: &MethodAnswer, graph: &Graph) {
    out.extend(b"digraph ");
    dot_id(out, it.method);
    out.extend(b" {\n");
    out.extend(STYLE.as_bytes());
    title(out, class, it);
    match nodes {
        Nodes::Blocks => block_graph(out, it, graph),
        Nodes::Instructions => instruction_graph(out, it, graph),
    }
    out.extend(b"}\n");
}

/// Appends the title: the method and its source position.
fn title(out: &mut Vec<u8>, class: &ClassAnswer, it: &MethodAnswer) {
    out.extend(b"  label=<<b>");
    xml(out, Human(it.method));
    out.extend(b"</b>");
    let lines = it.code.body.instrs.iter().filter_map(|(id, _)| it.positions.line(id));
    let range = lines.fold(None, |acc, line| match acc {
        None => Some((line, line)),
        Some((low, high)) => Some((line.min(low), line.max(high))),
    });
    if let Some(source) = class.source_file {
        out.extend(b"<br align=\"left\"/>");
        xml(out, source);
        // Writing to a vector cannot fail.
        let _ = match range {
            Some((low, high)) if low == high => write!(out, ":{low}"),
            Some((low, high)) => write!(out, ":{low}\u{2013}{high}"),
            None => Ok(()),
        };
    }
    out.extend(b"<br align=\"left\"/>>;\n");
}

fn block_graph(out: &mut Vec<u8>, it: &MethodAnswer, graph: &Graph) {
    let blocks = blocks(&it.code.body, &graph.cfg);
    for (i, block) in blocks.iter().enumerate() {
        block_node(out, i, &blocks, block, it, graph);
    }
    let mut ways = Ways::default();
    for (i, block) in blocks.iter().enumerate() {
        leads(out, i, block, &mut ways);
        raises(graph, block, i, blocks.len() <= LEAVING_EDGES, &mut ways);
    }
    ways.write(out);
}

fn block_node(
    out: &mut Vec<u8>,
    i: usize,
    blocks: &[Block<SetRef>],
    block: &Block<SetRef>,
    it: &MethodAnswer,
    graph: &Graph,
) {
    let catches = matches!(it.code.body.instrs[block.first], ide::Instr::Catch(_));
    let (border, fill) = match (i, catches) {
        (0, _) => ("#2a5d8f", "#dbe9f6"),
        (_, true) => ("#b02020", "#f8e3e0"),
        _ => ("#778899", "#eef1f4"),
    };
    let _ = write!(
        out,
        "  b{i} [label=<<table border=\"1\" color=\"{border}\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"2\" bgcolor=\"white\">"
    );
    let _ = write!(
        out,
        "<tr><td colspan=\"3\" align=\"left\" bgcolor=\"{fill}\"><font point-size=\"9\" color=\"#445566\"><b>B{i}</b>"
    );
    if i == 0 {
        out.extend(b" &#8212; entry");
    } else if catches {
        out.extend(b" &#8212; handler");
    }
    out.extend(b"</font></td></tr>");
    let instrs: Vec<InstrId> = block.instrs().collect();
    let mut line_before = None;
    if instrs.len() > HEIGHT {
        let (head, tail) = (&instrs[..HEIGHT / 2], &instrs[instrs.len() - HEIGHT / 2..]);
        head.iter().for_each(|&id| row(out, it, blocks, id, &mut line_before));
        let left = instrs.len() - HEIGHT / 2 * 2;
        let _ = write!(
            out,
            "<tr><td></td><td align=\"left\"><font color=\"#8899aa\">&#8230; {left} more instructions</font></td><td></td></tr>"
        );
        line_before = None;
        tail.iter().for_each(|&id| row(out, it, blocks, id, &mut line_before));
    } else {
        instrs.iter().for_each(|&id| row(out, it, blocks, id, &mut line_before));
    }
    if blocks.len() > LEAVING_EDGES {
        feet(out, graph, block);
    }
    out.extend(b"</table>>];\n");
}

/// Appends rows at the bottom of the block with the exceptions that leave the method from this block.
fn feet(out: &mut Vec<u8>, graph: &Graph, block: &Block<SetRef>) {
    for open in [false, true] {
        let mut labels: Vec<String> = Vec::new();
        for raise in block
            .raises
            .iter()
            .filter(|it| it.fate == Fate::Leaves && graph.set(it.set).open.is_some() == open)
        {
            let label = label(graph, raise);
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        if labels.is_empty() {
            continue;
        }
        let more = labels.len().saturating_sub(NAMED);
        labels.truncate(NAMED);
        let mut text = format!("{}: {}", if open { "open, leaves" } else { "leaves" }, labels.join(", "));
        if more > 0 {
            text.push_str(&format!(", {more} more"));
        }
        out.extend(
            b"<tr><td colspan=\"3\" align=\"left\" bgcolor=\"#fdf3f1\"><font point-size=\"9\" color=\"#b02020\">",
        );
        xml(out, text);
        out.extend(b"</font></td></tr>");
    }
}

/// Appends an instruction of a block: pc, text, and the source line if it differs from that of the row above.
fn row(
    out: &mut Vec<u8>,
    it: &MethodAnswer,
    blocks: &[Block<SetRef>],
    id: InstrId,
    line_before: &mut Option<u16>,
) {
    let small = |out: &mut Vec<u8>, text: &dyn Display| {
        let _ = write!(out, "<font point-size=\"8\" color=\"#8899aa\">{text}</font>");
    };
    out.extend(b"<tr><td align=\"right\">");
    if let Some(pc) = it.positions.pc(id) {
        small(out, &pc);
    }
    out.extend(b"</td><td align=\"left\">");
    let proved = it.code.facts.proof(id).is_some();
    let color = if proved { "#8899aa" } else { "#112233" };
    let _ = write!(out, "<font face=\"Courier\" color=\"{color}\">");
    let mut text = String::new();
    push_instr_text(&mut text, &it.code.body, blocks, id);
    xml(out, shortened(text));
    out.extend(b"</font></td><td align=\"right\">");
    let line = it.positions.line(id);
    if let Some(line) = line.filter(|_| line != *line_before) {
        small(out, &format_args!("line {line}"));
    }
    *line_before = line;
    out.extend(b"</td></tr>");
}

fn shortened(text: String) -> String {
    if text.len() <= WIDTH || text.chars().count() <= WIDTH {
        return text;
    }
    text.chars().take(WIDTH - 1).chain(['\u{2026}']).collect()
}

fn leads(out: &mut Vec<u8>, i: usize, block: &Block<SetRef>, ways: &mut Ways) {
    // Several cases of a switch may lead to the same block: they share one edge.
    let mut cases: BTreeMap<Option<BlockId>, Vec<String>> = BTreeMap::new();
    for lead in &block.leads {
        let word = match lead.kind {
            EdgeKind::BranchTrue => "true".to_owned(),
            EdgeKind::BranchFalse => "false".to_owned(),
            EdgeKind::Case(it) => it.to_string(),
            EdgeKind::Default => "default".to_owned(),
            _ => String::new(),
        };
        cases.entry(lead.to).or_default().push(word);
    }
    for (to, words) in cases {
        let more = words.len().saturating_sub(8);
        let shown: Vec<&str> = words.iter().take(8).map(String::as_str).filter(|it| !it.is_empty()).collect();
        let mut label = shown.join(", ");
        if more > 0 {
            label.push_str(&format!(", {more} more"));
        }
        match to {
            Some(to) => {
                let _ = write!(out, "  b{i} -> b{} [", to.0);
            }
            None => {
                ways.returns = true;
                let _ = write!(out, "  b{i} -> returns [");
            }
        }
        if !label.is_empty() {
            out.extend(b"label=");
            dot_id(out, format_args!(" {label} "));
        }
        out.extend(b"];\n");
    }
}

/// The edges of a graph for exceptions. Edges between the same two nodes are merged.
#[derive(Default)]
struct Ways {
    /// The labels of each edge. The key is the source block, the handler block (`None` if the exceptions leave the
    /// method), and whether the set of exceptions is open.
    exceptions: BTreeMap<(usize, Option<BlockId>, bool), Vec<String>>,
    returns: bool,
}

fn raises(graph: &Graph, block: &Block<SetRef>, i: usize, leaving: bool, ways: &mut Ways) {
    for raise in &block.raises {
        let to = match raise.fate {
            Fate::Caught { by, .. } => Some(by),
            Fate::Leaves if leaving => None,
            Fate::Leaves => continue,
        };
        let label = label(graph, raise);
        let labels = ways.exceptions.entry((i, to, graph.set(raise.set).open.is_some())).or_default();
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
}

/// Returns the label of an exceptional edge, as in `may: Error+, IOException`.
fn label(graph: &Graph, Raise { set, fate, .. }: &Raise<SetRef>) -> String {
    let mark = if matches!(fate, Fate::Caught { may: true, .. }) { "may: " } else { "" };
    let set = graph.set(*set);
    let all = simple(&set.parts);
    let what = match (&*all, set.open.is_some()) {
        // The open cone of Throwable is not named.
        ("Throwable+", true) if set.except.is_empty() => "anything".to_owned(),
        ("Throwable+", true) => format!("anything but {}", simple(&set.except)),
        _ => all,
    };
    format!("{mark}{what}")
}

/// Returns the simple names of the first [`NAMED`] types: `Error+, IOException` for `java.lang.Error+,
/// java.io.IOException`.
fn simple(parts: &[Part]) -> String {
    let short = |it: &Part| {
        let name = ShownPart(it).to_string();
        name.rsplit('.').next().unwrap_or(&name).to_owned()
    };
    let mut text = parts.iter().take(NAMED).map(short).collect::<Vec<_>>().join(", ");
    if parts.len() > NAMED {
        text.push_str(&format!(", {} more", parts.len() - NAMED));
    }
    text
}

impl Ways {
    fn write(&self, out: &mut Vec<u8>) {
        for ((from, to, open), labels) in &self.exceptions {
            let style = if *open { "dotted" } else { "dashed" };
            let mut shown = labels.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("\n");
            if labels.len() > NAMED {
                shown.push_str(&format!("\n{} more", labels.len() - NAMED));
            }
            let _ = match to {
                Some(to) => write!(out, "  b{from} -> b{} [", to.0),
                None => write!(out, "  b{from} -> leaves ["),
            };
            let _ = write!(out, "style={style}, {EXCEPTION}, label=<");
            for line in shown.lines() {
                out.push(b' ');
                xml(out, line);
                out.extend(b" <br align=\"left\"/>");
            }
            out.extend(b">];\n");
        }
        if self.returns {
            out.extend(
                b"  returns [shape=circle, style=filled, fillcolor=\"#445566\", fixedsize=true, width=0.14, label=\"\", xlabel=\"returns\", fontsize=9, fontcolor=\"#445566\"];\n",
            );
        }
        if self.exceptions.keys().any(|it| it.1.is_none()) {
            out.extend(
                b"  leaves [shape=box, style=\"rounded,filled\", fillcolor=\"#f8e3e0\", color=\"#b02020\", fontcolor=\"#b02020\", fontsize=9, margin=\"0.08,0.04\", label=\"leaves the method\"];\n",
            );
        }
    }
}

fn instruction_graph(out: &mut Vec<u8>, it: &MethodAnswer, graph: &Graph) {
    for (i, node) in graph.cfg.nodes.iter().enumerate() {
        let _ = write!(out, "  n{i} [");
        match node.kind {
            NodeKind::Normal => {
                let color = if i == 0 { "#2a5d8f" } else { "#778899" };
                let _ = write!(
                    out,
                    "shape=box, height=0.25, margin=\"0.08,0.03\", color=\"{color}\", fontname=\"Courier\", label="
                );
                let pc = it.positions.pc(node.instr).map_or(String::new(), |it| format!("{it}: "));
                dot_id(out, format_args!("{pc}{}", shortened(print::instr(&it.code.body, node.instr))));
            }
            NodeKind::Return => {
                out.extend(b"shape=circle, style=filled, fillcolor=\"#445566\", fixedsize=true, width=0.14, label=\"\", xlabel=\"returns\"");
            }
            NodeKind::Exceptional(set) => {
                let set = graph.set(set);
                let style = if set.open.is_some() { "rounded,dotted" } else { "rounded,dashed" };
                let _ = write!(
                    out,
                    "shape=box, style=\"{style}\", height=0.25, margin=\"0.08,0.03\", {EXCEPTION}, label="
                );
                dot_id(out, Shown(set));
            }
            NodeKind::ExceptionalReturn(set) => {
                let set = graph.set(set);
                let line = if set.open.is_some() { "dotted" } else { "solid" };
                let _ = write!(
                    out,
                    "shape=box, style=\"rounded,filled,{line}\", fillcolor=\"#f8e3e0\", height=0.25, margin=\"0.08,0.03\", {EXCEPTION}, label="
                );
                dot_id(out, format_args!("leaves: {}", Shown(set)));
            }
        }
        out.extend(b"];\n");
    }
    for edge in &graph.cfg.edges {
        let _ = write!(out, "  n{} -> n{} [", edge.from.0, edge.to.0);
        let label = match edge.kind {
            EdgeKind::BranchTrue | EdgeKind::BranchFalse | EdgeKind::Default => {
                words::edge_kind(edge.kind).to_owned()
            }
            EdgeKind::Case(it) => it.to_string(),
            EdgeKind::Handler(row) => format!("row {row}"),
            EdgeKind::MayHandler(row) => format!("may: row {row}"),
            _ => String::new(),
        };
        let ends = [edge.from, edge.to].map(|end| graph.cfg.nodes.get(end.index()));
        let open = ends
            .iter()
            .flatten()
            .filter_map(|it| words::node_set(it.kind))
            .any(|it| graph.set(it).open.is_some());
        if matches!(edge.kind, EdgeKind::Exception | EdgeKind::Handler(_) | EdgeKind::MayHandler(_)) {
            let _ = write!(out, "style={}, {EXCEPTION}, ", if open { "dotted" } else { "dashed" });
        }
        if !label.is_empty() {
            out.extend(b"label=");
            dot_id(out, format_args!(" {label} "));
        }
        out.extend(b"];\n");
    }
}
