//! The frame test (`semantics.md` §7): removing a class changes nothing for methods that the class does not concern.
//! For such methods, `calls`, `throws` and `cfg` give the same bytes with and without the class.
//!
//! Which methods a class concerns is determined from the full program by names alone: a method that names the class,
//! a class that shares a subclass or a nest with it, or an interface for which it creates function objects; that calls a
//! method of an interface whose name and descriptor the class has, too; or a method that can reach such a method by calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use driver::container::Scratch as Read;
use driver::jdk::JdkChoice;
use driver::world::{WorldSpec, load};
use ide::whole::read_class;
use ide::{Role, Scratch};
use serde_json::Value;
use test_utils::tier;

type Names = BTreeSet<String>;

/// The information from the headers of a class.
struct Head {
    above: Vec<String>,
    nest: String,
}

/// The full program, in a folder from which classes can be removed.
struct Program {
    folder: tempfile::TempDir,
    heads: BTreeMap<String, Head>,
    /// The names in the body of each method.
    named: BTreeMap<String, Names>,
    /// The names at call sites of each class that create function objects.
    makes: BTreeMap<String, Names>,
    /// All methods.
    members: Names,
}

/// The methods of `Object` that classes override.
const OF_OBJECT: [&str; 5] = [
    "clone()Ljava/lang/Object;",
    "equals(Ljava/lang/Object;)Z",
    "finalize()V",
    "hashCode()I",
    "toString()Ljava/lang/String;",
];

/// The lines of the answers about each method, and the targets of its calls.
#[derive(Default)]
struct Answers {
    lines: BTreeMap<String, Vec<String>>,
    targets: BTreeMap<String, Names>,
    /// The names and descriptors of the methods that each method calls by selection.
    selects: BTreeMap<String, Names>,
    /// Those of them that are called as methods of interfaces.
    of_interfaces: BTreeMap<String, Names>,
}

