//! Which definition of a class is used, and which packages are closed (`test-data/modules`): the answers follow the
//! JVM, which is run if there is a JDK.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn data(path: &str) -> PathBuf {
    std::fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/modules").join(path))
        .unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a printable path")
}

fn ajar(jdk: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.args(arguments).env_clear().env("AJAR_JDK", jdk).env("AJAR_THREADS", "2");
    command.output().expect("the binary can be run")
}

/// Runs a command that must succeed; returns stdout and stderr.
#[track_caller]
fn fine(jdk: &str, arguments: &[&str]) -> (String, String) {
    let out = ajar(jdk, arguments);
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{arguments:?}: {stderr}");
    (String::from_utf8(out.stdout).unwrap(), stderr)
}

/// For each class whose methods a method calls, whether the call may go to unseen code.
#[track_caller]
fn open_calls(jdk: &str, method: &str, arguments: &[&str]) -> BTreeMap<String, bool> {
    let mut all = vec!["calls", "-m", method, "--output-format", "json"];
    all.extend(arguments);
    let value: Value = serde_json::from_str(&fine(jdk, &all).0).unwrap();
    let calls = value["calls"].as_array().unwrap().iter();
    let class = |it: &Value| it["declared"].as_str().unwrap().split_once('.').unwrap().0.to_owned();
    calls.map(|it| (class(it), !it["open"].is_null())).collect()
}

fn pairs(all: &[(&str, bool)]) -> BTreeMap<String, bool> {
    all.iter().map(|it| (it.0.to_owned(), it.1)).collect()
}

/// The output of `Probe` about classes on a JVM, by the first word of each line.
fn probe(
    jdk: &test_utils::jdk::Jdk,
    flags: &[&str],
    class_path: &[&Path],
    names: &[&str],
) -> BTreeMap<String, String> {
    let mut path = vec![data("probe")];
    path.extend(class_path.iter().map(|it| it.to_path_buf()));
    let path = std::env::join_paths(path).unwrap();
    let out =
        Command::new(jdk.java()).args(flags).arg("-cp").arg(path).arg("Probe").args(names).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    text.lines().filter_map(|it| it.split_once(' ')).map(|it| (it.0.to_owned(), it.1.to_owned())).collect()
}

fn jar(path: &Path, manifest: &str, classes: &[(&str, PathBuf)]) {
    let members: Vec<_> = classes.iter().map(|it| (it.0, std::fs::read(&it.1).unwrap())).collect();
    std::fs::write(path, test_utils::jar::jar(manifest, &members)).unwrap();
}

const SHADOW: [&str; 12] = [
    "java.X",
    "java.mine.X",
    "java.sql.Driver",
    "java.util.ArrayList",
    "java.util.Mine",
    "javax.annotation.Nullable",
    "jdk.incubator.vector.Vector",
    "jdk.jshell.Mine",
    "org.w3c.dom.Mine",
    "org.w3c.dom.Node",
    "own.Free",
    "sun.jvm.hotspot.HotSpotAgent",
];

/// The classes of `shadow` that are shown.
fn shown(jdk: &str, arguments: &[&str]) -> (Vec<String>, String) {
    let shadow = data("shadow");
    let mut all = vec!["bir", text(&shadow), "--output-format", "jsonl", "-v"];
    all.extend(arguments);
    let (stdout, stderr) = fine(jdk, &all);
    let records = stdout.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let methods = records.filter_map(|it| it["method"].as_str().map(str::to_owned));
    let mut classes: Vec<String> =
        methods.map(|it| it.split_once('.').unwrap().0.replace('/', ".")).collect();
    classes.sort();
    (classes, stderr)
}

