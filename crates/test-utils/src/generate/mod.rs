//! Random programs that every JVM accepts: a few classes each, deterministic in the seed, bounded in time.
//!
//! [`program`] writes bodies of all kinds in a few plain classes, [`Structure`] classes of all kinds with plain bodies.
//!
//! All classes of the former are of version 49 or older, which HotSpot verifies by inferring types, so no `StackMapTable` is
//! needed. The programs make the order of evaluation visible through `ajar/T` and use, besides their own
//! classes, only `java/lang/Object`, `String` (`length`, `charAt`, `equals`, `concat`) and exceptions of
//! `java/lang` with constructors without arguments.

mod body;
mod dynamic;
mod expr;
mod objects;
mod program;
mod shapes;
mod stmt;
mod structure;
mod subs;
mod traps;
mod types;
mod world;

pub use program::{Mode, Program, program};
pub use structure::{Run, RunGroup, Structure};
