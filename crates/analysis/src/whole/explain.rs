//! Explains why a method or an instruction lets exceptions out: the steps from the method or instruction to the
//! origin of each exception.

use std::sync::Arc;

use bir::body::InstrId;
use classfile::names::ClassName;
use flow::universe::{Part, SetId};
use program::members::MethodId;
use program::names::{MethodName, Text};

use super::answers::{Origin, Step};
use super::chain::path;
use super::flows::{Place, async_errors, flows_of};
use super::lattice::{Exceptions, Flow, Value};
use super::origin::{origin_of, steps};
use super::resolving::{Resolving, resolving_flows};
use super::sites::{Frame, Node};
use super::solved::{Level, SolvedProgram};
use super::why::why;
use crate::parts::MethodCode;
use crate::summary::MethodSummary;

/// An explanation why a method or instruction raises certain exceptions: a path through the program, from the method
/// to the place where the exceptions arise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Way {
    /// The class or cone of the exceptions that the path explains; `None` if the path explains the open part.
    pub what: Option<Part>,
    /// The classes and cones that contain the open part; empty if the path explains known exceptions. `Throwable`
    /// means that the open part may contain every exception except those of [`Way::except`].
    pub within: Vec<Part>,
    /// The classes and cones whose exceptions cannot be in the open part; empty if `within` alone describes the open
    /// part.
    pub except: Vec<Part>,
    /// The steps of the path, from the method to the place where the exceptions arise.
    pub steps: Vec<WayStep>,
}

/// A step of the path that explains an exception, with the instruction from which the path continues.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WayStep {
    /// The step, for example a method, a virtual call, or the place where the exceptions arise.
    pub step: Step,
    /// The instruction from which the path continues, and the method that contains it. `None` if the step is not in
    /// the code of a method, or if this code is not available.
    pub instr: Option<(MethodName, InstrId)>,
}

/// Provides the bodies of methods to functions that explain exceptions.
pub trait Bodies {
    /// Returns the body of a method, with its facts; `None` if the body is not available, for example because the
    /// class cannot be read.
    fn code(&mut self, method: MethodName) -> Option<Arc<MethodCode>>;
}

/// Returns paths that explain why the method `id` lets out exceptions: one path for each known class or cone, and one
/// for the open part. If `only` is given, explains only the exceptions of this class and its subclasses.
pub fn ways(
    program: &SolvedProgram,
    ex: &mut Exceptions,
    bodies: &mut dyn Bodies,
    id: MethodId,
    only: Option<Text>,
) -> Vec<Way> {
    ways_of(program, ex, bodies, &[], Node::Method(id), only)
}

