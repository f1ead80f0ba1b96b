//! The facade: owns the database; snapshots and answers as plain data.
//!
//! Two ways in. [`host::AnalysisHost`] keeps the answers current: one writer applies changes, any number of
//! [`host::Analysis`] snapshots read. [`answer::class_answer`] is for runs that ask once: a pure function of the bytes
//! of one class, for as many workers as there are, that memoizes nothing (`engine.md`, rule 8).
//!
//! Answers are owned data without lifetimes, ids of salsa or locks. This is the only room that re-exports: what
//! writers above need of bodies, graphs and names comes from here.

pub mod answer;
pub mod blocks;
pub mod host;
pub mod pattern;

mod db;

pub use analysis::fault::Fault;
pub use analysis::names::{Human, MethodId, Text};
pub use analysis::parts::{ClassHead, MethodCode, StageTimes};
pub use bir::body::{self, Body, Instr, InstrId, ordinal};
pub use bir::lower::Scratch;
pub use bir::positions::Positions;
pub use bir::print;
pub use flow::cfg::{Cfg, Edge, EdgeKind, Node, NodeId, NodeKind};
pub use flow::discharge::Proof;
pub use flow::exceptions::{Cause, ExceptionSet};
pub use flow::facts::MethodFacts;
pub use program::input::{Role, Settings, WorldKind};
