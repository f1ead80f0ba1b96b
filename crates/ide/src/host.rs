//! The host of the database (one writer) and its snapshots (any number of readers).
//!
//! [`AnalysisHost::apply_change`] is the only way to change the inputs ([`crate::inputs`]). An [`Analysis`] is a
//! snapshot. When a change arrives while a snapshot answers a question, the question ends with [`Cancelled`]. The
//! snapshot must then be dropped, because the writer waits for that.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use analysis::answers;
pub use analysis::answers::Calls;
use analysis::definitions::ClassOrigin;
use analysis::facts::{ClassFacts, ClassPositions, Code, facts, positions};
use analysis::fault::Fault;
use analysis::input::{Library, Part, Profile, World};
use analysis::keeper::Counts;
use analysis::lists::{self, Entry};
use analysis::parts::StageTimes;
use analysis::pattern::NoMatch;
use analysis::propagated::{container_records, key, propagated, record};
use analysis::stamps::Kind;
use analysis::whole::answers::Throws;
use analysis::whole::graph::Graph;
use analysis::whole::missing::Missing;
use program::input::ClassFile;
use program::names::{MethodName, Text};
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

/// The generation of the solved program, and the faults found in the program as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProgramState {
    /// The generation number of the solved program, to be passed to [`Analysis::stale_since`] later; `None` in
    /// profile `paper`.
    pub generation: Option<u64>,
    /// A pattern for entry points that selects no method, if there is one.
    pub no_match: Option<NoMatch>,
    /// Whether calls are restricted to code reached from entry points although the program has no entry point.
    pub no_entry: bool,
    /// The faults in the class hierarchy outside the JDK, sorted by text.
    pub faults: Vec<HierarchyFault>,
}

/// The error of a question that a change interrupted. Drop the snapshot, and put the question to a new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;

/// The facts that one class file alone proves, and the positions of the instructions in its methods.
pub type ParsedClass = (Arc<ClassFacts>, Arc<ClassPositions>);

/// The result of a question to a snapshot.
pub type Cancellable<T> = Result<T, Cancelled>;

/// A recorded step of a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Logged {
    /// The name of the query.
    pub query: String,
    /// What a query was asked about.
    pub of: Subject,
    /// Whether the query ran or was only validated.
    pub step: QueryStep,
}

/// The subject of a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// The class in this file.
    Class(FileId),
    /// The container with this number.
    Container(ContainerId),
    /// The program as a whole, or an input that no longer exists.
    Other,
}

/// The owner of the database, and its only writer.
#[derive(Default)]
pub struct AnalysisHost {
    db: RootDatabase,
    inputs: Inputs,
    log: Option<QueryLog>,
}

/// A snapshot of the database.
#[derive(Clone)]
pub struct Analysis {
    db: RootDatabase,
    files: Arc<FxHashMap<FileId, ClassFile>>,
    libraries: Arc<FxHashMap<ContainerId, Library>>,
}

/// The place where a class is defined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Definition {
    /// This class file.
    File(FileId),
    /// The entry of a library: the library, and the number of the entry in it.
    Library(ContainerId, u32),
}

impl AnalysisHost {
    /// Creates a host without any class.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a host without any class that records the steps of its queries ([`AnalysisHost::logged`]).
    pub fn with_log() -> Self {
        let log = QueryLog::default();
        AnalysisHost { db: RootDatabase::logged(&log), log: Some(log), ..Self::default() }
    }

    /// Returns the steps of queries since the last call, in order; empty without a log.
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

    /// Works on the solved program ahead of the next change, so that the answer to that change takes less time. Call
    /// this when there is nothing else to do. Stops early when `cancelled` returns true; the next call continues.
    /// Does nothing while a snapshot is in use, or before the first question about the whole program.
    pub fn keep_current(&mut self, cancelled: &mut dyn FnMut() -> bool) {
        // If this stops early, the next change does the rest itself.
        let _ = analysis::db::Db::keeper(&self.db).keep_current(cancelled);
    }

    /// Returns how often the whole program was rebuilt, how often it was updated in place, and how many exception
    /// sets these updates changed.
    pub fn counts(&self) -> Counts {
        analysis::db::Db::keeper(&self.db).counts()
    }

    /// Returns a snapshot of the current state.
    pub fn analysis(&self) -> Analysis {
        let (files, libraries) = (Arc::clone(&self.inputs.files), Arc::clone(&self.inputs.libraries));
        Analysis { db: self.db.clone(), files, libraries }
    }

    /// Applies the change. If it changes anything, running questions are cancelled, and the call waits until all
    /// snapshots are dropped. Returns the files whose class changed or is new.
    pub fn apply_change(&mut self, change: Change) -> Vec<FileId> {
        self.inputs.apply(&mut self.db, change)
    }
}

impl Analysis {
    /// The outline of the class in the file; `None` if the file is unknown or cannot be read.
    pub fn outline(&self, file: FileId) -> Cancellable<Option<Arc<Outline>>> {
        self.ask(file, |db, class| outline(db, class).as_ref().ok().cloned())
    }

