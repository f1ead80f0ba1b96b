//! The inputs: everything that answers depend on and that does not follow from something else.
//!
//! Only the one writer in `ide` sets them, after comparing: salsa does not compare (`engine.md`, rule 6).
//! Inputs are never freed, so the slot of a class that vanished is given to the next that appears.

// salsa gives each input undocumented constructors and setters; all that is written here is documented.
#![allow(missing_docs)]

use std::sync::Arc;

use vfs::file::FileId;
use vfs::identity::EntryIdentity;

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
    /// Its class files in directory order.
    #[returns(deref)]
    pub classes: Arc<[ClassFile]>,
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
