//! Updates the targets of dispatches when classes are removed and added. Recomputes what receivers select (their
//! outcomes) only for receivers whose supertypes or subtypes changed.

use std::sync::Arc;

use classfile::names::{ClassName, MethodRef};
use flow::fuel::{Cancelled, Fuel};
use flow::functional::Function;
use flow::throwables::well_known;
use program::hierarchy::{ClassId, Hierarchy, Link};
use program::members::ResolvedMethod;
use program::members::declared::declared;
use program::members::resolve::resolve_method;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::sites::{DispatchId, FunctionSite, FunctionSiteId, Open, Target};
use super::offers::{
    Above, COST_OF_FUNCTION, cost_of_offer, function_supers, leaves, offer, offer_function,
    offer_function_to, offer_to, selected_outside,
};
use super::outcome_index::{Cause, FunctionOffers, OutcomeIndex};
use super::outcomes::{Offers, Outcome, ReceiverKind, Scope, Signature};
use super::{Dispatch, Dispatches};

/// The function objects of a program. Those of the sites in `gone`, whose classes were removed, are left out.
#[derive(Clone, Copy)]
pub(in crate::whole) struct Functions<'a> {
    pub(in crate::whole) sites: &'a [FunctionSite],
    pub(in crate::whole) gone: &'a FxHashSet<FunctionSiteId>,
}

impl<'a> Functions<'a> {
    fn ids(&self) -> impl Iterator<Item = FunctionSiteId> + use<> {
        FunctionSiteId::first(self.sites.len())
    }

    fn get(&self, it: FunctionSiteId) -> Option<&'a Function> {
        let site = self.sites.get(it.index()).filter(|_| !self.gone.contains(&it));
        site.map(|it| &it.function)
    }
}

/// A change of the class hierarchy, with the classes and names through which the change affects dispatches.
pub(in crate::whole) struct Edit<'a> {
    /// The hierarchy after the change. Unchanged classes keep their ids.
    pub(in crate::whole) hierarchy: Arc<Hierarchy>,
    /// The classes whose supertypes changed, and the classes that were removed or added.
    pub(in crate::whole) changed: &'a FxHashSet<ClassId>,
    /// The classes whose objects may now select different methods: the classes in `changed`, and the classes above
    /// them.
    pub(in crate::whole) receivers: &'a FxHashSet<ClassId>,
    /// The names of the changed classes and of the nest members that they list. References to members of these
    /// classes may now resolve differently, or access to the members may be checked differently.
    pub(in crate::whole) names: &'a FxHashSet<ClassName>,
    /// The names of the classes for which the change affects what absent classes may do, for example whether they may
    /// extend the class.
    pub(in crate::whole) open_otherwise: &'a [ClassName],
    /// The function objects of the program.
    pub(in crate::whole) functions: Functions<'a>,
}

/// Starts to store what each receiver selects in each dispatch, so that [`edit`] can update it. `functions` are the
/// function objects of the program.
///
/// # Errors
/// When the work is cancelled. Then nothing is stored.
pub(in crate::whole) fn keep(
    table: &mut Dispatches,
    functions: Functions<'_>,
    fuel: &mut Fuel<'_>,
) -> Result<(), Cancelled> {
    let done = keep_all(table, functions, fuel);
    if done.is_err() {
        table.outcome_index = None;
    }
    done
}

