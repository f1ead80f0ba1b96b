//! Where calls go (`semantics.md` §4): one *dispatch* for each class, method name and descriptor that a virtual call
//! names, with the methods that a receiver may select.
//!
//! Targets are found from the receivers, not from the dispatches: each class offers the methods that it declares,
//! or newly has to select among, to the dispatches of its supertypes. So the work grows with the number of methods
//! times the supertypes of their classes, and each class can be done alone.

use std::sync::{Arc, LazyLock};

mod kept;

use self::kept::Kept;
pub(super) use self::kept::{Edit, Functions};
use super::reads::{Read, note};
use super::sites::{DispatchId, FunctionSiteId, Open, Site, Target};
use bir::body::CallKind;
use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::fuel::{Cancelled, Fuel};
use flow::functional::Function;
use flow::throwables::well_known;
use program::hierarchy::{Below, ClassId, Hierarchy, Link};
use program::input::WorldKind;
use program::members::MethodId;
use program::members::access::{may_access_class, may_access_method};
use program::members::declared::{declared, declares_selectable, find_method, is_closed_to_overriding};
use program::members::resolve::resolve_method;
use program::members::select::{select, select_interface, special_target};
use program::members::{LinkError, ResolvedMethod, Selected};
use program::names::Text;
use program::outline::Method;
use rustc_hash::{FxHashMap, FxHashSet};

/// A virtual call by the names at its call site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dispatch {
    /// The names.
    pub method: MethodRef,
    /// Whether an interface method constant names it.
    pub interface: bool,
    /// What known receivers select, each once.
    pub targets: Vec<Target>,
    /// What else classes select that may be below the class named, for all that is known.
    pub possible: Vec<Target>,
    /// Link errors that present classes decide.
    pub errors: Vec<LinkError>,
    /// Why there may be other targets.
    pub open: Option<Open>,
    /// Where proxies among the receivers hand the call on.
    pub handlers: Option<DispatchId>,
    resolved: Option<MethodId>,
    /// As `open`, for what the names alone tell.
    open_by_name: Option<Open>,
    /// Of the absent classes that may have what a known receiver selects, the first by text.
    open_by_receiver: Option<ClassName>,
}

/// What a receiver makes of a dispatch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Outcome {
    /// It selects this.
    Target(Target),
    /// It selects a method of an absent class, or, if that has none, this.
    Beyond(Target),
    /// It may be below the class named, and selects this then.
    Maybe(Target),
    /// It selects nothing.
    Error(LinkError),
    /// It selects a method that this absent class may have.
    Unknown(Text),
}

/// The receivers that select a target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Receiver {
    /// Objects of this class, and of its subclasses down to where they declare the method again.
    Class(ClassId),
    /// The function object of this site.
    Function(FunctionSiteId),
}

/// Why targets are targets: what receivers select.
pub(super) trait Offers {
    /// Tells each dispatch that a receiver may come to, and what it selects there.
    fn of(&self, receiver: Receiver, tell: &mut dyn FnMut(DispatchId, Target));
}

/// Those of all receivers of a program, noted when its targets are found.
#[derive(Default)]
pub(super) struct AllOffers(FxHashMap<Receiver, Vec<(DispatchId, Target)>>);

impl Offers for AllOffers {
    fn of(&self, receiver: Receiver, tell: &mut dyn FnMut(DispatchId, Target)) {
        self.0.get(&receiver).into_iter().flatten().for_each(|it| tell(it.0, it.1));
    }
}

/// The dispatches of a program.
pub struct Dispatches {
    hierarchy: Arc<Hierarchy>,
    world: WorldKind,
    all: Vec<Dispatch>,
    ids: FxHashMap<(MethodRef, bool), DispatchId>,
    /// By class named, name and descriptor.
    by_name: FxHashMap<(ClassName, Name, Descriptor), Vec<DispatchId>>,
    by_class: FxHashMap<ClassName, Vec<DispatchId>>,
    sites: Sites,
    special: FxHashMap<(ClassId, CallKind, MethodRef), Site>,
    /// Calls that their callers may not make.
    refused: FxHashSet<(ClassId, CallKind, MethodRef)>,
    /// Why targets are targets, if somebody wants to know.
    offers: Option<AllOffers>,
    /// Gets what receivers make of dispatches instead of these, while it is there.
    sink: Option<Vec<(DispatchId, Outcome)>>,
    /// What each receiver made of them, when that is kept.
    kept: Option<Box<Kept>>,
    /// Whether only those are targets that a receiver selects which is made.
    is_narrowed: bool,
}

