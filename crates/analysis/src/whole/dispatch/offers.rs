//! Computes the targets of dispatches from their receivers. Each class adds ("offers") its methods to the dispatches
//! of its supertypes: the methods that it declares, and those among which it selects although its superclass does
//! not. So the work is proportional to the number of methods times the number of supertypes of their classes, and
//! each class can be processed alone.

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
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::sites::{DispatchId, FunctionSiteId, Target};
use super::outcome_index::Anywhere;
use super::outcomes::{Outcome, ReceiverKind, Scope, Signature};
use super::{Dispatch, Dispatches, constructor};

/// The approximate cost, in steps of [`Fuel`], of finding the dispatches in which a function object may be a
/// receiver.
pub(super) const COST_OF_FUNCTION: u32 = 64;
/// Computes the targets of all requested dispatches. `functions` are the function objects of the program.
///
/// # Errors
/// When the work is cancelled. The table is then incomplete and must not be used any more.
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

/// Returns the approximate cost of [`offer`] for this class, in steps of [`Fuel`].
pub(super) fn cost_of_offer(table: &Dispatches, class: ClassId) -> u32 {
    let n_methods = table.hierarchy.outline(class).methods.len();
    (n_methods * table.hierarchy.supers(class).len() + 16) as u32
}

/// Adds to dispatches the methods that objects of this class select as receivers.
pub(super) fn offer(table: &mut Dispatches, class: ClassId) {
    if table.hierarchy.is_interface(class) {
        return;
    }
    let above = Above::of(&table.hierarchy, class);
    for id in dispatches_for(table, class, &above) {
        offer_to(table, id, class, &above);
    }
}

/// Returns the dispatches in which objects of a class may select another method than those of its superclass; the
/// list may have further dispatches. The list has the dispatches that name one of the supertypes and a method that
/// the class declares, those that name a supertype that the superclass does not have, and those that name a supertype
/// of the superclass and a method that such a new supertype declares.
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

/// Adds to the dispatch `id` the method that objects of a class select as receivers, unless those of the superclass
/// select the same method.
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

/// Whether a class has an interface that declares a method of this name and descriptor, and that its superclass does
/// not have. Objects of the class then select among more methods than those of the superclass.
fn is_new_in(table: &Dispatches, class: ClassId, name: Name, descriptor: Descriptor) -> bool {
    new_supers(&table.hierarchy, class).any(|it| declares_selectable(&table.hierarchy, it, name, descriptor))
}

/// Adds to a dispatch the target or error that receivers of the class `class` select. The class itself must declare
/// `method`, a method with the name and descriptor of the dispatch.
fn offer_selection(table: &mut Dispatches, id: DispatchId, class: ClassId, method: MethodId) {
    let flags = declared(&table.hierarchy, method).flags;
    let dispatch = &table.all[id.index()];
    let (resolved, selected) = match dispatch.resolved {
        Some(resolved) if dispatch.interface && !flags.is_public() => {
            (resolved, select_interface(&table.hierarchy, class, dispatch.method.class(), resolved))
        }
        // Only a package-private method may remain not overridden by a method of the same name and descriptor.
        Some(resolved) if resolved != method && !is_visible(table, resolved) => {
            (resolved, select(&table.hierarchy, class, resolved))
        }
        _ if flags.is_abstract() => (method, Selected::Error(LinkError::AbstractMethod)),
        _ => (method, Selected::Method(method)),
    };
    record_selection(table, id, class, resolved, selected);
}

/// Adds to a dispatch what objects of a class select if the class inherits the method.
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

/// Whether the dispatch already has this link error, so that it need not be added. Always false if the table collects
/// what receivers select in a separate list (`Dispatches::sink`): the errors of each receiver must then be complete.
pub(super) fn has_error(table: &Dispatches, id: DispatchId, error: LinkError) -> bool {
    table.sink.is_none() && table.all[id.index()].errors.contains(&error)
}

/// Records what a receiver selects in a dispatch: a target, an error, or an absent class that may have the target.
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