fn keep_all(table: &mut Dispatches, functions: Functions<'_>, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
    let mut index = OutcomeIndex { outcomes: vec![Vec::new(); table.all.len()], ..OutcomeIndex::default() };
    let first = table.sites.first.iter().flatten().map(|it| (it.1, it.0));
    for (kind, method) in first.chain(table.sites.others.keys().copied()) {
        fuel.spend(4)?;
        index.named(kind, method);
    }
    for call in table.special.keys() {
        fuel.spend(4)?;
        index.special(table.hierarchy.name(call.0), *call);
    }
    table.outcome_index = Some(Box::new(index));
    for class in table.hierarchy.ids() {
        fuel.spend(2 * cost_of_offer(table, class))?;
        recompute_outcomes(table, class);
    }
    for it in functions.ids() {
        fuel.spend(2 * COST_OF_FUNCTION)?;
        recompute_function_outcomes(table, it, functions.get(it));
    }
    let Some(index) = &mut table.outcome_index else { return Ok(()) };
    index.touched = FxHashMap::default();
    // Filled only now: no dispatch is new, so none has to be updated for targets that may be below any class.
    for (id, it) in (0..).map(DispatchId::from_index).zip(&table.all) {
        fuel.spend(1)?;
        index.list(id, it.scopes());
    }
    Ok(())
}

fn with_sink(table: &mut Dispatches, offer: impl FnOnce(&mut Dispatches)) -> Vec<(DispatchId, Outcome)> {
    table.sink = Some(Vec::new());
    offer(table);
    let mut made = table.sink.take().unwrap_or_default();
    made.sort_unstable();
    made.dedup();
    made
}

fn recompute_outcomes(table: &mut Dispatches, class: ClassId) {
    let made = with_sink(table, |it| offer(it, class));
    let anywhere = selected_outside(table, class).collect();
    if let Some(index) = &mut table.outcome_index {
        index.replace(ReceiverKind::Class(class), made);
        index.replace_anywhere(ReceiverKind::Class(class), anywhere);
    }
}

/// Recomputes what the function object made at `site` selects in dispatches. `function` is `None` if the class with
/// the site was removed; the function object then selects nothing.
fn recompute_function_outcomes(table: &mut Dispatches, site: FunctionSiteId, function: Option<&Function>) {
    let (mut supers, mut anywhere) = (Vec::new(), Vec::new());
    let made = with_sink(table, |it| {
        let Some(function) = function else { return };
        supers = function_supers(&it.hierarchy, function);
        offer_function(it, site, function);
        if leaves(it, &supers) {
            let signature = |&descriptor| Signature { name: function.name, descriptor };
            let signatures = function.descriptors.iter().map(signature);
            anywhere.extend(signatures.map(|it| ((it, Scope::All), Target::Glue(site))));
        }
    });
    let Some(index) = &mut table.outcome_index else { return };
    if index.by_function.len() <= site.index() {
        index.by_function.resize_with(site.index() + 1, FunctionOffers::default);
    }
    let supers_before = std::mem::replace(&mut index.by_function[site.index()].supers, supers.clone());
    let listed = |it: &&ClassName| **it != well_known().object;
    for it in supers_before.iter().filter(|it| !supers.contains(it)).filter(listed) {
        index.functions_below.entry(*it).or_default().retain(|it| *it != site);
    }
    for it in supers.iter().filter(|it| !supers_before.contains(it)).filter(listed) {
        index.functions_below.entry(*it).or_default().push(site);
    }
    index.replace(ReceiverKind::Function(site), made);
    index.replace_anywhere(ReceiverKind::Function(site), anywhere);
}

/// Removes the hierarchy from the table, so that the caller can edit the hierarchy without copying it. [`edit`] puts
/// the hierarchy back.
pub(in crate::whole) fn lend_hierarchy(table: &mut Dispatches) {
    table.hierarchy = Arc::default();
}

