//! One writer, any number of readers.
//!
//! [`AnalysisHost::apply_change`] is the only place that sets inputs. It compares first, as salsa does not: setting an
//! equal value would make everything behind it run again. [`Analysis`] is a snapshot; when a change comes while it
//! works, its questions end with [`Cancelled`], and it is to be dropped, as the writer waits for it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

pub use analysis::answers::Calls;
use analysis::answers::{self, Entry};
use analysis::facts::{ClassFacts, ClassPositions, Code, facts, positions};
use analysis::fault::Fault;
use analysis::input::{Contents, Library, Part, Profile, Settings, World};
use analysis::keeper::Counts;
use analysis::names::{MethodId, Text};
use analysis::parts::StageTimes;
use analysis::pattern::NoMatch;
use analysis::propagated::{container_records, key, propagated, record};
use analysis::stamps::Kind;
use analysis::whole::answers::Throws;
use analysis::whole::graph::Graph;
use analysis::whole::members::method_id;
use analysis::whole::missing::Missing;
use program::input::{ClassFile, Container, Role};
use program::outline::{Outline, outline};
use rustc_hash::{FxHashMap, FxHashSet};
use salsa::plumbing::AsId;
use salsa::{Durability, Setter};
use vfs::file::FileId;
use vfs::identity::EntryIdentity;

use crate::answer::{ClassAnswer, FailedMethod, MethodAnswer};
use crate::db::RootDatabase;
use crate::log::{QueryLog, QueryStep};
use crate::whole::{HierarchyFault, faults};

/// A container, as numbered by whoever writes changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ContainerId(pub u32);

/// What is new since the last change. Empty is legal and changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The whole list of containers in class-path order, if it or what is in them changed.
    pub containers: Option<Vec<Listing>>,
    /// Class files with new contents. A file that no container lists is passed over.
    pub classes: Vec<(FileId, EntryIdentity, Arc<[u8]>)>,
    /// The settings, if they changed.
    pub settings: Option<Settings>,
}

/// A container.
#[derive(Clone, Debug)]
pub enum Listing {
    /// One of which somebody asks: each class is an input.
    Classes(ContainerListing),
    /// A library or platform: its classes are not edited one by one.
    Library {
        /// The container.
        id: ContainerId,
        /// What it is to the program.
        role: Role,
        /// Its classes, taken apart.
        contents: Arc<Contents>,
    },
}

/// What is in a container of which somebody asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContainerListing {
    /// The container.
    pub id: ContainerId,
    /// What it is to the program.
    pub role: Role,
    /// Its class files in directory order.
    pub classes: Vec<FileId>,
}

/// What is to be known of the program as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProgramState {
    /// The generation that it is; none in profile `paper`.
    pub generation: Option<u64>,
    /// A pattern of the entry points that selects nothing.
    pub no_match: Option<NoMatch>,
    /// Whether calls are narrowed to what is reached, and nothing is an entry point.
    pub no_entry: bool,
    /// The faults of supertypes outside the JDK, by text.
    pub faults: Vec<HierarchyFault>,
}

/// A change came while the question was worked on. Drop the snapshot and ask a new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;

/// What is known of a class by itself, and where that stands.
pub type ParsedClass = (Arc<ClassFacts>, Arc<ClassPositions>);

/// What a question to a snapshot comes to.
pub type Cancellable<T> = Result<T, Cancelled>;

/// A query that did something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Logged {
    /// Its name.
    pub query: String,
    /// What it was asked of.
    pub of: Subject,
    /// What it did.
    pub step: QueryStep,
}

/// What a query was asked of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// The class in a file.
    Class(FileId),
    /// A container.
    Container(ContainerId),
    /// The world, or something that is gone.
    Other,
}

/// Owns the database. The one writer.
#[derive(Default)]
pub struct AnalysisHost {
    db: RootDatabase,
    files: Arc<FxHashMap<FileId, ClassFile>>,
    containers: FxHashMap<ContainerId, Container>,
    libraries: Arc<FxHashMap<ContainerId, Library>>,
    /// Inputs of classes that vanished, to be used again: salsa never frees one. Until then they keep what is known of them.
    free: FxHashMap<ContainerId, FreeSlots>,
    world: Option<World>,
    log: Option<QueryLog>,
}

