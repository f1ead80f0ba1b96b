//! A hierarchy after classes have gone and come, in which all others keep their numbers.

use std::sync::Arc;

use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, Name};
use rustc_hash::FxHashMap;

use super::{Class, ClassId, Hierarchy, Input, Link, Members, Surroundings, slice};
use crate::input::Role;
use crate::outline::Outline;

/// `ACC_FINAL`, `ACC_INTERFACE`, `ACC_ABSTRACT` (JVMS §4.1): nothing is below it, and nothing is made of it.
const VACANT: Flags = Flags(0x0610);

/// What an edit changed in a hierarchy.
#[derive(Debug)]
pub struct Edited {
    /// What it said before of the classes that are changed.
    pub before: Before,
    /// The classes whose supertypes are not the same in both, by number, by name, or as far as they are known; those that went
    /// and came among them, and perhaps some more.
    pub changed: Vec<ClassId>,
    /// The classes of both of which it is not the same in both what absent classes may do with them.
    pub open_otherwise: Vec<ClassId>,
}

/// What a hierarchy said of the classes that are changed in it.
#[derive(Debug)]
pub struct Before(pub(super) How);

#[derive(Debug)]
pub(super) enum How {
    /// It was changed in place; what it said of these classes. Their lists of supertypes are where they were.
    Patched { n_classes: usize, classes: FxHashMap<ClassId, Class> },
    /// It is another one now.
    Joined(Box<Hierarchy>),
}

impl Before {
    /// The name and the supertypes of a class that is changed, if it was there; `now` is the edited hierarchy.
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

/// Who says something of classes that need not be there, by the names of these. Numbers that are vacant may stand in it.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// The classes that list a name as a nest member, or permit it.
    pub(super) listing: FxHashMap<ClassName, Vec<ClassId>>,
    /// The classes of a nest, by its host.
    pub(super) nests: FxHashMap<ClassName, Vec<ClassId>>,
    /// The classes that name an absent one as a supertype.
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
    /// Takes the classes `gone` away, and puts those of `come` behind all others. The numbers of classes that are gone stay
    /// vacant: by such a number there is an interface without members that no name leads to. `None`, with nothing changed,
    /// if a class that comes has the name of one that is there.
    ///
    /// Costs what is above and below these classes; `lists` are those of this hierarchy, and follow it.
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
                    "what is patched is what is joined anew"
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
        // Links that were there may lead out now.
        for it in without_parent {
            lists.add_outside(self, it);
        }
        Some(edited)
    }

    /// The classes with other supertypes in an edited hierarchy, and those that are open otherwise.
    fn compared(&self, edited: &Hierarchy) -> (Vec<ClassId>, Vec<ClassId>) {
        (self.with_other_supers(edited), self.open_otherwise(edited))
    }

    /// Whether this, edited from `before`, says what `other` says that was joined anew. It may take more classes for changed.
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

    /// This hierarchy as [`Hierarchy::edit`] leaves it. Names are looked up, supertypes collected and children listed anew, as
    /// in [`Hierarchy::new`]; what is declared is not.
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
        for (id, (outline, _)) in (0..).map(ClassId).zip(&inputs) {
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

    /// Lets the index of members follow; the first of those that come has this number.
    pub(super) fn edit_members(&mut self, first: usize, gone: &[ClassId], come: &[(Arc<Outline>, Role)]) {
        for &it in gone {
            self.methods.forget(it);
            self.fields.forget(it);
        }
        for (id, (outline, _)) in (first as u32..).map(ClassId).zip(come) {
            self.methods.add(id, outline.methods.iter().map(|it| (it.name, it.descriptor)));
            self.fields.add(id, outline.fields.iter().map(|it| (it.name, it.descriptor)));
        }
    }

    /// The lists that [`Hierarchy::edit`] needs.
    pub fn lists(&self) -> Lists {
        let mut acc = Lists::default();
        self.ids().for_each(|it| acc.add(self, it));
        acc
    }

    /// Whether the number is that of a class that is gone.
    pub fn is_vacant(&self, class: ClassId) -> bool {
        is_vacant_outline(self.outline(class))
    }

    /// The classes of both hierarchies, of which one is an edited other, whose supertypes are not the same in both: by
    /// number, by name, or as far as they are known.
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
        (0..n as u32).map(ClassId).filter(|&it| !same(it)).collect()
    }

    /// The classes of both of which it is not the same in both what absent classes may do with them.
    fn open_otherwise(&self, other: &Hierarchy) -> Vec<ClassId> {
        let open = |hierarchy: &Hierarchy, class: usize| hierarchy.classes.get(class).map(Class::open);
        let n = self.len().min(other.len());
        let other_open = (0..n).filter(|&it| open(self, it) != open(other, it)).map(ClassId::new);
        other_open.filter(|&it| !self.is_vacant(it) && !other.is_vacant(it)).collect()
    }
}

impl Class {
    /// What absent classes may do with it.
    pub(super) fn open(&self) -> impl PartialEq + use<> {
        (self.package, self.module, self.nameable, self.extensible, self.nameable_below, self.witness)
    }
}

/// What stands at a number that is vacant. No class file can have its name: a zero byte is no modified UTF-8 (JVMS §4.4.7).
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
    /// Takes away what a class declares, whose number nobody will have again.
    fn forget(&mut self, class: ClassId) {
        self.names[class.index()] = 0;
    }

    /// Adds what a class declares whose number is the next.
    fn add(&mut self, class: ClassId, members: impl Iterator<Item = (Name, Descriptor)>) {
        self.names.resize((class.index() + 1).max(self.names.len()), 0);
        for (number, (name, descriptor)) in (0..).zip(members) {
            self.later.entry((class, name, descriptor)).or_insert(number);
            self.names[class.index()] |= super::bit(name);
        }
    }
}
