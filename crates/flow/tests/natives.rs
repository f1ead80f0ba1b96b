//! Strict checks of the table of native methods: each row is well-formed, and lookups find it.

use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::natives::{Effect, RELEASES, native};

const TABLE: &str = include_str!("../src/natives.tsv");

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    TABLE.lines().filter(|it| !it.starts_with('#')).map(|it| it.split('\t').collect())
}

fn method(class: &str, name: &str, descriptor: &str) -> MethodRef {
    let descriptor = Descriptor::new(descriptor.as_bytes());
    MethodRef::new(ClassName::new(class.as_bytes()), Name::new(name.as_bytes()), descriptor)
}

fn is_class(text: &str) -> bool {
    text.split('/').all(|it| {
        it.starts_with(|c: char| c.is_ascii_alphabetic())
            && it.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '$' | '_'))
    })
}

/// Returns the text after the first type of a descriptor.
fn after_type(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('[');
    match text.chars().next()? {
        'B' | 'C' | 'D' | 'F' | 'I' | 'J' | 'S' | 'Z' => Some(&text[1..]),
        'L' => text[1..].split_once(';').filter(|it| is_class(it.0)).map(|it| it.1),
        _ => None,
    }
}

fn is_descriptor(text: &str) -> bool {
    let Some((mut parameters, result)) = text.strip_prefix('(').and_then(|it| it.split_once(')')) else {
        return false;
    };
    while !parameters.is_empty() {
        match after_type(parameters) {
            Some(rest) => parameters = rest,
            None => return false,
        }
    }
    result == "V" || after_type(result) == Some("")
}

/// Returns the first and the last release for which a row with this note holds.
fn releases(note: &str) -> (u16, u16) {
    let range = note.split_once(": ").and_then(|it| it.0.split_once('-'));
    let range = range.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    range.unwrap_or((*RELEASES.start(), *RELEASES.end()))
}

#[test]
fn every_row_is_well_formed_and_found() {
    let mut n_rows = 0;
    for row in rows() {
        let [class, name, descriptor, effect, throws, note] = row[..] else {
            panic!("{row:?}: not six fields")
        };
        n_rows += 1;
        assert!(is_class(class) && is_class(name) && !name.contains('/'), "{row:?}");
        assert!(descriptor == "*" || is_descriptor(descriptor), "{row:?}");
        assert!(!note.is_empty() && note.trim() == note, "{row:?}");
        let (first, last) = releases(note);
        assert!(RELEASES.contains(&first) && RELEASES.contains(&last) && first <= last, "{row:?}");

        let shown = if descriptor == "*" { "()V" } else { descriptor };
        let found = native(method(class, name, shown), Some(first)).expect("lookups find the row");
        assert_eq!(native(method(class, name, shown), Some(last)), Some(found), "{row:?}");
        assert_eq!(native(method(class, name, shown), None).is_some(), (first, last) == (8, 25), "{row:?}");
        assert_eq!(native(method(class, name, shown), Some(last + 1)), None, "{row:?}");

        let exceptions: Vec<&str> = throws.split(',').filter(|&it| it != "-").collect();
        assert!(exceptions.iter().all(|it| is_class(it.strip_suffix('+').unwrap_or(it))), "{row:?}");
        assert!(exceptions.is_sorted_by(|a, b| a < b), "{row:?}");
        let ours: Vec<String> = found
            .throws
            .iter()
            .map(|&(class, exact)| format!("{class}{}", if exact { "" } else { "+" }))
            .collect();
        assert_eq!(ours, exceptions);
        let calls = match &found.effect {
            Effect::Calls(it) => it.iter().map(|it| it.descriptor().to_string()).collect(),
            _ => Vec::new(),
        };
        assert!(
            calls.iter().all(|it| is_descriptor(it)) && calls.is_empty() != effect.contains(' '),
            "{row:?}"
        );
    }
    assert!(n_rows > 1000, "{n_rows}");
}

#[test]
fn rows_are_sorted_and_each_class_has_a_comment() {
    let keys: Vec<[&str; 3]> = rows().map(|it| [it[0], it[1], it[2]]).collect();
    assert!(keys.is_sorted_by(|a, b| a < b), "sorted, and no row twice");
    for pair in keys.windows(2) {
        let both = pair[0][..2] == pair[1][..2];
        assert!(!both || pair.iter().all(|it| it[2] != "*"), "{pair:?}: one row stands for all overloads");
    }
    let mut class = None;
    for line in TABLE.lines() {
        match line.strip_prefix("# ") {
            Some(comment) => class = comment.split_once(": ").map(|it| it.0),
            None => assert_eq!(line.split('\t').next(), class, "{line}"),
        }
    }
}

#[test]
fn answers_for_some_common_methods() {
    let answer = |class, name, descriptor, release| {
        native(method(class, name, descriptor), release).map(|it| format!("{:?} {:?}", it.effect, it.throws))
    };
    let object = "java/lang/Object";
    assert_eq!(answer(object, "hashCode", "()I", None).as_deref(), Some("None []"));
    assert_eq!(
        answer("java/lang/Thread", "start0", "()V", Some(21)).as_deref(),
        Some("Thread [(java/lang/IllegalThreadStateException, true)]")
    );
    let action = "(Ljava/security/PrivilegedAction;)Ljava/lang/Object;";
    let access = "java/security/AccessController";
    assert_eq!(
        answer(access, "doPrivileged", action, Some(8)).as_deref(),
        Some(
            "Calls([java/security/PrivilegedAction.run()Ljava/lang/Object;]) [(java/lang/NullPointerException, \
             true), (java/security/PrivilegedActionException, true)]"
        )
    );
    // The method is not native in this release, or the release is not known.
    assert_eq!(answer(access, "doPrivileged", action, Some(17)), None);
    assert_eq!(answer(access, "doPrivileged", action, None), None);
    // An overload that was never native, and a method that does not exist.
    assert_eq!(answer(object, "wait", "(JI)V", Some(8)), None);
    assert_eq!(answer(object, "nothing", "()V", Some(8)), None);
    // A release newer than the table.
    assert_eq!(answer(object, "hashCode", "()I", Some(26)), None);
}
