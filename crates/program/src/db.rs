//! The trait through which queries see the database. The struct that implements the trait is in `ide`.

/// The salsa database of class files and of everything derived from them.
#[salsa::db]
pub trait Db: salsa::Database {}
