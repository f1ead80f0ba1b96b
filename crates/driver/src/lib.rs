//! The only crate with I/O and threads: finds the inputs and the JDK, opens containers, gives the bytes of classes,
//! runs work on all of them in order, keeps them current while files change, and reads the configuration. Of the
//! meaning of the bytes it asks only for what decides where the JVM finds classes: the descriptors of modules.

pub mod problem;

mod image_map;
mod inflate;
mod zip;

pub mod changes;
pub mod container;
pub mod declared;
pub mod jdk;

mod disk;

mod archive;
mod folder;
mod image;

mod homes;
mod once;
mod part;

pub mod nearby;

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
