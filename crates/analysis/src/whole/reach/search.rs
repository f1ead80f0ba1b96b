//! The search: what each reached thing reaches.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use classfile::names::{ClassName, Descriptor, Name};
use flow::natives::Effect;
use flow::summary::Initialized;
use program::hierarchy::{ClassId, Hierarchy, Link};
use program::initialization::{Initializer, walk};
use program::input::{Role, WorldKind};
use program::members::MethodId;
use program::members::declared::{declared, declares_selectable, find_method};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::summary::{CodeSummary, MethodSummary};
use crate::whole::actions::{Action, AnyCode, MadeObject, Raises, actions};
use crate::whole::dispatch::outcomes::{Offers, ReceiverKind};
use crate::whole::implicit::thread_run;
use crate::whole::reachable::{EntryPoint, From, Reachable};
use crate::whole::sites::{DispatchId, FunctionSite, FunctionSiteId, Site, Target};
use crate::whole::tables::CallTable;

/// Something that was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// Control comes to a method.
    Method(MethodId),
    /// There are objects of a class.
    Made(ClassId, From),
    /// There is the function object of a site.
    Function(FunctionSiteId),
}

/// A search under way.
pub(super) struct Search<'a> {
    pub(super) calls: &'a CallTable,
    offers: &'a dyn Offers,
    methods: FxHashMap<MethodId, From>,
    made: FxHashSet<ClassId>,
    functions: FxHashSet<FunctionSiteId>,
    initialized: FxHashSet<ClassId>,
    /// Calls in reached code, and who was first to make them.
    called: FxHashMap<DispatchId, From>,
    /// What receivers select that are made, by dispatch.
    targets: FxHashMap<DispatchId, Vec<Target>>,
    selected: FxHashSet<(DispatchId, Target)>,
    /// Whether code was reached that nobody has seen: a ghost's, or what cannot be read.
    pub(super) meets_unseen: bool,
    queue: VecDeque<Event>,
}

impl<'a> Search<'a> {
    pub(super) fn new(calls: &'a CallTable, offers: &'a dyn Offers) -> Self {
        Search {
            calls,
            offers,
            methods: FxHashMap::default(),
            made: FxHashSet::default(),
            functions: FxHashSet::default(),
            initialized: FxHashSet::default(),
            called: FxHashMap::default(),
            targets: FxHashMap::default(),
            selected: FxHashSet::default(),
            meets_unseen: false,
            queue: VecDeque::new(),
        }
    }

