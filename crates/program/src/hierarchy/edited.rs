//! The effect of [`Hierarchy::edit`], and the index that it needs.

use classfile::names::ClassName;
use rustc_hash::FxHashMap;

use super::Hierarchy;
use super::class::{Class, ClassId, Link, slice};

/// The effect of an edit on a hierarchy.
#[derive(Debug)]
pub struct Edited {
    /// The state of the changed classes before the edit.
    pub before: Before,
    /// The classes whose supertypes changed, by id, by name, or in how far they are known. Includes the removed and
    /// the added classes, and possibly unchanged ones.
    pub changed: Vec<ClassId>,
    /// The classes, present before and after, whose openness to absent classes changed.
    pub open_otherwise: Vec<ClassId>,
}

/// The state of the changed classes before an edit.
#[derive(Debug)]
pub struct Before(pub(super) How);

#[derive(Debug)]
pub(super) enum How {
    /// The hierarchy was changed in place. `classes` holds the previous values of the changed classes, whose
    /// supertype lists are still in the lists of the edited hierarchy.
    Patched { n_classes: usize, classes: FxHashMap<ClassId, Class> },
    /// The hierarchy was rebuilt. Holds the previous one.
    Joined(Box<Hierarchy>),
}

impl Before {
    /// Returns the name and supertypes that a class had before the edit, if it was present; `now` is the edited
    /// hierarchy.
    pub fn class<'a>(&'a self, class: ClassId, now: &'a Hierarchy) -> Option<(ClassName, &'a [ClassId])> {
        let (it, supers) = match &self.0 {
            How::Patched { n_classes, .. } if class.index() >= *n_classes => return None,
            How::Patched { classes, .. } => {
                (classes.get(&class).or_else(|| now.classes.get(class.index()))?, &now.supers)
            }
            How::Joined(before) => (before.classes.get(class.index())?, &before.supers),
        };
        (!it.is_vacant()).then(|| (it.outline.class, slice(supers, &it.supers)))
    }
}

/// An index of the classes that refer to other, possibly absent, classes, by the referenced name. It may contain
/// vacant ids.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// The classes that list a name as a nest member or as a permitted subclass.
    pub(super) listing: FxHashMap<ClassName, Vec<ClassId>>,
    /// The classes that name a nest host, by the host.
    pub(super) nests: FxHashMap<ClassName, Vec<ClassId>>,
    /// The classes that name an absent supertype, by that supertype.
    pub(super) outside: FxHashMap<ClassName, Vec<ClassId>>,
}

impl Lists {
    /// Adds the references of a class.
    pub(super) fn add(&mut self, hierarchy: &Hierarchy, class: ClassId) {
        let outline = hierarchy.outline(class);
        for &it in outline.nest_members.iter().chain(outline.permitted.iter().flatten()) {
            self.listing.entry(it).or_default().push(class);
        }
        if let Some(host) = outline.nest_host {
            self.nests.entry(host).or_default().push(class);
        }
        self.add_outside(hierarchy, class);
    }

    /// Adds the absent supertypes that a class names.
    pub(super) fn add_outside(&mut self, hierarchy: &Hierarchy, class: ClassId) {
        for link in hierarchy.links(class) {
            if let Link::Outside(name) = link {
                let known = self.outside.entry(*name).or_default();
                if !known.contains(&class) {
                    known.push(class);
                }
            }
        }
    }
}
