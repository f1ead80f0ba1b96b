//! The irregular classes of `test-data/torture` that run without a library: the output must equal that of the JVM.

use std::path::{Path, PathBuf};

use classfile::names::{ClassName, Descriptor, MemberRef, Name};
use test_utils::jvm::data_dir;

use crate::machine::{Engine, Event, Machine};
use crate::show::simple_name;
use crate::state::{Step, Stop};
use crate::value::{Payload, Value};
use crate::world::World;
use crate::{BUDGET, reordered, with_stack};

const GROUPS: [&str; 4] = ["versions", "features", "jasmin", "raw"];

/// The JVM's answers for classes that it refuses to run; the tests in `torture` cover these.
const REFUSALS: [&str; 5] = [
    "ClassCircularityError",
    "ClassFormatError",
    "NoClassDefFoundError",
    "UnsupportedClassVersionError",
    "VerifyError",
];

/// Returns the class files of a case. In shared folders, those of other cases are left out.
fn class_files(group: &str, folder: &Path, main: &str) -> Vec<PathBuf> {
    let own = |path: &PathBuf| {
        let name = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
        let top = name.split('$').next().unwrap_or_default();
        let shared = matches!(group, "jasmin" | "raw");
        path.extension().is_some_and(|it| it == "class") && (!shared || name == main || top == "Show")
    };
    let entries = std::fs::read_dir(folder).unwrap_or_else(|it| panic!("{}: {it}", folder.display()));
    entries.map(|it| it.expect("can be listed").path()).filter(own).collect()
}

fn load(files: &[PathBuf]) -> Result<World, String> {
    let mut world = World::new();
    for path in files {
        let bytes = std::fs::read(path).map_err(|it| it.to_string())?;
        world.load(&bytes).map_err(|it| format!("{}: {it}", path.display()))?;
    }
    Ok(world)
}

/// Runs the main method like the launcher of Java 25: static or on a new object, with or without arguments.
fn launch(machine: &mut Machine<'_>, class: ClassName) -> Step<()> {
    let descriptors = ["([Ljava/lang/String;)V", "()V"].map(|it| Descriptor::new(it.as_bytes()));
    let name = Name::new(b"main");
    let found = descriptors.iter().find_map(|&descriptor| {
        let flags = machine.world().get(class)?.methods.get(&(name, descriptor))?.flags;
        Some((descriptor, flags))
    });
    let Some((descriptor, flags)) = found else { return Err(Stop::Abort("no main method".to_owned())) };
    machine.initialise(class)?;
    let mut args = Vec::new();
    if !flags.is_static() {
        let id = machine.allocate(class)?;
        let init = MemberRef::new(class, Name::new(b"<init>"), Descriptor::new(b"()V"));
        machine.invoke(init, vec![Value::Ref(Some(id))])?;
        args.push(Value::Ref(Some(id)));
    }
    if descriptor == descriptors[0] {
        let strings = ClassName::new(b"[Ljava/lang/String;");
        args.push(Value::Ref(Some(machine.state.heap.add(strings, Payload::Array(Vec::new())))));
    }
    machine.invoke(MemberRef::new(class, name, descriptor), args).map(drop)
}

/// Returns the output of the program, with blanks for line ends, and the name of the exception that ends it.
fn line(world: &World, engine: Engine, main: &str) -> Result<(String, Vec<Event>), String> {
    let mut machine = Machine::new(world, engine, BUDGET);
    let end = match launch(&mut machine, ClassName::new(main.as_bytes())) {
        Ok(()) => String::new(),
        Err(Stop::Throw(id)) => simple_name(machine.state.heap.get(id).class),
        Err(Stop::Abort(why)) => return Err(why),
    };
    let printed = String::from_utf16_lossy(&machine.state.output).replace('\n', " ");
    Ok((format!("{printed}{end}").trim().to_owned(), machine.events))
}

fn check(files: &[PathBuf], main: &str, expected: &str) -> Result<(), String> {
    let world = load(files)?;
    let (printed, events) = line(&world, Engine::Bir, main)?;
    let (by_bytecode, raw_events) = line(&world, Engine::Bytecode, main)?;
    if printed != expected || by_bytecode != expected {
        return Err(format!("JVM:      {expected}\nBIR:      {printed}\nbytecode: {by_bytecode}"));
    }
    match reordered(&raw_events, &events) {
        None => Ok(()),
        Some((at, _)) => Err(format!("event {at}: {:?}", raw_events.get(at))),
    }
}

fn recorded_lines() {
    let root = data_dir().join("torture");
    let table = std::fs::read_to_string(root.join("expected.tsv")).expect("expected.tsv exists");
    let (mut failures, mut ran) = (Vec::new(), [0; GROUPS.len()]);
    for row in table.lines().filter(|it| !it.starts_with('#') && !it.is_empty()) {
        let [group, case, folder, main, library, expected] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("six columns: {row}")
        };
        let Some(at) = GROUPS.iter().position(|it| *it == group && library == "-") else { continue };
        if REFUSALS.contains(&expected) {
            continue;
        }
        let files = class_files(group, &root.join(folder), main);
        if let Err(why) = check(&files, main, expected) {
            failures.push(format!("{group} {case}: {why}"));
        }
        ran[at] += 1;
    }
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), failures.join("\n\n"));
    assert!(ran[0] >= 25 && ran[1] >= 5 && ran[2] >= 19 && ran[3] >= 9, "{ran:?} run");
}

#[test]
fn irregular_classes_print_the_recorded_line() {
    with_stack(recorded_lines);
}
