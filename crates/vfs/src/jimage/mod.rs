//! The JDK's run-time image, `lib/modules` (jimage format 1.x of JDK 9 and later), parsed from bytes. The image is
//! read in place through an [`Image`](index::Image) view of the bytes; every offset is checked.

pub mod compact_cp;
pub mod content;
pub mod index;
