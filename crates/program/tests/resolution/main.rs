//! The type hierarchy and the members of open programs: rule by rule, and against the JVM.

mod hierarchy;
mod members;
mod world;
