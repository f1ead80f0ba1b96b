//! BIR: a stackless representation of method bodies, with lowering from `Code` attributes, printer, parser and
//! verifier.
//!
//! The representation is that of de Carvalho Gomes, Picoco and Gurov, *Sound Control Flow Graph Extraction from
//! Incomplete Java Bytecode Programs*, §2.2, and of Demange, Jensen and Pichardie, *A Provably Correct Stackless
//! Intermediate Representation for Java Bytecode* (APLAS 2010), extended to current Java. Start at [`body::Body`],
//! which is plain data. `lower::lower` creates a body from a method of a class file, `print` and
//! `parse` are inverse to each other, and `verify` checks that a body is well formed.
//!
//! A body depends only on its own class file. It holds names and content, but no constant-pool indices, pcs or
//! lines; pcs and lines are in [`positions::Positions`], which is used by printing only.

pub mod body;
pub mod build;
pub mod lower;
pub mod ops;
pub mod parse;
pub mod positions;
pub mod print;
pub mod verify;
mod words;
