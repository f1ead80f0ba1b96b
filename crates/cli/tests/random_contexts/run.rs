//! Compiles the programs, runs them, and asks ajar about them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use driver::config::{Overrides, Settings};
use driver::container::Scratch;
use driver::jdk::JdkChoice;
use driver::packages::settle;
use driver::world::{LoadedWorld, WorldSpec, load};
use ide::answer::{MethodAnswer, Question, class_answer};
use ide::entries::{EntryRequest, Receivers};
use ide::pattern::MethodPattern;
use ide::whole::{ClassRecord, Setup, Whole, WorkerSets, read_class};
use ide::{MethodName, Packages, Part, Role, Throws, WholeOptions, WorldKind};
use test_utils::jdk::Jdk;

use crate::words::Program;

/// An exception that came out of an entry method: its class, and the classes above it.
pub(crate) type Seen = Vec<String>;

/// The classes of programs and of a part of a JDK, and the exceptions that left them.
pub(crate) struct Ran {
    /// The exceptions that left each entry method, by package and number.
    pub(crate) seen: BTreeMap<(String, usize), Vec<Seen>>,
    packages: Packages,
    release: u16,
    platform: Vec<ClassRecord>,
    own: BTreeMap<String, Vec<ClassRecord>>,
    /// The class file of `Main`, by package.
    mains: BTreeMap<String, Vec<u8>>,
}

fn run(command: &mut Command) -> String {
    let out = command.output().expect("the tools of the JDK can be run");
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{command:?}: {text}");
    String::from_utf8(out.stdout).unwrap()
}

/// Compiles the programs and runs each entry method of each with `rounds` numbers.
pub(crate) fn run_programs(jdk: &Jdk, programs: &[Program], rounds: usize) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let at = |it: &str| folder.path().join(it);
    let write = |path: &Path, content: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    let mut sources = String::new();
    let mut requests = String::new();
    let mut source = |name: String, content: &str| {
        let path = at("src").join(name);
        write(&path, content);
        sources += &format!("{}\n", path.display());
    };
    source("ajarrun/Harness.java".to_owned(), include_str!("Harness.java"));
    source("ajarrun/Entry.java".to_owned(), include_str!("Entry.java"));
    for it in programs {
        source(format!("{}/Main.java", it.package), &it.source);
        let numbers: String = (0..it.entries.len()).map(|it| format!(" {it}")).collect();
        requests += &format!("{}{numbers}\n", it.package);
    }
    write(&at("sources"), &sources);
    write(&at("requests"), &requests);
    let mut javac = Command::new(jdk.home.join("bin/javac"));
    javac.args(["-nowarn", "-proc:none", "-g:none", "-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1", "-d"]);
    run(javac.arg(at("classes")).arg(format!("@{}", at("sources").display())));
    let mut java = Command::new(jdk.java());
    java.args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-StackTraceInThrowable", "-cp"]);
    java.arg(at("classes")).arg("ajarrun.Harness").arg(rounds.to_string()).arg(at("requests"));
    let text = run(&mut java);
    let mut seen = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split(' ').filter(|it| !it.is_empty());
        let package = words.next().unwrap().to_owned();
        let number = words.next().unwrap().parse().unwrap();
        seen.insert((package, number), words.map(|it| it.split('<').map(str::to_owned).collect()).collect());
    }
    let mut world = loaded(jdk, &at("classes"));
    let settings = Settings::resolve(&Overrides::default(), Utf8Path::new("/"), &|_| None).unwrap();
    let packages = settle(&mut world, &settings).unwrap().packages;
    let (mut platform, mut own) = (Vec::new(), BTreeMap::new());
    read(&world, &mut platform, &mut own);
    let main = |it: &Program| std::fs::read(at("classes").join(&it.package).join("Main.class")).unwrap();
    let mains = programs.iter().map(|it| (it.package.clone(), main(it))).collect();
    Ran { seen, packages, release: world.release, platform, own, mains }
}

fn loaded(jdk: &Jdk, folder: &Path) -> LoadedWorld {
    let utf8 = |it: &Path| Utf8PathBuf::from_path_buf(it.to_owned()).unwrap();
    let spec = WorldSpec {
        inputs: vec![utf8(folder)],
        class_path: vec![],
        module_path: vec![],
        jdk: JdkChoice::At(utf8(&jdk.home)),
        release: None,
    };
    load(&spec).unwrap()
}

