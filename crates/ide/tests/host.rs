//! One writer and many readers: how changes affect snapshots, and that long-lived and one-shot clients get the same
//! answers.

use std::sync::Arc;

use ide::answer::{Question, class_answer};
use ide::change::{Change, ContainerId, ContainerListing, Listing};
use ide::host::AnalysisHost;
use ide::whole::{Whole, read_class};
use ide::{MethodName, Role, Scratch, Settings, Text, WholeOptions, WorldKind};
use vfs::file::{FileId, Vfs};
use vfs::identity::EntryIdentity;

const BEFORE: &[u8] = include_bytes!("../../../test-data/edit/before/Order.class");
const BODY: &[u8] = include_bytes!("../../../test-data/edit/body/Order.class");

fn listing(classes: &[FileId]) -> Vec<Listing> {
    let classes = ContainerListing { id: ContainerId(0), role: Role::App, classes: classes.to_vec() };
    vec![Listing::Classes(classes)]
}

fn content(file: FileId, bytes: &[u8]) -> (FileId, EntryIdentity, Arc<[u8]>) {
    (file, EntryIdentity::of_bytes(bytes), bytes.into())
}

fn method(name: &'static [u8], descriptor: &'static [u8]) -> MethodName {
    MethodName { class: Text(b"shop/Order"), name: Text(name), descriptor: Text(descriptor) }
}

fn host(file: FileId) -> AnalysisHost {
    let mut host = AnalysisHost::new();
    host.apply_change(Change {
        containers: Some(listing(&[file])),
        classes: vec![content(file, BEFORE)],
        settings: Some(Settings::new(WorldKind::Open, 17)),
    });
    host
}

#[test]
fn host_and_one_shot_answers_are_equal() {
    let file = Vfs::default().file("Order.class");
    let host = host(file);
    let inside = host.analysis().class(file).unwrap().unwrap().unwrap();
    let question = Question { select: &|_| true, graphs: true, clock: None };
    let alone = class_answer(BEFORE, &question, &mut Scratch::default()).unwrap();
    assert_eq!(inside, alone);
    assert_eq!(inside.methods.len(), 6);
}

#[test]
fn a_change_reaches_the_next_snapshot() {
    let file = Vfs::default().file("Order.class");
    let mut host = host(file);
    let add = method(b"add", b"(Ljava/lang/String;I)V");
    let total = method(b"total", b"()I");
    let ask = |host: &AnalysisHost, it| host.analysis().method(file, it).unwrap().unwrap();
    let (add_before, total_before) = (ask(&host, &add), ask(&host, &total));
    host.apply_change(Change { classes: vec![content(file, BODY)], ..Change::default() });
    assert_ne!(ask(&host, &add).code, add_before.code);
    assert_eq!(ask(&host, &total).code, total_before.code);
}

#[test]
fn equal_bytes_are_no_change() {
    let file = Vfs::default().file("Order.class");
    let mut host = host(file);
    // Two answers share one allocation of their facts only if no query ran in between.
    let add = method(b"add", b"(Ljava/lang/String;I)V");
    let before = host.analysis().method(file, &add).unwrap().unwrap();
    host.apply_change(Change {
        containers: Some(listing(&[file])),
        classes: vec![content(file, BEFORE)],
        settings: Some(Settings::new(WorldKind::Open, 17)),
    });
    let after = host.analysis().method(file, &add).unwrap().unwrap();
    assert!(Arc::ptr_eq(&before.code, &after.code));
}

#[test]
fn the_input_of_a_removed_class_is_reused() {
    let mut vfs = Vfs::default();
    let (old, new) = (vfs.file("Order.class"), vfs.file("Neworder.class"));
    let mut host = host(old);
    host.apply_change(Change { containers: Some(listing(&[])), ..Change::default() });
    assert!(host.analysis().class(old).unwrap().is_none());
    host.apply_change(Change {
        containers: Some(listing(&[new])),
        classes: vec![content(new, BODY)],
        ..Change::default()
    });
    assert!(host.analysis().class(old).unwrap().is_none());
    let answer = host.analysis().class(new).unwrap().unwrap().unwrap();
    assert_eq!(answer.class, Text(b"shop/Order"));
    assert_eq!(host.analysis().outline(new).unwrap().unwrap().methods.len(), 6);
}

#[test]
fn a_snapshot_is_cancelled_by_a_change() {
    let file = Vfs::default().file("Order.class");
    let mut host = host(file);
    let analysis = host.analysis();
    let (asked, ready) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut n = 0u64;
        loop {
            let answer = analysis.class(file);
            n += 1;
            if n == 1 {
                asked.send(()).unwrap();
            }
            match answer {
                Ok(_) => {}
                Err(it) => return it,
            }
        }
    });
    ready.recv().unwrap();
    host.apply_change(Change { classes: vec![content(file, BODY)], ..Change::default() });
    assert_eq!(reader.join().unwrap(), ide::host::Cancelled);
    assert!(host.analysis().class(file).unwrap().is_some());
}

#[test]
fn host_and_one_shot_exceptions_are_equal() {
    let file = Vfs::default().file("Order.class");
    let inside = host(file).analysis().throws(file).unwrap().unwrap();
    let record = read_class(BEFORE, &mut Scratch::default()).unwrap();
    let options = WholeOptions {
        world: WorldKind::Open,
        release: Some(17),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
        system_assertions: false,
    };
    let whole = Whole::new(vec![(record, Role::App)], options);
    let mut work = whole.work();
    for it in inside.iter() {
        assert_eq!(whole.throws(&mut work, it.method).as_ref(), Some(it));
    }
    assert_eq!(inside.len(), 6);
}

#[test]
fn snapshots_answer_in_parallel() {
    let classes = test_utils::generate::program(3, test_utils::generate::Mode::Plain).unwrap().classes;
    let mut vfs = Vfs::default();
    let files: Vec<FileId> = classes.iter().map(|it| vfs.file(&it.name)).collect();
    let contents = || files.iter().zip(&classes).map(|(&file, it)| content(file, &it.bytes)).collect();
    let mut host = AnalysisHost::new();
    host.apply_change(Change {
        containers: Some(listing(&files)),
        classes: contents(),
        settings: Some(Settings::new(WorldKind::Open, 17)),
    });
    let ask = |files: Vec<FileId>| {
        let analysis = host.analysis();
        move || files.iter().map(|&it| analysis.throws(it).unwrap().unwrap()).collect::<Vec<_>>()
    };
    let back: Vec<FileId> = files.iter().rev().copied().collect();
    let (one, other) = (std::thread::spawn(ask(files.clone())), std::thread::spawn(ask(back)));
    let (one, mut other) = (one.join().unwrap(), other.join().unwrap());
    other.reverse();
    assert_eq!(one, other);
    assert!(one.iter().flat_map(|it| it.iter()).any(|it| !it.known.is_empty()));
    assert_eq!((host.counts().rebuilt, host.counts().updated), (1, 0));
}