impl Dispatch {
    /// Notes that a known receiver selects what this absent class may have.
    fn open_by_receiver(&mut self, outside: ClassName) {
        if self.open_by_receiver.is_none_or(|it| outside.bytes() < it.bytes()) {
            self.open_by_receiver = Some(outside);
        }
    }

    /// Finds why there may be other targets, but for objects around method handles.
    fn open_without_marks(&mut self) {
        self.open = self.open_by_name.or(self.open_by_receiver.map(Open::Outside));
    }

    fn sort(&mut self) {
        self.targets.sort_unstable();
        self.targets.dedup();
        self.possible.sort_unstable();
        self.possible.dedup();
        self.possible.retain(|target| self.targets.binary_search(target).is_err());
        self.errors.sort_unstable();
    }

    /// Whether classes that may be below any class are among its receivers, for all that is known.
    fn may_be_anywhere(&self) -> bool {
        // A class that nobody can extend from outside has no subclass that is outside.
        matches!(self.open, Some(Open::Outside(_) | Open::Overridable(_)))
    }

    fn narrow(&mut self, is_selected: impl Fn(Target) -> bool) {
        self.targets.retain(|&it| is_selected(it));
        self.possible.retain(|&it| is_selected(it));
    }

    /// What the names stand for, if a present class declares it.
    pub fn resolved(&self) -> Option<MethodId> {
        self.resolved
    }
}

impl Dispatches {
    /// None yet.
    pub fn new(hierarchy: Arc<Hierarchy>, world: WorldKind) -> Self {
        Dispatches {
            hierarchy,
            world,
            all: Vec::new(),
            ids: FxHashMap::default(),
            by_name: FxHashMap::default(),
            by_class: FxHashMap::default(),
            sites: Sites::default(),
            special: FxHashMap::default(),
            refused: FxHashSet::default(),
            offers: None,
            sink: None,
            kept: None,
            is_narrowed: false,
        }
    }

    /// Keeps the reasons for targets when these are found, until they are [taken](Dispatches::take_offers).
    pub(super) fn keep_offers(&mut self) {
        self.offers = Some(AllOffers::default());
    }

    /// The reasons for all targets.
    pub(super) fn take_offers(&mut self) -> AllOffers {
        self.offers.take().unwrap_or_default()
    }

    /// Says that receivers of a call may be made at run time: proxies, which hand it on to the targets of `handlers`, and
    /// objects around method handles.
    pub(super) fn mark(&mut self, id: DispatchId, handlers: Option<DispatchId>, around_handles: bool) {
        let dispatch = &mut self.all[id.index()];
        dispatch.handlers = handlers;
        if around_handles {
            dispatch.open = dispatch.open.or(Some(Open::SignaturePolymorphic));
        }
    }

    /// Takes back all that [`Dispatches::mark`] did.
    pub(super) fn unmark(&mut self) {
        for it in &mut self.all {
            it.handlers = None;
            it.open_without_marks();
        }
    }

    /// Drops the targets that no receiver selects which is ever made.
    pub(super) fn narrow(&mut self, is_selected: impl Fn(DispatchId, Target) -> bool) {
        self.is_narrowed = true;
        for (id, it) in (0..).map(DispatchId::from_index).zip(&mut self.all) {
            it.narrow(|target| is_selected(id, target));
        }
    }

    /// Where a call in a method of `caller` goes. Asks for a dispatch if there is none of these names yet.
    pub fn site(&mut self, caller: ClassId, kind: CallKind, method: MethodRef) -> Site {
        // What `super.m()` finds depends on its caller.
        if depends_on_caller(kind, method) {
            let site = match self.special.get(&(caller, kind, method)) {
                Some(&it) => it,
                None => {
                    let site = self.special_site(caller, kind, method);
                    self.special.insert((caller, kind, method), site);
                    let name = self.hierarchy.name(caller);
                    self.kept.iter_mut().for_each(|it| it.special(name, (caller, kind, method)));
                    site
                }
            };
            return self.checked(site, caller, kind, method);
        }
        let (site, for_everybody) = match self.sites.get(kind, method) {
            Some(it) => it,
            None => {
                let site = match kind {
                    CallKind::Special | CallKind::SpecialInterface => self.special_site(caller, kind, method),
                    CallKind::Static | CallKind::StaticInterface => {
                        self.static_site(method, kind == CallKind::StaticInterface)
                    }
                    CallKind::Virtual | CallKind::Interface => {
                        self.virtual_site(method, kind == CallKind::Interface)
                    }
                };
                let for_everybody = self.is_for_everybody(site, method);
                self.sites.insert(kind, method, site, for_everybody);
                self.kept.iter_mut().for_each(|it| it.named(kind, method));
                (site, for_everybody)
            }
        };
        if for_everybody { site } else { self.checked(site, caller, kind, method) }
    }

