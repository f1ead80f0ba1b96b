//! Runs the binary in a separate folder: arguments, exit codes, and what it writes where.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ORDER: &[u8] = include_bytes!("../../../test-data/edit/before/Order.class");
const OTHER: &[u8] = include_bytes!("../../../test-data/edit/body/Order.class");

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// Creates a project: `app` contains a class, `second` a shadowed one, and `broken` a truncated one.
    fn new() -> Project {
        let folder = tempfile::tempdir().unwrap();
        let project = Project { folder };
        project.write("app/shop/Order.class", ORDER);
        project.write("second/shop/Order.class", OTHER);
        project.write("broken/shop/Cut.class", &ORDER[..200]);
        project.write("misplaced/elsewhere/Order.class", ORDER);
        project
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
        // Without a JDK, the output is the same on every machine.
        command
            .current_dir(self.path())
            .args(arguments)
            .env_clear()
            .env("AJAR_JDK", "none")
            .env("AJAR_THREADS", "2");
        command.output().unwrap()
    }

    /// Runs a command that must succeed; returns stdout and stderr.
    #[track_caller]
    fn fine(&self, arguments: &[&str]) -> (String, String) {
        let out = self.run(arguments);
        let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
        assert_eq!(out.status.code(), Some(0), "{stderr}");
        (stdout, stderr)
    }

    /// Runs a command that must end with exit code 2; returns stderr.
    #[track_caller]
    fn wrong(&self, arguments: &[&str]) -> String {
        let out = self.run(arguments);
        assert_eq!(out.status.code(), Some(2), "{}", text(&out.stdout));
        assert_eq!(text(&out.stdout), "");
        text(&out.stderr)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_graph_is_printed_as_blocks() {
    let (stdout, stderr) = Project::new().fine(&["cfg", "app", "-m", "shop.Order.average"]);
    assert_eq!(stderr, "");
    assert_eq!(
        stdout,
        "\
// ajar 0.1.0: no JDK; release 25; world open; VM errors: initialisation, linking
// ! may be thrown by code that was read, ? by code that was not; C+ means C or a subclass; -> leads to

shop.Order.average()  Order.java:24-26
  B0 entry, pc 1..13, line 24
        1: assert notnull a0 // proved
        5: assert notnull a0 // proved
        8: $i0 := a0->shop/Order.cents:I
        8: $a1 := a0->shop/Order.items:Ljava/util/List;
        8: assert notnull $a1
        8: $i2 := invokeinterface java/util/List.size()I ($a1)
       13: assert notzero $i2
    -> B1
    ! java.lang.NullPointerException at pc 8 -> leaves the method
    ! java.lang.ArithmeticException at pc 13 -> caught by B2
    ? anything but java.lang.ArithmeticException+ at pc 8: java.util.List is missing -> leaves the method
    ? anything at pc 8: java.util.List is missing -> may be caught by B2
  B1 pc 14, line 24
       14: return $i0 / $i2
    -> returns
  B2 handler, pc 15..17, line 25..26
       15: catch a1
       17: return 0
    -> returns
  may leave by: java.lang.NullPointerException, and unknown exceptions

// provides 1 method
// 1 method: 1 may also throw unknown exceptions
//   unknown in 1 method: java.util.List is missing
"
    );
}

#[test]
fn bir_text_has_positions_in_comments() {
    let (stdout, _) = Project::new().fine(&["bir", "app", "-m", "shop/Order.total()I"]);
    let expected = "\
// shop.Order.total()  Order.java:19
method public shop/Order.total()I locals 1 {
  0: assert notnull a0                          // pc 1, line 19, proved: the value is the receiver
  1: return a0->shop/Order.cents:I              // pc 4
}

";
    assert!(stdout.ends_with(expected), "{stdout}");
}

#[test]
fn output_is_the_same_for_any_number_of_threads() {
    let project = Project::new();
    for format in ["text", "json", "jsonl", "dot", "graphml"] {
        let run = |threads| {
            let inputs = ["app", "broken", "misplaced", "second"];
            let flags = ["--output-format", format, "--threads", threads];
            project.run(&[&["cfg"], &inputs[..], &flags[..]].concat())
        };
        let one = run("1");
        assert_eq!(one.status.code(), Some(0), "{}", text(&one.stderr));
        assert!(one.stdout.len() > 1000);
        assert_eq!(one, run("7"), "{format}");
    }
}

#[test]
fn an_unreadable_class_affects_only_itself() {
    let (stdout, stderr) = Project::new().fine(&["cfg", "broken", "app", "--output-format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(value["methods"].as_array().unwrap().len(), 6);
    assert_eq!(value["failed_classes"][0]["place"], "broken/shop/Cut.class");
    assert!(stderr.contains("error: broken/shop/Cut.class: "), "{stderr}");
    assert!(stderr.contains("unreadable, and therefore not in the result: 1 class\n"), "{stderr}");
}

#[test]
fn shadowed_and_misplaced_classes_are_noted() {
    let (stdout, stderr) =
        Project::new().fine(&["cfg", "app", "second", "misplaced", "--output-format", "jsonl"]);
    assert_eq!(stdout.lines().count(), 6 + 2);
    assert!(
        stderr.contains("note: second/shop/Order.class: the class is left out: it is shadowed by the class of this name in app"),
        "{stderr}"
    );
    assert!(
        stderr.contains(
            "note: misplaced/elsewhere/Order.class: this definition of the class is left out, because the definition in app/shop/"
        ),
        "{stderr}"
    );
    let (stdout, stderr) = Project::new().fine(&["cfg", "misplaced", "--output-format", "jsonl"]);
    assert_eq!(stdout.lines().count(), 6 + 2);
    assert!(
        stderr.contains("note: misplaced: no class file of the folder is at the path at which the JVM would look for its class"),
        "{stderr}"
    );
    // The folder of a package.
    let (stdout, _) = Project::new().fine(&["cfg", "app/shop", "--output-format", "jsonl"]);
    assert_eq!(stdout.lines().count(), 6 + 2);
    let project = Project::new();
    project.write("app/backup/Order.class", OTHER);
    let left_out = "note: app/backup/Order.class: the file is left out: it defines the class shop/Order, and the JVM looks for \
                    this class only at shop/Order.class";
    for command in ["cfg", "bir", "throws"] {
        let (stdout, stderr) = project.fine(&[command, "app", "--output-format", "jsonl"]);
        assert!(stderr.contains(left_out), "{stderr}");
        // Only the note names the file.
        assert_eq!(stdout.matches("app/backup").count(), 1, "{stdout}");
    }
    for name in ["One", "Two", "Three"] {
        project.write(&format!("lib/x/{name}.class"), ORDER);
    }
    project.write("lib/shop/Order.class", ORDER);
    let (_, stderr) = project.fine(&["throws", "app", "-cp", "lib"]);
    let counted = "note: lib/x/One.class: the file is left out: it defines the class shop/Order, and the JVM looks for this class \
                   only at shop/Order.class; 2 more class files of this container too\n";
    assert!(stderr.contains(counted), "{stderr}");
    let (_, stderr) = Project::new().fine(&["cfg", "app", "second", "-q"]);
    assert_eq!(stderr, "");
}

#[test]
fn a_pattern_without_a_match_names_the_nearest_method() {
    let stderr = Project::new().wrong(&["cfg", "app", "-m", "shop.Ordr.totl"]);
    assert_eq!(stderr, "error: no method matches `shop.Ordr.totl`; did you mean `shop.Order.total()`?\n");
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let project = Project::new();
    assert!(project.wrong(&["cfg"]).contains("INPUT"));
    assert!(project.wrong(&["cfg", "nowhere.jar"]).contains("nowhere.jar"));
    assert!(project.wrong(&["cfg", "app", "--output-format", "xml"]).contains("graphml"));
    assert!(project.wrong(&["cfg", "app", "--jdk", "app"]).contains("not a JDK"));
    project.write("ajar.toml", b"thread = 3");
    assert!(project.wrong(&["cfg", "app"]).contains("did you mean `threads`?"));
}

#[test]
fn arguments_come_from_files_as_in_javac() {
    let project = Project::new();
    project.write("args", b"cfg -cp \"second\" # a comment\n-m 'shop.Order.total' app");
    let (stdout, _) = project.fine(&["@args", "--output-format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(value["containers"][1], serde_json::json!({ "name": "second", "role": "lib" }));
    assert_eq!(value["methods"].as_array().unwrap().len(), 1);
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let project = Project::new();
    let (stdout, _) = project.fine(&["bir", "app", "-o", "out.txt"]);
    assert_eq!(stdout, "");
    let out = std::fs::read_to_string(project.path().join("out.txt")).unwrap();
    assert_eq!(out, project.fine(&["bir", "app"]).0);
    project.wrong(&["bir", "app", "-o", "none.txt", "-m", "x.Y.z"]);
    let mut names: Vec<_> =
        std::fs::read_dir(project.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["app", "broken", "misplaced", "out.txt", "second"]);
}

#[test]
fn stats_count() {
    let project = Project::new();
    let (stdout, _) = project.fine(&["stats", "app", "broken", "--output-format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&value["classes"], &value["methods"]), (&1.into(), &6.into()));
    assert_eq!(value["instructions"], 49, "as many as javap shows");
    assert_eq!(value["failed_classes"].as_array().unwrap().len(), 1);
    assert!(project.fine(&["stats", "app"]).0.starts_with("classes                               1\n"));
}

#[test]
fn config_shows_the_origins_of_settings() {
    let project = Project::new();
    project.write("ajar.toml", b"release = 11");
    let (stdout, _) = project.fine(&["config", "--threads", "3"]);
    assert!(stdout.contains("--threads on the command line"), "{stdout}");
    assert!(stdout.contains("AJAR_JDK in the environment"), "{stdout}");
    assert!(stdout.contains("ajar.toml"), "{stdout}");
}

#[test]
fn help_shows_an_example_and_shells_get_completions() {
    let project = Project::new();
    assert!(project.fine(&["--help"]).0.contains("ajar cfg app.jar -cp"));
    for command in ["cfg", "calls", "throws", "explain"] {
        assert!(project.fine(&[command, "--help"]).0.contains("Marks: `"), "{command}");
    }
    assert!(project.fine(&["completions", "bash"]).0.contains("_ajar"));
}

#[test]
#[cfg(unix)]
fn a_closed_pipe_is_not_an_error() {
    use std::process::Stdio;

    let project = Project::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.current_dir(project.path()).args(["cfg", "app", "--jdk", "none", "--output-format", "dot"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), text(&out.stderr)), (Some(0), String::new()));
}

#[test]
fn a_class_file_from_the_future_is_read_with_a_note() {
    let project = Project::new();
    project.write("future/Future.class", include_bytes!("../../../test-data/torture/raw/Future.class"));
    let out = project.run(&["bir", "future", "--jdk", "none"]);
    assert!(out.status.success());
    let notes = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(notes.contains("class file version 99 is newer than 69"), "{notes}");
}

#[test]
fn code_is_explained_at_any_path() {
    let project = Project::new();
    let explain = |input: &str| project.fine(&["explain", input, "-m", "shop.Order.average@13"]).0;
    let wanted = explain("app");
    assert!(wanted.contains("java.lang.ArithmeticException"), "{wanted}");
    // A class file by itself, and one in a folder where the JVM does not look for it.
    assert_eq!(explain("app/shop/Order.class"), wanted);
    assert_eq!(explain("misplaced"), wanted);
}

#[test]
fn an_explanation_is_a_chain_of_facts() {
    let project = Project::new();
    let explain = |more: &[&str]| project.fine(&[&["explain", "app", "-m"], more].concat()).0;
    let text = explain(&["shop.Order.average@13"]);
    assert!(
        text.ends_with(
            "\
shop.Order.average()
  ! java.lang.ArithmeticException
      shop.Order.average() at pc 13, line 24
      <- an instruction at this place raises the exception

"
        ),
        "{text}"
    );
    // Only the selected exception of the instruction is explained.
    let json = explain(&[
        "shop.Order.average@8",
        "--exception",
        "java.lang.NullPointerException",
        "--output-format",
        "jsonl",
    ]);
    let lines: Vec<&str> = json.lines().collect();
    assert!(lines[1].contains(r#""record":"exception","method":"shop/Order.average()I","place":"app/shop/Order.class","pc":8,"line":24"#));
    assert!(lines[2].contains(r#""fact":"open","name":"java/util/List","by":"outside""#), "{json}");
    assert_eq!(lines.len(), 4, "{json}");
    assert!(
        project
            .wrong(&["explain", "app", "-m", "shop.Order.average@13", "--exception", "java.io.IOException"])
            .contains("`java.io.IOException` is not a class that ajar has read")
    );
    assert!(
        project
            .wrong(&["explain", "app", "-m", "shop.Order.average", "--output-format", "dot"])
            .contains("jsonl")
    );
}

#[test]
fn a_library_that_does_not_exist_is_a_warning() {
    let project = Project::new();
    for absent in ["gone.jar", "gone/*"] {
        let (stdout, stderr) = project.fine(&["throws", "app", "-cp", absent, "--output-format", "json"]);
        let wanted = format!("warning: {absent}: the entry of the class path does not exist and is left out");
        assert!(stderr.starts_with(&wanted) && stderr.lines().count() == 1, "{stderr}");
        let value: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(value["warnings"][0]["place"], absent);
        assert_eq!(value["failed_classes"].as_array().unwrap().len(), 0);
        let out = project.run(&["throws", "app", "-cp", absent, "--output-format", "json", "--strict"]);
        assert_eq!((out.status.code(), text(&out.stdout)), (Some(2), stdout));
        assert!(text(&out.stderr).contains("1 part of the input is left out"), "{}", text(&out.stderr));
    }
    assert_eq!(project.run(&["bir", "broken", "app", "--strict"]).status.code(), Some(2));
    assert_eq!(project.run(&["bir", "app", "second", "--strict"]).status.code(), Some(0));
}

#[test]
fn source_files_are_refused_with_advice() {
    let project = Project::new();
    project.write("Order.java", b"class Order {}");
    for command in [&["cfg", "Order.java"][..], &["watch", "throws", "Order.java"]] {
        let stderr = project.wrong(command);
        assert!(stderr.contains("Java source") && stderr.contains("javac -d classes Order.java"), "{stderr}");
    }
}

#[test]
fn a_method_that_lets_nothing_out_is_explained() {
    let project = Project::new();
    let (stdout, _) = project.fine(&["explain", "app", "-m", "shop.Order.total"]);
    assert!(
        stdout.ends_with(
            "\
shop.Order.total()
  lets no exception out
      <- 1 check of its code cannot fail: the value is the receiver

"
        ),
        "{stdout}"
    );
    let (json, _) = project.fine(&["explain", "app", "-m", "shop.Order.total", "--output-format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let [it] = &value["explanations"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!((&it["record"], &it["code"]), (&"nothing".into(), &"present".into()));
    assert_eq!(it["proved"], serde_json::json!([{ "fact": "receiver", "checks": 1 }]));
    let stderr = project.wrong(&["explain", "app", "-m", "shop.Order.total@2"]);
    assert_eq!(
        stderr,
        "error: shop.Order.total() has no instruction at pc 2: the instruction before is at pc 1; the last one is at pc 4\n"
    );
    let (_, stderr) = project.fine(&["explain", "app", "-m", "shop.Order.total@0"]);
    assert!(stderr.contains("raises no exception and makes no call"), "{stderr}");
}

#[test]
fn methods_of_libraries_are_explained() {
    let project = Project::new();
    project.write("lib/q/L.class", &library());
    let of_library = ["-cp", "lib", "-m", "q.L.fail"];
    let (stdout, _) = project.fine(&[&["explain", "app"], &of_library[..]].concat());
    assert!(
        stdout.contains("q.L.fail()  (a method of a library)\n  ! java.lang.ArithmeticException"),
        "{stdout}"
    );
    let (stdout, _) = project.fine(&[&["entries", "app"], &of_library[..]].concat());
    assert!(
        stdout.contains("q.L.fail()  (a method of a library)\n  <- perhaps classes that were not read run"),
        "{stdout}"
    );
    let stderr = project.wrong(&[&["throws", "app"], &of_library[..]].concat());
    assert!(
        stderr.contains("but q.L.fail() of a library does") && stderr.contains("ajar explain"),
        "{stderr}"
    );
}

fn library() -> Vec<u8> {
    let text = ".class public super q/L\n.method public static fail()V\n iconst_1\n iconst_0\n idiv\n pop\n return\n.end\n";
    test_utils::asm::assemble(text).unwrap().remove(0).bytes
}

/// Two methods that differ only in their return type.
#[test]
fn bridges_are_printed_with_their_return_type() {
    let project = Project::new();
    let text = ".class public super q/B\n.method public static m()Ljava/lang/Object;\n invokestatic q/B.m()Ljava/lang/String;\n areturn\n.end\n.method public static m()Ljava/lang/String;\n aconst_null\n areturn\n.end\n";
    project.write("b/q/B.class", &test_utils::asm::assemble(text).unwrap().remove(0).bytes);
    let (stdout, _) = project.fine(&["calls", "b"]);
    assert!(stdout.contains("q.B.m(): java.lang.Object\n"), "{stdout}");
    assert!(stdout.contains("-> q.B.m(): java.lang.String\n"), "{stdout}");
    assert!(project.fine(&["bir", "b"]).0.contains("// q.B.m(): java.lang.String\n"));
}

#[test]
fn edges_are_compared_with_a_saved_answer() {
    let project = Project::new();
    for format in ["edges", "jsonl"] {
        project.fine(&["calls", "app", "--output-format", format, "-o", "saved"]);
        let (same, stderr) = project.fine(&["calls", "app", "--against", "saved"]);
        assert!(same.ends_with("\n\n// 0 edges came, 0 went\n"), "{same}");
        assert_eq!(stderr, "");
        let (changed, stderr) = project.fine(&["calls", "app", "--against", "saved", "--world", "closed"]);
        assert!(changed.contains("  - -> ? (interface, outside:java/util/List)"), "{changed}");
        assert!(stderr.contains("only the saved answer has: profile: jvm; world: open"), "{stderr}");
    }
    project.write("other", b"hello\n");
    let stderr = project.wrong(&["calls", "app", "--against", "other"]);
    assert!(stderr.contains("other: line 1 is not part of an answer"), "{stderr}");
}
