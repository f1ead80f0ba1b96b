//! A program of three containers. After each edit it is asked about as a whole and compared with a new host that has
//! the same files.

use std::sync::Arc;

use ide::answer::ClassAnswer;
use ide::change::{Change, ContainerId, ContainerListing, Listing};
use ide::host::{Analysis, AnalysisHost, Calls, Logged, Subject};
use ide::log::QueryStep;
use ide::{Graph, Part, Role, Settings, Throws, WorldKind};
use test_utils::asm::assemble;
use vfs::file::{FileId, Vfs};
use vfs::identity::EntryIdentity;

/// A container: its name, its role, and its classes by name.
#[derive(Clone)]
pub(crate) struct Archive {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    pub(crate) classes: Vec<(String, Vec<u8>)>,
}

/// A host, and the files that it should have.
pub(crate) struct Shop {
    pub(crate) archives: Vec<Archive>,
    pub(crate) settings: Settings,
    pub(crate) host: AnalysisHost,
    vfs: Vfs,
    files: Vec<(FileId, String)>,
    log: Vec<Logged>,
}

/// All answers about one class.
#[derive(PartialEq)]
struct Answer {
    class: Option<ClassAnswer>,
    throws: Option<Arc<[Throws]>>,
    calls: Option<Arc<[Calls]>>,
    graphs: Option<Arc<[Arc<Graph>]>>,
}

impl Archive {
    /// Creates an archive with the classes in an assembler text.
    pub(crate) fn new(name: &'static str, role: Role, text: &str) -> Archive {
        let mut it = Archive { name, role, classes: Vec::new() };
        it.put(text);
        it
    }

    /// Adds the classes in a text, or replaces the classes of the same names.
    pub(crate) fn put(&mut self, text: &str) {
        for class in assemble(text).unwrap() {
            let name = class.name.rsplit('/').next().unwrap().to_owned();
            self.put_bytes(&name, class.bytes);
        }
    }

    pub(crate) fn put_bytes(&mut self, name: &str, bytes: Vec<u8>) {
        match self.classes.iter_mut().find(|it| it.0 == name) {
            Some(it) => it.1 = bytes,
            None => self.classes.push((name.to_owned(), bytes)),
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        let before = self.classes.len();
        self.classes.retain(|it| it.0 != name);
        assert_eq!(self.classes.len() + 1, before, "{name}");
    }
}

impl Shop {
    pub(crate) fn new(archives: Vec<Archive>) -> Shop {
        let settings = Settings::new(WorldKind::Open, 17);
        let host = AnalysisHost::with_log();
        let (files, log) = (Vec::new(), Vec::new());
        Shop { archives, settings, host, vfs: Vfs::default(), files, log }
    }

    pub(crate) fn archive(&mut self, name: &str) -> &mut Archive {
        self.archives.iter_mut().find(|it| it.name == name).unwrap()
    }

    /// Applies the current state to the host and asks everything about the classes of the application. Returns the
    /// names of the queries that ran, sorted, without those that only look up since when an answer is valid
    /// ([`Shop::looked_up`]). Then asks about all classes and compares with a new host.
    pub(crate) fn ran(&mut self) -> String {
        let change = self.change();
        self.host.apply_change(change.clone());
        self.answers(&self.host.analysis(), true);
        self.log = self.host.logged();
        let answers = self.answers(&self.host.analysis(), false);
        self.host.logged();
        let mut fresh = AnalysisHost::new();
        fresh.apply_change(change);
        let expected = self.answers(&fresh.analysis(), false);
        for (((_, name), now), fresh) in self.files.iter().zip(answers).zip(expected) {
            assert!(now.class == fresh.class, "{name}: the class itself");
            assert_eq!(now.throws, fresh.throws, "{name}: kept answer, answer of a new host");
            assert_eq!(now.calls, fresh.calls, "{name}: kept answer, answer of a new host");
            assert_eq!(now.graphs, fresh.graphs, "{name}: kept answer, answer of a new host");
        }
        let (now, fresh) = (self.host.analysis(), fresh.analysis());
        assert_eq!(now.missing(), fresh.missing(), "kept answer, answer of a new host");
        self.host.logged();
        self.told(QueryStep::Ran, |it| !it.ends_with("_since"))
    }