/// The inputs that no class has, by the content that they still have.
type FreeSlots = FxHashMap<EntryIdentity, Vec<ClassFile>>;

/// A snapshot.
#[derive(Clone)]
pub struct Analysis {
    db: RootDatabase,
    files: Arc<FxHashMap<FileId, ClassFile>>,
    libraries: Arc<FxHashMap<ContainerId, Library>>,
}

/// Where a class is defined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Definition {
    /// In this file.
    File(FileId),
    /// In a library, by the number of its entry.
    Library(ContainerId, u32),
}

impl AnalysisHost {
    /// A host without any class.
    pub fn new() -> Self {
        Self::default()
    }

    /// A host without any class that writes down what its queries do ([`AnalysisHost::logged`]).
    pub fn with_log() -> Self {
        let log = QueryLog::default();
        AnalysisHost { db: RootDatabase::logged(&log), log: Some(log), ..Self::default() }
    }

    /// What queries did since the last call, in that order; nothing without a log.
    pub fn logged(&self) -> Vec<Logged> {
        let Some(log) = &self.log else { return Vec::new() };
        let classes = self.files.iter().map(|(&file, it)| (it.as_id(), Subject::Class(file)));
        let containers = self.containers.iter().map(|(&id, it)| (it.as_id(), Subject::Container(id)));
        let libraries = self.libraries.iter().map(|(&id, it)| (it.as_id(), Subject::Container(id)));
        let subjects: FxHashMap<salsa::Id, Subject> = classes.chain(containers).chain(libraries).collect();
        let of = |id| subjects.get(&id).copied().unwrap_or(Subject::Other);
        log.take().into_iter().map(|(step, query, id)| Logged { query, of: of(id), step }).collect()
    }

    /// Makes the solved program ready for the next change, so that this one does not wait for it: for when there is
    /// nothing else to do. Ends early when `cancelled` says that there is; the next call goes on. Does nothing while a snapshot
    /// is asked, or before one was.
    pub fn keep_current(&mut self, cancelled: &mut dyn FnMut() -> bool) {
        // What is not ready is made ready by the change itself.
        let _ = analysis::db::Db::keeper(&self.db).keep_current(cancelled);
    }

    /// How often the whole program was rebuilt, and how often what changed was taken in.
    pub fn counts(&self) -> Counts {
        analysis::db::Db::keeper(&self.db).counts()
    }

    /// A snapshot of now.
    pub fn analysis(&self) -> Analysis {
        let (files, libraries) = (Arc::clone(&self.files), Arc::clone(&self.libraries));
        Analysis { db: self.db.clone(), files, libraries }
    }

    /// Makes the change and cancels the snapshots, if there is anything to change. Waits until they are dropped. Gives the
    /// files whose class is another one now than before, or new.
    pub fn apply_change(&mut self, change: Change) -> Vec<FileId> {
        let contents: FxHashMap<FileId, (EntryIdentity, Arc<[u8]>)> =
            change.classes.into_iter().map(|(file, hash, bytes)| (file, (hash, bytes))).collect();
        let mut edited = Vec::new();
        if let Some(containers) = &change.containers {
            self.set_containers(containers, &contents, &mut edited);
        }
        for (file, (hash, bytes)) in contents {
            if let Some(&class) = self.files.get(&file)
                && self.set_content(class, hash, bytes)
            {
                edited.push(file);
            }
        }
        if let Some(settings) = change.settings {
            self.set_settings(settings);
        }
        edited
    }

