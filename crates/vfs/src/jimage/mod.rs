//! The JDK's run-time image, `lib/modules` (jimage format 1.x of JDK 9 and later): bytes to data. The image is
//! read in place through a [`Image`] view over whatever holds the bytes; every offset is checked.

pub mod compact_cp;
pub mod content;
pub mod index;
