//! The oracle for BIR semantics: programs run on a JVM and, as BIR text, in an evaluator that is written from the
//! JVM specification and shares no code with lowering. Result, exception and trace must be equal.

mod access;
mod bytecode;
mod callback;
mod frame;
mod instructions;
mod library;
mod machine;
mod numeric;
mod raw;
mod show;
mod sites;
mod state;
mod torture;
mod value;
mod world;

use classfile::names::{ClassName, Descriptor, MemberRef, Name};
use test_utils::generate::{Mode, Program, program};
use test_utils::jdk;
use test_utils::jvm::{self, Answer, Arg, Case, Outcome};
use test_utils::programs;
use test_utils::tier;

use crate::machine::{Engine, Event, Machine};
use crate::state::Stop;
use crate::value::{NULL, Value};
use crate::world::World;

/// The number of instructions that one case may run.
const BUDGET: u64 = 20_000_000;

/// Evaluates a case; returns the answer, with the order of reads and effects, or why the evaluator gave up.
fn run(world: &World, engine: Engine, case: &Case) -> Result<(Answer, Vec<Event>), String> {
    let mut machine = Machine::new(world, engine, BUDGET);
    let args = case.args.iter().map(|it| match it {
        Arg::Int(it) => Value::Int(*it),
        Arg::Long(it) => Value::Long(*it),
        Arg::Float(it) => Value::Float(f32::from_bits(*it)),
        Arg::Double(it) => Value::Double(f64::from_bits(*it)),
        Arg::Str(it) => machine.state.new_text(it.units().to_vec()),
        Arg::Null => NULL,
    });
    let args = args.collect();
    let method = MemberRef::new(
        ClassName::new(case.class.as_bytes()),
        Name::new(case.method.as_bytes()),
        Descriptor::new(case.descriptor.as_bytes()),
    );
    let outcome = match machine.call_static(method, args) {
        Ok(None) => Outcome::Result("V".to_owned()),
        Ok(Some(it)) => Outcome::Result(show::show(&machine.state.heap, it)),
        Err(Stop::Throw(id)) => Outcome::Throw(library::describe(&machine.state, id)),
        Err(Stop::Abort(why)) => return Err(why),
    };
    Ok((Answer { outcome, trace: machine.state.trace }, machine.events))
}

/// Runs a case as BIR and as bytecode, and compares both with the JVM's answer, and their heap reads and effects
/// one by one.
fn check(world: &World, case: &Case, expected: &Answer) -> Result<(), String> {
    let (found, events) = run(world, Engine::Bir, case)?;
    difference(expected, &found)?;
    let (raw, raw_events) = run(world, Engine::Bytecode, case).map_err(|why| format!("bytecode: {why}"))?;
    difference(expected, &raw).map_err(|why| format!("bytecode: {why}"))?;
    match reordered(&raw_events, &events) {
        None => Ok(()),
        Some((i, j)) => {
            let part = |it: &[Event], at: usize| {
                format!("{:?}", it.iter().skip(at.saturating_sub(4)).take(8).collect::<Vec<_>>())
            };
            Err(format!("event {i}\nbytecode: {}\nBIR:      {}", part(&raw_events, i), part(&events, j)))
        }
    }
}

/// Returns the first place where the events of BIR differ from those of the bytecode. A read may be missing only if
/// nothing but reads comes between it and a failing check: its value is then unobservable.
fn reordered(raw: &[Event], bir: &[Event]) -> Option<(usize, usize)> {
    let is_read = |it: &&Event| matches!(it, Event::Read(_) | Event::ReadElement(_));
    let (mut i, mut j) = (0, 0);
    while i < raw.len() || j < bir.len() {
        if raw.get(i) == bir.get(j) {
            j += 1;
        } else {
            let lost = raw[i..].iter().find(|it| !is_read(it)) == Some(&Event::Raise);
            if !(raw.get(i).as_ref().is_some_and(is_read) && lost) {
                return Some((i, j));
            }
        }
        i += 1;
    }
    None
}

fn world(classes: &[test_utils::asm::Assembled]) -> Result<World, String> {
    let mut world = World::new();
    for it in classes {
        world.load(&it.bytes).map_err(|err| format!("{}: {err}", it.name))?;
    }
    Ok(world)
}

/// Returns the first difference, with the trace before it.
fn difference(expected: &Answer, found: &Answer) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let at = expected.trace.iter().zip(&found.trace).position(|(a, b)| a != b);
    let at = at.unwrap_or(expected.trace.len().min(found.trace.len()));
    let part = |it: &Answer| {
        let from = at.saturating_sub(3);
        let lines: Vec<&str> = it.trace.iter().skip(from).take(6).map(String::as_str).collect();
        format!("{:?}; trace from {from} of {}: {lines:?}", it.outcome, it.trace.len())
    };
    Err(format!("JVM:       {}\nevaluator: {}", part(expected), part(found)))
}

