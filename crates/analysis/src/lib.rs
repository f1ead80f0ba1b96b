//! The queries that join program, bodies and flow.
//!
//! [`facts`] is what the rest is built on: the stackless bodies of one class and what is known of them from the
//! class alone. Each query is a few lines around a pure function, which one-shot runs call without a database.

pub mod answers;
pub mod db;
pub mod definitions;
pub mod facts;
pub mod fault;
pub mod input;
pub mod interface;
pub mod keeper;
pub mod keys;
pub mod module;
pub mod paper;
pub mod parts;
pub mod pattern;
pub mod propagated;
pub mod reasons;
pub mod stamps;
pub mod summary;
pub mod tiers;
pub mod whole;
