//! The order of classes by text.

use std::cmp::Ordering;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use program::hierarchy::{ClassId, Hierarchy};

/// For classes by number their place by text. To sort them all takes as long as many comparisons of names, so that is not
/// done before there were as many as there are classes.
#[derive(Default)]
pub(super) struct Ranks {
    compared: AtomicUsize,
    places: OnceLock<Vec<u32>>,
}

impl Ranks {
    /// Compares two classes by name. It must always be a hierarchy in which those that were there have their old numbers.
    pub(super) fn compare(&self, hierarchy: &Hierarchy, a: ClassId, b: ClassId) -> Ordering {
        let places = self.worth_it(hierarchy).unwrap_or_default();
        match (places.get(a.index()), places.get(b.index())) {
            (Some(a), Some(b)) => a.cmp(b),
            // Classes that came later have none.
            _ => hierarchy.name(a).bytes().cmp(hierarchy.name(b).bytes()),
        }
    }

    /// The places, if by now it is worth while to have them.
    fn worth_it(&self, hierarchy: &Hierarchy) -> Option<&[u32]> {
        if self.places.get().is_none() && self.compared.fetch_add(1, Relaxed) < hierarchy.len() {
            return None;
        }
        let places = self.places.get_or_init(|| {
            let mut classes: Vec<ClassId> = hierarchy.ids().collect();
            classes.sort_unstable_by_key(|it| hierarchy.name(*it).bytes());
            let mut places = vec![0; hierarchy.len()];
            classes.iter().zip(0..).for_each(|(it, place)| places[it.index()] = place);
            places
        });
        Some(places)
    }
}
