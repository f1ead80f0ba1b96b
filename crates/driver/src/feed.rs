//! Turns the differences between the loaded containers and the contents of the database into changes of the database,
//! and reads only the classes that differ. Libraries are parsed here, by the worker threads, and passed to the
//! database as one value each. For a class of the program, the bytes are passed.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;

use ide::change::{Change, ContainerId, ContainerListing, Listing};
use ide::explained::Places;
use ide::host::Definition;
use ide::whole::{ClassRecord, read_class};
use ide::{ClassSource, Contents, EntryIdentity, Role, Settings};
use rustc_hash::{FxHashMap, FxHashSet};
use vfs::file::{FileId, Vfs};

use crate::container::{ClassEntry, LoadedContainer, Scratch};
use crate::parallel::{Panicked, map_here, map_ordered};
use crate::problem::Problem;
use crate::shown::{Shown, shown};
use crate::world::LoadedWorld;

/// Knows which classes the database has, and computes the changes that bring the database up to date with the loaded
/// containers.
pub struct Feed {
    reading: Reading,
    threads: usize,
    vfs: Vfs,
    /// The containers that the database has, with data about their classes, in class-path order.
    known: Vec<Known>,
    next: u32,
    shown: Shown,
    /// For each class file of the program, the index of its container in `known`, and the index of its entry in that
    /// container.
    places: Arc<FxHashMap<FileId, (usize, usize)>>,
    /// The results of reading classes that a cancelled call of [`Feed::feed`] leaves for the next call: each with the
    /// container of the class and the index of its entry.
    ahead: Vec<(Arc<LoadedContainer>, usize, Read)>,
}

/// Selects the containers whose classes are read. The classes of other containers are ignored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// Reads only the classes of the program.
    Program,
    /// Reads the classes of the program and of its libraries.
    Libraries,
    /// Reads the classes of the program, its libraries and the platform (the JDK).
    Platform,
}

/// A change for the database, and statistics about the classes that were read for it.
pub struct Fed {
    /// The change to apply to the database.
    pub change: Change,
    /// The files of the classes that results are about (those of the program that the JVM would find), in class-path
    /// order; `None` if the list is the same as after the previous change.
    pub shown: Option<Vec<FileId>>,
    /// The number of library and JDK classes that were parsed for this change, and the total number of their methods.
    pub read: (usize, usize),
    /// Whether ajar panicked while reading a class, which is a bug of ajar.
    pub has_bug: bool,
}

/// A container that the database has, with data about its classes. It is compared with the next version of the
/// container.
#[derive(Clone)]
struct Known {
    container: Arc<LoadedContainer>,
    id: ContainerId,
    /// The data about each entry of the container, by the index of the entry.
    classes: Arc<Vec<Class>>,
    /// For a library or JDK container, its classes as one value for the database; `None` for a container of the
    /// program.
    contents: Option<Arc<Contents>>,
    /// For a library or JDK container, the number of its parsed classes and the total number of their methods; zeros
    /// for a container of the program.
    n: (usize, usize),
    /// The indices of the entries that have a problem: a class that is irregular or cannot be read.
    odd: Vec<usize>,
}

/// The data about an entry of a container: a file or archive entry whose name ends in `.class`.
#[derive(Clone, Default)]
struct Class {
    /// The id of the class file, if the entry is a class of the program that can be read; otherwise `None`.
    file: Option<FileId>,
    /// The record (outline and summaries), if the entry is a class of a library or the JDK that can be read;
    /// otherwise `None`.
    record: Option<ClassRecord>,
    /// What is irregular about the class, or why it cannot be read; `None` if there is no problem.
    problem: Option<Problem>,
}

/// What was read from an entry whose name ends in `.class`.
enum Made {
    /// The bytes of a class of the program, and what is irregular about them; `None` if nothing is.
    Bytes(Arc<[u8]>, Option<Problem>),
    Record(ClassRecord),
}

/// The result of reading an entry whose name ends in `.class`. The error has the problem, and true if the cause is a
/// bug of ajar (a panic).
type Read = Result<Made, (Problem, bool)>;

/// An entry to be read, whose name ends in `.class`. `place` has the index of its container, and the index of the
/// entry in the container.
struct Candidate<'a> {
    container: &'a Arc<LoadedContainer>,
    place: (usize, usize),
}

