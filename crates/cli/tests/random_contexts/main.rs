//! Compares with the JVM what `throws` says about random programs in which exceptions depend on the objects that are
//! passed: call-backs, decorators, builders, templates, containers, parameters that are thrown (`semantics.md` §3.2).
//!
//! Each place that throws has an exception class of its own, so an answer that lacks the class has lost the place. Each
//! entry method runs with many numbers, which select the paths. Each exception that leaves it must be among those that the
//! answer names. Each program is analysed with the few classes of the platform that it uses.

mod classes;
mod code;
mod run;
mod words;

use std::collections::BTreeMap;

use ide::{Part, Throws};
use test_utils::jdk;
use test_utils::rng::Rng;
use test_utils::tier;

use run::{How, Ran, Seen, run_programs};
use words::Program;

/// The number of numbers with which each entry method runs.
const ROUNDS: usize = 1000;

/// What was found over all programs.
#[derive(Default, Debug)]
struct Counts {
    entries: usize,
    /// The entries from which nothing came out.
    quiet: usize,
    /// The exceptions that came out.
    seen: usize,
    /// Those of them that only the open part explains, by settings.
    by_open: BTreeMap<How, usize>,
    /// The entries whose answer names no exception of the program besides those that left the entry, and has no cone and no
    /// open part, by settings.
    exact: BTreeMap<How, usize>,
    /// The entries whose answer lacks an exception of a method that they call, because that method is analysed again for
    /// the values that they pass.
    narrower: usize,
    /// The exceptions that left an entry method and are not in its answer.
    faults: Vec<String>,
}

fn programs(first: u64, n: u64) -> Vec<Program> {
    let program = |seed| {
        let size = 4 + (seed % 9) as u32;
        classes::program(format!("p{seed}"), &mut Rng::new(seed), size)
    };
    (first..first + n).map(program).collect()
}

/// Whether classes and cones contain the exception.
fn covers(parts: &[Part], seen: &Seen) -> bool {
    parts.iter().any(|it| {
        let name = String::from_utf8_lossy(it.class.bytes());
        if it.cone { seen.iter().any(|it| *it == name) } else { seen[0] == name }
    })
}

fn judge(ran: &Ran, program: &Program, how: How, counts: &mut Counts) {
    let mut answers = ran.ask(&program.package, how);
    for (number, called) in program.entries.iter().enumerate() {
        let seen = &ran.seen[&(program.package.clone(), number)];
        let said: Throws = answers.entry(number);
        let place = format!("{how:?} {}.e{number}", program.package);
        for it in seen {
            assert_ne!(
                it[0], "java/lang/StackOverflowError",
                "{place}: the generator made an endless recursion"
            );
            let open = said.open.as_ref();
            if covers(&said.known, it) {
                continue;
            }
            if open.is_some_and(|open| covers(&open.within, it) && !covers(&open.except, it)) {
                *counts.by_open.entry(how).or_default() += 1;
            } else {
                counts.faults.push(format!("{place}: {} came out; the answer is {said:?}", it[0]));
            }
        }
        let is_own = |it: &&Part| it.class.bytes().starts_with(program.package.as_bytes());
        let came_out = |it: &Part| seen.iter().any(|seen| seen[0].as_bytes() == it.class.bytes());
        let is_exact = said.open.is_none()
            && said.known.iter().all(|it| !it.cone)
            && said.known.iter().filter(is_own).all(came_out);
        *counts.exact.entry(how).or_default() += usize::from(is_exact);
        if how == How::Closed {
            counts.entries += 1;
            counts.quiet += usize::from(seen.is_empty());
            counts.seen += seen.len();
            let lacks = |it: &Part| {
                !covers(&said.known, &vec![String::from_utf8_lossy(it.class.bytes()).into_owned()])
            };
            let is_cone = said.known.iter().any(|it| it.cone);
            let general = called.iter().flat_map(|it| answers.general(it));
            counts.narrower += usize::from(!is_cone && general.filter(|it| is_own(&it)).any(|it| lacks(&it)));
        }
    }
}

/// The constructs of the generator, each of which the programs must contain.
const SHAPES: [&str; 54] = [
    "anonymous class",
    "assigned again",
    "bound method reference",
    "bridge",
    "builder",
    "captures",
    "cast",
    "constructor reference",
    "constructor that calls an overridable method",
    "constructor that calls methods of its parameters",
    "decorator",
    "default method",
    "definitions in branches",
    "enum with bodies",
    "exception in a variable",
    "exception that overrides a method of Throwable",
    "exception with a cause",
    "exception with a message of an object",
    "finally",
    "generic container",
    "generic identity",
    "handler of two classes",
    "handler that throws on some paths",
    "instance method",
    "instanceof",
    "iterator",
    "lambda",
    "loop that exchanges variables",
    "method for references",
    "monitor",
    "more than two parameters",
    "null",
    "object that the caller creates",
    "override that calls super",
    "overrides of methods of Object",
    "parameter that is thrown",
    "record",
    "recursion with exchanged parameters",
    "reference to a method of this",
    "rethrowing handler",
    "returned value",
    "slots of disjoint scopes",
    "slots of wide variables",
    "sneaky throw",
    "static method reference",
    "super call",
    "swallowing handler",
    "ternary",
    "thrown by a method that gets it",
    "try with resources",
    "unbound method reference",
    "variable arguments",
    "variable assigned again",
    "wrapping handler",
];

#[test]
fn exceptions_that_leave_random_programs_are_known() {
    let Some(jdk) = jdk::at_least(17) else { return };
    let programs = programs(0, tier::rounds(12, 150));
    let ran = run_programs(&jdk, &programs, ROUNDS);
    let mut counts = Counts::default();
    for program in &programs {
        for how in [How::Closed, How::Reached, How::Linked, How::Open] {
            judge(&ran, program, how, &mut counts);
        }
    }
    let mut shapes: BTreeMap<&str, usize> = BTreeMap::new();
    for (shape, n) in programs.iter().flat_map(|it| &it.shapes) {
        *shapes.entry(shape).or_default() += n;
    }
    println!("{shapes:#?}\n{counts:#?}");
    assert!(counts.faults.is_empty(), "{} faults: {:#?}", counts.faults.len(), counts.faults);
    for it in SHAPES {
        assert!(!tier::is_full() || shapes.contains_key(it), "no program has this construct: {it}");
    }
    // Without these counts, answers that name everything would pass, and so would programs from which nothing comes out.
    assert!(counts.seen > 2 * counts.entries, "{counts:?}");
    assert_eq!(counts.by_open.values().sum::<usize>(), 0, "only the open part explains: {counts:?}");
    for (how, percent) in [(How::Closed, 20), (How::Reached, 20), (How::Linked, 20)] {
        assert!(counts.exact[&how] * 100 > counts.entries * percent, "{how:?}: {counts:?}");
    }
    assert!(counts.narrower > tier::rounds(3, 50), "{counts:?}");
}
