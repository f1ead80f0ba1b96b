//! Tens of thousands of broken classes, and bodies designed to be expensive: reading must not panic or loop, must
//! not allocate more than a multiple of the input size, and lowered bodies must be well formed. Deterministic.

mod anatomy;
mod mutate;
#[path = "../torture/reading.rs"]
mod reading;
mod worst;

use std::alloc::System;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use classfile::names::{ClassName, Descriptor, MemberRef, Name};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use test_utils::asm::Assembled;
use test_utils::generate::{Mode, program};
use test_utils::jdk::all;
use test_utils::jvm::{TempDir, data_dir};
use test_utils::rng::Rng;
use test_utils::tier;

use anatomy::{Anatomy, anatomy};
use reading::{Reading, read};

/// Counts the allocations of all threads of this binary, so the tests in it run one at a time.
#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    static ROOM: Once = Once::new();
    ROOM.call_once(make_room);
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fills the tables of the process-wide interner, which double when full. This costs a few words per name on
/// average, but would all be attributed to the one mutant that triggers it.
fn make_room() {
    let class = ClassName::new(b"room/C");
    for i in 0..200_000 {
        let name = Name::new(format!("room{i}").as_bytes());
        MemberRef::new(class, name, Descriptor::new(b"()V"));
    }
}

/// Returns the result of reading `bytes`, and the number of bytes allocated meanwhile, freed or not.
fn measured(name: &str, bytes: &[u8]) -> (Reading, usize) {
    let region = Region::new(MEMORY);
    let reading = read(name, bytes, false);
    let change = region.change();
    (reading, change.bytes_allocated)
}

/// Returns the allocation limit for a class of this size: a multiple of it, plus a constant for small ones.
fn allowance(len: usize) -> usize {
    100 * len + 200_000
}

struct Original {
    path: PathBuf,
    bytes: Vec<u8>,
    parts: Anatomy,
}

/// Returns the class files below `folder`, in order, that are valid and no larger than `limit`.
fn originals(folder: &Path, limit: usize) -> Vec<Original> {
    let mut out = Vec::new();
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|it| panic!("{}: {it}", folder.display()))
        .map(|it| it.expect("can be listed").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            out.extend(originals(&path, limit));
        } else if path.extension().is_some_and(|it| it == "class") {
            let bytes = std::fs::read(&path).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
            if bytes.len() <= limit
                && let Some(parts) = anatomy(&bytes)
            {
                out.push(Original { path, bytes, parts });
            }
        }
    }
    out
}

/// Returns classes of random programs, some with subroutines and exception tables that no compiler writes.
fn generated(count: u64) -> Vec<Original> {
    let programs = [Mode::Plain, Mode::Subroutines, Mode::OddRows]
        .into_iter()
        .flat_map(|mode| (0..count).map(move |seed| program(seed, mode).unwrap_or_else(|it| panic!("{it}"))));
    let original = |it: Assembled| {
        let parts = anatomy(&it.bytes).unwrap_or_else(|| panic!("{} is whole", it.name));
        Original { path: it.name.into(), bytes: it.bytes, parts }
    };
    programs.flat_map(|it| it.classes).map(original).collect()
}

/// Returns the classes of `java.base`, extracted by the newest JDK's own tool; none without that tool.
fn java_base() -> Vec<Original> {
    let Some(jdk) =
        all().into_iter().filter(|it| it.home.join("bin/jimage").is_file()).max_by_key(|it| it.version)
    else {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "CI must have a JDK");
        eprintln!("skipped: no JDK with a jimage tool");
        return Vec::new();
    };
    let folder = TempDir::new().expect("a folder can be made");
    let status = Command::new(jdk.home.join("bin/jimage"))
        .args(["extract", "--include", "regex:/java.base/java/(lang|util|net|time)/[A-Z].*", "--dir"])
        .args([folder.path(), &jdk.home.join("lib/modules")])
        .status();
    assert!(status.is_ok_and(|it| it.success()), "jimage of {} works", jdk.home.display());
    originals(folder.path(), 20_000)
}

#[derive(Default)]
struct Tally {
    mutants: usize,
    refused_classes: usize,
    refused_methods: usize,
    lowered: usize,
    /// The largest fraction of its allocation limit that a mutant used, in percent.
    dearest: usize,
}

fn mutants(originals: &[Original], count: u64, tally: &mut Tally) {
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let Some(original) = rng.pick(originals) else { return };
        let mut bytes = original.bytes.clone();
        mutate::mutate(&mut rng, &mut bytes, &original.parts);
        let name = format!("mutant {seed} of {}", original.path.display());
        let (reading, allocated) = measured(&name, &bytes);
        assert!(allocated <= allowance(bytes.len()), "{name}: {allocated} bytes for {}", bytes.len());
        tally.dearest = tally.dearest.max(100 * allocated / allowance(bytes.len()));
        if seed % 8 == 0 {
            read(&name, &bytes, true);
        }
        tally.mutants += 1;
        tally.refused_classes += usize::from(reading.lowered == 0 && !reading.faults.is_empty());
        tally.refused_methods += usize::from(reading.lowered > 0 && !reading.faults.is_empty());
        tally.lowered += reading.lowered;
    }
}

/// Breaks some of `originals`, `count` times. The mutations must reach all depths: faults in the structure or in
/// the bodies must not hide the rest.
fn run(what: &str, originals: &[Original], count: u64) {
    let mut tally = Tally::default();
    mutants(originals, count, &mut tally);
    let Tally { mutants, refused_classes, refused_methods, lowered, dearest } = tally;
    eprintln!(
        "{mutants} mutants of {} {what}: {refused_classes} classes and {refused_methods} methods refused, \
         {lowered} bodies lowered, {dearest} % of the allowance at most",
        originals.len()
    );
    assert!(refused_classes > mutants / 20 && refused_methods > mutants / 20 && lowered > mutants);
}

#[test]
fn mutants_of_committed_classes() {
    let _turn = turn();
    let originals = originals(&data_dir(), 20_000);
    assert!(originals.len() > 200, "{} whole classes", originals.len());
    run("committed classes", &originals, tier::rounds(8_000, 40_000));
}

#[test]
fn mutants_of_generated_classes() {
    let _turn = turn();
    run("generated classes", &generated(40), tier::rounds(4_000, 20_000));
}

#[test]
fn mutants_of_java_base() {
    let _turn = turn();
    let originals = java_base();
    if !originals.is_empty() {
        run("classes of java.base", &originals, tier::rounds(4_000, 20_000));
    }
}

/// The most expensive item are the copies of subroutines, at most sixteen per instruction.
#[test]
fn dear_bodies() {
    let _turn = turn();
    for (name, bytes) in worst::all() {
        let (reading, allocated) = measured(name, &bytes);
        let allowed = 700 * bytes.len() + 300_000;
        assert!(allocated <= allowed, "{name}: {allocated} bytes for {}", bytes.len());
        let faults: Vec<&str> =
            reading.faults.iter().map(|it| it.split(" (at").next().unwrap_or(it)).collect();
        assert_eq!(faults.is_empty(), !worst::REFUSED.contains(&name), "{name}: {faults:?}");
    }
}
