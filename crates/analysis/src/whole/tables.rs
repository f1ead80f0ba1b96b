//! The first two states of a program: with its classes joined ([`ClassTable`]), and with its calls resolved
//! ([`CallTable`]). The later states are [`super::solved::SolvedProgram`] and
//! [`super::maintained::MaintainedProgram`].

use std::borrow::Cow;
use std::sync::Arc;

use bir::body::{CallKind, InstrId};
use classfile::names::{ClassName, MethodRef, Name};
use flow::natives::{Native, native};
use flow::summary::{Initialized, PlacedSource, Sources};
use program::hierarchy::{ClassId, Hierarchy, Link, ProblemKind, Surroundings};
use program::initialization::{class_initializer, implemented};
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
use super::sites::{FunctionSite, FunctionSiteId, Open, Site};
use crate::parts::MethodCode;
use crate::summary::{ClassSummary, CodeSummary, MethodSummary};

/// The classes of a program: their hierarchy and the summaries of their code.
#[derive(Clone)]
pub struct ClassTable {
    /// The hierarchy of the classes.
    pub hierarchy: Arc<Hierarchy>,
    /// The summaries of the classes' code, by [`ClassId`].
    pub summaries: Arc<Vec<Arc<ClassSummary>>>,
    /// The classes that every JVM refuses to link because of a fault in their supertypes.
    pub refused: Arc<FxHashSet<ClassId>>,
    /// The class records that have no effect because another record of the same class shadows them: pairs of the
    /// index of the shadowed record and the index of the record that shadows it.
    pub passed_over: Arc<[(usize, usize)]>,
    /// The inputs, other than the classes, from which the hierarchy is built.
    pub surroundings: Arc<Surroundings>,
    /// The packages of the platform whose assertions are off.
    pub(super) without_assertions: Arc<FxHashSet<Name>>,
}

/// The assumptions under which a program is analysed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WholeOptions {
    /// Which classes may exist besides the present ones.
    pub world: WorldKind,
    /// The Java release of the platform; `None` if the release is unknown.
    pub release: Option<u16>,
    /// Whether it is assumed that unknown code of a method lets out only unchecked exceptions and those that the
    /// method declares.
    pub assume_contract: bool,
    /// Whether link errors that absent classes cause are included in answers.
    pub link_errors: bool,
    /// Whether the VM's asynchronous errors are included in answers.
    pub async_errors: bool,
    /// Whether the assertions of the platform's own classes may be enabled, as by the flag `-esa` of `java`.
    pub system_assertions: bool,
}

/// The classes of a program, with the targets of each call in their code.
pub struct CallTable {
    /// The classes of the program.
    pub classes: ClassTable,
    /// The assumptions under which the program is analysed.
    pub options: WholeOptions,
    /// The dispatches: the virtual calls of the program, with their targets.
    pub dispatches: Dispatches,
    /// The function objects, by [`super::sites::FunctionSiteId`].
    pub functions: Vec<FunctionSite>,
    /// For each method that makes function objects, the first of them in `functions`; the others follow it.
    pub(super) first_function: FxHashMap<MethodId, FunctionSiteId>,
    /// The code that is reached from the entry points; `None` without `--rta` and `--entry`, where all code counts as
    /// reached.
    pub reachable: Option<Reachable>,
    /// The methods by which class loaders of the program load a class; `None` without `--link-errors`, or if the
    /// program has no class loaders.
    pub(super) loading: Option<Loading>,
    /// A cache: for each access that may initialise classes (for example, of a static field), the classes that it
    /// initialises.
    initialized: FxHashMap<Initialized, Box<[Link]>>,
    /// The ranks of classes in the order of class names.
    pub(super) ranks: Ranks,
}

/// The code that may run when a class loader of the program is called to load a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Loading {
    /// The methods that run if the called object is of a class that is known to be a class loader.
    pub(super) targets: Vec<MethodId>,
    /// Further methods that may run: those of classes that are class loaders only if an absent supertype is one.
    pub(super) possible: Vec<MethodId>,
    /// The link errors that calls of the class loaders raise.
    pub(super) errors: Vec<LinkError>,
    /// The reason why there may be unknown class loaders; `None` if there are none.
    pub(super) open: Option<Open>,
}

