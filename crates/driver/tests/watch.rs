//! Watching real files: after any change of files, the watched world equals the world that a new run would load. All
//! tests run both with events of the system and by polling.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use common::image::with_class;
use common::{End, Entry, ZipWriter, deflate, entry, text, zip};
use driver::container::{ClassEntry, LoadedContainer, Scratch};
use driver::jdk::JdkChoice;
use driver::watch::source::{EventSource, Signals, Untold};
use driver::watch::{Reason, Watch, WatchOptions, WorldChange};
use driver::world::{LoadedWorld, WorldSpec, load};

/// The time limit for a cycle, which is generous because the machine may be busy; on an idle machine, no test takes a
/// second.
const LONG: Duration = Duration::from_secs(60);

/// A folder for one test, and the watch on it.
struct Ground {
    _dir: tempfile::TempDir,
    root: Utf8PathBuf,
    polls: bool,
}

fn both(test: impl Fn(&Ground)) {
    for polls in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(dir.path().canonicalize().unwrap()).unwrap();
        test(&Ground { _dir: dir, root, polls });
    }
}

impl Ground {
    fn path(&self, name: &str) -> Utf8PathBuf {
        self.root.join(name)
    }

    fn write(&self, name: &str, data: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, data).unwrap();
    }

    /// Replaces a file by renaming, as careful build tools do.
    fn rename_over(&self, name: &str, data: &[u8]) {
        self.write("new.tmp", data);
        std::fs::rename(self.path("new.tmp"), self.path(name)).unwrap();
    }

    fn spec(&self, inputs: &[&str], class_path: &[&str]) -> WorldSpec {
        let paths = |it: &[&str]| it.iter().map(|it| self.path(it)).collect();
        WorldSpec {
            inputs: paths(inputs),
            class_path: paths(class_path),
            module_path: vec![],
            jdk: JdkChoice::None,
            release: None,
        }
    }

    /// Options with either events or polling. With events, all files are never examined at an interval, so a change
    /// without an event is not found.
    fn options(&self) -> WatchOptions {
        let poll = self.polls.then_some(Duration::from_millis(20));
        WatchOptions { poll, look: Duration::from_secs(100_000), ..WatchOptions::default() }
    }

    fn watch(&self, inputs: &[&str], class_path: &[&str]) -> Watched {
        Watched::new(self.spec(inputs, class_path), vec![], self.options())
    }
}

/// A watch, and the latest world that it returned.
struct Watched {
    watch: Watch,
    spec: WorldSpec,
    world: LoadedWorld,
}

impl Watched {
    fn new(spec: WorldSpec, more: Vec<Utf8PathBuf>, options: WatchOptions) -> Watched {
        let (watch, world) = Watch::new(spec.clone(), more, options).unwrap();
        Watched { watch, spec, world }
    }

    /// Returns the change of the next cycle.
    fn next(&mut self) -> WorldChange {
        let cycle = self.watch.next(Some(Instant::now() + LONG)).unwrap();
        let cycle = cycle.expect("something changed");
        self.world = cycle.world.clone();
        cycle
    }

    /// Waits until the world equals the world that a new run would load, and no last good state is kept. The worlds
    /// in between are valid, but their number is unknown, because the writer may be delayed.
    fn settled(&mut self) -> WorldChange {
        let end = Instant::now() + LONG;
        loop {
            let cycle = self.watch.next(Some(end)).unwrap();
            let cycle = cycle.unwrap_or_else(|| panic!("still\n{}", self.text()));
            self.world = cycle.world.clone();
            if cycle.kept.is_empty() && self.is_current() {
                return cycle;
            }
        }
    }

    /// Waits until all class files with their bytes equal those that a new run would load.
    fn whole(&mut self) {
        let all = |world: &LoadedWorld| -> Vec<(String, Vec<u8>)> {
            let read = |it: (&LoadedContainer, &ClassEntry)| {
                let bytes = it.0.bytes(it.1, &mut Scratch::new()).map(|it| it.bytes.to_vec());
                (it.0.display(it.1), bytes.unwrap_or_default())
            };
            world.classes().map(read).collect()
        };
        let end = Instant::now() + LONG;
        loop {
            let cycle = self.watch.next(Some(end)).unwrap().expect("something changed");
            self.world = cycle.world.clone();
            if cycle.kept.is_empty() && load(&self.spec).is_ok_and(|it| all(&it) == all(&self.world)) {
                return;
            }
        }
    }

    fn is_current(&self) -> bool {
        load(&self.spec).is_ok_and(|it| text(&it.containers, &it.problems) == self.text())
    }

    /// Waits until the last good state of some file is kept.
    fn kept(&mut self) -> Vec<String> {
        loop {
            let cycle = self.next();
            if !cycle.kept.is_empty() {
                return cycle.kept.iter().map(|it| format!("{}: {}", it.place, it.what)).collect();
            }
        }
    }

