//! Finds the targets of dispatches from their receivers: each class offers the methods that it declares, or newly has
//! to select among, to the dispatches of its supertypes. So the work grows with the number of methods times the
//! number of supertypes of their classes, and each class can be processed alone.

use classfile::names::{ClassName, Descriptor, Name};
use flow::fuel::{Cancelled, Fuel};
use flow::functional::Function;
use flow::throwables::well_known;
use program::hierarchy::{ClassId, Hierarchy, Link};
use program::input::WorldKind;
use program::members::declared::{declared, declares_selectable, find_method};
use program::members::resolve::resolve_method;
use program::members::select::{select, select_interface, selectable};
use program::members::{LinkError, MethodId, ResolvedMethod, Selected};
use program::names::Text;
use program::outline::Method;
use rustc_hash::FxHashMap;

use super::super::sites::{DispatchId, FunctionSiteId, Target};
use super::outcomes::{Outcome, ReceiverKind};
use super::{Dispatch, Dispatches, constructor};

/// The approximate cost of finding the dispatches that a function object may receive, in steps of [`Fuel`].
pub(super) const COST_OF_FUNCTION: u32 = 64;
/// Finds the targets of all requested dispatches. `functions` are the function objects of the program.
///
/// # Errors
/// When the work is cancelled; the table must not be used any more then.
pub(in crate::whole) fn find_targets(
    table: &mut Dispatches,
    functions: &[Function],
    fuel: &mut Fuel<'_>,
) -> Result<(), Cancelled> {
    for class in table.hierarchy.ids() {
        fuel.spend(cost_of_offer(table, class))?;
        offer(table, class);
    }
    for (i, function) in functions.iter().enumerate() {
        fuel.spend(COST_OF_FUNCTION)?;
        offer_function(table, FunctionSiteId::from_index(i), function);
    }
    table.all.iter_mut().for_each(Dispatch::open_without_marks);
    offer_possible(table, functions, fuel)?;
    for it in &mut table.all {
        fuel.spend(1 + (it.targets.len() + it.possible.len()) as u32 / 4)?;
        it.sort();
    }
    Ok(())
}

/// The approximate cost of [`offer`], in steps of [`Fuel`].
pub(super) fn cost_of_offer(table: &Dispatches, class: ClassId) -> u32 {
    let n_methods = table.hierarchy.outline(class).methods.len();
    (n_methods * table.hierarchy.supers(class).len() + 16) as u32
}

/// Offers the methods that receivers of this class select.
pub(super) fn offer(table: &mut Dispatches, class: ClassId) {
    if table.hierarchy.is_interface(class) {
        return;
    }
    let above = Above::of(&table.hierarchy, class);
    for id in dispatches_for(table, class, &above) {
        offer_to(table, id, class, &above);
    }
}

/// Returns the dispatches for which a class may select something itself, and perhaps others. A method that the class
/// declares may be called through any supertype, an inherited method through a new supertype, and a method of a new
/// interface through any supertype.
pub(super) fn dispatches_for(table: &Dispatches, class: ClassId, above: &Above) -> Vec<DispatchId> {
    let is_selectable = |it: &&Method| !it.flags.is_static() && !it.flags.is_private();
    let mut acc: Vec<DispatchId> = Vec::new();
    let mut named = |supers: &[ClassName], method: &Method| {
        let ids = supers.iter().filter_map(|it| table.by_name.get(&(*it, method.name, method.descriptor)));
        acc.extend(ids.flatten());
    };
    for method in table.hierarchy.outline(class).methods.iter().filter(is_selectable) {
        named(&above.supers, method);
    }
    for interface in new_supers(&table.hierarchy, class) {
        let methods = &table.hierarchy.outline(interface).methods;
        methods.iter().filter(is_selectable).for_each(|it| named(&above.old, it));
    }
    let new = above.supers.iter().filter(|it| !above.old.contains(it));
    acc.extend(new.filter_map(|it| table.by_class.get(it)).flatten());
    acc.sort_unstable();
    acc.dedup();
    acc
}

