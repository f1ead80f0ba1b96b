//! Inputs on disk: folders, jars whose manifests name jars, and homes of JDKs.

mod common;

use camino::{Utf8Path, Utf8PathBuf};

use common::{text, zip};
use driver::jdk::JdkChoice;
use driver::world::{WorldSpec, load, split_class_path};

/// A folder with files for one test.
struct Folder {
    _dir: tempfile::TempDir,
    root: Utf8PathBuf,
}

fn folder(files: &[(&str, &[u8])]) -> Folder {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(dir.path().canonicalize().unwrap()).unwrap();
    for (name, data) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, data).unwrap();
    }
    Folder { _dir: dir, root }
}

impl Folder {
    fn spec(&self, inputs: &[&str], class_path: &[&str]) -> WorldSpec {
        let paths = |it: &[&str]| it.iter().map(|it| self.root.join(it)).collect();
        WorldSpec {
            inputs: paths(inputs),
            class_path: paths(class_path),
            module_path: vec![],
            jdk: JdkChoice::None,
            release: None,
        }
    }

    fn load(&self, spec: &WorldSpec) -> String {
        let text = match load(spec) {
            Ok(world) => {
                let jdk = world.jdk.map(|it| format!("{}\n", it.description())).unwrap_or_default();
                format!("{}{jdk}release {}\n", text(&world.containers, &world.problems), world.release)
            }
            Err(error) => format!("error: {error:#}\n"),
        };
        text.replace(self.root.as_str(), "ROOT")
    }
}

#[test]
fn folders_are_sorted_by_the_bytes_of_names() {
    let it = folder(&[
        ("in/p/a.class", b"1"),
        ("in/p/B.class", b"2"),
        ("in/p.q/C.class", b"3"),
        ("in/A.class", b"4"),
        ("in/A.CLASS", b"5"),
        ("in/lib.jar", b"6"),
        ("in/module-info.class", b"7"),
    ]);
    assert_eq!(
        it.load(&it.spec(&["in"], &[])),
        "app ROOT/in\n  |A.class = 4\n  |module-info.class = 7\n  |p.q/C.class = 3\n  |p/B.class = 2\n  |p/a.class = 1\n\
         release 25\n"
    );
}

