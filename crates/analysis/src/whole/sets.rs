//! The exception sets that a client needs while it reads answers, and their printable forms.

use std::sync::Arc;

use flow::universe::{Part, SetId};
use rustc_hash::FxHashMap;

use super::graph::Within;
use super::lattice::Exceptions;

/// The state that each client needs to read answers from a solved program: the exception sets, to which reading adds
/// sets, and their printable forms.
#[derive(Clone)]
pub struct Sets {
    /// The exception sets of the program, with those that reading has added.
    pub exceptions: Exceptions,
    /// A cache of the printable forms of the exception sets.
    pub texts: Texts,
}

/// A cache of the printable forms of exception sets.
#[derive(Clone, Default)]
pub struct Texts {
    parts: FxHashMap<SetId, Arc<[Part]>>,
    open: FxHashMap<SetId, Within>,
}

impl Texts {
    pub(super) fn parts(&mut self, ex: &Exceptions, set: SetId) -> Arc<[Part]> {
        Arc::clone(self.parts.entry(set).or_insert_with(|| ex.universe.parts(set).into()))
    }

    pub(super) fn open(&mut self, ex: &mut Exceptions, set: SetId) -> Within {
        let parts = self.open.entry(set).or_insert_with(|| {
            let (within, except) = ex.open_parts(set);
            (within.into(), except.into())
        });
        parts.clone()
    }
}
