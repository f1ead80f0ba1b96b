//! Generated programs, compiled, run under a tracer, and read by ajar.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use driver::config::{Overrides, Settings};
use driver::container::{ClassEntry, LoadedContainer, Scratch};
use driver::jdk::JdkChoice;
use driver::packages::settle;
use driver::parallel::map_ordered;
use driver::world::{LoadedWorld, WorldSpec, load};
use ide::answer::{ClassAnswer, Question, class_answer};
use ide::entries::{EntryRequest, Receivers};
use ide::pattern::MethodPattern;
use ide::whole::{ClassRecord, Setup, Whole, read_class};
use ide::{Call, MethodName, Packages, Role, WholeOptions, WorldKind};
use test_utils::jdk::Jdk;
use test_utils::patch::{Insertion, Patch, STATIC};

/// The tracer, which the traced copies of the generated classes call, and the driver that runs the programs.
const TRACER: &str = include_str!("Trace.java");

/// The number of bytes that the call of the tracer takes at the beginning of each traced body.
const SHIFT: i64 = 4;

/// A generated program: one Java package.
#[derive(Default)]
pub(crate) struct Program {
    /// The name of the package.
    pub(crate) package: String,
    /// The body of the class `Main` without its method `main`.
    pub(crate) body: String,
    /// The names of the static methods without parameters of `Main` that `main` calls, each with a kind for counts.
    pub(crate) items: Vec<(String, &'static str)>,
    /// Other files of the package: path and content.
    pub(crate) files: Vec<(String, String)>,
    /// Providers of services: the service, and the class that provides it.
    pub(crate) services: Vec<(&'static str, String)>,
    /// The arguments of the program.
    pub(crate) args: Vec<String>,
    /// Methods that the JVM never calls although their names are those of methods that it calls.
    pub(crate) never: Vec<String>,
}

impl Program {
    /// The source of the class `Main`.
    fn source(&self) -> String {
        let mut main = String::new();
        for (item, _) in &self.items {
            main.push_str(&format!("        try {{ {item}(); }} catch (Throwable t) {{ last = t; }}\n"));
        }
        format!(
            "package {};\nimport java.io.*;\nimport java.lang.annotation.*;\nimport java.lang.invoke.*;\nimport java.lang.reflect.*;\nimport java.nio.charset.*;\nimport java.util.*;\nimport java.util.concurrent.*;\nimport java.util.function.*;\n@SuppressWarnings({{\"all\", \"removal\", \"deprecation\"}})\npublic class Main {{\n    public static Throwable last;\n    static String[] args;\n    interface Act {{ void act(); }}\n    static void go(Object it) {{ if (it instanceof Act) ((Act) it).act(); }}\n    public static void main(String[] a) {{\n        args = a;\n{main}    }}\n{}}}\n",
            self.package, self.body
        )
    }
}

/// A frame of a stack: the method, such as `p/C.m(I)V`, and the pc; -1 in native methods.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Frame {
    pub(crate) method: String,
    pub(crate) pc: i64,
}

/// The stack at the entry of a generated method, which is the first frame.
pub(crate) type Stack = Vec<Frame>;

/// Programs that ran: where their class files are, and the stacks that the tracer saw.
pub(crate) struct Ran {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) stacks: BTreeSet<Stack>,
}

impl Ran {
    pub(crate) fn classes(&self) -> PathBuf {
        self.folder.path().join("classes")
    }
}

fn run(command: &mut Command) -> Vec<u8> {
    let out = command.output().expect("the tools of the JDK can be run");
    let text = String::from_utf8_lossy(&out.stderr);
    // The compiler warns of classes that the programs are about.
    let lines: Vec<&str> = text.lines().filter(|it| !it.contains(": warning: ")).collect();
    assert!(out.status.success(), "{command:?}: {}", lines.join("\n"));
    out.stdout
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// The class files below a folder, relative to it.
fn class_files(folder: &Path) -> Vec<PathBuf> {
    let (mut acc, mut pending) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(at) = pending.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|it| it == "class") {
                acc.push(path.strip_prefix(folder).unwrap().to_owned());
            }
        }
    }
    acc.sort();
    acc
}

