//! The queries for the whole program: a record per class, a tier per container, and one solution for all of it.
//!
//! Tiers limit the checks after an edit. Only the tier of the edited class's container is recomputed; salsa checks
//! the tiers of the other containers, but none of their classes (`engine.md`, rule 1). The solution is one query that
//! drives the program beside the database ([`crate::keeper`]). The answers about each class are in
//! [`crate::answers`].

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use classfile::module::Module;
use flow::fuel::Cancelled;
use program::input::{ClassFile, Container, patched};
use program::outline::outline_of;

use crate::annotated::annotated_classes;
use crate::current::Propagated;
use crate::db::Db;
use crate::facts::{Code, parsed};
use crate::input::{Part, World};
use crate::parts::Scratch;
use crate::summary::{ClassSummary, MethodSummary, code_summary};
use crate::tiers::{ClassKey, KeyedRecord, Records, Tier};
use crate::whole::record::ClassRecord;

/// Returns the part of a class that the rest of a program needs: its outline, the summaries of its methods, and the
/// declarations of a `module-info`; `None` for a class file that cannot be read and is therefore not part of the
/// program.
///
/// **Reads:** the bytes of the class, `parsed`.
/// **Stays when:** bodies change only in what no other class can see: branches, arithmetic, assertions that stay
/// proved, lines.
/// **Cost:** linear in the code; never evicted. The three parts are one query because each class of a container is
/// checked after every edit.
/// **Approximates:** the same as `facts`; a `module-info` that cannot be read declares nothing, so absent classes may
/// belong to its packages.
/// **Test:** `equal_summary_keeps_callers`.
#[salsa::tracked]
pub fn record(db: &dyn program::db::Db, class: ClassFile) -> Option<ClassRecord> {
    let parsed = parsed(db, class).as_ref().ok()?;
    let bytes = class.bytes(db);
    let file = classfile::class::ClassFile::parse(bytes).ok()?;
    let outline = outline_of(&file).ok()?;
    let module = outline.flags.is_module().then(|| Module::read(bytes).ok().flatten()).flatten();
    let mut scratch = Scratch::default();
    let mut of = |code: &Code| match code {
        Code::None => MethodSummary::None,
        Code::Failed => MethodSummary::Missing,
        Code::Known(code) => MethodSummary::Known(Box::new(code_summary(code, &mut scratch))),
    };
    let methods = parsed.facts.methods.iter().map(|it| of(&it.code)).collect();
    Some(ClassRecord::new(
        Arc::new(outline),
        Arc::new(ClassSummary { methods, annotated: annotated_classes(&file) }),
        module,
    ))
}

/// Returns the records of the readable classes of a container, in the order of the container.
///
/// **Reads:** `base_records`, the patches of the container (its changes since the base list was built), and `record`
/// of the classes in the patches.
/// **Stays when:** the base records, the patches and the records of the patched classes stay.
/// **Cost:** a check of each edited class, and a copy of two machine words for each unedited class; never evicted.
/// **Approximates:** nothing; a class that cannot be read is not part of the program.
/// **Test:** `a_tier_that_did_not_change_is_one_look`, `an_edit_looks_at_no_other_class` (in `ide`).
#[salsa::tracked]
pub fn container_records(db: &dyn program::db::Db, container: Container) -> Records {
    let base = base_records(db, container);
    let all = patched(base, container.patches(db), Clone::clone, |&it| keyed_record(db, it));
    all.into_iter().flatten().collect()
}

/// Returns the records of the classes in a container's base list (the classes without later changes), in the order of
/// the list.
///
/// **Reads:** the base list, and `record` of each class in the list.
/// **Stays when:** classes are edited, added or removed. These changes are kept apart from the base list, as patches,
/// until their number causes a rebuild of the base list.
/// **Cost:** a check of each class, without copying its content; never evicted. After an edit salsa does not
/// revalidate the inputs of this query, because unedited classes are inputs of medium durability.
/// **Approximates:** nothing; a class that cannot be read is not part of the program.
/// **Test:** `an_edit_looks_at_no_other_class` (in `ide`).
#[salsa::tracked]
pub fn base_records(db: &dyn program::db::Db, container: Container) -> Arc<[Option<KeyedRecord>]> {
    container.base(db).iter().map(|&it| keyed_record(db, it)).collect()
}

fn keyed_record(db: &dyn program::db::Db, class: ClassFile) -> Option<KeyedRecord> {
    Some((Some(key(db, class)), record(db, class).clone()?))
}

/// Returns the key by which the keeper identifies a class file: the number of the file. The salsa input of the class
/// cannot be the key, because an edit may replace it by a new input.
pub fn key(db: &dyn program::db::Db, class: ClassFile) -> ClassKey {
    ClassKey(class.file(db).index() as u32)
}

/// Returns the solved program: the targets of its calls, and the exceptions that its methods let out.
///
/// **Reads:** the containers and settings of the world, the role and `container_records` of each container of
/// classes, and the role and contents of each library.
/// **Stays when:** all records stay, or only code of shadowed classes changes.
/// **Cost:** an update with the changes. If an update is impossible, a rebuild of the whole program, which takes
/// seconds for a JDK. One value, kept beside the database.
/// **Approximates:** as described in `semantics.md` §3 and §4.
/// **Test:** `equal_summary_keeps_callers`, `answers_do_not_depend_on_history` (in `ide`).
#[salsa::tracked]
pub fn propagated(db: &dyn Db, world: World) -> Propagated {
    let tier = |it: &Part| match *it {
        Part::Classes(it) => Tier { role: it.role(db), records: Arc::clone(container_records(db, it)) },
        Part::Library(it) => Tier { role: it.role(db), records: Arc::clone(&it.contents(db).records) },
    };
    let tiers: Vec<Tier> = world.parts(db).iter().map(tier).collect();
    let settings = world.settings(db);
    // Unwinding at an arbitrary point would leave the program half changed, so the keeper itself checks for
    // cancellation and stops at a safe point.
    let mut cancelled =
        || salsa::Cancelled::catch(AssertUnwindSafe(|| db.unwind_if_revision_cancelled())).is_err();
    loop {
        match db.keeper().advance(settings, tiers.clone(), &mut cancelled) {
            Ok((propagated, _)) => return propagated,
            // Unwinds, because the thread that cancels waits until this snapshot is dropped.
            Err(Cancelled) => db.unwind_if_revision_cancelled(),
        }
    }
}

/// Returns the solved program, which must be up to date: the caller must first run a query that updates it, such as
/// `throws_since`. `None` (a bug) if the program is not up to date.
pub(crate) fn current(db: &dyn Db) -> Option<Propagated> {
    let current = db.keeper().current();
    if current.is_none() {
        always_assert::never!(
            "the solved program is not up to date, although the preceding query must have updated it"
        );
        // The memo of an answer without a program must not be reused.
        db.report_untracked_read();
    }
    current
}