/// The buffers of a worker thread, which are reused for each class that the thread reads.
#[derive(Default)]
struct Worker {
    read: Scratch,
    parse: ide::Scratch,
}

/// Finds the paths, as shown to people, of the class files that the database has.
struct Paths {
    containers: Vec<(ContainerId, Arc<LoadedContainer>)>,
    /// For each class file of the program, the index of its container in `containers`, and the index of its entry in
    /// that container.
    files: Arc<FxHashMap<FileId, (usize, usize)>>,
}

impl Places for Paths {
    fn place(&self, definition: Definition) -> Option<String> {
        let (container, entry) = match definition {
            Definition::File(file) => {
                let &(i, j) = self.files.get(&file)?;
                (&self.containers.get(i)?.1, j)
            }
            Definition::Library(id, entry) => {
                (&self.containers.iter().find(|it| it.0 == id)?.1, entry as usize)
            }
        };
        Some(container.display(container.classes.get(entry)?))
    }
}

/// Gives the database access to the bytes of the classes in this container of a library or the JDK.
struct Bytes(Arc<LoadedContainer>);

impl ClassSource for Bytes {
    fn with_bytes(&self, entry: u32, read: &mut dyn FnMut(&[u8])) {
        let Some(entry) = self.0.classes.get(entry as usize) else { return };
        if let Ok(it) = self.0.bytes(entry, &mut Scratch::new()) {
            read(it.bytes);
        }
    }
}

impl Reading {
    fn reads(self, role: Role) -> bool {
        match role {
            Role::App => true,
            Role::Lib => self != Reading::Program,
            Role::Jdk => self == Reading::Platform,
        }
    }
}

impl Feed {
    /// Creates a feed for an empty database. `reading` selects the containers whose classes are read, and `threads`
    /// is the number of worker threads that read them.
    pub fn new(reading: Reading, threads: usize) -> Feed {
        let (vfs, known) = (Vfs::default(), Vec::new());
        let (shown, places) = (Shown::default(), Arc::default());
        Feed { reading, threads, vfs, known, next: 0, shown, places, ahead: Vec::new() }
    }

