//! Fixtures, an assembler from text to class bytes, random programs, the JVM harness (dev-dependency only).
//!
//! `asm` writes class files without sharing code with `classfile`, `generate` makes random programs with it, `jvm`
//! runs them on a real JVM; `fixture` is the mini-language that tests write their inputs in, `jar` packs classes, `patch` edits them;
//! `tier` says how much a test does.

pub mod asm;
pub mod fixture;
pub mod generate;
pub mod ghosts;
pub mod jar;
pub mod jdk;
pub mod jvm;
pub mod patch;
pub mod programs;
pub mod rng;
pub mod tier;