    fn text(&self) -> String {
        text(&self.world.containers, &self.world.problems)
    }

    fn has(&self, what: &str) -> bool {
        self.text().contains(what)
    }

    fn container(&self, name: &Utf8Path) -> Arc<LoadedContainer> {
        self.world.containers.iter().find(|it| it.name == *name).expect("the container is there").clone()
    }
}

#[test]
fn a_jar_that_another_one_is_moved_over_is_read_and_others_are_shared() {
    both(|it| {
        it.write("app.jar", &zip(&[("p/Main.class", b"main")]));
        it.write("lib/x.jar", &zip(&[("p/A.class", b"one")]));
        let mut watched = it.watch(&["app.jar"], &["lib/x.jar"]);
        let app = watched.container(&it.path("app.jar"));
        it.rename_over("lib/x.jar", &zip(&[("p/A.class", b"two"), ("p/B.class", b"new")]));
        let cycle = watched.settled();
        assert_eq!(cycle.reason, Reason::Changed);
        assert_eq!(cycle.changed, [it.path("lib/x.jar")]);
        assert!(!cycle.more_changed);
        assert!(watched.has("|p/B.class = new") && watched.has("|p/A.class = two"));
        assert!(Arc::ptr_eq(&app, &watched.container(&it.path("app.jar"))));
    });
}

#[test]
fn a_class_folder_that_vanishes_is_kept_and_a_new_one_is_taken() {
    both(|it| {
        it.write("target/classes/p/A.class", b"old");
        it.write("target/classes/p/B.class", b"old");
        let mut watched = it.watch(&["target/classes"], &[]);
        for round in 0..3 {
            let before = watched.container(&it.path("target/classes"));
            std::fs::remove_dir_all(it.path("target")).unwrap();
            let [kept] = watched.kept().try_into().unwrap();
            assert!(
                kept.starts_with(&format!("{}: cannot be opened: ", it.path("target/classes"))),
                "{kept}"
            );
            assert!(kept.ends_with("; the last good state of this file or folder is kept"), "{kept}");
            let removing = watched.container(&it.path("target/classes"));
            // The folder may have been examined while it was being emptied.
            assert!(removing.classes.len() <= before.classes.len());
            it.write("target/classes/p/A.class", format!("new {round}").as_bytes());
            it.write("target/classes/q/C.class", format!("new {round}").as_bytes());
            watched.settled();
            assert!(watched.has(&format!("|p/A.class = new {round}")) && !watched.has("B.class"));
            // Later changes in folders that were created again are seen, too.
            it.write("target/classes/q/C.class", b"again");
            watched.settled();
            assert!(watched.has("|q/C.class = again"));
        }
    });
}

/// The new folder may get the inode number of the old one.
#[test]
fn a_folder_that_is_immediately_created_again_is_watched() {
    both(|it| {
        it.write("target/classes/p/A.class", b"old");
        let mut watched = it.watch(&["target/classes"], &[]);
        for round in 0..10 {
            std::fs::remove_dir_all(it.path("target/classes")).unwrap();
            it.write("target/classes/p/A.class", format!("made {round}").as_bytes());
            watched.settled();
            it.write("target/classes/p/A.class", format!("written {round}").as_bytes());
            watched.settled();
        }
        assert!(watched.has("|p/A.class = written 9"));
    });
}

#[test]
fn content_matters_and_not_size_or_time() {
    both(|it| {
        it.write("in/A.class", b"one");
        it.write("x.jar", &zip(&[("p/A.class", b"one")]));
        let mut watched = it.watch(&["in"], &["x.jar"]);
        for (file, before, now) in [
            ("in/A.class", b"one".to_vec(), b"two".to_vec()),
            ("x.jar", zip(&[("p/A.class", b"one")]), zip(&[("p/A.class", b"two")])),
        ] {
            assert_eq!(before.len(), now.len());
            let time = std::fs::metadata(it.path(file)).unwrap().modified().unwrap();
            it.write(file, &now);
            let written = std::fs::File::options().write(true).open(it.path(file)).unwrap();
            written.set_modified(time).unwrap();
            drop(written);
            assert_eq!(std::fs::metadata(it.path(file)).unwrap().modified().unwrap(), time);
            watched.settled();
        }
        assert!(watched.has("|A.class = two") && watched.has("|p/A.class = two"));
    });
}