/// Records that a receiver selects a method of the absent class `outside` or, depending on that class, one of the
/// present methods `beyond`.
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

/// Whether objects that select a method of the class `class` may exist. They may if the class itself, or a known
/// subclass that inherits the method, is not abstract. `chooses` returns whether a subclass selects another method,
/// so that the search skips this subclass and the classes below it.
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

/// Adds to dispatches the methods that a function object selects as a receiver: its own method, and the default
/// methods of its interfaces.
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
    if is_own_method(function, names.name, names.descriptor) {
        emit(table, id, ReceiverKind::Function(site), Outcome::Target(Target::Glue(site)));
    } else {
        offer_default(table, id, site, function);
    }
}

/// Adds to a dispatch what a function object selects if the dispatch does not name its own method: a method inherited
/// from an interface or from Object, or an error.
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
            // This interface does not have the method, but another interface of the function object has.
            ResolvedMethod::Error(_) | ResolvedMethod::SignaturePolymorphic(_) => {}
        }
    }
}

/// Adds to dispatches the possible targets: the methods that objects select if their class has an absent supertype, which
/// may be below any class that unknown classes may extend, and the methods that unknown classes may inherit.
fn offer_possible(
    table: &mut Dispatches,
    functions: &[Function],
    fuel: &mut Fuel<'_>,
) -> Result<(), Cancelled> {
    if table.world == WorldKind::Closed {
        return Ok(());
    }
    let mut by_method: FxHashMap<(Signature, Scope), Vec<(ClassId, Target)>> = FxHashMap::default();
    let wanted: FxHashSet<(Signature, Scope)> =
        table.all.iter().filter(|it| it.may_be_anywhere()).flat_map(Dispatch::scopes).collect();
    for class in table.hierarchy.ids() {
        fuel.spend(1 + table.hierarchy.outline(class).methods.len() as u32)?;
        for (scope, target) in selected_outside(table, class).filter(|it| wanted.contains(&it.0)) {
            by_method.entry(scope).or_default().push((class, target));
        }
    }
    if by_method.is_empty() && functions.is_empty() {
        return Ok(());
    }
    for id in DispatchId::first(table.all.len()) {
        fuel.spend(2)?;
        let dispatch = table.get(id);
        if !dispatch.may_be_anywhere() {
            continue;
        }
        for &(class, target) in dispatch.scopes().filter_map(|it| by_method.get(&it)).flatten() {
            fuel.spend(1)?;
            emit(table, id, ReceiverKind::Class(class), Outcome::Maybe(target));
        }
    }
    // A program has about as many function objects as dispatches that may have them as receivers, so comparing each
    // with each would be quadratic.
    let mut by_signature: FxHashMap<Signature, Vec<DispatchId>> = FxHashMap::default();
    for (id, it) in (0..).map(DispatchId::from_index).zip(&table.all).filter(|it| it.1.open.is_some()) {
        by_signature.entry(it.signature()).or_default().push(id);
    }
    for (i, function) in functions.iter().enumerate() {
        fuel.spend(COST_OF_FUNCTION)?;
        if !leaves(table, &function_supers(&table.hierarchy, function)) {
            continue;
        }
        let site = FunctionSiteId::from_index(i);
        let asked =
            |&descriptor: &Descriptor| by_signature.get(&Signature { name: function.name, descriptor });
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

/// Returns the methods of a class and its supertypes that calls on other types may run, each with the dispatches in which
/// it is a possible target.
pub(super) fn selected_outside(table: &Dispatches, class: ClassId) -> impl Iterator<Item = Anywhere> + '_ {
    let hierarchy = &table.hierarchy;
    let is_anywhere = hierarchy.outside_above(class).is_some() && !hierarchy.is_interface(class);
    let selected = is_anywhere.then(|| selected_anywhere(table, class)).into_iter().flatten();
    let is_inherited = table.world != WorldKind::Closed && hierarchy.may_have_unknown_subtypes(class);
    let inherited = is_inherited.then(|| inherited_outside(hierarchy, class)).into_iter().flatten();
    let all = selected.map(|(signature, target)| ((signature, Scope::All), target));
    all.chain(inherited.map(|(signature, target)| ((signature, Scope::Interfaces), target)))
}

/// Returns the methods that the class declares and that an unknown class may inherit and use to implement an interface
/// (JVMS §5.4.6).
fn inherited_outside(
    hierarchy: &Hierarchy,
    class: ClassId,
) -> impl Iterator<Item = (Signature, Target)> + '_ {
    let methods = hierarchy.outline(class).methods.iter().enumerate();
    methods.filter_map(move |(index, it)| {
        let flags = it.flags;
        let implements = flags.is_public() && !flags.is_static() && !flags.is_abstract();
        let signature = Signature { name: it.name, descriptor: it.descriptor };
        let is_found = implements && it.name != constructor();
        is_found.then(|| (signature, Target::Method(MethodId::new(class, index))))
    })
}

