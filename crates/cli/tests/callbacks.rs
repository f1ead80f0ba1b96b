//! The table of what the JDK calls back against real JDKs: each row names methods that there are.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;

use driver::container::Scratch;
use driver::jdk::JdkChoice;
use driver::world::{WorldSpec, load};
use ide::answer::declared_methods;
use test_utils::jdk;

const TABLE: &str = include_str!("../../flow/src/callbacks.tsv");

/// The methods of the classes that the table names, as `p/C.m (I)V`.
fn methods(jdk: &jdk::Jdk, classes: &BTreeSet<String>) -> BTreeSet<String> {
    let inputs = vec![Utf8PathBuf::from_path_buf(jdk.home.clone()).expect("a home in UTF-8")];
    let spec =
        WorldSpec { inputs, class_path: vec![], module_path: vec![], jdk: JdkChoice::None, release: None };
    let world = load(&spec).expect("the JDK can be opened");
    let mut scratch = Scratch::new();
    let mut out = BTreeSet::new();
    for (container, entry) in world.classes().filter(|it| classes.contains(it.1.path())) {
        let bytes = container.bytes(entry, &mut scratch).expect("the class can be read").bytes;
        out.extend(
            declared_methods(bytes).iter().map(|it| format!("{}.{} {}", it.class, it.name, it.descriptor)),
        );
    }
    out
}

#[test]
fn every_row_is_about_methods_of_the_jdk() {
    // One row is about a method of release 21; later than 25 nobody looked.
    let jdks: Vec<_> = jdk::all().into_iter().filter(|it| (21..=25).contains(&it.version)).collect();
    if jdks.is_empty() {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "CI must have a JDK of 21 to 25");
        eprintln!("skipped: no JDK of 21 to 25 on this machine");
        return;
    }
    let rows = TABLE.lines().filter(|it| !it.starts_with('#'));
    let rows: Vec<Vec<&str>> = rows.map(|it| it.split('\t').collect()).collect();
    let mut classes = BTreeSet::new();
    for row in &rows {
        classes.insert(format!("{}.class", row[0]));
        classes.insert(format!("{}.class", row[4].split('.').next().unwrap()));
    }
    for jdk in jdks {
        let methods = methods(&jdk, &classes);
        for row in &rows {
            let begin = format!("{}.{} {}", row[0], row[1], row[2].trim_end_matches('*'));
            let is_there =
                |it: &String| if row[2].ends_with('*') { it.starts_with(&begin) } else { *it == begin };
            // Interfaces inherit: `execute` of an ExecutorService is that of Executor.
            let inherited = ["java/util/concurrent/ExecutorService.execute ", "java/lang/Thread$Builder$Of"];
            if !inherited.iter().any(|it| begin.starts_with(it)) {
                assert!(methods.iter().any(is_there), "{begin} is not in {}", jdk.home.display());
            }
            assert!(row[4] == "-" || methods.contains(row[4]), "{} is not in {}", row[4], jdk.home.display());
        }
    }
}
