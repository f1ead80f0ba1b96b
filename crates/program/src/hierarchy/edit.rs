//! Editing a hierarchy: classes are removed and added, and all others keep their ids.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::class::{Class, ClassId, is_vacant_outline, slice, vacant};
use super::edited::{Before, Edited, How, Lists};
use super::member_index::edit_members;
use super::overrides::renew_overrides;
use super::patched::patch;
use super::{Hierarchy, Input, Surroundings, joined};
use crate::input::Role;
use crate::outline::Outline;

impl Hierarchy {
    /// Removes the classes `gone` and appends the classes `come`. The ids of removed classes are not reused: each
    /// then denotes an interface without members that has no valid name. Returns `None`, with nothing changed, if an
    /// added class has the name of a present class that is not removed.
    ///
    /// The cost depends on the number of classes above and below the removed and added classes. `lists` must be the
    /// index that [`Hierarchy::lists`] returned for this hierarchy; the edit updates this index.
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
            .then(|| Some((self.clone(), joined_again(self, gone, come, surroundings)?)));
        let edited = match patch(self, gone, come, surroundings, lists) {
            Some(it) => {
                let is_wanted =
                    |(before, other): &(Hierarchy, Hierarchy)| says_the_same(self, &it, before, other);
                debug_assert!(
                    wanted.flatten().as_ref().is_some_and(is_wanted),
                    "the hierarchy edited in place must equal the rebuilt hierarchy"
                );
                it
            }
            None => {
                let joined = joined_again(self, gone, come, surroundings)?;
                let (changed, open_otherwise) = compared(self, &joined);
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

    /// Builds the index of the references between classes that [`Hierarchy::edit`] uses and updates.
    pub fn lists(&self) -> Lists {
        let mut acc = Lists::default();
        self.ids().for_each(|it| acc.add(self, it));
        acc
    }
}

/// Compares two versions of a hierarchy. Returns the classes whose supertypes differ, and the classes for which the
/// versions disagree on what absent classes may do: belong to the class's package, extend the class, or be below the
/// class.
fn compared(before: &Hierarchy, edited: &Hierarchy) -> (Vec<ClassId>, Vec<ClassId>) {
    (with_other_supers(before, edited), with_other_openness(before, edited))
}

/// Returns whether `patched`, the result of an in-place edit of `before`, equals the rebuilt hierarchy `other`.
/// `edited` is the effect that the edit reported: it must list all classes that differ between `before` and `other`,
/// and may list further classes.
fn says_the_same(patched: &Hierarchy, edited: &Edited, before: &Hierarchy, other: &Hierarchy) -> bool {
    let (changed, open_otherwise) = compared(before, other);
    let vacant = |it: &ClassId| patched.is_vacant(*it) && other.is_vacant(*it);
    let was_there = |it: ClassId| {
        let there = it.index() < before.len() && !before.is_vacant(it);
        there.then(|| (before.name(it), before.supers(it)))
    };
    patched.by_name == other.by_name
        && patched.problems == other.problems
        && patched.names_outside == other.names_outside
        && with_other_supers(patched, other).iter().all(vacant)
        && with_other_openness(patched, other).is_empty()
        && patched.ids().all(|it| patched.children(it) == other.children(it))
        && changed.iter().all(|it| vacant(it) || edited.changed.contains(it))
        && open_otherwise.iter().all(|it| edited.open_otherwise.contains(it))
        && edited.changed.iter().all(|&it| edited.before.class(it, patched) == was_there(it))
}

/// Returns the hierarchy after an edit, with all links rebuilt by the method of [`Hierarchy::new`]. The index of
/// members is updated for the edit and not rebuilt. Returns `None` if two classes would have the same name.
fn joined_again(
    before: &Hierarchy,
    gone: &[ClassId],
    come: &[(Arc<Outline>, Role)],
    surroundings: &Surroundings,
) -> Option<Hierarchy> {
    let mut inputs: Vec<(Arc<Outline>, Role)> =
        before.classes.iter().map(|it| (Arc::clone(&it.outline), it.role)).collect();
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
    let members = (before.methods.clone(), before.fields.clone());
    let inputs: Vec<Input<'_>> =
        inputs.iter().map(|(outline, role)| Input { outline, role: *role }).collect();
    let problems = Vec::new();
    let how = (&*surroundings.modules, &surroundings.options);
    let mut acc = joined(&inputs, (by_name, problems), members, how, &before.classes, &mut || false)?;
    edit_members((&mut acc.methods, &mut acc.fields), before.len(), gone, come);
    let all: Vec<ClassId> = acc.ids().collect();
    renew_overrides(&mut acc, &[], &all);
    Some(acc)
}

/// Returns the classes whose outline or supertypes differ between two versions of a hierarchy. Supertypes differ if
/// their ids, their names, or the absent classes among them differ. Classes that only one version has are included.
fn with_other_supers(before: &Hierarchy, other: &Hierarchy) -> Vec<ClassId> {
    let same = |class: ClassId| match (before.classes.get(class.index()), other.classes.get(class.index())) {
        (Some(a), Some(b)) => {
            Arc::ptr_eq(&a.outline, &b.outline)
                && a.outside == b.outside
                && a.outside_class == b.outside_class
                && slice(&before.links, &a.links) == slice(&other.links, &b.links)
                && slice(&before.supers, &a.supers) == slice(&other.supers, &b.supers)
        }
        _ => false,
    };
    let n = before.len().max(other.len());
    (0..n).map(ClassId::from_index).filter(|&it| !same(it)).collect()
}

/// Returns the classes, present in both versions of a hierarchy, for which the versions disagree on what absent
/// classes may do: belong to the class's package, extend the class, or be below the class.
fn with_other_openness(before: &Hierarchy, other: &Hierarchy) -> Vec<ClassId> {
    let open = |hierarchy: &Hierarchy, class: usize| hierarchy.classes.get(class).map(Class::open);
    let n = before.len().min(other.len());
    let other_open = (0..n).filter(|&it| open(before, it) != open(other, it)).map(ClassId::from_index);
    other_open.filter(|&it| !before.is_vacant(it) && !other.is_vacant(it)).collect()
}