#[test]
fn equal_bytes_are_no_change() {
    both(|it| {
        let jar = zip(&[("p/A.class", b"one")]);
        it.write("x.jar", &jar);
        it.write("in/A.class", b"one");
        it.write("in/B.class", b"one");
        it.write("other/A.class", b"one");
        let mut watched = it.watch(&["in", "other"], &["x.jar"]);
        let [folder, lib] = ["in", "x.jar"].map(|name| watched.container(&it.path(name)));
        it.rename_over("x.jar", &jar);
        it.write("in/A.class", b"one");
        it.rename_over("in/B.class", b"one");
        it.write("other/A.class", b"two");
        watched.settled();
        assert!(watched.has("other\n  |A.class = two"));
        assert!(Arc::ptr_eq(&folder, &watched.container(&it.path("in"))));
        assert!(Arc::ptr_eq(&lib, &watched.container(&it.path("x.jar"))));
    });
}

#[cfg(unix)]
#[test]
fn links_are_followed_wherever_they_lead_now() {
    use std::os::unix::fs::symlink;
    both(|it| {
        for version in ["v1", "v2"] {
            it.write(&format!("{version}/lib/x.jar"), &zip(&[("p/A.class", version.as_bytes())]));
            it.write(&format!("{version}/classes/q/B.class"), version.as_bytes());
        }
        it.write("D.class", b"one");
        let link = |to: &str, from: &str| {
            let _ = std::fs::remove_file(it.path(from));
            symlink(to, it.path(from)).unwrap();
        };
        link("v1", "current");
        link("current/lib/x.jar", "x.jar");
        std::fs::create_dir(it.path("in")).unwrap();
        link("../current/classes", "in/linked");
        link("../D.class", "in/D.class");
        let mut watched = it.watch(&["in"], &["x.jar"]);
        assert!(watched.has("|p/A.class = v1") && watched.has("|linked/q/B.class = v1"));
        link("v2", "current");
        watched.settled();
        assert!(watched.has("|p/A.class = v2") && watched.has("|linked/q/B.class = v2"));
        it.rename_over("v2/lib/x.jar", &zip(&[("p/A.class", b"v3")]));
        it.write("v2/classes/q/B.class", b"v3");
        it.write("D.class", b"two");
        watched.settled();
        assert!(watched.has("|p/A.class = v3") && watched.has("|linked/q/B.class = v3"));
        assert!(watched.has("|D.class = two"));
    });
}

#[test]
fn an_incomplete_jar_is_not_accepted() {
    both(|it| {
        it.write("x.jar", &zip(&[("p/A.class", b"one")]));
        let mut watched = it.watch(&[], &["x.jar"]);
        let before = watched.container(&it.path("x.jar"));
        let whole = zip(&[("p/A.class", b"two"), ("p/B.class", &[7; 1000])]);
        it.write("x.jar", &whole[..whole.len() / 2]);
        let [kept] = watched.kept().try_into().unwrap();
        assert!(kept.contains("not a zip archive"), "{kept}");
        assert!(Arc::ptr_eq(&before, &watched.container(&it.path("x.jar"))));
        it.write("x.jar", &whole);
        watched.settled();
        assert!(watched.has("|p/A.class = two"));
    });
}

/// The end of a stored inner jar looks like the end of the outer one.
#[test]
fn a_jar_that_is_cut_off_after_an_inner_one_is_not_accepted() {
    both(|it| {
        let inner = zip(&[("p/A.class", b"inner")]);
        let mut writer = ZipWriter::default();
        writer.add(entry("BOOT-INF/classes/p/Main.class", b"main"));
        writer.add(Entry { method: 0, ..entry("BOOT-INF/lib/x.jar", &inner) });
        let half = writer.bytes.clone();
        let whole = writer.end(&End::default());
        it.write("boot.jar", &zip(&[("p/Main.class", b"before")]));
        let mut watched = it.watch(&["boot.jar"], &[]);
        it.write("boot.jar", &half);
        assert!(common::listing(half).contains("= inner"), "it can be read as an archive");
        let [kept] = watched.kept().try_into().unwrap();
        assert!(
            kept.contains("the file may be half written: only the last part of the file is an archive"),
            "{kept}"
        );
        assert!(watched.has("before"));
        it.write("boot.jar", &whole);
        watched.settled();
        assert!(watched.has("main") && watched.has("inner"));
    });
}

/// The jar is overwritten in place, from the start, with the same length: the directory at the end is the old one.
#[test]
fn a_jar_that_is_half_old_and_half_new_is_not_accepted() {
    both(|it| {
        let jar = |it: &[u8]| zip(&[("p/A.class", it), ("p/B.class", it)]);
        let (old, new) = (jar(b"old"), jar(b"new"));
        it.write("x.jar", &old);
        let mut watched = it.watch(&[], &["x.jar"]);
        let mixed = [&new[..old.len() / 2], &old[old.len() / 2..]].concat();
        it.write("x.jar", &mixed);
        let [kept] = watched.kept().try_into().unwrap();
        assert!(
            kept.contains(
                "the directory of the archive and the header of the entry `p/A.class` do not agree"
            ),
            "{kept}"
        );
        assert!(watched.has("|p/A.class = old"));
        it.write("x.jar", &new);
        watched.settled();
        assert!(watched.has("|p/A.class = new"));
    });
}

