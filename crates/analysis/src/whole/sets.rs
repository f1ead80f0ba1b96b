//! The sets of exceptions that a client meets on its way, and how they read.

use std::sync::Arc;

use flow::universe::{Part, SetId};
use rustc_hash::FxHashMap;

use super::graph::Within;
use super::lattice::Exceptions;

/// What everybody who asks a solved program for answers needs: the sets that are met on the way, and how they read.
#[derive(Clone)]
pub struct Sets {
    /// The sets.
    pub exceptions: Exceptions,
    /// How they read.
    pub texts: Texts,
}

/// How sets read, as far as somebody asked.
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