impl Program {
    fn new(input: &Path) -> Program {
        let input = camino::Utf8PathBuf::from_path_buf(input.to_path_buf()).unwrap();
        let spec = WorldSpec {
            inputs: vec![input],
            class_path: Vec::new(),
            module_path: vec![],
            jdk: JdkChoice::None,
            release: Some(25),
        };
        let world = load(&spec).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (mut read, mut scratch, mut records) = (Read::default(), Scratch::default(), Vec::new());
        for (container, entry) in world.classes() {
            let bytes = world.bytes(container, entry, &mut read).unwrap().bytes.to_vec();
            let Ok(record) = read_class(&bytes, &mut scratch) else { continue };
            records.push((record, Role::App));
            let path = folder.path().join(entry.path());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let mut it = Program {
            folder,
            heads: heads(records),
            named: BTreeMap::new(),
            makes: BTreeMap::new(),
            members: Names::new(),
        };
        for record in it.ask("bir") {
            let (method, body) = (record["method"].as_str().unwrap(), record["text"].as_str().unwrap());
            it.named.insert(method.to_owned(), names(body));
            for line in
                body.lines().filter(|it| it.contains("metafactory(") || it.contains("altMetafactory("))
            {
                // The functional interface; marker interfaces are constants.
                let site =
                    if line.contains("altMetafactory(") { line } else { line.split(" by ").next().unwrap() };
                let made = site.split(')').skip(1).flat_map(names);
                it.makes.entry(class_of(method).to_owned()).or_default().extend(made);
            }
        }
        it.members = it.ask("throws").iter().map(|it| it["method"].as_str().unwrap().to_owned()).collect();
        it
    }

    /// The output lines of a command.
    fn lines(&self, command: &str) -> Vec<String> {
        let mut it = Command::new(env!("CARGO_BIN_EXE_ajar"));
        it.args([command, "--quiet", "--jdk", "none", "--output-format", "jsonl"]).arg(self.folder.path());
        let out = it.output().expect("the binary can be run");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect()
    }

    fn ask(&self, command: &str) -> Vec<Value> {
        let records = self.lines(command).into_iter().map(|it| serde_json::from_str(&it).unwrap());
        records.filter(|it: &Value| it["method"].is_string()).collect()
    }

    fn answers(&self) -> Answers {
        let mut acc = Answers::default();
        for command in ["calls", "throws", "cfg"] {
            for line in self.lines(command) {
                let record: Value = serde_json::from_str(&line).unwrap();
                let Some(method) = record["caller"].as_str().or(record["method"].as_str()) else { continue };
                acc.lines.entry(method.to_owned()).or_default().push(line);
                let targets = ["targets", "possible"].iter().filter_map(|it| record[it].as_array()).flatten();
                let targets = targets.map(|it| it.as_str().unwrap().to_owned());
                acc.targets.entry(method.to_owned()).or_default().extend(targets);
                let selects = matches!(record["kind"].as_str(), Some("virtual" | "interface" | "dynamic"));
                if let Some(declared) = record["declared"].as_str().filter(|_| selects) {
                    acc.selects.entry(method.to_owned()).or_default().insert(member(declared).to_owned());
                    if record["kind"] == "interface" {
                        let of = acc.of_interfaces.entry(method.to_owned()).or_default();
                        of.insert(member(declared).to_owned());
                    }
                }
            }
        }
        acc
    }

    /// The class and all its supertypes, as far as they are known.
    fn up(&self, class: &str) -> Names {
        let (mut seen, mut pending) = (Names::from([class.to_owned()]), vec![class.to_owned()]);
        while let Some(at) = pending.pop() {
            for above in self.heads.get(&at).map_or(&[][..], |it| &it.above) {
                if seen.insert(above.clone()) {
                    pending.push(above.clone());
                }
            }
        }
        seen
    }

    /// The names whose meaning may depend on whether a class is present.
    fn concerned(&self, class: &str) -> Names {
        let mut acc: Names = self.makes.get(class).cloned().unwrap_or_default();
        let nest = &self.heads[class].nest;
        for (other, head) in &self.heads {
            let up = self.up(other);
            if up.contains(class) {
                acc.extend(up);
            }
            if head.nest == *nest {
                acc.insert(other.clone());
            }
        }
        acc.remove("java/lang/Object");
        acc
    }

    /// The names and descriptors of the methods of receivers that are added together with a class. If the class or a
    /// subclass extends missing classes, it may be below any class.
    fn arriving(&self, class: &str) -> Names {
        let mut acc = Names::new();
        for up in self.heads.keys().map(|it| self.up(it)).filter(|it| it.contains(class)) {
            let leaves = up.iter().any(|it| !self.heads.contains_key(it) && it != "java/lang/Object");
            let of = self.members.iter().filter(|it| up.contains(class_of(it)));
            // All classes are below `Object`.
            acc.extend(
                of.map(|it| member(it)).filter(|it| leaves || OF_OBJECT.contains(it)).map(str::to_owned),
            );
        }
        acc
    }

    /// The names and descriptors of the methods that unknown classes may inherit from a class or its relatives. With
    /// them, an unknown class may implement any interface.
    fn inherited(&self, class: &str) -> Names {
        let related: Names =
            self.heads.keys().map(|it| self.up(it)).filter(|it| it.contains(class)).flatten().collect();
        let members = self.members.iter().filter(|it| related.contains(class_of(it)));
        members.map(|it| member(it).to_owned()).collect()
    }

    /// Whether a class may be throwable, or is the only one to name certain missing classes, which may be throwable.
    /// Then sets of exceptions below known classes may get new members.
    fn throwable(&self, class: &str) -> bool {
        let outside = |it: &str| !self.heads.contains_key(it) && it != "java/lang/Object";
        let up = self.up(class);
        if up.iter().any(|it| outside(it)) {
            return true;
        }
        let of = |own: bool| self.named.iter().filter(move |it| (class_of(it.0) == class) == own);
        let elsewhere: BTreeSet<&String> = of(false).flat_map(|it| it.1).collect();
        // Package names are lower case, and what precedes a name in a descriptor is not.
        let package =
            |it: &str| it.contains('/') && !it.split('/').next().unwrap().contains(char::is_uppercase);
        of(true).flat_map(|it| it.1).any(|it| package(it) && outside(it) && !elsewhere.contains(it))
    }

    /// The methods that a class does not concern, determined from the answers without the class.
    fn exempt<'a>(&self, class: &str, answers: &'a Answers) -> Vec<&'a str> {
        let concerned = self.concerned(class);
        let arriving = self.arriving(class);
        let inherited = self.inherited(class);
        let throwable = self.throwable(class);
        let touched = |method: &str| {
            self.named.get(method).is_some_and(|it| !it.is_disjoint(&concerned))
                || concerned.contains(class_of(method))
                || answers.selects.get(method).is_some_and(|it| !it.is_disjoint(&arriving))
                || answers.of_interfaces.get(method).is_some_and(|it| !it.is_disjoint(&inherited))
        };
        let mut acc = Vec::new();
        for method in answers.lines.keys() {
            let (mut seen, mut pending) = (BTreeSet::from([method.as_str()]), vec![method.as_str()]);
            let mut free = true;
            while let Some(at) = pending.pop() {
                free &= !touched(at);
                for target in answers.targets.get(at).into_iter().flatten() {
                    if seen.insert(target) {
                        pending.push(target);
                    }
                }
            }
            let below = answers.lines[method].iter().any(|it| it.contains("\"cone\":true"));
            if free && !(throwable && below) {
                acc.push(method.as_str());
            }
        }
        acc
    }
}

