//! The search for reached code: processes each reached method, class and function object.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use classfile::names::{ClassName, Descriptor, MethodRef};
use program::hierarchy::{ClassId, Hierarchy, Link};
use program::initialization::{Initializer, walk};
use program::input::{Role, WorldKind};
use program::members::MethodId;
use program::members::declared::{declared, declares_selectable, find_method};
use rustc_hash::{FxHashMap, FxHashSet};

use super::asked::Asked;
use crate::summary::MethodSummary;
use crate::whole::actions::{Action, AnyCode, MadeObject, Raises, actions};
use crate::whole::dispatch::outcomes::{Offers, ReceiverKind};
use crate::whole::implicit::performed;
use crate::whole::reachable::{EntryPoint, From, Reachable, Receivers};
use crate::whole::serialization::{Direction, is_below, stream_direction, streams_above};
use crate::whole::sites::{DispatchId, FunctionSite, FunctionSiteId, Site, Target};
use crate::whole::tables::CallTable;

/// A method, class or function object that the search for reached code has reached and must still process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// Control reaches this method.
    Method(MethodId),
    /// Reached code creates objects of exactly this class. The second field tells how control reached that code.
    Made(ClassId, From),
    /// Reached code makes the function object of this site.
    Function(FunctionSiteId),
    /// Reached code writes objects to a stream or reads them from one. The second field tells how control reached that
    /// code.
    Stream(Direction, From),
}

/// The state of a search for reached code.
pub(super) struct Search<'a> {
    pub(super) calls: &'a CallTable,
    offers: &'a dyn Offers,
    receivers: Receivers,
    methods: FxHashMap<MethodId, From>,
    made: FxHashSet<ClassId>,
    functions: FxHashSet<FunctionSiteId>,
    /// The methods that run once an object of a class is created, by this class.
    pub(super) waiting: FxHashMap<ClassId, Vec<(MethodId, From)>>,
    initialized: FxHashSet<ClassId>,
    /// The bootstrap methods of the JDK that reached code runs and that the search has not looked at yet.
    pub(super) bootstraps: Vec<(MethodRef, From)>,
    /// What reached code asks other objects about classes.
    pub(super) asked: Asked,
    /// Whether reached code writes objects to streams, and whether it reads them.
    writes: bool,
    reads: bool,
    /// The dispatches that reached code calls, each with the way in which control first reached such a call.
    called: FxHashMap<DispatchId, From>,
    /// For each dispatch, the targets that receivers select if they are created by reached code.
    targets: FxHashMap<DispatchId, Vec<Target>>,
    selected: FxHashSet<(DispatchId, Target)>,
    /// Whether the search has reached unknown code: the code of a ghost, or code that cannot be read.
    pub(super) meets_unseen: bool,
    queue: VecDeque<Event>,
}

