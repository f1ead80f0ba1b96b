//! Finds where each class of the program is defined, and its code, for questions that follow the program from class
//! to class by name.
//!
//! A class may be defined in several containers. Which definition takes effect follows from the records alone
//! ([`Definer::or`]). So nothing in this file reads the solved program, and every query may run while another reader
//! holds the program.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bir::body::InstrId;
use bir::positions::Positions;
use classfile::names::ClassName;
use program::input::{ClassFile, Container};
use rustc_hash::FxHashMap;

use crate::db::Db;
use crate::facts::{ClassFacts, Code, Parsed, class_facts, facts, positions};
use crate::input::{Library, Part, World};
use crate::keys::LibraryClass;
use crate::parts::MethodCode;
use crate::propagated::record;
use crate::whole::explain::Bodies;
use crate::whole::record::{Definer, definers};
use program::names::{MethodName, Text};

/// For each class that a container defines, its definition. If the container defines a class several times, the map
/// has the definition that the JVM would use if there were no other containers.
pub type Definitions<T> = Arc<FxHashMap<ClassName, Definer<T>>>;

/// The place where a class is defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassOrigin {
    /// The class file that defines the class; the file is a salsa input.
    File(ClassFile),
    /// The library that defines the class, and the class's entry number in the library's
    /// [`ClassSource`](crate::input::ClassSource).
    Library(Library, u32),
}

/// The code of a method, with the positions of its instructions in the class file and in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlacedCode {
    /// The body, and the facts about it that follow from the class file alone.
    pub code: Arc<MethodCode>,
    /// The positions of the body's instructions.
    pub positions: Arc<Positions>,
}

/// Returns, for each class that a container defines, the class file with its definition.
///
/// **Reads:** the classes of the container, and `record` of each.
/// **Stays when:** no class is added, removed or renamed, and no class becomes a ghost or stops being one. The first
/// edit of a class changes the answer, because a new salsa input replaces the class file's old one.
/// **Cost:** linear in the number of classes; never evicted.
/// **Approximates:** nothing; a class that cannot be read defines nothing.
/// **Test:** `code_of_a_library_is_read_once` (in `ide`).
#[salsa::tracked]
pub fn file_definitions(db: &dyn program::db::Db, container: Container) -> Definitions<ClassFile> {
    let classes = container.classes(db).into_iter();
    Arc::new(definers(classes.filter_map(|it| Some((it, record(db, it).as_ref()?)))))
}

/// Returns, for each class that a library defines, the class's entry number in the library's
/// [`ClassSource`](crate::input::ClassSource).
///
/// **Reads:** the contents of the library.
/// **Stays when:** no class is added, removed or renumbered, and no class becomes a ghost or stops being one.
/// **Cost:** linear in the number of classes; never evicted.
/// **Approximates:** nothing; a class that cannot be read defines nothing.
/// **Test:** `code_of_a_library_is_read_once` (in `ide`).
#[salsa::tracked]
pub fn library_definitions(db: &dyn Db, library: Library) -> Definitions<u32> {
    let contents = library.contents(db);
    let records = contents.records.iter().map(|it| &it.1);
    Arc::new(definers(contents.entries.iter().copied().zip(records)))
}

/// Returns the facts and positions of a class of a library; `None` if the bytes of the class are unavailable or
/// malformed.
///
/// **Reads:** the contents of the library.
/// **Stays when:** the bytes of the class stay, or change only in details that belong neither to the facts nor to the
/// positions.
/// **Cost:** reads and analyses the class; the 512 most recently used answers are kept.
/// **Approximates:** like `facts`.
/// **Test:** `code_of_a_library_is_read_once` (in `ide`).
#[salsa::tracked(lru = 512)]
pub fn library_code<'db>(db: &'db dyn Db, class: LibraryClass<'db>) -> Option<Parsed> {
    let mut parsed = None;
    class.library(db).contents(db).source.with_bytes(class.entry(db), &mut |bytes| {
        parsed = class_facts(bytes).ok();
    });
    let (facts, positions) = parsed?;
    Some(Parsed { facts: Arc::new(facts), positions: Arc::new(positions) })
}

/// Returns the place where a class is defined: if there are several definitions, the place of the definition that
/// takes effect. `None` if no container defines the class.
pub fn origin(db: &dyn Db, world: World, class: Text) -> Option<ClassOrigin> {
    let class = ClassName::new(class.0);
    let mut found: Option<Definer<ClassOrigin>> = None;
    for part in world.parts(db) {
        let next = match *part {
            Part::Classes(it) => file_definitions(db, it).get(&class).map(|it| it.map(ClassOrigin::File)),
            Part::Library(library) => {
                let definer = library_definitions(db, library).get(&class);
                definer.map(|it| it.map(|entry| ClassOrigin::Library(library, entry)))
            }
        };
        found = match (found, next) {
            (Some(found), Some(next)) => Some(found.or(next)),
            (found, next) => found.or(next),
        };
    }
    found.map(|it| it.by)
}

