//! The whole program as queries: what others must know of each class, a tier per container, one solution for all of it, and
//! what each class gets of it.
//!
//! The tiers keep the look through what did not change short: an edit of one class runs the tier of its container again, and
//! of the others none of the classes is looked at, only the tier (`engine.md`, rule 1). The solution is one query
//! that drives the program beside the database ([`crate::keeper`]). What each class gets of it: [`crate::answers`].

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use classfile::module::Module;
use flow::fuel::Cancelled;
use program::input::{ClassFile, Container, patched};
use program::outline::class_outline;

use crate::current::Propagated;
use crate::db::Db;
use crate::facts::{Code, parsed};
use crate::input::{Part, World};
use crate::parts::Scratch;
use crate::summary::{ClassSummary, MethodSummary, code_summary};
use crate::tiers::{ClassKey, KeyedRecord, Records, Tier};
use crate::whole::record::ClassRecord;

/// What the rest of a program must know of a class: its outline, the summaries of its methods, and what a `module-info`
/// declares; none for a class that is outside.
///
/// **Reads:** the bytes of the class, `parsed`.
/// **Stays when:** bodies change in what nobody else can see: branches, arithmetic, assertions that stay proved, lines.
/// **Cost:** linear in the code; kept for ever. One query for all three, as after each edit each class of a container is
/// checked.
/// **Approximates:** as `facts`; a `module-info` that cannot be read declares nothing, so closes nothing.
/// **Test:** `equal_summary_keeps_callers`.
#[salsa::tracked]
pub fn record(db: &dyn program::db::Db, class: ClassFile) -> Option<ClassRecord> {
    let parsed = parsed(db, class).as_ref().ok()?;
    let bytes = class.bytes(db);
    let outline = class_outline(bytes).ok()?;
    let module = outline.flags.is_module().then(|| Module::read(bytes).ok().flatten()).flatten();
    let mut scratch = Scratch::default();
    let mut of = |code: &Code| match code {
        Code::None => MethodSummary::None,
        Code::Failed => MethodSummary::Missing,
        Code::Known(code) => MethodSummary::Known(Box::new(code_summary(code, &mut scratch))),
    };
    let methods = parsed.facts.methods.iter().map(|it| of(&it.code)).collect();
    Some(ClassRecord::new(Arc::new(outline), Arc::new(ClassSummary { methods }), module))
}

/// What the rest of a program must know of the classes of a container: all of them that can be read, in its order.
///
/// **Reads:** `base_records`, the patches of the container, and `record` of the classes that they name.
/// **Stays when:** all of these do.
/// **Cost:** a look at each class that was edited, a copy of two words for each other; kept for ever.
/// **Approximates:** nothing; a class that cannot be read is outside.
/// **Test:** `a_tier_that_did_not_change_is_one_look`, `an_edit_looks_at_no_other_class` (in `ide`).
#[salsa::tracked]
pub fn container_records(db: &dyn program::db::Db, container: Container) -> Records {
    let base = base_records(db, container);
    let all = patched(base, container.patches(db), Clone::clone, |&it| keyed_record(db, it));
    all.into_iter().flatten().collect()
}

/// What the rest of a program must know of the classes of the list that a container had at first, in its order.
///
/// **Reads:** the list, and `record` of each of its classes.
/// **Stays when:** classes are edited, come or go: these are patches. When there are many, a new list is made.
/// **Cost:** a look at each class, no copy of what it holds; kept for ever. Edits do not lead to a look at what it read: unedited
/// classes are inputs of medium durability.
/// **Approximates:** nothing; a class that cannot be read is outside.
/// **Test:** `an_edit_looks_at_no_other_class` (in `ide`).
#[salsa::tracked]
pub fn base_records(db: &dyn program::db::Db, container: Container) -> Arc<[Option<KeyedRecord>]> {
    container.base(db).iter().map(|&it| keyed_record(db, it)).collect()
}

fn keyed_record(db: &dyn program::db::Db, class: ClassFile) -> Option<KeyedRecord> {
    Some((Some(key(db, class)), record(db, class).clone()?))
}

/// The number by which the keeper knows a class: that of its file, as an edited one may be another input.
pub fn key(db: &dyn program::db::Db, class: ClassFile) -> ClassKey {
    ClassKey(class.file(db).index() as u32)
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
    let tiers: Vec<Tier> = world.parts(db).iter().map(tier).collect();
    let settings = world.settings(db);
    // Unwinding here and there would leave the program half changed, so the keeper is told, and stops where it can.
    let mut cancelled =
        || salsa::Cancelled::catch(AssertUnwindSafe(|| db.unwind_if_revision_cancelled())).is_err();
    loop {
        match db.keeper().advance(settings, tiers.clone(), &mut cancelled) {
            Ok((propagated, _)) => return propagated,
            // Unwinds, as whoever cancels waits until this snapshot is gone.
            Err(Cancelled) => db.unwind_if_revision_cancelled(),
        }
    }
}

/// The program that the question since when an answer holds brought up to date.
pub(crate) fn current(db: &dyn Db) -> Option<Propagated> {
    let current = db.keeper().current();
    if current.is_none() {
        always_assert::never!("the question before has brought the program up to date");
        // An answer without a program must not be kept.
        db.report_untracked_read();
    }
    current
}