#[test]
fn a_folder_without_classes_that_has_archives_is_reported() {
    let it = folder(&[("in/a.jar", b""), ("in/b.txt", b"")]);
    assert_eq!(
        it.load(&it.spec(&["in"], &[])),
        "app ROOT/in\n\
         warning: ROOT/in: the folder has no class files, and its archives are not opened; give ROOT/in/* to open them\n\
         release 25\n"
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_loops_end() {
    use std::os::unix::fs::symlink;
    let it = folder(&[("in/p/A.class", b"a"), ("out/q/B.class", b"b"), ("C.class", b"c")]);
    let link = |to: &str, from: &str| symlink(it.root.join(to), it.root.join(from)).unwrap();
    link("in", "in/p/loop");
    link("in/p", "in/a-link-sorted-first");
    link("out", "in/z");
    link("in", "out/q/back");
    link("C.class", "in/D.class");
    link("nowhere", "in/E.class");
    assert_eq!(
        it.load(&it.spec(&["in"], &[])),
        "app ROOT/in\n  |D.class = c\n  |p/A.class = a\n  |z/q/B.class = b\nrelease 25\n"
    );
}

#[cfg(unix)]
#[test]
fn of_many_links_to_a_folder_the_first_by_name_is_taken() {
    use std::os::unix::fs::symlink;
    let it = folder(&[("in/A.class", b"a"), ("out/q/B.class", b"b")]);
    for name in ["h", "c", "b", "g", "a", "f", "d", "e"] {
        symlink(it.root.join("out"), it.root.join("in").join(name)).unwrap();
    }
    assert_eq!(
        it.load(&it.spec(&["in"], &[])),
        "app ROOT/in\n  |A.class = a\n  |a/q/B.class = b\nrelease 25\n"
    );
}

#[test]
fn a_class_file_by_itself_has_no_path() {
    let it = folder(&[("p/A.class", b"\xca\xfe\xba\xbe."), ("noext", b"\xca\xfe\xba\xbe!")]);
    let world = load(&it.spec(&["p/A.class", "noext"], &[])).unwrap();
    assert_eq!(world.containers.len(), 2);
    for (container, name) in world.containers.iter().zip(["p/A.class", "noext"]) {
        assert!(!container.has_paths);
        assert_eq!(container.display(&container.classes[0]), it.root.join(name));
    }
}

#[test]
fn roles_and_order_follow_the_command_line() {
    let jar = |content: &[u8]| zip(&[("A.class", content)]);
    let it = folder(&[
        ("1.jar", &jar(b"1")),
        ("2.jar", &jar(b"2")),
        ("3.jar", &jar(b"3")),
        ("d/4.jar", &jar(b"4")),
    ]);
    let mut spec = it.spec(&["2.jar", "1.jar", "2.jar"], &["1.jar", "3.jar", "d/*"]);
    spec.release = Some(11);
    assert_eq!(
        it.load(&spec),
        "app ROOT/2.jar\n  |A.class = 2\napp ROOT/1.jar\n  |A.class = 1\nlib ROOT/3.jar\n  |A.class = 3\n\
         lib ROOT/d/4.jar\n  |A.class = 4\nrelease 11\n"
    );
    assert_eq!(
        split_class_path("a:b/*::c").iter().map(|it| it.as_str()).collect::<Vec<_>>(),
        ["a", "b/*", "c"]
    );
}

#[test]
fn jars_inside_plain_jars_come_after_the_class_path() {
    let inner = zip(&[("A.class", b"inner")]);
    let war = zip(&[("WEB-INF/lib/inner.jar", &inner)]);
    let it = folder(&[
        ("app.jar", &zip(&[("lib/inner.jar", &inner), ("B.class", b"b")])),
        ("app.war", &war),
        ("lib.jar", &zip(&[("A.class", b"lib")])),
    ]);
    assert_eq!(
        it.load(&it.spec(&["app.jar", "app.war"], &["lib.jar"])),
        "app ROOT/app.jar\n  |B.class = b\n\
         lib ROOT/app.war!/WEB-INF/lib/inner.jar\n  |A.class = inner\n\
         lib ROOT/lib.jar\n  |A.class = lib\n\
         lib ROOT/app.jar!/lib/inner.jar\n  |A.class = inner\nrelease 25\n"
    );
}

#[test]
fn jars_named_by_manifests_come_once_directly_after_the_jar_that_names_them() {
    let manifest =
        |class_path: &str| format!("Manifest-Version: 1.0\r\nClass-Path: {class_path}\r\n").into_bytes();
    let jar = |class_path: &str, content: &[u8]| {
        zip(&[("META-INF/MANIFEST.MF", &manifest(class_path)), ("A.class", content)])
    };
    let it = folder(&[
        ("app.jar", &jar("lib/one.jar mis\r\n sing.jar http://host/x.jar app.jar two.jar", b"app")),
        ("lib/one.jar", &jar("../app.jar ../classes/ deep%20er.jar", b"one")),
        ("lib/deep er.jar", &jar("", b"deeper")),
        ("classes/B.class", b"folder"),
        ("two.jar", &jar("broken.jar", b"two")),
        ("broken.jar", b"no zip"),
    ]);
    assert_eq!(
        it.load(&it.spec(&["app.jar", "two.jar"], &["classes"])),
        "app ROOT/app.jar\n  |A.class = app\n\
         lib ROOT/lib/one.jar\n  |A.class = one\n\
         lib ROOT/lib/../classes\n  |B.class = folder\n\
         lib ROOT/lib/deep er.jar\n  |A.class = deeper\n\
         app ROOT/two.jar\n  |A.class = two\n\
         note: ROOT/app.jar: the Class-Path in the manifest names `http://host/x.jar`, which is not a file; the entry is left out\n\
         note: ROOT/app.jar: an entry of the Class-Path in the manifest is left out, as by the JVM: \
         ROOT/missing.jar: cannot be opened: No such file or directory (os error 2)\n\
         note: ROOT/two.jar: an entry of the Class-Path in the manifest is left out, as by the JVM: \
         ROOT/broken.jar: the file is not a zip archive: the end record is missing (the file is cut off or of another kind)\n\
         release 25\n"
    );
}

/// As the JVM: an entry with a slash at its end is a folder, all others are archives; the folder before `..` need not
/// exist; and the entries are relative to the jar itself, not to a symbolic link.
#[cfg(unix)]
#[test]
fn entries_of_the_class_path_of_a_manifest_are_urls() {
    let manifest =
        "Manifest-Version: 1.0\nClass-Path: none/../lib.zip dir none/../dir/ lib.zip/\n".to_owned();
    let app = zip(&[("META-INF/MANIFEST.MF", manifest.as_bytes()), ("A.class", b"a")]);
    let it = folder(&[
        ("real/app.jar", &app),
        ("real/lib.zip", &zip(&[("L.class", b"l")])),
        ("real/dir/D.class", b"d"),
        ("lib.zip", &zip(&[("L.class", b"other")])),
    ]);
    std::os::unix::fs::symlink(it.root.join("real/app.jar"), it.root.join("app.jar")).unwrap();
    assert_eq!(
        it.load(&it.spec(&["app.jar"], &[])),
        "app ROOT/app.jar\n  |A.class = a\nlib ROOT/real/lib.zip\n  |L.class = l\nlib ROOT/real/dir\n  |D.class = d\n\
         note: ROOT/app.jar: an entry of the Class-Path in the manifest is left out, as by the JVM: \
         ROOT/real/dir: it is a folder, but the entry does not end in a slash\n\
         note: ROOT/app.jar: an entry of the Class-Path in the manifest is left out, as by the JVM: \
         ROOT/real/lib.zip: it is a file, but the entry ends in a slash\n\
         release 25\n"
    );
}

#[test]
fn unpacked_wars_have_roots_inside() {
    let lib = zip(&[("L.class", b"lib")]);
    let it = folder(&[
        ("war/WEB-INF/classes/p/A.class", b"a"),
        ("war/WEB-INF/lib/l.jar", &lib),
        ("war/WEB-INF/lib/bad.jar", b"bad"),
        ("war/applet/T.class", b"t"),
    ]);
    assert_eq!(
        it.load(&it.spec(&["war"], &[])),
        "app ROOT/war/WEB-INF/classes\n  |p/A.class = a\n\
         lib ROOT/war/WEB-INF/lib/l.jar\n  |L.class = lib\n\
         lib ROOT/war\n  |applet/T.class = t\n\
         error: ROOT/war/WEB-INF/lib/bad.jar: the file is not a zip archive: the end record is missing \
         (the file is cut off or of another kind); the classes of this file or folder are missing\n\
         release 25\n"
    );
}

/// As the loaders from Spring Boot 2.3 on: the libraries that the index lists come last, in its order.
#[test]
fn unpacked_spring_boot_archives_follow_their_index() {
    let lib = |content: &[u8]| zip(&[("L.class", content)]);
    let (a, b, c, d) = (lib(b"a"), lib(b"b"), lib(b"c"), lib(b"d"));
    let files = |index: &'static str, manifest: &'static [u8]| {
        let it = folder(&[
            ("app/BOOT-INF/classes/p/A.class", b"a"),
            ("app/BOOT-INF/lib/a.jar", &a),
            ("app/BOOT-INF/lib/b.jar", &b),
            ("app/BOOT-INF/lib/c/c.zip", &c),
            ("app/BOOT-INF/lib/d.jar", &d),
            (index, b"- \"BOOT-INF/lib/d.jar\"\n- \"BOOT-INF/lib/none.jar\"\n- \"BOOT-INF/lib/a.jar\"\n"),
            ("app/META-INF/MANIFEST.MF", manifest),
            ("app/Top.class", b"top"),
        ]);
        it.load(&it.spec(&["app"], &[]))
    };
    let expected = |order: [(&str, &str); 4]| {
        let libs = order
            .map(|(file, content)| format!("lib ROOT/app/BOOT-INF/lib/{file}\n  |L.class = {content}\n"));
        let libs = libs.concat();
        format!(
            "lib ROOT/app\n  |Top.class = top\napp ROOT/app/BOOT-INF/classes\n  |p/A.class = a\n{libs}release 25\n"
        )
    };
    let (a, b, c, d) = (("a.jar", "a"), ("b.jar", "b"), ("c/c.zip", "c"), ("d.jar", "d"));
    assert_eq!(files("app/BOOT-INF/classpath.idx", b""), expected([b, c, d, a]));
    assert_eq!(files("app/BOOT-INF/other.idx", b""), expected([a, b, c, d]));
    let manifest = b"Spring-Boot-Classpath-Index: BOOT-INF/other.idx\n";
    assert_eq!(files("app/BOOT-INF/other.idx", manifest), expected([b, c, d, a]));
}

#[test]
fn a_missing_input_is_an_error_and_a_missing_class_path_entry_is_a_problem() {
    let it = folder(&[("A.class", b"a"), ("text.jar", b"text")]);
    let missing = "cannot be opened: No such file or directory (os error 2)";
    assert_eq!(it.load(&it.spec(&["x.jar"], &[])), format!("error: ROOT/x.jar: {missing}\n"));
    assert!(
        it.load(&it.spec(&["text.jar"], &[]))
            .starts_with("error: ROOT/text.jar: the file is not a zip archive")
    );
    assert_eq!(
        it.load(&it.spec(&["A.class"], &["x.jar"])),
        format!(
            "app ROOT/A.class\n  |ROOT/A.class = a\n\
             warning: ROOT/x.jar: the entry of the class path does not exist and is left out, so its classes are missing\nrelease 25\n"
        )
    );
    // The entry exists, but cannot be opened.
    let text = it.load(&it.spec(&["A.class"], &["text.jar"]));
    assert!(text.contains("error: ROOT/text.jar: the entry of the class path is left out"), "{text}");
}

#[test]
fn homes_of_old_jdks_are_found_as_input_and_as_jdk() {
    let jar = |content: &[u8]| zip(&[("A.class", content)]);
    let it = folder(&[
        ("jdk8/jre/lib/rt.jar", &jar(b"rt")),
        ("jdk8/jre/lib/jce.jar", &jar(b"jce")),
        ("jdk8/jre/lib/ext/zipfs.jar", &jar(b"ext")),
        ("jdk8/release", b"JAVA_VERSION=\"1.8.0_402\"\n"),
        ("jre/lib/rt.jar", &jar(b"jre")),
        (
            "mods/jmods/java.base.jmod",
            &[b"JM\x01\x00".to_vec(), zip(&[("classes/A.class", b"jmod")])].concat(),
        ),
    ]);
    let mut spec = it.spec(&["jre"], &[]);
    spec.jdk = JdkChoice::At(it.root.join("jdk8"));
    assert_eq!(
        it.load(&spec),
        "app ROOT/jre/lib/rt.jar\n  |A.class = jre\n\
         jdk ROOT/jdk8/jre/lib/rt.jar\n  |A.class = rt\n\
         jdk ROOT/jdk8/jre/lib/jce.jar\n  |A.class = jce\n\
         jdk ROOT/jdk8/jre/lib/ext/zipfs.jar\n  |A.class = ext\n\
         JDK 1.8.0_402 at ROOT/jdk8, by --jdk\nrelease 8\n"
    );
    let mut spec = it.spec(&[], &[]);
    spec.jdk = JdkChoice::At(it.root.join("mods"));
    assert_eq!(
        it.load(&spec),
        "jdk ROOT/mods/jmods/java.base.jmod!/classes\n  classes/|A.class = jmod\n\
         JDK of unknown version at ROOT/mods, by --jdk\nrelease 25\n"
    );
    spec.jdk = JdkChoice::At(Utf8Path::new("/").join(it.root.join("jdk8/jre/lib")));
    assert_eq!(
        it.load(&spec),
        "error: ROOT/jdk8/jre/lib: not a JDK: it has neither lib/modules nor lib/rt.jar nor jmods; \
         give the home of a JDK, an image or `none`\n"
    );
}
