//! Computes which classes an unknown class may extend (`semantics.md` §1), and hence below which classes unknown
//! classes may be.

use std::sync::Arc;

use classfile::flags::Flags;
use classfile::module::Module;
use classfile::names::{ClassName, Name};
use rustc_hash::{FxHashMap, FxHashSet};

use super::class::{Class, ClassId, Package, nest_host, nest_members, permitted, slice};
use super::links::Shape;
use super::{AT_ONCE, HierarchyOptions, Owner};
use crate::input::Role;
use crate::outline::Outline;

type ByName = FxHashMap<ClassName, ClassId>;

/// Computes whether unknown classes may be below each class, and which class they may extend, and stores the result
/// in `classes`. `before` holds the classes of an earlier version of the hierarchy, in which the same classes have
/// the same ids; facts that cannot have changed are copied from there. Returns `None` if `cancelled` returns true.
pub(super) fn fill(
    classes: &mut [Class],
    by_name: &ByName,
    shape: &Shape,
    (modules, options): (&[Module], &HierarchyOptions),
    before: &[Class],
    cancelled: &mut dyn FnMut() -> bool,
) -> Option<()> {
    let packages = Packages::new(modules, options);
    let same =
        |i: usize, it: &Class| before.get(i).filter(|before| Arc::ptr_eq(&before.outline, &it.outline));
    for (i, it) in classes.iter_mut().enumerate() {
        if i % AT_ONCE == 0 && cancelled() {
            return None;
        }
        (it.package, it.module) = match same(i, it) {
            Some(before) => (before.package, before.module),
            None => (packages.of(it.role, it.outline.class), packages.module(it.role, it.outline.class)),
        };
    }
    for i in 0..classes.len() {
        if i % AT_ONCE == 0 && cancelled() {
            return None;
        }
        if let Some(before) = same(i, &classes[i]).filter(|it| !asks_for_others(&it.outline)) {
            (classes[i].nameable, classes[i].extensible) = (before.nameable, before.extensible);
            continue;
        }
        let extended = may_be_extended(&classes[i], classes, by_name);
        (classes[i].nameable, classes[i].extensible) = extended;
    }
    for (i, &class) in shape.order.iter().rev().enumerate() {
        if i % AT_ONCE == 0 && cancelled() {
            return None;
        }
        let below = nearest(class, classes, &shape.children);
        let it = &mut classes[class.index()];
        (it.witness, it.distance, it.nameable_below) = below;
    }
    Some(())
}

/// Returns the nearest class, among `class` and its known subtypes, that unknown classes may extend; the number of
/// links to that class; and whether an unknown class may name `class` or one of its known subtypes as a direct
/// supertype. Of several nearest classes, the one with the smallest name is returned; if there is none, the result is
/// `None` with the number `u32::MAX`. The same facts must already be stored for the direct subtypes of `class`.
pub(super) fn nearest(
    class: ClassId,
    classes: &[Class],
    children: &[ClassId],
) -> (Option<ClassId>, u32, bool) {
    let it = &classes[class.index()];
    let (mut witness, mut far, mut nameable) = (None, u32::MAX, it.nameable);
    if it.extensible {
        (witness, far) = (Some(class), 0);
    }
    for child in slice(children, &it.children) {
        let below = &classes[child.index()];
        nameable |= below.nameable_below;
        let Some(id) = below.witness else { continue };
        let text = |id: ClassId| classes[id.index()].outline.class.bytes();
        let there = below.distance.saturating_add(1);
        if witness.is_none_or(|old| (there, text(id)) < (far, text(old))) {
            (witness, far) = (Some(id), there);
        }
    }
    (witness, far, nameable)
}

/// Returns two flags: whether an absent class may name `class` as a direct supertype, and whether an absent class
/// that does so can have instances.
pub(super) fn may_be_extended(class: &Class, classes: &[Class], by_name: &ByName) -> (bool, bool) {
    let nameable = is_nameable(class, by_name);
    (nameable, nameable && is_constructible(class, classes, by_name))
}

/// Determines what absent classes may do with the package of a class, from the exports of the modules of the JDK
/// image, and from the owners of the packages outside the image.
pub(super) struct Packages<'a> {
    image: bool,
    exports: Option<FxHashSet<&'static [u8]>>,
    add_exports: &'a [Name],
    owners: FxHashMap<&'static [u8], Owner>,
}

