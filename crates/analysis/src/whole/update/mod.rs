//! A solved program after classes have changed: what is known of it is changed with them, not made anew.
//!
//! Most edits change what a method calls and raises, and nothing that others see of its class. Then the hierarchy and the
//! targets of dispatches stay, and only the inclusions of the changed methods are others. A class that goes, comes, or
//! changes in what others see takes a new place in the hierarchy ([`classes`]): with it change what is below it, what calls
//! mean that name one of these, and what its supertypes' dispatches select. [`flow::incremental`] brings the solution up to
//! date. An edit that may change more is refused ([`WholeProgram::update`] gives `false`), and the program is to be made from
//! scratch. Where calls go only to receivers that reached code makes, what is reached is searched again from nothing
//! ([`reached`]). The result is what making all from scratch gives: a least solution is a function of its system.

mod classes;
mod reached;

use std::cmp::Reverse;
use std::sync::Arc;

use flow::distances::Moved;
use flow::fuel::{Cancelled, Fuel};
use flow::functional::Function;
use flow::incremental::Incremental;
use flow::solver::NodeId;
use flow::summary::Source;
use flow::universe::Universe;
use program::hierarchy::ClassId;
use program::input::{Role, WorldKind};
use program::members::MethodId;

use super::dispatch::{FunctionSite, Functions};
use super::edits::called::CalledClasses;
use super::edits::mentions::Named;
use super::edits::{ClassChange, Edits, Made, Stale};
use super::ids::{DispatchId, FunctionSiteId};
use super::lattice::{Exceptions, Value};
use super::members::{declared, method_id};
use super::nearness::Nearness;
use super::nodes::Node;
use super::program::{Inclusions, WholeProgram};
use super::proxies::makers;
use super::reads::Read;
use super::throwables::{Follow, Followed, UnknownTypes, follow};
use super::{constructing, system};
use crate::summary::{ClassSummary, CodeSummary, MethodSummary};

/// For so many new nodes there is room before anything is moved.
const ROOM: usize = 1 << 14;

/// Inclusions of methods are found again together until that takes about so many steps of [`Fuel`].
const AT_ONCE: u32 = 2_048;

impl WholeProgram {
    /// Makes what [`WholeProgram::update`] works on, so that the first change does not wait for it.
    ///
    /// # Errors
    /// When the work is not wanted any more. What was done is kept where that can be; no answer changes.
    pub fn keep_current(&mut self, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
        if !self.is_updatable() {
            return Ok(());
        }
        if self.edits.is_none() {
            let edits = self.all_edits(fuel)?;
            let functions = std::mem::take(&mut self.functions);
            let done = self.dispatches.keep(present(&edits, &functions), fuel);
            self.functions = functions;
            done?;
            self.edits = Some(Box::new(edits));
        }
        if self.kept.is_some() || self.solution.is_none() {
            return Ok(());
        }
        let mut kept = match self.preparing.take() {
            Some(it) => it,
            None => self.unsolved(fuel)?,
        };
        if let Err(cancelled) = kept.solve(&mut self.exceptions, &mut || fuel.is_cancelled()) {
            self.preparing = Some(kept);
            return Err(cancelled);
        }
        // Those of before are the ones that it has now.
        kept.take_changed();
        kept.reserve(ROOM);
        self.nearness = Nearness::kept(&kept);
        self.kept = Some(kept);
        Ok(())
    }

    /// The system, to be changed.
    fn unsolved(&self, fuel: &mut Fuel<'_>) -> Result<Incremental<Value>, Cancelled> {
        let mut acc = Incremental::new(Value::NOTHING);
        let nodes: Vec<NodeId> = self.system.values.iter().map(|_| acc.add()).collect();
        for node in nodes {
            let (value, edges) = self.inclusions(node);
            fuel.spend(2 + edges.len() as u32)?;
            acc.update(node, value, edges.iter().copied());
        }
        Ok(acc)
    }

