//! The two doors through which the pure rooms reach the outside: bytes of files and facts kept from earlier runs.

use std::fmt;

use crate::file::{FileId, Revision};
use crate::identity::EntryIdentity;

/// Gives the bytes of files. The driver implements it; a query may call it, because the bytes of a file at a
/// revision never change.
pub trait ContentSource: Send + Sync {
    /// Calls `read` once with the bytes of `file` as they were at `revision`. A callback, so that bytes in a
    /// mapped image or a reused buffer need no copy.
    fn with_content(
        &self,
        file: FileId,
        revision: Revision,
        read: &mut dyn FnMut(&[u8]),
    ) -> Result<(), ContentError>;
}

/// Why bytes could not be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContentError {
    /// No file has this id.
    Unknown,
    /// The content has changed since that revision and the old bytes are gone; a change is on its way.
    Stale,
    /// The container could not give the entry; the text says why.
    Unreadable(String),
}

impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContentError::Unknown => f.write_str("no file has this id"),
            ContentError::Stale => f.write_str("the file has changed since it was listed"),
            ContentError::Unreadable(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ContentError {}

/// Under which key a fact is kept: it depends on the class bytes and the schema and on nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FactKey {
    /// The version of the encoding and of the analysis that made the fact.
    pub schema: u32,
    /// The class bytes, by the identity of their entry.
    pub content: EntryIdentity,
}

/// Keeps facts between runs. Reading one is no tracked read: an absent, old or broken store never changes an
/// answer, only its cost.
pub trait FactStore: Send + Sync {
    /// The fact kept under this key, its checksum verified; `None` is always a right answer.
    fn get(&self, key: &FactKey) -> Option<Vec<u8>>;

    /// Offers a fact. Only queues it: the driver writes, later or never.
    fn offer(&self, key: FactKey, bytes: Vec<u8>);
}

/// The store that keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoStore;

impl FactStore for NoStore {
    fn get(&self, _key: &FactKey) -> Option<Vec<u8>> {
        None
    }

    fn offer(&self, _key: FactKey, _bytes: Vec<u8>) {}
}
