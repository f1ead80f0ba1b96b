//! Takes in changed classes: finds what of a maintained program is stale by them.

use std::sync::Arc;

use flow::fuel::{Cancelled, Fuel};
use flow::functional::Function;
use flow::natives::Native;
use program::hierarchy::ClassId;
use program::input::{Role, WorldKind};
use program::members::MethodId;
use program::members::declared::declared;

use super::called::CalledClasses;
use super::index::{EditIndex, Stale};
use super::mentions::Named;
use crate::summary::{ClassSummary, CodeSummary, MethodSummary};
use crate::whole::constructing::{of_code, same_on_this};
use crate::whole::dispatch::Functions;
use crate::whole::lattice::Exceptions;
use crate::whole::loading::find_loading;
use crate::whole::nodes::Nodes;
use crate::whole::proxies::{RuntimeObjects, made_at_run_time, made_by, makers, mark_again, mark_some};
use crate::whole::reads::{Read, Touched};
use crate::whole::record::ClassChange;
use crate::whole::resolved::{ask_code, ask_upcalls, forget_initialized};
use crate::whole::sites::{DispatchId, FunctionSite, FunctionSiteId, Node};
use crate::whole::solved::{Following, SolvedProgram};
use crate::whole::tables::CallTable;
use crate::whole::throwables::{Follow, Followed, UnknownTypes, follow};

/// Builds the indices of a program, and lets its dispatches keep what receivers make of them.
///
/// # Errors
/// When the work is not wanted any more; nothing is kept then.
pub(super) fn index(program: &mut SolvedProgram, fuel: &mut Fuel<'_>) -> Result<EditIndex, Cancelled> {
    let constructions = program.nodes.constructions().collect::<Vec<_>>();
    let calls = program.parts().0;
    let hierarchy = &calls.classes.hierarchy;
    let mut acc = EditIndex { lists: hierarchy.lists(), ..EditIndex::default() };
    fuel.ask()?;
    for (class, summary) in hierarchy.ids().zip(&*calls.classes.summaries) {
        fuel.spend(cost_of_look(summary))?;
        acc.mentions.set(class, Some(Named::by(hierarchy.outline(class), summary)));
    }
    acc.mentions.take_touched();
    for (id, it) in FunctionSiteId::first(calls.functions.len()).zip(&calls.functions) {
        acc.functions.entry(it.owner.class).or_default().push(id);
    }
    for (constructor, class) in constructions {
        acc.construction(constructor, class);
    }
    if calls.options.world != WorldKind::Open {
        acc.made = made_at_run_time(calls, fuel)?;
    }
    if calls.options.world == WorldKind::Declared {
        let mut called = CalledClasses::default();
        for (class, summary) in hierarchy.ids().zip(&*calls.classes.summaries) {
            fuel.spend(cost_of_look(summary))?;
            called.set(hierarchy.name(class), Some(summary));
        }
        acc.called = Some(called);
    }
    calls.dispatches.keep(present(&acc, &calls.functions), fuel)?;
    Ok(acc)
}

/// A program that takes in changes, in its parts.
pub(super) struct Intake<'a> {
    pub(super) calls: &'a mut CallTable,
    pub(super) nodes: &'a mut Nodes,
    pub(super) following: &'a mut Following,
    pub(super) ex: &'a mut Exceptions,
    pub(super) index: &'a mut EditIndex,
    pub(super) stale: &'a mut Stale,
    pub(super) touched: &'a mut Touched,
}

impl<'a> Intake<'a> {
    /// The parts of a program; `None` if its solution does not follow changes.
    pub(super) fn new(
        program: &'a mut SolvedProgram,
        ex: &'a mut Exceptions,
        index: &'a mut EditIndex,
        stale: &'a mut Stale,
        touched: &'a mut Touched,
    ) -> Option<Self> {
        let (calls, nodes, following) = program.parts();
        Some(Intake { calls, nodes, following: following?, ex, index, stale, touched })
    }

    pub(super) fn take_in(&mut self, changes: Vec<ClassChange>) -> bool {
        let universe = &self.ex.universe;
        let unknown =
            UnknownTypes::of_universe(self.calls.options.world, &self.calls.classes.hierarchy, universe);
        let names_absent = self.names_absent();
        self.follow_calls(&changes);
        let mut moving = Vec::new();
        for change in changes {
            match &change {
                ClassChange { class: Some(class), now: Some((outline, summary, role)) }
                    if self.calls.classes.hierarchy.outline(*class) == outline
                        && self.calls.classes.hierarchy.role(*class) == *role
                        && self.code_stays(*class, summary) =>
                {
                    self.index.mentions.set(*class, Some(Named::by(outline, summary)));
                    self.change_code(*class, summary);
                }
                _ => moving.push(change),
            }
        }
        if !moving.is_empty() && !self.move_classes(&moving) {
            return false;
        }
        if self.names_absent() != names_absent {
            // What may be below any class at all is different.
            return false;
        }
        if self.stale.is_unsearched {
            ask_upcalls(self.calls);
        }
        if self.calls.dispatches.has_fresh() {
            let functions = present(self.index, &self.calls.functions);
            self.calls.dispatches.offer_fresh_to_functions(functions);
        }
        let causes = self.calls.dispatches.unsettled_causes();
        let mut touched = self.calls.dispatches.settle();
        if self.calls.options.world != WorldKind::Open {
            let made = self.made_now();
            if made == self.index.made {
                mark_some(self.calls, made, &touched);
            } else {
                let marked = mark_again(self.calls, made);
                self.touched.reads.extend(marked.iter().copied().map(Read::Cause));
                touched.extend(marked);
                self.index.made = made;
            }
        }
        let others = causes.into_iter().filter(|it| self.calls.dispatches.cause_of(it.0) != it.1);
        self.touched.reads.extend(others.map(|it| Read::Cause(it.0)));
        self.touched.reads.extend(touched.iter().copied().map(Read::Dispatch));
        if self.stale.is_unsearched {
            self.stale.unnarrowed.extend(&touched);
        } else {
            self.follow_loaders();
        }
        self.stale.nodes(touched.into_iter().map(Node::Dispatch));
        self.sets_follow(unknown)
    }