#[test]
fn the_definition_in_use_is_the_one_that_the_jvm_loads() {
    for jdk in test_utils::jdk::all().iter().filter(|it| it.version >= 17) {
        let found = probe(jdk, &[], &[&data("shadow")], &SHADOW);
        let want: Vec<&str> = SHADOW.into_iter().filter(|it| found[*it] == "ours").collect();
        let (got, stderr) = shown(text(&jdk.home), &[]);
        assert_eq!(got, want, "JDK {}: {found:?}", jdk.version);
        let said = |it: &str| stderr.lines().any(|line| line.contains("shadow/") && line.contains(it));
        assert!(
            said(
                "java/util/ArrayList.class: the class is left out: it is shadowed by the class of this name in "
            ),
            "{stderr}"
        );
        assert!(
            said("java/util/Mine.class: the class is left out: its package belongs to the module java.base"),
            "{stderr}"
        );
        assert!(
            said(
                "java/mine/X.class: the class is left out: the JVM loads classes of java.* packages from the JDK only"
            ),
            "{stderr}"
        );
        assert_eq!(found["java.util.ArrayList"], "theirs");
        assert_eq!(found["java.util.Mine"], "java.lang.ClassNotFoundException");
        assert!(
            said(
                "java/X.class: the class is left out: the JVM loads classes of java.* packages from the JDK only"
            ),
            "{stderr}"
        );
        assert_eq!(found["java.mine.X"], "java.lang.SecurityException");
        assert_eq!(found["java.X"], "java.lang.SecurityException");
    }
    // Without a JDK, nothing shadows them.
    assert_eq!(shown("none", &[]).0, SHADOW);
}

#[test]
fn a_shadowed_definition_is_not_shown_with_the_answers_about_another() {
    let calls = |files: [&str; 2]| {
        let files = files.map(|it| data("..").join("edit").join(it).join("Order.class"));
        let (stdout, stderr) =
            fine("none", &["calls", "--output-format", "jsonl", text(&files[0]), text(&files[1])]);
        let calls = stdout.lines().filter(|it| it.contains("\"record\":\"call\""));
        (calls.map(str::to_owned).collect::<Vec<_>>(), stderr)
    };
    let ((both, notes), (one, none)) = (calls(["before", "body"]), calls(["before", "before"]));
    assert!(!one.is_empty());
    assert_eq!(both, one);
    assert!(
        notes.contains("body/Order.class: this definition of the class is left out, because "),
        "{notes}"
    );
    assert!(!none.contains("another definition"), "{none}");
}

#[test]
fn modules_close_what_they_do_not_export_and_their_packages() {
    let (module, friend, automatic) = (data("mod"), data("friend"), data("automatic"));
    let (module, friend, automatic) = (text(&module), text(&friend), text(&automatic));
    let calls = |arguments: &[&str]| open_calls("none", "out.Shown.calls", arguments);
    let open = [("in/Hidden", true), ("fr/Friendly", true), ("out/Shown", true), ("out/Mate", true)];
    assert_eq!(calls(&[module]), pairs(&open), "a module-info on the class path closes nothing");
    let closed = [("in/Hidden", false), ("fr/Friendly", true), ("out/Shown", true), ("out/Mate", false)];
    assert_eq!(calls(&[module, "--module-path", module]), pairs(&closed));
    let with_friend =
        [("in/Hidden", false), ("fr/Friendly", false), ("out/Shown", true), ("out/Mate", false)];
    assert_eq!(calls(&[module, "--module-path", module, "--module-path", friend]), pairs(&with_friend));
    let added = [("in/Hidden", true), ("fr/Friendly", true), ("out/Shown", true), ("out/Mate", false)];
    assert_eq!(calls(&[module, "--module-path", module, "--add-exports", "mod/in"]), pairs(&added));
    // An automatic module exports all its packages, and is complete.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("auto-matic-1.0.jar");
    let classes = ["au/Auto.class", "au/Inner.class"].map(|it| (it, data("automatic").join(it)));
    jar(&path, "", &classes);
    let calls = |arguments: &[&str]| open_calls("none", "au.Auto.calls", arguments);
    assert_eq!(calls(&[automatic]), pairs(&[("au/Auto", true), ("au/Inner", true)]));
    let folder = text(folder.path());
    assert_eq!(
        calls(&[text(&path), "--module-path", folder]),
        pairs(&[("au/Auto", true), ("au/Inner", false)])
    );
    let (stdout, _) = fine("none", &["calls", text(&path), "--module-path", folder]);
    assert!(stdout.contains("no class is added to their packages (--module-path): auto.matic\n"), "{stdout}");

    // Where a call is closed, the JVM accepts no class from outside.
    for jdk in test_utils::jdk::all().iter().filter(|it| it.version >= 17) {
        let names = ["OfHidden", "OfFriendly", "OfShown", "OfAuto", "out.OfMate", "au.OfInner"];
        let on_path = format!("{module}:{folder}");
        let flags = ["-p", &on_path, "--add-modules", "mod,auto.matic"];
        let found = probe(jdk, &flags, &[&data("outside")], &names);
        let want = [
            ("OfHidden", "java.lang.IllegalAccessError"),
            // The module `friend` may extend it; code on the class path may not.
            ("OfFriendly", "java.lang.IllegalAccessError"),
            ("OfShown", "theirs"),
            ("OfAuto", "theirs"),
            ("out.OfMate", "java.lang.ClassNotFoundException"),
            ("au.OfInner", "java.lang.ClassNotFoundException"),
        ];
        let want: BTreeMap<String, String> = want.iter().map(|it| (it.0.into(), it.1.into())).collect();
        assert_eq!(found, want, "JDK {}", jdk.version);
        let flags = [&flags[..], &["--add-exports", "mod/in=ALL-UNNAMED"]].concat();
        assert_eq!(probe(jdk, &flags, &[&data("outside")], &names)["OfHidden"], "theirs");
    }
}

