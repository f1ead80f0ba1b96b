//! The order in which initialising a class initialises others (JVMS §5.5), defined once for all callers.
//!
//! The procedure is recursive: the superclass first, with everything that it initialises, then the superinterfaces
//! that declare an instance method with code, then the class itself. An interface initialises nothing but itself.

use classfile::names::{ClassName, Descriptor, Name};
use rustc_hash::FxHashSet;

use crate::hierarchy::{ClassId, Hierarchy, Link};
use crate::members::MethodId;
use crate::members::declared::{declared, find_method};
use crate::outline::Method;

/// A step of initialising a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The superclass is initialised, by steps of its own. `java/lang/Object` is left out where it is absent: it runs
    /// nothing that could fail.
    Superclass(Link),
    /// The initialiser of a superinterface runs, and no other: one with an instance method that has code, or an
    /// absent one, which may have such a method.
    Interface(Link),
    /// The class's own initialiser runs.
    Own(MethodId),
}

/// The steps of initialising a class, in the order of the JVM.
pub fn steps(hierarchy: &Hierarchy, class: ClassId) -> impl DoubleEndedIterator<Item = Step> + use<> {
    let object = ClassName::new(b"java/lang/Object");
    let is_interface = hierarchy.is_interface(class);
    let superclass = hierarchy.super_class(class).filter(|it| !is_interface && *it != Link::Outside(object));
    let interfaces = if is_interface { Vec::new() } else { interfaces(hierarchy, class) };
    let own = class_initializer(hierarchy, class).map(Step::Own);
    superclass.map(Step::Superclass).into_iter().chain(interfaces.into_iter().map(Step::Interface)).chain(own)
}

/// Visits what initialising a class runs, from the initialiser that runs last to the one that runs first:
/// initialisers, and absent classes whose initialisers may run. `enter` is asked before each class of the chain of
/// superclasses; where it answers `false` the walk ends.
pub fn walk(
    hierarchy: &Hierarchy,
    class: ClassId,
    mut enter: impl FnMut(ClassId) -> bool,
    mut visit: impl FnMut(Initializer),
) {
    let mut next = Some(class);
    // The hierarchy cuts circles of superclasses.
    while let Some(class) = next.take().filter(|it| enter(*it)) {
        for step in steps(hierarchy, class).rev() {
            match step {
                Step::Own(it) => visit(Initializer::Present(it)),
                Step::Interface(Link::Present(it)) => {
                    class_initializer(hierarchy, it)
                        .into_iter()
                        .for_each(|it| visit(Initializer::Present(it)));
                }
                Step::Superclass(Link::Present(it)) => next = Some(it),
                Step::Interface(Link::Outside(it)) | Step::Superclass(Link::Outside(it)) => {
                    visit(Initializer::Absent(it));
                }
            }
        }
    }
}

/// An initialiser that initialising a class may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Initializer {
    /// The method `<clinit>` of a present class.
    Present(MethodId),
    /// That of this absent class, and whatever initialising it initialises.
    Absent(ClassName),
}

/// The class's own initialiser (JVMS §2.9.2).
pub fn class_initializer(hierarchy: &Hierarchy, class: ClassId) -> Option<MethodId> {
    let id = find_method(hierarchy, class, Name::new(b"<clinit>"), Descriptor::new(b"()V"))?;
    // From version 51 on, a method of this name is an initialiser only if it is static.
    let (_, major) = hierarchy.outline(class).version;
    (major < 51 || declared(hierarchy, id).flags.is_static()).then_some(id)
}

/// The superinterfaces that initialising a class initialises, superinterfaces before the interfaces that extend them.
fn interfaces(hierarchy: &Hierarchy, class: ClassId) -> Vec<Link> {
    let mut acc = Vec::new();
    let (mut seen, mut pending) = (FxHashSet::default(), hierarchy.interfaces(class).to_vec());
    while let Some(link) = pending.pop() {
        if !seen.insert(link) {
            continue;
        }
        match link {
            Link::Outside(_) => acc.push(link),
            Link::Present(it) => {
                pending.extend(hierarchy.interfaces(it));
                let has_code = |it: &Method| !it.flags.is_static() && !it.flags.is_abstract();
                if hierarchy.outline(it).methods.iter().any(has_code) {
                    acc.push(link);
                }
            }
        }
    }
    // The walk took the last interface first, and each before those that it extends.
    acc.reverse();
    acc
}

/// Whether code of `caller` runs only after the initialisation of `class` began (`semantics.md` §3.7): both are
/// classes, and `class` is `caller` or above it.
pub fn runs_already(hierarchy: &Hierarchy, caller: ClassId, class: ClassId) -> bool {
    !hierarchy.is_interface(caller)
        && !hierarchy.is_interface(class)
        && hierarchy.supers(caller).contains(&class)
}

/// Whether initialising the class runs any code, which may fail.
pub fn may_fail(hierarchy: &Hierarchy, class: ClassId) -> bool {
    let runs_code = |it: &ClassId| class_initializer(hierarchy, *it).is_some();
    hierarchy.outside_above(class).is_some() || hierarchy.supers(class).iter().any(runs_code)
}