    /// Notes whether code calls methods of absent classes, in the world where that matters.
    fn follow_calls(&mut self, changes: &[ClassChange]) {
        let Some(called) = &mut self.index.called else { return };
        called.change(&self.calls.classes.hierarchy, changes);
        if self.calls.classes.surroundings.options.names_outside != called.any_absent() {
            Arc::make_mut(&mut self.calls.classes.surroundings).options.names_outside = called.any_absent();
        }
    }

    /// Whether absent classes are named, in the world where unknown classes may exist only then.
    fn names_absent(&self) -> bool {
        match self.calls.options.world {
            WorldKind::Open | WorldKind::Closed => false,
            WorldKind::Declared => {
                self.calls.classes.surroundings.options.names_outside
                    || self.calls.classes.hierarchy.has_absent_supertype()
            }
        }
    }

    /// Finds again what asking a loader of the program runs. Where there is one now and was none, or the other way round, all
    /// code outside the platform is looked at again.
    pub(super) fn follow_loaders(&mut self) {
        let now = find_loading(self.calls);
        if now == self.calls.loading {
            return;
        }
        self.touched.reads.insert(Read::Loading);
        let is_there = now.is_some();
        let was_there = std::mem::replace(&mut self.calls.loading, now).is_some();
        if is_there {
            self.stale.node(Node::Loading);
        } else {
            self.stale.gone(Node::Loading);
        }
        if is_there == was_there {
            return;
        }
        self.touched.all = true;
        let hierarchy = Arc::clone(&self.calls.classes.hierarchy);
        for class in hierarchy.ids().filter(|it| !hierarchy.is_vacant(*it)) {
            if hierarchy.role(class) != Role::Jdk {
                self.look_at_methods(class);
                self.stale.node(Node::Initializer(class));
                continue;
            }
            let loads = |it: &MethodId| {
                declared(&hierarchy, *it).flags.is_native()
                    && self.calls.native(*it).is_some_and(Native::loads)
            };
            self.stale.methods.extend(self.calls.classes.methods_of(class).filter(loads));
        }
    }

    /// What the program makes at run time.
    fn made_now(&self) -> RuntimeObjects {
        let classes = makers().flat_map(|it| self.index.mentions.of(it));
        let classes = classes.filter(|it| self.calls.classes.hierarchy.role(**it) != Role::Jdk);
        let codes = classes.flat_map(|&class| {
            self.calls.classes.methods_of(class).filter_map(|it| Some((it, self.calls.classes.code(it)?)))
        });
        made_by(codes)
    }

    /// Gives the sets a place for every throwable type that there is or that is named, and for no other; no if they have to
    /// be made anew. Code is looked at again that names one which is otherwise than before.
    fn sets_follow(&mut self, unknown: UnknownTypes) -> bool {
        let mut classes = std::mem::take(&mut self.stale.types);
        classes.extend(self.index.mentions.take_touched());
        let hierarchy = Arc::clone(&self.calls.classes.hierarchy);
        let mentions = &self.index.mentions;
        let how =
            Follow { hierarchy: &hierarchy, unknown, is_named: &|it| !mentions.throwing(it).is_empty() };
        let universe = &mut self.ex.universe;
        let others = match follow(universe, &how, classes.into_iter()) {
            Followed::Same => return true,
            Followed::Others(it) => it,
            Followed::Refused => return false,
        };
        // What sets are made of by name may be otherwise, though they are the same sets.
        self.touched.all = true;
        if self.calls.loading.is_some() {
            // What comes out of it goes through a function that tells types apart.
            self.stale.node(Node::Loading);
        }
        let Some(functions) = self.ex.functions_changed() else { return false };
        self.following.solver.functions_changed(functions.iter().copied());
        let naming = others.gone.iter().flat_map(|it| mentions.throwing(*it));
        let if_types = others.gone.iter().chain(&others.come).flat_map(|it| mentions.if_type(*it));
        let mut naming: Vec<ClassId> = naming.chain(if_types).copied().collect();
        naming.sort_unstable();
        naming.dedup();
        self.look_at_throwing(&naming);
        true
    }