    fn set_containers(
        &mut self,
        listings: &[Listing],
        contents: &FxHashMap<FileId, (EntryIdentity, Arc<[u8]>)>,
        edited: &mut Vec<FileId>,
    ) {
        self.release_vanished(listings);
        let mut order = Vec::with_capacity(listings.len());
        for listing in listings {
            order.push(match listing {
                Listing::Classes(it) => Part::Classes(self.set_classes(it, contents, edited)),
                Listing::Library { id, role, contents } => Part::Library(self.library(*id, *role, contents)),
            });
        }
        match self.world {
            Some(world) if *world.parts(&self.db) == *order => {}
            Some(world) => {
                world.set_parts(&mut self.db).with_durability(Durability::HIGH).to(order.into());
            }
            None => self.world = Some(self.new_world(order)),
        }
    }

    fn set_classes(
        &mut self,
        listing: &ContainerListing,
        contents: &FxHashMap<FileId, (EntryIdentity, Arc<[u8]>)>,
        edited: &mut Vec<FileId>,
    ) -> Container {
        let container = self.container(listing);
        let mut classes = Vec::with_capacity(listing.classes.len());
        for &file in &listing.classes {
            let known = self.files.get(&file).copied();
            let class = match (known, contents.get(&file)) {
                (Some(it), _) => it,
                (None, Some((hash, bytes))) => {
                    edited.push(file);
                    self.new_class(listing.id, container, *hash, bytes)
                }
                // Nobody said what is in it: it is not there yet.
                (None, None) => continue,
            };
            if known.is_none() {
                Arc::make_mut(&mut self.files).insert(file, class);
            }
            classes.push(class);
        }
        if *container.classes(&self.db) != *classes {
            let durability = durability(listing.role);
            container.set_classes(&mut self.db).with_durability(durability).to(classes.into());
        }
        container
    }

    fn library(&mut self, id: ContainerId, role: Role, contents: &Arc<Contents>) -> Library {
        let Some(&it) = self.libraries.get(&id) else {
            let it = Library::builder(role, Arc::clone(contents)).durability(Durability::HIGH).new(&self.db);
            Arc::make_mut(&mut self.libraries).insert(id, it);
            return it;
        };
        if it.role(&self.db) != role {
            it.set_role(&mut self.db).with_durability(Durability::HIGH).to(role);
        }
        if !Arc::ptr_eq(it.contents(&self.db), contents) {
            it.set_contents(&mut self.db).with_durability(Durability::HIGH).to(Arc::clone(contents));
        }
        it
    }

    /// Frees the inputs of files that are listed nowhere any more, or by another container.
    fn release_vanished(&mut self, listings: &[Listing]) {
        let of_classes = listings.iter().filter_map(|it| match it {
            Listing::Classes(it) => Some(it),
            Listing::Library { .. } => None,
        });
        let listed: FxHashSet<(FileId, Option<Container>)> = of_classes
            .flat_map(|it| {
                let container = self.containers.get(&it.id).copied();
                it.classes.iter().map(move |&file| (file, container))
            })
            .collect();
        let db = &self.db;
        let gone: Vec<(FileId, ClassFile)> = self
            .files
            .iter()
            .map(|(&file, &class)| (file, class))
            .filter(|&(file, class)| !listed.contains(&(file, Some(class.container(db)))))
            .collect();
        if gone.is_empty() {
            return;
        }
        let ids: FxHashMap<Container, ContainerId> =
            self.containers.iter().map(|(&id, &it)| (it, id)).collect();
        for (file, class) in gone {
            Arc::make_mut(&mut self.files).remove(&file);
            if let Some(&id) = ids.get(&class.container(&self.db)) {
                let free = self.free.entry(id).or_default();
                free.entry(class.hash(&self.db)).or_default().push(class);
            }
        }
    }

    fn container(&mut self, listing: &ContainerListing) -> Container {
        let durability = durability(listing.role);
        match self.containers.get(&listing.id) {
            Some(&it) => {
                if it.role(&self.db) != listing.role {
                    it.set_role(&mut self.db).with_durability(durability).to(listing.role);
                }
                it
            }
            None => {
                let it =
                    Container::builder(listing.role, Arc::default()).durability(durability).new(&self.db);
                self.containers.insert(listing.id, it);
                it
            }
        }
    }

