//! Methods that are analysed for exact values of their parameters: what they let out according to `ajar throws` is what
//! comments in `test-data/contexts/Contexts.java` say, and a JVM lets out the same.
//!
//! A comment behind a method is `-> classes` (exactly these come out), `at least classes` (these come out, and the answer
//! may have more) or `not run`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use test_utils::jdk;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/contexts")
}

type Thrown = BTreeMap<String, BTreeSet<String>>;

fn words(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// What the comments say: whether the answer is exact, and the classes.
fn wanted() -> BTreeMap<String, (bool, BTreeSet<String>)> {
    let text = std::fs::read_to_string(folder().join("Contexts.java")).unwrap();
    let mut acc = BTreeMap::new();
    for line in text.lines() {
        let Some((code, comment)) = line.split_once(" // ") else { continue };
        let name = code.split('(').next().unwrap().rsplit(' ').next().unwrap().to_owned();
        if let Some(classes) = comment.strip_prefix("->") {
            acc.insert(name, (true, words(classes)));
        } else if let Some(classes) = comment.strip_prefix("at least") {
            acc.insert(name, (false, words(classes)));
        } else {
            assert_eq!(comment, "not run");
        }
    }
    acc
}

/// The classes that each method lets out according to `ajar throws`, without NullPointerException: a context does not say
/// that a value is not null.
fn said() -> Thrown {
    let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
    it.args(["throws", "--quiet", "--world", "closed", "--jdk", "none", "--output-format", "json"]);
    let out = it.arg(folder()).output().expect("the binary can be run");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    let mut acc = Thrown::new();
    for it in answer["methods"].as_array().unwrap() {
        let Some(rest) = it["method"].as_str().unwrap().strip_prefix("Contexts.") else { continue };
        let names = it["throws"].as_array().into_iter().flatten().map(|it| {
            let class = it["type"].as_str().unwrap();
            let cone = if it["cone"] == true { "+" } else { "" };
            format!("{}{cone}", class.strip_prefix("Contexts$").unwrap_or(class))
        });
        let names = names.filter(|it| it != "java/lang/NullPointerException").collect();
        acc.insert(rest.split('(').next().unwrap().to_owned(), names);
    }
    acc
}

#[test]
fn methods_are_analysed_for_the_values_that_callers_pass() {
    let (wanted, said) = (wanted(), said());
    assert!(wanted.len() >= 20, "{wanted:?}");
    for (method, (is_exact, classes)) in &wanted {
        let found = &said[method];
        let is_there = |it: &String| found.contains(it) || found.contains(&format!("{it}+"));
        assert!(classes.iter().all(is_there), "{method}: {found:?} instead of {classes:?}");
        assert!(!is_exact || found == classes, "{method}: {found:?} instead of {classes:?}");
    }
}

#[test]
fn a_jvm_lets_out_what_the_comments_say() {
    let Some(jdk) = jdk::at_least(17) else { return };
    let out = Command::new(jdk.java()).arg("-cp").arg(folder()).arg("Contexts").output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let wanted = wanted();
    let lines = text.lines().filter_map(|it| it.split_once(' '));
    let seen: Thrown = lines.map(|it| (it.0.to_owned(), words(it.1))).collect();
    for (method, (_, classes)) in &wanted {
        assert_eq!(seen[method], *classes, "{method}");
    }
}
