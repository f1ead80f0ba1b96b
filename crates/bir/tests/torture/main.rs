//! The committed irregular classes (`test-data/torture`): those that run on the JVM are read and lowered to
//! well-formed bodies; those that the JVM refuses are refused, or are listed with a reason in `accepted.tsv`.

mod reading;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use test_utils::jvm::data_dir;

use reading::{Reading, read};

struct Case {
    group: String,
    name: String,
    folders: Vec<PathBuf>,
    main: String,
    expected: String,
}

/// Returns the rows of a table without its comment lines.
fn rows(name: &str) -> Vec<Vec<String>> {
    let path = data_dir().join("torture").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
    let lines = text.lines().filter(|it| !it.starts_with('#') && !it.is_empty());
    lines.map(|it| it.split('\t').map(str::to_owned).collect()).collect()
}

fn cases() -> Vec<Case> {
    let root = data_dir().join("torture");
    let case = |row: Vec<String>| {
        let [group, name, folders, main, _library, expected] =
            row.try_into().expect("six columns in expected.tsv");
        let folders = folders.split(':').map(|it| root.join(it)).collect();
        Case { group, name, folders, main, expected }
    };
    rows("expected.tsv").into_iter().map(case).collect()
}

/// Returns whether the answer is the name of an error, which means that the JVM refused the class.
fn is_refusal(expected: &str) -> bool {
    let word = expected.chars().all(|it| it.is_ascii_alphabetic());
    word && (expected.ends_with("Error") || expected.ends_with("Exception"))
}

/// Returns the class files below `folder`, in order.
fn class_files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|it| panic!("{}: {it}", folder.display()))
        .map(|it| it.expect("can be listed").path())
        .collect();
    entries.sort();
    for it in entries {
        if it.is_dir() {
            out.extend(class_files(&it));
        } else if it.extension().is_some_and(|it| it == "class") {
            out.push(it);
        }
    }
    out
}

fn read_file(path: &Path) -> Reading {
    let bytes = std::fs::read(path).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
    read(&path.display().to_string(), &bytes, true)
}

#[test]
fn running_classes_are_lowered_and_refused_ones_are_refused() {
    let accepted: BTreeMap<(String, String), String> = rows("accepted.tsv")
        .into_iter()
        .map(|row| row.try_into().expect("three columns in accepted.tsv"))
        .map(|[group, name, reason]: [String; 3]| ((group, name), reason))
        .collect();
    assert!(accepted.values().all(|it| !it.is_empty()), "a case without a reason");
    let (mut wrong, mut seen, mut ran, mut refused) = (Vec::new(), Vec::new(), 0, 0);
    for case in cases() {
        let key = (case.group.clone(), case.name.clone());
        if is_refusal(&case.expected) {
            // In these groups, each case has a single class.
            let [folder] = &case.folders[..] else { panic!("{} is refused by linking", case.name) };
            let reading = read_file(&folder.join(format!("{}.class", case.main)));
            match (reading.faults.is_empty(), accepted.contains_key(&key)) {
                (false, false) => refused += 1,
                (true, true) => seen.push(key),
                (true, false) => {
                    wrong.push(format!("{key:?}: the JVM refuses ({}), we do not", case.expected))
                }
                (false, true) => {
                    wrong.push(format!("{key:?} is in accepted.tsv but refused: {:?}", reading.faults))
                }
            }
            continue;
        }
        let all: Vec<PathBuf> = match case.group.as_str() {
            // The folder is shared by all cases: each of the other classes is a case of its own.
            "jasmin" | "raw" => vec![case.folders[0].join(format!("{}.class", case.main))],
            _ => case.folders.iter().flat_map(|it| class_files(it)).collect(),
        };
        let mut lowered = 0;
        for path in &all {
            let reading = read_file(path);
            lowered += reading.lowered;
            wrong.extend(reading.faults.iter().map(|it| format!("{}: {it}", path.display())));
        }
        assert!(lowered > 0, "{key:?} lowers nothing");
        ran += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen.len(), accepted.len(), "accepted.tsv names cases that expected.tsv does not have");
    assert!(ran >= 60 && refused >= 20, "{ran} run, {refused} refused");
}

/// Truncates a small class at every byte and flips its every bit: reading it must never panic.
#[test]
fn cuts_and_flips_of_a_small_class() {
    let path = data_dir().join("torture/raw/UnknownAttrs.class");
    let bytes = std::fs::read(&path).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
    for cut in 0..bytes.len() {
        assert!(
            !read("cut", &bytes[..cut], true).faults.is_empty(),
            "the class lacks {} bytes",
            bytes.len() - cut
        );
    }
    let mut noticed = 0;
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        noticed += usize::from(!read("flip", &flipped, true).faults.is_empty());
    }
    assert!(noticed > bytes.len(), "only {noticed} flips are noticed");
}
