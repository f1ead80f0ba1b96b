//! [`Hierarchy::edited`] at the price of what changes: links of the classes that came and of those that name one that went or
//! came, supertypes of what is below these, and what may be below all that is above.

use std::ops::Range;
use std::sync::Arc;

use classfile::names::ClassName;
use rustc_hash::{FxHashMap, FxHashSet};

use super::edited::{Edited, Lists, vacant};
use super::links::{refused_of, ways_out};
use super::open::{Packages, may_be_extended, nearest};
use super::{
    Class, ClassId, Hierarchy, Link, MAX_SUPERS, Problem, ProblemKind, Surroundings, any_outside_above, slice,
};
use crate::input::Role;
use crate::outline::Outline;

/// The present ones of some supertypes.
fn present<'a>(links: impl Iterator<Item = &'a Link>) -> impl Iterator<Item = ClassId> {
    links.filter_map(|it| match it {
        Link::Present(it) => Some(*it),
        Link::Outside(_) => None,
    })
}

/// A copy of what all classes have in common memory. Each edit puts new lists behind the old ones; where these are most of it,
/// only what some class still has is copied.
fn copied<T: Copy>(
    items: &[T],
    classes: &mut [Class],
    range: impl Fn(&mut Class) -> &mut Range<u32>,
) -> Vec<T> {
    let n: usize = classes.iter_mut().map(|it| range(it).len()).sum();
    if items.len() <= 2 * n + MAX_WASTE {
        return items.to_vec();
    }
    let mut acc = Vec::with_capacity(n);
    for it in classes {
        let range = range(it);
        let start = acc.len() as u32;
        acc.extend_from_slice(slice(items, range));
        *range = start..acc.len() as u32;
    }
    acc
}

/// So much may lie about before it is cleared away; little where assertions hold what comes of it against a hierarchy that is
/// joined anew.
const MAX_WASTE: usize = if cfg!(debug_assertions) { 1 << 5 } else { 1 << 16 };

/// A hierarchy that is being changed.
struct Patch {
    classes: Vec<Class>,
    by_name: FxHashMap<ClassName, ClassId>,
    links: Vec<Link>,
    supers: Vec<ClassId>,
    children: Vec<ClassId>,
    object: ClassName,
}

impl Hierarchy {
    /// See the module. `None` where links are cut, or are to be: then the whole has to be looked at.
    pub(super) fn patched(
        &self,
        gone: &[ClassId],
        come: &[(Arc<Outline>, Role)],
        surroundings: &Surroundings,
        lists: &Lists,
    ) -> Option<Edited> {
        let is_cut = |it: &Problem| matches!(it.kind, ProblemKind::Cycle | ProblemKind::TooManySupertypes);
        let names: Vec<ClassName> =
            gone.iter().map(|&it| self.name(it)).chain(come.iter().map(|it| it.0.class)).collect();
        if self.problems.iter().any(is_cut) || names.contains(&self.object) {
            return None;
        }
        let mut classes = self.classes.to_vec();
        let mut patch = Patch {
            links: copied(&self.links, &mut classes, |it| &mut it.links),
            supers: copied(&self.supers, &mut classes, |it| &mut it.supers),
            children: copied(&self.children, &mut classes, |it| &mut it.children),
            classes,
            by_name: self.by_name.clone(),
            object: self.object,
        };
        let there = |name: &ClassName, of: &FxHashMap<ClassName, Vec<ClassId>>| -> Vec<ClassId> {
            let known = of.get(name).into_iter().flatten().copied();
            known.filter(|it| !self.is_vacant(*it) && !gone.contains(it)).collect()
        };
        gone.iter().for_each(|&it| patch.vacate(it));
        let first = patch.classes.len();
        patch.place(come, surroundings)?;
        // Who names one that went or came.
        let mut linking: Vec<ClassId> = (first..patch.classes.len()).map(ClassId::new).collect();
        linking.extend(gone.iter().flat_map(|&it| self.children(it)).filter(|it| !gone.contains(it)));
        linking.extend(come.iter().flat_map(|it| there(&it.0.class, &lists.outside)));
        linking.sort_unstable();
        linking.dedup();
        let parents = patch.link(&linking, gone, gone.iter().flat_map(|&it| self.links(it)));
        let below = patch.climb(&linking)?;

        let mut asked: FxHashSet<ClassId> =
            linking.iter().copied().filter(|it| it.index() >= first).collect();
        for name in &names {
            let hosts = there(name, &lists.listing);
            asked.extend(hosts.iter().flat_map(|&it| there(&self.name(it), &lists.nests)));
            asked.extend(hosts);
            asked.extend(there(name, &lists.nests));
        }
        for &it in &asked {
            let extended = may_be_extended(&patch.classes[it.index()], &patch.classes, &patch.by_name);
            let class = &mut patch.classes[it.index()];
            (class.nameable, class.extensible) = extended;
        }
        let changed = below.iter().chain(&asked).chain(&parents).copied();
        let looked_at = patch.look_below(changed.filter(|it| !gone.contains(it)));
        let open = |classes: &[Class], it: ClassId| classes.get(it.index()).map(Class::open);
        let is_other =
            |it: &ClassId| it.index() < first && open(&self.classes, *it) != open(&patch.classes, *it);
        let mut open_otherwise: Vec<ClassId> =
            looked_at.into_iter().chain(asked.iter().copied()).filter(is_other).collect();
        open_otherwise.sort_unstable();
        open_otherwise.dedup();

        let mut problems: Vec<Problem> = Vec::new();
        let linked: FxHashSet<ClassName> =
            linking.iter().map(|it| patch.classes[it.index()].outline.class).chain(names).collect();
        problems.extend(self.problems.iter().filter(|it| !linked.contains(&it.class)));
        for it in &linking {
            refused_of(&patch.classes[it.index()], &patch.classes, &patch.links, &mut problems);
        }
        problems.sort_by_key(|it| (it.class.bytes(), it.kind, it.other.bytes()));
        problems.dedup();
        let has_absent_supertype = any_outside_above(&patch.classes);
        let (methods, fields) = self.edited_members(gone, come);
        let changed = below.into_iter().chain(gone.iter().copied()).collect();
        let hierarchy = Hierarchy {
            classes: patch.classes.into(),
            by_name: patch.by_name,
            links: patch.links.into(),
            supers: patch.supers.into(),
            children: patch.children.into(),
            methods,
            fields,
            problems: problems.into(),
            object: self.object,
            world: self.world,
            names_outside: surroundings.options.names_outside || has_absent_supertype,
            has_absent_supertype,
        };
        Some(Edited { hierarchy, changed, open_otherwise })
    }
}

