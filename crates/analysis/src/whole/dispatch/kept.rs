//! What each receiver makes of each dispatch, kept so that classes can go and come: then only those receivers are asked
//! again whose supertypes, or whose subtypes, are others than before.
//!
//! How many receivers make the same of a dispatch is counted, so what the last of them takes away is gone.

use std::sync::Arc;

use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::fuel::{Cancelled, Fuel};
use flow::functional::Function;
use flow::throwables::well_known;
use program::hierarchy::{ClassId, Hierarchy, Link};
use program::members::ResolvedMethod;
use program::members::declared::declared;
use program::members::resolve::resolve_method;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::sites::FunctionSite;
use super::{
    Above, COST_OF_FUNCTION, CallKind, Dispatch, DispatchId, Dispatches, FunctionSiteId, LinkError, Offers,
    Open, Outcome, Receiver, Target, function_supers,
};

/// See the module.
#[derive(Default)]
pub(super) struct Kept {
    by_class: Vec<Vec<(DispatchId, Outcome)>>,
    by_function: Vec<FunctionOffers>,
    /// The function objects that have each type, apart from `java/lang/Object`.
    functions_below: FxHashMap<ClassName, Vec<FunctionSiteId>>,
    counts: FxHashMap<(DispatchId, Outcome), u32>,
    /// What there is at all, by dispatch.
    outcomes: Vec<Vec<Outcome>>,
    by_signature: FxHashMap<Signature, Vec<DispatchId>>,
    /// What receivers select that may be below any class, with how many of them select it. It is the same for all dispatches of
    /// a signature, of which there may be thousands.
    anywhere: FxHashMap<Signature, FxHashMap<Target, u32>>,
    anywhere_by_class: FxHashMap<ClassId, Vec<(Signature, Target)>>,
    /// Dispatches that were asked for since targets were looked for.
    fresh: Vec<DispatchId>,
    /// Those for which something is other since they were settled, and what.
    touched: FxHashMap<DispatchId, Touched>,
    /// The calls that were asked for, by the class named, of an array by that of its elements.
    named: FxHashMap<ClassName, Vec<(CallKind, MethodRef)>>,
    /// Those whose meaning hangs on their caller, by the class named and by that of the caller.
    special: FxHashMap<ClassName, Vec<(ClassId, CallKind, MethodRef)>>,
}

/// The name and descriptor of a method.
type Signature = (Name, Descriptor);

/// Why a dispatch may go elsewhere, and what linking its calls raises.
pub(in crate::whole) type Cause = (Option<Open>, Vec<LinkError>);

/// What is other for a dispatch.
#[derive(Default)]
struct Touched {
    /// Outcomes that came or went, some perhaps more than once.
    outcomes: Vec<Outcome>,
    /// Whether it may be more than these.
    all: bool,
}

/// When so many outcomes of a dispatch are others, its targets are gathered anew: to put each in its place takes as long.
const MAX_OTHERS: usize = 64;

impl Touched {
    fn add(&mut self, outcome: Outcome) {
        self.all |= self.outcomes.len() == MAX_OTHERS;
        if !self.all {
            self.outcomes.push(outcome);
        }
    }
}

/// A function object: its supertypes, and what it makes of dispatches.
#[derive(Default)]
struct FunctionOffers {
    supers: Vec<ClassName>,
    made: Vec<(DispatchId, Outcome)>,
    anywhere: Vec<(Signature, Target)>,
}

/// The function objects of a program by number, without those that are gone.
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