/// Offers the method that receivers of a class select to a dispatch, unless it is what the superclass selects.
pub(super) fn offer_to(table: &mut Dispatches, id: DispatchId, class: ClassId, above: &Above) {
    let names = table.all[id.index()].method.get();
    if !above.supers.contains(&names.class) {
        return;
    }
    if declares_selectable(&table.hierarchy, class, names.name, names.descriptor) {
        // No receiver selects a constructor, even if a malformed call names one.
        let is_selectable = names.name != constructor();
        let method = find_method(&table.hierarchy, class, names.name, names.descriptor);
        if let Some(it) = method.filter(|_| is_selectable) {
            offer_selection(table, id, class, it);
        }
    } else if !above.old.contains(&names.class) || is_new_in(table, class, names.name, names.descriptor) {
        offer_inherited(table, id, class);
    }
}

/// Whether a class has an interface with such a method that its superclass does not have, so that the class selects
/// among more methods than its superclass.
fn is_new_in(table: &Dispatches, class: ClassId, name: Name, descriptor: Descriptor) -> bool {
    new_supers(&table.hierarchy, class).any(|it| declares_selectable(&table.hierarchy, it, name, descriptor))
}

/// Offers a method that the class declares itself.
fn offer_selection(table: &mut Dispatches, id: DispatchId, class: ClassId, method: MethodId) {
    let flags = declared(&table.hierarchy, method).flags;
    let dispatch = &table.all[id.index()];
    let (resolved, selected) = match dispatch.resolved {
        Some(resolved) if dispatch.interface && !flags.is_public() => {
            (resolved, select_interface(&table.hierarchy, class, dispatch.method.class(), resolved))
        }
        // Only a package-private method may fail to be overridden by a method of the same name and descriptor.
        Some(resolved) if resolved != method && !is_visible(table, resolved) => {
            (resolved, select(&table.hierarchy, class, resolved))
        }
        _ if flags.is_abstract() => (method, Selected::Error(LinkError::AbstractMethod)),
        _ => (method, Selected::Method(method)),
    };
    record_selection(table, id, class, resolved, selected);
}

/// Offers the method that the class inherits.
fn offer_inherited(table: &mut Dispatches, id: DispatchId, class: ClassId) {
    let dispatch = &table.all[id.index()];
    let names = dispatch.method.get();
    let hierarchy = &table.hierarchy;
    let (resolved, selected) = match dispatch.resolved {
        Some(it) if dispatch.interface => {
            (it, select_interface(hierarchy, class, dispatch.method.class(), it))
        }
        Some(it) => (it, select(hierarchy, class, it)),
        // The method is declared in a class that is outside; a known superclass may have it as well.
        None => match resolve_method(hierarchy, hierarchy.name(class), names.name, names.descriptor, false) {
            ResolvedMethod::Method(it) | ResolvedMethod::Unknown { beyond: Some(it), .. } => {
                let selected = match select(hierarchy, class, it) {
                    Selected::Unknown { beyond: Some(it), .. } => Selected::Method(it),
                    other => other,
                };
                (it, selected)
            }
            ResolvedMethod::Unknown { beyond: None, .. }
            | ResolvedMethod::Error(_)
            | ResolvedMethod::SignaturePolymorphic(_) => return,
        },
    };
    record_selection(table, id, class, resolved, selected);
}

