//! Computes which methods calls run (`semantics.md` §4). For each class, method name and descriptor that a virtual
//! call names, there is one *dispatch*, which holds the methods that receivers may select.
//!
//! [`Dispatches`] is the table of dispatches. [`offers`] computes their targets. [`edit`] updates the targets when
//! classes are removed and added, with the data in [`outcome_index`].

mod cache;
pub(super) mod edit;
pub(super) mod offers;
mod outcome_index;
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
use self::outcome_index::OutcomeIndex;
use self::outcomes::{AllOffers, Outcome, Scope, Signature};
use super::reads::{Read, note};
use super::sites::{DispatchId, Open, Site, Target};

/// A dispatch: all virtual calls that name the same class, method name and descriptor, with the methods that they may
/// run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dispatch {
    /// The method reference that the calls name.
    pub method: MethodRef,
    /// Whether the reference is an interface method reference (a call by `invokeinterface`).
    pub interface: bool,
    /// The distinct targets that known receivers select: objects of present classes, and function objects.
    pub targets: Vec<Target>,
    /// Further targets, which the calls run only in some completions of the program: supertypes of the receivers'
    /// classes are absent, or unknown classes inherit a method and implement the interface that the calls name.
    pub possible: Vec<Target>,
    /// The link errors that the calls may raise, as far as they follow from the present classes.
    pub errors: Vec<LinkError>,
    /// The reason why the calls may run unknown methods; `None` if all targets are known.
    pub open: Option<Open>,
    /// The dispatch of the invocation handlers to which proxies pass the calls on; `None` if no proxy can be a
    /// receiver.
    pub handlers: Option<DispatchId>,
    resolved: Option<MethodId>,
    /// The reason why the calls may run unknown methods, as far as it follows from the method reference alone; `None`
    /// if no reason follows from it.
    open_by_name: Option<Open>,
    /// The absent class that may declare the method that a known receiver selects; of several such classes, the first
    /// by name. `None` if there is no such class.
    open_by_receiver: Option<ClassName>,
}

/// The dispatches of a program.
pub struct Dispatches {
    hierarchy: Arc<Hierarchy>,
    world: WorldKind,
    all: Vec<Dispatch>,
    ids: FxHashMap<(MethodRef, bool), DispatchId>,
    /// The dispatches, by the class, method name and descriptor that they name.
    by_name: FxHashMap<(ClassName, Name, Descriptor), Vec<DispatchId>>,
    by_class: FxHashMap<ClassName, Vec<DispatchId>>,
    sites: SiteCache,
    special: FxHashMap<(ClassId, CallKind, MethodRef), Site>,
    /// The calls that fail because the caller may not access the class or the method that they name.
    refused: FxHashSet<(ClassId, CallKind, MethodRef)>,
    /// The targets that each receiver selects; `None` if they are not recorded.
    offers: Option<AllOffers>,
    /// A list to which the targets and errors that receivers select are added instead of to the dispatches; `None` if
    /// they are added to the dispatches.
    sink: Option<Vec<(DispatchId, Outcome)>>,
    /// What each receiver selects in each dispatch (a target or an error). `None` until [`edit::keep`] starts to
    /// store it.
    outcome_index: Option<Box<OutcomeIndex>>,
    /// Whether targets were removed because only never-instantiated receivers select them.
    pub(in crate::whole) is_narrowed: bool,
}

impl Dispatch {
    /// Records that a known receiver may select a method that the absent class `outside` declares.
    fn open_by_receiver(&mut self, outside: ClassName) {
        if self.open_by_receiver.is_none_or(|it| outside.bytes() < it.bytes()) {
            self.open_by_receiver = Some(outside);
        }
    }

    /// Sets `open` to the reason that follows from the method reference or, if none does, from the known receivers.
    /// Receivers that wrap method handles ([`Dispatches::mark`]) are ignored.
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

