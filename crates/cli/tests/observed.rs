//! Compares with the JVM: what 21 programs were observed to do under a debugger is among the answers, by name.
//!
//! Everything is present and the world is closed, so a step counts as explained only by a *named* target, initialiser
//! or exception (`semantics.md` §7). For the facts and how they were recorded, see `test-data/observed/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use test_utils::tier;

/// The first words of the facts that the fast tier checks. These need only the calls of the programs, which take a
/// fraction of the time of the graphs of a JDK.
const FAST: [&str; 2] = ["call", "init"];

/// One observed fact: the words of its line.
struct Fact {
    program: String,
    words: Vec<String>,
}

/// Methods of reflection, or which use it. Their callbacks come from a native method that may call anything, and the
/// answer says so.
const REFLECTION: [&str; 7] = [
    "java.util.EnumSet.allOf",
    "java.util.EnumMap.<init>",
    "java.lang.invoke.MethodHandle.invokeWithArguments",
    "java.lang.reflect.Method.invoke",
    "java.lang.reflect.Constructor.newInstance",
    "java.lang.invoke.DirectMethodHandle$Holder.invokeStatic",
    "$Proxy0.greet",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/observed")
}

fn facts() -> Vec<Fact> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|it| it.unwrap().path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "facts"));
    files.sort();
    assert_eq!(files.len(), 22);
    let mut all = Vec::new();
    for file in files {
        let program = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        all.extend(text.lines().filter(|it| !it.starts_with('#')).map(|line| Fact {
            program: program.clone(),
            words: line.split('\t').map(str::to_owned).collect(),
        }));
    }
    all.retain(|it| tier::is_full() || FAST.contains(&it.words[0].as_str()));
    all
}

/// The machine-readable form of a method: `p/C.m(I)V` for `p.C.m(I)V`.
fn machine(method: &str) -> String {
    let (name, descriptor) = method.split_at(method.find('(').unwrap());
    let (class, name) = name.rsplit_once('.').unwrap();
    format!("{}.{name}{descriptor}", class.replace('.', "/"))
}

/// The method and pc in `p.C.m(I)V:12@34`.
fn place(text: &str) -> (String, i64) {
    let (method, pc) = text.rsplit_once('@').unwrap();
    let (method, _line) = method.rsplit_once(':').unwrap();
    (machine(method), pc.parse().unwrap())
}

/// The superclasses in the JDK of what the programs threw, from the JDK's documentation.
fn ancestors(class: &str) -> Vec<&str> {
    const RUNTIME: &str = "java/lang/RuntimeException";
    let mut acc = vec![class];
    let mut at = class;
    while at != "java/lang/Throwable" {
        at = match at {
            "java/lang/Exception" | "java/lang/Error" => "java/lang/Throwable",
            RUNTIME | "java/lang/ReflectiveOperationException" | "P03Exceptions$Low" => "java/lang/Exception",
            "P03Exceptions$Mid" => RUNTIME,
            "java/lang/reflect/InvocationTargetException" => "java/lang/ReflectiveOperationException",
            "java/lang/LinkageError" => "java/lang/Error",
            "java/lang/ExceptionInInitializerError" | "java/lang/NoClassDefFoundError" => {
                "java/lang/LinkageError"
            }
            "java/lang/NumberFormatException" => "java/lang/IllegalArgumentException",
            "java/lang/ArrayIndexOutOfBoundsException" | "java/lang/StringIndexOutOfBoundsException" => {
                "java/lang/IndexOutOfBoundsException"
            }
            _ => RUNTIME,
        };
        acc.push(at);
    }
    acc
}

/// Whether a list of classes and cones contains the class.
fn covers(parts: &Value, class: &str) -> bool {
    let above = ancestors(class);
    parts.as_array().unwrap().iter().any(|it| {
        let ty = it["type"].as_str().unwrap();
        ty == class || (it["cone"] == true && above.contains(&ty))
    })
}

struct Answers {
    calls: BTreeMap<String, Vec<Value>>,
    throws: BTreeMap<String, Value>,
    graphs: BTreeMap<String, Value>,
}