    /// The queries for the last change that look up since when an answer is valid. Each is one access to a table.
    pub(crate) fn looked_up(&self) -> String {
        self.told(QueryStep::Ran, |it| it.ends_with("_since"))
    }

    /// Asks about all classes in another thread, until it is done or a change cancels it.
    pub(crate) fn asked_meanwhile(&self) -> std::thread::JoinHandle<bool> {
        let analysis = self.host.analysis();
        let files: Vec<FileId> = self.files.iter().map(|it| it.0).collect();
        std::thread::spawn(move || files.iter().any(|&it| analysis.throws(it).is_err()))
    }

    /// Applies the current state to the host, and asks nothing.
    pub(crate) fn tell(&mut self) {
        let change = self.change();
        self.host.apply_change(change);
    }

    /// Applies the current state to the host, and asks about the program as a whole but about no class.
    pub(crate) fn solve(&mut self) {
        self.tell();
        self.host.analysis().program().unwrap();
        self.log = self.host.logged();
    }

    /// The queries that were validated after the last change and did not run.
    pub(crate) fn checked(&self) -> String {
        self.told(QueryStep::Checked, |_| true)
    }

    /// The exceptions that the first method of a class is known to throw.
    pub(crate) fn known(&mut self, archive: &str, class: &str) -> Vec<String> {
        let file = self.file(archive, class);
        let all = self.host.analysis().throws(file).unwrap().unwrap();
        let text = |it: &Part| it.class.to_string().rsplit('/').next().unwrap().to_owned();
        all.first().map_or_else(Vec::new, |it| it.known.iter().map(text).collect())
    }

    fn file(&mut self, archive: &str, class: &str) -> FileId {
        self.vfs.file(&format!("{archive}!{class}.class"))
    }

    /// The whole program as a change. The host ignores what is equal to what it has.
    fn change(&mut self) -> Change {
        let mut change = Change { settings: Some(self.settings.clone()), ..Change::default() };
        let mut listings = Vec::new();
        self.files.clear();
        for archive in self.archives.clone() {
            let mut classes = Vec::new();
            for (name, bytes) in archive.classes {
                let file = self.file(archive.name, &name);
                change.classes.push((file, EntryIdentity::of_bytes(&bytes), bytes.into()));
                self.files.push((
                    file,
                    if archive.name == "app" { name } else { format!("{}!{name}", archive.name) },
                ));
                classes.push(file);
            }
            let listing = ContainerListing { id: id(archive.name), role: archive.role, classes };
            listings.push(Listing::Classes(listing));
        }
        change.containers = Some(listings);
        change
    }

    fn answers(&self, analysis: &Analysis, app: bool) -> Vec<Answer> {
        let asked = self.files.iter().filter(|it| !app || !it.1.contains('!'));
        let of = |it: &(FileId, String)| Answer {
            class: analysis.class(it.0).unwrap().and_then(Result::ok),
            throws: analysis.throws(it.0).unwrap(),
            calls: analysis.calls(it.0).unwrap(),
            graphs: analysis.graphs(it.0).unwrap(),
        };
        asked.map(of).collect()
    }

    fn told(&self, step: QueryStep, wanted: impl Fn(&str) -> bool) -> String {
        let steps = self.log.iter().filter(|it| it.step == step && wanted(&it.query));
        let mut lines: Vec<String> = steps.map(|it| self.text(it)).collect();
        lines.sort();
        lines.join(" ")
    }

    fn text(&self, it: &Logged) -> String {
        let of = match it.of {
            Subject::Class(file) => self.files.iter().find(|it| it.0 == file).unwrap().1.as_str(),
            Subject::Container(it) => NAMES[it.0 as usize],
            Subject::Other => return it.query.clone(),
        };
        format!("{}({of})", it.query)
    }
}

/// The names of containers, by number.
const NAMES: [&str; 5] = ["app", "lib", "jdk", "newer", "other"];

fn id(name: &str) -> ContainerId {
    ContainerId(NAMES.iter().position(|it| *it == name).unwrap() as u32)
}