impl ClassTable {
    /// Returns the summary of a method's code, or the reason why there is no summary.
    pub fn summary(&self, id: MethodId) -> &MethodSummary {
        let methods = self.summaries.get(id.class.index()).map(|it| &*it.methods).unwrap_or_default();
        methods.get(id.index as usize).unwrap_or(&MethodSummary::Missing)
    }

    /// Returns the summary of a method's code; `None` if the method has no code or its code was not read. A ghost has
    /// no code: the code in its class file is a stub.
    pub fn code(&self, id: MethodId) -> Option<&CodeSummary> {
        match self.summary(id) {
            MethodSummary::Known(code) if self.ghost(id).is_none() => Some(code),
            MethodSummary::Known(_)
            | MethodSummary::None
            | MethodSummary::Missing
            | MethodSummary::Unread => None,
        }
    }

    /// Returns whether the assertions of the class may be enabled.
    fn asserts(&self, class: ClassId) -> bool {
        let package = || Name::new(self.hierarchy.name(class).package());
        self.without_assertions.is_empty()
            || self.hierarchy.role(class) != Role::Jdk
            || !self.without_assertions.contains(&package())
    }

    /// Returns the sources of exceptions in the code of the method `id` that may occur: those that occur only while
    /// assertions are enabled are left out if the class's assertions are off.
    pub(super) fn items<'a>(&self, id: MethodId, code: &'a CodeSummary) -> &'a [PlacedSource] {
        code.summary.items(code.summary.n_asserting == 0 || self.asserts(id.class))
    }

    /// Returns the visit of the instructions of the method `id`, whose code is `code`, that finds the sources of
    /// [`ClassTable::items`] at each instruction.
    pub(super) fn sources<'a>(&self, id: MethodId, code: &'a MethodCode) -> Sources<'a> {
        let all = Sources::new(&code.body, &code.facts);
        if self.skips(id, code).is_empty() { all } else { all.without_assertions() }
    }

    /// Returns the instructions of the method `id`, whose code is `code`, that never run because the class's
    /// assertions are off; ascending.
    pub(super) fn skips<'a>(&self, id: MethodId, code: &'a MethodCode) -> &'a [InstrId] {
        let asserting = &code.facts.asserting;
        if asserting.is_empty() || self.asserts(id.class) { &[] } else { asserting }
    }

    /// Returns the methods whose code was read, each with the summary of its code.
    pub fn codes(&self) -> impl Iterator<Item = (MethodId, &CodeSummary)> {
        self.methods().filter_map(|it| Some((it, self.code(it)?)))
    }

    /// Returns the methods of a class, in the order of its class file.
    pub fn methods_of(&self, class: ClassId) -> impl Iterator<Item = MethodId> + use<> {
        (0..self.hierarchy.outline(class).methods.len()).map(move |it| MethodId::new(class, it))
    }

    /// Returns the full name of a method: its class, name and descriptor.
    pub fn name(&self, id: MethodId) -> MethodName {
        let method = declared(&self.hierarchy, id);
        MethodName {
            class: Text(self.hierarchy.name(id.class).bytes()),
            name: Text(method.name.bytes()),
            descriptor: Text(method.descriptor.bytes()),
        }
    }

    /// Returns the method with this class, name and descriptor; `None` if no present class declares it.
    pub fn named(&self, name: MethodName) -> Option<MethodId> {
        let names = name.names();
        let class = self.hierarchy.class(names.class)?;
        find_method(&self.hierarchy, class, names.name, names.descriptor)
    }

    /// Whether a present class has this name and is an interface.
    pub(super) fn is_interface(&self, class: ClassName) -> bool {
        self.hierarchy.class(class).is_some_and(|it| self.hierarchy.is_interface(it))
    }

    /// Returns all methods of the present classes, class by class in the order of the hierarchy, and within a class
    /// in the order of its class file.
    pub fn methods(&self) -> impl Iterator<Item = MethodId> + '_ {
        self.hierarchy.ids().flat_map(|it| self.methods_of(it))
    }

    /// Returns the promise that replaces the code of a ghost; `None` for a method that is not a ghost.
    pub fn ghost(&self, id: MethodId) -> Option<&Ghost> {
        let outline = self.hierarchy.outline(id.class);
        outline.methods.get(id.index as usize)?.ghost.as_ref().or(outline.ghost.as_ref())
    }
}

