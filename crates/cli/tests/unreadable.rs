//! A class that cannot be read is reported once by every command that would have read it, and affects nothing else.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use test_utils::asm::assemble;

const APP: &str = r"
.class public super p/App
.method public static main([Ljava/lang/String;)V
  invokestatic q/Gone.m()V
  return
.end
";

/// A program with a truncated class and one that is both truncated and shadowed, and a library with a truncated
/// class.
fn program() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let app = assemble(APP).unwrap().remove(0).bytes;
    write("app/p/App.class", &app);
    write("app/p/Cut.class", &app[..40]);
    write("second/p/App.class", &app[..50]);
    write("lib/q/Gone.class", &app[..30]);
    write("modules/m/module-info.class", &app[..20]);
    folder
}

fn ajar(folder: &Path, arguments: &[&str]) -> Output {
    let inputs = ["app", "second", "-cp", "lib", "--module-path", "modules", "--jdk", "none"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.current_dir(folder).args(arguments).args(inputs).env_clear();
    command.output().expect("it runs")
}

/// The errors on stderr, and the summary at their end.
fn errors(out: &Output) -> Vec<String> {
    let stderr = String::from_utf8(out.stderr.clone()).unwrap();
    stderr.lines().filter(|it| !it.starts_with("note: ")).map(str::to_owned).collect()
}

#[test]
fn every_command_reports_each_unreadable_class_once() {
    let folder = program();
    let reported = errors(&ajar(folder.path(), &["calls"]));
    let starts = [
        "error: modules/m/module-info.class: ",
        "error: lib/q/Gone.class: ",
        "error: app/p/Cut.class: ",
        "unreadable, and therefore not in the result: 3 classes",
    ];
    assert_eq!(reported.len(), starts.len(), "{reported:#?}");
    for start in starts {
        assert_eq!(reported.iter().filter(|it| it.starts_with(start)).count(), 1, "{start}: {reported:#?}");
    }
    assert!(
        reported.iter().any(|it| it.contains("app/p/Cut.class") && it.contains(", JVMS §4.4")),
        "{reported:#?}"
    );
    let sorted = |mut it: Vec<String>| {
        it.sort();
        it
    };
    let reported = sorted(reported);
    let paper = ["--profile", "paper", "-m", "p.App.main"];
    for arguments in [
        &["missing"][..],
        &["entries"],
        &["entries", "-m", "p.App.main"],
        &["explain", "-m", "p.App.main"],
        &["throws"],
        &["cfg"],
        &["calls", "--rta"],
        &[&["calls"], &paper[..]].concat(),
        &[&["throws"], &paper[..]].concat(),
        &[&["explain"], &paper[..]].concat(),
    ] {
        let out = ajar(folder.path(), arguments);
        assert_eq!(out.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
        assert_eq!(sorted(errors(&out)), reported, "{arguments:?}");
    }
}

#[test]
fn documents_list_what_cannot_be_read() {
    let folder = program();
    for arguments in [
        &["missing"][..],
        &["entries"],
        &["entries", "-m", "p.App.main"],
        &["explain", "-m", "p.App.main"],
        &["calls"],
    ] {
        let out = ajar(folder.path(), &[arguments, &["--quiet", "--output-format", "json"]].concat());
        assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
        let document: Value = serde_json::from_slice(&out.stdout).unwrap();
        let failed = document["failed_classes"].as_array().unwrap();
        let mut places: Vec<&str> = failed.iter().map(|it| it["place"].as_str().unwrap()).collect();
        places.sort_unstable();
        let wanted = ["app/p/Cut.class", "lib/q/Gone.class", "modules/m/module-info.class"];
        assert_eq!(places, wanted, "{arguments:?}");
        let cut = failed.iter().find(|it| it["place"] == "app/p/Cut.class").unwrap();
        assert!(cut["offset"].is_u64() && cut["jvms"].is_string(), "{cut}");
    }
}

#[test]
fn unreadable_classes_are_reported_before_an_unmatched_pattern() {
    let folder = program();
    for arguments in [
        &["explain", "-m", "p.Cut.main"][..],
        &["calls", "-m", "p.Cut.main"],
        &["entries", "-m", "p.Cut.main"],
        &["entries", "--entry", "p.Cut.main"],
        &["calls", "--rta", "--entry", "p.Cut.main"],
    ] {
        let out = ajar(folder.path(), arguments);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}");
        let reported = errors(&out);
        let cut = reported.iter().filter(|it| it.starts_with("error: app/p/Cut.class: ")).count();
        assert_eq!((cut, reported.len()), (1, 5), "{arguments:?}: {reported:#?}");
    }
}
