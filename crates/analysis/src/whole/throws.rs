//! The exceptions that a method lets out, with the reason for their open part.

use flow::solver::{FunctionId, NodeId};
use program::members::MethodId;
use program::names::{MethodName, Text};

use super::answers::{Anchor, Anchored, OpenPart, Throws};
use super::chain::because;
use super::lattice::Exceptions;
use super::sites::Node;
use super::solved::{Level, SolvedProgram};
use crate::described::{Described, described_set};

/// The maximum number of calls that an answer sets apart. Nobody reads more of them, and in machine-readable formats they
/// would make up nearly the whole document.
const MAX_CALLS: usize = 8;

/// What is set apart from the exceptions of a method.
struct SetApart {
    /// The anchors by way of which something comes.
    anchors: Vec<(NodeId, FunctionId)>,
    /// If there are more calls than an answer names, their number; then nothing is set apart. Otherwise 0.
    too_many: u32,
    /// The inclusions that count for the exceptions that are not set apart.
    level: Level,
}

impl SetApart {
    fn of(program: &SolvedProgram, ex: &mut Exceptions, node: NodeId) -> SetApart {
        let mut anchors = Vec::new();
        let Some(found) = program.apart().and_then(|it| it.anchors(node)) else {
            return SetApart { anchors, too_many: 0, level: Level::All };
        };
        for &(of, function) in found {
            let all = ex.through(function, program.value_of(of));
            if !ex.universe.is_nothing(all.known) || !ex.universe.is_nothing(all.open) {
                anchors.push((of, function));
            }
        }
        let is_call = |it: &&(NodeId, FunctionId)| matches!(program.nodes.node(it.0), Node::Dispatch(_));
        match anchors.iter().filter(is_call).count() {
            n if n > MAX_CALLS => SetApart { anchors: Vec::new(), too_many: n as u32, level: Level::All },
            _ => SetApart { anchors, too_many: 0, level: Level::Apart },
        }
    }
}

/// Returns a short description of the known exceptions that a method lets out, which lists at most `limit` types.
pub(super) fn known_of(
    program: &SolvedProgram,
    ex: &mut Exceptions,
    id: MethodId,
    limit: usize,
) -> Described {
    let node = program.nodes.id(Node::Method(id));
    let level = SetApart::of(program, ex, node).level;
    let known = program.value_at(level, node).known;
    let parts = ex.universe.known_parts(known);
    described_set(&mut ex.universe, known, &parts, limit)
}

/// Returns the exceptions that a method lets out. If some of them are open, the result contains the reason.
pub(super) fn throws_of(program: &SolvedProgram, ex: &mut Exceptions, id: MethodId) -> Throws {
    let node = program.nodes.id(Node::Method(id));
    let apart = SetApart::of(program, ex, node);
    let value = program.value_at(apart.level, node);
    let open = (!ex.universe.is_nothing(value.open)).then(|| {
        let (within, except) = ex.open_parts(value.open);
        OpenPart { within, except, because: because(program, ex, id, value.open, (apart.level, true)) }
    });
    let mut anchors: Vec<Anchor> = apart.anchors.iter().filter_map(|&it| anchor(program, ex, it)).collect();
    anchors.sort_by_key(|it| it.of);
    let known = ex.universe.known_parts(value.known);
    let method = program.calls.classes.name(id);
    Throws { method, known, open, anchors, too_many_calls: apart.too_many }
}

/// Returns the anchor of a cut node and a transfer function; `None` for a node that is never cut.
fn anchor(
    program: &SolvedProgram,
    ex: &mut Exceptions,
    (node, function): (NodeId, FunctionId),
) -> Option<Anchor> {
    let of = match program.nodes.node(node) {
        Node::Initializer(it) => {
            Anchored::Initializer(Text(program.calls.classes.hierarchy.name(it).bytes()))
        }
        Node::Dispatch(it) => Anchored::Call(MethodName::of(program.calls.dispatches.method(it))),
        Node::Method(_)
        | Node::Glue(_)
        | Node::Handler(..)
        | Node::Context(..)
        | Node::ContextHandler(..)
        | Node::Loading => return None,
    };
    let own = ex.through(function, program.value_at(Level::Apart, node));
    let is_open = !ex.universe.is_nothing(own.open);
    Some(Anchor { of, known: ex.universe.known_parts(own.known), is_open })
}
