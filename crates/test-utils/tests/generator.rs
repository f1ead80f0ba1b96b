//! The JVM accepts every generated program, and every program ends in time. Each mode produces what it is for.

mod tiny_reader;

use std::collections::BTreeMap;

use test_utils::asm::opcodes;
use test_utils::generate::{Mode, program};
use test_utils::jdk::{self, Jdk};
use test_utils::jvm::{self, Answer, Outcome};
use test_utils::tier;

/// The number of programs for each mode; `GENERATED_PROGRAMS` sets another one.
fn n_programs() -> u64 {
    let asked = std::env::var("GENERATED_PROGRAMS").ok().and_then(|it| it.parse().ok());
    asked.unwrap_or(tier::rounds(25, 100))
}

fn answers(jdk: &Jdk, mode: Mode) -> Vec<Answer> {
    let mut classes = Vec::new();
    let mut cases = Vec::new();
    for seed in 0..n_programs() {
        let it = program(seed, mode).expect("assembles");
        classes.extend(it.classes);
        cases.extend(it.cases);
    }
    let answers = jvm::run(jdk, &classes, &cases).expect("harness runs");
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut n_lines = 0;
    for (case, answer) in cases.iter().zip(&answers) {
        let kind = match &answer.outcome {
            Outcome::Result(_) => "result".to_owned(),
            Outcome::Timeout => panic!("{}.{} does not terminate", case.class, case.method),
            Outcome::Throw(it) => it.split(" <- ").next().unwrap_or_default().to_owned(),
        };
        let own = kind.starts_with("g/");
        n_lines += answer.trace.len();
        *kinds.entry(if own { "own exception".to_owned() } else { kind }).or_default() += 1;
        if let Outcome::Throw(it) = &answer.outcome {
            for refused in [
                "VerifyError",
                "ClassFormatError",
                "IncompatibleClassChange",
                "StackOverflow",
                "NoSuch",
                "AbstractMethod",
                "IllegalAccess",
                "IllegalMonitor",
                "OutOfMemory",
                "UnsupportedClass",
                "IllegalArgument",
            ] {
                assert!(!it.contains(refused), "{}.{} on JDK {}: {it}", case.class, case.method, jdk.version);
            }
        }
    }
    eprintln!("JDK {} {mode:?}: {} cases, {n_lines} trace lines, {kinds:?}", jdk.version, cases.len());
    answers
}

fn check(mode: Mode) {
    let Some(first) = jdk::at_least(8) else { return };
    let expected = answers(&first, mode);
    // At least a third must reach their end, because otherwise the programs would test little but their first
    // instructions.
    let n_results = expected.iter().filter(|it| matches!(it.outcome, Outcome::Result(_))).count();
    assert!(n_results * 3 >= expected.len(), "{n_results} of {} end with a value", expected.len());
    for other in jdk::all().into_iter().filter(|it| it.version != first.version) {
        assert_eq!(answers(&other, mode), expected, "JDK {} and {} differ", first.version, other.version);
    }
}

#[test]
fn plain_programs_run() {
    check(Mode::Plain);
}

#[test]
fn subroutines_run() {
    check(Mode::Subroutines);
}

#[test]
fn odd_exception_tables_run() {
    check(Mode::OddRows);
}

#[test]
fn dynamic_calls_run() {
    check(Mode::Dynamic);
}

#[test]
fn a_seed_determines_the_program() {
    let mode = Mode::Plain;
    let (first, second) = (program(5, mode).expect("assembles"), program(5, mode).expect("assembles"));
    assert_eq!((first.classes, first.cases), (second.classes, second.cases));
}

#[test]
fn every_opcode_is_generated() {
    let mut counts = [0; 256];
    for mode in [Mode::Plain, Mode::Subroutines, Mode::OddRows, Mode::Dynamic] {
        for seed in 0..100 {
            for it in program(seed, mode).expect("assembles").classes {
                tiny_reader::count_opcodes(&it.bytes, &mut counts).expect("class can be read");
            }
        }
    }
    let missing: Vec<&str> = (0..=201)
        .filter(|&it| counts[usize::from(it)] == 0)
        .filter_map(|it| opcodes::info(it).map(|it| it.name))
        .collect();
    assert_eq!(missing, [""; 0]);
    assert_eq!(counts[202..], [0; 54], "no such opcodes");
}
