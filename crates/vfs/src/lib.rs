//! Ids of files and archive members, identities of contents, and the parts of container formats that are pure
//! functions of bytes (manifests, multi-release selection, the index of the JDK image). This crate has no I/O, no
//! threads and no clock: the crate `driver` passes the bytes.

pub mod file;
pub mod identity;
pub mod naming;
pub mod services;

pub mod classpath_index;
pub mod jimage;
pub mod manifest;
pub mod multi_release;
