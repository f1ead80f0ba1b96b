//! File ids, a log of file changes, the traits through which other crates get bytes and facts, and the parts of
//! container formats that are pure functions of bytes (manifests, multi-release selection, the index of the JDK
//! image).
//!
//! No I/O, no threads, no clock: the `driver` provides the bytes.

pub mod file;
pub mod identity;
pub mod naming;
pub mod services;

pub mod change;
pub mod content;

pub mod classpath_index;
pub mod jimage;
pub mod manifest;
pub mod multi_release;