/// Returns the methods that objects of a class select and that calls on any type may run, because the class has an
/// absent supertype and may therefore be below any type. Leaves out the methods that the superclass selects as well, if
/// the superclass has an absent supertype, too.
fn selected_anywhere(table: &Dispatches, class: ClassId) -> Vec<(Signature, Target)> {
    let hierarchy = &table.hierarchy;
    let covered: &[ClassId] = match hierarchy.super_class(class) {
        Some(Link::Present(it)) if hierarchy.outside_above(it).is_some() => hierarchy.supers(it),
        _ => &[],
    };
    let mut acc: Vec<(Signature, Target)> = Vec::new();
    for &above in hierarchy.supers(class) {
        let is_covered = covered.binary_search(&above).is_ok();
        for (index, it) in hierarchy.outline(above).methods.iter().enumerate() {
            let flags = it.flags;
            if flags.is_static() || flags.is_private() || flags.is_abstract() || it.name == constructor() {
                continue;
            }
            // If a new interface declares the method, too, the class may select another method.
            if is_covered && !is_new_in(table, class, it.name, it.descriptor) {
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
                let offer = (Signature { name, descriptor }, Target::Method(selected));
                if !acc.contains(&offer) && is_live(table, class, chooses) {
                    acc.push(offer);
                }
            }
        }
    }
    acc
}

/// Whether one of the types `supers`, other than Object, is absent or has an absent supertype.
pub(super) fn leaves(table: &Dispatches, supers: &[ClassName]) -> bool {
    supers.iter().any(|&it| {
        it != well_known().object
            && table.hierarchy.class(it).is_none_or(|id| table.hierarchy.outside_above(id).is_some())
    })
}

/// Returns the supertypes of a class, except the class itself, that its superclass does not have.
fn new_supers(hierarchy: &Hierarchy, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
    let old = match hierarchy.super_class(class) {
        Some(Link::Present(it)) => hierarchy.supers(it),
        _ => &[],
    };
    let is_new = move |it: &ClassId| *it != class && old.binary_search(it).is_err();
    hierarchy.supers(class).iter().copied().filter(is_new)
}

/// The names of the supertypes of a class and of its superclass.
pub(super) struct Above {
    /// The names of all supertypes of the class, including absent ones, with the class itself first.
    supers: Vec<ClassName>,
    /// The names of all supertypes of the superclass, including the superclass; empty if the superclass is absent.
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

/// Returns the names of all supertypes of a function object, including absent ones.
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

/// Returns whether the calls of a dispatch run the own method of a function object when they are made on it.
pub(in crate::whole) fn runs_own_method(table: &Dispatches, id: DispatchId, function: &Function) -> bool {
    let names = table.get(id).method.get();
    is_own_method(function, names.name, names.descriptor)
        && function_supers(&table.hierarchy, function).contains(&names.class)
}

fn is_own_method(function: &Function, name: Name, descriptor: Descriptor) -> bool {
    name == function.name && function.descriptors.contains(&descriptor)
}
