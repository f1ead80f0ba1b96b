//! Every format on ordinary and on hostile names: the schemas hold, and nothing is lost or garbled.

use std::io::Write;
use std::process::{Command, Stdio};

use export::compose::Composer;
use export::document::Document;
use export::form::{Format, Nodes};
use export::fragment::{bir_fragment, calls_fragment, cfg_fragment, throws_fragment};
use export::frame::{FailedClass, FailedMethod, Header, Interface, Trailer};
use export::stats::{Stats, stats_json};
use ide::answer::{ClassAnswer, Question, class_answer};
use ide::whole::{Whole, read_class};
use ide::{Fault, Graph, MethodId, Role, Scratch, Text, WholeOptions, WorldKind};
use serde_json::Value;
use test_utils::asm::assemble;

const ORDER: &[u8] = include_bytes!("../../../test-data/edit/before/Order.class");
const CFG_SCHEMA: &str = include_str!("../schemas/cfg.schema.json");
const BIR_SCHEMA: &str = include_str!("../schemas/bir.schema.json");
const CALLS_SCHEMA: &str = include_str!("../schemas/calls.schema.json");
const THROWS_SCHEMA: &str = include_str!("../schemas/throws.schema.json");
const STATS_SCHEMA: &str = include_str!("../schemas/stats.schema.json");

/// A class whose names hold quotes, newlines, control characters, marks of XML and a lone surrogate, with a switch,
/// handlers that catch, may catch and catch all, a subroutine, and a method that cannot be lowered.
const ODD: &str = r#"
.class public super "p/a\"b\n<&>\u0001\ud800\uffff"
.source "a\\b\".java"
.method public static "m\ud800\n\t\"'-->]]><\u007f\u202e"(ILjava/lang/Object;)I
A: iload_0
  .line 7
  lookupswitch 1:B 9:C 10:C default D
B: aload_1
  invokevirtual "p/\ud800".toString()Ljava/lang/String;
  pop
  goto D
C: iload_0
  iload_0
  idiv
  ireturn
D: ldc "text \ud800 <b>&amp;</b> \" \\ \u0000"
  pop
  jsr S
  jsr S
  iconst_0
  ireturn
S: astore_2
  ret 2
H: astore_1
  goto D
G: athrow
  .catch "p/E\ud800\n" from A to D using H
  .catch java/lang/RuntimeException from A to D using H
  .catch any from A to D using G
.end
.method public static abstract nothing()V
.end
.method public static broken()V
  pop
  return
.end
"#;

fn answer(bytes: &[u8]) -> ClassAnswer {
    let question = Question { select: &|_| true, graphs: true, clock: None };
    class_answer(bytes, &question, &mut Scratch::default()).unwrap()
}

fn odd() -> ClassAnswer {
    answer(&assemble(ODD).unwrap()[0].bytes)
}

/// The classes of these tests as a program.
fn program() -> Whole {
    let odd = assemble(ODD).unwrap();
    let records = [ORDER, &odd[0].bytes].map(|it| read_class(it, &mut Scratch::default()).unwrap());
    let records = records.into_iter().map(|it| (it, Role::App)).collect();
    let options = WholeOptions {
        world: WorldKind::Open,
        release: None,
        assume_contract: false,
        link_errors: false,
        async_errors: false,
    };
    Whole::new(records, options)
}

/// The final graphs of the methods of a class of it.
fn graphs(class: &ClassAnswer) -> Vec<Graph> {
    let whole = program();
    let mut work = whole.work();
    class.methods.iter().map(|it| whole.graph(&mut work, it.method, &it.code, true)).collect()
}

fn header(command: &'static str) -> Header {
    Header {
        command,
        version: "0.0.0",
        jdk: Some("JDK \"17\"".to_owned()),
        release: 17,
        profile: "jvm",
        world: "open",
        names: (command == "cfg").then_some(7),
        vm_error_groups: vec!["init"],
        assumptions: vec!["what -- is assumed".to_owned()],
        containers: vec![("a\u{7}.jar".to_owned(), "app")],
    }
}

fn trailer(class: &ClassAnswer) -> Trailer {
    let place = || "a.jar!/\"<C>.class".to_owned();
    let methods = class.failed.iter();
    Trailer {
        failed_classes: vec![
            FailedClass {
                place: place(),
                reason: "it\nis cut".to_owned(),
                offset: Some(7),
                jvms: Some("4.1"),
            },
            FailedClass { place: place(), reason: "unreadable".to_owned(), offset: None, jvms: None },
        ],
        failed_methods: methods
            .map(|it| FailedMethod { place: place(), method: it.method, fault: it.fault.clone() })
            .collect(),
        notes: vec![(place(), "odd".to_owned())],
        interface: None,
    }
}

