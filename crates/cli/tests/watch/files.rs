//! However files change, the answer becomes that of a fresh process. Each test runs with notifications of the system
//! and with polling.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use test_utils::asm::assemble;
use test_utils::jar::jar;
use test_utils::jdk;
use test_utils::tier;

use crate::{Watching, folder, programs, put, text};

/// A folder with the inputs of a process, and the way in which the process learns of changes.
struct Ground {
    root: tempfile::TempDir,
    polls: bool,
}

fn both(test: impl Fn(&Ground)) {
    for polls in [false, true] {
        test(&Ground { root: folder(), polls });
    }
}

impl Ground {
    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a file in place, as compilers do.
    fn write(&self, name: &str, data: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, data).unwrap();
    }

    /// Writes a new file and renames it, as careful tools do.
    fn move_over(&self, name: &str, data: &[u8]) {
        put(&self.path(name), data);
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    #[cfg(unix)]
    fn link(&self, to: &str, from: &str) {
        let _ = fs::remove_file(self.path(from));
        std::os::unix::fs::symlink(to, self.path(from)).unwrap();
    }

    /// Watches what methods throw, started in the folder, without a JDK unless the arguments name one.
    fn watch(&self, arguments: &str) -> Followed<'_> {
        self.watch_answer("throws", arguments)
    }

    fn watch_answer(&self, answer: &str, arguments: &str) -> Followed<'_> {
        let mut arguments: Vec<String> =
            format!("{answer} {arguments}").split(' ').map(str::to_owned).collect();
        if !arguments.iter().any(|it| it == "--jdk") && !self.path("ajar.toml").exists() {
            arguments.extend(["--jdk", "none"].map(str::to_owned));
        }
        let mut with: Vec<&str> = if self.polls { vec!["--poll", "20"] } else { Vec::new() };
        with.extend(arguments.iter().map(String::as_str));
        let watching = Watching::start_in(self.root.path(), &with);
        Followed { ground: self, arguments, watching }
    }
}

/// A running `ajar watch`, whose output is followed.
struct Followed<'a> {
    ground: &'a Ground,
    arguments: Vec<String>,
    watching: Watching,
}

impl Followed<'_> {
    /// The answer of a fresh process.
    fn fresh(&self) -> BTreeMap<String, usize> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        Watching::start_in(self.ground.root.path(), &arguments).facts.clone()
    }

    /// Waits until the facts equal those of a fresh process; they must have been different before. Returns all cycles
    /// until then. Their number is not determined, because the writer may be delayed.
    #[track_caller]
    fn follows(&mut self) -> Vec<Value> {
        let fresh = self.fresh();
        assert_ne!(fresh, self.watching.facts, "nothing has changed");
        let mut cycles = Vec::new();
        while self.watching.facts != fresh {
            cycles.push(self.watching.cycle());
        }
        cycles
    }

    /// Waits until a problem is reported with this text for this place; all facts must stay the same.
    #[track_caller]
    fn keeps(&mut self, place: &str, said: &str) {
        let before = self.watching.facts.clone();
        loop {
            let cycle = self.watching.cycle();
            assert_eq!(self.watching.facts, before, "{cycle}");
            let problems = cycle["problems"].as_array().unwrap();
            assert_ne!(problems.len(), 0, "no problem is reported: {cycle}");
            let is_it = |it: &Value| {
                it["place"].as_str().unwrap().ends_with(place) && it["what"].as_str().unwrap().contains(said)
            };
            if problems.iter().any(is_it) {
                return;
            }
        }
    }

    /// Whether a method may throw this class.
    fn throws(&self, name: &str) -> bool {
        let thrown = format!("\"kind\":\"throws\",\"type\":\"{name}\"");
        self.watching.facts.keys().any(|it| it.contains(&thrown))
    }
}

/// The class file of this assembler text.
fn class(text: &str) -> Vec<u8> {
    let [it] = assemble(text).unwrap().try_into().unwrap();
    it.bytes
}

/// A program, `p/Main`, whose method calls one of the library.
fn main() -> Vec<u8> {
    class(".class public super p/Main\n.method public static m()V\ninvokestatic p/L.f()V\nreturn\n.end\n")
}

