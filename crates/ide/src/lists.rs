//! The list of a container's classes as the database stores it: a base list and patches to it ([`Container::base`]).
//! An edit changes only the patches, so results computed from the base stay valid.

use std::collections::BTreeMap;
use std::sync::Arc;

use always_assert::never;
use program::input::{ClassFile, Container, Patch, Role};
use rustc_hash::FxHashMap;
use salsa::{Durability, Setter};
use vfs::file::FileId;

use crate::db::RootDatabase;

/// The list of a container's classes in the database: a base list, and patches, which are its differences to the base
/// list.
pub(crate) struct ClassList {
    pub(crate) container: Container,
    /// The index of each file in the base list ([`Container::base`]).
    places: FxHashMap<FileId, u32>,
}

/// The limit for the size of the patches ([`size`]). If they are larger, the current list may become the new base
/// list.
const FEW: usize = 64;

impl ClassList {
    /// Creates the empty list of a new container.
    pub(crate) fn new(db: &RootDatabase, role: Role) -> Self {
        let container = Container::builder(role, Arc::default(), Arc::default());
        let container =
            container.base_durability(base_durability(role)).role_durability(list_durability(role));
        let container = container.patches_durability(list_durability(role)).new(db);
        ClassList { container, places: FxHashMap::default() }
    }

    /// Sets the role of the container in the program.
    pub(crate) fn set_role(&self, db: &mut RootDatabase, role: Role) {
        if self.container.role(db) != role {
            self.container.set_role(db).with_durability(list_durability(role)).to(role);
        }
    }

    /// Sets the list to these classes, in this order. `unedited` returns, of the inputs of a file, the one whose
    /// content was never edited, or the given input if there is none.
    pub(crate) fn set(
        &mut self,
        db: &mut RootDatabase,
        classes: &[(FileId, ClassFile)],
        unedited: impl Fn(FileId, ClassFile) -> ClassFile,
    ) {
        let mut now = patches(self.container.base(db), &self.places, classes);
        if self.places.is_empty() || size(&now) > FEW {
            let base: Vec<ClassFile> = classes.iter().map(|it| unedited(it.0, it.1)).collect();
            let places = classes.iter().zip(0..).map(|(it, number)| (it.0, number)).collect();
            let of_new = patches(&base, &places, classes);
            if size(&of_new) <= size(&now) / 2 {
                let durability = base_durability(self.container.role(db));
                self.container.set_base(db).with_durability(durability).to(base.into());
                (self.places, now) = (places, of_new);
            }
        }
        self.set_patches(db, now);
    }

    /// Replaces inputs by other inputs of the same files. Each item is a file, its old input and its new one.
    pub(crate) fn replace(&self, db: &mut RootDatabase, replaced: &[(FileId, ClassFile, ClassFile)]) {
        let base = self.container.base(db);
        let before = self.container.patches(db).iter().map(|it| (it.at, it.classes.to_vec()));
        let mut patches: BTreeMap<u32, Vec<ClassFile>> = before.collect();
        for &(file, old, now) in replaced {
            let place = self.places.get(&file).copied();
            let is_here = |at: &u32| patches.get(at).is_none_or(|it| it.contains(&old));
            // A file that is not at its place in the base is listed in some patch.
            let at = place.filter(is_here);
            let at = at.or_else(|| patches.iter().find(|it| it.1.contains(&old)).map(|it| *it.0));
            let Some(at) = at else {
                never!("the class list does not contain an input that is to be replaced");
                continue;
            };
            let listed = patches.entry(at).or_insert_with(|| vec![old]);
            listed.iter_mut().filter(|it| **it == old).for_each(|it| *it = now);
            if base.get(at as usize).is_some_and(|it| **listed == [*it]) {
                patches.remove(&at);
            }
        }
        let now = patches.into_iter().map(|(at, classes)| Patch { at, classes: classes.into() });
        let now = now.collect();
        self.set_patches(db, now);
    }

    fn set_patches(&self, db: &mut RootDatabase, now: Vec<Patch>) {
        if *self.container.patches(db) != *now {
            let durability = list_durability(self.container.role(db));
            self.container.set_patches(db).with_durability(durability).to(now.into());
        }
    }
}

/// Returns the patches that turn the list `base` into `classes`: each replaces the base class at one index by a list
/// of classes. `places` has the index of each file in `base`. A class without a place in `base`, or out of order, is
/// put into the patch of the next class that stays at its index, or at the end.
fn patches(
    base: &[ClassFile],
    places: &FxHashMap<FileId, u32>,
    classes: &[(FileId, ClassFile)],
) -> Vec<Patch> {
    let (mut acc, mut next, mut waiting) = (Vec::new(), 0, Vec::new());
    let mut put = |at: u32, classes: &mut Vec<ClassFile>| {
        let is_same = base.get(at as usize).map_or(classes.is_empty(), |it| **classes == [*it]);
        if !is_same {
            acc.push(Patch { at, classes: std::mem::take(classes).into() });
        }
        classes.clear();
    };
    for (file, class) in classes {
        waiting.push(*class);
        if let Some(&at) = places.get(file).filter(|it| **it >= next) {
            let mut here = waiting.pop().into_iter().collect();
            if at == next {
                waiting.append(&mut here);
                put(at, &mut waiting);
            } else {
                // The base classes between were removed.
                (next..at).for_each(|it| put(it, &mut waiting));
                put(at, &mut here);
            }
            next = at + 1;
        }
    }
    (next..=base.len() as u32).for_each(|it| put(it, &mut waiting));
    acc
}

