//! The query that explains why a single method lets out exceptions, computed on demand.
//!
//! The search reads many parts of the solved program, and the code of classes on the exception paths. These reads are
//! not recorded ([`crate::whole::reads`]), so the query depends on the program as a whole: the query runs again in
//! each new generation, and unchanged answers compare equal.

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

/// The reasons why a method lets out exceptions, or why the instructions at a pc raise them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reasons {
    /// The paths from the method or the instructions to the places where the exceptions arise.
    pub ways: Vec<Way>,
    /// The last instruction at the pc of the question; `None` if the question has no pc or no instruction is there.
    pub at: Option<InstrId>,
}

/// Returns the reasons why a method lets out exceptions, or why the instructions at a pc raise them; empty if the
/// class file is not part of the program or another file of the same class shadows it.
///
/// **Reads:** `propagated`, `facts` of the class and, for a pc, its `positions`; the definitions of the classes on
/// the exception paths and their code (`file_definitions`, `library_definitions`, `facts`, `library_code`); in
/// profile `paper` the `paper` program.
/// **Stays when:** the paths and the instructions on them stay. Moved lines do not cause a recomputation.
/// **Cost:** a search through the solution for each exception, in every generation of the program; the 1,024 most
/// recently used answers are kept.
/// **Approximates:** of several shortest paths, one is returned.
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