/// Records what a receiver of class `class` selects for a dispatch; `resolved` is the method for which it was selected.
fn record_selection(
    table: &mut Dispatches,
    id: DispatchId,
    class: ClassId,
    resolved: MethodId,
    selected: Selected,
) {
    let receiver = ReceiverKind::Class(class);
    let names = table.all[id.index()].method.get();
    let (name, descriptor) = (names.name, names.descriptor);
    let is_live = |this: &Dispatches| {
        let declares = |it| declares_selectable(&this.hierarchy, it, name, descriptor);
        is_live(this, class, |it| declares(it) || is_new_in(this, it, name, descriptor))
    };
    match selected {
        Selected::Method(it) => {
            if !declared(&table.hierarchy, it).flags.is_abstract() && is_live(table) {
                emit(table, id, receiver, Outcome::Target(Target::Method(it)));
            }
        }
        Selected::Error(error) => {
            if !has_error(table, id, error) && is_live(table) {
                emit(table, id, receiver, Outcome::Error(error));
            }
        }
        // The receiver is known but not what it selects: an absent superclass or interface may have the method.
        Selected::Unknown { outside, .. } => {
            if is_live(table) {
                let beyond = selectable(&table.hierarchy, class, resolved, selected);
                unknown_selection(table, id, receiver, outside, beyond);
            }
        }
    }
}

/// Whether the error is already recorded, when it need be recorded only once.
pub(super) fn has_error(table: &Dispatches, id: DispatchId, error: LinkError) -> bool {
    table.sink.is_none() && table.all[id.index()].errors.contains(&error)
}

/// Records the outcome of a receiver at a dispatch.
pub(super) fn emit(table: &mut Dispatches, id: DispatchId, receiver: ReceiverKind, outcome: Outcome) {
    if let Some(sink) = &mut table.sink {
        return sink.push((id, outcome));
    }
    let dispatch = &mut table.all[id.index()];
    match outcome {
        Outcome::Target(it) => dispatch.targets.push(it),
        Outcome::Beyond(it) | Outcome::Maybe(it) => dispatch.possible.push(it),
        Outcome::Error(it) => {
            if !dispatch.errors.contains(&it) {
                dispatch.errors.push(it);
            }
        }
        Outcome::Unknown(it) => dispatch.open_by_receiver(ClassName::new(it.0)),
    }
    if let (Outcome::Target(target) | Outcome::Beyond(target) | Outcome::Maybe(target), Some(offers)) =
        (outcome, &mut table.offers)
    {
        offers.0.entry(receiver).or_default().push((id, target));
    }
}

/// Records that a receiver selects a method of an absent class or, depending on that class, one of `beyond`.
fn unknown_selection(
    table: &mut Dispatches,
    id: DispatchId,
    receiver: ReceiverKind,
    outside: ClassName,
    beyond: Vec<MethodId>,
) {
    if table.world == WorldKind::Closed {
        return;
    }
    emit(table, id, receiver, Outcome::Unknown(Text(outside.bytes())));
    for it in beyond {
        emit(table, id, receiver, Outcome::Beyond(Target::Method(it)));
    }
}

fn is_visible(table: &Dispatches, method: MethodId) -> bool {
    let flags = declared(&table.hierarchy, method).flags;
    flags.is_public() || flags.is_protected()
}

/// Whether the class, or a known class below it that inherits its choice of a method, is concrete. `chooses` returns
/// whether a class below makes a choice of its own.
pub(super) fn is_live(table: &Dispatches, class: ClassId, chooses: impl Fn(ClassId) -> bool) -> bool {
    let mut pending = vec![class];
    while let Some(at) = pending.pop() {
        let outline = table.hierarchy.outline(at);
        if !outline.flags.is_abstract() && !outline.flags.is_interface() {
            return true;
        }
        pending.extend(table.hierarchy.children(at).iter().copied().filter(|it| !chooses(*it)));
    }
    false
}

/// Offers the methods of a function object: its own method, and the default methods of its interfaces.
pub(super) fn offer_function(table: &mut Dispatches, site: FunctionSiteId, function: &Function) {
    for name in function_supers(&table.hierarchy, function) {
        for id in table.by_class.get(&name).cloned().unwrap_or_default() {
            offer_function_to(table, id, site, function);
        }
    }
}

pub(super) fn offer_function_to(
    table: &mut Dispatches,
    id: DispatchId,
    site: FunctionSiteId,
    function: &Function,
) {
    let names = table.all[id.index()].method.get();
    if names.name == function.name && function.descriptors.contains(&names.descriptor) {
        emit(table, id, ReceiverKind::Function(site), Outcome::Target(Target::Glue(site)));
    } else {
        offer_default(table, id, site, function);
    }
}

