//! Analyses a whole program, some of whose classes may be absent: computes which methods its calls may run, and which
//! exceptions its methods may let out. The results hold for every way of completing the program (`semantics.md` §1,
//! §3, §4).
//!
//! A program goes through four states, each of which is a type. [`tables::ClassTable`] holds the joined classes;
//! [`tables::CallTable`] adds the targets of each call ([`resolved`]); [`solved::SolvedProgram`] adds the least
//! solution of a system of inclusions over sets of exceptions ([`system`], [`lattice`]);
//! [`maintained::MaintainedProgram`] follows changes of classes. [`method`], [`explain`] and [`missing`] compute
//! answers from these states. The functions of this module are pure, and both salsa queries and one-shot runs call
//! them.

// Vocabulary, and the table of what code does.
pub(crate) mod actions;
pub mod answers;
pub mod graph;
mod implicit;
pub mod lattice;
mod nodes;
mod promises;
mod ranks;
pub mod reachable;
pub mod reads;
mod serialization;
pub mod sets;
pub mod sites;

// Joining classes and resolving calls.
mod asserting;
pub mod dispatch;
mod loading;
mod proxies;
pub mod reach;
pub mod record;
mod reflected;
pub mod resolved;
pub mod tables;

// Solving for exceptions, and keeping the solution up to date.
pub mod anchors;
mod apart;
pub mod before_main;
mod contexts;
mod flows;
mod linking;
pub mod maintained;
mod nearness;
mod resolving;
pub mod solve;
pub mod solved;
mod system;
mod throwables;
mod unknown;

// Answers.
pub mod call_names;
mod callbacks;
mod called;
mod chain;
mod drawing;
pub mod explain;
pub mod method;
pub mod missing;
mod origin;
pub mod receivers;
mod throws;
mod why;
