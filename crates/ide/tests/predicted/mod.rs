//! The exceptions that methods of an assembled program can throw, as ajar predicts them.

use std::collections::BTreeMap;

use ide::answer::{ClassAnswer, Question, class_answer};
use ide::whole::{Whole, read_class};
use ide::{Role, Scratch, Throws, WholeOptions, WorldKind};
use test_utils::asm::Assembled;

/// The program that consists of `classes`, on a release of Java whose classes are `platform`.
pub(crate) fn solved(
    classes: &[Assembled],
    platform: &[Assembled],
    world: WorldKind,
    link_errors: bool,
    release: u16,
) -> Whole {
    let options = WholeOptions {
        world,
        release: Some(release),
        assume_contract: false,
        link_errors,
        async_errors: false,
        system_assertions: false,
    };
    let record = |it: &Assembled| read_class(&it.bytes, &mut Scratch::default()).unwrap();
    let records = classes.iter().map(|it| (record(it), Role::App));
    let records = records.chain(platform.iter().map(|it| (record(it), Role::Jdk)));
    Whole::new(records.collect(), options)
}

/// The exceptions that each method of `classes` can throw in the program, by the name of the method.
pub(crate) fn throws(whole: &Whole, classes: &[Assembled]) -> BTreeMap<String, Throws> {
    let mut work = whole.work();
    let mut acc = BTreeMap::new();
    for class in classes {
        let question = Question { select: &|_| true, graphs: false, clock: None };
        let ClassAnswer { methods, .. } =
            class_answer(&class.bytes, &question, &mut Scratch::default()).unwrap();
        for it in methods {
            acc.insert(it.method.to_string(), whole.throws(&mut work, it.method).unwrap());
        }
    }
    acc
}
