//! What is said of each class, and of the program as a whole, by the solved program: queries.
//!
//! Each asks first since when its answer holds. Only if that changed does it look at the program beside the database, which
//! that question brought up to date ([`crate::keeper`]).

use std::sync::Arc;

use classfile::names::ClassName;
use program::input::ClassFile;
use program::members::MethodId;

use crate::current::CurrentProgram;
use crate::db::Db;
use crate::facts::facts;
use crate::input::{Profile, profile};
use crate::paper;
use crate::propagated::{current, key, propagated, record};
use crate::stamps::Kind;
use crate::tiers::ClassKey;
use crate::whole::answers::{Call, Throws};
use crate::whole::graph::Graph;
use crate::whole::method;
use crate::whole::sets::Sets;
use crate::whole::solved::SolvedProgram;

/// Where calls of a method go.
pub type Calls = Arc<[Call]>;

/// Since when what is said of a class holds; `None` of one that is outside or in a database without a world.
fn since(db: &dyn Db, class: ClassFile, kind: Kind) -> Option<u64> {
    let (world, _) = profile(db)?;
    let (name, file) = (record(db, class).as_ref()?.class(), key(db, class));
    let propagated = propagated(db, world);
    let answers = propagated.read();
    answers.defined(file, name)?;
    Some(answers.stamp_of(name, kind))
}

/// Since which generation of the program what is said of what a class lets out holds.
///
/// The world is no parameter: there is one, and a second parameter would be an interned pair for each class.
///
/// **Reads:** `propagated`, `record`.
/// **Stays when:** nothing changed that the last answer was read from ([`crate::whole::reads`]).
/// **Cost:** a look into a table; kept for ever.
/// **Approximates:** what an answer was read from may change in what it does not say.
/// **Test:** `an_edit_asks_again_only_where_it_is_seen` (in `ide`).
#[salsa::tracked]
pub fn throws_since(db: &dyn Db, class: ClassFile) -> Option<u64> {
    since(db, class, Kind::Throws)
}

/// Since which generation of the program what is said of the calls of a class holds.
///
/// **Reads:** `propagated`, `record`.
/// **Stays when:** nothing changed that the last answer was read from.
/// **Cost:** a look into a table; kept for ever.
/// **Approximates:** as `throws_since`.
/// **Test:** `an_edit_asks_again_only_where_it_is_seen` (in `ide`).
#[salsa::tracked]
pub fn calls_since(db: &dyn Db, class: ClassFile) -> Option<u64> {
    since(db, class, Kind::Calls)
}

/// Since which generation of the program what is said of the graphs of a class holds.
///
/// **Reads:** `propagated`, `record`.
/// **Stays when:** nothing changed that the last answer was read from.
/// **Cost:** a look into a table; kept for ever.
/// **Approximates:** as `throws_since`.
/// **Test:** `an_edit_asks_again_only_where_it_is_seen` (in `ide`).
#[salsa::tracked]
pub fn graphs_since(db: &dyn Db, class: ClassFile) -> Option<u64> {
    since(db, class, Kind::Graphs)
}

/// Asks the program about each method of a class that it defines.
fn each_method<T>(
    answers: &CurrentProgram,
    file: ClassKey,
    name: ClassName,
    kind: Kind,
    mut ask: impl FnMut(&SolvedProgram, &mut Sets, MethodId) -> T,
) -> Arc<[T]> {
    let Some(id) = answers.defined(file, name) else { return Arc::default() };
    let n_methods = answers.solved().calls.classes.hierarchy.outline(id).methods.len();
    answers.ask(name, kind, |whole, sets| {
        (0..n_methods).map(|it| ask(whole, sets, MethodId::new(id, it))).collect()
    })
}