/// Compilers write class files in place.
#[test]
fn an_incomplete_class_file_is_not_accepted() {
    const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test-data/modules/");
    let [old, new] =
        ["probe/Probe.class", "friend/user/User.class"].map(|it| std::fs::read(format!("{DATA}{it}")));
    let (old, new) = (old.unwrap(), new.unwrap());
    both(|it| {
        it.write("in/A.class", &old);
        it.write("B.class", &old);
        let mut watched = it.watch(&["in", "B.class"], &[]);
        let content = |watched: &Watched, name: &str| {
            let place = it.path(name);
            let found = watched.world.classes().find(|it| it.0.display(it.1) == place);
            found
                .map(|(container, entry)| container.bytes(entry, &mut Scratch::new()).unwrap().bytes.to_vec())
        };
        let half = new.len() / 2;
        for (name, cuts) in
            [("in/A.class", &[half, 0, 3][..]), ("in/New.class", &[half, 0, 3]), ("B.class", &[half, 0, 3])]
        {
            let before = content(&watched, name);
            for &cut in cuts {
                it.write(name, &new[..cut]);
                let kept = watched.kept().join("");
                assert!(
                    kept.starts_with(&format!("{}: the file may be half written: ", it.path(name))),
                    "{kept}"
                );
                assert_eq!(content(&watched, name), before);
                it.write(name, &old);
                watched.whole();
                it.write(name, &new);
                watched.whole();
                assert_eq!(content(&watched, name).as_ref(), Some(&new));
                if let Some(before) = &before {
                    it.write(name, before);
                } else {
                    std::fs::remove_file(it.path(name)).unwrap();
                }
                watched.whole();
            }
        }
        // In the end the file is accepted as it is, and stays accepted when it is written again.
        for _ in 0..2 {
            it.write("in/A.class", &new[..10]);
            it.write("B.class", &[]);
            it.write("in/Other.class", &[]);
            watched.whole();
            std::fs::remove_file(it.path("in/Other.class")).unwrap();
            assert_eq!(watched.next().kept, []);
        }
        assert_eq!(content(&watched, "in/A.class").as_deref(), Some(&new[..10]));
        assert_eq!(content(&watched, "B.class").as_deref(), Some(&[][..]));
    });
}

/// A file that stays unchanged for long is accepted as complete, as by a new run.
#[test]
fn an_irregular_jar_is_accepted_in_the_end() {
    both(|it| {
        it.write("x.jar", &zip(&[("p/A.class", b"one")]));
        let mut watched = it.watch(&[], &["x.jar"]);
        let mut odd = zip(&[("p/A.class", b"two")]);
        odd.extend_from_slice(b"something behind the archive");
        it.write("x.jar", &odd);
        let [kept] = watched.kept().try_into().unwrap();
        assert!(kept.contains("there are bytes after the end of the archive"), "{kept}");
        watched.settled();
        assert!(watched.has("|p/A.class = two"));
    });
}

/// Tools that do not know the size of an entry in advance write a descriptor after its data.
#[test]
fn a_descriptor_after_the_data_of_an_entry_is_not_irregular() {
    both(|it| {
        let jar = |data: &[u8]| {
            let mut writer = ZipWriter::default();
            writer.add(Entry { flags: 8, crc: Some(0), ..entry("p/A.class", data) });
            let stored = deflate(data).len() as u32;
            let crc = crc32fast::hash(data);
            writer.bytes.extend_from_slice(b"PK\x07\x08");
            for it in [crc, stored, data.len() as u32] {
                writer.bytes.extend_from_slice(&it.to_le_bytes());
            }
            writer.directory[16..20].copy_from_slice(&crc.to_le_bytes());
            writer.end(&End::default())
        };
        it.write("x.jar", &jar(b"one"));
        let mut watched = it.watch(&[], &["x.jar"]);
        assert!(watched.has("= one\n"), "{}", watched.text());
        it.rename_over("x.jar", &jar(b"two"));
        assert_eq!(watched.next().kept, []);
        assert!(watched.has("= two\n"));
    });
}

