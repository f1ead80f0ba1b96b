//! The call graph in GraphML, compared with the same calls in JSON and in Graphviz.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use export::document::Document;
use export::form::Format;
use export::fragment::calls_fragment;
use export::frame::{Header, Trailer};
use ide::answer::{ClassAnswer, Question, class_answer};
use ide::whole::{Whole, read_class};
use ide::{Role, Scratch, WholeOptions, WorldKind};
use serde_json::Value;
use test_utils::asm::assemble;

/// Calls of methods with hostile names, of an absent class, and of one method from two classes.
const ODD: &str = r#"
.class public super "p/<&>\u0001\ud800_"
.method public static "a:\"b"()V
  invokestatic "p/<&>\u0001\ud800_"."c_d\n"()V
  invokestatic Gone.e()V
  invokestatic Virtual.direct()I
  pop
  return
.end
.method public static "c_d\n"()V
  return
.end
"#;

/// Returns the small call-graph cases and the odd class.
fn classes() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/calls");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "class"));
    paths.sort();
    let mut classes: Vec<Vec<u8>> = paths.iter().map(|it| std::fs::read(it).unwrap()).collect();
    classes.push(assemble(ODD).unwrap().remove(0).bytes);
    classes
}

fn document(format: Format) -> String {
    let classes = classes();
    let options = WholeOptions {
        world: WorldKind::Open,
        release: None,
        assume_contract: false,
        link_errors: false,
        async_errors: false,
        system_assertions: false,
    };
    let records =
        classes.iter().map(|it| (read_class(it, &mut Scratch::default()).unwrap(), Role::App)).collect();
    let whole = Whole::new(records, options);
    let header = Header {
        command: "calls",
        version: "0.0.0",
        jdk: None,
        release: 25,
        profile: "jvm",
        world: "open",
        names: None,
        vm_error_groups: vec!["init"],
        assumptions: Vec::new(),
        apart: false,
        containers: Vec::new(),
    };
    let mut document = Document::begin(Vec::new(), format, &header).unwrap();
    for bytes in &classes {
        let question = Question { select: &|_| true, graphs: false, clock: None };
        let class: ClassAnswer = class_answer(bytes, &question, &mut Scratch::default()).unwrap();
        let calls: Vec<_> =
            class.methods.iter().map(|it| (it.method, Some(it), whole.calls(it.method, &it.code))).collect();
        let mut out = Vec::new();
        calls_fragment(&mut out, format, "place", &calls);
        document.fragment(&out).unwrap();
    }
    String::from_utf8(document.end(&Trailer::default()).unwrap()).unwrap()
}

/// An XML element.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    children: Vec<Element>,
    text: String,
}

impl Element {
    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |it| it.name == name)
    }

    /// Returns the values of its data elements by key.
    fn data(&self) -> BTreeMap<&str, &str> {
        self.all("data").map(|it| (&*it.attributes["key"], &*it.text)).collect()
    }
}

/// Parses the subset of XML that we write; panics if it is not well-formed.
fn xml(text: &str) -> Element {
    let text = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap();
    let mut open = vec![Element::default()];
    for part in text.split_inclusive('>') {
        let (before, tag) = part.split_once('<').unwrap_or((part, ""));
        open.last_mut().unwrap().text += &unescaped(before);
        let Some(tag) = tag.strip_suffix('>') else {
            assert!(tag.is_empty() && before.trim().is_empty(), "{part}");
            continue;
        };
        if let Some(name) = tag.strip_prefix('/') {
            let it = open.pop().unwrap();
            assert_eq!(it.name, name);
            open.last_mut().unwrap().children.push(it);
            continue;
        }
        let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |it| (it, true));
        let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut it = Element { name: name.to_owned(), ..Element::default() };
        while let Some((name, after)) = rest.trim_start().split_once("=\"") {
            let (value, after) = after.split_once('"').unwrap();
            assert!(it.attributes.insert(name.to_owned(), unescaped(value)).is_none());
            rest = after;
        }
        if empty {
            open.last_mut().unwrap().children.push(it);
        } else {
            open.push(it);
        }
    }
    let mut document = open.pop().unwrap();
    assert!(open.is_empty() && document.children.len() == 1);
    document.children.remove(0)
}

