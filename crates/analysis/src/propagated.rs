//! The whole program as queries: what others must know of each class, a tier per container, one solution for all of it, and
//! what each class gets of it.
//!
//! The tiers keep the look through what did not change short: an edit of one class runs the tier of its container again, and
//! of the others none of the classes is looked at, only the tier (`engine.md`, rule 1). The solution is one query
//! that drives the program beside the database ([`crate::keeper`]). What each class gets of it: [`crate::answers`].

use std::sync::Arc;

use classfile::module::Module;
use program::input::{ClassFile, Container};
use program::outline::outline;
use salsa::plumbing::AsId;

use crate::db::Db;
use crate::facts::{Code, facts};
use crate::input::{Part, World};
use crate::keeper::Propagated;
use crate::parts::Scratch;
use crate::summary::{ClassSummary, MethodSummary, code_summary};
use crate::tiers::{ClassKey, Records, Tier};
use crate::whole::record::ClassRecord;

/// What the rest of a program must know of the code of a class; none for a class that is outside.
///
/// **Reads:** `facts`.
/// **Stays when:** bodies change in what nobody else can see: branches, arithmetic, fields, assertions that stay proved.
/// **Cost:** linear in the code; kept for ever.
/// **Approximates:** as `facts`.
/// **Test:** `equal_summary_keeps_callers`.
#[salsa::tracked]
pub fn summary(db: &dyn program::db::Db, class: ClassFile) -> Option<Arc<ClassSummary>> {
    let facts = facts(db, class).as_ref().ok()?;
    let mut scratch = Scratch::default();
    let mut of = |code: &Code| match code {
        Code::None => MethodSummary::None,
        Code::Failed => MethodSummary::Missing,
        Code::Known(code) => MethodSummary::Known(Box::new(code_summary(code, &mut scratch))),
    };
    Some(Arc::new(ClassSummary { methods: facts.methods.iter().map(|it| of(&it.code)).collect() }))
}

/// The module that a `module-info` declares.
///
/// **Reads:** the bytes of the class.
/// **Stays when:** what it exports and contains does.
/// **Cost:** next to nothing; kept for ever.
/// **Approximates:** one that cannot be read declares nothing, so closes nothing.
/// **Test:** `a_new_throw_reaches_callers_and_nobody_else`.
#[salsa::tracked]
pub fn module(db: &dyn program::db::Db, class: ClassFile) -> Option<Module> {
    Module::read(class.bytes(db)).ok().flatten()
}

/// What the rest of a program must know of the classes of a container: all of them that can be read, in its order.
///
/// **Reads:** the classes of the container, and `outline`, `summary` and `module` of each.
/// **Stays when:** all of these do.
/// **Cost:** a look at each class, no copy of what it holds; kept for ever.
/// **Approximates:** nothing; a class that cannot be read is outside.
/// **Test:** `a_tier_that_did_not_change_is_one_look` (in `ide`).
#[salsa::tracked]
pub fn container_records(db: &dyn program::db::Db, container: Container) -> Records {
    let record = |class: ClassFile| {
        let outline = outline(db, class).as_ref().ok()?;
        let summary = summary(db, class).as_ref()?;
        let module = outline.flags.is_module().then(|| module(db, class).clone()).flatten();
        Some((Some(key(class)), ClassRecord::new(Arc::clone(outline), Arc::clone(summary), module)))
    };
    container.classes(db).iter().filter_map(|&it| record(it)).collect()
}

/// The number by which the keeper knows a class.
pub fn key(class: ClassFile) -> ClassKey {
    ClassKey(class.as_id().index())
}

/// The program with where its calls go and what its methods let out.
///
/// **Reads:** the containers and settings of the world, the role and `container_records` of each container of classes, and
/// the contents of each library.
/// **Stays when:** all records do, or only code changes of classes that others of their name shadow.
/// **Cost:** what changed is taken in; where that cannot be, the whole program, seconds for a JDK. One value, kept beside the
/// database.
/// **Approximates:** as `semantics.md` §3 and §4 say.
/// **Test:** `equal_summary_keeps_callers`, `answers_do_not_depend_on_history` (in `ide`).
#[salsa::tracked]
pub fn propagated(db: &dyn Db, world: World) -> Propagated {
    let tier = |it: &Part| match *it {
        Part::Classes(it) => Tier { role: it.role(db), records: Arc::clone(container_records(db, it)) },
        Part::Library(it) => Tier { role: it.role(db), records: Arc::clone(&it.contents(db).records) },
    };
    let tiers = world.parts(db).iter().map(tier).collect();
    let settings = world.settings(db);
    // The last look before work that nobody can break off.
    db.unwind_if_revision_cancelled();
    db.keeper().advance(settings, tiers).0
}
