//! Random edits of generated and real programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use driver::container::{ClassEntry, LoadedContainer, Scratch};
use driver::jdk::JdkChoice;
use driver::world::{WorldSpec, load};
use test_utils::rng::Rng;
use test_utils::tier;

use crate::{Watching, folder, programs, put, text};

/// Makes random edits of a folder of classes, first one after another, then several in quick succession. From time to
/// time, compares with a fresh process that uses another number of threads.
fn edits(answer: &str, world: &str, seed: u64, n: usize) {
    edits_of(&programs(seed..seed + 2), answer, world, seed, n);
}

fn edits_of(classes: &[(String, Vec<u8>)], answer: &str, world: &str, seed: u64, n: usize) {
    let root = folder();
    let path = |it: &str| root.path().join(it);
    classes.iter().for_each(|it| put(&path(&it.0), &it.1));
    let with = |threads| {
        let mut arguments: Vec<&str> = answer.split(' ').collect();
        arguments.extend([text(root.path()), "--jdk", "none", "--world", world, "--threads", threads]);
        Watching::start(&arguments)
    };
    let (ours, others) = if seed % 4 == 1 { ("1", "4") } else { ("4", "1") };
    let mut watching = with(ours);
    let mut rng = Rng::new(seed);
    let mut now: Vec<Option<Vec<u8>>> = classes.iter().map(|it| Some(it.1.clone())).collect();
    let mut changed = 0;
    for edit in 0..n {
        let at = rng.range(0, classes.len() as i32 - 1) as usize;
        let next = match (&now[at], rng.range(0, 3)) {
            (Some(_), 0) => None,
            // Half of the bytes of a class are code or names. After the change, the class often cannot be read, which
            // is reported.
            (Some(it), 1 | 2) => {
                let mut bytes = it.clone();
                let i = rng.range(10, bytes.len() as i32 - 1) as usize;
                bytes[i] ^= 1 << rng.range(0, 2);
                Some(bytes)
            }
            _ => Some(classes[at].1.clone()),
        };
        if next == now[at] {
            continue;
        }
        match &next {
            Some(bytes) => put(&path(&classes[at].0), bytes),
            None => std::fs::remove_file(path(&classes[at].0)).unwrap(),
        }
        now[at] = next;
        let cycle = watching.cycle();
        changed += usize::from(cycle["added"] != 0 || cycle["removed"] != 0);
        if cycle["problems"].to_string().contains("the last good state of this file or folder is kept") {
            // The damaged file looked like one that is still being written, so the last state was kept. A fresh
            // process has no such state, so restore the file.
            put(&path(&classes[at].0), &classes[at].1);
            now[at] = Some(classes[at].1.clone());
            watching.cycle();
        }
        if edit % 8 == 7 || edit + 1 == n {
            let fresh = with(others);
            let other = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>| {
                a.iter().find(|it| b.get(it.0) != Some(it.1)).map(|it| format!("{it:?}"))
            };
            let (more, less) = (other(&watching.facts, &fresh.facts), other(&fresh.facts, &watching.facts));
            assert_eq!((more, less), (None, None), "seed {seed}, edit {edit}");
        }
    }
    assert!(changed * 4 > n, "{changed} of {n} edits changed a fact");
    for burst in 0..tier::rounds(2, 6) {
        // Some of these edits arrive while the process works on the ones before.
        for _ in 0..2 + rng.range(0, 3) {
            let at = rng.range(0, classes.len() as i32 - 1) as usize;
            now[at] = if now[at].is_some() { None } else { Some(classes[at].1.clone()) };
            match &now[at] {
                Some(bytes) => put(&path(&classes[at].0), bytes),
                None => std::fs::remove_file(path(&classes[at].0)).unwrap(),
            }
            std::thread::sleep(Duration::from_millis(u64::from(rng.below(60))));
        }
        let fresh = with(others);
        while watching.facts != fresh.facts {
            println!("seed {seed}, burst {burst}: not yet");
            watching.cycle();
        }
    }
}

#[test]
fn after_random_edits_throws_are_those_of_a_fresh_process() {
    edits("throws", "open", 1, tier::rounds(24, 60));
    edits("throws", "closed", 3, tier::rounds(24, 60));
}

#[test]
fn after_random_edits_calls_are_those_of_a_fresh_process() {
    edits("calls", "open", 5, tier::rounds(24, 60));
    edits("calls", "closed", 7, tier::rounds(24, 60));
}