    fn all_edits(&self, fuel: &mut Fuel<'_>) -> Result<Edits, Cancelled> {
        let mut acc = Edits { lists: self.program.hierarchy.lists(), ..Edits::default() };
        fuel.ask()?;
        for (class, summary) in self.program.hierarchy.ids().zip(&*self.program.summaries) {
            fuel.spend(cost_of_look(summary))?;
            let named = Named::by(self.program.hierarchy.outline(class), summary);
            acc.mentions.set(class, Some(named));
        }
        acc.mentions.take_touched();
        for (i, it) in (0..).map(FunctionSiteId).zip(&self.functions) {
            acc.functions.entry(it.owner.class).or_default().push(i);
        }
        for (constructor, class) in self.nodes.constructions() {
            acc.construction(constructor, class);
        }
        if self.options.world != WorldKind::Open {
            acc.made = self.made_at_run_time(fuel)?;
        }
        if self.options.world == WorldKind::Declared {
            let mut called = CalledClasses::default();
            for (class, summary) in self.program.hierarchy.ids().zip(&*self.program.summaries) {
                fuel.spend(cost_of_look(summary))?;
                called.set(self.program.hierarchy.name(class), Some(summary));
            }
            acc.called = Some(called);
        }
        Ok(acc)
    }

    /// Whether changes can be taken in at all.
    fn is_updatable(&self) -> bool {
        // Who asks alone may have the sets just now.
        self.solution.is_none() || !self.exceptions.universe.is_empty()
    }

    /// Takes in what became of some classes, each once; after [`WholeProgram::keep_current`], and before
    /// [`WholeProgram::reach_again`] and [`WholeProgram::settle`]. `false` if more may change by it than can be found from them:
    /// then the program is to be made from scratch, and this one is of no use any more.
    pub fn update(&mut self, changes: Vec<ClassChange>) -> bool {
        if !self.is_updatable() || self.solution.is_some() && self.kept.is_none() {
            return false;
        }
        let Some(mut edits) = self.edits.take() else { return false };
        let mut stale = self.stale.take().unwrap_or_default();
        stale.is_unsearched = self.reachable.is_some();
        let done = self.take_in(changes, &mut edits, &mut stale);
        self.edits = Some(edits);
        self.stale = Some(stale);
        done
    }

    /// Whether the solution is that of the program as it is.
    pub fn is_settled(&self) -> bool {
        self.stale.is_none()
    }

    /// Lets the solution follow what was taken in.
    ///
    /// # Errors
    /// When the work is not wanted any more. What was done is kept, and the next call goes on, also after further updates.
    pub fn settle(&mut self, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
        let Some(mut stale) = self.stale.take() else { return Ok(()) };
        debug_assert!(!stale.is_unsearched, "what is reached decides where calls go");
        let Some(mut kept) = self.kept.take() else { return Ok(()) };
        let nothing = Exceptions::new(Universe::new(&[]));
        let mut exceptions = std::mem::replace(&mut self.exceptions, nothing);
        let done = self.solve_again(&mut stale, &mut kept, &mut exceptions, fuel);
        (self.exceptions, self.kept) = (exceptions, Some(kept));
        if done.is_err() {
            self.stale = Some(stale);
        }
        done
    }

