//! The forms that a result can take.

/// The formats for machines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// One JSON object.
    Json,
    /// One JSON object a line: a header, one for each method, and an end.
    JsonLines,
    /// Graphviz: one `digraph` a method, in one stream.
    Dot,
    /// GraphML: one `graph` a method.
    GraphMl,
}

/// What a node of a drawn graph is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Nodes {
    /// A basic block, for people.
    Blocks,
    /// A node of the definition, for programs.
    Instructions,
}
