//! Which types of a program can be thrown, and how they hang together.
//!
//! A class counts when its chain of superclasses reaches Throwable, or when a catch row, a `throw` or a throws clause
//! names it (`semantics.md` §3). The throwables of the VM are built in, also when there is no JDK.

use classfile::names::ClassName;
use flow::functional::GlueRaises;
use flow::summary::Source;
use flow::throwables::{built_in_parent, built_ins, well_known};
use flow::universe::{Parent, Throwable, Universe};
use program::hierarchy::{ClassId, Hierarchy, Link};
use program::input::WorldKind;
use rustc_hash::FxHashSet;

use crate::summary::{ClassSummary, MethodSummary};

/// The universe of a program.
pub(super) fn universe(
    hierarchy: &Hierarchy,
    world: WorldKind,
    summaries: &mut dyn Iterator<Item = &ClassSummary>,
) -> Universe {
    let mut acc = Types { hierarchy, seen: FxHashSet::default(), order: Vec::new() };
    built_ins().for_each(|it| acc.add(it));
    acc.throwables_of(hierarchy);
    for class in hierarchy.ids() {
        for method in &hierarchy.outline(class).methods {
            method.throws.iter().for_each(|&it| acc.add(it));
        }
    }
    for summary in summaries {
        for method in &summary.methods {
            let MethodSummary::Known(code) = method else { continue };
            let rows = code.summary.contexts.iter().flat_map(|it| &it.rows);
            rows.filter_map(|it| it.class).for_each(|it| acc.add(it));
            for item in &code.summary.items {
                if let Source::Exact(class) | Source::Cone(class) = item.source {
                    acc.add(class);
                }
            }
        }
    }
    acc.finish(world)
}

/// Whether the chain of superclasses of a present class reaches Throwable.
pub(super) fn is_below_throwable(hierarchy: &Hierarchy, class: ClassId) -> bool {
    let mut at = class;
    loop {
        let name = hierarchy.name(at);
        if name == well_known().throwable || built_in_parent(name).is_some() {
            return true;
        }
        // The hierarchy has no circles.
        match hierarchy.super_class(at) {
            Some(Link::Present(it)) => at = it,
            Some(Link::Outside(it)) => return built_in_parent(it).is_some(),
            None => return false,
        }
    }
}

/// What is known of the superclass of a type that is thrown.
fn parent(hierarchy: &Hierarchy, class: ClassName) -> Parent {
    if let Some(parent) = built_in_parent(class) {
        return if parent == well_known().object { Parent::Root } else { Parent::Class(parent) };
    }
    let object = well_known().object;
    match hierarchy.class(class).and_then(|it| hierarchy.super_class(it)) {
        // What is thrown is below Throwable, whatever the class file says of its type.
        None => Parent::Unknown,
        Some(Link::Outside(it)) if it == object => Parent::Unknown,
        Some(Link::Present(it)) if hierarchy.name(it) == object => Parent::Unknown,
        Some(Link::Outside(it)) => Parent::Class(it),
        Some(Link::Present(it)) => Parent::Class(hierarchy.name(it)),
    }
}

/// Whether it is settled that a class can be thrown: all above it is known.
fn is_throwable(hierarchy: &Hierarchy, class: ClassName) -> bool {
    built_in_parent(class).is_some()
        || hierarchy.class(class).is_some_and(|it| is_below_throwable(hierarchy, it))
}

/// What a universe follows.
pub(super) struct Follow<'a> {
    pub(super) hierarchy: &'a Hierarchy,
    /// Open or closed.
    pub(super) world: WorldKind,
    /// Whether no type may come or go.
    pub(super) fixed: bool,
}

