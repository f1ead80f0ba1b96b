//! The lines of continuously updated answers are valid against their schema, whatever they contain.

use std::sync::Arc;

use export::frame::Header;
use export::watch::{Cycle, changed, cycle, header};
use ide::answer::{Question, class_answer};
use ide::difference::{Changed, Fact, MethodAnswer, MethodState, Need, difference};
use ide::explain::{Explanation, Scope, Sources};
use ide::profile::ProfileAnswers;
use ide::whole::{Whole, read_class};
use ide::{MethodName, PlacedCode, Role, Scratch, Text, WholeOptions, WorldKind};
use serde_json::Value;

const SCHEMA: &str = include_str!("../schemas/watch.schema.json");

/// A source that knows the code of a single method.
struct Own(ide::answer::MethodAnswer);

impl Sources for Own {
    fn code(&mut self, method: MethodName) -> Option<PlacedCode> {
        let Own(it) = self;
        let placed = || PlacedCode { code: it.code.clone(), positions: it.positions.clone() };
        (it.method == method).then(placed)
    }

    fn place(&self, _: MethodName) -> Option<String> {
        Some("a.jar!/\"".to_owned())
    }
}

/// Returns all facts of four answers about the classes of `test-data/calls` and `test-data/programs`, as additions.
fn facts() -> Vec<Changed> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data");
    let mut classes = Vec::new();
    for folder in ["calls", "programs"] {
        for file in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|it| it == "class") {
                classes.push(std::fs::read(path).unwrap());
            }
        }
    }
    let read = |it: &Vec<u8>| (read_class(it, &mut Scratch::default()).unwrap(), Role::App);
    let options = WholeOptions {
        world: WorldKind::Open,
        release: Some(17),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
        system_assertions: false,
    };
    let whole = Arc::new(Whole::new(classes.iter().map(read).collect(), options));
    let explaining = ProfileAnswers::Jvm(Arc::clone(&whole));
    let (mut work, mut explaining_work) = (whole.work(), explaining.work());
    let mut states = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for class in &classes {
        let question = Question { select: &|_| true, graphs: false, clock: None };
        for it in class_answer(class, &question, &mut Scratch::default()).unwrap().methods {
            let throws = whole.throws(&mut work, it.method).unwrap();
            let graph = whole.graph(&mut work, it.method, &it.code, false);
            let target: &dyn Fn(&MethodName) -> bool = &|_| true;
            let mut explained = vec![Explanation::Unreached(it.method)];
            for target in [None, Some(target)] {
                let scope = Scope { method: it.method, pc: None, exception: None, target, receivers: 2 };
                let mut own = Own(it.clone());
                explained.extend(explaining.explanations(&mut explaining_work, &mut own, &scope));
            }
            let answers = [
                MethodAnswer::Calls(whole.calls(it.method, &it.code)),
                MethodAnswer::Throws(throws),
                MethodAnswer::Graph(graph.into()),
                MethodAnswer::Explained(explained),
            ];
            for (states, answer) in states.iter_mut().zip(answers) {
                let code = Some((it.code.clone(), it.positions.clone()));
                states.push(MethodState { method: it.method, code, answer });
            }
        }
    }
    states.iter().flat_map(|it| difference(&[], it)).collect()
}

#[test]
fn every_line_keeps_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut out = header(&Header {
        command: "throws",
        version: "0.1.0",
        jdk: None,
        release: 25,
        profile: "jvm",
        world: "open",
        names: None,
        vm_error_groups: vec!["init"],
        assumptions: vec![],
        apart: false,
        containers: vec![("a".to_owned(), "app")],
    });
    let all = facts();
    let mut kinds: Vec<String> = Vec::new();
    for (i, it) in all.iter().enumerate() {
        changed(&mut out, i as u64, it);
    }
    let method = MethodName { class: Text(b"p/A"), name: Text(b"m"), descriptor: Text(b"()V") };
    let needs = [
        Need::Class,
        Need::SupertypeOf(Text(b"p/B")),
        Need::UsedBy(method),
        Need::Called(method),
        Need::Widened(method),
    ];
    for need in needs {
        let fact = Fact::Missing { class: Text(b"q/\"C"), need };
        changed(&mut out, 7, &Changed { added: false, method: None, pc: None, line: None, fact });
    }
    for reason in ["start", "changed", "rescan", "settings"] {
        let problems = vec![("a.jar".to_owned(), "cut\n".to_owned())];
        cycle(&mut out, &Cycle { reason, problems, ..Cycle::default() });
    }
    let text = String::from_utf8(out).unwrap();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        assert!(validator.is_valid(&value), "{line}");
        kinds.extend(value["fact"]["kind"].as_str().map(str::to_owned));
        kinds.extend(value["fact"]["reaches"].as_str().map(str::to_owned));
        let explained = value["fact"]["explanation"]["record"].as_str();
        kinds.extend(explained.map(|it| format!("explained {it}")));
    }
    kinds.sort();
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            "call",
            "edge",
            "explained call",
            "explained exception",
            "explained nothing",
            "explained unreached",
            "explanation",
            "glue",
            "method",
            "missing",
            "nothing",
            "open",
            "possible",
            "target",
            "throws"
        ]
    );
}