/// Runs `f` with a stack that is large enough for deep recursion.
fn with_stack(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(f).expect("a thread starts");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Returns the number of programs per mode. `GENERATED_PROGRAMS` overrides it, `GENERATED_FROM` sets the first
/// seed, and `GENERATED_DUMP` names a folder for the failing classes.
fn n_programs() -> u64 {
    let asked = std::env::var("GENERATED_PROGRAMS").ok().and_then(|it| it.parse().ok());
    asked.unwrap_or(tier::rounds(30, 300))
}

fn first_seed() -> u64 {
    std::env::var("GENERATED_FROM").ok().and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// Tests generated programs: all must lower, verify, be read back, and run as on the JVM.
fn generated(mode: Mode) {
    let Some(jdk) = jdk::at_least(8) else { return };
    let seeds: Vec<u64> = (first_seed()..first_seed() + n_programs()).collect();
    let mut failures = Vec::new();
    for seeds in seeds.chunks(500) {
        let programs: Vec<Program> = seeds.iter().map(|&it| program(it, mode).expect("assembles")).collect();
        let classes: Vec<_> = programs.iter().flat_map(|it| it.classes.clone()).collect();
        let cases: Vec<_> = programs.iter().flat_map(|it| it.cases.clone()).collect();
        let expected = jvm::run(&jdk, &classes, &cases).expect("the harness runs");
        let mut expected = expected.iter();
        for (seed, program) in seeds.iter().zip(&programs) {
            let expected: Vec<&Answer> = expected.by_ref().take(program.cases.len()).collect();
            if let Some(why) = compare(program, &expected) {
                if let Some(root) = std::env::var_os("GENERATED_DUMP") {
                    jvm::write_classes(root.as_ref(), &program.classes).expect("the folder can be written");
                }
                failures.push(format!("seed {seed} of {mode:?}: {why}"));
            }
        }
    }
    let shown: Vec<&str> = failures.iter().take(5).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} programs differ\n{}", failures.len(), shown.join("\n\n"));
}

fn compare(program: &Program, expected: &[&Answer]) -> Option<String> {
    let world = match world(&program.classes) {
        Ok(it) => it,
        Err(err) => return Some(err),
    };
    for (case, expected) in program.cases.iter().zip(expected) {
        if let Err(why) = check(&world, case, expected) {
            return Some(format!("{}.{}{:?}\n{why}", case.class, case.method, case.args));
        }
    }
    None
}

#[test]
fn plain_programs_run_as_on_the_jvm() {
    with_stack(|| generated(Mode::Plain));
}

#[test]
fn subroutines_run_as_on_the_jvm() {
    with_stack(|| generated(Mode::Subroutines));
}

#[test]
fn odd_exception_tables_run_as_on_the_jvm() {
    with_stack(|| generated(Mode::OddRows));
}

#[test]
fn call_sites_run_as_on_the_jvm() {
    with_stack(|| generated(Mode::Dynamic));
}

/// Tests the hand-written programs against the recorded answers of the JVM.
fn recorded(folder: &str) {
    let root = jvm::data_dir().join(folder);
    let mut world = World::new();
    let mut classes = 0;
    for entry in std::fs::read_dir(&root).expect("the folder exists") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_some_and(|it| it == "class") {
            let bytes = std::fs::read(&path).expect("the class can be read");
            world.load(&bytes).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            classes += 1;
        }
    }
    let expected = programs::expected(&root).expect("expected.txt exists");
    assert!(classes > 5 && expected.len() > 10, "{classes} classes, {} cases", expected.len());
    let mut failures = Vec::new();
    for (case, expected) in &expected {
        if let Err(why) = check(&world, case, expected) {
            failures.push(format!("{}.{}: {why}", case.class, case.method));
        }
    }
    assert!(failures.is_empty(), "{} of {}\n{}", failures.len(), expected.len(), failures.join("\n\n"));
}

#[test]
fn programs_run_as_recorded() {
    with_stack(|| recorded("programs"));
}

#[test]
fn corners_run_as_recorded() {
    with_stack(|| recorded("bir-corners"));
}

/// Returns all static methods without parameters of these classes.
fn cases_of(classes: &[test_utils::asm::Assembled], world: &World) -> Vec<Case> {
    let mut out = Vec::new();
    for it in classes {
        let class = world.get(ClassName::new(it.name.as_bytes())).expect("the class was loaded");
        let mut methods: Vec<(String, String)> = class
            .methods
            .iter()
            .filter(|it| it.1.flags.is_static() && it.0.1.bytes().starts_with(b"()"))
            .map(|it| (it.0.0.to_string(), it.0.1.to_string()))
            .filter(|it| it.0 != "<clinit>")
            .collect();
        methods.sort();
        out.extend(methods.into_iter().map(|(method, descriptor)| Case {
            class: it.name.clone(),
            method,
            descriptor,
            args: Vec::new(),
        }));
    }
    out
}

#[test]
fn each_effect_comes_after_the_reads_before_it() {
    let Some(jdk) = jdk::at_least(11) else { return };
    let classes = test_utils::fixture::classes(include_str!("order.jasm")).expect("assembles");
    let world = world(&classes).expect("lowers");
    let cases = cases_of(&classes, &world);
    assert!(cases.len() > 15, "{} cases", cases.len());
    let expected = jvm::run(&jdk, &classes, &cases).expect("the harness runs");
    for (case, expected) in cases.iter().zip(&expected) {
        let what = format!("{} {:?}", case.method, expected.outcome);
        assert!(!what.contains("Verify") && !what.contains("Linkage"), "{what}");
        check(&world, case, expected).unwrap_or_else(|why| panic!("{what}: {why}"));
    }
}