/// What is other in a hierarchy.
pub(in crate::whole) struct Edit<'a> {
    /// The new one, in which other classes have their old numbers.
    pub(in crate::whole) hierarchy: Arc<Hierarchy>,
    /// The classes with other supertypes, and those that have gone or come.
    pub(in crate::whole) changed: &'a FxHashSet<ClassId>,
    /// The classes whose receivers make something else of dispatches: `changed`, and what is above them.
    pub(in crate::whole) receivers: &'a FxHashSet<ClassId>,
    /// The names whose members may be found or used otherwise.
    pub(in crate::whole) names: &'a FxHashSet<ClassName>,
    /// The names of classes of which absent ones may do something else.
    pub(in crate::whole) open_otherwise: &'a [ClassName],
    /// The function objects of the program.
    pub(in crate::whole) functions: Functions<'a>,
}

impl Kept {
    /// See [`Dispatches::freeing`].
    pub(super) fn freeing(self) -> impl Iterator<Item = ()> {
        let Kept { by_class, by_function, outcomes, by_signature, anywhere, named, special, .. } = self;
        let receivers = by_class.into_iter().map(drop).chain(by_function.into_iter().map(drop));
        let dispatches = outcomes.into_iter().map(drop).chain(by_signature.into_iter().map(drop));
        let calls = named.into_iter().map(drop).chain(special.into_iter().map(drop));
        receivers.chain(dispatches).chain(calls).chain(anywhere.into_iter().map(drop))
    }

    /// Notes a dispatch that is new.
    pub(super) fn asked(&mut self, id: DispatchId, signature: Signature) {
        self.outcomes.resize_with(id.index() + 1, Vec::new);
        self.by_signature.entry(signature).or_default().push(id);
        self.fresh.push(id);
    }

    /// Notes a call that is asked for the first time.
    pub(super) fn named(&mut self, kind: CallKind, method: MethodRef) {
        if let Some(class) = method.class().element() {
            self.named.entry(class).or_default().push((kind, method));
        }
    }

    /// Notes a call whose meaning hangs on its caller.
    pub(super) fn special(&mut self, caller: ClassName, call: (ClassId, CallKind, MethodRef)) {
        for class in [caller, call.2.class()] {
            self.special.entry(class).or_default().push(call);
        }
    }

    fn count(&mut self, (id, outcome): (DispatchId, Outcome)) {
        let count = self.counts.entry((id, outcome)).or_insert(0);
        *count += 1;
        if *count == 1 {
            self.outcomes[id.index()].push(outcome);
            self.touched.entry(id).or_default().add(outcome);
        }
    }

    fn uncount(&mut self, (id, outcome): (DispatchId, Outcome)) {
        let Some(count) = self.counts.get_mut(&(id, outcome)) else { return };
        *count -= 1;
        if *count == 0 {
            self.counts.remove(&(id, outcome));
            let outcomes = &mut self.outcomes[id.index()];
            if let Some(at) = outcomes.iter().position(|it| *it == outcome) {
                outcomes.swap_remove(at);
            }
            self.touched.entry(id).or_default().add(outcome);
        }
    }

    /// Replaces what a receiver makes of dispatches. Both are sorted.
    fn replace(&mut self, receiver: Receiver, made: Vec<(DispatchId, Outcome)>) {
        let slot = match receiver {
            Receiver::Class(it) => {
                if self.by_class.len() <= it.index() {
                    self.by_class.resize_with(it.index() + 1, Vec::new);
                }
                &mut self.by_class[it.index()]
            }
            Receiver::Function(it) => &mut self.by_function[it.index()].made,
        };
        let before = std::mem::replace(slot, made.clone());
        // New ones first: what stays is never away meanwhile.
        made.iter().filter(|it| before.binary_search(it).is_err()).for_each(|&it| self.count(it));
        before.iter().filter(|it| made.binary_search(it).is_err()).for_each(|&it| self.uncount(it));
    }

