//! Images of real JDKs: ajar lists and reads the same classes as the JDK's own tools list and extract.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use camino::Utf8PathBuf;

use driver::container::{LoadedContainer, Scratch};
use driver::jdk::JdkChoice;
use driver::world::{WorldSpec, list_image, load};

fn image(path: &Path) -> Arc<LoadedContainer> {
    let inputs = vec![Utf8PathBuf::from_path_buf(path.to_owned()).unwrap()];
    let spec =
        WorldSpec { inputs, class_path: vec![], module_path: vec![], jdk: JdkChoice::None, release: None };
    let mut world = load(&spec).unwrap();
    assert_eq!(world.problems, []);
    world.containers.remove(0)
}

fn run(home: &Path, tool: &str, args: &[&str]) -> String {
    // Most of the running time of these tools is their start.
    let quick = ["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"];
    let output = Command::new(home.join("bin").join(tool)).args(quick).args(args).output().unwrap();
    assert!(output.status.success(), "{tool} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn package(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |it| it.0)
}

/// The classes that `jimage list` names, as `module/p/C.class`, sorted.
fn listed_by_jdk(home: &Path, image: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut module = "";
    let listing = run(home, "jimage", &["list", image.to_str().unwrap()]);
    for line in listing.lines() {
        if let Some(it) = line.strip_prefix("Module: ") {
            module = it;
        } else if line.ends_with(".class") {
            names.push(format!("{module}/{}", line.trim()));
        }
    }
    names.sort();
    names
}

#[test]
fn every_kind_of_resource_in_both_byte_orders() {
    for big_endian in [false, true] {
        let (container, problems) = list_image("t", common::image::sample(big_endian)).unwrap();
        assert_eq!(problems, []);
        let mut scratch = Scratch::new();
        let mut lines = Vec::new();
        for entry in &container.classes {
            let bytes = container.bytes(entry, &mut scratch).unwrap().bytes;
            let kind = if bytes == common::image::CLASS { "the class" } else { "other" };
            lines.push(format!("{}|{} {kind}", entry.root(), entry.path()));
        }
        let expected =
            ["m/|p/Plain.class the class", "m/|p/Zipped.class the class", "m/|q/Shared.class the class"];
        assert_eq!(lines[..3], expected);
        assert_eq!(lines[3..], ["n/|p/Other.class other"]);
    }
}

#[test]
fn names_that_take_too_much_memory_are_left_out() {
    let (container, problems) = list_image("t", common::image::with_long_names()).unwrap();
    assert_eq!(container.classes.len(), 0);
    let problems: Vec<String> = problems.iter().map(|it| it.to_string()).collect();
    assert_eq!(
        problems,
        ["error: t: the image is damaged: the names of its classes would take more than 16 \
             times the size of the image; the remaining classes are left out"]
    );
}

#[test]
fn images_list_what_the_jdk_lists() {
    for home in common::jdks() {
        let path = home.join("lib/modules");
        let container = image(&path);
        let mut ours: Vec<String> = container.classes.iter().map(|it| it.member().to_owned()).collect();
        let order: Vec<(&str, &str)> = container
            .classes
            .iter()
            .map(|it| (it.root().trim_end_matches('/'), package(it.path())))
            .collect();
        assert!(order.is_sorted(), "by module, then by package");
        ours.sort();
        let theirs = listed_by_jdk(&home, &path);
        assert!(theirs.len() > 5000, "the output of jimage was not understood");
        assert_eq!(ours.len(), theirs.len());
        assert!(ours == theirs);
        let object = container.classes.iter().find(|it| it.path() == "java/lang/Object.class").unwrap();
        assert_eq!(object.root(), "java.base/");
        assert!(container.display(object).ends_with("lib/modules!/java.base/java/lang/Object.class"));
        eprintln!("{}: {} classes", home.display(), ours.len());
    }
}

/// `--compress=1` shares strings (compact-cp), `--compress=2` uses zip.
#[test]
fn compressed_images_give_the_bytes_that_the_jdk_extracts() {
    // One JDK is enough: jlink is slow, and the format is the same in all JDKs.
    let Some(home) = common::jdks().into_iter().next() else { return };
    let dir = tempfile::tempdir().unwrap();
    for compress in ["2", "1"].into_iter().take(test_utils::tier::at_most(1)) {
        let out = dir.path().join(format!("image{compress}"));
        let args = ["--add-modules", "java.base", "--compress", compress, "--output", out.to_str().unwrap()];
        run(&home, "jlink", &args);
        check(&home, &out.join("lib/modules"), &dir.path().join(format!("x{compress}")));
    }
}

/// Compares the CRCs of all classes of an image with those of the files that `jimage extract` writes.
fn check(home: &Path, path: &Path, scratch_folder: &Path) {
    run(home, "jimage", &["extract", "--dir", scratch_folder.to_str().unwrap(), path.to_str().unwrap()]);
    let container = image(path);
    assert!(container.classes.len() > 5000);
    let mut scratch = Scratch::new();
    let mut wrong = BTreeMap::new();
    for entry in &container.classes {
        let ours = crc32fast::hash(container.bytes(entry, &mut scratch).unwrap().bytes);
        let theirs = crc32fast::hash(&std::fs::read(scratch_folder.join(entry.member())).unwrap());
        if ours != theirs {
            wrong.insert(entry.member(), (ours, theirs));
        }
    }
    assert_eq!(wrong, BTreeMap::new());
}

#[test]
fn the_default_jdk_is_described() {
    let Some(home) = common::jdks().into_iter().next() else { return };
    let jdk = JdkChoice::At(Utf8PathBuf::from_path_buf(home.clone()).unwrap());
    let spec = WorldSpec { inputs: vec![], class_path: vec![], module_path: vec![], jdk, release: None };
    let world = load(&spec).unwrap();
    let info = world.jdk.unwrap();
    assert_eq!(Some(world.release), info.feature);
    assert!(
        info.description().starts_with(&format!("JDK {}", info.feature.unwrap())),
        "{}",
        info.description()
    );
    // The image alone, without the `release` file beside it, also determines the release.
    let dir = tempfile::tempdir().unwrap();
    let link = Utf8PathBuf::from_path_buf(dir.path().join("image")).unwrap();
    std::fs::copy(home.join("lib/modules"), &link).unwrap();
    let spec = WorldSpec { jdk: JdkChoice::At(link), ..spec };
    assert_eq!(load(&spec).unwrap().release, world.release);
}
