//! Names of files and of members of archives, a log of what changed, and the traits through which bytes and
//! facts reach the pure rooms; also the parts of container formats that are bytes to data (manifests,
//! multi-release selection, the JDK's image index). No I/O, no threads, no clock: the `driver` brings the bytes.

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
