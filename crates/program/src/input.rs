//! The inputs: everything that answers depend on and that does not follow from something else.
//!
//! Only the one writer in `ide` sets them, after comparing: salsa does not compare (`engine.md`, rule 6).
//! Inputs are never freed, so the slot of a class that vanished is given to the next that appears.

// salsa gives each input undocumented constructors and setters; all that is written here is documented.
#![allow(missing_docs)]

use std::sync::Arc;

use vfs::file::FileId;
use vfs::identity::EntryIdentity;

use crate::db::Db;

/// One class file.
#[salsa::input(debug)]
pub struct ClassFile {
    /// The container that it belongs to.
    #[returns(copy)]
    pub container: Container,
    /// Its file, by the writer. A file that was edited has two inputs, of which one is listed at a time.
    #[returns(copy)]
    pub file: FileId,
    /// The identity of its content.
    #[returns(copy)]
    pub hash: EntryIdentity,
    /// Its bytes.
    #[returns(deref)]
    pub bytes: Arc<[u8]>,
}

/// A jar, folder or image on the class path.
#[salsa::input(debug)]
pub struct Container {
    /// What it is to the program.
    #[returns(copy)]
    pub role: Role,
    /// Its class files in directory order, as they were when this list was made.
    #[returns(deref)]
    pub base: Arc<[ClassFile]>,
    /// What stands there instead by now, by the number in the list; what comes after its last one has the number after that.
    /// Edits change this alone: who read each class of the list need not look at them again.
    #[returns(deref)]
    pub patches: Arc<[Patch]>,
}

/// What stands in place of a class in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Patch {
    /// The number of the class.
    pub at: u32,
    /// What stands there, in order.
    pub classes: Arc<[ClassFile]>,
}

impl Container {
    /// Its class files in directory order.
    pub fn classes(self, db: &dyn Db) -> Vec<ClassFile> {
        patched(self.base(db), self.patches(db), |it| *it, |it| *it)
    }
}

/// What is known of the classes of a list, with that of others where they stand. The patches come in the order of the list.
pub fn patched<T, U>(
    base: &[T],
    patches: &[Patch],
    of: impl Fn(&T) -> U,
    patch: impl Fn(&ClassFile) -> U,
) -> Vec<U> {
    let (mut acc, mut next) = (Vec::with_capacity(base.len() + patches.len()), 0);
    for it in patches {
        let at = it.at as usize;
        acc.extend(base.get(next..at).unwrap_or_default().iter().map(&of));
        acc.extend(it.classes.iter().map(&patch));
        next = at + 1;
    }
    acc.extend(base.get(next..).unwrap_or_default().iter().map(&of));
    acc
}

/// What a container is to the program (`semantics.md` §1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// What the user asks about.
    App,
    /// Analysed for its effects, not reported.
    Lib,
    /// The Java platform.
    Jdk,
}

/// Which classes may exist besides the present ones (`semantics.md` §1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WorldKind {
    /// Any number of unknown classes that do all that Java lets them.
    Open,
    /// All names and the hierarchy are known, code may be missing.
    Declared,
    /// What is not present does not exist.
    Closed,
}
