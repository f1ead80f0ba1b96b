//! The in-place implementation of [`Hierarchy::edit`], at a cost that depends on the edit. It recomputes the links of
//! added classes and of classes that name an added or removed class, the supertypes of all classes below these, and,
//! for all classes above, what absent classes may be below.

use std::ops::Range;
use std::sync::Arc;

use classfile::names::ClassName;
use rustc_hash::{FxHashMap, FxHashSet};

use super::class::{Class, ClassId, Link, any_outside_above, slice, vacant};
use super::edited::{Before, Edited, How, Lists};
use super::links::{refused_of, ways_out};
use super::member_index::edit_members;
use super::open::{Packages, may_be_extended, nearest};
use super::overrides::renew_overrides;
use super::{Hierarchy, MAX_SUPERS, Problem, ProblemKind, Surroundings};
use crate::input::Role;
use crate::outline::Outline;

/// Returns the ids of the present supertypes to which `links` lead.
fn present<'a>(links: impl Iterator<Item = &'a Link>) -> impl Iterator<Item = ClassId> {
    links.filter_map(|it| match it {
        Link::Present(it) => Some(*it),
        Link::Outside(_) => None,
    })
}

/// The number of unused entries that each list of a hierarchy may have before it is compacted. The number is small in
/// debug builds, so that the assertion that compares a patched hierarchy with a rebuilt one tests compaction.
const MAX_WASTE: usize = if cfg!(debug_assertions) { 1 << 5 } else { 1 << 16 };

/// A hierarchy while it is edited in place, with the data needed to undo the edit.
struct Patch<'a> {
    hierarchy: &'a mut Hierarchy,
    /// The changed classes as they were before the edit.
    before: FxHashMap<ClassId, Class>,
    /// The lengths of `classes`, `links`, `supers` and `children` of the hierarchy before the edit.
    n_before: [usize; 4],
}

/// Removes the classes `gone` from the hierarchy and adds the classes `come`, in place. Returns `None`, with nothing
/// changed, if the hierarchy must be rebuilt instead: if a link of the hierarchy was cut ([`ProblemKind`]) or must be
/// cut because of the edit; if `java/lang/Object` is added or removed; or if two classes would have the same name.
pub(super) fn patch(
    hierarchy: &mut Hierarchy,
    gone: &[ClassId],
    come: &[(Arc<Outline>, Role)],
    surroundings: &Surroundings,
    lists: &Lists,
) -> Option<Edited> {
    let is_cut = |it: &Problem| matches!(it.kind, ProblemKind::Cycle | ProblemKind::TooManySupertypes);
    let names: Vec<ClassName> =
        gone.iter().map(|&it| hierarchy.name(it)).chain(come.iter().map(|it| it.0.class)).collect();
    let is_free = |it: &ClassName| hierarchy.class(*it).is_none_or(|it| gone.contains(&it));
    let coming = &names[gone.len()..];
    let is_twice = (1..coming.len()).any(|it| coming[it..].contains(&coming[it - 1]));
    if hierarchy.problems.iter().any(is_cut)
        || names.contains(&hierarchy.object)
        || is_twice
        || !coming.iter().all(is_free)
    {
        return None;
    }
    clear_away(hierarchy);
    let mut patch = Patch {
        before: FxHashMap::default(),
        n_before: [
            hierarchy.classes.len(),
            hierarchy.links.len(),
            hierarchy.supers.len(),
            hierarchy.children.len(),
        ],
        hierarchy,
    };
    match patch.patch(gone, come, &names, surroundings, lists) {
        Some((changed, open_otherwise)) => {
            let n_classes = patch.n_before[0];
            edit_members((&mut patch.hierarchy.methods, &mut patch.hierarchy.fields), n_classes, gone, come);
            renew_overrides(patch.hierarchy, &names, &changed);
            let before = Before(How::Patched { n_classes, classes: patch.before });
            Some(Edited { before, changed, open_otherwise })
        }
        None => {
            patch.take_back(come);
            None
        }
    }
}

