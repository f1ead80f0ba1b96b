//! Class-file bytes to typed data, and the vocabulary of names and descriptors.
//!
//! Start at [`class::ClassFile::parse`]: it reads the header and the member tables of one class file
//! (JVMS §4.1) without touching a method body. [`code::Code`] is the body of one method, its
//! instructions are decoded one by one by [`code::Code::instructions`]. [`names`] holds the process-wide
//! interner whose ids all upper rooms use, [`stack`] the walk over the operand stack that lowering and
//! the class writer share.
//!
//! This room never fails as a whole: what cannot be read is a [`error::Malformed`] with the offset and
//! the JVMS section, and costs the class or the method that it is in. It knows no file, no other class
//! and no hierarchy.

pub mod attributes;
pub mod bootstrap;
mod bytes;
pub mod class;
pub mod code;
pub mod descriptor;
pub mod error;
pub mod flags;
pub mod insn;
mod intern;
pub mod module;
pub mod mutf8;
pub mod names;
pub mod pool;
pub mod stack;
