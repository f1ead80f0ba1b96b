//! Tests of the changes for the database, and of which classes are read for them, when a world changes.

use camino::{Utf8Path, Utf8PathBuf};
use driver::feed::{Fed, Feed, Reading};
use driver::jdk::JdkChoice;
use driver::world::{LoadedWorld, WorldSpec, load};
use ide::change::Listing;
use ide::{Settings, WorldKind};
use test_utils::asm::assemble;
use test_utils::jar::jar;

fn class(name: &str, code: &str) -> (String, Vec<u8>) {
    let text = format!(".class public final p/{name}\n.method public static m()V\n {code}\n return\n.end\n");
    (format!("p/{name}.class"), assemble(&text).unwrap().remove(0).bytes)
}

fn write(path: &Utf8Path, classes: &[(String, Vec<u8>)]) {
    let members: Vec<(&str, Vec<u8>)> = classes.iter().map(|it| (&*it.0, it.1.clone())).collect();
    std::fs::write(path, jar("", &members)).unwrap();
}

/// A program of one class and a library, in a folder that is removed with the test.
struct Case {
    folder: tempfile::TempDir,
    feed: Feed,
}

impl Case {
    fn new(library: &[(String, Vec<u8>)]) -> Case {
        let case = Case { folder: tempfile::tempdir().unwrap(), feed: Feed::new(Reading::Platform, 2) };
        write(&case.path("app.jar"), &[class("App", "nop")]);
        write(&case.path("lib.jar"), library);
        case
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.folder.path().join(name)).unwrap()
    }

    fn world(&self) -> LoadedWorld {
        let (inputs, class_path) = (vec![self.path("app.jar")], vec![self.path("lib.jar")]);
        load(&WorldSpec { inputs, class_path, module_path: vec![], jdk: JdkChoice::None, release: None })
            .unwrap()
    }

    fn feed(&mut self) -> Fed {
        let world = self.world();
        self.feed.feed(&world, Settings::new(WorldKind::Open, 17), &mut || false).unwrap().unwrap()
    }
}

#[test]
fn only_changed_classes_of_a_replaced_jar_are_read() {
    let mut classes: Vec<_> = (0..5000).map(|it| class(&format!("C{it}"), "nop")).collect();
    let mut case = Case::new(&classes);
    assert_eq!(case.feed().read, (5000, 5000));
    let before = case.feed.all();
    classes[1234] = class("C1234", "iconst_0\n pop");
    write(&case.path("lib.jar"), &classes);
    let fed = case.feed();
    assert_eq!(fed.read, (1, 1), "classes and methods that were parsed");
    assert!(fed.change.classes.is_empty() && fed.shown.is_none(), "nothing of the program changed");
    assert_eq!(case.feed.all(), before);
    // The library has another value, which is passed together with all containers.
    let containers = fed.change.containers.unwrap();
    let libraries = containers.iter().filter(|it| matches!(it, Listing::Library { .. }));
    assert_eq!((containers.len(), libraries.count()), (2, 1));
    // One more class, before all others.
    classes.insert(0, class("New", "nop"));
    write(&case.path("lib.jar"), &classes);
    assert_eq!(case.feed().read, (1, 1));
    assert_eq!(case.feed.all(), (before.0 + 1, before.1 + 1));
    // The same bytes again, and then one class less.
    write(&case.path("lib.jar"), &classes);
    let fed = case.feed();
    assert_eq!(fed.read, (0, 0));
    classes.remove(7);
    write(&case.path("lib.jar"), &classes);
    let fed = case.feed();
    assert_eq!(fed.read, (0, 0));
    assert!(fed.change.containers.is_some(), "the removal is passed on although nothing is read");
    assert_eq!(case.feed.all(), before);
}

#[test]
fn changed_classes_of_the_program_are_passed_on() {
    let mut case = Case::new(&[class("Lib", "nop")]);
    let fed = case.feed();
    assert_eq!((fed.read, fed.change.classes.len()), ((1, 1), 1));
    let shown = fed.shown.unwrap();
    write(&case.path("app.jar"), &[class("App", "iconst_0\n pop"), class("Other", "nop")]);
    let fed = case.feed();
    assert_eq!((fed.read, fed.change.classes.len()), ((0, 0), 2));
    let now = fed.shown.unwrap();
    assert_eq!((now.len(), now[0]), (2, shown[0]), "a class keeps its file");
    assert!(case.feed.name(now[1]).ends_with("app.jar!/p/Other.class"), "{}", case.feed.name(now[1]));
    // A class that cannot be read is reported as a problem.
    write(&case.path("lib.jar"), &[("p/Lib.class".to_owned(), b"no class".to_vec())]);
    assert_eq!(case.feed().read, (0, 0));
    let places: Vec<&str> = case.feed.problems().map(|it| it.place.as_str()).collect();
    assert!(matches!(places[..], [it] if it.ends_with("lib.jar!/p/Lib.class")), "{places:?}");
    write(&case.path("lib.jar"), &[class("Lib", "nop")]);
    assert_eq!(case.feed().read, (1, 1));
    assert_eq!(case.feed.problems().count(), 0);
}

