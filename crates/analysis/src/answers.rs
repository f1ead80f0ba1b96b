//! The queries for answers from the solved program: what methods throw, where calls go, the final graphs, and which
//! methods are reached.
//!
//! Each query first asks for the generation since which its answer is valid. Only when that generation changed does
//! the query read the solved program, which lives beside the database ([`crate::keeper`]). The query for the
//! generation brings the solved program up to date.

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

/// The calls of one method, with their targets.
pub type Calls = Arc<[Call]>;

/// Returns the generation (version number) of the solved program since which the answers of this kind about a class
/// file have been valid. `None` if the file is not part of the program, if another file of the same class shadows it,
/// or if the database has no `World`.
fn since(db: &dyn Db, class: ClassFile, kind: Kind) -> Option<u64> {
    let (world, _) = profile(db)?;
    let (name, file) = (record(db, class).as_ref()?.class(), key(db, class));
    let propagated = propagated(db, world);
    let answers = propagated.read();
    answers.defined(file, name)?;
    Some(answers.stamp_of(name, kind))
}

/// Returns the generation (version number) of the program since which the answer of [`throws`] about a class file has
/// been valid; `None` if the file is not part of the program or another file of the same class shadows it.
///
/// The salsa input `World` is not a parameter: a database has only one, and with two parameters salsa would intern a
/// pair for each class.
///
/// **Reads:** `propagated`, `record`.
/// **Stays when:** the parts of the program from which the last answer of `throws` was read stay
/// ([`crate::whole::reads`]).
/// **Cost:** one table lookup; never evicted.
/// **Approximates:** the generation may advance although the answer stays equal: a part of the program that the
/// answer was read from may change in details that do not matter for the answer.
/// **Test:** `an_edit_asks_again_only_where_it_is_seen` (in `ide`).
#[salsa::tracked]
pub fn throws_since(db: &dyn Db, class: ClassFile) -> Option<u64> {
    since(db, class, Kind::Throws)
}

/// Returns the generation (version number) of the program since which the answer of [`calls`] about a class file has
/// been valid; `None` if the file is not part of the program or another file of the same class shadows it.
///
/// **Reads:** `propagated`, `record`.
/// **Stays when:** the parts of the program from which the last answer of `calls` was read stay.
/// **Cost:** one table lookup; never evicted.
/// **Approximates:** like `throws_since`.
/// **Test:** `an_edit_asks_again_only_where_it_is_seen` (in `ide`).
#[salsa::tracked]
pub fn calls_since(db: &dyn Db, class: ClassFile) -> Option<u64> {
    since(db, class, Kind::Calls)
}

/// Returns the generation (version number) of the program since which the answer of [`graphs`] about a class file has
/// been valid; `None` if the file is not part of the program or another file of the same class shadows it.
///
/// **Reads:** `propagated`, `record`.
/// **Stays when:** the parts of the program from which the last answer of `graphs` was read stay.
/// **Cost:** one table lookup; never evicted.
/// **Approximates:** like `throws_since`.
/// **Test:** `an_edit_asks_again_only_where_it_is_seen` (in `ide`).
#[salsa::tracked]
pub fn graphs_since(db: &dyn Db, class: ClassFile) -> Option<u64> {
    since(db, class, Kind::Graphs)
}

/// Calls `ask` for each method of a class, and returns the results in file order. The list is empty if the class file
/// `file` is not part of the program or another file of the same class shadows it.
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

/// Returns the exceptions that each method of a class lets out, in file order. The list is empty if the class file is
/// not part of the program or another file of the same class shadows it.
///
/// **Reads:** `throws_since`, `record`, the profile; in profile `paper` the `paper` program.
/// **Stays when:** the exception sets of the class's methods and the reasons for their open parts stay.
/// **Cost:** a search through the solution for each open part; never evicted.
/// **Approximates:** nothing.
/// **Test:** `a_new_throw_changes_only_its_callers`.
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

/// Returns the calls of each method of a class with their targets, in file order. The list is empty if the class file
/// is not part of the program or another file of the same class shadows it.
///
/// **Reads:** `calls_since`, `facts`, the profile; in profile `paper` the `paper` program.
/// **Stays when:** the targets of the class's calls stay.
/// **Cost:** linear in the number of calls; never evicted.
/// **Approximates:** the targets, as described in `semantics.md` §4.
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

/// Returns the control-flow graph of each method of a class, including the exceptions that its calls let out, in file
/// order. The graph of a method without code is empty. The list is empty if the class file is not part of the program
/// or another file of the same class shadows it.
///
/// **Reads:** `graphs_since`, `facts`, the profile; in profile `paper` the `paper` program.
/// **Stays when:** the bodies of the class and the exceptions that its calls let out stay.
/// **Cost:** linear in the number of instructions; never evicted.
/// **Approximates:** the exceptions, as described in `semantics.md` §3.
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

/// Returns for each method of a class, in file order, whether the method is reached from the entry points. `None` if
/// reachability is not computed (neither `--rta` nor `--entry`, or profile `paper`), if the class file is not part of the program, or if
/// another file of the same class shadows it.
///
/// **Reads:** `propagated`, `record`, the settings.
/// **Stays when:** the same methods of the class are reached.
/// **Cost:** one lookup for each method; none if reachability is not computed.
/// **Approximates:** reachability, as described in `semantics.md` §4.
/// **Test:** `all_answers_are_those_of_a_fresh_host` (in `ide`).
#[salsa::tracked]
pub fn reached(db: &dyn Db, class: ClassFile) -> Option<Arc<[bool]>> {
    let (world, profile) = profile(db)?;
    if profile == Profile::Paper || world.settings(db).receivers.is_none() {
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
