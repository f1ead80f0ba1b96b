//! Why a method lets something out, and why a call may go somewhere: the chain of facts behind an answer.

use bir::body::{CallKind, InstrId};
use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::summary::Sources;
use flow::universe::{Part, SetId};
use program::hierarchy::{ClassId, Link};
use program::members::MethodId;

use super::answers::{Call, CallWord, Origin, Step, open_parts};
use super::chain::origin_of;
use super::dispatch::{Site, Target};
use super::flows::Flow;
use super::lattice::{Exceptions, Value};
use super::loading::Resolving;
use super::members::{declared, find_method};
use super::nodes::Node;
use super::program::{WholeProgram, load_class};
use crate::names::{MethodId as MethodName, Text};
use crate::parts::MethodCode;
use crate::summary::MethodSummary;

/// One way on which something comes out of a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Way {
    /// What comes out; none for the open part.
    pub what: Option<Part>,
    /// The classes and cones that the open part is within; `Throwable` when it may be anything but some.
    pub within: Vec<Part>,
    /// The classes and cones that cannot be among it.
    pub except: Vec<Part>,
    /// The steps, from the method to where it arises.
    pub steps: Vec<WayStep>,
}

/// A step of a way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WayStep {
    /// What it is.
    pub step: Step,
    /// For a method whose code was given: the instruction from which the way goes on.
    pub instr: Option<(MethodName, InstrId)>,
}

/// Why a receiver selects a method.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Receiver {
    /// A class whose objects select it.
    pub class: Text,
    /// The chain of supertypes from that class to the one that the call names, both included; it ends earlier, with an
    /// absent class, if only that may lie below it.
    pub chain: Vec<Text>,
}

/// Whose objects decide where a call goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Selector {
    /// The receivers of a call of this method, as the instruction names it.
    Receivers(MethodName),
    /// The class loaders that are asked for a class.
    Loaders,
}

impl Selector {
    /// Whose objects decide where the call goes; none of an initialisation.
    pub fn of(call: &Call) -> Option<Selector> {
        match (call.declared, call.kind) {
            (Some(declared), _) => Some(Selector::Receivers(declared)),
            (None, CallWord::Load) => Some(Selector::Loaders),
            (None, _) => None,
        }
    }
}

/// Gives the code of methods.
pub trait Bodies {
    /// The body of a method and its facts, if its class can be read.
    fn code(&mut self, method: MethodName) -> Option<std::sync::Arc<MethodCode>>;
}

impl WholeProgram {
    /// Why a method lets out what it does: one way for each known part (or for `only` what is below that class), and one
    /// for the open part.
    pub fn ways(
        &self,
        ex: &mut Exceptions,
        bodies: &mut dyn Bodies,
        id: MethodId,
        only: Option<Text>,
    ) -> Vec<Way> {
        self.ways_of(ex, bodies, &[], Node::Method(id), only)
    }

    /// Why some instructions of a method, in order, raise what they do, before the rows around them.
    pub fn ways_at(
        &self,
        ex: &mut Exceptions,
        bodies: &mut dyn Bodies,
        id: MethodId,
        instrs: &[InstrId],
        only: Option<Text>,
    ) -> Vec<Way> {
        let mut acc: Vec<Way> = Vec::new();
        // The instructions of a ghost's stub are not its code.
        if self.program.ghost(id).is_some() {
            return acc;
        }
        let MethodSummary::Known(summary) = self.program.summary(id) else { return acc };
        let name = self.name(id);
        let Some(code) = bodies.code(name) else { return acc };
        let mut walk = Sources::new(&code.body, &code.facts);
        let resolving = Resolving::new(self, id.class, &code.body);
        let (mut sources, mut flows) = (Vec::new(), Vec::new());
        for &instr in instrs {
            sources.clear();
            walk.at(instr, |it| sources.push(it));
            let first = [WayStep { step: Step::Method(name), instr: Some((name, instr)) }];
            for &source in &sources {
                self.flows_of(ex, (id, None), summary, source, &mut flows);
                for flow in flows.drain(..) {
                    acc.extend(self.ways_of_flow(ex, bodies, &first, (flow, origin_of(source)), only));
                }
            }
            let resolves = resolving.at(instr, &sources);
            self.resolving_flows(ex, resolves, &mut flows);
            for flow in flows.drain(..) {
                acc.extend(self.ways_of_flow(ex, bodies, &first, (flow, Origin::Linking), only));
            }
        }
        if self.options.async_errors {
            let value = self.async_errors(ex);
            acc.extend(self.ways_through(ex, value, only, |_, _, _, _| {
                vec![WayStep { step: Step::Raised(Origin::Vm), instr: None }]
            }));
        }
        let mut seen = Vec::new();
        acc.retain(|it| {
            let key = (it.what, it.within.clone(), it.except.clone());
            let is_new = !seen.contains(&key);
            seen.push(key);
            is_new
        });
        acc
    }

