//! The end of an exception path through the system: what raises the exception there or makes the set open, and the
//! steps of the path as answers name them.

use flow::summary::Source;
use flow::universe::SetId;
use program::names::{MethodName, Text};

use super::answers::{Origin, Step, Why};
use super::flows::{Place, flows_of};
use super::implicit::load_class;
use super::lattice::{Exceptions, Flow};
use super::linking::{failing, link_error};
use super::reads::{Read, note};
use super::sites::{Frame, Node};
use super::solved::SolvedProgram;
use super::unknown::unseen;
use super::why::{why, why_call};
use crate::summary::MethodSummary;

pub(super) fn steps(
    program: &SolvedProgram,
    ex: &mut Exceptions,
    path: &[Node],
    want: SetId,
    open: bool,
) -> Vec<Step> {
    let mut steps: Vec<Step> = path.iter().map(|&it| step(program, it)).collect();
    let end = match (open, path.last()) {
        (true, Some(&last)) => {
            let cause = open_cause(program, ex, last, want);
            cause.map_or(Step::Raised(Origin::Instruction), Step::Open)
        }
        (false, Some(&last)) => Step::Raised(origin(program, ex, last, want)),
        (_, None) => return steps,
    };
    steps.push(end);
    steps
}

fn step(program: &SolvedProgram, node: Node) -> Step {
    match node {
        Node::Method(it) => Step::Method(program.calls.classes.name(it)),
        Node::Dispatch(it) => Step::Dispatch(MethodName::of(program.calls.dispatches.method(it))),
        Node::Initializer(it) => Step::Initializer(Text(program.calls.classes.hierarchy.name(it).bytes())),
        Node::Glue(it) => Step::Glue(Text(program.calls.functions[it.index()].function.interface.bytes())),
        Node::Handler(it, _) | Node::ContextHandler(it, _, _) => {
            Step::Rethrown(program.calls.classes.name(it))
        }
        Node::Context(it, _) => Step::Method(program.calls.classes.name(it)),
        Node::Loading => Step::Loading(MethodName::of(load_class())),
    }
}

/// Returns the reason why exceptions of `want` that arise at a node itself are open; the exceptions of nodes that the
/// node includes are ignored. Returns `None` if the node itself is no cause of open exceptions.
fn open_cause(program: &SolvedProgram, ex: &mut Exceptions, node: Node, want: SetId) -> Option<Why> {
    match node {
        Node::Dispatch(it) => {
            program.calls.dispatches.cause(it).0.and_then(|it| why_call(&program.calls, it))
        }
        Node::Initializer(it) => {
            let outside = program.calls.classes.hierarchy.outside_above(it)?;
            Some(Why::Initializer(Text(outside.bytes())))
        }
        Node::Loading => {
            note(Read::Loading);
            program.calls.loading.as_ref()?.open.and_then(|it| why_call(&program.calls, it))
        }
        Node::Glue(it) => {
            let flows = flows_of(program).of_glue(ex, it);
            open_flow(program, ex, &flows, want)
        }
        Node::Handler(id, _) | Node::Method(id) | Node::Context(id, _) | Node::ContextHandler(id, _, _) => {
            if let Some((_, cause)) = unseen(&program.calls, ex, id) {
                return why(&program.calls, cause);
            }

            match program.calls.classes.summary(id) {
                MethodSummary::Known(code) => {
                    let frame = Frame::of_node(node)?;
                    for item in program.calls.classes.items(id, code) {
                        let mut flows = Vec::new();
                        let place = Place { frame, operands: code.summary.operands_of(item) };
                        flows_of(program).of_source(ex, place, code, item.source, &mut flows);
                        if let Some(it) = open_flow(program, ex, &flows, want) {
                            return Some(it);
                        }
                    }
                    None
                }
                _ => {
                    let flows = flows_of(program).of_native(ex, id);
                    open_flow(program, ex, &flows, want)
                }
            }
        }
    }
}

fn open_flow(program: &SolvedProgram, ex: &Exceptions, flows: &[Flow], want: SetId) -> Option<Why> {
    flows.iter().find_map(|it| match *it {
        Flow::Value(value, Some(cause)) | Flow::Wrapped(value, cause)
            if ex.universe.overlaps(value.open, want) =>
        {
            why(&program.calls, cause)
        }
        _ => None,
    })
}

/// Returns what raises the known exceptions of `want` that arise at a node itself; the exceptions of nodes that the
/// node includes are ignored.
pub(super) fn origin(program: &SolvedProgram, ex: &mut Exceptions, node: Node, want: SetId) -> Origin {
    let frame = match node {
        Node::Dispatch(it) if program.calls.dispatches.cause(it).1.is_empty() => return Origin::Conversion,
        Node::Dispatch(_) | Node::Initializer(_) | Node::Loading => return Origin::Linking,
        Node::Glue(_) => return Origin::Conversion,
        Node::Method(id) | Node::Handler(id, _) => Frame::of(id),
        Node::Context(id, key) | Node::ContextHandler(id, key, _) => Frame { id, key },
    };
    let id = frame.id;
    let MethodSummary::Known(code) = program.calls.classes.summary(id) else {
        return Origin::NativeRow(program.calls.classes.name(id));
    };
    for item in program.calls.classes.items(id, code) {
        let mut flows = Vec::new();
        let place = Place { frame, operands: code.summary.operands_of(item) };
        flows_of(program).of_source(ex, place, code, item.source, &mut flows);
        for flow in flows {
            if let Flow::Value(value, _) | Flow::Wrapped(value, _) = flow
                && ex.universe.overlaps(value.known, want)
            {
                return origin_of(item.source);
            }
        }
    }
    for (_, error) in failing(&program.calls, id, code) {
        let value = link_error(ex, error);
        if ex.universe.overlaps(value.known, want) {
            return Origin::Linking;
        }
    }
    Origin::Vm
}

/// Returns what raises the exceptions of a source of exceptions (a call, for example), apart from the exceptions of
/// the code that the source runs.
pub(super) fn origin_of(source: Source) -> Origin {
    match source {
        Source::Exact(_) | Source::Cone(_) | Source::Caught(_) => Origin::Instruction,
        Source::Call(..)
        | Source::CallOnThis(..)
        | Source::Access(_)
        | Source::Construct(_)
        | Source::Initialize(_)
        | Source::CallDynamic(_)
        | Source::ConstDynamic(_)
        | Source::Object(_)
        | Source::Receiver(_) => Origin::Linking,
    }
}
