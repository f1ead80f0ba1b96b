//! Which queries run again after an edit: the barriers of `engine.md`, on classes compiled by javac.

mod common;

use analysis::facts::{ClassFacts, class_facts, facts, positions};
use common::LoggingDatabase;
use program::db::Db;
use program::input::ClassFile;
use program::outline::outline;

const BEFORE: &[u8] = include_bytes!("../../../test-data/edit/before/Order.class");
const BODY: &[u8] = include_bytes!("../../../test-data/edit/body/Order.class");
const LINES: &[u8] = include_bytes!("../../../test-data/edit/lines/Order.class");
const PRIVATE: &[u8] = include_bytes!("../../../test-data/edit/private/Order.class");

/// Reads the outline of the class and nothing else, so the query runs again exactly when the outline changed.
#[salsa::tracked]
fn reads_outline(db: &dyn Db, class: ClassFile) -> usize {
    outline(db, class).as_ref().map_or(0, |it| it.methods.len())
}

/// Reads the facts of the class and nothing else, so the query runs again exactly when the facts changed.
#[salsa::tracked]
fn reads_facts(db: &dyn Db, class: ClassFile) -> usize {
    facts(db, class).as_ref().map_or(0, |it| it.methods.len())
}

/// Reads the positions of the class and nothing else, so the query runs again exactly when the positions changed.
#[salsa::tracked]
fn reads_positions(db: &dyn Db, class: ClassFile) -> usize {
    positions(db, class).as_ref().map_or(0, |it| it.methods.len())
}

/// Edits a class from `BEFORE` to `after`, and returns the readers that ran again.
fn readers_that_ran(after: &[u8]) -> Vec<String> {
    let mut db = LoggingDatabase::new();
    let class = db.class(BEFORE);
    let ask = |db: &LoggingDatabase| {
        reads_outline(db, class);
        reads_facts(db, class);
        reads_positions(db, class);
    };
    ask(&db);
    assert_eq!(
        db.ran().len(),
        7,
        "at first three queries and their three readers run, and `parsed`, which two of the queries share"
    );
    db.edit(class, after);
    ask(&db);
    db.ran().into_iter().filter(|it| it.starts_with("reads_")).collect()
}

fn facts_of(bytes: &[u8]) -> ClassFacts {
    class_facts(bytes).unwrap().0
}

/// Returns the methods whose facts differ or that only one version has.
fn changed(before: &ClassFacts, after: &ClassFacts) -> Vec<String> {
    let all = before.methods.iter().chain(&after.methods);
    let mut names: Vec<String> = all
        .filter(|it| {
            let find =
                |facts: &ClassFacts| facts.methods.iter().find(|other| other.method == it.method).cloned();
            find(before) != find(after)
        })
        .map(|it| it.method.to_string())
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn editing_a_body_keeps_the_outline() {
    let ran = readers_that_ran(BODY);
    assert_eq!(ran, ["reads_facts", "reads_positions"]);
}

#[test]
fn editing_a_body_changes_the_facts_of_that_method_only() {
    assert_eq!(changed(&facts_of(BEFORE), &facts_of(BODY)), ["shop/Order.add(Ljava/lang/String;I)V"]);
}

#[test]
fn moving_lines_keeps_the_facts() {
    assert_eq!(facts_of(BEFORE), facts_of(LINES));
    assert_eq!(readers_that_ran(LINES), ["reads_positions"]);
}

#[test]
fn a_new_private_method_changes_no_facts_but_its_own() {
    let ran = readers_that_ran(PRIVATE);
    assert_eq!(ran, ["reads_outline", "reads_facts", "reads_positions"]);
    assert_eq!(changed(&facts_of(BEFORE), &facts_of(PRIVATE)), ["shop/Order.half()I"]);
}

#[test]
fn facts_are_the_same_alone_and_inside_a_world() {
    let db = LoggingDatabase::new();
    let others: Vec<ClassFile> = [BODY, LINES, PRIVATE].map(|it| db.class(it)).to_vec();
    assert!(others.iter().all(|&it| facts(&db, it).is_ok()));
    let inside = facts(&db, db.class(BEFORE)).as_ref().unwrap();
    let alone = facts_of(BEFORE);
    assert_eq!(**inside, alone);
    assert_eq!(inside.to_string(), alone.to_string());
    assert!(alone.to_string().contains("shop/Order.average"));
    assert_ne!(alone.to_string(), facts_of(BODY).to_string());
}

#[test]
fn a_class_that_cannot_be_read_is_outside() {
    let db = LoggingDatabase::new();
    let class = db.class(&BEFORE[..100]);
    assert!(facts(&db, class).is_err());
    assert!(outline(&db, class).is_err());
    assert!(positions(&db, class).is_none());
}
