//! The trait through which queries see the database. The struct behind it lives in `ide`.

/// The database of class files and of what was derived from them.
#[salsa::db]
pub trait Db: salsa::Database {}