    /// Returns the change that brings the database up to date with the containers in `world` and with `settings`.
    /// While classes are read, `cancelled` may be called. If it returns true, the result is `None`, the feed stays as
    /// it was before the call, and the results of reading are kept for the next call.
    ///
    /// # Errors
    /// Fails if a worker thread cannot be started.
    pub fn feed(
        &mut self,
        world: &LoadedWorld,
        settings: Settings,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> std::io::Result<Option<Fed>> {
        let mut change = Change { settings: Some(settings), ..Change::default() };
        let same = self.known.len() == world.containers.len()
            && self.known.iter().zip(&world.containers).all(|(a, b)| Arc::ptr_eq(&a.container, b));
        if same {
            self.ahead = Vec::new();
            return Ok(Some(Fed { change, shown: None, read: (0, 0), has_bug: false }));
        }
        let as_it_was = self.known.clone();
        let mut before: Vec<Option<Known>> = std::mem::take(&mut self.known).into_iter().map(Some).collect();
        let mut same_files = before.len() == world.containers.len();
        let mut items = Vec::new();
        for (i, container) in world.containers.iter().enumerate() {
            let old = take(&mut before, container);
            same_files &= old.as_ref().is_some_and(|it| it.0 == i && it.1.container.role == container.role);
            let known = self.carry(container, old.map(|it| it.1), i, &mut items, &mut same_files);
            self.known.push(known);
        }
        let unknown = |it: &&Known| it.container.role != Role::App && it.contents.is_none();
        let fresh = items.iter().map(|it| self.known[it.place.0].id);
        let fresh: FxHashSet<ContainerId> =
            fresh.chain(self.known.iter().filter(unknown).map(|it| it.id)).collect();
        let (mut items, mut made) = self.read_ahead(items);
        let n_ahead = made.len();
        let done = read(&items[n_ahead..], self.threads, &mut made, cancelled)?;
        if done.is_break() {
            items.truncate(made.len());
            let read = items.iter().zip(made);
            self.ahead = read.map(|(it, made)| (Arc::clone(it.container), it.place.1, made)).collect();
            self.known = as_it_was;
            return Ok(None);
        }
        // Dropped first, so that the lists of classes are not copied.
        drop(as_it_was);
        let mut fed = Fed { change: Change::default(), shown: None, read: (0, 0), has_bug: false };
        let mut stale: FxHashSet<usize> = FxHashSet::default();
        for (item, made) in items.iter().zip(made) {
            let known = &mut self.known[item.place.0];
            let class = &mut Arc::make_mut(&mut known.classes)[item.place.1];
            let was_there = class.file.is_some();
            let entry = &known.container.classes[item.place.1];
            stale.insert(item.place.0);
            match made {
                Ok(Made::Bytes(bytes, note)) => {
                    let file = self.vfs.file(&known.container.display(entry));
                    *class = Class { file: Some(file), record: None, problem: note };
                    same_files &= was_there;
                    change.classes.push((file, EntryIdentity::of_bytes(&bytes), bytes));
                }
                Ok(Made::Record(record)) => {
                    fed.read.0 += 1;
                    fed.read.1 += record.n_methods();
                    *class = Class { record: Some(record), file: None, problem: None };
                }
                Err((problem, is_bug)) => {
                    fed.has_bug |= is_bug;
                    same_files &= !was_there;
                    // A class of the platform that cannot be read counts as absent, and is not reported.
                    let is_told = is_bug || known.container.role != Role::Jdk;
                    *class = Class { problem: Some(problem).filter(|_| is_told), ..Class::default() };
                }
            }
        }
        let mut has_other_library = false;
        for (i, known) in self.known.iter_mut().enumerate() {
            if known.container.role != Role::App && (known.contents.is_none() || stale.contains(&i)) {
                has_other_library = true;
                known.contents = Some(Arc::new(known.joined()));
                let records = || known.classes.iter().filter_map(|it| it.record.as_ref());
                known.n = (records().count(), records().map(ClassRecord::n_methods).sum());
            }
        }
        for known in self.known.iter_mut().filter(|it| fresh.contains(&it.id)) {
            let odd = known.classes.iter().enumerate().filter(|it| it.1.problem.is_some());
            known.odd = odd.map(|it| it.0).collect();
        }
        if !same_files || has_other_library {
            change.containers = Some(self.known.iter().map(Known::listing).collect());
        }
        if !same_files {
            self.shown = shown(world);
            let file = |&(i, j): &(usize, usize)| self.known[i].classes[j].file;
            let mut seen = FxHashSet::default();
            let shown = self.shown.classes.iter().filter_map(file).filter(|&it| seen.insert(it));
            fed.shown = Some(shown.collect());
            let known = self.known.iter().enumerate().flat_map(|(i, known)| {
                let classes = known.classes.iter().enumerate();
                classes.filter_map(move |(j, it)| Some((it.file?, (i, j))))
            });
            let mut places = FxHashMap::default();
            known.for_each(|(file, place)| _ = places.entry(file).or_insert(place));
            self.places = Arc::new(places);
        }
        fed.change = change;
        Ok(Some(fed))
    }

    /// Moves to the front of `items` those that a cancelled call of [`Feed::feed`] has read already. Returns all
    /// items, and the results of reading the items at the front.
    fn read_ahead<'a>(&mut self, items: Vec<Candidate<'a>>) -> (Vec<Candidate<'a>>, Vec<Read>) {
        let ahead = std::mem::take(&mut self.ahead);
        if ahead.is_empty() {
            return (items, Vec::new());
        }
        // The containers are kept alive meanwhile, so that no other container gets the same address.
        let key = |it: &Arc<LoadedContainer>, entry: usize| (Arc::as_ptr(it), entry);
        let (containers, read): (Vec<_>, Vec<_>) =
            ahead.into_iter().map(|(container, entry, made)| (container, (entry, made))).unzip();
        let read = containers.iter().zip(read).map(|(it, (entry, made))| (key(it, entry), made));
        let mut read: FxHashMap<_, Read> = read.collect();
        let (mut known, mut made, mut unread) = (Vec::new(), Vec::new(), Vec::new());
        for item in items {
            match read.remove(&key(item.container, item.place.1)) {
                Some(it) => {
                    known.push(item);
                    made.push(it);
                }
                None => unread.push(item),
            }
        }
        known.append(&mut unread);
        (known, made)
    }

