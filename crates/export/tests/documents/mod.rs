//! Documents with ordinary and hostile names, for the tests of export and of composition.

use export::document::Document;
use export::form::{Format, Nodes};
use export::fragment::{bir_fragment, cfg_fragment};
use export::frame::{FailedClass, FailedMethod, Header, Interface, Trailer};
use ide::answer::{ClassAnswer, Question, class_answer};
use ide::whole::{Whole, read_class};
use ide::{Graph, Role, Scratch, Text, WholeOptions, WorldKind};
use serde_json::Value;
use test_utils::asm::assemble;

pub(crate) const ORDER: &[u8] = include_bytes!("../../../../test-data/edit/before/Order.class");
pub(crate) const CFG_SCHEMA: &str = include_str!("../../schemas/cfg.schema.json");

/// A class whose names contain quotes, newlines, control characters, XML markup and a lone surrogate, with a
/// switch, handlers that catch, may catch and catch all, a subroutine, and a method that cannot be lowered.
pub(crate) const ODD: &str = r#"
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

pub(crate) fn answer(bytes: &[u8]) -> ClassAnswer {
    let question = Question { select: &|_| true, graphs: true, clock: None };
    class_answer(bytes, &question, &mut Scratch::default()).unwrap()
}

pub(crate) fn odd() -> ClassAnswer {
    answer(&assemble(ODD).unwrap()[0].bytes)
}

/// Returns the classes of these tests as a program.
pub(crate) fn program() -> Whole {
    let odd = assemble(ODD).unwrap();
    let records = [ORDER, &odd[0].bytes].map(|it| read_class(it, &mut Scratch::default()).unwrap());
    let records = records.into_iter().map(|it| (it, Role::App)).collect();
    let options = WholeOptions {
        world: WorldKind::Open,
        release: None,
        assume_contract: false,
        link_errors: false,
        async_errors: false,
        system_assertions: false,
    };
    Whole::new(records, options)
}

/// Returns the final graphs of the methods of a class of the program.
pub(crate) fn graphs(class: &ClassAnswer) -> Vec<Graph> {
    let whole = program();
    let mut work = whole.work();
    class.methods.iter().map(|it| whole.graph(&mut work, it.method, &it.code, true)).collect()
}

pub(crate) fn header(command: &'static str) -> Header {
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
        apart: false,
        containers: vec![("a\u{7}.jar".to_owned(), "app")],
    }
}

pub(crate) fn trailer(class: &ClassAnswer) -> Trailer {
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
        warnings: vec![("lib/gone.jar".to_owned(), "the entry does not exist".to_owned())],
        interface: None,
    }
}

/// Returns the trailer of a document with graphs.
pub(crate) fn with_interface(trailer: Trailer, classes: &[ClassAnswer]) -> Trailer {
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

pub(crate) fn document(
    format: Format,
    command: &'static str,
    nodes: Nodes,
    classes: &[ClassAnswer],
) -> String {
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

/// Parses JSON. Lone surrogates, which JSON allows but serde_json does not, are replaced.
pub(crate) fn parsed(text: &str) -> Value {
    assert!(text.is_ascii());
    serde_json::from_str(&text.replace("\\ud800", "\\ufffd")).unwrap()
}

#[track_caller]
pub(crate) fn validate(schema: &Value, text: &str) -> Value {
    let value = parsed(text);
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|it| format!("{}: {it}", it.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

/// Returns the schema for one line of JSON lines.
pub(crate) fn line_schema(schema: &Value) -> Value {
    serde_json::json!({ "$ref": "#/$defs/line", "$defs": schema["$defs"] })
}