#[test]
fn classes_of_the_class_path_do_not_lie_in_packages_of_modules() {
    let (module, outside) = (data("mod"), data("outside"));
    let (stdout, stderr) =
        fine("none", &["bir", text(&outside), "--module-path", text(&module), "--output-format", "jsonl"]);
    assert!(stdout.contains("OfHidden") && stdout.contains("au/OfInner"), "{stdout}");
    assert!(!stdout.contains("\"method\":\"out/OfMate"), "{stdout}");
    assert!(
        stderr.contains("out/OfMate.class: the class is left out: its package belongs to the module mod"),
        "{stderr}"
    );
}

#[test]
fn exports_are_added_by_a_flag_and_by_the_manifest_of_an_executable_jar() {
    let folder = tempfile::tempdir().unwrap();
    let classes = [("Main.class", data("executable/Main.class"))];
    let path = |name: &str| folder.path().join(name);
    let manifest = "Main-Class: Main\nAdd-Exports: java.base/sun.security.util no.module/x\n";
    jar(&path("exports.jar"), manifest, &classes);
    jar(&path("opens.jar"), "Main-Class: Main\nAdd-Opens: java.base/sun.security.util\n", &classes);
    jar(&path("library.jar"), "Add-Exports: java.base/sun.security.util\n", &classes);
    jar(&path("front.jar"), "Main-Class: Main\nClass-Path: exports.jar\n", &[]);
    let runs = |arguments: &[&str]| {
        let jdks = test_utils::jdk::all().into_iter().filter(|it| it.version >= 17);
        let ran: Vec<bool> = jdks
            .take(test_utils::tier::at_most(1))
            .map(|jdk| {
                let out =
                    Command::new(jdk.java()).current_dir(folder.path()).args(arguments).output().unwrap();
                out.stdout == b"true\n"
            })
            .collect();
        assert!(ran.windows(2).all(|it| it[0] == it[1]), "{arguments:?}: {ran:?}");
        ran[0]
    };
    if let Some(jdk) = test_utils::jdk::at_least(17) {
        let home = text(&jdk.home);
        let answer = |name: &str, flags: &[&str]| {
            let name = path(name);
            let all =
                [&["calls", "-m", "Main.calls", "--output-format", "json", text(&name)], flags].concat();
            let (stdout, stderr) = fine(home, &all);
            let value: Value = serde_json::from_str(&stdout).unwrap();
            (!value["calls"][0]["open"].is_null(), value["assumptions"].to_string(), stderr)
        };
        let (open, assumed, stderr) = answer("exports.jar", &[]);
        assert_eq!(open, runs(&["-jar", "exports.jar"]));
        assert!(
            open && assumed.contains("exported to all code: java.base/sun.security.util (manifest of "),
            "{assumed}"
        );
        assert!(
            stderr.contains("exports.jar: there is no module no.module; `no.module/x` has no effect"),
            "{stderr}"
        );
        assert_eq!(answer("opens.jar", &[]).0, runs(&["-jar", "opens.jar"]));
        // The manifest of a library is ignored, and so is that of a jar that another jar names.
        let exports = path("exports.jar");
        let (open, assumed, _) = answer("library.jar", &["-cp", text(&exports)]);
        assert_eq!(open, runs(&["-cp", "library.jar:exports.jar", "Main"]));
        let is_exported = assumed.contains("sun.security.util");
        assert!(!open && !is_exported && !runs(&["-jar", "front.jar"]), "{assumed}");
        // The manifest of an input counts, even if another input names it first.
        let (open, assumed, _) = answer("front.jar", &[text(&exports)]);
        assert!(open && assumed.contains("java.base/sun.security.util (manifest of "), "{assumed}");
        let flag = ["--add-exports", "java.base/sun.security.util=ALL-UNNAMED"];
        let (open, assumed, _) = answer("library.jar", &flag);
        assert_eq!(open, runs(&[&flag[..], &["-cp", "library.jar", "Main"]].concat()));
        assert!(assumed.contains("java.base/sun.security.util (--add-exports)"), "{assumed}");
        let library = path("library.jar");
        let (_, stderr) = fine(home, &["bir", text(&library), "--add-exports", "java.base/no.such"]);
        assert!(
            stderr.contains("note: --add-exports: the module java.base has no package no.such"),
            "{stderr}"
        );
    }
    let library = path("library.jar");
    let (_, stderr) = fine("none", &["calls", text(&library), "--add-exports", "java.base/sun.misc"]);
    assert!(stderr.contains("--add-exports: there is no module java.base: there are no modules"), "{stderr}");
    let out = ajar("none", &["calls", text(&library), "--add-exports", "java.base"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("expected MODULE/PACKAGE, found `java.base`"));
}

#[test]
fn sealed_packages_are_complete_if_manifests_are_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let classes = [("s/A.class", data("sealed/a/s/A.class"))];
    let all = folder.path().join("all.jar");
    jar(&all, "Sealed: true\n", &classes);
    let own = folder.path().join("own.jar");
    jar(&own, "\nName: s/\nSealed: TRUE\n", &classes);
    let not = folder.path().join("not.jar");
    jar(&not, "Sealed: true\n\nName: s/\nSealed: false\n", &classes);
    for (path, sealed) in [(&all, true), (&own, true), (&not, false)] {
        let calls = |flags: &[&str]| open_calls("none", "s.A.calls", &[&[text(path)], flags].concat())["s/A"];
        assert!(calls(&[]), "a manifest closes nothing by itself");
        assert_eq!(calls(&["--trust-sealed"]), !sealed);
        let (stdout, _) = fine("none", &["calls", text(path), "--trust-sealed"]);
        assert_eq!(stdout.contains("no class is added to a sealed package (--trust-sealed): s in "), sealed);
        for jdk in test_utils::jdk::all().iter().filter(|it| it.version >= 17) {
            let found = probe(jdk, &[], &[path, &data("sealed/b")], &["s.A", "s.B"]);
            assert_eq!(found["s.A"], "theirs");
            assert_eq!(found["s.B"] == "java.lang.SecurityException", sealed, "{found:?}");
        }
    }
    let other = data("sealed/b");
    let (_, stderr) = fine("none", &["calls", text(&all), text(&other), "--trust-sealed"]);
    assert!(
        stderr.contains("sealed/b: the container has classes of the package s, which is sealed in "),
        "{stderr}"
    );
    let open = open_calls("none", "s.A.calls", &[text(&all), text(&other), "--trust-sealed"]);
    assert!(open["s/A"], "of a package that lies in two places nothing is known");
}

