//! Where calls go (`semantics.md` §4): one *dispatch* for each class, method name and descriptor that a virtual call
//! names, with the methods that a receiver may select.
//!
//! [`Dispatches`] is the table. [`offers`] finds the targets, [`edit`] keeps them current while classes go and come, by what
//! [`kept`] holds.

mod cache;
pub(super) mod edit;
mod kept;
pub(super) mod offers;
pub(super) mod outcomes;

use std::sync::{Arc, LazyLock};

use bir::body::CallKind;
use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::throwables::well_known;
use program::hierarchy::{Below, ClassId, Hierarchy};
use program::input::WorldKind;
use program::members::access::{may_access_class, may_access_method};
use program::members::declared::{declared, is_closed_to_overriding};
use program::members::resolve::resolve_method;
use program::members::select::special_target;
use program::members::{LinkError, MethodId, ResolvedMethod};
use rustc_hash::{FxHashMap, FxHashSet};

use self::cache::SiteCache;
use self::kept::Kept;
use self::outcomes::{AllOffers, Outcome};
use super::reads::{Read, note};
use super::sites::{DispatchId, Open, Site, Target};

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

/// The dispatches of a program.
pub struct Dispatches {
    hierarchy: Arc<Hierarchy>,
    world: WorldKind,
    all: Vec<Dispatch>,
    ids: FxHashMap<(MethodRef, bool), DispatchId>,
    /// By class named, name and descriptor.
    by_name: FxHashMap<(ClassName, Name, Descriptor), Vec<DispatchId>>,
    by_class: FxHashMap<ClassName, Vec<DispatchId>>,
    sites: SiteCache,
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
            sites: SiteCache::default(),
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

    fn direct(&self, resolved: ResolvedMethod, fits: impl Fn(Flags) -> bool) -> Site {
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
