//! Cases that other tools got wrong, one for each test: the correct graphs and calls. The sources are in
//! `test-data/cases`. No JDK is used, so that nothing depends on one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/cases")
}

/// The class files of a case.
fn files(case: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder()).unwrap().map(|it| it.unwrap().path());
    let of_case = |it: &PathBuf| {
        let name = it.file_name().unwrap().to_str().unwrap();
        name.starts_with(case) && name.ends_with(".class")
    };
    let mut files: Vec<PathBuf> = all.filter(of_case).collect();
    files.sort();
    assert!(!files.is_empty(), "{case}");
    files
}

/// The records about a method in the output of a command.
fn ask(files: &[PathBuf], command: &str, method: &str) -> Vec<Value> {
    let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
    it.args([command, "--quiet", "--jdk", "none", "--output-format", "jsonl", "-m", method]).args(files);
    let out = it.output().expect("the binary can be run");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let records = text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    records.filter(|it| it["method"].is_string() || it["caller"].is_string()).collect()
}

struct Graph(Value);

impl Graph {
    fn of(files: &[PathBuf], method: &str) -> Graph {
        let mut records = ask(files, "cfg", method);
        assert_eq!(records.len(), 1, "{method}");
        Graph(records.remove(0))
    }

    fn edges(&self) -> &[Value] {
        self.0["edges"].as_array().unwrap()
    }

    fn node(&self, id: &Value) -> &Value {
        &self.0["nodes"][usize::try_from(id.as_u64().unwrap()).unwrap()]
    }

    fn n_nodes(&self) -> usize {
        self.0["nodes"].as_array().unwrap().len()
    }

    /// The pcs of the exceptions that the row catches, and the pcs of its handler.
    fn taken_by(&self, row: u64) -> (BTreeSet<i64>, BTreeSet<i64>) {
        let taken = || self.edges().iter().filter(move |it| it["row"] == row);
        let pc = |it: &Value| self.node(it)["pc"].as_i64().unwrap();
        (taken().map(|it| pc(&it["from"])).collect(), taken().map(|it| pc(&it["to"])).collect())
    }

    /// The pcs of the exceptions that the handler at `pc` catches.
    fn caught_at(&self, pc: i64) -> BTreeSet<i64> {
        let taken = self.edges().iter().filter(|it| it["row"].is_u64() && self.node(&it["to"])["pc"] == pc);
        taken.map(|it| self.node(&it["from"])["pc"].as_i64().unwrap()).collect()
    }

    /// The rows that catch exactly this known exception raised at `pc`.
    fn rows_for(&self, pc: i64, class: &str) -> Vec<u64> {
        let known = |it: &&Value| {
            let from = self.node(&it["from"]);
            let parts = from["exception"].as_array().map(Vec::as_slice).unwrap_or_default();
            from["pc"] == pc && from["open"].is_null() && parts.iter().any(|it| it["type"] == class)
        };
        self.edges().iter().filter(known).filter_map(|it| it["row"].as_u64()).collect()
    }

    /// The kinds of end nodes that a run at `pc` can reach.
    fn leads_to(&self, pc: i64) -> BTreeSet<&str> {
        let ids = (0..self.n_nodes()).filter(|&it| self.0["nodes"][it]["pc"] == pc);
        let mut seen: BTreeSet<u64> = ids.map(|it| it as u64).collect();
        let mut pending: Vec<u64> = seen.iter().copied().collect();
        while let Some(at) = pending.pop() {
            for it in self.edges().iter().filter(|it| it["from"] == at) {
                let to = it["to"].as_u64().unwrap();
                if seen.insert(to) {
                    pending.push(to);
                }
            }
        }
        let kinds = seen.into_iter().map(|it| self.node(&it.into())["kind"].as_str().unwrap());
        kinds.filter(|it| it.ends_with("return")).collect()
    }

    /// Whether the graph has a cycle.
    fn has_cycle(&self) -> bool {
        // Remove nodes without predecessors; what remains is on a cycle or reachable from one.
        let mut left: BTreeSet<u64> = (0..self.n_nodes() as u64).collect();
        loop {
            let entered: BTreeSet<u64> = self
                .edges()
                .iter()
                .filter(|it| left.contains(&it["from"].as_u64().unwrap()))
                .map(|it| it["to"].as_u64().unwrap())
                .collect();
            let before = left.len();
            left.retain(|it| entered.contains(it));
            if left.len() == before {
                return !left.is_empty();
            }
        }
    }
}

/// All targets of a method's calls of this kind, and whether one of the calls is open.
fn calls(case: &str, method: &str, kind: &str) -> (BTreeSet<String>, bool) {
    let records = ask(&files(case), "calls", method);
    let calls = || records.iter().filter(|it| it["kind"] == kind);
    assert!(calls().count() > 0, "{records:?}");
    let targets = calls().flat_map(|it| it["targets"].as_array().unwrap());
    (targets.map(|it| it.as_str().unwrap().to_owned()).collect(), calls().any(|it| !it["open"].is_null()))
}

fn named(targets: &[&str]) -> BTreeSet<String> {
    targets.iter().map(|it| (*it).to_owned()).collect()
}

