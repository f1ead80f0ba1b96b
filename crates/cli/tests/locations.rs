//! Which definition of a class counts: class paths and archives of our own making are loaded by a JVM and read by ajar,
//! and both must take the same definitions. For Spring Boot archives, the table `test-data/locations/boot.tsv` records
//! what the loaders of Spring Boot do.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use test_utils::jar::jar;
use test_utils::{jdk, tier};

/// A definition of a class that has a number from 0 to 15. For each bit, it has a method that raises an exception if the
/// bit is set; so the answers about the methods that call them name the definition.
fn definition(class: &str, number: usize) -> Vec<u8> {
    let mut text = format!(".class public super {class}\n.version 52.0\n");
    for bit in 0..4 {
        let raise = if number >> bit & 1 == 1 { " iconst_1\n iconst_0\n idiv\n pop\n" } else { "" };
        text += &format!(".method public static b{bit}()V\n{raise} return\n.end\n");
    }
    test_utils::asm::assemble(&text).unwrap().remove(0).bytes
}

/// A class whose methods `cNbB` call the method `bB` of the class with the number N in `classes`.
fn start(classes: &[&str]) -> Vec<u8> {
    let mut text = ".class public super Start\n.version 52.0\n".to_owned();
    for (number, class) in classes.iter().enumerate() {
        for bit in 0..4 {
            text += &format!(
                ".method public static c{number}b{bit}()V\n invokestatic {class}.b{bit}()V\n return\n.end\n"
            );
        }
    }
    test_utils::asm::assemble(&text).unwrap().remove(0).bytes
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/locations")
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// The definitions that ajar takes, for each of `classes`: the number, or `absent`. `arguments` are the inputs, among them
/// the class `Start`.
fn read(arguments: &[&str], folder: &Path, classes: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.current_dir(folder).env_clear().args(["throws", "-m", "Start", "--output-format", "json"]);
    let out = command.args(["--jdk", "none", "--threads", "1", "--quiet"]).args(arguments).output().unwrap();
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    let value: Value = serde_json::from_slice(&out.stdout).unwrap();
    let methods = value["methods"].as_array().unwrap().iter();
    let by_name: BTreeMap<&str, &Value> = methods.map(|it| (it["method"].as_str().unwrap(), it)).collect();
    let definition = |number: usize| {
        let mut found = 0;
        for bit in 0..4 {
            let it = by_name[format!("Start.c{number}b{bit}()V").as_str()];
            if !it["open"].is_null() {
                return "absent".to_owned();
            }
            found |= usize::from(!it["throws"].as_array().unwrap().is_empty()) << bit;
        }
        found.to_string()
    };
    (0..classes.len()).map(definition).collect()
}

/// The definitions that a JVM takes, for each of `classes`: the number, or `absent`. The class path is that of the JVM.
fn loaded(java: &Path, folder: &Path, class_path: &[&str], classes: &[&str]) -> Vec<String> {
    let all = class_path.iter().map(PathBuf::from).chain([data().canonicalize().unwrap()]);
    let path = std::env::join_paths(all).unwrap();
    let mut command = Command::new(java);
    command.args(["-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp"]).arg(path).arg("Locations");
    let names = classes.iter().map(|it| it.replace('/', "."));
    let out = command.args(names).current_dir(folder).output().unwrap();
    let answers = answers(&out.stdout);
    assert_eq!(answers.len(), classes.len(), "{class_path:?}: {}", String::from_utf8_lossy(&out.stderr));
    answers
}

/// Like [`loaded`], for many class paths in one process, in which a class loader reads each class path. `folders` are
/// the folders that the paths are relative to.
fn all_loaded(java: &Path, folders: &[&Path], class_paths: &[&[&str]], classes: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new(java);
    command.args(["-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp"]).arg(data()).arg("Locations");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let names = classes.iter().map(|it| it.replace('/', ".")).collect::<Vec<_>>().join(" ");
    let mut lines = String::new();
    for (folder, class_path) in folders.iter().zip(class_paths) {
        let path = std::env::join_paths(class_path.iter().map(|it| folder.join(it))).unwrap();
        lines += &format!("{} {names}\n", path.to_str().unwrap());
    }
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()).unwrap());
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let answers = answers(&out.stdout);
    assert_eq!(answers.len(), classes.len() * class_paths.len());
    answers.chunks(classes.len()).map(<[String]>::to_vec).collect()
}

