//! Answers of `ajar throws --apart`, which name calls on objects of unknown classes instead of all that they may throw.
//!
//! In debug builds, the program itself compares the flattened answers with those without the flag, for each node of the
//! system, and fails if they differ. So each run here is a comparison, too.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use test_utils::asm::assemble;
use test_utils::{jdk, tier};

/// A service with two implementations, and callers that handle some of its exceptions.
const PROGRAM: &str = r"
.class public super java/lang/Object
.super none

.class public super java/lang/Throwable
.super java/lang/Object

.class public super java/lang/Exception
.super java/lang/Throwable

.class public super java/lang/Error
.super java/lang/Throwable

.class public super p/Lost
.super java/lang/Exception

.class public super p/Full
.super java/lang/Exception

.class public interface abstract p/Store
.method public abstract save()V
.end

.class public super p/Disk
.super java/lang/Object
.implements p/Store
.method public save()V
  aload 0
  ifnull other
  new p/Lost
  athrow
other:
  new p/Full
  athrow
.end

.class public super p/Memory
.super java/lang/Object
.implements p/Store
.method public save()V
  new p/Full
  athrow
.end

.class public super p/User
.super java/lang/Object
.method public static plain(Lp/Store;)V
  aload 0
  invokeinterface p/Store.save()V
  new p/Lost
  athrow
.end
.method public static caught(Lp/Store;)V
start:
  aload 0
  invokeinterface p/Store.save()V
end:
  return
handler:
  pop
  return
  .catch p/Full from start to end using handler
.end
.method public static all(Lp/Store;)V
start:
  aload 0
  invokeinterface p/Store.save()V
end:
  return
handler:
  pop
  return
  .catch any from start to end using handler
.end
.method public static way(Lp/Store;)V
  aload 0
  invokestatic p/User.caught(Lp/Store;)V
  return
.end
.method public static exact()V
  new p/Memory
  invokevirtual p/Memory.save()V
  return
.end
";

fn ajar(arguments: &[&str], input: &Path) -> String {
    let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
    let out = it.args(["throws", "--quiet", "--apart"]).args(arguments).arg(input).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{arguments:?}, {}: {stderr}", input.display());
    String::from_utf8(out.stdout).unwrap()
}

fn program() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for class in assemble(PROGRAM).unwrap() {
        let path = folder.path().join(format!("{}.class", class.name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, class.bytes).unwrap();
    }
    folder
}

#[test]
fn calls_are_named_with_what_handlers_let_through() {
    let program = program();
    let arguments = ["--world", "closed", "--jdk", "none", "-m", "p.User"];
    let text = ajar(&arguments, program.path());
    let answer = |method: &str| {
        let start = text.find(&format!("\np.User.{method}(")).unwrap_or_else(|| panic!("{text}"));
        let rest = text[start + 1..].split_once('\n').unwrap().1;
        rest.split("\n\n").next().unwrap().to_owned()
    };
    assert!(text.contains("// ~ a call on an object whose class is not known here"), "{text}");
    let call = "  ~ p.Store.save(): present code may throw";
    assert_eq!(answer("plain"), format!("  ! java.lang.NullPointerException, p.Lost\n{call} p.Full, p.Lost"));
    assert_eq!(answer("caught"), format!("  ! java.lang.NullPointerException\n{call} p.Lost"));
    assert_eq!(answer("all"), "  nothing");
    assert_eq!(answer("way"), answer("caught"));
    let summary =
        "// 5 methods: 1 throws nothing, 4 throw only known exceptions and what named calls throw\n";
    assert!(text.ends_with(summary), "{text}");
    // The receiver is known, so nothing is set apart.
    assert_eq!(answer("exact"), "  ! p.Full");
}

#[test]
fn json_has_the_calls_that_are_set_apart() {
    let program = program();
    let arguments = ["--jdk", "none", "-m", "p.User", "--output-format", "json"];
    let answer: Value = serde_json::from_str(&ajar(&arguments, program.path())).unwrap();
    assert_eq!(answer["apart"], true);
    let methods = answer["methods"].as_array().unwrap();
    let of =
        |method: &str| methods.iter().find(|it| it["method"].as_str().unwrap().contains(method)).unwrap();
    let apart = &of(".caught(")["apart"][0];
    assert_eq!(apart["call"], "p/Store.save()V");
    assert_eq!(apart["open"], true, "unseen classes may implement the interface: {apart}");
    assert_eq!(apart["throws"][0]["type"], "p/Lost");
    assert_eq!(of(".caught(")["open"], Value::Null);
    assert_eq!(of(".all(").get("apart"), None);
}

#[test]
fn profile_paper_has_no_such_answers() {
    let program = program();
    let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
    let out = it.args(["throws", "--apart", "--profile", "paper", "--jdk", "none"]).arg(program.path());
    let out = out.output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(
        (out.status.code(), stderr.contains("does not support `--apart`")),
        (Some(2), true),
        "{stderr}"
    );
}

/// Each flag that changes the system, alone.
const SETTINGS: [&[&str]; 7] = [
    &["--world", "open"],
    &["--world", "closed"],
    &["--world", "declared"],
    &["--assume", "contract"],
    &["--link-errors"],
    &["--async-errors"],
    &["--rta", "--entry", "library"],
];

fn test_data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data").join(name)
}

#[test]
fn flattened_answers_are_those_without_the_flag() {
    let mut n_apart = 0;
    for input in ["calls", "contexts", "hello", "observed", "variables"] {
        for setting in SETTINGS {
            let text = ajar(&[setting, &["--jdk", "none"]].concat(), &test_data(input));
            n_apart += text.matches("\n  ~ ").count();
        }
    }
    assert!(n_apart > 100, "{n_apart}");
}

/// The same with all classes of a JDK; only in the full tier, because debug builds take a minute for each setting.
#[test]
fn flattened_answers_about_a_jdk_are_those_without_the_flag() {
    let Some(jdk) = jdk::at_least(17).filter(|_| tier::is_full()) else { return };
    for setting in &SETTINGS[..2] {
        let home = jdk.home.to_str().unwrap();
        let text = ajar(&[setting, &["--jdk", home][..]].concat(), &test_data("hello"));
        assert!(text.contains("\n  ~ "), "{setting:?}: {text}");
    }
}
