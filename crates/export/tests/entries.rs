//! The JSON of entry points is valid against its schema.

use export::entries::{entries_json, ways_json};
use export::frame::{FailedClass, FailedMethod, Header, Trailer};
use ide::entries::{Entry, EntryReason, Start};
use ide::{Fault, MethodName, Text};
use serde_json::Value;

const SCHEMA: &str = include_str!("../schemas/entries.schema.json");

fn header() -> Header {
    Header {
        command: "entries",
        version: "0.1.0",
        jdk: None,
        release: 25,
        profile: "jvm",
        world: "open",
        names: None,
        vm_error_groups: vec!["init", "link"],
        assumptions: vec![],
        apart: false,
        containers: vec![("a.jar".to_owned(), "app")],
    }
}

fn trailer(method: MethodName) -> Trailer {
    let place = || "a.jar!/p/B.class".to_owned();
    let fault = Fault { what: "opcode 0xcb does not exist".to_owned(), offset: 12, jvms: "6.5" };
    Trailer {
        failed_classes: vec![FailedClass {
            place: place(),
            reason: "it is cut".to_owned(),
            offset: Some(7),
            jvms: Some("4.1"),
        }],
        failed_methods: vec![FailedMethod { place: place(), method, fault }],
        notes: vec![("a.jar".to_owned(), "odd".to_owned())],
        warnings: vec![("lib/gone.jar".to_owned(), "the entry does not exist".to_owned())],
        interface: None,
    }
}

fn valid(bytes: &[u8]) -> Value {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let value: Value = serde_json::from_slice(bytes).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|it| it.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{value}");
    value
}

#[test]
fn both_documents_keep_the_schema() {
    let method = MethodName { class: Text(b"p/A"), name: Text(b"m"), descriptor: Text(b"()V") };
    let reasons = [
        EntryReason::Main(Text(b"p/A")),
        EntryReason::MainObject(Text(b"p/A")),
        EntryReason::MainClass(Text(b"p/A")),
        EntryReason::Agent(Text(b"Premain-Class")),
        EntryReason::Service(Text(b"p.Service")),
        EntryReason::Callable,
        EntryReason::Constructible,
        EntryReason::Overridable,
        EntryReason::Initializer,
        EntryReason::Selected,
    ];
    let entries: Vec<Entry> = reasons.iter().map(|&why| Entry { method, why }).collect();
    let value = valid(&entries_json(&header(), &entries, &trailer(method)));
    assert_eq!(value["entries"][0]["why"]["name"], "p/A");
    assert_eq!(value["failed_classes"][0]["place"], "a.jar!/p/B.class");
    assert_eq!(value["entries"].as_array().unwrap().len(), reasons.len());
    let starts = [Start::Entry(EntryReason::Callable), Start::Vm, Start::Outside];
    let mut ways: Vec<_> = starts.iter().map(|&it| (method, Some((it, vec![method])))).collect();
    ways.push((method, None));
    let value = valid(&ways_json(&header(), &ways, &trailer(method)));
    assert_eq!(value["notes"][0]["text"], "odd");
    assert_eq!(value["methods"][1]["start"]["reason"], "vm");
    assert_eq!(value["methods"][3]["start"], Value::Null);
}