    /// Whether any class may make the call: all is public, in a package that is not closed.
    fn is_for_everybody(&self, site: Site, method: MethodRef) -> bool {
        let resolved = match site {
            Site::Method(it) => Some(it),
            Site::Dispatch(it) => self.get(it).resolved,
            Site::Error(_) | Site::Open(_) | Site::Vm => return true,
        };
        let Some(resolved) = resolved else { return true };
        declared(&self.hierarchy, resolved).flags.is_public()
            && self.hierarchy.class(method.class()).is_some_and(|it| {
                self.hierarchy.outline(it).flags.is_public() && self.hierarchy.nameable_outside(it)
            })
    }

    /// The site, if the caller may name the class and access the method (JVMS §5.4.4).
    fn checked(&mut self, site: Site, caller: ClassId, kind: CallKind, method: MethodRef) -> Site {
        let resolved = match site {
            Site::Method(it) => Some(it),
            Site::Dispatch(it) => self.get(it).resolved,
            Site::Error(_) | Site::Open(_) | Site::Vm => None,
        };
        let Some(resolved) = resolved else { return site };
        let hierarchy = &*self.hierarchy;
        let named = method.class();
        let allowed = may_access_class(hierarchy, caller, named) != Below::No
            && may_access_method(hierarchy, caller, named, resolved) != Below::No;
        if allowed {
            return site;
        }
        self.refused.insert((caller, kind, method));
        Site::Error(LinkError::IllegalAccess)
    }

    /// Where a call that no method of the program makes by itself goes: see [`Dispatches::ask_for`].
    pub fn asked_for(&self, method: MethodRef, interface: bool) -> Site {
        let kind = if interface { CallKind::Interface } else { CallKind::Virtual };
        let unknown = Site::Open(Open::Outside(method.class()));
        self.sites.get(kind, method).map_or(unknown, |it| it.0)
    }

    /// Where a call goes that was asked for before; one that was not may go anywhere.
    pub fn asked(&self, caller: ClassId, kind: CallKind, method: MethodRef) -> Site {
        let unknown = Site::Open(Open::Outside(method.class()));
        self.cached_site(caller, kind, method).unwrap_or(unknown)
    }

    /// What a site that was asked for before is.
    pub fn cached_site(&self, caller: ClassId, kind: CallKind, method: MethodRef) -> Option<Site> {
        if !self.refused.is_empty() && self.refused.contains(&(caller, kind, method)) {
            return Some(Site::Error(LinkError::IllegalAccess));
        }
        if depends_on_caller(kind, method) {
            return self.special.get(&(caller, kind, method)).copied();
        }
        self.sites.get(kind, method).map(|it| it.0)
    }

    fn static_site(&self, method: MethodRef, interface: bool) -> Site {
        let it = method.get();
        let resolved = resolve_method(&self.hierarchy, it.class, it.name, it.descriptor, interface);
        self.direct(resolved, |flags| flags.is_static())
    }

    fn special_site(&self, caller: ClassId, kind: CallKind, method: MethodRef) -> Site {
        let it = method.get();
        // Object's constructor does nothing, also when there is no JDK.
        if it.class == well_known().object && it.name.bytes() == b"<init>" {
            return Site::Vm;
        }
        let interface = kind == CallKind::SpecialInterface;
        let resolved = special_target(&self.hierarchy, caller, it.class, it.name, it.descriptor, interface);
        self.direct(resolved, |flags| !flags.is_static())
    }

    fn direct(&self, resolved: ResolvedMethod, fits: impl Fn(classfile::flags::Flags) -> bool) -> Site {
        match resolved {
            ResolvedMethod::Method(id) => {
                let flags = declared(&self.hierarchy, id).flags;
                if !fits(flags) {
                    Site::Error(LinkError::IncompatibleClassChange)
                } else if flags.is_abstract() {
                    Site::Error(LinkError::AbstractMethod)
                } else {
                    Site::Method(id)
                }
            }
            ResolvedMethod::SignaturePolymorphic(_) => Site::Open(Open::SignaturePolymorphic),
            ResolvedMethod::Error(it) => Site::Error(it),
            ResolvedMethod::Unknown { outside, .. } => Site::Open(Open::Outside(outside)),
        }
    }