/// Replaces the hierarchy, and updates what receivers select. Forgets the resolved calls that name a changed class;
/// they must be requested again through [`Dispatches::site`]. Afterwards [`settle`] returns the dispatches that
/// changed.
pub(in crate::whole) fn edit(table: &mut Dispatches, edit: &Edit<'_>) {
    table.hierarchy = Arc::clone(&edit.hierarchy);
    forget(table, edit);
    for name in edit.names {
        for id in table.by_class.get(name).cloned().unwrap_or_default() {
            resolve_again(table, id);
        }
    }
    for name in edit.open_otherwise {
        for id in table.by_class.get(name).cloned().unwrap_or_default() {
            let dispatch = &table.all[id.index()];
            let open = table.open(*name, dispatch.resolved);
            set_open(table, id, open);
        }
    }
    let otherwise = edit.open_otherwise.iter().filter_map(|it| table.hierarchy.class(*it));
    let mut receivers: Vec<ClassId> = edit.receivers.iter().copied().chain(otherwise).collect();
    receivers.sort_unstable();
    receivers.dedup();
    receivers.into_iter().for_each(|it| recompute_outcomes(table, it));
    let mut functions: Vec<FunctionSiteId> = Vec::new();
    if let Some(index) = &table.outcome_index {
        functions.extend(edit.names.iter().flat_map(|it| index.functions_below.get(it)).flatten());
        let offers =
            |it: &FunctionSiteId| index.by_function.get(it.index()).is_some_and(|it| !it.supers.is_empty());
        functions.extend(edit.functions.gone.iter().copied().filter(offers));
        functions.extend(edit.functions.ids().skip(index.by_function.len()));
    }
    functions.sort_unstable();
    functions.dedup();
    functions.into_iter().for_each(|it| recompute_function_outcomes(table, it, edit.functions.get(it)));
}

fn forget(table: &mut Dispatches, edit: &Edit<'_>) {
    let is_other = |caller: ClassId, method: MethodRef| {
        // The nest of the caller may have changed although the caller did not.
        edit.changed.contains(&caller)
            || edit.names.contains(&table.hierarchy.name(caller))
            || method.class().element().is_some_and(|it| edit.names.contains(&it))
    };
    table.refused.retain(|(caller, _, method)| !is_other(*caller, *method));
    let Some(index) = &mut table.outcome_index else { return };
    for name in edit.names {
        for (kind, method) in index.named.remove(name).into_iter().flatten() {
            table.sites.remove(kind, method);
        }
        for call in index.special.remove(name).into_iter().flatten() {
            table.special.remove(&call);
        }
    }
}

/// Resolves the method reference of a dispatch again. If calls with this reference no longer select a method by the
/// receiver, the dispatch is retired: it has no targets, and no call refers to it.
fn resolve_again(table: &mut Dispatches, id: DispatchId) {
    let dispatch = &table.all[id.index()];
    let (method, interface) = (dispatch.method, dispatch.interface);
    let names = method.get();
    let resolved =
        match resolve_method(&table.hierarchy, names.class, names.name, names.descriptor, interface) {
            ResolvedMethod::Method(it) => {
                let flags = declared(&table.hierarchy, it).flags;
                let is_fixed = flags.is_static() || flags.is_private() || flags.is_final();
                if is_fixed {
                    return retire(table, id);
                }
                Some(it)
            }
            ResolvedMethod::Unknown { .. } => None,
            ResolvedMethod::Error(_) | ResolvedMethod::SignaturePolymorphic(_) => return retire(table, id),
        };
    let open = table.open(names.class, resolved);
    table.all[id.index()].resolved = resolved;
    set_open(table, id, open);
    touch(table, id, false);
}

fn set_open(table: &mut Dispatches, id: DispatchId, open: Option<Open>) {
    let before = std::mem::replace(&mut table.all[id.index()].open_by_name, open);
    if before != open {
        touch(table, id, true);
    }
}

/// Records that [`settle`] must update the targets of a dispatch. With `all`, [`settle`] collects them from scratch.
fn touch(table: &mut Dispatches, id: DispatchId, all: bool) {
    if let Some(index) = &mut table.outcome_index {
        index.touched.entry(id).or_default().all |= all;
    }
}

