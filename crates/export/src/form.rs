//! The output formats.

/// The machine-readable formats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// One JSON object.
    Json,
    /// JSON lines: one object per line for the header, for each method, and for the end.
    JsonLines,
    /// Graphviz: one `digraph` per method, in one stream.
    Dot,
    /// GraphML: one `graph` per method.
    GraphMl,
}

/// The meaning of a node in a drawn graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Nodes {
    /// A basic block; for people.
    Blocks,
    /// A node of the formal definition; for programs.
    Instructions,
}
