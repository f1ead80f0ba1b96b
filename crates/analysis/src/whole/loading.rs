//! The class loaders of a program, which resolving a class asks under `--link-errors` (`semantics.md` §4.5; JVMS §5.3.2).
//!
//! Resolving a class asks the loader of the class at hand. No class file tells which loader that is, so every instruction of a
//! class outside the platform that resolves a class may ask any class loader of the program. What comes out is the same
//! everywhere: one node of the system of inclusions. The platform's own loaders, also those that a program makes, are taken to
//! find what is on the class path, and the platform's classes to be loaded by them.

use classfile::names::ClassName;
use flow::solver::FunctionId;
use flow::throwables::well_known;
use flow::universe::SetId;
use program::hierarchy::ClassId;
use program::input::{Role, WorldKind};
use program::members::MethodId;
use program::members::declared::{declared, find_method};

use super::implicit::load_class;
use super::lattice::{Exceptions, Filter, Value};
use super::linking::link_error;
use super::sites::{Site, Target};
use super::tables::{CallTable, Loading};
use super::unknown::open_call;

/// The loaders of the program, when their calls are counted and there may be some. For a program whose calls were
/// looked up.
pub(super) fn find_loading(calls: &CallTable) -> Option<Loading> {
    if !calls.options.link_errors {
        return None;
    }
    let mut acc = Loading { targets: vec![], possible: vec![], errors: vec![], open: None };
    let own = |it: &MethodId| own_loaders(calls, *it, 1).next().is_some();
    match calls.virtual_site(load_class()) {
        Site::Dispatch(id) => {
            let dispatch = calls.dispatches.get(id);
            let methods = |list: &[Target]| -> Vec<MethodId> {
                let method = |it: &Target| match it {
                    Target::Method(it) => Some(*it),
                    Target::Glue(_) => None,
                };
                list.iter().filter_map(method).filter(own).collect()
            };
            acc.targets = methods(&dispatch.targets);
            acc.possible = methods(&dispatch.possible);
            acc.errors = dispatch.errors.clone();
            acc.open = dispatch.open;
        }
        Site::Method(it) if own(&it) => acc.targets.push(it),
        Site::Open(open) => acc.open = Some(open),
        Site::Method(_) | Site::Error(_) | Site::Vm => {}
    }
    if calls.options.world == WorldKind::Closed {
        acc.open = None;
    }
    let is_empty = acc.targets.is_empty() && acc.possible.is_empty() && acc.errors.is_empty();
    (!is_empty || acc.open.is_some()).then_some(acc)
}

/// The classes outside the platform whose objects have the method: the class that declares it, and those below that
/// do not declare it again.
pub(super) fn own_loaders(
    calls: &CallTable,
    method: MethodId,
    limit: usize,
) -> impl Iterator<Item = ClassId> {
    let hierarchy = &calls.classes.hierarchy;
    let it = declared(hierarchy, method);
    let (mut acc, mut pending) = (Vec::new(), vec![method.class]);
    while let Some(class) = pending.pop().filter(|_| acc.len() < limit) {
        let again = |&it_below: &ClassId| find_method(hierarchy, it_below, it.name, it.descriptor).is_none();
        pending.extend(hierarchy.children(class).iter().copied().filter(again));
        let flags = hierarchy.outline(class).flags;
        let has_objects = !flags.is_abstract() && !flags.is_interface();
        let is_made = calls.reachable.as_ref().is_none_or(|it| it.is_made(class));
        if has_objects && is_made && hierarchy.role(class) != Role::Jdk {
            acc.push(class);
        }
    }
    acc.into_iter()
}

/// The methods that asking a loader may run and that count by their code.
pub(super) fn loading_targets(calls: &CallTable) -> Vec<MethodId> {
    let Some(it) = &calls.loading else { return Vec::new() };
    // What is open covers those that are only possible, unless it is narrowed.
    let possible = if it.open.is_none() || calls.options.assume_contract { &it.possible[..] } else { &[] };
    it.targets.iter().chain(possible).copied().collect()
}

/// What comes out besides what these methods let out.
pub(super) fn loading_value(calls: &CallTable, ex: &mut Exceptions) -> Value {
    let Some(it) = &calls.loading else { return Value::NOTHING };
    let mut acc = Value::NOTHING;
    let unfit = unfit(ex);
    if let Some(open) = it.open {
        let value = open_call(calls, ex, open, Some(load_class()));
        let function = loaded(ex);
        acc.open = ex.through(function, value).open;
        acc.open = ex.universe.join(acc.open, unfit);
    }
    if !it.targets.is_empty() || !it.possible.is_empty() {
        acc.known = ex.universe.join(acc.known, unfit);
    }
    for &error in &it.errors {
        let value = link_error(ex, error);
        acc.known = ex.universe.join(acc.known, value.known);
    }
    acc
}

/// What becomes of what `loadClass` lets out: ClassNotFoundException turns into NoClassDefFoundError, everything else stays
/// as it is (JVMS §5.3; run on 17 and 25).
pub(super) fn loaded(ex: &mut Exceptions) -> FunctionId {
    let not_found = ex.universe.masks(Some(ClassName::new(b"java/lang/ClassNotFoundException")));
    let keep = ex.universe.minus(ex.universe.all(), not_found.surely);
    let gone = ex.universe.exact(well_known().no_class_def);
    ex.filter(Filter { keep, adds: vec![(not_found.may, gone)] })
}

/// What the VM raises where a loader answers, but does not fit: with nothing or another class (NoClassDefFoundError), with
/// one that other loaders have otherwise (LinkageError, JVMS §5.3.4), or without a nest host (IllegalAccessError, §5.4.4).
fn unfit(ex: &mut Exceptions) -> SetId {
    let mut acc = SetId::EMPTY;
    for name in
        [&b"java/lang/NoClassDefFoundError"[..], b"java/lang/LinkageError", b"java/lang/IllegalAccessError"]
    {
        let it = ex.universe.exact(ClassName::new(name));
        acc = ex.universe.join(acc, it);
    }
    acc
}
