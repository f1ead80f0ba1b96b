//! The reasons why methods throw, kept current.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use test_utils::asm::assemble;
use test_utils::jar::jar;

use crate::{Watching, folder, programs, put, text};

/// The explanations of a one-shot command.
fn explained_once(arguments: &[&str]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.args(arguments).args(["--output-format", "jsonl", "--quiet"]);
    let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let lines = out.lines().map(|it| serde_json::from_str(it).unwrap());
    let is_explanation = |it: &Value| !matches!(it["record"].as_str(), Some("header" | "end"));
    lines.filter(is_explanation).collect()
}

fn explanations(changes: &[Value]) -> Vec<Value> {
    let all = changes.iter().map(|it| it["fact"]["explanation"].clone());
    all.filter(|it| !it.is_null()).collect()
}

/// Writes the class files of this text into a folder.
fn write(root: &Path, source: &str) {
    for it in assemble(source).unwrap() {
        put(&root.join(format!("{}.class", it.name)), &it.bytes);
    }
}

#[test]
fn the_first_answer_is_that_of_the_command_without_watch() {
    let root = folder();
    let (app, library) = (root.path().join("app"), root.path().join("lib.jar"));
    let mut members = Vec::new();
    for (i, (path, bytes)) in programs(30..33).into_iter().enumerate() {
        if i % 3 == 2 { members.push((path, bytes)) } else { put(&app.join(path), &bytes) }
    }
    let members: Vec<(&str, Vec<u8>)> = members.iter().map(|it| (&*it.0, it.1.clone())).collect();
    put(&library, &jar("", &members));
    let (mut n, mut in_library) = (0, 0);
    for flags in [
        &["-m", "*"][..],
        &["-m", "*", "--world", "closed"],
        &["-m", "*", "--world", "declared", "--link-errors"],
        &["-m", "*", "--exception", "java.lang.RuntimeException"],
        &["-m", "*", "--target", "*"],
        &["-m", "*@7"],
        &["-m", "*", "--rta", "--entry", "*.early*"],
        &["-m", "*", "--profile", "paper"],
    ] {
        let inputs = ["explain", text(&app), "-cp", text(&library), "--jdk", "none"];
        let arguments = [&inputs[..], flags].concat();
        let once = explained_once(&arguments);
        let watching = Watching::start(&arguments);
        let said = explanations(&watching.changes);
        let other = said.iter().zip(&once).find(|it| it.0 != it.1);
        assert_eq!(other, None, "{flags:?}: a command that looks once says the second");
        assert_eq!(said.len(), once.len(), "{flags:?}");
        assert_ne!(said.len(), 0, "{flags:?}");
        n += said.len();
        in_library += said.iter().filter(|it| it["chain"].to_string().contains("lib.jar!/")).count();
    }
    assert!(n > 1000 && in_library > 20, "{n} {in_library}");
}

/// The class `p/Main`, whose method calls `p/L`.
const MAIN: &str = ".class public super p/Main\n.method public static m()V\n .line 3\n invokestatic p/L.f()V\n return\n.end\n";

/// The class `p/L`, which divides.
const DIVIDES: &str = ".class public super p/L\n.method public static f()V\n .line 7\n iconst_1\n iconst_0\n idiv\n pop\n return\n.end\n";

/// The class `p/L`, which throws `null`.
const THROWS: &str =
    ".class public super p/L\n.method public static f()V\n .line 7\n aconst_null\n athrow\n.end\n";

#[test]
fn an_edit_changes_an_explanation_and_a_moved_line_does_not() {
    let root = folder();
    write(root.path(), MAIN);
    write(root.path(), DIVIDES);
    let arguments = ["explain", text(root.path()), "--jdk", "none", "--world", "closed", "-m", "p.Main.m"];
    let mut watching = Watching::start(&arguments);
    let place = |it: &str| root.path().join(it).display().to_string();
    let [first] = &explanations(&watching.changes)[..] else { panic!("{:?}", watching.changes) };
    assert_eq!(first["what"]["type"], "java/lang/ArithmeticException");
    assert_eq!(first["chain"][1]["at"]["place"], place("p/L.class"));
    assert_eq!((&first["chain"][1]["at"]["pc"], &first["chain"][1]["at"]["line"]), (&2.into(), &7.into()));
    // Move the code that the chain leads through, and change its line.
    let moved = DIVIDES.replace(" .line 7\n", " nop\n nop\n .line 8\n");
    write(root.path(), &moved);
    let cycle = watching.cycle();
    assert_eq!((&cycle["added"], &cycle["removed"]), (&0.into(), &0.into()), "{:?}", watching.changes);
    // `p/Main` is not edited, but its explanation changes.
    write(root.path(), THROWS);
    watching.cycle();
    let [gone, new] = &watching.changes[..] else { panic!("{:?}", watching.changes) };
    assert_eq!((&gone["change"], &new["change"]), (&"removed".into(), &"added".into()));
    assert_eq!((&gone["method"], &new["method"]), (&"p/Main.m()V".into(), &"p/Main.m()V".into()));
    let (gone, new) = (&gone["fact"]["explanation"], &new["fact"]["explanation"]);
    assert_eq!(new["what"]["type"], "java/lang/NullPointerException");
    // The removed explanation has its last reported position.
    assert_eq!(gone["chain"][1]["at"]["line"], 8);
    assert_eq!(new["chain"][1]["at"]["line"], 7);
}

#[test]
fn text_marks_each_line_of_an_explanation() {
    let root = folder();
    write(root.path(), MAIN);
    write(root.path(), DIVIDES);
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.args(["watch", "--once", "explain", text(root.path()), "--jdk", "none", "--world", "closed"]);
    command.args(["-m", "p.Main.m"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|it| it.starts_with("// 1: ")));
    write(root.path(), THROWS);
    let rest: Vec<String> = lines.collect();
    assert!(child.wait().unwrap().success());
    let (_, rest) = rest.split_last().unwrap();
    let expected = "\
p.Main.m()
  - ! java.lang.ArithmeticException
  -     p.Main.m() at pc 0, line 3
  -     <- p.L.f() at pc 2, line 7
  -     <- an instruction at this place raises the exception
  + ! java.lang.NullPointerException
  +     p.Main.m() at pc 0, line 3
  +     <- p.L.f() at pc 1, line 7
  +     <- an instruction at this place raises the exception";
    assert_eq!(rest.join("\n"), expected);
}

#[test]
fn a_new_method_is_explained() {
    let root = folder();
    write(root.path(), MAIN);
    write(root.path(), THROWS);
    let arguments = ["explain", text(root.path()), "--jdk", "none", "--world", "closed", "-m", "p.*.m"];
    let mut watching = Watching::start(&arguments);
    assert_eq!(explanations(&watching.changes).len(), 1);
    write(root.path(), &MAIN.replace("p/Main", "p/New"));
    watching.cycle();
    let facts = &watching.changes;
    assert!(facts.iter().all(|it| it["method"] == "p/New.m()V" && it["change"] == "added"), "{facts:?}");
    assert_eq!(explanations(facts).len(), 1);
    std::fs::remove_file(PathBuf::from(root.path()).join("p/Main.class")).unwrap();
    watching.cycle();
    let facts = &watching.changes;
    assert!(facts.iter().all(|it| it["method"] == "p/Main.m()V" && it["change"] == "removed"), "{facts:?}");
    assert_eq!(explanations(facts).len(), 1);
}
