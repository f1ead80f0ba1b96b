//! Explanations as JSON: they are valid against the schema, and each chain begins at the requested place and ends
//! at an origin.

use std::path::Path;

use export::document::Document;
use export::explain::explanation_fragment;
use export::form::Format;
use export::frame::{Header, Trailer};
use ide::answer::{Question, class_answer};
use ide::explain::{Explanation, Scope, Sources};
use ide::whole::{Whole, read_class};
use ide::{MethodName, PlacedCode, Role, Scratch, Text, WholeOptions, WorldKind};
use serde_json::Value;
use test_utils::asm::assemble;

const SCHEMA: &str = include_str!("../schemas/explain.schema.json");

/// A class with a division, a missing class, a rethrown exception, a call of an abstract method, and a name that is
/// not valid Unicode.
const OWN: &str = r#"
.class public super p/A
.method public static divide(I)I
A: iconst_1
  .line 7
  iload_0
  idiv
  ireturn
B: athrow
  .catch java/lang/ArithmeticException from A to B using B
.end
.method public static calls()V
  iconst_0
  invokestatic p/A.divide(I)I
  pop
  invokestatic p/Gone.m()V
  return
.end
.method public static "odd\ud800"(Lp/B;)V
  aload_0
  invokevirtual p/B.f()V
  return
.end
.class public super p/B
.method public <init>()V
  aload_0
  invokespecial java/lang/Object.<init>()V
  return
.end
.method public f()V
  return
.end
"#;

struct Program {
    whole: Whole,
    classes: Vec<Vec<u8>>,
}

impl Sources for Program {
    fn code(&mut self, method: MethodName) -> Option<PlacedCode> {
        let question = Question { select: &|it| *it == method, graphs: false, clock: None };
        let answers = self.classes.iter().map(|it| class_answer(it, &question, &mut Scratch::default()));
        let answer = answers.filter_map(Result::ok).find_map(|mut it| it.methods.pop())?;
        Some(PlacedCode { code: answer.code, positions: answer.positions })
    }

    fn place(&self, method: MethodName) -> Option<String> {
        Some(format!("a.jar!/{}.class", method.class))
    }
}

fn program(mut classes: Vec<Vec<u8>>) -> Program {
    classes.extend(assemble(OWN).unwrap().into_iter().map(|it| it.bytes));
    let records =
        classes.iter().map(|it| (read_class(it, &mut Scratch::default()).unwrap(), Role::App)).collect();
    let options = WholeOptions {
        world: WorldKind::Open,
        release: None,
        assume_contract: false,
        link_errors: false,
        async_errors: false,
        system_assertions: false,
    };
    Program { whole: Whole::new(records, options), classes }
}

fn scope(method: MethodName, pc: Option<u16>) -> Scope<'static> {
    Scope { method, pc, exception: None, target: None, receivers: 3 }
}

/// Returns all explanations for a method, or for one of its instructions.
fn explanations(program: &mut Program, scope: &Scope<'_>) -> Vec<Explanation> {
    let whole = std::mem::replace(&mut program.whole, self::program(Vec::new()).whole);
    let mut work = whole.work();
    let calls = whole.explained_calls(program, scope).into_iter().map(Explanation::Call);
    let exceptions = whole.explained_exceptions(&mut work, program, scope);
    let all = calls.chain(exceptions.into_iter().map(Explanation::Exception)).collect();
    program.whole = whole;
    all
}

