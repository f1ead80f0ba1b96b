//! Editing a hierarchy: classes are removed and added, and all others keep their ids.

use std::sync::Arc;

use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, Name};
use rustc_hash::FxHashMap;

use super::{Class, ClassId, Hierarchy, Input, Link, Members, Surroundings, slice};
use crate::input::Role;
use crate::outline::Outline;

/// `ACC_FINAL`, `ACC_INTERFACE`, `ACC_ABSTRACT` (JVMS §4.1): a vacant class has no subtypes and no instances.
const VACANT: Flags = Flags(0x0610);

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
        (!is_vacant_outline(&it.outline)).then(|| (it.outline.class, slice(supers, &it.supers)))
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
    fn add(&mut self, hierarchy: &Hierarchy, class: ClassId) {
        let outline = hierarchy.outline(class);
        for &it in outline.nest_members.iter().chain(outline.permitted.iter().flatten()) {
            self.listing.entry(it).or_default().push(class);
        }
        if let Some(host) = outline.nest_host {
            self.nests.entry(host).or_default().push(class);
        }
        self.add_outside(hierarchy, class);
    }

    fn add_outside(&mut self, hierarchy: &Hierarchy, class: ClassId) {
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

impl Hierarchy {
    /// Removes the classes `gone` and appends the classes `come`. The ids of removed classes stay vacant: each
    /// denotes an interface without members that has no valid name. Returns `None`, with nothing changed, if an
    /// added class has the name of a present one.
    ///
    /// The cost depends on the number of classes above and below the edited ones. `lists` must be those of this
    /// hierarchy, and is updated.
    pub fn edit(
        &mut self,
        gone: &[ClassId],
        come: &[(Arc<Outline>, Role)],
        surroundings: &Surroundings,
        lists: &mut Lists,
    ) -> Option<Edited> {
        let n_before = self.len();
        let without_parent: Vec<ClassId> = gone.iter().flat_map(|&it| self.children(it)).copied().collect();
        let wanted = cfg!(debug_assertions)
            .then(|| Some((self.clone(), self.joined_again(gone, come, surroundings)?)));
        let edited = match self.patch(gone, come, surroundings, lists) {
            Some(it) => {
                let is_wanted =
                    |(before, other): &(Hierarchy, Hierarchy)| self.says_the_same(&it, before, other);
                debug_assert!(
                    wanted.flatten().as_ref().is_some_and(is_wanted),
                    "a patched hierarchy must equal a rebuilt one"
                );
                it
            }
            None => {
                let joined = self.joined_again(gone, come, surroundings)?;
                let (changed, open_otherwise) = self.compared(&joined);
                let before = Before(How::Joined(Box::new(std::mem::replace(self, joined))));
                Edited { before, changed, open_otherwise }
            }
        };
        for it in self.ids().skip(n_before) {
            lists.add(self, it);
        }
        // Links that led to removed classes are outside links now.
        for it in without_parent {
            lists.add_outside(self, it);
        }
        Some(edited)
    }

    /// Returns the classes whose supertypes differ in an edited hierarchy, and those whose openness differs.
    fn compared(&self, edited: &Hierarchy) -> (Vec<ClassId>, Vec<ClassId>) {
        (self.with_other_supers(edited), self.open_otherwise(edited))
    }

    /// Returns whether this hierarchy, patched from `before`, equals the rebuilt `other`. The patched one may
    /// report more classes as changed.
    fn says_the_same(&self, edited: &Edited, before: &Hierarchy, other: &Hierarchy) -> bool {
        let (changed, open_otherwise) = before.compared(other);
        let vacant = |it: &ClassId| self.is_vacant(*it) && other.is_vacant(*it);
        let was_there = |it: ClassId| {
            let there = it.index() < before.len() && !before.is_vacant(it);
            there.then(|| (before.name(it), before.supers(it)))
        };
        self.by_name == other.by_name
            && self.problems == other.problems
            && self.names_outside == other.names_outside
            && self.with_other_supers(other).iter().all(vacant)
            && self.open_otherwise(other).is_empty()
            && self.ids().all(|it| self.children(it) == other.children(it))
            && changed.iter().all(|it| vacant(it) || edited.changed.contains(it))
            && open_otherwise.iter().all(|it| edited.open_otherwise.contains(it))
            && edited.changed.iter().all(|&it| edited.before.class(it, self) == was_there(it))
    }

    /// Returns this hierarchy after an edit, rebuilt as in [`Hierarchy::new`]: names are resolved, supertypes
    /// collected and children listed again. The index of members is edited, not rebuilt.
    fn joined_again(
        &self,
        gone: &[ClassId],
        come: &[(Arc<Outline>, Role)],
        surroundings: &Surroundings,
    ) -> Option<Hierarchy> {
        let mut inputs: Vec<(Arc<Outline>, Role)> =
            self.classes.iter().map(|it| (Arc::clone(&it.outline), it.role)).collect();
        for &it in gone {
            *inputs.get_mut(it.index())? = (Arc::new(vacant(it)), Role::Jdk);
        }
        inputs.extend(come.iter().map(|it| (Arc::clone(&it.0), it.1)));
        let mut by_name = FxHashMap::default();
        by_name.reserve(inputs.len());
        for (id, (outline, _)) in (0..).map(ClassId::from_index).zip(&inputs) {
            if !is_vacant_outline(outline) && by_name.insert(outline.class, id).is_some() {
                return None;
            }
        }
        let members = (self.methods.clone(), self.fields.clone());
        let inputs: Vec<Input<'_>> =
            inputs.iter().map(|(outline, role)| Input { outline, role: *role }).collect();
        let problems = Vec::new();
        let how = (&*surroundings.modules, &surroundings.options);
        let mut acc =
            Hierarchy::joined(&inputs, (by_name, problems), members, how, Some(self), &mut || false)?;
        acc.edit_members(self.len(), gone, come);
        Some(acc)
    }

    /// Updates the index of members. The added classes have ids from `first` on.
    pub(super) fn edit_members(&mut self, first: usize, gone: &[ClassId], come: &[(Arc<Outline>, Role)]) {
        for &it in gone {
            self.methods.forget(it);
            self.fields.forget(it);
        }
        for (id, (outline, _)) in (first..).map(ClassId::from_index).zip(come) {
            self.methods.add(id, outline.methods.iter().map(|it| (it.name, it.descriptor)));
            self.fields.add(id, outline.fields.iter().map(|it| (it.name, it.descriptor)));
        }
    }

    /// Builds the lists that [`Hierarchy::edit`] needs.
    pub fn lists(&self) -> Lists {
        let mut acc = Lists::default();
        self.ids().for_each(|it| acc.add(self, it));
        acc
    }

    /// Returns whether the id belongs to a removed class.
    pub fn is_vacant(&self, class: ClassId) -> bool {
        is_vacant_outline(self.outline(class))
    }

    /// Returns the classes whose supertypes differ between two versions of a hierarchy: by id, by name, or in how
    /// far they are known.
    fn with_other_supers(&self, other: &Hierarchy) -> Vec<ClassId> {
        let same = |class: ClassId| match (self.classes.get(class.index()), other.classes.get(class.index()))
        {
            (Some(a), Some(b)) => {
                Arc::ptr_eq(&a.outline, &b.outline)
                    && a.outside == b.outside
                    && a.outside_class == b.outside_class
                    && slice(&self.links, &a.links) == slice(&other.links, &b.links)
                    && slice(&self.supers, &a.supers) == slice(&other.supers, &b.supers)
            }
            _ => false,
        };
        let n = self.len().max(other.len());
        (0..n).map(ClassId::from_index).filter(|&it| !same(it)).collect()
    }

    /// Returns the classes, present in both versions, whose openness to absent classes differs.
    fn open_otherwise(&self, other: &Hierarchy) -> Vec<ClassId> {
        let open = |hierarchy: &Hierarchy, class: usize| hierarchy.classes.get(class).map(Class::open);
        let n = self.len().min(other.len());
        let other_open = (0..n).filter(|&it| open(self, it) != open(other, it)).map(ClassId::from_index);
        other_open.filter(|&it| !self.is_vacant(it) && !other.is_vacant(it)).collect()
    }
}

impl Class {
    /// Returns the facts about the class that depend on what absent classes may do with it, for comparison.
    pub(super) fn open(&self) -> impl PartialEq + use<> {
        (self.package, self.module, self.nameable, self.extensible, self.nameable_below, self.witness)
    }
}

/// Returns the placeholder outline for a vacant id. No class file can have its name: a zero byte is not valid
/// modified UTF-8 (JVMS §4.4.7).
pub(super) fn vacant(class: ClassId) -> Outline {
    let name = [&[0], class.index().to_string().as_bytes()].concat();
    Outline {
        class: ClassName::new(&name),
        version: (0, 52),
        flags: VACANT,
        super_class: None,
        interfaces: Box::default(),
        nest_host: None,
        nest_members: Box::default(),
        permitted: None,
        ghost: None,
        fields: Box::default(),
        methods: Box::default(),
    }
}

pub(super) fn is_vacant_outline(outline: &Outline) -> bool {
    outline.class.bytes().first() == Some(&0)
}

impl Members {
    /// Removes the members of a class whose id is not reused.
    fn forget(&mut self, class: ClassId) {
        self.names[class.index()] = 0;
    }

    /// Adds the members of a class that was just appended.
    fn add(&mut self, class: ClassId, members: impl Iterator<Item = (Name, Descriptor)>) {
        self.names.resize((class.index() + 1).max(self.names.len()), 0);
        for (number, (name, descriptor)) in (0..).zip(members) {
            self.later.entry((class, name, descriptor)).or_insert(number);
            self.names[class.index()] |= super::bit(name);
        }
    }
}
