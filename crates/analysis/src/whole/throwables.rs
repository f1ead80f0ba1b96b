//! The throwable types of a program, and their superclass relation.
//!
//! A class is a throwable type if its chain of superclasses reaches Throwable, or if a catch row, a `throw` or a
//! throws clause names it (`semantics.md` §3). The throwable classes that the VM raises are built in, even if there
//! is no JDK.

use classfile::names::ClassName;
use flow::fuel::{Cancelled, Fuel};
use flow::summary::Source;
use flow::throwables::{built_in_parent, built_ins, well_known};
use flow::universe::{Parent, Throwable, Universe};
use program::hierarchy::{ClassId, Hierarchy, Link};
use program::input::WorldKind;
use rustc_hash::FxHashSet;

use crate::summary::{ClassSummary, MethodSummary};

/// Returns the throwable types of a program, each with its superclass as far as this is known.
///
/// # Errors
/// When the work is cancelled.
pub(super) fn universe(
    hierarchy: &Hierarchy,
    world: WorldKind,
    summaries: &mut dyn Iterator<Item = &ClassSummary>,
    fuel: &mut Fuel<'_>,
) -> Result<Universe, Cancelled> {
    let mut acc = Types { hierarchy, seen: FxHashSet::default(), order: Vec::new() };
    built_ins().for_each(|it| acc.add(it));
    acc.throwables_of(hierarchy, fuel)?;
    for class in hierarchy.ids() {
        fuel.spend(1 + hierarchy.outline(class).methods.len() as u32)?;
        for method in &hierarchy.outline(class).methods {
            method.throws.iter().for_each(|&it| acc.add(it));
        }
    }
    for summary in summaries {
        for method in &summary.methods {
            let MethodSummary::Known(code) = method else { continue };
            fuel.spend(1 + code.summary.items.len() as u32 / 4)?;
            let rows = code.summary.contexts.iter().flat_map(|it| &it.rows);
            rows.filter_map(|it| it.class).for_each(|it| acc.add(it));
            for item in &code.summary.items {
                if let Source::Exact(class) | Source::Cone(class) = item.source {
                    acc.add(class);
                }
            }
        }
    }
    Ok(acc.finish(world))
}

/// Whether the chain of superclasses of a present class reaches Throwable.
pub(super) fn is_below_throwable(hierarchy: &Hierarchy, class: ClassId) -> bool {
    let mut at = class;
    loop {
        let name = hierarchy.name(at);
        if name == well_known().throwable || built_in_parent(name).is_some() {
            return true;
        }
        // The hierarchy has no cycles.
        match hierarchy.super_class(at) {
            Some(Link::Present(it)) => at = it,
            Some(Link::Outside(it)) => return built_in_parent(it).is_some(),
            None => return false,
        }
    }
}

/// Returns the superclass of a throwable type; [`Parent::Unknown`] if the superclass is not known.
fn parent(hierarchy: &Hierarchy, class: ClassName) -> Parent {
    if let Some(parent) = built_in_parent(class) {
        return if parent == well_known().object { Parent::Root } else { Parent::Class(parent) };
    }
    let object = well_known().object;
    match hierarchy.class(class).and_then(|it| hierarchy.super_class(it)) {
        // A type that code throws is below Throwable, whatever its class file declares.
        None => Parent::Unknown,
        Some(Link::Outside(it)) if it == object => Parent::Unknown,
        Some(Link::Present(it)) if hierarchy.name(it) == object => Parent::Unknown,
        Some(Link::Outside(it)) => Parent::Class(it),
        Some(Link::Present(it)) => Parent::Class(hierarchy.name(it)),
    }
}

/// Whether a class is known to be throwable, because its chain of superclasses is known up to Throwable.
fn is_throwable(hierarchy: &Hierarchy, class: ClassName) -> bool {
    built_in_parent(class).is_some()
        || hierarchy.class(class).is_some_and(|it| is_below_throwable(hierarchy, it))
}

/// The facts that decide whether a known throwable type may have unknown direct subclasses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct UnknownTypes {
    world: WorldKind,
    /// In the `declared` world, whether some throwable type is an absent class. False in the other worlds.
    has_absent: bool,
}

