//! Graphs as `ajar cfg` writes them, and single steps in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The nodes of one graph that a run may be at.
pub(crate) type Nodes = BTreeSet<usize>;

/// How an answer explains an observation, from not at all to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// Nothing explains the observation.
    Not,
    /// Only an open part of the answer explains the observation.
    Open,
    /// The cone of `Throwable` explains the observation.
    Throwable,
    /// The cone of another class explains the observation.
    Cone,
    /// The answer names what was observed.
    Name,
}

/// The graph of a method.
pub(crate) struct Graph {
    entry: usize,
    nodes: Vec<Node>,
    pcs: BTreeSet<i64>,
    /// The kinds of edges that are treated as missing.
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

/// Asks for the graphs of the methods that the patterns select, with everything present and the world closed.
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
            // Like the JVM, use the first definition.
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

    /// Treats edges of these kinds as missing; `call` hides the targets of calls.
    pub(crate) fn hide(&mut self, kinds: &'static [&'static str]) {
        self.hidden = kinds;
    }

    /// The targets of a node's edges of the given kinds.
    fn edges(&self, node: usize, kinds: &[&str]) -> impl Iterator<Item = usize> {
        let there = move |kind: &str| !self.hidden.contains(&kind) && kinds.contains(&kind);
        self.nodes[node].edges.iter().filter(move |it| there(&it.1)).map(|it| it.0)
    }

    /// The node before the first instruction.
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

    /// Whether the instruction has nodes at all; instructions that only move values have none.
    pub(crate) fn shows(&self, pc: i64) -> bool {
        self.pcs.contains(&pc)
    }

    /// The nodes where a run may be after the instruction if it started in one of the given nodes.
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

    /// The nodes where the next instruction starts.
    pub(crate) fn after(&self, nodes: &Nodes) -> Nodes {
        nodes.iter().flat_map(|&it| self.successors(it)).collect()
    }

    fn successors(&self, node: usize) -> impl Iterator<Item = usize> {
        self.edges(node, &["normal", "true", "false", "case", "default"])
    }

    /// Whether one of the nodes has a return edge.
    pub(crate) fn returns(&self, nodes: &Nodes) -> bool {
        let mut to = nodes.iter().flat_map(|&it| self.edges(it, &["return"]));
        to.any(|it| self.nodes[it].kind == "return")
    }

    /// Whether a call at one of the nodes has this target.
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

    /// Whether the handler catches an exception raised at one of the nodes, or, without a handler, the exception
    /// leaves the method; and the nodes where the handler starts.
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
    /// Whether the node stands for an exception of the first of these classes; the others are its superclasses.
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