/// Asks about the programs, and about the methods of the JDK that the patterns select, with the JDK as an input.
fn ask(jdk: &Path, more: &[&str], patterns: &BTreeSet<String>) -> Answers {
    let run = |command: &str| -> Vec<Value> {
        let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
        it.args([command, "--quiet", "--world", "closed", "--output-format", "jsonl"]).arg(folder());
        // Methods of a JDK that is no input are not asked about.
        it.args((!tier::is_full()).then_some("--jdk")).arg(jdk);
        it.args(more);
        it.args(patterns.iter().flat_map(|it| ["-m", it]));
        let out = it.output().expect("the binary can be run");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let text = String::from_utf8(out.stdout).unwrap();
        text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
    };
    let by = |records: Vec<Value>, key: &str| -> BTreeMap<String, Vec<Value>> {
        let mut acc: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for it in records {
            if let Some(name) = it[key].as_str() {
                acc.entry(name.to_owned()).or_default().push(it);
            }
        }
        acc
    };
    let single = |it: BTreeMap<String, Vec<Value>>| {
        it.into_iter().map(|(name, mut all)| (name, all.remove(0))).collect()
    };
    let run_in_full = |command: &str| if tier::is_full() { run(command) } else { Vec::new() };
    Answers {
        calls: by(run("calls"), "caller"),
        throws: single(by(run_in_full("throws"), "method")),
        graphs: single(by(run_in_full("cfg"), "method")),
    }
}

impl Answers {
    fn calls_at(&self, method: &str, pc: i64) -> impl Iterator<Item = &Value> {
        self.calls.get(method).into_iter().flatten().filter(move |it| it["pc"] == pc)
    }

    /// Whether a path of named calls leads from one method to the other.
    fn reaches(&self, from: &str, to: &str) -> bool {
        let mut seen = BTreeSet::from([from.to_owned()]);
        let mut pending = vec![from.to_owned()];
        while let Some(at) = pending.pop() {
            for call in self.calls.get(&at).into_iter().flatten() {
                for target in call["targets"].as_array().unwrap() {
                    let target = target.as_str().unwrap();
                    if target == to {
                        return true;
                    }
                    if seen.insert(target.to_owned()) {
                        pending.push(target.to_owned());
                    }
                }
            }
        }
        false
    }

    fn lets_out(&self, method: &str, class: &str) -> bool {
        self.throws.get(method).is_some_and(|it| covers(&it["throws"], class))
    }

    /// Whether the graph of the method has an exception of this class, known by name and raised at `from` or by any
    /// call, that the handler at `to` catches.
    fn catches(&self, method: &str, from: Option<i64>, class: &str, to: i64) -> bool {
        let Some(graph) = self.graphs.get(method) else { return false };
        let nodes = graph["nodes"].as_array().unwrap();
        graph["edges"].as_array().unwrap().iter().any(|edge| {
            let node = |end: &str| &nodes[edge[end].as_u64().unwrap() as usize];
            let (start, end) = (node("from"), node("to"));
            let handler = matches!(edge["kind"].as_str(), Some("handler" | "may-handler"));
            handler
                && end["pc"] == to
                && from.is_none_or(|it| start["pc"] == it)
                && start["open"].is_null()
                && covers(&start["exception"], class)
        })
    }
}