/// A library, `p/L`, that throws the given class, whose name must have two letters.
fn library(throws: &str) -> Vec<u8> {
    assert_eq!(throws.len(), 2);
    class(&format!(
        ".class public super p/L\n.method public static f()V\nnew p/{throws}\ndup\n\
         invokespecial p/{throws}.<init>()V\nathrow\n.end\n"
    ))
}

/// A jar with the library.
fn library_jar(throws: &str) -> Vec<u8> {
    jar("", &[("p/L.class", library(throws))])
}

#[test]
fn a_jar_that_replaces_another_one_is_read() {
    both(|it| {
        it.write("in/p/Main.class", &main());
        it.write("lib/x.jar", &library_jar("E1"));
        let mut followed = it.watch("in -cp lib/x.jar");
        it.move_over("lib/x.jar", &library_jar("E2"));
        let cycles = followed.follows();
        assert!(followed.throws("p/E2") && !followed.throws("p/E1"), "{:?}", followed.watching.facts);
        let last = cycles.last().unwrap();
        assert_eq!(last["reason"], "changed");
        assert_eq!(last["changed"], Value::from(vec!["lib/x.jar"]));
        assert_eq!(last["classes_read"], 1, "the other is kept: {last}");
        it.move_over("lib/x.jar", &library_jar("E3"));
        followed.follows();
    });
}

#[test]
fn a_deleted_file_keeps_its_last_state_until_it_is_created_again() {
    both(|it| {
        it.write("in/p/Main.class", &main());
        it.write("lib/x.jar", &library_jar("E1"));
        let mut followed = it.watch("in -cp lib/x.jar");
        fs::remove_file(it.path("lib/x.jar")).unwrap();
        followed.keeps("lib/x.jar", "the last good state of this file or folder is kept");
        // Other changes happen in the meantime.
        it.write("in/p/More.class", &class(&text_of_thrower("p/More", "p/E9")));
        while !followed.throws("p/E9") {
            followed.watching.cycle();
        }
        assert!(followed.throws("p/E1"));
        it.write("lib/x.jar", &library_jar("E2"));
        followed.follows();
        // Delete the file and write a new one immediately.
        fs::remove_file(it.path("lib/x.jar")).unwrap();
        it.write("lib/x.jar", &library_jar("E3"));
        followed.follows();
        it.rename("in", "away");
        followed.keeps("in", "cannot be opened");
        it.rename("away", "in");
        it.write("in/p/Main.class", &class(&text_of_thrower("p/Main", "p/E4")));
        followed.follows();
    });
}

/// The text of a class whose method throws.
fn text_of_thrower(name: &str, throws: &str) -> String {
    format!(
        ".class public super {name}\n.method public static g()V\nnew {throws}\ndup\n\
         invokespecial {throws}.<init>()V\nathrow\n.end\n"
    )
}

/// A new folder may get the inode number of the old one.
#[test]
fn a_folder_that_is_recreated_immediately_is_watched() {
    both(|it| {
        it.write("target/classes/p/L.class", &library("E0"));
        let mut followed = it.watch("target/classes");
        for round in 1..4 {
            fs::remove_dir_all(it.path("target")).unwrap();
            it.write("target/classes/p/L.class", &library(&format!("A{round}")));
            followed.follows();
            it.write("target/classes/p/L.class", &library(&format!("B{round}")));
            followed.follows();
        }
    });
}

#[test]
fn content_decides_and_not_size_or_time() {
    both(|it| {
        it.write("in/p/L.class", &library("E1"));
        it.write("lib/x.jar", &jar("", &[("q/L.class", class(&text_of_thrower("q/L", "p/F1")))]));
        let mut followed = it.watch("in lib/x.jar");
        let other_jar = jar("", &[("q/L.class", class(&text_of_thrower("q/L", "p/F2")))]);
        for (file, now) in [("in/p/L.class", library("E2")), ("lib/x.jar", other_jar)] {
            let before = fs::metadata(it.path(file)).unwrap();
            it.write(file, &now);
            let written = fs::File::options().write(true).open(it.path(file)).unwrap();
            written.set_modified(before.modified().unwrap()).unwrap();
            drop(written);
            let after = fs::metadata(it.path(file)).unwrap();
            assert_eq!(after.len(), before.len());
            assert_eq!(after.modified().unwrap(), before.modified().unwrap());
            followed.follows();
        }
        assert!(followed.throws("p/E2") && followed.throws("p/F2"));
    });
}

