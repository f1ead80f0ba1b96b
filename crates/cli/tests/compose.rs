//! `ajar compose`: graphs composed of parts cover the graphs extracted from the whole (`semantics.md` §1). The tests
//! use random programs cut in two, also with additional classes that the parts have not seen, and check that
//! documents that do not fit together are rejected.
//!
//! The whole is extracted in the closed world, where everything is known by name, because an open set in a document
//! may contain more than actually exists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use compose::{ComposeError, Composer};
use export::form::Format;
use serde_json::Value;
use test_utils::asm::assemble;
use test_utils::ghosts::with_ghosts;
use test_utils::rng::Rng;
use test_utils::tier;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn class(&self, folder: &str, name: &str, bytes: &[u8]) {
        let path = self.path().join(folder).join(format!("{name}.class"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
        command.current_dir(self.path()).args(arguments).env_clear().env("AJAR_JDK", "none");
        command.output().unwrap()
    }

    #[track_caller]
    fn fine(&self, arguments: &[&str]) -> String {
        let out = self.run(arguments);
        assert_eq!(out.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    #[track_caller]
    fn wrong(&self, arguments: &[&str]) -> String {
        let out = self.run(arguments);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(out.stderr).unwrap()
    }

    /// Extracts graphs into a document.
    #[track_caller]
    fn extract(&self, inputs: &[&str], more: &[&str], document: &str) -> Value {
        let format = if document.ends_with(".jsonl") { "jsonl" } else { "json" };
        let arguments = [&["cfg", "-q", "--output-format", format, "-o", document], inputs, more].concat();
        self.fine(&arguments);
        let text = self.read(document);
        if format == "json" { serde_json::from_str(&text).unwrap() } else { Value::Null }
    }

    #[track_caller]
    fn compose(&self, documents: &[&str]) -> Value {
        serde_json::from_str(&self.fine(&[&["compose"], documents].concat())).unwrap()
    }
}

/// The class library of the random programs: the classes that they name, with code.
fn library() -> String {
    let mut acc =
        ".class public super java/lang/Object\n.super none\n.method public <init>()V\nreturn\n.end\n"
            .to_owned();
    let tree = [
        ("Throwable", "Object"),
        ("Exception", "Throwable"),
        ("Error", "Throwable"),
        ("RuntimeException", "Exception"),
        ("ArithmeticException", "RuntimeException"),
        ("NullPointerException", "RuntimeException"),
    ];
    for (class, above) in tree {
        acc.push_str(&format!(".class public super java/lang/{class}\n.super java/lang/{above}\n"));
        acc.push_str(&constructor(&format!("java/lang/{above}"), ""));
    }
    acc
}

fn constructor(above: &str, body: &str) -> String {
    format!(".method public <init>()V\naload_0\ninvokespecial {above}.<init>()V\n{body}return\n.end\n")
}

/// A random program: classes that call each other, some of them final or not public, and exceptions.
struct Random {
    rng: Rng,
    classes: Vec<String>,
    exceptions: Vec<String>,
    labels: u32,
}

const N_CLASSES: usize = 7;

impl Random {
    fn new(seed: u64) -> Random {
        let mut rng = Rng::new(seed);
        let mut name =
            |i: usize, letter: &str| format!("{}/{letter}{i}", if rng.chance(70) { "p" } else { "q" });
        let classes = (0..N_CLASSES).map(|it| name(it, "K")).collect();
        let exceptions = (0..4).map(|it| name(it, "E")).collect();
        Random { rng, classes, exceptions, labels: 0 }
    }

    fn program(&mut self) -> Vec<(String, String)> {
        let mut acc = Vec::new();
        for (i, class) in self.exceptions.clone().into_iter().enumerate() {
            let above = match self.rng.below(3) {
                0 if i > 0 => self.exceptions[self.rng.below(i as u32) as usize].clone(),
                1 => "java/lang/RuntimeException".to_owned(),
                _ => "java/lang/Exception".to_owned(),
            };
            acc.push((
                class.clone(),
                format!(".class public super {class}\n.super {above}\n{}", constructor(&above, "")),
            ));
        }
        let mut finals = BTreeSet::new();
        for (i, class) in self.classes.clone().into_iter().enumerate() {
            let mut above = "java/lang/Object".to_owned();
            if i > 0 && self.rng.chance(40) {
                let it = self.rng.below(i as u32) as usize;
                if !finals.contains(&it) {
                    above = self.classes[it].clone();
                }
            }
            let is_final = self.rng.chance(35);
            if is_final {
                finals.insert(i);
            }
            let mut flags = if self.rng.chance(85) { "public ".to_owned() } else { String::new() };
            flags.push_str(if is_final { "final super" } else { "super" });
            let mut text = format!(".class {flags} {class}\n.super {above}\n");
            let body = if self.rng.chance(20) { self.block(1) } else { String::new() };
            text.push_str(&constructor(&above, &body));
            for method in ["s0", "s1"] {
                let access = if self.rng.chance(85) { "public static" } else { "static" };
                let block = self.block(2);
                text.push_str(&format!(".method {access} {method}()V\n{block}return\n.end\n"));
            }
            for method in ["v0", "v1"] {
                if above == "java/lang/Object" || self.rng.chance(50) {
                    // Final methods must not be overridden, so no subclass declares this name.
                    let block = self.block(2);
                    text.push_str(&format!(".method public {method}()V\n{block}return\n.end\n"));
                }
            }
            let block = self.block(1);
            text.push_str(&format!(".method public final f{i}()V\n{block}return\n.end\n"));
            if self.rng.chance(15) {
                let block = self.block(1);
                text.push_str(&format!(".method static <clinit>()V\n{block}return\n.end\n"));
            }
            acc.push((class, text));
        }
        acc
    }

    /// Classes that are added later: subclasses that override methods, and exceptions whose superclasses are in the
    /// program or not.
    fn more(&mut self, program: &[(String, String)]) -> Vec<(String, String)> {
        let mut acc = Vec::new();
        let mut above = self.exceptions.clone();
        above.extend(["Throwable", "Error", "RuntimeException"].map(|it| format!("java/lang/{it}")));
        for i in 0..3 {
            let (class, above) = (format!("r/X{i}"), self.rng.pick(&above).unwrap().clone());
            acc.push((
                class.clone(),
                format!(".class public super {class}\n.super {above}\n{}", constructor(&above, "")),
            ));
        }
        for i in 0..self.classes.len() {
            let class = self.classes[i].clone();
            let is_open = program.iter().any(|it| it.0 == class && it.1.starts_with(".class public super"));
            if !is_open || self.rng.chance(30) {
                continue;
            }
            let thrown = format!("r/X{}", self.rng.below(3));
            let throw = format!("new {thrown}\ndup\ninvokespecial {thrown}.<init>()V\nathrow\n");
            let name = format!("r/S{i}");
            let v = self.rng.below(2);
            let text = format!(
                ".class public super {name}\n.super {class}\n{}.method public v{v}()V\n{throw}.end\n",
                constructor(&class, "")
            );
            acc.push((name, text));
        }
        acc
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn block(&mut self, depth: u32) -> String {
        let n = self.rng.below(3) + 1;
        (0..n).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: u32) -> String {
        let i = self.rng.below(N_CLASSES as u32) as usize;
        let class = self.classes[i].clone();
        let exception = self.rng.pick(&self.exceptions).unwrap().clone();
        match self.rng.below(if depth > 0 { 9 } else { 6 }) {
            0 | 1 => format!("invokestatic {class}.s{}()V\n", self.rng.below(2)),
            2 => format!("new {class}\ndup\ninvokespecial {class}.<init>()V\npop\n"),
            3 => {
                let method =
                    if self.rng.chance(50) { format!("f{i}") } else { format!("v{}", self.rng.below(2)) };
                format!(
                    "new {class}\ndup\ninvokespecial {class}.<init>()V\ninvokevirtual {class}.{method}()V\n"
                )
            }
            4 => {
                let skip = self.label();
                format!(
                    "iconst_1\nifeq {skip}\nnew {exception}\ndup\ninvokespecial {exception}.<init>()V\nathrow\n{skip}: nop\n"
                )
            }
            5 => "iconst_1\niconst_0\nidiv\npop\n".to_owned(),
            kind => {
                let (from, to, handler, end) = (self.label(), self.label(), self.label(), self.label());
                let body = self.block(depth - 1);
                let caught = match self.rng.below(4) {
                    0 => "any".to_owned(),
                    1 => "java/lang/RuntimeException".to_owned(),
                    _ => exception,
                };
                let after = if kind == 6 { "pop\n" } else { "athrow\n" };
                format!(
                    ".catch {caught} from {from} to {to} using {handler}\n{from}: nop\n{body}{to}: goto {end}\n{handler}: {after}{end}: nop\n"
                )
            }
        }
    }
}

/// The superclasses of exceptions, from a document.
struct Types(BTreeMap<String, String>);

impl Types {
    fn of(document: &Value) -> Types {
        let pair =
            |it: &Value| (it["type"].as_str().unwrap().to_owned(), it["super"].as_str().unwrap().to_owned());
        Types(document["types"].as_array().unwrap().iter().map(pair).collect())
    }

    /// Adds the classes of these sources.
    fn with(mut self, sources: &[(String, String)]) -> Types {
        for (class, source) in sources {
            let above = source.split_once(".super ").unwrap().1.lines().next().unwrap();
            self.0.insert(class.clone(), above.to_owned());
        }
        self
    }

    /// The classes in a list of parts, in a world where all classes are known.
    fn classes(&self, parts: &Value) -> Value {
        let mut acc: BTreeSet<String> = BTreeSet::new();
        for part in list(parts) {
            let class = text(&part["type"]);
            acc.insert(class.to_owned());
            if part["cone"] == true {
                acc.extend(self.0.keys().filter(|it| self.below(it, class)).cloned());
            }
        }
        acc.into_iter().map(|it| serde_json::json!({ "type": it, "cone": false })).collect()
    }

    fn below(&self, class: &str, above: &str) -> bool {
        class == above || self.0.get(class).is_some_and(|it| self.below(it, above))
    }

    fn is_in(&self, part: &Value, other: &Value) -> bool {
        part == other || (other["cone"] == true && self.below(text(&part["type"]), text(&other["type"])))
    }

    fn in_some(&self, part: &Value, others: &Value) -> bool {
        list(others).iter().any(|it| self.is_in(part, it))
    }

    fn apart(&self, a: &Value, b: &Value) -> bool {
        !self.is_in(a, b) && !self.is_in(b, a)
    }

    /// Whether the sets of some nodes together contain a set.
    fn covered(&self, set: &Node, by: &[&Node]) -> bool {
        list(&set.parts).iter().all(|part| {
            by.iter().any(|other| match (set.open, other.open) {
                (false, false) => self.in_some(part, &other.parts),
                (_, true) => {
                    let out = list(&other.except)
                        .iter()
                        .all(|it| self.apart(part, it) || (set.open && self.in_some(it, &set.except)));
                    self.in_some(part, &other.parts) && out
                }
                (true, false) => false,
            })
        })
    }
}

fn text(it: &Value) -> &str {
    it.as_str().unwrap()
}

fn list(it: &Value) -> &[Value] {
    it.as_array().map_or(&[], Vec::as_slice)
}

/// A node with exceptions.
#[derive(Debug)]
struct Node {
    at: u64,
    kind: String,
    parts: Value,
    except: Value,
    open: bool,
    handlers: BTreeSet<u64>,
}

fn exceptional(method: &Value) -> Vec<Node> {
    let edges = list(&method["edges"]);
    let nodes = list(&method["nodes"]).iter().filter(|it| !it["exception"].is_null());
    nodes
        .map(|node| {
            let id = node["id"].as_u64().unwrap();
            let into = edges.iter().find(|it| it["to"] == id && it["kind"] == "exception").unwrap();
            let out = edges.iter().filter(|it| it["from"] == id).map(|it| it["to"].as_u64().unwrap());
            Node {
                at: into["from"].as_u64().unwrap(),
                kind: text(&node["kind"]).to_owned(),
                parts: node["exception"].clone(),
                except: node["except"].clone(),
                open: !node["open"].is_null(),
                handlers: out.collect(),
            }
        })
        .collect()
}

fn methods(document: &Value) -> BTreeMap<&str, &Value> {
    list(&document["methods"]).iter().map(|it| (text(&it["method"]), it)).collect()
}

/// Describes what the composed graphs do not cover of the whole.
fn uncovered(whole: &Value, composed: &Value, sources: &[(String, String)]) -> Vec<String> {
    let types = Types::of(whole).with(sources);
    let mut acc = Vec::new();
    let composed = methods(composed);
    for (name, whole) in methods(whole) {
        let Some(composed) = composed.get(name) else {
            acc.push(format!("{name} is missing"));
            continue;
        };
        let others = exceptional(composed);
        let nodes = exceptional(whole);
        for node in &nodes {
            assert!(!node.open, "{name}: {node:?}");
            let mut parts = types.classes(&node.parts);
            if node.kind == "exceptional" {
                // Exceptions that leave the method are caught by no handler, and need not be in exceptional nodes
                // with handlers. Their own node is also checked.
                let leaves = nodes.iter().filter(|it| it.at == node.at && it.kind != node.kind);
                let leaves: Vec<Value> = leaves.map(|it| types.classes(&it.parts)).collect();
                let stays = |it: &Value| leaves.iter().all(|leaves| !list(leaves).contains(it));
                parts = list(&parts).iter().filter(|it| stays(it)).cloned().collect();
            }
            let node = Node {
                parts,
                kind: node.kind.clone(),
                except: Value::Null,
                handlers: node.handlers.clone(),
                ..*node
            };
            let here: Vec<&Node> =
                others.iter().filter(|it| it.at == node.at && it.kind == node.kind).collect();
            let handlers: BTreeSet<u64> = here.iter().flat_map(|it| it.handlers.clone()).collect();
            if !types.covered(&node, &here) || !node.handlers.is_subset(&handlers) {
                acc.push(format!("{name}: {node:?} by {here:?}"));
            }
        }
        let normal = |method: &Value| -> BTreeSet<String> {
            let kind = |it: &&Value| {
                !matches!(text(&it["kind"]), "exception" | "handler" | "may-handler" | "return")
            };
            list(&method["edges"]).iter().filter(kind).map(Value::to_string).collect()
        };
        if normal(whole) != normal(composed) {
            acc.push(format!("{name}: normal edges"));
        }
        for call in list(&whole["calls"]) {
            let same = |it: &&Value| ["node", "kind", "declared"].iter().all(|key| it[key] == call[key]);
            let there = list(&composed["calls"]).iter().find(same);
            let fits = |it: &Value| {
                let has = |target: &Value| {
                    list(&it["targets"]).contains(target) || list(&it["possible"]).contains(target)
                };
                let open = !it["open"].is_null();
                open || (list(&call["targets"]).iter().all(has) && call["open"].is_null())
            };
            if !there.is_some_and(fits) {
                acc.push(format!("{name}: {call} by {there:?}"));
            }
        }
        let throws = |it: &Value| {
            let node = |parts: &Value, except: &Value, open| Node {
                at: 0,
                kind: String::new(),
                parts: parts.clone(),
                except: except.clone(),
                open,
                handlers: BTreeSet::new(),
            };
            let open = &it["throws_open"];
            [node(&it["throws"], &Value::Null, false), node(&open["within"], &open["except"], true)]
        };
        let others = throws(composed);
        for mut it in throws(whole) {
            it.parts = types.classes(&it.parts);
            if !types.covered(&it, &others.iter().collect::<Vec<_>>()) {
                acc.push(format!("{name} may throw {it:?}, but composed only {others:?}"));
            }
        }
    }
    acc
}

fn n_open(document: &Value) -> usize {
    methods(document).values().flat_map(|it| exceptional(it)).filter(|it| it.open).count()
}

/// Describes where the whole is open but the composed graphs are not.
fn closed_too_soon(whole: &Value, composed: &Value) -> Vec<String> {
    let composed = methods(composed);
    let mut acc = Vec::new();
    for (name, whole) in methods(whole) {
        let others = exceptional(composed[name]);
        for node in exceptional(whole).iter().filter(|it| it.open) {
            if !others.iter().any(|it| it.open && it.at == node.at && it.kind == node.kind) {
                acc.push(format!("{name}: {node:?}"));
            }
        }
        for call in list(&whole["calls"]).iter().filter(|it| !it["open"].is_null()) {
            let same = |it: &&Value| ["node", "kind", "declared"].iter().all(|key| it[key] == call[key]);
            if list(&composed[name]["calls"]).iter().find(same).is_none_or(|it| it["open"].is_null()) {
                acc.push(format!("{name}: {call}"));
            }
        }
    }
    acc
}

/// Classes with their sources.
type Sources = Vec<(String, String)>;

/// The bytes of a class from its source.
fn bytes(text: &str) -> Vec<u8> {
    assemble(text).unwrap_or_else(|it| panic!("{it:?}\n{text}")).remove(0).bytes
}

/// The class with all its methods as ghosts.
fn ghost(class: &str, source: &str) -> Vec<u8> {
    let methods = source.lines().filter_map(|it| it.strip_prefix(".method "));
    let names = methods.map(|it| format!("{class}.{}", it.rsplit(' ').next().unwrap()));
    with_ghosts(&bytes(source), &names.map(|it| (it, Vec::new())).collect())
}

/// Writes a random program into the folders `a` and `b`, the same classes as ghosts into `ghosts-a` and `ghosts-b`,
/// classes that are added later into `more`, and the library into `lib`.
fn cut(seed: u64) -> (Folder, Sources, Sources) {
    let folder = Folder::new();
    for it in assemble(&library()).unwrap() {
        folder.class("lib", &it.name, &it.bytes);
    }
    for it in ["a", "b", "more", "ghosts-a", "ghosts-b"] {
        std::fs::create_dir_all(folder.path().join(it)).unwrap();
    }
    let mut rng = Rng::new(seed ^ 0xc0);
    let mut random = Random::new(seed);
    let program = random.program();
    let more = random.more(&program);
    for (name, text) in &program {
        let part = if rng.chance(50) { "a" } else { "b" };
        folder.class(part, name, &bytes(text));
        folder.class(&format!("ghosts-{part}"), name, &ghost(name, text));
    }
    for (name, text) in &more {
        folder.class("more", name, &bytes(text));
    }
    let all = [&*program, &more].concat();
    (folder, program, all)
}

#[test]
fn composed_graphs_cover_the_graphs_of_the_whole() {
    let (mut apart, mut together, mut whole_open) = (0, 0, 0);
    for seed in 0..tier::rounds(8, 40) {
        let (folder, program, all) = cut(seed);
        let lib = ["-cp", "lib"];
        let a = folder.extract(&["a"], &lib, "a.json");
        let b = folder.extract(&["b"], &lib, "b.json");
        let composed = folder.compose(&["a.json", "b.json"]);
        assert_eq!(composed["notes"], serde_json::json!([]), "seed {seed}: nobody broke a promise");
        let closed = folder.extract(&["a", "b"], &["-cp", "lib", "--world", "closed"], "closed.json");
        let lost = uncovered(&closed, &composed, &program);
        assert!(lost.is_empty(), "seed {seed}: {lost:#?}");
        let more = folder.extract(&["a", "b"], &["-cp", "lib:more", "--world", "closed"], "more.json");
        let lost = uncovered(&more, &composed, &all);
        assert!(lost.is_empty(), "seed {seed}, with more: {lost:#?}");
        let whole = folder.extract(&["a", "b"], &lib, "whole.json");
        let lost = closed_too_soon(&whole, &composed);
        assert!(lost.is_empty(), "seed {seed}: {lost:#?}");
        assert_eq!(composed["interface"]["provided"], whole["interface"]["provided"], "seed {seed}");
        apart += n_open(&a) + n_open(&b);
        together += n_open(&composed);
        whole_open += n_open(&whole);
        // The result does not depend on the order and format of the documents.
        folder.extract(&["a"], &lib, "a.jsonl");
        folder.extract(&["b"], &lib, "b.jsonl");
        let lines = folder.compose(&["b.jsonl", "a.jsonl"]);
        for (name, method) in methods(&composed) {
            assert_eq!(methods(&lines)[name], method, "seed {seed}");
        }
        for key in ["interface", "types", "quiet"] {
            assert_eq!(lines[key], composed[key], "seed {seed}");
        }
    }
    println!("open nodes: {apart} apart, {together} composed, {whole_open} of the whole");
    assert!(whole_open <= together && together < apart, "{apart} {together} {whole_open}");
}

/// The method of the papers: each part knows all names, and the code of the other part is a ghost.
#[test]
fn composed_graphs_with_ghosts_cover_the_whole_and_less_is_open() {
    let (mut apart, mut together, mut drawn) = (0, 0, 0);
    for seed in 100..tier::rounds(105, 120) {
        let (folder, program, _) = cut(seed);
        let declared = ["--world", "declared"];
        let a = folder.extract(&["a"], &[&["-cp", "lib:ghosts-b"], &declared[..]].concat(), "a.json");
        let b = folder.extract(&["b"], &[&["-cp", "lib:ghosts-a"], &declared[..]].concat(), "b.json");
        let composed = folder.compose(&["a.json", "b.json"]);
        assert_eq!(composed["notes"], serde_json::json!([]), "seed {seed}: nobody broke a promise");
        let closed = folder.extract(&["a", "b"], &["-cp", "lib", "--world", "closed"], "closed.json");
        let lost = uncovered(&closed, &composed, &program);
        assert!(lost.is_empty(), "seed {seed}: {lost:#?}");
        assert_eq!(composed["interface"], closed["interface"], "seed {seed}: nothing is required any more");
        apart += n_open(&a) + n_open(&b);
        together += n_open(&composed);
        // Profile `paper`: the disjoint union, which Theorem 2 allows.
        let paper = ["--profile", "paper"];
        folder.extract(&["a"], &[&["-cp", "lib:ghosts-b"], &paper[..]].concat(), "pa.json");
        folder.extract(&["b"], &[&["-cp", "lib:ghosts-a"], &paper[..]].concat(), "pb.json");
        let composed = folder.compose(&["pa.json", "pb.json"]);
        let whole = folder.extract(&["a", "b"], &[&["-cp", "lib"], &paper[..]].concat(), "pw.json");
        for (name, method) in methods(&whole) {
            let edges = |it: &Value| edges(it);
            drawn += edges(method).len();
            let lost: Vec<_> = edges(method).difference(&edges(methods(&composed)[name])).cloned().collect();
            assert!(lost.is_empty(), "seed {seed}: {name}: {lost:?}");
        }
    }
    println!("open nodes: {apart} apart, {together} composed");
    assert!(together * 2 < apart, "{apart} {together}");
    assert!(drawn > 100, "{drawn}");
}

/// The edges of a graph of profile `paper`, independent of the numbers of nodes.
fn edges(method: &Value) -> BTreeSet<String> {
    let nodes = list(&method["nodes"]);
    let node = |id: &Value| {
        let it = &nodes[id.as_u64().unwrap() as usize];
        let normal = it["kind"] == "normal";
        if normal { id.to_string() } else { format!("{} {} {}", it["pc"], it["kind"], it["exception"]) }
    };
    let edge =
        |it: &Value| format!("{} {} {} {}", node(&it["from"]), node(&it["to"]), it["label"], it["kind"]);
    list(&method["edges"]).iter().map(edge).collect()
}

/// Three classes: `p/A` calls `q/B.s` within the range of a handler, `q/B.s` calls `q/C.s`, which throws.
fn three() -> Folder {
    let folder = Folder::new();
    for it in assemble(&library()).unwrap() {
        folder.class("lib", &it.name, &it.bytes);
    }
    let class = |name: &str, body: &str| {
        bytes(&format!(".class public super {name}\n.method public static s()V\n{body}return\n.end\n"))
    };
    let caught = ".catch java/lang/RuntimeException from A to B using H\nA: invokestatic q/B.s()V\nB: return\nH: athrow\n";
    folder.class("a", "p/A", &class("p/A", caught));
    folder.class("b", "q/B", &class("q/B", "invokestatic q/C.s()V\n"));
    let thrown = "new java/lang/ArithmeticException\ndup\ninvokespecial java/lang/ArithmeticException.<init>()V\nathrow\n";
    folder.class("c", "q/C", &class("q/C", thrown));
    for it in ["a", "b", "c"] {
        folder.extract(&[it], &["-cp", "lib"], &format!("{it}.json"));
    }
    folder
}

#[test]
fn a_call_is_linked_and_its_exceptions_become_known() {
    let folder = three();
    let a: Value = serde_json::from_str(&folder.read("a.json")).unwrap();
    assert_eq!(a["interface"]["provided"], serde_json::json!(["p/A.s()V"]));
    assert_eq!(a["interface"]["required"], serde_json::json!(["q/B.s()V"]));
    let some = folder.compose(&["a.json", "b.json"]);
    assert_eq!(some["interface"]["required"], serde_json::json!(["q/C.s()V"]));
    let method = |document: &Value| methods(document)["p/A.s()V"].clone();
    assert_eq!(method(&some)["calls"][0]["targets"], serde_json::json!(["q/B.s()V"]));
    assert!(method(&some)["calls"][0]["open"].is_null());
    // The exceptions behind the call are known; the call stays open for what is still missing.
    assert!(!method(&some)["throws_open"].is_null());
    let all = folder.compose(&["a.json", "b.json", "c.json"]);
    assert_eq!(all["interface"]["required"], serde_json::json!([]));
    assert_eq!(
        method(&all)["throws"],
        serde_json::json!([{ "type": "java/lang/ArithmeticException", "cone": false }])
    );
    assert!(method(&all)["throws_open"].is_null(), "{}", method(&all));
    let whole = folder.extract(&["a", "b", "c"], &["-cp", "lib"], "whole.json");
    let (composed, whole) = (method(&all), method(&whole));
    for key in ["calls", "throws", "throws_open"] {
        assert_eq!(composed[key], whole[key], "{key}");
    }
    // Whether a handler catches all exceptions stays as it was decided for the open set.
    let edges = |it: &Value| it["edges"].to_string().replace("may-handler", "handler");
    assert_eq!(edges(&composed), edges(&whole));
}

#[test]
fn a_composed_document_can_be_composed_again() {
    let folder = three();
    folder.fine(&["compose", "a.json", "b.json", "-o", "ab.json"]);
    folder.fine(&["compose", "b.json", "c.json", "-o", "bc.jsonl", "--output-format", "jsonl"]);
    let at_once = folder.compose(&["a.json", "b.json", "c.json"]);
    for documents in [["ab.json", "c.json"], ["a.json", "bc.jsonl"]] {
        let in_steps = folder.compose(&documents);
        for key in ["interface", "types", "quiet"] {
            assert_eq!(in_steps[key], at_once[key], "{documents:?}");
        }
        for (name, method) in methods(&at_once) {
            let other = methods(&in_steps)[name];
            for key in ["edges", "calls", "throws", "throws_open"] {
                assert_eq!(other[key], method[key], "{documents:?}: {name}");
            }
        }
    }
}

#[test]
fn the_layout_of_documents_does_not_matter() {
    let folder = three();
    let value: Value = serde_json::from_str(&folder.read("a.json")).unwrap();
    // Other whitespace, and members sorted by name.
    let header = |keep: &dyn Fn(&str) -> bool| {
        let members = value.as_object().unwrap().iter().filter(|it| keep(it.0));
        members.map(|it| format!("{:?}:\n{:#}", it.0, it.1)).collect::<Vec<_>>().join(" , ")
    };
    let after =
        ["methods", "failed_classes", "failed_methods", "notes", "warnings", "interface", "quiet", "types"];
    let before = header(&|it| !after.contains(&it));
    let behind = header(&|it| after.contains(&it) && it != "methods");
    folder.write(
        "pretty.json",
        &format!(" {{ {before},\n\"methods\" :\t{:#} , {behind} }}\n\n", value["methods"]),
    );
    let (one, other) = (folder.compose(&["a.json", "b.json"]), folder.compose(&["pretty.json", "b.json"]));
    assert_eq!(one, other);
}

#[test]
fn documents_that_do_not_fit_together_are_rejected() {
    let folder = three();
    let refused = |documents: &[&str], what: &[&str]| {
        let said = folder.wrong(&[&["compose"], documents].concat());
        what.iter().for_each(|it| assert!(said.contains(it), "{said}"));
    };
    refused(&["a.json", "a.json"], &["p/A.s()V is in a.json already"]);
    folder.extract(&["b"], &["-cp", "lib", "--async-errors"], "async.json");
    refused(
        &["a.json", "async.json"],
        &["async.json: the list of VM error groups is", " in a.json; extract both"],
    );
    folder.extract(&["b"], &["-cp", "lib", "--assume", "contract"], "contract.json");
    refused(&["a.json", "contract.json"], &["the list of assumptions is"]);
    folder.extract(&["b"], &["-cp", "lib", "--profile", "paper"], "paper.json");
    refused(&["a.json", "paper.json"], &["the profile is \"paper\", but \"jvm\" in a.json"]);
    folder.extract(&["b"], &["-cp", "lib", "--world", "closed"], "closed.json");
    refused(&["a.json", "closed.json"], &["the world is \"closed\", but \"open\" in a.json"]);
    folder.extract(&["a"], &["-cp", "lib", "--world", "closed"], "closed-a.json");
    refused(
        &["closed-a.json", "closed.json"],
        &["closed.json: the classes and methods that the document knows differ from those of closed-a.json"],
    );
    folder.extract(&["b"], &["-cp", "lib", "--rta", "--entry", "library"], "rta.json");
    refused(&["rta.json", "a.json"], &["rta.json: the document covers only", "--rta"]);
    folder.extract(&["b"], &["-cp", "lib", "--release", "9"], "nine.json");
    refused(&["a.json", "nine.json"], &["the release is 9"]);
    folder.fine(&["throws", "b", "--output-format", "json", "-o", "throws.json"]);
    refused(
        &["a.json", "throws.json"],
        &["throws.json: the document is the result of `ajar throws`; only results of `ajar cfg`"],
    );
    folder.write("old.json", &folder.read("b.json").replacen("\"ajar\":\"", "\"ajar\":\"0.0.", 1));
    refused(
        &["a.json", "old.json"],
        &["old.json: the document was written by ajar 0.0.", "extract the document again"],
    );
    folder.write("other.json", "{\"methods\":[]}");
    refused(&["a.json", "other.json"], &["other.json: the file is not a document of ajar (at byte "]);
    folder.write("list.json", "[1]");
    refused(&["a.json", "list.json"], &["list.json: the document is not a JSON object (at byte 0)"]);
    folder.write(
        "types.json",
        &folder.read("b.json").replace(
            "\"type\":\"java/lang/Error\",\"super\":\"java/lang/Throwable\"",
            "\"type\":\"java/lang/Error\",\"super\":\"java/lang/Exception\"",
        ),
    );
    refused(
        &["a.json", "types.json"],
        &["java/lang/Error extends java/lang/Exception in this document, but java/lang/Throwable in another"],
    );
    refused(&["a.json", "gone.json"], &["gone.json: cannot be read"]);
    refused(&["a.json", "lib"], &["lib"]);
    let said = folder.wrong(&["compose", "a.json"]);
    assert!(said.contains("<DOCUMENT>"), "{said}");
    // A failed run leaves no result file.
    folder.wrong(&["compose", "a.json", "a.json", "-o", "result.json"]);
    assert!(!folder.path().join("result.json").exists());
}

/// `p/A` was extracted with a ghost of `q/B` that promises to throw nothing; the real `q/B` throws.
#[test]
fn a_broken_promise_is_reported() {
    let folder = Folder::new();
    for it in assemble(&library()).unwrap() {
        folder.class("lib", &it.name, &it.bytes);
    }
    let source = |name: &str, body: &str| {
        format!(".class public super {name}\n.method public static s()V\n{body}return\n.end\n")
    };
    let thrown = "new java/lang/Error\ndup\ninvokespecial java/lang/Error.<init>()V\nathrow\n";
    let (a, b) = (source("p/A", "invokestatic q/B.s()V\n"), source("q/B", thrown));
    folder.class("a", "p/A", &bytes(&a));
    folder.class("b", "q/B", &bytes(&b));
    folder.class("ghosts-a", "p/A", &ghost("p/A", &a));
    for (handlers, broken) in
        [(vec!["any"], true), (vec!["java.lang.Exception"], false), (vec!["Error"], true)]
    {
        let handlers = handlers.into_iter().map(str::to_owned).collect();
        let promise = [("q/B.s()V".to_owned(), handlers)].into();
        folder.class("promise", "q/B", &with_ghosts(&bytes(&b), &promise));
        let declared = ["--world", "declared"];
        folder.extract(&["a"], &[&["-cp", "lib:promise"], &declared[..]].concat(), "a.json");
        folder.extract(&["b"], &[&["-cp", "lib:ghosts-a"], &declared[..]].concat(), "b.json");
        let out = folder.run(&["compose", "a.json", "b.json"]);
        let said = String::from_utf8(out.stderr).unwrap();
        let what = "warning: a.json: the graph of p/A.s()V was computed as if q/B.s()V never threw java/lang/Error, \
                    but it can; run `ajar cfg` again for the classes of this document\n";
        assert_eq!(said, if broken { what } else { "" });
        let composed: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(list(&composed["notes"]).len(), usize::from(broken));
        // Profile `paper` keeps all assertions, so NullPointerException also comes out and every promise is broken.
        let paper = ["--profile", "paper"];
        folder.extract(&["a"], &[&["-cp", "lib:promise"], &paper[..]].concat(), "pa.json");
        folder.extract(&["b"], &[&["-cp", "lib:ghosts-a"], &paper[..]].concat(), "pb.json");
        let said = String::from_utf8(folder.run(&["compose", "pa.json", "pb.json"]).stderr).unwrap();
        assert!(
            said.starts_with(
                "warning: pa.json: the graph of p/A.s()V was computed as if q/B.s()V never threw"
            ),
            "{said}"
        );
    }
}

/// Reads two documents of [`three`] and composes them after the second one has changed to `now`.
fn composed(first: &str, second: &str, now: &str, out: &mut impl std::io::Write) -> Result<(), ComposeError> {
    let mut composer = Composer::new(env!("CARGO_PKG_VERSION"));
    composer.add("a", first.as_bytes()).unwrap();
    composer.add("b", second.as_bytes()).unwrap();
    composer.solve();
    let mut at_first = true;
    composer.copy("a", first.as_bytes(), out, Format::Json, &mut at_first)?;
    composer.copy("b", now.as_bytes(), out, Format::Json, &mut at_first)
}

#[test]
fn a_document_that_changes_between_its_readings_is_named() {
    let folder = three();
    folder.extract(&["b", "c"], &["-cp", "lib"], "bc.jsonl");
    let (first, second) = (folder.read("a.json"), folder.read("bc.jsonl"));
    let lines: Vec<&str> = second.lines().collect();
    let [header, methods @ .., end] = &lines[..] else { panic!("{second}") };
    assert_eq!(methods.len(), 2, "{second}");
    let joined = |lines: &[&str]| lines.join("\n") + "\n";
    let changed = [
        // Shorter documents: a well-formed one, one that ends between lines, and one that ends anywhere.
        joined(&[header, methods[0], end]),
        joined(&[header, end]),
        joined(&[header, methods[0]]),
        second[..second.len() / 2].to_owned(),
        String::new(),
        // Longer documents, and one in another order.
        joined(&[header, methods[0], methods[1], methods[1], end]),
        joined(&[header, methods[1], methods[0], end]),
        // Changes outside the methods, and in them.
        second.replacen("\"release\":25", "\"release\":24", 1),
        joined(&[header, methods[0], methods[1], &end.replacen("\"q/C\"", "\"q/D\"", 1)]),
        second.replacen("ArithmeticException", "AssertionError", 1),
        second.replacen("q/C.s()V", "q/B.s()V", 1),
    ];
    for now in changed {
        assert_ne!(now, second);
        match composed(&first, &second, &now, &mut Vec::new()) {
            Err(ComposeError::Refused(it)) => {
                assert!(it.starts_with("b: the document changed during composition"), "{it}");
            }
            it => panic!("{it:?}: {now}"),
        }
    }
    // A change of whitespace alone is ignored.
    composed(&first, &second, &second.replace('\n', "\n \n"), &mut Vec::new()).unwrap();
}

/// A writer that accepts this many bytes, then none.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = bytes.len().min(self.0);
        self.0 -= n;
        if n == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(n) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_error_of_the_output_names_the_output() {
    let folder = three();
    let (first, second) = (folder.read("a.json"), folder.read("b.json"));
    for room in [0, 100, first.len()] {
        match composed(&first, &second, &second, &mut Full(room)) {
            Err(ComposeError::Output(it)) => assert_eq!(it.kind(), std::io::ErrorKind::StorageFull),
            it => panic!("{room}: {it:?}"),
        }
    }
    if !Path::new("/dev/full").exists() {
        return;
    }
    // More than fits the buffer of the writer.
    let mut source = ".class public super r/Many\n".to_owned();
    for i in 0..400 {
        source.push_str(&format!(".method public static m{i}()V\ninvokestatic q/B.s()V\nreturn\n.end\n"));
    }
    folder.class("many", "r/Many", &bytes(&source));
    folder.extract(&["many"], &["-cp", "lib"], "many.json");
    let stdout = "error: the standard output: cannot be written: No space left on device (os error 28)\n";
    for (documents, more, wanted) in [
        (["a.json", "b.json"], &[][..], stdout),
        (["a.json", "many.json"], &[], stdout),
        (["a.json", "many.json"], &["-o", "/dev/full"], &stdout.replace("the standard output", "/dev/full")),
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
        command.current_dir(folder.path()).arg("compose").args(documents).args(more).stdout(full);
        let out = command.output().unwrap();
        assert_eq!((out.status.code(), &*String::from_utf8_lossy(&out.stderr)), (Some(2), wanted));
    }
    // A reader may stop reading early.
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.current_dir(folder.path()).args(["compose", "a.json", "many.json"]);
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), &*String::from_utf8_lossy(&out.stderr)), (Some(0), ""));
}