    /// Returns the data about `container`, which has the index `number` in the class path. Data about entries that
    /// are unchanged since the previous version of the container is taken from `old`. Adds the entries that must be
    /// read to `items`. Sets `same_files` to false if the list of the program's class files may have changed.
    fn carry<'a>(
        &mut self,
        container: &'a Arc<LoadedContainer>,
        old: Option<Known>,
        number: usize,
        items: &mut Vec<Candidate<'a>>,
        same_files: &mut bool,
    ) -> Known {
        let id = old.as_ref().map_or_else(
            || {
                self.next += 1;
                ContainerId(self.next)
            },
            |it| it.id,
        );
        let of_program = container.role == Role::App;
        let kind = |it: &LoadedContainer| (it.role == Role::App, it.has_paths);
        let same_kind = old.filter(|it| kind(&it.container) == kind(container));
        let same_kind = match same_kind {
            Some(it) if Arc::ptr_eq(&it.container, container) => return it,
            it => it,
        };
        let n = container.classes.len();
        let mut stale = vec![false; n];
        let mut classes = match same_kind {
            None => {
                stale.fill(true);
                *same_files &= !of_program;
                Arc::new(vec![Class::default(); n])
            }
            Some(old) => {
                let changes = container.changes_since(&old.container);
                let to_read = changes.added.iter().copied().chain(changes.changed.iter().map(|it| it.now));
                to_read.for_each(|it| stale[it] = true);
                if changes.keeps_numbers() {
                    old.classes
                } else {
                    *same_files &= !of_program;
                    let members = old.container.classes.iter().map(|it| it.member());
                    let mut known: FxHashMap<&str, Class> =
                        members.zip(old.classes.iter().cloned()).collect();
                    let mut of = |(entry, stale): (&ClassEntry, &mut bool)| {
                        let known = known.remove(entry.member());
                        *stale |= known.is_none();
                        known.unwrap_or_default()
                    };
                    Arc::new(container.classes.iter().zip(&mut stale).map(&mut of).collect())
                }
            }
        };
        if !self.reading.reads(container.role) {
            classes = Arc::new(vec![Class::default(); n]);
            stale.fill(false);
        }
        let to_read = stale.iter().enumerate().filter(|it| *it.1).map(|it| it.0);
        items.extend(to_read.map(|entry| Candidate { container, place: (number, entry) }));
        Known { container: Arc::clone(container), id, classes, contents: None, n: (0, 0), odd: Vec::new() }
    }

    /// Returns the path of a class file of the program, as shown to people, such as `app.jar!/p/C.class`.
    pub fn name(&self, file: FileId) -> &str {
        self.vfs.name(file)
    }

    /// Returns the path, as shown to people, of the class file that defines a class; `None` for a library class that
    /// is no longer in a loaded container.
    pub fn place(&self, it: Definition) -> Option<String> {
        match it {
            Definition::File(it) => Some(self.name(it).to_owned()),
            Definition::Library(id, entry) => {
                let container = &self.known.iter().find(|it| it.id == id)?.container;
                Some(container.display(container.classes.get(entry as usize)?))
            }
        }
    }

    /// Returns the paths, as shown to people, of all class files that the database has now. Later changes of the
    /// database do not affect the result.
    pub fn paths(&self) -> Arc<dyn Places> {
        let containers = self.known.iter().map(|it| (it.id, Arc::clone(&it.container))).collect();
        Arc::new(Paths { containers, files: Arc::clone(&self.places) })
    }

    /// Returns the path, as shown to people, of the class file that the JVM finds if it looks for `path` (such as
    /// `p/C.class`): the first in class-path order. `None` if no container has an entry with this path.
    pub fn class_place(&self, path: &str) -> Option<String> {
        let containers = self.known.iter().filter(|it| it.container.has_paths);
        let mut found = containers.filter_map(|known| {
            let entry = known.container.classes.iter().find(|it| it.path() == path)?;
            Some(known.container.display(entry))
        });
        found.next()
    }

    /// Returns the problems of classes that are irregular or could not be read, in class-path order.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.known.iter().flat_map(|it| it.odd.iter().filter_map(|&at| it.classes.get(at)?.problem.as_ref()))
    }

    /// Returns the classes that are left out of the program because the JVM does not find them: for each, the path as
    /// shown to people, and the reason.
    pub fn left_out(&self) -> &[(String, String)] {
        &self.shown.left_out
    }

    /// Returns the number of classes that were read from all library and JDK containers, and the total number of
    /// their methods.
    pub fn all(&self) -> (usize, usize) {
        self.known.iter().fold((0, 0), |acc, it| (acc.0 + it.n.0, acc.1 + it.n.1))
    }
}