impl UnknownTypes {
    fn of(world: WorldKind, hierarchy: &Hierarchy, types: impl IntoIterator<Item = ClassName>) -> Self {
        let is_absent = |it: ClassName| hierarchy.class(it).is_none() && built_in_parent(it).is_none();
        let has_absent = match world {
            WorldKind::Open | WorldKind::Closed => false,
            WorldKind::Declared => types.into_iter().any(is_absent),
        };
        UnknownTypes { world, has_absent }
    }

    /// Returns the facts for a program in this world whose throwable types are those of `universe`.
    pub(super) fn of_universe(world: WorldKind, hierarchy: &Hierarchy, universe: &Universe) -> Self {
        // An absent type is below Throwable in the universe, because its superclass is unknown.
        UnknownTypes::of(world, hierarchy, universe.below(well_known().throwable))
    }

    fn throwable(self, hierarchy: &Hierarchy, class: ClassName) -> Throwable {
        let extensible = match (self.world, hierarchy.class(class)) {
            (WorldKind::Closed, _) => false,
            (WorldKind::Open, Some(id)) => hierarchy.extensible(id),
            (WorldKind::Open, None) => true,
            // An absent class of the declared world may extend any class that is not final.
            (WorldKind::Declared, Some(id)) => self.has_absent && !hierarchy.outline(id).flags.is_final(),
            (WorldKind::Declared, None) => self.has_absent,
        };
        Throwable { class, parent: parent(hierarchy, class), extensible }
    }
}

/// The present state of a program, to which its set of throwable types must be updated.
pub(super) struct Follow<'a> {
    pub(super) hierarchy: &'a Hierarchy,
    pub(super) unknown: UnknownTypes,
    /// Returns whether code throws or catches this class, or a throws clause names it.
    pub(super) is_named: &'a dyn Fn(ClassName) -> bool,
}

impl Follow<'_> {
    /// Whether a class must be among the throwable types even if no other throwable type is below it.
    fn is_type(&self, class: ClassName) -> bool {
        let can_be = class != well_known().object && !class.is_array();
        is_throwable(self.hierarchy, class) || can_be && (self.is_named)(class)
    }

    fn throwable(&self, class: ClassName) -> Throwable {
        self.unknown.throwable(self.hierarchy, class)
    }
}

/// The result of updating the set of throwable types.
pub(super) enum Followed {
    /// The types did not change.
    Same,
    /// These types were removed or added.
    Others(OtherTypes),
    /// The set of types cannot be updated, so it must be rebuilt.
    Refused,
}

/// The throwable types that an update removed and added.
#[derive(Default)]
pub(super) struct OtherTypes {
    /// The removed types. Some of them were added again at another place in the type hierarchy. Everything that
    /// refers to one of these types by name must be recomputed.
    pub(super) gone: Vec<ClassName>,
    /// The added types. Some of them were removed by the same update.
    pub(super) come: Vec<ClassName>,
}

/// Updates the set of throwable types `universe` to the present state of the program, `how`. `classes` must contain
/// all classes that may have become or ceased to be throwable types, and all throwable types of which the superclass,
/// or the possibility of unknown subclasses, may have changed.
pub(super) fn follow(
    universe: &mut Universe,
    how: &Follow<'_>,
    classes: impl Iterator<Item = ClassName>,
) -> Followed {
    let before = universe.n_edits();
    match followed(universe, how, classes) {
        None => Followed::Refused,
        Some(_) if UnknownTypes::of_universe(how.unknown.world, how.hierarchy, universe) != how.unknown => {
            Followed::Refused
        }
        Some(_) if universe.n_edits() == before => Followed::Same,
        Some(out) => Followed::Others(out),
    }
}

