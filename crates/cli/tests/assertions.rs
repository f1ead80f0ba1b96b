//! The assertions of the platform's own classes are off, as with `java`, unless `--system-assertions` is given. Those of
//! other classes may be on.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use test_utils::jdk;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/cases")
}

/// The answer of `ajar throws` for a method of `test-data/cases/S16Assertions.java`, in the closed world.
fn throws(home: &Path, method: &str, flags: &[&str]) -> Value {
    let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
    it.args(["throws", "--quiet", "--world", "closed", "--output-format", "json", "--jdk"])
        .arg(home)
        .args(flags);
    it.args(["-m", method]).arg(folder());
    let out = it.output().expect("the binary can be run");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// The exceptions and errors that leave the method, by name; `+` if subclasses do, `?` if unknown ones do.
fn names(answer: &Value) -> Vec<String> {
    let [method] = &answer["methods"].as_array().unwrap()[..] else { panic!("{answer}") };
    let known = method["throws"].as_array().into_iter().flatten();
    let mut names: Vec<String> = known
        .map(|it| {
            let cone = if it["cone"] == true { "+" } else { "" };
            format!("{}{cone}", it["type"].as_str().unwrap())
        })
        .collect();
    names.extend(method["open"].is_object().then(|| "?".to_owned()));
    names
}

#[test]
fn assertions_of_the_platform_count_on_request() {
    let Some(jdk) = jdk::at_least(17) else { return };
    let without = throws(&jdk.home, "S16Assertions.first", &[]);
    let named = names(&without);
    assert!(named.contains(&"java/lang/StringIndexOutOfBoundsException".to_owned()), "{without}");
    assert!(!named.iter().any(|it| it == "?" || it.ends_with('+') || it.contains("Assertion")), "{without}");
    let with = throws(&jdk.home, "S16Assertions.first", &["--system-assertions"]);
    assert!(names(&with).contains(&"java/lang/AssertionError".to_owned()), "{with}");

    let assumed = |it: &Value| it["assumptions"][0].as_str().unwrap().to_owned();
    assert!(assumed(&without).contains("; assertions of classes of the JDK are off"), "{without}");
    assert!(!assumed(&with).contains("assertions"), "{with}");
}

#[test]
fn assertions_of_the_program_always_count() {
    let Some(jdk) = jdk::at_least(17) else { return };
    for flags in [&[][..], &["--system-assertions"]] {
        let plain = throws(&jdk.home, "S16Assertions.plain", flags);
        let named = names(&plain);
        assert!(
            named.iter().any(|it| it.starts_with("java/lang/AssertionError") || it == "java/lang/Throwable+"),
            "{plain}"
        );
    }
}
