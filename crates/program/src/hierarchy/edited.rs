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

/// An edited hierarchy, and what is other in it.
#[derive(Debug)]
pub struct Edited {
    /// The new one.
    pub hierarchy: Hierarchy,
    /// The classes whose supertypes are not the same in both, by number, by name, or as far as they are known; those that went
    /// and came among them, and perhaps some more.
    pub changed: Vec<ClassId>,
    /// The classes of both of which it is not the same in both what absent classes may do with them.
    pub open_otherwise: Vec<ClassId>,
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
    /// The hierarchy without the classes `gone`, and with those of `come` behind all others. The numbers of classes that are
    /// gone stay vacant: by such a number there is an interface without members that no name leads to. `None` if a class
    /// that comes has the name of one that is there.
    ///
    /// Costs what is above and below these classes, and a copy; `lists` are those of this hierarchy, and become those of the
    /// new one.
    pub fn edited(
        &self,
        gone: &[ClassId],
        come: &[(Arc<Outline>, Role)],
        surroundings: &Surroundings,
        lists: &mut Lists,
    ) -> Option<Edited> {
        let edited = match self.patched(gone, come, surroundings, lists) {
            Some(it) => {
                debug_assert!(
                    self.joined_again(gone, come, surroundings)
                        .is_some_and(|other| it.says_the_same(&self.compared(other))),
                    "what is patched is what is joined anew"
                );
                it
            }
            None => self.compared(self.joined_again(gone, come, surroundings)?),
        };
        let new = &edited.hierarchy;
        for it in new.ids().skip(self.len()) {
            lists.add(new, it);
        }
        // Links that were there may lead out now.
        for &it in gone {
            for &child in self.children(it) {
                lists.add_outside(new, child);
            }
        }
        Some(edited)
    }

    /// What is other in an edited hierarchy.
    fn compared(&self, hierarchy: Hierarchy) -> Edited {
        let (changed, open_otherwise) = (self.with_other_supers(&hierarchy), self.open_otherwise(&hierarchy));
        Edited { hierarchy, changed, open_otherwise }
    }

    /// As [`Hierarchy::edited`]: names are looked up, supertypes collected and children listed anew, as in [`Hierarchy::new`];
    /// what is declared is not.
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
        let members = self.edited_members(gone, come);
        let inputs: Vec<Input<'_>> =
            inputs.iter().map(|(outline, role)| Input { outline, role: *role }).collect();
        let problems = Vec::new();
        let how = (&*surroundings.modules, &surroundings.options);
        Hierarchy::joined(&inputs, (by_name, problems), members, how, Some(self), &mut || false)
    }

    pub(super) fn edited_members(
        &self,
        gone: &[ClassId],
        come: &[(Arc<Outline>, Role)],
    ) -> (Members, Members) {
        let (mut methods, mut fields) = (self.methods.clone(), self.fields.clone());
        for &it in gone {
            methods.forget(it);
            fields.forget(it);
        }
        for (id, (outline, _)) in (self.classes.len() as u32..).map(ClassId).zip(come) {
            methods.add(id, outline.methods.iter().map(|it| (it.name, it.descriptor)));
            fields.add(id, outline.fields.iter().map(|it| (it.name, it.descriptor)));
        }
        (methods, fields)
    }

    /// The lists that [`Hierarchy::edited`] needs.
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

impl Edited {
    /// Whether this says what another one says of the same edit. It may take more classes for changed.
    fn says_the_same(&self, other: &Edited) -> bool {
        let (ours, theirs) = (&self.hierarchy, &other.hierarchy);
        let vacant = |it: &ClassId| ours.is_vacant(*it) && theirs.is_vacant(*it);
        ours.by_name == theirs.by_name
            && ours.problems == theirs.problems
            && ours.names_outside == theirs.names_outside
            && ours.with_other_supers(theirs).iter().all(vacant)
            && ours.open_otherwise(theirs).is_empty()
            && ours.ids().all(|it| ours.children(it) == theirs.children(it))
            && other.changed.iter().all(|it| vacant(it) || self.changed.contains(it))
            && other.open_otherwise.iter().all(|it| self.open_otherwise.contains(it))
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
        let mut names = std::mem::take(&mut self.names).into_vec();
        names.resize((class.index() + 1).max(names.len()), 0);
        for (number, (name, descriptor)) in (0..).zip(members) {
            self.later.entry((class, name, descriptor)).or_insert(number);
            names[class.index()] |= super::bit(name);
        }
        self.names = names.into();
    }
}