#[test]
fn equal_bytes_change_nothing() {
    both(|it| {
        it.write("in/p/Main.class", &main());
        it.write("in/p/L.class", &library("E1"));
        it.write("lib/x.jar", &library_jar("E1"));
        let mut followed = it.watch("in -cp lib/x.jar");
        it.write("in/p/Main.class", &main());
        it.move_over("lib/x.jar", &library_jar("E1"));
        it.move_over("in/p/L.class", &library("E2"));
        let cycles = followed.follows();
        let read: u64 = cycles.iter().map(|it| it["classes_read"].as_u64().unwrap()).sum();
        assert_eq!(read, 1, "{cycles:?}");
    });
}

#[cfg(unix)]
#[test]
fn links_are_followed_to_their_present_targets() {
    both(|it| {
        for version in ["v1", "v2"] {
            let name = version.to_uppercase();
            it.write(&format!("{version}/lib/x.jar"), &library_jar(&name));
            let other = class(&text_of_thrower("q/B", &format!("q/{name}")));
            it.write(&format!("{version}/classes/q/B.class"), &other);
        }
        it.link("v1", "current");
        it.link("current/lib/x.jar", "x.jar");
        fs::create_dir(it.path("in")).unwrap();
        it.link("../current/classes/q", "in/q");
        it.write("Main.class", &main());
        fs::create_dir(it.path("in/p")).unwrap();
        it.link("../../Main.class", "in/p/Main.class");
        let mut followed = it.watch("in -cp x.jar");
        assert!(followed.throws("p/V1") && followed.throws("q/V1"));
        // Replace the link atomically, like tools that switch versions.
        it.link("v2", "next");
        it.rename("next", "current");
        followed.follows();
        assert!(
            followed.throws("p/V2")
                && followed.throws("q/V2")
                && !followed.throws("p/V1")
                && !followed.throws("q/V1")
        );
        it.move_over("v2/lib/x.jar", &library_jar("V3"));
        followed.follows();
        it.write("v2/classes/q/B.class", &class(&text_of_thrower("q/B", "q/V3")));
        followed.follows();
        it.write("Main.class", &class(&text_of_thrower("p/Main", "p/V4")));
        followed.follows();
        // The former targets of the links do not matter any more.
        it.write("v1/classes/q/B.class", &class(&text_of_thrower("q/B", "q/V9")));
        it.link("v1", "unused");
        it.write("Main.class", &main());
        followed.follows();
        assert!(!followed.throws("q/V9"));
    });
}

#[test]
fn half_written_files_are_not_used() {
    both(|it| {
        it.write("in/p/Main.class", &main());
        it.write("lib/x.jar", &library_jar("E1"));
        let mut followed = it.watch("in -cp lib/x.jar");
        let whole = library_jar("E2");
        it.write("lib/x.jar", &whole[..whole.len() / 2]);
        followed.keeps("lib/x.jar", "the last good state of this file or folder is kept");
        it.write("lib/x.jar", &whole);
        followed.follows();
        // Overwrite from the start, while the jar's directory at the end is still the old one.
        let next = library_jar("E3");
        it.write("lib/x.jar", &[&next[..next.len() / 2], &whole[next.len() / 2..]].concat());
        followed.keeps("lib/x.jar", "do not agree");
        it.write("lib/x.jar", &next);
        followed.follows();
        let whole = class(&text_of_thrower("p/Main", "p/E4"));
        it.write("in/p/Main.class", &whole[..whole.len() / 2]);
        followed.keeps("in/p/Main.class", "the file may be half written");
        it.write("in/p/Main.class", &whole);
        followed.follows();
    });
}

