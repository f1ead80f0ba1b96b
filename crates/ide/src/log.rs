//! A record of the steps of a database's queries: which ran, and which were only validated.

use std::sync::{Arc, Mutex, PoisonError};

use salsa::{Event, EventKind, Id};

/// What salsa did with a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueryStep {
    /// The query was executed.
    Ran,
    /// The query was checked, and its memoized value is still valid.
    Checked,
}

/// The recorded steps: kind of the step, name of the query, and id of the value that the query was asked about.
#[derive(Clone, Default)]
pub(crate) struct QueryLog(Arc<Mutex<Vec<(QueryStep, String, Id)>>>);

impl QueryLog {
    /// The callback through which salsa reports events.
    pub(crate) fn writer(&self) -> Box<dyn Fn(Event) + Send + Sync> {
        let log = self.clone();
        Box::new(move |event| {
            let (step, key) = match event.kind {
                EventKind::WillExecute { database_key } => (QueryStep::Ran, database_key),
                EventKind::DidValidateMemoizedValue { database_key } => (QueryStep::Checked, database_key),
                _ => return,
            };
            // `facts(Id(400))`.
            let text = format!("{key:?}");
            let query = text.split('(').next().unwrap_or_default().to_owned();
            log.lock().push((step, query, key.key_index()));
        })
    }

    /// Returns the steps recorded since the last call, and clears the record.
    pub(crate) fn take(&self) -> Vec<(QueryStep, String, Id)> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(QueryStep, String, Id)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
