//! The database itself.

use program::db::Db;

/// Holds the inputs and every memo. Clones share them.
#[salsa::db]
#[derive(Clone, Default)]
pub(crate) struct RootDatabase {
    storage: salsa::Storage<Self>,
}

#[salsa::db]
impl salsa::Database for RootDatabase {}

#[salsa::db]
impl Db for RootDatabase {}
