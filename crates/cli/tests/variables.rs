//! Compares accesses through variable handles with the JVM: what `test-data/variables/Variables.java` was seen to let out
//! is among the exceptions of its methods, which are few although the accesses are signature-polymorphic.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use test_utils::jdk;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/variables")
}

/// The known exceptions that each method lets out according to `ajar throws`, by the name of the method.
fn predicted(home: &Path) -> BTreeMap<String, Vec<String>> {
    let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
    it.args(["throws", "--quiet", "--world", "closed", "--output-format", "json", "--jdk"]).arg(home);
    let out = it.arg(folder()).output().expect("the binary can be run");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    let mut acc = BTreeMap::new();
    for it in answer["methods"].as_array().unwrap() {
        let known = it["throws"].as_array().into_iter().flatten();
        let known = known.map(|it| it["type"].as_str().unwrap().replace('/', ".")).collect();
        let name = it["method"].as_str().unwrap().split('(').next().unwrap().to_owned();
        acc.insert(name, known);
    }
    acc
}

#[test]
fn accesses_let_out_what_the_jvm_was_seen_to_let_out() {
    for jdk in jdk::all().into_iter().filter(|it| it.version >= 17) {
        let run = Command::new(jdk.java()).arg("-cp").arg(folder()).arg("Variables").output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let text = String::from_utf8(run.stdout).unwrap();
        let predicted = predicted(&jdk.home);
        let mut n_seen = 0;
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let method = words.next().unwrap();
            let known = &predicted[&format!("Variables.{method}")];
            for seen in words {
                n_seen += 1;
                // What the initialiser of `Late` lets out is an unknown Error, too.
                let is_error = seen.ends_with("Error");
                let explains = |it: &String| it == seen || is_error && it == "java.lang.Error";
                assert!(known.iter().any(explains), "{method}: {seen} is not in {known:?}");
            }
            assert!(method == "late" || known.len() <= 8, "{method}: {known:?}");
        }
        assert!(n_seen >= 28, "{text}");
    }
}
