//! The only crate below the command line with I/O and threads: finds the inputs and the JDK, opens containers, reads
//! the bytes of classes, runs work on all classes in order, follows changes of files, and reads the configuration. It
//! does not interpret class files, except for what decides where the JVM finds classes: module descriptors, and the
//! names of classes.

pub mod problem;

mod image_map;
mod inflate;
mod zip;

pub mod changes;
pub mod container;
pub mod declared;
pub mod jdk;

mod disk;

mod layout;

mod archive;
mod folder;
mod image;

mod homes;
mod once;
mod part;

pub mod nearby;

mod classless;
mod loaders;
mod modules;
mod open;
pub mod packages;
pub mod world;

pub mod feed;
pub mod live;
pub mod shown;
pub mod watch;

pub mod config;
pub mod parallel;
pub mod usage;
