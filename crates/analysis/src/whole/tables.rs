//! The first two states of a program: its classes joined ([`ClassTable`]), and its calls resolved ([`CallTable`]). The
//! later ones are [`super::solved::SolvedProgram`] and [`super::maintained::MaintainedProgram`].

use std::borrow::Cow;
use std::sync::Arc;

use bir::body::CallKind;
use classfile::names::{ClassName, MethodRef};
use flow::natives::{Native, native};
use flow::summary::Initialized;
use program::hierarchy::{ClassId, Hierarchy, Link, Surroundings};
use program::input::{Role, WorldKind};
use program::members::declared::{declared, find_method};
use program::members::resolve::{resolve_field, resolve_method};
use program::members::{LinkError, MethodId, ResolvedField, ResolvedMethod};
use program::names::{MethodName, Text};
use program::outline::Ghost;
use rustc_hash::{FxHashMap, FxHashSet};

use super::actions::Called;
use super::dispatch::Dispatches;
use super::ranks::Ranks;
use super::reachable::Reachable;
use super::sites::{FunctionSite, Open, Site};
use crate::summary::{ClassSummary, CodeSummary, MethodSummary};

/// The classes of a program: their hierarchy and the summaries of their code.
#[derive(Clone)]
pub struct ClassTable {
    /// The hierarchy.
    pub hierarchy: Arc<Hierarchy>,
    /// The summaries of the code, by [`ClassId`].
    pub summaries: Arc<Vec<Arc<ClassSummary>>>,
    /// The classes that no JVM links, because of a fault of their own supertypes.
    pub refused: Arc<FxHashSet<ClassId>>,
    /// The records that are shadowed by another record of the same class: pairs of the number of the shadowed record
    /// and the number of the record that shadows it.
    pub passed_over: Arc<[(usize, usize)]>,
    /// The inputs of the hierarchy other than the classes.
    pub surroundings: Arc<Surroundings>,
}

/// The assumptions under which a program is analysed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WholeOptions {
    /// Which classes may exist besides the present ones.
    pub world: WorldKind,
    /// The release of the platform, if it is known.
    pub release: Option<u16>,
    /// Whether unknown code is assumed to keep the declared `throws` of its method (besides unchecked exceptions).
    pub assume_contract: bool,
    /// Whether linking errors because of absent classes are included.
    pub link_errors: bool,
    /// Whether the VM's asynchronous errors are included.
    pub async_errors: bool,
}

/// The classes of a program with the targets of each call in their code.
pub struct CallTable {
    /// The classes.
    pub classes: ClassTable,
    /// The assumptions.
    pub options: WholeOptions,
    /// The targets of virtual calls.
    pub dispatches: Dispatches,
    /// The function objects, by [`super::sites::FunctionSiteId`].
    pub functions: Vec<FunctionSite>,
    /// The code reached from the entry points, if only that is considered (`--rta`).
    pub reachable: Option<Reachable>,
    /// The class loaders of the program that resolving a class asks; `None` if there are none or they are ignored.
    pub(super) loading: Option<Loading>,
    /// A cache of the classes that accesses in the code initialise.
    initialized: FxHashMap<Initialized, Box<[Link]>>,
    /// The order of classes by text.
    pub(super) ranks: Ranks,
}

/// The code that may run when a class loader of the program is asked for a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Loading {
    /// The methods that known loaders select.
    pub(super) targets: Vec<MethodId>,
    /// The methods that other classes select, which are loaders if an absent supertype is a loader.
    pub(super) possible: Vec<MethodId>,
    /// The link errors that calling the loaders raises.
    pub(super) errors: Vec<LinkError>,
    /// Why there may be other loaders.
    pub(super) open: Option<Open>,
}

impl ClassTable {
    /// The summary of a method's code.
    pub fn summary(&self, id: MethodId) -> &MethodSummary {
        let methods = self.summaries.get(id.class.index()).map(|it| &*it.methods).unwrap_or_default();
        methods.get(id.index as usize).unwrap_or(&MethodSummary::Missing)
    }

