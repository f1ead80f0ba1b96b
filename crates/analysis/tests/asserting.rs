//! The code that runs only while assertions are enabled, in `test-data/cases/S16Assertions`: there, a method whose name
//! begins with `asserted` is called by assertions only, and a method whose name begins with `always` by other code only.
//! The JVM agrees: without `-ea`, the program prints no name of the first kind.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use analysis::parts::{ClassParts, MethodPart, PartOptions, Scratch};
use analysis::summary::{MethodSummary, method_summary};
use flow::cfg::{NodeId, draw_with, normal_node};
use flow::facts::Wanted;
use flow::summary::{Source, Sources};
use test_utils::jdk;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/cases")
}

fn each_method(mut f: impl FnMut(&MethodPart, MethodSummary)) {
    let files = std::fs::read_dir(folder()).unwrap().map(|it| it.unwrap().path());
    let mut n = 0;
    for file in files.filter(|it| it.file_name().unwrap().to_str().unwrap().starts_with("S16")) {
        if file.extension().is_some_and(|it| it == "java") {
            continue;
        }
        n += 1;
        let bytes = std::fs::read(&file).unwrap();
        for wanted in [Wanted::All, Wanted::Summary] {
            let parts = match wanted {
                Wanted::All => ClassParts::read(&bytes),
                Wanted::Summary => ClassParts::read_for_summaries(&bytes),
            };
            let options = PartOptions { select: &|_| true, wanted, clock: None };
            parts
                .unwrap()
                .each(&options, &mut Scratch::default(), &mut Default::default(), |it, scratch| {
                    let summary = method_summary(&it, scratch);
                    f(&it, summary);
                })
                .unwrap();
        }
    }
    assert_eq!(n, 5);
}

fn name_of(source: Source) -> Option<String> {
    match source {
        Source::Call(_, method) | Source::CallOnThis(_, method) | Source::Construct(method) => {
            Some(method.get().name.to_string())
        }
        Source::Exact(class) => Some(class.to_string()),
        Source::Cone(_)
        | Source::Caught(_)
        | Source::Initialize(_)
        | Source::CallDynamic(_)
        | Source::ConstDynamic(_)
        | Source::Object(_)
        | Source::Access(_)
        | Source::Receiver(_) => None,
    }
}

fn is_asserted(name: &str) -> bool {
    name.starts_with("asserted") || name == "java/lang/AssertionError"
}

#[test]
fn the_sources_in_assertions_come_last() {
    let (mut first, mut last) = (BTreeSet::new(), BTreeSet::new());
    each_method(|part, summary| {
        let MethodSummary::Known(code) = summary else { return };
        let all = code.summary.items(true);
        let always = code.summary.items(false);
        first.extend(always.iter().filter_map(|it| name_of(it.source)));
        last.extend(all[always.len()..].iter().filter_map(|it| name_of(it.source)));
        // The visit of the instructions finds the same.
        let Some(Ok((code, _))) = &part.code else { panic!("{:?}", part.id()) };
        let mut walk = Sources::new(&code.body, &code.facts).without_assertions();
        for (id, _) in code.body.instrs.iter() {
            walk.at(id, |it| assert!(always.iter().any(|always| always.source == it), "{it:?}"));
        }
    });
    assert!(!first.iter().any(|it| is_asserted(it)), "{first:?}");
    assert!(!last.iter().any(|it| it.starts_with("always")), "{last:?}");
    let n = |of: &BTreeSet<String>, prefix| of.iter().filter(|it| it.starts_with(prefix)).count();
    assert_eq!((n(&first, "always"), n(&last, "asserted")), (3, 6), "{first:?} {last:?}");
    assert!(last.contains("java/lang/AssertionError"), "{last:?}");
}

#[test]
fn a_graph_without_assertions_reaches_no_assertion() {
    each_method(|part, _| {
        let Some(Ok((code, _))) = &part.code else { return };
        // An exception may enter the handler of each row.
        let mut cfg = draw_with(&code.body, |drawing, id, rows| {
            if let [first, ..] = *rows {
                let node = drawing.exceptional(id, ());
                drawing.handler(&code.body, node, first, false);
            }
        });
        cfg.cut_off(&code.facts.asserting);
        let mut reached = vec![false; cfg.nodes.len()];
        let mut pending: Vec<NodeId> = cfg.entry().into_iter().collect();
        while let Some(node) = pending.pop() {
            if !std::mem::replace(&mut reached[node.index()], true) {
                pending.extend(cfg.successors(node).iter().map(|it| it.to));
            }
        }
        for (id, _) in code.body.instrs.iter() {
            let is_asserting = code.facts.asserting.contains(&id);
            assert_eq!(reached[normal_node(id).index()], !is_asserting, "{}: {id:?}", part.id());
        }
    });
}

#[test]
fn the_jvm_agrees() {
    let Some(jdk) = jdk::at_least(21) else { return };
    let run = |flag: &str| {
        let mut java = std::process::Command::new(jdk.java());
        let out = java.args([flag, "-cp"]).arg(folder()).arg("S16Assertions").output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        text.lines().map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let (without, with) = (run("-da"), run("-ea"));
    assert!(
        without.contains("always1") && !without.iter().any(|it| it.starts_with("asserted")),
        "{without:?}"
    );
    assert_eq!(with.iter().filter(|it| it.starts_with("asserted")).count(), 6, "{with:?}");
}