    /// Replaces what a receiver selects that may be below any class.
    fn replace_anywhere(&mut self, receiver: Receiver, made: Vec<(Signature, Target)>) {
        let before = match receiver {
            Receiver::Class(it) if made.is_empty() => self.anywhere_by_class.remove(&it).unwrap_or_default(),
            Receiver::Class(it) => self.anywhere_by_class.insert(it, made.clone()).unwrap_or_default(),
            Receiver::Function(it) => {
                std::mem::replace(&mut self.by_function[it.index()].anywhere, made.clone())
            }
        };
        for &(signature, target) in made.iter().filter(|it| !before.contains(it)) {
            let count = self.anywhere.entry(signature).or_default().entry(target).or_insert(0);
            *count += 1;
            if *count == 1 {
                self.other_anywhere(signature, target);
            }
        }
        for &(signature, target) in before.iter().filter(|it| !made.contains(it)) {
            let Some(targets) = self.anywhere.get_mut(&signature) else { continue };
            let Some(count) = targets.get_mut(&target) else { continue };
            *count -= 1;
            if *count == 0 {
                targets.remove(&target);
                self.other_anywhere(signature, target);
            }
        }
    }

    fn other_anywhere(&mut self, signature: Signature, target: Target) {
        for id in self.by_signature.get(&signature).into_iter().flatten() {
            self.touched.entry(*id).or_default().add(Outcome::Maybe(target));
        }
    }

    /// Adds what a receiver makes of a dispatch that is new.
    fn extend(&mut self, receiver: Receiver, made: Vec<(DispatchId, Outcome)>) {
        let slot = match receiver {
            Receiver::Class(it) => &mut self.by_class[it.index()],
            Receiver::Function(it) => &mut self.by_function[it.index()].made,
        };
        let new: Vec<_> = made.into_iter().filter(|it| slot.binary_search(it).is_err()).collect();
        slot.extend(new.iter().copied());
        slot.sort_unstable();
        new.into_iter().for_each(|it| self.count(it));
    }
}

impl Dispatches {
    /// Begins to keep what receivers make of dispatches. `functions` are the function objects of the program.
    ///
    /// # Errors
    /// When that is not wanted any more: nothing is kept then.
    pub(in crate::whole) fn keep(
        &mut self,
        functions: Functions<'_>,
        fuel: &mut Fuel<'_>,
    ) -> Result<(), Cancelled> {
        let done = self.keep_all(functions, fuel);
        if done.is_err() {
            self.kept = None;
        }
        done
    }

    fn keep_all(&mut self, functions: Functions<'_>, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
        let mut kept = Kept { outcomes: vec![Vec::new(); self.all.len()], ..Kept::default() };
        let first = self.sites.first.iter().flatten().map(|it| (it.1, it.0));
        for (kind, method) in first.chain(self.sites.others.keys().copied()) {
            fuel.spend(4)?;
            kept.named(kind, method);
        }
        for call in self.special.keys() {
            fuel.spend(4)?;
            kept.special(self.hierarchy.name(call.0), *call);
        }
        self.kept = Some(Box::new(kept));
        for class in self.hierarchy.ids() {
            fuel.spend(2 * self.cost_of_offer(class))?;
            self.offer_again(class);
        }
        for it in functions.ids() {
            fuel.spend(2 * COST_OF_FUNCTION)?;
            self.offer_function_again(it, functions.get(it));
        }
        let Some(kept) = &mut self.kept else { return Ok(()) };
        kept.touched = FxHashMap::default();
        // Not before: as nothing is new, nobody had to be told what may be below any class.
        for (id, it) in (0..).map(DispatchId::from_index).zip(&self.all) {
            let names = it.method.get();
            fuel.spend(1)?;
            kept.by_signature.entry((names.name, names.descriptor)).or_default().push(id);
        }
        Ok(())
    }

    fn with_sink(&mut self, offer: impl FnOnce(&mut Self)) -> Vec<(DispatchId, Outcome)> {
        self.sink = Some(Vec::new());
        offer(self);
        let mut made = self.sink.take().unwrap_or_default();
        made.sort_unstable();
        made.dedup();
        made
    }

