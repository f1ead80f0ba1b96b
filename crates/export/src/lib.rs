//! Answers as JSON, JSON lines, Graphviz and GraphML: plain data in, bytes out.
//!
//! Workers turn one class at a time into a fragment ([`cfg_fragment`](fragment::cfg_fragment),
//! [`bir_fragment`](fragment::bir_fragment)); a [`document::Document`] puts a header before the fragments and the list
//! of what could not be read behind them. So output streams, and its bytes do not depend on who made which fragment.
//!
//! `schemas/` holds the JSON Schemas of what is written; the tests validate against them.

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