    /// Makes what is made of throwable types stale that these classes name.
    fn look_at_throwing(&mut self, naming: &[ClassId]) {
        for &class in naming {
            self.look_at_methods(class);
        }
        if naming.is_empty() {
            return;
        }
        // Proxies let out what their methods declare; under `--assume contract` so do unknown overriding methods.
        let declares = |it: MethodId| naming.binary_search(&it.class).is_ok();
        for (i, dispatch) in (0..).map(DispatchId::from_index).zip(self.calls.dispatches.all()) {
            let is_of_clause = dispatch.handlers.is_some() || self.calls.options.assume_contract;
            if is_of_clause && dispatch.resolved().is_some_and(declares) {
                self.stale.node(Node::Dispatch(i));
            }
        }
    }

    /// Whether nothing but inclusions of methods changes with the code of a class.
    fn code_stays(&self, class: ClassId, now: &ClassSummary) -> bool {
        let Some(before) = self.calls.classes.summaries.get(class.index()) else { return false };
        before.methods.len() == now.methods.len()
            && before.methods.iter().zip(&now.methods).enumerate().all(|(i, (before, now))| {
                let id = MethodId::new(class, i);
                match (before, now) {
                    _ if before == now || self.calls.classes.ghost(id).is_some() => true,
                    (MethodSummary::Known(before), MethodSummary::Known(now)) => {
                        self.method_stays(id, before, now)
                    }
                    (
                        MethodSummary::Known(_)
                        | MethodSummary::None
                        | MethodSummary::Missing
                        | MethodSummary::Unread,
                        _,
                    ) => false,
                }
            })
    }

    fn method_stays(&self, id: MethodId, before: &CodeSummary, now: &CodeSummary) -> bool {
        let is_constructor = declared(&self.calls.classes.hierarchy, id).name.bytes() == b"<init>";
        let functions = |it: &CodeSummary| -> Vec<Option<Function>> {
            it.dynamics.iter().map(|it| it.function.clone()).collect()
        };
        functions(before) == functions(now) && (!is_constructor || same_on_this(before, now))
    }

    /// Sets the code of a class of which [`Intake::code_stays`] holds.
    fn change_code(&mut self, class: ClassId, now: &Arc<ClassSummary>) {
        let before = Arc::clone(&self.calls.classes.summaries[class.index()]);
        Arc::make_mut(&mut self.calls.classes.summaries)[class.index()] = Arc::clone(now);
        self.touched.classes.insert(self.calls.classes.hierarchy.name(class));
        if self.calls.options.link_errors {
            // Linking resolves what the rows of its code name.
            self.stale.node(Node::Initializer(class));
        }
        for (i, (before, now)) in before.methods.iter().zip(&now.methods).enumerate() {
            let (MethodSummary::Known(before), MethodSummary::Known(now)) = (before, now) else { continue };
            let id = MethodId::new(class, i);
            if before == now || self.calls.classes.ghost(id).is_some() {
                continue;
            }
            forget_initialized(self.calls, before);
            ask_code(self.calls, id.class, now);
            let (n, gone) = (now.summary.rethrowing.len() as u32, before.summary.rethrowing.len() as u32);
            (n..gone).for_each(|it| self.stale.gone(Node::Handler(id, it)));
            self.look_again(id, now);
        }
    }

    /// Makes the nodes of a class's methods stale.
    pub(super) fn look_at_methods(&mut self, class: ClassId) {
        let classes = self.calls.classes.clone();
        for id in classes.methods_of(class) {
            match classes.code(id) {
                Some(code) => self.look_again(id, code),
                None => {
                    self.touched.classes.insert(classes.hierarchy.name(class));
                    self.stale.methods.insert(id);
                }
            }
        }
    }

    /// Makes a method's nodes stale, and those that its code is the first to ask for.
    fn look_again(&mut self, id: MethodId, code: &CodeSummary) {
        self.touched.classes.insert(self.calls.classes.hierarchy.name(id.class));
        self.stale.methods.insert(id);
        let constructions = self.index.constructions.get(&id.class).into_iter().flatten();
        let own = constructions.filter(|it| it.0 == id);
        self.stale.nodes(own.map(|it| Node::Constructing(it.0, it.1)));
        for (constructor, class) in of_code(self.calls, id.class, code) {
            let node = Node::Constructing(constructor, class);
            if self.nodes.find(node).is_none() {
                self.nodes.add(node);
                self.index.construction(constructor, class);
                self.stale.node(node);
            }
        }
    }
}

/// What it takes to look at all that a class names, in steps of [`Fuel`], about.
fn cost_of_look(summary: &ClassSummary) -> u32 {
    let items = |it: &MethodSummary| match it {
        MethodSummary::Known(code) => 1 + code.summary.items.len(),
        MethodSummary::None | MethodSummary::Missing | MethodSummary::Unread => 1,
    };
    summary.methods.iter().map(items).sum::<usize>() as u32
}

/// The function objects that are there.
pub(super) fn present<'a>(index: &'a EditIndex, sites: &'a [FunctionSite]) -> Functions<'a> {
    Functions { sites, gone: &index.gone_functions }
}
