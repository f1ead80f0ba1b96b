//! The queries for profile `paper`.

use std::sync::Arc;

use bir::body::InstrId;
use program::input::Role;
use program::names::{MethodName, Text};
use program::outline::{Method, Outline};

use super::answers::Paper;
use super::environment::{Record, api_record_of, record_of, record_of_bytes};
use crate::db::Db;
use crate::facts::{ClassFacts, MethodFact, facts};
use crate::input::{Library, Part, World};
use crate::parts::MethodCode;
use crate::propagated::record;
use crate::whole::answers::{Call, Throws};
use crate::whole::explain::Way;
use crate::whole::graph::Graph;
use crate::whole::record::ClassRecord;

/// Returns the records, for profile `paper`, of the classes of a library. The records of the platform hold only
/// signatures.
///
/// **Reads:** the role and contents of the library.
/// **Stays when:** the role and the contents stay.
/// **Cost:** reads all code of a library that is not the platform; one value per library, never evicted.
/// **Approximates:** nothing.
/// **Test:** `the_code_of_a_library_is_read_once_in_profile_paper` (in `ide`).
#[salsa::tracked(no_eq)]
pub fn paper_library(db: &dyn Db, library: Library) -> Arc<[Record]> {
    let contents = library.contents(db);
    let role = library.role(db);
    let classes = contents.records.iter().zip(&contents.entries);
    let of = |((_, record), entry): (&(_, ClassRecord), &u32)| {
        if role == Role::Jdk {
            return Some(api_record_of(Arc::clone(record.outline())));
        }
        let mut read = None;
        contents.source.with_bytes(*entry, &mut |bytes| read = record_of_bytes(bytes).ok());
        read
    };
    classes.filter_map(of).collect()
}

/// Returns the program of profile `paper`, with the exceptions that its methods propagate.
///
/// **Reads:** the containers of the world, `record` and `facts` of their classes, and `paper_library` of each
/// library.
/// **Stays when:** never; the queries that read the program have answers of their own, which may stay.
/// **Cost:** a fixed point over the whole program; one value, never evicted.
/// **Approximates:** the same as the paper.
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
                // A platform that is given as class files is treated like an application, because the user asks about
                // its classes.
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

/// Returns the exceptions that each method of a class propagates, in file order. Abstract methods are left out.
pub(crate) fn throws(db: &dyn Db, world: World, outline: &Outline) -> Arc<[Throws]> {
    let paper = paper(db, world);
    let mut universe = paper.environment.exceptions.clone();
    let name = |it: &Method| MethodName {
        class: Text(outline.class.bytes()),
        name: Text(it.name.bytes()),
        descriptor: Text(it.descriptor.bytes()),
    };
    outline.methods.iter().filter_map(|it| paper.throws(&mut universe, name(it))).collect()
}

/// Returns the calls of each method of a class with their targets, in file order. A ghost has no calls.
pub(crate) fn calls(db: &dyn Db, world: World, facts: &ClassFacts) -> Arc<[Arc<[Call]>]> {
    let paper = paper(db, world);
    let of = |(index, method): (usize, &MethodFact)| {
        let code = facts.code(index).filter(|_| !paper.is_ghost(MethodName::of(method.method)));
        code.map_or_else(Arc::default, |it| paper.calls(it).into())
    };
    facts.methods.iter().enumerate().map(of).collect()
}

/// Returns the final graphs of the methods of a class, in file order.
pub(crate) fn graphs(db: &dyn Db, world: World, facts: &ClassFacts) -> Arc<[Arc<Graph>]> {
    let paper = paper(db, world);
    let mut universe = paper.environment.exceptions.clone();
    let mut of = |(index, method): (usize, &MethodFact)| {
        let code = facts.code(index);
        let graph = code.map(|it| paper.graph(&mut universe, MethodName::of(method.method), it, false));
        Arc::new(graph.unwrap_or_default())
    };
    facts.methods.iter().enumerate().map(&mut of).collect()
}

/// Returns the reasons why a method lets out exceptions or, if `at` is given (the method's code and some of its
/// instructions), the reasons why these instructions raise exceptions. If `only` is given, returns the reasons only
/// for exceptions of that class and its subclasses.
pub(crate) fn ways(
    db: &dyn Db,
    world: World,
    method: MethodName,
    at: Option<(&MethodCode, &[InstrId])>,
    only: Option<Text>,
) -> Vec<Way> {
    let paper = paper(db, world);
    let mut universe = paper.environment.exceptions.clone();
    match at {
        None => paper.ways(&mut universe, method, only).unwrap_or_default(),
        Some((code, instrs)) => paper.ways_at(&mut universe, method, code, instrs, only),
    }
}
