//! Runs patched classes on a real JVM: they pass the verifier and behave as before.

use std::collections::BTreeMap;
use std::path::Path;

use test_utils::jdk;
use test_utils::jvm::{TempDir, data_dir, run_folder};
use test_utils::patch::{INTERFACE, Insertion, Patch, STATIC};
use test_utils::programs;

/// The class files of a folder, by file name.
fn classes(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(root).unwrap().map(|it| it.unwrap().path());
    files
        .filter(|it| it.extension().is_some_and(|it| it == "class"))
        .map(|it| (it.file_name().unwrap().to_str().unwrap().to_string(), std::fs::read(it).unwrap()))
        .collect()
}

/// One edit of each kind that does not change the behaviour of the class.
fn edited(bytes: &[u8]) -> Vec<u8> {
    let mut patch = Patch::read(bytes).unwrap();
    let near =
        Insertion::Call { class: b"java/lang/Math", name: b"max", descriptor: b"(DD)D", is_static: true };
    for method in 0..patch.methods().len() {
        if patch.has_body(method) {
            patch.insert(method, near).unwrap();
            patch.insert(method, Insertion::Throw).unwrap();
            patch.insert(method, Insertion::Throw).unwrap();
        }
    }
    if patch.flags() & INTERFACE == 0 {
        patch.add_method(1, b"added", b"(J[[DLjava/lang/Object;)[I").unwrap();
        // This call is never executed, because the object would be null.
        let last = patch.methods().len() - 1;
        let far = Insertion::Call {
            class: b"java/lang/String",
            name: b"regionMatches",
            descriptor: b"(ZILjava/lang/String;II)Z",
            is_static: false,
        };
        patch.insert(last, far).unwrap();
        patch.add_method(1 | STATIC, b"alsoAdded", b"(FD)D").unwrap();
    }
    patch.touch().unwrap();
    patch.bytes()
}

#[test]
fn reading_and_writing_keeps_the_bytes() {
    let mut n = 0;
    for folder in ["programs", "hello", "harness"] {
        for (name, bytes) in classes(&data_dir().join(folder)) {
            assert!(Patch::read(&bytes).unwrap().bytes() == bytes, "{name}");
            assert!(Patch::read(&bytes[..bytes.len() / 2]).is_none_or(|it| it.bytes() != bytes), "{name}");
            n += 1;
        }
    }
    assert!(n > 30, "{n}");
}

#[test]
fn each_edit_has_its_effect() {
    let bytes = std::fs::read(data_dir().join("hello/Inventory.class")).unwrap();
    let original = Patch::read(&bytes).unwrap();
    let mut patch = original.clone();
    patch.rename(b"p/Other").unwrap();
    assert_eq!(Patch::read(&patch.bytes()).unwrap().name(), b"p/Other");

    let root = data_dir().join("programs");
    let mut n = 0;
    for (name, bytes) in classes(&root) {
        let patch = Patch::read(&bytes).unwrap();
        for method in 0..patch.methods().len() {
            for pc in patch.constants(method) {
                let mut changed = patch.clone();
                changed.change_constant(method, pc).unwrap();
                let differs = changed.bytes().iter().zip(&bytes).filter(|it| it.0 != it.1).count();
                assert_eq!((differs, changed.bytes().len()), (1, bytes.len()), "{name}");
                changed.change_constant(method, pc).unwrap();
                assert!(changed == patch, "{name}");
                n += 1;
            }
        }
    }
    assert!(n > 100, "{n}");
}

#[test]
fn patched_programs_behave_as_before() {
    let Some(jdk) = jdk::at_least(17) else { return };
    let root = data_dir().join("programs");
    let dir = TempDir::new().unwrap();
    for (name, bytes) in classes(&root) {
        std::fs::write(dir.path().join(name), edited(&bytes)).unwrap();
    }
    // Skip class files of releases newer than this JDK.
    let of_jdk = |name: &str| !name.starts_with("Early25") || jdk.version >= 25;
    let expected = programs::expected(&root).unwrap();
    let expected: Vec<_> = expected.into_iter().filter(|it| of_jdk(&it.0.class)).collect();
    let cases: Vec<_> = expected.iter().map(|it| it.0.clone()).collect();
    let answers = run_folder(&jdk, dir.path(), &cases).unwrap();
    assert!(cases.len() > 20, "{}", cases.len());
    for (answer, (case, before)) in answers.iter().zip(&expected) {
        assert_eq!(answer, before, "{}.{}", case.class, case.method);
    }
}
