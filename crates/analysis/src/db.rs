//! What the queries of this room need of the database besides its memos. The struct behind it lives in `ide`.

use crate::keeper::Keeper;

/// The database of class files, with the solved program beside it.
#[salsa::db]
pub trait Db: program::db::Db {
    /// The keeper of the solved program. Clones of the database share it.
    fn keeper(&self) -> &Keeper;
}
