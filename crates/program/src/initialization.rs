//! The order in which initialising a class initialises other classes (JVMS §5.5).
//!
//! The procedure is recursive: first the superclass, with everything that initialising the superclass initialises;
//! then the superinterfaces that declare an instance method with code; then the class itself. Initialising an
//! interface initialises no other class.

use classfile::names::{ClassName, Descriptor, Name};
use rustc_hash::FxHashSet;

use crate::hierarchy::{ClassId, Hierarchy, Link};
use crate::members::MethodId;
use crate::members::declared::{declared, find_method};
use crate::outline::Method;

/// One step of the procedure that initialises a class (JVMS §5.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The superclass is initialised, by the same procedure. There is no such step for an absent `java/lang/Object`,
    /// whose initialisation runs nothing that could fail.
    Superclass(Link),
    /// The initialiser of a superinterface runs. The superinterface declares an instance method with code, or is
    /// absent and may declare such a method.
    Interface(Link),
    /// The class's own initialiser runs.
    Own(MethodId),
}

/// Returns the steps of initialising a class, in the order in which the JVM takes them.
pub fn steps(hierarchy: &Hierarchy, class: ClassId) -> impl DoubleEndedIterator<Item = Step> + use<> {
    let object = ClassName::new(b"java/lang/Object");
    let is_interface = hierarchy.is_interface(class);
    let superclass = hierarchy.super_class(class).filter(|it| !is_interface && *it != Link::Outside(object));
    let interfaces =
        if is_interface { Vec::new() } else { implemented(hierarchy, hierarchy.interfaces(class).to_vec()) };
    let own = class_initializer(hierarchy, class).map(Step::Own);
    superclass.map(Step::Superclass).into_iter().chain(interfaces.into_iter().map(Step::Interface)).chain(own)
}

/// Calls `visit` for each initialiser that may run because `class` is initialised, from the one that runs last to the
/// one that runs first. `enter` is called for the class and then for each superclass; the search ends when `enter`
/// returns false.
pub fn walk(
    hierarchy: &Hierarchy,
    class: ClassId,
    mut enter: impl FnMut(ClassId) -> bool,
    mut visit: impl FnMut(Initializer),
) {
    let mut next = Some(class);
    // The loop ends, because the hierarchy cuts cycles of superclasses.
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

/// An initialiser that may run because a class is initialised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Initializer {
    /// The method `<clinit>` of a present class.
    Present(MethodId),
    /// The initialiser of this absent class, and all initialisers that run before it because the absent class is
    /// initialised.
    Absent(ClassName),
}

/// Returns the class's own initialiser, the method `<clinit>` (JVMS §2.9.2); `None` if the class has no initialiser.
pub fn class_initializer(hierarchy: &Hierarchy, class: ClassId) -> Option<MethodId> {
    let id = find_method(hierarchy, class, Name::new(b"<clinit>"), Descriptor::new(b"()V"))?;
    // From version 51 on, a method of this name is an initialiser only if it is static.
    let (_, major) = hierarchy.outline(class).version;
    (major < 51 || declared(hierarchy, id).flags.is_static()).then_some(id)
}

/// Returns the superinterfaces that are initialised because a class whose direct superinterfaces are `interfaces` is
/// initialised (JVMS §5.5); each interface comes after the interfaces that it extends. Absent interfaces are among
/// them.
pub fn implemented(hierarchy: &Hierarchy, interfaces: Vec<Link>) -> Vec<Link> {
    let mut acc = Vec::new();
    let (mut seen, mut pending) = (FxHashSet::default(), interfaces);
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
    // The walk listed the last interface first, and each interface before those that it extends.
    acc.reverse();
    acc
}

/// Returns whether the initialisation of `class` has begun whenever code of `caller` runs (`semantics.md` §3.7). This
/// holds if neither is an interface, and `class` is `caller` or a superclass of `caller`.
pub fn runs_already(hierarchy: &Hierarchy, caller: ClassId, class: ClassId) -> bool {
    !hierarchy.is_interface(caller)
        && !hierarchy.is_interface(class)
        && hierarchy.supers(caller).contains(&class)
}

/// Returns whether initialising the class may run code, which may fail: an initialiser of the class or of a
/// supertype, or code of an absent supertype.
pub fn may_fail(hierarchy: &Hierarchy, class: ClassId) -> bool {
    let runs_code = |it: &ClassId| class_initializer(hierarchy, *it).is_some();
    hierarchy.outside_above(class).is_some() || hierarchy.supers(class).iter().any(runs_code)
}
