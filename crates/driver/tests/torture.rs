//! Irregular archives: the selected bytes of a class are those that the JVM loads, as recorded (HotSpot 25) for the
//! hand-made archives, and as the JVM itself reports for random multi-release jars; and random trees of archives
//! against a model.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use common::{End, Entry, ZipWriter, entry, jdks, zip};
use driver::container::Scratch;
use driver::world::list_archive;
use test_utils::tier;

const MANIFEST: &[u8] = b"Manifest-Version: 1.0\r\nMain-Class: Hello\r\n";
const MULTI: &[u8] = b"Manifest-Version: 1.0\r\nMain-Class: Hello\r\nMulti-Release: true\r\n";

/// `Hello.class` of `test-data`, which prints `VARIANT-A`, with another letter.
fn hello(letter: u8) -> Vec<u8> {
    let mut bytes = committed("Hello.class");
    let at = bytes.windows(9).position(|it| it == b"VARIANT-A").expect("the variant is a constant");
    bytes[at + 8] = letter;
    bytes
}

fn committed(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/torture/hello").join(name);
    std::fs::read(&path).unwrap_or_else(|it| panic!("{}: {it}", path.display()))
}

/// What a program in the archive gets when it loads `Hello`: the letter of its variant, or why there is none.
fn loaded(archive: Vec<u8>, release: u16) -> String {
    let containers = match list_archive("t.jar", archive, release) {
        Ok((containers, _)) => containers,
        Err(_) => return "refused".to_owned(),
    };
    let mut scratch = Scratch::new();
    // Only the archive itself is on the class path of the JVM, not the archives inside it.
    let Some(container) = containers.iter().find(|it| it.name == "t.jar") else { return "absent".to_owned() };
    let Some(entry) = container.classes.iter().find(|it| it.path() == "Hello.class") else {
        return "absent".to_owned();
    };
    match container.bytes(entry, &mut scratch) {
        Ok(it) => letter(it.bytes),
        Err(_) => "broken".to_owned(),
    }
}

/// The letter after `VARIANT-`.
fn letter(bytes: &[u8]) -> String {
    let at = bytes.windows(8).position(|it| it == b"VARIANT-");
    at.and_then(|it| bytes.get(it + 8)).map_or("none".to_owned(), |it| char::from(*it).to_string())
}

