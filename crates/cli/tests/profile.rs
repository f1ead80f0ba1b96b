//! Profile `paper` on the command line. What its graphs are is tested where they are made.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn ajar(arguments: &[&str]) -> Output {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.current_dir(folder).args(arguments).env_clear().env("AJAR_JDK", "none").arg("-q");
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn fine(arguments: &[&str]) -> String {
    let out = ajar(arguments);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    text(&out.stdout)
}

#[test]
fn documents_name_the_profile() {
    let document: Value =
        serde_json::from_str(&fine(&["cfg", "ghost", "--profile", "paper", "--output-format", "json"]))
            .unwrap();
    assert_eq!(document["profile"], "paper");
    assert_eq!(document["world"], "declared");
    assert_eq!(document["vm_error_groups"], serde_json::json!([]));
    let methods = document["methods"].as_array().unwrap();
    let named = |name: &str| methods.iter().find(|it| it["method"] == name);
    assert!(named("ghost/EvenOdd.even(I)Z").is_none(), "it is not written yet");
    let odd = named("ghost/EvenOdd.odd(I)Z").unwrap();
    let call = |it: &&Value| it["label"] == "ghost/EvenOdd.even(I)Z";
    // It promises to let nothing out, so its call has one edge.
    assert_eq!(odd["edges"].as_array().unwrap().iter().filter(call).count(), 1);
    assert!(fine(&["cfg", "hello", "--output-format", "json"]).contains("\"profile\":\"jvm\""));
}

#[test]
fn an_edge_for_each_receiver() {
    let lines = fine(&["cfg", "calls", "--profile", "paper", "--output-format", "jsonl", "-m", "Virtual.*"]);
    let mut most = 0;
    for line in lines.lines().filter(|it| it.contains("\"record\":\"method\"")) {
        let method: Value = serde_json::from_str(line).unwrap();
        let edges = method["edges"].as_array().unwrap();
        for edge in edges.iter().filter(|it| it["kind"] == "normal" && !it["label"].is_null()) {
            let same = |it: &&Value| it["from"] == edge["from"] && it["to"] == edge["to"];
            most = most.max(edges.iter().filter(same).count());
        }
    }
    assert!(most > 1, "{most}");
}

#[test]
fn what_the_paper_does_not_know_is_an_error() {
    for (more, what) in [
        (["--world", "open"].as_slice(), "knows the world `declared` only"),
        (&["--async-errors"], "--async-errors"),
        (&["--link-errors"], "--link-errors"),
        (&["--assume", "contract"], "--assume"),
    ] {
        let out = ajar(&[&["throws", "ghost", "--profile", "paper"], more].concat());
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).contains(what), "{}", text(&out.stderr));
    }
    fine(&["throws", "ghost", "--profile", "paper", "--world", "declared"]);
}

#[test]
fn text_says_it_too() {
    let throws = fine(&["throws", "ghost", "--profile", "paper", "-m", "ghost.EvenOdd.odd"]);
    assert_eq!(
        throws,
        "\
// ajar 0.1.0: no JDK; release 25; profile paper; world declared; VM errors: none

ghost.EvenOdd.odd(int)
  ! java.lang.Throwable+

"
    );
    let only = "--exception=java.lang.LinkageError";
    let why = fine(&["explain", "ghost", "--profile", "paper", "-m", "ghost.EvenOdd.odd", only]);
    // Without a JDK nobody knows what its constructor declares.
    assert!(why.contains("java.lang.ArithmeticException is not there"), "{why}");
    let calls = fine(&["calls", "ghost", "--profile", "paper", "-m", "ghost.EvenOdd.odd"]);
    assert!(calls.contains("-> ghost.EvenOdd.even(int)"), "{calls}");
    assert!(!calls.contains("ArithmeticException"), "a method of the platform is no call: {calls}");
}
