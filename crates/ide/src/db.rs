//! The salsa database.

use std::sync::Arc;

use analysis::keeper::Keeper;

use crate::log::QueryLog;

/// The database with its inputs, all memoized values and the solved program. Clones share all of them.
#[salsa::db]
#[derive(Clone, Default)]
pub(crate) struct RootDatabase {
    storage: salsa::Storage<Self>,
    keeper: Arc<Keeper>,
}

impl RootDatabase {
    /// A database that records the steps of its queries in `log`.
    pub(crate) fn logged(log: &QueryLog) -> Self {
        RootDatabase { storage: salsa::Storage::new(Some(log.writer())), keeper: Arc::default() }
    }
}

#[salsa::db]
impl salsa::Database for RootDatabase {}

#[salsa::db]
impl program::db::Db for RootDatabase {}

#[salsa::db]
impl analysis::db::Db for RootDatabase {
    fn keeper(&self) -> &Keeper {
        &self.keeper
    }
}