    fn new_class(
        &mut self,
        id: ContainerId,
        container: Container,
        hash: EntryIdentity,
        bytes: &Arc<[u8]>,
    ) -> ClassFile {
        if let Some(class) = self.free.get_mut(&id).and_then(|it| take_slot(it, hash)) {
            self.set_content(class, hash, Arc::clone(bytes));
            return class;
        }
        let slot = self.files.len() as u32;
        let durability = durability(container.role(&self.db));
        ClassFile::builder(container, slot, hash, Arc::clone(bytes)).durability(durability).new(&self.db)
    }

    /// Whether that is news.
    fn set_content(&mut self, class: ClassFile, hash: EntryIdentity, bytes: Arc<[u8]>) -> bool {
        if class.hash(&self.db) == hash {
            return false;
        }
        let durability = durability(class.container(&self.db).role(&self.db));
        class.set_hash(&mut self.db).with_durability(durability).to(hash);
        class.set_bytes(&mut self.db).with_durability(durability).to(bytes);
        true
    }

    fn set_settings(&mut self, settings: Settings) {
        match self.world {
            Some(world) if **world.settings(&self.db) == settings => {}
            Some(world) => {
                world.set_settings(&mut self.db).with_durability(Durability::HIGH).to(Arc::new(settings));
            }
            None => {
                let world = World::builder(Arc::default(), Arc::new(settings)).durability(Durability::HIGH);
                self.world = Some(world.new(&self.db));
            }
        }
    }

    fn new_world(&self, order: Vec<Part>) -> World {
        let settings = Arc::new(Settings::new(crate::WorldKind::Open, DEFAULT_RELEASE));
        World::builder(order.into(), settings).durability(Durability::HIGH).new(&self.db)
    }
}

/// A free slot: one with this content if there is one, as all that is known of it holds again.
fn take_slot(free: &mut FreeSlots, hash: EntryIdentity) -> Option<ClassFile> {
    let key = if free.contains_key(&hash) { hash } else { *free.keys().next()? };
    let slots = free.get_mut(&key)?;
    let slot = slots.pop();
    if slots.is_empty() {
        free.remove(&key);
    }
    slot
}

/// The release of a world whose settings nobody set yet.
const DEFAULT_RELEASE: u16 = 25;

fn durability(role: Role) -> Durability {
    match role {
        Role::App => Durability::LOW,
        Role::Lib | Role::Jdk => Durability::HIGH,
    }
}

impl Analysis {
    /// What can be seen of the class in the file; `None` if the file is not known or cannot be read.
    pub fn outline(&self, file: FileId) -> Cancellable<Option<Arc<Outline>>> {
        self.ask(file, |db, class| outline(db, class).as_ref().ok().cloned())
    }

    /// The answer about the class in the file: `None` if the file is not known, why if it cannot be read.
    pub fn class(&self, file: FileId) -> Cancellable<Option<Result<ClassAnswer, Fault>>> {
        self.ask(file, |db, class| {
            Some(match facts(db, class) {
                Ok(it) => Ok(class_of(db, class, it)),
                Err(why) => Err(why.clone().into()),
            })
        })
    }

    /// What is known of the class in the file by itself, and where that stands: `None` if the file is not known, why if it cannot
    /// be read.
    pub fn parsed(&self, file: FileId) -> Cancellable<Option<Result<ParsedClass, Fault>>> {
        self.ask(file, |db, class| {
            let facts = match facts(db, class) {
                Ok(it) => Arc::clone(it),
                Err(why) => return Some(Err(why.clone().into())),
            };
            Some(Ok((facts, Arc::clone(positions(db, class).as_ref()?))))
        })
    }

    /// Why the class in the file is outside, if it cannot be read as a part of a program.
    pub fn fault(&self, file: FileId) -> Cancellable<Option<Fault>> {
        self.ask(file, |db, class| {
            let fault = outline(db, class).as_ref().err().cloned();
            fault.or_else(|| facts(db, class).as_ref().err().cloned()).map(Fault::from)
        })
    }

