//! Which edits recompute reasons, and which classes of a library are read for them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ide::change::{Change, ContainerId, ContainerListing, Listing};
use ide::entries::{EntryRequest, Receivers};
use ide::explain::{Explanation, Scope};
use ide::explained::Places;
use ide::host::{AnalysisHost, Definition};
use ide::log::QueryStep;
use ide::whole::read_class;
use ide::{
    ClassSource, Contents, EntryIdentity, MethodName, Profile, Role, Scratch, Settings, Text, WorldKind,
};
use test_utils::asm::assemble;
use vfs::file::Vfs;

/// The application: `A` calls the library, which divides; `C` calls a job, and `J` is one.
const APP: &str = r"
.class public final p/A
.method public static a()V
  .line 3
  invokestatic lib/L.l()V
  return
.end

.class public final p/C
.method public static c(Lp/J;)V
  aload_0
  invokevirtual p/J.run()V
  return
.end

.class public p/J
.method public run()V
  return
.end

.class public final p/Other
.method public static o()V
  return
.end
";

const LIB: &str = r"
.class public final lib/L
.method public static l()V
  iconst_1
  iconst_0
  idiv
  pop
  return
.end

.class public final lib/Unused
.method public static u()V
  return
.end
";

/// The class files of a library, with a counter of reads.
struct Counted(Vec<Vec<u8>>, Arc<AtomicUsize>);

impl ClassSource for Counted {
    fn with_bytes(&self, entry: u32, read: &mut dyn FnMut(&[u8])) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.get(entry as usize).into_iter().for_each(|it| read(it));
    }
}

/// Gives each class a path made from its definition.
struct Numbered;

impl Places for Numbered {
    fn place(&self, definition: Definition) -> Option<String> {
        Some(match definition {
            Definition::File(_) => "app".to_owned(),
            Definition::Library(_, entry) => format!("lib {entry}"),
        })
    }
}

/// A host and the state that edits change.
struct Edited {
    host: AnalysisHost,
    vfs: Vfs,
    app: Vec<(String, Vec<u8>)>,
    n_read: Arc<AtomicUsize>,
    library: Arc<Contents>,
    settings: Settings,
}

/// The class files of a library. The first read sends a message and then takes a while.
struct Slow(Vec<Vec<u8>>, Mutex<Option<Sender<()>>>);

impl ClassSource for Slow {
    fn with_bytes(&self, entry: u32, read: &mut dyn FnMut(&[u8])) {
        let first = self.1.lock().unwrap().take();
        if let Some(it) = first {
            it.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(200));
        }
        self.0.get(entry as usize).into_iter().for_each(|it| read(it));
    }
}

fn contents(text: &str, source: impl FnOnce(Vec<Vec<u8>>) -> Arc<dyn ClassSource>) -> Arc<Contents> {
    let classes: Vec<Vec<u8>> = assemble(text).unwrap().into_iter().map(|it| it.bytes).collect();
    let records = classes.iter().map(|it| (None, read_class(it, &mut Scratch::default()).unwrap()));
    let (records, entries) = (records.collect(), (0..classes.len() as u32).collect());
    Arc::new(Contents { records, entries, source: source(classes) })
}

fn library(n_read: &Arc<AtomicUsize>, text: &str) -> Arc<Contents> {
    contents(text, |classes| Arc::new(Counted(classes, Arc::clone(n_read))))
}

impl Edited {
    fn new() -> Edited {
        let n_read = Arc::default();
        let library = library(&n_read, LIB);
        let (host, vfs) = (AnalysisHost::with_log(), Vfs::default());
        let settings = Settings::new(WorldKind::Closed, 17);
        let mut it = Edited { host, vfs, app: Vec::new(), n_read, library, settings };
        it.put(APP);
        it
    }

    /// Adds the classes in a text, or replaces the classes of the same names.
    fn put(&mut self, text: &str) {
        for class in assemble(text).unwrap() {
            match self.app.iter_mut().find(|it| it.0 == class.name) {
                Some(it) => it.1 = class.bytes,
                None => self.app.push((class.name, class.bytes)),
            }
        }
        self.tell();
    }