/// javac protects the code that unlocks, from 18 to 21, with a row whose handler is that code itself. The `athrow` at
/// 22 is outside. A tool that extends the row over it gets an endless loop.
#[test]
fn s01_synchronized_method_body_is_left_by_the_rethrow() {
    let graph = Graph::of(&files("S01"), "S01Synchronized.add");
    assert!(!graph.has_cycle(), "the program has no loop");
    assert_eq!(graph.0["unreachable"], Value::Array(vec![]));
    assert_eq!(graph.leads_to(3), BTreeSet::from(["exceptional-return", "return"]));
    // The handler ends by rethrowing.
    assert_eq!(graph.leads_to(18), BTreeSet::from(["exceptional-return"]));
    assert_eq!(graph.leads_to(22), BTreeSet::from(["exceptional-return"]));
    // The handler catches what the array access raises. Nothing in the range of the second row can fail, because its
    // lock is held.
    assert_eq!(graph.taken_by(0), (BTreeSet::from([10]), BTreeSet::from([18])));
    assert_eq!(graph.taken_by(1), (BTreeSet::new(), BTreeSet::new()));
}

/// A throw of a known class has one target, the first matching row. Outer rows that catch the same class get only
/// what the inner handlers raise.
#[test]
fn s02_nested_tries_take_an_exception_once() {
    let graph = Graph::of(&files("S02"), "S02Nested.run");
    assert_eq!(graph.rows_for(11, "S02Nested$First"), [0]);
    assert_eq!(graph.rows_for(19, "S02Nested$Second"), [1]);
    for inner in [20, 26] {
        let from = graph.caught_at(inner);
        assert!(!from.is_empty() && from.iter().all(|it| (0..20).contains(it)), "{from:?}");
    }
    // The calls in the inner handlers.
    for outer in [32, 35] {
        assert_eq!(graph.caught_at(outer), BTreeSet::from([22, 28]));
    }
}

/// A subroutine that calls itself affects nothing else. A subroutine that is placed before the code that calls it
/// returns to that code and to nothing else.
#[test]
fn s05_subroutines_return_to_where_they_were_called() {
    let text = std::fs::read_to_string(folder().join("S05Subroutines.jasm")).unwrap();
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("S05Subroutines.class");
    std::fs::write(&file, &test_utils::asm::assemble(&text).unwrap()[0].bytes).unwrap();
    let files = [file];
    let itself = Graph::of(&files, "S05Subroutines.itself");
    assert_eq!(itself.0["unverified"], true, "the JVM's verifier refuses it, and we say so");
    assert!(itself.n_nodes() < 50, "{}", itself.n_nodes());
    assert!(itself.leads_to(0).is_empty(), "it never ends");
    let before = Graph::of(&files, "S05Subroutines.before");
    assert_eq!(before.0["unverified"], false);
    let next = |pc: i64| -> BTreeSet<i64> {
        let from = before.edges().iter().filter(|it| before.node(&it["from"])["pc"] == pc);
        from.map(|it| before.node(&it["to"])["pc"].as_i64().unwrap()).collect()
    };
    assert_eq!(next(7), BTreeSet::from([19]), "the first returns behind its own call");
    assert_eq!(next(13), BTreeSet::from([29]), "and so does the second");
    let other = Graph::of(&files, "S05Subroutines.other");
    assert_eq!(other.leads_to(1), BTreeSet::from(["return"]));
}

/// From version 52 on, `invokestatic` and `invokespecial` may name an interface method, by an `InterfaceMethodref`
/// constant.
#[test]
fn s08_static_and_default_methods_of_interfaces_are_called() {
    assert_eq!(
        calls("S08", "S08Interfaces.sides", "static"),
        (named(&["S08Interfaces$Shape.sides()I"]), false)
    );
    assert_eq!(
        calls("S08", "S08Interfaces$Square.corners", "special"),
        (named(&["S08Interfaces$Shape.corners()I"]), false)
    );
}

/// The arm that javac adds for classes that are added to the sealed interface later is kept. An exception of an
/// accessor becomes a `MatchException`.
#[test]
fn s12_record_patterns_keep_the_arm_for_later_classes() {
    let files = files("S12");
    let graph = Graph::of(&files, "S12Records.size");
    let default: Vec<&Value> = graph.edges().iter().filter(|it| it["kind"] == "default").collect();
    assert_eq!(default.len(), 1);
    assert_eq!(graph.node(&default[0]["to"])["pc"], 44);
    assert_eq!(graph.leads_to(53), BTreeSet::from(["exceptional-return"]));
    assert_eq!(graph.0["unreachable"], Value::Array(vec![]));
    let (from, to) = graph.taken_by(1);
    assert!(from.contains(&98) && to == BTreeSet::from([129]), "{from:?} {to:?}");
    assert_eq!(graph.rows_for(98, "S12Records$Negative"), [1]);
    let throws = ask(&files, "throws", "S12Records.size").remove(0);
    let known: Vec<&Value> = throws["throws"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(known, ["java/lang/ClassCastException", "java/lang/MatchException"]);
}

/// Function objects are receivers, even if both their interface and the bootstrap method are missing.
#[test]
fn s15_function_objects_are_run() {
    let (targets, open) = calls("S15", "S15Lambdas.m1", "interface");
    assert_eq!((targets, open), (named(&["S15Lambdas.m2()V"]), true), "anybody may implement Runnable");
    let (targets, _) = calls("S15", "S15Lambdas.main", "interface");
    assert_eq!(targets, named(&["S15Lambdas.lambda$main$0(I)I"]));
}
