//! A hierarchy after classes have gone and come, in which all others keep their numbers.

use std::sync::Arc;

use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, Name};
use rustc_hash::FxHashMap;

use super::{ClassId, Hierarchy, Input, Members, Surroundings, slice};
use crate::input::Role;
use crate::outline::Outline;

/// `ACC_FINAL`, `ACC_INTERFACE`, `ACC_ABSTRACT` (JVMS §4.1): nothing is below it, and nothing is made of it.
const VACANT: Flags = Flags(0x0610);

impl Hierarchy {
    /// The hierarchy without the classes `gone`, and with those of `come` behind all others. The numbers of classes that are
    /// gone stay vacant: by such a number there is an interface without members that no name leads to. `None` if a class
    /// that comes has the name of one that is there.
    ///
    /// Names are looked up, supertypes collected and children listed anew, as in [`Hierarchy::new`]; what is declared is not.
    pub fn edited(
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
        let (mut methods, mut fields) = (self.methods.clone(), self.fields.clone());
        gone.iter().for_each(|&it| {
            methods.forget(it);
            fields.forget(it);
        });
        for (id, (outline, _)) in (self.classes.len() as u32..).map(ClassId).zip(come) {
            methods.add(id, outline.methods.iter().map(|it| (it.name, it.descriptor)));
            fields.add(id, outline.fields.iter().map(|it| (it.name, it.descriptor)));
        }
        let inputs: Vec<Input<'_>> =
            inputs.iter().map(|(outline, role)| Input { outline, role: *role }).collect();
        let problems = Vec::new();
        let how = (&*surroundings.modules, &surroundings.options);
        Some(Hierarchy::joined(&inputs, (by_name, problems), (methods, fields), how, Some(self)))
    }

    /// Whether the number is that of a class that is gone.
    pub fn is_vacant(&self, class: ClassId) -> bool {
        is_vacant_outline(self.outline(class))
    }

    /// The classes of both hierarchies, of which one is an edited other, whose supertypes are not the same in both: by
    /// number, by name, or as far as they are known.
    pub fn with_other_supers(&self, other: &Hierarchy) -> Vec<ClassId> {
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
    pub fn open_otherwise(&self, other: &Hierarchy) -> Vec<ClassId> {
        let open = |hierarchy: &Hierarchy, class: usize| {
            hierarchy
                .classes
                .get(class)
                .map(|it| (it.package, it.module, it.nameable, it.extensible, it.nameable_below, it.witness))
        };
        let n = self.len().min(other.len());
        (0..n).filter(|&it| open(self, it) != open(other, it)).map(ClassId::new).collect()
    }
}

/// What stands at a number that is vacant. No class file can have its name: a zero byte is no modified UTF-8 (JVMS §4.4.7).
fn vacant(class: ClassId) -> Outline {
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

fn is_vacant_outline(outline: &Outline) -> bool {
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