/// What the methods of a class let out, in file order; empty for a class that is outside or shadowed.
///
/// **Reads:** `throws_since`, `record`, the profile; in profile `paper` the `paper` program.
/// **Stays when:** the sets of its methods and the reasons for their open parts do.
/// **Cost:** a search through the solution for each open part; kept for ever.
/// **Approximates:** nothing.
/// **Test:** `a_new_throw_reaches_callers_and_nobody_else`.
#[salsa::tracked]
pub fn throws(db: &dyn Db, class: ClassFile) -> Arc<[Throws]> {
    let Some((world, profile)) = profile(db) else { return Arc::default() };
    let Some(record) = record(db, class) else { return Arc::default() };
    if profile == Profile::Paper {
        return paper::program::throws(db, world, record.outline());
    }
    if throws_since(db, class).is_none() {
        return Arc::default();
    }
    let Some(propagated) = current(db) else { return Arc::default() };
    let ask = method::throws;
    each_method(&propagated.read(), key(db, class), record.class(), Kind::Throws, ask)
}

/// Where the calls of each method of a class go, in file order; empty for a class that is outside or shadowed.
///
/// **Reads:** `calls_since`, `facts`, the profile; in profile `paper` the `paper` program.
/// **Stays when:** the targets of its calls do.
/// **Cost:** a look at each call; kept for ever.
/// **Approximates:** as `semantics.md` §4 says.
/// **Test:** `an_override` (in `ide`).
#[salsa::tracked]
pub fn calls(db: &dyn Db, class: ClassFile) -> Arc<[Calls]> {
    let Some((world, profile)) = profile(db) else { return Arc::default() };
    let Ok(facts) = facts(db, class) else { return Arc::default() };
    if profile == Profile::Paper {
        return paper::program::calls(db, world, facts);
    }
    if calls_since(db, class).is_none() {
        return Arc::default();
    }
    let Some(propagated) = current(db) else { return Arc::default() };
    let ask = |whole: &SolvedProgram, _: &mut Sets, id: MethodId| -> Calls {
        method::calls(&whole.calls, id, facts.code(id.index as usize).map(Arc::as_ref)).into()
    };
    each_method(&propagated.read(), key(db, class), facts.head.class, Kind::Calls, ask)
}

/// The final graphs of the methods of a class with the exceptions on their edges, in file order; an empty one for a method
/// without code; empty for a class that is outside or shadowed.
///
/// **Reads:** `graphs_since`, `facts`, the profile; in profile `paper` the `paper` program.
/// **Stays when:** its bodies do, and what its calls let out.
/// **Cost:** a look at each instruction; kept for ever.
/// **Approximates:** as `semantics.md` §3 says.
/// **Test:** `a_new_throw_is_taken_in` (in `ide`).
#[salsa::tracked]
pub fn graphs(db: &dyn Db, class: ClassFile) -> Arc<[Arc<Graph>]> {
    let Some((world, profile)) = profile(db) else { return Arc::default() };
    let Ok(facts) = facts(db, class) else { return Arc::default() };
    if profile == Profile::Paper {
        return paper::program::graphs(db, world, facts);
    }
    if graphs_since(db, class).is_none() {
        return Arc::default();
    }
    let Some(propagated) = current(db) else { return Arc::default() };
    let ask = |whole: &SolvedProgram, sets: &mut Sets, id: MethodId| {
        Arc::new(method::graph(whole, sets, id, facts.code(id.index as usize).map(Arc::as_ref)))
    };
    each_method(&propagated.read(), key(db, class), facts.head.class, Kind::Graphs, ask)
}

/// Which of the methods of a class, in file order, are reached from the entry points; none if all count.
///
/// **Reads:** `propagated`, `record`, the settings.
/// **Stays when:** the same methods are reached.
/// **Cost:** a look at each method; nothing where nobody asks what is reached.
/// **Approximates:** as `semantics.md` §4 says.
/// **Test:** `all_answers_are_those_of_a_fresh_host` (in `ide`).
#[salsa::tracked]
pub fn reached(db: &dyn Db, class: ClassFile) -> Option<Arc<[bool]>> {
    let (world, profile) = profile(db)?;
    if profile == Profile::Paper || !world.settings(db).rta {
        return None;
    }
    let (name, file) = (record(db, class).as_ref()?.class(), key(db, class));
    let propagated = propagated(db, world);
    let answers = propagated.read();
    let (calls, id) = (&answers.solved().calls, answers.defined(file, name)?);
    let reachable = calls.reachable.as_ref()?;
    let n_methods = calls.classes.hierarchy.outline(id).methods.len();
    Some((0..n_methods).map(|it| reachable.from(MethodId::new(id, it)).is_some()).collect())
}
