//! The facts that follow from the bytes of one class alone, and the positions of its instructions in the file.
//!
//! `facts` are a function of the class bytes and of nothing else (`engine.md`, rule 5). They hold names and content,
//! never offsets or lines. Offsets and lines are in `positions`, which only printing reads.

use std::fmt;
use std::sync::Arc;

use crate::parts::Scratch;
use bir::positions::Positions;
use classfile::error::{Malformed, Result};
use classfile::flags::Flags;
use classfile::names::MethodRef;
use program::db::Db;
use program::input;

use crate::parts::{ClassHead, ClassParts, MethodCode, PartOptions, StageTimes, Wanted};
use program::names::{MethodName, Text};

/// The facts about one class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassFacts {
    /// The header of the class.
    pub head: ClassHead,
    /// The facts about each method of the class, in file order.
    pub methods: Box<[MethodFact]>,
    /// A note for the user about the class file as a whole ([`ClassParts::note`]).
    pub note: Option<String>,
}

/// The facts about one method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodFact {
    /// The class, name and descriptor of the method.
    pub method: MethodRef,
    /// The access flags of the method.
    pub flags: Flags,
    /// The body of the method with the facts that follow from the class file alone, if the code can be read.
    pub code: Code,
}

/// The code of a method, if the method has code and the code can be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Code {
    /// No code: the method is abstract or native.
    None,
    /// The code cannot be read. The reason is stored in [`ClassPositions`], because the reason contains offsets, and
    /// facts contain none.
    Failed,
    /// The body, and the facts about it that follow from the class file alone.
    Known(Arc<MethodCode>),
}

/// The positions of the code of a class in the class file and in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassPositions {
    /// The name of the source file according to the debug data; `None` if the debug data has none.
    pub source_file: Option<Text>,
    /// The positions of the instructions of each method, in the order of [`ClassFacts::methods`].
    pub methods: Box<[Place]>,
}

/// The positions of a method's instructions, or the reason why its code cannot be read; `None` for a method without
/// code.
pub type Place = Option<std::result::Result<Arc<Positions>, Malformed>>;

/// The facts and positions of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The facts about the class.
    pub facts: Arc<ClassFacts>,
    /// The positions of the class's instructions.
    pub positions: Arc<ClassPositions>,
}

/// Returns the facts and positions of the class in `bytes`.
///
/// # Errors
/// When the structure of the file cannot be read: the program then does not contain the class.
pub fn class_facts(bytes: &[u8]) -> Result<(ClassFacts, ClassPositions)> {
    let parts = ClassParts::read(bytes)?;
    let options = PartOptions { select: &|_| true, wanted: Wanted::All, clock: None };
    let all = parts.methods(&options, &mut Scratch::default(), &mut StageTimes::default())?;
    let mut methods = Vec::with_capacity(all.len());
    let mut positions = Vec::with_capacity(all.len());
    for it in all {
        let (code, place) = match it.code {
            None => (Code::None, None),
            Some(Err(why)) => (Code::Failed, Some(Err(why))),
            Some(Ok((code, place))) => (Code::Known(Arc::new(code)), Some(Ok(Arc::new(place)))),
        };
        methods.push(MethodFact { method: it.method, flags: it.flags, code });
        positions.push(place);
    }
    let facts = ClassFacts { head: parts.head.clone(), methods: methods.into(), note: parts.note() };
    Ok((facts, ClassPositions { source_file: parts.source_file, methods: positions.into() }))
}

impl ClassFacts {
    /// Returns the code of the method with this index; `None` if the method has no readable code.
    pub fn code(&self, index: usize) -> Option<&Arc<MethodCode>> {
        match &self.methods.get(index)?.code {
            Code::Known(code) => Some(code),
            Code::None | Code::Failed => None,
        }
    }

    /// Returns the index of the method with this name and descriptor; the last index if there are several such
    /// methods, `None` if there is none.
    pub fn index_of(&self, method: &MethodName) -> Option<usize> {
        self.methods.iter().rposition(|it| MethodName::of(it.method) == *method)
    }
}

impl fmt::Display for ClassFacts {
    /// Writes all facts as text. The text contains no ids and no offsets, so it is the same in every process.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "class {:?}", self.head)?;
        for it in &self.methods {
            match &it.code {
                Code::None => writeln!(f, "{} {:?}: no code", it.method, it.flags)?,
                Code::Failed => writeln!(f, "{} {:?}: failed", it.method, it.flags)?,
                Code::Known(code) => {
                    f.write_str(&bir::print::print(&code.body))?;
                    writeln!(f, "{:?}", code.facts)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the facts and positions of a class. Other queries read `facts` or `positions` instead, because the value
/// of `parsed` changes with almost any byte.
///
/// **Reads:** the bytes of the class.
/// **Stays when:** the bytes stay, or change only in details that belong neither to the facts nor to the positions,
/// such as the order of the constant pool.
/// **Cost:** linear in the code; never evicted. The value shares its data with `facts` and `positions`.
/// **Approximates:** the same as `facts`.
/// **Test:** `moving_lines_changes_only_positions` (in `ide`).
#[salsa::tracked]
pub fn parsed(db: &dyn Db, class: input::ClassFile) -> Result<Parsed> {
    let (facts, positions) = class_facts(class.bytes(db))?;
    Ok(Parsed { facts: Arc::new(facts), positions: Arc::new(positions) })
}

/// Returns the stackless bodies of a class and the facts that follow from the class alone.
///
/// **Reads:** `parsed`.
/// **Stays when:** only lines, other debug data or the order of the constant pool change; the facts of a method stay
/// when its own body stays.
/// **Cost:** reading `parsed`, and a comparison with the previous facts; never evicted.
/// **Approximates:** the types of thrown objects by cones, held monitors by counts. Assertions that are proved are
/// marked, not dropped.
/// **Test:** `editing_a_body_changes_the_facts_of_that_method_only`.
#[salsa::tracked]
pub fn facts(db: &dyn Db, class: input::ClassFile) -> Result<Arc<ClassFacts>> {
    parsed(db, class).as_ref().map(|it| Arc::clone(&it.facts)).map_err(Clone::clone)
}

/// Returns the positions of the instructions of a class: pcs, lines and variable names, and the reasons why methods
/// cannot be read. Only printing should read the positions, because they change with every line that moves.
///
/// **Reads:** `parsed`.
/// **Stays when:** neither pcs nor lines change.
/// **Cost:** reading `parsed`; never evicted.
/// **Approximates:** nothing.
/// **Test:** `moving_lines_keeps_the_facts`.
#[salsa::tracked]
pub fn positions(db: &dyn Db, class: input::ClassFile) -> Option<Arc<ClassPositions>> {
    parsed(db, class).as_ref().ok().map(|it| Arc::clone(&it.positions))
}