impl<'a> Search<'a> {
    pub(super) fn new(calls: &'a CallTable, offers: &'a dyn Offers, receivers: Receivers) -> Self {
        Search {
            calls,
            offers,
            receivers,
            methods: FxHashMap::default(),
            made: FxHashSet::default(),
            functions: FxHashSet::default(),
            waiting: FxHashMap::default(),
            initialized: FxHashSet::default(),
            bootstraps: Vec::new(),
            asked: Asked::default(),
            writes: false,
            reads: false,
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

    /// Returns whether unknown code, such as code of absent classes, may exist.
    pub(super) fn has_outside(&self) -> bool {
        self.calls.options.world != WorldKind::Closed || self.meets_unseen
    }

    /// Puts all classes and function objects that the search has found back into the queue, to be processed again.
    pub(super) fn look_again(&mut self) {
        let mut made: Vec<ClassId> = self.made.iter().copied().collect();
        made.sort_unstable_by_key(|it| it.index());
        let mut functions: Vec<FunctionSiteId> = self.functions.iter().copied().collect();
        functions.sort_unstable();
        self.queue.extend(made.into_iter().map(|it| Event::Made(it, From::Outside)));
        self.queue.extend(functions.into_iter().map(Event::Function));
    }

    /// Adds to the search all methods of the class of `method`, even private ones, because the code of `method` is
    /// unknown and may call them. From then on [`Search::has_outside`] is true.
    fn unseen(&mut self, method: MethodId) {
        self.meets_unseen = true;
        for index in 0..self.hierarchy().outline(method.class).methods.len() {
            self.method(MethodId::new(method.class, index), From::Method(method));
        }
    }

    /// Adds an entry point to the search. If the entry point is an instance method, an object of its class counts as
    /// created. `from` is how control reaches the entry point.
    pub(super) fn enter(&mut self, entry: &EntryPoint, from: From) {
        let method = entry.method;
        self.method(method, from);
        self.initialize(method.class, from);
        let flags = declared(self.hierarchy(), method).flags;
        if !flags.is_static() {
            self.made(method.class, from);
        }
    }

    /// Removes the next event from the queue, adds to the search the code that runs because of the event, and returns
    /// the event. Returns `None` if the queue is empty.
    pub(super) fn next(&mut self) -> Option<Event> {
        let event = self.queue.pop_front()?;
        match event {
            Event::Method(it) => self.process_method(it),
            Event::Made(it, _) => self.process_class(it),
            Event::Function(it) if self.receivers == Receivers::Created => {
                let offers = self.offers;
                offers.of(ReceiverKind::Function(it), &mut |dispatch, target| self.select(dispatch, target));
            }
            Event::Stream(..) | Event::Function(_) => {}
        }
        Some(event)
    }

    pub(super) fn finish(self, entries: Vec<EntryPoint>) -> Reachable {
        let mut selected = Vec::new();
        if self.receivers == Receivers::Created {
            selected.resize_with(self.calls.dispatches.all().len(), Vec::new);
        }
        for (dispatch, mut targets) in self.targets {
            targets.sort_unstable();
            selected[dispatch.index()] = targets;
        }
        Reachable { entries, receivers: self.receivers, methods: self.methods, made: self.made, selected }
    }

    /// Adds a method to the reached methods, unless it is among them already. `from` is how control reaches the
    /// method.
    pub(super) fn method(&mut self, method: MethodId, from: From) {
        if let Entry::Vacant(it) = self.methods.entry(method) {
            it.insert(from);
            self.queue.push_back(Event::Method(method));
        }
    }

    /// Adds a class to the classes of which objects may exist, unless it is among them already. `from` is how control
    /// reaches the code that creates the object.
    pub(super) fn made(&mut self, class: ClassId, from: From) {
        if self.made.insert(class) {
            self.queue.push_back(Event::Made(class, from));
        }
    }

    /// Returns whether reached code creates objects of exactly this class, as far as the search knows yet.
    pub(super) fn is_made(&self, class: ClassId) -> bool {
        self.made.contains(&class)
    }

    /// Records that reached code writes objects to a stream or reads them.
    pub(super) fn stream(&mut self, direction: Direction, from: From) {
        let is_known = match direction {
            Direction::Writing => &mut self.writes,
            Direction::Reading => &mut self.reads,
        };
        if !std::mem::replace(is_known, true) {
            self.queue.push_back(Event::Stream(direction, from));
        }
    }

    /// Returns what reached code does with object streams.
    pub(super) fn streams(&self) -> impl Iterator<Item = Direction> + use<> {
        let writes = self.writes.then_some(Direction::Writing);
        writes.into_iter().chain(self.reads.then_some(Direction::Reading))
    }

    fn function(&mut self, site: FunctionSiteId) {
        if self.functions.insert(site) {
            self.queue.push_back(Event::Function(site));
        }
    }

    /// Adds to the reached methods the initialisers that run when the class is initialised (JVMS §5.5). `from` is how
    /// control reaches the initialisation.
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

    /// Adds to the search the methods that a call in reached code may run. `from` is how control reaches the call.
    pub(super) fn site(&mut self, site: Site, from: From) {
        match site {
            Site::Method(it) => self.method(it, from),
            Site::Dispatch(it) => self.call(it, from),
            // Method handles that code looks up are covered by the assumption of the analysis; the module `outside`
            // adds what absent classes do.
            Site::Open(_) | Site::Error(_) | Site::Vm => {}
        }
    }

    fn call(&mut self, dispatch: DispatchId, from: From) {
        if self.called.contains_key(&dispatch) {
            return;
        }
        self.called.insert(dispatch, from);
        let targets = match self.receivers {
            Receivers::Created => self.targets.get(&dispatch).cloned().unwrap_or_default(),
            Receivers::Any => {
                let all = &self.calls.dispatches.all()[dispatch.index()];
                all.targets.iter().chain(&all.possible).copied().collect()
            }
        };
        targets.into_iter().for_each(|it| self.target(it, from));
    }

    /// Records that `target` is selected in `dispatch` by a receiver that reached code creates. If reached code calls
    /// the dispatch, the target is reached as well.
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

    /// Adds to the search the code that the method of a function object runs. `from` is how control reaches this
    /// method.
    pub(super) fn glue(&mut self, site: FunctionSiteId, from: From) {
        let site = &self.calls.functions[site.index()];
        self.action(site.owner, &Action::of_handle(site.function.handle), from);
    }

    /// Adds to the search the code that an action (a call or an object creation, for example) of the method `owner`
    /// runs. `from` is how control reaches the action.
    fn action(&mut self, owner: MethodId, action: &Action, from: From) {
        match action.raises {
            // The VM runs the constructor without parameters or the constructor with a message.
            Raises::Exact(class) => {
                self.thrown(class, from, |it| matches!(it.bytes(), b"()V" | b"(Ljava/lang/String;)V"));
            }
            // The objects of a cone are created elsewhere. The VM creates the other exceptions when it starts.
            Raises::Cone(_)
            | Raises::Caught(_)
            | Raises::NullReceiver
            | Raises::Receiver(_)
            | Raises::LinkFailure
            | Raises::Nothing => {}
        }
        if let Some(what) = action.initializes {
            for link in &*self.calls.initialized(what) {
                if let Link::Present(it) = *link {
                    self.initialize(it, from);
                }
            }
        }
        match action.makes {
            Some(MadeObject::ByNew(class) | MadeObject::ByHandle(class)) => {
                if let Some(made) = self.hierarchy().class(class) {
                    self.made(made, from);
                    // What the platform's own streams read is covered by the assumption of the analysis.
                    if self.hierarchy().role(owner.class) != Role::Jdk {
                        let streams = streams_above(self.hierarchy(), made);
                        streams.into_iter().for_each(|it| self.stream(it, from));
                    }
                }
            }
            None => {}
        }
        if let Some(called) = action.calls {
            let (method, site) = (called.method(), self.calls.site(owner.class, called));
            if matches!(site, Site::Open(_)) {
                let hierarchy = self.hierarchy();
                let names = method.get();
                let is_of = |it| is_below(hierarchy, names.class, it) != Some(false);
                let direction = stream_direction(names.name, names.descriptor, is_of);
                direction.into_iter().for_each(|it| self.stream(it, from));
            }
            if matches!(site, Site::Vm) {
                self.named_method(performed(method), from);
            }
            self.site(site, from);
        }
        match action.any_code {
            // Code that such an action may run is covered by the assumption that answers list.
            Some(AnyCode::Bootstrap(_) | AnyCode::Unlisted) | None => {}
        }
    }

    fn process_method(&mut self, method: MethodId) {
        let calls = self.calls;
        if calls.classes.ghost(method).is_some() {
            return self.unseen(method);
        }
        match calls.classes.summary(method) {
            MethodSummary::Known(code) => {
                let from = From::Method(method);
                for item in calls.classes.items(method, code) {
                    actions(code, item.source).for_each(|it| self.action(method, &it, from));
                }
                for site in functions_of(self.calls, method) {
                    self.function(site);
                }
            }
            MethodSummary::None => {}
            MethodSummary::Missing | MethodSummary::Unread => self.unseen(method),
        }
    }

    /// Adds the method to the search if its class is present and declares it.
    pub(super) fn named_method(&mut self, method: MethodRef, from: From) {
        let (hierarchy, it) = (self.hierarchy(), method.get());
        let class = hierarchy.class(it.class);
        let found = class.and_then(|class| find_method(hierarchy, class, it.name, it.descriptor));
        found.into_iter().for_each(|it| self.method(it, from));
    }

    /// Adds to the search the code that creates an exception of this class of the platform by a constructor whose
    /// descriptor `is_run` accepts.
    pub(super) fn thrown(&mut self, class: ClassName, from: From, is_run: impl Fn(Descriptor) -> bool) {
        let hierarchy = self.hierarchy();
        let Some(id) = hierarchy.class(class).filter(|&it| hierarchy.role(it) == Role::Jdk) else { return };
        self.initialize(id, from);
        self.made(id, from);
        for (index, it) in hierarchy.outline(id).methods.iter().enumerate() {
            if it.name.bytes() == b"<init>" && is_run(it.descriptor) {
                self.method(MethodId::new(id, index), from);
            }
        }
    }

    fn process_class(&mut self, class: ClassId) {
        if self.receivers == Receivers::Any {
            return;
        }
        let (hierarchy, offers) = (self.hierarchy(), self.offers);
        let mut above = Some(class);
        // Adds the targets that the class and each of its superclasses select; the methods of a class precede those
        // of its superclasses. The superclass chain has no cycle.
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

/// Counts all present classes as created, without processing their objects, and returns the classes.
pub(super) fn make_all(search: &mut Search<'_>) -> Vec<ClassId> {
    let hierarchy = search.hierarchy();
    let has_objects = |it: &ClassId| !hierarchy.is_vacant(*it) && !hierarchy.is_interface(*it);
    let classes: Vec<ClassId> = hierarchy.ids().filter(has_objects).collect();
    search.made.extend(&classes);
    classes
}

/// Puts classes that count as created into the queue. No reached code need create their objects.
pub(super) fn look_at(search: &mut Search<'_>, classes: Vec<ClassId>) {
    search.queue.extend(classes.into_iter().map(|it| Event::Made(it, From::Vm)));
}

/// Returns the function objects that the dynamic call sites of a method make.
fn functions_of(calls: &CallTable, method: MethodId) -> impl Iterator<Item = FunctionSiteId> + use<> {
    let key = |it: &FunctionSite| (it.owner.class.index(), it.owner.index);
    let want = (method.class.index(), method.index);
    let start = calls.functions.partition_point(|it| key(it) < want);
    let n = calls.functions[start..].iter().take_while(|it| key(it) == want).count();
    (start..start + n).map(FunctionSiteId::from_index)
}
