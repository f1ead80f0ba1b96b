//! Answers that are kept current, by the real binary on real files. After any edits, the old facts with all changes
//! applied must equal the facts of a fresh process.

mod edits;
mod files;
mod reasons;
mod terminal;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;
use test_utils::generate::{Mode, program};

/// A timeout that is never reached, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `ajar watch`.
struct Watching {
    child: Child,
    lines: Receiver<Value>,
    facts: BTreeMap<String, usize>,
    /// The changes of the last cycle.
    changes: Vec<Value>,
    generation: u64,
}

impl Watching {
    /// Starts the process and waits for the first answer.
    fn start(arguments: &[&str]) -> Self {
        Watching::start_in(Path::new("."), arguments)
    }

    /// Like [`Watching::start`], in a given folder.
    fn start_in(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
        command.current_dir(folder).arg("watch").args(arguments);
        command.args(["--output-format", "jsonl", "--quiet"]);
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
        let (facts, changes) = (BTreeMap::new(), Vec::new());
        let mut it = Watching { child, lines, facts, changes, generation: 0 };
        it.cycle();
        it
    }

    /// The process id.
    #[cfg(target_os = "linux")]
    fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the next cycle, applies its changes, and returns the line about it.
    fn cycle(&mut self) -> Value {
        self.changes.clear();
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
                    self.changes.push(line);
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

/// A fact without positions, and without the numbers that change when code moves.
fn fact(line: &Value) -> String {
    let mut fact = line["fact"].clone();
    for end in ["from", "to"] {
        if let Some(it) = fact.get_mut(end).filter(|it| it.is_object()) {
            it["pc"] = Value::Null;
            let instr = it["instr"].as_str().unwrap_or_default();
            it["instr"] = instr.replace(|it: char| it.is_ascii_digit(), "").into();
        }
    }
    if let Some(it) = fact.get_mut("explanation") {
        without_places(it);
    }
    format!("{} {fact}", line["method"])
}

/// Removes positions at any depth.
fn without_places(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, it) in members {
                match name.as_str() {
                    "pc" | "line" | "place" => *it = Value::Null,
                    "text" => {
                        let text = it.as_str().unwrap_or_default();
                        *it = text.replace(|it: char| it.is_ascii_digit(), "").into();
                    }
                    _ => without_places(it),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(without_places),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A folder that is deleted at the end of the test.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Writes a file in the way that good builds do: as a whole, then renamed to its place.
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
