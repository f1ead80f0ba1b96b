//! The facade of the analysis: it owns the database and returns snapshots and answers as plain data.
//!
//! There are two ways to use it. [`host::AnalysisHost`] is for long-lived clients and keeps answers current: one
//! writer applies changes, and any number of [`host::Analysis`] snapshots answer questions. [`answer::class_answer`]
//! is for one-shot runs: a pure function of the bytes of one class that memoizes nothing and can be called from any
//! number of threads (`engine.md`, rule 8).
//!
//! Answers are owned data without lifetimes, salsa ids or locks. This is the only room that re-exports: writers of
//! output formats take the types of bodies, graphs and names from here.

pub mod answer;
pub mod blocks;
pub mod change;
pub mod difference;
pub mod entries;
pub mod explain;
pub mod explained;
pub mod hints;
pub mod host;
pub mod log;
pub mod module;
pub mod profile;
pub mod reached;
pub mod session;
pub mod silent;
pub mod whole;

mod db;
mod inputs;
mod lists;

pub use analysis::definitions::PlacedCode;
pub use analysis::described::Described;
pub use analysis::fault::Fault;
pub use analysis::input::{ClassSource, Contents, Profile, Settings};
pub use analysis::interface::Needs;
pub use analysis::keeper::Counts;
pub use analysis::module::ModuleInfo;
pub use analysis::parts::Scratch;
pub use analysis::parts::{ClassHead, MethodCode, StageTimes};
pub use analysis::pattern;
pub use analysis::whole::answers::{Anchor, Anchored, Call, CallWord, OpenPart, Origin, Step, Throws, Why};
pub use analysis::whole::before_main::n_initialized_before_main;
pub use analysis::whole::explain::{Bodies, Way, WayStep};
pub use analysis::whole::graph::{Graph, Propagates, RaisedSet, SetRef};
pub use analysis::whole::missing::Missing;
pub use analysis::whole::receivers::{Receiver, Selector};
pub use analysis::whole::record::Packages;
pub use analysis::whole::tables::WholeOptions;
pub use bir::body::{self, Body, Instr, InstrId, ordinal};
pub use bir::positions::Positions;
pub use bir::print;
pub use flow::cfg::{Cfg, Edge, EdgeKind, Node, NodeId, NodeKind};
pub use flow::discharge::Proof;
pub use flow::exceptions::{Cause, ExceptionSet};
pub use flow::facts::MethodFacts;
pub use flow::universe::Part;
pub use program::hierarchy::{Owner, ProblemKind};
pub use program::input::{Role, WorldKind};
pub use program::names::{Human, MethodName, Text, WithResult};
pub use vfs::file::FileId;
pub use vfs::identity::EntryIdentity;
