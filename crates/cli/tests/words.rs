//! Sentences for users who know ajar only by its help and output: what an answer leaves out, and what to do after an error.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use test_utils::asm::assemble;
use test_utils::jar::jar;

/// A program that calls a library, which calls a class that is missing.
const APP: &str = r"
.class public super p/App
.super java/lang/Object
.method public static call()V
  invokestatic q/Lib.run()V
  return
.end
.method public static lonely()V
  return
.end
.method public static any(Ljava/lang/Runnable;)V
  aload 0
  invokeinterface java/lang/Runnable.run()V
  return
.end
";

const LIBRARY: &str = r"
.class public super final q/Lib
.super java/lang/Object
.method public static run()V
  invokestatic r/Gone.m()V
  return
.end
";

/// The only class of `java.lang` that the programs need.
const OBJECT: &str = ".class public super java/lang/Object\n.super none\n";

struct Project(tempfile::TempDir);

impl Project {
    /// Creates a project with the program in `app`, its library in `lib`, and an input `cut` that cannot be read.
    fn new() -> Project {
        let project = Project(tempfile::tempdir().unwrap());
        for (folder, source) in [("app", APP), ("lib", LIBRARY), ("object", OBJECT)] {
            for class in assemble(source).unwrap() {
                project.write(&format!("{folder}/{}.class", class.name), &class.bytes);
            }
        }
        let app = assemble(APP).unwrap().remove(0).bytes;
        project.write("cut/p/App.class", &app[..app.len() / 3]);
        project
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
        let command = command.current_dir(self.0.path()).args(arguments).env_clear().env("AJAR_JDK", "none");
        command.output().expect("the binary can be run")
    }

    /// Runs a command that must succeed; returns stdout without the lines about settings, and stderr.
    #[track_caller]
    fn fine(&self, arguments: &[&str]) -> (String, String) {
        let out = self.run(arguments);
        let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
        assert_eq!(out.status.code(), Some(0), "{stderr}");
        let answer = stdout.split_once("\n\n").map_or("", |it| it.1);
        (answer.to_owned(), stderr)
    }