    fn virtual_site(&mut self, method: MethodRef, interface: bool) -> Site {
        let it = method.get();
        if it.class.is_array() && it.name.bytes() == b"clone" {
            return Site::Vm;
        }
        let resolved = resolve_method(&self.hierarchy, it.class, it.name, it.descriptor, interface);
        match resolved {
            ResolvedMethod::Error(it) => Site::Error(it),
            ResolvedMethod::SignaturePolymorphic(_) => Site::Open(Open::SignaturePolymorphic),
            ResolvedMethod::Method(id) => {
                let flags = declared(&self.hierarchy, id).flags;
                if flags.is_static() {
                    Site::Error(LinkError::IncompatibleClassChange)
                } else if flags.is_private() || flags.is_final() || it.class.is_array() {
                    // Nothing overrides it; arrays have Object's.
                    Site::Method(id)
                } else {
                    Site::Dispatch(self.ask(method, interface, Some(id)))
                }
            }
            ResolvedMethod::Unknown { .. } => Site::Dispatch(self.ask(method, interface, None)),
        }
    }

    /// The dispatch of a call that the VM makes: `run` of a thread that starts.
    pub fn ask_for(&mut self, method: MethodRef, interface: bool) -> Site {
        let kind = if interface { CallKind::Interface } else { CallKind::Virtual };
        if let Some((it, _)) = self.sites.get(kind, method) {
            return it;
        }
        let site = self.virtual_site(method, interface);
        self.sites.insert(kind, method, site, false);
        self.kept.iter_mut().for_each(|it| it.named(kind, method));
        site
    }

    fn ask(&mut self, method: MethodRef, interface: bool, resolved: Option<MethodId>) -> DispatchId {
        if let Some(&it) = self.ids.get(&(method, interface)) {
            return it;
        }
        let id = DispatchId::from_index(self.all.len());
        let names = method.get();
        let open = self.open(names.class, resolved);
        self.all.push(Dispatch {
            method,
            interface,
            targets: Vec::new(),
            possible: Vec::new(),
            errors: Vec::new(),
            open,
            handlers: None,
            resolved,
            open_by_name: open,
            open_by_receiver: None,
        });
        if let Some(kept) = &mut self.kept {
            kept.asked(id, (names.name, names.descriptor));
        }
        self.ids.insert((method, interface), id);
        self.by_name.entry((names.class, names.name, names.descriptor)).or_default().push(id);
        self.by_class.entry(names.class).or_default().push(id);
        id
    }

    /// Whether receivers that nobody knows may select something else.
    fn open(&self, class: ClassName, resolved: Option<MethodId>) -> Option<Open> {
        if self.world == WorldKind::Closed {
            return None;
        }
        let Some(id) = self.hierarchy.class(class) else { return Some(Open::Outside(class)) };
        if resolved.is_none()
            && let Some(outside) = self.hierarchy.outside_above(id)
        {
            return Some(Open::Outside(outside));
        }
        if let Some(resolved) = resolved
            && is_closed_to_overriding(&self.hierarchy, resolved)
        {
            return None;
        }
        self.hierarchy.open_witness(id).map(|it| Open::Overridable(self.hierarchy.name(it)))
    }

    /// Finds the targets of all dispatches that were asked for. `functions` are the function objects of the program.
    ///
    /// # Errors
    /// When the work is not wanted any more; these are not to be used any more then.
    pub fn find_targets(&mut self, functions: &[Function], fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
        for class in self.hierarchy.ids() {
            fuel.spend(self.cost_of_offer(class))?;
            self.offer(class);
        }
        for (i, function) in functions.iter().enumerate() {
            fuel.spend(COST_OF_FUNCTION)?;
            self.offer_function(FunctionSiteId::from_index(i), function);
        }
        self.all.iter_mut().for_each(Dispatch::open_without_marks);
        self.offer_possible(functions, fuel)?;
        for it in &mut self.all {
            fuel.spend(1 + (it.targets.len() + it.possible.len()) as u32 / 4)?;
            it.sort();
        }
        Ok(())
    }

