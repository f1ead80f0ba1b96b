//! Answers that are kept current, by the real binary on real files. Whatever was edited, the facts before with all changes
//! applied are those that a fresh process finds.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use driver::container::{ClassEntry, LoadedContainer, Scratch};
use driver::jdk::JdkChoice;
use driver::world::{WorldSpec, load};
use serde_json::Value;
use test_utils::generate::{Mode, program};
use test_utils::rng::Rng;

/// Nothing takes as long as this, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that keeps an answer current.
struct Watching {
    child: Child,
    lines: Receiver<Value>,
    facts: BTreeMap<String, usize>,
    generation: u64,
}

impl Watching {
    /// Starts it and waits for the first answer.
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
        command.arg("watch").args(arguments).args(["--output-format", "jsonl", "--quiet"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines() {
                let Ok(line) = line else { return };
                let value = serde_json::from_str(&line).unwrap_or(Value::Null);
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        let mut it = Watching { child, lines, facts: BTreeMap::new(), generation: 0 };
        it.cycle();
        it
    }

    /// Waits for the next cycle, applies what it changed, and gives the line about it.
    fn cycle(&mut self) -> Value {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("a cycle in time");
            match line["record"].as_str() {
                Some("header") => {}
                Some("change") => {
                    let n = self.facts.entry(fact(&line)).or_default();
                    if line["change"] == "added" {
                        *n += 1;
                    } else {
                        *n = n.checked_sub(1).unwrap_or_else(|| panic!("removed and never there: {line}"));
                    }
                }
                Some("cycle") => {
                    self.generation += 1;
                    assert_eq!(line["generation"], self.generation);
                    self.facts.retain(|_, n| *n > 0);
                    return line;
                }
                _ => panic!("{line}"),
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A fact without places, and without the numbers that move when code does.
fn fact(line: &Value) -> String {
    let mut fact = line["fact"].clone();
    for end in ["from", "to"] {
        if let Some(it) = fact.get_mut(end).filter(|it| it.is_object()) {
            it["pc"] = Value::Null;
            let instr = it["instr"].as_str().unwrap_or_default();
            it["instr"] = instr.replace(|it: char| it.is_ascii_digit(), "").into();
        }
    }
    format!("{} {fact}", line["method"])
}

/// A folder that is gone when the test is.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Puts a file in its place as builds do it well: whole, by renaming.
fn put(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let part = path.with_extension("part");
    std::fs::write(&part, bytes).unwrap();
    std::fs::rename(&part, path).unwrap();
}

/// The classes of a few generated programs, by path.
fn programs(seeds: std::ops::Range<u64>) -> Vec<(String, Vec<u8>)> {
    let mut acc = Vec::new();
    for seed in seeds {
        for mode in [Mode::Plain, Mode::OddRows, Mode::Dynamic] {
            let classes = program(seed, mode).unwrap().classes;
            acc.extend(classes.into_iter().map(|it| (format!("{}.class", it.name), it.bytes)));
        }
    }
    acc
}

/// Random edits of a folder of classes, one after the other, then some at once; now and then a fresh process is asked, which
/// has another number of threads.
fn edits(answer: &str, world: &str, seed: u64, n: usize) {
    edits_of(&programs(seed..seed + 2), answer, world, seed, n);
}

fn edits_of(classes: &[(String, Vec<u8>)], answer: &str, world: &str, seed: u64, n: usize) {
    let root = folder();
    let path = |it: &str| root.path().join(it);
    classes.iter().for_each(|it| put(&path(&it.0), &it.1));
    let with = |threads| {
        Watching::start(&[answer, text(root.path()), "--jdk", "none", "--world", world, "--threads", threads])
    };
    let (ours, others) = if seed % 4 == 1 { ("1", "4") } else { ("4", "1") };
    let mut watching = with(ours);
    let mut rng = Rng::new(seed);
    let mut now: Vec<Option<Vec<u8>>> = classes.iter().map(|it| Some(it.1.clone())).collect();
    let mut changed = 0;
    for edit in 0..n {
        let at = rng.range(0, classes.len() as i32 - 1) as usize;
        let next = match (&now[at], rng.range(0, 3)) {
            (Some(_), 0) => None,
            // Half of the bytes of a class are code or names; what comes of it is often refused, and told.
            (Some(it), 1 | 2) => {
                let mut bytes = it.clone();
                let i = rng.range(10, bytes.len() as i32 - 1) as usize;
                bytes[i] ^= 1 << rng.range(0, 2);
                Some(bytes)
            }
            _ => Some(classes[at].1.clone()),
        };
        if next == now[at] {
            continue;
        }
        match &next {
            Some(bytes) => put(&path(&classes[at].0), bytes),
            None => std::fs::remove_file(path(&classes[at].0)).unwrap(),
        }
        now[at] = next;
        let cycle = watching.cycle();
        changed += usize::from(cycle["added"] != 0 || cycle["removed"] != 0);
        if cycle["problems"].to_string().contains("its last good state is kept") {
            // The patch made it look like one that is being written. A fresh process has no state to keep.
            put(&path(&classes[at].0), &classes[at].1);
            now[at] = Some(classes[at].1.clone());
            watching.cycle();
        }
        if edit % 8 == 7 || edit + 1 == n {
            let fresh = with(others);
            let other = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>| {
                a.iter().find(|it| b.get(it.0) != Some(it.1)).map(|it| format!("{it:?}"))
            };
            let (more, less) = (other(&watching.facts, &fresh.facts), other(&fresh.facts, &watching.facts));
            assert_eq!((more, less), (None, None), "seed {seed}, edit {edit}");
        }
    }
    assert!(changed * 4 > n, "{changed} of {n} edits changed a fact");
    for burst in 0..6 {
        // Some of these find the process at work on those before.
        for _ in 0..2 + rng.range(0, 3) {
            let at = rng.range(0, classes.len() as i32 - 1) as usize;
            now[at] = if now[at].is_some() { None } else { Some(classes[at].1.clone()) };
            match &now[at] {
                Some(bytes) => put(&path(&classes[at].0), bytes),
                None => std::fs::remove_file(path(&classes[at].0)).unwrap(),
            }
            std::thread::sleep(Duration::from_millis(u64::from(rng.below(60))));
        }
        let fresh = with(others);
        while watching.facts != fresh.facts {
            println!("seed {seed}, burst {burst}: not yet");
            watching.cycle();
        }
    }
}

#[test]
fn after_random_edits_throws_are_those_of_a_fresh_process() {
    edits("throws", "open", 1, 60);
    edits("throws", "closed", 3, 60);
}

#[test]
fn after_random_edits_calls_are_those_of_a_fresh_process() {
    edits("calls", "open", 5, 60);
    edits("calls", "closed", 7, 60);
}

#[test]
fn after_random_edits_graphs_are_those_of_a_fresh_process() {
    edits("cfg", "open", 9, 40);
    edits("cfg", "closed", 11, 40);
}

/// The classes of the first jar of a part of the small corpus whose name begins so, by path; none where that is not there.
fn classes_of(part: &str, name: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/small");
    if !corpus.join("manifest.tsv").is_file() {
        assert!(std::env::var_os("CI").is_none_or(|it| it != "true"), "CI has no corpus/small");
        eprintln!("skipped: no corpus/small; `cargo xtask corpus small` fetches it");
        return None;
    }
    let jars = std::fs::read_dir(corpus.join(part).join("usr/share/java")).unwrap();
    let mut jars: Vec<PathBuf> = jars.map(|it| it.unwrap().path()).collect();
    jars.sort();
    let is_it = |it: &&PathBuf| it.file_name().is_some_and(|it| it.to_str().unwrap().starts_with(name));
    let input = camino::Utf8PathBuf::from_path_buf(jars.iter().find(is_it).unwrap().clone()).unwrap();
    let spec = WorldSpec {
        inputs: vec![input],
        class_path: Vec::new(),
        module_path: Vec::new(),
        jdk: JdkChoice::None,
        release: Some(25),
    };
    let world = load(&spec).unwrap();
    let mut scratch = Scratch::default();
    let bytes = |it: (&LoadedContainer, &ClassEntry), scratch: &mut Scratch| {
        (it.1.path().to_owned(), world.bytes(it.0, it.1, scratch).unwrap().bytes.to_vec())
    };
    // The manifest of one jar names another with some of the same classes.
    let all: BTreeMap<String, Vec<u8>> = world.classes().map(|it| bytes(it, &mut scratch)).collect();
    Some(all.into_iter().collect())
}

#[test]
fn after_edits_of_real_programs_answers_are_those_of_a_fresh_process() {
    for (part, name, answer, world, seed) in [
        ("jasmin-sable", "jasmin-sable", "throws", "closed", 41),
        ("cup", "java-cup-0.11b.jar", "cfg", "open", 42),
        ("jflex", "jflex", "throws", "open", 45),
    ] {
        let Some(classes) = classes_of(part, name) else { return };
        assert!(classes.len() > 30, "{part}: {} classes", classes.len());
        edits_of(&classes, answer, world, seed, 24);
    }
}

#[test]
fn a_missing_class_that_arrives_is_resolved() {
    let root = folder();
    let classes = programs(1..2);
    let path = |it: &str| -> PathBuf { root.path().join(it) };
    classes.iter().for_each(|it| put(&path(&it.0), &it.1));
    let mut watching = Watching::start(&["missing", text(root.path()), "--jdk", "none"]);
    let before = watching.facts.clone();
    for (name, bytes) in classes.iter().take(4) {
        std::fs::remove_file(path(name)).unwrap();
        watching.cycle();
        put(&path(name), bytes);
        watching.cycle();
        assert_eq!(watching.facts, before, "{name}");
    }
}

/// A jar of these classes.
fn jar(classes: &[(String, Vec<u8>)]) -> Vec<u8> {
    let members: Vec<(&str, Vec<u8>)> = classes.iter().map(|it| (&*it.0, it.1.clone())).collect();
    test_utils::jar::jar("", &members)
}

/// The facts that a process finds that has seen nothing else.
fn fresh(arguments: &[&str]) -> BTreeMap<String, usize> {
    Watching::start(arguments).facts.clone()
}

#[test]
fn a_library_that_is_replaced_and_a_folder_that_is_made_again_are_seen() {
    // S18 of the reports on peers.
    let root = folder();
    let (classes, library) = (programs(20..21), programs(21..22));
    let (folder, lib) = (root.path().join("classes"), root.path().join("lib/x.jar"));
    classes.iter().for_each(|it| put(&folder.join(&it.0), &it.1));
    put(&lib, &jar(&library[..library.len() - 1]));
    let arguments = ["calls", text(&folder), "-cp", text(&lib), "--jdk", "none"];
    let mut watching = Watching::start(&arguments);
    put(&lib, &jar(&library));
    let cycle = watching.cycle();
    assert_eq!(
        (&cycle["classes_read"], &cycle["problems"]),
        (&1.into(), &Value::Array(Vec::new())),
        "{cycle}"
    );
    assert_eq!(watching.facts, fresh(&arguments));
    let before = watching.facts.clone();

    std::fs::remove_dir_all(&folder).unwrap();
    let cycle = watching.cycle();
    assert_ne!(cycle["problems"], Value::Array(Vec::new()), "that it is gone is said");
    assert_eq!(watching.facts, before, "the last good answer stays");
    classes[1..].iter().for_each(|it| put(&folder.join(&it.0), &it.1));
    while watching.facts == before {
        watching.cycle();
    }
    put(&folder.join(&classes[0].0), &classes[0].1);
    while watching.facts != before {
        watching.cycle();
    }
    assert_eq!(watching.facts, fresh(&arguments));
}

#[test]
fn a_jar_that_is_half_written_keeps_the_last_answer_and_says_so() {
    let root = folder();
    let classes = programs(22..23);
    let path = root.path().join("app.jar");
    let whole = jar(&classes);
    put(&path, &jar(&classes[1..]));
    let arguments = ["throws", text(&path), "--jdk", "none"];
    let mut watching = Watching::start(&arguments);
    let before = watching.facts.clone();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let cycle = watching.cycle();
    assert_ne!(cycle["problems"], Value::Array(Vec::new()), "{cycle}");
    assert_eq!(watching.facts, before);
    std::fs::write(&path, &whole).unwrap();
    while watching.facts == before {
        watching.cycle();
    }
    assert_eq!(watching.facts, fresh(&arguments));
}

#[test]
fn once_ends_with_the_first_change_and_text_names_what_came_and_went() {
    let root = folder();
    let classes = programs(23..24);
    let path = |it: &str| -> PathBuf { root.path().join(it) };
    classes.iter().for_each(|it| put(&path(&it.0), &it.1));
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.args(["watch", "--once", "throws", text(root.path()), "--jdk", "none"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("// 1: ") {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "it ends before the first answer");
    }
    std::fs::remove_file(path(&classes[0].0)).unwrap();
    let rest: Vec<String> = out.lines().map_while(Result::ok).collect();
    assert!(child.wait().unwrap().success());
    let gone = rest.iter().filter(|it| *it == "  - is gone").count();
    assert!(gone > 0, "{rest:#?}");
    let last = rest.last().unwrap();
    assert!(last.starts_with("// 2: ") && last.contains(" changed; 0 of "), "{last}");
}

#[test]
fn bad_flags_and_inputs_end_it_at_once() {
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
