//! Compares the table of methods that the JDK calls back with real JDKs: each row names methods that exist, declared
//! or inherited.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;

use driver::container::Scratch;
use driver::jdk::JdkChoice;
use driver::world::{WorldSpec, load};
use ide::whole::{ClassRecord, read_class};
use test_utils::jdk;

const TABLE: &str = include_str!("../../flow/src/callbacks.tsv");

/// The information from the header of a class.
struct Class {
    above: Vec<String>,
    is_interface: bool,
    /// The methods, such as `m (I)V`, and whether subclasses inherit each.
    methods: Vec<(String, bool)>,
}

/// The classes that the table names, and all their supertypes.
fn classes(jdk: &jdk::Jdk, named: &BTreeSet<&str>) -> BTreeMap<String, Class> {
    let inputs = vec![Utf8PathBuf::from_path_buf(jdk.home.clone()).expect("a home in UTF-8")];
    let spec =
        WorldSpec { inputs, class_path: vec![], module_path: vec![], jdk: JdkChoice::None, release: None };
    let world = load(&spec).expect("the JDK can be opened");
    let mut acc = BTreeMap::new();
    let mut pending: BTreeSet<String> = named.iter().map(|it| format!("{it}.class")).collect();
    let (mut read, mut lower) = (Scratch::new(), ide::Scratch::default());
    while !pending.is_empty() {
        let mut records = Vec::new();
        for (container, entry) in world.classes().filter(|it| pending.contains(it.1.path())) {
            let bytes = container.bytes(entry, &mut read).expect("the class is there").bytes;
            records.push(read_class(bytes, &mut lower).expect("the class can be read"));
        }
        pending.clear();
        for outline in records.iter().map(ClassRecord::outline) {
            let above: Vec<String> =
                outline.super_class.iter().chain(&outline.interfaces).map(ToString::to_string).collect();
            let is_interface = outline.flags.is_interface();
            let methods = outline.methods.iter().map(|it| {
                let stays = it.flags.is_private() || is_interface && it.flags.is_static();
                (format!("{} {}", it.name, it.descriptor), !stays)
            });
            pending.extend(above.iter().map(|it| format!("{it}.class")));
            acc.insert(outline.class.to_string(), Class { methods: methods.collect(), is_interface, above });
        }
        pending.retain(|it| !acc.contains_key(it.trim_end_matches(".class")));
    }
    acc
}

/// The classes that declare the method that this name means in the class: the class itself, or supertypes that it
/// inherits the method from. A descriptor that ends in `*` stands for all descriptors with that beginning.
fn declaring<'a>(classes: &'a BTreeMap<String, Class>, class: &str, method: &str) -> BTreeSet<&'a str> {
    let is_meant = |it: &str| match method.strip_suffix('*') {
        Some(begin) => it.starts_with(begin),
        None => it == method,
    };
    let Some((name, it)) = classes.get_key_value(class) else { return BTreeSet::new() };
    if it.methods.iter().any(|it| is_meant(&it.0)) {
        return BTreeSet::from([&**name]);
    }
    let mut acc = BTreeSet::new();
    let (mut pending, mut seen) = (it.above.clone(), BTreeSet::new());
    while let Some(at) = pending.pop() {
        let Some((name, above)) = classes.get_key_value(&at).filter(|_| seen.insert(at.clone())) else {
            continue;
        };
        // An interface inherits only from interfaces.
        if it.is_interface && !above.is_interface {
            continue;
        }
        if above.methods.iter().any(|it| it.1 && is_meant(&it.0)) {
            acc.insert(&**name);
        }
        pending.extend(above.above.iter().cloned());
    }
    acc
}

#[test]
fn every_row_is_about_methods_of_the_jdk() {
    // One row is about a method of release 21. Releases after 25 were not examined.
    let jdks: Vec<_> = jdk::all().into_iter().filter(|it| (21..=25).contains(&it.version)).collect();
    if jdks.is_empty() {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "CI must have a JDK of 21 to 25");
        eprintln!("skipped: no JDK of 21 to 25 on this machine");
        return;
    }
    let rows = TABLE.lines().filter(|it| !it.starts_with('#'));
    let rows: Vec<Vec<&str>> = rows.map(|it| it.split('\t').collect()).collect();
    let called_back = |row: &[&'static str]| row[4].split_once('.').map(|it| (it.0, it.1));
    let of_callees = rows.iter().filter_map(|it| Some(called_back(it)?.0));
    let named: BTreeSet<&str> = rows.iter().map(|it| it[0]).chain(of_callees).collect();
    for jdk in jdks {
        let classes = classes(&jdk, &named);
        let mut inherited = BTreeMap::new();
        for row in &rows {
            let method = format!("{} {}", row[1], row[2]);
            let found = declaring(&classes, row[0], &method);
            assert!(!found.is_empty(), "{}.{method} is not in {}", row[0], jdk.home.display());
            if !found.contains(row[0]) {
                inherited.insert(format!("{}.{}", row[0], row[1]), found);
            }
            let Some((class, method)) = called_back(row) else { continue };
            let found = declaring(&classes, class, method);
            assert_eq!(found, BTreeSet::from([class]), "{} is not in {}", row[4], jdk.home.display());
        }
        // Make sure that supertypes are searched.
        let wanted = [
            ("java/lang/Thread$Builder$OfPlatform.start", "java/lang/Thread$Builder"),
            ("java/lang/Thread$Builder$OfVirtual.start", "java/lang/Thread$Builder"),
            ("java/util/concurrent/ExecutorService.execute", "java/util/concurrent/Executor"),
        ];
        let wanted = wanted.map(|(row, above)| (row.to_owned(), BTreeSet::from([above])));
        assert_eq!(inherited, wanted.into(), "{}", jdk.home.display());
        // Methods that do not exist are not found.
        assert!(declaring(&classes, "java/util/concurrent/ExecutorService", "execute (I)V").is_empty());
        assert!(declaring(&classes, "java/util/concurrent/ExecutorService", "hashCode ()I").is_empty());
    }
}
