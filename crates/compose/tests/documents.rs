//! A composed document is a valid document itself, and invalid documents are refused.

#[path = "../../export/tests/documents/mod.rs"]
mod documents;

use compose::Composer;
use documents::{CFG_SCHEMA, ORDER, answer, document, line_schema, odd, parsed, validate};
use export::form::{Format, Nodes};
use serde_json::Value;

#[test]
fn a_composed_document_is_valid() {
    let schema: Value = serde_json::from_str(CFG_SCHEMA).unwrap();
    let (order, odd) = ([answer(ORDER)], [odd()]);
    let documents = |format| [&order, &odd].map(|it| document(format, "cfg", Nodes::Blocks, it));
    let both = parsed(&document(Format::Json, "cfg", Nodes::Blocks, &[answer(ORDER), documents::odd()]));
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
            // Names that are not Unicode are preserved.
            assert!(text.contains(r"\u0001\ud800\uffff.m\ud800\n"), "{text}");
            results.push((written, text));
        }
    }
    // The result does not depend on the format of the input.
    assert_eq!(results[0], results[2]);
    assert_eq!(results[1], results[3]);
}

/// Reading neither panics nor accepts invalid documents: each prefix is refused; a changed byte may be accepted.
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