    fn offer_again(&mut self, class: ClassId) {
        let made = self.with_sink(|it| it.offer(class));
        let anywhere = self.selected_outside(class);
        if let Some(kept) = &mut self.kept {
            let anywhere = anywhere.into_iter().map(|it| ((it.0, it.1), it.2)).collect();
            kept.replace(Receiver::Class(class), made);
            kept.replace_anywhere(Receiver::Class(class), anywhere);
        }
    }

    /// Asks a function object again; `None` is one that is gone.
    fn offer_function_again(&mut self, site: FunctionSiteId, function: Option<&Function>) {
        let (mut supers, mut anywhere) = (Vec::new(), Vec::new());
        let made = self.with_sink(|it| {
            let Some(function) = function else { return };
            supers = function_supers(&it.hierarchy, function);
            it.offer_function(site, function);
            if it.leaves(&supers) {
                let signatures = function.descriptors.iter().map(|it| (function.name, *it));
                anywhere.extend(signatures.map(|it| (it, Target::Glue(site))));
            }
        });
        let Some(kept) = &mut self.kept else { return };
        if kept.by_function.len() <= site.index() {
            kept.by_function.resize_with(site.index() + 1, FunctionOffers::default);
        }
        let supers_before = std::mem::replace(&mut kept.by_function[site.index()].supers, supers.clone());
        let listed = |it: &&ClassName| **it != well_known().object;
        for it in supers_before.iter().filter(|it| !supers.contains(it)).filter(listed) {
            kept.functions_below.entry(*it).or_default().retain(|it| *it != site);
        }
        for it in supers.iter().filter(|it| !supers_before.contains(it)).filter(listed) {
            kept.functions_below.entry(*it).or_default().push(site);
        }
        kept.replace(Receiver::Function(site), made);
        kept.replace_anywhere(Receiver::Function(site), anywhere);
    }

    /// Gives up the hierarchy, which is going to be edited in place: [`Dispatches::edit`] brings it back.
    pub(in crate::whole) fn lend_hierarchy(&mut self) {
        self.hierarchy = Arc::default();
    }

    /// Goes over to another hierarchy. What calls mean that name something that is other is forgotten, and is to be asked
    /// again, by [`Dispatches::site`]; then [`Dispatches::settle`] tells what has changed.
    pub(in crate::whole) fn edit(&mut self, edit: &Edit<'_>) {
        self.hierarchy = Arc::clone(&edit.hierarchy);
        self.forget(edit);
        for name in edit.names {
            for id in self.by_class.get(name).cloned().unwrap_or_default() {
                self.name_again(id);
            }
        }
        for name in edit.open_otherwise {
            for id in self.by_class.get(name).cloned().unwrap_or_default() {
                let dispatch = &self.all[id.index()];
                let open = self.open(*name, dispatch.resolved);
                self.open_again(id, open);
            }
        }
        let mut receivers: Vec<ClassId> = edit.receivers.iter().copied().collect();
        receivers.sort_unstable();
        receivers.into_iter().for_each(|it| self.offer_again(it));
        let mut functions: Vec<FunctionSiteId> = Vec::new();
        if let Some(kept) = &self.kept {
            functions.extend(edit.names.iter().flat_map(|it| kept.functions_below.get(it)).flatten());
            let offers = |it: &FunctionSiteId| {
                kept.by_function.get(it.index()).is_some_and(|it| !it.supers.is_empty())
            };
            functions.extend(edit.functions.gone.iter().copied().filter(offers));
            functions.extend(edit.functions.ids().skip(kept.by_function.len()));
        }
        functions.sort_unstable();
        functions.dedup();
        functions.into_iter().for_each(|it| self.offer_function_again(it, edit.functions.get(it)));
    }

