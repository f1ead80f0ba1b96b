//! The run-time image of a JDK, `lib/modules` (jimage format 1.x of JDK 9 and later), parsed from bytes. The bytes
//! are read in place through the view [`Image`](index::Image); every offset is checked.

pub mod compact_cp;
pub mod content;
pub mod index;