fn followed(
    universe: &mut Universe,
    how: &Follow<'_>,
    classes: impl Iterator<Item = ClassName>,
) -> Option<OtherTypes> {
    let (mut come, mut gone) = (Vec::new(), Vec::new());
    // The types that stay in the universe only if other types are below them.
    let mut loose = Vec::new();
    for class in classes {
        let (it, is_type) = (how.throwable(class), how.is_type(class));
        match universe.parent(class) {
            None if is_type => come.push(class),
            None => {}
            Some(before) if before != it.parent || universe.is_extensible(class) != Some(it.extensible) => {
                gone.push(class);
            }
            Some(_) if !is_type => loose.push(class),
            Some(_) => {}
        }
    }
    // A type below a removed type gets another position in the universe, so it is removed as well.
    let mut out: Vec<ClassName> = Vec::new();
    let mut seen = FxHashSet::default();
    for &class in &gone {
        out.extend(universe.below(class).chain([class]).filter(|it| seen.insert(*it)));
    }
    if !out.iter().all(|it| may_move(*it)) {
        return None;
    }
    for &class in &out {
        if let Some(Parent::Class(above)) = universe.parent(class) {
            loose.push(above);
        }
    }
    remove(universe, &out)?;
    let mut added = Vec::new();
    for &class in out.iter().chain(&come) {
        if how.is_type(class) {
            add(universe, how, class, &mut added)?;
        }
    }
    while let Some(class) = loose.pop() {
        let Some(parent) = universe.parent(class) else { continue };
        if !how.is_type(class) && universe.below(class).next().is_none() {
            may_move(class).then_some(())?;
            universe.remove(class).then_some(())?;
            out.push(class);
            if let Parent::Class(above) = parent {
                loose.push(above);
            }
        }
    }
    Some(OtherTypes { gone: out, come: added })
}

/// Whether the only code that depends on this throwable type is code that names the type. False for types of the VM
/// and of the platform, because the VM or native methods throw or wrap such types by themselves.
fn may_move(class: ClassName) -> bool {
    built_in_parent(class).is_none() && !class.bytes().starts_with(b"java/")
}

/// Removes throwable types from the universe, each one after the types below it. Returns `None` if a type cannot be
/// removed.
fn remove(universe: &mut Universe, types: &[ClassName]) -> Option<()> {
    let mut left = types.to_vec();
    while !left.is_empty() {
        let before = left.len();
        left.retain(|it| !universe.remove(*it));
        (left.len() < before).then_some(())?;
    }
    Some(())
}

/// Adds a throwable type to the universe, with those of its supertypes that are missing, and appends all these types
/// to `added`. Returns `None` if a type cannot be added.
fn add(
    universe: &mut Universe,
    how: &Follow<'_>,
    class: ClassName,
    added: &mut Vec<ClassName>,
) -> Option<()> {
    let mut chain: Vec<Throwable> = Vec::new();
    let mut at = Some(class);
    while let Some(class) = at.filter(|it| universe.type_of(*it).is_none()) {
        // A cycle of supertypes is cut only when the universe is rebuilt.
        (may_move(class) && chain.iter().all(|it| it.class != class)).then_some(())?;
        let it = how.throwable(class);
        chain.push(it);
        at = match it.parent {
            Parent::Class(above) => Some(above),
            _ => None,
        };
    }
    added.extend(chain.iter().map(|it| it.class));
    chain.into_iter().rev().all(|it| universe.add(it)).then_some(())
}

struct Types<'a> {
    hierarchy: &'a Hierarchy,
    seen: FxHashSet<ClassName>,
    order: Vec<ClassName>,
}

impl Types<'_> {
    /// Adds a class and its superclasses to the list of throwable types, as far as they are not in it.
    fn add(&mut self, class: ClassName) {
        let mut at = Some(class);
        while let Some(class) = at {
            // The verifier rejects a throw of an array or of Object, and no row catches such a type.
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

    /// Adds all present classes below Throwable to the list of throwable types.
    fn throwables_of(&mut self, hierarchy: &Hierarchy, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
        // For each class, whether it is below Throwable; `None` if that is not computed yet.
        let mut below: Vec<Option<bool>> = vec![None; hierarchy.len()];
        let mut chain: Vec<ClassId> = Vec::new();
        for class in hierarchy.ids() {
            fuel.spend(4)?;
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
                // The hierarchy has no cycles, but this entry bounds the walk in any case.
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
        Ok(())
    }

    fn finish(self, world: WorldKind) -> Universe {
        let unknown = UnknownTypes::of(world, self.hierarchy, self.order.iter().copied());
        let types: Vec<Throwable> =
            self.order.iter().map(|it| unknown.throwable(self.hierarchy, *it)).collect();
        Universe::editable(&types)
    }
}
