//! The program as the analysis sees it: the database inputs, and the facts that follow from class headers alone.
//!
//! Start at [`input`]: class files in containers in a world, the only values that are set from outside. [`outline`]
//! holds what the rest of a program can see of one class: its members, supertypes, `GhostComponent` promises and
//! nest, but no method body. [`hierarchy`] links the outlines into a type hierarchy and records where absent
//! classes leave it open. [`members`] resolves the field or method that a symbolic reference names.
//! [`initialization`] is the order in which initialising a class runs initialisers.
//!
//! This crate reads no files and no method bodies.

pub mod db;
pub mod input;
pub mod outline;

pub mod hierarchy;
pub mod initialization;
pub mod members;
pub mod names;