    /// Runs a command that must end with exit code 2; returns the last line of stderr.
    #[track_caller]
    fn wrong(&self, arguments: &[&str]) -> String {
        let out = self.run(arguments);
        assert_eq!((out.status.code(), text(&out.stdout)), (Some(2), String::new()));
        text(&out.stderr).lines().last().unwrap_or_default().to_owned()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn if_nothing_is_missing_the_answer_says_what_was_not_checked() {
    let project = Project::new();
    let (answer, _) = project.fine(&["missing", "app", "-cp", "lib", "-cp", "object"]);
    let interface = ".class public interface abstract java/lang/Runnable\n.super java/lang/Object\n\
                     .method public abstract run()V\n.end\n";
    assert!(answer.starts_with("java.lang.Runnable\n"), "{answer}");
    let about_libraries = "// not checked: names in annotations and descriptors; libraries (2 classes): name a library as an input \
                           to check it\n";
    assert!(answer.ends_with(about_libraries), "{answer}");
    for class in assemble(interface).unwrap() {
        project.write(&format!("object/{}.class", class.name), &class.bytes);
    }
    let (answer, _) = project.fine(&["missing", "app", "-cp", "lib", "-cp", "object"]);
    assert_eq!(
        answer,
        "no class is missing that code, supertypes or `throws` clauses of the program (1 class) name\n\
         // not checked: names in annotations and descriptors; libraries (3 classes): name a library as an input to check it\n"
    );
    let (answer, _) = project.fine(&["missing", "object"]);
    assert_eq!(
        answer,
        "no class is missing that code, supertypes or `throws` clauses of the program (2 classes) name\n\
         // not checked: names in annotations and descriptors\n"
    );
}

#[test]
fn if_no_caller_is_found_the_answer_says_so() {
    let project = Project::new();
    let callers = |method: &str| {
        let args = ["calls", "app", "-cp", "lib", "-cp", "object", "--callers", "-m", method];
        project.fine(&args).0
    };
    let rest = "; 1 call may also run code that was not read, and that code may run them\n\
                // calls in libraries and in the JDK were not searched: name a library as an input to search it\n";
    assert_eq!(
        callers("p.App.lonely"),
        format!("// no call of the program is known to run the selected methods{rest}")
    );
    let found = callers("q.Lib.run");
    assert!(found.contains("static q.Lib.run()\n"), "{found}");
    assert!(
        found.ends_with(&format!("// 1 call of the program may run the selected methods{rest}")),
        "{found}"
    );
}

#[test]
fn a_wrong_jdk_is_an_error_that_says_what_a_jdk_is() {
    let project = Project::new();
    project.write("java", b"\x7fELF");
    let jdk = |it: &str| project.wrong(&["throws", "app", "--jdk", it]);
    assert_eq!(
        jdk("java"),
        "error: java: not a JDK: the file is not a zip archive: the end record is missing (the file is cut off or of another \
         kind); give the home folder of a JDK, an image or `none`"
    );
    let release = jdk("21");
    assert!(
        release.starts_with("error: 21: not a JDK: give the home folder of a JDK, not its release: "),
        "{release}"
    );
}

#[test]
fn an_entry_that_is_no_preset_is_told_the_presets() {
    let project = Project::new();
    let entry = |it: &str| project.wrong(&["entries", "app", "--entry", it]);
    assert_eq!(
        entry("spring"),
        "error: `--entry`: no method matches `spring`, and no method has a similar name (presets are `app` and `library`)"
    );
    assert_eq!(
        entry("app"),
        "error: a launcher runs no method of the program; use `--entry library` or a method pattern"
    );
}

#[test]
fn entries_say_what_they_leave_out_and_whose_code_runs_a_method() {
    let project = Project::new();
    let (list, _) = project.fine(&["entries", "app"]);
    let end = "\n// 3 entry points of a library, because a launcher runs no method of the program; --why says why each is one\n\
               // not listed: methods that unseen code runs only by way of objects that it gets, such as call-backs and lambda \
               bodies; -m says whether a method is reached\n";
    assert!(list.ends_with(end), "{list}");
    // Without a method, no calls are followed, so the world does not matter.
    assert!(project.wrong(&["entries", "app", "--world", "closed"]).contains("--help"));
    let ask = |world: &str| {
        project.fine(&["entries", "app", "--entry", "p.App.call", "--world", world, "-m", "p.App.lonely"]).0
    };
    assert_eq!(
        ask("open"),
        "p.App.lonely()\n  <- perhaps classes that were not read run the method; --world closed assumes that there are none\n\n"
    );
    assert_eq!(
        ask("closed"),
        "p.App.lonely()\n  the method is not reached from the entry points, under the assumptions that the first lines name\n\n"
    );
}

#[test]
fn if_no_class_can_be_read_the_error_is_printed_in_any_case() {
    let project = Project::new();
    for command in ["throws", "calls", "missing", "bir", "stats"] {
        for flags in [&[][..], &["--quiet"]] {
            let (_, stderr) = project.fine(&[&[command, "cut"], flags].concat());
            assert!(stderr.starts_with("error: cut/p/App.class: "), "{command} {flags:?}: {stderr}");
            assert!(
                stderr.ends_with("\nerror: no class of the inputs could be read\n"),
                "{command}: {stderr}"
            );
        }
    }
    let both = ["throws", "app", "cut", "--quiet"];
    assert_eq!(project.fine(&both).1, "");
    // With `--strict`, the error names what was left out.
    let out = project.run(&["throws", "app", "-cp", "nowhere", "--quiet", "--strict"]);
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(
        text(&out.stderr),
        "warning: nowhere: the entry of the class path does not exist and is left out, so its classes are missing\n\
         error: 1 part of the input is left out of the result, which `--strict` does not allow\n"
    );
}

#[test]
fn v_says_which_versions_of_classes_are_taken() {
    let project = Project::new();
    let class = assemble(APP).unwrap().remove(0).bytes;
    let members = [("p/App.class", class.clone()), ("META-INF/versions/11/p/App.class", class)];
    project.write("mr.jar", &jar("Multi-Release: true\n", &members));
    project.write("plain.jar", &jar("", &members));
    let said =
        |archive: &str, release: &str| project.fine(&["throws", archive, "--release", release, "-v"]).1;
    assert_eq!(
        said("mr.jar", "17"),
        " app       1 class   mr.jar\n\
         note: mr.jar: taken for this Java release: 1 class from META-INF/versions/11\n"
    );
    assert_eq!(
        said("mr.jar", "8"),
        " app       1 class   mr.jar\n\
         note: mr.jar: ignored below META-INF/versions: 1 class, because the class loader of this Java release does not read them\n"
    );
    assert_eq!(said("mr.jar", "10"), " app       1 class   mr.jar\n");
    assert_eq!(
        said("plain.jar", "17"),
        " app       1 class   plain.jar\n\
         note: plain.jar: ignored below META-INF/versions: 1 class, because the manifest does not say `Multi-Release: true`\n"
    );
}

/// The assumptions of an answer are named as such in its first lines.
#[test]
fn the_first_lines_name_assumptions_and_errors_of_the_vm() {
    let project = Project::new();
    let out = project.run(&["throws", "app", "--async-errors", "--link-errors"]);
    let stdout = text(&out.stdout);
    let lines: Vec<&str> = stdout.lines().take(2).collect();
    assert!(lines[0].ends_with("; VM errors: initialisation, linking, asynchronous"), "{stdout}");
    assert_eq!(lines[1], "// assumed: errors of linking are counted for classes that are absent too");
}

/// Each help page says how the command ends, in lines that fit the page.
#[test]
fn help_pages_end_with_the_exit_codes() {
    let commands = ["cfg", "calls", "throws", "explain", "missing", "watch", "entries", "bir", "stats"];
    for command in commands {
        let out = Command::new(env!("CARGO_BIN_EXE_ajar")).args([command, "--help"]).output().unwrap();
        let help = text(&out.stdout);
        let end = help.rsplit("\n\n").next().unwrap();
        assert!(end.starts_with("Exit codes: 0 success"), "{command}: {help}");
    }
    let sources = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../export/schemas");
    assert!(sources.join("calls.schema.json").is_file(), "the help names this folder");
}

/// Inputs without classes: each is reported with a reason; if no input has a class, there is no answer.
#[test]
fn inputs_without_classes_are_reported() {
    let project = Project::new();
    project.write("source/main/java/p/App.java", b"");
    project.write("text/read.me", b"");
    project.write("jars/a.jar", &jar("", &[("p/App.class", assemble(APP).unwrap().remove(0).bytes)]));
    project.write("none/no.jar", &jar("", &[]));
    let source = "source: the folder has no class files, but Java source; compile it, for example by `javac -d classes \
                  source/main/java/p/*.java`, and give ajar the folder `classes`";
    let text_folder = "text: the folder has no class files";
    let jars =
        "jars: the folder has no class files, and its archives are not opened; give jars/* to open them";
    for command in ["throws", "missing", "entries", "stats", "cfg"] {
        for (input, reason) in [
            ("source", source),
            ("text", text_folder),
            ("jars", jars),
            ("none/no.jar", "none/no.jar: the file has no class files"),
            ("text/*", "the inputs have no class files"),
        ] {
            assert_eq!(project.wrong(&[command, input]), format!("error: {reason}"), "{command}");
            assert_eq!(project.wrong(&[command, input, "-q"]), format!("error: {reason}"), "{command}");
        }
    }
    let out = project.run(&["throws", "text", "source"]);
    assert_eq!(out.status.code(), Some(2));
    let both = format!("warning: {text_folder}\nwarning: {source}\nerror: the inputs have no class files\n");
    assert_eq!(text(&out.stderr), both);
    // Beside an input with classes, it is a warning. An input that is given twice is not empty.
    let (answer, stderr) = project.fine(&["throws", "app", "text", "app", "jars/*"]);
    assert!(answer.contains("p.App.call()"), "{answer}");
    assert!(stderr.starts_with(&format!("warning: {text_folder}\n")), "{stderr}");
    assert_eq!(stderr.matches("warning: ").count(), 1, "{stderr}");
    let strict = project.run(&["throws", "app", "text", "--strict"]);
    assert_eq!(strict.status.code(), Some(2));
    // Libraries may be empty.
    assert_eq!(project.fine(&["throws", "app", "-cp", "text"]).1, "");
}

/// A watched folder may be empty: its classes are awaited.
#[test]
fn an_empty_folder_can_be_watched() {
    let project = Project::new();
    std::fs::create_dir(project.0.path().join("new")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
    command.current_dir(project.0.path()).env_clear().env("AJAR_JDK", "none");
    command.args(["watch", "throws", "new", "--once", "--poll", "10", "--output-format", "jsonl"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.find(|it| it.contains("\"generation\":1")).unwrap();
    assert!(first.contains("the folder has no class files"), "{first}");
    project.write("new/p/App.class", &assemble(APP).unwrap().remove(0).bytes);
    let rest: Vec<String> = lines.collect();
    assert!(rest.iter().any(|it| it.contains("p/App.lonely()V")), "{rest:?}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A class that was not read is distinguished from one whose exceptions the method does not let out.
#[test]
fn an_exception_that_is_no_class_is_distinguished_from_one_that_is_not_thrown() {
    let project = Project::new();
    let throwables = ".class public super java/lang/Throwable\n.super java/lang/Object\n";
    let special = ".class public super q/Special\n.super java/lang/Throwable\n";
    for class in [throwables, special].into_iter().flat_map(|it| assemble(it).unwrap()) {
        project.write(&format!("object/{}.class", class.name), &class.bytes);
    }
    let ask = |exception| {
        [
            "explain",
            "app",
            "-cp",
            "object",
            "--world",
            "closed",
            "-m",
            "p.App.lonely",
            "--exception",
            exception,
        ]
    };
    assert_eq!(
        project.wrong(&ask("Special")),
        "error: `Special` is not a class that ajar has read; did you mean `q.Special`?"
    );
    assert_eq!(
        project.wrong(&ask("java.lang.Foo")),
        "error: `java.lang.Foo` is not a class that ajar has read"
    );
    let none = "no exception of q.Special or its subclasses leaves `p.App.lonely`";
    assert_eq!(project.fine(&ask("q.Special")).0.trim_end(), none);
    let json = project.run(&[&ask("q.Special")[..], &["--output-format", "json", "-q"]].concat());
    assert!(text(&json.stdout).contains(none), "{}", text(&json.stdout));
}

/// Unknown flags and commands get tips that lead on.
#[test]
fn wrong_arguments_get_tips_that_lead_on() {
    let project = Project::new();
    let said = |arguments: &[&str]| {
        let out = project.run(arguments);
        assert_eq!((out.status.code(), text(&out.stdout)), (Some(2), String::new()), "{arguments:?}");
        text(&out.stderr)
    };
    let usage = "\n\nUsage: ajar throws [OPTIONS] <INPUT>...\n\nFor more information, try '--help'.\n";
    assert_eq!(
        said(&["throws", "app", "-m", "p.App", "--foo"]),
        format!("error: unexpected argument '--foo' found{usage}")
    );
    assert_eq!(
        said(&["throws", "app", "--format", "json"]),
        format!(
            "error: unexpected argument '--format' found\n\n  tip: a similar argument exists: '--output-format'{usage}"
        )
    );
    assert_eq!(
        said(&["throws", "app", "--against", "x"]),
        format!(
            "error: unexpected argument '--against' found\n\n  tip: '--against' is a flag of `ajar calls`{usage}"
        )
    );
    let tip = "\n\n  tip: a similar subcommand exists: 'throws'\n";
    for arguments in [&["throw", "app"][..], &["help", "throw"], &["watch", "throw", "app"]] {
        let error = said(arguments);
        assert!(error.contains(tip), "{error}");
    }
    for (arguments, advice) in [
        (&["app"][..], "error: `app` is an input; choose a command, for example `ajar throws app`\n"),
        (
            &["watch", "app"],
            "error: `app` is an input; choose an answer, for example `ajar watch throws app`\n",
        ),
    ] {
        let error = said(arguments);
        assert!(error.starts_with(advice), "{error}");
    }
    assert_eq!(
        said(&["throws", "p.App.any"]),
        "error: p.App.any: there is no such file or folder; to select methods, write `-m 'p.App.any'`\n"
    );
    assert!(said(&["throws", "no.jar"]).starts_with("error: no.jar: cannot be opened"));
}

/// The flags of `watch` are accepted on both sides of the answer, and by no other command.
#[test]
fn the_flags_of_watch_may_stand_at_the_end() {
    let project = Project::new();
    for arguments in
        [&["--once", "--poll", "50", "calls", "nowhere"][..], &["calls", "nowhere", "--once", "--poll", "50"]]
    {
        let error = project.wrong(&[&["watch"], arguments].concat());
        assert!(error.starts_with("error: nowhere: cannot be opened"), "{error}");
    }
    let out = project.run(&["calls", "app", "--once"]);
    assert!(text(&out.stderr).contains("'--once' is a flag of `ajar watch`"), "{}", text(&out.stderr));
}

/// Each help page with method patterns explains their forms, and that of `cfg` explains instructions.
#[test]
fn help_pages_explain_patterns_and_instructions() {
    let project = Project::new();
    let help = |arguments: &[&str]| {
        let out = project.run(&[arguments, &["--help"]].concat());
        text(&out.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let patterns = "`p.C` for all methods of the class; `p.C.*` also for those of its nested classes; `p.*` for the package \
                    and all below it";
    for command in ["cfg", "calls", "throws", "explain", "entries", "bir", "stats"] {
        assert!(help(&[command]).contains(patterns), "{command}");
    }
    assert!(help(&["watch", "throws"]).contains(patterns));
    assert!(help(&["cfg"]).contains("`mayinit C` may run the initialiser of the class C."));
    assert!(help(&["config"]).contains("`AJAR_NAME in the environment`"));
    assert!(help(&["watch"]).contains("ajar watch calls classes --once"));
}

/// A default that depends on the JDK is shown as its value, with the rule behind it.
#[test]
fn config_shows_the_jdk_that_is_used() {
    let project = Project::new();
    project.write("jdk/lib/modules", b"");
    project.write("jdk/release", b"JAVA_VERSION=\"21.0.1\"\n");
    let config = |variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ajar"));
        let command = command.current_dir(project.0.path()).arg("config").env_clear();
        let out = command.envs(variables.iter().copied()).output().unwrap();
        text(&out.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let rule = "default: JAVA_HOME, else the JDK of the java on the PATH, else none";
    let shown = config(&[("JAVA_HOME", "jdk")]);
    assert!(
        shown.contains(&format!("jdk jdk {rule} release 21 default: that of the JDK, else 25")),
        "{shown}"
    );
    let shown = config(&[]);
    assert!(
        shown.contains(&format!("jdk none {rule} release 25 default: that of the JDK, else 25")),
        "{shown}"
    );
    let shown = config(&[("AJAR_JDK", "none")]);
    assert!(shown.contains("jdk none AJAR_JDK in the environment"), "{shown}");
}
