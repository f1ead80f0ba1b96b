//! What each receiver makes of each dispatch, kept so that classes can go and come: then only those receivers are asked
//! again whose supertypes, or whose subtypes, are others than before.
//!
//! How many receivers make the same of a dispatch is counted, so what the last of them takes away is gone.

use std::sync::Arc;

use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::functional::Function;
use flow::throwables::well_known;
use program::hierarchy::{ClassId, Hierarchy, Link};
use program::members::ResolvedMethod;
use program::members::resolve::resolve_method;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::members::{declared, element, find_method};
use super::{
    CallKind, Dispatch, DispatchId, Dispatches, FunctionSiteId, Open, Outcome, Receiver, Target, declares,
    function_supers, super_names,
};

/// See the module.
#[derive(Default)]
pub(super) struct Kept {
    by_class: Vec<Vec<(DispatchId, Outcome)>>,
    by_function: Vec<Offers>,
    counts: FxHashMap<(DispatchId, Outcome), u32>,
    /// What there is at all, by dispatch.
    outcomes: Vec<Vec<Outcome>>,
    by_signature: FxHashMap<(Name, Descriptor), Vec<DispatchId>>,
    /// Dispatches that were asked for since targets were looked for.
    fresh: Vec<DispatchId>,
    /// Those for which something is other since they were settled.
    touched: FxHashSet<DispatchId>,
    /// The calls that were asked for, by the class named, of an array by that of its elements.
    named: FxHashMap<ClassName, Vec<(CallKind, MethodRef)>>,
    /// Those whose meaning hangs on their caller, by the class named and by that of the caller.
    special: FxHashMap<ClassName, Vec<(ClassId, CallKind, MethodRef)>>,
}

/// A function object: its supertypes, and what it makes of dispatches.
#[derive(Default)]
struct Offers {
    supers: Vec<ClassName>,
    made: Vec<(DispatchId, Outcome)>,
}

/// The classes whose supertypes are not all there: what is found once for all dispatches that are new.
#[derive(Default)]
struct Leaving {
    classes: Vec<ClassId>,
    /// By the names of those that are not there.
    below: FxHashMap<ClassName, Vec<ClassId>>,
}

impl Leaving {
    fn of(hierarchy: &Hierarchy) -> Leaving {
        let leaves = |it: &ClassId| hierarchy.outside_above(*it).is_some();
        let mut acc = Leaving { classes: hierarchy.ids().filter(leaves).collect(), ..Leaving::default() };
        for &class in &acc.classes {
            let absent =
                super_names(hierarchy, class).into_iter().filter(|it| hierarchy.class(*it).is_none());
            absent.for_each(|it| acc.below.entry(it).or_default().push(class));
        }
        acc
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
    pub(in crate::whole) functions: &'a [Option<&'a Function>],
}

impl Kept {
    /// Notes a dispatch that is new.
    pub(super) fn asked(&mut self, id: DispatchId, signature: (Name, Descriptor)) {
        self.outcomes.resize_with(id.0 as usize + 1, Vec::new);
        self.by_signature.entry(signature).or_default().push(id);
        self.fresh.push(id);
    }

    /// Notes a call that is asked for the first time.
    pub(super) fn named(&mut self, kind: CallKind, method: MethodRef) {
        if let Some(class) = element(method.class()) {
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
            self.outcomes[id.0 as usize].push(outcome);
            self.touched.insert(id);
        }
    }

    fn uncount(&mut self, (id, outcome): (DispatchId, Outcome)) {
        let Some(count) = self.counts.get_mut(&(id, outcome)) else { return };
        *count -= 1;
        if *count == 0 {
            self.counts.remove(&(id, outcome));
            self.outcomes[id.0 as usize].retain(|it| *it != outcome);
            self.touched.insert(id);
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
            Receiver::Function(it) => &mut self.by_function[it.0 as usize].made,
        };
        let before = std::mem::replace(slot, made.clone());
        // New ones first: what stays is never away meanwhile.
        made.iter().filter(|it| before.binary_search(it).is_err()).for_each(|&it| self.count(it));
        before.iter().filter(|it| made.binary_search(it).is_err()).for_each(|&it| self.uncount(it));
    }

