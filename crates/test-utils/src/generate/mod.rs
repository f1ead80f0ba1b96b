//! Random programs that every JVM accepts: a few classes each, determined by the seed, with limited running time.
//!
//! [`program`] writes many kinds of bodies in a few plain classes; [`Structure`] writes many kinds of classes with
//! plain bodies.
//!
//! All classes of [`program`] have version 49 or older (except the helper class of `Mode::Dynamic`). HotSpot verifies
//! these versions by inferring types, so no `StackMapTable` is needed. The programs print through `ajar/T` in which
//! order they evaluate. Besides their own classes, they use only `java/lang/Object`, `String` (`length`, `charAt`,
//! `equals`, `concat`) and exceptions of `java/lang` with constructors without parameters.

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
