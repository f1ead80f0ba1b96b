//! Whole real programs: every method of the small corpus and of the JDKs of this machine gets a body and a graph.
//!
//! `cargo xtask corpus small` fetches the corpus; CI runs it before the tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The output of `ajar stats` for one input.
fn stats(input: &Path) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.args(["stats", "--quiet", "--jdk", "none", "--output-format", "json"]).arg(input);
    let out = command.output().expect("the binary can be run");
    assert!(out.status.success(), "{}: {}", input.display(), String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("stats are JSON")
}

/// Checks that nothing failed, and that there were at least this many methods.
fn whole(input: &Path, at_least: u64) {
    let stats = stats(input);
    assert_eq!(stats["failed_classes"], Value::Array(Vec::new()), "{}", input.display());
    assert_eq!(stats["failed_methods"], Value::Array(Vec::new()), "{}", input.display());
    let methods = stats["methods"].as_u64().expect("a number");
    assert!(methods >= at_least, "{}: {methods} methods", input.display());
    assert!(stats["nodes"].as_u64() > stats["bir_instructions"].as_u64(), "{}", input.display());
}

fn must_be_there(what: &str) {
    assert!(std::env::var_os("CI").is_none_or(|it| it != "true"), "CI has no {what}");
    eprintln!("skipped: no {what}");
}

#[test]
fn every_method_of_the_small_corpus_has_a_graph() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/small");
    let Ok(manifest) = std::fs::read_to_string(corpus.join("manifest.tsv")) else {
        return must_be_there("corpus/small: run `cargo xtask corpus small`");
    };
    let jars: Vec<PathBuf> = manifest
        .lines()
        .filter_map(|it| it.split('\t').nth(5))
        .filter(|it| it.ends_with(".jar"))
        .map(|it| corpus.join(it))
        .collect();
    assert!(jars.len() >= 4, "{jars:?}");
    for jar in jars {
        whole(&jar, 150);
    }
}

#[test]
fn every_method_of_the_jdks_has_a_graph() {
    let jdks = test_utils::jdk::all();
    if jdks.is_empty() {
        return must_be_there("JDK");
    }
    for jdk in jdks.iter().take(test_utils::tier::at_most(1)) {
        whole(&jdk.home, 100_000);
    }
}
