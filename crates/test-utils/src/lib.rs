//! Utilities for tests: fixtures, an assembler, random programs, and the JVM harness (a dev-dependency only).
//!
//! `asm` writes class files without sharing code with `classfile`. `generate` makes random programs by `asm`, and
//! `jvm` runs programs on a real JVM. `fixture` is the language in which tests write their inputs. `jar` packs
//! classes, `patch` and `ghosts` edit class files, and `tier` says how much work a test does.

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