    /// Returns what the calls name besides the class.
    fn signature(&self) -> Signature {
        let it = self.method.get();
        Signature { name: it.name, descriptor: it.descriptor }
    }

    /// Returns the scopes to which the dispatch belongs. Their targets are possible if
    /// [`Dispatch::may_be_anywhere`] holds.
    fn scopes(&self) -> impl Iterator<Item = (Signature, Scope)> + use<> {
        let scopes = std::iter::once(Scope::All).chain(self.interface.then_some(Scope::Interfaces));
        let signature = self.signature();
        scopes.map(move |it| (signature, it))
    }

    /// Whether the receivers of the calls may be of a class that is not known, or of one that has an absent supertype.
    /// Such a class may be a subtype of the class that the calls name.
    fn may_be_anywhere(&self) -> bool {
        // A class that no unknown class can extend has no subclass with an absent supertype.
        matches!(self.open, Some(Open::Outside(_) | Open::Overridable(_)))
    }

    fn narrow(&mut self, is_selected: impl Fn(Target) -> bool) {
        self.targets.retain(|&it| is_selected(it));
        self.possible.retain(|&it| is_selected(it));
    }

    /// Returns the method that the calls' reference resolves to; `None` if no present class declares it.
    pub fn resolved(&self) -> Option<MethodId> {
        self.resolved
    }
}