fn retire(table: &mut Dispatches, id: DispatchId) {
    let dispatch = &mut table.all[id.index()];
    let names = dispatch.method.get();
    (dispatch.resolved, dispatch.open_by_name) = (None, None);
    table.ids.remove(&(dispatch.method, dispatch.interface));
    let scopes = dispatch.scopes();
    let without =
        |ids: Option<&mut Vec<DispatchId>>| ids.into_iter().for_each(|it| it.retain(|it| *it != id));
    without(table.by_name.get_mut(&(names.class, names.name, names.descriptor)));
    without(table.by_class.get_mut(&names.class));
    let Some(index) = &mut table.outcome_index else { return };
    scopes.for_each(|it| without(index.by_signature.get_mut(&it)));
    // No call refers to the dispatch any more, so all its outcomes are dropped, whatever receivers have them.
    for outcome in std::mem::take(&mut index.outcomes[id.index()]) {
        index.counts.remove(&(id, outcome));
    }
    touch(table, id, true);
}

/// Returns the dispatches that the next [`settle`] will update, each with its present reason for unknown targets and
/// its present link errors.
pub(in crate::whole) fn unsettled_causes(table: &Dispatches) -> Vec<(DispatchId, Cause)> {
    let touched = table.outcome_index.iter().flat_map(|it| it.touched.keys());
    touched.map(|&it| (it, cause_of(table, it))).collect()
}

/// Returns the reason why a dispatch may have unknown targets (`None` if all targets are known), and the link errors
/// of its calls.
pub(in crate::whole) fn cause_of(table: &Dispatches, id: DispatchId) -> Cause {
    let it = &table.all[id.index()];
    (it.open, it.errors.clone())
}

/// Updates the targets of all dispatches that changed, including new ones, and returns the dispatches. Targets that
/// were removed because their receivers are never instantiated are included again; [`narrow_again`] removes them.
pub(in crate::whole) fn settle(table: &mut Dispatches) -> Vec<DispatchId> {
    let fresh = table.outcome_index.as_mut().map(|it| std::mem::take(&mut it.fresh)).unwrap_or_default();
    let absent = fresh.iter().map(|it| table.get(*it).method.class());
    let below = below_absent(&table.hierarchy, absent);
    for id in fresh {
        let dispatch = &table.all[id.index()];
        if table.ids.get(&(dispatch.method, dispatch.interface)) == Some(&id) {
            offer_all_to(table, id, &below);
        }
        touch(table, id, true);
    }
    let Some(index) = &mut table.outcome_index else { return Vec::new() };
    let touched = std::mem::take(&mut index.touched);
    for (id, what) in &touched {
        let dispatch = &mut table.all[id.index()];
        let outcomes = &index.outcomes[id.index()];
        let anywhere: Vec<_> = index.anywhere(dispatch.scopes()).collect();
        let is_unknown = |it: &Outcome| matches!(it, Outcome::Unknown(_));
        if table.is_narrowed || what.all || what.outcomes.iter().any(is_unknown) {
            dispatch.set(outcomes, &anywhere);
            continue;
        }
        dispatch.set_some(&what.outcomes, |it| match it {
            Outcome::Maybe(it) => anywhere.iter().any(|all| all.contains_key(&it)),
            _ => index.counts.contains_key(&(*id, it)),
        });
        debug_assert!({
            let mut collected = dispatch.clone();
            collected.set(outcomes, &anywhere);
            collected == *dispatch
        });
    }
    let mut touched: Vec<DispatchId> = touched.into_keys().collect();
    touched.sort_unstable();
    touched
}

/// Recomputes the targets of the dispatches `ids`, without targets that are selected only by never-instantiated
/// receivers. `is_selected` returns whether an instantiated receiver selects a target. Returns the dispatches whose
/// targets changed.
pub(in crate::whole) fn narrow_again(
    table: &mut Dispatches,
    ids: impl IntoIterator<Item = DispatchId>,
    is_selected: impl Fn(DispatchId, Target) -> bool,
) -> Vec<DispatchId> {
    let Some(index) = &table.outcome_index else { return Vec::new() };
    let mut changed_ids = Vec::new();
    for id in ids {
        let dispatch = &mut table.all[id.index()];
        let before = (std::mem::take(&mut dispatch.targets), std::mem::take(&mut dispatch.possible));
        let anywhere: Vec<_> = index.anywhere(dispatch.scopes()).collect();
        dispatch.set_targets(&index.outcomes[id.index()], &anywhere);
        dispatch.narrow(|it| is_selected(id, it));
        if before.0 != dispatch.targets || before.1 != dispatch.possible {
            changed_ids.push(id);
        }
    }
    changed_ids
}