    /// The code of a method, if it was read. A ghost has none, because the code in its class file is a stub.
    pub fn code(&self, id: MethodId) -> Option<&CodeSummary> {
        match self.summary(id) {
            MethodSummary::Known(code) if self.ghost(id).is_none() => Some(code),
            MethodSummary::Known(_)
            | MethodSummary::None
            | MethodSummary::Missing
            | MethodSummary::Unread => None,
        }
    }

    /// The methods whose code was read.
    pub fn codes(&self) -> impl Iterator<Item = (MethodId, &CodeSummary)> {
        self.methods().filter_map(|it| Some((it, self.code(it)?)))
    }

    /// The methods of a class, in the order of its file.
    pub fn methods_of(&self, class: ClassId) -> impl Iterator<Item = MethodId> + use<> {
        (0..self.hierarchy.outline(class).methods.len()).map(move |it| MethodId::new(class, it))
    }

    /// The name of a method.
    pub fn name(&self, id: MethodId) -> MethodName {
        let method = declared(&self.hierarchy, id);
        MethodName {
            class: Text(self.hierarchy.name(id.class).bytes()),
            name: Text(method.name.bytes()),
            descriptor: Text(method.descriptor.bytes()),
        }
    }

    /// The method of this name, if a present class declares it.
    pub fn named(&self, name: MethodName) -> Option<MethodId> {
        let names = name.names();
        let class = self.hierarchy.class(names.class)?;
        find_method(&self.hierarchy, class, names.name, names.descriptor)
    }

    /// Whether this is the name of a present interface.
    pub(super) fn is_interface(&self, class: ClassName) -> bool {
        self.hierarchy.class(class).is_some_and(|it| self.hierarchy.is_interface(it))
    }

    /// All methods of the present classes, in the order of the hierarchy and of their files.
    pub fn methods(&self) -> impl Iterator<Item = MethodId> + '_ {
        self.hierarchy.ids().flat_map(|it| self.methods_of(it))
    }

    /// The promise that replaces the code of a ghost; `None` for a method that is not a ghost.
    pub fn ghost(&self, id: MethodId) -> Option<&Ghost> {
        let outline = self.hierarchy.outline(id.class);
        outline.methods.get(id.index as usize)?.ghost.as_ref().or(outline.ghost.as_ref())
    }
}

impl CallTable {
    /// Creates a table in which no calls are resolved yet.
    pub(super) fn new(classes: ClassTable, options: WholeOptions) -> Self {
        CallTable {
            dispatches: Dispatches::new(Arc::clone(&classes.hierarchy), options.world),
            classes,
            options,
            functions: Vec::new(),
            reachable: None,
            loading: None,
            initialized: FxHashMap::default(),
            ranks: Ranks::default(),
        }
    }

    /// Requests the site of a call in a method of `caller`, so that its targets are searched.
    pub(super) fn ask(&mut self, caller: ClassId, called: Called) {
        match called {
            Called::Instruction(kind, method)
            | Called::OnThis(kind, method)
            | Called::Handle(kind, method) => {
                self.dispatches.site(caller, kind, method);
            }
            Called::Construct(method) => _ = self.dispatches.site(caller, CallKind::Special, method),
            Called::Dynamic(method) => self.ask_virtual(method),
        }
    }

    /// Requests the dispatch of a virtual call that no instruction makes. The call is treated as naming an interface
    /// method if the named class is an interface.
    pub(super) fn ask_virtual(&mut self, method: MethodRef) {
        let interface = self.classes.is_interface(method.class());
        self.dispatches.ask_for(method, interface);
    }

    /// Returns where a call in a method of `caller` goes; the call must have been requested by [`CallTable::ask`].
    pub(crate) fn site(&self, caller: ClassId, called: Called) -> Site {
        match called {
            Called::Instruction(kind, method)
            | Called::OnThis(kind, method)
            | Called::Handle(kind, method) => self.dispatches.asked(caller, kind, method),
            Called::Construct(method) => self.dispatches.asked(caller, CallKind::Special, method),
            Called::Dynamic(method) => self.virtual_site(method),
        }
    }