    /// In steps of [`Fuel`], about.
    fn cost_of_offer(&self, class: ClassId) -> u32 {
        let n_methods = self.hierarchy.outline(class).methods.len();
        (n_methods * self.hierarchy.supers(class).len() + 16) as u32
    }

    /// Offers what receivers of this class select.
    fn offer(&mut self, class: ClassId) {
        if self.hierarchy.is_interface(class) {
            return;
        }
        let above = Above::of(&self.hierarchy, class);
        for id in self.asking(class, &above) {
            self.offer_to(id, class, &above);
        }
    }

    /// The dispatches for which a class may select something itself, and perhaps others: what it declares may be asked for by the
    /// name of any supertype, what it inherits by that of a new one, and methods of new interfaces by that of any.
    fn asking(&self, class: ClassId, above: &Above) -> Vec<DispatchId> {
        let is_selectable = |it: &&Method| !it.flags.is_static() && !it.flags.is_private();
        let mut acc: Vec<DispatchId> = Vec::new();
        let mut named = |supers: &[ClassName], method: &Method| {
            let ids = supers.iter().filter_map(|it| self.by_name.get(&(*it, method.name, method.descriptor)));
            acc.extend(ids.flatten());
        };
        for method in self.hierarchy.outline(class).methods.iter().filter(is_selectable) {
            named(&above.supers, method);
        }
        for interface in new_supers(&self.hierarchy, class) {
            let methods = &self.hierarchy.outline(interface).methods;
            methods.iter().filter(is_selectable).for_each(|it| named(&above.old, it));
        }
        let new = above.supers.iter().filter(|it| !above.old.contains(it));
        acc.extend(new.filter_map(|it| self.by_class.get(it)).flatten());
        acc.sort_unstable();
        acc.dedup();
        acc
    }

    /// Offers what receivers of a class select to a dispatch, if that is not what its superclass selects.
    fn offer_to(&mut self, id: DispatchId, class: ClassId, above: &Above) {
        let names = self.all[id.index()].method.get();
        if !above.supers.contains(&names.class) {
            return;
        }
        if declares_selectable(&self.hierarchy, class, names.name, names.descriptor) {
            // No receiver selects a constructor, whatever a broken call names.
            let is_selectable = names.name != constructor();
            let method = find_method(&self.hierarchy, class, names.name, names.descriptor);
            if let Some(it) = method.filter(|_| is_selectable) {
                self.offer_selection(id, class, it);
            }
        } else if !above.old.contains(&names.class) || self.is_new_in(class, names.name, names.descriptor) {
            self.offer_inherited(id, class);
        }
    }

    /// Whether a class has an interface with such a method that its superclass does not have: it selects among more methods than
    /// that does.
    fn is_new_in(&self, class: ClassId, name: Name, descriptor: Descriptor) -> bool {
        new_supers(&self.hierarchy, class)
            .any(|it| declares_selectable(&self.hierarchy, it, name, descriptor))
    }

    /// Offers a method that the class declares itself.
    fn offer_selection(&mut self, id: DispatchId, class: ClassId, method: MethodId) {
        let flags = declared(&self.hierarchy, method).flags;
        let dispatch = &self.all[id.index()];
        let selected = match dispatch.resolved {
            Some(resolved) if dispatch.interface && !flags.is_public() => {
                select_interface(&self.hierarchy, class, dispatch.method.class(), resolved)
            }
            // Only a method of package-private access may fail to be overridden by one of the same name.
            Some(resolved) if resolved != method && !self.is_visible(resolved) => {
                select(&self.hierarchy, class, resolved)
            }
            _ if flags.is_abstract() => Selected::Error(LinkError::AbstractMethod),
            _ => Selected::Method(method),
        };
        self.take(id, class, selected);
    }

    /// Offers what the class inherits.
    fn offer_inherited(&mut self, id: DispatchId, class: ClassId) {
        let dispatch = &self.all[id.index()];
        let names = dispatch.method.get();
        let selected = match dispatch.resolved {
            Some(resolved) if dispatch.interface => {
                select_interface(&self.hierarchy, class, dispatch.method.class(), resolved)
            }
            Some(resolved) => select(&self.hierarchy, class, resolved),
            // The method is declared in a class that is outside; a superclass may have it as well.
            None => match resolve_method(
                &self.hierarchy,
                self.hierarchy.name(class),
                names.name,
                names.descriptor,
                false,
            ) {
                // A method of a class goes before those of interfaces, also if it has no code.
                ResolvedMethod::Method(it) if declared(&self.hierarchy, it).flags.is_abstract() => {
                    Selected::Error(LinkError::AbstractMethod)
                }
                ResolvedMethod::Method(it) => Selected::Method(it),
                ResolvedMethod::Unknown { beyond: Some(it), .. } => Selected::Method(it),
                _ => return,
            },
        };
        self.take(id, class, selected);
    }

