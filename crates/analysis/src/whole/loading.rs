//! The class loaders of a program, which are called when a class is resolved, under `--link-errors` (`semantics.md`
//! §4.5; JVMS §5.3.2).
//!
//! Resolving a class calls the class loader of the class that refers to it. No class file tells which loader that is,
//! so every instruction that resolves a class, in a class outside the platform, may call any class loader of the
//! program. The resulting exceptions are the same everywhere, so they are one node of the system of inclusions. Two
//! assumptions are made: the platform's loaders, including those that a program creates, find what is on the class
//! path; and the platform's loaders load the platform's classes.

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

/// Returns the methods by which the class loaders of the program load a class. Returns `None` without
/// `--link-errors`, or if the program has no class loaders. The targets of calls must be computed before this
/// function is called.
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

/// Returns at most `limit` classes outside the platform whose objects run `method` when it is called: the class that
/// declares the method, and its subclasses that do not override it. Classes that have no instances are left out.
pub(super) fn own_loaders(
    calls: &CallTable,
    method: MethodId,
    limit: usize,
) -> impl Iterator<Item = ClassId> {
    let hierarchy = &calls.classes.hierarchy;
    let it = declared(hierarchy, method);
    let (mut acc, mut pending) = (Vec::new(), vec![method.class]);
    while let Some(class) = pending.pop().filter(|_| acc.len() < limit) {
        let inherits =
            |&it_below: &ClassId| find_method(hierarchy, it_below, it.name, it.descriptor).is_none();
        pending.extend(hierarchy.children(class).iter().copied().filter(inherits));
        let flags = hierarchy.outline(class).flags;
        let has_objects = !flags.is_abstract() && !flags.is_interface();
        let is_made = calls.reachable.as_ref().is_none_or(|it| it.is_made(class));
        if has_objects && is_made && hierarchy.role(class) != Role::Jdk {
            acc.push(class);
        }
    }
    acc.into_iter()
}

/// Returns the methods that may run when a class loader of the program is called. Leaves out the methods whose
/// exceptions are contained in the open part of the call anyway.
pub(super) fn loading_targets(calls: &CallTable) -> Vec<MethodId> {
    let Some(it) = &calls.loading else { return Vec::new() };
    // The open part covers the possible methods, unless an assumption about unknown code narrows it.
    let possible = if it.open.is_none() || calls.options.assume_contract { &it.possible[..] } else { &[] };
    it.targets.iter().chain(possible).copied().collect()
}

/// Returns the exceptions that a call of a class loader lets out in addition to those of the methods that
/// [`loading_targets`] returns.
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

/// Returns the transfer function from the exceptions of `loadClass` to those of resolving a class.
/// ClassNotFoundException becomes NoClassDefFoundError; every other exception is unchanged (JVMS §5.3; observed on
/// Java 17 and 25).
pub(super) fn loaded(ex: &mut Exceptions) -> FunctionId {
    let not_found = ex.universe.masks(Some(ClassName::new(b"java/lang/ClassNotFoundException")));
    let keep = ex.universe.minus(ex.universe.all(), not_found.surely);
    let no_class_def = ex.universe.exact(well_known().no_class_def);
    ex.filter(Filter { keep, adds: vec![(not_found.may, no_class_def)] })
}

/// Returns the exceptions that the VM raises if a class loader returns an unsuitable result: no class or a class of
/// another name (NoClassDefFoundError), a class different from the one that another loader defined under this name
/// (LinkageError, JVMS §5.3.4), or a class without a nest host (IllegalAccessError, §5.4.4).
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