/// The number of classes that the patches add to the base list or remove from it.
fn size(patches: &[Patch]) -> usize {
    patches.iter().map(|it| it.classes.len().max(1)).sum()
}

/// The durability of the salsa input that holds a container's base list.
fn base_durability(role: Role) -> Durability {
    match role {
        Role::App => Durability::MEDIUM,
        Role::Lib | Role::Jdk => Durability::HIGH,
    }
}

/// The durability of the salsa inputs that hold a container's role and the patches to its base list.
fn list_durability(role: Role) -> Durability {
    match role {
        Role::App => Durability::LOW,
        Role::Lib | Role::Jdk => Durability::HIGH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_utils::rng::Rng;
    use vfs::file::Vfs;
    use vfs::identity::EntryIdentity;

    /// Creates files, each with an unedited input and an edited one.
    fn inputs(db: &RootDatabase, container: Container, n: usize) -> Vec<(FileId, [ClassFile; 2])> {
        let mut vfs = Vfs::default();
        let files = (0..n).map(|it| vfs.file(&format!("{it}.class")));
        let input = |file| ClassFile::new(db, container, file, EntryIdentity::of_bytes(b""), Arc::default());
        files.map(|file| (file, [input(file), input(file)])).collect()
    }

    #[test]
    fn a_list_contains_the_classes_it_was_set_to() {
        let mut rng = Rng::new(3);
        for n in [0, 1, 4, 300] {
            let mut db = RootDatabase::default();
            let mut list = ClassList::new(&db, Role::App);
            let all = inputs(&db, list.container, n);
            let mut now: Vec<(FileId, ClassFile)> = Vec::new();
            for _ in 0..60 {
                let is_small = rng.chance(70);
                match rng.below(3) {
                    // Remove some classes, add others, with either input.
                    0 => {
                        now.retain(|_| !rng.chance(if is_small { 1 } else { 40 }));
                        for &(file, inputs) in &all {
                            if rng.chance(if is_small { 1 } else { 60 }) && now.iter().all(|it| it.0 != file)
                            {
                                let at = rng.below(now.len() as u32 + 1) as usize;
                                now.insert(at, (file, rng.one(inputs)));
                            }
                        }
                        list.set(&mut db, &now, |file, _| all[file.index()].1[0]);
                    }
                    // Sort the classes by file number.
                    1 => {
                        now.sort_by_key(|it| it.0.index());
                        list.set(&mut db, &now, |file, _| all[file.index()].1[0]);
                    }
                    _ => {
                        let mut replaced = Vec::new();
                        for (file, class) in &mut now {
                            if rng.chance(if is_small { 2 } else { 50 }) {
                                let other = all[file.index()].1.into_iter().find(|it| it != class);
                                let old = std::mem::replace(class, other.unwrap());
                                replaced.push((*file, old, *class));
                            }
                        }
                        list.replace(&mut db, &replaced);
                    }
                }
                let wanted: Vec<ClassFile> = now.iter().map(|it| it.1).collect();
                assert_eq!(list.container.classes(&db), wanted);
            }
        }
    }

    #[test]
    fn few_changes_keep_the_base() {
        let mut db = RootDatabase::default();
        let mut list = ClassList::new(&db, Role::App);
        let all = inputs(&db, list.container, 1_000);
        let mut now: Vec<(FileId, ClassFile)> = all.iter().map(|it| (it.0, it.1[0])).collect();
        list.set(&mut db, &now, |_, it| it);
        assert_eq!(list.container.patches(&db).len(), 0);
        let base = list.container.base(&db).to_vec();
        // One class is removed, one is edited, and one moves to the end.
        let moved = now.remove(500);
        now.remove(20);
        now.push(moved);
        list.set(&mut db, &now, |_, it| it);
        list.replace(&mut db, &[(all[7].0, all[7].1[0], all[7].1[1])]);
        assert_eq!(list.container.base(&db), base);
        assert_eq!(
            list.container.patches(&db).iter().map(|it| it.at).collect::<Vec<_>>(),
            [7, 20, 500, 1_000]
        );
        // When the old state is restored, no patch remains.
        list.replace(&mut db, &[(all[7].0, all[7].1[1], all[7].1[0])]);
        list.set(&mut db, &all.iter().map(|it| (it.0, it.1[0])).collect::<Vec<_>>(), |_, it| it);
        assert_eq!(list.container.patches(&db).len(), 0);
    }
}
