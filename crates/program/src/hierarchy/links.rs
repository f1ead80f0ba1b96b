//! Builds the links between classes: cuts cycles, collects the supertypes of each class in one pass from superclasses
//! down, and lists the direct subtypes.

use std::ops::Range;

use classfile::names::ClassName;
use rustc_hash::FxHashMap;

use super::class::{Class, ClassId, Link, is_outside, permitted, slice};
use super::{AT_ONCE, Input, MAX_SUPERS, Problem, ProblemKind};
use crate::outline::Outline;

type ByName = FxHashMap<ClassName, ClassId>;

/// The links of all classes to their supertypes, and the lists that are computed from these links. `link_ranges`,
/// `super_ranges` and `child_ranges` hold, for each class, the range of its entries in `links`, `supers` and
/// `children`.
pub(super) struct Shape {
    pub(super) links: Vec<Link>,
    link_ranges: Vec<Range<u32>>,
    has_super: Vec<bool>,
    pub(super) supers: Vec<ClassId>,
    super_ranges: Vec<Range<u32>>,
    pub(super) children: Vec<ClassId>,
    child_ranges: Vec<Range<u32>>,
    outside: Vec<Option<ClassName>>,
    outside_class: Vec<Option<ClassName>>,
    /// All classes in topological order: each class comes after its supertypes.
    pub(super) order: Vec<ClassId>,
}