#[test]
fn a_jar_that_vanishes_is_kept_until_it_comes_back() {
    both(|it| {
        it.write("x.jar", &zip(&[("p/A.class", b"one")]));
        it.write("in/A.class", b"one");
        let mut watched = it.watch(&["in"], &["x.jar"]);
        let before = watched.container(&it.path("x.jar"));
        std::fs::remove_file(it.path("x.jar")).unwrap();
        let [kept] = watched.kept().try_into().unwrap();
        assert!(kept.ends_with("; the last good state of this file or folder is kept"), "{kept}");
        // Other changes are handled meanwhile.
        it.write("in/A.class", b"two");
        assert_eq!(watched.next().kept.len(), 1);
        assert!(watched.has("|A.class = two"));
        assert!(Arc::ptr_eq(&before, &watched.container(&it.path("x.jar"))));
        it.write("x.jar", &zip(&[("p/A.class", b"one")]));
        watched.settled();
        assert!(Arc::ptr_eq(&before, &watched.container(&it.path("x.jar"))));
    });
}

#[test]
fn a_build_that_writes_many_files_is_one_cycle() {
    both(|it| {
        it.write("in/p/A.class", b"one");
        let mut watched = it.watch(&["in"], &[]);
        let begin = Instant::now();
        for number in 0..300 {
            it.write(&format!("in/p{}/C{number}.class", number % 7), b"new");
        }
        std::fs::remove_file(it.path("in/p/A.class")).unwrap();
        let cycle = watched.next();
        assert!(watched.is_current());
        assert_eq!(cycle.world.classes().count(), 300);
        assert!(cycle.first_event >= begin);
        assert!(watched.watch.next(Some(Instant::now() + Duration::from_millis(100))).unwrap().is_none());
    });
}

#[test]
fn jars_inside_jars_are_read_again() {
    both(|it| {
        let war = |it: &[u8]| {
            zip(&[
                ("WEB-INF/classes/p/Main.class", b"main"),
                ("WEB-INF/lib/x.jar", &zip(&[("p/A.class", it)])),
            ])
        };
        it.write("app.war", &war(b"one"));
        let mut watched = it.watch(&["app.war"], &[]);
        it.rename_over("app.war", &war(b"two"));
        watched.settled();
        assert!(watched.has("app.war!/WEB-INF/lib/x.jar\n  |p/A.class = two"));
    });
}

#[test]
fn what_was_missing_on_the_class_path_is_added_when_it_appears() {
    both(|it| {
        it.write("in/A.class", b"one");
        let manifest: &[u8] = b"Class-Path: lib/named.jar\r\n";
        it.write("app.jar", &zip(&[("META-INF/MANIFEST.MF", manifest)]));
        let mut watched = it.watch(&["in", "app.jar"], &["far/below/classes"]);
        assert!(
            watched.has("far/below/classes: the entry of the class path does not exist and is left out"),
            "{}",
            watched.text()
        );
        it.write("far/below/classes/q/B.class", b"new");
        watched.settled();
        assert!(watched.has("|q/B.class = new"));
        it.write("lib/named.jar", &zip(&[("n/C.class", b"new")]));
        watched.settled();
        assert!(watched.has("|n/C.class = new"));
    });
}

#[test]
fn jars_may_appear_in_and_vanish_from_a_folder_of_jars() {
    both(|it| {
        it.write("in/A.class", b"one");
        it.write("lib/a-1.jar", &zip(&[("p/A.class", b"one")]));
        let mut watched = it.watch(&["in"], &["lib/*"]);
        it.write("lib/a-2.jar", &zip(&[("p/A.class", b"two")]));
        std::fs::remove_file(it.path("lib/a-1.jar")).unwrap();
        watched.settled();
        assert!(watched.has("a-2.jar") && !watched.has("a-1.jar"));
        std::fs::remove_dir_all(it.path("lib")).unwrap();
        assert!(!watched.kept().is_empty());
        it.write("lib/a-3.jar", &zip(&[("p/A.class", b"three")]));
        watched.settled();
        assert!(watched.has("a-3.jar") && !watched.has("a-2.jar"));
    });
}

#[test]
fn a_project_that_is_replaced_by_moving_another_one_there_is_seen() {
    both(|it| {
        it.write("project/target/classes/A.class", b"one");
        it.write("other/target/classes/A.class", b"two");
        let mut watched = it.watch(&["project/target/classes"], &[]);
        std::fs::rename(it.path("project"), it.path("away")).unwrap();
        std::fs::rename(it.path("other"), it.path("project")).unwrap();
        watched.settled();
        assert!(watched.has("|A.class = two"));
        it.write("away/target/classes/A.class", b"no matter");
        it.write("project/target/classes/A.class", b"three");
        watched.settled();
        assert!(watched.has("|A.class = three"));
    });
}