/// The usual three entries, each made by `change`.
fn usual(change: impl Fn(Entry<'_>) -> ZipWriter) -> ZipWriter {
    let mut out = ZipWriter::default();
    let (hello, greeter) = (hello(b'A'), committed("Greeter.class"));
    for (name, data) in
        [("META-INF/MANIFEST.MF", MANIFEST), ("Hello.class", &hello), ("Greeter.class", &greeter)]
    {
        let offset = out.bytes.len() as u32;
        let one = change(entry(name, data));
        out.bytes.extend(&one.bytes);
        let mut line = one.directory;
        let at = 42;
        line[at..at + 4].copy_from_slice(&offset.to_le_bytes());
        out.directory.extend(line);
        out.count += 1;
    }
    out
}

fn one(it: Entry<'_>) -> ZipWriter {
    let mut out = ZipWriter::default();
    out.add(it);
    out
}

/// The usual entries, followed by others.
fn with(more: &[(&str, &[u8])]) -> ZipWriter {
    let mut out = usual(one);
    for (name, data) in more {
        out.add(entry(name, data));
    }
    out
}

/// The usual entries, with a changed `Hello.class`.
fn odd_hello(change: impl Fn(&mut Entry<'_>)) -> ZipWriter {
    usual(|mut it| {
        if it.name == b"Hello.class" {
            change(&mut it);
        }
        one(it)
    })
}

#[test]
fn the_selected_bytes_are_those_of_the_jvm() {
    let end = |it: ZipWriter| it.end(&End::default());
    let good = end(usual(one));
    let script = b"#!/bin/sh\nexec java -jar \"$0\" \"$@\"\n".to_vec();
    let comment = [&[b'x'; 30_000][..], b"PK\x05\x06", &[b'y'; 30_000]].concat();
    let (b, c, d, greeter) = (hello(b'B'), hello(b'C'), hello(b'D'), committed("Greeter.class"));
    let lib = zip(&[("Greeter.class", &greeter)]);
    let launcher = hello(b'L');
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("plain", good.clone(), "A"),
        ("stored", end(usual(|it| one(Entry { method: 0, ..it }))), "A"),
        ("zip64 sizes in small entries", end(usual(|it| one(Entry { zip64: true, ..it }))), "A"),
        ("zip64 end record", usual(one).end(&End { zip64: true, ..End::default() }), "A"),
        ("a script before it", [script, good.clone()].concat(), "A"),
        (
            "a comment that holds an end record",
            usual(one).end(&End { comment: &comment, ..End::default() }),
            "A",
        ),
        ("two of one name", end(with(&[("Hello.class", &b)])), "B"),
        ("three of one name", end(with(&[("Hello.class", &b), ("Hello.class", &c)])), "C"),
        ("names that differ in case", end(with(&[("hello.class", &b), ("HELLO.CLASS", &c)])), "A"),
        ("odd paths", end(with(&[("./Hello.class", &c), ("/Hello.class", &d), ("Dir.class/", b"")])), "A"),
        ("a local name that differs", end(odd_hello(|it| it.local_name = Some(b"Other.class"))), "A"),
        ("a wrong checksum", end(odd_hello(|it| it.crc = Some(1))), "A"),
        // Ten bytes are not a class: the JVM raises a ClassFormatError.
        ("a wrong size", end(odd_hello(|it| it.size = Some(10))), "none"),
        ("an offset behind the end", usual(one).end(&End { shift: 1 << 20, ..End::default() }), "refused"),
        ("a count that is too small", usual(one).end(&End { count: Some(2), ..End::default() }), "A"),
        ("the last third missing", good[..good.len() * 2 / 3].to_vec(), "refused"),
        ("cut in the directory", good[..good.len() - 30].to_vec(), "refused"),
        ("no entry", end(ZipWriter::default()), "absent"),
        ("no byte", Vec::new(), "refused"),
        ("text", b"hello, I am text\n".repeat(20), "refused"),
        (
            "files that are no classes",
            end(with(&[("Text.class", b"no class"), ("Hello.class.bak", &b)])),
            "A",
        ),
        // Here the JVM refuses the whole archive; ajar reads what can be read, with a note.
        ("an encrypted entry", end(odd_hello(|it| it.flags = 1)), "broken"),
        ("an unknown method", end(odd_hello(|it| it.method = 99)), "broken"),
        (
            "a Spring Boot jar, as a plain class path sees it",
            zip(&[
                ("BOOT-INF/classes/Hello.class", &b),
                ("BOOT-INF/lib/greeter.jar", &lib),
                ("org/example/Launcher.class", &launcher),
            ]),
            "absent",
        ),
    ];
    let wrong: Vec<String> = cases
        .into_iter()
        .map(|(name, archive, expected)| (name, loaded(archive, 25), expected))
        .filter(|(_, found, expected)| found != expected)
        .map(|(name, found, expected)| format!("{name}: {found}, not {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An xorshift64* generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }
}

/// A random multi-release jar, or one that is almost one: its folders in order, each with the letter of its `Hello`.
fn multi_release(random: &mut Random) -> (bool, Vec<(String, u8)>) {
    const VERSIONS: [&str; 17] =
        ["7", "8", "9", "10", "11", "16", "17", "18", "21", "24", "25", "26", "99", "09", "x", "-9", "0"];
    let mut entries = Vec::new();
    for i in 0..1 + random.below(7) {
        let folder = match random.below(4) {
            0 => String::new(),
            _ => format!("META-INF/versions/{}/", VERSIONS[random.below(VERSIONS.len())]),
        };
        entries.push((folder, b'B' + i as u8));
    }
    if random.below(4) > 0 {
        entries.insert(random.below(entries.len() + 1), (String::new(), b'A'));
    }
    (random.below(5) > 0, entries)
}

fn archive_of(multi: bool, entries: &[(String, u8)]) -> Vec<u8> {
    let mut out = ZipWriter::default();
    let greeter = committed("Greeter.class");
    out.add(entry("META-INF/MANIFEST.MF", if multi { MULTI } else { MANIFEST }));
    out.add(entry("Greeter.class", &greeter));
    for (folder, variant) in entries {
        let (name, data) = (format!("{folder}Hello.class"), hello(*variant));
        out.add(entry(&name, &data));
    }
    out.end(&End::default())
}

/// The rule in a few lines: from release 9 on, the highest of the folders 8 to `release`, else the root; of two entries
/// of one name the last.
fn model(multi: bool, entries: &[(String, u8)], release: u16) -> String {
    let version = |folder: &str| {
        let text = folder.strip_prefix("META-INF/versions/")?.strip_suffix('/')?;
        let number: u16 = text.parse().ok()?;
        (number.to_string() == text && release >= 9 && (8..=release).contains(&number)).then_some(number)
    };
    let mut best: BTreeMap<u16, u8> = BTreeMap::new();
    for (folder, variant) in entries {
        match version(folder) {
            Some(number) if multi => drop(best.insert(number, *variant)),
            _ if folder.is_empty() => drop(best.insert(0, *variant)),
            _ => {}
        }
    }
    best.last_key_value().map_or("absent".to_owned(), |it| char::from(*it.1).to_string())
}

#[test]
fn random_multi_release_jars_follow_the_rule() {
    for seed in 1..tier::rounds(300, 1000) {
        let (multi, entries) = multi_release(&mut Random(seed * 7919));
        for release in [8, 9, 17, 25] {
            let found = loaded(archive_of(multi, &entries), release);
            assert_eq!(found, model(multi, &entries, release), "seed {seed}, {release}: {multi} {entries:?}");
        }
    }
}

#[test]
fn random_multi_release_jars_load_as_on_the_jvm() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for home in jdks() {
        let Some(release) = feature(&home) else { continue };
        for seed in 1..tier::rounds(6, 16) {
            let (multi, entries) = multi_release(&mut Random(seed * 104_729));
            let archive = archive_of(multi, &entries);
            let path = folder.path().join("t.jar");
            std::fs::write(&path, &archive).expect("can be written");
            let run = Command::new(home.join("bin/java"))
                .args(["-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp"])
                .arg(&path)
                .arg("Hello")
                .output()
                .expect("java starts");
            let expected = match letter(&run.stdout).as_str() {
                "none" => "absent".to_owned(),
                it => it.to_owned(),
            };
            assert_eq!(loaded(archive, release), expected, "seed {seed}, {release}: {multi} {entries:?}");
        }
    }
}

/// The feature release of a JDK, from its `release` file.
fn feature(home: &Path) -> Option<u16> {
    let text = std::fs::read_to_string(home.join("release")).ok()?;
    let line = text.lines().find_map(|it| it.strip_prefix("JAVA_VERSION=\""))?;
    line.split(['.', '"', '-']).next()?.parse().ok()
}

/// Returns a random archive. Adds to `expected` the classes that must be found in it, with the chain of archives
/// that leads to each.
fn tree(random: &mut Random, chain: &str, depth: usize, expected: &mut Vec<(String, String)>) -> Vec<u8> {
    let mut writer = ZipWriter::default();
    for i in 0..random.below(3) {
        let content = format!("{chain} {i}");
        let name = format!("p{i}/C.class");
        writer.add(Entry { method: [0, 8][random.below(2)], ..entry(&name, content.as_bytes()) });
        expected.push((format!("{chain}!/{name}"), content));
    }
    let inner = if depth == 10 { 0 } else { [1, 0, 1, 2, 3][random.below(5)] };
    for i in 0..inner {
        // A member that by its name is neither a class nor an archive is ignored.
        let (name, counts) = match random.below(3) {
            0 => (format!("{i}.jar"), true),
            1 => (format!("lib/{i}.jar"), true),
            _ => (format!("{i}.bin"), false),
        };
        let mut below = Vec::new();
        let archive = tree(random, &format!("{chain}!/{name}"), depth + 1, &mut below);
        // An archive is opened down to eight levels below the outermost one.
        if counts && depth < 8 {
            expected.extend(below);
        }
        writer.add(Entry { method: [0, 8][random.below(2)], ..entry(&name, &archive) });
    }
    writer.end(&End::default())
}

#[test]
fn random_trees_of_archives_are_read_to_their_leaves() {
    let (mut classes, mut deepest) = (0, 0);
    for seed in 1..tier::rounds(150, 400) {
        let mut expected = Vec::new();
        let archive = tree(&mut Random(seed * 6_700_417), "t.jar", 0, &mut expected);
        let (containers, _) = list_archive("t.jar", archive, 17).expect("it is whole");
        let mut scratch = Scratch::new();
        let mut found = Vec::new();
        for container in &containers {
            for it in &container.classes {
                let bytes = container.bytes(it, &mut scratch).expect("can be read").bytes;
                found.push((container.display(it), String::from_utf8_lossy(bytes).into_owned()));
            }
        }
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "seed {seed}");
        classes += found.len();
        deepest = deepest.max(found.iter().map(|it| it.0.matches("!/").count()).max().unwrap_or(0));
    }
    assert!(classes > tier::rounds(150, 500) && deepest == 9, "{classes} classes, {deepest} archives deep");
}
