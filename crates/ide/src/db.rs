//! The database itself.

use std::sync::Arc;

use analysis::keeper::Keeper;

use crate::log::QueryLog;

/// Holds the inputs and every memo, and the solved program. Clones share them.
#[salsa::db]
#[derive(Clone, Default)]
pub(crate) struct RootDatabase {
    storage: salsa::Storage<Self>,
    keeper: Arc<Keeper>,
}

impl RootDatabase {
    /// A database that writes down what its queries do.
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
