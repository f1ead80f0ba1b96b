//! Where programs start, and what `--rta` makes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use test_utils::asm::assemble;

fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data").join(folder)
}

fn ajar(args: &[&str], paths: &[&Path]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    let out = command.args(args).args(paths).output().expect("the binary can be run");
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn json(args: &[&str], paths: &[&Path]) -> Value {
    serde_json::from_str(&ajar(args, paths)).unwrap()
}

/// The classes of a folder by name, without those below `skip`.
fn classes(folder: &Path) -> Vec<String> {
    let mut acc = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(at) = pending.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|it| it == "class") {
                let name = path.strip_prefix(folder).unwrap().with_extension("");
                acc.push(name.to_str().unwrap().to_owned());
            }
        }
    }
    acc.sort();
    acc
}

#[test]
fn the_launcher_runs_the_mains_that_are_entries() {
    let jdks = test_utils::jdk::all();
    let folder = data("entries");
    let classes = classes(&folder);
    assert_eq!(classes.len(), 37);
    let mut ran = BTreeMap::new();
    for jdk in jdks.iter().filter(|it| it.version >= 17) {
        for class in &classes {
            let out = Command::new(jdk.java()).arg("-cp").arg(&folder).arg(class).output().unwrap();
            let wanted = String::from_utf8(out.stdout).unwrap();
            // The program is this class alone.
            let path = folder.join(format!("{class}.class"));
            let args = [
                "entries",
                "--quiet",
                "--entry",
                "app",
                "--output-format",
                "json",
                "-cp",
                folder.to_str().unwrap(),
            ];
            let release = jdk.version.to_string();
            let args = [&args[..], &["--jdk", "none", "--release", &release]].concat();
            let found =
                match Command::new(env!("CARGO_BIN_EXE_ajar")).args(&args).arg(&path).output().unwrap() {
                    // Nothing is an entry point.
                    it if !it.status.success() => Vec::new(),
                    it => serde_json::from_slice::<Value>(&it.stdout).unwrap()["entries"]
                        .as_array()
                        .unwrap()
                        .clone(),
                };
            let found: Vec<&str> = found
                .iter()
                .filter(|it| it["why"]["reason"] == "main")
                .map(|it| it["method"].as_str().unwrap())
                .collect();
            assert_eq!(found.join(" "), wanted.trim(), "{class} on {}", jdk.version);
            *ran.entry(jdk.version).or_insert(0) += usize::from(!wanted.is_empty());
        }
    }
    for (feature, ran) in ran {
        assert_eq!(ran, if feature >= 25 { 24 } else { 6 }, "{feature}");
    }
}

/// A `main`, and a class below the one that has it.
const INHERITS: &str = r"
.class public Above
.super java/lang/Object
.method public static main([Ljava/lang/String;)V
  return
.end
.class public Below
.super Above
.method static <clinit>()V
  invokestatic Below.called()V
  return
.end
.method static called()V
  return
.end
";

/// An agent, a provider, and one that no loader may make.
const SERVICE: &str = r"
.class public Agent
.super java/lang/Object
.method public static premain(Ljava/lang/String;)V
  return
.end
.class public Provider
.super java/lang/Object
.method public <init>()V
  aload 0
  invokespecial java/lang/Object.<init>()V
  return
.end
.class Hidden
.super java/lang/Object
.method <init>()V
  aload 0
  invokespecial java/lang/Object.<init>()V
  return
.end
";

#[test]
fn agents_and_services_are_entries() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for class in assemble(SERVICE).unwrap() {
        std::fs::write(path.join(format!("{}.class", class.name)), class.bytes).unwrap();
    }
    let services = path.join("META-INF/services");
    std::fs::create_dir_all(&services).unwrap();
    std::fs::write(services.join("p.Service"), "# ours\nProvider # public\nGone\nHidden\n").unwrap();
    std::fs::write(path.join("META-INF/MANIFEST.MF"), "Manifest-Version: 1.0\nPremain-Class: Agent\n")
        .unwrap();
    let entries =
        json(&["entries", "--quiet", "--jdk", "none", "--entry", "app", "--output-format", "json"], &[path]);
    let entries = entries["entries"].as_array().unwrap();
    let found: Vec<_> =
        entries.iter().map(|it| (&it["method"], &it["why"]["reason"], &it["why"]["name"])).collect();
    let found = format!("{found:?}");
    assert_eq!(
        found,
        r#"[(String("Agent.premain(Ljava/lang/String;)V"), String("agent"), String("Premain-Class")), (String("Provider.<init>()V"), String("service"), String("p.Service"))]"#
    );
}

/// The targets of the calls of each method, by pc.
fn targets(more: &[&str], paths: &[&Path]) -> BTreeMap<(String, i64), BTreeSet<String>> {
    let args = [&["calls", "--quiet", "--output-format", "jsonl"], more].concat();
    let mut acc: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for line in ajar(&args, paths).lines() {
        let call: Value = serde_json::from_str(line).unwrap();
        let (Some(caller), Some(pc)) = (call["caller"].as_str(), call["pc"].as_i64()) else { continue };
        let targets = call["targets"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned());
        acc.entry((caller.to_owned(), pc)).or_default().extend(targets);
    }
    acc
}

