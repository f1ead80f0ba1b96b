//! A program into which changed bodies are taken says what one says that is made from scratch: what methods let out and why,
//! where their calls go, and their graphs.

use ide::answer::{ClassAnswer, Question, class_answer};
use ide::whole::{ClassRecord, Whole, read_class};
use ide::{Role, Scratch, WholeOptions, WorldKind};
use test_utils::generate::{Mode, program};
use test_utils::rng::Rng;

fn fresh(classes: &[Vec<u8>]) -> (Vec<ClassRecord>, Whole) {
    let records: Vec<ClassRecord> =
        classes.iter().map(|it| read_class(it, &mut Scratch::default()).unwrap()).collect();
    let options = WholeOptions {
        world: WorldKind::Open,
        release: Some(17),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
    };
    let whole = Whole::new(records.iter().map(|it| (it.clone(), Role::App)).collect(), options);
    (records, whole)
}

/// All that the program says.
fn answers(whole: &Whole, classes: &[Vec<u8>]) -> Vec<String> {
    let mut work = whole.work();
    let mut acc = Vec::new();
    for class in classes {
        let question = Question { select: &|_| true, graphs: false, clock: None };
        let ClassAnswer { methods, .. } = class_answer(class, &question, &mut Scratch::default()).unwrap();
        for it in methods {
            acc.push(format!("{:?}", whole.throws(&mut work, it.method)));
            acc.push(format!("{:?}", whole.calls(it.method, &it.code)));
            let graph = whole.graph(&mut work, it.method, &it.code, true);
            let set = |it| format!("{:?}", graph.set(it));
            let nodes = graph.cfg.nodes.iter().map(|it| match it.kind {
                ide::NodeKind::Exceptional(of) | ide::NodeKind::ExceptionalReturn(of) => set(of),
                _ => String::new(),
            });
            acc.push(format!("{:?} {:?} {:?}", graph.cfg.edges, nodes.collect::<Vec<_>>(), graph.throws));
        }
    }
    acc
}

#[test]
fn changed_bodies_are_taken_in() {
    let (mut taken, mut refused, mut other) = (0, 0, 0);
    for seed in 0..30 {
        let mode = [Mode::Plain, Mode::OddRows, Mode::Dynamic][seed as usize % 3];
        let mut classes: Vec<Vec<u8>> =
            program(seed, mode).unwrap().classes.into_iter().map(|it| it.bytes).collect();
        let (mut records, mut whole) = fresh(&classes);
        let mut rng = Rng::new(seed);
        let before = answers(&whole, &classes);
        for _ in 0..60 {
            let at = rng.range(0, classes.len() as i32 - 1) as usize;
            let mut bytes = classes[at].clone();
            let i = rng.range(10, bytes.len() as i32 - 1) as usize;
            bytes[i] ^= 1 << rng.range(0, 4);
            let Ok(record) = read_class(&bytes, &mut Scratch::default()) else { continue };
            if record == records[at] || record.class() != records[at].class() {
                continue;
            }
            let old = std::mem::replace(&mut classes[at], bytes);
            let (all, scratch) = fresh(&classes);
            if whole.update(&[(&records[at], &record)]) {
                taken += 1;
                let now = answers(&whole, &classes);
                other += usize::from(now != before);
                assert_eq!(now, answers(&scratch, &classes), "seed {seed}, class {at}, byte {i}");
                records[at] = record;
            } else {
                refused += 1;
                (records, whole) = (all, scratch);
                drop(old);
            }
        }
    }
    assert!(taken > 60 && refused > 20 && other > 50, "{taken} {refused} {other}");
}

#[test]
fn what_is_taken_in_can_be_taken_back() {
    let mut classes: Vec<Vec<u8>> =
        program(7, Mode::Plain).unwrap().classes.into_iter().map(|it| it.bytes).collect();
    let (records, mut whole) = fresh(&classes);
    let before = answers(&whole, &classes);
    let mut n = 0;
    for at in 0..classes.len() {
        for i in (10..classes[at].len()).step_by(11) {
            let original = classes[at].clone();
            classes[at][i] ^= 1;
            let record = read_class(&classes[at], &mut Scratch::default());
            let changed = record.ok().filter(|it| *it != records[at] && it.class() == records[at].class());
            classes[at] = original;
            let Some(record) = changed else { continue };
            if !whole.update(&[(&records[at], &record)]) {
                whole = fresh(&classes).1;
                continue;
            }
            assert!(whole.update(&[(&record, &records[at])]), "class {at}, byte {i}");
            n += 1;
            if n % 4 == 0 {
                assert_eq!(answers(&whole, &classes), before, "class {at}, byte {i}");
            }
        }
    }
    assert!(n > 10, "{n}");
    assert_eq!(answers(&whole, &classes), before);
}