    /// Adds what a receiver makes of a dispatch that is new.
    fn extend(&mut self, receiver: Receiver, made: Vec<(DispatchId, Outcome)>) {
        let slot = match receiver {
            Receiver::Class(it) => &mut self.by_class[it.index()],
            Receiver::Function(it) => &mut self.by_function[it.0 as usize].made,
        };
        let new: Vec<_> = made.into_iter().filter(|it| slot.binary_search(it).is_err()).collect();
        slot.extend(new.iter().copied());
        slot.sort_unstable();
        new.into_iter().for_each(|it| self.count(it));
    }
}

impl Dispatches {
    /// Begins to keep what receivers make of dispatches. `functions` are the function objects of the program.
    pub(in crate::whole) fn keep(&mut self, functions: &[Option<&Function>]) {
        let mut kept = Kept { outcomes: vec![Vec::new(); self.all.len()], ..Kept::default() };
        for (id, it) in (0..).map(DispatchId).zip(&self.all) {
            let names = it.method.get();
            kept.by_signature.entry((names.name, names.descriptor)).or_default().push(id);
        }
        let first = self.sites.first.iter().flatten().map(|it| (it.1, it.0));
        first.chain(self.sites.others.keys().copied()).for_each(|(kind, method)| kept.named(kind, method));
        let callers = self.special.keys().map(|it| (self.hierarchy.name(it.0), *it));
        callers.for_each(|(caller, call)| kept.special(caller, call));
        self.kept = Some(Box::new(kept));
        for class in self.hierarchy.ids() {
            self.offer_again(class);
        }
        for (i, function) in functions.iter().enumerate() {
            self.offer_function_again(FunctionSiteId(i as u32), *function);
        }
        if let Some(kept) = &mut self.kept {
            kept.touched.clear();
        }
    }

    fn with_sink(&mut self, offer: impl FnOnce(&mut Self)) -> Vec<(DispatchId, Outcome)> {
        self.sink = Some(Vec::new());
        offer(self);
        let mut made = self.sink.take().unwrap_or_default();
        made.sort_unstable();
        made.dedup();
        made
    }

    fn asked_with(&self, name: Name, descriptor: Descriptor) -> Vec<DispatchId> {
        let asked = self.kept.as_ref().and_then(|it| it.by_signature.get(&(name, descriptor)));
        asked.cloned().unwrap_or_default()
    }

    fn offer_again(&mut self, class: ClassId) {
        let made = self.with_sink(|it| {
            it.offer(class);
            for (name, descriptor, target) in it.selected_outside(class) {
                for id in it.asked_with(name, descriptor) {
                    it.emit(id, Receiver::Class(class), Outcome::Maybe(target));
                }
            }
        });
        if let Some(kept) = &mut self.kept {
            kept.replace(Receiver::Class(class), made);
        }
    }

