//! The parts that the tests of queries share.

use std::sync::{Arc, Mutex};

use analysis::keeper::Keeper;
use program::input::{ClassFile, Container, Role};
use salsa::Setter;
use vfs::file::Vfs;
use vfs::identity::EntryIdentity;

/// A database that logs the queries that run.
#[salsa::db]
#[derive(Clone)]
pub(crate) struct LoggingDatabase {
    storage: salsa::Storage<Self>,
    log: Arc<Mutex<Vec<String>>>,
    keeper: Arc<Keeper>,
    files: Arc<Mutex<Vfs>>,
}

#[salsa::db]
impl salsa::Database for LoggingDatabase {}

#[salsa::db]
impl program::db::Db for LoggingDatabase {}

#[salsa::db]
impl analysis::db::Db for LoggingDatabase {
    fn keeper(&self) -> &Keeper {
        &self.keeper
    }
}

impl LoggingDatabase {
    pub(crate) fn new() -> Self {
        let log = Arc::<Mutex<Vec<String>>>::default();
        let events = Arc::clone(&log);
        let on_event = move |event: salsa::Event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind {
                let text = format!("{database_key:?}");
                events.lock().unwrap().push(text.split('(').next().unwrap_or_default().to_owned());
            }
        };
        LoggingDatabase {
            storage: salsa::Storage::new(Some(Box::new(on_event))),
            log,
            keeper: Arc::default(),
            files: Arc::default(),
        }
    }

    pub(crate) fn class(&self, bytes: &[u8]) -> ClassFile {
        let container = Container::new(self, Role::App, Arc::default(), Arc::default());
        let name = salsa::plumbing::AsId::as_id(&container).index().to_string();
        let file = self.files.lock().unwrap().file(&name);
        ClassFile::new(self, container, file, EntryIdentity::of_bytes(bytes), bytes.into())
    }

    pub(crate) fn edit(&mut self, class: ClassFile, bytes: &[u8]) {
        class.set_hash(self).to(EntryIdentity::of_bytes(bytes));
        class.set_bytes(self).to(bytes.into());
    }

    /// The names of the queries that ran since the last call, without their module paths.
    pub(crate) fn ran(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }
}
