//! A program's own class loaders (`test-data/loaders`): with `--link-errors`, each instruction that resolves a class
//! names the loaders that it may ask, and raises the exceptions that they throw, as observed on a JVM.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use test_utils::jdk::{self, Jdk};
use test_utils::tier;

const OWN: &str = "Loaders$Own.loadClass(Ljava/lang/String;)Ljava/lang/Class;";
const NEVER: &str = "Loaders$Never.loadClass(Ljava/lang/String;)Ljava/lang/Class;";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/loaders")
}

/// The records about methods in the output of a command, in a closed world unless `args` set another one.
fn ask(command: &str, jdk: &str, args: &[&str]) -> Vec<Value> {
    let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
    it.args([command, "--quiet", "--output-format", "jsonl", "--jdk", jdk]).args(args).arg(folder());
    if !args.contains(&"--world") {
        it.args(["--world", "closed"]);
    }
    let out = it.output().expect("the binary can be run");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let records = text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    records.filter(|it| it["method"].is_string() || it["caller"].is_string()).collect()
}

/// The output of the program on a JVM, each line once.
fn run(jdk: &Jdk) -> BTreeSet<Vec<String>> {
    let out =
        Command::new(jdk.java()).arg("-cp").arg(folder()).arg("Loaders").arg(folder()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    text.lines().map(|it| it.split(' ').map(str::to_owned).collect()).collect()
}

/// A JDK of each release that can run the program; only one in the fast tier.
fn jdks() -> Vec<Jdk> {
    let mut all = jdk::all();
    all.retain(|it| it.version >= 17);
    all.dedup_by_key(|it| it.version);
    all.truncate(tier::at_most(1));
    if jdk::at_least(17).is_none() { Vec::new() } else { all }
}

fn texts(it: &Value) -> BTreeSet<&str> {
    it.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Whether a method such as `p/C.m(I)V` has the name `p.C.m`.
fn is(method: &Value, name: &str) -> bool {
    method.as_str().is_some_and(|it| it.split('(').next().unwrap().replace('/', ".") == name)
}

fn is_load(call: &Value) -> bool {
    call["kind"] == "load" && call["declared"].is_null()
}

#[test]
fn methods_that_were_observed_to_ask_a_loader_name_it() {
    for jdk in jdks() {
        let home = jdk.home.to_str().unwrap();
        let natives = ["java.lang.Class.getDeclaredMethods0", "java.lang.ClassLoader.defineClass1"];
        let own = ["-m", "Loaders**", "-m", "asks.**"];
        // In the fast tier, the JDK is no input, because it takes half of the time.
        let with_jdk = [&own[..], &["-m", natives[0], "-m", natives[1], home]].concat();
        let asked: &[&str] = tier::rounds(&own, &with_jdk);
        let calls = ask("calls", home, &[asked, &["--link-errors"]].concat());
        let mut implicit = 0;
        for line in run(&jdk).iter().filter(|it| it[0] == "asked") {
            let (target, caller, line) = (&line[1], &line[2], line[3].parse::<i64>().unwrap());
            if !tier::is_full() && natives.contains(&caller.as_str()) {
                continue;
            }
            // The line of a native method is -2.
            let at = |it: &&Value| is(&it["caller"], caller) && (line < 0 || it["line"] == line);
            let named = |it: &&Value| it["targets"].as_array().unwrap().iter().any(|it| is(it, target));
            let here: Vec<&Value> = calls.iter().filter(at).filter(named).collect();
            assert!(!here.is_empty(), "JDK {}: {caller}, line {line} does not name {target}", jdk.version);
            implicit += usize::from(here.into_iter().any(is_load));
        }
        assert!(implicit > 45, "{implicit}");
        // Without `--link-errors`, loaders are not named.
        let calls = ask("calls", home, asked);
        assert!(!calls.is_empty() && !calls.iter().any(is_load));
    }
}

/// The known exceptions of a method.
fn known(throws: &[Value], method: &str) -> Vec<String> {
    let it = throws.iter().find(|it| is(&it["method"], method)).unwrap_or_else(|| panic!("no {method}"));
    let parts = it["throws"].as_array().unwrap().iter();
    parts.map(|it| it["type"].as_str().unwrap().replace('/', ".")).collect()
}

#[test]
fn methods_throw_the_exceptions_of_the_loaders_that_they_ask() {
    // Without a JDK, the exceptions of the loaders alone are easy to see.
    let throws = ask("throws", "none", &["--link-errors"]);
    let before = ask("throws", "none", &[]);
    for jdk in jdks() {
        let lines: Vec<Vec<String>> = run(&jdk).into_iter().filter(|it| it[0] == "lets").collect();
        assert!(lines.len() > 80, "{}", lines.len());
        for line in lines {
            let (method, exception) = (&line[1], &line[2]);
            assert!(known(&throws, method).contains(exception), "{method} may throw {exception}");
            if exception.starts_with("Loaders$") {
                assert!(!known(&before, method).contains(exception), "{method}, {exception}");
            }
        }
    }
    // The exceptions of the loaders, and those that the VM raises because of their answers, but no
    // ClassNotFoundException.
    let own = ["Loaders$Fails", "Loaders$Refuses", "Loaders$Sneaks"];
    let vm = ["java.lang.IllegalAccessError", "java.lang.LinkageError", "java.lang.NoClassDefFoundError"];
    for method in ["asks.Uses.aConstant", "asks.Uses.aTest", "asks.Uses.aVerified", "asks.Uses.nest"] {
        let known = known(&throws, method);
        for it in own.iter().chain(&vm) {
            assert!(known.iter().any(|known| known == it), "{method}: {known:?}");
        }
        assert!(!known.iter().any(|it| it.ends_with("ClassNotFoundException")), "{method}: {known:?}");
    }
    // Nothing is resolved for the names of the class itself and of its direct supertypes.
    for method in
        ["asks.Uses.same", "asks.Sub.run", "asks.Sub.<init>", "asks.Needed.get", "asks.Handles.late"]
    {
        assert!(known(&throws, method).is_empty(), "{method}: {:?}", known(&throws, method));
    }
}

#[test]
fn a_handler_around_the_instruction_catches_it() {
    const GONE: &str = "java/lang/NoClassDefFoundError";
    // The constant is used only by the `return` after the range, the call is made in the range.
    for method in ["asks.Uses.caught", "asks.Uses.caughtCall"] {
        let graphs = ask("cfg", "none", &["--link-errors", "-m", method]);
        let graph = &graphs[0];
        let node = |id: &Value| &graph["nodes"][usize::try_from(id.as_u64().unwrap()).unwrap()];
        let has = |node: &Value, class: &str| {
            node["exception"].as_array().into_iter().flatten().any(|it| it["type"] == class)
        };
        let mut edges = graph["edges"].as_array().unwrap().iter();
        assert!(edges.any(|it| it["row"].is_u64() && has(node(&it["from"]), GONE)), "{graph}");
        let leaving = |class: &str| {
            let mut nodes = graph["nodes"].as_array().unwrap().iter();
            nodes.any(|it| it["kind"] == "exceptional-return" && has(it, class))
        };
        assert_eq!((leaving(GONE), leaving("Loaders$Refuses")), (false, true), "{graph}");
        let mut calls = graph["calls"].as_array().unwrap().iter();
        assert!(calls.any(|it| is_load(it) && texts(&it["targets"]).contains(OWN)), "{graph}");
    }
}

#[test]
fn a_handler_rethrows_the_exceptions_of_a_loader() {
    let graphs = ask("cfg", "none", &["--link-errors", "-m", "asks.Uses.thrownAgain"]);
    let nodes = graphs[0]["nodes"].as_array().unwrap();
    let catch = nodes[1]["pc"].as_i64().unwrap();
    let mut again =
        nodes.iter().filter(|it| it["kind"] == "exceptional-return" && it["pc"].as_i64() > Some(catch));
    let refuses =
        again.any(|it| it["exception"].as_array().unwrap().iter().any(|it| it["type"] == "Loaders$Refuses"));
    assert!(refuses, "{}", graphs[0]);
}

#[test]
fn a_chain_leads_through_the_loader() {
    let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
    it.args(["explain", "--quiet", "--output-format", "jsonl", "--jdk", "none", "--link-errors"]);
    it.args(["--world", "closed", "-m", "asks.Uses.aConstant@2"]).arg(folder());
    let out = it.output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let records: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let refuses = records.iter().find(|it| it["what"]["type"] == "Loaders$Refuses").expect("it is explained");
    let chain: Vec<(&str, &str)> = refuses["chain"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["fact"].as_str().unwrap(), it["rule"].as_str().unwrap_or("")))
        .collect();
    let expected =
        [("method", "JVMS 2.10"), ("load", "JVMS 5.3.2"), ("method", "JVMS 2.10"), ("raised", "JVMS 6.5")];
    assert_eq!(chain, expected);
    let call = records.iter().find(|it| it["kind"] == "load").expect("the call is explained");
    assert_eq!(call["rule"], "JVMS 5.3.2");
    let because = call["because"].as_array().unwrap();
    let own = because.iter().find(|it| it["target"] == OWN).expect("of the target");
    assert_eq!(
        texts(&own["receivers"][0]["chain"]),
        BTreeSet::from(["Loaders$Own", "java/lang/ClassLoader"])
    );
}

#[test]
fn a_missing_loader_may_be_asked_too() {
    let loads = |calls: &[Value]| calls.iter().filter(|it| is_load(it)).cloned().collect::<Vec<Value>>();
    let calls = ask("calls", "none", &["--link-errors", "--world", "open", "-m", "asks.Uses.aConstant"]);
    let calls = loads(&calls);
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["open"]["reason"], "outside");
    assert_eq!(texts(&calls[0]["targets"]), BTreeSet::from([OWN, NEVER]));
    let throws = ask("throws", "none", &["--link-errors", "--world", "open", "-m", "asks.Uses.aConstant"]);
    assert!(!throws[0]["open"].is_null(), "{}", throws[0]);
    let Some(jdk) = jdk::at_least(17).filter(|_| tier::is_full()) else { return };
    let home = jdk.home.to_str().unwrap();
    let calls =
        loads(&ask("calls", home, &["--link-errors", "--world", "open", "-m", "asks.Uses.aConstant"]));
    let open = &calls[0]["open"];
    assert_eq!(
        (open["reason"].as_str(), open["name"].as_str()),
        (Some("overridable"), Some("java/lang/ClassLoader"))
    );
}

#[test]
fn a_loader_that_is_never_created_is_not_asked() {
    let Some(jdk) = jdk::at_least(17) else { return };
    let home = tier::rounds("none", jdk.home.to_str().unwrap());
    let targets = |more: &[&str]| {
        let args = [&["--link-errors", "-m", "Loaders.sneak"], more].concat();
        let calls = ask("calls", home, &args);
        let load = calls.into_iter().find(is_load).expect("it makes an exception");
        texts(&load["targets"]).into_iter().map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let inherited = "java/lang/ClassLoader.loadClass(Ljava/lang/String;)Ljava/lang/Class;";
    // Without a JDK, there is nothing to inherit.
    let inherited = tier::is_full().then_some(inherited);
    let and_inherited =
        |own: &[&str]| own.iter().copied().chain(inherited).map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(targets(&[]), and_inherited(&[OWN, NEVER]));
    assert_eq!(targets(&["--rta"]), and_inherited(&[OWN]));
}
