//! Small cases of call targets, positive and negative, by the categories of call-graph benchmarks: virtual and
//! non-virtual calls, default methods, initialisers, function objects, dynamic call sites, signature-polymorphic
//! methods, reflection, proxies, serialization, Unsafe, class loaders, calls by the VM, libraries.
//!
//! In the sources in `test-data/calls`, a comment at the end of a line says what the calls of that line must give
//! without a JDK: `-> targets`, `open` (some call may go anywhere), `closed` (none may), `resolved` (what reflection or
//! a method handle runs is known), `not targets`, `may targets`
//! (they are possible), `never targets` (they are neither targets nor possible), `nothing` (no call at all), or a kind of
//! implicit call that must be among them, such as `thread`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The kinds of implicit calls.
const KINDS: [&str; 7] =
    ["thread", "callback", "privileged", "reflect", "load", "serialization", "finalizer"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/calls")
}

/// All calls of the classes, by the name of the source file without extension, and line.
fn calls() -> BTreeMap<(String, i64), Vec<Value>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.args(["calls", "--quiet", "--jdk", "none", "--output-format", "jsonl"]).arg(folder());
    let out = command.output().expect("the binary can be run");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let mut acc: BTreeMap<(String, i64), Vec<Value>> = BTreeMap::new();
    for line in String::from_utf8(out.stdout).unwrap().lines() {
        let call: Value = serde_json::from_str(line).unwrap();
        if let (Some(caller), Some(line)) = (call["caller"].as_str(), call["line"].as_i64()) {
            let class = &caller[..caller.find('(').unwrap()];
            let class = &class[..class.rfind('.').unwrap()];
            let file = class.rsplit('/').next().unwrap().split('$').next().unwrap();
            // One file has two top-level classes.
            let file = if file == "Near" { "Hidden" } else { file };
            acc.entry((file.to_owned(), line)).or_default().push(call);
        }
    }
    acc
}

/// The machine-readable form of a method that is written like `q.C.m()V`.
fn machine(method: &str) -> String {
    let (name, descriptor) = method.split_at(method.find('(').unwrap());
    let (class, name) = name.rsplit_once('.').unwrap();
    format!("{}.{name}{descriptor}", class.replace('.', "/"))
}

fn methods(text: &str) -> impl Iterator<Item = String> {
    text.split(' ').filter(|it| !it.is_empty()).map(machine)
}

fn sources(folder: &Path, acc: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, acc);
        } else if path.extension().is_some_and(|it| it == "java") {
            acc.push(path);
        }
    }
}

