//! The generator of class structures makes every shape that a rule distinguishes, and its programs load.

use std::collections::BTreeMap;

use test_utils::generate::{RunGroup, Structure};
use test_utils::jdk;
use test_utils::jvm::{self, Case, Outcome};
use test_utils::rng::Rng;
use test_utils::tier;

#[test]
fn every_shape_is_generated() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..200 {
        Structure::new(seed).shapes().for_each(|(name, n)| *counts.entry(name).or_default() += n);
    }
    for (name, n) in &counts {
        println!("{n:5} {name}");
    }
    assert_eq!(counts.len(), 54, "each shape has a name");
    let rare: Vec<_> = counts.iter().filter(|it| *it.1 < 10).collect();
    assert!(rare.is_empty(), "{rare:?}");
}

#[test]
fn changes_keep_every_shape() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..100 {
        let (mut it, mut rng) = (Structure::new(seed), Rng::new(seed));
        for _ in 0..12 {
            it.change(&mut rng);
            it.shapes().for_each(|(name, n)| *counts.entry(name).or_default() += n);
        }
        it.classes().expect("assembles");
    }
    let rare: Vec<_> = counts.iter().filter(|it| *it.1 < 10).collect();
    assert!(rare.is_empty(), "{rare:?}");
}

#[test]
fn structures_run() {
    let Some(_) = jdk::at_least(17) else { return };
    let all: Vec<Structure> = (0..40).map(Structure::new).collect();
    let classes: Vec<_> = all.iter().flat_map(|it| it.classes().expect("assembles")).collect();
    let groups: Vec<RunGroup> = all.iter().flat_map(Structure::runs).collect();
    let cases: Vec<Case> = groups.iter().flat_map(|it| &it.runs).map(|it| it.case.clone()).collect();
    for jdk in jdk::all().iter().filter(|it| it.version >= 17).take(tier::at_most(1)) {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for (case, answer) in cases.iter().zip(jvm::run(jdk, &classes, &cases).expect("the harness runs")) {
            let kind = match &answer.outcome {
                Outcome::Result(_) => "result".to_owned(),
                Outcome::Throw(it) if it.contains(" <- ") => "wrapped".to_owned(),
                Outcome::Throw(it) if it.contains("/X") => "initialiser".to_owned(),
                Outcome::Throw(it) if it.starts_with("g/") => "method".to_owned(),
                Outcome::Throw(it) => it.split(' ').next().unwrap_or_default().to_owned(),
                Outcome::Timeout => "timeout".to_owned(),
            };
            for refused in ["Verify", "Format", "Timeout", "StackOverflow", "UnsupportedClass"] {
                assert!(!kind.contains(refused), "{case:?} on JDK {}: {:?}", jdk.version, answer.outcome);
            }
            *kinds.entry(kind).or_default() += 1;
        }
        println!("JDK {}: {kinds:?}", jdk.version);
        for kind in [
            "result",
            "wrapped",
            "initialiser",
            "method",
            "java/lang/AbstractMethodError",
            "java/lang/IllegalAccessError",
            "java/lang/IncompatibleClassChangeError",
            "java/lang/NoSuchMethodError",
        ] {
            assert!(kinds.get(kind).is_some_and(|it| *it >= 10), "{kind} in {kinds:?}");
        }
    }
}
