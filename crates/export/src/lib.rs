//! Output of answers as JSON, JSON lines, Graphviz and GraphML: plain data in, bytes out.
//!
//! Workers convert one class at a time to a fragment ([`cfg_fragment`](fragment::cfg_fragment),
//! [`bir_fragment`](fragment::bir_fragment)); a [`document::Document`] writes a header before the fragments, and
//! the list of unreadable parts after them. Thus output is streamed, and its bytes do not depend on which worker
//! made which fragment.
//!
//! `schemas/` contains the JSON Schemas of the output, against which the tests validate.

pub mod call_edges;
pub mod document;
pub mod entries;
pub mod explain;
pub mod form;
pub mod fragment;
pub mod frame;
pub mod missing;
pub mod stats;
pub mod watch;

mod call_graph;
mod call_graphml;
mod dot;
mod graphml;
pub mod json;
mod json_method;
mod json_whole;
mod markup;
mod words;
