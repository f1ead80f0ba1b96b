//! The query for the receiver classes that make a single call go to a target, computed on demand.

use std::sync::Arc;

use classfile::names::ClassName;

use crate::db::Db;
use crate::input::{Profile, profile};
use crate::keys::ReceiverQuestion;
use crate::propagated::{key, propagated};
use crate::whole::receivers::{Receiver, selecting};

/// Returns the classes whose objects, as receivers, make a call go to a target, each with its chain of supertypes up
/// to the class that the call names; empty in profile `paper`.
///
/// **Reads:** `propagated`, and through this query, whether the class file is shadowed.
/// **Stays when:** the classes below the class that declares the target, and their supertypes, stay.
/// **Cost:** a search through the classes below the class that declares the target, in every generation of the
/// program; the 1,024 most recently used answers are kept.
/// **Approximates:** nothing, up to the maximum number of receivers in the question.
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