    pub(super) fn hierarchy(&self) -> &'a Hierarchy {
        &self.calls.classes.hierarchy
    }

    /// Whether there may be code that is not present.
    pub(super) fn has_outside(&self) -> bool {
        self.calls.options.world != WorldKind::Closed || self.meets_unseen
    }

    /// Looks at all classes and function objects again that were found so far.
    pub(super) fn look_again(&mut self) {
        let mut made: Vec<ClassId> = self.made.iter().copied().collect();
        made.sort_unstable_by_key(|it| it.index());
        let mut functions: Vec<FunctionSiteId> = self.functions.iter().copied().collect();
        functions.sort_unstable();
        self.queue.extend(made.into_iter().map(|it| Event::Made(it, From::Outside)));
        self.queue.extend(functions.into_iter().map(Event::Function));
    }

    /// What nobody has seen may call anything, and what is private beside it.
    fn unseen(&mut self, method: MethodId) {
        self.meets_unseen = true;
        for index in 0..self.hierarchy().outline(method.class).methods.len() {
            self.method(MethodId::new(method.class, index), From::Method(method));
        }
    }

    /// Starts at an entry point. Whoever calls an instance method has made its object.
    pub(super) fn enter(&mut self, entry: &EntryPoint, from: From) {
        let method = entry.method;
        self.method(method, from);
        self.initialize(method.class, from);
        let flags = declared(self.hierarchy(), method).flags;
        if !flags.is_static() {
            self.made(method.class, from);
        }
    }

    /// Looks at what was reached next, and what it reaches.
    pub(super) fn next(&mut self) -> Option<Event> {
        let event = self.queue.pop_front()?;
        match event {
            Event::Method(it) => self.look_at(it),
            Event::Made(it, _) => self.look_at_class(it),
            Event::Function(it) => {
                let offers = self.offers;
                offers.of(ReceiverKind::Function(it), &mut |dispatch, target| self.select(dispatch, target));
            }
        }
        Some(event)
    }

    pub(super) fn finish(self, entries: Vec<EntryPoint>) -> Reachable {
        let mut selected = Vec::new();
        selected.resize_with(self.calls.dispatches.all().len(), Vec::new);
        for (dispatch, mut targets) in self.targets {
            targets.sort_unstable();
            selected[dispatch.index()] = targets;
        }
        Reachable { entries, methods: self.methods, made: self.made, selected }
    }

    /// Control may come to the method.
    pub(super) fn method(&mut self, method: MethodId, from: From) {
        if let Entry::Vacant(it) = self.methods.entry(method) {
            it.insert(from);
            self.queue.push_back(Event::Method(method));
        }
    }

    /// There may be objects of exactly this class.
    pub(super) fn made(&mut self, class: ClassId, from: From) {
        if self.made.insert(class) {
            self.queue.push_back(Event::Made(class, from));
        }
    }

    fn function(&mut self, site: FunctionSiteId) {
        if self.functions.insert(site) {
            self.queue.push_back(Event::Function(site));
        }
    }

    /// The class is initialised (JVMS §5.5).
    pub(super) fn initialize(&mut self, class: ClassId, from: From) {
        let hierarchy = self.hierarchy();
        let mut reached = Vec::new();
        let visit = |it| match it {
            Initializer::Present(it) => reached.push(it),
            Initializer::Absent(_) => {}
        };
        walk(hierarchy, class, |it| self.initialized.insert(it), visit);
        reached.into_iter().for_each(|it| self.method(it, from));
    }

    fn initializations(&mut self, what: Initialized, from: From) {
        for link in &*self.calls.initialized(what) {
            if let Link::Present(it) = *link {
                self.initialize(it, from);
            }
        }
    }

    /// A call in reached code.
    pub(super) fn site(&mut self, site: Site, from: From) {
        match site {
            Site::Method(it) => self.method(it, from),
            Site::Dispatch(it) => self.call(it, from),
            // Of handles that code looks up the assumption speaks; what absent classes do, `outside` adds.
            Site::Open(_) | Site::Error(_) | Site::Vm => {}
        }
    }

    fn call(&mut self, dispatch: DispatchId, from: From) {
        if self.called.contains_key(&dispatch) {
            return;
        }
        self.called.insert(dispatch, from);
        for target in self.targets.get(&dispatch).cloned().unwrap_or_default() {
            self.target(target, from);
        }
    }

    /// A receiver is made that selects the target.
    fn select(&mut self, dispatch: DispatchId, target: Target) {
        if !self.selected.insert((dispatch, target)) {
            return;
        }
        self.targets.entry(dispatch).or_default().push(target);
        if let Some(&from) = self.called.get(&dispatch) {
            self.target(target, from);
        }
    }

    fn target(&mut self, target: Target, from: From) {
        match target {
            Target::Method(it) => self.method(it, from),
            Target::Glue(it) => self.glue(it, from),
        }
    }

    /// The method of a function object runs.
    pub(super) fn glue(&mut self, site: FunctionSiteId, from: From) {
        let site = &self.calls.functions[site.index()];
        self.action(site.owner, &Action::of_handle(site.function.handle), from);
    }

    /// What code of a method does, whose control comes from `from`.
    fn action(&mut self, owner: MethodId, action: &Action, from: From) {
        match action.raises {
            Raises::Exact(class) => self.raised(class, from),
            // The objects of a cone are made elsewhere; the others the VM makes as it starts.
            Raises::Cone(_)
            | Raises::Caught(_)
            | Raises::NullReceiver
            | Raises::LinkFailure
            | Raises::Nothing => {}
        }
        if let Some(what) = action.initializes {
            self.initializations(what, from);
        }
        match action.makes {
            Some(MadeObject::ByNew(class) | MadeObject::ByHandle(class)) => self.made_by_name(class, from),
            None => {}
        }
        if let Some(called) = action.calls {
            self.site(self.calls.site(owner.class, called), from);
        }
        match action.any_code {
            // The assumption that answers list speaks of what it may run.
            Some(AnyCode::Bootstrap(_) | AnyCode::Unlisted) | None => {}
        }
    }

    fn made_by_name(&mut self, class: ClassName, from: From) {
        if let Some(it) = self.hierarchy().class(class) {
            self.made(it, from);
        }
    }

    fn look_at(&mut self, method: MethodId) {
        let calls = self.calls;
        if calls.classes.ghost(method).is_some() {
            return self.unseen(method);
        }
        match calls.classes.summary(method) {
            MethodSummary::Known(code) => self.code(method, code),
            MethodSummary::None => self.native(method),
            MethodSummary::Missing | MethodSummary::Unread => self.unseen(method),
        }
    }

    fn code(&mut self, method: MethodId, code: &'a CodeSummary) {
        let from = From::Method(method);
        for item in &code.summary.items {
            actions(code, item.source).for_each(|it| self.action(method, &it, from));
        }
        for site in functions_of(self.calls, method) {
            self.function(site);
        }
    }

    /// What the VM raises it makes: by a constructor without a message, or with one.
    fn raised(&mut self, class: ClassName, from: From) {
        let hierarchy = self.hierarchy();
        let Some(id) = hierarchy.class(class).filter(|&it| hierarchy.role(it) == Role::Jdk) else { return };
        self.initialize(id, from);
        self.made(id, from);
        for descriptor in [&b"()V"[..], b"(Ljava/lang/String;)V"] {
            let constructor = find_method(hierarchy, id, Name::new(b"<init>"), Descriptor::new(descriptor));
            constructor.into_iter().for_each(|it| self.method(it, from));
        }
    }

    fn native(&mut self, method: MethodId) {
        let from = From::Method(method);
        let hierarchy = self.hierarchy();
        let it = declared(hierarchy, method);
        if !it.flags.is_native() {
            return;
        }
        match self.calls.native(method).map(|it| &it.effect) {
            Some(Effect::Calls(methods)) => {
                methods.iter().for_each(|&it| self.site(self.calls.virtual_site(it), from));
            }
            Some(Effect::Thread) => self.site(self.calls.virtual_site(thread_run()), from),
            // Of what may run anything the assumption speaks.
            None | Some(Effect::None | Effect::Load | Effect::Open | Effect::Init) => {}
        }
        // What it returns it may have made, of any class of the platform that fits.
        let Some(class) = result_class(it.descriptor) else { return };
        let Some(id) = hierarchy.class(class).filter(|_| class.bytes() != b"java/lang/Object") else {
            return;
        };
        if hierarchy.role(method.class) == Role::Jdk {
            for it in hierarchy.subtypes(id) {
                if hierarchy.role(it) == Role::Jdk {
                    self.made(it, from);
                }
            }
        }
    }

    fn look_at_class(&mut self, class: ClassId) {
        let (hierarchy, offers) = (self.hierarchy(), self.offers);
        let mut above = Some(class);
        // Down from each superclass to the class itself, whose methods come first. Superclasses form no circle.
        let mut below: Vec<ClassId> = Vec::new();
        while let Some(at) = above {
            offers.of(ReceiverKind::Class(at), &mut |dispatch, target| {
                let names = self.calls.dispatches.method(dispatch).get();
                if !below.iter().any(|&it| declares_selectable(hierarchy, it, names.name, names.descriptor)) {
                    self.select(dispatch, target);
                }
            });
            below.push(at);
            above = match hierarchy.super_class(at) {
                Some(Link::Present(it)) => Some(it),
                _ => None,
            };
        }
    }
}

/// The class that a method returns, or whose arrays it returns.
fn result_class(descriptor: Descriptor) -> Option<ClassName> {
    let text = descriptor.bytes();
    let result = &text[text.iter().position(|&it| it == b')')? + 1..];
    let element = result.iter().position(|&it| it != b'[')?;
    match &result[element..] {
        [b'L', name @ .., b';'] => Some(ClassName::new(name)),
        _ => None,
    }
}

/// The function objects that the sites of a method make.
fn functions_of(calls: &CallTable, method: MethodId) -> impl Iterator<Item = FunctionSiteId> + use<> {
    let key = |it: &FunctionSite| (it.owner.class.index(), it.owner.index);
    let want = (method.class.index(), method.index);
    let start = calls.functions.partition_point(|it| key(it) < want);
    let n = calls.functions[start..].iter().take_while(|it| key(it) == want).count();
    (start..start + n).map(FunctionSiteId::from_index)
}
