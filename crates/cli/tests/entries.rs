//! Entry points of programs, and the effect of `--rta`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use test_utils::asm::assemble;
use test_utils::jar::jar;
use test_utils::tier;

fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data").join(folder)
}

fn ajar(args: &[&str], paths: &[&Path]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    let out = command.args(args).args(paths).output().expect("the binary can be run");
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn json(args: &[&str], paths: &[&Path]) -> Value {
    serde_json::from_str(&ajar(args, paths)).unwrap()
}

/// The names of the classes in a folder, except those in the folder `skip`.
fn classes(folder: &Path) -> Vec<String> {
    let mut acc = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(at) = pending.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|it| it == "class") {
                let name = path.strip_prefix(folder).unwrap().with_extension("");
                acc.push(name.to_str().unwrap().to_owned());
            }
        }
    }
    acc.sort();
    acc
}

/// A class that no compiler creates together with its superclass. Each of its `main` methods prints its own name.
fn odd(name: &str, above: &str, flags: &str, mains: &[(&str, &str)]) -> String {
    let mut acc = format!(
        ".class public super {flags} {name}\n.super {above}\n.method public <init>()V\naload 0\ninvokespecial {above}.<init>()V\nreturn\n.end\n"
    );
    for (flags, descriptor) in mains {
        acc.push_str(&format!(".method {flags} main{descriptor}\n"));
        if !flags.contains("abstract") {
            let end = if descriptor.ends_with('I') { "iconst_0\nireturn" } else { "return" };
            acc.push_str(&format!(
                "getstatic java/lang/System.out Ljava/io/PrintStream;\nldc \"{name}.main{descriptor}\"\ninvokevirtual java/io/PrintStream.println(Ljava/lang/String;)V\n{end}\n"
            ));
        }
        acc.push_str(".end\n");
    }
    acc
}

