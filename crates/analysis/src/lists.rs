//! Lists about the program as a whole, from the solved program: queries.

use std::sync::Arc;

use classfile::names::ClassName;
use program::names::MethodName;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::db::Db;
use crate::input::{Part, World};
use crate::propagated::{container_records, propagated};
use crate::whole::missing::{Missing, missing_classes};
use crate::whole::reachable::{EntryPoint, WhyEntry};

/// The classes that the program names and that are not there, by text.
///
/// **Reads:** `propagated`.
/// **Stays when:** which classes are there, who names them and what that opens does.
/// **Cost:** a look at the summaries of the application; one value, kept for ever.
/// **Approximates:** nothing.
/// **Test:** `all_answers_are_those_of_a_fresh_host` (in `ide`).
#[salsa::tracked]
pub fn missing(db: &dyn Db, world: World) -> Arc<[Missing]> {
    missing_classes(&propagated(db, world).read().solved().calls).into()
}

/// An entry point, by name.
pub type Entry = (MethodName, WhyEntry);

/// Where the program starts, in class-path order; nothing if nobody asked for it.
///
/// **Reads:** `propagated`, the settings, `container_records`.
/// **Stays when:** the headers of classes do.
/// **Cost:** a look at all methods of the program; one value, kept for ever.
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
    // Numbers of classes depend on how the program came to be.
    let place = |it: &EntryPoint| (places.get(&classes.hierarchy.name(it.method.class)), it.method.index);
    points.sort_by_key(place);
    points.iter().map(|it| (classes.name(it.method), it.why)).collect()
}

/// The place of each class on the class path; `passed_over` are the numbers of records that others shadow.
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
    let there = records.enumerate().filter(|it| !shadowed.contains(&it.0));
    there.map(|(place, (_, record))| (record.class(), place)).collect()
}