/// Compacts the lists `links`, `supers` and `children`. Each edit appends new entries and leaves old ones unused; a
/// list is compacted when most of its entries are unused.
fn clear_away(hierarchy: &mut Hierarchy) {
    let classes = &mut hierarchy.classes;
    keep_used(&mut hierarchy.links, classes, |it| &mut it.links);
    keep_used(&mut hierarchy.supers, classes, |it| &mut it.supers);
    keep_used(&mut hierarchy.children, classes, |it| &mut it.children);
}

/// Drops the entries of `items` that no class uses, if most entries are unused. `range` returns the range of entries
/// that a class uses.
fn keep_used<T: Copy>(
    items: &mut Vec<T>,
    classes: &mut [Class],
    range: impl Fn(&mut Class) -> &mut Range<u32>,
) {
    // Below this size, the scan over all classes is not worth its cost.
    if items.len() <= MAX_WASTE {
        return;
    }
    let n: usize = classes.iter_mut().map(|it| range(it).len()).sum();
    if items.len() <= 2 * n + MAX_WASTE {
        return;
    }
    let mut acc = Vec::with_capacity(n + MAX_WASTE);
    for it in classes {
        let range = range(it);
        let start = acc.len() as u32;
        acc.extend_from_slice(slice(items, range));
        *range = start..acc.len() as u32;
    }
    *items = acc;
}

/// The effect of an edit: the classes whose supertypes changed, and the classes for which the edit changed what
/// absent classes may do with them.
type Changes = (Vec<ClassId>, Vec<ClassId>);

