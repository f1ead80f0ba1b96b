//! Compares the table of native methods with real JDKs: which native methods have no row, that each row has its
//! native method, and that observed exceptions of native methods are in their rows.
//!
//! `UPDATE_EXPECTED=1 cargo test -p cli --test natives` rewrites the lists of native methods without a row.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use camino::Utf8PathBuf;

use driver::container::Scratch;
use driver::jdk::JdkChoice;
use driver::world::{WorldSpec, load};
use test_utils::jdk::Jdk;
use test_utils::jvm::data_dir;

const TABLE: &str = include_str!("../../flow/src/natives.tsv");

/// A row of the table.
struct Row {
    class: &'static str,
    name: &'static str,
    descriptor: &'static str,
    effect: &'static str,
    throws: &'static str,
    releases: Option<(u32, u32)>,
}

/// The class, name and descriptor of a method.
type Method = (String, String, String);

fn rows() -> Vec<Row> {
    let row = |line: &'static str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [class, name, descriptor, effect, throws, note] = fields[..] else { panic!("{line}") };
        let range = note.split_once(": ").and_then(|it| it.0.split_once('-'));
        let releases = range.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        Row { class, name, descriptor, effect, throws, releases }
    };
    TABLE.lines().filter(|it| !it.starts_with('#')).map(row).collect()
}

impl Row {
    fn holds_for(&self, version: u32) -> bool {
        self.releases.is_none_or(|(first, last)| (first..=last).contains(&version))
    }

    fn is_for(&self, (class, name, descriptor): &Method) -> bool {
        self.class == class && self.name == name && (self.descriptor == "*" || self.descriptor == descriptor)
    }

    /// Whether the row lists the first class of `chain`, which is followed by its superclasses.
    fn lists(&self, chain: &[&str]) -> bool {
        let own = self.throws.split(',').any(|it| match it.strip_suffix('+') {
            Some(cone) => chain.contains(&cone),
            None => chain[0] == it,
        });
        // Java code that the native method ran would be above it on the stack, except an initialiser that had failed
        // before.
        own || self.effect == "init" && chain.contains(&"java/lang/Error")
    }
}

/// The native methods of a JDK, each with its module.
fn natives(jdk: &Jdk) -> BTreeMap<Method, String> {
    let inputs = vec![Utf8PathBuf::from_path_buf(jdk.home.clone()).expect("a home in UTF-8")];
    let spec =
        WorldSpec { inputs, class_path: vec![], module_path: vec![], jdk: JdkChoice::None, release: None };
    let world = load(&spec).expect("the JDK can be opened");
    let mut out = BTreeMap::new();
    let mut scratch = Scratch::new();
    for container in &world.containers {
        for entry in &container.classes {
            let bytes = container.bytes(entry, &mut scratch).expect("the class can be read").bytes;
            let class = entry.path().trim_end_matches(".class");
            for (name, descriptor) in native_methods(bytes).expect("a class file") {
                out.insert(
                    (class.to_owned(), name, descriptor),
                    entry.root().trim_end_matches('/').to_owned(),
                );
            }
        }
    }
    assert!(out.len() > 1500, "{}: {} natives", jdk.home.display(), out.len());
    out
}

/// The names and descriptors of the native methods of a class file (JVMS §4.1); the rest is skipped.
fn native_methods(class: &[u8]) -> Option<Vec<(String, String)>> {
    let mut bytes = class.get(8..)?;
    let n_pool = number(&mut bytes, 2)?;
    let mut texts = vec![String::new()];
    while texts.len() < n_pool {
        let (mut text, mut slots) = (String::new(), 1);
        match number(&mut bytes, 1)? {
            1 => {
                let n = number(&mut bytes, 2)?;
                text = String::from_utf8_lossy(take(&mut bytes, n)?).into_owned();
            }
            5 | 6 => {
                take(&mut bytes, 8)?;
                slots = 2;
            }
            tag => {
                let rest = match tag {
                    3 | 4 | 9..=12 | 17 | 18 => 4,
                    15 => 3,
                    _ => 2,
                };
                take(&mut bytes, rest)?;
            }
        }
        texts.resize(texts.len() + slots, text);
    }
    take(&mut bytes, 6)?;
    let n_interfaces = number(&mut bytes, 2)?;
    take(&mut bytes, 2 * n_interfaces)?;
    members(&mut bytes, &texts)?;
    let methods = members(&mut bytes, &texts)?;
    Some(methods.into_iter().filter(|it| it.0 & 0x100 != 0).map(|it| (it.1, it.2)).collect())
}