#[test]
fn narrowed_calls_are_among_all() {
    let Some(jdk) = test_utils::jdk::at_least(25) else { return };
    let (folder, jdk) = (data("observed"), jdk.home.to_str().unwrap());
    for world in ["open", "declared", "closed"] {
        let all = targets(&["--jdk", jdk, "--world", world], &[&folder]);
        let narrow = targets(&["--jdk", jdk, "--world", world, "--rta"], &[&folder]);
        assert!(!narrow.is_empty());
        for (place, targets) in &narrow {
            assert!(targets.is_subset(&all[place]), "{place:?}");
        }
        let fewer = narrow.iter().filter(|it| it.1.len() < all[it.0].len()).count();
        let gone = all.len() - narrow.len();
        // In an open world all of these may be called by others; but what others cannot make of the platform is not made.
        assert!(fewer > 0 && (gone > 0) == (world == "closed"), "{world} {fewer} {gone}");
    }
}

#[test]
fn ways_lead_from_entry_points() {
    let folder = data("observed");
    let ask = |method: &str, world: &str| {
        let args = [
            "entries",
            "--quiet",
            "--jdk",
            "none",
            "--output-format",
            "json",
            "--world",
            world,
            "-m",
            method,
        ];
        json(&args, &[&folder])["methods"][0].clone()
    };
    let way = ask("P14EvenOdd.even", "closed");
    assert_eq!(way["start"]["reason"], "main", "{way}");
    let names: Vec<&str> = way["way"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(
        (names[0], *names.last().unwrap()),
        ("P14EvenOdd.main([Ljava/lang/String;)V", "P14EvenOdd.even(I)Z")
    );
    // Nobody makes one.
    let none = ask("P07Init$Unused.<clinit>", "closed");
    assert_eq!(none["start"], Value::Null, "{none}");
    let outside = ask("P07Init$Unused.<clinit>", "open");
    assert_eq!(outside["start"]["reason"], "outside", "{outside}");
}

#[test]
fn a_class_that_inherits_its_main_is_initialised() {
    let folder = tempfile::tempdir().unwrap();
    for class in assemble(INHERITS).unwrap() {
        std::fs::write(folder.path().join(format!("{}.class", class.name)), class.bytes).unwrap();
    }
    let args = ["entries", "--quiet", "--jdk", "none", "--output-format", "json", "--world", "closed"];
    let ways = json(&[&args[..], &["-m", "Below.*"]].concat(), &[folder.path()]);
    let [clinit, called] = &ways["methods"].as_array().unwrap()[..] else { panic!("{ways}") };
    assert_eq!(clinit["start"]["reason"], "main-class", "{ways}");
    assert_eq!(called["way"].as_array().map(Vec::len), Some(2), "{ways}");
}

#[test]
fn unseen_code_may_call_what_others_can_use() {
    // Nobody else calls `odd`: the code of `even` is not written yet.
    let args = ["entries", "--quiet", "--jdk", "none", "--output-format", "json", "--world", "closed"];
    let more = ["--entry", "*.Parity.even", "-m", "*.Parity.odd"];
    let way = json(&[&args[..], &more].concat(), &[&data("ghost")])["methods"][0].clone();
    assert!(!way["start"].is_null(), "{way}");
}

#[test]
fn an_entry_that_selects_nothing_is_an_error() {
    let wrong = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
        let out = command.args(args).args(["--jdk", "none"]).arg(data("observed")).output().unwrap();
        assert_eq!((out.status.code(), &*out.stdout), (Some(2), &b""[..]), "{args:?}");
        String::from_utf8(out.stderr).unwrap()
    };
    let even = ["--entry", "P14EvenOdd.even"];
    for (pattern, wanted) in [
        ("no.Such.method", "no method matches `no.Such.method`, nor is any name near it"),
        ("P14EvenOdd.evn", "no method matches `P14EvenOdd.evn`; did you mean `P14EvenOdd.even(int)`?"),
    ] {
        // Alone, behind one that selects something, and before a preset.
        let alone = ["--entry", pattern];
        for asked in [alone.to_vec(), [even, alone].concat(), [alone, ["--entry", "app"]].concat()] {
            for command in [
                &["calls", "--rta"][..],
                &["throws", "--rta"],
                &["entries"],
                &["entries", "-m", "P14EvenOdd.odd"],
            ] {
                let said = wrong(&[command, &asked].concat());
                let last = said.lines().last().unwrap_or_default();
                assert_eq!(last, format!("error: `--entry`: {wanted}"), "{command:?} {asked:?}");
            }
        }
    }
    // What is an entry point for another reason too is selected all the same.
    ajar(&["entries", "--jdk", "none", "--entry", "app", "--entry", "P14EvenOdd.main"], &[&data("observed")]);
}