    fn forget(&mut self, edit: &Edit<'_>) {
        let is_other = |caller: ClassId, method: MethodRef| {
            edit.changed.contains(&caller)
                || method.class().element().is_some_and(|it| edit.names.contains(&it))
        };
        self.refused.retain(|(caller, _, method)| !is_other(*caller, *method));
        let Some(kept) = &mut self.kept else { return };
        for name in edit.names {
            for (kind, method) in kept.named.remove(name).into_iter().flatten() {
                self.sites.remove(kind, method);
            }
            for call in kept.special.remove(name).into_iter().flatten() {
                self.special.remove(&call);
            }
        }
    }

    /// Finds again what the names of a dispatch stand for; one whose call needs none any more is forgotten.
    fn name_again(&mut self, id: DispatchId) {
        let dispatch = &self.all[id.index()];
        let (method, interface) = (dispatch.method, dispatch.interface);
        let names = method.get();
        let resolved =
            match resolve_method(&self.hierarchy, names.class, names.name, names.descriptor, interface) {
                ResolvedMethod::Method(it) => {
                    let flags = declared(&self.hierarchy, it).flags;
                    let is_fixed = flags.is_static() || flags.is_private() || flags.is_final();
                    if is_fixed {
                        return self.retire(id);
                    }
                    Some(it)
                }
                ResolvedMethod::Unknown { .. } => None,
                ResolvedMethod::Error(_) | ResolvedMethod::SignaturePolymorphic(_) => return self.retire(id),
            };
        let open = self.open(names.class, resolved);
        self.all[id.index()].resolved = resolved;
        self.open_again(id, open);
        self.touch(id, false);
    }

    fn open_again(&mut self, id: DispatchId, open: Option<Open>) {
        let before = std::mem::replace(&mut self.all[id.index()].open_by_name, open);
        if before != open {
            self.touch(id, true);
        }
    }

    /// Notes that something is other for a dispatch; `all`: perhaps which of its outcomes are targets.
    fn touch(&mut self, id: DispatchId, all: bool) {
        if let Some(kept) = &mut self.kept {
            kept.touched.entry(id).or_default().all |= all;
        }
    }

    fn retire(&mut self, id: DispatchId) {
        let dispatch = &mut self.all[id.index()];
        let names = dispatch.method.get();
        (dispatch.resolved, dispatch.open_by_name) = (None, None);
        self.ids.remove(&(dispatch.method, dispatch.interface));
        let signature = (names.name, names.descriptor);
        let without =
            |ids: Option<&mut Vec<DispatchId>>| ids.into_iter().for_each(|it| it.retain(|it| *it != id));
        without(self.by_name.get_mut(&(names.class, names.name, names.descriptor)));
        without(self.by_class.get_mut(&names.class));
        let Some(kept) = &mut self.kept else { return };
        without(kept.by_signature.get_mut(&signature));
        // Whoever made something of it, nobody asks any more.
        for outcome in std::mem::take(&mut kept.outcomes[id.index()]) {
            kept.counts.remove(&(id, outcome));
        }
        self.touch(id, true);
    }

    /// The causes of the dispatches that [`Dispatches::settle`] looks at again, as they are before.
    pub(in crate::whole) fn unsettled_causes(&self) -> Vec<(DispatchId, Cause)> {
        let touched = self.kept.iter().flat_map(|it| it.touched.keys());
        touched.map(|&it| (it, self.cause_of(it))).collect()
    }

    /// Why a dispatch may go elsewhere, and what linking its calls raises.
    pub(in crate::whole) fn cause_of(&self, id: DispatchId) -> Cause {
        let it = &self.all[id.index()];
        (it.open, it.errors.clone())
    }