    fn take(&mut self, id: DispatchId, class: ClassId, selected: Selected) {
        let receiver = Receiver::Class(class);
        let names = self.all[id.index()].method.get();
        let (name, descriptor) = (names.name, names.descriptor);
        let is_live = |this: &Self| {
            let declares = |it| declares_selectable(&this.hierarchy, it, name, descriptor);
            this.is_live(class, |it| declares(it) || this.is_new_in(it, name, descriptor))
        };
        match selected {
            Selected::Method(it) => {
                if !declared(&self.hierarchy, it).flags.is_abstract() && is_live(self) {
                    self.emit(id, receiver, Outcome::Target(Target::Method(it)));
                }
            }
            Selected::Error(error) => {
                if !self.has_error(id, error) && is_live(self) {
                    self.emit(id, receiver, Outcome::Error(error));
                }
            }
            // The receiver is known, what it selects is not: an absent superclass or interface may have the method.
            Selected::Unknown { outside, beyond } => {
                if is_live(self) {
                    self.unknown_selection(id, receiver, outside, beyond);
                }
            }
        }
    }

    /// Whether the error is known already, where it is enough to know it once.
    fn has_error(&self, id: DispatchId, error: LinkError) -> bool {
        self.sink.is_none() && self.all[id.index()].errors.contains(&error)
    }

    /// Notes what a receiver makes of a dispatch.
    fn emit(&mut self, id: DispatchId, receiver: Receiver, outcome: Outcome) {
        if let Some(sink) = &mut self.sink {
            return sink.push((id, outcome));
        }
        let dispatch = &mut self.all[id.index()];
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
            (outcome, &mut self.offers)
        {
            offers.0.entry(receiver).or_default().push((id, target));
        }
    }

    /// Some receiver selects a method of an absent class, or, if that has none, `beyond`.
    fn unknown_selection(
        &mut self,
        id: DispatchId,
        receiver: Receiver,
        outside: ClassName,
        beyond: Option<MethodId>,
    ) {
        if self.world == WorldKind::Closed {
            return;
        }
        self.emit(id, receiver, Outcome::Unknown(Text(outside.bytes())));
        if let Some(it) = beyond {
            self.emit(id, receiver, Outcome::Beyond(Target::Method(it)));
        }
    }

    fn is_visible(&self, method: MethodId) -> bool {
        let flags = declared(&self.hierarchy, method).flags;
        flags.is_public() || flags.is_protected()
    }

    /// Whether some known class that can have objects is this one, or inherits its choice of a method. `chooses` says which
    /// classes below make their own.
    fn is_live(&self, class: ClassId, chooses: impl Fn(ClassId) -> bool) -> bool {
        let mut pending = vec![class];
        while let Some(at) = pending.pop() {
            let outline = self.hierarchy.outline(at);
            if !outline.flags.is_abstract() && !outline.flags.is_interface() {
                return true;
            }
            pending.extend(self.hierarchy.children(at).iter().copied().filter(|it| !chooses(*it)));
        }
        false
    }

    /// Offers the methods of a function object: its own, and the default methods of its interfaces.
    fn offer_function(&mut self, site: FunctionSiteId, function: &Function) {
        for name in function_supers(&self.hierarchy, function) {
            for id in self.by_class.get(&name).cloned().unwrap_or_default() {
                self.offer_function_to(id, site, function);
            }
        }
    }

    fn offer_function_to(&mut self, id: DispatchId, site: FunctionSiteId, function: &Function) {
        let names = self.all[id.index()].method.get();
        if names.name == function.name && function.descriptors.contains(&names.descriptor) {
            self.emit(id, Receiver::Function(site), Outcome::Target(Target::Glue(site)));
        } else {
            self.offer_default(id, site, function);
        }
    }