/// The classes of the platform that the programs use, besides exceptions. With all classes of a JDK, a call of `toString` on
/// an unknown object lets out anything, which would hide faults.
const NEEDED: [&str; 20] = [
    "java/lang/AutoCloseable",
    "java/lang/Boolean",
    "java/lang/CharSequence",
    "java/lang/Comparable",
    "java/lang/Enum",
    "java/lang/Integer",
    "java/lang/Iterable",
    "java/lang/Number",
    "java/lang/Object",
    "java/lang/Record",
    "java/lang/Runnable",
    "java/lang/String",
    "java/lang/Throwable",
    "java/lang/invoke/LambdaMetafactory",
    "java/lang/invoke/StringConcatFactory",
    "java/lang/runtime/ObjectMethods",
    "java/util/Iterator",
    "java/util/Objects",
    "java/util/function/Function",
    "java/util/function/Supplier",
];

/// Whether the programs may need this class of the platform.
fn is_needed(path: &str) -> bool {
    let name = path.trim_end_matches(".class");
    let is_exception = || {
        name.strip_prefix("java/lang/").is_some_and(|it| {
            !it.contains(['/', '$']) && (it.ends_with("Exception") || it.ends_with("Error"))
        })
    };
    NEEDED.contains(&name) || is_exception()
}

/// Reads the classes of the programs, by package, and those of the platform that they may need.
fn read(world: &LoadedWorld, platform: &mut Vec<ClassRecord>, own: &mut BTreeMap<String, Vec<ClassRecord>>) {
    let (mut scratch, mut reading) = (Scratch::new(), ide::Scratch::default());
    for container in &world.containers {
        for entry in &container.classes {
            let is_platform = container.analysed_role() == Role::Jdk;
            if is_platform && !is_needed(entry.path()) {
                continue;
            }
            let bytes = container.bytes(entry, &mut scratch).unwrap().bytes;
            let record = read_class(bytes, &mut reading).unwrap();
            if is_platform {
                platform.push(record);
            } else {
                let package = entry.path().split('/').next().unwrap().to_owned();
                own.entry(package).or_default().push(record);
            }
        }
    }
}

/// The settings of a question.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum How {
    Closed,
    Reached,
    Linked,
    Open,
}

/// What ajar says about a program.
pub(crate) struct Answers {
    whole: Whole,
    work: WorkerSets,
    /// The methods of `Main` by their names, of which each belongs to one method.
    methods: BTreeMap<String, MethodName>,
}

impl Ran {
    /// Asks about one program.
    pub(crate) fn ask(&self, package: &str, how: How) -> Answers {
        let pattern = MethodPattern::parse(&format!("{package}.Main.e?")).unwrap();
        let request = EntryRequest { patterns: vec![pattern], ..EntryRequest::default() };
        let options = WholeOptions {
            world: if how == How::Open { WorldKind::Open } else { WorldKind::Closed },
            release: Some(self.release),
            assume_contract: false,
            link_errors: how == How::Linked,
            async_errors: false,
            system_assertions: false,
        };
        let setup = Setup {
            options,
            packages: &self.packages,
            entries: (how == How::Reached).then_some(&request),
            receivers: Receivers::Created,
            solve: true,
        };
        let own = self.own[package].iter().map(|it| (it.clone(), Role::App));
        let records = own.chain(self.platform.iter().map(|it| (it.clone(), Role::Jdk)));
        let whole = Whole::joined(records.collect(), &setup).unwrap();
        let work = whole.work();
        let question = Question { select: &|_| true, graphs: false, clock: None };
        let main = class_answer(&self.mains[package], &question, &mut ide::Scratch::default()).unwrap();
        let named = |it: &MethodAnswer| (String::from_utf8_lossy(it.method.name.0).into_owned(), it.method);
        Answers { whole, work, methods: main.methods.iter().map(named).collect() }
    }
}

impl Answers {
    /// What an entry method throws.
    pub(crate) fn entry(&mut self, number: usize) -> Throws {
        let method = self.methods[&format!("e{number}")];
        self.whole.throws(&mut self.work, method).expect("the program has the method")
    }

    /// What is known that a static method of `Main` throws, whatever the values of its parameters are; nothing for methods of
    /// other classes.
    pub(crate) fn general(&mut self, name: &str) -> Vec<Part> {
        let throws = self.methods.get(name).and_then(|it| self.whole.throws(&mut self.work, *it));
        throws.map_or_else(Vec::new, |it| it.known)
    }
}