    /// The answer about one method; `None` if it is not there or its code is not.
    pub fn method(&self, file: FileId, method: &MethodId) -> Cancellable<Option<MethodAnswer>> {
        self.ask(file, |db, class| {
            let facts = facts(db, class).as_ref().ok()?;
            let index = facts.index_of(method)?;
            method_of(db, class, facts, index)?.ok()
        })
    }

    /// What the methods of the class in the file let out, in the whole program; `None` if the file is not known.
    pub fn throws(&self, file: FileId) -> Cancellable<Option<Arc<[Throws]>>> {
        self.ask(file, |db, class| Some(Arc::clone(answers::throws(db, class))))
    }

    /// Where the calls of the methods of the class in the file go; `None` if the file is not known.
    pub fn calls(&self, file: FileId) -> Cancellable<Option<Arc<[Calls]>>> {
        self.ask(file, |db, class| Some(Arc::clone(answers::calls(db, class))))
    }

    /// The final graphs of the methods of the class in the file; `None` if the file is not known.
    pub fn graphs(&self, file: FileId) -> Cancellable<Option<Arc<[Arc<Graph>]>>> {
        self.ask(file, |db, class| Some(Arc::clone(answers::graphs(db, class))))
    }

    /// Takes the class in the file apart, so that a question about the whole program finds it done: for as many workers as
    /// there are.
    pub fn prepare(&self, file: FileId) -> Cancellable<()> {
        self.ask(file, |db, class| {
            let _ = record(db, class);
            Some(())
        })?;
        Ok(())
    }

    /// The classes that the program names and that are not there, by text.
    pub fn missing(&self) -> Cancellable<Arc<[Missing]>> {
        self.ask_world(Arc::default, |db, world| Arc::clone(answers::missing(db, world)))
    }

    /// Where the program starts.
    pub fn entries(&self) -> Cancellable<Arc<[Entry]>> {
        self.ask_world(Arc::default, |db, world| Arc::clone(answers::entries(db, world)))
    }

    /// What is to be known of the program as a whole.
    pub fn program(&self) -> Cancellable<ProgramState> {
        self.ask_world(ProgramState::default, |db, world| {
            if world.settings(db).profile == Profile::Paper {
                return ProgramState::default();
            }
            let propagated = propagated(db, world);
            let answers = propagated.read();
            let hierarchy = &answers.whole().program.hierarchy;
            let reached = answers.whole().reachable.as_ref();
            ProgramState {
                generation: Some(propagated.generation()),
                no_match: answers.no_match().cloned(),
                no_entry: reached.is_some_and(|it| it.entries.is_empty()),
                faults: faults(hierarchy),
            }
        })
    }

    /// The classes about which an answer of this kind may be another one since a generation of the program; `None` if all may be.
    pub fn stale_since(&self, generation: u64, kind: Kind) -> Cancellable<Option<Vec<Text>>> {
        self.ask_world(
            || None,
            |db, world| {
                if world.settings(db).profile == Profile::Paper {
                    return None;
                }
                let stale = propagated(db, world).read().stale_since(generation, kind)?;
                Some(stale.into_iter().map(|it| Text(it.bytes())).collect())
            },
        )
    }

    /// The definition that counts of the class in the file, if that is another one.
    pub fn shadowed(&self, file: FileId) -> Cancellable<Option<Definition>> {
        self.ask(file, |db, class| {
            let world = World::try_get(db)?;
            if world.settings(db).profile == Profile::Paper {
                return None;
            }
            let by = propagated(db, world).read().shadowed(key(class))?;
            self.definition(world, by)
        })
    }

    /// The definition of which the record has this number among those of all containers.
    fn definition(&self, world: World, mut number: usize) -> Option<Definition> {
        for part in world.parts(&self.db) {
            match *part {
                Part::Classes(it) => {
                    let records = container_records(&self.db, it);
                    if let Some((found, _)) = records.get(number) {
                        let file = self.files.iter().find(|it| Some(key(*it.1)) == *found)?;
                        return Some(Definition::File(*file.0));
                    }
                    number -= records.len();
                }
                Part::Library(it) => {
                    let entries = &it.contents(&self.db).entries;
                    if let Some(entry) = entries.get(number) {
                        let library = self.libraries.iter().find(|(_, other)| **other == it)?;
                        return Some(Definition::Library(*library.0, *entry));
                    }
                    number -= entries.len();
                }
            }
        }
        None
    }

