//! `ajar missing`: the methods that need a missing class, the answers that are less precise without the class, and
//! hints where the class may be found.

use std::path::Path;
use std::process::Command;

use test_utils::asm::assemble;
use test_utils::jdk;

const APP: &str = r#"
.class public super p/App
.method public static calls()V
  invokestatic q/Gone.m()V
  return
.end
.method public static fields()V
  getstatic q/Gone.f I
  pop
  return
.end
.method public static catches()V
A: invokestatic p/App.fields()V
B: return
H: pop
  return
  .catch q/Failure from A to B using H
.end
"#;

fn ajar(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    let out =
        command.current_dir(folder).arg("missing").args(arguments).env_clear().output().expect("it runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn each_missing_class_has_its_users_effects_and_hints() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let app = assemble(APP).unwrap().remove(0).bytes;
    write("app/p/App.class", &app);
    // Its class file exists but is truncated, and the library has its package.
    write("lib/q/Gone.class", &app[..20]);
    write("lib/q/Other.class", &assemble(".class public super q/Other\n").unwrap()[0].bytes);
    let text = ajar(folder.path(), &["app", "-cp", "lib", "--jdk", "none"]);
    let gone = text.split_once("q.Gone\n").expect("it is listed").1;
    let gone: Vec<&str> = gone.lines().take_while(|it| it.starts_with("  ")).collect();
    assert_eq!(
        gone,
        [
            "  2 methods have calls that may run any method: p.App.calls(), p.App.fields()",
            "  called: q.Gone.m()",
            "  needed by 2 methods: p.App.calls(), p.App.fields()",
            "  hint: lib/q/Gone.class is at the path of the class, but cannot be read as this class",
        ]
    );
    let failure = text.split_once("q.Failure\n").expect("it is listed").1;
    assert!(
        failure.starts_with(
            "  needed by 1 method: p.App.catches()\n  hint: lib has other classes of the package: perhaps another version of lib has the class\n"
        ),
        "{text}"
    );
    let json = ajar(folder.path(), &["app", "-cp", "lib", "--jdk", "none", "--output-format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let one = value["missing"].as_array().unwrap().iter().find(|it| it["class"] == "q/Gone").unwrap();
    assert_eq!(one["widened"], serde_json::json!(["p/App.calls()V", "p/App.fields()V"]));
    assert_eq!(one["hints"][0]["name"], "lib/q/Gone.class");
}

/// Compares the table of packages and modules with some modules of the JDKs of this machine.
#[test]
fn the_packages_of_modules_are_those_of_the_jdks() {
    const TABLE: &str = include_str!("../../ide/src/jdk_packages.tsv");
    let jdks: Vec<_> = jdk::all().into_iter().filter(|it| (17..=25).contains(&it.version)).collect();
    assert!(!jdks.is_empty() || std::env::var("CI").as_deref() != Ok("true"), "CI must have a JDK");
    let mut checked = 0;
    for jdk in jdks {
        for module in ["java.base", "java.desktop", "java.sql", "java.xml", "jdk.unsupported", "jdk.jfr"] {
            let mut command = Command::new(jdk.java());
            let out = command.args(["--describe-module", module]).output().unwrap();
            let text = String::from_utf8_lossy(&out.stdout);
            // A smaller image lacks some of the modules.
            for package in text.lines().filter_map(|it| it.strip_prefix("exports ")) {
                let package = package.trim_end();
                assert!(TABLE.lines().any(|it| it == format!("{package}\t{module}")), "{package} {module}");
                checked += 1;
            }
        }
    }
    eprintln!("{checked} packages checked");
}