/// The trailer of a document with graphs.
fn with_interface(trailer: Trailer, classes: &[ClassAnswer]) -> Trailer {
    let methods = || classes.iter().flat_map(|it| &it.methods).map(|it| it.method);
    Trailer {
        interface: Some(Interface {
            provided: methods().collect(),
            required: methods().take(1).collect(),
            quiet: classes.iter().map(|it| it.class).collect(),
            types: vec![(Text(b"java/lang/Error"), Text(b"java/lang/Throwable"))],
        }),
        ..trailer
    }
}

fn document(format: Format, command: &'static str, nodes: Nodes, classes: &[ClassAnswer]) -> String {
    let mut document = Document::begin(Vec::new(), format, &header(command)).unwrap();
    for (i, class) in classes.iter().enumerate() {
        let mut fragment = Vec::new();
        match command {
            "bir" => bir_fragment(&mut fragment, format, "place\u{1f}", class),
            _ => {
                let graphs = graphs(class);
                cfg_fragment(&mut fragment, format, nodes, "place\u{1f}", i, class, &graphs);
            }
        }
        document.fragment(&fragment).unwrap();
        document.fragment(b"").unwrap();
    }
    let mut trailer = classes.last().map(trailer).unwrap_or_default();
    if command == "cfg" {
        trailer = with_interface(trailer, classes);
    }
    String::from_utf8(document.end(&trailer).unwrap()).unwrap()
}

/// Parses JSON. Our parser's strings hold no lone surrogates, which JSON allows: they are replaced.
fn parsed(text: &str) -> Value {
    assert!(text.is_ascii());
    serde_json::from_str(&text.replace("\\ud800", "\\ufffd")).unwrap()
}