    /// Offers what a function object inherits from its interfaces, or from Object.
    fn offer_default(&mut self, id: DispatchId, site: FunctionSiteId, function: &Function) {
        let receiver = Receiver::Function(site);
        let names = self.all[id.index()].method.get();
        let interfaces = std::iter::once(&function.interface).chain(&function.markers);
        for &interface in interfaces {
            match resolve_method(&self.hierarchy, interface, names.name, names.descriptor, true) {
                ResolvedMethod::Method(it) => {
                    let flags = declared(&self.hierarchy, it).flags;
                    if !flags.is_abstract() && !flags.is_static() {
                        self.emit(id, receiver, Outcome::Target(Target::Method(it)));
                        continue;
                    }
                    // The interface has grown a method that the object was not made for.
                    self.emit(id, receiver, Outcome::Error(LinkError::AbstractMethod));
                }
                ResolvedMethod::Unknown { outside, beyond } => {
                    self.unknown_selection(id, receiver, outside, beyond);
                }
                // Another of its interfaces has the method.
                ResolvedMethod::Error(_) | ResolvedMethod::SignaturePolymorphic(_) => {}
            }
        }
    }

    /// Offers what classes select whose chain leaves the known world: they may be below any class that unknown ones
    /// may extend.
    fn offer_possible(&mut self, functions: &[Function], fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
        if self.world == WorldKind::Closed {
            return Ok(());
        }
        let mut by_method: FxHashMap<(Name, Descriptor), Vec<(ClassId, Target)>> = FxHashMap::default();
        for class in self.hierarchy.ids() {
            fuel.spend(1 + self.hierarchy.outline(class).methods.len() as u32)?;
            for (name, descriptor, target) in self.selected_outside(class) {
                by_method.entry((name, descriptor)).or_default().push((class, target));
            }
        }
        if by_method.is_empty() && functions.is_empty() {
            return Ok(());
        }
        for id in DispatchId::first(self.all.len()) {
            fuel.spend(2)?;
            let dispatch = self.get(id);
            let names = dispatch.method.get();
            if !dispatch.may_be_anywhere() {
                continue;
            }
            for &(class, target) in by_method.get(&(names.name, names.descriptor)).into_iter().flatten() {
                fuel.spend(1)?;
                self.emit(id, Receiver::Class(class), Outcome::Maybe(target));
            }
        }
        // A program has as many function objects as calls that could be theirs: none may look at all of the others.
        let mut by_name: FxHashMap<(Name, Descriptor), Vec<DispatchId>> = FxHashMap::default();
        for (id, it) in (0..).map(DispatchId::from_index).zip(&self.all).filter(|it| it.1.open.is_some()) {
            let names = it.method.get();
            by_name.entry((names.name, names.descriptor)).or_default().push(id);
        }
        for (i, function) in functions.iter().enumerate() {
            fuel.spend(COST_OF_FUNCTION)?;
            if !self.leaves(&function_supers(&self.hierarchy, function)) {
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
                self.emit(id, Receiver::Function(site), Outcome::Maybe(Target::Glue(site)));
            }
        }
        Ok(())
    }

    /// What a class selects itself that may be below any class: none if its chain does not leave the known world.
    fn selected_outside(&self, class: ClassId) -> Vec<(Name, Descriptor, Target)> {
        let outline = self.hierarchy.outline(class);
        if self.hierarchy.outside_above(class).is_none() || outline.flags.is_interface() {
            return Vec::new();
        }
        let mut acc = Vec::new();
        for (index, it) in outline.methods.iter().enumerate() {
            let flags = it.flags;
            if !flags.is_static()
                && !flags.is_private()
                && !flags.is_abstract()
                && it.name.bytes() != b"<init>"
                // A method of a class goes before those of interfaces that are new below it.
                && self.is_live(class, |below| declares_selectable(&self.hierarchy, below, it.name, it.descriptor))
            {
                acc.push((it.name, it.descriptor, Target::Method(MethodId::new(class, index))));
            }
        }
        acc
    }

    /// Whether a chain with these classes leaves the known world.
    fn leaves(&self, supers: &[ClassName]) -> bool {
        supers.iter().any(|&it| {
            it != well_known().object
                && self.hierarchy.class(it).is_none_or(|id| self.hierarchy.outside_above(id).is_some())
        })
    }

    /// Frees them piece by piece: with each step of the iterator one.
    pub(super) fn freeing(self) -> impl Iterator<Item = ()> {
        let Dispatches { all, by_name, by_class, kept, .. } = self;
        let lists = by_name.into_iter().map(drop).chain(by_class.into_iter().map(drop));
        all.into_iter().map(drop).chain(lists).chain(kept.into_iter().flat_map(|it| it.freeing()))
    }

