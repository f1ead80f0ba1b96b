//! One writer, any number of readers.
//!
//! [`AnalysisHost::apply_change`] is the only way to change what is asked about ([`crate::inputs`]). [`Analysis`] is a snapshot;
//! when a change comes while it works, its questions end with [`Cancelled`], and it is to be dropped, as the writer waits for
//! it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

pub use analysis::answers::Calls;
use analysis::answers::{self, Entry};
use analysis::definitions::ClassOrigin;
use analysis::facts::{ClassFacts, ClassPositions, Code, facts, positions};
use analysis::fault::Fault;
use analysis::input::{Library, Part, Profile, World};
use analysis::keeper::Counts;
use analysis::names::{MethodId, Text};
use analysis::parts::StageTimes;
use analysis::pattern::NoMatch;
use analysis::propagated::{container_records, key, propagated, record};
use analysis::stamps::Kind;
use analysis::whole::answers::Throws;
use analysis::whole::graph::Graph;
use analysis::whole::missing::Missing;
use program::input::ClassFile;
use program::outline::{Outline, outline};
use rustc_hash::FxHashMap;
use salsa::plumbing::AsId;
use vfs::file::FileId;

use crate::answer::{ClassAnswer, FailedMethod, MethodAnswer};
use crate::change::{Change, ContainerId};
use crate::db::RootDatabase;
use crate::inputs::Inputs;
use crate::log::{QueryLog, QueryStep};
use crate::whole::{HierarchyFault, faults};

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
    inputs: Inputs,
    log: Option<QueryLog>,
}

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
        let classes = self.inputs.files.iter().map(|(&file, it)| (it.as_id(), Subject::Class(file)));
        let containers =
            self.inputs.lists.iter().map(|(&id, it)| (it.container.as_id(), Subject::Container(id)));
        let libraries = self.inputs.libraries.iter().map(|(&id, it)| (it.as_id(), Subject::Container(id)));
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
        let (files, libraries) = (Arc::clone(&self.inputs.files), Arc::clone(&self.inputs.libraries));
        Analysis { db: self.db.clone(), files, libraries }
    }

    /// Makes the change and cancels the snapshots, if there is anything to change. Waits until they are dropped. Gives the
    /// files whose class is another one now than before, or new.
    pub fn apply_change(&mut self, change: Change) -> Vec<FileId> {
        self.inputs.apply(&mut self.db, change)
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
            let hierarchy = &answers.solved().calls.classes.hierarchy;
            let reached = answers.solved().calls.reachable.as_ref();
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
            let by = propagated(db, world).read().shadowed(key(db, class))?;
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
                        let mut classes = it.classes(&self.db).into_iter();
                        let class = classes.find(|it| Some(key(&self.db, *it)) == *found)?;
                        return self.definition_by(ClassOrigin::File(class));
                    }
                    number -= records.len();
                }
                Part::Library(it) => {
                    let entries = &it.contents(&self.db).entries;
                    if let Some(entry) = entries.get(number) {
                        return self.definition_by(ClassOrigin::Library(it, *entry));
                    }
                    number -= entries.len();
                }
            }
        }
        None
    }

    /// The definition that this is.
    pub(crate) fn definition_by(&self, origin: ClassOrigin) -> Option<Definition> {
        match origin {
            ClassOrigin::File(class) => Some(Definition::File(class.file(&self.db))),
            ClassOrigin::Library(it, entry) => {
                let library = self.libraries.iter().find(|(_, other)| **other == it)?;
                Some(Definition::Library(*library.0, entry))
            }
        }
    }

    /// Which of the methods of a class, in file order, are reached from the entry points; `None` if all count.
    pub fn reached(&self, file: FileId) -> Cancellable<Option<Arc<[bool]>>> {
        self.ask(file, |db, class| answers::reached(db, class).clone())
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

    pub(crate) fn ask<T>(
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
