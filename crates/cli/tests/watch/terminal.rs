//! The output for people at a terminal.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{PATIENCE, folder, programs, put, text};

/// Reads the output up to the end of the first answer.
fn until_first_answer(out: &mut impl BufRead) -> String {
    let mut said = String::new();
    while !said.contains("// 1: ") {
        assert_ne!(out.read_line(&mut said).unwrap(), 0, "it ends before the first answer: {said}");
    }
    said
}

#[test]
fn once_exits_after_the_first_change_and_text_names_removed_methods() {
    let root = folder();
    let classes = programs(23..24);
    let path = |it: &str| -> PathBuf { root.path().join(it) };
    classes.iter().for_each(|it| put(&path(&it.0), &it.1));
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.args(["watch", "--once", "throws", text(root.path()), "--jdk", "none"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    until_first_answer(&mut out);
    std::fs::remove_file(path(&classes[0].0)).unwrap();
    let rest: Vec<String> = out.lines().map_while(Result::ok).collect();
    assert!(child.wait().unwrap().success());
    let gone = rest.iter().filter(|it| *it == "  - the method is removed").count();
    assert!(gone > 0, "{rest:#?}");
    let last = rest.last().unwrap();
    assert!(last.starts_with("// 2: ") && last.contains(" changed; 0 of "), "{last}");
}

#[test]
fn bad_flags_and_inputs_end_it_immediately() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
        let out = command.arg("watch").args(arguments).output().unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test-data/hello");
    let (code, error) = run(&["throws", "/nowhere/x.jar", "--jdk", "none"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("/nowhere/x.jar"), "{error}");
    let (code, error) = run(&["throws", data, "--jdk", "none", "-m", "Inventory.fulfill"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("Inventory.fulfil"), "{error}");
    let (code, _) = run(&["cfg", data, "--output-format", "dot"]);
    assert_eq!(code, Some(2));
}

/// Uses `script`, which provides a terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_cleared_before_each_change() {
    let root = folder();
    let classes = programs(24..25);
    classes.iter().for_each(|it| put(&root.path().join(&it.0), &it.1));
    let ajar = env!("CARGO_BIN_EXE_ajar");
    let watch = format!("{ajar} watch --quiet --clear --once throws {} --jdk none", text(root.path()));
    let mut command = Command::new("script");
    command.args(["-qefc", &watch, "/dev/null"]).stdin(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.stdout(Stdio::piped()).spawn() else {
        assert!(std::env::var_os("CI").is_none_or(|it| it != "true"), "CI has no `script`");
        eprintln!("skipped: no `script`");
        return;
    };
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let first = until_first_answer(&mut out);
    assert!(!first.contains("\x1b[2J"), "what stood there before it began stays: {first:?}");
    std::fs::remove_file(root.path().join(&classes[0].0)).unwrap();
    let rest: String = out.lines().map_while(Result::ok).collect();
    assert!(child.wait().unwrap().success());
    assert!(rest.starts_with("\x1b[2J\x1b[H") && rest.contains("// 2: "), "{rest:?}");
}

#[test]
fn it_ends_when_the_pipe_is_closed() {
    let root = folder();
    let classes = programs(25..26);
    classes.iter().for_each(|it| put(&root.path().join(&it.0), &it.1));
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.args(["watch", "throws", text(root.path()), "--jdk", "none"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    until_first_answer(&mut out);
    drop(out);
    std::fs::remove_file(root.path().join(&classes[0].0)).unwrap();
    let end = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(it) = child.try_wait().unwrap() {
            break it;
        }
        assert!(Instant::now() < end, "the process still runs");
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert!(status.success(), "{status}: {error}");
    assert!(!error.contains("panicked") && !error.contains("Broken pipe"), "{error}");
}