#[test]
fn calls_go_where_the_sources_say() {
    let calls = calls();
    let mut files = Vec::new();
    sources(&folder(), &mut files);
    files.sort();
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for file in files {
        let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            let Some((_, wanted)) = line.split_once("// ") else { continue };
            let here = calls.get(&(stem.clone(), number)).map(Vec::as_slice).unwrap_or_default();
            let listed = |key: &str| -> BTreeSet<&str> {
                let lists = here.iter().flat_map(|it| it[key].as_array().unwrap());
                lists.filter_map(Value::as_str).collect()
            };
            let (targets, possible) = (listed("targets"), listed("possible"));
            let open = here.iter().any(|it| !it["open"].is_null());
            let is_reflective = |it: &&Value| {
                let declared = it["declared"].as_str().unwrap_or_default();
                let invokes =
                    ["java/lang/invoke/MethodHandle.invoke(", "java/lang/invoke/MethodHandle.invokeExact("];
                it["kind"] == "reflect"
                    || it["kind"] == "clinit" && declared.starts_with("java/lang/Class.forName")
                    || invokes.iter().any(|it| declared.starts_with(it))
            };
            let reflective: Vec<&Value> = here.iter().filter(is_reflective).collect();
            let resolved = !reflective.is_empty() && reflective.iter().all(|it| it["open"].is_null());
            let mut fail =
                |what: String| wrong.push(format!("{stem}.java:{number}: {what}; found {targets:?}"));
            for part in wanted.split('|').map(str::trim) {
                checked += 1;
                if let Some(list) = part.strip_prefix("-> ") {
                    for it in methods(list).filter(|it| !targets.contains(it.as_str())) {
                        fail(format!("{it} is no target"));
                    }
                } else if let Some(list) = part.strip_prefix("may ") {
                    for it in methods(list).filter(|it| !possible.contains(it.as_str())) {
                        fail(format!("{it} is not possible, but {possible:?}"));
                    }
                } else if let Some(list) = part.strip_prefix("never ") {
                    for it in methods(list).filter(|it| possible.contains(&**it) || targets.contains(&**it)) {
                        fail(format!("{it} is possible or a target"));
                    }
                } else if let Some(list) = part.strip_prefix("not ") {
                    for it in methods(list).filter(|it| targets.contains(it.as_str())) {
                        fail(format!("{it} is a target"));
                    }
                } else {
                    match part {
                        "open" if !open => fail("nothing is open".to_owned()),
                        "closed" if open => fail(format!("something is open: {here:?}")),
                        "nothing" if !here.is_empty() => fail("there are calls".to_owned()),
                        "resolved" if !resolved => fail(format!("not resolved: {reflective:?}")),
                        "open" if here.iter().any(|it| is_reflective(&it)) && resolved => {
                            fail("what reflection runs is resolved".to_owned());
                        }
                        "open" | "closed" | "resolved" | "nothing" => {}
                        kind if KINDS.contains(&kind) => {
                            if !here.iter().any(|it| it["kind"] == kind) {
                                fail(format!("no call is of kind {kind}"));
                            }
                        }
                        other => panic!("{stem}.java:{number}: what is `{other}`?"),
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checked > 160, "{checked}");
}

/// The assumption about unseen code does not restrict what present code throws.
#[test]
fn contract_keeps_exceptions_of_present_code_that_may_be_called() {
    let throws = |assume: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
        command.args(["throws", "--quiet", "--jdk", "none", "-m", "Stray.ask", "--output-format", "jsonl"]);
        let out = command.args(assume).arg(folder()).output().expect("the binary can be run");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let text = String::from_utf8(out.stdout).unwrap();
        let lines = text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
        lines.into_iter().find(|it| it["method"].is_string()).expect("an answer about the method")
    };
    let assumed = throws(&["--assume", "contract"]);
    let known = assumed["throws"].as_array().unwrap();
    assert!(known.iter().any(|it| it["type"] == "java/lang/Throwable" && it["cone"] == true), "{assumed}");
    // Without the assumption, the open part covers the exception.
    let plain = throws(&[]);
    assert_eq!(plain["open"]["except"].as_array().map(Vec::len), Some(0), "{plain}");
}

/// The stub of a ghost is not its code, and code that cannot be read may do anything.
#[test]
fn unseen_code_may_call_anything() {
    let ghosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/ghost");
    let folder = tempfile::tempdir().unwrap();
    let broken = ".class public super Broken\n.method public static m()V\n  pop\n  return\n.end\n";
    let broken = test_utils::asm::assemble(broken).unwrap().remove(0).bytes;
    std::fs::write(folder.path().join("Broken.class"), broken).unwrap();
    let run = |command: &str, input: &Path| {
        let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
        it.args([command, "--quiet", "--jdk", "none", "--output-format", "json"]).arg(input);
        let out = it.output().expect("the binary can be run");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice::<Value>(&out.stdout).unwrap()
    };
    let unseen = |input: &Path| -> Vec<(String, String)> {
        let value = run("calls", input);
        let calls = value["calls"].as_array().unwrap().iter().filter(|it| it["kind"] == "unseen");
        let text = |it: &Value| it.as_str().unwrap().to_owned();
        let all = calls.map(|it| (text(&it["caller"]), text(&it["open"]["reason"])));
        all.filter(|it| !it.0.starts_with("ghost/EvenOdd")).collect()
    };
    let ghost = |it: &str| (format!("ghost/{it}"), "ghost".to_owned());
    assert_eq!(
        unseen(&ghosts),
        [
            ghost("Parity.even(I)Z"),
            ghost("Parity.nested(I)Z"),
            ghost("Parity.bare(I)Z"),
            ghost("Shape.<init>()V")
        ]
    );
    assert_eq!(unseen(folder.path()), [("Broken.m()V".to_owned(), "missing-code".to_owned())]);
    // The stub is not drawn as a graph either.
    let value = run("cfg", &ghosts);
    let drawn = value["methods"].as_array().unwrap().iter().filter_map(|it| it["method"].as_str());
    let drawn: Vec<&str> = drawn.filter(|it| !it.starts_with("ghost/EvenOdd")).collect();
    assert_eq!(drawn, ["ghost/Parity.<init>()V", "ghost/Parity.odd(I)Z", "ghost/Shape$Circle.<init>()V"]);
}

/// In a world without unknown classes, the receivers of an interface are known, except objects that the platform
/// makes.
#[test]
fn in_a_closed_world_proxies_pass_calls_to_their_handlers() {
    let ask = |command: &str, classes: &[&str]| {
        let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
        it.args([command, "--quiet", "--jdk", "none", "--world", "closed", "--output-format", "json"]);
        it.args(classes.iter().map(|it| folder().join(format!("{it}.class"))));
        let out = it.output().expect("the binary can be run");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice::<Value>(&out.stdout).unwrap()
    };
    let of = |value: &Value, list: &str, key: &str, caller: &str| -> Vec<Value> {
        let all = value[list].as_array().unwrap().iter();
        all.filter(|it| it[key].as_str().unwrap().starts_with(caller)).cloned().collect()
    };
    let program =
        ["Reflecting", "Reflecting$Greeter", "Reflecting$Handler", "Reflecting$Answer", "Reflecting$Yes"];
    let calls = ask("calls", &program);
    let greet = of(&calls, "calls", "caller", "Reflecting.greet(");
    let handler = "Reflecting$Handler.invoke(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;";
    assert_eq!(greet[0]["targets"], serde_json::json!([handler]));
    // A sealed interface has no proxies.
    let answer = of(&calls, "calls", "caller", "Reflecting.answer(");
    assert_eq!(answer[0]["targets"], serde_json::json!(["Reflecting$Yes.text()Ljava/lang/String;"]));
    // The handler's result is cast.
    let throws = ask("throws", &program);
    let greet = &of(&throws, "methods", "method", "Reflecting.greet(")[0];
    let types: Vec<&str> =
        greet["throws"].as_array().unwrap().iter().filter_map(|it| it["type"].as_str()).collect();
    assert_eq!(types, ["java/lang/ClassCastException", "java/lang/NullPointerException"]);
    assert_eq!(greet["open"], Value::Null);
    // In a program that creates no proxies, there are none.
    let calls = ask(
        "calls",
        &["Defaults", "Defaults$A", "Defaults$B", "Defaults$C", "Defaults$D", "Reflecting$Handler"],
    );
    let asks = of(&calls, "calls", "caller", "Defaults.ask(");
    assert_eq!(asks[0]["targets"], serde_json::json!(["Defaults$B.who()Ljava/lang/String;"]));
}

/// With a JDK, callbacks are also reached through bodies of the JDK, in many steps. Calls in the program's own
/// methods name the callbacks nevertheless; calls in methods of the JDK do not.
#[test]
fn with_a_jdk_implicit_calls_are_named_too() {
    let Some(jdk) = test_utils::jdk::at_least(17) else { return };
    let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
    it.args(["calls", "--quiet", "--output-format", "json", "-m", "Upcalls.*", "--jdk"]).arg(&jdk.home);
    let out = it.arg(folder()).output().expect("the binary can be run");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let value: Value = serde_json::from_slice(&out.stdout).unwrap();
    let targets = |caller: &str, kind: &str| -> BTreeSet<String> {
        let calls = value["calls"].as_array().unwrap().iter();
        let calls =
            calls.filter(|it| it["kind"] == kind && it["caller"].as_str().unwrap().starts_with(caller));
        let all = calls.flat_map(|it| it["targets"].as_array().unwrap());
        all.map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let threads = targets("Upcalls.start(", "thread");
    assert!(
        threads.contains("Upcalls$Worker.run()V") && threads.contains("Upcalls$Job.run()V"),
        "{threads:?}"
    );
    assert_eq!(threads.iter().find(|it| it.starts_with("java/")), None);
    assert_eq!(targets("Upcalls.lazy(", "thread"), BTreeSet::new());
    let privileged = targets("Upcalls.privileged(", "privileged");
    assert_eq!(privileged.iter().collect::<Vec<_>>(), ["Upcalls$Action.run()Ljava/lang/Object;"]);
}
