//! The services that the queries of this crate need from the database. The struct that implements them is in `ide`.

use crate::keeper::Keeper;

/// The database of class files, with the solved program beside it.
#[salsa::db]
pub trait Db: program::db::Db {
    /// Returns the keeper of the solved program. Clones of the database share the keeper.
    fn keeper(&self) -> &Keeper;
}
