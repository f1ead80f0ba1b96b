//! What is known of the methods of one class from its bytes alone, and where its instructions stand in the file.
//!
//! `facts` are a function of the class bytes and of nothing else (`engine.md`, rule 5). They hold names and content,
//! never offsets or lines; those are in `positions`, which only printing reads.

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

/// The facts of one class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassFacts {
    /// The class as a whole.
    pub head: ClassHead,
    /// Its methods in file order.
    pub methods: Box<[MethodFact]>,
}

/// The facts of one method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodFact {
    /// The method.
    pub method: MethodRef,
    /// Its access flags.
    pub flags: Flags,
    /// Its code.
    pub code: Code,
}

/// What is known of a method's code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Code {
    /// There is none: the method is abstract or native.
    None,
    /// There is some that cannot be read: missing code. Why is a matter of offsets and so of [`ClassPositions`].
    Failed,
    /// The body and its local facts.
    Known(Arc<MethodCode>),
}

/// Where the code of a class stands in its file and in its source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassPositions {
    /// The source file that debug data names.
    pub source_file: Option<Text>,
    /// By method, as in [`ClassFacts::methods`].
    pub methods: Box<[Place]>,
}

/// Where the code of a method stands, why it cannot be read, or `None` for a method without code.
pub type Place = Option<std::result::Result<Arc<Positions>, Malformed>>;

/// A class taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// What is known of it.
    pub facts: Arc<ClassFacts>,
    /// Where that stands.
    pub positions: Arc<ClassPositions>,
}

/// Facts and positions of the class in `bytes`.
///
/// # Errors
/// When the structure of the file cannot be read: the class is then outside.
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
    let facts = ClassFacts { head: parts.head.clone(), methods: methods.into() };
    Ok((facts, ClassPositions { source_file: parts.source_file, methods: positions.into() }))
}

impl ClassFacts {
    /// The code of the method with this index, if it can be read.
    pub fn code(&self, index: usize) -> Option<&Arc<MethodCode>> {
        match &self.methods.get(index)?.code {
            Code::Known(code) => Some(code),
            Code::None | Code::Failed => None,
        }
    }

    /// The number of the method, by name and descriptor; the last one counts when a file has two.
    pub fn index_of(&self, method: &MethodName) -> Option<usize> {
        self.methods.iter().rposition(|it| MethodName::of(it.method) == *method)
    }
}

impl fmt::Display for ClassFacts {
    /// All that the facts hold, as text that is the same in every process: no ids, no offsets.
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

/// A class taken apart: its facts and where they stand. Ask for one of both, `facts` or `positions`: this changes with any byte.
///
/// **Reads:** the bytes of the class.
/// **Stays when:** they do, or change in what nothing is made of, as the order of the constant pool.
/// **Cost:** linear in the code; kept for ever, and no copy of what `facts` and `positions` keep.
/// **Approximates:** as `facts`.
/// **Test:** `moving_lines_changes_only_positions` (in `ide`).
#[salsa::tracked]
pub fn parsed(db: &dyn Db, class: input::ClassFile) -> Result<Parsed> {
    let (facts, positions) = class_facts(class.bytes(db))?;
    Ok(Parsed { facts: Arc::new(facts), positions: Arc::new(positions) })
}

/// The stackless bodies of a class and what is known of them from the class alone.
///
/// **Reads:** `parsed`.
/// **Stays when:** only lines, other debug data or the order of the constant pool change; of a method, when its own
/// body stays.
/// **Cost:** a look at `parsed`, and a comparison with what was before; kept for ever.
/// **Approximates:** thrown types by cones, monitors by counts; assertions are marked, never dropped.
/// **Test:** `editing_a_body_changes_the_facts_of_that_method_only`.
#[salsa::tracked]
pub fn facts(db: &dyn Db, class: input::ClassFile) -> Result<Arc<ClassFacts>> {
    parsed(db, class).as_ref().map(|it| Arc::clone(&it.facts)).map_err(Clone::clone)
}

/// Where the instructions of a class stand: pcs, lines, names of variables, and why a method could not be read.
/// Read it only to print: it changes with every line that moves.
///
/// **Reads:** `parsed`.
/// **Stays when:** neither pcs nor lines change.
/// **Cost:** a look at `parsed`; kept for ever.
/// **Approximates:** nothing.
/// **Test:** `moving_lines_keeps_the_facts`.
#[salsa::tracked]
pub fn positions(db: &dyn Db, class: input::ClassFile) -> Option<Arc<ClassPositions>> {
    parsed(db, class).as_ref().ok().map(|it| Arc::clone(&it.positions))
}