/// Reads the output of `Locations`.
fn answers(stdout: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stdout);
    let answers = text.lines().map(|it| it.split_once(' ').unwrap().1);
    answers.map(|it| if it.parse::<usize>().is_ok() { it } else { "absent" }.to_owned()).collect()
}

/// A class path: files with their contents, and the paths of the entries.
struct Case {
    name: String,
    files: Vec<(String, Vec<u8>)>,
    class_path: Vec<&'static str>,
}

/// The classes that the cases define.
const CLASSES: [&str; 5] = ["p/X", "p/Y", "p/sub/X", "X", "backup/p/X"];

fn case(name: impl Into<String>, class_path: &[&'static str], files: Vec<(&str, Vec<u8>)>) -> Case {
    let files = files.into_iter().map(|it| (it.0.to_owned(), it.1)).collect();
    Case { name: name.into(), files, class_path: class_path.to_vec() }
}

/// An entry of a jar: its name, the class that it defines, and the number of the definition.
type Defined = (&'static str, &'static str, usize);

fn classes_jar(manifest: &str, entries: &[Defined]) -> Vec<u8> {
    let entries: Vec<_> = entries.iter().map(|it| (it.0, definition(it.1, it.2))).collect();
    jar(manifest, &entries)
}

fn order_cases(all: &mut Vec<Case>) {
    let x = |number| definition("p/X", number);
    let in_jar = |number| classes_jar("", &[("p/X.class", "p/X", number)]);
    let both = |a: &str, b: &str| vec![(format!("{a}/p/X.class"), x(1)), (format!("{b}/p/X.class"), x(2))];
    let files = |it: Vec<(String, Vec<u8>)>, path: [&'static str; 2], name: &str| Case {
        name: name.to_owned(),
        files: it,
        class_path: path.to_vec(),
    };
    all.push(files(both("a", "b"), ["a", "b"], "two folders"));
    all.push(files(both("b", "a"), ["a", "b"], "two folders, the other way round"));
    all.push(case("two jars", &["b.jar", "a.jar"], vec![("a.jar", in_jar(1)), ("b.jar", in_jar(2))]));
    all.push(case("jar, folder", &["a.jar", "b"], vec![("a.jar", in_jar(1)), ("b/p/X.class", x(2))]));
    all.push(case("folder, jar", &["b", "a.jar"], vec![("a.jar", in_jar(1)), ("b/p/X.class", x(2))]));
    all.push(case(
        "the same jar twice",
        &["a.jar", "b.jar", "a.jar"],
        vec![("a.jar", in_jar(1)), ("b.jar", in_jar(2))],
    ));
    all.push(case("nothing there", &["none.jar", "none"], vec![]));
    all.push(case(
        "an empty jar first",
        &["e.jar", "a.jar"],
        vec![("e.jar", jar("", &[])), ("a.jar", in_jar(1))],
    ));
    let twice = [("p/X.class", "p/X", 3), ("p/Y.class", "p/Y", 4), ("p/X.class", "p/X", 5)];
    all.push(case("a name twice in a jar", &["a.jar"], vec![("a.jar", classes_jar("", &twice))]));
    all.push(case(
        "a jar of another extension",
        &["a.zip", "b.dat"],
        vec![("a.zip", in_jar(1)), ("b.dat", in_jar(2))],
    ));
    all.push(case("a folder with the name of a jar", &["a.jar"], vec![("a.jar/p/X.class", x(1))]));
}

fn misplaced_cases(all: &mut Vec<Case>) {
    // Another class at its right place, so that the file is not taken as a jar without classes.
    let right = ("p/Y.class", "p/Y", 7);
    let wrong: [(&str, &[Defined]); 12] = [
        ("backup", &[("backup/p/X.class", "p/X", 1)]),
        ("backup before", &[("backup/p/X.class", "p/X", 1), ("p/X.class", "p/X", 2)]),
        ("backup after", &[("p/X.class", "p/X", 2), ("p/backup/X.class", "p/X", 1)]),
        ("no folder", &[("X.class", "p/X", 1)]),
        ("a folder too much", &[("p/X.class", "X", 1)]),
        ("other case", &[("p/x.class", "p/X", 1), ("P/X.class", "p/X", 2)]),
        ("other name", &[("p/Z.class", "p/X", 1)]),
        ("a dot", &[("./p/X.class", "p/X", 1)]),
        (
            "twice the same, wrong first",
            &[("a/p/X.class", "p/X", 1), ("b/p/X.class", "p/X", 2), ("p/X.class", "p/X", 3)],
        ),
        ("a build folder", &[("target/classes/p/X.class", "p/X", 1)]),
        ("classes of a war", &[("inf/classes/p/X.class", "p/X", 1), ("inf/X.class", "X", 2)]),
        (
            "below a folder that looks like a class",
            &[("p/X.class/p/X.class", "p/X", 1), ("p/Z.class/X.class", "X", 2)],
        ),
    ];
    for (name, entries) in wrong {
        let entries: Vec<Defined> = [&[right], entries].concat();
        all.push(case(format!("{name}, jar"), &["a.jar"], vec![("a.jar", classes_jar("", &entries))]));
        let files = entries.iter().map(|it| (format!("a/{}", it.0), definition(it.1, it.2))).collect();
        all.push(Case { name: format!("{name}, folder"), files, class_path: vec!["a"] });
    }
    let folders = [("p/", "", 0), ("p/Y.class/", "", 0), ("p/X.class", "p/X", 1)];
    let entries: Vec<_> = folders
        .iter()
        .map(|it| (it.0, if it.1.is_empty() { vec![] } else { definition(it.1, it.2) }))
        .collect();
    all.push(case(
        "an entry for a folder with the name of a class",
        &["a.jar"],
        vec![("a.jar", jar("", &entries))],
    ));
    let slash = [("/p/X.class", "p/X", 1), right];
    all.push(case("a slash first", &["a.jar"], vec![("a.jar", classes_jar("", &slash))]));
    let second = vec![
        ("a.jar", classes_jar("", &[("b/p/X.class", "p/X", 1), right])),
        ("b.jar", classes_jar("", &[("p/X.class", "p/X", 2)])),
    ];
    all.push(case("wrong in the first jar, right in the second", &["a.jar", "b.jar"], second));
}

fn release_cases(all: &mut Vec<Case>) {
    let multi = "Multi-Release: true\n";
    let manifests = [
        "",
        "Multi-Release: false\n",
        "Multi-Release: TRUE\n",
        "Multi-Release:  true\n",
        "Multi-Release: tr\n ue\n",
        "Multi-Release: true \n",
    ];
    let mut add = |name: String, manifest: &str, versions: &[&str], base: bool| {
        let mut entries: Vec<_> =
            base.then(|| ("p/X.class".to_owned(), definition("p/X", 1))).into_iter().collect();
        for (number, version) in versions.iter().enumerate() {
            entries.push((format!("META-INF/versions/{version}/p/X.class"), definition("p/X", number + 2)));
        }
        let entries: Vec<_> = entries.iter().map(|it| (it.0.as_str(), it.1.clone())).collect();
        let files = vec![("a.jar".to_owned(), jar(manifest, &entries))];
        all.push(Case { name, files, class_path: vec!["a.jar"] });
    };
    for manifest in manifests {
        add(format!("versions with {manifest:?}"), manifest, &["9", "17"], true);
    }
    let lists: [&[&str]; 12] = [
        &["7"],
        &["8"],
        &["9"],
        &["7", "8"],
        &["9", "8"],
        &["8", "17"],
        &["17", "9"],
        &["18", "11"],
        &["25"],
        &["26"],
        &["09", "010"],
        &["x", "9x", "-9", "0"],
    ];
    for versions in lists {
        add(format!("versions {versions:?}"), multi, versions, true);
    }
    add("a class of a version only".to_owned(), multi, &["9"], false);
    add("a class of version 8 only".to_owned(), multi, &["8"], false);
    let folder = vec![
        ("a/META-INF/MANIFEST.MF", format!("Manifest-Version: 1.0\n{multi}").into_bytes()),
        ("a/META-INF/versions/9/p/X.class", definition("p/X", 2)),
        ("a/p/X.class", definition("p/X", 1)),
        ("a/p/Y.class", definition("p/Y", 1)),
    ];
    all.push(case("versions in a folder", &["a"], folder));
}

fn manifest_cases(all: &mut Vec<Case>) {
    let entries = [
        "lib/b.jar",
        "sub/../lib/b.jar",
        "./lib/b.jar",
        "lib//b.jar",
        "dir/",
        "dir",
        "dir/.",
        "lib/../dir/",
        "none/../dir/",
        "lib/b.jar/",
        "b.zip",
        "lib",
        "lib/*",
        "%6cib/b.jar",
        "lib%2fb.jar",
        "lib%2Fb.jar",
        "file:lib/b.jar",
        "lib/b.jar#x",
        "lib/b.jar;lib",
        "//host/lib/b.jar",
        "http://host/b.jar",
        "file:sub/../lib/b.jar",
        "lib/b+.jar",
        "lib/b.jar,dir/",
        "dir/..",
        ".",
        "./",
        "none.jar lib/b.jar",
        "lib/b.jar dir/",
        "dir/ lib/b.jar",
        "a.jar lib/b.jar",
        "c.jar dir/",
    ];
    for entry in entries {
        let manifest = format!("Class-Path: {entry}\n");
        let files = vec![
            ("a.jar", classes_jar(&manifest, &[("X.class", "X", 1)])),
            ("lib/b.jar", classes_jar("", &[("p/X.class", "p/X", 2)])),
            ("b.zip", classes_jar("", &[("p/X.class", "p/X", 3)])),
            ("dir/p/X.class", definition("p/X", 4)),
            ("p/X.class", definition("p/X", 5)),
            ("c.jar", classes_jar("Class-Path: lib/b.jar\n", &[("p/Y.class", "p/Y", 6)])),
            ("last.jar", classes_jar("", &[("p/Y.class", "p/Y", 7)])),
        ];
        all.push(case(format!("Class-Path: {entry}"), &["a.jar", "last.jar"], files));
    }
}

#[test]
fn the_definitions_are_those_that_the_jvm_takes() {
    let mut all = Vec::new();
    order_cases(&mut all);
    misplaced_cases(&mut all);
    release_cases(&mut all);
    manifest_cases(&mut all);
    assert!(all.len() > 80, "{} cases", all.len());
    let folders: Vec<_> = all.iter().map(|_| tempfile::tempdir().unwrap()).collect();
    for (it, folder) in all.iter().zip(&folders) {
        for (path, bytes) in &it.files {
            write(&folder.path().join(path), bytes);
        }
        write(&folder.path().join("app/Start.class"), &start(&CLASSES));
    }
    let paths: Vec<&Path> = folders.iter().map(tempfile::TempDir::path).collect();
    let class_paths: Vec<&[&str]> = all.iter().map(|it| it.class_path.as_slice()).collect();
    for jdk in jdk::all().into_iter().filter(|it| it.version >= 17).take(tier::at_most(1)) {
        let want = all_loaded(&jdk.java(), &paths, &class_paths, &CLASSES);
        let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
        for ((it, folder), want) in all.iter().zip(&paths).zip(&want) {
            // A JVM that has the class path itself agrees; starting one takes long.
            if tier::is_full() {
                assert_eq!(loaded(&jdk.java(), folder, &it.class_path, &CLASSES), *want, "{}", it.name);
            }
            let (release, path) = (jdk.version.to_string(), it.class_path.join(":"));
            let got = read(&["app", "--release", &release, "--class-path", &path], folder, &CLASSES);
            if got != *want {
                wrong.push(format!("JDK {}, {}: the JVM takes {want:?}, ajar {got:?}", jdk.version, it.name));
            }
            seen.insert(want);
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(seen.len() > 12, "{seen:?}");
    }
}

/// The definitions in `boot.tsv`, each with its number.
const DEFINITIONS: [(&str, usize); 8] =
    [("a", 1), ("b", 2), ("classes", 3), ("root", 4), ("c", 5), ("base", 6), ("v8", 8), ("v9", 9)];

fn number_of(name: &str) -> usize {
    DEFINITIONS.iter().find(|it| it.0 == name).unwrap().1
}

type Entries = Vec<(String, Vec<u8>)>;

/// Part of an archive: a class below `folder`.
fn class_in(folder: &str, class: &str, by: &str) -> (String, Vec<u8>) {
    (format!("{folder}{class}.class"), definition(class, number_of(by)))
}

/// A library with the class `p/Dup` and others.
fn library(by: &str, classes: &[&str]) -> Vec<u8> {
    let entries: Entries = classes.iter().map(|it| class_in("", it, by)).collect();
    jar("", &entries.iter().map(|it| (it.0.as_str(), it.1.clone())).collect::<Vec<_>>())
}

/// The archive of a row of `boot.tsv`: its entries, and the attributes that its manifest has besides those of the loader.
fn boot_archive(name: &str) -> (Entries, &'static str) {
    let (inf, name) = name.strip_prefix("war-").map_or(("BOOT-INF", name), |it| ("WEB-INF", it));
    let classes_folder = format!("{inf}/classes/");
    let lib = |file: &str, bytes: &[u8]| (format!("{inf}/{file}"), bytes.to_vec());
    let a = library("a", &["p/Dup", "p/Mix", "p/A"]);
    let b = library("b", &["p/Dup", "p/B"]);
    let c = library("c", &["p/Dup"]);
    let (a_jar, b_jar) = (lib("lib/a.jar", &a), lib("lib/b.jar", &b));
    let index = |at: &str, names: &[&str]| {
        let lines: String = names.iter().map(|it| format!("- \"{it}\"\n")).collect();
        lib(at, lines.as_bytes())
    };
    let path = |it: &str| format!("{inf}/lib/{it}");
    let mut entries: Entries = vec![
        (classes_folder.clone(), Vec::new()),
        (format!("{classes_folder}Start.class"), start(&BOOT_CLASSES)),
        class_in(&classes_folder, "p/Mix", "classes"),
    ];
    let more: Entries = match name {
        "classes-b-a" => vec![b_jar, a_jar],
        "a-b" => vec![a_jar, b_jar],
        "b-a-classes" => return ([vec![b_jar, a_jar], entries].concat(), ""),
        "b-a-classes-idx-a-b" => {
            let index = index("classpath.idx", &[&path("a.jar"), &path("b.jar")]);
            return ([vec![b_jar, a_jar], entries, vec![index]].concat(), "");
        }
        "a-b-idx-b-a" | "idx-b-a" => {
            vec![a_jar, b_jar, index("classpath.idx", &[&path("b.jar"), &path("a.jar")])]
        }
        "a-b-idx-names" => vec![a_jar, b_jar, index("classpath.idx", &["b.jar", "a.jar"])],
        "a-b-idx-a" => vec![a_jar, b_jar, index("classpath.idx", &[&path("a.jar")])],
        "a-b-idx-b" => vec![a_jar, b_jar, index("classpath.idx", &[&path("b.jar")])],
        "a-b-idx-none-b-a" => {
            vec![a_jar, b_jar, index("classpath.idx", &[&path("zz.jar"), &path("b.jar"), &path("a.jar")])]
        }
        "a-b-other-idx-b-a" => {
            entries.extend([a_jar, b_jar, index("other.idx", &[&path("b.jar"), &path("a.jar")])]);
            return (entries, "Spring-Boot-Classpath-Index: BOOT-INF/other.idx\n");
        }
        "subfolder" => vec![lib("lib/sub/b.jar", &b), a_jar],
        "zip-name" => vec![lib("lib/b.zip", &b), a_jar],
        "no-extension" => vec![lib("lib/b", &b), a_jar],
        "letter-case" => vec![b_jar, lib("lib/C.jar", &c)],
        "root" => {
            let root = ["p/Mix", "p/Dup", "p/Root"].map(|it| class_in("", it, "root"));
            let own =
                if inf == "WEB-INF" { root[..1].to_vec() } else { [vec![a_jar], root.to_vec()].concat() };
            entries.extend(own);
            return (entries, "");
        }
        "mr-library" => {
            let inner = [
                class_in("", "p/M", "base"),
                class_in("META-INF/versions/8/", "p/M", "v8"),
                class_in("META-INF/versions/8/", "p/M8", "v8"),
                class_in("META-INF/versions/9/", "p/M9", "v9"),
                class_in("", "p/M9", "base"),
            ];
            let inner: Vec<_> = inner.iter().map(|it| (it.0.as_str(), it.1.clone())).collect();
            vec![lib("lib/mr.jar", &jar("Multi-Release: true\n", &inner))]
        }
        "mr-outer" => {
            entries.extend([
                class_in(&classes_folder, "p/InBoth", "classes"),
                class_in("BOOT-INF/classes/META-INF/versions/9/", "p/Mix", "v9"),
                class_in("META-INF/versions/9/BOOT-INF/classes/", "p/InBoth", "v9"),
                class_in("META-INF/versions/9/", "p/Root", "v9"),
                class_in("", "p/Root", "root"),
            ]);
            return (entries, "Multi-Release: true\n");
        }
        "misplaced" => vec![class_in("BOOT-INF/classes/backup/", "p/A", "a")],
        "entry-of-classes-last" => {
            let folder = entries.remove(0);
            vec![a_jar, folder]
        }
        "provided-first" => vec![lib("lib-provided/b.jar", &b), a_jar],
        "provided-last" => vec![b_jar, lib("lib-provided/a.jar", &a)],
        it => panic!("no archive {it}"),
    };
    entries.extend(more);
    (entries, "")
}

const BOOT_CLASSES: [&str; 9] = ["p/Dup", "p/Mix", "p/A", "p/B", "p/InBoth", "p/Root", "p/M", "p/M8", "p/M9"];

#[test]
fn spring_boot_archives_follow_the_observed_rules() {
    let table = std::fs::read_to_string(data().join("boot.tsv")).unwrap();
    let (mut n, mut wrong) = (0, Vec::new());
    for row in table.lines().filter(|it| !it.starts_with('#')) {
        let [name, form, loaders, taken] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let taken: BTreeMap<&str, &str> = taken.split(' ').map(|it| it.split_once('=').unwrap()).collect();
        let want: Vec<String> = BOOT_CLASSES
            .iter()
            .map(|it| match taken.get(&it[2..]) {
                None | Some(&"-") => "absent".to_owned(),
                Some(it) => number_of(it).to_string(),
            })
            .collect();
        let (entries, attributes) = boot_archive(name);
        // The newest loader of the row, and the oldest one in the full tier.
        let loaders: Vec<&str> = loaders.split(' ').collect();
        for loader in loaders.iter().rev().take(tier::at_most(1)) {
            let release = if *loader == "classic" { "3.2.12" } else { loader };
            let package = if ["3.5.7", "4.0.7"].contains(loader) { "launch." } else { "" };
            let launcher = if name.starts_with("war-") { "WarLauncher" } else { "JarLauncher" };
            let manifest = format!(
                "Main-Class: org.springframework.boot.loader.{package}{launcher}\nStart-Class: Start\n\
                 Spring-Boot-Version: {release}\n{attributes}"
            );
            let folder = tempfile::tempdir().unwrap();
            if form == "packed" {
                let members: Vec<_> = entries.iter().map(|it| (it.0.as_str(), it.1.clone())).collect();
                write(&folder.path().join("app"), &jar(&manifest, &members));
            } else {
                for (path, bytes) in entries.iter().filter(|it| !it.0.ends_with('/')) {
                    write(&folder.path().join("app").join(path), bytes);
                }
                let manifest = format!("Manifest-Version: 1.0\n{manifest}");
                write(&folder.path().join("app/META-INF/MANIFEST.MF"), manifest.as_bytes());
            }
            let got = read(&["app", "--release", "17"], folder.path(), &BOOT_CLASSES);
            n += 1;
            if got != want {
                wrong.push(format!("{name}, {form}, {loader}: the loader takes {want:?}, ajar {got:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n >= 45, "{n} archives");
}