/// Lets a universe follow the hierarchy, where these types may be others than before; with each, whether code names it. No, if
/// that takes a new universe.
pub(super) fn follow(
    universe: &mut Universe,
    &Follow { hierarchy, world, fixed }: &Follow<'_>,
    types: impl Iterator<Item = (ClassName, bool)>,
) -> bool {
    let (mut come, mut gone) = (Vec::new(), Vec::new());
    for (class, is_named) in types {
        let can_be = class != well_known().object && !class.is_array();
        let is_type = is_throwable(hierarchy, class) || is_named && can_be;
        let extensible =
            world == WorldKind::Open && hierarchy.class(class).is_none_or(|it| hierarchy.extensible(it));
        let it = Throwable { class, parent: parent(hierarchy, class), extensible };
        match universe.parent(class) {
            None if is_type => come.push(it),
            None => {}
            Some(_) if !is_type => gone.push(class),
            Some(before) if before == it.parent && universe.is_extensible(class) == Some(extensible) => {}
            Some(_) => return false,
        }
    }
    if fixed && (!come.is_empty() || !gone.is_empty()) {
        return false;
    }
    // A type of which not all is known may be there for its name alone, and so may what is above it.
    let known = |class: ClassName| gone.contains(&class) || is_throwable(hierarchy, class);
    let stays_whole = |it: &ClassName| matches!(universe.parent(*it), Some(Parent::Class(it)) if known(it));
    if !gone.iter().all(stays_whole) || !come.iter().all(|it| is_throwable(hierarchy, it.class)) {
        return false;
    }
    // Subtypes go before what is above them, and come behind.
    while !gone.is_empty() {
        let before = gone.len();
        gone.retain(|it| !universe.remove(*it));
        if gone.len() == before {
            return false;
        }
    }
    while !come.is_empty() {
        let before = come.len();
        come.retain(|it| !universe.add(*it));
        if come.len() == before {
            return false;
        }
    }
    true
}

struct Types<'a> {
    hierarchy: &'a Hierarchy,
    seen: FxHashSet<ClassName>,
    order: Vec<ClassName>,
}

impl Types<'_> {
    /// Adds the class and what lies above it.
    fn add(&mut self, class: ClassName) {
        let mut at = Some(class);
        while let Some(class) = at {
            // A throw of an array or of Object is for the verifier to refuse; such a type has no row to catch it.
            if class == well_known().object || class.is_array() || !self.seen.insert(class) {
                return;
            }
            self.order.push(class);
            at = match parent(self.hierarchy, class) {
                Parent::Class(it) => Some(it),
                _ => None,
            };
        }
    }

    /// Adds the present classes below Throwable.
    fn throwables_of(&mut self, hierarchy: &Hierarchy) {
        // Whether it is below Throwable, by class; `None` is not known yet.
        let mut below: Vec<Option<bool>> = vec![None; hierarchy.len()];
        let mut chain: Vec<ClassId> = Vec::new();
        for class in hierarchy.ids() {
            let mut at = class;
            let answer = loop {
                if let Some(it) = below[at.index()] {
                    break it;
                }
                let name = hierarchy.name(at);
                if name == well_known().throwable || built_in_parent(name).is_some() {
                    break true;
                }
                chain.push(at);
                // A circle is cut by the hierarchy; this bounds the walk all the same.
                below[at.index()] = Some(false);
                match hierarchy.super_class(at) {
                    Some(Link::Present(it)) => at = it,
                    Some(Link::Outside(it)) => break built_in_parent(it).is_some(),
                    None => break false,
                }
            };
            chain.drain(..).for_each(|it| below[it.index()] = Some(answer));
            if answer {
                self.add(hierarchy.name(class));
            }
        }
    }

    fn finish(self, world: WorldKind) -> Universe {
        let is_outside = |it: ClassName| self.hierarchy.class(it).is_none() && built_in_parent(it).is_none();
        let any_outside = self.order.iter().any(|&it| is_outside(it));
        let extensible = |class: ClassName| match (world, self.hierarchy.class(class)) {
            (WorldKind::Closed, _) => false,
            (WorldKind::Open, Some(id)) => self.hierarchy.extensible(id),
            (WorldKind::Open, None) => true,
            // A class that should have been declared may stand below any that is not final.
            (WorldKind::Declared, Some(id)) => any_outside && !self.hierarchy.outline(id).flags.is_final(),
            (WorldKind::Declared, None) => any_outside,
        };
        let of = |&class: &ClassName| Throwable {
            class,
            parent: parent(self.hierarchy, class),
            extensible: extensible(class),
        };
        Universe::new(&self.order.iter().map(of).collect::<Vec<_>>())
    }
}

/// The classes that glue raises.
pub(super) fn glue_classes(raises: GlueRaises) -> impl Iterator<Item = ClassName> {
    let class_cast = raises.class_cast.then_some(well_known().class_cast);
    let null_pointer = raises.null_pointer.then_some(well_known().null_pointer);
    class_cast.into_iter().chain(null_pointer)
}
