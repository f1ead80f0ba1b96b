//! The effect of [`Hierarchy::edit`], and the index that [`Hierarchy::edit`] needs.

use classfile::names::ClassName;
use rustc_hash::FxHashMap;

use super::Hierarchy;
use super::class::{Class, ClassId, Link, slice};

/// The effect of [`Hierarchy::edit`]: which classes changed, and their previous state.
#[derive(Debug)]
pub struct Edited {
    /// The state of the changed classes before the edit.
    pub before: Before,
    /// The classes whose set of supertypes changed: the ids or names of the supertypes, or the absent classes among
    /// them. The list includes the removed and the added classes, and possibly unchanged ones.
    pub changed: Vec<ClassId>,
    /// The classes, present before and after the edit, for which the edit changed what absent classes may do: belong
    /// to the class's package, extend the class, or be below the class.
    pub open_otherwise: Vec<ClassId>,
}

/// The state of the changed classes before an edit.
#[derive(Debug)]
pub struct Before(pub(super) How);

#[derive(Debug)]
pub(super) enum How {
    /// The hierarchy was changed in place. `n_classes` is the number of classes before the edit. `classes` holds the
    /// changed classes as they were before the edit; the supertypes to which they refer are still in the lists of the
    /// edited hierarchy.
    Patched { n_classes: usize, classes: FxHashMap<ClassId, Class> },
    /// The hierarchy was rebuilt; the value is the hierarchy before the edit.
    Joined(Box<Hierarchy>),
}

impl Before {
    /// Returns the name and the supertypes that a class had before the edit; `None` if the class was not present.
    /// `now` is the hierarchy after the edit.
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

/// An index of the references between classes: for the name of a present or absent class, the present classes that
/// refer to this name. The index may also contain ids of removed classes.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// For each name, the classes that list it as a nest member or as a permitted subclass.
    pub(super) listing: FxHashMap<ClassName, Vec<ClassId>>,
    /// For each nest host, the classes that name it as their host.
    pub(super) nests: FxHashMap<ClassName, Vec<ClassId>>,
    /// For each absent class, the classes that name it as a direct supertype.
    pub(super) outside: FxHashMap<ClassName, Vec<ClassId>>,
}

impl Lists {
    /// Adds a class to the index, under each name to which it refers.
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

    /// Adds a class to the index, under each absent supertype that it names.
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
