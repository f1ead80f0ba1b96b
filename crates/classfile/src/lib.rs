//! Parser for class files, and the interned names and descriptors that all crates share.
//!
//! Start at [`class::ClassFile::parse`]: it reads the header and the member tables of one class file (JVMS §4.1),
//! but no method bodies. [`code::Code`] is the body of one method; [`code::Code::instructions`] decodes its
//! instructions one by one. [`names`] holds the process-wide interner whose ids all other crates use. [`stack`] is
//! the typed walk over the operand stack that lowering and the class writer share.
//!
//! A fault never affects more than it must: a part that cannot be read yields an [`error::Malformed`] with the
//! offset and the JVMS section, and only the class or the method that contains it is lost. This crate knows no file
//! system, no other class and no hierarchy.

pub mod attributes;
pub mod bootstrap;
mod bytes;
pub mod class;
pub mod code;
pub mod descriptor;
pub mod error;
pub mod flags;
pub mod format;
pub mod insn;
mod intern;
pub mod module;
pub mod mutf8;
pub mod names;
pub mod pool;
pub mod stack;