    /// Brings targets up to date. Gives the dispatches that are not what they were, those that are new among them. Of targets
    /// that were narrowed all that receivers may select are back at these: [`Dispatches::narrow_again`].
    pub(in crate::whole) fn settle(&mut self) -> Vec<DispatchId> {
        let fresh = self.kept.as_mut().map(|it| std::mem::take(&mut it.fresh)).unwrap_or_default();
        let absent = fresh.iter().map(|it| self.get(*it).method.class());
        let below = below_absent(&self.hierarchy, absent);
        for id in fresh {
            let dispatch = &self.all[id.index()];
            if self.ids.get(&(dispatch.method, dispatch.interface)) == Some(&id) {
                self.offer_all_to(id, &below);
            }
            self.touch(id, true);
        }
        let Some(kept) = &mut self.kept else { return Vec::new() };
        let touched = std::mem::take(&mut kept.touched);
        for (id, what) in &touched {
            let dispatch = &mut self.all[id.index()];
            let (outcomes, names) = (&kept.outcomes[id.index()], dispatch.method.get());
            let anywhere = kept.anywhere.get(&(names.name, names.descriptor));
            let is_unknown = |it: &Outcome| matches!(it, Outcome::Unknown(_));
            if self.is_narrowed || what.all || what.outcomes.iter().any(is_unknown) {
                dispatch.set(outcomes, anywhere);
                continue;
            }
            dispatch.set_some(&what.outcomes, |it| match it {
                Outcome::Maybe(it) => anywhere.is_some_and(|all| all.contains_key(&it)),
                _ => kept.counts.contains_key(&(*id, it)),
            });
            debug_assert!({
                let mut anew = dispatch.clone();
                anew.set(outcomes, anywhere);
                anew == *dispatch
            });
        }
        let mut touched: Vec<DispatchId> = touched.into_keys().collect();
        touched.sort_unstable();
        touched
    }

    /// Finds the targets of some dispatches again, and drops those that no receiver selects which is ever made. Gives the
    /// dispatches that have others than before.
    pub(in crate::whole) fn narrow_again(
        &mut self,
        ids: impl IntoIterator<Item = DispatchId>,
        is_selected: impl Fn(DispatchId, Target) -> bool,
    ) -> Vec<DispatchId> {
        let Some(kept) = &self.kept else { return Vec::new() };
        let mut others = Vec::new();
        for id in ids {
            let dispatch = &mut self.all[id.index()];
            let before = (std::mem::take(&mut dispatch.targets), std::mem::take(&mut dispatch.possible));
            let names = dispatch.method.get();
            let anywhere = kept.anywhere.get(&(names.name, names.descriptor));
            dispatch.set_targets(&kept.outcomes[id.index()], anywhere);
            dispatch.narrow(|it| is_selected(id, it));
            if before.0 != dispatch.targets || before.1 != dispatch.possible {
                others.push(id);
            }
        }
        others
    }

    /// Offers a dispatch to all who may be its receivers.
    fn offer_all_to(&mut self, id: DispatchId, below: &FxHashMap<ClassName, Vec<ClassId>>) {
        let hierarchy = Arc::clone(&self.hierarchy);
        let class = self.all[id.index()].method.class();
        let mut receivers: Vec<ClassId> = match hierarchy.class(class) {
            Some(it) => hierarchy.subtypes(it),
            // All are below it, and no chain counts as leaving the known world for its being absent.
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
            let made = self.with_sink(|this| this.offer_to(id, it, &above));
            if let (Some(kept), false) = (&mut self.kept, made.is_empty()) {
                kept.extend(Receiver::Class(it), made);
            }
        }
    }

    /// Whether dispatches were asked for that are not settled.
    pub(in crate::whole) fn has_fresh(&self) -> bool {
        self.kept.as_ref().is_some_and(|it| !it.fresh.is_empty())
    }

