//! A program that runs with another version of its library (`test-data/torture/link`): the answers name what the JVM
//! does at each mismatch.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use test_utils::asm::assemble;
use test_utils::jvm::{self, Arg, Case, Outcome};
use test_utils::tier;

fn test_data(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/torture").join(path)
}

/// The recorded output of the JVM for each of the numbered cases; the names of the cases are those in `App.java`.
fn recorded() -> Vec<(String, String)> {
    let source = std::fs::read_to_string(test_data("link/app/App.java")).unwrap();
    let names: Vec<&str> =
        source.lines().filter_map(|it| it.trim().strip_prefix("t(\"")?.split('"').next()).collect();
    let text = std::fs::read_to_string(test_data("expected.tsv")).unwrap();
    let line = text.lines().find_map(|it| it.strip_prefix("link\tApp\t")).expect("the case is recorded");
    let mut rest = line.split('\t').next_back().unwrap();
    let mut acc = Vec::new();
    for (i, name) in names.iter().enumerate() {
        rest = rest.trim_start().strip_prefix(name).unwrap_or_else(|| panic!("{name} does not begin {rest}"));
        let end = names.get(i + 1).map_or(rest.len(), |next| rest.find(next).unwrap());
        acc.push(((*name).to_owned(), rest[..end].trim().to_owned()));
        rest = &rest[end..];
    }
    acc
}

/// The graphs of the program's methods, by name.
fn graphs(jdk: &Path) -> BTreeMap<String, Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.args(["cfg", "--quiet", "--link-errors", "--output-format", "jsonl", "--jdk"]).arg(jdk);
    command.args([test_data("link/app"), test_data("link/v2")]);
    let out = command.output().expect("the binary can be run");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let records = text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    records.filter_map(|it| Some((it["method"].as_str()?.to_owned(), it.clone()))).collect()
}

#[test]
fn each_mismatch_raises_what_the_jvm_raises() {
    let Some(jdk) = test_utils::jdk::at_least(17) else { return };
    // The mismatches are between classes outside the JDK. Analysing a JDK takes seconds, so only the full tier does
    // it.
    let graphs = graphs(tier::rounds(Path::new("none"), &jdk.home));
    let recorded = recorded();
    assert_eq!(recorded.len(), 16, "{recorded:?}");
    let mut errors = 0;
    for (i, (name, result)) in recorded.iter().enumerate() {
        let method = format!("App.lambda$main${i}()Ljava/lang/Object;");
        let graph = graphs.get(&method).unwrap_or_else(|| panic!("no {method}"));
        if let Some(error) = result.strip_suffix("Error") {
            let error = format!("java/lang/{error}Error");
            let mut nodes = graph["nodes"].as_array().unwrap().iter();
            let raised = nodes.any(|node| {
                let parts = node["exception"].as_array().into_iter().flatten();
                node["open"].is_null() && parts.into_iter().any(|it| it["type"] == error.as_str())
            });
            assert!(raised, "{name}: nothing raises {error} in {}", graph["nodes"]);
            errors += 1;
        }
    }
    assert_eq!(errors, 12);
}

/// Reads of a field that does not exist, in ranges that end before the value is used, as javac writes them.
const WAITS: &str = r#"
.class public super p/A
.method public static caught()Ljava/lang/Object;
A: getstatic p/B.gone Ljava/lang/Object;
B: areturn
C: pop
  ldc "caught"
  areturn
  .catch java/lang/NoSuchFieldError from A to B using C
.end
.method public again()Ljava/lang/Object;
A: aload_0
  getfield p/A.gone Ljava/lang/Object;
B: areturn
C: athrow
  .catch java/lang/NoSuchFieldError from A to B using C
.end
.method public <init>()V
  aload_0
  invokespecial java/lang/Object.<init>()V
  return
.end
.method public static again(I)Ljava/lang/Object;
  new p/A
  dup
  invokespecial p/A.<init>()V
  invokevirtual p/A.again()Ljava/lang/Object;
  areturn
.end
.class public super p/B
"#;

#[test]
fn a_handler_catches_the_error_of_a_delayed_read() {
    let classes = assemble(WAITS).unwrap();
    let folder = jvm::TempDir::new().unwrap();
    jvm::write_classes(folder.path(), &classes).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.args(["cfg", "--quiet", "--output-format", "jsonl", "--jdk", "none"]).arg(folder.path());
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let records = text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let graphs: Vec<Value> = records.filter(|it| it["method"].is_string()).collect();
    let graphs = &graphs[..2];
    const ERROR: &str = "java/lang/NoSuchFieldError";
    let raises =
        |node: &Value| node["exception"].as_array().into_iter().flatten().any(|it| it["type"] == ERROR);
    for graph in graphs {
        let nodes = graph["nodes"].as_array().unwrap();
        let caught = graph["edges"].as_array().unwrap().iter().any(|it| {
            it["row"].is_u64() && raises(&nodes[usize::try_from(it["from"].as_u64().unwrap()).unwrap()])
        });
        assert!(caught, "{graph}");
    }
    // The second method rethrows the error from where it was caught.
    let nodes = graphs[1]["nodes"].as_array().unwrap();
    let last = nodes.iter().rfind(|it| it["kind"] == "exceptional-return").unwrap();
    assert!(raises(last) && last["pc"] == 5, "{}", graphs[1]);
    let Some(jdk) = test_utils::jdk::at_least(17) else { return };
    let case = |method: &str, params: &str, args: Vec<Arg>| Case {
        class: "p/A".to_owned(),
        method: method.to_owned(),
        descriptor: format!("({params})Ljava/lang/Object;"),
        args,
    };
    let cases = [case("caught", "", vec![]), case("again", "I", vec![Arg::Int(0)])];
    let answers = jvm::run(&jdk, &classes, &cases).unwrap();
    assert_eq!(answers[0].outcome, Outcome::Result("\"caught\"".to_owned()));
    assert_eq!(answers[1].outcome, Outcome::Throw(ERROR.to_owned()));
}