/// Compiles the programs, and runs copies of their classes in which each body begins with a call of the tracer.
pub(crate) fn run_programs(jdk: &Jdk, parts: &[Vec<Program>]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let at = |it: &str| folder.path().join(it);
    let mut sources = String::new();
    let mut services: BTreeMap<&str, String> = BTreeMap::new();
    let programs = || parts.iter().flatten();
    for it in programs() {
        let files = it.files.iter().map(|(path, content)| (path.clone(), content.clone()));
        for (path, content) in files.chain([("Main.java".to_owned(), it.source())]) {
            let path = at("src").join(&it.package).join(path);
            write(&path, content);
            sources.push_str(&format!("{}\n", path.display()));
        }
        for (service, class) in &it.services {
            services.entry(service).or_default().push_str(&format!("{class}\n"));
        }
    }
    write(&at("sources"), sources);
    write(&at("src/ajartrace/Trace.java"), TRACER);
    let javac = || {
        let mut it = Command::new(jdk.home.join("bin/javac"));
        it.args([
            "-nowarn",
            "-proc:none",
            "-g:none",
            "-J-XX:+UseSerialGC",
            "-J-XX:TieredStopAtLevel=1",
            "-d",
        ]);
        it
    };
    run(javac().arg(at("classes")).arg(format!("@{}", at("sources").display())));
    run(javac().arg(at("tracer")).arg(at("src/ajartrace/Trace.java")));
    for file in class_files(&at("classes")) {
        let mut patch = Patch::read(&std::fs::read(at("classes").join(&file)).unwrap()).unwrap();
        let enter = Insertion::Call {
            class: b"ajartrace/Trace",
            name: b"enter",
            descriptor: b"()V",
            is_static: true,
        };
        for method in 0..patch.methods().len() {
            if patch.has_body(method) {
                patch.insert(method, enter).unwrap();
            }
        }
        write(&at("traced").join(file), patch.bytes());
    }
    for (service, classes) in services {
        for folder in ["classes", "traced"] {
            write(&at(folder).join("META-INF/services").join(service), &classes);
        }
    }
    let mut java = Command::new(jdk.java());
    java.args([
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Dsun.reflect.inflationThreshold=2147483647",
        "-cp",
    ]);
    let paths = std::env::join_paths([at("traced"), at("tracer")]).unwrap();
    java.arg(paths).arg("ajartrace.Trace").arg(at("stacks"));
    for it in programs() {
        java.arg(format!("{}.Main {}", it.package, it.args.join(" ")));
    }
    let out = run(&mut java);
    // For people who look for faults of the generators: what the programs threw.
    print!("{}", String::from_utf8_lossy(&out));
    let text = std::fs::read_to_string(at("stacks")).unwrap();
    let stacks = text.lines().map(|line| line.split('\t').map(frame).collect()).collect();
    Ran { folder, stacks }
}

/// Reads a frame as the tracer writes it: `p.C m(I)V 12`.
fn frame(text: &str) -> Frame {
    let words: Vec<&str> = text.split(' ').collect();
    let [class, method, pc] = words[..] else { panic!("{text}") };
    Frame { method: format!("{}.{method}", class.replace('.', "/")), pc: pc.parse().unwrap() }
}

/// The classes of programs and of a JDK, read by ajar once for many questions.
pub(crate) struct Classes {
    world: LoadedWorld,
    packages: Packages,
    /// The records of the classes of the JDK.
    platform: Vec<ClassRecord>,
    /// The records of the generated classes, by the names of their packages.
    own: Vec<(String, ClassRecord)>,
    /// The index of the container and of the entry, by the name of the class.
    places: BTreeMap<String, (usize, usize)>,
}