    /// Returns where a call goes that was requested by [`CallTable::ask_virtual`].
    pub(super) fn virtual_site(&self, method: MethodRef) -> Site {
        self.dispatches.asked_for(method, self.classes.is_interface(method.class()))
    }

    /// Returns the row of a native method in the table of natives. The table covers only methods of the platform.
    pub(super) fn native(&self, id: MethodId) -> Option<&'static Native> {
        let hierarchy = &self.classes.hierarchy;
        let method = declared(hierarchy, id);
        let names = MethodRef::new(hierarchy.name(id.class), method.name, method.descriptor);
        if hierarchy.role(id.class) == Role::Jdk { native(names, self.options.release) } else { None }
    }

    /// Whether code of the class may ask a class loader of the program to resolve a class.
    pub(super) fn may_load(&self, caller: ClassId) -> bool {
        self.loading.is_some() && self.classes.hierarchy.role(caller) != Role::Jdk
    }

    /// Returns the classes that an access initialises: those that declare the member, as far as they are known.
    pub(super) fn initialized(&self, what: Initialized) -> Cow<'_, [Link]> {
        match self.initialized.get(&what) {
            Some(it) => Cow::Borrowed(it),
            None => Cow::Owned(self.find_initialized(what)),
        }
    }

    /// Caches which classes an access initialises.
    pub(super) fn keep_initialized(&mut self, what: Initialized) {
        if !self.initialized.contains_key(&what) {
            let found = self.find_initialized(what).into();
            self.initialized.insert(what, found);
        }
    }

    /// Removes an access from the cache of initialised classes.
    pub(super) fn forget_initialized(&mut self, what: Initialized) {
        self.initialized.remove(&what);
    }

    fn find_initialized(&self, what: Initialized) -> Vec<Link> {
        let hierarchy = &*self.classes.hierarchy;
        let link = |class: ClassName| hierarchy.class(class).map_or(Link::Outside(class), Link::Present);
        match what {
            Initialized::Class(class) => vec![link(class)],
            Initialized::OwnerOfField(field) => {
                let it = field.get();
                match resolve_field(hierarchy, it.class, it.name, it.descriptor) {
                    ResolvedField::Field(it) => vec![Link::Present(it.class)],
                    ResolvedField::Error(_) => Vec::new(),
                    ResolvedField::Unknown { outside, .. } => vec![Link::Outside(outside)],
                }
            }
            Initialized::OwnerOfMethod(method, interface) => {
                let it = method.get();
                match resolve_method(hierarchy, it.class, it.name, it.descriptor, interface) {
                    ResolvedMethod::Method(it) => vec![Link::Present(it.class)],
                    ResolvedMethod::Unknown { outside, .. } => vec![Link::Outside(outside)],
                    ResolvedMethod::SignaturePolymorphic(_) | ResolvedMethod::Error(_) => Vec::new(),
                }
            }
            Initialized::ClassOrAbove(class) => match hierarchy.class(class) {
                None => vec![Link::Outside(class)],
                Some(id) => {
                    let outside = hierarchy.outside_above(id).map(Link::Outside);
                    let mut supers = hierarchy.supers(id).to_vec();
                    // Answers name the first class whose initialisation may fail.
                    supers.sort_by_key(|it| hierarchy.name(*it).bytes());
                    supers.into_iter().map(Link::Present).chain(outside).collect()
                }
            },
        }
    }

    /// Frees the table piece by piece: each step of the iterator takes at most a few milliseconds.
    pub(super) fn freeing(self) -> impl Iterator<Item = ()> {
        let CallTable { dispatches, functions, initialized, .. } = self;
        let lists = initialized.into_iter().map(drop).chain(functions.into_iter().map(drop));
        dispatches.freeing().chain(lists)
    }
}