#[test]
fn a_build_that_writes_many_files_is_read_as_a_whole() {
    both(|it| {
        let thrower =
            |at: usize, throws: &str| class(&text_of_thrower(&format!("p{}/C{at}", at % 7), throws));
        let build = |throws: &str| {
            for at in 0..200 {
                it.write(&format!("in/p{}/C{at}.class", at % 7), &thrower(at, throws));
            }
        };
        build("q/E1");
        let mut followed = it.watch("in");
        // Build in place, then from scratch.
        build("q/E2");
        followed.follows();
        fs::remove_dir_all(it.path("in")).unwrap();
        build("q/E3");
        let cycles = followed.follows();
        assert!(followed.throws("q/E3") && !followed.throws("q/E2"));
        let last = cycles.last().unwrap();
        assert_eq!(last["classes"], 200, "{last}");
    });
}

#[test]
fn jars_inside_jars_are_read_again() {
    both(|it| {
        let war = |throws: &str| {
            let inner = library_jar(throws);
            jar("", &[("WEB-INF/classes/p/Main.class", main()), ("WEB-INF/lib/x.jar", inner)])
        };
        it.write("app.war", &war("E1"));
        let mut followed = it.watch("app.war");
        assert!(followed.throws("p/E1"));
        it.move_over("app.war", &war("E2"));
        let cycles = followed.follows();
        assert_eq!(cycles.last().unwrap()["classes_read"], 1, "{cycles:?}");
        // The unpacked form, as servers keep it.
        fs::remove_file(it.path("app.war")).unwrap();
        it.write("app.war/WEB-INF/classes/p/Main.class", &main());
        it.write("app.war/WEB-INF/lib/x.jar", &library_jar("E3"));
        followed.follows();
        it.write("app.war/WEB-INF/lib/x.jar", &library_jar("E4"));
        followed.follows();
    });
}

#[test]
fn missing_inputs_are_read_when_they_appear() {
    both(|it| {
        it.write("in/p/Main.class", &main());
        it.write("app.jar", &jar("Class-Path: named/y.jar\n", &[]));
        let mut followed = it.watch("in app.jar -cp far/below/classes");
        it.write("far/below/classes/p/L.class", &library("E1"));
        followed.follows();
        assert!(followed.throws("p/E1"));
        it.write("named/y.jar", &jar("", &[("p/E1.class", class(".class public p/E1\n.super q/E2\n"))]));
        followed.follows();
        it.move_over("named/y.jar", &jar("", &[("p/E1.class", class(".class public p/E1\n.super q/E3\n"))]));
        followed.follows();
    });
}

#[test]
fn jars_are_added_to_and_removed_from_folders_of_jars() {
    both(|it| {
        it.write("in/p/Main.class", &main());
        it.write("lib/a-1.jar", &library_jar("E1"));
        fs::create_dir(it.path("modules")).unwrap();
        let mut followed = it.watch("in -cp lib/* --module-path modules");
        it.write("lib/a-2.jar", &library_jar("E2"));
        fs::remove_file(it.path("lib/a-1.jar")).unwrap();
        followed.follows();
        assert!(followed.throws("p/E2") && !followed.throws("p/E1"));
        it.write("lib/a-1.jar", &library_jar("E3"));
        followed.follows();
        assert!(followed.throws("p/E3"), "the first on the path counts");
        fs::remove_file(it.path("lib/a-1.jar")).unwrap();
        followed.follows();
        // No other container may have classes in a package of a module.
        it.write("in/p/Main.class", &class(&text_of_thrower("p/Main", "q/E7")));
        followed.follows();
        let arrives = class(".class public q/E7\n.super java/lang/Exception\n");
        it.write("modules/l.jar", &jar("", &[("q/E7.class", arrives)]));
        followed.follows();
        fs::remove_file(it.path("modules/l.jar")).unwrap();
        followed.follows();
    });
}

#[test]
fn a_project_that_another_one_replaces_is_followed() {
    both(|it| {
        it.write("work/project/target/classes/p/L.class", &library("E1"));
        it.write("other/project/target/classes/p/L.class", &library("E2"));
        let mut followed = it.watch("work/project/target/classes");
        it.rename("work", "away");
        it.rename("other", "work");
        followed.follows();
        it.write("away/project/target/classes/p/L.class", &library("E9"));
        it.write("work/project/target/classes/p/L.class", &library("E3"));
        followed.follows();
        it.rename("work", "third");
        it.rename("away", "work");
        followed.follows();
        assert!(followed.throws("p/E9"));
    });
}

