//! Why a method lets out what it does: a query about a single method, asked on demand.
//!
//! The answers are read all over the solved program, and of classes on the way also the code. What the search for a reason
//! reads of the program is not noted ([`crate::whole::reads`]), so these queries depend on the program as a whole: in a new
//! generation of it they run again, and what did not change is equal.

use std::panic::resume_unwind;
use std::sync::Arc;

use bir::body::InstrId;
use classfile::names::ClassName;
use program::input::ClassFile;
use program::names::{MethodName, Text};

use crate::db::Db;
use crate::definitions::{ProgramCode, own_code, own_instrs};
use crate::input::{Profile, World, profile};
use crate::keys::ReasonQuestion;
use crate::paper;
use crate::propagated::{key, propagated};
use crate::whole::explain::{self, Way};

/// Why something comes out of a method, or of the instructions at a pc.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reasons {
    /// The ways on which it comes out.
    pub ways: Vec<Way>,
    /// The last instruction at the pc that was asked for, if there is one.
    pub at: Option<InstrId>,
}

/// Why a method lets out what it does; empty if its class is outside or shadowed.
///
/// **Reads:** `propagated`, `facts` of the class and, for a pc, its `positions`; the code of classes on the way, and where those
/// are defined (`file_definitions`, `library_definitions`, `facts`, `library_code`); in profile `paper` the `paper` program.
/// **Stays when:** the ways and the instructions on them do. Moved lines do not ask again.
/// **Cost:** a search through the solution for each exception, in every generation of the program; the 1,024 that were asked
/// for last are kept.
/// **Approximates:** of several ways it gives one that is as short as any.
/// **Test:** `reasons_are_searched_again_in_a_new_generation_only` (in `ide`).
#[salsa::tracked(lru = 1024)]
pub fn reasons<'db>(db: &'db dyn Db, question: ReasonQuestion<'db>) -> Arc<Reasons> {
    let Some((world, profile)) = profile(db) else { return Arc::default() };
    let (class, method, only) = (question.class(db), question.method(db), question.only(db));
    let code = own_code(db, class, &method);
    let instrs = question.pc(db).map(|pc| own_instrs(db, class, code.as_ref(), pc));
    let at = instrs.as_ref().and_then(|it| it.last().copied());
    let ways = match profile {
        Profile::Jvm => ways(db, world, class, (method, instrs.as_deref(), only)),
        Profile::Paper => match (&instrs, &code) {
            (None, _) => paper::program::ways(db, world, method, None, only),
            (Some(at), Some((code, _))) => paper::program::ways(db, world, method, Some((code, at)), only),
            (Some(_), None) => Vec::new(),
        },
    };
    Arc::new(Reasons { ways, at })
}

fn ways(
    db: &dyn Db,
    world: World,
    class: ClassFile,
    (method, instrs, only): (MethodName, Option<&[InstrId]>, Option<Text>),
) -> Vec<Way> {
    let propagated = propagated(db, world);
    let answers = propagated.read();
    let id = answers.defined(key(db, class), ClassName::new(method.class.0));
    let Some(id) = id.and_then(|_| answers.solved().calls.classes.named(method)) else { return Vec::new() };
    let mut bodies = ProgramCode::new(db, world);
    let ways = answers.with_sets(|sets| match instrs {
        None => explain::ways(answers.solved(), &mut sets.exceptions, &mut bodies, id, only),
        Some(instrs) => {
            explain::ways_at(answers.solved(), &mut sets.exceptions, &mut bodies, id, instrs, only)
        }
    });
    drop(answers);
    if let Some(cancelled) = bodies.into_cancelled() {
        resume_unwind(Box::new(cancelled));
    }
    ways
}