    /// Offers new dispatches to the function objects. Before [`Dispatches::settle`], which offers them to classes, and for
    /// which they are not new any more.
    pub(in crate::whole) fn offer_fresh_to_functions(&mut self, functions: Functions<'_>) {
        let fresh = self.kept.as_ref().map(|it| it.fresh.clone()).unwrap_or_default();
        for id in fresh {
            let names = self.all[id.index()].method.get();
            let Some(kept) = &self.kept else { continue };
            let sites: Vec<FunctionSiteId> = if names.class == well_known().object {
                functions.ids().collect()
            } else {
                kept.functions_below.get(&names.class).cloned().unwrap_or_default()
            };
            for site in sites {
                let Some(function) = functions.get(site) else { continue };
                let is_kept = |it: &Kept| it.by_function.len() > site.index();
                if !self.kept.as_deref().is_some_and(is_kept) {
                    continue;
                }
                let made = self.with_sink(|it| it.offer_function_to(id, site, function));
                if let (Some(kept), false) = (&mut self.kept, made.is_empty()) {
                    kept.extend(Receiver::Function(site), made);
                }
            }
        }
    }
}

impl Offers for Dispatches {
    fn of(&self, receiver: Receiver, tell: &mut dyn FnMut(DispatchId, Target)) {
        let Some(kept) = &self.kept else { return };
        let (made, anywhere): (&[_], &[_]) = match receiver {
            Receiver::Class(it) => (
                kept.by_class.get(it.index()).map_or(&[], |it| it),
                kept.anywhere_by_class.get(&it).map_or(&[], |it| it),
            ),
            Receiver::Function(it) => {
                kept.by_function.get(it.index()).map_or((&[], &[]), |it| (&it.made, &it.anywhere))
            }
        };
        for &(id, outcome) in made {
            match outcome {
                Outcome::Target(it) | Outcome::Beyond(it) | Outcome::Maybe(it) => tell(id, it),
                Outcome::Error(_) | Outcome::Unknown(_) => {}
            }
        }
        for (signature, target) in anywhere {
            let ids = kept.by_signature.get(signature).into_iter().flatten();
            let may_come = ids.filter(|it| self.all[it.index()].may_be_anywhere());
            may_come.for_each(|it| tell(*it, *target));
        }
    }
}

/// The classes below each of these that is absent.
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
    /// Sets what known receivers make of it.
    fn set(&mut self, outcomes: &[Outcome], anywhere: Option<&FxHashMap<Target, u32>>) {
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

    /// Sets what known receivers select; it is known why there may be other targets.
    fn set_targets(&mut self, outcomes: &[Outcome], anywhere: Option<&FxHashMap<Target, u32>>) {
        (self.targets, self.possible) = Default::default();
        for it in outcomes {
            match *it {
                Outcome::Target(it) => self.targets.push(it),
                Outcome::Beyond(it) => self.possible.push(it),
                Outcome::Error(_) | Outcome::Unknown(_) | Outcome::Maybe(_) => {}
            }
        }
        if self.may_be_anywhere() {
            self.possible.extend(anywhere.into_iter().flat_map(|it| it.keys().copied()));
        }
        self.sort();
    }

    /// Lets these outcomes come or go, of which none is of a method that is unknown; `has` says of each whether it is there now.
    fn set_some(&mut self, outcomes: &[Outcome], has: impl Fn(Outcome) -> bool) {
        self.handlers = None;
        self.open_without_marks();
        let may_be = self.may_be_anywhere();
        for it in outcomes {
            match *it {
                Outcome::Target(it) | Outcome::Beyond(it) | Outcome::Maybe(it) => {
                    let is_target = has(Outcome::Target(it));
                    let is_possible = has(Outcome::Beyond(it)) || may_be && has(Outcome::Maybe(it));
                    keep(&mut self.targets, it, is_target);
                    keep(&mut self.possible, it, is_possible && !is_target);
                }
                Outcome::Error(it) => keep(&mut self.errors, it, has(Outcome::Error(it))),
                Outcome::Unknown(_) => {}
            }
        }
    }
}

/// Lets something be in a sorted list, or not.
fn keep<T: Ord>(list: &mut Vec<T>, it: T, is_there: bool) {
    match (list.binary_search(&it), is_there) {
        (Err(at), true) => list.insert(at, it),
        (Ok(at), false) => _ = list.remove(at),
        _ => {}
    }
}