/// Collects what receivers select in a new dispatch, from all classes that may be receivers. `below` has the present
/// classes below each absent class that a new dispatch names.
fn offer_all_to(table: &mut Dispatches, id: DispatchId, below: &FxHashMap<ClassName, Vec<ClassId>>) {
    let hierarchy = Arc::clone(&table.hierarchy);
    let class = table.all[id.index()].method.class();
    let mut receivers: Vec<ClassId> = match hierarchy.class(class) {
        Some(it) => hierarchy.subtypes(it),
        // Every class is below Object, and a dispatch that names Object is not open because Object is absent.
        None if class == well_known().object => hierarchy.ids().collect(),
        None => below.get(&class).cloned().unwrap_or_default(),
    };
    receivers.sort_unstable();
    receivers.dedup();
    for it in receivers {
        if hierarchy.is_interface(it) {
            continue;
        }
        let above = Above::of(&hierarchy, it);
        let made = with_sink(table, |this| offer_to(this, id, it, &above));
        if let (Some(index), false) = (&mut table.outcome_index, made.is_empty()) {
            index.extend(ReceiverKind::Class(it), made);
        }
    }
}

/// Whether the table has new dispatches whose targets [`settle`] has not collected yet.
pub(in crate::whole) fn has_fresh(table: &Dispatches) -> bool {
    table.outcome_index.as_ref().is_some_and(|it| !it.fresh.is_empty())
}

/// Collects the targets that function objects select in new dispatches. Must run before [`settle`], which collects
/// the targets that objects of classes select, and then no longer regards the dispatches as new.
pub(in crate::whole) fn offer_fresh_to_functions(table: &mut Dispatches, functions: Functions<'_>) {
    let fresh = table.outcome_index.as_ref().map(|it| it.fresh.clone()).unwrap_or_default();
    for id in fresh {
        let names = table.all[id.index()].method.get();
        let Some(index) = &table.outcome_index else { continue };
        let sites: Vec<FunctionSiteId> = if names.class == well_known().object {
            functions.ids().collect()
        } else {
            index.functions_below.get(&names.class).cloned().unwrap_or_default()
        };
        for site in sites {
            let Some(function) = functions.get(site) else { continue };
            let is_kept = |it: &OutcomeIndex| it.by_function.len() > site.index();
            if !table.outcome_index.as_deref().is_some_and(is_kept) {
                continue;
            }
            let made = with_sink(table, |it| offer_function_to(it, id, site, function));
            if let (Some(index), false) = (&mut table.outcome_index, made.is_empty()) {
                index.extend(ReceiverKind::Function(site), made);
            }
        }
    }
}

impl Offers for Dispatches {
    fn of(&self, receiver: ReceiverKind, tell: &mut dyn FnMut(DispatchId, Target)) {
        let Some(index) = &self.outcome_index else { return };
        let (made, anywhere): (&[_], &[_]) = match receiver {
            ReceiverKind::Class(it) => (
                index.by_class.get(it.index()).map_or(&[], |it| it),
                index.anywhere_by_class.get(&it).map_or(&[], |it| it),
            ),
            ReceiverKind::Function(it) => {
                index.by_function.get(it.index()).map_or((&[], &[]), |it| (&it.made, &it.anywhere))
            }
        };
        for &(id, outcome) in made {
            match outcome {
                Outcome::Target(it) | Outcome::Beyond(it) | Outcome::Maybe(it) => tell(id, it),
                Outcome::Error(_) | Outcome::Unknown(_) => {}
            }
        }
        for (scope, target) in anywhere {
            let ids = index.by_signature.get(scope).into_iter().flatten();
            let may_come = ids.filter(|it| self.all[it.index()].may_be_anywhere());
            may_come.for_each(|it| tell(*it, *target));
        }
    }
}