#[test]
fn other_files_are_reported() {
    both(|it| {
        it.write("in/A.class", b"one");
        let more = ["sub/ajar.toml", "ajar.toml"].map(|name| it.path(name)).to_vec();
        it.write("ajar.toml", b"one");
        let mut watched = Watched::new(it.spec(&["in"], &[]), more, it.options());
        for step in 0..4 {
            match step {
                0 => it.rename_over("ajar.toml", b"two"),
                1 => it.write("sub/ajar.toml", b"new"),
                2 => std::fs::remove_file(it.path("sub/ajar.toml")).unwrap(),
                _ => it.write("ajar.toml", b"one"),
            }
            let cycle = watched.next();
            assert!(cycle.more_changed, "{step}");
            assert_eq!(cycle.changed, [""; 0]);
        }
        it.write("in/A.class", b"two");
        assert!(!watched.next().more_changed);
        watched.watch.set_files(vec![it.path("third.toml")]).unwrap();
        it.write("ajar.toml", b"no matter");
        it.write("third.toml", b"new");
        assert!(watched.next().more_changed);
    });
}

#[test]
fn another_world_shares_the_containers_that_stay() {
    both(|it| {
        it.write("in/A.class", b"one");
        it.write("x.jar", &zip(&[("p/A.class", b"one")]));
        it.write("y.jar", &zip(&[("p/B.class", b"one")]));
        let mut watched = it.watch(&["in"], &["x.jar"]);
        let before = watched.container(&it.path("x.jar"));
        assert!(watched.watch.set_spec(it.spec(&["missing"], &["x.jar"])).is_err());
        it.write("in/A.class", b"two");
        watched.settled();
        assert!(watched.has("|A.class = two"), "the previous world is still watched");
        watched.spec = it.spec(&["in"], &["y.jar", "x.jar"]);
        watched.world = watched.watch.set_spec(watched.spec.clone()).unwrap();
        assert!(watched.is_current());
        assert!(Arc::ptr_eq(&before, &watched.container(&it.path("x.jar"))));
        it.write("y.jar", &zip(&[("p/B.class", b"two")]));
        watched.settled();
        assert!(watched.has("|p/B.class = two"));
    });
}

/// Truncating a mapped file would kill the process.
#[test]
fn an_image_may_be_truncated() {
    both(|it| {
        it.write("jdk/lib/modules", &with_class(b"one"));
        it.write("jdk/release", b"JAVA_VERSION=\"17.0.1\"\n");
        it.write("in/A.class", b"one");
        let mut spec = it.spec(&["in"], &[]);
        spec.jdk = JdkChoice::At(it.path("jdk"));
        let mut watched = Watched::new(spec, vec![], it.options());
        assert!(watched.has("m/|p/A.class = one"), "{}", watched.text());
        std::fs::File::create(it.path("jdk/lib/modules")).unwrap();
        assert_eq!(watched.kept().len(), 1);
        assert!(watched.has("m/|p/A.class = one"));
        let whole = with_class(b"two");
        it.rename_over("jdk/lib/modules", &whole[..whole.len() - 1]);
        while !watched.kept().join("").contains("the image ends before its resources do") {}
        assert!(watched.has("m/|p/A.class = one"));
        it.rename_over("jdk/lib/modules", &whole);
        it.rename_over("jdk/release", b"JAVA_VERSION=\"21.0.1\"\n");
        watched.settled();
        assert!(watched.has("m/|p/A.class = two"));
        assert_eq!(watched.world.release, 21);
        std::fs::remove_dir_all(it.path("jdk")).unwrap();
        watched.kept();
        assert!(watched.has("m/|p/A.class = two"));
    });
}

