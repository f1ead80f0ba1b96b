//! Lookup of declared members by class, name and descriptor.

use std::hash::BuildHasher;
use std::sync::Arc;

use classfile::names::{Descriptor, Name};
use rustc_hash::FxHashMap;

use super::class::ClassId;
use super::{AT_ONCE, Input};
use crate::input::Role;
use crate::outline::Outline;

/// An index of declared methods, or of declared fields, by class, name and descriptor.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct MemberIndex {
    /// The members of the classes that the hierarchy had when it was built, before any edit.
    index: Arc<Index>,
    /// The members of the classes that edits added.
    later: Index,
    /// The number of classes that the hierarchy had when it was built, before any edit.
    n_first: usize,
    /// For each class, a 64-bit Bloom filter of the names of its declared members. Most lookups on the way up a chain
    /// of supertypes find nothing, and the filter lets them skip the index.
    names: Vec<u64>,
}

type Index = FxHashMap<(ClassId, Name, Descriptor), u32>;

impl MemberIndex {
    /// Returns the position, among the methods or fields of its class, of the member with this name and descriptor;
    /// `None` if the class declares none.
    pub(super) fn get(&self, class: ClassId, name: Name, descriptor: Descriptor) -> Option<u32> {
        if self.names.get(class.index()).copied().unwrap_or(0) & bit(name) == 0 {
            return None;
        }
        let index = if class.index() < self.n_first { &self.index } else { &self.later };
        index.get(&(class, name, descriptor)).copied()
    }

    /// Builds the index of the `n` members that `all` yields, each with its class, name, descriptor and position;
    /// `classes` is the number of classes. If a class has several members with the same name and descriptor, the
    /// index has only the first. Returns `None` if `cancelled` returns true.
    fn new(
        n: usize,
        classes: usize,
        all: impl Iterator<Item = (ClassId, Name, Descriptor, u32)>,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Option<Self> {
        let mut index = Index::default();
        let mut names = vec![0; classes];
        index.reserve(n);
        for (i, (class, name, descriptor, number)) in all.enumerate() {
            if i % (8 * AT_ONCE) == 0 && cancelled() {
                return None;
            }
            index.entry((class, name, descriptor)).or_insert(number);
            names[class.index()] |= bit(name);
        }
        let index = Arc::new(index);
        Some(MemberIndex { index, later: Index::default(), n_first: classes, names })
    }

    /// Removes the members of a class from the index. The id of the class must not be reused.
    fn forget(&mut self, class: ClassId) {
        self.names[class.index()] = 0;
    }

    /// Adds to the index the members of a class that an edit appended to the hierarchy.
    fn add(&mut self, class: ClassId, members: impl Iterator<Item = (Name, Descriptor)>) {
        self.names.resize((class.index() + 1).max(self.names.len()), 0);
        for (number, (name, descriptor)) in (0..).zip(members) {
            self.later.entry((class, name, descriptor)).or_insert(number);
            self.names[class.index()] |= bit(name);
        }
    }
}

fn bit(name: Name) -> u64 {
    1 << (rustc_hash::FxBuildHasher.hash_one(name) >> 58)
}

/// Builds the index of the declared methods and the index of the declared fields. Returns `None` if `cancelled`
/// returns true.
pub(super) fn members(
    inputs: &[Input<'_>],
    cancelled: &mut dyn FnMut() -> bool,
) -> Option<(MemberIndex, MemberIndex)> {
    let (n_methods, n_fields) = (
        inputs.iter().map(|it| it.outline.methods.len()).sum(),
        inputs.iter().map(|it| it.outline.fields.len()).sum(),
    );
    let classes = || (0..).map(ClassId::from_index).zip(inputs);
    let methods = classes().flat_map(|(id, it)| {
        (0..).zip(&it.outline.methods).map(move |(number, it)| (id, it.name, it.descriptor, number))
    });
    let fields = classes().flat_map(|(id, it)| {
        (0..).zip(&it.outline.fields).map(move |(number, it)| (id, it.name, it.descriptor, number))
    });
    let methods = MemberIndex::new(n_methods, inputs.len(), methods, cancelled)?;
    Some((methods, MemberIndex::new(n_fields, inputs.len(), fields, cancelled)?))
}

/// Updates the indices of methods and of fields after an edit that removed the classes `gone` and added the classes
/// `come`. The added classes have ids from `first` on.
pub(super) fn edit_members(
    (methods, fields): (&mut MemberIndex, &mut MemberIndex),
    first: usize,
    gone: &[ClassId],
    come: &[(Arc<Outline>, Role)],
) {
    for &it in gone {
        methods.forget(it);
        fields.forget(it);
    }
    for (id, (outline, _)) in (first..).map(ClassId::from_index).zip(come) {
        methods.add(id, outline.methods.iter().map(|it| (it.name, it.descriptor)));
        fields.add(id, outline.fields.iter().map(|it| (it.name, it.descriptor)));
    }
}