/// Returns, for each absent class in `names`, the present classes below it.
fn below_absent(
    hierarchy: &Hierarchy,
    names: impl Iterator<Item = ClassName>,
) -> FxHashMap<ClassName, Vec<ClassId>> {
    let absent = names.filter(|it| *it != well_known().object && hierarchy.class(*it).is_none());
    let mut acc: FxHashMap<ClassName, Vec<ClassId>> = absent.map(|it| (it, Vec::new())).collect();
    if acc.is_empty() {
        return acc;
    }
    for class in hierarchy.ids() {
        for link in hierarchy.super_class(class).iter().chain(hierarchy.interfaces(class)) {
            if let Link::Outside(name) = link
                && let Some(below) = acc.get_mut(name)
            {
                below.extend(hierarchy.subtypes(class));
            }
        }
    }
    acc
}

impl Dispatch {
    /// Sets the link errors, the reason for unknown targets (`open`) and the targets to those that follow from
    /// `outcomes` and `anywhere`. `outcomes` are what the known receivers select; `anywhere` has the possible targets
    /// of the dispatch's scopes.
    fn set(&mut self, outcomes: &[Outcome], anywhere: &[&FxHashMap<Target, u32>]) {
        self.errors = Vec::new();
        (self.open_by_receiver, self.handlers) = (None, None);
        for it in outcomes {
            match *it {
                Outcome::Error(it) => self.errors.push(it),
                Outcome::Unknown(it) => self.open_by_receiver(ClassName::new(it.0)),
                Outcome::Target(_) | Outcome::Beyond(_) | Outcome::Maybe(_) => {}
            }
        }
        self.open_without_marks();
        self.set_targets(outcomes, anywhere);
    }

    /// Sets the targets to those that follow from `outcomes` and `anywhere`. `outcomes` are what the known receivers
    /// select; `anywhere` has the possible targets of the dispatch's scopes. The field `open` must be set
    /// already.
    fn set_targets(&mut self, outcomes: &[Outcome], anywhere: &[&FxHashMap<Target, u32>]) {
        (self.targets, self.possible) = Default::default();
        for it in outcomes {
            match *it {
                Outcome::Target(it) => self.targets.push(it),
                Outcome::Beyond(it) => self.possible.push(it),
                Outcome::Error(_) | Outcome::Unknown(_) | Outcome::Maybe(_) => {}
            }
        }
        if self.may_be_anywhere() {
            self.possible.extend(anywhere.iter().flat_map(|it| it.keys().copied()));
        }
        self.sort();
    }

    /// Updates the targets and link errors after some outcomes of the dispatch were added or removed. `outcomes` are
    /// these outcomes; none is an [`Outcome::Unknown`]. `has` returns whether the dispatch has an outcome now.
    fn set_some(&mut self, outcomes: &[Outcome], has: impl Fn(Outcome) -> bool) {
        self.handlers = None;
        self.open_without_marks();
        let may_be = self.may_be_anywhere();
        for it in outcomes {
            match *it {
                Outcome::Target(it) | Outcome::Beyond(it) | Outcome::Maybe(it) => {
                    let is_target = has(Outcome::Target(it));
                    let is_possible = has(Outcome::Beyond(it)) || may_be && has(Outcome::Maybe(it));
                    set_in(&mut self.targets, it, is_target);
                    set_in(&mut self.possible, it, is_possible && !is_target);
                }
                Outcome::Error(it) => set_in(&mut self.errors, it, has(Outcome::Error(it))),
                Outcome::Unknown(_) => {}
            }
        }
    }
}

/// Inserts the item `it` into a sorted list or removes it, so that the list contains the item if and only if
/// `is_there` is true.
fn set_in<T: Ord>(list: &mut Vec<T>, it: T, is_there: bool) {
    match (list.binary_search(&it), is_there) {
        (Err(at), true) => list.insert(at, it),
        (Ok(at), false) => _ = list.remove(at),
        _ => {}
    }
}