#[test]
fn unpacked_archives_and_folders_of_modules_change_too() {
    both(|it| {
        it.write("war/WEB-INF/classes/p/A.class", b"one");
        it.write("modules/m/module-info.class", b"one");
        let mut spec = it.spec(&["war"], &[]);
        spec.module_path.push(it.path("modules"));
        let mut watched = Watched::new(spec, vec![], it.options());
        it.write("war/WEB-INF/classes/p/A.class", b"two");
        it.write("modules/m/module-info.class", b"two");
        watched.settled();
        it.write("war/WEB-INF/lib/x.jar", &zip(&[("p/B.class", b"new")]));
        it.write("modules/n.jar", &zip(&[("p/N.class", b"new")]));
        watched.settled();
        assert!(watched.has("|p/A.class = two") && watched.has("|p/B.class = new"));
        assert!(watched.has("|module-info.class = two") && watched.has("|p/N.class = new"));
        it.write("war/META-INF/services/p.S", b"p.A\n");
        it.write("war/WEB-INF/classes/META-INF/services/p.T", b"p.A\n");
        let services = |watched: &Watched| {
            let by = |it: &driver::declared::Declared| format!("{:?}", it.by);
            watched.world.declared.iter().map(by).collect::<Vec<_>>().join(" ")
        };
        while watched.world.declared.len() < 2 {
            watched.next();
        }
        assert_eq!(services(&watched), r#"Service("p.T") Service("p.S")"#);
        it.write("war/META-INF/services/p.S", b"p.A\np.B\n");
        watched.next();
        assert_eq!(services(&watched), r#"Service("p.T") Service("p.S") Service("p.S")"#);
    });
}

/// A source that sends no events by itself.
struct Silent;

impl EventSource for Silent {
    fn watch(&mut self, _folder: &std::path::Path, _deep: bool) -> Result<(), Untold> {
        Ok(())
    }

    fn unwatch(&mut self, _folder: &std::path::Path) {}
}

fn silent(it: &Ground, options: WatchOptions) -> (Watched, Signals) {
    let spec = it.spec(&["in"], &["x.jar"]);
    let source = |_| Ok(Some(Box::new(Silent) as Box<dyn EventSource>));
    let (watch, world) = Watch::with_source(spec.clone(), vec![], options, source).unwrap();
    let signals = watch.signals();
    (Watched { watch, spec, world }, signals)
}

fn silent_ground() -> Ground {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(dir.path().canonicalize().unwrap()).unwrap();
    let it = Ground { _dir: dir, root, polls: false };
    it.write("in/A.class", b"one");
    it.write("x.jar", &zip(&[("p/A.class", b"one")]));
    it
}

#[test]
fn after_lost_events_everything_is_examined() {
    let it = silent_ground();
    let (mut watched, signals) = silent(&it, it.options());
    let time = std::fs::metadata(it.path("in/A.class")).unwrap().modified().unwrap();
    it.write("in/A.class", b"two");
    std::fs::File::options().write(true).open(it.path("in/A.class")).unwrap().set_modified(time).unwrap();
    it.rename_over("x.jar", &zip(&[("p/A.class", b"two")]));
    signals.lost();
    assert_eq!(watched.settled().reason, Reason::Rescan);
    assert!(watched.has("|A.class = two") && watched.has("|p/A.class = two"));
}

/// If each change causes an event, only the files with events are examined; if events may be missing, the whole
/// folder.
#[cfg(target_os = "linux")]
#[test]
fn only_names_in_events_are_examined() {
    let it = silent_ground();
    for name in ["B", "C"] {
        it.write(&format!("in/p/{name}.class"), b"one");
    }
    let (mut watched, signals) = silent(&it, it.options());
    it.write("in/A.class", b"untold");
    it.write("in/p/B.class", b"two");
    signals.changed(vec![it.path("in/p/B.class").into()]);
    watched.next();
    assert!(watched.has("|p/B.class = two") && watched.has("|A.class = one"), "{}", watched.text());
    // A folder that has an event is examined with everything below it.
    it.write("in/p/q/D.class", b"new");
    it.write("in/p/C.class", b"two");
    signals.changed(vec![it.path("in/p").into()]);
    watched.next();
    assert!(watched.has("|p/q/D.class = new") && watched.has("|p/C.class = two"), "{}", watched.text());
    assert!(watched.has("|A.class = one"));
    signals.lost();
    watched.settled();
    assert!(watched.has("|A.class = untold"));
}

#[test]
fn changes_without_events_are_found_all_the_same() {
    let it = silent_ground();
    let (mut watched, _) =
        silent(&it, WatchOptions { look: Duration::from_millis(20), ..WatchOptions::default() });
    it.write("in/A.class", b"two");
    watched.settled();
    assert!(watched.has("|A.class = two"));
}

/// While events about some files arrive, all other files are still examined, only less often.
#[test]
fn changes_without_events_are_found_among_other_events() {
    let it = silent_ground();
    it.write("in/B.class", b"0");
    let options = WatchOptions { look: Duration::from_millis(200), ..WatchOptions::default() };
    let (mut watched, signals) = silent(&it, options);
    it.write("in/A.class", b"untold");
    let is_found = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut n = 0;
            while !is_found.load(Ordering::Relaxed) {
                n += 1;
                it.write("in/B.class", format!("{n}").as_bytes());
                signals.changed(vec![it.path("in/B.class").into()]);
                std::thread::sleep(Duration::from_millis(60));
            }
        });
        let begin = Instant::now();
        while !watched.has("|A.class = untold") && begin.elapsed() < LONG {
            watched.next();
        }
        is_found.store(true, Ordering::Relaxed);
    });
    assert!(watched.has("|A.class = untold"));
}

#[test]
fn events_about_unrelated_files_are_ignored() {
    let it = silent_ground();
    let (mut watched, signals) = silent(&it, it.options());
    it.write("in/notes.txt", b"new");
    it.write("build.log", b"new");
    signals.changed(vec![
        "/somewhere/else.jar".into(),
        it.path("in/notes.txt").into(),
        it.path("build.log").into(),
    ]);
    signals.stop();
    assert!(watched.watch.next(Some(Instant::now() + LONG)).unwrap().is_none());
    it.write("in/B.class", b"new");
    signals.changed(vec![it.path("in/B.class").into()]);
    watched.settled();
    assert!(watched.has("|B.class = new"));
}

