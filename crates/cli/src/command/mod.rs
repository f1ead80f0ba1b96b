//! The commands, one module for each.

pub(crate) mod bir;
pub(crate) mod calls;
pub(crate) mod cfg;
pub(crate) mod completions;
pub(crate) mod compose;
pub(crate) mod config;
pub(crate) mod entries;
pub(crate) mod explain;
pub(crate) mod missing;
pub(crate) mod stats;
pub(crate) mod throws;
pub(crate) mod watch;
