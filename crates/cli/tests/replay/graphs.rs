//! Graphs as `ajar cfg` writes them, and steps in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Nodes of one graph in which a run may be.
pub(crate) type Nodes = BTreeSet<usize>;

/// How the answer explains what was seen, from the best to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// Nothing explains it.
    Not,
    /// Only that something is open.
    Open,
    /// Any throwable is said to come.
    Throwable,
    /// A class and all below it.
    Cone,
    /// By its name.
    Name,
}

/// The graph of a method.
pub(crate) struct Graph {
    entry: usize,
    nodes: Vec<Node>,
    pcs: BTreeSet<i64>,
    /// Kinds of edges that are taken not to be there.
    hidden: &'static [&'static str],
}

struct Node {
    pc: i64,
    kind: String,
    exception: Vec<(String, bool)>,
    open: bool,
    edges: Vec<(usize, String)>,
    calls: Vec<Call>,
}

struct Call {
    targets: Vec<String>,
    open: bool,
}

/// Asks for the graphs of the methods that the patterns select, everything present and the world closed.
pub(crate) fn ask(inputs: &[&Path], patterns: &BTreeSet<String>) -> BTreeMap<String, Graph> {
    let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
    it.args(["cfg", "--quiet", "--world", "closed", "--jdk", "none", "--output-format", "jsonl"])
        .args(inputs);
    it.args(patterns.iter().flat_map(|it| ["-m", it]));
    let out = it.output().expect("the binary can be run");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).expect("JSON lines are text");
    let mut graphs = BTreeMap::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).expect("a line is JSON");
        if let Some(method) = record["method"].as_str().filter(|_| record["nodes"].is_array()) {
            // The JVM takes the first, too.
            graphs.entry(method.to_owned()).or_insert_with(|| Graph::read(&record));
        }
    }
    graphs
}

impl Graph {
    fn read(record: &Value) -> Graph {
        let list = |it: &Value| it.as_array().cloned().unwrap_or_default();
        let number = |it: &Value| it.as_u64().and_then(|it| usize::try_from(it).ok()).expect("an id");
        let mut nodes: Vec<Node> = list(&record["nodes"])
            .iter()
            .map(|it| Node {
                pc: it["pc"].as_i64().unwrap_or(-1),
                kind: it["kind"].as_str().unwrap().to_owned(),
                exception: list(&it["exception"])
                    .iter()
                    .map(|it| (it["type"].as_str().unwrap().to_owned(), it["cone"] == true))
                    .collect(),
                open: !it["open"].is_null(),
                edges: Vec::new(),
                calls: Vec::new(),
            })
            .collect();
        for edge in list(&record["edges"]) {
            let kind = edge["kind"].as_str().unwrap().to_owned();
            nodes[number(&edge["from"])].edges.push((number(&edge["to"]), kind));
        }
        for call in list(&record["calls"]) {
            let targets = list(&call["targets"]).iter().map(|it| it.as_str().unwrap().to_owned()).collect();
            nodes[number(&call["node"])].calls.push(Call { targets, open: !call["open"].is_null() });
        }
        let pcs = nodes.iter().filter(|it| it.kind == "normal").map(|it| it.pc).collect();
        Graph { entry: number(&record["entry"]), nodes, pcs, hidden: &[] }
    }

    /// Takes edges of some kinds, or with `call` the targets of calls, not to be there.
    pub(crate) fn hide(&mut self, kinds: &'static [&'static str]) {
        self.hidden = kinds;
    }

    /// The edges of a node whose kind is among those given.
    fn edges(&self, node: usize, kinds: &[&str]) -> impl Iterator<Item = usize> {
        let there = move |kind: &str| !self.hidden.contains(&kind) && kinds.contains(&kind);
        self.nodes[node].edges.iter().filter(move |it| there(&it.1)).map(|it| it.0)
    }

    /// Before the first instruction.
    pub(crate) fn entry(&self) -> Nodes {
        Nodes::from([self.entry])
    }

    /// The normal nodes of an instruction.
    pub(crate) fn all_at(&self, pc: i64) -> Nodes {
        (0..self.nodes.len()).filter(|&it| self.is_normal(it, pc)).collect()
    }

    fn is_normal(&self, node: usize, pc: i64) -> bool {
        self.nodes[node].pc == pc && self.nodes[node].kind == "normal"
    }

    /// Whether the instruction has nodes at all; those that only move values about have none.
    pub(crate) fn shows(&self, pc: i64) -> bool {
        self.pcs.contains(&pc)
    }

    /// Where a run may be after the instruction, which started in one of the nodes.
    pub(crate) fn through(&self, start: Nodes, pc: i64) -> Nodes {
        let mut pending: Vec<usize> = start.into_iter().filter(|&it| self.is_normal(it, pc)).collect();
        let mut seen = Nodes::from_iter(pending.iter().copied());
        while let Some(node) = pending.pop() {
            for to in self.successors(node).filter(|&it| self.is_normal(it, pc)) {
                if seen.insert(to) {
                    pending.push(to);
                }
            }
        }
        seen
    }

    /// Where the instruction after these nodes starts.
    pub(crate) fn after(&self, nodes: &Nodes) -> Nodes {
        nodes.iter().flat_map(|&it| self.successors(it)).collect()
    }

    fn successors(&self, node: usize) -> impl Iterator<Item = usize> {
        self.edges(node, &["normal", "true", "false", "case", "default"])
    }

    /// Whether a return edge leaves one of the nodes.
    pub(crate) fn returns(&self, nodes: &Nodes) -> bool {
        let mut to = nodes.iter().flat_map(|&it| self.edges(it, &["return"]));
        to.any(|it| self.nodes[it].kind == "return")
    }

    /// Whether a call at one of the nodes goes there.
    pub(crate) fn calls(&self, nodes: &Nodes, target: &str) -> How {
        let calls = || nodes.iter().flat_map(|&it| &self.nodes[it].calls);
        if self.hidden.contains(&"call") {
            How::Not
        } else if calls().any(|it| it.targets.iter().any(|it| it == target)) {
            How::Name
        } else if calls().any(|it| it.open) {
            How::Open
        } else {
            How::Not
        }
    }

    /// Whether an exception raised at one of the nodes is taken by the handler, or without one leaves the method; and
    /// where the handler starts.
    pub(crate) fn raises(&self, nodes: &Nodes, classes: &[String], handler: Option<i64>) -> (How, Nodes) {
        let mut best = (How::Not, Nodes::new());
        for id in nodes.iter().flat_map(|&it| self.edges(it, &["exception"])) {
            let node = &self.nodes[id];
            let to: Nodes = match handler {
                Some(pc) => {
                    let taken = self.edges(id, &["handler", "may-handler"]);
                    taken.filter(|&it| self.is_normal(it, pc)).collect()
                }
                None => Nodes::new(),
            };
            let goes = handler.is_some_and(|_| !to.is_empty())
                || handler.is_none() && node.kind == "exceptional-return";
            let how = node.has(classes);
            if goes && how > best.0 {
                best = (how, to);
            }
        }
        best
    }
}

impl Node {
    /// Whether it stands for an exception of the first of these classes, whose superclasses are the others.
    fn has(&self, classes: &[String]) -> How {
        let by = |(name, cone): &(String, bool)| {
            if *name == classes[0] {
                How::Name
            } else if !cone || !classes.contains(name) {
                How::Not
            } else if name == "java/lang/Throwable" {
                How::Throwable
            } else {
                How::Cone
            }
        };
        let named = self.exception.iter().map(by).max().unwrap_or(How::Not);
        if named == How::Not && self.open { How::Open } else { named }
    }
}