impl Classes {
    pub(crate) fn read(jdk: &Jdk, folder: &Path) -> Classes {
        let utf8 = |it: &Path| Utf8PathBuf::from_path_buf(it.to_owned()).unwrap();
        let spec = WorldSpec {
            inputs: vec![utf8(folder)],
            class_path: vec![],
            module_path: vec![],
            jdk: JdkChoice::At(utf8(&jdk.home)),
            release: None,
        };
        let settings = Settings::resolve(&Overrides::default(), Utf8Path::new("/"), &|_| None).unwrap();
        let mut world = load(&spec).unwrap();
        let packages = settle(&mut world, &settings).unwrap().packages;
        let mut items: Vec<(&LoadedContainer, &ClassEntry)> = Vec::new();
        let mut places = BTreeMap::new();
        for (number, container) in world.containers.iter().enumerate() {
            for (index, entry) in container.classes.iter().enumerate() {
                items.push((container, entry));
                places.entry(entry.path().trim_end_matches(".class").to_owned()).or_insert((number, index));
            }
        }
        let (mut platform, mut own) = (Vec::new(), Vec::new());
        let mut next = items.iter();
        let state = || (Scratch::new(), ide::Scratch::default());
        let work = |worker: &mut (Scratch, ide::Scratch), item: &(&LoadedContainer, &ClassEntry)| {
            let bytes = item.0.bytes(item.1, &mut worker.0).ok().map(|it| it.bytes);
            bytes.and_then(|it| read_class(it, &mut worker.1).ok())
        };
        let done: ControlFlow<()> = map_ordered(&items, 2, state, work, |made| {
            let (container, entry) = next.next().unwrap();
            match (made.unwrap(), container.analysed_role()) {
                (Some(it), Role::Jdk) => platform.push(it),
                (Some(it), _) => own.push((entry.path().split('/').next().unwrap().to_owned(), it)),
                (None, role) => assert_eq!(role, Role::Jdk, "{}", entry.path()),
            }
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(done.is_continue());
        Classes { world, packages, platform, own, places }
    }

    /// Asks ajar about a program that consists of these packages and starts in their classes `Main`.
    pub(crate) fn ask(&self, packages: &BTreeSet<&str>) -> Answers<'_> {
        let pattern = |it: &&str| MethodPattern::parse(&format!("{it}.Main.main")).unwrap();
        let request =
            EntryRequest { patterns: packages.iter().map(pattern).collect(), ..EntryRequest::default() };
        let options = WholeOptions {
            world: WorldKind::Closed,
            release: Some(self.world.release),
            assume_contract: false,
            link_errors: false,
            async_errors: false,
            system_assertions: false,
        };
        let setup = Setup {
            options,
            packages: &self.packages,
            entries: Some(&request),
            receivers: Receivers::Created,
            solve: false,
        };
        let own = self.own.iter().filter(|it| packages.contains(&*it.0));
        let records = own.map(|it| (it.1.clone(), Role::App));
        let records = records.chain(self.platform.iter().map(|it| (it.clone(), Role::Jdk)));
        let whole = Whole::joined(records.collect(), &setup).unwrap();
        let reached = whole.reached().iter().map(text).filter(|it| !self.is_platforms(it)).collect();
        Answers { classes: self, whole, reached, read: BTreeMap::new() }
    }

    fn is_platforms(&self, method: &str) -> bool {
        let place = self.places.get(class_of(method));
        place.is_none_or(|it| self.world.containers[it.0].platform)
    }

    fn has(&self, method: &str) -> bool {
        self.places.contains_key(class_of(method))
    }
}

pub(crate) fn class_of(method: &str) -> &str {
    let name = method.split('(').next().unwrap();
    name.rsplit_once('.').unwrap().0
}

fn text(it: &MethodName) -> String {
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    format!("{}.{}{}", text(it.class.0), text(it.name.0), text(it.descriptor.0))
}

/// What ajar says about some of the programs.
pub(crate) struct Answers<'a> {
    classes: &'a Classes,
    whole: Whole,
    /// The generated methods that are reached.
    pub(crate) reached: BTreeSet<String>,
    /// The methods of the classes that were asked about.
    read: BTreeMap<String, BTreeMap<String, Method>>,
}