    fn ways_of_flow(
        &self,
        ex: &mut Exceptions,
        bodies: &mut dyn Bodies,
        first: &[WayStep],
        (flow, origin): (Flow, Origin),
        only: Option<Text>,
    ) -> Vec<Way> {
        let (value, cause) = match flow {
            Flow::Node(node) => return self.ways_of(ex, bodies, first, node, only),
            Flow::Through(node, function) => {
                let value_of = self.value(node);
                let value = ex.through(function, value_of);
                return self.ways_through(ex, value, only, |whole, ex, set, open| {
                    let want = ex.needed(function, set);
                    let want = ex.universe.meet(want, if open { value_of.open } else { value_of.known });
                    whole.way(ex, bodies, first, node, want, open)
                });
            }
            Flow::Value(value, cause) => (value, cause),
            Flow::Wrapped(value, cause) => (value, Some(cause)),
        };
        self.ways_through(ex, value, only, |whole, _, _, open| {
            let why = cause.filter(|_| open).and_then(|it| whole.why(it));
            let end = why.map_or(Step::Raised(origin), Step::Open);
            first.iter().cloned().chain([WayStep { step: end, instr: None }]).collect()
        })
    }

    /// The ways on which things come out of a node, each behind some first steps.
    fn ways_of(
        &self,
        ex: &mut Exceptions,
        bodies: &mut dyn Bodies,
        first: &[WayStep],
        node: Node,
        only: Option<Text>,
    ) -> Vec<Way> {
        self.ways_through(ex, self.value(node), only, |whole, ex, set, open| {
            whole.way(ex, bodies, first, node, set, open)
        })
    }

    /// One way for each known part of a value and one for its open part.
    fn ways_through(
        &self,
        ex: &mut Exceptions,
        value: Value,
        only: Option<Text>,
        mut way: impl FnMut(&Self, &mut Exceptions, SetId, bool) -> Vec<WayStep>,
    ) -> Vec<Way> {
        let class = only.map(|it| ClassName::new(it.0));
        // A class that nobody knows may be below any cone.
        let is_unknown = class.is_some_and(|it| ex.universe.type_of(it).is_none());
        let wanted = match class.filter(|_| !is_unknown) {
            Some(class) => ex.universe.cone(class),
            None => ex.universe.all(),
        };
        let known = ex.universe.meet(value.known, wanted);
        let mut acc = Vec::new();
        for part in ex.universe.parts(known).into_iter().filter(|it| it.cone || !is_unknown) {
            // Many things may raise some subclass; of interest is what may raise the class itself.
            let exact = ex.universe.exact(part.class);
            let set = match ex.universe.meet(exact, known) {
                SetId::EMPTY => {
                    let cone = ex.universe.cone(part.class);
                    ex.universe.meet(cone, known)
                }
                set => set,
            };
            let steps = way(self, ex, set, false);
            acc.push(Way { what: Some(part), within: Vec::new(), except: Vec::new(), steps });
        }
        let open = ex.universe.meet(value.open, wanted);
        if !ex.universe.is_nothing(open) {
            let (within, except) = open_parts(ex, open);
            let steps = way(self, ex, open, true);
            acc.push(Way { what: None, within, except, steps });
        }
        acc
    }

    fn way(
        &self,
        ex: &mut Exceptions,
        bodies: &mut dyn Bodies,
        first: &[WayStep],
        from: Node,
        set: SetId,
        open: bool,
    ) -> Vec<WayStep> {
        let (path, want) = self.path(ex, from, set, open);
        let steps = self.steps(ex, &path, want, open);
        let mut acc = first.to_vec();
        for (i, step) in steps.into_iter().enumerate() {
            let instr = match path.get(i) {
                Some(
                    &node @ (Node::Method(method) | Node::Handler(method, _) | Node::Constructing(method, _)),
                ) => {
                    let exact = match node {
                        Node::Constructing(_, class) => Some(class),
                        _ => None,
                    };
                    let next = path.get(i + 1).copied();
                    self.instruction(ex, bodies, (method, exact), next, want, open)
                }
                _ => None,
            };
            acc.push(WayStep { step, instr });
        }
        acc
    }

    /// The first instruction of a method from which a node flows out, or, without one, something of a set.
    fn instruction(
        &self,
        ex: &mut Exceptions,
        bodies: &mut dyn Bodies,
        (id, exact): (MethodId, Option<ClassId>),
        next: Option<Node>,
        want: SetId,
        open: bool,
    ) -> Option<(MethodName, InstrId)> {
        let MethodSummary::Known(summary) = self.program.summary(id) else { return None };
        let name = self.name(id);
        let code = bodies.code(name)?;
        let mut walk = Sources::new(&code.body, &code.facts);
        let resolving = Resolving::new(self, id.class, &code.body);
        let mut sources = Vec::new();
        for (instr, _) in code.body.instrs.iter() {
            sources.clear();
            walk.at(instr, |it| sources.push(it));
            let fits = |flow: Flow, ex: &Exceptions| match (flow, next) {
                (Flow::Node(of) | Flow::Through(of, _), Some(next)) => of == next,
                (Flow::Value(value, _) | Flow::Wrapped(value, _), None) => {
                    ex.universe.overlaps(value.half(open), want)
                }
                _ => false,
            };
            let mut flows = Vec::new();
            for &source in &sources {
                self.flows_of(ex, (id, exact), summary, source, &mut flows);
            }
            let resolves = resolving.at(instr, &sources);
            self.resolving_flows(ex, resolves, &mut flows);
            if flows.into_iter().any(|it| fits(it, ex)) {
                return Some((name, instr));
            }
        }
        None
    }

