//! Names of files and of members of archives as ids, identities of contents, and the parts of container formats that are
//! bytes to data (manifests, multi-release selection, the JDK's image index). No I/O, no threads, no clock: the `driver`
//! brings the bytes.

pub mod file;
pub mod identity;
pub mod naming;
pub mod services;

pub mod classpath_index;
pub mod jimage;
pub mod manifest;
pub mod multi_release;
