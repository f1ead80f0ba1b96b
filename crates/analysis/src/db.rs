//! The services that the queries of this crate need from the database. The struct that implements them is in `ide`.

use crate::keeper::Keeper;

/// The salsa database of class files. The solved program is not stored in the database, but in the keeper.
#[salsa::db]
pub trait Db: program::db::Db {
    /// Returns the keeper, which owns the solved program. Clones of the database share the keeper.
    fn keeper(&self) -> &Keeper;
}
