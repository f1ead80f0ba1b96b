//! What is told of a world, and what is read for it, when the world changes.

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

/// A program of one class and a library, in a folder that is gone when the test is.
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
        self.feed.feed(&world, Settings::new(WorldKind::Open, 17)).unwrap()
    }
}

#[test]
fn of_a_jar_that_is_replaced_only_changed_classes_are_read() {
    let mut classes: Vec<_> = (0..5000).map(|it| class(&format!("C{it}"), "nop")).collect();
    let mut case = Case::new(&classes);
    assert_eq!(case.feed().read, (5000, 5000));
    let before = case.feed.all();
    classes[1234] = class("C1234", "iconst_0\n pop");
    write(&case.path("lib.jar"), &classes);
    let fed = case.feed();
    assert_eq!(fed.read, (1, 1), "classes and methods that were taken apart");
    assert!(fed.change.classes.is_empty() && fed.shown.is_none(), "nothing of the program changed");
    assert_eq!(case.feed.all(), before);
    // The library is another value; which is told with all containers.
    let containers = fed.change.containers.unwrap();
    let libraries = containers.iter().filter(|it| matches!(it, Listing::Library { .. }));
    assert_eq!((containers.len(), libraries.count()), (2, 1));
    // A class more, in front of all others.
    classes.insert(0, class("New", "nop"));
    write(&case.path("lib.jar"), &classes);
    assert_eq!(case.feed().read, (1, 1));
    assert_eq!(case.feed.all(), (before.0 + 1, before.1 + 1));
    // The same bytes again, and one class less.
    write(&case.path("lib.jar"), &classes);
    let fed = case.feed();
    assert_eq!(fed.read, (0, 0));
    classes.remove(7);
    write(&case.path("lib.jar"), &classes);
    let fed = case.feed();
    assert_eq!(fed.read, (0, 0));
    assert!(fed.change.containers.is_some(), "that a class went is told, though nothing is read");
    assert_eq!(case.feed.all(), before);
}

#[test]
fn of_the_program_changed_classes_are_told() {
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
    // One that cannot be read is told as odd.
    write(&case.path("lib.jar"), &[("p/Lib.class".to_owned(), b"no class".to_vec())]);
    assert_eq!(case.feed().read, (0, 0));
    let places: Vec<&str> = case.feed.problems().map(|it| it.place.as_str()).collect();
    assert!(matches!(places[..], [it] if it.ends_with("lib.jar!/p/Lib.class")), "{places:?}");
    write(&case.path("lib.jar"), &[class("Lib", "nop")]);
    assert_eq!(case.feed().read, (1, 1));
    assert_eq!(case.feed.problems().count(), 0);
}
