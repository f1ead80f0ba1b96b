//! Compares with the JVM: random programs whose code the VM or the JDK calls. These are methods that object streams
//! call by name (`streams`), methods of objects that the JDK makes by reflection (`receivers`), and code of classes
//! that programs find by computed names (`marks`).
//!
//! A tracer writes the stack at the entry of each generated method. In a closed world and under `--rta`, ajar must
//! explain each call between two generated methods on a stack: the place in the program names the target or is open,
//! or each call of the JDK on the way is one that ajar names, up to the target or to an open call.

mod judge;
mod marks;
mod receivers;
mod streams;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use test_utils::jdk::{self, Jdk};
use test_utils::rng::Rng;
use test_utils::tier;

use judge::{Counts, How, judge};
use world::{Classes, Program, run_programs};

/// The kinds of programs in which a method that ran may be unreached, because an open call explains it, and why.
const UNREACHED: &[(&str, &str)] = &[
    ("names", "reflection with computed names may run anything; the calls are open"),
    ("enums", "reflection with computed names may run anything; the calls are open"),
    ("other finders", "reflection with computed names may run anything; the calls are open"),
    ("handle", "the program looks up a member, and more than constants decide which one"),
    (
        "metafactory",
        "function objects that code links by itself may implement any interface; the calls are open",
    ),
    ("proxy", "`InvocationHandler.invokeDefault` may run any default method; the call is open"),
];

/// The random programs of one question to ajar. Programs of different parts cannot hide one another's faults.
type Part = Vec<Program>;

fn part(letter: &str, number: u64, size: u64, make: &dyn Fn(String, &mut Rng, u64) -> Program) -> Part {
    let program = |it: u64| {
        let seed = number * 1000 + it;
        make(format!("{letter}{seed}"), &mut Rng::new(seed), number * size + it)
    };
    (0..size).map(program).collect()
}

fn parts() -> Vec<Part> {
    let size = tier::rounds(4, 16);
    let mut all = Vec::new();
    // A program that makes proxies may have a proxy of any interface, so parts without proxies come first.
    for (number, proxies) in [(0, false), (1, false), (2, true)].into_iter().take(tier::rounds(1, 3)) {
        all.push(part("s", number, size, &|package, rng, _| streams::program(package, rng, proxies)));
        all.push(part("r", number, size, &|package, rng, _| receivers::program(package, rng, proxies)));
        all.push(part("m", number, size, &marks::program));
    }
    if !tier::is_full() {
        all = vec![all.into_iter().flatten().collect()];
    }
    all
}

/// A JDK of each release from 17 on that can compile; only one in the fast tier.
fn jdks() -> Vec<Jdk> {
    if jdk::at_least(17).is_none() {
        return Vec::new();
    }
    let mut all = jdk::all();
    all.retain(|it| it.version >= 17 && it.home.join("bin/javac").is_file());
    all.dedup_by_key(|it| it.version);
    all.truncate(tier::at_most(1));
    assert!(!all.is_empty() || std::env::var("CI").as_deref() != Ok("true"), "no JDK 17 or newer has javac");
    all
}

fn compare(jdk: &Jdk) -> Counts {
    let parts = parts();
    let ran = run_programs(jdk, &parts);
    let classes = Classes::read(jdk, &ran.classes());
    let mut counts = Counts::default();
    for part in &parts {
        let packages: BTreeSet<&str> = part.iter().map(|it| it.package.as_str()).collect();
        judge(classes.ask(&packages), part, &ran.stacks, &mut counts);
    }
    counts
}

#[test]
fn calls_of_the_platform_are_named_or_marked() {
    for jdk in jdks() {
        let counts = compare(&jdk);
        println!("JDK {}: {counts:#?}", jdk.version);
        let faults = &counts.faults;
        assert!(faults.is_empty(), "JDK {}: {faults:#?}", jdk.version);
        for (kind, methods) in &counts.unreached {
            let is_known = UNREACHED.iter().any(|it| it.0 == *kind);
            assert!(is_known, "JDK {}, {kind}: not reached are {methods:#?}", jdk.version);
        }
        // Without these counts, answers that mark everything would pass, and so would programs that run nothing.
        let mut named: BTreeMap<bool, usize> = BTreeMap::new();
        for ((_, how), n) in &counts.explained {
            *named.entry(matches!(how, How::Named | How::NamedInside)).or_default() += n;
        }
        assert!(named[&true] > tier::rounds(300, 4000), "{named:?}");
        assert!(named[&false] > tier::rounds(10, 200), "{named:?}");
        assert!(counts.never[&false] > tier::rounds(5, 200), "{:?}", counts.never);
        assert_eq!(counts.never.get(&true), None, "reached by name, although the JVM never calls them");
    }
}