impl Patch<'_> {
    fn patch(
        &mut self,
        gone: &[ClassId],
        come: &[(Arc<Outline>, Role)],
        names: &[ClassName],
        surroundings: &Surroundings,
        lists: &Lists,
    ) -> Option<Changes> {
        let first = self.n_before[0];
        let of = |it: &ClassId| (self.hierarchy.links(*it).to_vec(), self.hierarchy.children(*it).to_vec());
        let (links, children): (Vec<Vec<Link>>, Vec<Vec<ClassId>>) = gone.iter().map(of).unzip();
        gone.iter().for_each(|&it| self.vacate(it));
        self.place(come, surroundings);
        let there =
            |this: &Self, name: &ClassName, of: &FxHashMap<ClassName, Vec<ClassId>>| -> Vec<ClassId> {
                let known = of.get(name).into_iter().flatten().copied();
                known.filter(|it| !this.hierarchy.is_vacant(*it)).collect()
            };
        // The classes that name an added or removed one, and the added ones.
        let mut linking: Vec<ClassId> = (first..self.hierarchy.len()).map(ClassId::from_index).collect();
        linking.extend(children.into_iter().flatten().filter(|it| !gone.contains(it)));
        linking.extend(come.iter().flat_map(|it| there(self, &it.0.class, &lists.outside)));
        linking.sort_unstable();
        linking.dedup();
        let parents = self.link(&linking, gone, links.iter().flatten());
        let below = self.climb(&linking)?;

        let mut asked: FxHashSet<ClassId> =
            linking.iter().copied().filter(|it| it.index() >= first).collect();
        for name in names {
            let hosts = there(self, name, &lists.listing);
            asked.extend(hosts.iter().flat_map(|&it| there(self, &self.hierarchy.name(it), &lists.nests)));
            asked.extend(hosts);
            asked.extend(there(self, name, &lists.nests));
        }
        for &it in &asked {
            let all = &*self.hierarchy;
            let extended = may_be_extended(&all.classes[it.index()], &all.classes, &all.by_name);
            let class = self.class(it);
            (class.nameable, class.extensible) = extended;
        }
        let changed = below.iter().chain(&asked).chain(&parents).copied();
        let replaced: Vec<ClassId> = gone.iter().chain(&linking).copied().collect();
        let looked_at = self.look_below(changed.filter(|it| !gone.contains(it)), &replaced);
        let is_other = |it: &ClassId| {
            let before = self.before.get(it).map(Class::open);
            it.index() < first
                && before.is_some_and(|it_was| it_was != self.hierarchy.classes[it.index()].open())
        };
        let mut open_otherwise: Vec<ClassId> =
            looked_at.into_iter().chain(asked.iter().copied()).filter(is_other).collect();
        open_otherwise.sort_unstable();
        open_otherwise.dedup();

        let all = &mut *self.hierarchy;
        let mut problems: Vec<Problem> = Vec::new();
        let linked: FxHashSet<ClassName> = linking
            .iter()
            .map(|it| all.classes[it.index()].outline.class)
            .chain(names.iter().copied())
            .collect();
        let overrides = |it: &&Problem| it.kind == ProblemKind::FinalMethod;
        problems.extend(all.problems.iter().filter(|it| overrides(it) || !linked.contains(&it.class)));
        for it in &linking {
            refused_of(&all.classes[it.index()], &all.classes, &all.links, &mut problems);
        }
        problems.sort_by_key(|it| (it.class.bytes(), it.kind, it.other.bytes()));
        problems.dedup();
        all.problems = problems.into();
        all.has_absent_supertype = any_outside_above(&all.classes);
        all.names_outside = surroundings.options.names_outside || all.has_absent_supertype;
        Some((below.into_iter().chain(gone.iter().copied()).collect(), open_otherwise))
    }

    /// Reverts all changes that the edit made to the hierarchy so far. `come` are the classes that the edit added.
    fn take_back(self, come: &[(Arc<Outline>, Role)]) {
        let all = self.hierarchy;
        for (outline, _) in come {
            all.by_name.remove(&outline.class);
        }
        let [n_classes, n_links, n_supers, n_children] = self.n_before;
        all.classes.truncate(n_classes);
        all.links.truncate(n_links);
        all.supers.truncate(n_supers);
        all.children.truncate(n_children);
        for (id, class) in self.before {
            all.by_name.insert(class.outline.class, id);
            all.classes[id.index()] = class;
        }
    }

    /// Returns the class for modification, after saving its present state, so that the edit can be undone.
    fn class(&mut self, class: ClassId) -> &mut Class {
        let it = &mut self.hierarchy.classes[class.index()];
        if class.index() < self.n_before[0] {
            self.before.entry(class).or_insert_with(|| it.clone());
        }
        it
    }

    fn vacate(&mut self, class: ClassId) {
        let all = &mut *self.hierarchy;
        all.by_name.remove(&all.classes[class.index()].outline.class);
        let at = all.supers.len() as u32;
        all.supers.push(class);
        *self.class(class) =
            Class { supers: at..at + 1, ..Class::unlinked(Arc::new(vacant(class)), Role::Jdk) };
    }

    /// Appends the classes `come` to the hierarchy, without links.
    fn place(&mut self, come: &[(Arc<Outline>, Role)], surroundings: &Surroundings) {
        let packages = Packages::new(&surroundings.modules, &surroundings.options);
        let all = &mut *self.hierarchy;
        for (outline, role) in come {
            all.by_name.insert(outline.class, ClassId::from_index(all.classes.len()));
            all.classes.push(Class {
                package: packages.of(*role, outline.class),
                module: packages.module(*role, outline.class),
                has_super: outline.super_class.is_some(),
                ..Class::unlinked(Arc::clone(outline), *role)
            });
        }
    }

    fn parents(&self, class: ClassId) -> Vec<ClassId> {
        present(self.hierarchy.links(class).iter()).collect()
    }

    /// Looks up the names of the supertypes of the classes `linking`, stores the resulting links, and updates the
    /// lists of direct subtypes. `gone` are the removed classes, and `gone_links` the links that they had. Returns
    /// the classes whose direct subtypes changed.
    fn link<'a>(
        &mut self,
        linking: &[ClassId],
        gone: &[ClassId],
        gone_links: impl Iterator<Item = &'a Link>,
    ) -> Vec<ClassId> {
        // Removed classes are removed from the children of their supertypes.
        let mut parents: Vec<ClassId> = present(gone_links).collect();
        for &class in linking {
            parents.extend(self.parents(class));
            let all = &mut *self.hierarchy;
            let outline = Arc::clone(&all.classes[class.index()].outline);
            let at = all.links.len() as u32;
            for name in outline.super_class.iter().chain(&outline.interfaces) {
                let link = all.by_name.get(name).map_or(Link::Outside(*name), |it| Link::Present(*it));
                all.links.push(link);
            }
            let links = at..all.links.len() as u32;
            self.class(class).links = links;
            parents.extend(self.parents(class));
        }
        parents.sort_unstable();
        parents.dedup();
        parents.retain(|it| !gone.contains(it));
        let is_linking: FxHashSet<ClassId> = linking.iter().copied().collect();
        let mut new: FxHashMap<ClassId, Vec<ClassId>> = FxHashMap::default();
        for &class in linking {
            for parent in self.parents(class) {
                new.entry(parent).or_default().push(class);
            }
        }
        for &parent in &parents {
            let old = self.hierarchy.children(parent).iter().copied();
            let mut mine: Vec<ClassId> =
                old.filter(|it| !gone.contains(it) && !is_linking.contains(it)).collect();
            mine.extend(new.remove(&parent).into_iter().flatten());
            mine.sort_unstable();
            mine.dedup();
            let all = &mut *self.hierarchy;
            let at = all.children.len() as u32;
            all.children.extend(mine);
            let children = at..all.children.len() as u32;
            self.class(parent).children = children;
        }
        parents
    }

    /// Recomputes the supertypes of the classes `linking` and of all classes below them, and returns all these
    /// classes. Returns `None` if the links have a cycle or a class has more than [`MAX_SUPERS`] supertypes.
    fn climb(&mut self, linking: &[ClassId]) -> Option<Vec<ClassId>> {
        let mut below: Vec<ClassId> = linking.to_vec();
        let mut seen: FxHashSet<ClassId> = below.iter().copied().collect();
        let mut at = 0;
        while let Some(&it) = below.get(at) {
            at += 1;
            let children = self.hierarchy.children(it);
            below.extend(children.iter().copied().filter(|it| seen.insert(*it)));
        }
        // Topological order: every class after those of its supertypes that are in `below`.
        let mut waiting: FxHashMap<ClassId, usize> = FxHashMap::default();
        let mut ready = Vec::new();
        for &it in &below {
            let mut parents = self.parents(it);
            parents.sort_unstable();
            parents.dedup();
            let n = parents.iter().filter(|it| seen.contains(it)).count();
            if n == 0 { ready.push(it) } else { _ = waiting.insert(it, n) }
        }
        let mut done = 0;
        while let Some(class) = ready.pop() {
            done += 1;
            self.climb_from(class)?;
            for child in self.hierarchy.children(class) {
                if let Some(n) = waiting.get_mut(child) {
                    *n -= 1;
                    if *n == 0 {
                        ready.push(*child);
                    }
                }
            }
        }
        (done == below.len()).then_some(below)
    }

    fn climb_from(&mut self, class: ClassId) -> Option<()> {
        let mut mine = vec![class];
        for parent in self.parents(class) {
            mine.extend(self.hierarchy.supers(parent));
        }
        mine.sort_unstable();
        mine.dedup();
        if mine.len() > MAX_SUPERS {
            return None;
        }
        let all = &mut *self.hierarchy;
        let it = &all.classes[class.index()];
        let above = |it: ClassId| (all.classes[it.index()].outside, all.classes[it.index()].outside_class);
        let ways = ways_out(slice(&all.links, &it.links), it.has_super, all.object, above);
        let at = all.supers.len() as u32;
        all.supers.extend(mine);
        let supers = at..all.supers.len() as u32;
        let it = self.class(class);
        it.supers = supers;
        (it.outside, it.outside_class) = ways;
        Some(())
    }

    /// Recomputes, for the classes `changed` and all their supertypes, whether absent classes may be below the class,
    /// and returns all these classes. `replaced` holds the classes that the edit removed and those whose links to
    /// supertypes it replaced.
    fn look_below(&mut self, changed: impl Iterator<Item = ClassId>, replaced: &[ClassId]) -> Vec<ClassId> {
        let mut all: FxHashSet<ClassId> = FxHashSet::default();
        for it in changed {
            all.extend(self.hierarchy.supers(it));
        }
        let mut order: Vec<ClassId> = all.into_iter().collect();
        // A subtype has more supertypes than each of its supertypes.
        order.sort_unstable_by_key(|it| std::cmp::Reverse(self.hierarchy.supers(*it).len()));
        let mut news: FxHashMap<ClassId, Vec<(Nearest, Nearest)>> = FxHashMap::default();
        for it in replaced {
            let Some(before) = self.before.get(it) else { continue };
            for parent in present(slice(&self.hierarchy.links, &before.links).iter()) {
                news.entry(parent).or_default().push((Nearest::of(before), Nearest::NOTHING));
            }
        }
        let replaced: FxHashSet<ClassId> = replaced.iter().copied().collect();
        for &class in &order {
            let was = Nearest::of(self.before.get(&class).unwrap_or(&self.hierarchy.classes[class.index()]));
            let below = self.below(class, news.get(&class).map_or(&[], Vec::as_slice));
            if below != Nearest::of(&self.hierarchy.classes[class.index()]) {
                let it = self.class(class);
                (it.witness, it.distance, it.nameable_below) =
                    (below.witness, below.distance, below.nameable);
            }
            let was = if replaced.contains(&class) { Nearest::NOTHING } else { was };
            if below != was {
                for parent in self.parents(class) {
                    news.entry(parent).or_default().push((was, below));
                }
            }
        }
        order
    }

    /// Computes whether absent classes may be below a class. `news` holds the old and the new result for each direct
    /// subtype whose result changed. The other direct subtypes, of which there may be very many, are examined only if
    /// the old result for the class is not known or came from a subtype in `news`.
    fn below(&self, class: ClassId, news: &[(Nearest, Nearest)]) -> Nearest {
        let all = &self.hierarchy.classes;
        let own = &all[class.index()];
        let flags = |it: &Class| (it.nameable, it.extensible);
        let before = self.before.get(&class);
        let is_known = class.index() < self.n_before[0] && before.is_none_or(|it| flags(it) == flags(own));
        let mut acc = Nearest::of(own);
        let is_lost = |was: &Nearest, now: &Nearest| {
            let is_witness = acc.witness.is_some() && was.above() == (acc.witness, acc.distance);
            let is_nameable = acc.nameable && !own.nameable && was.nameable;
            is_witness && now.above() != was.above() || is_nameable && !now.nameable
        };
        if !is_known || news.iter().any(|(was, now)| is_lost(was, now)) {
            let (witness, distance, nameable) = nearest(class, all, &self.hierarchy.children);
            return Nearest { witness, distance, nameable };
        }
        for (_, it) in news {
            acc.nameable |= it.nameable;
            let (Some(witness), there) = it.above() else { continue };
            let text = |id: ClassId| all[id.index()].outline.class.bytes();
            if acc.witness.is_none_or(|old| (there, text(witness)) < (acc.distance, text(old))) {
                (acc.witness, acc.distance) = (Some(witness), there);
            }
        }
        acc
    }
}

/// The result of [`nearest`] for a class: whether absent classes may be below the class, and the nearest class that
/// they may extend.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Nearest {
    witness: Option<ClassId>,
    distance: u32,
    nameable: bool,
}

impl Nearest {
    /// The value for a class that is not present.
    const NOTHING: Nearest = Nearest { witness: None, distance: u32::MAX, nameable: false };

    fn of(class: &Class) -> Nearest {
        Nearest { witness: class.witness, distance: class.distance, nameable: class.nameable_below }
    }

    /// Returns the values of `witness` and `distance` for a direct supertype of the class: the same witness, and a
    /// distance that is larger by one.
    fn above(self) -> (Option<ClassId>, u32) {
        (self.witness, self.distance.saturating_add(1))
    }
}