/// What ajar says about a method.
#[derive(Default)]
struct Method {
    access: u16,
    /// The calls, each with its pc; -1 in native methods.
    calls: Vec<(i64, Call)>,
}

/// What ajar says about a call at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Said {
    /// A call there has neither this target nor a mark.
    Nothing,
    /// A call there is open.
    Open,
    /// A call there names the target.
    Named,
}

impl Answers<'_> {
    /// Whether the calls at this place name `callee` or are open.
    pub(crate) fn said(&mut self, at: &Frame, callee: &str) -> Said {
        let calls = self.method(&at.method).map_or(&[][..], |it| &it.calls);
        let here = calls.iter().filter(|it| it.0 == at.pc || it.0 < 0);
        let said = |it: &(i64, Call)| {
            let is_named = it.1.targets.iter().any(|it| text(it) == callee);
            match (is_named, it.1.open) {
                (true, _) => Said::Named,
                (false, Some(_)) => Said::Open,
                (false, None) => Said::Nothing,
            }
        };
        here.map(said).max().unwrap_or(Said::Nothing)
    }

    /// Whether the method is called on an object that was made before.
    pub(crate) fn has_receiver(&mut self, method: &str) -> bool {
        !method.contains(".<") && self.method(method).is_some_and(|it| it.access & STATIC == 0)
    }

    fn method(&mut self, method: &str) -> Option<&Method> {
        let class = class_of(method);
        if !self.read.contains_key(class) {
            let methods = self.methods(class);
            self.read.insert(class.to_owned(), methods);
        }
        self.read[class].get(method)
    }

    fn methods(&self, class: &str) -> BTreeMap<String, Method> {
        let Some(&(container, entry)) = self.classes.places.get(class) else { return BTreeMap::new() };
        let container = &self.classes.world.containers[container];
        let mut scratch = Scratch::new();
        let bytes = container.bytes(&container.classes[entry], &mut scratch).unwrap().bytes;
        let question = Question { select: &|_| true, graphs: false, clock: None };
        let answer: ClassAnswer = class_answer(bytes, &question, &mut ide::Scratch::default()).unwrap();
        let mut acc = BTreeMap::new();
        for it in &answer.methods {
            let pc = |call: &Call| call.instr.and_then(|at| it.positions.pc(at)).map_or(-1, i64::from);
            let calls = self.whole.calls(it.method, &it.code);
            let calls = calls.into_iter().map(|it| (pc(&it), it)).collect();
            acc.insert(text(&it.method), Method { access: it.access, calls });
        }
        for &(method, access) in &answer.without_code {
            let calls = self.whole.unseen_calls(method).into_iter().map(|it| (-1, it)).collect();
            acc.insert(text(&method), Method { access, calls });
        }
        acc
    }

    /// Whether the method belongs to a generated class.
    pub(crate) fn is_own(&self, method: &str) -> bool {
        self.classes.has(method) && !self.classes.is_platforms(method)
    }

    /// Whether the class of the method has a class file.
    pub(crate) fn has_class_of(&self, method: &str) -> bool {
        self.classes.has(method)
    }
}

/// A stack with the pcs of the class files that ajar reads.
pub(crate) fn unshifted(stack: &Stack, is_own: impl Fn(&str) -> bool) -> Stack {
    let unshift = |it: &Frame| {
        let pc = if is_own(&it.method) { it.pc - SHIFT } else { it.pc };
        Frame { pc, ..it.clone() }
    };
    stack.iter().map(unshift).collect()
}
