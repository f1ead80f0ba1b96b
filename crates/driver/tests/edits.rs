//! Random edits of a watched folder: after any edits of files and folders, the watched world equals the world that a
//! new run would load. The watch uses only events, and does not examine all files at intervals unless it polls.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;

use driver::container::{ClassEntry, LoadedContainer, Scratch};
use driver::jdk::JdkChoice;
use driver::watch::{Watch, WatchOptions};
use driver::world::{LoadedWorld, WorldSpec, load};
use test_utils::rng::Rng;
use test_utils::tier;

/// The time limit for a cycle, which is generous because the machine may be busy.
const LONG: Duration = Duration::from_secs(60);

/// The kinds of edits, each of which the watcher treats differently.
const KINDS: [&str; 18] = [
    "write",
    "same size, same time",
    "touch",
    "move over",
    "append",
    "remove",
    "move file",
    "move folder",
    "move out and in",
    "remove folder",
    "make folder",
    "copy folder",
    "file for folder",
    "folder for file",
    "link",
    "other name",
    "odd name",
    "service",
];

/// The folders below the watched folder; some of them have a special meaning.
const FOLDERS: [&str; 9] =
    ["", "p", "p/q", "p/q/r", "s", "C0.class", "WEB-INF/classes/w", "META-INF/services", "META-INF/versions"];

struct Field {
    _dir: tempfile::TempDir,
    /// The watched folder, and a folder that is not watched.
    root: PathBuf,
    outside: PathBuf,
    rng: Rng,
    number: u32,
    done: BTreeMap<&'static str, usize>,
    /// The latest edits.
    last: String,
}

impl Field {
    fn new(seed: u64) -> Field {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (root, outside) = (base.join("in"), base.join("outside"));
        let it = Field {
            _dir: dir,
            root,
            outside,
            rng: Rng::new(seed),
            number: 0,
            done: BTreeMap::new(),
            last: String::new(),
        };
        std::fs::create_dir(&it.root).unwrap();
        std::fs::create_dir(&it.outside).unwrap();
        for folder in ["", "p", "p/q", "p/q/r", "s", "META-INF/versions"] {
            for number in 0..8 {
                it.put(&it.root.join(folder).join(format!("C{number}.class")), "begin");
            }
        }
        it
    }

    fn put(&self, path: &Path, text: &str) {
        // Something that is not a folder may be in the way, and a link may lead to nowhere.
        let _ = std::fs::create_dir_all(path.parent().unwrap()).and_then(|()| std::fs::write(path, text));
    }

    fn text(&mut self) -> String {
        self.number += 1;
        format!("text {:06}", self.number)
    }

    /// Returns the path of a file that exists or could exist.
    fn file(&mut self) -> PathBuf {
        let number = self.rng.below(8);
        self.folder().join(format!("C{number}.class"))
    }

    fn folder(&mut self) -> PathBuf {
        let folder = self.rng.pick(&FOLDERS).unwrap();
        self.root.join(folder)
    }

    /// Returns one of the folders below the watched folder.
    fn inner(&mut self) -> PathBuf {
        loop {
            let it = self.folder();
            if it != self.root {
                return it;
            }
        }
    }