    fn take_in(&mut self, changes: Vec<ClassChange>, edits: &mut Edits, stale: &mut Stale) -> bool {
        let universe = &self.exceptions.universe;
        let unknown = UnknownTypes::of_universe(self.options.world, &self.program.hierarchy, universe);
        let names_absent = self.names_absent();
        self.follow_calls(&changes, edits);
        let mut moving = Vec::new();
        for change in changes {
            match &change {
                ClassChange { class: Some(class), now: Some((outline, summary, role)) }
                    if self.program.hierarchy.outline(*class) == outline
                        && self.program.hierarchy.role(*class) == *role
                        && self.code_stays(*class, summary) =>
                {
                    edits.mentions.set(*class, Some(Named::by(outline, summary)));
                    self.change_code(*class, summary, stale, edits);
                }
                _ => moving.push(change),
            }
        }
        if !moving.is_empty() && !self.move_classes(&moving, edits, stale) {
            return false;
        }
        if self.names_absent() != names_absent {
            // What may be below any class at all is different.
            return false;
        }
        if stale.is_unsearched {
            self.ask_upcalls();
        }
        if self.dispatches.has_fresh() {
            let functions = std::mem::take(&mut self.functions);
            self.dispatches.offer_fresh_to_functions(present(edits, &functions));
            self.functions = functions;
        }
        let causes = self.dispatches.unsettled_causes();
        let mut touched = self.dispatches.settle();
        if self.options.world != WorldKind::Open {
            let made = self.made_now(edits);
            if made == edits.made {
                self.mark_some(made, &touched);
            } else {
                let marked = self.mark_again(made);
                self.touched.reads.extend(marked.iter().copied().map(Read::Cause));
                touched.extend(marked);
                edits.made = made;
            }
        }
        let others = causes.into_iter().filter(|it| self.dispatches.cause_of(it.0) != it.1);
        self.touched.reads.extend(others.map(|it| Read::Cause(it.0)));
        self.touched.reads.extend(touched.iter().copied().map(Read::Dispatch));
        if stale.is_unsearched {
            stale.unnarrowed.extend(&touched);
        } else {
            self.follow_loaders(edits, stale);
        }
        stale.nodes(touched.into_iter().map(Node::Dispatch));
        self.sets_follow(unknown, edits, stale)
    }

    /// Notes whether code calls methods of absent classes, in the world where that matters.
    fn follow_calls(&mut self, changes: &[ClassChange], edits: &mut Edits) {
        let Some(called) = &mut edits.called else { return };
        called.change(&self.program.hierarchy, changes);
        if self.program.surroundings.options.names_outside != called.any_absent() {
            Arc::make_mut(&mut self.program.surroundings).options.names_outside = called.any_absent();
        }
    }

    /// Whether absent classes are named, in the world where unknown classes may exist only then.
    fn names_absent(&self) -> bool {
        match self.options.world {
            WorldKind::Open | WorldKind::Closed => false,
            WorldKind::Declared => {
                self.program.surroundings.options.names_outside
                    || self.program.hierarchy.has_absent_supertype()
            }
        }
    }

    /// Finds again what asking a loader of the program runs. Where there is one now and was none, or the other way round, all
    /// code outside the platform is looked at again.
    fn follow_loaders(&mut self, edits: &mut Edits, stale: &mut Stale) {
        let now = self.find_loading();
        if now == self.loading {
            return;
        }
        self.touched.reads.insert(Read::Loading);
        let is_there = now.is_some();
        let was_there = std::mem::replace(&mut self.loading, now).is_some();
        if is_there {
            stale.node(Node::Loading);
        } else {
            stale.gone(Node::Loading);
        }
        if is_there == was_there {
            return;
        }
        self.touched.all = true;
        let hierarchy = Arc::clone(&self.program.hierarchy);
        for class in hierarchy.ids().filter(|it| !hierarchy.is_vacant(*it)) {
            if hierarchy.role(class) != Role::Jdk {
                self.look_at_methods(class, stale, edits);
                stale.node(Node::Initializer(class));
                continue;
            }
            let loads = |it: &MethodId| declared(&hierarchy, *it).flags.is_native() && self.native_loads(*it);
            stale.methods.extend(self.program.methods_of(class).filter(loads));
        }
    }

    /// What the program makes at run time.
    fn made_now(&self, edits: &Edits) -> Made {
        let classes = makers().flat_map(|it| edits.mentions.of(it));
        let classes = classes.filter(|it| self.program.hierarchy.role(**it) != Role::Jdk);
        let codes = classes.flat_map(|&class| {
            self.program.methods_of(class).filter_map(|it| Some((it, self.program.code(it)?)))
        });
        Self::made_by(codes)
    }

