//! A whole program, as far as it is there: where its calls may go, and what its methods may let out, so that it holds
//! for every way of completing it (`semantics.md` §1, §3, §4).
//!
//! [`program::Program`] is what there is: the classes with their outlines and summaries. [`solved::solved`] asks for
//! every call where it goes ([`dispatch`]), makes of it all a system of inclusions over sets of exceptions ([`lattice`])
//! and solves it. [`answers`], [`graph`], [`explain`] and [`missing`] read the solution. What is here is pure: queries and
//! one-shot runs call it alike.

pub mod answers;
mod callbacks;
mod chain;
mod constructing;
pub mod dispatch;
pub mod edits;
pub mod explain;
pub mod flows;
pub mod graph;
pub mod ids;
pub mod lattice;
mod loading;
pub mod members;
pub mod missing;
mod nearness;
pub mod nodes;
pub mod program;
mod promises;
mod proxies;
mod ranks;
pub mod reach;
pub mod reachable;
pub mod reads;
pub mod record;
mod serialization;
pub mod solved;
mod system;
mod throwables;
mod update;