/// Offers the method that a function object inherits from its interfaces or from Object.
fn offer_default(table: &mut Dispatches, id: DispatchId, site: FunctionSiteId, function: &Function) {
    let receiver = ReceiverKind::Function(site);
    let names = table.all[id.index()].method.get();
    let interfaces = std::iter::once(&function.interface).chain(&function.markers);
    for &interface in interfaces {
        match resolve_method(&table.hierarchy, interface, names.name, names.descriptor, true) {
            ResolvedMethod::Method(it) => {
                let flags = declared(&table.hierarchy, it).flags;
                if !flags.is_abstract() && !flags.is_static() {
                    emit(table, id, receiver, Outcome::Target(Target::Method(it)));
                    continue;
                }
                // The interface has a method that was added after the function object's call site was compiled.
                emit(table, id, receiver, Outcome::Error(LinkError::AbstractMethod));
            }
            ResolvedMethod::Unknown { outside, beyond } => {
                let beyond = beyond.into_iter().collect();
                unknown_selection(table, id, receiver, outside, beyond);
            }
            // Another interface of the function object has the method.
            ResolvedMethod::Error(_) | ResolvedMethod::SignaturePolymorphic(_) => {}
        }
    }
}

/// Offers the methods that are selected by classes with an absent supertype: such a class may be below any class that
/// unknown classes may extend.
fn offer_possible(
    table: &mut Dispatches,
    functions: &[Function],
    fuel: &mut Fuel<'_>,
) -> Result<(), Cancelled> {
    if table.world == WorldKind::Closed {
        return Ok(());
    }
    let mut by_method: FxHashMap<(Name, Descriptor), Vec<(ClassId, Target)>> = FxHashMap::default();
    for class in table.hierarchy.ids() {
        fuel.spend(1 + table.hierarchy.outline(class).methods.len() as u32)?;
        for (name, descriptor, target) in selected_outside(table, class) {
            by_method.entry((name, descriptor)).or_default().push((class, target));
        }
    }
    if by_method.is_empty() && functions.is_empty() {
        return Ok(());
    }
    for id in DispatchId::first(table.all.len()) {
        fuel.spend(2)?;
        let dispatch = table.get(id);
        let names = dispatch.method.get();
        if !dispatch.may_be_anywhere() {
            continue;
        }
        for &(class, target) in by_method.get(&(names.name, names.descriptor)).into_iter().flatten() {
            fuel.spend(1)?;
            emit(table, id, ReceiverKind::Class(class), Outcome::Maybe(target));
        }
    }
    // A program has about as many function objects as dispatches that may call them, so comparing each with each
    // would be quadratic.
    let mut by_name: FxHashMap<(Name, Descriptor), Vec<DispatchId>> = FxHashMap::default();
    for (id, it) in (0..).map(DispatchId::from_index).zip(&table.all).filter(|it| it.1.open.is_some()) {
        let names = it.method.get();
        by_name.entry((names.name, names.descriptor)).or_default().push(id);
    }
    for (i, function) in functions.iter().enumerate() {
        fuel.spend(COST_OF_FUNCTION)?;
        if !leaves(table, &function_supers(&table.hierarchy, function)) {
            continue;
        }
        let site = FunctionSiteId::from_index(i);
        let asked = |&it: &Descriptor| by_name.get(&(function.name, it));
        let mut ids: Vec<DispatchId> =
            function.descriptors.iter().filter_map(asked).flatten().copied().collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            fuel.spend(1)?;
            emit(table, id, ReceiverKind::Function(site), Outcome::Maybe(Target::Glue(site)));
        }
    }
    Ok(())
}

