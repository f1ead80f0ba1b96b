//! All formats, for ordinary and for hostile names: output is valid against the schemas, and nothing is lost or
//! garbled.

mod documents;

use std::io::Write;
use std::process::{Command, Stdio};

use documents::{
    CFG_SCHEMA, ORDER, answer, document, header, line_schema, odd, parsed, program, trailer, validate,
};
use export::document::Document;
use export::form::{Format, Nodes};
use export::fragment::{calls_fragment, throws_fragment};
use export::frame::Trailer;
use export::stats::{Stats, stats_json};
use ide::whole::{Whole, read_class};
use ide::{Fault, MethodName, Role, Scratch, Text, WholeOptions, WorldKind};
use serde_json::Value;
use test_utils::asm::assemble;

const BIR_SCHEMA: &str = include_str!("../schemas/bir.schema.json");
const CALLS_SCHEMA: &str = include_str!("../schemas/calls.schema.json");
const THROWS_SCHEMA: &str = include_str!("../schemas/throws.schema.json");
const STATS_SCHEMA: &str = include_str!("../schemas/stats.schema.json");

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
        system_assertions: false,
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
fn the_schema_refuses_invalid_documents() {
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
    // Each handler edge has the number of its row, whether the handler certainly catches or not.
    for kind in ["handler", "may-handler"] {
        let edge = format!("<data key=\"edge_kind\">{kind}</data>");
        let mut behind = text.split(&edge).skip(1).peekable();
        assert!(behind.peek().is_some(), "{kind}");
        assert!(behind.all(|it| it.starts_with("<data key=\"row\">")), "{kind}");
    }
    // Tags are closed in reverse order.
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
    let MethodName { name, .. } = failed.method;
    assert_eq!(name, Text(b"broken"));
    let Fault { offset, jvms, .. } = &failed.fault;
    assert!(*offset > 0 && jvms.starts_with('4'), "{}", failed.fault);
}