impl CallTable {
    /// Creates a table in which no call targets are computed yet.
    pub(super) fn new(classes: ClassTable, options: WholeOptions) -> Self {
        CallTable {
            dispatches: Dispatches::new(Arc::clone(&classes.hierarchy), options.world),
            classes,
            options,
            functions: Vec::new(),
            first_function: FxHashMap::default(),
            reachable: None,
            loading: None,
            initialized: FxHashMap::default(),
            ranks: Ranks::default(),
        }
    }

    /// Returns the function object that a method makes at the dynamic site with this index; `None` if there is none.
    pub(super) fn function_at(&self, owner: MethodId, site: u32) -> Option<FunctionSiteId> {
        let first = self.first_function.get(&owner)?.index();
        let own = self.functions[first..].iter().take_while(|it| it.owner == owner);
        let at = own.into_iter().position(|it| it.site == site)?;
        Some(FunctionSiteId::from_index(first + at))
    }

    /// Registers a call in code of the class `caller`, so that its targets are computed.
    pub(super) fn ask(&mut self, caller: ClassId, called: Called) {
        match called {
            Called::Instruction(kind, method)
            | Called::OnThis(kind, method)
            | Called::Handle(kind, method) => {
                self.dispatches.site(caller, kind, method);
            }
            Called::Construct(method) => _ = self.dispatches.site(caller, CallKind::Special, method),
            Called::Dynamic(method) => self.ask_virtual(method),
            Called::Access(_) => {}
        }
    }

    /// Registers a virtual call of `method` that no instruction makes, so that its targets are computed. If the class
    /// that `method` names is an interface, the call is resolved like `invokeinterface`.
    pub(super) fn ask_virtual(&mut self, method: MethodRef) {
        let interface = self.classes.is_interface(method.class());
        self.dispatches.ask_for(method, interface);
    }

    /// Returns what a call in code of the class `caller` runs. The call must have been registered by
    /// [`CallTable::ask`].
    pub(crate) fn site(&self, caller: ClassId, called: Called) -> Site {
        let resolves = match called {
            Called::Instruction(..) | Called::OnThis(..) | Called::Handle(..) | Called::Construct(_) => true,
            Called::Dynamic(_) | Called::Access(_) => false,
        };
        if resolves
            && !self.classes.refused.is_empty()
            && let Some(error) = self.refusal(called.method().class())
        {
            return Site::Error(error);
        }
        match called {
            Called::Instruction(kind, method)
            | Called::OnThis(kind, method)
            | Called::Handle(kind, method) => self.dispatches.asked(caller, kind, method),
            Called::Construct(method) => self.dispatches.asked(caller, CallKind::Special, method),
            Called::Dynamic(method) => self.virtual_site(method),
            Called::Access(_) => Site::Vm,
        }
    }

