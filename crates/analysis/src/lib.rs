//! The queries that combine the program, its method bodies and their control flow.
//!
//! [`facts`] is the base: the stackless bodies of one class and the facts that follow from the class
//! alone. Each query is a few lines around a pure function, which one-shot runs call without a database.

mod annotated;
pub mod answers;
pub mod current;
pub mod db;
pub mod definitions;
pub mod described;
mod differing;
pub mod facts;
pub mod fault;
pub mod input;
pub mod interface;
pub mod keeper;
pub mod keys;
pub mod lists;
pub mod module;
pub mod paper;
pub mod parts;
pub mod pattern;
pub mod propagated;
pub mod reasons;
pub mod receivers;
pub mod stamps;
pub mod summary;
pub mod tiers;
pub mod whole;
