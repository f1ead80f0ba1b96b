//! The commands, a module each.

pub(crate) mod bir;
pub(crate) mod cfg;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod stats;
