//! Finds the classes of receivers that make a call run a certain method, and the supertypes through which they are
//! receivers of the call.

use bir::body::CallKind;
use classfile::names::{ClassName, MethodRef};
use program::hierarchy::{ClassId, Link};
use program::members::MethodId;
use program::members::declared::{declared, find_method};
use program::members::select::{select, selectable};
use program::names::{MethodName, Text};

use super::answers::{Call, CallWord};
use super::implicit::load_class;
use super::loading::own_loaders;
use super::sites::{Site, Target};
use super::tables::CallTable;

/// A class whose objects, as receivers of a call, make the call run a certain method, with the supertypes through
/// which these objects can be receivers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Receiver {
    /// The class of the receivers.
    pub class: Text,
    /// The chain of supertypes from the class of the receivers to the class that the call names, both included. If
    /// only an absent class may connect these two classes, the chain ends with the absent class.
    pub chain: Vec<Text>,
}

/// The objects whose class decides which method a call runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Selector {
    /// The receivers of a virtual call. The name is that of the method that the call instruction names.
    Receivers(MethodName),
    /// The class loaders of the program. The call is one that loads a class.
    Loaders,
}

impl Selector {
    /// Returns the objects whose class decides which method the call runs. Returns `None` if no object decides it,
    /// for example for an initialisation.
    pub fn of(call: &Call) -> Option<Selector> {
        match (call.declared, call.kind) {
            (Some(declared), _) => Some(Selector::Receivers(declared)),
            (None, CallWord::Load) => Some(Selector::Loaders),
            (None, _) => None,
        }
    }
}

/// Returns at most `limit` classes whose objects make a call in the method `caller` run the method `target`, each
/// with its chain of supertypes. `selector` is the kind of objects (receivers or class loaders) that decide.
pub fn selecting(
    calls: &CallTable,
    caller: MethodId,
    selector: Selector,
    target: MethodId,
    limit: usize,
) -> Vec<Receiver> {
    match selector {
        Selector::Receivers(by) => receivers(calls, caller, by, target, limit),
        Selector::Loaders => loaders(calls, target, limit),
    }
}

/// Returns at most `limit` classes whose objects, as receivers of a virtual call in the method `caller`, make the
/// call run `target`, each with its chain of supertypes. `by` is the method that the call instruction names.
fn receivers(
    calls: &CallTable,
    caller: MethodId,
    by: MethodName,
    target: MethodId,
    limit: usize,
) -> Vec<Receiver> {
    let names = by.names();
    let names = MethodRef::new(names.class, names.name, names.descriptor);
    let sites = [CallKind::Virtual, CallKind::Interface]
        .map(|kind| calls.dispatches.cached_site(caller.class, kind, names));
    let Some(Site::Dispatch(id)) = sites.into_iter().flatten().next() else { return Vec::new() };
    let dispatch = calls.dispatches.get(id);
    let listed = dispatch.targets.contains(&Target::Method(target));
    let named = dispatch.method.class();
    let hierarchy = &calls.classes.hierarchy;
    let mut acc = Vec::new();
    let mut pending = vec![target.class];
    let mut at = 0;
    while let Some(&class) = pending.get(at) {
        at += 1;
        let outline = hierarchy.outline(class);
        if class != target.class {
            let method = declared(hierarchy, target);
            if find_method(hierarchy, class, method.name, method.descriptor).is_some() {
                continue;
            }
        }
        pending.extend(hierarchy.children(class));
        let is_made = calls.reachable.as_ref().is_none_or(|it| it.is_made(class));
        let has_objects = is_made && !outline.flags.is_abstract() && !outline.flags.is_interface();
        // A class may have another interface with such a method, and then selects that method or none.
        let selects = || {
            let selected = select(hierarchy, class, target);
            selectable(hierarchy, class, target, selected).contains(&target)
        };
        if let Some(chain) = chain(calls, class, named, listed).filter(|_| has_objects && selects()) {
            acc.push(Receiver { class: Text(hierarchy.name(class).bytes()), chain });
        }
        if acc.len() == limit {
            break;
        }
    }
    acc
}

/// Returns at most `limit` class-loader classes of the program whose objects run `method` to load a class, each with
/// its chain of supertypes.
fn loaders(calls: &CallTable, method: MethodId, limit: usize) -> Vec<Receiver> {
    let hierarchy = &calls.classes.hierarchy;
    let listed = calls.loading.as_ref().is_some_and(|it| it.targets.contains(&method));
    let named = load_class().class();
    let chains = own_loaders(calls, method, limit).filter_map(|class| {
        let chain = chain(calls, class, named, listed)?;
        Some(Receiver { class: Text(hierarchy.name(class).bytes()), chain })
    });
    chains.collect()
}

/// Returns the shortest chain of supertypes from a class to the class named `to`. If `known` is false, objects of the
/// class are receivers only because the class has an absent supertype, and the chain ends with that absent class.
/// Returns `None` if there is no chain.
fn chain(calls: &CallTable, class: ClassId, to: ClassName, known: bool) -> Option<Vec<Text>> {
    let absent = if known { None } else { chain_to(calls, class, None) };
    absent.or_else(|| chain_to(calls, class, Some(to)))
}

/// Returns the shortest chain of supertypes from a class to the class named `to`, or, if `to` is `None`, to an absent
/// class. Returns `None` if there is no chain.
fn chain_to(calls: &CallTable, class: ClassId, to: Option<ClassName>) -> Option<Vec<Text>> {
    let hierarchy = &calls.classes.hierarchy;
    let mut queue: Vec<(Link, usize)> = vec![(Link::Present(class), usize::MAX)];
    let mut at = 0;
    while let Some(&(link, _)) = queue.get(at) {
        let name = match link {
            Link::Present(it) => hierarchy.name(it),
            Link::Outside(it) => it,
        };
        let outside = matches!(link, Link::Outside(_)) && name.bytes() != b"java/lang/Object";
        if Some(name) == to || (to.is_none() && outside) {
            let mut chain = Vec::new();
            while let Some(&(link, from)) = queue.get(at) {
                chain.push(Text(match link {
                    Link::Present(it) => hierarchy.name(it).bytes(),
                    Link::Outside(it) => it.bytes(),
                }));
                at = from;
            }
            chain.reverse();
            return Some(chain);
        }
        if let Link::Present(it) = link {
            let above = hierarchy.super_class(it).into_iter().chain(hierarchy.interfaces(it).iter().copied());
            for link in above {
                if queue.iter().all(|it| it.0 != link) {
                    queue.push((link, at));
                }
            }
        }
        at += 1;
    }
    None
}