impl Patch {
    fn vacate(&mut self, class: ClassId) {
        let it = &mut self.classes[class.index()];
        self.by_name.remove(&it.outline.class);
        let at = self.supers.len() as u32;
        self.supers.push(class);
        *it = Class { supers: at..at + 1, ..Class::unlinked(Arc::new(vacant(class)), Role::Jdk) };
    }

    /// Gives classes their places. `None` if one has the name of another.
    fn place(&mut self, come: &[(Arc<Outline>, Role)], surroundings: &Surroundings) -> Option<()> {
        let packages = Packages::new(&surroundings.modules, &surroundings.options);
        for (outline, role) in come {
            let id = ClassId::new(self.classes.len());
            if self.by_name.insert(outline.class, id).is_some() {
                return None;
            }
            self.classes.push(Class {
                package: packages.of(*role, outline.class),
                module: packages.module(*role, outline.class),
                has_super: outline.super_class.is_some(),
                ..Class::unlinked(Arc::clone(outline), *role)
            });
        }
        Some(())
    }

    fn parents(&self, class: ClassId) -> Vec<ClassId> {
        present(slice(&self.links, &self.classes[class.index()].links).iter()).collect()
    }

    /// Looks up the names of supertypes, and lists the classes among the children of these. Gives those that have others now.
    fn link<'a>(
        &mut self,
        linking: &[ClassId],
        gone: &[ClassId],
        gone_links: impl Iterator<Item = &'a Link>,
    ) -> Vec<ClassId> {
        // What went is nobody's child any more.
        let mut parents: Vec<ClassId> = present(gone_links).collect();
        for &class in linking {
            parents.extend(self.parents(class));
            let outline = Arc::clone(&self.classes[class.index()].outline);
            let at = self.links.len() as u32;
            for name in outline.super_class.iter().chain(&outline.interfaces) {
                let link = self.by_name.get(name).map_or(Link::Outside(*name), |it| Link::Present(*it));
                self.links.push(link);
            }
            self.classes[class.index()].links = at..self.links.len() as u32;
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
            let old = slice(&self.children, &self.classes[parent.index()].children).iter().copied();
            let mut mine: Vec<ClassId> =
                old.filter(|it| !gone.contains(it) && !is_linking.contains(it)).collect();
            mine.extend(new.remove(&parent).into_iter().flatten());
            mine.sort_unstable();
            mine.dedup();
            let at = self.children.len() as u32;
            self.children.extend(mine);
            self.classes[parent.index()].children = at..self.children.len() as u32;
        }
        parents
    }

    /// Collects the supertypes of these classes and of all below. Gives all of them; `None` if there is a circle, or too many.
    fn climb(&mut self, linking: &[ClassId]) -> Option<Vec<ClassId>> {
        let mut below: Vec<ClassId> = linking.to_vec();
        let mut seen: FxHashSet<ClassId> = below.iter().copied().collect();
        let mut at = 0;
        while let Some(&it) = below.get(at) {
            at += 1;
            let children = slice(&self.children, &self.classes[it.index()].children);
            below.extend(children.iter().copied().filter(|it| seen.insert(*it)));
        }
        // Every class behind those of its supertypes that are here.
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
            for child in slice(&self.children, &self.classes[class.index()].children) {
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
            mine.extend(slice(&self.supers, &self.classes[parent.index()].supers));
        }
        mine.sort_unstable();
        mine.dedup();
        if mine.len() > MAX_SUPERS {
            return None;
        }
        let it = &self.classes[class.index()];
        let above = |it: ClassId| (self.classes[it.index()].outside, self.classes[it.index()].outside_class);
        let ways = ways_out(slice(&self.links, &it.links), it.has_super, self.object, above);
        let at = self.supers.len() as u32;
        self.supers.extend(mine);
        let it = &mut self.classes[class.index()];
        it.supers = at..self.supers.len() as u32;
        (it.outside, it.outside_class) = ways;
        Some(())
    }

    /// Finds again what may be below these classes and all above them. Gives all of them.
    fn look_below(&mut self, changed: impl Iterator<Item = ClassId>) -> Vec<ClassId> {
        let mut all: FxHashSet<ClassId> = FxHashSet::default();
        for it in changed {
            all.extend(slice(&self.supers, &self.classes[it.index()].supers));
        }
        let mut order: Vec<ClassId> = all.into_iter().collect();
        // Whoever is below has more supertypes.
        order.sort_unstable_by_key(|it| std::cmp::Reverse(self.classes[it.index()].supers.len()));
        for &class in &order {
            let below = nearest(class, &self.classes, &self.children);
            let it = &mut self.classes[class.index()];
            (it.witness, it.distance, it.nameable_below) = below;
        }
        order
    }
}
