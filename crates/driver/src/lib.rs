//! The only room with I/O and threads: finds the inputs and the JDK, opens containers, gives the bytes of classes,
//! runs work on all of them in order, and reads the configuration. Knows nothing of what the bytes mean.

pub mod problem;

mod image_map;
mod inflate;
mod zip;

pub mod container;

mod archive;
pub mod declared;
mod folder;
mod image;

pub mod jdk;
pub mod nearby;

mod open;
pub mod world;

pub mod config;
pub mod parallel;
pub mod usage;
