//! A whole program, as far as it is there: where its calls may go, and what its methods may let out, so that it holds
//! for every way of completing it (`semantics.md` §1, §3, §4).
//!
//! A program goes through four states, each a type. [`tables::ClassTable`] is its classes joined, [`tables::CallTable`] adds where
//! each call goes ([`resolved`]), [`solved::SolvedProgram`] the least solution of a system of inclusions over sets of exceptions
//! ([`system`], [`lattice`]), and [`maintained::MaintainedProgram`] follows changes of classes. [`called`], [`throws`],
//! [`drawing`], [`explain`] and [`missing`] read these states and answer. What is here is pure: queries and one-shot runs call
//! it alike.

// The words, and the table of what code does.
pub(crate) mod actions;
pub mod answers;
pub mod graph;
mod implicit;
pub mod lattice;
mod nodes;
mod promises;
pub mod reachable;
pub mod reads;
mod serialization;
pub mod sites;

// Classes joined, calls resolved.
pub mod dispatch;
mod loading;
mod proxies;
pub mod reach;
pub mod record;
pub mod resolved;
pub mod tables;

// Exceptions solved, and kept current.
mod constructing;
pub mod flows;
mod linking;
pub mod maintained;
mod nearness;
mod ranks;
mod resolving;
pub mod solved;
mod system;
mod throwables;
pub mod unknown;

// Answers.
pub mod call_names;
mod callbacks;
pub mod called;
mod chain;
pub mod drawing;
pub mod explain;
pub mod missing;
mod origin;
pub mod receivers;
pub mod throws;
mod why;