/// The calling thread itself reads the classes if there are at most this number; if there are more, worker threads
/// read them.
const FEW: usize = 8;

/// Removes from `before` the data about the previous version of `container`: the same object or, if it is not there,
/// a container with the same name. Returns the index of the data in `before`, and the data; `None` if there is no
/// such data.
fn take(before: &mut [Option<Known>], container: &Arc<LoadedContainer>) -> Option<(usize, Known)> {
    let same = before
        .iter()
        .position(|it| it.as_ref().is_some_and(|it| Arc::ptr_eq(&it.container, container)))
        .or_else(|| {
            before.iter().position(|it| it.as_ref().is_some_and(|it| it.container.name == container.name))
        })?;
    Some((same, before[same].take()?))
}

/// Reads the classes of `items`, and appends the results to `acc` in the order of `items`. Returns `Break` if
/// `cancelled` returned true. Fails if a worker thread cannot be started.
fn read(
    items: &[Candidate<'_>],
    threads: usize,
    acc: &mut Vec<Read>,
    cancelled: &mut dyn FnMut() -> bool,
) -> std::io::Result<ControlFlow<()>> {
    let work = |worker: &mut Worker, item: &Candidate<'_>| {
        let entry = &item.container.classes[item.place.1];
        let class = item.container.bytes(entry, &mut worker.read).map_err(|it| (it, false))?;
        if let Some(why) = item.container.misplaced(entry, class.bytes) {
            return Err((Problem::note(item.container.display(entry), why), false));
        }
        if item.container.role == Role::App {
            return Ok(Made::Bytes(class.bytes.into(), class.note));
        }
        let record = read_class(class.bytes, &mut worker.parse);
        record.map(Made::Record).map_err(|it| (Problem::error(item.container.display(entry), it.what), false))
    };
    // Starting a thread takes longer than reading a few classes.
    let threads = if items.len() <= FEW { 0 } else { threads };
    let mut n = 0;
    let sink = |made: Result<Read, Panicked>| {
        let item: &Candidate<'_> = &items[n];
        n += 1;
        acc.push(made.unwrap_or_else(|panicked| {
            let what = format!("a bug of ajar: {}; please report it", panicked.message);
            let place = item.container.display(&item.container.classes[item.place.1]);
            Err((Problem::error(place, what), true))
        }));
        if threads > 0 && cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    match threads {
        0 => {
            let worker = RefCell::new(Worker::default());
            Ok(map_here(items, |it| work(&mut worker.borrow_mut(), it), sink))
        }
        n => map_ordered(items, n, Worker::default, work, sink),
    }
}

impl Known {
    /// Combines the classes of this library container into one value for the database.
    fn joined(&self) -> Contents {
        let read = self.classes.iter().zip(0..).filter_map(|(it, entry)| Some((it.record.clone()?, entry)));
        let (records, entries): (Vec<_>, Vec<u32>) =
            read.map(|(record, entry)| ((None, record), entry)).unzip();
        let source = Arc::new(Bytes(Arc::clone(&self.container)));
        Contents { records: records.into(), entries: entries.into(), source }
    }

    fn listing(&self) -> Listing {
        let role = self.container.analysed_role();
        match &self.contents {
            Some(it) => Listing::Library { id: self.id, role, contents: Arc::clone(it) },
            None => {
                let mut seen = FxHashSet::default();
                let files = self.classes.iter().filter_map(|it| it.file).filter(|&it| seen.insert(it));
                Listing::Classes(ContainerListing { id: self.id, role, classes: files.collect() })
            }
        }
    }
}