impl<'a> Packages<'a> {
    pub(super) fn new(modules: &'a [Module], options: &'a HierarchyOptions) -> Packages<'a> {
        // JEP 261: up to Java 15, code on the class path may use packages that existed before modules. An open
        // module that does not list its packages opens an unknown set of packages.
        let strict = options.platform_release.is_some_and(|it| it >= 16)
            && !modules.is_empty()
            && !modules.iter().any(|it| it.open && it.packages.is_empty());
        let exported = modules.iter().flat_map(|it| &it.exports).chain(&options.add_exports);
        let exports = strict.then(|| exported.copied().map(Name::bytes).collect());
        let owners = options.owners.iter().map(|(package, owner)| (package.bytes(), *owner)).collect();
        Packages { image: !modules.is_empty(), exports, add_exports: &options.add_exports, owners }
    }

    pub(super) fn of(&self, role: Role, class: ClassName) -> Package {
        if role != Role::Jdk {
            return match self.owners.get(class.package()) {
                None => Package::Free,
                Some(Owner::Module { exported: false, .. }) if !self.is_added(class) => Package::Closed,
                Some(_) => Package::Owned,
            };
        }
        match &self.exports {
            _ if !self.image => Package::Free,
            Some(it) if !it.contains(class.package()) => Package::Closed,
            _ => Package::Owned,
        }
    }

    pub(super) fn module(&self, role: Role, class: ClassName) -> Option<u32> {
        match self.owners.get(class.package()) {
            Some(Owner::Module { module, .. }) if role != Role::Jdk => Some(*module),
            _ => None,
        }
    }

    fn is_added(&self, class: ClassName) -> bool {
        self.add_exports.iter().any(|it| it.bytes() == class.package())
    }
}

/// Returns whether the answer of [`may_be_extended`] for a class depends on other classes. This is so if the class is
/// sealed or belongs to a nest.
fn asks_for_others(outline: &Outline) -> bool {
    outline.permitted.is_some() || outline.nest_host.is_some() || !outline.nest_members.is_empty()
}

/// Returns whether the JVM would load an unknown class that names `class` as a direct supertype (JVMS §5.3.5).
fn is_nameable(class: &Class, by_name: &ByName) -> bool {
    let outline = &class.outline;
    if outline.flags.is_final() {
        return false;
    }
    match class.package {
        Package::Closed => return false,
        Package::Owned if !outline.flags.is_public() => return false,
        Package::Owned | Package::Free => {}
    }
    permitted(outline).is_none_or(|it| it.iter().any(|it| !by_name.contains_key(it)))
}

/// Returns whether a constructor of an unknown subclass may call a constructor of `class`.
fn is_constructible(class: &Class, classes: &[Class], by_name: &ByName) -> bool {
    match constructors(class) {
        Constructors::Open => true,
        Constructors::OfNest => absent_of_nest(&class.outline, classes, by_name).is_some(),
        Constructors::Closed => false,
    }
}

/// Which absent classes may call a constructor of a class.
pub(super) enum Constructors {
    /// Some absent subclass may call a constructor, or the type is an interface and has no constructors.
    Open,
    /// Only nest mates of the class may call a constructor.
    OfNest,
    /// No absent class may call a constructor.
    Closed,
}

/// Returns which absent classes may call a constructor of the class.
pub(super) fn constructors(class: &Class) -> Constructors {
    let outline = &class.outline;
    if outline.flags.is_interface() {
        return Constructors::Open;
    }
    let constructors = outline.methods.iter().filter(|it| it.name.bytes() == b"<init>");
    let mut all_private = true;
    for it in constructors {
        let flags = it.flags;
        if flags.is_public() || flags.is_protected() || !flags.is_private() && class.package == Package::Free
        {
            return Constructors::Open;
        }
        all_private &= flags.is_private();
    }
    // If an outline omits private constructors, the class may seem to have none; its nest decides then, too.
    let has_private =
        all_private || outline.methods.iter().any(|it| is_private_constructor(it.flags, it.name));
    if has_private { Constructors::OfNest } else { Constructors::Closed }
}

fn is_private_constructor(flags: Flags, name: Name) -> bool {
    flags.is_private() && name.bytes() == b"<init>"
}

/// Returns the first absent class that is, or may be, a nest mate of the class (JVMS §5.4.4); `None` if there is no
/// such class.
pub(super) fn absent_of_nest(outline: &Outline, classes: &[Class], by_name: &ByName) -> Option<ClassName> {
    let members = match nest_host(outline) {
        None => nest_members(outline),
        Some(host) => match by_name.get(&host).and_then(|it| classes.get(it.index())) {
            Some(host) => nest_members(&host.outline),
            None => return Some(host),
        },
    };
    members.iter().copied().find(|it| !by_name.contains_key(it))
}