    /// Makes a few edits.
    fn edits(&mut self, kinds: &[&'static str]) {
        self.last.clear();
        for _ in 0..=self.rng.below(3) {
            let kind = *self.rng.pick(kinds).unwrap();
            self.edit(kind);
            if kind == "other name" {
                // If the other name is removed before the folder is examined, nothing tells that the file with two
                // names has changed.
                return;
            }
        }
    }

    /// Makes one edit. An edit that is impossible is skipped.
    fn edit(&mut self, kind: &'static str) {
        let (a, b, folder) = (self.file(), self.file(), self.inner());
        let text = self.text();
        if self.rng.chance(30) {
            // This ensures that there are always some files.
            self.put(&b, &text);
        }
        let done = match kind {
            "write" => {
                self.put(&a, &text);
                Ok(())
            }
            "same size, same time" => std::fs::metadata(&a).and_then(|it| {
                let time = it.modified()?;
                std::fs::write(&a, &text)?;
                std::fs::File::options().write(true).open(&a)?.set_modified(time)
            }),
            "touch" => std::fs::File::options()
                .write(true)
                .open(&a)
                .and_then(|it| it.set_modified(std::time::SystemTime::now())),
            "move over" => {
                let new = self.outside.join("new.tmp");
                self.put(&new, &text);
                std::fs::rename(new, &a)
            }
            "append" => std::fs::File::options().append(true).open(&a).and_then(|mut it| {
                use std::io::Write;
                it.write_all(b"+")
            }),
            "remove" => std::fs::remove_file(&a),
            "move file" => std::fs::rename(&a, &b),
            "move folder" => std::fs::rename(&folder, self.inner()),
            "move out and in" => {
                let away = self.outside.join("away");
                let _ = std::fs::remove_dir_all(&away);
                let moved = std::fs::rename(&folder, &away);
                // There are no events about the place from which the folder was moved, but it is written to all the
                // same.
                self.put(&away.join("C1.class"), &text);
                if self.rng.chance(70) {
                    let _ = std::fs::rename(&away, self.inner());
                }
                moved
            }
            "remove folder" => std::fs::remove_dir_all(&folder),
            "make folder" => std::fs::create_dir_all(folder.join("new").join("newer")),
            "copy folder" => {
                for number in 0..4 {
                    self.put(&folder.join(format!("copy/below/C{number}.class")), &text);
                }
                Ok(())
            }
            "file for folder" => {
                let _ = std::fs::remove_dir_all(&folder);
                std::fs::write(&folder, &text)
            }
            "folder for file" => {
                let _ = std::fs::remove_file(&a);
                self.put(&a.join("C2.class"), &text);
                Ok(())
            }
            "link" => {
                let to = if self.rng.chance(50) { &b } else { &folder };
                let _ = std::fs::remove_file(&a);
                symlink(to, &a)
            }
            "other name" => {
                let _ = std::fs::remove_file(&b);
                std::fs::hard_link(&a, &b).and_then(|()| std::fs::write(&b, &text))
            }
            "odd name" => {
                let odd = folder.join(std::ffi::OsStr::from_bytes(b"odd\xff.class"));
                match std::fs::remove_file(&odd) {
                    Ok(()) => Ok(()),
                    Err(_) => std::fs::write(odd, &text),
                }
            }
            "service" => {
                self.put(&self.root.join("META-INF/services/p.S"), &format!("p.A{}\n", self.number));
                Ok(())
            }
            it => panic!("{it}"),
        };
        if done.is_ok() {
            let below = |it: &Path| it.strip_prefix(&self.root).unwrap().display().to_string();
            self.last = format!("{} {kind} {} {} {}\n", self.last, below(&a), below(&b), below(&folder));
            *self.done.entry(kind).or_default() += 1;
        }
    }

    fn spec(&self) -> WorldSpec {
        WorldSpec {
            inputs: vec![Utf8PathBuf::from_path_buf(self.root.clone()).unwrap()],
            class_path: vec![],
            module_path: vec![],
            jdk: JdkChoice::None,
            release: None,
        }
    }
}

/// Returns the whole content of a world as text: classes in order with their bytes, declarations, and problems.
fn all(world: &LoadedWorld) -> String {
    let mut scratch = Scratch::new();
    let mut line = |(container, entry): (&LoadedContainer, &ClassEntry)| {
        let bytes = container.bytes(entry, &mut scratch);
        let text =
            bytes.map_or_else(|it| it.to_string(), |it| String::from_utf8_lossy(it.bytes).into_owned());
        format!("{} {} {text}\n", container.display(entry), entry.size)
    };
    let classes: String = world.classes().map(&mut line).collect();
    let frames = world.containers.iter().map(|it| format!("{} {:?} {:?}\n", it.name, it.role, it.loader));
    format!("{}{classes}{:?}\n{:?}", frames.collect::<String>(), world.declared, world.problems)
}

/// Takes the next worlds until one equals the world that a new run would load. Returns the number of worlds.
fn follow(watch: &mut Watch, world: &mut LoadedWorld, spec: &WorldSpec, what: &str) -> usize {
    let end = Instant::now() + LONG;
    let mut cycles = 0;
    loop {
        let fresh = load(spec).map(|it| all(&it)).unwrap();
        if fresh == all(world) {
            return cycles;
        }
        let cycle = watch.next(Some(end)).unwrap();
        let Some(cycle) = cycle else {
            let now = all(world);
            let without = |a: &str, b: &str| -> String {
                let lines: Vec<&str> = b.lines().collect();
                a.lines().filter(|it| !lines.contains(it)).map(|it| format!("{it}\n")).collect()
            };
            panic!("{what}: still\n{}and not\n{}", without(&now, &fresh), without(&fresh, &now));
        };
        // The difference of the containers must tell what changed, and nothing else.
        for now in &cycle.world.containers {
            if let Some(before) = world.containers.iter().find(|it| it.name == now.name) {
                check_changes(before, now);
            }
        }
        *world = cycle.world;
        cycles += 1;
    }
}

/// Compares the result of [`LoadedContainer::changes_since`] with all names and all bytes.
fn check_changes(before: &LoadedContainer, now: &LoadedContainer) {
    let mut scratch = Scratch::new();
    let mut content = |it: &LoadedContainer, number: usize| {
        let bytes = it.bytes(&it.classes[number], &mut scratch).map(|it| it.bytes.to_vec());
        bytes.map_err(|it| it.to_string())
    };
    let changes = now.changes_since(before);
    let names = |it: &LoadedContainer| -> Vec<String> {
        it.classes.iter().map(|it| it.member().to_owned()).collect()
    };
    let (old, new) = (names(before), names(now));
    let only = |of: &[String], not: &[String]| -> Vec<usize> {
        (0..of.len()).filter(|it| !not.contains(&of[*it])).collect()
    };
    assert_eq!((&changes.added, &changes.removed), (&only(&new, &old), &only(&old, &new)));
    let mut changed = Vec::new();
    for (number, name) in new.iter().enumerate() {
        let Some(other) = old.iter().position(|it| it == name) else { continue };
        if content(before, other) != content(now, number) {
            changed.push((other, number));
        }
    }
    let told: Vec<_> = changes.changed.iter().map(|it| (it.before, it.now)).collect();
    assert_eq!(told, changed);
}

fn options(poll: Option<Duration>) -> WatchOptions {
    let settle = Duration::from_millis(10);
    WatchOptions { poll, settle, look: Duration::from_secs(100_000), ..WatchOptions::default() }
}

fn edits(
    seed: u64,
    steps: usize,
    poll: Option<Duration>,
    kinds: &[&'static str],
) -> BTreeMap<&'static str, usize> {
    let mut field = Field::new(seed);
    let spec = field.spec();
    let (mut watch, mut world) = Watch::new(spec.clone(), vec![], options(poll)).unwrap();
    let mut cycles = 0;
    for step in 0..steps {
        field.edits(kinds);
        cycles +=
            follow(&mut watch, &mut world, &spec, &format!("seed {seed}, step {step}:\n{}", field.last));
    }
    assert!(cycles * 3 > steps, "seed {seed}: {cycles} cycles");
    field.done
}

/// The kinds that do not make a folder irregular, so that only names from events are examined.
fn regular() -> Vec<&'static str> {
    KINDS.into_iter().filter(|it| !["link", "other name", "odd name"].contains(it)).collect()
}