#[test]
fn settings_files_that_are_created_changed_broken_or_deleted_are_followed() {
    both(|it| {
        it.write("in/p/Main.class", &main());
        it.write("one.jar", &library_jar("E1"));
        it.write("two.jar", &library_jar("E2"));
        let mut followed = it.watch("in --jdk none");
        it.write("ajar.toml", b"class-path = ['one.jar']\n");
        let cycles = followed.follows();
        assert!(followed.throws("p/E1"));
        assert_eq!(cycles.last().unwrap()["reason"], "settings", "{cycles:?}");
        it.move_over("ajar.toml", b"class-path = ['two.jar', 'one.jar']\n");
        followed.follows();
        // The containers that the settings name now are watched.
        it.move_over("two.jar", &library_jar("E3"));
        followed.follows();
        it.write("ajar.toml", b"class-pth = ['one.jar']\n");
        followed.keeps("watch", "`class-path`");
        it.move_over("two.jar", &library_jar("E4"));
        while !followed.throws("p/E4") {
            followed.watching.cycle();
        }
        it.write("ajar.toml", b"class-path = ['one.jar']\n");
        followed.follows();
        fs::remove_file(it.path("ajar.toml")).unwrap();
        followed.follows();
        assert!(!followed.throws("p/E1"));
    });
}

/// A JDK in the layout of Java 8 with the test's own class library.
fn old_jdk(it: &Ground, home: &str, throws: &str) {
    it.write(&format!("{home}/release"), b"JAVA_VERSION=\"1.8.0_402\"\n");
    it.write(&format!("{home}/jre/lib/rt.jar"), &library_jar(throws));
}

#[test]
fn a_jdk_that_changes_or_is_switched_is_followed() {
    both(|it| {
        it.write("in/p/Main.class", &main());
        old_jdk(it, "a", "E1");
        old_jdk(it, "b", "E2");
        it.write("ajar.toml", b"jdk = 'a'\n");
        let mut followed = it.watch("in");
        assert!(followed.throws("p/E1"));
        it.write("ajar.toml", b"jdk = 'b'\n");
        followed.follows();
        it.move_over("b/jre/lib/rt.jar", &library_jar("E3"));
        followed.follows();
        it.rename("b", "c");
        followed.keeps("b", "the last good state of this file or folder is kept");
        old_jdk(it, "b", "E4");
        followed.follows();
    });
}

/// Changes the target of the link to the JDK of a watched program.
#[cfg(unix)]
fn turn(it: &Ground, old: &str, new: &str, answer: &str) {
    it.link(old, "jdk");
    let mut followed = it.watch_answer(answer, "in --jdk jdk");
    it.link(new, "next");
    it.rename("next", "jdk");
    followed.follows();
}

#[cfg(unix)]
#[test]
fn a_link_to_a_jdk_may_change_its_target() {
    both(|it| {
        it.write("in/p/Main.class", &main());
        old_jdk(it, "a", "E1");
        old_jdk(it, "b", "E2");
        turn(it, "a", "b", "throws");
    });
    // With real JDKs, this takes twenty seconds.
    if !tier::is_full() {
        return;
    }
    let find = |version: u32| jdk::all().into_iter().find(|it| it.version == version);
    let (Some(old), Some(new)) = (find(17), find(25)) else {
        assert!(std::env::var_os("CI").is_none_or(|it| it != "true"), "CI has no JDK 17 and 25");
        eprintln!("skipped: no JDK 17 and 25");
        return;
    };
    let it = Ground { root: folder(), polls: false };
    // A method that is final in one of the JDKs and does not exist in the other.
    it.write(
        "in/p/Main.class",
        &class(
            ".class public super p/Main\n.method public static m(Ljava/lang/Thread;)V\naload_0\n\
             invokevirtual java/lang/Thread.threadId()J\npop2\nreturn\n.end\n",
        ),
    );
    turn(&it, text(&old.home), text(&new.home), "calls");
}

