//! Profile `paper` on the command line. Its graphs are tested in the crate that computes them.

use std::collections::{BTreeMap, BTreeSet};
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
    // The called method promises to throw nothing, so its call has one edge.
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
fn flags_that_profile_paper_does_not_support_are_errors() {
    for (more, what) in [
        (["--world", "open"].as_slice(), "supports only `--world declared`"),
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
fn text_names_the_profile() {
    let throws = fine(&["throws", "ghost", "--profile", "paper", "-m", "ghost.EvenOdd.odd"]);
    assert_eq!(
        throws,
        "\
// ajar 0.1.0: no JDK; release 25; profile paper; world declared; VM errors: none
// ! may be thrown by code that was read, ? by code that was not; C+ means C or a subclass

ghost.EvenOdd.odd(int)
  ! java.lang.Throwable+

// 1 method: 1 throws only known exceptions
"
    );
    let only = "--exception=java.lang.LinkageError";
    let why = fine(&["explain", "ghost", "--profile", "paper", "-m", "ghost.EvenOdd.odd", only]);
    // Without a JDK, it is unknown what its constructor declares.
    assert!(why.contains("java.lang.ArithmeticException is missing"), "{why}");
    let calls = fine(&["calls", "ghost", "--profile", "paper", "-m", "ghost.EvenOdd.odd"]);
    assert!(calls.contains("-> ghost.EvenOdd.even(int)"), "{calls}");
    assert!(!calls.contains("ArithmeticException"), "a method of the platform is no call: {calls}");
}

/// The graph and `explain` agree on what an instruction raises; and `explain` also gives the calls.
#[test]
fn an_instruction_is_explained_like_in_its_graph() {
    let paper = ["observed", "--profile", "paper", "--output-format", "json"];
    let graphs = fine(&[&["cfg", "-m", "P03Exceptions*"], &paper[..]].concat());
    let graphs: Value = serde_json::from_str(&graphs).unwrap();
    let supers: BTreeMap<&str, &str> = graphs["types"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (name(&it["type"]), name(&it["super"])))
        .collect();
    let is_below = |class: &str, top: &str| {
        std::iter::successors(Some(class), |it| supers.get(it).copied()).any(|it| it == top)
    };
    let (mut n_raising, mut n_called, mut n_quiet) = (0, 0, 0);
    for method in graphs["methods"].as_array().unwrap() {
        let mut raised: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
        for node in method["nodes"].as_array().unwrap() {
            let at = raised.entry(node["pc"].as_u64().unwrap()).or_default();
            let exceptions = node["exception"].as_array();
            at.extend(exceptions.into_iter().flatten().map(|it| name(&it["type"])));
        }
        for (pc, raised) in raised {
            let at = format!("{}@{pc}", name(&method["method"]));
            let out = ajar(&[&["explain", "-m", &at], &paper[..]].concat());
            assert_eq!(out.status.code(), Some(0), "{at}: {}", text(&out.stderr));
            let document: Value = serde_json::from_slice(&out.stdout).unwrap();
            let all = document["explanations"].as_array().unwrap();
            if all.is_empty() {
                assert!(raised.is_empty(), "{at}: {raised:?}");
                let note = document["notes"].as_array().unwrap().last().unwrap();
                assert_eq!(note["text"], "the instruction raises no exception and makes no call");
                n_quiet += 1;
                continue;
            }
            let mut said = BTreeSet::new();
            for it in all.iter().filter(|it| it["record"] == "exception") {
                let chain = it["chain"].as_array().unwrap();
                // The chain starts at the instruction and ends at a reason.
                assert_eq!((&chain[0]["at"]["pc"], &it["pc"]), (&pc.into(), &pc.into()), "{it}");
                let end = chain.last().unwrap();
                assert!(end["fact"] == "raised" || end["fact"] == "open", "{it}");
                n_called += usize::from(chain.len() > 2);
                assert!(said.insert((name(&it["what"]["type"]), it["what"]["cone"] == true)), "{it}");
            }
            for (class, _) in &said {
                assert!(raised.contains(class), "{at}: {class} is not in {raised:?}");
            }
            for class in raised {
                let is_meant = |it: &(&str, bool)| it.0 == class || it.1 && is_below(class, it.0);
                assert!(said.iter().any(is_meant), "{at}: {class} is not in {said:?}");
                n_raising += 1;
            }
        }
    }
    assert!(n_raising > 500 && n_called > 20 && n_quiet > 10, "{n_raising} {n_called} {n_quiet}");
}

#[test]
fn an_instruction_of_a_ghost_is_not_explained() {
    let asked = ["explain", "ghost", "--profile", "paper", "-m"];
    // The stub of the ghost contains a call.
    let out = ajar(&[&asked[..], &["ghost.Shape.<init>@1"]].concat());
    assert_eq!(out.status.code(), Some(2));
    assert!(
        text(&out.stderr)
            .contains("ghost.Shape.<init>() has no instruction at pc 1, because its code is not written yet"),
        "{}",
        text(&out.stderr)
    );
    assert!(
        fine(&[&asked[..], &["ghost.Parity.<init>@1"]].concat()).contains("! java.lang.NullPointerException")
    );
}

/// Explains one thrown exception of an instruction, selected by name.
#[test]
fn one_exception_of_an_instruction_is_explained() {
    let asked = ["explain", "hello", "--profile", "paper", "-m", "Inventory.fulfil@35"];
    assert_eq!(
        fine(&[&asked[..], &["--exception", "OutOfStock"]].concat()),
        "\
// ajar 0.1.0: no JDK; release 25; profile paper; world declared; VM errors: none
// ! may be thrown by code that was read, ? by code that was not; C+ means C or a subclass; <- because of

Inventory.fulfil(Order)
  ! OutOfStock
      Inventory.fulfil(Order) at pc 35, line 16
      <- an instruction at this place raises the exception

"
    );
}

fn name(it: &Value) -> &str {
    it.as_str().unwrap()
}