#[track_caller]
fn validate(schema: &Value, text: &str) -> Value {
    let value = parsed(text);
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|it| format!("{}: {it}", it.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

/// The schema for one line of JSON lines.
fn line_schema(schema: &Value) -> Value {
    serde_json::json!({ "$ref": "#/$defs/line", "$defs": schema["$defs"] })
}

#[test]
fn json_keeps_its_schema() {
    for (command, schema) in [("cfg", CFG_SCHEMA), ("bir", BIR_SCHEMA)] {
        let schema: Value = serde_json::from_str(schema).unwrap();
        for classes in [vec![], vec![answer(ORDER)], vec![answer(ORDER), odd()]] {
            let text = document(Format::Json, command, Nodes::Blocks, &classes);
            let value = validate(&schema, &text);
            let n: usize = classes.iter().map(|it| it.methods.len()).sum();
            assert_eq!(value["methods"].as_array().unwrap().len(), n);
            let lines = document(Format::JsonLines, command, Nodes::Blocks, &classes);
            assert_eq!(lines.lines().count(), n + 2);
            lines.lines().for_each(|it| drop(validate(&line_schema(&schema), it)));
        }
    }
}

#[test]
fn calls_and_throws_keep_their_schemas() {
    let classes = [answer(ORDER), odd()];
    let whole = program();
    let mut work = whole.work();
    for (command, list, schema) in [("calls", "calls", CALLS_SCHEMA), ("throws", "methods", THROWS_SCHEMA)] {
        let schema: Value = serde_json::from_str(schema).unwrap();
        for format in [Format::Json, Format::JsonLines] {
            let mut document = Document::begin(Vec::new(), format, &header(command)).unwrap();
            for class in &classes {
                let mut out = Vec::new();
                if command == "calls" {
                    let calls: Vec<_> = class
                        .methods
                        .iter()
                        .map(|it| (it.method, Some(it), whole.calls(it.method, &it.code)))
                        .collect();
                    calls_fragment(&mut out, format, "place", &calls);
                } else {
                    let answers: Vec<_> =
                        class.methods.iter().filter_map(|it| whole.throws(&mut work, it.method)).collect();
                    throws_fragment(&mut out, format, "place", &answers);
                }
                document.fragment(&out).unwrap();
            }
            let text = String::from_utf8(document.end(&trailer(&odd())).unwrap()).unwrap();
            if format == Format::Json {
                let value = validate(&schema, &text);
                assert!(value[list].as_array().unwrap().len() > 5, "{text}");
            } else {
                text.lines().for_each(|it| drop(validate(&line_schema(&schema), it)));
            }
        }
    }
}

#[test]
fn a_call_graph_is_one_graph() {
    const TWO: &str = r#"
.class public super p/A
.method public static a()V
  invokestatic p/A.b()V
  invokestatic p/A.b()V
  invokestatic p/Gone.c()V
  return
.end
.method public static b()V
  return
.end
"#;
    let bytes = assemble(TWO).unwrap().remove(0).bytes;
    let options = WholeOptions {
        world: WorldKind::Open,
        release: None,
        assume_contract: false,
        link_errors: false,
        async_errors: false,
    };
    let record = read_class(&bytes, &mut Scratch::default()).unwrap();
    let whole = Whole::new(vec![(record, Role::App)], options);
    let class = answer(&bytes);
    let calls: Vec<_> =
        class.methods.iter().map(|it| (it.method, None, whole.calls(it.method, &it.code))).collect();
    let mut document = Document::begin(Vec::new(), Format::Dot, &header("calls")).unwrap();
    let mut out = Vec::new();
    calls_fragment(&mut out, Format::Dot, "place", &calls);
    document.fragment(&out).unwrap();
    let text = String::from_utf8(document.end(&Trailer::default()).unwrap()).unwrap();
    let graph = text.split_once("arrowsize=0.6];\n").unwrap().1;
    assert_eq!(graph, "  \"p.A.a()\" [style=dashed, color=\"#b07020\"];\n  \"p.A.a()\" -> \"p.A.b()\";\n}\n");
}

#[test]
fn the_schema_refuses_what_is_wrong() {
    let schema: Value = serde_json::from_str(CFG_SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut value = parsed(&document(Format::Json, "cfg", Nodes::Blocks, &[answer(ORDER)]));
    assert!(validator.is_valid(&value));
    value["methods"][0]["nodes"][0]["kind"] = "strange".into();
    assert!(!validator.is_valid(&value));
}

#[test]
fn stats_keep_their_schema() {
    let schema: Value = serde_json::from_str(STATS_SCHEMA).unwrap();
    let stats = Stats { classes: 3, peak_memory: Some(1), ..Stats::default() };
    let text = String::from_utf8(stats_json(&header("stats"), &stats, &trailer(&odd()))).unwrap();
    assert_eq!(validate(&schema, &text)["classes"], 3);
}

#[test]
fn hostile_names_survive_json() {
    let text = document(Format::Json, "cfg", Nodes::Blocks, &[odd()]);
    assert!(text.contains(r#""method":"p/a\"b\n<&>\u0001\ud800\uffff.m\ud800\n\u0009\"'-->]]><\u007f\u202e(ILjava/lang/Object;)I""#));
    assert!(
        text.contains(r#""exception":[{"type":"java/lang/ArithmeticException","cone":false}],"open":null"#)
    );
    assert!(text.contains(r#""kind":"case","case":9"#));
    assert!(text.contains(r#""kind":"may-handler""#));
    assert!(text.contains(r#""copy":2"#));
    assert!(text.contains(r#"broken()V","place""#));
}

#[test]
fn code_that_control_never_reaches_has_its_range() {
    let code = ".class public p/C\n.method public static m()V\n return\n nop\n nop\n return\n.end\n";
    let text =
        document(Format::Json, "cfg", Nodes::Blocks, &[answer(&assemble(code).unwrap().remove(0).bytes)]);
    assert!(text.contains(r#""unreachable":[[1,4]]"#), "{text}");
}

#[test]
fn graphml_holds_only_what_xml_allows() {
    let text = document(Format::GraphMl, "cfg", Nodes::Blocks, &[answer(ORDER), odd()]);
    let legal =
        |c: char| c == '\n' || c >= ' ' && !matches!(c, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}');
    assert_eq!(text.chars().find(|&it| !legal(it)), None);
    assert!(text.contains(r"p/a&quot;b\n&lt;&amp;&gt;\u0001\ud800\uffff.m\ud800\n"));
    // Each handler has the number of its row, whether it surely catches or not.
    for kind in ["handler", "may-handler"] {
        let edge = format!("<data key=\"edge_kind\">{kind}</data>");
        let mut behind = text.split(&edge).skip(1).peekable();
        assert!(behind.peek().is_some(), "{kind}");
        assert!(behind.all(|it| it.starts_with("<data key=\"row\">")), "{kind}");
    }
    // Tags close in the order in which they open.
    let mut open = Vec::new();
    for tag in text.split('<').skip(2).map(|it| it.split_once('>').unwrap().0) {
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert_eq!(open, [""; 0]);
    let ids: Vec<&str> = text.split("<node id=\"").skip(1).map(|it| it.split('"').next().unwrap()).collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len());
}

#[test]
fn graphviz_takes_every_name_without_a_warning() {
    for nodes in [Nodes::Blocks, Nodes::Instructions] {
        let text = document(Format::Dot, "cfg", nodes, &[answer(ORDER), odd()]);
        assert_eq!(text.matches("digraph ").count(), 7);
        let Ok(mut dot) = Command::new("dot")
            .arg("-Tsvg")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
        else {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "CI must have Graphviz");
            eprintln!("skipped: no Graphviz on this machine");
            return;
        };
        let mut stdin = dot.stdin.take().unwrap();
        let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()).unwrap());
        let out = dot.wait_with_output().unwrap();
        writer.join().unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stderr), "");
        assert!(out.status.success());
        assert_eq!(String::from_utf8_lossy(&out.stdout).matches("<svg").count(), 7);
    }
}

#[test]
fn a_fault_keeps_its_place() {
    let class = odd();
    let [failed] = &class.failed[..] else { panic!("{:?}", class.failed) };
    let MethodId { name, .. } = failed.method;
    assert_eq!(name, Text(b"broken"));
    let Fault { offset, jvms, .. } = &failed.fault;
    assert!(*offset > 0 && jvms.starts_with('4'), "{}", failed.fault);
}

#[test]
fn what_is_composed_is_such_a_document() {
    let schema: Value = serde_json::from_str(CFG_SCHEMA).unwrap();
    let (order, odd) = ([answer(ORDER)], [odd()]);
    let documents = |format| [&order, &odd].map(|it| document(format, "cfg", Nodes::Blocks, it));
    let both = parsed(&document(Format::Json, "cfg", Nodes::Blocks, &[answer(ORDER), self::odd()]));
    let mut results = Vec::new();
    for read in [Format::Json, Format::JsonLines] {
        let documents = documents(read);
        let mut composer = Composer::new("0.0.0");
        documents.iter().for_each(|it| composer.add("a.json", it.as_bytes()).unwrap());
        composer.solve();
        for written in [Format::Json, Format::JsonLines] {
            let mut out = Vec::new();
            let mut first = true;
            composer.begin(&mut out, written).unwrap();
            for it in &documents {
                composer.copy("a.json", it.as_bytes(), &mut out, written, &mut first).unwrap();
            }
            composer.end(&mut out, written).unwrap();
            let text = String::from_utf8(out).unwrap();
            if written == Format::Json {
                let value = validate(&schema, &text);
                let names = |it: &Value| -> Vec<Value> {
                    it["methods"].as_array().unwrap().iter().map(|it| it["method"].clone()).collect()
                };
                assert_eq!(names(&value), names(&both));
                assert_eq!(value["command"], "compose");
            } else {
                text.lines().for_each(|it| drop(validate(&line_schema(&schema), it)));
            }
            // Names that are no Unicode are as they were.
            assert!(text.contains(r"\u0001\ud800\uffff.m\ud800\n"), "{text}");
            results.push((written, text));
        }
    }
    // Whatever form was read.
    assert_eq!(results[0], results[2]);
    assert_eq!(results[1], results[3]);
}

/// No text makes reading panic or accept what is no document: each prefix is refused, each changed byte at worst accepted.
#[test]
fn broken_documents_are_refused() {
    for format in [Format::Json, Format::JsonLines] {
        let text = document(format, "cfg", Nodes::Blocks, &[odd()]).into_bytes();
        let add = |text: &[u8]| Composer::new("0.0.0").add("a.json", text);
        assert!(add(&text).is_ok());
        for cut in (0..text.len() - 1).step_by(7).chain(text.len() - 20..text.len() - 1) {
            let error = add(&text[..cut]).unwrap_err().to_string();
            assert!(error.starts_with("a.json: ") && error.contains("(at byte "), "{error}");
        }
        let mut rng = test_utils::rng::Rng::new(1);
        for _ in 0..3_000 {
            let mut text = text.clone();
            let at = rng.below(text.len() as u32) as usize;
            text[at] = rng.below(256) as u8;
            let mut composer = Composer::new("0.0.0");
            if composer.add("a.json", &*text).is_ok() {
                composer.solve();
                let (mut out, mut first) = (Vec::new(), true);
                composer.begin(&mut out, format).unwrap();
                let _ = composer.copy("a.json", &*text, &mut out, format, &mut first);
                composer.end(&mut out, format).unwrap();
            }
        }
    }
}