/// A source that runs a hook when it is asked to watch the folder `in/new`.
struct Hooked<F>(F);

impl<F: FnMut() + Send> EventSource for Hooked<F> {
    fn watch(&mut self, folder: &std::path::Path, _deep: bool) -> Result<(), Untold> {
        if folder.ends_with("in/new") {
            (self.0)();
        }
        Ok(())
    }

    fn unwatch(&mut self, _folder: &std::path::Path) {}
}

fn hooked(it: &Ground, hook: impl Fn(&Signals) + Send + 'static) -> Watched {
    let spec = it.spec(&["in"], &[]);
    let source = |signals| Ok(Some(Box::new(Hooked(move || hook(&signals))) as Box<dyn EventSource>));
    let (watch, world) = Watch::with_source(spec.clone(), vec![], it.options(), source).unwrap();
    Watched { watch, spec, world }
}

#[test]
fn folders_are_watched_before_they_are_listed() {
    let it = silent_ground();
    let late = it.path("in/new/Late.class");
    let mut watched = hooked(&it, move |_| std::fs::write(&late, b"late").unwrap());
    std::fs::create_dir(it.path("in/new")).unwrap();
    watched.watch.signals().changed(vec![it.path("in/new").into()]);
    watched.next();
    assert!(watched.has("|new/Late.class = late"));
}

#[test]
fn what_is_written_during_loading_belongs_to_the_same_cycle() {
    let it = silent_ground();
    let late = it.path("in/Late.class");
    let mut watched = hooked(&it, move |signals| {
        std::fs::write(&late, b"late").unwrap();
        signals.changed(vec![late.clone().into()]);
    });
    it.write("in/new/B.class", b"new");
    watched.watch.signals().changed(vec![it.path("in/new").into()]);
    watched.next();
    assert!(watched.has("|Late.class = late") && watched.has("|new/B.class = new"));
}

#[test]
fn long_writing_is_reported_and_no_world_is_returned_meanwhile() {
    for poll in [None, Some(Duration::from_millis(20))] {
        writing_for_long(poll);
    }
}

fn writing_for_long(poll: Option<Duration>) {
    let it = silent_ground();
    let said = Arc::new(AtomicBool::new(false));
    let heard = said.clone();
    let on_writing: Box<dyn FnMut(Duration) + Send> = Box::new(move |_| heard.store(true, Ordering::SeqCst));
    // Longer than the writer can be delayed.
    let options =
        WatchOptions { poll, settle: Duration::from_secs(3), on_writing: Some(on_writing), ..it.options() };
    let (mut watched, signals) = silent(&it, options);
    let tell = || {
        if poll.is_none() {
            signals.changed(vec![it.path("in/A.class").into()]);
        }
    };
    let end = Instant::now() + LONG;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !said.load(Ordering::SeqCst) && Instant::now() < end {
                number += 1;
                it.write("in/A.class", format!("{number}").as_bytes());
                tell();
                std::thread::sleep(Duration::from_millis(5));
            }
            it.write("in/A.class", b"done");
            tell();
        });
        watched.next();
    });
    assert!(said.load(Ordering::SeqCst));
    assert!(watched.has("|A.class = done"), "{}", watched.text());
}

/// A caller with its own loop waits in another thread.
#[test]
fn another_thread_may_watch() {
    fn is_send<T: Send>() {}
    is_send::<Watch>();
    is_send::<WorldChange>();
}

#[test]
fn stopping_ends_the_waiting() {
    let it = silent_ground();
    let (mut watched, signals) = silent(&it, it.options());
    std::thread::scope(|scope| {
        scope.spawn(|| signals.stop());
        assert!(watched.watch.next(None).unwrap().is_none());
    });
    assert!(watched.watch.next(Some(Instant::now())).unwrap().is_none());
}

#[test]
fn a_source_that_fails_is_replaced_by_polling() {
    let it = silent_ground();
    let spec = it.spec(&["in"], &[]);
    let (watch, world) = Watch::with_source(spec.clone(), vec![], WatchOptions::default(), |_| {
        Err("no more of them".to_owned())
    })
    .unwrap();
    assert_eq!(watch.untold(), Some("no more of them"));
    let mut watched = Watched { watch, spec, world };
    it.write("in/A.class", b"two");
    watched.settled();
    assert!(watched.has("|A.class = two"));
}

#[test]
fn what_is_missing_from_the_beginning_is_an_error() {
    both(|it| {
        let error = Watch::new(it.spec(&["missing"], &[]), vec![], it.options()).map(|_| ()).unwrap_err();
        assert!(format!("{error:#}").contains("missing: cannot be opened"), "{error:#}");
    });
}
