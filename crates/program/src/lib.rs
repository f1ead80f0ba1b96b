//! What a program is made of: the inputs of the database, and what the headers of its classes tell.
//!
//! Start at [`input`]: class files in containers in a world, the only values that anybody sets. [`outline`] is
//! what the rest of a program can see of one class: its members, supertypes, promises and nest, never a body.
//! [`hierarchy`] puts the outlines together, with the openness that absent classes bring, and [`members`] finds the
//! field or method that a name means there. [`initialization`] is the order in which initialising a class runs initialisers.
//!
//! This room reads no file and knows no method body.

pub mod db;
pub mod input;
pub mod outline;

pub mod hierarchy;
pub mod initialization;
pub mod members;
pub mod names;
