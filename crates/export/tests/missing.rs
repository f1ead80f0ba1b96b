//! The JSON of absent classes is valid against its schema.

use export::frame::{FailedClass, Header, Trailer};
use export::missing::missing_json;
use ide::hints::Hint;
use ide::{MethodName, Missing, Text};
use serde_json::Value;

const SCHEMA: &str = include_str!("../schemas/missing.schema.json");

#[test]
fn the_document_keeps_its_schema() {
    let header = Header {
        command: "missing",
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
    };
    let method =
        |name: &'static [u8]| MethodName { class: Text(b"p/A"), name: Text(name), descriptor: Text(b"()V") };
    let missing = Missing {
        class: Text(b"q/\"Gone\n"),
        supertype_of: vec![Text(b"p/A")],
        used_by: vec![method(b"a"), method(b"b")],
        called: vec![method(b"c")],
        widened: vec![method(b"b")],
    };
    let hints = vec![
        Hint::Unreadable("a/\u{7}.class".to_owned()),
        Hint::Archive("b.jar!/c.jar".to_owned()),
        Hint::Container("d.jar".to_owned()),
        Hint::NoJdk(Some("java.sql")),
        Hint::NoJdk(None),
        Hint::OtherJdk(Some("java.base")),
        Hint::OtherJdk(None),
        Hint::Module("java.sql"),
        Hint::NotResolved("jdk.incubator.vector".to_owned()),
        Hint::Removed(11, Some("javax.xml.bind:jaxb-api")),
        Hint::Removed(14, None),
    ];
    let failed =
        FailedClass { place: "a.jar".to_owned(), reason: "cut".to_owned(), offset: None, jvms: None };
    let trailer = Trailer { failed_classes: vec![failed], ..Trailer::default() };
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let n = hints.len();
    for missing in [vec![], vec![(missing.clone(), vec![])], vec![(missing, hints)]] {
        let bytes = missing_json(&header, &missing, &trailer);
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|it| it.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{value}");
        let hints = value["missing"][0]["hints"].as_array().map_or(0, Vec::len);
        assert_eq!(hints, missing.first().map_or(0, |it| it.1.len()));
        assert!(hints == 0 || hints == n);
    }
}