    /// The answer about the class in the file; `None` if the file is unknown, or a fault if it cannot be read.
    pub fn class(&self, file: FileId) -> Cancellable<Option<Result<ClassAnswer, Fault>>> {
        self.ask(file, |db, class| {
            Some(match facts(db, class) {
                Ok(it) => Ok(class_of(db, class, it)),
                Err(why) => Err(why.clone().into()),
            })
        })
    }

    /// The facts that the class in the file alone proves, and the positions of its instructions; `None` if the file
    /// is unknown, or a fault if it cannot be read.
    pub fn parsed(&self, file: FileId) -> Cancellable<Option<Result<ParsedClass, Fault>>> {
        self.ask(file, |db, class| {
            let facts = match facts(db, class) {
                Ok(it) => Arc::clone(it),
                Err(why) => return Some(Err(why.clone().into())),
            };
            Some(Ok((facts, Arc::clone(positions(db, class).as_ref()?))))
        })
    }

    /// The reason why the class in the file cannot be part of a program; `None` if it can, or if the file is unknown.
    pub fn fault(&self, file: FileId) -> Cancellable<Option<Fault>> {
        self.ask(file, |db, class| {
            let fault = outline(db, class).as_ref().err().cloned();
            fault.or_else(|| facts(db, class).as_ref().err().cloned()).map(Fault::from)
        })
    }

    /// The answer about one method; `None` if the method does not exist or has no code that can be read.
    pub fn method(&self, file: FileId, method: &MethodName) -> Cancellable<Option<MethodAnswer>> {
        self.ask(file, |db, class| {
            let facts = facts(db, class).as_ref().ok()?;
            let index = facts.index_of(method)?;
            method_of(db, class, facts, index)?.ok()
        })
    }

    /// The exceptions that leave each method of the class in the file, in the whole program; `None` if the file is
    /// unknown.
    pub fn throws(&self, file: FileId) -> Cancellable<Option<Arc<[Throws]>>> {
        self.ask(file, |db, class| Some(Arc::clone(answers::throws(db, class))))
    }

    /// The targets of the calls of each method of the class in the file; `None` if the file is unknown.
    pub fn calls(&self, file: FileId) -> Cancellable<Option<Arc<[Calls]>>> {
        self.ask(file, |db, class| Some(Arc::clone(answers::calls(db, class))))
    }

    /// The final graphs of the methods of the class in the file; `None` if the file is unknown.
    pub fn graphs(&self, file: FileId) -> Cancellable<Option<Arc<[Arc<Graph>]>>> {
        self.ask(file, |db, class| Some(Arc::clone(answers::graphs(db, class))))
    }

    /// Analyses the class in the file by itself, ahead of a question about the whole program. Can be called from any
    /// number of threads.
    pub fn prepare(&self, file: FileId) -> Cancellable<()> {
        self.ask(file, |db, class| {
            let _ = record(db, class);
            Some(())
        })?;
        Ok(())
    }

    /// The missing classes that the program names, sorted by text.
    pub fn missing(&self) -> Cancellable<Arc<[Missing]>> {
        self.ask_world(Arc::default, |db, world| Arc::clone(lists::missing(db, world)))
    }

    /// The entry points of the program.
    pub fn entries(&self) -> Cancellable<Arc<[Entry]>> {
        self.ask_world(Arc::default, |db, world| Arc::clone(lists::entries(db, world)))
    }

    /// Returns the generation of the solved program, the faults of its class hierarchy, and the problems with its
    /// entry points; the default value in profile `paper` and without a program.
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

    /// Returns the names of the classes for which an answer of this kind may have changed since the given generation
    /// of the program; `None` if the answers for all classes may have changed.
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

    /// The class definition that shadows the definition in the file; `None` if no definition does.
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

    /// Returns the definition of the class whose record has this number. The records of all containers are numbered
    /// in class-path order.
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

    /// Converts the origin of a class, which has ids of the database, to a definition with the ids of the facade;
    /// `None` if the library of the class was removed.
    pub(crate) fn definition_by(&self, origin: ClassOrigin) -> Option<Definition> {
        match origin {
            ClassOrigin::File(class) => Some(Definition::File(class.file(&self.db))),
            ClassOrigin::Library(it, entry) => {
                let library = self.libraries.iter().find(|(_, other)| **other == it)?;
                Some(Definition::Library(*library.0, entry))
            }
        }
    }

    /// Returns whether each method of the class is reached from the entry points, in file order; `None` if all
    /// methods count as reached.
    pub fn reached(&self, file: FileId) -> Cancellable<Option<Arc<[bool]>>> {
        self.ask(file, |db, class| answers::reached(db, class).clone())
    }

    /// Returns, for each method of the class in file order, whether the method is a ghost. If the class file contains
    /// code for a ghost, this is not the code of the real method. `None` if the file is unknown or cannot be read.
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
        note: facts.note.clone(),
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
                answer.without_code.push((MethodName::of(fact.method), fact.flags.0));
            }
        }
    }
    answer
}

/// The answer about the method with this index, or the reason why its code cannot be read; `None` for methods without
/// code.
fn method_of(
    db: &RootDatabase,
    class: ClassFile,
    facts: &ClassFacts,
    index: usize,
) -> Option<Result<MethodAnswer, FailedMethod>> {
    let fact = facts.methods.get(index)?;
    let method = MethodName::of(fact.method);
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
