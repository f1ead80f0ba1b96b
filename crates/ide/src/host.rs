//! One writer, any number of readers.
//!
//! [`AnalysisHost::apply_change`] is the only place that sets inputs. It compares first, as salsa does not: setting an
//! equal value would make everything behind it run again. [`Analysis`] is a snapshot; when a change comes while it
//! works, its questions end with [`Cancelled`], and it is to be dropped, as the writer waits for it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use analysis::facts::{ClassFacts, Code, facts, positions};
use analysis::fault::Fault;
use analysis::names::{MethodId, Text};
use analysis::parts::StageTimes;
use analysis::propagated::throws;
use analysis::solver::Counts;
use analysis::whole::answers::Throws;
use program::input::{ClassFile, Container, Role, Settings, World};
use program::outline::{Outline, outline};
use rustc_hash::{FxHashMap, FxHashSet};
use salsa::plumbing::AsId;
use salsa::{Durability, Setter};
use vfs::file::FileId;
use vfs::identity::EntryIdentity;

use crate::answer::{ClassAnswer, FailedMethod, MethodAnswer};
use crate::db::RootDatabase;
use crate::log::{QueryLog, QueryStep};

/// A container, as numbered by whoever writes changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ContainerId(pub u32);

/// What is new since the last change. Empty is legal and changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The whole list of containers in class-path order, if it or what is in them changed.
    pub containers: Option<Vec<ContainerListing>>,
    /// Class files with new contents. A file that no container lists is passed over.
    pub classes: Vec<(FileId, EntryIdentity, Arc<[u8]>)>,
    /// The settings, if they changed.
    pub settings: Option<Settings>,
}

/// What is in a container.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContainerListing {
    /// The container.
    pub id: ContainerId,
    /// What it is to the program.
    pub role: Role,
    /// Its class files in directory order.
    pub classes: Vec<FileId>,
}

/// A change came while the question was worked on. Drop the snapshot and ask a new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;

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
        let subjects: FxHashMap<salsa::Id, Subject> = classes.chain(containers).collect();
        let of = |id| subjects.get(&id).copied().unwrap_or(Subject::Other);
        log.take().into_iter().map(|(step, query, id)| Logged { query, of: of(id), step }).collect()
    }

    /// Makes the solved program ready for the next change, so that this one does not wait for it: for when there is
    /// nothing else to do. Does nothing while a snapshot is asked, or before one was.
    pub fn keep_current(&mut self) {
        analysis::db::Db::solver(&self.db).keep_current();
    }

    /// How often the whole program was made anew, and how often changed code was taken in.
    pub fn solver_counts(&self) -> Counts {
        analysis::db::Db::solver(&self.db).counts()
    }

    /// A snapshot of now.
    pub fn analysis(&self) -> Analysis {
        Analysis { db: self.db.clone(), files: Arc::clone(&self.files) }
    }

    /// Makes the change and cancels the snapshots, if there is anything to change. Waits until they are dropped.
    pub fn apply_change(&mut self, change: Change) {
        let contents: FxHashMap<FileId, (EntryIdentity, Arc<[u8]>)> =
            change.classes.into_iter().map(|(file, hash, bytes)| (file, (hash, bytes))).collect();
        if let Some(containers) = &change.containers {
            self.set_containers(containers, &contents);
        }
        for (file, (hash, bytes)) in contents {
            if let Some(&class) = self.files.get(&file) {
                self.set_content(class, hash, bytes);
            }
        }
        if let Some(settings) = change.settings {
            self.set_settings(settings);
        }
    }

    fn set_containers(
        &mut self,
        listings: &[ContainerListing],
        contents: &FxHashMap<FileId, (EntryIdentity, Arc<[u8]>)>,
    ) {
        self.release_vanished(listings);
        let mut order = Vec::with_capacity(listings.len());
        for listing in listings {
            let container = self.container(listing);
            let mut classes = Vec::with_capacity(listing.classes.len());
            for &file in &listing.classes {
                let known = self.files.get(&file).copied();
                let class = match (known, contents.get(&file)) {
                    (Some(it), _) => it,
                    (None, Some((hash, bytes))) => self.new_class(listing.id, container, *hash, bytes),
                    // Nobody said what is in it: it is not there yet.
                    (None, None) => continue,
                };
                Arc::make_mut(&mut self.files).insert(file, class);
                classes.push(class);
            }
            if *container.classes(&self.db) != *classes {
                let durability = durability(listing.role);
                container.set_classes(&mut self.db).with_durability(durability).to(classes.into());
            }
            order.push(container);
        }
        match self.world {
            Some(world) if *world.containers(&self.db) == *order => {}
            Some(world) => {
                world.set_containers(&mut self.db).with_durability(Durability::HIGH).to(order.into());
            }
            None => self.world = Some(self.new_world(order)),
        }
    }

    /// Frees the inputs of files that are listed nowhere any more, or by another container.
    fn release_vanished(&mut self, listings: &[ContainerListing]) {
        let listed: FxHashSet<(FileId, Option<Container>)> = listings
            .iter()
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

    fn set_content(&mut self, class: ClassFile, hash: EntryIdentity, bytes: Arc<[u8]>) {
        if class.hash(&self.db) == hash {
            return;
        }
        let durability = durability(class.container(&self.db).role(&self.db));
        class.set_hash(&mut self.db).with_durability(durability).to(hash);
        class.set_bytes(&mut self.db).with_durability(durability).to(bytes);
    }

    fn set_settings(&mut self, settings: Settings) {
        match self.world {
            Some(world) if *world.settings(&self.db) == settings => {}
            Some(world) => {
                world.set_settings(&mut self.db).with_durability(Durability::HIGH).to(settings);
            }
            None => {
                let world = World::builder(Arc::default(), settings).durability(Durability::HIGH);
                self.world = Some(world.new(&self.db));
            }
        }
    }

    fn new_world(&self, order: Vec<Container>) -> World {
        let settings = Settings { world: crate::WorldKind::Open, release: DEFAULT_RELEASE };
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

    /// The answer about one method; `None` if it is not there or its code is not.
    pub fn method(&self, file: FileId, method: &MethodId) -> Cancellable<Option<MethodAnswer>> {
        self.ask(file, |db, class| {
            let facts = facts(db, class).as_ref().ok()?;
            let index = facts.index_of(method)?;
            method_of(db, class, facts, index)?.ok()
        })
    }

    /// What the methods of the class in the file let out, in the whole program; `None` if the file is not known.
    pub fn throws(&self, file: FileId) -> Cancellable<Option<Vec<Throws>>> {
        self.ask(file, |db, class| Some(throws(db, class).to_vec()))
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
