//! Why a method lets out what it does, and which objects make a call go to a target: queries about a single method or call,
//! asked on demand.
//!
//! The answers are read all over the solved program, and of classes on the way also the code. What the search for a reason
//! reads of the program is not noted ([`crate::whole::reads`]), so these queries depend on the program as a whole: in a new
//! generation of it they run again, and what did not change is equal.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;

use bir::body::InstrId;
use bir::positions::Positions;
use classfile::names::ClassName;
use program::input::ClassFile;

use crate::answers::{paper, profile};
use crate::db::Db;
use crate::definitions::code;
use crate::facts::{Code, facts, positions};
use crate::input::{Profile, World};
use crate::keys::{ReasonQuestion, ReceiverQuestion};
use crate::parts::MethodCode;
use crate::propagated::{key, propagated};
use crate::whole::explain::{self, Bodies, Way};
use crate::whole::receivers::{Receiver, selecting};
use program::names::{MethodName, Text};

/// Why something comes out of a method, or of the instructions at a pc.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reasons {
    /// The ways on which it comes out.
    pub ways: Vec<Way>,
    /// The last instruction at the pc that was asked for, if there is one.
    pub at: Option<InstrId>,
}

/// The instructions of a body that stand for the bytecode instruction at a pc.
pub fn instrs_at(code: &MethodCode, positions: &Positions, pc: u16) -> Vec<InstrId> {
    let all = code.body.instrs.iter().map(|it| it.0);
    all.filter(|&it| positions.pc(it) == Some(pc)).collect()
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
    let instrs = question.pc(db).map(|pc| match &code {
        Some((code, index)) => match positions(db, class).as_ref().and_then(|it| it.methods.get(*index)) {
            Some(Some(Ok(positions))) => instrs_at(code, positions, pc),
            Some(Some(Err(_)) | None) | None => Vec::new(),
        },
        None => Vec::new(),
    });
    let at = instrs.as_ref().and_then(|it| it.last().copied());
    let ways = match profile {
        Profile::Jvm => ways(db, world, class, (method, instrs.as_deref(), only)),
        Profile::Paper => {
            let paper = paper(db, world);
            let mut universe = paper.environment.exceptions.clone();
            match (&instrs, &code) {
                (None, _) => paper.ways(&mut universe, method, only).unwrap_or_default(),
                (Some(instrs), Some((code, _))) => paper.ways_at(&mut universe, method, code, instrs, only),
                (Some(_), None) => Vec::new(),
            }
        }
    };
    Arc::new(Reasons { ways, at })
}

/// The code of a method of a class, and the number of the method.
fn own_code(db: &dyn Db, class: ClassFile, method: &MethodName) -> Option<(Arc<MethodCode>, usize)> {
    let facts = facts(db, class).as_ref().ok()?;
    let index = facts.index_of(method)?;
    match &facts.methods.get(index)?.code {
        Code::Known(code) => Some((Arc::clone(code), index)),
        Code::None | Code::Failed => None,
    }
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
    let mut bodies = ProgramCode { db, world, cancelled: None };
    let ways = answers.with_sets(|sets| match instrs {
        None => explain::ways(answers.solved(), &mut sets.exceptions, &mut bodies, id, only),
        Some(instrs) => {
            explain::ways_at(answers.solved(), &mut sets.exceptions, &mut bodies, id, instrs, only)
        }
    });
    drop(answers);
    if let Some(cancelled) = bodies.cancelled {
        resume_unwind(Box::new(cancelled));
    }
    ways
}

/// The code of all classes of the program. A cancellation is kept until nobody reads the solved program any more: unwinding
/// would take a lock of it along.
struct ProgramCode<'db> {
    db: &'db dyn Db,
    world: World,
    cancelled: Option<salsa::Cancelled>,
}

impl Bodies for ProgramCode<'_> {
    fn code(&mut self, method: MethodName) -> Option<Arc<MethodCode>> {
        if self.cancelled.is_some() {
            return None;
        }
        let read = AssertUnwindSafe(|| code(self.db, self.world, method));
        match salsa::Cancelled::catch(read) {
            Ok(it) => it,
            Err(it) => {
                self.cancelled = Some(it);
                None
            }
        }
    }
}

/// The classes whose objects make a call go to a target, each with its chain of supertypes; in profile `paper` none.
///
/// **Reads:** `propagated`, and by it where the class counts.
/// **Stays when:** the classes below the target and their supertypes do.
/// **Cost:** a walk through the classes below the target, in every generation of the program; the 1,024 that were asked for
/// last are kept.
/// **Approximates:** nothing, up to the limit.
/// **Test:** `receivers_follow_the_classes_below_a_target` (in `ide`).
#[salsa::tracked(lru = 1024)]
pub fn receivers<'db>(db: &'db dyn Db, question: ReceiverQuestion<'db>) -> Arc<[Receiver]> {
    let Some((world, Profile::Jvm)) = profile(db) else { return Arc::default() };
    let (caller, target) = (question.caller(db), question.target(db));
    let class = key(db, question.class(db));
    let (selector, limit) = (question.selector(db), question.limit(db));
    let propagated = propagated(db, world);
    let answers = propagated.read();
    if answers.defined(class, ClassName::new(caller.class.0)).is_none() {
        return Arc::default();
    }
    let calls = &answers.solved().calls;
    match (calls.classes.named(caller), calls.classes.named(target)) {
        (Some(caller), Some(target)) => selecting(calls, caller, selector, target, limit).into(),
        (None, _) | (_, None) => Arc::default(),
    }
}