    /// Which of the methods of a class, in file order, are reached from the entry points; `None` if all count.
    pub fn reached(&self, file: FileId) -> Cancellable<Option<Vec<bool>>> {
        self.ask(file, |db, class| {
            let world = World::try_get(db)?;
            if !world.settings(db).rta || world.settings(db).profile == Profile::Paper {
                return None;
            }
            let name = record(db, class).as_ref()?.class();
            let propagated = propagated(db, world);
            let answers = propagated.read();
            let (whole, id) = (answers.whole(), answers.defined(key(class), name)?);
            let reachable = whole.reachable.as_ref()?;
            let n_methods = whole.program.hierarchy.outline(id).methods.len();
            Some((0..n_methods).map(|it| reachable.from(method_id(id, it)).is_some()).collect())
        })
    }

    /// Whether the methods of a class, in file order, are ghosts: what their class file has is not their code.
    pub fn ghosts(&self, file: FileId) -> Cancellable<Option<Vec<bool>>> {
        self.ask(file, |db, class| {
            let outline = record(db, class).as_ref()?.outline();
            let whole = outline.ghost.is_some();
            Some(outline.methods.iter().map(|it| whole || it.ghost.is_some()).collect())
        })
    }

    fn ask_world<T>(
        &self,
        nothing: impl FnOnce() -> T,
        question: impl FnOnce(&RootDatabase, World) -> T,
    ) -> Cancellable<T> {
        let Some(world) = World::try_get(&self.db) else { return Ok(nothing()) };
        let run = AssertUnwindSafe(|| question(&self.db, world));
        salsa::Cancelled::catch(run).map_err(|_| Cancelled)
    }

    fn ask<T>(
        &self,
        file: FileId,
        question: impl FnOnce(&RootDatabase, ClassFile) -> Option<T>,
    ) -> Cancellable<Option<T>> {
        let Some(&class) = self.files.get(&file) else { return Ok(None) };
        let run = AssertUnwindSafe(|| question(&self.db, class));
        salsa::Cancelled::catch(run).map_err(|_| Cancelled)
    }
}

fn class_of(db: &RootDatabase, class: ClassFile, facts: &ClassFacts) -> ClassAnswer {
    let source_file = positions(db, class).as_ref().and_then(|it| it.source_file);
    let mut answer = ClassAnswer {
        class: Text(facts.head.class.bytes()),
        access: facts.head.flags.0,
        note: facts.head.version_note(),
        source_file,
        methods: Vec::new(),
        failed: Vec::new(),
        without_code: Vec::new(),
        selected: facts.methods.len(),
        times: StageTimes::default(),
    };
    for index in 0..facts.methods.len() {
        match method_of(db, class, facts, index) {
            Some(Ok(it)) => answer.methods.push(it),
            Some(Err(it)) => answer.failed.push(it),
            None => {
                let fact = &facts.methods[index];
                answer.without_code.push((MethodId::of(fact.method), fact.flags.0));
            }
        }
    }
    answer
}

/// The answer about the method with this number, or why there is none; `None` for methods without code.
fn method_of(
    db: &RootDatabase,
    class: ClassFile,
    facts: &ClassFacts,
    index: usize,
) -> Option<Result<MethodAnswer, FailedMethod>> {
    let fact = facts.methods.get(index)?;
    let method = MethodId::of(fact.method);
    let place = positions(db, class).as_ref()?.methods.get(index)?.as_ref()?;
    Some(match (&fact.code, place) {
        (Code::Known(code), Ok(positions)) => Ok(MethodAnswer {
            method,
            access: fact.flags.0,
            code: Arc::clone(code),
            positions: Arc::clone(positions),
            graph: facts.head.graph(code),
        }),
        (_, Err(why)) => Err(FailedMethod { method, fault: why.clone().into() }),
        (_, Ok(_)) => return None,
    })
}