    /// Gives the sets a place for every throwable type that there is or that is named, and for no other; no if they have to
    /// be made anew. Code is looked at again that names one which is otherwise than before.
    fn sets_follow(&mut self, unknown: UnknownTypes, edits: &mut Edits, stale: &mut Stale) -> bool {
        let mut classes = std::mem::take(&mut stale.types);
        classes.extend(edits.mentions.take_touched());
        if self.solution.is_none() {
            return true;
        }
        let hierarchy = Arc::clone(&self.program.hierarchy);
        let mentions = &edits.mentions;
        let how =
            Follow { hierarchy: &hierarchy, unknown, is_named: &|it| !mentions.throwing(it).is_empty() };
        let universe = &mut self.exceptions.universe;
        let others = match follow(universe, &how, classes.into_iter()) {
            Followed::Same => return true,
            Followed::Others(it) => it,
            Followed::Refused => return false,
        };
        // What sets are made of by name may be otherwise, though they are the same sets.
        self.touched.all = true;
        if self.loading.is_some() {
            // What comes out of it goes through a function that tells types apart.
            stale.node(Node::Loading);
        }
        let Some(functions) = self.exceptions.functions_changed() else { return false };
        self.kept.iter_mut().for_each(|it| it.functions_changed(functions.iter().copied()));
        let naming = others.gone.iter().flat_map(|it| mentions.throwing(*it));
        let if_types = others.gone.iter().chain(&others.come).flat_map(|it| mentions.if_type(*it));
        let mut naming: Vec<ClassId> = naming.chain(if_types).copied().collect();
        naming.sort_unstable();
        naming.dedup();
        self.look_at_throwing(&naming, edits, stale);
        true
    }

    /// Makes what is made of throwable types stale that these classes name.
    fn look_at_throwing(&mut self, naming: &[ClassId], edits: &mut Edits, stale: &mut Stale) {
        for &class in naming {
            self.look_at_methods(class, stale, edits);
        }
        if naming.is_empty() {
            return;
        }
        // Proxies let out what their methods declare; under `--assume contract` so do unknown overriding methods.
        let declares = |it: MethodId| naming.binary_search(&it.class).is_ok();
        for (i, dispatch) in (0..).map(DispatchId).zip(self.dispatches.all()) {
            let is_of_clause = dispatch.handlers.is_some() || self.options.assume_contract;
            if is_of_clause && dispatch.resolved().is_some_and(declares) {
                stale.node(Node::Dispatch(i));
            }
        }
    }

    /// Whether nothing but inclusions of methods changes with the code of a class.
    fn code_stays(&self, class: ClassId, now: &ClassSummary) -> bool {
        let Some(before) = self.program.summaries.get(class.index()) else { return false };
        before.methods.len() == now.methods.len()
            && before.methods.iter().zip(&now.methods).enumerate().all(|(i, (before, now))| {
                let id = method_id(class, i);
                match (before, now) {
                    _ if before == now || self.program.ghost(id).is_some() => true,
                    (MethodSummary::Known(before), MethodSummary::Known(now)) => {
                        self.method_stays(id, before, now)
                    }
                    _ => false,
                }
            })
    }

    fn method_stays(&self, id: MethodId, before: &CodeSummary, now: &CodeSummary) -> bool {
        let is_constructor = declared(&self.program.hierarchy, id).name.bytes() == b"<init>";
        let functions = |it: &CodeSummary| -> Vec<Option<Function>> {
            it.dynamics.iter().map(|it| it.function.clone()).collect()
        };
        functions(before) == functions(now)
            && (!is_constructor || constructing::same_on_this(&before.summary, &now.summary))
    }

    /// Sets the code of a class of which [`WholeProgram::code_stays`] holds.
    fn change_code(&mut self, class: ClassId, now: &Arc<ClassSummary>, stale: &mut Stale, edits: &mut Edits) {
        let before = Arc::clone(&self.program.summaries[class.index()]);
        Arc::make_mut(&mut self.program.summaries)[class.index()] = Arc::clone(now);
        self.touched.classes.insert(self.program.hierarchy.name(class));
        if self.options.link_errors {
            // Linking resolves what the rows of its code name.
            stale.node(Node::Initializer(class));
        }
        for (i, (before, now)) in before.methods.iter().zip(&now.methods).enumerate() {
            let (MethodSummary::Known(before), MethodSummary::Known(now)) = (before, now) else { continue };
            let id = method_id(class, i);
            if before == now || self.program.ghost(id).is_some() {
                continue;
            }
            self.forget_initialized(before);
            self.ask_code(id, now);
            let (n, gone) = (now.summary.rethrowing.len() as u32, before.summary.rethrowing.len() as u32);
            (n..gone).for_each(|it| stale.gone(Node::Handler(id, it)));
            self.look_again(id, now, stale, edits);
        }
    }

