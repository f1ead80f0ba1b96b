//! Faults of the class hierarchy are reported at the end of a result, as text and for machines. The JVM rejects the
//! same classes.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use test_utils::asm::assemble;

/// Each class `Bad…` has a fault. The other classes, here or of the JDK, are the reason for it.
const FAULTS: &str = "\
.class public super BadCycle
.super Above
.class public super Above
.super BadCycle
.class public interface abstract I
.class public super BadSuper
.super I
.class public super BadInterface
.implements Good
.class public super Good
.class public final super Last
.class public super BadFinal
.super Last
.class public super abstract Sealed
.version 61.0
.permits Permitted
.class public final super Permitted
.version 61.0
.super Sealed
.class public super BadSealed
.version 61.0
.super Sealed
";

const SAID: [(&str, &str, &str); 6] = [
    (
        "Above",
        "the class is its own supertype by way of BadCycle; the JVM refuses the class",
        "ClassCircularityError",
    ),
    (
        "BadCycle",
        "the class is its own supertype by way of Above; the JVM refuses the class",
        "ClassCircularityError",
    ),
    ("BadFinal", "the superclass Last is final; the JVM refuses the class", "IncompatibleClassChangeError"),
    (
        "BadInterface",
        "the class implements Good, which is a class; the JVM refuses the class",
        "IncompatibleClassChangeError",
    ),
    (
        "BadSealed",
        "Sealed is sealed and does not permit the class; the JVM refuses the class",
        "IncompatibleClassChangeError",
    ),
    (
        "BadSuper",
        "the superclass I is an interface; the JVM refuses the class",
        "IncompatibleClassChangeError",
    ),
];

fn write(folder: &Path, text: &str) {
    for class in assemble(text).unwrap() {
        std::fs::write(folder.join(format!("{}.class", class.name)), class.bytes).unwrap();
    }
}

/// The stdout and stderr of a command for a folder.
fn ajar(command: &str, folder: &Path, format: &str) -> (String, String) {
    let mut ajar = Command::new(env!("CARGO_BIN_EXE_ajar"));
    ajar.env_clear().env("AJAR_JDK", "none").current_dir(folder);
    let out = ajar.args([command, ".", "--output-format", format, "-v"]).output().unwrap();
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.success(), "{stderr}");
    (String::from_utf8(out.stdout).unwrap(), stderr)
}

#[test]
fn each_fault_is_reported_at_its_class() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), FAULTS);
    let place = |class: &str| format!("./{class}.class");
    for command in ["cfg", "calls", "throws", "missing"] {
        let (_, stderr) = ajar(command, folder.path(), "text");
        let notes: Vec<&str> = stderr.lines().filter_map(|it| it.strip_prefix("note: ")).collect();
        let want: Vec<String> = SAID.iter().map(|it| format!("{}: {}", place(it.0), it.1)).collect();
        assert_eq!(notes, want, "{command}");
        let value: Value = serde_json::from_str(&ajar(command, folder.path(), "json").0).unwrap();
        let notes = value["notes"].as_array().unwrap().iter();
        let notes: Vec<(&str, &str)> =
            notes.map(|it| (it["place"].as_str().unwrap(), it["text"].as_str().unwrap())).collect();
        let want: Vec<(String, &str)> = SAID.iter().map(|it| (place(it.0), it.1)).collect();
        let want: Vec<(&str, &str)> = want.iter().map(|it| (it.0.as_str(), it.1)).collect();
        assert_eq!(notes, want, "{command}");
    }
    let probe = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/modules/probe");
    for jdk in test_utils::jdk::all().iter().filter(|it| it.version >= 17) {
        let path = std::env::join_paths([probe.as_path(), folder.path()]).unwrap();
        let mut java = Command::new(jdk.java());
        java.arg("-cp").arg(path).arg("Probe").args(SAID.map(|it| it.0)).args([
            "Good",
            "I",
            "Last",
            "Permitted",
        ]);
        let text = String::from_utf8(java.output().unwrap().stdout).unwrap();
        let got: Vec<&str> = text.lines().collect();
        let refused = SAID.iter().map(|it| format!("{} java.lang.{}", it.0, it.2));
        let fine = ["Good", "I", "Last", "Permitted"].map(|it| format!("{it} theirs"));
        assert_eq!(got, refused.chain(fine).collect::<Vec<_>>(), "JDK {}", jdk.version);
    }
}

#[test]
fn a_chain_beyond_the_limit_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let classes: Vec<String> = (0..1100)
        .map(|it| match it {
            0 => ".class public super C0\n".to_owned(),
            it => format!(".class public super C{it}\n.super C{}\n", it - 1),
        })
        .collect();
    write(folder.path(), &classes.concat());
    let (_, stderr) = ajar("throws", folder.path(), "text");
    let notes: Vec<&str> = stderr.lines().filter(|it| it.starts_with("note: ")).collect();
    let text = "the class has more supertypes than the limit; its supertypes count as unknown";
    // C1023 and its superclasses are 1024 classes, the limit; above C1024 the chain is cut.
    assert_eq!(notes, [format!("note: ./C1024.class: {text}")]);
}

#[test]
fn a_hierarchy_without_faults_has_no_reports() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), ".class public super A\n.class public super B\n.super A\n.super A\n");
    let (stdout, stderr) = ajar("throws", folder.path(), "json");
    let value: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(value["notes"], serde_json::json!([]));
    assert!(!stderr.contains("note: "), "{stderr}");
}
