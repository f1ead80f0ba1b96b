//! The queries that list facts about the program as a whole (missing classes, entry points), read from the solved
//! program.

use std::sync::Arc;

use classfile::names::ClassName;
use program::names::MethodName;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::db::Db;
use crate::input::{Part, World};
use crate::propagated::{container_records, propagated};
use crate::whole::missing::{Missing, missing_classes};
use crate::whole::reachable::{EntryPoint, EntryReason};

/// Returns the absent classes that the program names, sorted by text.
///
/// **Reads:** `propagated`.
/// **Stays when:** the set of present classes stays, the classes that name absent classes stay, and the open parts
/// that absent classes cause stay.
/// **Cost:** linear in the summaries of the application; one value, never evicted.
/// **Approximates:** nothing.
/// **Test:** `all_answers_are_those_of_a_fresh_host` (in `ide`).
#[salsa::tracked]
pub fn missing(db: &dyn Db, world: World) -> Arc<[Missing]> {
    missing_classes(&propagated(db, world).read().solved().calls).into()
}

/// An entry point: the method's name, and the reason why the method is an entry point.
pub type Entry = (MethodName, EntryReason);

/// Returns the entry points of the program in class-path order; empty if no entry points are requested.
///
/// **Reads:** `propagated`, the settings, `container_records`.
/// **Stays when:** the headers of classes stay.
/// **Cost:** linear in the number of methods of the program; one value, never evicted.
/// **Approximates:** nothing.
/// **Test:** `all_answers_are_those_of_a_fresh_host` (in `ide`).
#[salsa::tracked]
pub fn entries(db: &dyn Db, world: World) -> Arc<[Entry]> {
    let settings = world.settings(db);
    let Some(request) = &settings.entries else { return Arc::default() };
    let propagated = propagated(db, world);
    let passed_over = Arc::clone(&propagated.read().solved().calls.classes.passed_over);
    let places = class_path_order(db, world, &passed_over);
    let answers = propagated.read();
    let classes = &answers.solved().calls.classes;
    let mut points = request.points(classes, &settings.options);
    // The numbers of classes depend on the history of the program, so they give no stable order.
    let place = |it: &EntryPoint| (places.get(&classes.hierarchy.name(it.method.class)), it.method.index);
    points.sort_by_key(place);
    points.iter().map(|it| (classes.name(it.method), it.why)).collect()
}

/// Returns the position of each class on the class path. `passed_over` has a pair for each shadowed record: the
/// number of the record, counted over all containers, and the number of the record that shadows it.
fn class_path_order(
    db: &dyn Db,
    world: World,
    passed_over: &[(usize, usize)],
) -> FxHashMap<ClassName, usize> {
    let records = world.parts(db).iter().flat_map(|it| match *it {
        Part::Classes(it) => container_records(db, it).iter(),
        Part::Library(it) => it.contents(db).records.iter(),
    });
    let shadowed: FxHashSet<usize> = passed_over.iter().map(|it| it.0).collect();
    let present = records.enumerate().filter(|it| !shadowed.contains(&it.0));
    present.map(|(place, (_, record))| (record.class(), place)).collect()
}