    /// The classes whose objects select a target of a call of `caller`, each with its chain; at most `limit`.
    pub fn selecting(
        &self,
        caller: MethodId,
        selector: Selector,
        target: MethodId,
        limit: usize,
    ) -> Vec<Receiver> {
        match selector {
            Selector::Receivers(by) => self.receivers(caller, by, target, limit),
            Selector::Loaders => self.loaders(target, limit),
        }
    }

    /// The receivers for which a virtual call of `caller` by these names goes to a method, each with its chain; at most
    /// `limit`.
    fn receivers(&self, caller: MethodId, by: MethodName, target: MethodId, limit: usize) -> Vec<Receiver> {
        let descriptor = Descriptor::new(by.descriptor.0);
        let names = MethodRef::new(ClassName::new(by.class.0), Name::new(by.name.0), descriptor);
        let sites = [CallKind::Virtual, CallKind::Interface]
            .map(|kind| self.dispatches.known_site(caller.class, kind, names));
        let Some(Site::Dispatch(id)) = sites.into_iter().flatten().next() else { return Vec::new() };
        let dispatch = self.dispatches.get(id);
        let listed = dispatch.targets.contains(&Target::Method(target));
        let named = dispatch.method.class();
        let hierarchy = &self.program.hierarchy;
        let mut acc = Vec::new();
        let mut pending = vec![target.class];
        let mut at = 0;
        while let Some(&class) = pending.get(at) {
            at += 1;
            let outline = hierarchy.outline(class);
            if class != target.class {
                let method = declared(hierarchy, target);
                if find_method(hierarchy, class, method.name, method.descriptor).is_some() {
                    continue;
                }
            }
            pending.extend(hierarchy.children(class));
            let is_made = self.reachable.as_ref().is_none_or(|it| it.is_made(class));
            let has_objects = is_made && !outline.flags.is_abstract() && !outline.flags.is_interface();
            if let Some(chain) = self.chain(class, named, listed).filter(|_| has_objects) {
                acc.push(Receiver { class: Text(hierarchy.name(class).bytes()), chain });
            }
            if acc.len() == limit {
                break;
            }
        }
        acc
    }

    /// The loaders of the program that select a method, at most `limit`, each with its chain.
    fn loaders(&self, method: MethodId, limit: usize) -> Vec<Receiver> {
        let hierarchy = &self.program.hierarchy;
        let listed = self.loading.as_ref().is_some_and(|it| it.targets.contains(&method));
        let named = load_class().class();
        let chains = self.own_loaders(method, limit).filter_map(|class| {
            let chain = self.chain(class, named, listed)?;
            Some(Receiver { class: Text(hierarchy.name(class).bytes()), chain })
        });
        chains.collect()
    }

    /// The shortest chain of supertypes from a class to a name. What receivers select only because of an absent class has a
    /// chain to that.
    fn chain(&self, class: ClassId, to: ClassName, known: bool) -> Option<Vec<Text>> {
        let absent = if known { None } else { self.chain_to(class, None) };
        absent.or_else(|| self.chain_to(class, Some(to)))
    }

    /// The shortest chain from a class to a name, or without one to an absent class.
    fn chain_to(&self, class: ClassId, to: Option<ClassName>) -> Option<Vec<Text>> {
        let hierarchy = &self.program.hierarchy;
        let mut queue: Vec<(Link, usize)> = vec![(Link::Present(class), usize::MAX)];
        let mut at = 0;
        while let Some(&(link, _)) = queue.get(at) {
            let name = match link {
                Link::Present(it) => hierarchy.name(it),
                Link::Outside(it) => it,
            };
            let outside = matches!(link, Link::Outside(_)) && name.bytes() != b"java/lang/Object";
            if Some(name) == to || (to.is_none() && outside) {
                let mut chain = Vec::new();
                while let Some(&(link, from)) = queue.get(at) {
                    chain.push(Text(match link {
                        Link::Present(it) => hierarchy.name(it).bytes(),
                        Link::Outside(it) => it.bytes(),
                    }));
                    at = from;
                }
                chain.reverse();
                return Some(chain);
            }
            if let Link::Present(it) = link {
                let above =
                    hierarchy.super_class(it).into_iter().chain(hierarchy.interfaces(it).iter().copied());
                for link in above {
                    if queue.iter().all(|it| it.0 != link) {
                        queue.push((link, at));
                    }
                }
            }
            at += 1;
        }
        None
    }
}
