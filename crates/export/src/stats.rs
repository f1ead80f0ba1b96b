//! What a run did and cost.

use std::time::Duration;

use serde_json::json;

use crate::frame::{Header, Trailer, header_members, trailer_members};
use crate::json::key;

/// The figures of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Class files that could be read.
    pub classes: u64,
    /// Methods in them, also those without code.
    pub methods: u64,
    /// Bytecode instructions.
    pub instructions: u64,
    /// Instructions of the stackless form.
    pub bir_instructions: u64,
    /// Nodes of the graphs.
    pub nodes: u64,
    /// Edges of the graphs.
    pub edges: u64,
    /// Bytes of the class files.
    pub bytes: u64,
    /// Processor time by stage.
    pub cpu: Stages,
    /// The most memory the process had, in bytes; mapped images count.
    pub peak_memory: Option<u64>,
}

/// Processor time by stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stages {
    /// Getting the bytes: files, archives, images.
    pub read: Duration,
    /// Reading the structure of class files.
    pub decode: Duration,
    /// Making stackless bodies.
    pub lower: Duration,
    /// Local facts and graphs.
    pub flow: Duration,
}

impl Stats {
    /// Takes in the figures of a part of the run.
    pub fn add(&mut self, it: &Stats) {
        self.classes += it.classes;
        self.methods += it.methods;
        self.instructions += it.instructions;
        self.bir_instructions += it.bir_instructions;
        self.nodes += it.nodes;
        self.edges += it.edges;
        self.bytes += it.bytes;
        self.cpu.read += it.cpu.read;
        self.cpu.decode += it.cpu.decode;
        self.cpu.lower += it.cpu.lower;
        self.cpu.flow += it.cpu.flow;
        self.peak_memory = self.peak_memory.max(it.peak_memory);
    }
}

/// The figures as one JSON object.
pub fn stats_json(header: &Header, stats: &Stats, trailer: &Trailer) -> Vec<u8> {
    let mut out = Vec::new();
    header_members(&mut out, header);
    let seconds = |it: Duration| (it.as_secs_f64() * 1000.0).round() / 1000.0;
    let members = json!({
        "classes": stats.classes,
        "methods": stats.methods,
        "instructions": stats.instructions,
        "bir_instructions": stats.bir_instructions,
        "nodes": stats.nodes,
        "edges": stats.edges,
        "bytes": stats.bytes,
        "cpu_seconds": {
            "read": seconds(stats.cpu.read),
            "decode": seconds(stats.cpu.decode),
            "lower": seconds(stats.cpu.lower),
            "flow": seconds(stats.cpu.flow),
        },
        "peak_memory": stats.peak_memory,
    });
    for (name, value) in members.as_object().into_iter().flatten() {
        key(&mut out, name);
        out.extend(value.to_string().as_bytes());
    }
    out.push(b',');
    trailer_members(&mut out, trailer);
    out.extend(b"}\n");
    out
}