    /// Forgets what the accesses of some code initialise: while nobody has it, nobody keeps it up to date. Others that have the
    /// same look it up each time.
    fn forget_initialized(&mut self, code: &CodeSummary) {
        for item in &code.summary.items {
            if let Source::Initialize(what) = item.source {
                self.initialized.remove(&what);
            }
        }
    }

    /// Makes the nodes of a class's methods stale.
    fn look_at_methods(&mut self, class: ClassId, stale: &mut Stale, edits: &mut Edits) {
        if self.kept.is_none() {
            return;
        }
        let program = self.program.clone();
        for id in program.methods_of(class) {
            match program.code(id) {
                Some(code) => self.look_again(id, code, stale, edits),
                None => {
                    self.touched.classes.insert(program.hierarchy.name(class));
                    stale.methods.insert(id);
                }
            }
        }
    }

    /// Makes a method's nodes stale, and those that its code is the first to ask for.
    fn look_again(&mut self, id: MethodId, code: &CodeSummary, stale: &mut Stale, edits: &mut Edits) {
        self.touched.classes.insert(self.program.hierarchy.name(id.class));
        if self.kept.is_none() {
            return;
        }
        stale.methods.insert(id);
        let constructions = edits.constructions.get(&id.class).into_iter().flatten();
        let own = constructions.filter(|it| it.0 == id);
        stale.nodes(own.map(|it| Node::Constructing(it.0, it.1)));
        for (constructor, class) in
            constructing::of_code(&self.program, &self.dispatches, id.class, &code.summary)
        {
            let node = Node::Constructing(constructor, class);
            if self.nodes.find(node).is_none() {
                self.nodes.add(node);
                edits.construction(constructor, class);
                stale.node(node);
            }
        }
    }

    /// Finds inclusions again, and then the solution.
    fn solve_again(
        &mut self,
        stale: &mut Stale,
        kept: &mut Incremental<Value>,
        exceptions: &mut Exceptions,
        fuel: &mut Fuel<'_>,
    ) -> Result<(), Cancelled> {
        let function = |it: &Node| match *it {
            Node::Glue(it) => Some(Read::Function(it)),
            Node::Method(_) | Node::Initializer(_) | Node::Dispatch(_) | Node::Handler(..) => None,
            Node::Constructing(..) | Node::Loading => None,
        };
        self.touched.reads.extend(stale.nodes.iter().chain(&stale.gone).filter_map(function));
        // All have numbers before something flows out of one.
        stale.nodes.iter().for_each(|it| _ = self.nodes.add(*it));
        let methods: Vec<MethodId> = stale.methods.iter().copied().collect();
        for it in methods {
            self.nodes_of(it).for_each(|it| _ = self.nodes.add(it));
        }
        while kept.n_nodes() < self.nodes.len() {
            kept.add();
        }
        for node in std::mem::take(&mut stale.gone) {
            if let Some(node) = self.nodes.find(node) {
                self.include(kept, (node, (Value::NOTHING, Vec::new())));
            }
        }
        self.include_methods(stale, kept, exceptions, fuel)?;
        let mut nodes: Vec<Node> = std::mem::take(&mut stale.nodes).into_iter().collect();
        nodes.sort_by_cached_key(|it| Reverse(self.nodes.id(*it).0));
        while let Some(node) = nodes.pop() {
            if let Err(cancelled) = fuel.spend(system::cost_of_node(self, node)) {
                stale.nodes.extend(nodes);
                stale.nodes.insert(node);
                return Err(cancelled);
            }
            for it in system::inclusions(self, exceptions, &[], &[node]) {
                self.include(kept, it);
            }
        }
        kept.solve(exceptions, &mut || fuel.is_cancelled())?;
        let changed = kept.take_changed();
        self.touched.values += changed.len();
        self.touched.reads.extend(changed.iter().copied().map(Read::Value));
        let included = std::mem::take(&mut self.included);
        let moved = self.nearness.follow(kept, included.keys().copied().chain(changed));
        let others = included.into_iter().filter_map(|(node, before)| {
            let now = self.inclusions(node);
            (before.0 != now.0 || before.1 != now.1).then_some((node, before))
        });
        let others: Vec<(NodeId, Inclusions)> = others.collect();
        for (node, before) in others {
            self.touch_inclusions(node, &before, &moved);
        }
        for &node in moved.keys() {
            self.touched.reads.insert(Read::Nearest(node));
            for user in kept.users(node) {
                self.touched.reads.insert(Read::Ways(user));
                if self.nearness.was_step(&moved, user, node) || self.nearness.is_step(user, node) {
                    self.touched.reads.insert(Read::Nearest(user));
                }
            }
        }
        Ok(())
    }