    fn tell(&mut self) {
        let mut change = Change { settings: Some(self.settings.clone()), ..Change::default() };
        for (name, bytes) in &self.app {
            let identity = EntryIdentity::of_bytes(bytes);
            change.classes.push((self.vfs.file(name), identity, bytes.as_slice().into()));
        }
        let classes = change.classes.iter().map(|it| it.0).collect();
        let app = ContainerListing { id: ContainerId(0), role: Role::App, classes };
        let contents = Arc::clone(&self.library);
        let library = Listing::Library { id: ContainerId(1), role: Role::Lib, contents };
        change.containers = Some(vec![Listing::Classes(app), library]);
        self.host.apply_change(change);
    }

    fn ask(
        &mut self,
        (class, name, descriptor): (&'static str, &'static str, &'static str),
        target: Option<&dyn Fn(&MethodName) -> bool>,
    ) -> Vec<Explanation> {
        let text = |it: &'static str| Text(it.as_bytes());
        let method = MethodName { class: text(class), name: text(name), descriptor: text(descriptor) };
        let scope = Scope { method, pc: None, exception: None, target, receivers: 9 };
        let analysis = self.host.analysis();
        analysis.explanations(self.vfs.file(class), &scope, &Numbered).unwrap().unwrap()
    }

    /// Asks in another thread why `A.a` throws. The thread returns whether it got an answer.
    fn ask_meanwhile(&mut self) -> std::thread::JoinHandle<bool> {
        let (analysis, file) = (self.host.analysis(), self.vfs.file("p/A"));
        std::thread::spawn(move || {
            let method = MethodName { class: Text(b"p/A"), name: Text(b"a"), descriptor: Text(b"()V") };
            let scope = Scope { method, pc: None, exception: None, target: None, receivers: 9 };
            analysis.explanations(file, &scope, &Numbered).is_ok()
        })
    }

    /// The reasons why `A.a` throws: the exception, and the steps with path, pc and line.
    fn chains(&mut self) -> Vec<String> {
        let mut acc = Vec::new();
        for it in self.ask(("p/A", "a", "()V"), None) {
            let Explanation::Exception(it) = it else { panic!("{it:?}") };
            let spots = it.chain.iter().filter_map(|it| it.spot.as_ref());
            let spot = |it: &ide::explain::Spot| {
                let place = it.place.as_deref().unwrap_or_default();
                format!("{place} {} {:?}", it.pc.unwrap_or_default(), it.line)
            };
            let spots: Vec<String> = spots.map(spot).collect();
            acc.push(format!("{}: {}", it.what.unwrap().class, spots.join(", ")));
        }
        acc
    }

    /// The receivers that select `target` in `C.c`.
    fn receivers(&mut self, target: &str) -> Vec<String> {
        let wants = |it: &MethodName| it.class.to_string() == target;
        let mut acc = Vec::new();
        for it in self.ask(("p/C", "c", "(Lp/J;)V"), Some(&wants)) {
            let Explanation::Call(it) = it else { panic!("{it:?}") };
            let receivers = it.targets.iter().flat_map(|it| &it.receivers);
            acc.extend(receivers.map(|it| it.class.to_string()));
        }
        acc
    }

    /// Whether the query ran since the last call.
    fn ran(&self, query: &str) -> bool {
        self.host.logged().iter().any(|it| it.step == QueryStep::Ran && it.query == query)
    }

    fn n_read(&self) -> usize {
        self.n_read.load(Ordering::Relaxed)
    }
}

const CHAIN: &str = "java/lang/ArithmeticException: app 0 Some(3), lib 0 2 None";

#[test]
fn reasons_are_searched_again_in_a_new_generation_only() {
    let mut it = Edited::new();
    assert_eq!(it.chains(), [CHAIN]);
    assert!(it.ran("reasons"));
    assert_eq!(it.chains(), [CHAIN]);
    assert!(!it.ran("reasons"));
    // A class that is edited for the first time gets another input.
    let at_line = |line: u32| {
        format!(
            ".class public final p/A\n.method public static a()V\n .line {line}\n invokestatic lib/L.l()V\n \
             return\n.end"
        )
    };
    it.put(&at_line(5));
    assert_eq!(it.chains(), [CHAIN.replace("Some(3)", "Some(5)")]);
    assert!(it.ran("reasons"));
    // If lines move, no reason is searched for, but the chain shows the new line.
    it.put(&at_line(4));
    assert_eq!(it.chains(), [CHAIN.replace("Some(3)", "Some(4)")]);
    assert!(!it.ran("reasons"));
    // If code moves, the instruction has another number.
    it.put(
        ".class public final p/A\n.method public static a()V\n iconst_0\n istore_0\n .line 4\n \
         invokestatic lib/L.l()V\n return\n.end",
    );
    assert_eq!(it.chains(), [CHAIN.replace("app 0 Some(3)", "app 2 Some(4)")]);
    assert!(it.ran("reasons"));
    // A new generation of the program, in which the reason is the same.
    it.put(".class public final p/Other\n.method public static o()V\n aconst_null\n athrow\n.end");
    assert_eq!(it.chains(), [CHAIN.replace("app 0 Some(3)", "app 2 Some(4)")]);
    assert!(it.ran("reasons"));
}

#[test]
fn code_of_a_library_is_read_once() {
    let mut it = Edited::new();
    assert_eq!(it.chains(), [CHAIN]);
    assert_eq!(it.n_read(), 1, "only classes in the chain are read");
    assert!(it.ran("file_definitions"));
    it.put(".class public final p/Other\n.method public static o()V\n aconst_null\n athrow\n.end");
    assert_eq!(it.chains(), [CHAIN]);
    assert_eq!(it.n_read(), 1, "the class was read before");
    it.ran("");
    // Another library value with the same content: its code is read again, but nothing that depends on it is
    // recomputed.
    it.library = library(&it.n_read, LIB);
    it.tell();
    assert_eq!(it.chains(), [CHAIN]);
    assert_eq!(it.n_read(), 2);
    let logged = it.host.logged();
    let ran = |query: &str| logged.iter().any(|it| it.step == QueryStep::Ran && it.query == query);
    assert!(ran("library_definitions") && ran("library_code"));
    assert!(!ran("file_definitions") && !ran("reasons"));
    // Code that moves within the library is noticed.
    it.library =
        library(&it.n_read, &LIB.replace("  iconst_1\n  iconst_0\n", "  nop\n  iconst_1\n  iconst_0\n"));
    it.tell();
    assert_eq!(it.chains(), [CHAIN.replace("lib 0 2", "lib 0 3")]);
    // A class of the application shadows the library's.
    it.put(".class public final lib/L\n.method public static l()V\n iconst_1\n iconst_0\n irem\n pop\n return\n.end");
    assert_eq!(it.chains(), [CHAIN.replace("lib 0 2", "app 2")]);
}

/// Profile `paper` reads the code of a library once, whatever is edited in the application.
#[test]
fn the_code_of_a_library_is_read_once_in_profile_paper() {
    let mut it = Edited::new();
    it.settings.profile = Profile::Paper;
    it.tell();
    let file = it.vfs.file("p/A");
    it.host.analysis().throws(file).unwrap();
    let read = it.n_read();
    assert!(read > 0 && it.ran("paper_library"));
    it.put(".class public final p/Other\n.method public static o()V\n aconst_null\n athrow\n.end");
    it.host.analysis().throws(file).unwrap();
    assert_eq!(it.n_read(), read);
    let logged = it.host.logged();
    let ran = |query: &str| logged.iter().any(|it| it.step == QueryStep::Ran && it.query == query);
    assert!(ran("paper") && !ran("paper_library"));
}

#[test]
fn receivers_follow_the_classes_below_a_target() {
    let mut it = Edited::new();
    assert_eq!(it.receivers("p/J"), ["p/J"]);
    assert!(it.ran("receivers"));
    assert_eq!(it.receivers("p/J"), ["p/J"]);
    assert!(!it.ran("receivers"));
    it.put(".class public p/K\n.super p/J");
    assert_eq!(it.receivers("p/J"), ["p/J", "p/K"]);
    assert!(it.ran("receivers"));
    it.put(".class public p/K\n.super p/J\n.method public run()V\n return\n.end");
    assert_eq!(it.receivers("p/J"), ["p/J"]);
    assert_eq!(it.receivers("p/K"), ["p/K"]);
}

#[test]
fn receivers_that_are_never_created_are_omitted() {
    let mut it = Edited::new();
    let constructor = ".method public <init>()V\n return\n.end\n";
    it.put(&format!(
        ".class public p/J\n{constructor}.method public run()V\n return\n.end\n\
         .class public p/K\n.super p/J\n{constructor}\
         .class public final p/Main\n.method public static main([Ljava/lang/String;)V\n new p/J\n dup\n \
         invokespecial p/J.<init>()V\n invokestatic p/C.c(Lp/J;)V\n return\n.end"
    ));
    assert_eq!(it.receivers("p/J"), ["p/J", "p/K"]);
    let mut settings = Settings::new(WorldKind::Closed, 17);
    settings.receivers = Some(Receivers::Created);
    settings.entries = Some(EntryRequest { app: true, ..EntryRequest::default() });
    it.host.apply_change(Change { settings: Some(settings), ..Change::default() });
    assert_eq!(it.receivers("p/J"), ["p/J"]);
}

/// The change arrives while the search for reasons reads code of the library.
#[test]
fn a_cancelled_search_leaves_nothing_half_done() {
    let mut it = Edited::new();
    let calls_on = LIB.replace(
        "  iconst_1\n  iconst_0\n  idiv\n  pop\n  return\n.end",
        "  invokestatic lib/M.m()V\n  return\n.end\n\n.class public final lib/M\n.method public static m()V\n  \
         iconst_1\n  iconst_0\n  idiv\n  pop\n  return\n.end",
    );
    let chain = "java/lang/ArithmeticException: app 0 Some(3), lib 0 0 None, lib 1 2 None";
    for _ in 0..3 {
        let (sender, started) = channel();
        it.library = contents(&calls_on, |classes| Arc::new(Slow(classes, Mutex::new(Some(sender)))));
        it.tell();
        let asked = it.ask_meanwhile();
        started.recv().unwrap();
        it.put(".class public final p/Other\n.method public static o()V\n aconst_null\n athrow\n.end");
        assert!(!asked.join().unwrap(), "the question was cancelled");
        assert_eq!(it.chains(), [chain]);
        it.put(".class public final p/Other\n.method public static o()V\n return\n.end");
        assert_eq!(it.chains(), [chain]);
    }
}

#[test]
fn a_shadowing_definition_is_found_in_the_second_library() {
    let (mut host, mut vfs) = (AnalysisHost::new(), Vfs::default());
    let class =
        |name: &str| format!(".class public final {name}\n.method public static m()V\n return\n.end\n");
    let bytes = assemble(&class("p/X")).unwrap().remove(0).bytes;
    let file = vfs.file("p/X");
    let library = |id: u32, text: &str| {
        let contents = contents(text, |classes| Arc::new(Counted(classes, Arc::default())));
        Listing::Library { id: ContainerId(id), role: Role::Lib, contents }
    };
    let app = ContainerListing { id: ContainerId(0), role: Role::App, classes: vec![file] };
    let two = format!("{}\n{}", class("lib/B"), class("p/X"));
    let containers = vec![library(1, &class("lib/A")), library(2, &two), Listing::Classes(app)];
    host.apply_change(Change {
        containers: Some(containers),
        classes: vec![(file, EntryIdentity::of_bytes(&bytes), bytes.into())],
        settings: Some(Settings::new(WorldKind::Closed, 17)),
    });
    let by = host.analysis().shadowed(file).unwrap();
    assert_eq!(by, Some(Definition::Library(ContainerId(2), 1)));
}
