//! The program of profile `paper`: queries.

use std::sync::Arc;

use program::input::Role;

use super::answers::Paper;
use super::environment::{Record, api_record_of, record_of, record_of_bytes};
use crate::db::Db;
use crate::facts::facts;
use crate::input::{Library, Part, World};
use crate::propagated::record;
use crate::whole::record::ClassRecord;

/// What profile `paper` must know of the classes of a library: of the platform its signatures alone.
///
/// **Reads:** the role and contents of the library.
/// **Stays when:** they do.
/// **Cost:** reads all code of a library that is not the platform; one value, kept for ever.
/// **Approximates:** nothing.
/// **Test:** `all_answers_are_those_of_a_fresh_host` (in `ide`).
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
