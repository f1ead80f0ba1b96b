//! The program as the analysis sees it: the database inputs, and the facts that follow from class headers alone.
//!
//! Start at [`input`]: class files and the containers that hold them, the only values that are set from outside.
//! [`outline`] holds what the rest of a program can see of one class: its members, supertypes, `GhostComponent`
//! promises and nest, but no method body. [`hierarchy`] links the outlines into a type hierarchy and records which
//! classes absent classes may extend. [`members`] resolves the field or method that a symbolic reference names.
//! [`initialization`] computes the order in which initialising a class runs initialisers. [`names`] holds the names
//! of methods as people and machines read them.
//!
//! This crate reads no files and no method bodies.

pub mod db;
pub mod input;
pub mod outline;

pub mod hierarchy;
pub mod initialization;
pub mod members;
pub mod names;
