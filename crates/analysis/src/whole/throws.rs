//! The exceptions that a method lets out, with the reason for their open part.

use program::members::MethodId;

use super::answers::{OpenPart, Throws};
use super::chain::because;
use super::lattice::Exceptions;
use super::solved::SolvedProgram;
use crate::described::{Described, described_set};

/// Returns a short description of the known exceptions that a method lets out, which lists at most `limit` types.
pub(super) fn known_of(
    program: &SolvedProgram,
    ex: &mut Exceptions,
    id: MethodId,
    limit: usize,
) -> Described {
    let known = program.lets_out(id).known;
    let parts = ex.universe.known_parts(known);
    described_set(&mut ex.universe, known, &parts, limit)
}

/// Returns the exceptions that a method lets out. If some of them are open, the result contains the reason.
pub(super) fn throws_of(program: &SolvedProgram, ex: &mut Exceptions, id: MethodId) -> Throws {
    let value = program.lets_out(id);
    let open = (!ex.universe.is_nothing(value.open)).then(|| {
        let (within, except) = ex.open_parts(value.open);
        OpenPart { within, except, because: because(program, ex, id, value.open, true) }
    });
    Throws { method: program.calls.classes.name(id), known: ex.universe.known_parts(value.known), open }
}