    /// The dispatches by number.
    pub fn all(&self) -> &[Dispatch] {
        &self.all
    }

    /// One of them.
    pub fn get(&self, id: DispatchId) -> &Dispatch {
        note(Read::Dispatch(id));
        &self.all[id.index()]
    }

    /// The names of one of them, which never change.
    pub(super) fn method(&self, id: DispatchId) -> MethodRef {
        self.all[id.index()].method
    }

    /// Why one of them may go elsewhere, and what linking its calls raises.
    pub(super) fn cause(&self, id: DispatchId) -> (Option<Open>, &[LinkError]) {
        note(Read::Cause(id));
        let it = &self.all[id.index()];
        (it.open, &it.errors)
    }
}

/// Whether the same names mean different things in different classes: `super.m()`, but not constructors.
fn depends_on_caller(kind: CallKind, method: MethodRef) -> bool {
    matches!(kind, CallKind::Special | CallKind::SpecialInterface) && method.name() != constructor()
}

fn constructor() -> Name {
    static NAME: LazyLock<Name> = LazyLock::new(|| Name::new(b"<init>"));
    *NAME
}

/// What it takes to look what dispatches a function object may be a receiver of, in steps of [`Fuel`], about.
const COST_OF_FUNCTION: u32 = 64;

const CALL_KINDS: [CallKind; 6] = [
    CallKind::Virtual,
    CallKind::Interface,
    CallKind::Special,
    CallKind::SpecialInterface,
    CallKind::Static,
    CallKind::StaticInterface,
];

/// What calls mean by their kind and names, and whether any class may make them. Most methods are called in one way, so
/// there is a table for the first and a map for the others.
#[derive(Default)]
struct Sites {
    first: Vec<Option<(MethodRef, CallKind, Site, bool)>>,
    others: FxHashMap<(CallKind, MethodRef), (Site, bool)>,
}

impl Sites {
    fn remove(&mut self, kind: CallKind, method: MethodRef) {
        match self.first.get_mut(method.index()) {
            Some(first) if first.is_some_and(|it| it.1 == kind) => {
                // Another way to call it takes the place, as nobody looks behind an empty one.
                let mut other = CALL_KINDS.iter().filter_map(|&kind| {
                    let (site, for_everybody) = self.others.remove(&(kind, method))?;
                    Some((method, kind, site, for_everybody))
                });
                *first = other.next();
            }
            _ => _ = self.others.remove(&(kind, method)),
        }
    }

    fn get(&self, kind: CallKind, method: MethodRef) -> Option<(Site, bool)> {
        match *self.first.get(method.index())? {
            Some((_, first, site, for_everybody)) if first == kind => Some((site, for_everybody)),
            Some(_) => self.others.get(&(kind, method)).copied(),
            None => None,
        }
    }

    fn insert(&mut self, kind: CallKind, method: MethodRef, site: Site, for_everybody: bool) {
        if self.first.len() <= method.index() {
            self.first.resize(method.index() + 1, None);
        }
        match &mut self.first[method.index()] {
            it @ None => *it = Some((method, kind, site, for_everybody)),
            Some(_) => _ = self.others.insert((kind, method), (site, for_everybody)),
        }
    }
}

/// The interfaces of a class that its superclass does not have.
fn new_supers(hierarchy: &Hierarchy, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
    let old = match hierarchy.super_class(class) {
        Some(Link::Present(it)) => hierarchy.supers(it),
        _ => &[],
    };
    let is_new = move |it: &ClassId| *it != class && old.binary_search(it).is_err();
    hierarchy.supers(class).iter().copied().filter(is_new)
}

/// What is above a class, by name.
struct Above {
    /// All its supertypes, itself first, also those that are outside.
    supers: Vec<ClassName>,
    /// Those that its superclass has.
    old: Vec<ClassName>,
}

impl Above {
    fn of(hierarchy: &Hierarchy, class: ClassId) -> Self {
        let old = match hierarchy.super_class(class) {
            Some(Link::Present(it)) => super_names(hierarchy, it),
            _ => Vec::new(),
        };
        Above { supers: super_names(hierarchy, class), old }
    }
}

/// The names of all supertypes of a class, itself first, also of those that are outside.
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

/// The names of the supertypes of a function object.
fn function_supers(hierarchy: &Hierarchy, function: &Function) -> Vec<ClassName> {
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
