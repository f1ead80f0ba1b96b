//! The salsa inputs: everything that answers depend on and that is not derived from something else.
//!
//! Only the single writer in `ide` sets the inputs. The writer first compares old and new values, because salsa does
//! not (`engine.md`, rule 6). Inputs are never freed, so the input of a removed class is reused for the next class
//! that is added.

// salsa generates undocumented constructors and setters for each input; every item written here is documented.
#![allow(missing_docs)]

use std::sync::Arc;

use vfs::file::FileId;
use vfs::identity::EntryIdentity;

use crate::db::Db;

/// One class file.
#[salsa::input(debug)]
pub struct ClassFile {
    /// The container that holds the class file.
    #[returns(copy)]
    pub container: Container,
    /// The id of the file. An edited file has two inputs of this type, and the container lists one of the two at any
    /// time.
    #[returns(copy)]
    pub file: FileId,
    /// The identity of the file's content: its sizes, CRC and hash, for comparisons.
    #[returns(copy)]
    pub hash: EntryIdentity,
    /// The bytes of the class file.
    #[returns(deref)]
    pub bytes: Arc<[u8]>,
}

/// A jar, folder or JDK image on the class path.
#[salsa::input(debug)]
pub struct Container {
    /// The role of the container in the program.
    #[returns(copy)]
    pub role: Role,
    /// The container's class files in directory order, as of the time when this list was last built. `patches` holds
    /// the edits since then.
    #[returns(deref)]
    pub base: Arc<[ClassFile]>,
    /// The edits to `base`. Each patch has the index of the entry of `base` that it replaces; the patch for class
    /// files that are added at the end has the length of `base`. An edit sets this field alone, so queries that read
    /// only `base` stay valid.
    #[returns(deref)]
    pub patches: Arc<[Patch]>,
}

/// The class files that replace one entry of [`Container::base`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Patch {
    /// The index of the replaced entry in [`Container::base`].
    pub at: u32,
    /// The class files that replace the entry, in order; empty if the class was removed.
    pub classes: Arc<[ClassFile]>,
}

impl Container {
    /// Returns the container's current class files in directory order: the base list with its patches applied.
    pub fn classes(self, db: &dyn Db) -> Vec<ClassFile> {
        patched(self.base(db), self.patches(db), |it| *it, |it| *it)
    }
}

/// Applies `patches` to the list `base` and returns the resulting list. Each remaining entry of `base` is mapped by
/// the function `of`, and each class file of a patch by the function `patch`. `patches` must be sorted by `at`.
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

/// A container's role in the program (`semantics.md` §1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// Code that is analysed, and about which results are reported.
    App,
    /// A library that the `App` code uses: analysed for its effects on that code, but without reported results.
    Lib,
    /// The class library of the JDK.
    Jdk,
}

impl Role {
    /// Returns the name that the output uses for the role.
    pub fn name(self) -> &'static str {
        match self {
            Role::App => "app",
            Role::Lib => "lib",
            Role::Jdk => "jdk",
        }
    }
}

/// Which classes may exist besides the present ones (`semantics.md` §1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WorldKind {
    /// Any number of unknown classes may exist, and they may do everything that Java allows.
    Open,
    /// All class names and the whole hierarchy are known, but some class files may be missing.
    Declared,
    /// No class exists besides the present ones.
    Closed,
}
