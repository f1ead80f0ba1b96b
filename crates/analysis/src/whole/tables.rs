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
use super::reachable::Reachable;
use super::sites::{FunctionSite, Open, Site};
use crate::summary::{ClassSummary, CodeSummary, MethodSummary};

/// The classes of a program: their hierarchy and what is known of their code.
#[derive(Clone)]
pub struct ClassTable {
    /// The hierarchy.
    pub hierarchy: Arc<Hierarchy>,
    /// The summaries of the code, by [`ClassId`].
    pub summaries: Arc<Vec<Arc<ClassSummary>>>,
    /// The classes that no JVM links, because of a fault of their own supertypes.
    pub refused: Arc<FxHashSet<ClassId>>,
    /// The records that are shadowed by another record of the same class: pairs of the number of the shadowed record and of
    /// the one that shadows it.
    pub passed_over: Arc<[(usize, usize)]>,
    /// What the hierarchy was made with besides the classes.
    pub surroundings: Arc<Surroundings>,
}

/// The assumptions under which a program is analysed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// Which classes may exist besides the present ones.
    pub world: WorldKind,
    /// The release of the platform, if it is known.
    pub release: Option<u16>,
    /// Whether unknown code keeps the declared `throws` of its method (and lets out unchecked exceptions besides).
    pub assume_contract: bool,
    /// Whether errors of linking are counted for absent classes too.
    pub link_errors: bool,
    /// Whether the VM's asynchronous errors are counted.
    pub async_errors: bool,
}

/// The classes of a program with where each call of their code goes.
pub struct CallTable {
    /// The classes.
    pub classes: ClassTable,
    /// The assumptions.
    pub options: Options,
    /// Where virtual calls go.
    pub dispatches: Dispatches,
    /// The function objects, by [`super::sites::FunctionSiteId`].
    pub functions: Vec<FunctionSite>,
    /// What is reached from the entry points, if only that counts (`--rta`).
    pub reachable: Option<Reachable>,
    /// The class loaders of the program that resolving a class asks; `None` if there are none, or if they do not count.
    pub(super) loading: Option<Loading>,
    /// What accesses initialise that code was asked about.
    initialized: FxHashMap<Initialized, Box<[Link]>>,
}

/// What asking a class loader of the program for a class may run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Loading {
    /// The methods that known loaders select.
    pub(super) targets: Vec<MethodId>,
    /// Methods that other classes select, which are loaders if an absent class is one.
    pub(super) possible: Vec<MethodId>,
    /// The link errors that calling them raises.
    pub(super) errors: Vec<LinkError>,
    /// Why there may be other loaders.
    pub(super) open: Option<Open>,
}

impl ClassTable {
    /// What is known of the code of a method.
    pub fn summary(&self, id: MethodId) -> &MethodSummary {
        let methods = self.summaries.get(id.class.index()).map(|it| &*it.methods).unwrap_or_default();
        methods.get(id.index as usize).unwrap_or(&MethodSummary::Missing)
    }

    /// The code of a method, if it was read. A ghost has none: the code of its stub is not its own.
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

    /// The method of this name that a present class declares.
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

    /// The promise that takes the place of a ghost's code; `None` for a method that is no ghost.
    pub fn ghost(&self, id: MethodId) -> Option<&Ghost> {
        let outline = self.hierarchy.outline(id.class);
        outline.methods.get(id.index as usize)?.ghost.as_ref().or(outline.ghost.as_ref())
    }
}

impl CallTable {
    /// A table in which no call was asked for yet.
    pub(super) fn new(classes: ClassTable, options: Options) -> Self {
        CallTable {
            dispatches: Dispatches::new(Arc::clone(&classes.hierarchy), options.world),
            classes,
            options,
            functions: Vec::new(),
            reachable: None,
            loading: None,
            initialized: FxHashMap::default(),
        }
    }

    /// Asks for the dispatch of a call in a method of `caller`, so that its targets are looked for.
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

    /// Asks for the dispatch of a virtual call that is made by no instruction: the constant of the call is one for the kind
    /// of the class named.
    pub(super) fn ask_virtual(&mut self, method: MethodRef) {
        let interface = self.classes.is_interface(method.class());
        self.dispatches.ask_for(method, interface);
    }

    /// Where a call in a method of `caller` goes that was asked for.
    pub(crate) fn site(&self, caller: ClassId, called: Called) -> Site {
        match called {
            Called::Instruction(kind, method)
            | Called::OnThis(kind, method)
            | Called::Handle(kind, method) => self.dispatches.asked(caller, kind, method),
            Called::Construct(method) => self.dispatches.asked(caller, CallKind::Special, method),
            Called::Dynamic(method) => self.virtual_site(method),
        }
    }

    /// Where a call goes that [`CallTable::ask_virtual`] asked for.
    pub(super) fn virtual_site(&self, method: MethodRef) -> Site {
        self.dispatches.asked_for(method, self.classes.is_interface(method.class()))
    }

    /// The row of a native method in our table. Rows are about methods of the platform only.
    pub(super) fn native(&self, id: MethodId) -> Option<&'static Native> {
        let hierarchy = &self.classes.hierarchy;
        let method = declared(hierarchy, id);
        let names = MethodRef::new(hierarchy.name(id.class), method.name, method.descriptor);
        if hierarchy.role(id.class) == Role::Jdk { native(names, self.options.release) } else { None }
    }

    /// Whether code of the class may ask a class loader of the program.
    pub(super) fn may_load(&self, caller: ClassId) -> bool {
        self.loading.is_some() && self.classes.hierarchy.role(caller) != Role::Jdk
    }

    /// The classes that an access initialises: those that declare the member, as far as that is known.
    pub(super) fn initialized(&self, what: Initialized) -> Cow<'_, [Link]> {
        match self.initialized.get(&what) {
            Some(it) => Cow::Borrowed(it),
            None => Cow::Owned(self.find_initialized(what)),
        }
    }

    /// Keeps what an access initialises for later questions.
    pub(super) fn keep_initialized(&mut self, what: Initialized) {
        if !self.initialized.contains_key(&what) {
            let found = self.find_initialized(what).into();
            self.initialized.insert(what, found);
        }
    }

    /// Forgets what an access initialises.
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
                    // The first that may fail is the one that is named.
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
