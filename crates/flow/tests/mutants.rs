//! Tests that facts and graphs of broken classes, and of bodies built to be expensive, cause no panic, no endless
//! loop, and no allocation beyond a multiple of the body's size. The mutations and the bodies are those of `bir`'s
//! tests.

#[path = "../../bir/tests/mutants/anatomy.rs"]
mod anatomy;
#[path = "../../bir/tests/mutants/mutate.rs"]
mod mutate;
#[path = "../../bir/tests/mutants/worst.rs"]
mod worst;

use std::alloc::System;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::{Mutex, PoisonError};

use bir::body::Body;
use bir::lower::{Scratch, lower};
use classfile::bootstrap::Bootstraps;
use classfile::class::ClassFile;
use classfile::names::ClassName;
use flow::cfg::{CfgOptions, cfg};
use flow::constants::ClassCode;
use flow::facts::{Wanted, method_facts};
use flow::initializers::OwnClass;
use flow::throwables::{Answer, Subtypes};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use test_utils::jvm::data_dir;
use test_utils::rng::Rng;
use test_utils::tier;

/// The code of a class about which nothing is known.
fn no_code() -> &'static ClassCode {
    static NONE: LazyLock<ClassCode> = LazyLock::new(ClassCode::default);
    &NONE
}

/// An allocator that counts what all threads of this binary allocate; therefore the tests run one after the other.
#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

static TURN: Mutex<()> = Mutex::new(());

/// Answers subtype queries as if no class were known.
struct Unknown;

impl Subtypes for Unknown {
    fn is_subtype(&self, sub: ClassName, sup: ClassName) -> Answer {
        if sub == sup { Answer::Yes } else { Answer::Unknown }
    }
}

/// Returns the bodies of the class's methods that can be lowered.
fn bodies(bytes: &[u8]) -> Vec<Body> {
    let Ok(class) = ClassFile::parse(bytes) else { return Vec::new() };
    let Ok(boots) = Bootstraps::of(&class) else { return Vec::new() };
    let mut scratch = Scratch::default();
    let mut out = Vec::new();
    for method in class.methods() {
        if let Ok(Some(code)) = method.code()
            && let Ok(it) = lower(&class, &boots, &method, &code, &mut scratch)
        {
            out.push(it.body);
        }
    }
    out
}

/// Computes the facts and the graph of a body. Returns the number of bytes allocated, and the number that the body's
/// size allows.
fn measured(body: &Body) -> (usize, usize) {
    let class =
        OwnClass { name: body.method.class(), super_class: None, is_interface: false, static_fields: &[] };
    let region = Region::new(MEMORY);
    let facts = method_facts(body, &class, &|| no_code(), Wanted::All, &mut flow::facts::Scratch::default());
    cfg(body, &facts, &Unknown, CfgOptions { keep_proved: false });
    let allocated = region.change().bytes_allocated;
    let cases: usize = body.switches.iter().map(|it| it.cases.len()).sum();
    let size = body.instrs.len() + body.exprs.len() + body.rows.len() + cases;
    // The search for the constants of reflective calls is limited by fixed numbers.
    let constants = if facts.reflective.is_empty() { 0 } else { 1 << 20 };
    (allocated, 200 * size + 8 * usize::from(body.locals) + 20_000 + constants)
}

fn class_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|it| panic!("{}: {it}", folder.display()));
    let mut entries: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            class_files(&path, out);
        } else if path.extension().is_some_and(|it| it == "class") {
            out.push(path);
        }
    }
}

#[test]
fn graphs_of_mutants() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut paths = Vec::new();
    class_files(&data_dir(), &mut paths);
    let mut originals = Vec::new();
    for path in &paths {
        let bytes = std::fs::read(path).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
        if bytes.len() < 20_000
            && let Some(parts) = anatomy::anatomy(&bytes)
        {
            originals.push((path, bytes, parts));
        }
    }
    let (mut drawn, mut dearest) = (0, 0);
    let n = tier::rounds(4_000, 20_000);
    for seed in 0..n {
        let mut rng = Rng::new(seed);
        let Some((path, bytes, parts)) = rng.pick(&originals) else { panic!("no class") };
        let mut bytes = bytes.clone();
        mutate::mutate(&mut rng, &mut bytes, parts);
        for body in bodies(&bytes) {
            let (allocated, allowed) = measured(&body);
            assert!(allocated <= allowed, "mutant {seed} of {}: {allocated} of {allowed}", path.display());
            dearest = dearest.max(100 * allocated / allowed);
            drawn += 1;
        }
    }
    eprintln!("{drawn} graphs, {dearest} % of the allowance at most");
    assert!(drawn > n, "{drawn} graphs");
}

#[test]
fn graphs_of_expensive_bodies() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, bytes) in worst::all() {
        let bodies = bodies(&bytes);
        assert!(bodies.is_empty() || !worst::REFUSED.contains(&name), "{name}");
        for body in bodies.iter().take(100) {
            let (allocated, allowed) = measured(body);
            assert!(allocated <= allowed, "{name}: {allocated} of {allowed}");
        }
    }
}