/// Checks one fact; `None` for facts that are not about calls or exceptions.
fn explained(answers: &Answers, fact: &Fact) -> Option<Result<(), String>> {
    let words: Vec<&str> = fact.words.iter().map(String::as_str).collect();
    let verdict =
        |ok: bool| Some(if ok { Ok(()) } else { Err(format!("{}: {}", fact.program, words.join(" "))) });
    match *words {
        ["call", at, callee] => {
            let (method, pc) = place(at);
            let callee = machine(callee);
            verdict(answers.calls_at(&method, pc).any(|it| has(&it["targets"], &callee)))
        }
        ["via", at, jdk, callee] => {
            if REFLECTION.iter().any(|it| jdk.starts_with(it)) {
                return None;
            }
            let ((method, pc), callee) = (place(at), machine(callee));
            // A call that the JDK makes by reflection may be named where the program calls the JDK.
            let mut at_call = answers.calls_at(&method, pc);
            verdict(at_call.any(|it| has(&it["targets"], &callee)) || answers.reaches(&machine(jdk), &callee))
        }
        ["init", "VM", _] => None,
        ["init", at, class] => {
            let (method, pc) = place(at);
            let target = format!("{}.<clinit>()V", class.replace('.', "/"));
            let is_reflective = |it: &Value| {
                let called = it["declared"].as_str().unwrap_or_default().replace('/', ".");
                REFLECTION.iter().any(|it| called.starts_with(it))
            };
            if answers.calls_at(&method, pc).any(is_reflective) {
                return None;
            }
            // Which class `Class.forName` initialises, its argument determines; the call is open then.
            let mut calls = answers.calls_at(&method, pc).filter(|it| it["kind"] == "clinit");
            verdict(calls.any(|it| has(&it["targets"], &target) || !it["open"].is_null()))
        }
        ["throw", class, from, to, ref unwinds @ ..] => {
            let class = class.replace('.', "/");
            let unwinds = unwinds.first().map_or("", |it| it.trim_start_matches("unwinds "));
            let unwinds: Vec<String> = unwinds.split(' ').filter(|it| !it.is_empty()).map(machine).collect();
            // The first frame may see another class than its caller, because an exception that leaves an initialiser
            // is wrapped.
            let mut ok = unwinds.iter().all(|it| {
                answers.lets_out(it, &class)
                    || (from.contains("<clinit>")
                        && answers.lets_out(it, "java/lang/ExceptionInInitializerError"))
            });
            if let Some(jdk) = from.strip_prefix("jdk:") {
                ok &= answers.lets_out(&machine(jdk), &class);
            }
            if to.contains('@') {
                let (method, pc) = place(to);
                let raised = (unwinds.is_empty() && !from.starts_with("jdk:")).then(|| place(from).1);
                ok &= answers.catches(&method, raised, &class, pc);
            }
            verdict(ok)
        }
        _ => None,
    }
}

fn has(list: &Value, name: &str) -> bool {
    list.as_array().unwrap().iter().any(|it| it == name)
}

/// Checks all facts; returns the number of explained facts for each first word.
fn check(jdk: &Path, more: &[&str], facts: &[Fact]) -> BTreeMap<String, usize> {
    let mut patterns: BTreeSet<String> = BTreeSet::new();
    for fact in facts {
        patterns.insert(format!("{}*.*", fact.program));
        for jdk in fact.words.iter().filter_map(|it| it.strip_prefix("jdk:")) {
            patterns.insert(machine(jdk));
        }
    }
    if tier::is_full() {
        // The methods of the JDK between the programs and the callbacks.
        for class in ["ArrayList", "Arrays", "TimSort", "ComparableTimSort"] {
            patterns.insert(format!("java.util.{class}.*"));
        }
        patterns.insert("java.lang.String.valueOf".to_owned());
    }
    let answers = ask(jdk, more, &patterns);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut unexplained = Vec::new();
    for fact in facts {
        match explained(&answers, fact) {
            None => {}
            Some(Ok(())) => *counts.entry(fact.words[0].clone()).or_default() += 1,
            Some(Err(it)) => unexplained.push(it),
        }
    }
    assert!(unexplained.is_empty(), "{unexplained:#?}");
    counts
}

fn counted(counts: &BTreeMap<String, usize>) -> Vec<(&str, usize)> {
    counts.iter().map(|it| (it.0.as_str(), *it.1)).collect()
}

#[test]
fn everything_observed_is_explained_by_name() {
    let Some(jdk) = test_utils::jdk::at_least(25) else { return };
    let counts = check(&jdk.home, &[], &facts());
    // Without these counts, a test that explains nothing would pass.
    let explained = [("call", 347), ("init", 7), ("throw", 52), ("via", 5)];
    assert_eq!(counted(&counts), explained[..tier::rounds(FAST.len(), 4)]);
}

#[test]
fn everything_observed_is_reached_from_main() {
    let Some(jdk) = test_utils::jdk::at_least(25) else { return };
    // Narrowing assumes that reflection, and method handles that code looks up, call nothing else.
    let mut facts = facts();
    let is_looked_up = |it: &Fact| it.words.iter().any(|it| it.starts_with("P22Reflective.handled("));
    facts.retain(|it| it.program != "P21Reflect" && !is_looked_up(it));
    let rta = ["--rta", "--entry", "P*.main(java.lang.String[])"];
    let counts = check(&jdk.home, &rta, &facts);
    let explained = [("call", 345), ("init", 7), ("throw", 50), ("via", 5)];
    assert_eq!(counted(&counts), explained[..tier::rounds(FAST.len(), 4)]);
}
