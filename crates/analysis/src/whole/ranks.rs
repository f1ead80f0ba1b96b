//! The order of classes by name.

use std::cmp::Ordering;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use program::hierarchy::{ClassId, Hierarchy};

/// The rank of each class in the order of class names. Sorting all classes takes as long as many comparisons of
/// names, so the classes are sorted only when the number of comparisons exceeds the number of classes.
#[derive(Default)]
pub(super) struct Ranks {
    compared: AtomicUsize,
    places: OnceLock<Vec<u32>>,
}

impl Ranks {
    /// Compares two classes by name. All calls on one `Ranks` must pass a `hierarchy` that gives the same ids to the
    /// same classes; classes may be added between calls.
    pub(super) fn compare(&self, hierarchy: &Hierarchy, a: ClassId, b: ClassId) -> Ordering {
        let places = self.sorted_places(hierarchy).unwrap_or_default();
        match (places.get(a.index()), places.get(b.index())) {
            (Some(a), Some(b)) => a.cmp(b),
            // Classes that were added after sorting have no rank.
            _ => hierarchy.name(a).bytes().cmp(hierarchy.name(b).bytes()),
        }
    }

    /// Returns the rank of each class in the order of names, by the index of the class. Returns `None` while there
    /// were too few comparisons to make sorting worthwhile.
    fn sorted_places(&self, hierarchy: &Hierarchy) -> Option<&[u32]> {
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