impl Dispatches {
    /// Creates a table without dispatches.
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
            outcome_index: None,
            is_narrowed: false,
        }
    }

    /// Starts to record the targets that each receiver selects, until [`Dispatches::take_offers`] is called.
    pub(super) fn keep_offers(&mut self) {
        self.offers = Some(AllOffers::default());
    }

    /// Returns the recorded targets of all receivers, and stops recording.
    pub(super) fn take_offers(&mut self) -> AllOffers {
        self.offers.take().unwrap_or_default()
    }

    /// Marks a dispatch whose receivers may be objects of classes that the JVM generates at run time. `handlers` is
    /// given if the receivers may be proxies, which pass the call on to the targets of the dispatch `handlers`. If
    /// `around_handles` is true, the receivers may be objects that wrap method handles, so that the calls may run any
    /// method.
    pub(super) fn mark(&mut self, id: DispatchId, handlers: Option<DispatchId>, around_handles: bool) {
        let dispatch = &mut self.all[id.index()];
        dispatch.handlers = handlers;
        if around_handles {
            dispatch.open = dispatch.open.or(Some(Open::SignaturePolymorphic));
        }
    }

    /// Removes from all dispatches the marks that [`Dispatches::mark`] set.
    pub(super) fn unmark(&mut self) {
        for it in &mut self.all {
            it.handlers = None;
            it.open_without_marks();
        }
    }

    /// Removes the targets that are selected only by never-instantiated receivers. `is_selected` returns whether an
    /// instantiated receiver selects a target.
    pub(super) fn narrow(&mut self, is_selected: impl Fn(DispatchId, Target) -> bool) {
        self.is_narrowed = true;
        for (id, it) in (0..).map(DispatchId::from_index).zip(&mut self.all) {
            it.narrow(|target| is_selected(id, target));
        }
    }

    /// Returns where a call in code of the class `caller` goes. If the call needs a dispatch that does not exist yet,
    /// creates the dispatch.
    pub fn site(&mut self, caller: ClassId, kind: CallKind, method: MethodRef) -> Site {
        // What `super.m()` runs depends on the class of its caller.
        if depends_on_caller(kind, method) {
            let site = match self.special.get(&(caller, kind, method)) {
                Some(&it) => it,
                None => {
                    let site = self.special_site(caller, kind, method);
                    self.special.insert((caller, kind, method), site);
                    let name = self.hierarchy.name(caller);
                    self.outcome_index.iter_mut().for_each(|it| it.special(name, (caller, kind, method)));
                    site
                }
            };
            return self.checked(site, caller, kind, method);
        }
        let (site, for_any_caller) = match self.sites.get(kind, method) {
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
                let for_any_caller = self.is_for_any_caller(site, kind, method);
                self.sites.insert(kind, method, site, for_any_caller);
                self.outcome_index.iter_mut().for_each(|it| it.named(kind, method));
                (site, for_any_caller)
            }
        };
        if for_any_caller { site } else { self.checked(site, caller, kind, method) }
    }

    /// Whether code of every class may make the call: the class and the method are public, and the package is not
    /// closed to other classes.
    fn is_for_any_caller(&self, site: Site, kind: CallKind, method: MethodRef) -> bool {
        let Some(resolved) = self.accessed(site, kind, method) else { return true };
        resolved.is_none_or(|it| declared(&self.hierarchy, it).flags.is_public())
            && self.hierarchy.class(method.class()).is_some_and(|it| {
                self.hierarchy.outline(it).flags.is_public() && self.hierarchy.nameable_outside(it)
            })
    }

    /// Returns the method to which a call that goes to `site` needs access, besides access to the class that it names:
    /// `Some(None)` if the class has no such method, `None` if access does not matter or is unknown.
    fn accessed(&self, site: Site, kind: CallKind, method: MethodRef) -> Option<Option<MethodId>> {
        match site {
            Site::Method(it) => Some(Some(it)),
            Site::Dispatch(it) => self.get(it).resolved.map(Some),
            // The JVM checks access before it finds out that the method is abstract or of the wrong kind, and access to
            // the class even before it looks for the method (JVMS §5.4.3.3).
            Site::Error(_) => {
                let interface = match kind {
                    CallKind::Interface | CallKind::StaticInterface | CallKind::SpecialInterface => true,
                    CallKind::Virtual | CallKind::Static | CallKind::Special => false,
                };
                let it = method.get();
                match resolve_method(&self.hierarchy, it.class, it.name, it.descriptor, interface) {
                    ResolvedMethod::Method(it) => Some(Some(it)),
                    ResolvedMethod::Error(_) => Some(None),
                    ResolvedMethod::SignaturePolymorphic(_) | ResolvedMethod::Unknown { .. } => None,
                }
            }
            // `clone` of an array, or the constructor of Object: both classes are resolved, and the methods are public.
            Site::Vm => Some(None),
            Site::Open(_) => None,
        }
    }

    /// Returns `site` if code of the class `caller` may access the class and the method that the call names (JVMS
    /// §5.4.4), otherwise an access error.
    fn checked(&mut self, site: Site, caller: ClassId, kind: CallKind, method: MethodRef) -> Site {
        let Some(resolved) = self.accessed(site, kind, method) else { return site };
        let hierarchy = &*self.hierarchy;
        let named = method.class();
        let allowed = may_access_class(hierarchy, caller, named) != Below::No
            && resolved.is_none_or(|it| may_access_method(hierarchy, caller, named, it) != Below::No);
        if allowed {
            return site;
        }
        self.refused.insert((caller, kind, method));
        Site::Error(LinkError::IllegalAccess)
    }

    /// Returns the destination of a call that is made by the JVM or the JDK instead of by an invoke instruction. If
    /// [`Dispatches::ask_for`] was never called for this call, the result says that the call may run any method.
    pub fn asked_for(&self, method: MethodRef, interface: bool) -> Site {
        let kind = if interface { CallKind::Interface } else { CallKind::Virtual };
        let unknown = Site::Open(Open::Outside(method.class()));
        self.sites.get(kind, method).map_or(unknown, |it| it.0)
    }

    /// Returns where a call goes, as determined by an earlier call of [`Dispatches::site`]. If there was none, the
    /// result says that the call may run any method.
    pub fn asked(&self, caller: ClassId, kind: CallKind, method: MethodRef) -> Site {
        let unknown = Site::Open(Open::Outside(method.class()));
        self.cached_site(caller, kind, method).unwrap_or(unknown)
    }

    /// Returns where a call goes, as determined by an earlier call of [`Dispatches::site`]; `None` if there was none.
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
        // Object's constructor does nothing, so it is treated as code of the VM, even if there is no JDK.
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
                    // No method overrides this method; arrays inherit the methods of Object.
                    Site::Method(id)
                } else {
                    Site::Dispatch(self.ask(method, interface, Some(id)))
                }
            }
            ResolvedMethod::Unknown { .. } => Site::Dispatch(self.ask(method, interface, None)),
        }
    }

    /// Returns the destination of a call that is made by the JVM or the JDK instead of by an invoke instruction, such
    /// as the call of `run` when the JVM starts a thread. If the call needs a dispatch that does not exist yet,
    /// creates the dispatch.
    pub fn ask_for(&mut self, method: MethodRef, interface: bool) -> Site {
        let kind = if interface { CallKind::Interface } else { CallKind::Virtual };
        if let Some((it, _)) = self.sites.get(kind, method) {
            return it;
        }
        let site = self.virtual_site(method, interface);
        self.sites.insert(kind, method, site, false);
        self.outcome_index.iter_mut().for_each(|it| it.named(kind, method));
        site
    }

    fn ask(&mut self, method: MethodRef, interface: bool, resolved: Option<MethodId>) -> DispatchId {
        if let Some(&it) = self.ids.get(&(method, interface)) {
            return it;
        }
        let id = DispatchId::from_index(self.all.len());
        let names = method.get();
        let open = self.open(names.class, resolved);
        let dispatch = Dispatch {
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
        };
        self.outcome_index.iter_mut().for_each(|it| it.asked(id, dispatch.scopes()));
        self.all.push(dispatch);
        self.ids.insert((method, interface), id);
        self.by_name.entry((names.class, names.name, names.descriptor)).or_default().push(id);
        self.by_class.entry(names.class).or_default().push(id);
        id
    }

    /// Returns the reason why a call that names `class` may run unknown methods, as far as it follows from the class
    /// and the method that the reference resolves to; `None` if no reason follows.
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

    /// Returns an iterator that frees the memory of the table. Each step frees one entry, so that the caller can
    /// pause between steps.
    pub(super) fn freeing(self) -> impl Iterator<Item = ()> {
        let Dispatches { all, by_name, by_class, outcome_index, .. } = self;
        let lists = by_name.into_iter().map(drop).chain(by_class.into_iter().map(drop));
        all.into_iter().map(drop).chain(lists).chain(outcome_index.into_iter().flat_map(|it| it.freeing()))
    }

    /// Returns all dispatches, in the order of their ids.
    pub fn all(&self) -> &[Dispatch] {
        &self.all
    }

    /// Returns the dispatch with this id.
    pub fn get(&self, id: DispatchId) -> &Dispatch {
        note(Read::Dispatch(id));
        &self.all[id.index()]
    }

    /// Returns the method reference of a dispatch, which never changes.
    pub(super) fn method(&self, id: DispatchId) -> MethodRef {
        self.all[id.index()].method
    }

    /// Returns the reason why a dispatch may have unknown targets (`None` if all targets are known), and the link
    /// errors of its calls.
    pub(super) fn cause(&self, id: DispatchId) -> (Option<Open>, &[LinkError]) {
        note(Read::Cause(id));
        let it = &self.all[id.index()];
        (it.open, &it.errors)
    }
}

/// Whether the target of a call depends on the class whose code makes the call: true for `super.m()`, but not for
/// constructors.
fn depends_on_caller(kind: CallKind, method: MethodRef) -> bool {
    matches!(kind, CallKind::Special | CallKind::SpecialInterface) && method.name() != constructor()
}

fn constructor() -> Name {
    static NAME: LazyLock<Name> = LazyLock::new(|| Name::new(b"<init>"));
    *NAME
}