/// A folder with the classes of `test-data/entries` and odd ones; with the preview features of a release, if one is
/// given.
fn launched(preview: Option<u16>) -> (tempfile::TempDir, Vec<String>) {
    const ARGUMENTS: &str = "([Ljava/lang/String;)V";
    let (folder, source) = (tempfile::tempdir().unwrap(), data("entries"));
    let write = |name: &str, mut bytes: Vec<u8>| {
        if let Some(release) = preview {
            bytes[4..6].copy_from_slice(&[0xff; 2]);
            bytes[6..8].copy_from_slice(&(release + 44).to_be_bytes());
        }
        let path = folder.path().join(format!("{name}.class"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    for it in classes(&source) {
        write(&it, std::fs::read(source.join(format!("{it}.class"))).unwrap());
    }
    let odd = [
        odd("PlainAbove", "java/lang/Object", "", &[("public static", ARGUMENTS)]),
        odd("SecretBelow", "PlainAbove", "", &[("private static", ARGUMENTS)]),
        odd("SecretAndStatic", "PlainAbove", "", &[("private static", ARGUMENTS), ("static", "()V")]),
        odd("HiddenBelow", "PlainAbove", "", &[("static", ARGUMENTS)]),
        odd("OfObjectBelow", "PlainAbove", "", &[("private", ARGUMENTS)]),
        odd("ObjectAbove", "java/lang/Object", "", &[("public", ARGUMENTS)]),
        odd("SecretOfObject", "ObjectAbove", "", &[("private", ARGUMENTS)]),
        odd("StaticBelow", "ObjectAbove", "", &[("private static", ARGUMENTS)]),
        odd("Demanding", "ObjectAbove", "abstract", &[("public abstract", ARGUMENTS)]),
        odd("Demanded", "Demanding", "", &[]),
        odd("Synthetic", "java/lang/Object", "", &[("public static synthetic", ARGUMENTS), ("", "()V")]),
        odd("WithoutNumber", "PlainAbove", "", &[("static", "()I"), ("", ARGUMENTS)]),
    ];
    for it in assemble(&odd.concat()).unwrap() {
        write(&it.name, it.bytes);
    }
    let classes = classes(folder.path());
    (folder, classes)
}

/// The methods that, according to ajar, the launcher of a release runs when it starts the class.
fn run_by_launcher(folder: &Path, class: &str, release: &str) -> String {
    let args = ["entries", "--quiet", "--entry", "app", "--output-format", "json", "-cp"];
    let args = [&args[..], &[folder.to_str().unwrap(), "--jdk", "none", "--release", release]].concat();
    // The program consists of this class alone.
    let path = folder.join(format!("{class}.class"));
    let out = Command::new(env!("CARGO_BIN_EXE_ajar")).args(&args).arg(&path).output().unwrap();
    if !out.status.success() {
        // There is no entry point.
        return String::new();
    }
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    let found = found["entries"].as_array().unwrap().iter();
    let runs = found.filter(|it| it["why"]["reason"] == "main" || it["why"]["reason"] == "main-class");
    runs.map(|it| it["method"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_launcher_runs_the_mains_that_are_entries() {
    let mut ran = BTreeMap::new();
    let jdks = test_utils::jdk::all().into_iter().filter(|it| it.version >= 17);
    for jdk in jdks.take(tier::at_most(1)) {
        let preview = (21..25).contains(&jdk.version).then_some(jdk.version as u16);
        let (folder, classes) = launched(preview);
        assert_eq!(classes.len(), 51);
        for class in &classes {
            let mut java = Command::new(jdk.java());
            java.args(preview.map(|_| "--enable-preview"));
            let out = java.arg("-cp").arg(folder.path()).arg(class).output().unwrap();
            let wanted = String::from_utf8(out.stdout).unwrap();
            let found = run_by_launcher(folder.path(), class, &jdk.version.to_string());
            assert_eq!(found, wanted.trim(), "{class} on {}", jdk.version);
            *ran.entry(jdk.version).or_insert(0) += usize::from(!wanted.is_empty());
        }
    }
    for (feature, ran) in ran {
        let wanted = match feature {
            17..=20 => 11,
            21 => PREVIEW_21.lines().count(),
            25.. => 32,
            _ => continue,
        };
        assert_eq!(ran, wanted, "{feature}");
    }
}

/// The classes in which the launcher of JDK 21.0.8 runs methods if preview features are enabled, each with these
/// methods.
const PREVIEW_21: &str = "\
Both Both.main()V
Concrete Abstract.main()V
Constants Constants.main([Ljava/lang/String;)V
Elsewhere p/Base.main()V
Empty Empty.main()V
Guarded Guarded.main([Ljava/lang/String;)V
HasLess HasLess.main()V
Hidden Hidden.main([Ljava/lang/String;)V
HiddenBelow HiddenBelow.main([Ljava/lang/String;)V
ImplementsDefaultWithArguments ImplementsDefaultWithArguments.main()V
InheritsAndHas InheritsAndHas.main()V
InheritsOfObject OfObject.main()V
Initialized Initialized.<clinit>()V
Interface Interface.main([Ljava/lang/String;)V
ObjectAbove ObjectAbove.main([Ljava/lang/String;)V
OfObject OfObject.main()V
OfObjectWithArguments OfObjectWithArguments.main([Ljava/lang/String;)V
Outer$Nested Outer$Nested.main([Ljava/lang/String;)V
Plain Plain.main([Ljava/lang/String;)V
PlainAbove PlainAbove.main([Ljava/lang/String;)V
SecretAndStatic SecretAndStatic.main()V
SecretBeside SecretBeside.main()V
SecretOfObject SecretOfObject.main([Ljava/lang/String;)V
StaticWithout StaticWithout.main()V
Supplies Supplies.main()V
Synthetic Synthetic.main()V
p/Base p/Base.main([Ljava/lang/String;)V
q/Sub p/Base.main()V
";

#[test]
fn classes_with_the_preview_of_java_21_are_launched_by_its_rules() {
    let (folder, classes) = launched(Some(21));
    let mut found = String::new();
    for class in &classes {
        let runs = run_by_launcher(folder.path(), class, "21");
        if !runs.is_empty() {
            found.push_str(&format!("{class} {runs}\n"));
        }
        // For other releases, the rules without preview apply, because a JVM rejects the class.
        let without = run_by_launcher(folder.path(), class, "20");
        assert!(!without.contains(".main()V"), "{class}: {without}");
    }
    assert_eq!(found, PREVIEW_21);
}

/// The methods that JDK 11, and that JDK 17 and later, call in classes that a manifest names as agents; the same for
/// `premain` and `agentmain`.
const AGENTS: [(&str, &str, &str); 14] = [
    ("Agents", "", ""),
    ("Both", "Both.premain2", "Both.premain2"),
    ("Hidden", "Hidden.premain1", ""),
    ("Implements", "", ""),
    ("Inherits", "Both.premain2", ""),
    ("InheritsAndHas", "InheritsAndHas.premain1", "InheritsAndHas.premain1"),
    ("InheritsHidden", "", ""),
    ("InheritsOne", "One.premain1", ""),
    ("Interface", "Interface.premain1", "Interface.premain1"),
    ("None", "", ""),
    ("Number", "Number.premain0", "Number.premain0"),
    ("OfObjectBeside", "", ""),
    ("One", "One.premain1", "One.premain1"),
    ("SecretBeside", "SecretBeside.premain2", ""),
];

#[test]
fn agents_are_called_as_their_release_does() {
    let source = data("agents").canonicalize().unwrap();
    let shared = source.to_str().unwrap();
    assert_eq!(classes(&source), AGENTS.map(|it| it.0));
    let jdks: Vec<_> = test_utils::jdk::all().into_iter().take(tier::at_most(1)).collect();
    for (class, before_17, since_17) in AGENTS.into_iter().take(tier::at_most(6)) {
        let written = |it: &str| {
            let it = it.replace('2', "(Ljava/lang/String;Ljava/lang/instrument/Instrumentation;)V");
            it.replace('1', "(Ljava/lang/String;)V").replace('0', "(Ljava/lang/String;)I")
        };
        for (attribute, method) in [
            ("Premain-Class", "premain"),
            ("Agent-Class", "agentmain"),
            ("Launcher-Agent-Class", "agentmain"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("agent.jar");
            let manifest =
                format!("{attribute}: {class}\nMain-Class: Agents\nClass-Path: file://{shared}/\n");
            let file = format!("{class}.class");
            let members = [(&*file, std::fs::read(source.join(&file)).unwrap())];
            std::fs::write(&path, test_utils::jar::jar(&manifest, &members)).unwrap();
            for (release, wanted) in [("8", before_17), ("16", before_17), ("17", since_17), ("25", since_17)]
            {
                let args = ["entries", "--quiet", "--entry", "app", "--output-format", "json", "-cp", shared];
                let args = [&args[..], &["--jdk", "none", "--release", release]].concat();
                let out = Command::new(env!("CARGO_BIN_EXE_ajar")).args(&args).arg(&path).output().unwrap();
                let found: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
                let entries = found["entries"].as_array().cloned().unwrap_or_default();
                let agents = entries.iter().filter(|it| it["why"]["reason"] == "agent");
                let agents: Vec<&str> = agents.map(|it| it["method"].as_str().unwrap()).collect();
                let wanted = written(wanted).replace("premain", method);
                assert_eq!(agents.join(" "), wanted, "{attribute}: {class} for {release}");
            }
            for jdk in &jdks {
                let flag = format!("-javaagent:{}", path.display());
                let args = match attribute {
                    "Premain-Class" => vec![&*flag, "-cp", shared, "Agents"],
                    // This needs a process that attaches to another one.
                    "Agent-Class" => continue,
                    _ => vec!["-jar", path.to_str().unwrap()],
                };
                let out = Command::new(jdk.java()).current_dir(&folder).args(args).output().unwrap();
                let said = String::from_utf8_lossy(&out.stdout);
                // A VM that aborts says so on stdout.
                let said = said.lines().find(|it| it.contains("main(")).unwrap_or_default();
                let wanted = if jdk.version < 17 { before_17 } else { since_17 };
                let wanted = written(wanted).replace("premain", method);
                assert_eq!(said, wanted, "{attribute}: {class} on {}", jdk.version);
            }
        }
    }
}

/// A class with a `main`, and a subclass of it.
const INHERITS: &str = r"
.class public Above
.super java/lang/Object
.method public static main([Ljava/lang/String;)V
  return
.end
.class public Below
.super Above
.method static <clinit>()V
  invokestatic Below.called()V
  return
.end
.method static called()V
  return
.end
";

/// An agent, a service provider, and a class that the service loader cannot instantiate.
const SERVICE: &str = r"
.class public Agent
.super java/lang/Object
.method public static premain(Ljava/lang/String;)V
  return
.end
.class public Provider
.super java/lang/Object
.method public <init>()V
  aload 0
  invokespecial java/lang/Object.<init>()V
  return
.end
.class Hidden
.super java/lang/Object
.method <init>()V
  aload 0
  invokespecial java/lang/Object.<init>()V
  return
.end
";

#[test]
fn agents_and_services_are_entries() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for class in assemble(SERVICE).unwrap() {
        std::fs::write(path.join(format!("{}.class", class.name)), class.bytes).unwrap();
    }
    let services = path.join("META-INF/services");
    std::fs::create_dir_all(&services).unwrap();
    std::fs::write(services.join("p.Service"), "# ours\nProvider # public\nGone\nHidden\n").unwrap();
    std::fs::write(path.join("META-INF/MANIFEST.MF"), "Manifest-Version: 1.0\nPremain-Class: Agent\n")
        .unwrap();
    let entries =
        json(&["entries", "--quiet", "--jdk", "none", "--entry", "app", "--output-format", "json"], &[path]);
    let entries = entries["entries"].as_array().unwrap();
    let found: Vec<_> =
        entries.iter().map(|it| (&it["method"], &it["why"]["reason"], &it["why"]["name"])).collect();
    let found = format!("{found:?}");
    assert_eq!(
        found,
        r#"[(String("Agent.premain(Ljava/lang/String;)V"), String("agent"), String("Premain-Class")), (String("Provider.<init>()V"), String("service"), String("p.Service"))]"#
    );
}

/// The targets of the calls of each method, by pc.
fn targets(more: &[&str], paths: &[&Path]) -> BTreeMap<(String, i64), BTreeSet<String>> {
    let args = [&["calls", "--quiet", "--output-format", "jsonl"], more].concat();
    let mut acc: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for line in ajar(&args, paths).lines() {
        let call: Value = serde_json::from_str(line).unwrap();
        let (Some(caller), Some(pc)) = (call["caller"].as_str(), call["pc"].as_i64()) else { continue };
        let targets = call["targets"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned());
        acc.entry((caller.to_owned(), pc)).or_default().extend(targets);
    }
    acc
}

#[test]
fn narrowed_calls_are_among_all() {
    let Some(jdk) = test_utils::jdk::at_least(25) else { return };
    let folder = data("observed");
    // With a JDK, each question takes seconds. Without one, fewer objects are created only in the closed world.
    let jdk = tier::rounds("none", jdk.home.to_str().unwrap());
    for world in ["closed", "declared", "open"].into_iter().take(tier::at_most(1)) {
        let all = targets(&["--jdk", jdk, "--world", world], &[&folder]);
        let narrow = targets(&["--jdk", jdk, "--world", world, "--rta"], &[&folder]);
        assert!(!narrow.is_empty());
        for (place, targets) in &narrow {
            assert!(targets.is_subset(&all[place]), "{place:?}");
        }
        let fewer = narrow.iter().filter(|it| it.1.len() < all[it.0].len()).count();
        let gone = all.len() - narrow.len();
        // In an open world, other code may call all of these methods. But platform classes that only unreached code
        // creates are not created.
        assert!(fewer > 0 && (gone > 0) == (world == "closed"), "{world} {fewer} {gone}");
    }
}

/// Without `--rta`, a search reaches at least as much, and narrows no call.
#[test]
fn class_hierarchy_analysis_reaches_more_than_rapid_type_analysis() {
    let folder = data("observed");
    let from_app = ["--entry", "app"];
    for world in ["closed", "declared", "open"] {
        let flags = ["--jdk", "none", "--world", world];
        let all = targets(&flags, &[&folder]);
        let wide = targets(&[&flags[..], &from_app].concat(), &[&folder]);
        let narrow = targets(&[&flags[..], &from_app, &["--rta"]].concat(), &[&folder]);
        assert!(wide.iter().all(|it| all[it.0] == *it.1), "{world}: a call is narrowed");
        assert!(narrow.iter().all(|it| it.1.is_subset(&wide[it.0])), "{world}");
        // In the closed world, methods that nothing calls are left out.
        assert_eq!(world == "closed", wide.len() < all.len(), "{world}: {} {}", wide.len(), all.len());
        assert!(narrow.len() <= wide.len());
    }
    let entries = ["--entry", "P14EvenOdd.even"];
    let few = targets(&[&["--jdk", "none", "--world", "closed"], &entries[..]].concat(), &[&folder]);
    assert!(few.keys().any(|it| it.0.starts_with("P14EvenOdd.even(")), "{few:?}");
    assert!(!few.keys().any(|it| it.0.starts_with("P14EvenOdd.main(")), "{few:?}");
}

#[test]
fn ways_lead_from_entry_points() {
    let folder = data("observed");
    let ask = |method: &str, world: &str| {
        let args = [
            "entries",
            "--quiet",
            "--jdk",
            "none",
            "--output-format",
            "json",
            "--world",
            world,
            "-m",
            method,
        ];
        json(&args, &[&folder])["methods"][0].clone()
    };
    let way = ask("P14EvenOdd.even", "closed");
    assert_eq!(way["start"]["reason"], "main", "{way}");
    let names: Vec<&str> = way["way"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(
        (names[0], *names.last().unwrap()),
        ("P14EvenOdd.main([Ljava/lang/String;)V", "P14EvenOdd.even(I)Z")
    );
    // No code creates an object of this class.
    let none = ask("P07Init$Unused.<clinit>", "closed");
    assert_eq!(none["start"], Value::Null, "{none}");
    let outside = ask("P07Init$Unused.<clinit>", "open");
    assert_eq!(outside["start"]["reason"], "outside", "{outside}");
}

#[test]
fn a_class_that_inherits_its_main_is_initialised() {
    let folder = tempfile::tempdir().unwrap();
    for class in assemble(INHERITS).unwrap() {
        std::fs::write(folder.path().join(format!("{}.class", class.name)), class.bytes).unwrap();
    }
    let args = ["entries", "--quiet", "--jdk", "none", "--output-format", "json", "--world", "closed"];
    let ways = json(&[&args[..], &["-m", "Below.*"]].concat(), &[folder.path()]);
    let [clinit, called] = &ways["methods"].as_array().unwrap()[..] else { panic!("{ways}") };
    assert_eq!(clinit["start"]["reason"], "main-class", "{ways}");
    assert_eq!(called["way"].as_array().map(Vec::len), Some(2), "{ways}");
}

/// A class with an initialiser, a constructor and a `main`.
const LAUNCHED: &str = r"
.class public Plain
.super java/lang/Object
.method public <init>()V
  aload 0
  invokespecial java/lang/Object.<init>()V
  return
.end
.method public static main([Ljava/lang/String;)V
  return
.end
.method static <clinit>()V
  return
.end
";

#[test]
fn an_initialiser_has_its_own_reason_or_a_path() {
    let folder = tempfile::tempdir().unwrap();
    for class in assemble(LAUNCHED).unwrap() {
        std::fs::write(folder.path().join(format!("{}.class", class.name)), class.bytes).unwrap();
    }
    let ask = |entry: &str| {
        let args = ["entries", "--quiet", "--jdk", "none", "--entry", entry, "-m", "Plain.<clinit>"];
        let said = ajar(&args, &[folder.path()]);
        said.split_once("\n\n").unwrap().1.to_owned()
    };
    // The initialiser is an entry point as well as the constructor and `main`.
    assert_eq!(
        ask("library"),
        "Plain.<clinit>()\n  <- entry point: unseen code may initialise the class, which runs this method\n\n"
    );
    assert_eq!(
        ask("app"),
        "Plain.<clinit>()\n  <- Plain.main(java.lang.String[])\n  \
         <- entry point: the launcher runs this method when it starts the class Plain\n\n"
    );
}

/// The `Main-Class` of a manifest may be a class of a library: in a Spring Boot archive, it is the launcher.
#[test]
fn the_main_class_of_a_manifest_is_an_entry() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (below, source) in [("", LAUNCHED), ("BOOT-INF/classes/", INHERITS)] {
        let classes = assemble(source).unwrap().into_iter();
        files.extend(classes.map(|it| (format!("{below}{}.class", it.name), it.bytes)));
    }
    let files: Vec<_> = files.iter().map(|it| (it.0.as_str(), it.1.clone())).collect();
    let path = folder.path().join("app.jar");
    std::fs::write(&path, jar("Main-Class: Plain \nStart-Class: Below\n", &files)).unwrap();
    let said = ajar(&["entries", "--quiet", "--jdk", "none", "--why"], &[&path]);
    assert!(
        said.contains(
            "Plain.main(java.lang.String[])\n  the launcher runs this method when it starts the class Plain\n"
        ),
        "{said}"
    );
    let ask = ["entries", "--quiet", "--jdk", "none", "--world", "closed", "-m", "Plain.main"];
    let way = ajar(&ask, &[&path]);
    assert!(way.contains("<- entry point"), "{way}");
}

#[test]
fn unseen_code_may_call_what_others_can_use() {
    // Nothing else calls `odd`, because `even` is a ghost.
    let args = ["entries", "--quiet", "--jdk", "none", "--output-format", "json", "--world", "closed"];
    let more = ["--entry", "*.Parity.even", "-m", "*.Parity.odd"];
    let way = json(&[&args[..], &more].concat(), &[&data("ghost")])["methods"][0].clone();
    assert!(!way["start"].is_null(), "{way}");
}

#[test]
fn an_entry_that_selects_nothing_is_an_error() {
    let wrong = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
        let out = command.args(args).args(["--jdk", "none"]).arg(data("observed")).output().unwrap();
        assert_eq!((out.status.code(), &*out.stdout), (Some(2), &b""[..]), "{args:?}");
        String::from_utf8(out.stderr).unwrap()
    };
    let even = ["--entry", "P14EvenOdd.even"];
    for (pattern, wanted) in [
        ("no.Such.method", "no method matches `no.Such.method`, and no method has a similar name"),
        ("P14EvenOdd.evn", "no method matches `P14EvenOdd.evn`; did you mean `P14EvenOdd.even(int)`?"),
    ] {
        // The pattern alone, after one that selects something, and before a preset.
        let alone = ["--entry", pattern];
        for asked in [alone.to_vec(), [even, alone].concat(), [alone, ["--entry", "app"]].concat()] {
            for command in [
                &["calls", "--rta"][..],
                &["throws", "--rta"],
                &["entries"],
                &["entries", "-m", "P14EvenOdd.odd"],
            ] {
                let said = wrong(&[command, &asked].concat());
                let last = said.lines().last().unwrap_or_default();
                assert_eq!(last, format!("error: `--entry`: {wanted}"), "{command:?} {asked:?}");
            }
        }
    }
    // A pattern may select what is an entry point for another reason, too.
    ajar(&["entries", "--jdk", "none", "--entry", "app", "--entry", "P14EvenOdd.main"], &[&data("observed")]);
}