    /// Returns the error with which the JVM refuses to load the class that a constant names, or the element class of an
    /// array type (JVMS §5.3.5); `None` if the class is absent, or the present classes determine no error.
    pub(super) fn refusal(&self, class: ClassName) -> Option<LinkError> {
        let refused = &self.classes.refused;
        if refused.is_empty() {
            return None;
        }
        let hierarchy = &self.classes.hierarchy;
        let id = class.element().and_then(|it| hierarchy.class(it))?;
        let it = hierarchy.supers(id).iter().find(|it| refused.contains(it))?;
        let name = hierarchy.name(*it);
        let problems = hierarchy.problems();
        let start = problems.partition_point(|it| it.class.bytes() < name.bytes());
        problems[start..].iter().take_while(|it| it.class == name).find_map(|it| match it.kind {
            ProblemKind::Duplicate | ProblemKind::TooManySupertypes => None,
            ProblemKind::Cycle => Some(LinkError::Circularity),
            ProblemKind::InterfaceAsSuperclass
            | ProblemKind::ClassAsInterface
            | ProblemKind::NotPermitted => Some(LinkError::IncompatibleClassChange),
            ProblemKind::FinalSuperclass | ProblemKind::FinalMethod => Some(match self.options.release {
                None => LinkError::Final,
                Some(0..16) => LinkError::FinalBefore16,
                Some(16..) => LinkError::IncompatibleClassChange,
            }),
        })
    }

    /// Returns what a virtual call of `method` runs. The call must have been registered by
    /// [`CallTable::ask_virtual`].
    pub(super) fn virtual_site(&self, method: MethodRef) -> Site {
        self.dispatches.asked_for(method, self.classes.is_interface(method.class()))
    }

    /// Returns the entry of a native method in the table of native methods; `None` if the method has no entry. Only
    /// methods of the platform have entries.
    pub(super) fn native(&self, id: MethodId) -> Option<&'static Native> {
        let hierarchy = &self.classes.hierarchy;
        let method = declared(hierarchy, id);
        let names = MethodRef::new(hierarchy.name(id.class), method.name, method.descriptor);
        if hierarchy.role(id.class) == Role::Jdk { native(names, self.options.release) } else { None }
    }

    /// Whether resolving a class in code of the class `caller` may call a class loader of the program.
    pub(super) fn may_load(&self, caller: ClassId) -> bool {
        self.loading.is_some() && self.classes.hierarchy.role(caller) != Role::Jdk
    }

    /// Returns the classes that an access initialises: the classes that declare the accessed member, as far as they
    /// are known.
    pub(super) fn initialized(&self, what: Initialized) -> Cow<'_, [Link]> {
        match self.initialized.get(&what) {
            Some(it) => Cow::Borrowed(it),
            None => Cow::Owned(self.find_initialized(what)),
        }
    }

    /// Computes the classes that an access initialises, and stores them in the cache.
    pub(super) fn keep_initialized(&mut self, what: Initialized) {
        if !self.initialized.contains_key(&what) {
            let found = self.find_initialized(what).into();
            self.initialized.insert(what, found);
        }
    }

    /// Removes from the cache the entry of an access that may initialise classes.
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
            Initialized::Implemented(interface) => {
                let runs_code = |it: &Link| match *it {
                    Link::Present(it) => class_initializer(hierarchy, it).is_some(),
                    // Of the interfaces of JDK 17 below `java`, none with an initialiser and an instance method with code
                    // has a single abstract method.
                    Link::Outside(it) => !it.bytes().starts_with(b"java/"),
                };
                let mut all = implemented(hierarchy, vec![link(interface)]);
                all.retain(runs_code);
                all
            }
            Initialized::ClassOrAbove(class) => match hierarchy.class(class) {
                None => vec![Link::Outside(class)],
                Some(id) => {
                    let outside = hierarchy.outside_above(id).map(Link::Outside);
                    let mut supers = hierarchy.supers(id).to_vec();
                    // The order decides which class answers name: the first class whose initialisation may fail.
                    supers.sort_by_key(|it| hierarchy.name(*it).bytes());
                    supers.into_iter().map(Link::Present).chain(outside).collect()
                }
            },
        }
    }

    /// Frees the table in small steps: each step of the returned iterator takes at most a few milliseconds.
    pub(super) fn freeing(self) -> impl Iterator<Item = ()> {
        let CallTable { dispatches, functions, initialized, .. } = self;
        let lists = initialized.into_iter().map(drop).chain(functions.into_iter().map(drop));
        dispatches.freeing().chain(lists)
    }
}