#[test]
fn after_random_edits_the_world_is_what_a_single_run_finds() {
    let mut done: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 1..=tier::rounds(2, 6) {
        let (some, all) = (edits(seed, 120, None, &regular()), edits(seed + 100, 60, None, &KINDS));
        for (kind, n) in some.into_iter().chain(all) {
            *done.entry(kind).or_default() += n;
        }
    }
    for kind in KINDS {
        assert!(done.get(kind).is_some_and(|it| *it > tier::rounds(1, 5)), "{kind}: {done:?}");
    }
}

#[test]
fn after_random_edits_polling_finds_the_same() {
    edits(21, 60, Some(Duration::from_millis(10)), &KINDS);
}

/// Files are edited while the watch examines them.
#[test]
fn after_edits_during_examination_the_world_is_what_a_single_run_finds() {
    for seed in 31..34 {
        let mut field = Field::new(seed);
        let spec = field.spec();
        let (mut watch, mut world) = Watch::new(spec.clone(), vec![], options(None)).unwrap();
        let mut kinds = if seed % 2 == 0 { KINDS.to_vec() } else { regular() };
        kinds.retain(|it| *it != "other name");
        for burst in 0..6 {
            field.last.clear();
            std::thread::scope(|scope| {
                let writer = scope.spawn(|| {
                    for _ in 0..60 {
                        let kind = *field.rng.pick(&kinds).unwrap();
                        field.edit(kind);
                        std::thread::sleep(Duration::from_micros(u64::from(field.rng.below(4000))));
                    }
                });
                while !writer.is_finished() {
                    let soon = Instant::now() + Duration::from_millis(15);
                    if let Some(it) = watch.next(Some(soon)).unwrap() {
                        world = it.world;
                    }
                }
            });
            follow(&mut watch, &mut world, &spec, &format!("seed {seed}, burst {burst}:\n{}", field.last));
        }
    }
}
