//! BIR: the stackless form of method bodies. Data, lowering from `Code`, printer, parser, verifier.
//!
//! The form is that of de Carvalho Gomes, Picoco and Gurov, *Sound Control Flow Graph Extraction from Incomplete Java Bytecode
//! Programs*, §2.2, and of Demange, Jensen and Pichardie, *A Provably Correct
//! Stackless Intermediate Representation for Java Bytecode* (APLAS 2010), for today's Java. Start at
//! [`body::Body`]: it is plain data. `lower::lower` makes one from a method of a class file,
//! `print` and `parse` are each other's inverse, `verify` says whether a body is well formed.
//!
//! A body depends on nothing but its own class file. It holds names and content, never constant-pool
//! indices, pcs or lines; those are in [`positions::Positions`], which only printing reads.

pub mod body;
pub mod build;
pub mod lower;
pub mod ops;
pub mod parse;
pub mod positions;
pub mod print;
pub mod verify;
mod words;
