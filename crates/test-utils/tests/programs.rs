//! The hand-written programs give the recorded results on every JDK of the machine.

use std::path::Path;

use test_utils::jdk;
use test_utils::jvm::{self, Answer, Case, Outcome};
use test_utils::{fixture, programs};

fn is_too_new(answer: &Answer) -> bool {
    matches!(&answer.outcome, Outcome::Throw(it) if it.starts_with("java/lang/UnsupportedClassVersionError"))
}

/// Compares with the recorded results. If `UPDATE_EXPECTED` is set, records the results of the newest JDK instead.
fn check(root: &Path) {
    let cases = programs::cases(root).expect("folder can be read");
    assert!(cases.len() > 10, "few cases in {}", root.display());
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        let newest = jdk::all().into_iter().max_by_key(|it| it.version).expect("a JDK to ask");
        let answers = jvm::run_folder(&newest, root, &cases).expect("harness runs");
        assert!(!answers.iter().any(is_too_new), "needs a newer JDK");
        let rows: Vec<(Case, Answer)> = cases.iter().cloned().zip(answers).collect();
        std::fs::write(root.join("expected.txt"), programs::render(&rows)).expect("can be written");
    }
    let expected = programs::expected(root).expect("expected.txt can be read");
    assert_eq!(expected.iter().map(|it| &it.0).collect::<Vec<_>>(), cases.iter().collect::<Vec<_>>());
    let Some(_) = jdk::at_least(17) else { return };
    for jdk in jdk::all().into_iter().filter(|it| it.version >= 17) {
        let answers = jvm::run_folder(&jdk, root, &cases).expect("harness runs");
        for ((case, expected), answer) in expected.iter().zip(&answers) {
            if !is_too_new(answer) {
                assert_eq!(answer, expected, "{}.{} on JDK {}", case.class, case.method, jdk.version);
            }
        }
    }
}

#[test]
fn programs_answer_as_recorded() {
    check(&jvm::data_dir().join("programs"));
}

#[test]
fn corners_answer_as_recorded() {
    let root = jvm::data_dir().join("bir-corners");
    check(&root);
    // Check the decisive values independently of the recording.
    let expected = programs::expected(&root).expect("expected.txt can be read");
    let result =
        |method: &str| expected.iter().find(|it| it.0.method == method).map(|it| it.1.outcome.clone());
    for (method, value) in [("nan", 2), ("alias", 6), ("swLoop", 10), ("back", 10), ("exp16", 196_608)] {
        assert_eq!(result(method), Some(Outcome::Result(format!("I {value}"))), "{method}");
    }
}

#[test]
fn assembled_classes_are_current() {
    let root = jvm::data_dir().join("bir-corners");
    for name in ["Back", "Exp16", "Jsr", "N1", "N2"] {
        let text = std::fs::read_to_string(root.join(format!("{name}.jasm"))).expect("source is there");
        let classes = fixture::classes(&text).expect("assembles");
        let bytes = std::fs::read(root.join(format!("{name}.class"))).expect("class is there");
        assert_eq!(
            classes.first().map(|it| &it.bytes),
            Some(&bytes),
            "{name}.class is not what {name}.jasm says"
        );
    }
}
