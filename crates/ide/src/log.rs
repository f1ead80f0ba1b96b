//! What the queries of a database did: which ran, and which were only looked at.

use std::sync::{Arc, Mutex, PoisonError};

use salsa::{Event, EventKind, Id};

/// What a query did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueryStep {
    /// It ran.
    Ran,
    /// It was looked at, and its answer of before holds.
    Checked,
}

/// What queries did, by the number of what they were asked of.
#[derive(Clone, Default)]
pub(crate) struct QueryLog(Arc<Mutex<Vec<(QueryStep, String, Id)>>>);

impl QueryLog {
    /// What the database tells its steps.
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

    /// What was written since the last time.
    pub(crate) fn take(&self) -> Vec<(QueryStep, String, Id)> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(QueryStep, String, Id)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
