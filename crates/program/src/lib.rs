//! What a program is made of: the inputs of the database, and the outline of each class.
//!
//! Start at [`input`]: class files in containers in a world, the only values that anybody sets. [`outline`] is
//! what the rest of a program can see of one class: its members, supertypes, promises and nest, never a body.
//!
//! This room reads no file and knows no method body.

pub mod db;
pub mod input;
pub mod outline;