/// Returns paths that explain why the instructions `instrs` of the method `id` raise exceptions, before handlers
/// catch any: one path for each class or cone, and one for each distinct open part. The paths are in the order of
/// `instrs`. If `only` is given, explains only the exceptions of this class and its subclasses.
pub fn ways_at(
    program: &SolvedProgram,
    ex: &mut Exceptions,
    bodies: &mut dyn Bodies,
    id: MethodId,
    instrs: &[InstrId],
    only: Option<Text>,
) -> Vec<Way> {
    let mut acc: Vec<Way> = Vec::new();
    // The code in the class file of a ghost is a stub, not the code of the method.
    if program.calls.classes.ghost(id).is_some() {
        return acc;
    }
    let MethodSummary::Known(summary) = program.calls.classes.summary(id) else { return acc };
    let name = program.calls.classes.name(id);
    let Some(code) = bodies.code(name) else { return acc };
    let mut walk = program.calls.classes.sources(id, &code);
    let resolving = Resolving::new(&program.calls, id.class, &code.body);
    let (mut sources, mut flows) = (Vec::new(), Vec::new());
    for &instr in instrs {
        sources.clear();
        walk.at(instr, |it| sources.push(it));
        let first = [WayStep { step: Step::Method(name), instr: Some((name, instr)) }];
        let operands = walk.operands(instr);
        for &source in &sources {
            let place = Place::new(Frame::of(id), source, &operands);
            flows_of(program).of_source(ex, place, summary, source, &mut flows);
            for flow in flows.drain(..) {
                acc.extend(ways_of_flow(program, ex, bodies, &first, (flow, origin_of(source)), only));
            }
        }
        let resolves = resolving.at(instr, &sources);
        resolving_flows(ex, resolves, &mut flows);
        for flow in flows.drain(..) {
            acc.extend(ways_of_flow(program, ex, bodies, &first, (flow, Origin::Linking), only));
        }
    }
    if program.calls.options.async_errors {
        let value = async_errors(ex);
        acc.extend(ways_through(ex, value, only, |_, _, _| {
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
    program: &SolvedProgram,
    ex: &mut Exceptions,
    bodies: &mut dyn Bodies,
    first: &[WayStep],
    (flow, origin): (Flow, Origin),
    only: Option<Text>,
) -> Vec<Way> {
    let (value, cause) = match flow {
        Flow::Node(node) => return ways_of(program, ex, bodies, first, node, only),
        Flow::Through(node, function) => {
            let value_of = program.value(node);
            let value = ex.through(function, value_of);
            return ways_through(ex, value, only, |ex, set, open| {
                let want = ex.needed(function, set);
                let want = ex.universe.meet(want, if open { value_of.open } else { value_of.known });
                way(program, ex, bodies, first, node, want, open)
            });
        }
        Flow::Value(value, cause) => (value, cause),
        Flow::Wrapped(value, cause) => (value, Some(cause)),
    };
    ways_through(ex, value, only, |_, _, open| {
        let why = cause.filter(|_| open).and_then(|it| why(&program.calls, it));
        let end = why.map_or(Step::Raised(origin), Step::Open);
        first.iter().cloned().chain([WayStep { step: end, instr: None }]).collect()
    })
}

/// Returns paths that explain the exceptions of a node: one path for each known class or cone, and one for the open
/// part. Each path begins with the steps `first`. If `only` is given, explains only the exceptions of this class and
/// its subclasses.
fn ways_of(
    program: &SolvedProgram,
    ex: &mut Exceptions,
    bodies: &mut dyn Bodies,
    first: &[WayStep],
    node: Node,
    only: Option<Text>,
) -> Vec<Way> {
    ways_through(ex, program.value(node), only, |ex, set, open| {
        way(program, ex, bodies, first, node, set, open)
    })
}

/// Returns one path for each known class or cone of `value`, and one path for its open part. `way` receives the
/// exceptions that a path is to explain, and whether they are the open part, and returns the steps of the path. If
/// `only` is given, explains only the exceptions of this class and its subclasses.
fn ways_through(
    ex: &mut Exceptions,
    value: Value,
    only: Option<Text>,
    mut way: impl FnMut(&mut Exceptions, SetId, bool) -> Vec<WayStep>,
) -> Vec<Way> {
    let class = only.map(|it| ClassName::new(it.0));
    // A class that is not a known throwable type may be below any cone.
    let is_unknown = class.is_some_and(|it| ex.universe.type_of(it).is_none());
    let wanted = match class.filter(|_| !is_unknown) {
        Some(class) => ex.universe.cone(class),
        None => ex.universe.all(),
    };
    let known = ex.universe.meet(value.known, wanted);
    let mut acc = Vec::new();
    for part in ex.universe.parts(known).into_iter().filter(|it| it.cone || !is_unknown) {
        // The origin of exactly this class is more useful to the user than the origin of some subclass.
        let exact = ex.universe.exact(part.class);
        let set = match ex.universe.meet(exact, known) {
            SetId::EMPTY => {
                let cone = ex.universe.cone(part.class);
                ex.universe.meet(cone, known)
            }
            set => set,
        };
        let steps = way(ex, set, false);
        acc.push(Way { what: Some(part), within: Vec::new(), except: Vec::new(), steps });
    }
    let open = ex.universe.meet(value.open, wanted);
    if !ex.universe.is_nothing(open) {
        let (within, except) = ex.open_parts(open);
        let steps = way(ex, open, true);
        acc.push(Way { what: None, within, except, steps });
    }
    acc
}

fn way(
    program: &SolvedProgram,
    ex: &mut Exceptions,
    bodies: &mut dyn Bodies,
    first: &[WayStep],
    from: Node,
    set: SetId,
    open: bool,
) -> Vec<WayStep> {
    let (path, want) = path(program, ex, from, set, (Level::All, open));
    let steps = steps(program, ex, &path, want, open);
    let mut acc = first.to_vec();
    for (i, step) in steps.into_iter().enumerate() {
        let next = path.get(i + 1).copied();
        let frame = path.get(i).and_then(|it| Frame::of_node(*it));
        let instr = frame.and_then(|it| instruction(program, ex, bodies, it, next, want, open));
        acc.push(WayStep { step, instr });
    }
    acc
}

/// Returns the first instruction of the method of `frame` through which the method includes the exceptions of the node
/// `next`. If `next` is `None`, returns the first instruction that itself raises an exception in `want`. Returns
/// `None` if there is no such instruction, or if the code is not available.
fn instruction(
    program: &SolvedProgram,
    ex: &mut Exceptions,
    bodies: &mut dyn Bodies,
    frame: Frame,
    next: Option<Node>,
    want: SetId,
    open: bool,
) -> Option<(MethodName, InstrId)> {
    let id = frame.id;
    let MethodSummary::Known(summary) = program.calls.classes.summary(id) else { return None };
    let name = program.calls.classes.name(id);
    let code = bodies.code(name)?;
    let mut walk = program.calls.classes.sources(id, &code);
    let resolving = Resolving::new(&program.calls, id.class, &code.body);
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
        let operands = walk.operands(instr);
        for &source in &sources {
            let place = Place::new(frame, source, &operands);
            flows_of(program).of_source(ex, place, summary, source, &mut flows);
        }
        let resolves = resolving.at(instr, &sources);
        resolving_flows(ex, resolves, &mut flows);
        if flows.into_iter().any(|it| fits(it, ex)) {
            return Some((name, instr));
        }
    }
    None
}
