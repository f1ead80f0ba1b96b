//! The answers about one method: its calls with their targets, the exceptions that it lets out, and its final graph.

use program::members::MethodId;

use super::answers::{Call, Throws};
use super::called::{calls_of, unseen_calls};
use super::drawing::draw;
use super::graph::Graph;
use super::sets::Sets;
use super::solved::SolvedProgram;
use super::tables::CallTable;
use super::throws::{known_of, throws_of};
use crate::described::Described;
use crate::parts::MethodCode;

/// Returns the calls of a method, in the order of its instructions. `code` is `None` for a method that has no code,
/// or whose code cannot be read.
pub fn calls(calls: &CallTable, id: MethodId, code: Option<&MethodCode>) -> Vec<Call> {
    code.map_or_else(|| unseen_calls(calls, id), |it| calls_of(calls, id, it))
}

/// Returns the exceptions that a method may let out. If some of them are open, the result contains the reason.
pub fn throws(program: &SolvedProgram, sets: &mut Sets, id: MethodId) -> Throws {
    throws_of(program, &mut sets.exceptions, id)
}

/// Returns a short description of the known exceptions that a method may let out, which lists at most `limit` types.
pub fn known(program: &SolvedProgram, sets: &mut Sets, id: MethodId, limit: usize) -> Described {
    known_of(program, &mut sets.exceptions, id, limit)
}

/// Returns the final control-flow graph of a method. `code` is the method's body with its facts; `None` if the method
/// has no readable code. The graph of a method without code and of a ghost is empty.
pub fn graph(program: &SolvedProgram, sets: &mut Sets, id: MethodId, code: Option<&MethodCode>) -> Graph {
    let code = code.filter(|_| program.calls.classes.ghost(id).is_none());
    code.map_or_else(Graph::default, |it| draw(program, sets, id, it))
}
