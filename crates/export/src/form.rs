//! The output formats.

/// The machine-readable formats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// One JSON object.
    Json,
    /// JSON lines: one object per line for the header, for each method, and for the end.
    JsonLines,
    /// Graphviz: for `ajar cfg`, one `digraph` per method; for `ajar calls`, one graph for all methods.
    Dot,
    /// GraphML: for `ajar cfg`, one `graph` per method; for `ajar calls`, one graph for all methods.
    GraphMl,
    /// For `ajar calls`: one line for each edge of the call graph ([`crate::call_edges`]). Other commands do not have
    /// this format.
    Edges,
}

/// The meaning of a node in a drawn graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Nodes {
    /// A node is a basic block, which is easier for people to read.
    Blocks,
    /// A node is an instruction or a set of exceptions, as in the formal definition; meant for use by programs.
    Instructions,
}