/// Returns the code of a method of the program; `None` if the method has no readable code. An edit that only moves
/// lines of the source does not change the result.
pub fn code(db: &dyn Db, world: World, method: MethodName) -> Option<Arc<MethodCode>> {
    match origin(db, world, method.class)? {
        ClassOrigin::File(class) => known(facts(db, class).as_ref().ok()?, &method).map(|it| it.1),
        ClassOrigin::Library(library, entry) => {
            let parsed = library_code(db, LibraryClass::new(db, library, entry)).as_ref()?;
            known(&parsed.facts, &method).map(|it| it.1)
        }
    }
}

/// Returns the code of a method of the program, with the positions of the code; `None` if the method has no readable
/// code.
pub fn placed_code(db: &dyn Db, world: World, method: MethodName) -> Option<PlacedCode> {
    let (facts, positions) = match origin(db, world, method.class)? {
        ClassOrigin::File(class) => (facts(db, class).as_ref().ok()?, positions(db, class).as_ref()?),
        ClassOrigin::Library(library, entry) => {
            let parsed = library_code(db, LibraryClass::new(db, library, entry)).as_ref()?;
            (&parsed.facts, &parsed.positions)
        }
    };
    let (index, code) = known(facts, &method)?;
    match positions.methods.get(index)? {
        Some(Ok(positions)) => Some(PlacedCode { code, positions: Arc::clone(positions) }),
        Some(Err(_)) | None => None,
    }
}

fn known(facts: &ClassFacts, method: &MethodName) -> Option<(usize, Arc<MethodCode>)> {
    let index = facts.index_of(method)?;
    match &facts.methods.get(index)?.code {
        Code::Known(code) => Some((index, Arc::clone(code))),
        Code::None | Code::Failed => None,
    }
}

/// Returns the code of a method of a class, and the index of the method in the class file; `None` if the method has
/// no readable code.
pub(crate) fn own_code(
    db: &dyn Db,
    class: ClassFile,
    method: &MethodName,
) -> Option<(Arc<MethodCode>, usize)> {
    let facts = facts(db, class).as_ref().ok()?;
    let index = facts.index_of(method)?;
    match &facts.methods.get(index)?.code {
        Code::Known(code) => Some((Arc::clone(code), index)),
        Code::None | Code::Failed => None,
    }
}

/// Reads the code of classes of the program. If salsa cancels a query, the cancellation is caught and stored, because
/// unwinding would poison the lock on the solved program. The caller fetches the cancellation with
/// [`ProgramCode::into_cancelled`] after it has released the lock.
pub(crate) struct ProgramCode<'db> {
    db: &'db dyn Db,
    world: World,
    cancelled: Option<salsa::Cancelled>,
}

impl<'db> ProgramCode<'db> {
    /// Creates a reader for the code of a world's classes.
    pub(crate) fn new(db: &'db dyn Db, world: World) -> Self {
        ProgramCode { db, world, cancelled: None }
    }

    /// Returns the cancellation that was caught while code was read; `None` if no query was cancelled.
    pub(crate) fn into_cancelled(self) -> Option<salsa::Cancelled> {
        self.cancelled
    }
}

impl Bodies for ProgramCode<'_> {
    fn code(&mut self, method: MethodName) -> Option<Arc<MethodCode>> {
        if self.cancelled.is_some() {
            return None;
        }
        let read = AssertUnwindSafe(|| code(self.db, self.world, method));
        match salsa::Cancelled::catch(read) {
            Ok(it) => it,
            Err(it) => {
                self.cancelled = Some(it);
                None
            }
        }
    }
}

/// Returns the BIR instructions of a body that were lowered from the bytecode instruction at `pc`.
pub fn instrs_at(code: &MethodCode, positions: &Positions, pc: u16) -> Vec<InstrId> {
    let all = code.body.instrs.iter().map(|it| it.0);
    all.filter(|&it| positions.pc(it) == Some(pc)).collect()
}

/// Returns the BIR instructions that were lowered from the bytecode instruction at `pc` in a method of `class`.
/// `code` is the code of the method and the index of the method in the class; if `code` is `None`, the list is empty.
pub(crate) fn own_instrs(
    db: &dyn Db,
    class: ClassFile,
    code: Option<&(Arc<MethodCode>, usize)>,
    pc: u16,
) -> Vec<InstrId> {
    let Some((code, index)) = code else { return Vec::new() };
    match positions(db, class).as_ref().and_then(|it| it.methods.get(*index)) {
        Some(Some(Ok(positions))) => instrs_at(code, positions, pc),
        Some(Some(Err(_)) | None) | None => Vec::new(),
    }
}
