//! Measures this room on a folder of class files: `cargo run --release -p flow --example cost -- FOLDER`.
//! Prints CPU-bound wall time per stage on one thread, and how many assertions are proved by which fact.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use bir::body::Instr;
use bir::lower::{Scratch, lower};
use classfile::bootstrap::Bootstraps;
use classfile::class::ClassFile;
use flow::cfg::{Options, cfg};
use flow::discharge::Proof;
use flow::facts::method_facts;
use flow::initializers::{OwnClass, without_initializer};
use flow::throwables::BuiltIn;
use flow::thrown::Term;

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

#[derive(Default)]
struct Totals {
    time: BTreeMap<&'static str, Duration>,
    count: BTreeMap<String, usize>,
}

impl Totals {
    fn time<T>(&mut self, what: &'static str, f: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let it = f();
        *self.time.entry(what).or_default() += start.elapsed();
        it
    }

    fn add(&mut self, what: impl Into<String>, n: usize) {
        *self.count.entry(what.into()).or_default() += n;
    }
}

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files);
    for round in 0..3 {
        let mut totals = Totals::default();
        let mut scratch = Scratch::default();
        for bytes in &files {
            one_class(bytes, &mut totals, &mut scratch);
        }
        if round == 2 {
            totals.time.iter().for_each(|(what, it)| println!("{what:24} {:8.1} ms", it.as_secs_f64() * 1e3));
            totals.count.iter().for_each(|(what, n)| println!("{what:32} {n:9}"));
        }
    }
}

fn one_class(bytes: &[u8], totals: &mut Totals, scratch: &mut Scratch) {
    let Ok(class) = ClassFile::parse(bytes) else { return };
    let Ok(boots) = Bootstraps::of(&class) else { return };
    let statics: Vec<_> = class
        .fields()
        .filter(|it| it.flags.is_static())
        .filter_map(|it| Some((it.name().ok()?, it.descriptor().ok()?)))
        .collect();
    let own = OwnClass {
        name: class.this_class().unwrap(),
        super_class: class.super_class().unwrap(),
        is_interface: class.flags.is_interface(),
        static_fields: &statics,
    };
    let subtypes = BuiltIn { own: own.super_class.map(|it| (own.name, it)) };
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else { continue };
        let lowered = totals.time("lower", || lower(&class, &boots, &method, &code, scratch));
        let Ok(lowered) = lowered else {
            totals.add("failed", 1);
            continue;
        };
        let body = &lowered.body;
        totals.time("facts: proofs", || flow::proving::proofs(body));
        totals.time("facts: thrown", || flow::thrown::thrown(body));
        totals.time("facts: locks", || flow::locks::locks(body));
        totals.time("facts: initializers", || without_initializer(body, &own));
        let facts = totals.time("facts", || method_facts(body, &own));
        let graph = totals.time("cfg", || cfg(body, &facts, &subtypes, Options { keep_proved: false }));
        totals.add("nodes", graph.nodes.len());
        totals.add("edges", graph.edges.len());
        totals.add("methods", 1);
        totals.add("instructions", body.instrs.len());
        totals.add("handlers alone", graph.entered_only_by_vm_errors.len());
        let monitors = body.instrs.values().any(|it| matches!(it, Instr::MonitorExit(_)));
        totals.add("methods with monitors", usize::from(monitors));
        totals.add(
            "  not balanced",
            usize::from(!facts.locks.at.is_empty() || !facts.locks.leaving.is_empty()),
        );
        for (id, instr) in body.instrs.iter() {
            match instr {
                Instr::Assert(check) => {
                    let name = format!("{check:?}");
                    let name = name.split('(').next().unwrap_or_default().to_owned();
                    let proof = facts.proof(id).map_or("open".to_owned(), |it| match it {
                        Proof::Allocated(_) => "Allocated".to_owned(),
                        Proof::Tested(_) => "Tested".to_owned(),
                        Proof::Caught(_) => "Caught".to_owned(),
                        it => format!("{it:?}"),
                    });
                    totals.add(format!("assert {name} {proof}"), 1);
                }
                Instr::Throw(_) => {
                    let terms = facts.thrown(id);
                    let word = match terms {
                        [] => "nothing",
                        [(_, Term::Exact(_))] => "exact",
                        [(_, Term::Caught(_))] => "caught",
                        [(_, Term::Cone(it))] if it.bytes() == b"java/lang/Throwable" => "cone of Throwable",
                        [(_, Term::Cone(_))] => "cone",
                        _ => "several",
                    };
                    totals.add(format!("throw {word}"), 1);
                }
                Instr::MayInit(_) if facts.runs_no_initializer(id) => totals.add("mayinit own", 1),
                Instr::MayInit(_) => totals.add("mayinit", 1),
                _ => {}
            }
        }
    }
}