    /// Notes what changed of what a node has of itself and of what flows into it. `before` is what that was, and `moved` how far
    /// nodes were that are farther or nearer now.
    fn touch_inclusions(&mut self, node: NodeId, before: &Inclusions, moved: &Moved) {
        let now = self.inclusions(node);
        let is_own_other = before.0 != now.0;
        let are_ways_others = before.1 != now.1;
        let nearest_before = before.1.iter().filter(|it| self.nearness.was_step(moved, node, it.0));
        let is_nearest_other = nearest_before.ne(now.1.iter().filter(|it| self.nearness.is_step(node, it.0)));
        let reads = &mut self.touched.reads;
        reads.extend(is_own_other.then_some(Read::Own(node)));
        reads.extend(are_ways_others.then_some(Read::Ways(node)));
        reads.extend(is_nearest_other.then_some(Read::Nearest(node)));
    }

    /// Finds the inclusions of methods again, some at a time.
    fn include_methods(
        &mut self,
        stale: &mut Stale,
        kept: &mut Incremental<Value>,
        exceptions: &mut Exceptions,
        fuel: &mut Fuel<'_>,
    ) -> Result<(), Cancelled> {
        let hierarchy = Arc::clone(&self.program.hierarchy);
        let mut left: Vec<MethodId> = std::mem::take(&mut stale.methods).into_iter().collect();
        // Those of classes that went meanwhile are among what is gone.
        left.retain(|it| !hierarchy.is_vacant(it.class));
        left.sort_unstable_by_key(|it| Reverse((it.class, it.index)));
        while !left.is_empty() {
            let (mut cost, mut methods, mut nodes) = (0, Vec::new(), Vec::new());
            while cost < AT_ONCE
                && let Some(it) = left.pop()
            {
                cost += system::cost_of_method(&self.program, it);
                nodes.extend(self.nodes_of(it));
                methods.push(it);
            }
            if let Err(cancelled) = fuel.spend(cost) {
                stale.methods.extend(left.into_iter().chain(methods));
                return Err(cancelled);
            }
            for it in system::inclusions(self, exceptions, &methods, &nodes) {
                self.include(kept, it);
            }
        }
        Ok(())
    }

    /// The nodes of a method and its handlers.
    fn nodes_of(&self, id: MethodId) -> impl Iterator<Item = Node> + use<> {
        let handlers = self.program.code(id).map_or(0, |it| it.summary.rethrowing.len() as u32);
        std::iter::once(Node::Method(id)).chain((0..handlers).map(move |it| Node::Handler(id, it)))
    }

    fn include(&mut self, kept: &mut Incremental<Value>, (node, inclusions): (NodeId, Inclusions)) {
        if !self.included.contains_key(&node) {
            let (value, edges) = self.inclusions(node);
            let before = (value, edges.to_vec());
            self.included.insert(node, before);
        }
        kept.update(node, inclusions.0, inclusions.1.iter().copied());
        self.changed.insert(node, inclusions);
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
fn present<'a>(edits: &'a Edits, sites: &'a [FunctionSite]) -> Functions<'a> {
    Functions { sites, gone: &edits.gone_functions }
}