    /// Asks a function object again; `None` is one that is gone.
    fn offer_function_again(&mut self, site: FunctionSiteId, function: Option<&Function>) {
        let mut supers = Vec::new();
        let made = self.with_sink(|it| {
            let Some(function) = function else { return };
            supers = function_supers(&it.hierarchy, function);
            it.offer_function(site, function);
            if it.leaves(&supers) {
                for &descriptor in &function.descriptors {
                    for id in it.asked_with(function.name, descriptor) {
                        it.emit(id, Receiver::Function(site), Outcome::Maybe(Target::Glue(site)));
                    }
                }
            }
        });
        let Some(kept) = &mut self.kept else { return };
        if kept.by_function.len() <= site.0 as usize {
            kept.by_function.resize_with(site.0 as usize + 1, Offers::default);
        }
        kept.by_function[site.0 as usize].supers = supers;
        kept.replace(Receiver::Function(site), made);
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
                let dispatch = &self.all[id.0 as usize];
                let open = self.open(*name, dispatch.resolved);
                self.open_again(id, open);
            }
        }
        let mut receivers: Vec<ClassId> = edit.receivers.iter().copied().collect();
        receivers.sort_unstable();
        receivers.into_iter().for_each(|it| self.offer_again(it));
        for (i, function) in edit.functions.iter().enumerate() {
            let kept = self.kept.as_ref().and_then(|it| it.by_function.get(i));
            let is_other = match (kept, function) {
                (Some(it), Some(_)) => it.supers.iter().any(|it| edit.names.contains(it)),
                (Some(it), None) => !it.supers.is_empty(),
                (None, _) => true,
            };
            if is_other {
                self.offer_function_again(FunctionSiteId(i as u32), *function);
            }
        }
    }

    fn forget(&mut self, edit: &Edit<'_>) {
        let is_other = |caller: ClassId, method: MethodRef| {
            edit.changed.contains(&caller)
                || element(method.class()).is_some_and(|it| edit.names.contains(&it))
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
        let dispatch = &self.all[id.0 as usize];
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
        self.all[id.0 as usize].resolved = resolved;
        self.open_again(id, open);
        self.touch(id);
    }

    fn open_again(&mut self, id: DispatchId, open: Option<Open>) {
        let before = std::mem::replace(&mut self.all[id.0 as usize].open_by_name, open);
        if before != open {
            self.touch(id);
        }
    }

    fn touch(&mut self, id: DispatchId) {
        if let Some(kept) = &mut self.kept {
            kept.touched.insert(id);
        }
    }

    fn retire(&mut self, id: DispatchId) {
        let dispatch = &mut self.all[id.0 as usize];
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
        for outcome in std::mem::take(&mut kept.outcomes[id.0 as usize]) {
            kept.counts.remove(&(id, outcome));
        }
        kept.touched.insert(id);
    }

    /// Brings targets up to date. Gives the dispatches that are not what they were, those that are new among them.
    pub(in crate::whole) fn settle(&mut self) -> Vec<DispatchId> {
        let fresh = self.kept.as_mut().map(|it| std::mem::take(&mut it.fresh)).unwrap_or_default();
        let leaving = if fresh.is_empty() { Leaving::default() } else { Leaving::of(&self.hierarchy) };
        for id in fresh {
            let dispatch = &self.all[id.0 as usize];
            if self.ids.get(&(dispatch.method, dispatch.interface)) == Some(&id) {
                self.offer_all_to(id, &leaving);
            }
            self.touch(id);
        }
        let Some(kept) = &mut self.kept else { return Vec::new() };
        let mut touched: Vec<DispatchId> = kept.touched.drain().collect();
        touched.sort_unstable();
        for id in &touched {
            self.all[id.0 as usize].set(&kept.outcomes[id.0 as usize]);
        }
        touched
    }

    /// Offers a dispatch to all who may be its receivers.
    fn offer_all_to(&mut self, id: DispatchId, leaving: &Leaving) {
        let hierarchy = Arc::clone(&self.hierarchy);
        let names = self.all[id.0 as usize].method.get();
        let (class, name, descriptor) = (names.class, names.name, names.descriptor);
        let below: Vec<ClassId> = match hierarchy.class(class) {
            Some(it) => hierarchy.subtypes(it),
            // All are below it, and no chain counts as leaving the known world for its being absent.
            None if class == well_known().object => hierarchy.ids().collect(),
            None => leaving.below.get(&class).cloned().unwrap_or_default(),
        };
        let others = leaving.classes.iter().copied();
        let others = others.filter(|&it| find_method(&hierarchy, it, name, descriptor).is_some());
        let mut receivers: Vec<ClassId> = below.into_iter().chain(others).collect();
        receivers.sort_unstable();
        receivers.dedup();
        for it in receivers {
            let made = self.with_sink(|this| {
                this.offer_to(id, it);
                for (of, with, target) in this.selected_outside(it) {
                    if (of, with) == (name, descriptor) {
                        this.emit(id, Receiver::Class(it), Outcome::Maybe(target));
                    }
                }
            });
            if let (Some(kept), false) = (&mut self.kept, made.is_empty()) {
                kept.extend(Receiver::Class(it), made);
            }
        }
    }

    /// Offers what receivers of a class select to one dispatch, as [`Dispatches::offer`] does to all.
    fn offer_to(&mut self, id: DispatchId, class: ClassId) {
        let hierarchy = Arc::clone(&self.hierarchy);
        let supers = super_names(&hierarchy, class);
        let names = self.all[id.0 as usize].method.get();
        if hierarchy.is_interface(class) || !supers.contains(&names.class) {
            return;
        }
        if declares(&hierarchy, class, names.name, names.descriptor) {
            // No receiver selects a constructor, whatever a broken call names.
            let selectable = names.name.bytes() != b"<init>";
            if let Some(it) =
                find_method(&hierarchy, class, names.name, names.descriptor).filter(|_| selectable)
            {
                self.offer_selection(id, class, it);
            }
            return;
        }
        let old = match hierarchy.super_class(class) {
            Some(Link::Present(it)) => super_names(&hierarchy, it),
            _ => Vec::new(),
        };
        let has = |interface: ClassName| {
            hierarchy
                .class(interface)
                .is_some_and(|it| it != class && declares(&hierarchy, it, names.name, names.descriptor))
        };
        if !old.contains(&names.class) || supers.iter().any(|it| !old.contains(it) && has(*it)) {
            self.offer_inherited(id, class);
        }
    }

    /// Whether dispatches were asked for that are not settled.
    pub(in crate::whole) fn has_fresh(&self) -> bool {
        self.kept.as_ref().is_some_and(|it| !it.fresh.is_empty())
    }

    /// Offers new dispatches to the function objects. Before [`Dispatches::settle`], which offers them to classes, and for
    /// which they are not new any more.
    pub(in crate::whole) fn offer_fresh_to_functions(&mut self, functions: &[Option<&Function>]) {
        let fresh = self.kept.as_ref().map(|it| it.fresh.clone()).unwrap_or_default();
        for id in fresh {
            let names = self.all[id.0 as usize].method.get();
            for (i, function) in functions.iter().enumerate() {
                let (Some(function), Some(kept)) = (function, &self.kept) else { continue };
                let site = FunctionSiteId(i as u32);
                let Some(offers) = kept.by_function.get(i) else { continue };
                let is_super = offers.supers.contains(&names.class);
                let may_be = function.name == names.name && function.descriptors.contains(&names.descriptor);
                if !is_super && !may_be {
                    continue;
                }
                let leaves = may_be && self.leaves(&offers.supers);
                let made = self.with_sink(|this| {
                    if is_super {
                        this.offer_function_to(id, site, function);
                    }
                    if leaves {
                        this.emit(id, Receiver::Function(site), Outcome::Maybe(Target::Glue(site)));
                    }
                });
                if let (Some(kept), false) = (&mut self.kept, made.is_empty()) {
                    kept.extend(Receiver::Function(site), made);
                }
            }
        }
    }
}

impl Dispatch {
    /// Sets what known receivers make of it.
    fn set(&mut self, outcomes: &[Outcome]) {
        (self.targets, self.possible, self.errors) = Default::default();
        (self.open_by_receiver, self.handlers) = (None, None);
        for it in outcomes {
            match *it {
                Outcome::Target(it) => self.targets.push(it),
                Outcome::Beyond(it) => self.possible.push(it),
                Outcome::Error(it) => self.errors.push(it),
                Outcome::Unknown(it) => self.open_by_receiver(ClassName::new(it.0)),
                Outcome::Maybe(_) => {}
            }
        }
        self.open = self.open_by_name.or(self.open_by_receiver.map(Open::Outside));
        // A class that nobody can extend from outside has no subclass that is outside.
        if matches!(self.open, Some(Open::Outside(_) | Open::Overridable(_))) {
            self.possible.extend(outcomes.iter().filter_map(|it| match *it {
                Outcome::Maybe(it) => Some(it),
                _ => None,
            }));
        }
        self.sort();
    }
}