/// Returns the methods that objects of a class select and that calls on any class may reach, because the class has an
/// absent supertype; none if all its supertypes are known. Left out is what the class selects like its superclass, if
/// that has an absent supertype too.
pub(super) fn selected_outside(table: &Dispatches, class: ClassId) -> Vec<(Name, Descriptor, Target)> {
    let hierarchy = &table.hierarchy;
    if hierarchy.outside_above(class).is_none() || hierarchy.is_interface(class) {
        return Vec::new();
    }
    let covered: &[ClassId] = match hierarchy.super_class(class) {
        Some(Link::Present(it)) if hierarchy.outside_above(it).is_some() => hierarchy.supers(it),
        _ => &[],
    };
    let mut acc: Vec<(Name, Descriptor, Target)> = Vec::new();
    for &above in hierarchy.supers(class).iter().filter(|it| covered.binary_search(it).is_err()) {
        for (index, it) in hierarchy.outline(above).methods.iter().enumerate() {
            let flags = it.flags;
            if flags.is_static() || flags.is_private() || flags.is_abstract() || it.name == constructor() {
                continue;
            }
            let method = MethodId::new(above, index);
            let selected = match above == class {
                true => Selected::Method(method),
                false => select(hierarchy, class, method),
            };
            for selected in selectable(hierarchy, class, method, selected) {
                let (name, descriptor) = (it.name, it.descriptor);
                let chooses = |below| {
                    // A method of a class takes precedence over methods of interfaces that are new in a subclass.
                    declares_selectable(hierarchy, below, name, descriptor)
                        || hierarchy.is_interface(selected.class) && is_new_in(table, below, name, descriptor)
                };
                let offer = (name, descriptor, Target::Method(selected));
                if !acc.contains(&offer) && is_live(table, class, chooses) {
                    acc.push(offer);
                }
            }
        }
    }
    acc
}

/// Whether one of these supertypes is absent or has an absent supertype.
pub(super) fn leaves(table: &Dispatches, supers: &[ClassName]) -> bool {
    supers.iter().any(|&it| {
        it != well_known().object
            && table.hierarchy.class(it).is_none_or(|id| table.hierarchy.outside_above(id).is_some())
    })
}

/// Returns the superinterfaces of a class that its superclass does not have.
fn new_supers(hierarchy: &Hierarchy, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
    let old = match hierarchy.super_class(class) {
        Some(Link::Present(it)) => hierarchy.supers(it),
        _ => &[],
    };
    let is_new = move |it: &ClassId| *it != class && old.binary_search(it).is_err();
    hierarchy.supers(class).iter().copied().filter(is_new)
}

/// The supertypes of a class, by name.
pub(super) struct Above {
    /// All supertypes of the class including absent ones, with the class itself first.
    supers: Vec<ClassName>,
    /// The supertypes of the superclass.
    old: Vec<ClassName>,
}

impl Above {
    pub(super) fn of(hierarchy: &Hierarchy, class: ClassId) -> Self {
        let old = match hierarchy.super_class(class) {
            Some(Link::Present(it)) => super_names(hierarchy, it),
            _ => Vec::new(),
        };
        Above { supers: super_names(hierarchy, class), old }
    }
}

/// Returns the names of all supertypes of a class including absent ones, with the class itself first.
fn super_names(hierarchy: &Hierarchy, class: ClassId) -> Vec<ClassName> {
    let mut acc = vec![hierarchy.name(class)];
    for &it in hierarchy.supers(class) {
        let name = hierarchy.name(it);
        if it != class {
            acc.push(name);
        }
        let links = hierarchy.super_class(it).into_iter().chain(hierarchy.interfaces(it).iter().copied());
        for link in links {
            if let Link::Outside(name) = link
                && !acc.contains(&name)
            {
                acc.push(name);
            }
        }
    }
    acc
}

/// Returns the names of the supertypes of a function object.
pub(super) fn function_supers(hierarchy: &Hierarchy, function: &Function) -> Vec<ClassName> {
    let mut acc = vec![well_known().object];
    for &interface in std::iter::once(&function.interface).chain(&function.markers) {
        match hierarchy.class(interface) {
            Some(id) => acc.extend(super_names(hierarchy, id)),
            None => acc.push(interface),
        }
    }
    acc.sort_unstable_by_key(|it| it.bytes());
    acc.dedup();
    acc
}
