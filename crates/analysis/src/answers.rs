//! What is said of each class, and of the program as a whole, by the solved program: queries.
//!
//! Each asks first since when its answer holds. Only if that changed does it look at the program beside the database, which
//! that question brought up to date ([`crate::keeper`]).

use std::sync::Arc;

use classfile::names::ClassName;
use program::input::{ClassFile, Role};
use program::outline::Outline;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::db::Db;
use crate::facts::{ClassFacts, Code, facts};
use crate::input::{Part, Profile, World};
use crate::keeper::{CurrentProgram, Propagated};
use crate::paper::answers::Paper;
use crate::paper::environment::{Record, api_record_of, record_of, record_of_bytes};
use crate::parts::MethodCode;
use crate::propagated::{container_records, key, propagated, record};
use crate::stamps::Kind;
use crate::tiers::ClassKey;
use crate::whole::answers::{Call, Throws};
use crate::whole::called::{calls_of, unseen_calls};
use crate::whole::drawing::{Sets, graph};
use crate::whole::graph::Graph;
use crate::whole::missing::Missing;
use crate::whole::reachable::{EntryPoint, WhyEntry};
use crate::whole::solved::SolvedProgram;
use program::members::MethodId;
use program::names::{MethodName, Text};

/// Where calls of a method go.
pub type Calls = Arc<[Call]>;

/// The settings of the world; none if there is no world.
pub(crate) fn profile(db: &dyn Db) -> Option<(World, Profile)> {
    let Some(world) = World::try_get(db) else {
        // Salsa does not see that a world comes.
        db.report_untracked_read();
        return None;
    };
    Some((world, world.settings(db).profile))
}

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

/// The program that the question since when an answer holds brought up to date.
fn solved(db: &dyn Db) -> Option<Propagated> {
    let solved = db.keeper().current();
    if solved.is_none() {
        always_assert::never!("the question before has brought the program up to date");
        // An answer without a program must not be kept.
        db.report_untracked_read();
    }
    solved
}

/// The code of a method by its number, if it can be read.
fn code_of(facts: &ClassFacts, index: usize) -> Option<&Arc<MethodCode>> {
    match &facts.methods.get(index)?.code {
        Code::Known(code) => Some(code),
        Code::None | Code::Failed => None,
    }
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
        let paper = paper(db, world);
        let mut universe = paper.environment.exceptions.clone();
        return methods(record.outline()).filter_map(|it| paper.throws(&mut universe, it)).collect();
    }
    if throws_since(db, class).is_none() {
        return Arc::default();
    }
    let Some(propagated) = solved(db) else { return Arc::default() };
    let ask = |whole: &SolvedProgram, sets: &mut Sets, id| {
        crate::whole::throws::throws(whole, &mut sets.exceptions, id)
    };
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
    let code = |index: usize| code_of(facts, index);
    if profile == Profile::Paper {
        let paper = paper(db, world);
        let of = |index: usize| {
            let method = facts.methods.get(index).map(|it| MethodName::of(it.method));
            let known = code(index).filter(|_| method.is_some_and(|it| !paper.is_ghost(it)));
            known.map_or_else(Arc::default, |it| paper.calls(it).into())
        };
        return (0..facts.methods.len()).map(of).collect();
    }
    if calls_since(db, class).is_none() {
        return Arc::default();
    }
    let Some(propagated) = solved(db) else { return Arc::default() };
    let ask = |whole: &SolvedProgram, _: &mut Sets, id: MethodId| -> Calls {
        match code(id.index as usize) {
            Some(code) => calls_of(&whole.calls, id, code).into(),
            None => unseen_calls(&whole.calls, id).into(),
        }
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
    let code = |index: usize| code_of(facts, index);
    if profile == Profile::Paper {
        let paper = paper(db, world);
        let mut universe = paper.environment.exceptions.clone();
        let methods = facts.methods.iter().enumerate();
        let mut of = |(index, method): (usize, &crate::facts::MethodFact)| {
            let graph =
                code(index).map(|it| paper.graph(&mut universe, MethodName::of(method.method), it, false));
            Arc::new(graph.unwrap_or_default())
        };
        return methods.map(&mut of).collect();
    }
    if graphs_since(db, class).is_none() {
        return Arc::default();
    }
    let Some(propagated) = solved(db) else { return Arc::default() };
    let ask = |whole: &SolvedProgram, sets: &mut Sets, id: MethodId| {
        let code = code(id.index as usize).filter(|_| whole.calls.classes.ghost(id).is_none());
        Arc::new(code.map_or_else(Graph::default, |it| graph(whole, sets, id, it)))
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

/// The methods of a class, in file order.
fn methods(outline: &Outline) -> impl Iterator<Item = MethodName> + '_ {
    outline.methods.iter().map(|it| MethodName {
        class: Text(outline.class.bytes()),
        name: Text(it.name.bytes()),
        descriptor: Text(it.descriptor.bytes()),
    })
}

/// The classes that the program names and that are not there, by text.
///
/// **Reads:** `propagated`.
/// **Stays when:** which classes are there, who names them and what that opens does.
/// **Cost:** a look at the summaries of the application; one value, kept for ever.
/// **Approximates:** nothing.
/// **Test:** `all_answers_are_those_of_a_fresh_host` (in `ide`).
#[salsa::tracked]
pub fn missing(db: &dyn Db, world: World) -> Arc<[Missing]> {
    crate::whole::missing::missing(&propagated(db, world).read().solved().calls).into()
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

/// What profile `paper` must know of the classes of a library: of the platform its signatures alone.
///
/// **Reads:** the role and contents of the library.
/// **Stays when:** they do.
/// **Cost:** reads all code of a library that is not the platform; one value, kept for ever.
/// **Approximates:** nothing.
/// **Test:** `all_answers_are_those_of_a_fresh_host` (in `ide`).
#[salsa::tracked(no_eq)]
pub fn paper_library(db: &dyn Db, library: crate::input::Library) -> Arc<[Record]> {
    let contents = library.contents(db);
    let role = library.role(db);
    let classes = contents.records.iter().zip(&contents.entries);
    let of = |((_, record), entry): (&(_, crate::whole::record::ClassRecord), &u32)| {
        if role == Role::Jdk {
            return Some(api_record_of(Arc::clone(record.outline())));
        }
        let mut read = None;
        contents.source.with_bytes(*entry, &mut |bytes| read = record_of_bytes(bytes).ok());
        read
    };
    classes.filter_map(of).collect()
}

/// The program of profile `paper`, with what its methods propagate.
///
/// **Reads:** the containers of the world, `record` and `facts` of their classes, `paper_library` of libraries.
/// **Stays when:** never; what is read of it stays by its own answers.
/// **Cost:** a fixed point over the whole program; one value, kept for ever.
/// **Approximates:** as the paper does.
/// **Test:** `all_answers_are_those_of_a_fresh_host` (in `ide`).
#[salsa::tracked(no_eq)]
pub fn paper(db: &dyn Db, world: World) -> Arc<Paper> {
    let mut records = Vec::new();
    for part in world.parts(db) {
        match *part {
            Part::Library(it) => {
                let is_api = it.role(db) == Role::Jdk;
                records.extend(paper_library(db, it).iter().map(|it| (it.clone(), is_api)));
            }
            Part::Classes(it) => {
                // A platform that is asked about itself is a program like any other.
                for class in it.classes(db) {
                    if let (Some(it), Ok(facts)) = (record(db, class), facts(db, class)) {
                        records.push((record_of(Arc::clone(it.outline()), facts), false));
                    }
                }
            }
        }
    }
    Arc::new(Paper::new(records))
}