impl Shape {
    /// Links the classes `inputs` to their supertypes, and appends the faults of these links to `problems`. Returns
    /// `None` if `cancelled` returns true.
    pub(super) fn new(
        inputs: &[Input<'_>],
        by_name: &ByName,
        object: ClassName,
        problems: &mut Vec<Problem>,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Option<Shape> {
        let n = inputs.len();
        let mut shape = Shape {
            links: Vec::new(),
            link_ranges: Vec::with_capacity(n),
            has_super: Vec::with_capacity(n),
            supers: Vec::new(),
            super_ranges: vec![0..0; n],
            children: Vec::new(),
            child_ranges: Vec::new(),
            outside: vec![None; n],
            outside_class: vec![None; n],
            order: Vec::new(),
        };
        for (i, it) in inputs.iter().enumerate() {
            if i % AT_ONCE == 0 && cancelled() {
                return None;
            }
            let outline = it.outline;
            let start = shape.links.len() as u32;
            // Whatever supertypes a class file with the name Object declares, Object has none (JVMS §4.1).
            let is_root = outline.class == object;
            let super_class = outline.super_class.filter(|_| !is_root);
            let interfaces = if is_root { &[] } else { &*outline.interfaces };
            let names = super_class.iter().chain(interfaces);
            let link =
                |name: &ClassName| by_name.get(name).map_or(Link::Outside(*name), |it| Link::Present(*it));
            shape.links.extend(names.map(link));
            shape.has_super.push(super_class.is_some());
            shape.link_ranges.push(start..shape.links.len() as u32);
        }
        shape.list_children();
        shape.sort();
        if shape.order.len() < n {
            shape.cut_cycles(inputs, problems);
            shape.list_children();
            shape.sort();
        }
        if shape.climb(inputs, object, problems, cancelled)? {
            shape.list_children();
        }
        Some(shape)
    }

    fn links_of(&self, class: usize) -> &[Link] {
        self.link_ranges.get(class).map(|it| slice(&self.links, it)).unwrap_or_default()
    }

    /// Returns the present classes that the class names as direct supertypes.
    fn parents(&self, class: usize) -> impl Iterator<Item = ClassId> + '_ {
        self.links_of(class).iter().filter_map(|it| match it {
            Link::Present(it) => Some(*it),
            Link::Outside(_) => None,
        })
    }

    /// Recomputes the direct subtypes of each class, sorted by id and without duplicates.
    fn list_children(&mut self) {
        let n = self.link_ranges.len();
        // A class may name a supertype twice: `last` holds the child that was counted last for each supertype.
        let mut last = vec![usize::MAX; n];
        let mut starts = vec![0_u32; n + 1];
        let mut pairs = Vec::with_capacity(self.links.len());
        for class in 0..n {
            for parent in self.parents(class) {
                if std::mem::replace(&mut last[parent.index()], class) != class {
                    starts[parent.index() + 1] += 1;
                    pairs.push((parent, ClassId::from_index(class)));
                }
            }
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        self.child_ranges = starts.windows(2).map(|it| it[0]..it[1]).collect();
        self.children = vec![ClassId::from_index(0); pairs.len()];
        for (parent, child) in pairs {
            let next = &mut starts[parent.index()];
            self.children[*next as usize] = child;
            *next += 1;
        }
    }

    /// Sorts the classes topologically into `order`, supertypes first. Classes in or below a cycle are left out.
    fn sort(&mut self) {
        let n = self.link_ranges.len();
        let mut waiting = vec![0_u32; n];
        for it in &self.children {
            waiting[it.index()] += 1;
        }
        self.order.clear();
        self.order.extend((0..n).map(ClassId::from_index).filter(|it| waiting[it.index()] == 0));
        let mut next = 0;
        while let Some(&it) = self.order.get(next) {
            next += 1;
            for child in slice(&self.children, &self.child_ranges[it.index()]) {
                waiting[child.index()] -= 1;
                if waiting[child.index()] == 0 {
                    self.order.push(*child);
                }
            }
        }
    }

    /// Replaces each link that is part of a cycle by a [`Link::Outside`], and appends the fault to `problems`. A link
    /// is part of a cycle if it is between classes of one strongly connected component.
    fn cut_cycles(&mut self, inputs: &[Input<'_>], problems: &mut Vec<Problem>) {
        let component = self.components();
        for class in 0..self.link_ranges.len() {
            for idx in self.link_ranges[class].clone() {
                let Link::Present(parent) = self.links[idx as usize] else { continue };
                if component[parent.index()] != component[class] || component[class] == u32::MAX {
                    continue;
                }
                let (class, other) = (inputs[class].outline.class, inputs[parent.index()].outline.class);
                self.links[idx as usize] = Link::Outside(other);
                problems.push(Problem { class, kind: ProblemKind::Cycle, other });
            }
        }
    }

    /// Computes, for each class that [`Shape::sort`] could not sort, the number of its strongly connected component;
    /// the result for a sorted class is `u32::MAX`. The algorithm is that of Tarjan, "Depth-first search and linear
    /// graph algorithms" (1972), with an explicit stack, because the input determines the depth.
    fn components(&self) -> Vec<u32> {
        let n = self.link_ranges.len();
        let mut component = vec![u32::MAX; n];
        let mut sorted = vec![false; n];
        self.order.iter().for_each(|it| sorted[it.index()] = true);
        let (mut found, mut low) = (vec![u32::MAX; n], vec![u32::MAX; n]);
        let (mut n_found, mut n_components) = (0, 0);
        let (mut open, mut path): (Vec<usize>, Vec<(usize, u32)>) = (Vec::new(), Vec::new());
        for root in 0..n {
            if sorted[root] || found[root] != u32::MAX {
                continue;
            }
            path.push((root, self.link_ranges[root].start));
            while let Some((class, next)) = path.last_mut() {
                let class = *class;
                if found[class] == u32::MAX {
                    (found[class], low[class]) = (n_found, n_found);
                    n_found += 1;
                    open.push(class);
                }
                if *next < self.link_ranges[class].end {
                    let link = self.links[*next as usize];
                    *next += 1;
                    let Link::Present(parent) = link else { continue };
                    let parent = parent.index();
                    if sorted[parent] {
                        continue;
                    }
                    if found[parent] == u32::MAX {
                        path.push((parent, self.link_ranges[parent].start));
                    } else if component[parent] == u32::MAX {
                        low[class] = low[class].min(found[parent]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(below, _)) = path.last() {
                    low[below] = low[below].min(low[class]);
                }
                if low[class] == found[class] {
                    while let Some(it) = open.pop() {
                        component[it] = n_components;
                        if it == class {
                            break;
                        }
                    }
                    n_components += 1;
                }
            }
        }
        component
    }

    /// Collects, in topological order, the present supertypes of each class and the absent classes above the class.
    /// Cuts the links of each class that has more than [`MAX_SUPERS`] supertypes. Returns whether links were cut;
    /// `None` if `cancelled` returns true.
    fn climb(
        &mut self,
        inputs: &[Input<'_>],
        object: ClassName,
        problems: &mut Vec<Problem>,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Option<bool> {
        let mut was_cut = false;
        let mut seen = vec![None; inputs.len()];
        let order = std::mem::take(&mut self.order);
        let mut mine = Vec::new();
        for (n, &class) in order.iter().enumerate() {
            if n % AT_ONCE == 0 && cancelled() {
                return None;
            }
            let i = class.index();
            mine.clear();
            mine.push(class);
            for parent in self.parents(i) {
                let above = slice(&self.supers, &self.super_ranges[parent.index()]);
                mine.extend(above.iter().filter(|it| seen[it.index()].replace(class) != Some(class)));
                if mine.len() > MAX_SUPERS {
                    break;
                }
            }
            if mine.len() > MAX_SUPERS {
                was_cut = true;
                mine.truncate(1);
                let name = inputs[i].outline.class;
                for link in
                    &mut self.links[self.link_ranges[i].start as usize..self.link_ranges[i].end as usize]
                {
                    if let Link::Present(it) = *link {
                        *link = Link::Outside(inputs[it.index()].outline.class);
                    }
                }
                problems.push(Problem { class: name, kind: ProblemKind::TooManySupertypes, other: name });
            }
            mine.sort_unstable();
            let start = self.supers.len() as u32;
            self.supers.extend_from_slice(&mine);
            self.super_ranges[i] = start..self.supers.len() as u32;
            self.leave(i, object);
        }
        self.order = order;
        Some(was_cut)
    }

    /// Records two absent classes above the class, if there are any: the one with the smallest name, and the one at
    /// which the chain of superclasses ends.
    fn leave(&mut self, class: usize, object: ClassName) {
        let above = |it: ClassId| (self.outside[it.index()], self.outside_class[it.index()]);
        let ways = ways_out(self.links_of(class), self.has_super[class], object, above);
        (self.outside[class], self.outside_class[class]) = ways;
    }

    /// Returns the classes with the links to their supertypes and direct subtypes. The fields of [`Class`] about
    /// unknown classes that may name or extend a class are not yet computed.
    pub(super) fn classes(&self, inputs: &[Input<'_>]) -> Vec<Class> {
        let class = |(i, it): (usize, &Input<'_>)| Class {
            has_super: self.has_super[i],
            links: self.link_ranges[i].clone(),
            supers: self.super_ranges[i].clone(),
            children: self.child_ranges[i].clone(),
            outside: self.outside[i],
            outside_class: self.outside_class[i],
            ..Class::unlinked(it.outline.clone(), it.role)
        };
        inputs.iter().enumerate().map(class).collect()
    }
}

/// Returns two absent classes above the class with the given links, each `None` if there is no such class: the one
/// with the smallest name, and the one at which the chain of superclasses ends. If `has_super` is true, the first
/// link leads to the superclass. `above` returns, for a present supertype, the two absent classes above this
/// supertype.
pub(super) fn ways_out(
    links: &[Link],
    has_super: bool,
    object: ClassName,
    above: impl Fn(ClassId) -> (Option<ClassName>, Option<ClassName>),
) -> (Option<ClassName>, Option<ClassName>) {
    let (mut outside, mut outside_class): (Option<ClassName>, Option<ClassName>) = (None, None);
    for (idx, link) in links.iter().enumerate() {
        let (any, by_class) = match link {
            Link::Present(it) => above(*it),
            Link::Outside(name) => {
                let name = is_outside(*link, object).then_some(*name);
                (name, name)
            }
        };
        outside = outside.into_iter().chain(any).min_by_key(|it| it.bytes());
        if idx == 0 && has_super {
            outside_class = by_class;
        }
    }
    (outside, outside_class)
}

/// Appends to `problems` each link because of which the JVM refuses to load a class (JVMS §5.3.5).
pub(super) fn refused(classes: &[Class], links: &[Link], problems: &mut Vec<Problem>) {
    for it in classes {
        refused_of(it, classes, links, problems);
    }
}

/// Appends to `problems` each link of the class `it` because of which the JVM refuses to load the class (JVMS
/// §5.3.5).
pub(super) fn refused_of(it: &Class, classes: &[Class], links: &[Link], problems: &mut Vec<Problem>) {
    for (idx, link) in slice(links, &it.links).iter().enumerate() {
        let Link::Present(parent) = *link else { continue };
        let parent: &Outline = &classes[parent.index()].outline;
        let class = it.outline.class;
        let mut refuse = |kind| problems.push(Problem { class, kind, other: parent.class });
        if it.has_super && idx == 0 {
            if parent.flags.is_interface() {
                refuse(ProblemKind::InterfaceAsSuperclass);
            } else if parent.flags.is_final() {
                refuse(ProblemKind::FinalSuperclass);
            }
        } else if !parent.flags.is_interface() {
            refuse(ProblemKind::ClassAsInterface);
        }
        // HotSpot also requires a subclass in another package to be public (`has_as_permitted_subclass`).
        let fits = it.outline.flags.is_public() || parent.class.package() == class.package();
        if permitted(parent).is_some_and(|permitted| !permitted.contains(&class) || !fits) {
            refuse(ProblemKind::NotPermitted);
        }
    }
}