#[test]
fn a_descriptor_without_its_attribute_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let classes = ["in/Hidden", "fr/Friendly", "out/Shown", "out/Mate"].map(|it| format!("{it}.class"));
    for it in &classes {
        let to = folder.path().join(it);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(data("mod").join(it), to).unwrap();
    }
    let calls = || open_calls("none", "out.Shown.calls", &[text(folder.path())]);
    let without = calls();
    let mut bytes = std::fs::read(data("mod/module-info.class")).unwrap();
    let name = b"\x00\x06Module";
    let at = bytes.windows(name.len()).position(|it| it == name).expect("the attribute has a name");
    bytes[at + 2] = b'N';
    std::fs::write(folder.path().join("module-info.class"), bytes).unwrap();
    assert_eq!(calls(), without);
    // It closes nothing when it is used as a module either.
    assert_eq!(
        open_calls("none", "out.Shown.calls", &[text(folder.path()), "--module-path", text(folder.path())]),
        without
    );
    assert!(!without.is_empty());
    assert!(without.values().all(|it| *it), "{without:?}");
}

/// A module that is not resolved by default is there for the program only if `--add-modules` names it.
#[test]
fn classes_of_modules_that_are_not_resolved_are_no_part_of_the_program() {
    let source = ".class public super A\n.version 61.0\n.method static hash(Ljava/lang/Object;)I\n aload_0\n \
                  invokevirtual java/lang/Object.hashCode()I\n pop\n aload_0\n \
                  invokevirtual jdk/incubator/vector/VectorMask.length()I\n ireturn\n.end\n";
    let folder = tempfile::tempdir().unwrap();
    let classes = test_utils::asm::assemble(source).unwrap();
    test_utils::jvm::write_classes(folder.path(), &classes).unwrap();
    let app = text(folder.path());
    let (module, class) = ("jdk.incubator.vector", "jdk.incubator.vector.VectorMask");
    for jdk in test_utils::jdk::all().iter().filter(|it| it.version >= 17) {
        let home = text(&jdk.home);
        let found = |flags: &[&str]| probe(jdk, flags, &[], &[class])[class] == "theirs";
        assert!(!found(&[]) && found(&["--add-modules", module]), "JDK {}", jdk.version);
        let called = |flags: &[&str]| {
            let all =
                [&["calls", app, "-m", "A.hash", "--world", "closed", "--output-format", "json"], flags]
                    .concat();
            let text = fine(home, &all).0;
            text.split('"')
                .filter(|it| it.starts_with("jdk/incubator/"))
                .map(str::to_owned)
                .collect::<BTreeSet<_>>()
        };
        let declared = ["jdk/incubator/vector/VectorMask.length()I".to_owned()];
        assert_eq!(called(&[]), declared.into(), "JDK {}", jdk.version);
        assert!(called(&["--add-modules", module]).len() > 1);
        let hint = |flags: &[&str]| {
            fine(home, &[&["missing", app], flags].concat()).0.contains("add the module with --add-modules")
        };
        assert!(hint(&[]) && !hint(&["--add-modules", module]));
        let (stdout, _) = fine(home, &["calls", app, "--add-modules", module]);
        assert!(
            stdout.contains("these modules are root modules (--add-modules): jdk.incubator.vector"),
            "{stdout}"
        );
        let out = ajar(home, &["calls", app, "--add-modules", "java.sql,no.such"]);
        assert_eq!(out.status.code(), Some(2));
        let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(
            stderr.contains("--add-modules: there is no module no.such in the JDK or on the module path"),
            "{stderr}"
        );
    }
    let out = ajar("none", &["calls", app, "--add-modules", module]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("there is no JDK with modules"));
}