/// The flags, names and descriptors of the fields or methods that follow.
fn members(bytes: &mut &[u8], texts: &[String]) -> Option<Vec<(usize, String, String)>> {
    let mut out = Vec::new();
    for _ in 0..number(bytes, 2)? {
        let flags = number(bytes, 2)?;
        let (name, descriptor) = (number(bytes, 2)?, number(bytes, 2)?);
        out.push((flags, texts.get(name)?.clone(), texts.get(descriptor)?.clone()));
        for _ in 0..number(bytes, 2)? {
            take(bytes, 2)?;
            let length = number(bytes, 4)?;
            take(bytes, length)?;
        }
    }
    Some(out)
}

fn number(bytes: &mut &[u8], n: usize) -> Option<usize> {
    Some(take(bytes, n)?.iter().fold(0, |acc, &it| acc << 8 | usize::from(it)))
}

fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (head, rest) = bytes.split_at_checked(n)?;
    *bytes = rest;
    Some(head)
}

/// The JDK of exactly this release, for which a list is committed; without it, that part of the test is skipped.
fn jdk(version: u32) -> Option<Jdk> {
    let found = test_utils::jdk::all().into_iter().find(|it| it.version == version);
    if found.is_none() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI has no JDK {version}");
        eprintln!("skipped: no JDK {version}");
    }
    found
}

fn folder() -> PathBuf {
    data_dir().join("natives")
}

#[test]
fn natives_without_a_row_are_known() {
    // The lists were made on Linux; other systems have other native methods.
    if !cfg!(target_os = "linux") {
        return;
    }
    let rows = rows();
    for jdk in [17, 25].into_iter().filter_map(jdk) {
        let mut text = String::new();
        let mut lines = BTreeSet::new();
        for (method, module) in natives(&jdk) {
            if !rows.iter().any(|it| it.is_for(&method) && it.holds_for(jdk.version)) {
                lines.insert(format!("{module} {}.{}{}\n", method.0, method.1, method.2));
            }
        }
        text.extend(lines);
        let path = folder().join(format!("without-row-{}.txt", jdk.version));
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            std::fs::write(&path, &text).expect("the list can be written");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(text == expected, "{}: another list; see UPDATE_EXPECTED above", path.display());
    }
}

#[test]
fn every_row_has_its_native() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let (Some(older), Some(newer)) = (jdk(17), jdk(25)) else { return };
    let sets = [(17, natives(&older)), (25, natives(&newer))];
    for row in rows() {
        let name = format!("{}.{}{}", row.class, row.name, row.descriptor);
        let there: Vec<u32> =
            sets.iter().filter(|it| it.1.keys().any(|it| row.is_for(it))).map(|it| it.0).collect();
        if row.releases.is_some() {
            assert!(there.iter().all(|&it| row.holds_for(it)), "{name} is native in {there:?}, too");
            assert!(
                !there.is_empty() || ![17, 25].into_iter().any(|it| row.holds_for(it)),
                "{name}: no such native"
            );
        } else {
            assert!(!there.is_empty(), "{name}: native in none of the two JDKs, and of no other release");
        }
    }
}

#[test]
fn exceptions_seen_are_listed() {
    if test_utils::jdk::at_least(8).is_none() {
        return;
    }
    let rows = rows();
    for jdk in test_utils::jdk::all().into_iter().filter(|it| (8..=25).contains(&it.version)) {
        let out =
            Command::new(jdk.java()).arg("-cp").arg(folder()).arg("Natives").output().expect("java runs");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let text = String::from_utf8(out.stdout).expect("UTF-8");
        let mut seen = BTreeSet::new();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [_, method, chain] = fields[..] else { continue };
            let (class, name) = method.rsplit_once('.').expect("class and name");
            let chain: Vec<&str> = chain.split(' ').collect();
            let mut of_method = rows
                .iter()
                .filter(|it| it.class == class && it.name == name && it.holds_for(jdk.version))
                .peekable();
            assert!(of_method.peek().is_some(), "JDK {}: no row: {line}", jdk.version);
            assert!(of_method.any(|it| it.lists(&chain)), "JDK {}: not listed: {line}", jdk.version);
            seen.insert(method.to_owned());
        }
        assert!(seen.len() >= 40, "JDK {}: exceptions of only {seen:?}", jdk.version);
    }
}
