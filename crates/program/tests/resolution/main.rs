//! The type hierarchy and the members of open programs, tested rule by rule and against the JVM.

mod generate;
mod hierarchy;
mod members;
mod oracle;
mod removal;
mod world;
