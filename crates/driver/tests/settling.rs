//! Settling a sequence of worlds, and the differences between them: each world is settled as if it were the first,
//! and unchanged containers are shared.

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use common::{jdks, text, zip};
use driver::changes::{EntryChanges, EntryPair};
use driver::config::{Overrides, Settings};
use driver::container::LoadedContainer;
use driver::jdk::JdkChoice;
use driver::packages::{Closing, Settler, settle};
use driver::watch::{Watch, WatchOptions};
use driver::world::{LoadedWorld, WorldSpec, list_archive, load};
use test_utils::jar::jar;
use test_utils::rng::Rng;
use test_utils::tier;

fn settings(trust_sealed: bool, add_exports: &[&str]) -> Settings {
    let add_exports = Some(add_exports.iter().map(|it| (*it).to_owned()).collect());
    let overrides = Overrides { trust_sealed: Some(trust_sealed), add_exports, ..Overrides::default() };
    Settings::resolve(&overrides, Utf8Path::new("/"), &|_| None).unwrap()
}

fn descriptor(name: &str) -> Vec<u8> {
    let path = format!("{}/../../test-data/modules/{name}/module-info.class", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

/// Everything that settling yields. Of the JDK only the number of classes, because whole modules of it are left out.
fn all(world: &LoadedWorld, closing: &Closing) -> String {
    let (jdk, others): (Vec<_>, Vec<_>) = world.containers.iter().cloned().partition(|it| it.platform);
    let counts: Vec<usize> = jdk.iter().map(|it| it.classes.len()).collect();
    let Closing { packages, assumptions, unresolved } = closing;
    format!("{}{counts:?}\n{packages:?}\n{assumptions:#?}\n{unresolved:?}", text(&others, &world.problems))
}

/// The source of a jar that is edited.
#[derive(Clone)]
struct Source {
    manifest: &'static str,
    descriptor: Option<Vec<u8>>,
    names: Vec<&'static str>,
    content: u8,
}

const NAMES: [&str; 6] =
    ["p/A.class", "in/I.class", "out/O.class", "java/util/List.class", "java/none/N.class", "user/U.class"];
const MANIFESTS: [&str; 3] = ["", "Sealed: true\r\n", "Automatic-Module-Name: x.y\r\n"];

impl Source {
    fn bytes(&self) -> Vec<u8> {
        let descriptor = self.descriptor.iter().map(|it| ("module-info.class", it.clone()));
        let classes = self.names.iter().map(|it| (*it, vec![self.content; 9]));
        jar(self.manifest, &descriptor.chain(classes).collect::<Vec<_>>())
    }

    fn edit(&mut self, rng: &mut Rng) {
        match rng.below(6) {
            0 => self.manifest = rng.pick(&MANIFESTS).unwrap(),
            1 => {
                let all = [None, Some(descriptor("mod")), Some(descriptor("friend")), Some(vec![7; 9])];
                self.descriptor = rng.pick(&all).unwrap().clone();
            }
            2 => {
                let name = *rng.pick(&NAMES).unwrap();
                match self.names.iter().position(|it| *it == name) {
                    Some(it) => drop(self.names.remove(it)),
                    None => self.names.push(name),
                }
            }
            // Most edits change only the content.
            _ => self.content = self.content.wrapping_add(1),
        }
    }
}

#[test]
fn each_world_of_a_sequence_is_settled_as_if_it_were_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(dir.path()).unwrap();
    let path = |number: usize| root.join(format!("j{number}.jar"));
    let jdk = jdks()
        .into_iter()
        .next()
        .map_or(JdkChoice::None, |it| JdkChoice::At(Utf8PathBuf::from_path_buf(it).unwrap()));
    let spec = WorldSpec {
        inputs: vec![path(0)],
        class_path: vec![path(1)],
        module_path: vec![path(2), path(3)],
        jdk,
        release: None,
    };
    let mut rng = Rng::new(1);
    let source = Source { manifest: "", descriptor: None, names: NAMES[..3].to_vec(), content: 0 };
    let mut sources = vec![source; 4];
    let mut settler = Settler::default();
    let (mut trust_sealed, mut exports) = (false, &["java.base/sun.nio.ch", "none/p"][..]);
    let mut seen = std::collections::BTreeSet::new();
    for step in 0..tier::rounds(40, 150) {
        match rng.below(12) {
            0 => trust_sealed = !trust_sealed,
            1 => exports = if exports.is_empty() { &["java.base/sun.nio.ch"] } else { &[] },
            2 => sources.swap(0, 2),
            it => sources[it as usize % 4].edit(&mut rng),
        }
        for (number, it) in sources.iter().enumerate() {
            std::fs::write(path(number), it.bytes()).unwrap();
        }
        let settings = settings(trust_sealed, exports);
        let (mut one, mut other) = (load(&spec).unwrap(), load(&spec).unwrap());
        let fresh = settle(&mut one, &settings).unwrap();
        let closing = settler.settle(&mut other, &settings).unwrap();
        let (want, got) = (all(&one, &fresh), all(&other, &closing));
        assert_eq!(got, want, "step {step}");
        seen.insert(want);
    }
    assert!(seen.len() > tier::rounds(16, 60), "{} worlds", seen.len());
}

#[test]
fn containers_that_stay_are_shared_when_another_one_changes() {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(dir.path().canonicalize().unwrap()).unwrap();
    let write = |name: &str, content: &[u8]| {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    write("in/p/A.class", b"one");
    write("in/p/B.class", b"one");
    write("a.jar", &jar("", &[("module-info.class", descriptor("mod"))]));
    write("b.jar", &jar("", &[("module-info.class", descriptor("mod")), ("in/I.class", b"i".to_vec())]));
    // The JVM does not find this class, because its package belongs to a module.
    write("c.jar", &zip(&[("m/M.class", b"m"), ("n/N.class", b"n")]));
    write("d.jar", &jar("Automatic-Module-Name: d\r\n", &[("m/M.class", b"m".to_vec())]));
    let spec = WorldSpec {
        inputs: vec![root.join("in")],
        class_path: vec![root.join("c.jar")],
        module_path: ["a.jar", "b.jar", "d.jar"].map(|it| root.join(it)).to_vec(),
        jdk: JdkChoice::None,
        release: None,
    };
    let (mut watch, mut world) = Watch::new(spec, vec![], WatchOptions::default()).unwrap();
    let mut settler = Settler::default();
    let settings = settings(false, &[]);
    settler.settle(&mut world, &settings).unwrap();
    let counts = |it: &LoadedWorld| it.containers.iter().map(|it| it.classes.len()).collect::<Vec<_>>();
    assert_eq!(counts(&world), [2, 1, 1, 0, 1], "c.jar lost a class, b.jar all");
    let mut next = |name: &str, content: &[u8], before: &LoadedWorld| -> LoadedWorld {
        write(name, content);
        let cycle = watch.next(Some(Instant::now() + Duration::from_secs(60))).unwrap();
        let mut world = cycle.expect("something changed").world;
        settler.settle(&mut world, &settings).unwrap();
        let shared = world.containers.iter().zip(&before.containers).map(|it| Arc::ptr_eq(it.0, it.1));
        assert_eq!(shared.collect::<Vec<_>>(), [false, true, true, true, true], "{name}");
        world
    };
    let changes =
        |now: &LoadedWorld, before: &LoadedWorld| now.containers[0].changes_since(&before.containers[0]);
    let second = next("in/p/B.class", b"two", &world);
    let changed = vec![EntryPair { before: 1, now: 1 }];
    assert_eq!(changes(&second, &world), EntryChanges { changed, ..EntryChanges::default() });
    // A new name, so that everything is computed again.
    let third = next("in/p/AB.class", b"new", &second);
    assert_eq!(changes(&third, &second), EntryChanges { added: vec![1], ..EntryChanges::default() });
    assert!(changes(&third, &third).is_empty());
}

fn archive(members: &[(&str, &[u8])]) -> Arc<LoadedContainer> {
    list_archive("t", zip(members), 17).unwrap().0.remove(0)
}

#[test]
fn entries_of_archives_are_compared_by_what_is_stored() {
    let members: Vec<(String, Vec<u8>)> =
        (0..5000).map(|it| (format!("p/C{it}.class"), format!("class {it}").into_bytes())).collect();
    let mut now: Vec<(&str, &[u8])> = members.iter().map(|it| (&*it.0, &*it.1)).collect();
    let before = archive(&now);
    assert!(archive(&now).changes_since(&before).is_empty());
    now[17].1 = b"class XX";
    let changes = archive(&now).changes_since(&before);
    assert_eq!(changes.changed, [EntryPair { before: 17, now: 17 }]);
    assert!(changes.keeps_numbers() && !changes.is_empty());
    now.remove(100);
    now.insert(200, ("p/New.class", b"new"));
    now.swap(300, 301);
    let changes = archive(&now).changes_since(&before);
    let expected = EntryChanges {
        added: vec![200],
        removed: vec![100],
        changed: vec![EntryPair { before: 17, now: 17 }],
        is_reordered: true,
    };
    assert_eq!(changes, expected);
}