fn unescaped(text: &str) -> String {
    for (i, _) in text.match_indices('&') {
        let entity = &text[i..=i + text[i..].find(';').unwrap()];
        assert!(["&amp;", "&lt;", "&gt;", "&quot;"].contains(&entity), "{entity}");
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// An edge: caller, target (`open` for unknown methods), kind, pc, and whether it is only possible.
type Edge = (String, String, String, Option<i64>, bool);

/// Returns the edges of the JSON format, with names as shown to people.
fn json_edges() -> Vec<Edge> {
    // Strings of serde_json cannot hold lone surrogates.
    let value: Value = serde_json::from_str(&document(Format::Json).replace("\\ud800", "\\\\ud800")).unwrap();
    let text = |it: &Value| it.as_str().unwrap().replace('\u{1}', "\\u0001").replace('\n', "\\n");
    let mut edges = Vec::new();
    for call in value["calls"].as_array().unwrap() {
        let mut add = |target: String, possible: bool| {
            edges.push((text(&call["caller"]), target, text(&call["kind"]), call["pc"].as_i64(), possible));
        };
        call["targets"].as_array().unwrap().iter().for_each(|it| add(text(it), false));
        call["possible"].as_array().unwrap().iter().for_each(|it| add(text(it), true));
        if !call["open"].is_null() {
            add("open".to_owned(), false);
        }
    }
    edges.sort();
    edges
}

#[test]
fn graphml_has_the_edges_of_the_json_form() {
    let document = xml(&document(Format::GraphMl));
    let keys: BTreeMap<&str, &Element> = document.all("key").map(|it| (&*it.attributes["id"], it)).collect();
    assert_eq!(document.all("key").count(), keys.len(), "a key is declared once");
    let [graph] = document.all("graph").collect::<Vec<_>>()[..] else { panic!("not one graph") };
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for node in graph.all("node") {
        let data = node.data();
        let name = data.get("method").copied().unwrap_or("open");
        assert!(names.insert(&node.attributes["id"], name).is_none(), "{name} has two nodes");
    }
    assert_eq!(names.values().filter(|it| **it == "open").count(), 1);
    assert_eq!(names.values().collect::<BTreeSet<_>>().len(), names.len());
    let mut edges: Vec<Edge> = Vec::new();
    for edge in graph.all("edge") {
        let data = edge.data();
        for key in data.keys() {
            assert_eq!(keys[key].attributes["for"], "edge", "{key}");
        }
        let name = |end: &str| names[&*edge.attributes[end]].to_owned();
        let pc = data.get("pc").map(|it| it.parse().unwrap());
        let possible = data.get("possible") == Some(&"true");
        edges.push((name("source"), name("target"), data["kind"].to_owned(), pc, possible));
    }
    edges.sort();
    assert!(edges.len() > 100);
    assert_eq!(edges, json_edges());
}

#[test]
fn the_list_of_edges_is_that_of_the_json_form() {
    let text = document(Format::Edges);
    let (header, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|it| it.starts_with("# "));
    assert!(header[0].starts_with("# ajar 0.0.0 calls") && text.starts_with("# "), "{header:?}");
    let name = |it: &str| -> String {
        serde_json::from_str(&format!("\"{it}\"").replace("\\ud800", "\\\\ud800")).unwrap()
    };
    let shown = |it: &str| name(it).replace('\u{1}', "\\u0001").replace('\n', "\\n");
    let mut edges = Vec::new();
    for line in lines {
        let [caller, pc, callee, kind, note] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let callee = if callee == "?" { "open".to_owned() } else { shown(callee) };
        assert_eq!(callee == "open", !["", "possible"].contains(&note), "{line}");
        edges.push((shown(caller), callee, kind.to_owned(), pc.parse().ok(), note == "possible"));
    }
    edges.sort();
    assert!(edges.len() > 100);
    assert_eq!(edges, json_edges());
}

#[test]
fn graphviz_has_the_edges_of_the_json_form() {
    let text = document(Format::Dot);
    let wanted: BTreeSet<(String, String)> =
        json_edges().into_iter().filter(|it| it.1 != "open").map(|it| (it.0, it.1)).collect();
    let drawn = text.lines().filter(|it| it.contains("\" -> \"")).count();
    assert_eq!(drawn, wanted.len());
    let open: BTreeSet<String> =
        json_edges().into_iter().filter(|it| it.1 == "open").map(|it| it.0).collect();
    let marked = text.lines().filter(|it| it.contains("style=dashed") && !it.contains("\" -> \"")).count();
    assert_eq!(marked, open.len());
}