fn heads(records: Vec<(ide::whole::ClassRecord, Role)>) -> BTreeMap<String, Head> {
    records
        .iter()
        .map(|it| it.0.outline())
        .map(|it| {
            let above = it.super_class.iter().chain(&it.interfaces).map(ToString::to_string).collect();
            let nest = it.nest_host.unwrap_or(it.class).to_string();
            (it.class.to_string(), Head { above, nest })
        })
        .collect()
}

/// The class in `p/C.m(I)V`.
fn class_of(method: &str) -> &str {
    let name = &method[..method.find('(').unwrap()];
    &name[..name.rfind('.').unwrap()]
}

/// `m(I)V` in `p/C.m(I)V`.
fn member(method: &str) -> &str {
    &method[class_of(method).len() + 1..]
}

/// Everything in the text of a body that could be the name of a class, including those in descriptors.
fn names(text: &str) -> Names {
    let mut acc = Names::new();
    for word in text.split(|it: char| !(it.is_alphanumeric() || matches!(it, '_' | '$' | '/'))) {
        acc.insert(word.to_owned());
        acc.extend(word.match_indices('L').map(|it| word[it.0 + 1..].to_owned()));
    }
    acc
}

/// Removes classes one at a time. Returns the number of answers that had to be the same, and the number of answers
/// that changed.
fn check(input: &Path, every: usize) -> (usize, usize) {
    let program = Program::new(input);
    let full = program.answers();
    let (mut same, mut changed) = (0, 0);
    for class in program.heads.keys().step_by(every) {
        let file = program.folder.path().join(format!("{class}.class"));
        let bytes = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let part = program.answers();
        std::fs::write(&file, bytes).unwrap();
        for method in program.exempt(class, &part) {
            let differ = part.lines[method].iter().zip(&full.lines[method]).find(|it| it.0 != it.1);
            assert!(differ.is_none(), "{method} without {class} and with it: {differ:#?}");
            assert_eq!(part.lines[method].len(), full.lines[method].len(), "{method} without {class}");
            same += 1;
        }
        changed += part.lines.iter().filter(|it| full.lines[it.0] != *it.1).count();
    }
    println!("{}: {same} exempt, {changed} changed", input.display());
    (same, changed)
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn methods_that_a_class_does_not_concern_answer_the_same_without_it() {
    for folder in ["observed", "programs", "calls"] {
        let (same, changed) = check(&repository().join("test-data").join(folder), tier::rounds(6, 1));
        let enough = same > tier::rounds(300, 1000) && changed > tier::rounds(5, 100);
        assert!(enough, "{folder}: {same} exempt, {changed} changed");
    }
}

#[test]
fn methods_of_a_real_program_answer_the_same_too() {
    let corpus = repository().join("corpus/small");
    let Ok(manifest) = std::fs::read_to_string(corpus.join("manifest.tsv")) else {
        assert!(std::env::var_os("CI").is_none_or(|it| it != "true"), "CI has no corpus/small");
        eprintln!("skipped: no corpus/small; `cargo xtask corpus small` fetches it");
        return;
    };
    let jars = manifest.lines().filter_map(|it| it.split('\t').nth(5)).filter(|it| it.contains("/java/"));
    for jar in jars.take(tier::at_most(1)) {
        let (same, changed) = check(&corpus.join(jar), tier::rounds(45, 15));
        assert!(same > 100 && changed > 0, "{jar}: {same} exempt, {changed} changed");
    }
}
