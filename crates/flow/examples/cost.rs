//! Measures this crate on a folder of class files: `cargo run --release -p flow --example cost -- FOLDER`. Prints the
//! CPU time of each stage over all methods, on one thread. With a second argument, also prints how many assertions
//! each kind of fact proves.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Instant;

use bir::body::{Body, Instr};
use bir::lower::{Scratch, lower};
use classfile::bootstrap::Bootstraps;
use classfile::class::ClassFile;
use classfile::names::{ClassName, Descriptor, Name};
use flow::cfg::{CfgOptions, cfg};
use flow::constants::ClassCode;
use flow::discharge::Proof;
use flow::facts::{MethodFacts, Wanted, method_facts};
use flow::initializers::{OwnClass, without_initializer};
use flow::throwables::BuiltIn;
use flow::thrown::Term;

/// The code of a class about which nothing is known.
fn no_code() -> &'static ClassCode {
    static NONE: LazyLock<ClassCode> = LazyLock::new(ClassCode::default);
    &NONE
}

/// A class with the bodies of its methods.
struct Class {
    name: ClassName,
    super_class: Option<ClassName>,
    is_interface: bool,
    static_fields: Vec<(Name, Descriptor)>,
    bodies: Vec<Body>,
}

impl Class {
    fn own(&self) -> OwnClass<'_> {
        OwnClass {
            name: self.name,
            super_class: self.super_class,
            is_interface: self.is_interface,
            static_fields: &self.static_fields,
        }
    }
}

fn collect(folder: &Path, out: &mut Vec<Vec<u8>>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|it| it.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|it| it == "class") {
            out.push(std::fs::read(path).unwrap());
        }
    }
}

fn read(bytes: &[u8], scratch: &mut Scratch) -> Option<Class> {
    let class = ClassFile::parse(bytes).ok()?;
    let boots = Bootstraps::of(&class).ok()?;
    let statics = class.fields().filter(|it| it.flags.is_static());
    let mut bodies = Vec::new();
    for method in class.methods() {
        if let Ok(Some(code)) = method.code()
            && let Ok(it) = lower(&class, &boots, &method, &code, scratch)
        {
            bodies.push(it.body);
        }
    }
    Some(Class {
        name: class.this_class().ok()?,
        super_class: class.super_class().ok()?,
        is_interface: class.flags.is_interface(),
        static_fields: statics.filter_map(|it| Some((it.name().ok()?, it.descriptor().ok()?))).collect(),
        bodies,
    })
}

/// Returns the CPU time of this thread in ms if Linux reports it, else the time since `start`.
fn cpu_ms(start: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = stat.split(' ').next().and_then(|it| it.parse().ok());
    ns.unwrap_or(start.elapsed().as_nanos() as f64) / 1e6
}

fn main() {
    let folder = std::env::args().nth(1).expect("the first argument must be a folder");
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files);
    let start = Instant::now();
    for _ in 0..3 {
        let mut before = cpu_ms(start);
        let mut stage = |what: &str| {
            let now = cpu_ms(start);
            print!("{what} {:.1} ms; ", now - before);
            before = cpu_ms(start);
        };
        let mut scratch = Scratch::default();
        let classes: Vec<Class> = files.iter().filter_map(|it| read(it, &mut scratch)).collect();
        stage("read and lower");
        for class in &classes {
            class
                .bodies
                .iter()
                .for_each(|it| drop(black_box(flow::proving::proofs(it, None, &mut Default::default()))));
        }
        stage("proofs");
        for class in &classes {
            class.bodies.iter().for_each(|it| drop(black_box(flow::thrown::thrown(it))));
        }
        stage("thrown");
        for class in &classes {
            class.bodies.iter().for_each(|it| drop(black_box(flow::locks::locks(it))));
        }
        stage("locks");
        for class in &classes {
            class.bodies.iter().for_each(|it| {
                drop(black_box(without_initializer(it, &class.own(), &mut Default::default())))
            });
        }
        stage("initializers");
        let facts: Vec<Vec<MethodFacts>> = classes
            .iter()
            .map(|class| {
                class
                    .bodies
                    .iter()
                    .map(|it| {
                        method_facts(it, &class.own(), &|| no_code(), Wanted::All, &mut Default::default())
                    })
                    .collect()
            })
            .collect();
        stage("all facts");
        for (class, facts) in classes.iter().zip(&facts) {
            let subtypes = BuiltIn { own: class.super_class.map(|it| (class.name, it)) };
            for (body, facts) in class.bodies.iter().zip(facts) {
                black_box(cfg(body, facts, &subtypes, CfgOptions { keep_proved: false }));
            }
        }
        stage("cfg");
        println!();
        if std::env::args().nth(2).is_some() {
            return count(&classes, &facts);
        }
    }
}

fn count(classes: &[Class], facts: &[Vec<MethodFacts>]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |what: &str, n: usize| *counts.entry(what.to_owned()).or_default() += n;
    for (body, facts) in classes.iter().flat_map(|it| &it.bodies).zip(facts.iter().flatten()) {
        add("methods", 1);
        add("instructions", body.instrs.len());
        let monitors = body.instrs.values().any(|it| matches!(it, Instr::MonitorExit(_)));
        add("methods with monitors", usize::from(monitors));
        let balanced = facts.locks.at.is_empty() && facts.locks.leaving.is_empty();
        add("methods with monitors out of balance", usize::from(!balanced));
        for (id, instr) in body.instrs.iter() {
            match instr {
                Instr::Assert(check) => {
                    let check = format!("{check:?}");
                    let proof = match facts.proof(id) {
                        None => "open".to_owned(),
                        Some(Proof::Allocated(_)) => "Allocated".to_owned(),
                        Some(Proof::Tested(_)) => "Tested".to_owned(),
                        Some(Proof::Caught(_)) => "Caught".to_owned(),
                        Some(it) => format!("{it:?}"),
                    };
                    add(&format!("assert {} {proof}", check.split('(').next().unwrap_or_default()), 1);
                }
                Instr::Throw(_) => {
                    add(
                        match facts.thrown(id) {
                            [] => "throw nothing",
                            [(_, Term::Exact(_))] => "throw exact",
                            [(_, Term::Caught(_))] => "throw caught",
                            [(_, Term::Cone(_))] => "throw cone",
                            _ => "throw several",
                        },
                        1,
                    );
                }
                Instr::MayInit(_) if facts.runs_no_initializer(id) => add("mayinit without initialiser", 1),
                Instr::MayInit(_) => add("mayinit", 1),
                _ => {}
            }
        }
    }
    counts.iter().for_each(|(what, n)| println!("{what:40} {n:9}"));
}