#[test]
fn a_class_of_the_program_that_can_no_longer_be_read_is_removed() {
    let mut case = Case::new(&[class("Lib", "nop")]);
    assert_eq!(case.feed().shown.map(|it| it.len()), Some(1));
    let (name, bytes) = class("App", "iconst_0\n pop");
    let whole = jar("", &[(&*name, bytes)]);
    let mut broken = whole.clone();
    let last = broken.windows(4).rposition(|it| it == b"PK\x01\x02").unwrap();
    // An unknown compression method.
    broken[last + 10] = 99;
    std::fs::write(case.path("app.jar"), broken).unwrap();
    let fed = case.feed();
    assert_eq!((fed.change.classes.len(), fed.shown.map(|it| it.len())), (0, Some(0)));
    let n_listed = fed.change.containers.iter().flatten().map(|it| match it {
        Listing::Classes(it) => it.classes.len(),
        Listing::Library { .. } => 0,
    });
    assert_eq!(n_listed.collect::<Vec<_>>(), [0, 0]);
    assert_eq!(case.feed.problems().count(), 1);
    std::fs::write(case.path("app.jar"), whole).unwrap();
    let fed = case.feed();
    assert_eq!((fed.change.classes.len(), fed.shown.map(|it| it.len())), (1, Some(1)));
}

#[test]
fn cancelled_reading_continues_where_it_stopped() {
    let classes: Vec<_> = (0..1000).map(|it| class(&format!("C{it}"), "nop")).collect();
    let mut case = Case::new(&classes);
    case.feed();
    let all = case.feed.all();
    let more: Vec<_> = (0..1000).map(|it| class(&format!("C{it}"), "iconst_0\n pop")).collect();
    write(&case.path("lib.jar"), &more);
    write(&case.path("app.jar"), &[class("App", "iconst_0\n pop")]);
    let world = case.world();
    let mut n_asked = 0;
    let mut broken_off = |feed: &mut Feed, after: usize| {
        n_asked = 0;
        let mut cancelled = || {
            n_asked += 1;
            n_asked > after
        };
        let fed = feed.feed(&world, Settings::new(WorldKind::Open, 17), &mut cancelled).unwrap();
        (fed, n_asked)
    };
    assert!(broken_off(&mut case.feed, 300).0.is_none());
    assert_eq!(case.feed.all(), all, "the known data has not changed");
    assert!(broken_off(&mut case.feed, 300).0.is_none());
    let (fed, n_asked) = broken_off(&mut case.feed, usize::MAX);
    // Each class is read once, with one cancellation check after each.
    assert_eq!(n_asked, 1001 - 2 * 301);
    let fed = fed.unwrap();
    assert_eq!((fed.read, fed.change.classes.len(), case.feed.all()), ((1000, 1000), 1, all));
    let libraries = fed.change.containers.unwrap().into_iter().filter_map(|it| match it {
        Listing::Library { contents, .. } => Some(contents),
        Listing::Classes(_) => None,
    });
    let records: Vec<_> = libraries.flat_map(|it| it.records.to_vec()).collect();
    let mut fresh = Case::new(&more);
    write(&fresh.path("app.jar"), &[class("App", "iconst_0\n pop")]);
    let contents = fresh.feed().change.containers.unwrap().into_iter().find_map(|it| match it {
        Listing::Library { contents, .. } => Some(contents),
        Listing::Classes(_) => None,
    });
    assert_eq!(records, contents.unwrap().records.to_vec());
    // The present content of the jar must be used, not what was read of the previous one.
    write(&case.path("lib.jar"), &classes);
    let world = case.world();
    let settings = || Settings::new(WorldKind::Open, 17);
    assert!(case.feed.feed(&world, settings(), &mut || true).unwrap().is_none());
    write(&case.path("lib.jar"), &more[..500]);
    assert_eq!(case.feed().read.0, 0);
    assert_eq!(case.feed.all(), (500, 500));
}
