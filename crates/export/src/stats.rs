//! The size and cost of a run.

use std::time::Duration;

use serde_json::json;

use crate::frame::{Header, Trailer, header_members, trailer_members};
use crate::json::key;

/// The figures of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// The number of readable class files.
    pub classes: u64,
    /// The number of methods of the readable classes, including methods without code.
    pub methods: u64,
    /// The number of bytecode instructions.
    pub instructions: u64,
    /// The number of BIR instructions.
    pub bir_instructions: u64,
    /// The number of nodes of the graphs.
    pub nodes: u64,
    /// The number of edges of the graphs.
    pub edges: u64,
    /// The number of bytes of the class files.
    pub bytes: u64,
    /// The processor time by stage.
    pub cpu: Stages,
    /// The peak memory of the process, in bytes, including mapped images; `None` if unknown.
    pub peak_memory: Option<u64>,
}

/// The processor time by stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stages {
    /// The time for reading bytes from files, archives and images.
    pub read: Duration,
    /// The time for parsing class files.
    pub decode: Duration,
    /// The time for lowering to BIR.
    pub lower: Duration,
    /// The time for computing local facts and graphs.
    pub flow: Duration,
}

impl Stats {
    /// Adds the figures of a part of the run to these figures.
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

/// Returns the figures as one JSON object.
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