#[test]
fn after_random_edits_graphs_are_those_of_a_fresh_process() {
    edits("cfg", "open", 9, tier::rounds(8, 40));
    edits("cfg", "closed", 11, tier::rounds(8, 40));
}

#[test]
fn after_random_edits_explanations_are_those_of_a_fresh_process() {
    edits("explain -m *", "open", 13, tier::rounds(8, 40));
    edits("explain -m * --target *", "closed", 15, tier::rounds(8, 40));
}

/// The classes, by path, of the first jar whose name begins with `name` in a part of the small corpus; none if the
/// corpus is missing.
fn classes_of(part: &str, name: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/small");
    if !corpus.join("manifest.tsv").is_file() {
        assert!(std::env::var_os("CI").is_none_or(|it| it != "true"), "CI has no corpus/small");
        eprintln!("skipped: no corpus/small; `cargo xtask corpus small` fetches it");
        return None;
    }
    let jars = std::fs::read_dir(corpus.join(part).join("usr/share/java")).unwrap();
    let mut jars: Vec<PathBuf> = jars.map(|it| it.unwrap().path()).collect();
    jars.sort();
    let is_it = |it: &&PathBuf| it.file_name().is_some_and(|it| it.to_str().unwrap().starts_with(name));
    let input = camino::Utf8PathBuf::from_path_buf(jars.iter().find(is_it).unwrap().clone()).unwrap();
    let spec = WorldSpec {
        inputs: vec![input],
        class_path: Vec::new(),
        module_path: Vec::new(),
        jdk: JdkChoice::None,
        release: Some(25),
    };
    let world = load(&spec).unwrap();
    let mut scratch = Scratch::default();
    let bytes = |it: (&LoadedContainer, &ClassEntry), scratch: &mut Scratch| {
        (it.1.path().to_owned(), world.bytes(it.0, it.1, scratch).unwrap().bytes.to_vec())
    };
    // The manifest of one jar names another jar with some of the same classes.
    let all: BTreeMap<String, Vec<u8>> = world.classes().map(|it| bytes(it, &mut scratch)).collect();
    Some(all.into_iter().collect())
}

#[test]
fn after_edits_of_real_programs_answers_are_those_of_a_fresh_process() {
    for (part, name, answer, world, seed) in [
        ("jasmin-sable", "jasmin-sable", "throws", "closed", 41),
        ("cup", "java-cup-0.11b.jar", "cfg", "open", 42),
        ("jflex", "jflex", "throws", "open", 45),
    ]
    .into_iter()
    .take(tier::at_most(1))
    {
        let Some(classes) = classes_of(part, name) else { return };
        assert!(classes.len() > 30, "{part}: {} classes", classes.len());
        edits_of(&classes, answer, world, seed, 24);
    }
}

/// Most classes of jflex's parser generator are in another jar.
#[test]
fn a_library_that_is_added_and_removed_is_followed() {
    let (Some(classes), Some(library)) =
        (classes_of("jflex", "jflex"), classes_of("cup", "java-cup-0.11b.jar"))
    else {
        return;
    };
    let root = folder();
    let (app, lib) = (root.path().join("app"), root.path().join("lib/cup.jar"));
    classes.iter().for_each(|it| put(&app.join(&it.0), &it.1));
    let members: Vec<(&str, Vec<u8>)> = library.iter().map(|it| (&*it.0, it.1.clone())).collect();
    let whole = test_utils::jar::jar("", &members);
    let half = test_utils::jar::jar("", &members[..members.len() / 2]);
    std::fs::create_dir(root.path().join("lib")).unwrap();
    let path = format!("{}/*", text(root.path().join("lib").as_path()));
    for world in ["open", "closed"] {
        let arguments = ["throws", text(&app), "-cp", &path, "--jdk", "none", "--world", world];
        let mut watching = Watching::start(&arguments);
        let without = watching.facts.clone();
        for jar in [Some(&whole), Some(&half), Some(&whole), None] {
            match jar {
                Some(it) => put(&lib, it),
                None => std::fs::remove_file(&lib).unwrap(),
            }
            let fresh = Watching::start(&arguments).facts.clone();
            assert_ne!(fresh, watching.facts, "{world}: nothing has changed");
            while watching.facts != fresh {
                watching.cycle();
            }
        }
        assert_eq!(watching.facts, without);
    }
}