/// The kernel drops notifications when its queue is full; the changes behind them must be found by looking.
#[cfg(target_os = "linux")]
#[test]
fn changes_whose_notifications_the_kernel_drops_are_found() {
    let it = Ground { root: folder(), polls: false };
    it.write("in/p/Main.class", &main());
    it.write("in/p/L.class", &library("E1"));
    let mut followed = it.watch("in");
    let id = followed.watching.id().to_string();
    let signal = |it: &str| {
        let done = std::process::Command::new("kill").args([it, &id]).status().unwrap();
        assert!(done.success());
    };
    signal("-STOP");
    let state = || fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let end = std::time::Instant::now() + crate::PATIENCE;
    while !state().contains(") T ") {
        assert!(std::time::Instant::now() < end, "it does not stop");
        std::thread::yield_now();
    }
    let most: usize =
        fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap().trim().parse().unwrap();
    for at in 0..=most {
        // Alternate between two files, because equal notifications in a row are merged.
        fs::write(it.path(if at % 2 == 0 { "in/x" } else { "in/y" }), b"").unwrap();
    }
    it.write("in/p/L.class", &library("E2"));
    signal("-CONT");
    let cycles = followed.follows();
    assert_eq!(cycles.last().unwrap()["reason"], "rescan", "{cycles:?}");
    it.write("in/p/L.class", &library("E3"));
    followed.follows();
}

#[test]
fn single_class_files_are_watched() {
    both(|it| {
        it.write("Main.class", &main());
        it.write("L.class", &library("E1"));
        let mut followed = it.watch("Main.class L.class");
        it.write("L.class", &library("E2"));
        followed.follows();
        fs::remove_file(it.path("L.class")).unwrap();
        followed.keeps("L.class", "the last good state of this file or folder is kept");
        it.move_over("L.class", &library("E3"));
        followed.follows();
    });
}

#[test]
fn missing_classes_that_arrive_are_resolved() {
    both(|it| {
        let classes = programs(1..2);
        classes.iter().for_each(|(name, bytes)| it.move_over(&format!("in/{name}"), bytes));
        let mut followed = it.watch_answer("missing", "in");
        let before = followed.watching.facts.clone();
        for (name, bytes) in classes.iter().take(4) {
            fs::remove_file(it.path("in").join(name)).unwrap();
            followed.follows();
            it.move_over(&format!("in/{name}"), bytes);
            followed.follows();
            assert_eq!(followed.watching.facts, before, "{name}");
        }
    });
}

/// S18 of the reports on other tools, "change detection": a library is replaced, and a folder of classes is deleted
/// and created again.
#[test]
fn a_replaced_library_and_a_recreated_folder_are_followed() {
    both(|it| {
        let library: Vec<(String, Vec<u8>)> = programs(21..22);
        let members: Vec<(&str, Vec<u8>)> = library.iter().map(|it| (&*it.0, it.1.clone())).collect();
        let classes = programs(20..21);
        let build = || classes.iter().for_each(|(name, bytes)| it.write(&format!("classes/{name}"), bytes));
        build();
        it.move_over("lib/x.jar", &jar("", &members[..members.len() - 1]));
        let mut followed = it.watch_answer("calls", "classes -cp lib/x.jar");
        it.move_over("lib/x.jar", &jar("", &members));
        let cycles = followed.follows();
        assert_eq!(cycles.last().unwrap()["classes_read"], 1, "{cycles:?}");
        let before = followed.watching.facts.clone();

        it.rename("classes", "gone");
        followed.keeps("classes", "cannot be opened");
        build();
        fs::remove_file(it.path("classes").join(&classes[0].0)).unwrap();
        followed.follows();
        it.write(&format!("classes/{}", classes[0].0), &classes[0].1);
        followed.follows();
        assert_eq!(followed.watching.facts, before);
    });
}

#[test]
fn a_problem_that_returns_is_reported_again() {
    both(|it| {
        let of = |code: &str| {
            class(&format!(".class public super p/L\n.method public static f()V\n{code}\n.end\n"))
        };
        let (good, bad) = (of("return"), of(".bytes 0xff"));
        it.move_over("p/L.class", &good);
        let mut watch = it.watch(".");
        for _ in 0..2 {
            it.move_over("p/L.class", &bad);
            let problems: Vec<Value> = watch.follows().iter().map(|it| it["problems"].clone()).collect();
            assert!(problems.iter().any(|it| it.to_string().contains("L.class")), "{problems:?}");
            it.move_over("p/L.class", &good);
            watch.follows();
        }
    });
}