fn document(format: Format, all: &[Explanation]) -> String {
    let header = Header {
        command: "explain",
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
    for it in all {
        let mut out = Vec::new();
        explanation_fragment(&mut out, format, it);
        document.fragment(&out).unwrap();
    }
    String::from_utf8(document.end(&Trailer::default()).unwrap()).unwrap()
}

#[track_caller]
fn valid(schema: &Value, text: &str) -> Value {
    // Strings of serde_json cannot hold lone surrogates.
    let value: Value = serde_json::from_str(&text.replace("\\ud800", "\\ufffd")).unwrap();
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|it| format!("{}: {it}", it.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
    value
}

/// Validates both formats against the schema; returns the explanations.
fn checked(all: &[Explanation]) -> Vec<Value> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let value = valid(&schema, &document(Format::Json, all));
    let line = serde_json::json!({ "$ref": "#/$defs/line", "$defs": schema["$defs"] });
    let lines = document(Format::JsonLines, all);
    assert_eq!(lines.lines().count(), all.len() + 2);
    lines.lines().for_each(|it| drop(valid(&line, it)));
    value["explanations"].as_array().unwrap().clone()
}

fn own(name: &'static str, descriptor: &'static str) -> MethodName {
    MethodName { class: Text(b"p/A"), name: Text(name.as_bytes()), descriptor: Text(descriptor.as_bytes()) }
}

#[test]
fn a_chain_ends_at_the_origin() {
    let mut program = program(Vec::new());
    let all = checked(&explanations(&mut program, &scope(own("calls", "()V"), None)));
    let division = all.iter().find(|it| it["what"]["type"] == "java/lang/ArithmeticException").unwrap();
    let chain = division["chain"].as_array().unwrap();
    let facts: Vec<&str> = chain.iter().map(|it| it["fact"].as_str().unwrap()).collect();
    assert_eq!(facts, ["method", "method", "rethrown", "raised"]);
    assert_eq!(chain[0]["at"]["pc"], 1);
    assert_eq!(chain[1]["name"], "p/A.divide(I)I");
    assert_eq!(chain[1]["at"]["text"], "throw %a0");
    assert_eq!(chain[2]["at"]["text"], "assert notzero i0");
    assert_eq!(chain[2]["at"]["line"], 7);
    assert_eq!(chain[2]["at"]["place"], "a.jar!/p/A.class");
    assert_eq!(chain[3]["by"], "instruction");
    let open = all.iter().find(|it| it["record"] == "exception" && !it["open"].is_null()).unwrap();
    let end = open["chain"].as_array().unwrap().last().unwrap();
    assert_eq!((&end["fact"], &end["name"]), (&"open".into(), &"p/Gone".into()));
}

#[test]
fn a_single_instruction_is_explained() {
    let mut program = program(Vec::new());
    let all = checked(&explanations(&mut program, &scope(own("calls", "()V"), Some(1))));
    let records: Vec<&str> = all.iter().map(|it| it["record"].as_str().unwrap()).collect();
    assert_eq!(records, ["call", "exception"]);
    assert_eq!(all[0]["because"][0]["target"], "p/A.divide(I)I");
    assert_eq!(all[1]["what"]["type"], "java/lang/ArithmeticException");
    assert!(all.iter().all(|it| it["pc"] == 1));
    // The division raises an exception that the enclosing handler catches.
    let all = checked(&explanations(&mut program, &scope(own("divide", "(I)I"), Some(2))));
    assert_eq!(all.len(), 1);
    assert_eq!(all[0]["text"], "assert notzero i0");
    // There is no instruction at this pc.
    assert_eq!(explanations(&mut program, &scope(own("divide", "(I)I"), Some(3000))), []);
}

#[test]
fn receivers_explain_the_targets() {
    let mut program = program(Vec::new());
    let odd =
        MethodName { class: Text(b"p/A"), name: Text(b"odd\xed\xa0\x80"), descriptor: Text(b"(Lp/B;)V") };
    let all = checked(&explanations(&mut program, &scope(odd, Some(1))));
    assert_eq!(all[0]["because"][0]["receivers"][0]["chain"][0], "p/B");
    assert_eq!(all[0]["open"]["reason"], "overridable");
}

#[test]
fn every_method_of_the_small_cases_is_explained_as_far_as_it_throws() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/calls");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "class"));
    paths.sort();
    let classes: Vec<Vec<u8>> = paths.iter().map(|it| std::fs::read(it).unwrap()).collect();
    let mut program = program(classes.clone());
    let mut all = Vec::new();
    for bytes in &classes {
        for method in ide::answer::declared_methods(bytes) {
            let explained = explanations(&mut program, &scope(method, None));
            let throws = program.whole.throws(&mut program.whole.work(), method).unwrap();
            let exceptions = explained.iter().filter_map(|it| match it {
                Explanation::Exception(it) => Some(it),
                _ => None,
            });
            let (known, open): (Vec<_>, Vec<_>) = exceptions.partition(|it| it.what.is_some());
            assert_eq!(known.iter().filter_map(|it| it.what).collect::<Vec<_>>(), throws.known);
            let open: Vec<_> = open.iter().map(|it| (&it.within, &it.except)).collect();
            assert_eq!(open, Vec::from_iter(throws.open.as_ref().map(|it| (&it.within, &it.except))));
            all.extend(explained);
        }
    }
    let kinds: Vec<Value> = checked(&all).iter().map(|it| it["record"].clone()).collect();
    assert!(kinds.iter().filter(|it| *it == "call").count() > 50);
    assert!(kinds.iter().filter(|it| *it == "exception").count() > 50);
    checked(&[Explanation::Unreached(own("calls", "()V"))]);
}
